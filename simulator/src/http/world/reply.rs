//! Responses of a world's REST API: replies and errors in the shapes that the world declares.

use axum::body::Body;
use axum::http::Response;
use axum::http::header::{CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use axum::response::IntoResponse;
use diorama_seeds::contract::is_json_kind;
use diorama_seeds::model::Api;
use diorama_seeds::value::Zone;
use diorama_sessions::Problem;
use serde_json::Value as Json;

use super::kinds::write_body;
use super::openapi::{declared, shaped};
use crate::http::answer::{PROBLEM_JSON, Refused, json_text, respond, text};
use diorama_engine::{HOST, Reply};

/// A world's reply in a kind that its API declares; an error in the shape that its API declares, else as a problem document. The address
/// of a list's next page follows from `here`, the request's own.
pub(super) fn make_response(api: &Api, reply: &Reply, kind: &str, zone: &Zone, here: &str) -> Response<Body> {
    if reply.is_success() && api.shows_nothing() {
        let status = if api.contract.is_some() { reply.status } else { 204 };
        return json_text(status, String::new());
    }
    let with_next = with_next_page(reply, zone, here);
    if let (true, false, Some(contract)) = (reply.is_success(), is_json_kind(kind), &api.contract)
        && let Some(body) = write_body(kind, contract, with_next.as_ref().unwrap_or(&reply.json_tree(zone)))
    {
        let mut response = text(reply.status, "text/plain", body);
        if let Ok(kind) = HeaderValue::from_str(kind) {
            response.headers_mut().insert(CONTENT_TYPE, kind);
        }
        return response;
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

/// The body of a list that has a next page, whose address follows from `here`.
fn with_next_page(reply: &Reply, zone: &Zone, here: &str) -> Option<Json> {
    let (next, address) = (reply.next.as_ref()?, reply.next_at(here)?);
    let mut body = reply.json_tree(zone);
    replace_text(&mut body, &format!("{HOST}{next}"), &address);
    Some(body)
}

/// Replaces every string that equals a text.
fn replace_text(value: &mut Json, text: &str, by: &str) {
    match value {
        Json::String(found) if found == text => by.clone_into(found),
        Json::Array(items) => items.iter_mut().for_each(|item| replace_text(item, text, by)),
        Json::Object(members) => members.values_mut().for_each(|member| replace_text(member, text, by)),
        _ => {}
    }
}

/// The response to a call that was not made, in the shape that the API declares for its errors.
pub(super) fn make_problem_response(api: &Api, problem: &Problem) -> Response<Body> {
    let response = match declared(api, problem.status()) {
        Some(schema) => respond(problem, "application/json", shaped(schema, &problem.body()).to_string()),
        None => Refused(problem.clone()).into_response(),
    };
    add_challenge(api, response)
}

/// Adds `WWW-Authenticate` to a response of status 401.
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
