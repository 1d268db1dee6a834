//! Owns the served OpenAPI 3.1 document of a world.
//!
//! The document is a function of the world alone. Declarations give the parameters, and the behaviour and the
//! reply's members give the replies.

mod error;
mod limits;
mod reply;

pub(super) use error::{declared, shaped};
pub use reply::schema as reply_schema;

use std::collections::BTreeSet;
use std::sync::Arc;

use diorama_seeds::contract::Contract;
use diorama_seeds::model::{Api, ApiId, BehaviourKind, Method, Place, World};
use serde_json::{Map, Value as Json, json};

use super::auth::{self, Auth, requirements};
use super::request::refuses_no_body;
use diorama_engine::tools::tool_schema;

/// Makes the document of a world. `server` is the absolute URL before its paths.
#[must_use]
pub fn document(world: &World, server: &str) -> Json {
    described(world, server, Auth::default(), |_| true)
}

/// Returns a path in the form of documents. A suffix after `#` distinguishes several APIs of the path.
fn written(base: &str, api: &Api) -> String {
    let chosen: Vec<String> = api
        .chosen_by
        .iter()
        .map(|(name, value)| if value.is_empty() { name.to_string() } else { format!("{name}={value}") })
        .collect();
    let mark = if chosen.is_empty() { "" } else { "#" };
    format!("{base}{}{mark}{}", api.path, chosen.join("&"))
}

/// Makes the document of the visible APIs of a world, for a strictness of authentication.
pub(in crate::http) fn described(
    world: &World,
    server: &str,
    auth: Auth,
    sees: impl Fn(ApiId) -> bool,
) -> Json {
    let mut paths = Map::new();
    for (position, api) in world.apis.iter().enumerate() {
        // OpenAPI 3.1 lacks the method QUERY.
        if !sees(ApiId(position as u16)) || api.method == Method::Query {
            continue;
        }
        let base = world.domains.get(api.domain.index()).map_or("", |domain| &*domain.base_path);
        let item = paths.entry(written(base, api)).or_insert_with(|| json!({}));
        if let Json::Object(item) = item {
            let method = api.method.as_str().to_ascii_lowercase();
            let mut operation = operation(world, ApiId(position as u16), api);
            if let (Json::Object(operation), false) = (&mut operation, auth == Auth::Off)
                && let Some(needs) = requirements(world, api)
            {
                operation.insert("security".to_owned(), needs);
            }
            item.insert(method, operation);
        }
    }
    let tags: Vec<Json> = world
        .domains
        .iter()
        .map(|domain| json!({"name": &*domain.name, "description": either(&domain.description, &domain.title)}))
        .collect();
    let mut components = Map::new();
    components.insert("schemas".to_owned(), Json::Object(shared(world)));
    let mut schemes = security_schemes(world);
    if auth != Auth::Off {
        schemes.extend(auth::schemes(world, server));
    }
    if !schemes.is_empty() {
        components.insert("securitySchemes".to_owned(), Json::Object(schemes));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": either(&world.title, &world.name),
            "version": world.hash.as_deref().and_then(|hash| hash.get(..12)).unwrap_or("1"),
        },
        "servers": [{"url": server}],
        "tags": tags,
        "paths": paths,
        "components": components,
    })
}

/// Returns the schemas to which operations refer: of problems, and of contracts.
fn shared(world: &World) -> Map<String, Json> {
    let mut schemas = Map::new();
    // The contracts of a domain share their schemas, which may be many.
    let mut known = BTreeSet::new();
    let contracts = world.apis.iter().filter_map(|api| api.contract.as_ref());
    for contract in contracts.filter(|contract| known.insert(Arc::as_ptr(&contract.schemas))) {
        for (name, schema) in contract.schemas.iter() {
            if !schemas.contains_key(component(name)) {
                schemas.insert(component(name).to_owned(), promised(schema));
            }
        }
    }
    schemas.insert(PROBLEM.to_owned(), problem_schema());
    schemas
}

/// Name of the schema of problems.
const PROBLEM: &str = "Problem";

