//! Outcomes: refusals with their reasons, and goals that end with `done`.

use diorama_seeds::task::{Outcome, RefusalClass};
use serde_json::{Value as Json, json};

use super::{Episode, verdict};

const TAKEN: &str = r#"Book {"dentist_id": 11, "patient": "Tom Reis", "starts_at": "2026-03-05T14:30"}"#;

/// A refusal for a reason, after these calls.
fn refused<'a>(calls: &'a [&'a str], reason: RefusalClass) -> Episode<'a> {
    Episode { calls, outcome: Some(Outcome::Refused), reason: Some(reason), ..Episode::default() }
}

#[test]
fn a_refusal_needs_its_reason_and_the_reply_it_rests_on() {
    let variants = json!([{
        "outcome": "refused", "refusal": ["conflict"],
        "evidence": [{"kind": "refused", "api": "Book", "status": 409}]
    }]);
    let check = |episode: Episode<'_>, expect: &str| assert_eq!(verdict(&variants, episode), expect);
    let right = refused(&[TAKEN], RefusalClass::Conflict);
    check(right.clone(), "ok");
    check(refused(&[], RefusalClass::Conflict), "no_evidence no_api_call");
    check(Episode { outcome: Some(Outcome::Done), ..right.clone() }, "wrong_outcome has_exception");
    check(Episode { outcome: None, ..right.clone() }, "wrong_outcome has_exception");
    check(Episode { reason: None, ..right }, "wrong_outcome has_exception");
    check(refused(&[TAKEN], RefusalClass::NotFound), "wrong_outcome has_exception");
    let other = r#"Book {"dentist_id": 12, "patient": "Tom Reis", "starts_at": "2026-03-05T14:30"}"#;
    check(refused(&[TAKEN, other], RefusalClass::Conflict), "collateral_damage has_exception");
}

#[test]
fn an_absence_is_shown_by_all_pages_and_by_a_part_of_the_name() {
    let variants: Json = json!([{
        "outcome": "refused", "refusal": ["not_found"],
        "evidence": [{"kind": "refused", "api": "FindDentist", "status": 404,
            "arguments": {"name": "Dr. Iris Vale"}}]
    }]);
    let check = |calls: &[&str]| {
        verdict(&variants, Episode { about: Some("Dr. Iris Vale"), ..refused(calls, RefusalClass::NotFound) })
    };
    let by = |specialty: &str| format!(r#"ListDentists {{"specialty": "{specialty}"}}"#);
    assert_eq!(check(&[&by("orthodontics"), &by("surgery")]), "ok");
    assert_eq!(check(&[&by("orthodontics")]), "no_evidence");
}

#[test]
fn what_no_tool_does_is_declined_without_a_call() {
    let variants = json!([{"outcome": "refused", "refusal": ["no_tool"]}]);
    assert_eq!(verdict(&variants, refused(&[], RefusalClass::NoTool)), "ok");
    assert_ne!(verdict(&variants, refused(&[], RefusalClass::Forbidden)), "ok");
    assert_ne!(verdict(&variants, Episode::default()), "ok");
}

#[test]
fn the_cheapest_is_known_from_what_it_was_compared_with() {
    let variants = json!([{"outcome": "done", "answer": [{
        "about": "fee", "fact": {"kind": "money", "minor": 8000, "scale": 2, "currency": "EUR"},
        "evidence": [{"kind": "all", "of": [
            {"kind": "leaf", "resource": "dentist", "key": "11", "field": "fee"},
            {"kind": "first", "api": "ListDentists", "arguments": {}, "array": "dentists", "by": "fee", "greatest": false,
                "resource": "dentist", "key": "11"}
        ]}]
    }]}]);
    let check = |calls: &[&str]| {
        verdict(&variants, Episode { calls, facts: json!({"fee": 80}), ..Episode::default() })
    };
    let list = |specialty: &str| format!(r#"ListDentists {{"specialty": "{specialty}"}}"#);
    let (orthodontics, surgery) = (list("orthodontics"), list("surgery"));
    assert_eq!(check(&["ListDentists {}"]), "ok");
    assert_eq!(check(&[&orthodontics, &surgery]), "ok");
    // The call shows only the winner, or only some of the others.
    assert_eq!(check(&[r#"FindDentist {"name": "Dr. Ana Silva"}"#]), "no_evidence");
    assert_eq!(check(&[&orthodontics]), "no_evidence");
}

#[test]
fn that_no_tool_exists_is_known_from_a_search_where_tools_are_searched_for() {
    let variants = json!([{
        "outcome": "refused", "refusal": ["no_tool"],
        "evidence": [{"kind": "searched", "tools": ["ListDentists"]}]
    }]);
    let search = r#"ToolSearcher {"keywords": "list dentists"}"#;
    assert_eq!(verdict(&variants, refused(&[search], RefusalClass::NoTool)), "ok");
    assert_eq!(verdict(&variants, refused(&[], RefusalClass::NoTool)), "no_evidence no_api_call");
    // A search with other keywords may show other tools of the domain. Checks without a domain do not accept
    // it.
    let other = r#"ToolSearcher {"keywords": "book appointment"}"#;
    let checks = |domains: Json| {
        json!([{"outcome": "refused", "refusal": ["no_tool"],
            "evidence": [{"kind": "searched", "tools": ["NoLonger"], "domains": domains}]}])
    };
    assert_eq!(verdict(&checks(json!([])), refused(&[other], RefusalClass::NoTool)), "no_evidence");
    assert_eq!(verdict(&checks(json!(["clinic"])), refused(&[other], RefusalClass::NoTool)), "ok");
}
