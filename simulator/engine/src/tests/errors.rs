use super::{check, small, transcript};

#[test]
fn arguments_are_checked_against_the_parameters() {
    check(
        "arguments",
        r#"
        GetProduct
        GetProduct {"product_id": "eleven"}
        GetProduct {"product_id": 11, "colour": "red", "size": 1}
        GetProduct {"product_id": null}
        GetProduct {"product_id": "11"}
        AllNames {"x": 1}
        ListProducts {"kind": "Food"}
        ListProducts {"kinds": ["food", "gadget"]}
        ListProducts {"kinds": "food"}
        ListProducts {"limit": 101}
        ListProducts {"max_price": 1.005}
        OrdersOn {"day": "tomorrow"}
        "#,
    );
}

#[test]
fn unknown_apis_are_answered_with_the_nearest_names() {
    check("unknown_api", "GetProducts\nlist_product\nBuyTicket\nToolsearcher {\"keywords\": \"x\"}");
}

#[test]
fn an_argument_that_nothing_can_be_computed_from_is_refused_and_changes_nothing() {
    check("world_errors", "Divide {\"a\": 1, \"b\": 2}\nDivide {\"a\": 1, \"b\": 0}");
}

#[test]
fn a_call_that_takes_too_many_steps_changes_nothing() {
    let records: Vec<String> = (0..600).map(|n| format!("      - {{n_id: {n}, v: {n}}}")).collect();
    let base = small(&format!(
        r"
resources:
  n:
    key: n_id
    fields: {{n_id: {{type: integer}}, v: {{type: integer}}}}
    records:
{}
apis:
  - name: Add
    method: POST
    path: /n
    description: Adds, then counts pairs.
    parameters: {{v: {{type: integer}}}}
    behaviour:
      create: n
    reply: {{with: {{pairs: 'n.count(a, n.any(b, a.v + b.v == -1))'}}}}
  - name: Pairs
    method: GET
    path: /pairs
    description: Counts pairs.
    behaviour: {{compute: {{pairs: 'n.count(a, n.any(b, a.v + b.v == -1))'}}}}
",
        records.join("\n")
    ));
    let shown = transcript(&base, "Add {\"v\": 1}\nPairs");
    let replies: Vec<&str> = shown.lines().filter(|line| !line.starts_with('>')).collect();
    assert!(replies[0].starts_with("422 ") && replies[0].contains("too many steps"), "{shown}");
    assert!(replies[1].starts_with("500 ") && replies[1].contains("too many steps"), "{shown}");
}

#[test]
fn the_cause_of_what_cannot_be_computed_decides_who_is_at_fault() {
    let base = small(
        r"
resources:
  box:
    key: box_id
    fields: {box_id: {type: integer}, size: {type: integer}}
    records: [{box_id: 1, size: 2}]
apis:
  - {name: Broken, method: GET, path: /broken, behaviour: {compute: {x: '1 / (2 - 2)'}}}
  - {name: Whole, method: GET, path: /whole, behaviour: {compute: {x: 'box.sum(b, true, b.size) * 9'}}}
  - name: Resize
    method: PATCH
    path: /boxes/{box_id}
    parameters: {box_id: {ref: box}, size: {type: integer}}
    behaviour: {patch: box}
  - name: Share
    method: GET
    path: /share
    parameters: {n: {type: integer}, of: {type: integer, default: 0}}
    behaviour: {let: {left: args.n - 1}, compute: {x: '1 / left', y: '1 / args.of'}}
  - name: Until
    method: GET
    path: /until
    parameters: {day: {type: date}}
    behaviour: {let: {next: 'args.day + days(1)'}, compute: {open: 'today < next', next: next}}
",
    );
    let calls = r#"
        Broken
        Share {"n": 1, "of": 1}
        Share {"n": 2}
        Until {"day": "2026-03-02"}
        Until {"day": "9999-12-31"}
        Whole
        Resize {"box_id": 1, "size": 9223372036854775807}
        Whole
    "#;
    let shown = transcript(&base, calls);
    let replies: Vec<&str> = shown.lines().filter(|line| !line.starts_with(['>', ' '])).collect();
    let statuses: Vec<&str> = replies.iter().filter_map(|reply| reply.get(..3)).collect();
    assert_eq!(statuses, ["500", "422", "500", "200", "422", "200", "200", "409"], "{shown}");
    assert!(
        replies[1].contains("`n`: the call cannot be answered with this value: division by zero"),
        "{shown}"
    );
    assert!(replies[4].contains("out of range\",\"parameter\":\"day\""), "{shown}");
}

#[test]
fn what_is_not_there_is_told_before_what_a_check_finds_on_it() {
    let base = small(
        r"
resources:
  book:
    key: isbn
    fields: {isbn: {type: integer}, copies: {type: integer}}
    records: [{isbn: 1, copies: 0}]
  loan:
    key: loan_id
    fields: {loan_id: {type: integer}, isbn: {ref: book}}
    records: []
apis:
  - name: Borrow
    method: POST
    path: /loans
    parameters: {isbn: {ref: book}}
    behaviour:
      create: loan
      require: [{that: book.get(args.isbn).copies > 0, else: {status: 409, message: no copy is left}}]
  - name: Count
    method: GET
    path: /books/{isbn}/copies
    parameters: {isbn: {ref: book}}
    behaviour:
      compute: {copies: book.get(args.isbn).copies}
      require: [{that: book.exists(args.isbn), else: {status: 404, message: no such book}}]
",
    );
    let shown = transcript(&base, "Borrow {\"isbn\": 1}\nBorrow {\"isbn\": 2}\nCount {\"isbn\": 2}");
    let replies: Vec<&str> = shown.lines().filter(|line| !line.starts_with('>')).collect();
    assert!(replies[0].starts_with("409 ") && replies[0].contains("no copy is left"), "{shown}");
    assert!(replies[1].starts_with("422 ") && replies[1].contains("no book has the isbn 2"), "{shown}");
    assert!(replies[2].starts_with("404 ") && replies[2].contains("no such book"), "{shown}");
}

#[test]
fn a_world_of_the_wrong_shape_is_refused() {
    use crate::{Base, BaseError};
    use diorama_seeds::value::Value;
    let world = || super::shop().world().clone();
    let mut repeated = world();
    let record = repeated.resources[1].records[0].clone();
    repeated.resources[1].records.push(record);
    let error = Base::new(repeated).unwrap_err();
    assert_eq!(error, BaseError::DuplicateKey { resource: "product".into(), key: "11".to_owned() });
    let mut narrow = world();
    narrow.resources[4].records[0] = [Value::Integer(1)].into();
    let error = Base::new(narrow).unwrap_err();
    assert_eq!(error, BaseError::Width { resource: "settings".into(), found: 1, expected: 3 });
    let mut twice = world();
    twice.apis[1].name = twice.apis[0].name.clone();
    assert_eq!(Base::new(twice).unwrap_err(), BaseError::DuplicateApi("GetProduct".into()));
    let mut reserved = world();
    reserved.apis[1].name = "ToolSearcher".into();
    assert_eq!(Base::new(reserved).unwrap_err(), BaseError::DuplicateApi("ToolSearcher".into()));
}
