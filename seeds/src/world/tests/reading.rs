//! Owns the tests of accepted and rejected texts.

use serde_json::json;

use super::*;
use crate::doc::RowsDoc;

#[test]
fn the_documented_world_is_read() {
    let doc = read("guide.yaml", example().as_bytes()).unwrap();
    assert_eq!(doc.resources.keys().collect::<Vec<_>>(), ["dentist", "patient", "appointment"]);
    // The document parses equally from JSON.
    let json = serde_json::to_vec(&doc).unwrap();
    assert_eq!(read("guide.json", &json).unwrap(), doc);
}

#[test]
fn another_version_is_refused_with_both_versions() {
    let expect = |fix: &str| {
        format!("w:1:1: world: found world format version 2; this program reads version 1\n  fix: {fix}")
    };
    assert_eq!(refused("w", "world: 2\nnew_key: 1\n"), expect("use a newer version of the program"));
    assert_eq!(refused("w", r#"{"world": 2, "new_key": 1}"#), expect("use a newer version of the program"));
    assert_eq!(
        refused("w", "name: x\nworld: 1\n"),
        "w:1:1: found `name` as the first key, expected `world: 1`\n  fix: write `world: 1` before everything else"
    );
}

#[test]
fn a_text_without_quotes_that_a_comma_ends_is_refused_with_how_to_quote_it() {
    let yaml = "world: 1\nname: x\nclock: 2026-01-01T00:00\napis:\n  - {name: A, method: POST, path: /a, behaviour: {create: a, require: [\n    {that: days_between(today, args.day) < 28, else: {status: 409, message: no}}]}}\n";
    let found = refused("w.yaml", yaml);
    assert!(found.starts_with("w.yaml:6:"), "{found}");
    assert!(found.ends_with("in double quotes: without them a comma ends it"), "{found}");
}

#[test]
fn a_table_is_written_with_a_row_a_line_and_read_again() {
    let mut doc = read("guide.yaml", example().as_bytes()).unwrap();
    let long = "a text: so long, and with so many marks, that a writer of YAML would rather fold it into several lines than leave it on one";
    let of = json!([["orthodontics", 40, null], ["surgery", 9.5, [long, "off"]], ["general", true, []]]);
    let rows = RowsDoc { fields: vec!["specialty".to_owned()], of: serde_json::from_value(of).unwrap() };
    doc.resources["dentist"].rows = vec![rows];
    let text = to_yaml(&doc).unwrap();
    assert!(text.contains("- [orthodontics, 40, null]\n"), "{text}");
    assert_eq!(read("guide.yaml", text.as_bytes()).unwrap(), doc);
}

#[test]
fn a_word_that_is_none_of_a_set_is_refused_where_it_stands() {
    let check = |member: &str, expect: &str| {
        let yaml = format!("world: 1\nname: x\nclock: 2026-01-01T00:00\n{member}\n");
        let found = refused("w.yaml", &yaml);
        assert!(found.starts_with("w.yaml:") && found.contains(&format!(": {expect}\n  fix: ")), "{found}");
    };
    let field = |member: &str| format!("resources: {{a: {{key: k, fields: {{\n  b: {{{member}}}}}}}}}");
    check(
        &field("type: text"),
        "found `text`, expected one of integer, number, decimal, date, time, date-time, boolean, string, list, object, any",
    );
    check(&field("ref: a, on_delete: keep"), "found `keep`, expected one of restrict, cascade, clear");
    check(&field("in: form"), "found `form`, expected one of path, query, body, header, cookie");
    check(
        "domain: {name: d, security: {key: {\n  type: api_key, in: body, name: X}}}",
        "found `body`, expected one of header, query, cookie",
    );
    let api = |member: &str| format!("apis:\n  - {{name: A, path: /a, {member}}}");
    check(&api("method: get"), "found `get`, expected one of GET, POST, PUT, PATCH, DELETE, QUERY");
    check(
        &api("method: GET, behaviour: {list: a, page: {style: token}}"),
        "found `token`, expected one of page, offset, cursor",
    );
    let json = "{\"world\": 1, \"name\": \"x\", \"clock\": \"2026-01-01T00:00\",\n \"apis\": [{\"name\": \"A\", \"method\": \"get\"}]}";
    let found = refused("w.json", json);
    assert!(found.starts_with("w.json:2:"), "{found}");
    assert!(
        found.contains("found `get`, expected one of `GET`, `POST`, `PUT`, `PATCH`, `DELETE`"),
        "{found}"
    );
}

#[test]
fn hostile_texts_are_refused() {
    let nested = format!("world: 1\nname: {}1{}", "[".repeat(5000), "]".repeat(5000));
    assert!(refused("deep.yaml", &nested).contains("deep.yaml:2:"));
    let nested = format!("{{\"world\": 1, \"name\": {}1{}}}", "[".repeat(5000), "]".repeat(5000));
    assert!(refused("deep.json", &nested).contains("deep.json:1:"));
    let mut bomb = "world: 1\nname: x\nclock: 2026-01-01T00:00\nresources:\n  a:\n    key: k\n    fields: {}\n    records:\n      - a: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..12 {
        bomb.push_str(&format!("        b{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 10].join(", ")));
    }
    assert!(refused("bomb.yaml", &bomb).starts_with("bomb.yaml:"), "{}", refused("bomb.yaml", &bomb));
    let tab = refused("tab.yaml", "world: 1\nresources:\n\tbook: {}\n");
    assert!(tab.starts_with("tab.yaml:3:2: found a tab, expected spaces before a key"), "{tab}");
    assert!(refused("binary", "\u{feff}").starts_with("binary"));
    assert!(
        read("latin", b"world: 1\nname: caf\xe9")
            .unwrap_err()
            .to_string()
            .starts_with("latin:2:10: found bytes")
    );
}

#[test]
fn findings_are_located_in_yaml_and_json() {
    let yaml = "world: 1\nname: x\napis:\n  - name: A\n    behaviour:\n      require:\n        - {that: 'a ==== b'}\n";
    let at = |text: &str, path: &str, offset: Option<u32>| {
        let mut finding = Finding::error(path, "m", "");
        finding.offset = offset;
        let report = Report::one("f", finding).located("f", text.as_bytes());
        (report.findings[0].line, report.findings[0].column)
    };
    assert_eq!(at(yaml, "apis[0].behaviour.require[0].that", None), (Some(7), Some(18)));
    assert_eq!(at(yaml, "apis[0].behaviour.require[0].that", Some(2)), (Some(7), Some(21)));
    assert_eq!(at(yaml, "apis[0].behaviour", None), (Some(5), Some(5)));
    assert_eq!(at(yaml, "apis[0].behaviour.key", None), (Some(5), Some(5)));
    assert_eq!(at(yaml, "nowhere", None), (Some(1), Some(1)));
    let json = "{\n \"world\": 1,\n \"apis\": [\n  {\"a.b\": \"x\"}]}";
    assert_eq!(at(json, "apis[0][\"a.b\"]", None), (Some(4), Some(11)));
}

#[test]
fn a_name_given_twice_is_an_error_in_both_formats() {
    let yaml = "world: 1\nname: x\nclock: 2026-01-01T00:00\nresources:\n  a: {key: k, fields: {}}\n  a: {key: k, fields: {}}\n";
    assert!(refused("w.yaml", yaml).starts_with("w.yaml:6:"), "{}", refused("w.yaml", yaml));
    let json = r#"{"world": 1, "name": "x", "clock": "2026-01-01T00:00", "resources": {"a": {"key": "k", "fields": {}}, "a": {"key": "k", "fields": {}}}}"#;
    assert!(refused("w.json", json).contains("`a` twice"), "{}", refused("w.json", json));
}
