//! Owns the XML bodies. Their elements and attributes are the members that the schema names (OpenAPI 3.0,
//! section 4.7.26).

use diorama_seeds::contract::Contract;
use diorama_sessions::{Kind, Problem};
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use serde_json::Value as Json;

/// Maximum depth of elements.
const MAX_DEPTH: usize = 12;

/// An XML element. An attribute is an element without children.
struct Element {
    name: String,
    children: Vec<Element>,
    text: String,
}

/// Returns the texts of a body under the names of a form: `items[0][price]`.
///
/// # Errors
/// Returns an error for a body that is not XML, or nested too deeply.
pub(super) fn pairs(contract: &Contract, body: &[u8]) -> Result<Vec<(String, String)>, Problem> {
    let root = read(body)
        .map_err(|found| Problem::new(Kind::Malformed, format!("the body: expected XML, found {found}")))?;
    let mut found = Vec::new();
    let schema = contract.request.as_ref().unwrap_or(&Json::Null);
    Schemas(contract).collect(schema, root, "", &mut found);
    Ok(found)
}

/// Parses the root element.
fn read(body: &[u8]) -> Result<Element, String> {
    let mut reader = Reader::from_reader(body);
    let mut open: Vec<Element> = Vec::new();
    loop {
        let event = reader.read_event().map_err(|error| error.to_string())?;
        let closed = match event {
            Event::Start(start) => {
                if open.len() == MAX_DEPTH {
                    return Err(format!("more than {MAX_DEPTH} elements inside each other"));
                }
                open.push(begin(&start)?);
                None
            }
            Event::Empty(start) => Some(begin(&start)?),
            Event::End(_) => open.pop(),
            Event::Text(text) => {
                push(&mut open, &text.decode().map_err(|error| error.to_string())?);
                None
            }
            Event::CData(text) => {
                push(&mut open, &text.decode().map_err(|error| error.to_string())?);
                None
            }
            Event::GeneralRef(reference) => {
                push(&mut open, &resolve(&reference)?);
                None
            }
            Event::Eof => return Err("no element, or one without an end".to_owned()),
            _ => None,
        };
        if let Some(element) = closed {
            match open.last_mut() {
                Some(parent) => parent.children.push(element),
                None => return Ok(element),
            }
        }
    }
}

/// Makes an element of its start tag, with its attributes.
fn begin(start: &BytesStart<'_>) -> Result<Element, String> {
    let local = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let mut children = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let name = attribute.key.as_ref();
        if name.starts_with(b"xmlns") {
            continue;
        }
        let text = attribute
            .normalized_value(XmlVersion::Implicit1_0)
            .map_err(|error| error.to_string())?
            .into_owned();
        children.push(Element {
            name: local(attribute.key.local_name().as_ref()),
            children: Vec::new(),
            text,
        });
    }
    Ok(Element { name: local(start.local_name().as_ref()), children, text: String::new() })
}

fn push(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

/// Returns the text of `&amp;` or `&#38;`. Other entities are unknown.
fn resolve(reference: &BytesRef<'_>) -> Result<String, String> {
    if let Some(letter) = reference.resolve_char_ref().map_err(|error| error.to_string())? {
        return Ok(letter.to_string());
    }
    let name = reference.decode().map_err(|error| error.to_string())?;
    resolve_predefined_entity(&name).map(str::to_owned).ok_or_else(|| format!("the unknown name `&{name};`"))
}

/// Schemas that map elements to members.
struct Schemas<'a>(&'a Contract);

