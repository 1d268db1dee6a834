//! Owns the request bodies of all media types: JSON of any type, forms, parts, XML, octets.

use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use diorama_seeds::contract::Contract;
use diorama_seeds::model::Api;
use indexmap::IndexMap;
use serde_json::{Map, Value as Json};

use crate::http::text::is_json;
use diorama_sessions::{Kind, Problem};

/// Returns the members of a body: those of an object, or the whole as the parameter that takes it.
pub(super) fn members(
    api: &Api,
    contract: &Contract,
    kind: &str,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Map<String, Json>, Problem> {
    let given = if is_json(kind) {
        serde_json::from_slice::<Json>(body).map_err(|error| {
            Problem::new(Kind::Malformed, format!("the body: expected JSON, found {error}"))
        })?
    } else if kind == super::FORM {
        form(contract, super::form_pairs(body)?.into_owned())
    } else if kind == "multipart/form-data" {
        let boundary = headers
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok()?.split_once("boundary="))
            .map(|(_, rest)| rest.split(';').next().unwrap_or(rest).trim_matches('"'))
            .ok_or_else(|| {
                Problem::new(Kind::Malformed, "the body: expected parts, found no boundary in Content-Type")
            })?;
        form(contract, parts(body, boundary).into_iter())
    } else if kind.contains("xml") && contract.request.is_some() && api.whole_body().is_none() {
        form(contract, super::xml::pairs(contract, body)?.into_iter())
    } else {
        Json::String(String::from_utf8_lossy(body).into_owned())
    };
    match (given, api.whole_body()) {
        (given, Some(whole)) => Ok(Map::from_iter([(whole.name.to_string(), given)])),
        // A body without a schema has no effect.
        (_, None) if contract.request.is_none() => Ok(Map::new()),
        (Json::Object(members), None) => Ok(members),
        (_, None) => Err(Problem::new(
            Kind::World(contract.refusal),
            "the body: expected a JSON object, found another value",
        )),
    }
}

/// Returns the members of a form by their schemas. Repeated names become lists.
fn form(contract: &Contract, pairs: impl Iterator<Item = (String, String)>) -> Json {
    let mut all: IndexMap<String, Vec<String>> = IndexMap::new();
    for (name, text) in pairs {
        all.entry(name).or_default().push(text);
    }
    Json::Object(contract.form(all))
}

/// Returns the parts of a `multipart/form-data` body (RFC 7578) as names and contents. A file `f` gives its
/// name as `f.filename` and its size as `f.bytes` and `f.size`.
fn parts(body: &[u8], boundary: &str) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(body);
    let mark = format!("--{boundary}");
    let mut found = Vec::new();
    for part in text.split(mark.as_str()).skip(1) {
        let part = part.strip_prefix("\r\n").unwrap_or(part);
        let Some((head, content)) = part.split_once("\r\n\r\n") else { continue };
        let said = |what: &str| {
            let text = head.split([';', '\r']).find_map(|piece| piece.trim().strip_prefix(what))?;
            text.split('"').next()
        };
        let Some(name) = said("name=\"") else { continue };
        let content = content.strip_suffix("\r\n").unwrap_or(content);
        if let Some(file) = said("filename=\"") {
            let size = content.len().to_string();
            let more = [("filename", file), ("bytes", &size), ("size", &size)];
            found.extend(more.map(|(what, text)| (format!("{name}.{what}"), text.to_owned())));
        }
        found.push((name.to_owned(), content.to_owned()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_with_their_names() {
        let body = "--x\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nTwo\r\nlines\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\n\r\n--x--\r\n";
        let expect = [
            ("title", "Two\r\nlines"),
            ("file.filename", "a.txt"),
            ("file.bytes", "0"),
            ("file.size", "0"),
            ("file", ""),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(parts(body.as_bytes(), "x"), expect);
    }
}