/// Renames a contract's schema that has the name of the schema of problems.
fn component(name: &str) -> &str {
    if name == PROBLEM { "ProblemOfTheDocument" } else { name }
}

/// Returns a contract's schema in the form of the served document.
fn promised(schema: &Json) -> Json {
    match schema {
        Json::Object(members) => Json::Object(
            members
                .iter()
                .map(|(name, value)| match value.as_str().and_then(|text| text.strip_prefix("#/schemas/")) {
                    Some(target) if name == "$ref" => {
                        (name.clone(), Json::from(format!("#/components/schemas/{}", component(target))))
                    }
                    _ => (name.clone(), promised(value)),
                })
                .collect(),
        ),
        Json::Array(items) => Json::Array(items.iter().map(promised).collect()),
        other => other.clone(),
    }
}

/// Returns the schema of this server's problem documents.
#[must_use]
pub fn problem_schema() -> Json {
    json!({
        "type": "object",
        "description": "A problem document (RFC 9457).",
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string", "description": "What was found, what was expected, what to do."},
            "parameter": {"type": "string", "description": "The parameter that is wrong."},
            "expected": {"type": "string", "description": "What was expected of it."},
        },
        "required": ["title", "status", "detail"],
    })
}

fn operation(world: &World, id: ApiId, api: &Api) -> Json {
    let schema = tool_schema(world, id);
    let properties = schema.pointer("/function/parameters/properties").and_then(Json::as_object);
    let mut parameters = Vec::new();
    let mut body = Map::new();
    let mut required = Vec::new();
    for (position, parameter) in api.parameters.iter().enumerate() {
        if api.token.is_some_and(|token| token.index() == position) {
            continue;
        }
        let name = &*parameter.name;
        let mut schema = properties.and_then(|all| all.get(name)).cloned().unwrap_or_else(|| json!({}));
        limits::bound(&mut schema);
        limits::typed(&parameter.schema, &mut schema);
        let place = match parameter.place {
            Place::Path => "path",
            Place::Query => "query",
            Place::Header => "header",
            Place::Cookie => "cookie",
            Place::Body => {
                body.insert(name.to_owned(), schema);
                if parameter.required {
                    required.push(name);
                }
                continue;
            }
        };
        let description = schema.as_object_mut().and_then(|schema| schema.shift_remove("description"));
        let separator = parameter.separator.filter(|_| place == "query").unwrap_or(',');
        limits::split(&mut schema, separator);
        let is = |kind| schema.get("type").and_then(Json::as_str) == Some(kind);
        let (list, object) = (is("array"), is("object"));
        let mut entry = json!({
            "name": parameter.wire_name(),
            "in": place,
            "required": parameter.required || place == "path",
            "schema": schema,
        });
        if let Json::Object(entry) = &mut entry {
            entry.extend(description.map(|text| ("description".to_owned(), text)));
            if object && place == "query" {
                // Spread over several names it could not be distinguished from other parameters, so that it
                // is sent as JSON.
                if let Some(schema) = entry.shift_remove("schema") {
                    entry.insert("content".to_owned(), json!({"application/json": {"schema": schema}}));
                }
            }
            if list && place == "query" {
                let style = match separator {
                    ' ' => "spaceDelimited",
                    '|' => "pipeDelimited",
                    _ => "form",
                };
                entry.insert("style".to_owned(), json!(style));
                entry.insert("explode".to_owned(), json!(false));
            }
        }
        parameters.push(entry);
    }
    let domain = world.domains.get(api.domain.index());
    let mut operation = json!({
        "operationId": &*api.name,
        "summary": summary(&api.description),
        "description": api.documented(),
        "tags": domain.map(|domain| vec![&*domain.name]).unwrap_or_default(),
        "parameters": parameters,
    });
    if let Json::Object(operation) = &mut operation {
        let contract = api.contract.as_deref();
        let is_needed = |contract: &Contract| contract.needs_members() || refuses_no_body(contract);
        let is_required = !required.is_empty() || contract.is_some_and(is_needed);
        let schema = match contract.and_then(|contract| contract.request.as_ref()) {
            Some(schema) => Some(promised(schema)),
            None if body.is_empty() => None,
            None => Some(json!({
                "type": "object",
                "properties": body,
                "required": required,
                "additionalProperties": false,
            })),
        };
        if let Some(schema) = schema {
            let content = json!({"application/json": {"schema": schema}});
            operation.insert("requestBody".to_owned(), json!({"required": is_required, "content": content}));
        }
        operation.insert("responses".to_owned(), responses(world, api));
        if let (Some(_), Some(domain)) = (api.token, domain) {
            let mut requirement = Map::new();
            requirement.insert(scheme_name(&domain.name), json!([]));
            operation.insert("security".to_owned(), json!([requirement]));
        }
    }
    operation
}

