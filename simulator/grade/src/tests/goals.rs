//! Conversations of several goals: each ends as it must, facts are said where they belong, and nothing is changed
//! before it was asked for.

use diorama_seeds::task::Checks;
use serde_json::{Value as Json, json};

use super::clinic;
use super::shared::call;
use crate::{Attempt, Ended, Verdict, grade};
use diorama_engine::session::{Session, SessionOptions};

const FIND: &str = r#"FindDentist {"name": "Dr. Rui Costa"}"#;
const CANCEL: &str = r#"Remove {"appointment_id": "APT-0001"}"#;

/// First the fee of a dentist, then an appointment goes.
fn checks() -> Checks {
    serde_json::from_value(json!({
        "version": 3,
        "goals": [
            {"outcome": "done", "answer": [{
                "about": "fee", "fact": {"kind": "money", "minor": 9500, "scale": 2, "currency": "EUR"},
                "evidence": [{"kind": "leaf", "resource": "dentist", "key": "12", "field": "fee"}]}]},
            {"outcome": "done"}
        ],
        "changes": [{"resource": "appointment", "kind": "deleted", "key": {"key": "APT-0001"}, "goal": 1}]
    }))
    .unwrap()
}

/// Grades goals, each with its calls and its last message.
fn classes(goals: &[(&[&str], &str)]) -> Vec<Json> {
    let base = clinic();
    let mut session = Session::new(base.clone(), SessionOptions::default());
    let user = ["What does Dr. Costa charge?".to_owned(), "Then cancel APT-0001.".to_owned()];
    let mut ended = Vec::new();
    for (calls, answer) in goals {
        calls.iter().for_each(|line| _ = session.call(&call(line)));
        ended.push(Ended { answer, user_turns: &user, calls: session.calls(), ..Ended::default() });
    }
    let log: Vec<_> = session.log().collect();
    let graded = grade(
        &checks(),
        &Attempt { base: &base, initial: session.initial(), last: session.state(), log: &log, goals: &ended },
    )
    .unwrap();
    assert_eq!(graded.goals.len(), 2);
    assert_eq!(graded.success, graded.errors.is_empty());
    if graded.success {
        assert_eq!(graded.goals[0].answer, Verdict::Passed);
    }
    graded.errors.iter().map(|error| json!(error.class)).collect()
}

#[test]
fn each_goal_is_judged_in_its_place() {
    let right = classes(&[(&[FIND], "Dr. Costa charges 95 EUR."), (&[CANCEL], "It is cancelled.")]);
    assert_eq!(right, Vec::<Json>::new());
    let swapped =
        classes(&[(&[FIND], "One moment."), (&[CANCEL], "Dr. Costa charges 95 EUR. It is cancelled.")]);
    assert_eq!(swapped, ["missing_fact"], "the fact must be said in its goal");
    let early = classes(&[(&[FIND, CANCEL], "Dr. Costa charges 95 EUR."), (&[], "It is cancelled.")]);
    assert_eq!(early, ["premature_change"], "nothing may be changed before it was asked for");
    let late = classes(&[(&[], "Dr. Costa charges 95 EUR."), (&[FIND, CANCEL], "It is cancelled.")]);
    assert_eq!(late, ["false_claim", "no_evidence"], "a guess is no answer, also when it is looked up later");
    let half = classes(&[(&[FIND], "Dr. Costa charges 95 EUR.")]);
    assert!(half.contains(&json!("missing_goal")) && half.contains(&json!("missing_change")), "{half:?}");
}

#[test]
fn checks_keep_their_format() {
    let text = serde_json::to_value(checks()).unwrap();
    assert_eq!(text["changes"][0]["goal"], 1);
    assert_eq!(text["goals"][1], json!({"outcome": "done"}));
}
