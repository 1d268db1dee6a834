//! Owns the error bodies: problem documents in the shape that the world declares for a status.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use diorama_seeds::contract::tells_error;
use diorama_seeds::english::split_identifier;
use diorama_seeds::model::Api;
use diorama_seeds::table::group_words;
use serde_json::{Map, Value as Json, json};

/// Names of members and words of codes, by their kinds.
static WORDS: LazyLock<HashMap<&'static str, Vec<&'static str>>> =
    LazyLock::new(|| group_words(include_str!("error_words.txt")));

/// Maximum depth of schemas.
const DEPTH: u32 = 8;

/// Returns the schema that an API declares for errors with a status.
pub(in crate::http) fn declared(api: &Api, status: u16) -> Option<&Arc<Json>> {
    let of =
        |wanted: Option<u16>| api.errors.iter().find(|(code, _)| *code == wanted).map(|(_, schema)| schema);
    of(Some(status)).or_else(|| of(None))
}

/// Returns a problem document in a declared shape: the schema's members with the data of the problem. If the
/// schema allows more members, those of the problem follow.
pub(in crate::http) fn shaped(schema: &Json, problem: &Json) -> Json {
    Maker { problem }.make(schema, "", 0)
}

struct Maker<'a> {
    problem: &'a Json,
}