fn responses(world: &World, api: &Api) -> Json {
    let mut responses = Map::new();
    let (status, success) = if api.shows_nothing() {
        (if api.contract.is_some() { api.reply.status } else { 204 }, json!({"description": "Done."}))
    } else {
        let contract = api.contract.as_ref().and_then(|contract| contract.reply.as_ref());
        let schema = contract.map_or_else(|| reply::schema(world, api), promised);
        let kinds = api.contract.as_ref().map(|contract| contract.kinds.as_slice()).unwrap_or_default();
        let json = ["application/json".to_owned()];
        let kinds = if kinds.is_empty() { &json[..] } else { kinds };
        let content: Map<String, Json> =
            kinds.iter().map(|kind| (kind.clone(), json!({"schema": schema}))).collect();
        (api.reply.status, json!({"description": "Done.", "content": content}))
    };
    responses.insert(status.to_string(), success);
    for status in refusals(api) {
        let content = error_content(api, Some(status));
        let said: BTreeSet<&str> = api
            .behaviour
            .require
            .iter()
            .filter(|require| require.status == status)
            .map(|require| &*require.message)
            .collect();
        let description = match said.into_iter().collect::<Vec<_>>().join("; ") {
            said if said.is_empty() => meaning(status).to_owned(),
            said => said,
        };
        responses.insert(status.to_string(), json!({"description": description, "content": content}));
    }
    let any = error_content(api, None);
    responses.insert("default".to_owned(), json!({"description": "Another problem.", "content": any}));
    Json::Object(responses)
}

