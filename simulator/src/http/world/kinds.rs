//! Owns the replies in other media types than JSON: text, lines of JSON, comma-separated values (RFC 4180),
//! and XML (OpenAPI 3.0, section 4.7.26).

use axum::http::HeaderMap;
use diorama_seeds::contract::{Contract, is_json_kind, is_lines_kind};
use diorama_sessions::Problem;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesStart, BytesText, Event};
use serde_json::{Map, Value as Json};

use crate::http::negotiate::Accept;
use crate::http::text::JSON;

/// Maximum depth of written elements.
const MAX_DEPTH: usize = 64;

/// Returns the media type of a success that a request prefers, among those of the contract, and JSON if the
/// request names it.
///
/// # Errors
/// Returns an error if the request accepts none of them.
pub(super) fn choose_kind<'c>(
    headers: &HeaderMap,
    contract: Option<&'c Contract>,
) -> Result<&'c str, Problem> {
    let declared = contract.map_or(&[][..], |contract| &contract.kinds);
    let mut all: Vec<&str> = declared.iter().map(String::as_str).collect();
    if all.is_empty() {
        all.push(JSON);
    }
    let accept = Accept::read(headers);
    if !all.iter().any(|kind| is_json_kind(kind)) && accept.names(JSON) {
        all.push(JSON);
    }
    accept.check(&all)?;
    // Among equally preferred types, the first is taken.
    Ok(all.iter().rev().max_by_key(|kind| accept.rate(kind)).copied().unwrap_or(JSON))
}

/// Returns a body in a media type, or none if it cannot be written in it.
pub(super) fn write_body(kind: &str, contract: &Contract, body: &Json) -> Option<String> {
    if kind.contains("xml") {
        return write_xml(contract, body);
    }
    if kind.contains("csv") {
        return match body {
            Json::String(text) => Some(text.clone()),
            body => write_csv(&list_rows(body)?),
        };
    }
    if is_lines_kind(kind) {
        let items = body.as_array().map_or(std::slice::from_ref(body), Vec::as_slice);
        return Some(items.iter().map(|item| format!("{item}\n")).collect());
    }
    body.as_str().map(str::to_owned)
}

/// Returns the rows of a body: the items of the list, else of the only list in it, else the body as the only
/// row.
fn list_rows(body: &Json) -> Option<Vec<&Map<String, Json>>> {
    let objects = |items: &'_ [Json]| items.iter().all(Json::is_object);
    let items = match body {
        Json::Array(items) => items.as_slice(),
        Json::Object(members) => {
            let mut lists = members.values().filter_map(Json::as_array).filter(|items| objects(items));
            match lists.next() {
                Some(items) => items.as_slice(),
                None => std::slice::from_ref(body),
            }
        }
        _ => return None,
    };
    items.iter().map(Json::as_object).collect()
}

fn write_csv(rows: &[&Map<String, Json>]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in rows.iter().flat_map(|row| row.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let mut lines = csv::Writer::from_writer(Vec::new());
    lines.write_record(&names).ok()?;
    for row in rows {
        lines
            .write_record(names.iter().map(|name| row.get(*name).map(format_plain).unwrap_or_default()))
            .ok()?;
    }
    String::from_utf8(lines.into_inner().ok()?).ok()
}

/// Returns a value as text: empty for null, a string unchanged, else JSON.
fn format_plain(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn write_xml(contract: &Contract, body: &Json) -> Option<String> {
    let schema = contract.reply.as_ref().unwrap_or(&Json::Null);
    let mut elements = Elements { contract, out: Writer::new(Vec::new()) };
    elements.out.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None))).ok()?;
    elements.write(contract.schemas.name_of(schema).unwrap_or("response"), schema, body, 0).ok()?;
    String::from_utf8(elements.out.into_inner()).ok()
}

/// Writer of values as elements.
struct Elements<'a> {
    contract: &'a Contract,
    out: Writer<Vec<u8>>,
}

impl Elements<'_> {
    fn write(&mut self, called: &str, schema: &Json, value: &Json, depth: usize) -> std::io::Result<()> {
        if depth > MAX_DEPTH {
            return Ok(());
        }
        let words = self.contract.schemas.words_of(schema);
        let said = |word: &str| words.get("xml").and_then(|xml| xml.get(word));
        let own = said("name").and_then(Json::as_str).unwrap_or(called);
        let prefix = said("prefix").and_then(Json::as_str);
        let name = element_name(&prefix.map_or_else(|| own.to_owned(), |prefix| format!("{prefix}:{own}")));
        let mut start = BytesStart::new(&name);
        if let Json::Array(items) = value {
            let item = words.get("items").unwrap_or(&Json::Null);
            let wrapped = depth == 0 || said("wrapped") == Some(&Json::Bool(true));
            if wrapped {
                self.out.write_event(Event::Start(start.borrow()))?;
            }
            for value in items {
                self.write(if wrapped { "member" } else { &name }, item, value, depth + 1)?;
            }
            return if wrapped { self.out.write_event(Event::End(start.to_end())) } else { Ok(()) };
        }
        if let Some(space) = said("namespace").and_then(Json::as_str).filter(|space| !space.is_empty()) {
            let to = prefix.map_or_else(|| "xmlns".to_owned(), |prefix| format!("xmlns:{prefix}"));
            start.push_attribute((to.as_str(), space));
        }
        let Json::Object(members) = value else {
            self.out.write_event(Event::Start(start.borrow()))?;
            self.out.write_event(Event::Text(BytesText::new(&printable(&format_plain(value)))))?;
            return self.out.write_event(Event::End(start.to_end()));
        };
        let schema_of =
            |name: &str| words.get("properties").and_then(|all| all.get(name)).unwrap_or(&Json::Null);
        let is_attribute = |name: &str| {
            let words = self.contract.schemas.words_of(schema_of(name));
            words.get("xml").and_then(|xml| xml.get("attribute")) == Some(&Json::Bool(true))
        };
        let (attributes, elements): (Vec<_>, Vec<_>) = members
            .iter()
            .partition(|(name, value)| !value.is_object() && !value.is_array() && is_attribute(name));
        for (name, value) in attributes {
            start.push_attribute((&*element_name(name), &*printable(&format_plain(value))));
        }
        self.out.write_event(Event::Start(start.borrow()))?;
        for (name, value) in elements {
            self.write(name, schema_of(name), value, depth + 1)?;
        }
        self.out.write_event(Event::End(start.to_end()))
    }
}

/// Returns a valid name of an element.
fn element_name(name: &str) -> String {
    let allowed = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | ':');
    let name: String = name.chars().map(|letter| if allowed(letter) { letter } else { '_' }).collect();
    if name.starts_with(|first: char| first.is_alphabetic() || first == '_') {
        name
    } else {
        format!("_{name}")
    }
}

/// Returns a text without the characters that XML cannot hold.
fn printable(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control() || matches!(letter, '\n' | '\t' | '\r')).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_have_a_cell_for_each_name() {
        let body = json!({"total": 2, "items": [{"id": 1, "note": "a, \"b\""}, {"id": 2, "day": null}]});
        assert_eq!(write_csv(&list_rows(&body).unwrap()).unwrap(), "id,note,day\n1,\"a, \"\"b\"\"\",\n2,,\n");
        assert_eq!(list_rows(&json!("text")), None);
    }
}
