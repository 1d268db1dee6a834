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
    check(&api("method: get"), "found `get`, expected one of GET, POST, PUT, PATCH, DELETE");
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

/// A world of one resource of every type, written out.
fn materialised() -> serde_json::Value {
    let text = r#"
world: 1
name: tiny
clock: 2026-03-02T9:00
zone: Europe/Lisbon
materialised: 7
resources:
  shelf:
    key: code
    fields:
      code: {type: string, fake: {provider: code, format: "S-##"}}
      name: {type: string, unique: true, ask: ["Where is {it}?"], say: ["{it} is {value}."]}
    records: [{code: S-11, name: Upper}, {code: S-02, name: Lower}]
  book:
    key: book_id
    unique_together: [[title, shelf]]
    fields:
      title: {type: string, fake: book_title, min_length: 1}
      shelf: {ref: shelf, on_delete: cascade}
      price: {type: decimal, currency: EUR, min: 1.00, max: 90, default: 12.50}
      weight: {type: number, unit: kg, nullable: true}
      opens: {type: time, default: 9:00}
      lent: {type: list, items: {type: date, min: 2020-01-01}, default: []}
      seen: {type: date-time, optional: true}
      state: {enum: [in, out], default: in, synonyms: {in: [there, here]}}
      size: {type: object, fields: {width: {type: integer, max: 100.0}, depth: {type: integer, optional: true}}, optional: true}
      rest: {type: any, optional: true}
    records:
      - {book_id: 20, title: B, shelf: S-02, weight: 1.0, opens: 8:30, lent: [2026-01-05], seen: 2026-03-01T10:00}
      - {book_id: 10, title: A, shelf: S-11, price: 5.5, size: {width: 3, depth: 4}, rest: {b: 1.0, a: [null, true]}}
apis:
  - name: ListBooks
    method: GET
    path: /books
    parameters: {under: {like: book.price, optional: true, max: 50.0}, state: {like: book.state, optional: true}}
    behaviour: {list: book, filters: {under: {field: price, op: lt}, state: {field: state, op: eq}}, sort: {by: title}}
    reply: {fields: [title, {as: shelf, follow: shelf, fields: [{as: "", field: name}]}, {as: kind, value: 1.0}], total: ""}
    phrases: {noun: ["books[ under {under}]"], search: [novels to read]}
  - name: AddBook
    method: POST
    path: /books
    parameters: {title: {like: book.title}, shelf: {like: book.shelf}}
    behaviour:
      create: book
      let: {b: "a + 1", a: "book.count(x, x.shelf == args.shelf)"}
      require: [{that: "b < 10", else: {status: 409, message: the shelf is full}}]
"#;
    serde_json::to_value(read("tiny.yaml", text.as_bytes()).unwrap()).unwrap()
}

fn canonical_of(json: &serde_json::Value) -> String {
    let text = serde_json::to_vec(json).unwrap();
    let (doc, world) = load("tiny.json", &text).map_err(|report| report.to_string()).unwrap();
    assert!(world.materialised);
    let canonical = canonical_json(&doc, &world);
    assert_eq!(world.hash.as_deref(), Some(hash(&canonical).as_str()));
    canonical
}

#[test]
fn the_documented_world_compiles() {
    let world = load("guide.yaml", example().as_bytes()).map_err(|report| report.to_string()).unwrap().1;
    assert_eq!(world.apis.len(), 5);
    assert!(world.resources.iter().all(|resource| resource.records.is_empty()));
}

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

