//! Reads the success replies of operations, and the content of replies and requests.

use diorama_seeds::contract::{is_json_kind, is_lines_kind};
use serde_json::Value as Json;

use super::parameters::parameter_schema;
use crate::Severity;
use crate::examples;
use crate::shape::{self, Kind, Shape, Unfolder};

/// Headers that the server sends itself where they apply.
const SERVED: [&str; 8] = [
    "date",
    "connection",
    "transfer-encoding",
    "set-cookie",
    "www-authenticate",
    "etag",
    "retry-after",
    "server",
];

/// Returns the headers that a response declares, without those that HTTP or the server sets.
pub(super) fn headers<'a>(unfolder: &mut Unfolder<'a>, response: &'a Json) -> Vec<(String, Json)> {
    let mut declared = Vec::new();
    for (name, header) in response.get("headers").and_then(Json::as_object).into_iter().flatten() {
        let lower = name.to_lowercase();
        let own = ["content-", "access-control-"].iter().any(|start| lower.starts_with(start));
        let is_name = lower.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if own || !is_name || name.is_empty() || SERVED.contains(&&*lower) {
            continue;
        }
        let Some(header) = unfolder.resolve(header) else { continue };
        // In Swagger 2.0 a header is its own schema.
        let schema = parameter_schema(header).or_else(|| header.get("type").map(|_| header));
        let mut schema = schema.cloned().unwrap_or_else(|| serde_json::json!({"type": "string"}));
        if let (Some(example), Some(members)) = (header.get("example"), schema.as_object_mut()) {
            members.entry("example").or_insert_with(|| example.clone());
        }
        declared.push((name.clone(), schema));
    }
    declared
}

/// Returns the first success status and its shape.
pub(super) fn success<'a>(unfolder: &mut Unfolder<'a>, node: &'a Json) -> (u16, Option<Shape>) {
    let Some((status, response)) = success_response(node) else { return (200, None) };
    let status = if status >= 298 { 200 } else { status };
    let Some(response) = unfolder.resolve(response) else { return (status, None) };
    (status, media(unfolder, response, reply_content))
}

/// Returns the first success: its status, 298 for `2XX` and 299 for `default`.
pub(super) fn success_response(node: &Json) -> Option<(u16, &Json)> {
    let responses = node.get("responses").and_then(Json::as_object);
    let mut best: Option<(u16, &Json)> = None;
    for (status, response) in responses.into_iter().flatten() {
        let code = match status.as_str() {
            "default" => 299,
            "2XX" | "2xx" => 298,
            text => text.parse().unwrap_or(0),
        };
        if (200..300).contains(&code) && best.is_none_or(|(known, _)| code < known) {
            best = Some((code, response));
        }
    }
    best
}

/// Returns the JSON content of a request or a response; else a form's, else that of XML.
pub(super) fn json_content(node: &Json) -> Option<&Json> {
    let content = node.get("content").and_then(Json::as_object)?;
    content
        .iter()
        .find(|(kind, _)| kind.contains("json"))
        .or_else(|| content.iter().find(|(kind, _)| kind.contains("form") || *kind == "*/*"))
        .or_else(|| content.iter().find(|(kind, _)| kind.contains("xml")))
        .map(|(_, media)| media)
}

/// Returns true if a request may be a form.
pub(super) fn has_form(node: &Json) -> bool {
    let content = node.get("content").and_then(Json::as_object);
    content.is_some_and(|content| content.keys().any(|kind| kind.contains("form")))
}

/// Returns the content of a response that is JSON, or of any kind.
pub(super) fn true_json(node: &Json) -> Option<&Json> {
    let content = node.get("content").and_then(Json::as_object)?;
    let json = content.iter().find(|(kind, _)| kind.contains("json") && !is_lines_kind(kind));
    json.or_else(|| content.iter().find(|(kind, _)| *kind == "*/*")).map(|(_, media)| media)
}

/// Returns the content of a response that is modelled: JSON, else a type that the server can write.
pub(super) fn reply_content(node: &Json) -> Option<&Json> {
    let content = node.get("content").and_then(Json::as_object)?;
    let other = || content.iter().find(|(kind, media)| is_written(kind, media)).map(|(_, media)| media);
    true_json(node).or_else(other)
}

/// Returns the media types of a response that can be served, where there are others than JSON.
pub(super) fn kinds(node: &Json) -> Vec<String> {
    let content = node.get("content").and_then(Json::as_object).into_iter().flatten();
    let (json, others): (Vec<_>, Vec<_>) = content
        .filter(|(kind, media)| is_json_kind(kind) || is_written(kind, media))
        .map(|(kind, _)| kind.clone())
        .partition(|kind| is_json_kind(kind));
    // JSON comes first: it answers a request that prefers no type.
    let json =
        json.into_iter().take(1).map(|kind| if kind == "*/*" { "application/json".to_owned() } else { kind });
    if others.is_empty() { Vec::new() } else { json.chain(others).collect() }
}

/// Returns true if the server can write a value as a media type: as XML, in lines, or as text.
fn is_written(kind: &str, media: &Json) -> bool {
    let text =
        || media.get("schema").and_then(|schema| schema.get("type")).is_none_or(|kind| kind == "string");
    is_lines_kind(kind)
        || kind.contains("xml")
        || kind.contains("csv")
        || (kind.starts_with("text/") && text())
}

/// Reads the content of a request or a response, with its examples.
pub(super) fn media<'a>(
    unfolder: &mut Unfolder<'a>,
    node: &'a Json,
    of: fn(&'a Json) -> Option<&'a Json>,
) -> Option<Shape> {
    let content = node.get("content").and_then(Json::as_object)?;
    let Some(media) = of(node) else {
        let kinds: Vec<&str> = content.keys().map(String::as_str).take(4).collect();
        if !kinds.is_empty() {
            unfolder.problems.push(
                Severity::LeftOut
                    .says(format!("found {}, expected JSON; its content is not modelled", kinds.join(", "))),
            );
        }
        return None;
    };
    let mut shape = media.get("schema").map(|schema| unfolder.shape(schema)).unwrap_or_default();
    for example in &examples::of_media(unfolder.root(), media) {
        if shape.kind == Kind::Any {
            shape = shape::infer(example, 0);
        } else {
            shape.learn(example, true, 0);
        }
    }
    (shape.kind != Kind::Any).then_some(shape)
}
