//! Owns the tests of documents that must not compile.

use super::*;

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
    let found = crate::check::examine("x.yaml", text.as_bytes()).to_string();
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
    let report = crate::check::examine("x.yaml", text.as_bytes());
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