impl Schemas<'_> {
    /// Collects the texts of an element under a name. The depth of the elements bounds the recursion.
    fn collect(&self, schema: &Json, element: Element, name: &str, found: &mut Vec<(String, String)>) {
        let words = self.0.schemas.words_of(schema);
        // A wrapped list has its items inside the element.
        if let Some(items) = words.get("items") {
            for (at, item) in element.children.into_iter().enumerate() {
                self.collect(items, item, &format!("{name}[{at}]"), found);
            }
            return;
        }
        if element.children.is_empty() {
            if !name.is_empty() {
                found.push((name.to_owned(), element.text.trim().to_owned()));
            }
            return;
        }
        let properties = words.get("properties").and_then(Json::as_object);
        let mut counts: Vec<(String, usize)> = Vec::new();
        for child in element.children {
            let called = |(key, part): &(&String, &Json)| {
                let xml = self.0.schemas.words_of(part);
                let own = xml.get("xml").and_then(|xml| xml.get("name")?.as_str().map(str::to_owned));
                **key == child.name || own.as_deref() == Some(&*child.name)
            };
            let known = properties.into_iter().flatten().find(called);
            let (key, part) =
                known.map_or((child.name.clone(), &Json::Null), |(key, part)| (key.clone(), part));
            let place = if name.is_empty() { key.clone() } else { format!("{name}[{key}]") };
            let words = self.0.schemas.words_of(part);
            let is_wrapped =
                words.get("xml").is_some_and(|xml| xml.get("wrapped") == Some(&Json::Bool(true)));
            match words.get("items").filter(|_| !is_wrapped) {
                // An item of an unwrapped list is an element of its own.
                Some(items) => {
                    let at = match counts.iter_mut().find(|(known, _)| *known == key) {
                        Some((_, count)) => {
                            *count += 1;
                            *count
                        }
                        None => {
                            counts.push((key, 0));
                            0
                        }
                    };
                    self.collect(items, child, &format!("{place}[{at}]"), found);
                }
                None => self.collect(part, child, &place, found),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use diorama_seeds::contract::Schemas;
    use serde_json::json;

    use super::*;

    fn read_pairs(body: &str) -> Result<Vec<(String, String)>, Problem> {
        let request = json!({"type": "object", "properties": {
            "title": {"type": "string"},
            "pages": {"type": "integer", "xml": {"attribute": true}},
            "author": {"type": "object", "properties": {"name": {"type": "string"}}},
            "tags": {"type": "array", "xml": {"wrapped": true}, "items": {"type": "string", "xml": {"name": "tag"}}},
            "notes": {"type": "array", "items": {"type": "object", "properties": {"text": {"type": "string"}}}},
        }});
        let contract = Contract {
            schemas: Arc::new(Schemas::default()),
            request: Some(request),
            whole: None,
            reply: None,
            kinds: Vec::new(),
            headers: Vec::new(),
            form: false,
            merge: false,
            inside: Vec::new(),
            needs_body: false,
            refusal: 400,
        };
        pairs(&contract, body.as_bytes())
    }

    #[test]
    fn elements_are_the_members_that_the_schema_names() {
        let body = r#"<?xml version="1.0"?><book xmlns="http://a.example" pages="7"><title>Salt &amp; <![CDATA[<Sea>]]></title>
            <author><name>Ada</name></author><tags><tag>one</tag><tag>two</tag></tags>
            <notes><text>a</text></notes><notes><text>b</text></notes></book>"#;
        let expect = [
            ("pages", "7"),
            ("title", "Salt & <Sea>"),
            ("author[name]", "Ada"),
            ("tags[0]", "one"),
            ("tags[1]", "two"),
            ("notes[0][text]", "a"),
            ("notes[1][text]", "b"),
        ];
        let expect = expect.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(read_pairs(body).unwrap(), expect);
    }

    #[test]
    fn what_is_no_xml_is_refused_with_what_was_found() {
        let check = |body: &str, expect: &str| {
            let detail = read_pairs(body).unwrap_err().detail().to_owned();
            assert!(
                detail.starts_with("the body: expected XML, found") && detail.contains(expect),
                "{detail}"
            );
        };
        check("{\"title\": 1}", "no element");
        check("<book><title>", "without an end");
        check("<book>&secret;</book>", "unknown name");
        check(&"<a>".repeat(40), "inside each other");
    }
}
