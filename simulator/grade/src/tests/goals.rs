//! Conversations of several goals. Each goal must end right, with its own facts, and without changes that a
//! later goal asks for.

use diorama_seeds::task::{Checks, Outcome};
use serde_json::{Value as Json, json};

use super::clinic;
use super::shared::call;
use crate::{Attempt, GoalEnd, PreparedChecks, Verdict, grade};
use diorama_engine::session::{Session, SessionOptions};

const FIND: &str = r#"FindDentist {"name": "Dr. Rui Costa"}"#;
const CANCEL: &str = r#"Remove {"appointment_id": "APT-0001"}"#;

/// The first goal asks for a dentist's fee, the second cancels an appointment.
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

/// Grades goals that end with `done`, each with its calls and the fee that it gives.
fn classes(goals: &[(&[&str], Option<u32>)]) -> Vec<Json> {
    let base = clinic();
    let mut session = Session::new(base.clone(), SessionOptions::default());
    let facts: Vec<Json> =
        goals.iter().map(|(_, fee)| fee.map_or(json!({}), |fee| json!({"fee": fee}))).collect();
    let mut ended = Vec::new();
    for ((calls, _), facts) in goals.iter().zip(&facts) {
        calls.iter().for_each(|line| _ = session.call(&call(line)));
        let outcome = Some(Outcome::Done);
        ended.push(GoalEnd {
            outcome,
            facts: facts.as_object(),
            calls: session.calls(),
            ..GoalEnd::default()
        });
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
    let right = classes(&[(&[FIND], Some(95)), (&[CANCEL], None)]);
    assert_eq!(right, Vec::<Json>::new());
    let swapped = classes(&[(&[FIND], None), (&[CANCEL], Some(95))]);
    assert_eq!(swapped, ["missing_fact"], "the fact must be given in its goal");
    let early = classes(&[(&[FIND, CANCEL], Some(95)), (&[], None)]);
    assert_eq!(
        early,
        ["missing_change", "premature_change"],
        "nothing may be changed before it was asked for"
    );
    let late = classes(&[(&[], Some(95)), (&[FIND, CANCEL], None)]);
    assert_eq!(late, ["no_evidence"], "a guess is no answer, also when it is looked up later");
    let half = classes(&[(&[FIND], Some(95))]);
    assert!(half.contains(&json!("missing_goal")) && half.contains(&json!("missing_change")), "{half:?}");
}

#[test]
fn doing_nothing_earns_nothing() {
    let base = clinic();
    let session = Session::new(base.clone(), SessionOptions::default());
    let attempt =
        |goals| Attempt { base: &base, initial: session.initial(), last: session.state(), log: &[], goals };
    let done = GoalEnd { outcome: Some(Outcome::Done), ..GoalEnd::default() };
    let idle = [[GoalEnd::default(), GoalEnd::default()], [done.clone(), done]];
    let ends: Vec<&[GoalEnd<'_>]> =
        [&[][..]].into_iter().chain(idle.iter().map(|goals| &goals[..])).collect();
    // The last goal asks for no change, fact or evidence.
    let mut hollow = checks();
    hollow.changes[0].goal = 0;
    for checks in [checks(), hollow] {
        for goals in &ends {
            let graded = grade(&checks, &attempt(goals)).unwrap();
            assert_eq!(graded.credited_goals(), [false, false], "{graded:?}");
        }
    }
}

/// A goal that the attempt does not reach fails, even if no goal asks for a change.
#[test]
fn goals_that_are_not_reached_fail() {
    let base = clinic();
    let session = Session::new(base.clone(), SessionOptions::default());
    let mut checks = checks();
    checks.changes.clear();
    checks.goals[1] = checks.goals[0].clone();
    let attempt =
        Attempt { base: &base, initial: session.initial(), last: session.state(), log: &[], goals: &[] };
    let graded = grade(&checks, &attempt).unwrap();
    assert_eq!(graded.goals.iter().map(|goal| goal.outcome).collect::<Vec<_>>(), [Verdict::Failed; 2]);
    assert_eq!(graded.credited_goals(), [false; 2]);
}

#[test]
fn progress_follows_the_changes() {
    let base = clinic();
    let mut session = Session::new(base.clone(), SessionOptions::default());
    for line in [FIND, CANCEL, r#"Remove {"appointment_id": "APT-0002"}"#] {
        session.call(&call(line));
    }
    let log: Vec<_> = session.log().collect();
    let goals = [1, 3].map(|calls| GoalEnd { calls, ..GoalEnd::default() });
    let attempt =
        Attempt { base: &base, initial: session.initial(), last: session.state(), log: &log, goals: &goals };
    let steps = PreparedChecks::new(&checks(), &base).unwrap().progress(&attempt, 200);
    let verdicts: Vec<_> = steps.iter().map(|step| (step.change, step.damage)).collect();
    let (passed, failed) = (Verdict::Passed, Verdict::Failed);
    assert_eq!(verdicts, [(failed, passed), (passed, passed), (passed, failed)]);
}

#[test]
fn checks_keep_their_format() {
    let text = serde_json::to_value(checks()).unwrap();
    assert_eq!(text["changes"][0]["goal"], 1);
    assert_eq!(text["goals"][1], json!({"outcome": "done"}));
}
