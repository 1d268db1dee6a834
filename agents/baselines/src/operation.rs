//! APIs as the operations of a REST service: their OpenAPI text, and requests to them as calls.
//!
//! RestGPT's caller reads the documentation of an operation and writes a request: method, URL, parameters and
//! body (section 3.3). Sessions accept calls by name. So a request is matched with its operation, and its
//! parts become arguments.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value as Json, json};

use diorama_seeds::task::Call;

use crate::document::Document;
use crate::types::{ValueType, value_type};

/// Maximum number of schemas included in the text of one operation.
const MAX_SCHEMAS: usize = 40;

/// The base URL of in-process services. No request is sent to it.
pub const IN_PROCESS_URL: &str = "https://service.example";

/// An API's operation in the OpenAPI document of its service.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// The URL before the paths.
    pub base_url: String,
    /// HTTP method, in upper case.
    pub method: String,
    /// Path as in the document. Example: `/rooms/{room_id}`.
    pub path: String,
    /// The operation without its responses, with the shared schemas that it refers to.
    pub document: Json,
    /// The schema of a successful reply, with the shared schemas that it refers to.
    pub reply: Option<Json>,
}

/// A request as a caller writes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RequestPlan {
    pub method: String,
    pub url: String,
    /// Parameters of the query string, and of headers.
    pub params: Map<String, Json>,
    /// Members of the body.
    pub data: Map<String, Json>,
}

impl Operation {
    /// Finds an operation in an OpenAPI document by the name of its API (`operationId`).
    #[must_use]
    pub fn find(openapi: &Json, api: &str) -> Option<Self> {
        let (path, method, operation) = locate(openapi, api)?;
        let mut document = operation.clone();
        if let Json::Object(members) = &mut document {
            members.retain(|name, _| !matches!(&**name, "responses" | "operationId" | "tags" | "security"));
        }
        // The summary is dropped if the description begins with it.
        if let Json::Object(members) = &mut document
            && let (Some(summary), Some(description)) = (members.get("summary"), members.get("description"))
            && let (Some(summary), Some(description)) = (summary.as_str(), description.as_str())
            && description.starts_with(summary.trim_end_matches('.'))
        {
            members.remove("summary");
        }
        take_schemas(openapi, &mut document);
        tidy(&mut document);
        let mut reply = success_schema(operation).cloned();
        if let Some(reply) = &mut reply {
            take_schemas(openapi, reply);
            tidy(reply);
        }
        let base_url = openapi.pointer("/servers/0/url").and_then(Json::as_str).unwrap_or_default();
        Some(Self {
            base_url: base_url.trim_end_matches('/').to_owned(),
            method: method.to_uppercase(),
            path: path.to_owned(),
            document,
            reply,
        })
    }

    /// Returns its name for a planner. Example: `GET /rooms/{room_id}`.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Returns its document for a caller. An argument that is in no part of the document, such as the sign-in
    /// token, is added as a header.
    pub(crate) fn text(&self, tool: &Document) -> Json {
        let mut document = self.document.clone();
        let missing: Vec<Json> = tool
            .parameters()
            .filter(|(name, ..)| !declares(&self.document, name))
            .map(|(name, schema, must)| json!({"name": name, "in": "header", "required": must, "schema": schema}))
            .collect();
        if !missing.is_empty()
            && let Some(Json::Array(parameters)) = document.get_mut("parameters")
        {
            parameters.extend(missing);
        }
        document
    }

    /// Returns the number of literal path segments if a method and a URL match this operation. A URL may
    /// contain parameter names like the path.
    pub(crate) fn literal_matches(&self, method: &str, url: &str) -> Option<usize> {
        let segments = self.segments(url)?;
        let literal = segments.iter().filter(|(template, _)| !template.contains('{')).count();
        method.eq_ignore_ascii_case(&self.method).then_some(literal)
    }

