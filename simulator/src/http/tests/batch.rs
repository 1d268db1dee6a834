//! Owns the tests of many calls in one request.

use super::*;
use crate::http::request_types::MAX_BATCH_CALLS;

fn sessions(app: &Arc<App>, n: u64, more: Json) -> Vec<String> {
    let mut asked = json!({"n": n});
    asked.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    let (status, created) = ask(app, "POST /v1/sessions", asked);
    assert_eq!(status, 201, "{created}");
    let made = created["sessions"].as_array().unwrap();
    made.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

fn batch(app: &Arc<App>, calls: Json) -> Vec<Json> {
    let (status, reply) = ask(app, "POST /v1/calls", json!({"calls": calls}));
    assert_eq!(status, 200, "{reply}");
    reply["results"].as_array().unwrap().clone()
}

#[test]
fn sessions_stepped_at_once_answer_as_if_each_were_alone() {
    let app = app(&["shop"], |_| {});
    let (together, alone) = (sessions(&app, 300, json!({})), sessions(&app, 300, json!({})));
    // Each session adds as many products as its number says, mixed with the calls of the others.
    let step = |number: usize, round: usize| -> Json {
        if round <= number % 4 {
            let name = format!("Lamp {number}.{round}");
            json!({"api": "AddProduct", "arguments": {"name": name, "price": number + 1, "kind": "tool"}})
        } else {
            json!({"api": "AllNames"})
        }
    };
    let mut asked = Vec::new();
    let mut expected = Vec::new();
    for round in 0..6 {
        for number in 0..300 {
            let mut call = step(number, round);
            let path = format!("POST /v1/sessions/{}/call", alone[number]);
            let (status, reply) = ask(&app, &path, call.clone());
            assert_eq!(status, 200);
            expected.push(reply);
            call["session"] = json!(together[number]);
            asked.push(call);
        }
    }
    let results = batch(&app, Json::Array(asked));
    assert_eq!(results, expected);
    let last = results.iter().rev().take(300).map(|result| result["body"].to_string());
    for (body, number) in last.zip((0..300).rev()) {
        let own: Vec<usize> =
            (0..6).filter(|round| body.contains(&format!("\"Lamp {number}.{round}\""))).collect();
        assert_eq!(own, (0..=number % 4).collect::<Vec<_>>(), "its own lamps, all of them");
        assert_eq!(body.matches("Lamp").count(), own.len(), "and nobody else's");
    }
}

#[test]
fn the_tools_of_the_conversation_do_in_a_batch_what_they_do_alone() {
    let app = app(&["shop"], |_| {});
    let (together, alone) = (session(&app, json!({"task": "t1"})), session(&app, json!({"task": "t1"})));
    let calls = [
        json!({"api": "ask_user", "arguments": {"question": "Which product?"}}),
        json!({"api": "ask_user", "arguments": {"words": 1}}),
        json!({"api": "DeleteProduct", "arguments": {"product_id": 14}}),
        json!({"api": "finish", "arguments": {"outcome": "done"}}),
    ];
    let by_itself = |call: &Json| ask(&app, &format!("POST /v1/sessions/{alone}/call"), call.clone()).1;
    let expected: Vec<Json> = calls.iter().map(by_itself).collect();
    let in_session = |call: &Json| {
        let mut call = call.clone();
        call["session"] = json!(together);
        call
    };
    let results = batch(&app, calls.iter().map(in_session).collect());
    assert_eq!(results, expected);
    assert_eq!(results[0], json!({"status": 200, "body": {"content": "Number 14.", "done": false}}));
    assert_eq!((&results[1]["status"], &results[3]["body"]["done"]), (&json!(422), &json!(true)));
    for id in [together, alone] {
        assert_eq!(
            ask(&app, &format!("GET /v1/sessions/{id}/log"), Json::Null).1["total"],
            1,
            "one of an API"
        );
        let (_, graded) = ask(&app, &format!("POST /v1/sessions/{id}/grade"), json!({}));
        assert_eq!(graded["success"], true, "{graded}");
    }
}

#[test]
fn each_call_of_a_batch_has_its_own_refusals_and_faults() {
    let app = app(&["shop"], |settings| settings.sessions.max_calls = 2);
    let ids = sessions(&app, 2, json!({}));
    let faults = json!([{"kind": "drop"}]);
    let gone = sessions(&app, 2, json!({"faults": faults}));
    let limited = sessions(&app, 2, json!({"faults": [{"kind": "rate_limit", "retry_after": 7}]}));
    let call = |session: &str, api: &str| json!({"session": session, "api": api});
    let results = batch(
        &app,
        json!([
            call(&ids[0], "AllNames"),
            call("nobody", "AllNames"),
            call(&ids[0], "NoSuchApi"),
            call(&ids[0], "AllNames"),
            call(&gone[0], "AllNames"),
            call(&limited[0], "AllNames"),
            call(&ids[1], "AllNames"),
        ]),
    );
    assert_eq!((&results[0]["status"], &results[0]), (&json!(200), &results[6]));
    assert_eq!((&results[1]["status"], &results[1]["refused"]), (&json!(404), &json!(true)));
    assert_eq!(
        (&results[2]["status"], &results[2]["refused"]),
        (&json!(404), &Json::Null),
        "the world's own word"
    );
    assert_eq!(
        (&results[3]["status"], &results[3]["refused"]),
        (&json!(429), &json!(true)),
        "the session's cap"
    );
    assert_eq!(results[4], json!({"dropped": true}));
    assert_eq!((&results[5]["status"], &results[5]["retry_after"]), (&json!(429), &json!(7)));
    let too_many = vec![call(&ids[1], "AllNames"); MAX_BATCH_CALLS + 1];
    let (status, problem) = ask(&app, "POST /v1/calls", json!({"calls": too_many}));
    assert_eq!((status, &problem["limit"]), (422, &json!(MAX_BATCH_CALLS)));
    assert_eq!(ask(&app, &format!("GET /v1/sessions/{}/log", ids[1]), Json::Null).1["total"], 1);
    assert_eq!(batch(&app, json!([])), Vec::<Json>::new());
}
