//! Reading, compiling and checking, by example.

use super::*;

const GUIDE: &str = include_str!("../../../docs/world-format.md");

/// The whole world of the format's documentation.
fn example() -> &'static str {
    let start = GUIDE.find("```yaml\n").unwrap() + "```yaml\n".len();
    let end = start + GUIDE[start..].find("```").unwrap();
    &GUIDE[start..end]
}

fn refused(name: &str, text: &str) -> String {
    read(name, text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn the_documented_world_is_read() {
    let doc = read("guide.yaml", example().as_bytes()).unwrap();
    assert_eq!(doc.resources.keys().collect::<Vec<_>>(), ["dentist", "patient", "appointment"]);
    // JSON of the same document is the same document.
    let json = serde_json::to_vec(&doc).unwrap();
    assert_eq!(read("guide.json", &json).unwrap(), doc);
}

#[test]
fn another_version_is_refused_with_both_versions() {
    let expect = |fix: &str| format!("w:1:1: world: found world format version 2; this program reads version 1\n  fix: {fix}");
    assert_eq!(refused("w", "world: 2\nnew_key: 1\n"), expect("use a newer version of the program"));
    assert_eq!(refused("w", r#"{"world": 2, "new_key": 1}"#), expect("use a newer version of the program"));
    assert_eq!(
        refused("w", "name: x\nworld: 1\n"),
        "w:1:1: found `name` as the first key, expected `world: 1`\n  fix: write `world: 1` before everything else"
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
    assert!(refused("binary", "\u{feff}").starts_with("binary"));
    assert!(read("latin", b"world: 1\nname: caf\xe9").unwrap_err().to_string().starts_with("latin:2:10: found bytes"));
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
