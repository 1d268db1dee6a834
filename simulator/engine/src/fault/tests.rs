#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may end this way")]

use serde_json::{Value as Json, json};

use super::*;
use crate::session::{LogEntry, Session, SessionOptions};
use crate::tests::{call, shop};

fn faults(rules: Json) -> Faults {
    Faults::new(serde_json::from_value(rules).unwrap()).unwrap()
}

fn session(seed: u64, rules: Json) -> Session {
    Session::new(shop(), SessionOptions { seed, ..SessionOptions::default() }).with_faults(faults(rules))
}

/// Makes a call, and returns its status, its faults by kind, and its body.
fn made(session: &mut Session, line: &str) -> (u16, Vec<Kind>, Json) {
    let entry = session.call(&call(line));
    let kinds = entry.faults.iter().map(|fault| fault.kind).collect();
    (entry.reply.status, kinds, entry.reply.json_tree(&session.base().world().zone))
}

#[test]
fn what_fires_follows_from_the_seed_and_the_number_of_the_call() {
    let rules = json!([
        {"kind": "error", "probability": 0.3, "status": 503},
        {"kind": "latency", "probability": 0.5, "ms": 5, "max_ms": 50},
    ]);
    let run = |seed: u64| {
        let mut session = session(seed, rules.clone());
        for _ in 0..400 {
            session.call(&call("GetProduct {\"product_id\": 11}"));
        }
        let fired: Vec<_> = session.log().map(|entry| entry.faults.clone()).collect();
        fired
    };
    let first = run(1);
    assert_eq!(first, run(1));
    assert_ne!(first, run(2));
    let count = |kind: Kind| first.iter().flatten().filter(|fault| fault.kind == kind).count();
    assert!((80..160).contains(&count(Kind::Error)), "{}", count(Kind::Error));
    assert!((150..250).contains(&count(Kind::Latency)), "{}", count(Kind::Latency));
    let delays: Vec<u64> = first.iter().flatten().map(|fault| fault.delay_ms).filter(|ms| *ms > 0).collect();
    assert!(delays.iter().all(|ms| (5..=50).contains(ms)));
    assert!(delays.iter().max() > Some(&40) && delays.iter().min() < Some(&15), "{delays:?}");
}

#[test]
fn a_fork_and_a_reset_meet_the_same_faults() {
    let mut session = session(5, json!([{"kind": "drop", "probability": 0.5, "executed": true}]));
    let add = "DeleteProduct {\"product_id\": 14}";
    for _ in 0..6 {
        session.call(&call("AllNames {}"));
    }
    session.call(&call(add));
    let shown =
        |session: &Session| -> Vec<LogEntry> { session.log().map(|entry| (*entry).clone()).collect() };
    let first = format!("{:?}", shown(&session));
    assert_eq!(format!("{:?}", shown(&session.fork_at(7))), first);
    let earlier = session.fork_at(3);
    assert_eq!(earlier.log().len(), 3);
    assert!(earlier.diff().is_empty());
    session.reset();
    for _ in 0..6 {
        session.call(&call("AllNames {}"));
    }
    session.call(&call(add));
    assert_eq!(format!("{:?}", shown(&session)), first);
}

#[test]
fn a_fault_in_the_apis_place_changes_nothing_unless_it_says_so() {
    let check = |rule: Json, status: u16, deleted: bool| {
        let mut session = session(0, json!([rule]));
        let (found, kinds, body) = made(&mut session, "DeleteProduct {\"product_id\": 14}");
        assert_eq!((found, kinds.len()), (status, 1), "{rule}: {body}");
        assert_eq!(body["status"], json!(status));
        assert_eq!(!session.diff().is_empty(), deleted, "{rule}");
    };
    check(json!({"kind": "error"}), 500, false);
    check(json!({"kind": "error", "status": 503}), 503, false);
    check(json!({"kind": "error", "status": 502, "executed": true}), 502, true);
    check(json!({"kind": "timeout", "ms": 10}), 504, false);
    check(json!({"kind": "timeout", "ms": 10, "executed": true}), 504, true);
    check(json!({"kind": "drop"}), 503, false);
    check(json!({"kind": "rate_limit"}), 429, false);
    let mut session =
        session(0, json!([{"kind": "rate_limit", "retry_after": 7, "until": 1, "apis": ["Me"]}]));
    assert_eq!(made(&mut session, "DeleteProduct {\"product_id\": 14}").0, 200, "another API is left alone");
}

