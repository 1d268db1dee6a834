//! Owns the conversion of an HTTP request into the arguments of a call.
//!
//! It has the places of arguments, while the engine has their types. If the engine parses a text itself, it
//! is passed on unchanged, so that calls by route and by name get the same refusals.

mod content;
mod xml;

use std::borrow::Cow;

use axum::http::HeaderMap;
use diorama_seeds::contract::Contract;
use diorama_seeds::model::{Api, Parameter, Place};
use diorama_seeds::schema::{KeyKind, Schema, Type};
use diorama_sessions::{Kind, Problem};
use form_urlencoded::Parse;
use indexmap::IndexMap;
use serde_json::{Map, Number, Value as Json};

use super::auth::{authorization, cookie};
use crate::http::text::{JSON, is_json, media_type, pairs, query_pairs, refuse_kind};

/// Media type of a form.
const FORM: &str = "application/x-www-form-urlencoded";

/// Parts of a request beside its route.
pub(super) struct Parts<'a> {
    /// Values of the path's parameters.
    pub(super) path: Vec<(&'a str, Cow<'a, str>)>,
    /// Query string, still encoded.
    pub(super) query: &'a str,
    /// Headers of the request.
    pub(super) headers: &'a HeaderMap,
    /// Bytes of the body.
    pub(super) body: &'a [u8],
}

/// Returns the arguments of a request.
///
/// # Errors
/// Returns an error for parts that cannot be parsed, or that are in the wrong place.
pub(super) fn arguments(api: &Api, request: Parts<'_>) -> Result<Map<String, Json>, Problem> {
    let mut arguments = Map::new();
    for (name, text) in &request.path {
        if let Some(parameter) = parameter(api, name) {
            arguments.insert((*name).to_owned(), argument(&parameter.schema, text));
        }
    }
    query_arguments(api, query_pairs(request.query)?, &mut arguments)?;
    header_arguments(api, request.headers, &mut arguments);
    for (name, value) in body(api, request.headers, request.body)? {
        if let Some(parameter) = parameter(api, &name)
            && !belongs(api, parameter, Place::Body)
        {
            // A document may use the name of a parameter elsewhere for a member of the body. The parameter
            // then takes precedence.
            if api.contract.is_some() {
                continue;
            }
            return Err(misplaced(parameter));
        }
        if arguments.insert(name.clone(), value).is_some() {
            return Err(Problem::new(Kind::Malformed, format!("`{name}` is given twice; give it once"))
                .with("parameter", name));
        }
    }
    Ok(arguments)
}

/// Returns the query string of a read called by POST: its own, and the members of its form or JSON object.
/// Members that are null, or equal to those of the query string, are omitted.
///
/// # Errors
/// Returns an error if the body is neither.
pub(super) fn read_posted_query(query: &str, headers: &HeaderMap, body: &[u8]) -> Result<String, Problem> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(query.to_owned());
    }
    let kind = media_type(headers).unwrap_or_else(|| JSON.to_owned());
    let members: Vec<(String, String)> = if is_json(&kind) {
        let text = |value: Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let given = json_members(body)?.into_iter().filter(|(_, value)| !value.is_null());
        given.map(|(name, value)| (name, text(value))).collect()
    } else if kind == FORM {
        form_pairs(body)?.into_owned().collect()
    } else {
        return Err(refuse_kind(&kind));
    };
    let in_query: Vec<(String, String)> =
        pairs(query).map(|pairs| pairs.into_owned().collect()).unwrap_or_default();
    let mut whole = form_urlencoded::Serializer::new(query.to_owned());
    whole.extend_pairs(members.iter().filter(|member| !in_query.contains(member)));
    Ok(whole.finish())
}

fn query_arguments(api: &Api, query: Parse<'_>, arguments: &mut Map<String, Json>) -> Result<(), Problem> {
    for (given, text) in query {
        let sent_as = api.parameters.iter().find(|known| known.sent_as.as_deref() == Some(&*given));
        let name = match sent_as {
            Some(known) => &*known.name,
            None => given.strip_suffix("[]").filter(|name| parameter(api, name).is_some()).unwrap_or(&given),
        };
        let Some(parameter) = parameter(api, name) else {
            if api.chosen_by.iter().any(|(known, _)| **known == *name) {
                continue;
            }
            // The engine refuses unknown parameters.
            arguments.insert(name.to_owned(), Json::from(text));
            continue;
        };
        if !belongs(api, parameter, Place::Query) {
            return Err(misplaced(parameter));
        }
        let value = match (&parameter.schema.kind, parameter.separator) {
            (Type::List(item), Some(separator)) => split_list(item, &text, |c| c == separator),
            _ => argument(&parameter.schema, &text),
        };
        match (arguments.get_mut(name), value) {
            (None, value) => {
                arguments.insert(name.to_owned(), value);
            }
            (Some(Json::Array(items)), Json::Array(more)) => items.extend(more),
            _ => {
                let detail = format!("`{name}` is given twice; give it once");
                return Err(Problem::new(Kind::Malformed, detail).with("parameter", name));
            }
        }
    }
    Ok(())
}

