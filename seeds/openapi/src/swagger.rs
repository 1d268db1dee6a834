//! Converts Swagger 2.0 documents to OpenAPI 3.0, so that all later steps read one format.

use serde_json::{Map, Value as Json, json};

use super::shape::lookup;
use super::walk::Walk;

/// Members of a parameter that belong in its schema.
const OF_SCHEMA: [&str; 20] = [
    "type",
    "format",
    "items",
    "enum",
    "default",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "multipleOf",
    "pattern",
    "example",
    "x-example",
    "x-nullable",
    "title",
];

/// Converts a document. Files that were taken into it keep their positions.
pub(super) fn convert(root: &Json) -> Json {
    let mut out = Map::new();
    let list = |node: &Json, key: &str| node.get(key).cloned();
    out.insert("openapi".to_owned(), json!("3.0.3"));
    out.extend(
        root.as_object()
            .into_iter()
            .flatten()
            .filter(|(name, _)| {
                ["info", "tags", "security"].contains(&name.as_str()) || name.starts_with("x-")
            })
            .map(|(name, part)| (name.clone(), part.clone())),
    );
    let text = |key: &str| root.get(key).and_then(Json::as_str).unwrap_or_default();
    let scheme = root.pointer("/schemes/0").and_then(Json::as_str).unwrap_or("https");
    let url = match text("host") {
        "" => text("basePath").to_owned(),
        host => format!("{scheme}://{host}{}", text("basePath")),
    };
    if !url.is_empty() {
        out.insert("servers".to_owned(), json!([{ "url": url }]));
    }
    let defaults = Media { consumes: list(root, "consumes"), produces: list(root, "produces") };
    let mut paths = Map::new();
    for (path, item) in entries(root.get("paths")) {
        paths.insert(path.clone(), path_item(root, item, &defaults));
    }
    out.insert("paths".to_owned(), Json::Object(paths));
    let mut components = Map::new();
    components.insert("schemas".to_owned(), root.get("definitions").cloned().unwrap_or_else(|| json!({})));
    let parameters = entries(root.get("parameters")).map(|(name, part)| (name.clone(), parameter(part)));
    components.insert("parameters".to_owned(), Json::Object(parameters.collect()));
    let responses =
        entries(root.get("responses")).map(|(name, part)| (name.clone(), response(part, &defaults, None)));
    components.insert("responses".to_owned(), Json::Object(responses.collect()));
    let schemes = entries(root.get("securityDefinitions")).map(|(name, part)| (name.clone(), security(part)));
    components.insert("securitySchemes".to_owned(), Json::Object(schemes.collect()));
    out.insert("components".to_owned(), Json::Object(components));
    let mut out = Json::Object(out);
    Walk::default().visit_mut(&mut out, &mut respell);
    out
}

/// The default media types of requests and replies.
struct Media {
    consumes: Option<Json>,
    produces: Option<Json>,
}

fn entries(node: Option<&Json>) -> impl Iterator<Item = (&String, &Json)> {
    node.and_then(Json::as_object).into_iter().flatten()
}

fn path_item(root: &Json, item: &Json, defaults: &Media) -> Json {
    let item = item.get("$ref").and_then(Json::as_str).and_then(|at| lookup(root, at)).unwrap_or(item);
    let shared: Vec<&Json> = item.get("parameters").and_then(Json::as_array).into_iter().flatten().collect();
    let mut out = Map::new();
    for (name, part) in entries(Some(item)) {
        match name.as_str() {
            "parameters" | "$ref" => {}
            "get" | "put" | "post" | "delete" | "options" | "head" | "patch" => {
                out.insert(name.clone(), operation(root, part, &shared, defaults));
            }
            _ => {
                out.insert(name.clone(), part.clone());
            }
        }
    }
    Json::Object(out)
}

