//! Parses text into JSON: within limits, and with the position of an error.

use serde_json::Value as Json;

/// The greatest size of a document, in bytes.
pub const MAX_BYTES: usize = 32 << 20;

/// A parse error, with line and column where they are known.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) message: String,
    pub(super) fix: String,
    pub(super) place: Option<(usize, usize)>,
}

impl Unreadable {
    pub(super) fn new(message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { message: message.into(), fix: fix.into(), place: None }
    }
}

/// Parses JSON or YAML. A text that begins like JSON but is none may be YAML in flow style.
pub(super) fn parse(text: &[u8]) -> Result<Json, Unreadable> {
    if text.len() > MAX_BYTES {
        return Err(Unreadable::new(
            format!("found {} bytes, expected at most {MAX_BYTES}", text.len()),
            "split the document, or leave out what is not needed",
        ));
    }
    let text = std::str::from_utf8(text).map_err(|error| Unreadable {
        place: Some(place_of(text.get(..error.valid_up_to()).unwrap_or_default())),
        ..Unreadable::new("found bytes that are not UTF-8", "save the document as UTF-8")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.trim_start().chars().next();
    match first {
        None => Err(Unreadable::new("found an empty text", "give an OpenAPI document")),
        Some('{' | '[') => json(text).or_else(|error| yaml(text).map_err(|_| error)),
        Some(_) => yaml(text),
    }
}

fn json(text: &str) -> Result<Json, Unreadable> {
    serde_json::from_str(text).map_err(|error| {
        let mut message = error.to_string();
        if let Some(end) = message.rfind(" at line ") {
            message.truncate(end);
        }
        Unreadable {
            place: (error.line() > 0).then_some((error.line(), error.column())),
            ..Unreadable::new(
                format!("this is not JSON: {message}"),
                "mend the syntax at this place, or give a YAML document",
            )
        }
    })
}

fn yaml(text: &str) -> Result<Json, Unreadable> {
    serde_saphyr::from_str_with_options(text, diorama_seeds::world::yaml_options()).map_err(|error| {
        let mut message = error.without_snippet().to_string();
        if let Some(end) = message.rfind(" at line ") {
            message.truncate(end);
        }
        let message = message.lines().next().unwrap_or_default().trim_start_matches("error: ");
        Unreadable {
            place: error.location().map(|place| (place.line() as usize, place.column() as usize)),
            ..Unreadable::new(format!("this is not YAML: {message}"), "mend the syntax at this place")
        }
    })
}

/// Returns line and column after a text, both from 1.
fn place_of(before: &[u8]) -> (usize, usize) {
    let lines = before.iter().filter(|byte| **byte == b'\n').count();
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').filter(|byte| **byte & 0xc0 != 0x80);
    (lines + 1, column.count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_text_is_refused_with_its_position() {
        let check = |text: &[u8], expect: &str, place: Option<(usize, usize)>| {
            let error = parse(text).unwrap_err();
            assert!(error.message.contains(expect), "{error:?}");
            assert_eq!(error.place, place, "{error:?}");
        };
        check(b"", "empty text", None);
        check(b"{\"a\": 1,\n \"b\" 2}", "this is not JSON", Some((2, 6)));
        check(b"a: [1, 2\nb: 3\n", "this is not YAML", Some((2, 2)));
        check(b"a: 1\nb: \xff", "not UTF-8", Some((2, 4)));
        check(&vec![b' '; MAX_BYTES + 1], "expected at most", None);
        check(&vec![b'['; 100_000], "this is not JSON", Some((1, 128)));
        let bomb = "a: &a [x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\n\
                    c: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c]\n\
                    e: &e [*d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e]\n\
                    g: [*f, *f, *f, *f, *f, *f, *f, *f]\n";
        assert!(parse(bomb.as_bytes()).is_err());
    }

    #[test]
    fn both_formats_give_one_document() {
        let json = br#"{"openapi": "3.0.3", "paths": {"/a": {"get": {"responses": {"200": {}}}}}}"#;
        let yaml = b"openapi: 3.0.3\npaths:\n  /a:\n    get: {responses: {200: {}}}\n";
        assert_eq!(parse(json).unwrap(), parse(yaml).unwrap());
        assert_eq!(parse(b"{a: yes, b: 0755}").unwrap(), serde_json::json!({"a": "yes", "b": "0755"}));
    }
}
