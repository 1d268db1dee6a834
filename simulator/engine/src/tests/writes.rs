use super::{check, small, transcript};

#[test]
fn records_are_made_replaced_changed_and_deleted() {
    check(
        "writes",
        r#"
        AddProduct {"name": "Drill", "price": 60.5, "kind": "tool"}
        AddProduct {"name": "Kazoo", "price": 3, "stock": 7, "kind": "toy", "launched": "2026-01-01", "note": "loud"}
        ReplaceProduct {"product_id": 12, "name": "Big Hammer", "price": 30, "stock": 2, "tags": ["steel", "big"], "kind": "tool"}
        PatchProduct {"product_id": 13, "stock": 4}
        PatchProduct {"product_id": 13, "note": null}
        PatchProduct {"product_id": 13}
        PatchProduct {"product_id": 99, "stock": 4}
        DeleteProduct {"product_id": 15}
        GetProduct {"product_id": 15}
        PatchSettings {"open": false}
        PatchSettings {"greeting": "Hi"}
        "#,
    );
}

#[test]
fn values_that_records_do_not_take_are_refused() {
    check(
        "limits",
        r#"
        AddProduct {"name": "A name that is longer than twenty letters", "price": 1, "kind": "toy"}
        AddProduct {"name": "X", "price": -1, "kind": "toy"}
        AddProduct {"name": "Y", "price": 1.239, "kind": "toy"}
        AddProduct {"name": "Z", "price": 1e300, "kind": "toy"}
        PatchProduct {"product_id": 11, "stock": -1}
        AddWish {"customer_id": 101, "product_ids": [12, 14]}
        "#,
    );
}

#[test]
fn what_must_be_unique_stays_unique() {
    check(
        "unique",
        r#"
        AddProduct {"name": "Bread", "price": 1, "kind": "food"}
        AddProduct {"name": "bread", "price": 1, "kind": "food"}
        AddProduct {"name": "bread", "price": 1, "kind": "food"}
        PatchProduct {"product_id": 11, "name": "Hammer"}
        PatchProduct {"product_id": 11, "name": "Apple Pie"}
        PatchProduct {"product_id": 12, "name": "Mallet"}
        PatchProduct {"product_id": 11, "name": "Hammer"}
        SwapNames {"a": 13, "b": 14}
        SwapNames {"a": 13, "b": 99}
        "#,
    );
}

#[test]
fn deleting_what_is_referred_to_is_refused_or_followed() {
    check(
        "on_delete",
        r#"
        DeleteProduct {"product_id": 12}
        DeleteProduct {"product_id": 13}
        DeleteCustomer {"customer_id": 103}
        DeleteCustomer {"customer_id": 102}
        DeleteProduct {"product_id": 11}
        "#,
    );
}

#[test]
fn actions_change_many_records_or_none() {
    check(
        "actions",
        r#"
        Restock {"kind": "tool", "by": 5}
        Restock {"kind": "toy", "by": -1}
        Restock {"kind": "tool", "by": -7}
        Restock {"kind": "food", "by": 0}
        "#,
    );
}

#[test]
fn keys_follow_from_the_seed_and_the_number_of_creates() {
    use crate::{State, apply};
    let base = super::shop();
    let keys = |seed: u64, refused_between: bool| -> Vec<String> {
        let mut state = State::initial(&base, seed);
        let mut keys = Vec::new();
        for n in 0..85 {
            if refused_between {
                state = apply(
                    &base,
                    &state,
                    &super::call("AddProduct {\"name\": \"Bread\", \"price\": 1, \"kind\": \"food\"}"),
                )
                .state;
            }
            let line = format!("AddProduct {{\"name\": \"P{n}\", \"price\": 1, \"kind\": \"toy\"}}");
            let applied = apply(&base, &state, &super::call(&line));
            assert_eq!(applied.reply.status, 201, "{:?}", applied.reply);
            keys.extend(applied.changes.iter().map(|change| change.key.to_text(&base.world().zone)));
            state = applied.state;
        }
        let full = apply(
            &base,
            &state,
            &super::call("AddProduct {\"name\": \"Last\", \"price\": 1, \"kind\": \"toy\"}"),
        );
        assert_eq!(full.reply.status, 409, "all 90 keys are used");
        keys
    };
    let first = keys(1, false);
    assert_eq!(first, keys(1, true), "a refused create uses no key up");
    assert_ne!(first, keys(2, false));
    let mut distinct = first.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), first.len());
}