/// Returns the schema of an error with a status: the one that the world declares, or a problem document.
fn error_content(api: &Api, status: Option<u16>) -> Json {
    let mut content =
        json!({"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}});
    let schema = match status {
        Some(status) => declared(api, status),
        None => api.errors.iter().find(|(code, _)| code.is_none()).map(|(_, schema)| schema),
    };
    if let (Json::Object(content), Some(schema)) = (&mut content, schema) {
        content.insert("application/json".to_owned(), json!({"schema": &**schema}));
    }
    content
}

/// Returns the statuses of an API's refusals.
fn refusals(api: &Api) -> BTreeSet<u16> {
    let mut statuses: BTreeSet<u16> = api.behaviour.require.iter().map(|require| require.status).collect();
    if !api.parameters.is_empty() {
        statuses.insert(400);
    }
    if api.token.is_some() || !api.security.is_empty() {
        statuses.insert(401);
    }
    if api.security.iter().flatten().any(|need| !need.scopes.is_empty()) {
        statuses.insert(403);
    }
    statuses.extend(api.errors.iter().filter_map(|(status, _)| *status));
    let own: &[u16] = match &api.behaviour.kind {
        BehaviourKind::Get { .. } | BehaviourKind::Members { .. } => &[404],
        BehaviourKind::Lookup { .. } | BehaviourKind::Delete { .. } | BehaviourKind::RemoveMembers { .. } => {
            &[404, 409]
        }
        BehaviourKind::Create { .. } => &[409, 422],
        BehaviourKind::Replace { .. } | BehaviourKind::Patch { .. } | BehaviourKind::AddMembers { .. } => {
            &[404, 409, 422]
        }
        BehaviourKind::Action { target: Some(_) } => &[404],
        BehaviourKind::SignIn { .. } | BehaviourKind::SignOut => &[401],
        BehaviourKind::Action { target: None }
        | BehaviourKind::List(_)
        | BehaviourKind::Compute(_)
        | BehaviourKind::Aggregate { .. } => &[],
    };
    statuses.extend(own);
    statuses.remove(&api.reply.status);
    statuses
}

const fn meaning(status: u16) -> &'static str {
    match status {
        400 => "An argument is missing or wrong.",
        401 => "The sign-in is missing or wrong.",
        403 => "This is not allowed.",
        404 => "There is no such record.",
        409 => "The records as they are do not allow it.",
        422 => "The records do not take a value.",
        _ => "The call is refused.",
    }
}

fn security_schemes(world: &World) -> Map<String, Json> {
    let mut schemes = Map::new();
    for (position, domain) in world.domains.iter().enumerate() {
        if domain.auth.is_none() {
            continue;
        }
        let sign_in = world.apis.iter().find(|api| {
            api.domain.index() == position && matches!(api.behaviour.kind, BehaviourKind::SignIn { .. })
        });
        let description = match sign_in {
            Some(api) => format!("The token that {} replies with.", api.name),
            None => "A token of the domain.".to_owned(),
        };
        schemes.insert(
            scheme_name(&domain.name),
            json!({"type": "http", "scheme": "bearer", "description": description}),
        );
    }
    schemes
}

fn scheme_name(domain: &str) -> String {
    format!("{domain}_token")
}

/// Returns the first sentence.
fn summary(description: &str) -> &str {
    description.split_once(". ").map_or(description, |(first, _)| first).trim_end_matches('.')
}

fn either<'a>(first: &'a str, second: &'a str) -> &'a str {
    if first.is_empty() { second } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::base;

    const WORLD: &str = "
world: 1
name: desk
materialised: 0
clock: 2026-03-02T09:00
domain: {name: desk}
resources:
  note: {key: id, fields: {id: {type: integer}, kept: {type: any, optional: true, generated: true}}, records: [{id: 1}]}
apis:
  - name: NeedsBody
    method: POST
    path: /needs-body
    contract: {request: {type: object}, reply: {type: object}, needs_body: true}
    behaviour: {create: note, keep: kept}
  - name: TakesForm
    method: POST
    path: /takes-form
    contract: {request: {type: object}, reply: {type: object}, needs_body: true, form: true}
    behaviour: {create: note, keep: kept}
  - name: TakesBody
    method: POST
    path: /takes-body
    contract: {request: {type: object}, reply: {type: object}}
    behaviour: {create: note, keep: kept}
  - name: ListNotes
    method: GET
    path: /notes
    parameters:
      by_comma: {type: list, items: {type: string}, optional: true, ignored: true}
      by_bar: {type: list, items: {type: string}, separator: '|', optional: true, ignored: true}
    behaviour: {list: note}
";

    #[test]
    fn a_body_is_required_where_a_request_without_one_is_refused() {
        let document = document(base(WORLD).world(), "http://test");
        let check = |path: &str, expect: bool| {
            assert_eq!(document["paths"][path]["post"]["requestBody"]["required"], expect, "{path}");
        };
        check("/needs-body", true);
        check("/takes-form", false);
        check("/takes-body", false);
    }

    #[test]
    fn a_list_is_described_with_the_separator_that_it_is_split_at() {
        let document = document(base(WORLD).world(), "http://test");
        let parameters = document["paths"]["/notes"]["get"]["parameters"].as_array().unwrap();
        let check = |name: &str, style: &str, pattern: &str| {
            let parameter = parameters.iter().find(|parameter| parameter["name"] == name).unwrap();
            assert_eq!(
                (&parameter["style"], &parameter["explode"]),
                (&json!(style), &json!(false)),
                "{name}"
            );
            assert_eq!(parameter["schema"]["items"]["pattern"], pattern, "{name}");
        };
        check("by_comma", "form", "^[^,]+$");
        check("by_bar", "pipeDelimited", "^[^|]+$");
    }
}
