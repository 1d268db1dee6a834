//! Owns the tests of the tool and the route that ask the user for consent to calls.

use diorama_seeds::script::WantedCall;
use serde_json::{Value as Json, json};

use super::{app, ask, session};

/// Returns the call to which the user of the task `t2` consents.
pub(super) fn want() -> WantedCall {
    WantedCall {
        api: "DeleteProduct".into(),
        arguments: json!({"product_id": 14}).as_object().cloned().unwrap(),
        words: [("product_id".to_owned(), "number 14".to_owned())].into_iter().collect(),
        ..WantedCall::default()
    }
}

fn asked(product: u32) -> Json {
    json!({"calls": [{"api": "DeleteProduct", "arguments": {"product_id": product}}], "message": "Shall I?"})
}

#[test]
fn the_user_answers_a_confirmation_by_the_calls() {
    let app = app(&["shop"], |_| ());
    let id = session(&app, json!({"task": "t2"}));
    let at = |path: &str| format!("POST /v1/sessions/{id}/{path}");
    let tools = ask(&app, &format!("GET /v1/sessions/{id}/task"), Json::Null).1;
    let names: Vec<&str> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    assert_eq!(names, ["DeleteProduct", "GetProduct", "confirm", "finish"]);
    let check = |product: u32, answer: &str| {
        let expected = json!({"content": answer, "done": false});
        assert_eq!(ask(&app, &at("confirm"), asked(product)), (200, expected.clone()));
        let named = json!({"api": "confirm", "arguments": asked(product)});
        assert_eq!(ask(&app, &at("call"), named), (200, json!({"status": 200, "body": expected})));
    };
    check(15, "No, I said number 14.");
    check(14, "Yes, please.");
    let (status, problem) = ask(&app, &at("confirm"), json!({"calls": [], "message": "Shall I?"}));
    assert_eq!((status, &problem["parameter"]), (422, &json!("calls")));
    let (_, log) = ask(&app, &format!("GET /v1/sessions/{id}/log"), Json::Null);
    assert_eq!(log["total"], 0, "a question is no call: {log}");
}

#[test]
fn a_task_without_a_rule_that_asks_for_a_yes_has_no_confirmation() {
    let app = app(&["shop"], |_| ());
    let id = session(&app, json!({"task": "t1"}));
    let at = |path: &str| format!("POST /v1/sessions/{id}/{path}");
    assert_eq!(ask(&app, &at("confirm"), asked(14)).0, 409);
    let (_, unknown) = ask(&app, &at("call"), json!({"api": "confirm", "arguments": asked(14)}));
    assert_eq!(unknown["status"], 404, "{unknown}");
}