#[test]
fn the_steps_of_a_patch_make_what_is_not_there() {
    let base = small(
        "resources:
  user:
    key: id
    fields: {id: {type: string}, name: {type: string, optional: true}, kept: {type: any, optional: true, generated: true}}
    records: [{id: ada, name: Ada}]
apis:
  - name: PatchUser
    method: PATCH
    path: /users/{id}
    parameters: {id: {ref: user, in: path}, body: {type: any, in: body}}
    contract:
      request: {type: array, items: {type: object}}
      whole: body
      reply: {type: object, properties: {id: {type: string}, name: {type: string}, tags: {type: array, items: {type: string}}}}
    behaviour: {patch: user, key: args.id, keep: kept, upsert: true, set: {id: args.id}}
    reply: {made: 201}
",
    );
    let calls = r#"
        PatchUser {"id": "bob", "body": [{"op": "add", "path": "/name", "value": "Bob"}, {"op": "add", "path": "/tags", "value": ["a"]}]}
        PatchUser {"id": "eve", "body": [{"op": "replace", "path": "/name", "value": "Eve"}]}
    "#;
    let shown = transcript(&base, calls);
    assert!(shown.contains(r#"201 {"id":"bob","name":"Bob","tags":["a"]}"#), "{shown}");
    assert!(shown.contains("400 ") && !shown.contains("+ user eve"), "{shown}");
}

#[test]
fn references_in_a_body_are_set_cleared_and_left_as_it_says() {
    let base = small(
        "resources:
  user: {key: id, fields: {id: {type: string}}, records: [{id: ada}, {id: bob}]}
  project: {key: id, fields: {id: {type: string}}, records: [{id: p1}, {id: p2}]}
  task:
    key: id
    fields:
      id: {type: integer}
      assignee_id: {ref: user, optional: true, on_delete: clear}
      project_ids: {type: list, items: {ref: project}, optional: true, on_delete: clear}
      kept: {type: any, optional: true, generated: true}
    records: [{id: 1, assignee_id: ada, project_ids: [p1]}]
apis:
  - name: PatchTask
    method: PATCH
    path: /tasks/{id}
    parameters: {id: {ref: task, in: path}, assignee: {type: any, in: body, optional: true}, projects: {type: any, in: body, optional: true}}
    contract: {request: {type: object}, reply: {type: object}}
    behaviour: {patch: task, key: args.id, keep: kept}
  - name: AddTask
    method: POST
    path: /tasks
    parameters: {boss: {ref: user, in: body}, assignee: {type: any, in: body, optional: true}}
    contract: {request: {type: object}, reply: {type: object}}
    behaviour: {create: task, let: {who: args.boss}, set: {assignee_id: who}, keep: kept}
",
    );
    let check = |calls: &str, expect: Option<&str>| {
        let shown = transcript(&base, calls);
        let changed = shown.lines().last().unwrap();
        match expect {
            Some(expect) => assert!(changed.contains(expect), "{shown}"),
            None => assert!(!changed.contains("_id"), "{shown}"),
        }
    };
    check(r#"PatchTask {"id": 1, "assignee": "bob"}"#, Some(r#"assignee_id: "bob""#));
    check(r#"PatchTask {"id": 1, "assignee": "eve"}"#, None);
    check(r#"PatchTask {"id": 1, "assignee": null}"#, Some("assignee_id: absent"));
    check(r#"PatchTask {"id": 1, "projects": ["p2", "p9"]}"#, Some(r#"project_ids: ["p2"]"#));
    check(r#"PatchTask {"id": 1, "projects": ["p9", {"id": "p2"}]}"#, None);
    check(r#"PatchTask {"id": 1, "projects": "p2"}"#, None);
    check(r#"PatchTask {"id": 1, "projects": []}"#, Some("project_ids: []"));
    check(r#"PatchTask {"id": 1, "projects": null}"#, Some("project_ids: absent"));
    check(r#"AddTask {"boss": "ada", "assignee": "bob"}"#, Some(r#"assignee_id: "ada""#));
}
