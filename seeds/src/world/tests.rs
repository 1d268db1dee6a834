//! Owns the tests of parsing and compiling, by example.

use super::*;

mod beside;
mod canonical;
mod faults;
mod house;
mod names;
mod reading;

const GUIDE: &str = include_str!("../../../docs/world-format.md");

/// Returns the example world from the format's documentation.
pub(crate) fn example() -> &'static str {
    let start = GUIDE.find("```yaml\n").unwrap() + "```yaml\n".len();
    let end = start + GUIDE[start..].find("```").unwrap();
    &GUIDE[start..end]
}

fn refused(name: &str, text: &str) -> String {
    read(name, text.as_bytes()).unwrap_err().to_string()
}

/// Returns a materialised world of one resource with all types.
pub(crate) fn materialised() -> serde_json::Value {
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

/// Changes values of the tiny world, given as JSON, and returns the findings.
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
fn the_documented_world_compiles() {
    let world = load("guide.yaml", example().as_bytes()).map_err(|report| report.to_string()).unwrap().1;
    assert_eq!(world.apis.len(), 5);
    assert!(world.resources.iter().all(|resource| resource.records.is_empty()));
}

#[test]
fn a_world_is_shown_in_plain_text() {
    let (_, world) = load("guide.yaml", example().as_bytes()).unwrap();
    insta::assert_snapshot!(show(&world));
}