#[test]
fn the_canonical_form_is_one_world_document() {
    let canonical = canonical_of(&materialised());
    let (doc, world) =
        load("canonical.json", canonical.as_bytes()).map_err(|report| report.to_string()).unwrap();
    assert_eq!(canonical_json(&doc, &world), canonical);
    let records = canonical.split("\"records\":").nth(1).unwrap();
    let book = r#"[{"book_id":10,"lent":[],"opens":"09:00","price":5.5,"rest":{"a":[null,true],"b":1},"shelf":"S-11","size":{"depth":4,"width":3},"state":"in","title":"A","weight":null},{"book_id":20,"lent":["2026-01-05"],"opens":"08:30","price":12.5,"seen":"2026-03-01T10:00:00+00:00","shelf":"S-02","state":"in","title":"B","weight":1}]"#;
    assert!(records.starts_with(book), "{records}");
    for left_out in ["noun", "ask", "say", "book_title"] {
        assert!(!canonical.contains(&format!("\"{left_out}\"")), "{left_out}");
    }
    assert!(
        canonical.contains(r#""phrases":{"search":["novels to read"]}"#),
        "sessions search by it: {canonical}"
    );
}

#[test]
fn security_is_read_checked_and_kept() {
    let schemes = r#"{"key": {"type": "api_key", "in": "header", "name": "X-Key"}, "user": {"type": "basic"},
        "oauth": {"type": "oauth2", "token_path": "/token", "scopes": {"write": "Changes things"}}}"#;
    let mut json = materialised();
    json["domain"]["name"] = "shop".into();
    json["domain"]["security"] = serde_json::from_str(schemes).unwrap();
    json["apis"][0]["security"] = serde_json::from_str(r#"[{"key": []}, {"oauth": ["write"]}]"#).unwrap();
    let canonical = canonical_of(&json);
    let (doc, world) =
        load("canonical.json", canonical.as_bytes()).map_err(|report| report.to_string()).unwrap();
    assert_eq!(canonical_json(&doc, &world), canonical);
    let names: Vec<&str> = world.domains[0].security.iter().map(|scheme| &*scheme.name).collect();
    let needs = |api: usize| {
        let needs = world.apis[api].security.iter().flatten();
        needs.map(|need| (names[need.scheme], need.scopes.join(" "))).collect::<Vec<_>>()
    };
    assert_eq!(needs(0), [("key", String::new()), ("oauth", "write".to_owned())]);
    let check = |pointer: &str, value: &str, expect: &str| {
        let security = ("/domain/security", schemes);
        assert_eq!(findings_with(&[("/domain", r#"{"name": "shop"}"#), security, (pointer, value)]), expect);
    };
    check(
        "/apis/0/security",
        r#"[{"other": []}]"#,
        "apis[0].security[0].other: found the security scheme `other`, expected one of key, user, oauth",
    );
    check(
        "/domain/security/oauth/token_path",
        "\"token\"",
        "domain.security.oauth.token_path: found `token`, expected a path with a leading slash",
    );
}

/// A small stream of numbers from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Puts the keys of every mapping in another order, spells values in another way, and drops what is not hashed.
fn respell(json: &mut serde_json::Value, draw: &mut Draw) {
    match json {
        serde_json::Value::Object(map) => {
            let mut entries: Vec<_> = std::mem::take(map).into_iter().collect();
            for i in (1..entries.len()).rev() {
                entries.swap(i, draw.below(i + 1));
            }
            // The format version stays in front.
            entries.sort_by_key(|(name, _)| name != "world");
            entries.retain(|(name, _)| !matches!(name.as_str(), "noun" | "ask" | "say"));
            for (name, value) in &mut entries {
                let other = draw.below(2) == 0;
                match name.as_str() {
                    "fake" if value.is_string() => *value = "word".into(),
                    "book_id" if other => *value = serde_json::from_str(&format!("{value}.0")).unwrap(),
                    "price" if value.is_number() && other => *value = format!("{value}0").into(),
                    "opens" if value == "8:30" && other => *value = "08:30:00".into(),
                    "seen" if value.is_string() && other => *value = "2026-03-01T11:00:00+01:00".into(),
                    _ => respell(value, draw),
                }
            }
            map.extend(entries);
        }
        serde_json::Value::Array(items) => {
            let records =
                items.first().is_some_and(|item| item.get("book_id").is_some() || item.get("code").is_some());
            if records && draw.below(2) == 0 {
                items.reverse();
            }
            items.iter_mut().for_each(|item| respell(item, draw));
        }
        _ => {}
    }
}

proptest::proptest! {
    #[test]
    fn the_hash_ignores_key_order_and_spelling(seed: u64) {
        let mut other = materialised();
        respell(&mut other, &mut Draw(seed));
        proptest::prop_assert_eq!(canonical_of(&other), canonical_of(&materialised()));
    }

    #[test]
    fn the_hash_changes_with_every_record_value(record in 0_usize..2, field in 0_usize..5) {
        let mut other = materialised();
        let row = &mut other["resources"]["book"]["records"][record];
        let (name, value) = [
            ("book_id", serde_json::json!(77)),
            ("title", "a".into()),
            ("price", "5.51".into()),
            ("weight", serde_json::json!(1.25)),
            ("opens", "09:00:01".into()),
        ][field].clone();
        row[name] = value;
        proptest::prop_assert_ne!(canonical_of(&other), canonical_of(&materialised()));
    }
}

#[test]
fn the_hash_changes_with_behaviour() {
    let original = canonical_of(&materialised());
    let pointers = [
        ("/apis/1/behaviour/require/0/that", "b < 11".into()),
        ("/apis/1/behaviour/require/0/else/message", "full".into()),
        ("/apis/0/reply/total", "count".into()),
        ("/resources/book/fields/state/default", "out".into()),
        ("/resources/book/fields/price/max", serde_json::json!(89)),
        ("/resources/shelf/fields/code/fake/format", "S-###".into()),
        ("/clock", "2026-03-02T09:01".into()),
        ("/zone", "Europe/Paris".into()),
    ];
    for (pointer, value) in pointers {
        let mut other = materialised();
        *other.pointer_mut(pointer).unwrap() = value;
        assert_ne!(canonical_of(&other), original, "{pointer}");
    }
    // The short and the long form of one domain are one world.
    let mut long = materialised();
    let map = long.as_object_mut().unwrap();
    let (resources, apis) = (map.remove("resources").unwrap(), map.remove("apis").unwrap());
    map.insert(
        "domains".into(),
        serde_json::json!([{"domain": {"name": "tiny"}, "resources": resources, "apis": apis}]),
    );
    assert_eq!(canonical_of(&long), original);
}

/// Changes one place of the tiny world (the value is JSON) and gives back what is found there.
fn findings_with(changes: &[(&str, &str)]) -> String {
    let mut json = materialised();
    for (pointer, value) in changes {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let value: serde_json::Value = serde_json::from_str(value).unwrap();
        match json.pointer_mut(parent).unwrap() {
            serde_json::Value::Array(items) => items.insert(name.parse().unwrap(), value),
            other => other[name] = value,
        }
    }
    match compile(&serde_json::from_value(json).unwrap()) {
        Ok(_) => "fine".to_owned(),
        Err(report) => report
            .findings
            .iter()
            .map(|finding| format!("{}: {}", finding.path, finding.message))
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

fn check_finding(pointer: &str, value: &str, expect: &str) {
    assert_eq!(findings_with(&[(pointer, value)]), expect);
}

#[test]
fn wrong_records_are_found() {
    let check = |field: &str, value: &str, expect: &str| {
        check_finding(&format!("/resources/book/records/0/{field}"), value, expect);
    };
    check(
        "price",
        "12.555",
        "resources.book.records[0].price: expected a number with at most 2 decimal places from 1 to 90, found 12.555",
    );
    check(
        "price",
        "91",
        "resources.book.records[0].price: expected a number with at most 2 decimal places from 1 to 90, found 91",
    );
    check(
        "lent",
        "[\"2026-01-01\", \"x\"]",
        "resources.book.records[0].lent[1]: expected a date as YYYY-MM-DD of at least 2020-01-01, found \"x\"",
    );
    check(
        "size",
        "{\"width\": 101}",
        "resources.book.records[0].size.width: expected an integer of at most 100, found 101",
    );
    check("book_id", "10", "resources.book.records[1]: found the key 10 a second time, after records[0]");
    check(
        "shelf",
        "\"S-99\"",
        "resources.book.records[0].shelf: found a reference to S-99, which no `shelf` has as its key",
    );
    check(
        "colour",
        "1",
        "resources.book.records[0].colour: found the field `colour`, expected one of book_id, title, shelf, price, weight, opens, lent, seen, state, size, rest",
    );
    check_finding(
        "/resources/shelf/records/0/name",
        "\"Lower\"",
        "resources.shelf.records[0].name: found Lower a second time in a unique field",
    );
    check_finding(
        "/resources/shelf/records",
        "3",
        "resources.shelf.records: found the count 3 in a materialised world, expected the records\nresources.book.records[1].shelf: found a reference to S-11, which no `shelf` has as its key\nresources.book.records[0].shelf: found a reference to S-02, which no `shelf` has as its key",
    );
    assert_eq!(
        findings_with(&[
            ("/resources/book/records/0/title", "\"A\""),
            ("/resources/book/records/0/shelf", "\"S-11\"")
        ]),
        "resources.book.records[0]: found the same title and shelf a second time"
    );
    check_finding(
        "/resources/book/records/0",
        "{\"book_id\": 5}",
        "resources.book.records[0]: found no `title`, expected a string of length 1 or more\nresources.book.records[0]: found no `shelf`, expected a string",
    );
}

#[test]
fn wrong_types_and_names_are_found() {
    let check = check_finding;
    check(
        "/resources/book/fields/shelf/ref",
        "\"rack\"",
        "resources.book.fields.shelf.ref: found the resource `rack`, expected one of shelf, book",
    );
    check(
        "/resources/book/owner",
        "\"shelf\"",
        "resources.book.owner: found an owner in a domain without sign-in",
    );
    check(
        "/apis/0/path",
        "\"/books/{book_id}\"",
        "apis[0].path: found `{book_id}`, expected one of the parameters: under, state",
    );
    check(
        "/apis/0/parameters/under/in",
        "\"path\"",
        "apis[0].parameters.under.in: found `in: path` for a parameter that the path does not name\napis[0].parameters.under: found a path parameter that may be left out",
    );
    check(
        "/apis/1/method",
        "\"GET\"",
        "apis[1].path: found the route GET /books, which cannot be told from that of `ListBooks`",
    );
    check(
        "/apis/1/name",
        "\"ListBooks\"",
        "apis[1].name: found the API `ListBooks` a second time, after apis[0]",
    );
    check(
        "/apis/0/parameters/under/like",
        "\"book.cost\"",
        "apis[0].parameters.under.like: found the field `cost` of `book`, expected one of book_id, title, shelf, price, weight, opens, lent, seen, state, size, rest",
    );
    check(
        "/apis/0/behaviour/get",
        "\"book\"",
        "apis[0].behaviour.list: found both `get` and `list`, expected one kind",
    );
    check(
        "/apis/0/behaviour/filters/colour",
        "\"title\"",
        "apis[0].behaviour.filters.colour: found `colour`, expected one of the parameters: under, state",
    );
    check(
        "/apis/0/behaviour/filters/state",
        "\"lent\"",
        "apis[0].behaviour.filters.state: found a filter `eq` of `lent` with an argument whose type does not fit",
    );
    check(
        "/apis/1/behaviour/set",
        "{\"price\": \"'cheap'\"}",
        "apis[1].behaviour.set.price: found a string; expected a number with at most 2 decimal places from 1 to 90",
    );
    check(
        "/apis/1/auth",
        "true",
        "apis[1].auth: found an API of signed-in users in a domain without sign-in",
    );
    check("/clock", "\"soon\"", "clock: found `soon`, expected a date-time");
}

#[test]
fn a_world_without_apis_is_refused_with_its_line() {
    let text = "world: 1\nname: x\nclock: 2026-01-01T00:00\nresources:\n  a: {key: k, fields: {n: {type: integer}}, records: 1}\napis: []\n";
    let found = super::examine("x.yaml", text.as_bytes()).to_string();
    assert!(found.contains("x.yaml:6:1: apis: found no APIs, expected at least one\n  fix: "), "{found}");
}

#[test]
fn no_reply_has_two_members_of_one_name() {
    let check = |casing: &str, api: &str, expect: &str| {
        let text = format!(
            "world: 1\nname: x\nclock: 2026-01-01T00:00\ndomain: {{name: x{casing}}}\nresources:\n  a: {{key: k, fields: \
             {{at_day: {{type: integer}}, atDay: {{type: integer}}}}, records: 1}}\napis:\n  - {{name: Get, method: GET, path: /a, {api}}}\n"
        );
        let report = load("x.yaml", text.as_bytes()).unwrap_err().to_string();
        assert!(report.contains("x.yaml:8:") && report.contains(expect), "{report}");
    };
    check(
        "",
        "behaviour: {compute: {n: '1'}}, reply: {with: {n: '2'}}",
        "apis[0].reply: found the member `n` twice, expected different names",
    );
    check(
        "",
        "behaviour: {aggregate: a, measures: {n: count}}, reply: {with: {n: '2'}}",
        "found the member `n` twice",
    );
    check(
        "",
        "behaviour: {aggregate: a, group_by: at_day, measures: {at_day: count}}",
        "apis[0].behaviour.measures.at_day: found the measure `at_day`, which its groups show as the field",
    );
    check(
        ", casing: camel",
        "behaviour: {list: a}",
        "apis[0].reply: found `at_day` and `atDay`, which `casing` both writes `atDay`",
    );
    check(
        ", casing: camel",
        "behaviour: {compute: {one_day: '1', oneDay: '2'}}",
        "found `one_day` and `oneDay`, which `casing` both writes `oneDay`",
    );
}

#[test]
fn a_user_of_another_name_is_one_finding() {
    let text = "world: 1
name: x
clock: 2026-01-01T00:00
domain: {name: x, auth: {user: membre, login: name, secret: pin}}
resources:
  member: {key: member_id, fields: {name: {type: string, unique: true}, pin: {type: string}}, records: 2}
  note: {key: note_id, owner: member_id, fields: {member_id: {ref: member}, text: {type: string}}, records: 2}
apis:
  - {name: SignIn, method: POST, path: /in, parameters: {name: {type: string}, pin: {type: string}}, behaviour: {sign_in: true}}
  - {name: ListNotes, method: GET, path: /notes, auth: true, behaviour: {list: note, where: item.member_id == me.member_id}}
";
    let report = super::examine("x.yaml", text.as_bytes());
    let found: Vec<String> =
        report.findings.iter().map(|finding| format!("{}: {}", finding.path, finding.message)).collect();
    assert_eq!(found, ["domain.auth.user: found the resource `membre`, expected one of member, note"]);
}

#[test]
fn one_pass_finds_many_and_says_where() {
    let text = "world: 1
name: x
clock: 2026-01-01T00:00
resources:
  room:
    key: room_id
    fields: {name: {ref: rom}, size: {type: integer}}
    records: 2
apis:
  - name: GetRoom
    method: GET
    path: /rooms/{room_id}
    description: Shows a room.
    parameters: {room_id: {ref: room}}
    behaviour:
      get: room
      require:
        - {that: 'record.size > args.least', else: {status: 200, message: too small}}
    reply: {fields: [nme]}
";
    let report = load("x.yaml", text.as_bytes()).unwrap_err();
    let lines: Vec<String> = report
        .findings
        .iter()
        .map(|f| format!("{}:{} {}", f.line.unwrap(), f.column.unwrap(), f.path))
        .collect();
    assert_eq!(
        lines,
        [
            "7:26 resources.room.fields.name.ref",
            "18:33 apis[0].behaviour.require[0].that",
            "18:61 apis[0].behaviour.require[0].else.status",
            "19:22 apis[0].reply.fields[0]",
        ]
    );
}

/// Changes one place of the tiny world and gives back what `check` finds in the world that compiles.
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
    check(&doc, &world)
        .iter()
        .map(|finding| format!("{}: {}", finding.path, finding.message))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn probable_mistakes_are_found() {
    // The findings of the unchanged tiny world: no descriptions, and no book that is out.
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
fn a_world_is_shown_in_plain_text() {
    let (_, world) = load("guide.yaml", example().as_bytes()).unwrap();
    insta::assert_snapshot!(show(&world));
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
