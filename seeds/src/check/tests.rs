//! Owns the tests of probable mistakes and of the JSON Schema.

use super::*;
use crate::world::tests::{example, materialised};

mod members;

#[test]
fn the_documented_world_has_nothing_to_find() {
    assert_eq!(examine("guide.yaml", example().as_bytes()).to_string(), "");
}

#[test]
fn the_catalog_has_nothing_to_find() {
    let all = diorama_catalog::names()
        .map(|name| examine(name, diorama_catalog::source(name).unwrap().as_bytes()).to_string());
    assert_eq!(all.filter(|report| !report.is_empty()).collect::<Vec<_>>().join("\n"), "");
}

/// Changes one value of the tiny world, and returns the findings of [`find_mistakes`] in the changed world.
fn checked_with(pointer: &str, value: &str) -> String {
    let mut json = materialised();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let value: serde_json::Value = serde_json::from_str(value).unwrap();
    match json.pointer_mut(parent).unwrap() {
        serde_json::Value::Array(items) => items.push(value),
        other => other[name] = value,
    }
    let doc = serde_json::from_value(json).unwrap();
    let world = compile(&doc).map_err(|report| report.to_string()).unwrap();
    find_mistakes(&doc, &world)
        .iter()
        .map(|finding| format!("{}: {}", finding.path, finding.message))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn probable_mistakes_are_found() {
    // The findings of the unchanged tiny world: two missing descriptions, and no book with the state `out`.
    let known = "resources.book.fields.state.enum[1]: found the value `out`, which no record has\n";
    let bare = "apis[0]: found no description of `ListBooks`\napis[1]: found no description of `AddBook`";
    assert_eq!(checked_with("/title", "\"Tiny\""), format!("{known}{bare}"));
    let check = |pointer: &str, value: &str, expect: &str| {
        let found = checked_with(pointer, value);
        let rest: Vec<&str> =
            found.lines().filter(|line| !known.contains(line) && !bare.contains(line)).collect();
        assert_eq!(rest.join("\n"), expect, "{pointer}");
    };
    check(
        "/resources/lamp",
        r#"{"key": "k", "fields": {}, "records": [{"k": 1}]}"#,
        "resources.lamp: found records of `lamp` that no API can show",
    );
    check(
        "/apis/0/parameters/colour",
        r#"{"type": "string", "optional": true}"#,
        "apis[0].parameters.colour: found the parameter `colour`, which the behaviour does not use",
    );
    check("/apis/0/parameters/colour", r#"{"type": "string", "optional": true, "ignored": true}"#, "");
    check(
        "/apis/1/phrases",
        r#"{"do": ["add {title}"]}"#,
        "apis[1].phrases.do[0]: found a phrase without the required parameter `shelf` outside brackets",
    );
    check(
        "/apis/1/phrases",
        r#"{"do": ["add {title}[ to {shelf}] for {price}"]}"#,
        "apis[1].phrases.do[0]: found `{price}`, expected one of the parameters: title, shelf\napis[1].phrases.do[0]: found a phrase without the required parameter `shelf` outside brackets",
    );
    check(
        "/apis/1/phrases",
        r#"{"done": ["Added {title} as {reply:book_id}, {reply:items[0].x}."]}"#,
        "apis[1].phrases.done[0]: found `{reply:items[0].x}`, expected one of the reply's members: book_id, title, shelf, price, weight, opens, lent, seen, state, size, rest",
    );
    check(
        "/apis/1/phrases",
        r#"{"noun": ["{title} {shelf}"]}"#,
        "apis[1].phrases.noun: found noun phrases of an API that is no list",
    );
    check(
        "/resources/book/fields/price/ask",
        r#"["How much is {that}?"]"#,
        "resources.book.fields.price.ask[0]: found `{that}`, expected `{it}`",
    );
    check(
        "/resources/book/fields/price/say",
        r#"["{it} has a price.", "[{value"]"#,
        "resources.book.fields.price.say[0]: found a statement without `{value}`\nresources.book.fields.price.say[1]: found `{` without `}`",
    );
}

#[test]
fn findings_of_phrases_have_columns() {
    let text = example().replace("book {dentist_id} for", "book {dentist} for");
    let report = examine("guide.yaml", text.as_bytes());
    let line = text.lines().position(|line| line.contains("{dentist}")).unwrap();
    let column = text.lines().nth(line).unwrap().find("{dentist}").unwrap();
    assert!(!report.findings.is_empty());
    assert_eq!(
        (report.findings[1].line, report.findings[1].column),
        (Some(line as u32 + 1), Some(column as u32 + 1)),
        "{report}"
    );
}

#[test]
fn the_schema_document_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/world.schema.json");
    let now = format!("{:#}\n", json_schema());
    let checked_in = std::fs::read_to_string(path).unwrap_or_default();
    if checked_in != now {
        std::fs::write(path, now).unwrap();
        panic!("docs/world.schema.json was out of date and has been written again; commit it");
    }
    assert_eq!(json_schema()["$schema"], "https://json-schema.org/draft/2020-12/schema");
}