    /// Returns the call of a request, if the request matches this operation.
    pub(crate) fn call(&self, tool: &Document, request: &RequestPlan) -> Option<Call> {
        self.literal_matches(&request.method, &request.url)?;
        let mut arguments = Map::new();
        let mut add = |name: &str, value: Json, is_text: bool| {
            let (name, schema) = find_argument(tool, name);
            let value = if is_text { read_text(value, schema) } else { value };
            arguments.insert(name.to_owned(), value);
        };
        for (template, segment) in self.segments(&request.url)? {
            if let Some((name, value)) = path_value(template, segment) {
                add(name, Json::from(decode(value)), true);
            }
        }
        let query = request.url.split_once('?').map_or("", |(_, query)| query);
        for pair in query.split('#').next().unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            add(&decode(&name.replace('+', " ")), Json::from(decode(&value.replace('+', " "))), true);
        }
        for (name, value) in &request.params {
            add(name, value.clone(), true);
        }
        for (name, value) in &request.data {
            add(name, value.clone(), false);
        }
        let marks = self.path.split_once('#').map_or("", |(_, marks)| marks);
        let is_chosen = marks.split('&').filter(|mark| !mark.is_empty()).all(|mark| {
            let (name, value) = mark.split_once('=').unwrap_or((mark, ""));
            let given = arguments
                .get(name)
                .map(|given| given.as_str().map_or_else(|| given.to_string(), str::to_owned));
            given.is_some_and(|given| value.is_empty() || given == value)
        });
        is_chosen.then(|| Call { api: tool.name.clone(), arguments })
    }

    /// Returns the segments of the path, each with the URL's segment. Returns none if the URL has another
    /// path.
    fn segments<'a>(&'a self, url: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
        let template = self.path.split('#').next().unwrap_or_default();
        let url = url.strip_prefix(&self.base_url).unwrap_or(url);
        let url = match url.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
            None => url,
        };
        let path = url.split(['?', '#']).next().unwrap_or_default();
        let parts = |text: &'a str| text.trim_matches('/').split('/').collect::<Vec<&str>>();
        let (templates, segments) = (parts(template), parts(path));
        if templates.len() != segments.len() {
            return None;
        }
        let pairs: Vec<_> = templates.into_iter().zip(segments).collect();
        let fits = |(template, segment): &(&str, &str)| {
            template == segment || path_value(template, segment).is_some()
        };
        pairs.iter().all(fits).then_some(pairs)
    }
}

/// Removes useless parts of a document: limits of 64-bit integers, and the simulator's own members
/// (`x-resource`).
fn tidy(value: &mut Json) {
    match value {
        Json::Array(items) => items.iter_mut().for_each(tidy),
        Json::Object(members) => {
            let is_idle = |name: &str, value: &Json| match name {
                "minimum" => value.as_i64() == Some(i64::MIN),
                "maximum" => value.as_i64() == Some(i64::MAX),
                _ => name.starts_with("x-") && value.is_string(),
            };
            members.retain(|name, value| !is_idle(name, value));
            members.values_mut().for_each(tidy);
        }
        _ => {}
    }
}

/// Returns the path, the method and the definition of an API's operation in an OpenAPI document.
fn locate<'d>(openapi: &'d Json, api: &str) -> Option<(&'d str, &'d str, &'d Json)> {
    openapi.get("paths")?.as_object()?.iter().find_map(|(path, item)| {
        let mut operations = item.as_object()?.iter();
        let (method, operation) = operations.find(|(_, operation)| operation["operationId"] == api)?;
        Some((&**path, &**method, operation))
    })
}

/// Returns true if an OpenAPI document has an operation of an API's name.
#[must_use]
pub fn has_operation(openapi: &Json, api: &str) -> bool {
    locate(openapi, api).is_some()
}

/// Returns the schema of an operation's successful reply.
fn success_schema(operation: &Json) -> Option<&Json> {
    let mut responses = operation.get("responses")?.as_object()?.iter();
    let (_, success) = responses.find(|(status, _)| status.starts_with('2'))?;
    success.pointer("/content/application~1json/schema")
}

