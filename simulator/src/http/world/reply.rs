//! Owns the responses of a world's REST API: replies and errors in the shapes that the world declares.

use axum::body::Body;
use axum::http::Response;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use axum::response::IntoResponse;
use diorama_seeds::contract::is_json_kind;
use diorama_seeds::model::Api;
use diorama_seeds::value::Zone;
use diorama_sessions::Problem;
use serde_json::Value as Json;

use super::kinds::write_body;
use super::openapi::{declared, shaped};
use crate::http::answer::{PROBLEM_JSON, ProblemResponse, json_text, respond, text};
use diorama_engine::{HOST, Reply};

/// Makes the response of a world's reply, in a media type that its API declares. An error has its declared
/// shape, or that of a problem document. `next` is the address of a list's next page.
pub(super) fn make_response(
    api: &Api,
    reply: &Reply,
    kind: &str,
    zone: &Zone,
    next: Option<&str>,
) -> Response<Body> {
    if reply.is_success() && api.shows_nothing() {
        let status = if api.contract.is_some() { reply.status } else { 204 };
        return json_text(status, String::new());
    }
    let with_next = with_next_page(reply, &api.reply.items, zone, next);
    if let (true, false, Some(contract)) = (reply.is_success(), is_json_kind(kind), &api.contract)
        && let Some(body) = write_body(kind, contract, with_next.as_ref().unwrap_or(&reply.json_tree(zone)))
    {
        return other_kind(reply.status, kind, body);
    }
    let body = with_next.map_or_else(|| reply.to_json(zone), |body| body.to_string());
    if reply.is_success() {
        return json_text(reply.status, body);
    }
    let schema = declared(api, reply.status);
    let response = match schema.zip(serde_json::from_str::<Json>(&body).ok()) {
        Some((schema, problem)) => json_text(reply.status, shaped(schema, &problem).to_string()),
        None => text(reply.status, PROBLEM_JSON, body),
    };
    add_challenge(api, response)
}

/// Makes a response in another format than JSON.
fn other_kind(status: u16, kind: &str, body: String) -> Response<Body> {
    let mut response = text(status, "text/plain", body);
    if let Ok(kind) = HeaderValue::from_str(kind) {
        response.headers_mut().insert(CONTENT_TYPE, kind);
    }
    // The sandbox keeps scripts in the reply from the pages of this server, if a browser shows it.
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    response
}

/// Returns the body of a list with the address of its next page. The items are in the member `list`.
fn with_next_page(reply: &Reply, list: &str, zone: &Zone, address: Option<&str>) -> Option<Json> {
    let next = NextPage { list, made_up: format!("{HOST}{}", reply.next.as_ref()?), address: address? };
    let mut body = reply.json_tree(zone);
    next.put("", &mut body);
    Some(body)
}

/// Address of a list's next page, which replaces the placeholder of the engine.
struct NextPage<'a> {
    list: &'a str,
    made_up: String,
    address: &'a str,
}

impl NextPage<'_> {
    /// Replaces the placeholder in a member with this name. The items of the list stay unchanged, because a
    /// record may contain that text.
    fn put(&self, name: &str, value: &mut Json) {
        match value {
            Json::String(text) if *text == self.made_up => self.address.clone_into(text),
            Json::Array(_) if name == self.list => {}
            Json::Array(items) => items.iter_mut().for_each(|item| self.put(name, item)),
            Json::Object(members) => members.iter_mut().for_each(|(name, member)| self.put(name, member)),
            _ => {}
        }
    }
}

/// Makes the response to a call that was not made, in the declared shape of the API's errors.
pub(super) fn make_problem_response(api: &Api, problem: &Problem) -> Response<Body> {
    let response = match declared(api, problem.status()) {
        Some(schema) => respond(problem, "application/json", shaped(schema, &problem.body()).to_string()),
        None => ProblemResponse(problem.clone()).into_response(),
    };
    add_challenge(api, response)
}

/// Adds `WWW-Authenticate` to a response with status 401.
fn add_challenge(api: &Api, mut response: Response<Body>) -> Response<Body> {
    if response.status().as_u16() == 401 {
        let challenge = match (api.token.is_none(), api.security.is_empty()) {
            (true, false) => "Bearer, Basic, ApiKey",
            _ => "Bearer",
        };
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    }
    response
}

#[cfg(test)]
mod tests {
    use diorama_engine::{Body, Origin};
    use diorama_seeds::value::Value;
    use serde_json::json;

    use super::*;

    #[test]
    fn pages_of_a_world_run_no_script() {
        let response = other_kind(200, "text/html", "<script>alert(1)</script>".to_owned());
        assert_eq!(response.headers()[CONTENT_TYPE], "text/html");
        assert_eq!(response.headers()[CONTENT_SECURITY_POLICY], "sandbox");
    }

    #[test]
    fn a_record_that_holds_the_made_up_address_keeps_it() {
        let text = |text: &str| Body::Leaf(Value::string(text), Origin::Constant);
        let made_up = "https://example.com/notes?page=2";
        let note = Body::Object(vec![("text".into(), text(made_up))]);
        let body =
            Body::Object(vec![("notes".into(), Body::List(vec![note])), ("next".into(), text(made_up))]);
        let reply = Reply { status: 200, body, next: Some("/notes?page=2".into()), total: None };
        let address = reply.next_at("http://here/notes");
        assert_eq!(
            with_next_page(&reply, "notes", &Zone::utc(), address.as_deref()),
            Some(json!({"notes": [{"text": made_up}], "next": "http://here/notes?page=2"}))
        );
    }
}