/// Converts an operation: it gets its path's parameters, and its body becomes a request body.
fn operation(root: &Json, node: &Json, shared: &[&Json], defaults: &Media) -> Json {
    let resolved = |part: &Json| -> Json {
        let target = part.get("$ref").and_then(Json::as_str);
        target.map_or(part, |at| lookup(root, at).unwrap_or(part)).clone()
    };
    let own = node.get("parameters").and_then(Json::as_array).into_iter().flatten();
    let mut all: Vec<Json> = Vec::new();
    for part in shared.iter().copied().chain(own) {
        let part = resolved(part);
        let same = |known: &Json| known.get("name") == part.get("name") && known.get("in") == part.get("in");
        match all.iter_mut().find(|known| same(known)) {
            Some(known) => *known = part,
            None => all.push(part),
        }
    }
    let is = |part: &Json, place: &str| part.get("in").and_then(Json::as_str) == Some(place);
    let consumes = node.get("consumes").or(defaults.consumes.as_ref());
    let mut out: Map<String, Json> = entries(Some(node))
        .filter(|(name, _)| {
            !["parameters", "responses", "consumes", "produces", "schemes"].contains(&name.as_str())
        })
        .map(|(name, part)| (name.clone(), part.clone()))
        .collect();
    if let Some(body) = all.iter().find(|part| is(part, "body")) {
        let schema = body.get("schema").cloned().unwrap_or_else(|| json!({}));
        let kind = first(consumes).unwrap_or("application/json");
        let required = body.get("required").cloned().unwrap_or(Json::Bool(false));
        let description = body.get("description").cloned().unwrap_or_else(|| json!(""));
        let content = json!({ kind: { "schema": schema } });
        out.insert(
            "requestBody".to_owned(),
            json!({"required": required, "description": description, "content": content}),
        );
    } else if all.iter().any(|part| is(part, "formData")) {
        out.insert("requestBody".to_owned(), form(all.iter().filter(|part| is(part, "formData")), consumes));
    }
    let others = all.iter().filter(|part| !is(part, "body") && !is(part, "formData")).map(parameter);
    out.insert("parameters".to_owned(), Json::Array(others.collect()));
    let produces = node.get("produces");
    let responses = entries(node.get("responses"))
        .map(|(status, part)| (status.clone(), response(&resolved(part), defaults, produces)));
    out.insert("responses".to_owned(), Json::Object(responses.collect()));
    Json::Object(out)
}

fn first(list: Option<&Json>) -> Option<&str> {
    let kinds = || list.and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    kinds().find(|kind| kind.contains("json")).or_else(|| kinds().next())
}

/// Merges form parameters into one body.
fn form<'a>(parts: impl Iterator<Item = &'a Json>, consumes: Option<&Json>) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut kind = first(consumes).unwrap_or("application/x-www-form-urlencoded").to_owned();
    for part in parts {
        let Some(name) = part.get("name").and_then(Json::as_str) else { continue };
        let mut schema = schema_of(part);
        if part.get("type").and_then(Json::as_str) == Some("file") {
            kind = "multipart/form-data".to_owned();
            schema = json!({"type": "string", "format": "binary"});
        }
        if let (Json::Object(schema), Some(text)) = (&mut schema, part.get("description")) {
            schema.insert("description".to_owned(), text.clone());
        }
        if part.get("required") == Some(&Json::Bool(true)) {
            required.push(name.to_owned());
        }
        properties.insert(name.to_owned(), schema);
    }
    let needed = !required.is_empty();
    let schema = json!({"type": "object", "properties": properties, "required": required});
    json!({"required": needed, "content": { kind: { "schema": schema } }})
}

fn schema_of(part: &Json) -> Json {
    if let Some(schema) = part.get("schema") {
        return schema.clone();
    }
    let own = entries(Some(part)).filter(|(name, _)| OF_SCHEMA.contains(&name.as_str()));
    Json::Object(own.map(|(name, part)| (name.clone(), part.clone())).collect())
}

/// Converts a parameter: its type moves under `schema`, and its list format becomes a style.
fn parameter(part: &Json) -> Json {
    if part.get("$ref").is_some() {
        return part.clone();
    }
    let mut out: Map<String, Json> = entries(Some(part))
        .filter(|(name, _)| !OF_SCHEMA.contains(&name.as_str()) && *name != "collectionFormat")
        .map(|(name, part)| (name.clone(), part.clone()))
        .collect();
    out.insert("schema".to_owned(), schema_of(part));
    if part.get("type").and_then(Json::as_str) == Some("array") {
        let (style, explode) = match part.get("collectionFormat").and_then(Json::as_str) {
            Some("multi") => ("form", true),
            Some("ssv") => ("spaceDelimited", false),
            Some("pipes") => ("pipeDelimited", false),
            _ => ("form", false),
        };
        if part.get("in").and_then(Json::as_str) == Some("query") {
            out.insert("style".to_owned(), json!(style));
            out.insert("explode".to_owned(), json!(explode));
        }
    }
    Json::Object(out)
}

/// Converts a response: its schema moves under a media type.
fn response(part: &Json, defaults: &Media, produces: Option<&Json>) -> Json {
    if part.get("$ref").is_some() {
        return part.clone();
    }
    let mut out = Map::new();
    out.insert("description".to_owned(), part.get("description").cloned().unwrap_or_else(|| json!("")));
    if let Some(schema) = part.get("schema") {
        let kind = first(produces.or(defaults.produces.as_ref())).unwrap_or("application/json");
        let mut media = Map::from_iter([("schema".to_owned(), schema.clone())]);
        let examples = entries(part.get("examples")).enumerate();
        let examples: Map<String, Json> = examples
            .map(|(place, (_, value))| (format!("example{place}"), json!({ "value": value })))
            .collect();
        if !examples.is_empty() {
            media.insert("examples".to_owned(), Json::Object(examples));
        }
        out.insert("content".to_owned(), json!({ kind: media }));
    }
    Json::Object(out)
}