impl Maker<'_> {
    fn make(&self, schema: &Json, name: &str, depth: u32) -> Json {
        if depth > DEPTH {
            return Json::Null;
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = schema.get("enum").and_then(Json::as_array) {
            return self.chosen(values, name);
        }
        if let Some(parts) = schema.get("allOf").and_then(Json::as_array) {
            return self.make(&joined(schema, parts), name, depth + 1);
        }
        for word in ["oneOf", "anyOf"] {
            if let Some(first) = schema.get(word).and_then(|parts| parts.get(0)) {
                return self.make(first, name, depth + 1);
            }
        }
        match kind(schema) {
            "object" => self.object(schema, name, depth),
            "array" => {
                let least = schema.get("minItems").and_then(Json::as_u64).unwrap_or(1).clamp(1, 8);
                let item = self.make(schema.get("items").unwrap_or(&json!({})), name, depth + 1);
                Json::Array((0..least).map(|_| item.clone()).collect())
            }
            "integer" | "number" => self.number(schema, name),
            "boolean" => json!(false),
            "null" => Json::Null,
            "string" => Json::from(self.text(schema, name)),
            // Any value is allowed: the problem document at the top, the detail of the problem below.
            _ if name.is_empty() => self.problem.clone(),
            _ => self.problem.get(name).cloned().unwrap_or_else(|| self.detail()),
        }
    }

    fn object(&self, schema: &Json, name: &str, depth: u32) -> Json {
        let mut body = Map::new();
        let required = |name: &str| {
            let all = schema.get("required").and_then(Json::as_array);
            all.is_some_and(|all| all.iter().any(|required| required == name))
        };
        let properties = schema.get("properties").and_then(Json::as_object);
        // Optional nested values add no information, unless their names are those of errors.
        let plain = |part: &Json| {
            let ways = ["anyOf", "oneOf", "allOf"].iter().find_map(|word| part.get(*word)?.get(0));
            let kind = if kind(part).is_empty() { ways.map_or("", kind) } else { kind(part) };
            !matches!(kind, "object" | "array") && depth < 3
        };
        // If some names have known meanings, members with other names are omitted.
        let told = properties.into_iter().flatten().any(|(name, part)| plain(part) && tells(name));
        for (name, part) in properties.into_iter().flatten() {
            let said = plain(part) && (!told || tells(name));
            if required(name) || said || (depth < 2 && tells_error(name)) {
                body.insert(name.clone(), self.make(part, name, depth + 1));
            }
        }
        let open = |more: &Json| more.as_bool() == Some(true) || more.as_object().is_some_and(Map::is_empty);
        let more = schema.get("additionalProperties").is_none_or(open);
        let missing = schema.get("required").and_then(Json::as_array).into_iter().flatten();
        for name in missing.filter_map(Json::as_str).filter(|_| more) {
            if !body.contains_key(name) {
                body.insert(
                    name.to_owned(),
                    self.problem.get(name).cloned().unwrap_or_else(|| self.detail()),
                );
            }
        }
        // The members of the problem are added beside the declared ones, at the top only.
        if more && name.is_empty() && schema.get("maxProperties").is_none() {
            for (name, value) in self.problem.as_object().into_iter().flatten() {
                body.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        Json::Object(body)
    }

    fn detail(&self) -> Json {
        self.problem.get("detail").cloned().unwrap_or(Json::Null)
    }

    fn status(&self) -> i64 {
        self.problem.get("status").and_then(Json::as_i64).unwrap_or(500)
    }

    /// Returns the enum value that fits the problem best: its status, its title, a word for its status, or
    /// the first value.
    fn chosen(&self, values: &[Json], name: &str) -> Json {
        let status = self.status();
        let title = slug(self.problem.get("title").and_then(Json::as_str).unwrap_or_default());
        let says = |value: &&Json| match value {
            Json::Number(number) => number.as_i64() == Some(status),
            Json::String(text) => slug(text) == title || *text == status.to_string(),
            Json::Bool(value) => !*value && name != "error",
            _ => false,
        };
        let of_status = || {
            let mut words = WORDS.get(status.to_string().as_str()).into_iter().flatten();
            words.find_map(|word| {
                values.iter().find(|value| value.as_str().is_some_and(|value| slug(value).contains(word)))
            })
        };
        let client = || {
            values.iter().find(|value| {
                value.as_str().is_some_and(|value| status < 500 && slug(value).contains("request"))
            })
        };
        let found = values.iter().find(says).or_else(of_status).or_else(client).or_else(|| values.first());
        found.cloned().unwrap_or(Json::Null)
    }

    fn number(&self, schema: &Json, name: &str) -> Json {
        let of_status = ["", "status", "code", "errno", "error"];
        let wanted = slug(name);
        let said =
            of_status.iter().any(|part| wanted == *part || (!part.is_empty() && wanted.contains(part)));
        let mut value = if said { self.status() } else { 0 };
        if let Some(most) = schema.get("maximum").and_then(Json::as_i64) {
            value = value.min(most);
        }
        if let Some(least) = schema.get("minimum").and_then(Json::as_f64) {
            value = value.max(least.ceil() as i64);
        }
        json!(value)
    }

    fn text(&self, schema: &Json, name: &str) -> String {
        let of =
            |member: &str| self.problem.get(member).and_then(Json::as_str).unwrap_or_default().to_owned();
        let wanted = slug(name);
        let text = match schema.get("format").and_then(Json::as_str) {
            Some("uri" | "url" | "uri-reference") => "about:blank".to_owned(),
            Some("date-time") => "1970-01-01T00:00:00Z".to_owned(),
            Some("date") => "1970-01-01".to_owned(),
            Some("uuid") => "00000000-0000-0000-0000-000000000000".to_owned(),
            Some("email") => "errors@example.com".to_owned(),
            _ => match wanted.as_str() {
                "code" | "error" | "errorcode" | "reason" => of("title").to_lowercase().replace(' ', "_"),
                "id" | "name" | "key" if names_status(schema) => of("title").to_lowercase().replace(' ', "_"),
                "type" if self.problem.get("type").is_some() => of("type"),
                "title" => of("title"),
                "status" | "statuscode" => self.status().to_string(),
                "field" | "parameter" | "param" | "path" | "property" | "pointer" => of("parameter"),
                "expected" => of("expected"),
                url if url.ends_with("url") => "about:blank".to_owned(),
                _ => of("detail"),
            },
        };
        let most = schema.get("maxLength").and_then(Json::as_u64).unwrap_or(u64::MAX);
        let mut text: String = text.chars().take(usize::try_from(most).unwrap_or(usize::MAX)).collect();
        let least = schema.get("minLength").and_then(Json::as_u64).unwrap_or(0).min(10_000) as usize;
        while text.chars().count() < least {
            text.push('.');
        }
        text
    }
}

/// Returns true if a schema describes its values as codes: a short identifier for the HTTP status code.
fn names_status(schema: &Json) -> bool {
    let said = schema.get("description").and_then(Json::as_str).unwrap_or_default().to_lowercase();
    said.contains("status code") || said.contains("error code")
}

/// Returns true if a member with this name holds data of a problem.
fn tells(name: &str) -> bool {
    let is = |kind: &str, word: &str| WORDS.get(kind).is_some_and(|words| words.contains(&word));
    is("members", &slug(name)) || split_identifier(name).last().is_some_and(|last| is("endings", last))
}

/// Returns the type of a schema. It is null only if no other type is allowed.
fn kind(schema: &Json) -> &str {
    match schema.get("type") {
        Some(Json::String(kind)) => kind,
        Some(Json::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Json::as_str);
            kinds.clone().find(|kind| *kind != "null").or_else(|| kinds.next()).unwrap_or_default()
        }
        _ if schema.get("properties").is_some() || schema.get("required").is_some() => "object",
        _ if schema.get("items").is_some() => "array",
        _ => "",
    }
}

/// Merges the parts of an `allOf` into one schema.
fn joined(schema: &Json, parts: &[Json]) -> Json {
    let mut out = schema.as_object().cloned().unwrap_or_default();
    out.shift_remove("allOf");
    for part in parts {
        let part = match part.get("allOf").and_then(Json::as_array) {
            Some(inner) => joined(part, inner),
            None => part.clone(),
        };
        for (name, value) in part.as_object().cloned().unwrap_or_default() {
            match (out.get_mut(&name), value) {
                (Some(Json::Object(known)), Json::Object(more)) => known.extend(more),
                (Some(Json::Array(known)), Json::Array(more)) if name == "required" => known.extend(more),
                (None, value) => {
                    out.insert(name, value);
                }
                _ => {}
            }
        }
    }
    Json::Object(out)
}

/// Returns the letters and digits of a text, in lower case.
fn slug(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_takes_the_declared_shape_and_keeps_what_it_says() {
        let problem = json!({"type": "about:blank", "title": "Not Found", "status": 404, "detail": "no film has the id 7",
            "parameter": "film_id"});
        let check = |schema: Json, expect: Json| assert_eq!(shaped(&schema, &problem), expect, "{schema}");
        check(
            json!({"type": "object", "properties": {"status_message": {"type": "string"}, "status_code": {"type": "integer"}}}),
            json!({"status_message": "no film has the id 7", "status_code": 404, "type": "about:blank", "title": "Not Found",
                "status": 404, "detail": "no film has the id 7", "parameter": "film_id"}),
        );
        check(
            json!({"type": "object", "required": ["error"], "additionalProperties": false, "properties": {"error": {
                "type": "object", "required": ["code", "message"], "properties": {"code": {"type": "string", "enum": ["bad", "not_found"]},
                "message": {"type": "string", "maxLength": 7}}}, "trace": {"type": "array", "items": {"type": "string"}}}}),
            json!({"error": {"code": "not_found", "message": "no film"}}),
        );
        check(
            json!({"allOf": [{"type": "object", "properties": {"ok": {"type": "boolean"}}}, {"required": ["ok"],
                "additionalProperties": false}]}),
            json!({"ok": false}),
        );
        check(
            json!({"type": "object", "additionalProperties": false, "properties": {"errors": {"type": "array", "items": {
                "type": "object", "properties": {"field": {"type": "string"}, "message": {"type": "string"}}}}}}),
            json!({"errors": [{"field": "film_id", "message": "no film has the id 7"}]}),
        );
        check(
            json!({"type": "object", "additionalProperties": false, "properties": {"message": {"type": "string"}, "charge": {"type": "string"},
                "kind": {"type": "string", "enum": ["no_scope", "film_not_found"]}, "doc_url": {"type": "string"},
                "source": {"anyOf": [{"type": "object", "properties": {"id": {"type": "integer"}}}]}}}),
            json!({"message": "no film has the id 7"}),
        );
        check(
            json!({"type": "object", "additionalProperties": false, "required": ["code"],
                "properties": {"code": {"type": "string", "enum": ["no_scope", "film_not_found"]}}}),
            json!({"code": "film_not_found"}),
        );
        check(json!({"type": ["null", "string"]}), json!("no film has the id 7"));
        check(
            json!({"type": "object", "additionalProperties": false, "required": ["id", "message"], "properties": {
                "id": {"type": "string", "description": "A short identifier of the HTTP status code."},
                "message": {"type": "string"}}}),
            json!({"id": "not_found", "message": "no film has the id 7"}),
        );
        check(
            json!({"type": "object", "additionalProperties": false, "properties": {"status": {"type": "string"}}}),
            json!({"status": "404"}),
        );
    }
}