/// Returns the schema of an API's successful reply in an OpenAPI document.
#[must_use]
pub fn find_reply_schema(openapi: &Json, api: &str) -> Option<Json> {
    locate(openapi, api).and_then(|(.., operation)| success_schema(operation)).cloned()
}

/// Returns the parameter of a segment and its value. Example: `{id}.json` and `5.json` give `id` and `5`.
fn path_value<'a>(template: &'a str, segment: &'a str) -> Option<(&'a str, &'a str)> {
    let (before, rest) = template.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    let value = segment.strip_prefix(before)?.strip_suffix(after)?;
    (!value.is_empty()).then_some((name, value))
}

fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Returns the letters and digits of a name in lower case. Tools and requests may differ in spelling, such as
/// `beds_min` and `beds[min]`.
fn fold_name(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns the argument for a part of a request, with its schema. Names are compared without case and signs.
fn find_argument<'a>(tool: &'a Document, name: &'a str) -> (&'a str, Option<&'a Json>) {
    let exact = tool.parameters().find(|(own, ..)| *own == name);
    let found = exact.or_else(|| tool.parameters().find(|(own, ..)| fold_name(own) == fold_name(name)));
    found.map_or((name, None), |(own, schema, _)| (own, Some(schema)))
}

/// Parses text of a URL by the schema of its value. Invalid text is unchanged, so the service refuses it.
fn read_text(value: Json, schema: Option<&Json>) -> Json {
    let (Json::String(text), Some(schema)) = (&value, schema) else { return value };
    let read = match value_type(schema) {
        ValueType::Integer => text.parse::<i64>().ok().map(Json::from),
        ValueType::Number => {
            text.parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Json::Number)
        }
        ValueType::Boolean => text.parse::<bool>().ok().map(Json::Bool),
        ValueType::List if !text.trim_start().starts_with('[') => {
            let items = schema.get("items");
            let items = text.split(',').map(|item| read_text(Json::from(item.trim()), items));
            Some(Json::Array(items.collect()))
        }
        ValueType::List | ValueType::Other => serde_json::from_str(text).ok(),
        _ => None,
    };
    read.unwrap_or(value)
}

/// Returns true if a document has a parameter or a schema property with a name.
fn declares(document: &Json, name: &str) -> bool {
    match document {
        Json::Array(items) => items.iter().any(|item| declares(item, name)),
        Json::Object(members) => {
            let is_name = |own: &str| fold_name(own) == fold_name(name);
            let parameter = members.get("name").filter(|_| members.contains_key("in")).and_then(Json::as_str);
            let properties = members.get("properties").and_then(Json::as_object);
            parameter.is_some_and(is_name)
                || properties.is_some_and(|properties| properties.keys().any(|own| is_name(own)))
                || members.values().any(|member| declares(member, name))
        }
        _ => false,
    }
}