fn security(part: &Json) -> Json {
    let text = |key: &str| part.get(key).cloned().unwrap_or_else(|| json!(""));
    match part.get("type").and_then(Json::as_str) {
        Some("basic") => json!({"type": "http", "scheme": "basic"}),
        Some("oauth2") => {
            let flow = match part.get("flow").and_then(Json::as_str) {
                Some("application") => "clientCredentials",
                Some("accessCode") => "authorizationCode",
                Some("password") => "password",
                _ => "implicit",
            };
            let mut members = Map::from_iter([("scopes".to_owned(), text("scopes"))]);
            for key in ["authorizationUrl", "tokenUrl"] {
                members.extend(part.get(key).map(|url| (key.to_owned(), url.clone())));
            }
            json!({"type": "oauth2", "flows": { flow: members }})
        }
        _ => part.clone(),
    }
}

/// Moves references to the new positions, and makes a discriminator an object.
fn respell(members: &mut Map<String, Json>) {
    if let Some(Json::String(reference)) = members.get_mut("$ref") {
        for (old, new) in [
            ("#/definitions/", "#/components/schemas/"),
            ("#/parameters/", "#/components/parameters/"),
            ("#/responses/", "#/components/responses/"),
        ] {
            if let Some(rest) = reference.strip_prefix(old) {
                *reference = format!("{new}{rest}");
                break;
            }
        }
    }
    if members.contains_key("properties")
        && let Some(Json::String(name)) = members.get("discriminator")
    {
        let object = json!({ "propertyName": name });
        members.insert("discriminator".to_owned(), object);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swagger_2_document_converts_to_openapi_3() {
        let old = json!({
            "swagger": "2.0", "host": "api.example.org", "basePath": "/v1", "schemes": ["http"],
            "produces": ["application/json"],
            "paths": {"/pets/{id}": {
                "parameters": [{"name": "id", "in": "path", "required": true, "type": "integer"}],
                "put": {
                    "parameters": [
                        {"$ref": "#/parameters/tags"},
                        {"name": "pet", "in": "body", "required": true, "schema": {"$ref": "#/definitions/Pet"}},
                    ],
                    "responses": {"200": {"description": "ok", "schema": {"$ref": "#/definitions/Pet"},
                        "examples": {"application/json": {"name": "Bo"}}}},
                },
                "post": {
                    "consumes": ["multipart/form-data"],
                    "parameters": [{"name": "photo", "in": "formData", "type": "file", "required": true}],
                    "responses": {"204": {"description": "done"}, "default": {"description": "wrong", "schema": {"$ref": "#/definitions/Pet"}}},
                },
            }},
            "parameters": {"tags": {"name": "tags", "in": "query", "type": "array", "items": {"type": "string"},
                "collectionFormat": "multi"}},
            "definitions": {"Pet": {"type": "object", "discriminator": "kind", "properties": {"kind": {"type": "string"}}}},
            "securityDefinitions": {"login": {"type": "oauth2", "flow": "accessCode", "tokenUrl": "https://x.org/t",
                "authorizationUrl": "https://x.org/a", "scopes": {"write": "all"}}},
        });
        let new = convert(&old);
        let expect = |pointer: &str, value: Json| assert_eq!(new.pointer(pointer), Some(&value), "{pointer}");
        expect("/servers/0/url", json!("http://api.example.org/v1"));
        let put = "/paths/~1pets~1{id}/put";
        expect(
            &format!("{put}/parameters/0"),
            json!({"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}),
        );
        expect(
            &format!("{put}/parameters/1"),
            json!({"name": "tags", "in": "query", "schema": {"type": "array", "items": {"type": "string"}},
                "style": "form", "explode": true}),
        );
        expect(
            &format!("{put}/requestBody/content/application~1json/schema"),
            json!({"$ref": "#/components/schemas/Pet"}),
        );
        expect(
            &format!("{put}/responses/200/content/application~1json"),
            json!({"schema": {"$ref": "#/components/schemas/Pet"}, "examples": {"example0": {"value": {"name": "Bo"}}}}),
        );
        expect(
            "/paths/~1pets~1{id}/post/requestBody/content/multipart~1form-data/schema/properties/photo",
            json!({"type": "string", "format": "binary"}),
        );
        expect(
            "/paths/~1pets~1{id}/post/responses/default/content/application~1json/schema/$ref",
            json!("#/components/schemas/Pet"),
        );
        expect("/components/schemas/Pet/discriminator", json!({"propertyName": "kind"}));
        expect(
            "/components/securitySchemes/login/flows/authorizationCode/tokenUrl",
            json!("https://x.org/t"),
        );
    }
}