fn header_arguments(api: &Api, headers: &HeaderMap, arguments: &mut Map<String, Json>) {
    for parameter in api.parameters.iter().filter(|parameter| parameter.place == Place::Header) {
        let dashed = parameter.name.replace('_', "-");
        let sent_as = parameter.sent_as.as_deref().and_then(|name| headers.get(name));
        let value = sent_as.or_else(|| headers.get(&*parameter.name)).or_else(|| headers.get(&dashed));
        if let Some(text) = value.and_then(|value| value.to_str().ok()) {
            arguments.entry(parameter.name.to_string()).or_insert_with(|| argument(&parameter.schema, text));
        }
    }
    for parameter in api.parameters.iter().filter(|parameter| parameter.place == Place::Cookie) {
        if let Some(text) = cookie(headers, parameter.wire_name()) {
            arguments.entry(parameter.name.to_string()).or_insert_with(|| argument(&parameter.schema, text));
        }
    }
    let token = api.token.and_then(|token| api.parameters.get(token.index()));
    if let Some(parameter) = token
        && let Some(text) = authorization(headers, "bearer")
    {
        arguments.insert(parameter.name.to_string(), Json::from(text));
    }
}

/// Returns true if a request without a body is refused. A form without members does not count as a missing
/// body.
pub(super) const fn refuses_no_body(contract: &Contract) -> bool {
    contract.needs_body && !contract.form
}

/// Returns the members of the body, if there is one.
fn body(api: &Api, headers: &HeaderMap, body: &[u8]) -> Result<Map<String, Json>, Problem> {
    if body.iter().all(u8::is_ascii_whitespace) {
        if let Some(contract) = api.contract.as_deref().filter(|contract| refuses_no_body(contract)) {
            let detail = "the body: expected one, found none";
            return Err(Problem::new(Kind::World(contract.refusal), detail));
        }
        let form = api.contract.as_ref().filter(|contract| contract.form && contract.whole.is_none());
        return Ok(form.map(|contract| contract.form(IndexMap::new())).unwrap_or_default());
    }
    let kind = media_type(headers).unwrap_or_else(|| JSON.to_owned());
    if let Some(contract) = &api.contract {
        return content::members(api, contract, &kind, headers, body);
    }
    if is_json(&kind) {
        return json_members(body);
    }
    if kind == FORM {
        let value = |name: &str, text: &str| match parameter(api, name) {
            Some(parameter) => argument(&parameter.schema, text),
            None => Json::from(text),
        };
        return Ok(form_pairs(body)?.map(|(name, text)| (name.to_string(), value(&name, &text))).collect());
    }
    Err(refuse_kind(&kind))
}

/// Returns the members of a body that is a JSON object.
fn json_members(body: &[u8]) -> Result<Map<String, Json>, Problem> {
    let found = match serde_json::from_slice(body) {
        Ok(Json::Object(members)) => return Ok(members),
        Ok(_) => "another JSON value".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(Problem::new(Kind::Malformed, format!("the body: expected a JSON object, found {found}")))
}

/// Returns the names and texts of a form.
fn form_pairs(body: &[u8]) -> Result<Parse<'_>, Problem> {
    let text = std::str::from_utf8(body).ok().and_then(pairs);
    text.ok_or_else(|| Problem::new(Kind::Malformed, "the body: expected a form in UTF-8, found other bytes"))
}

fn parameter<'a>(api: &'a Api, name: &str) -> Option<&'a Parameter> {
    api.parameters.iter().find(|parameter| &*parameter.name == name)
}

/// Returns true if a parameter may be in a place. A token may be anywhere.
fn belongs(api: &Api, parameter: &Parameter, place: Place) -> bool {
    let token = api.token.and_then(|token| api.parameters.get(token.index()));
    parameter.place == place || token.is_some_and(|token| token.name == parameter.name)
}

fn misplaced(parameter: &Parameter) -> Problem {
    let place = match parameter.place {
        Place::Path => "path",
        Place::Query => "query string",
        Place::Body => "body",
        Place::Header => "headers",
        Place::Cookie => "cookies",
    };
    let name = &*parameter.name;
    Problem::new(Kind::Malformed, format!("`{name}` stands in the wrong place; give it in the {place}"))
        .with("parameter", name)
        .with("expected", format!("`{name}` in the {place}"))
}

/// Converts a text into an argument for the engine. Lists are split at commas, those of numbers also at
/// spaces and bars. Objects are JSON.
fn argument(schema: &Schema, text: &str) -> Json {
    match &schema.kind {
        Type::List(item) if !text.trim_start().starts_with('[') => {
            let plain = matches!(
                item.kind,
                Type::Integer | Type::Number | Type::Boolean | Type::Reference { key: KeyKind::Integer, .. }
            );
            split_list(item, text, |c| c == ',' || (plain && matches!(c, ' ' | '|' | '\t')))
        }
        Type::List(_) | Type::Object(_) | Type::Any => {
            serde_json::from_str(text).unwrap_or_else(|_| Json::from(text))
        }
        Type::String | Type::Enum(_) => Json::from(text),
        _ if schema.nullable && text == "null" => Json::Null,
        Type::Boolean => Json::from(text.to_ascii_lowercase()),
        Type::Integer | Type::Reference { key: KeyKind::Integer, .. } => {
            text.parse::<i64>().map_or_else(|_| Json::from(text), Json::from)
        }
        // An exponent is valid in a JSON number, and therefore also in a query string.
        Type::Number | Type::Decimal { .. } if text.contains(['e', 'E']) => {
            text.parse::<Number>().map_or_else(|_| Json::from(text), Json::Number)
        }
        _ => Json::from(text),
    }
}

/// Splits a text into a list at separators.
fn split_list(item: &Schema, text: &str, is_separator: impl Fn(char) -> bool) -> Json {
    let items = text.split(is_separator).filter(|item| !item.is_empty());
    Json::Array(items.map(|text| argument(item, text)).collect())
}