/// Adds the shared schemas that a part of a document refers to, directly or indirectly.
fn take_schemas(openapi: &Json, part: &mut Json) {
    let (mut found, mut open) = (Map::new(), vec![&*part]);
    while let Some(value) = open.pop() {
        match value {
            Json::Array(items) => open.extend(items),
            Json::Object(members) => {
                let target = members.get("$ref").and_then(Json::as_str);
                let name = target.and_then(|target| target.strip_prefix("#/components/schemas/"));
                let schema = name.and_then(|name| openapi.get("components")?.get("schemas")?.get(name));
                if let (Some(name), Some(schema)) = (name, schema)
                    && found.len() < MAX_SCHEMAS
                    && !found.contains_key(name)
                {
                    found.insert(name.to_owned(), schema.clone());
                    open.push(schema);
                }
                open.extend(members.values());
            }
            _ => {}
        }
    }
    if !found.is_empty() {
        part["components"] = json!({ "schemas": found });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn openapi() -> Json {
        json!({
            "servers": [{"url": "https://hotel.example/v1"}],
            "paths": {
                "/rooms/search": {"get": {"operationId": "Search", "parameters": []}},
                "/rooms/{room_id}": {
                    "get": {"operationId": "Get", "parameters": []},
                    "patch": {
                        "operationId": "Change",
                        "parameters": [
                            {"name": "room_id", "in": "path", "schema": {"type": "integer"}},
                            {"name": "beds[min]", "in": "query", "schema": {"type": "integer"}},
                            {"name": "tags", "in": "query", "schema": {"type": "array"}},
                        ],
                        "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Room"}}}},
                        "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Note"}}}}},
                    },
                },
            },
            "components": {"schemas": {
                "Room": {"type": "object", "properties": {"note": {"$ref": "#/components/schemas/Note"}}},
                "Note": {"type": "string"},
                "Other": {"type": "string"},
            }},
        })
    }

    fn room() -> (Operation, Document) {
        let number = json!({"type": "integer"});
        let parameters = json!({"type": "object", "required": ["room_id"], "properties": {
            "room_id": number, "beds_min": number, "tags": {"type": "array", "items": {"type": "string"}},
            "note": {"type": "string"}, "token": {"type": "string"}}});
        let tool = Document { name: "Change".to_owned(), description: String::new(), parameters };
        (Operation::find(&openapi(), "Change").unwrap(), tool)
    }

    #[test]
    fn a_request_is_the_call_that_its_parts_make() {
        let (operation, tool) = room();
        let check = |method: &str, url: &str, params: Json, data: Json, expect: Option<Json>| {
            let object = |value: Json| value.as_object().cloned().unwrap_or_default();
            let (method, url) = (method.to_owned(), url.to_owned());
            let request = RequestPlan { method, url, params: object(params), data: object(data) };
            let made = operation.call(&tool, &request).map(|call| Json::Object(call.arguments));
            assert_eq!(made, expect, "{request:?}");
        };
        check("patch", "/rooms/7", json!({}), json!({}), Some(json!({"room_id": 7})));
        check(
            "PATCH",
            "https://hotel.example/v1/rooms/7?tags=quiet,low%20floor&beds%5Bmin%5D=2",
            json!({"token": "t-1"}),
            json!({"note": "7"}),
            Some(
                json!({"room_id": 7, "tags": ["quiet", "low floor"], "beds_min": 2, "token": "t-1", "note": "7"}),
            ),
        );
        check(
            "PATCH",
            "https://other.example/rooms/7",
            json!({"beds_min": "two"}),
            json!({}),
            Some(json!({"room_id": 7, "beds_min": "two"})),
        );
        check("GET", "/rooms/7", json!({}), json!({}), None);
        check("PATCH", "/rooms/7/beds", json!({}), json!({}), None);
        check("PATCH", "/rooms/", json!({}), json!({}), None);
    }

    #[test]
    fn the_text_has_what_a_caller_needs() {
        let (operation, tool) = room();
        assert_eq!(operation.name(), "PATCH /rooms/{room_id}");
        let text = operation.text(&tool);
        let schemas: Vec<&String> = text["components"]["schemas"].as_object().unwrap().keys().collect();
        assert_eq!(schemas, ["Room", "Note"]);
        assert!(text.get("responses").is_none());
        let note = json!({"Note": {"type": "string"}});
        assert_eq!(operation.reply.unwrap()["components"]["schemas"], note);
        let header = text["parameters"].as_array().unwrap().last().unwrap();
        assert_eq!((&header["name"], &header["in"]), (&json!("token"), &json!("header")));
    }

    #[test]
    fn a_literal_segment_outweighs_a_parameter() {
        let literal =
            |api: &str, url: &str| Operation::find(&openapi(), api).unwrap().literal_matches("GET", url);
        assert_eq!((literal("Search", "/rooms/search"), literal("Get", "/rooms/search")), (Some(2), Some(1)));
        assert_eq!(
            (literal("Search", "/rooms/{room_id}"), literal("Get", "/rooms/{room_id}")),
            (None, Some(1))
        );
    }
}