#[test]
fn replies_are_distorted_and_the_records_are_not() {
    let mut stale = session(0, json!([{"kind": "stale"}]));
    assert_eq!(made(&mut stale, "GetProduct {\"product_id\": 14}").1, [], "nothing is older");
    assert_eq!(made(&mut stale, "DeleteProduct {\"product_id\": 14}").0, 200);
    let (status, kinds, body) = made(&mut stale, "GetProduct {\"product_id\": 14}");
    assert_eq!((status, kinds, &body["name"]), (200, vec![Kind::Stale], &json!("Bread")));

    let mut partial = session(0, json!([{"kind": "partial", "keep": 0.4}]));
    let (_, kinds, body) = made(&mut partial, "AllNames {}");
    assert_eq!((kinds, body.as_array().unwrap().len()), (vec![Kind::Partial], 2));
    assert_eq!(made(&mut partial, "GetSettings {}").1, []);

    let mut drift = session(0, json!([{"kind": "rename", "rename": {"name": "title"}, "from": 1}]));
    assert_eq!(made(&mut drift, "GetProduct {\"product_id\": 11}").2["name"], "Apple Pie");
    let (_, kinds, body) = made(&mut drift, "GetProduct {\"product_id\": 11}");
    assert_eq!(
        (kinds, &body["title"], &body["name"]),
        (vec![Kind::Rename], &json!("Apple Pie"), &Json::Null)
    );

    // An object cannot have two members with one name.
    let mut taken = session(0, json!([{"kind": "rename", "rename": {"name": "product_id"}}]));
    let (_, kinds, body) = made(&mut taken, "GetProduct {\"product_id\": 11}");
    assert_eq!((kinds, &body["product_id"], &body["name"]), (vec![], &json!(11), &json!("Apple Pie")));

    let mut tokens = session(0, json!([{"kind": "expired_token"}]));
    let (_, kinds, signed) = made(&mut tokens, "SignIn {\"email\": \"ana@example.org\", \"pin\": \"1111\"}");
    assert_eq!(kinds, []);
    let (status, kinds, body) = made(&mut tokens, &format!("Me {{\"token\": {}}}", signed["token"]));
    assert_eq!((status, kinds), (401, vec![Kind::ExpiredToken]), "{body}");
    assert!(body["detail"].as_str().unwrap().contains("expired"));
}

#[test]
fn rules_that_make_no_sense_are_refused_by_name() {
    let check = |rule: Json, expect: &str| {
        let error =
            Faults::new(serde_json::from_value(json!([{"kind": "drop"}, rule])).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), expect);
    };
    check(
        json!({"kind": "error", "status": 404}),
        "`faults[1].status`: expected a status from 500 to 599, found 404",
    );
    check(json!({"kind": "latency"}), "`faults[1].ms`: expected milliseconds, found nothing");
    check(
        json!({"kind": "drop", "ms": 5}),
        "`faults[1].ms`: expected nothing, as this kind of fault has no use for it, found a value",
    );
    check(
        json!({"kind": "drop", "probability": 1.5}),
        "`faults[1].probability`: expected a number from 0 to 1, found 1.5",
    );
    check(
        json!({"kind": "latency", "ms": 9, "max_ms": 5}),
        "`faults[1].max_ms`: expected at least `ms`, 9, found 5",
    );
    check(
        json!({"kind": "timeout", "ms": 900_000}),
        "`faults[1].ms`: expected at most 120000 milliseconds, found 900000",
    );
    check(
        json!({"kind": "drop", "from": 5, "until": 3}),
        "`faults[1].until`: expected more than `from`, 5, found 3",
    );
    check(
        json!({"kind": "rename", "rename": {"name": "title", "label": "title"}}),
        "`faults[1].rename`: expected a different name for each member, found `title` twice",
    );
    check(
        json!({"kind": "rename"}),
        "`faults[1].rename`: expected names of members and the names they get, found nothing",
    );
}
