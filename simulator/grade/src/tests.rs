//! Grades of whole episodes in a small clinic: calls are executed, never made up.

use std::sync::{Arc, LazyLock};

use diorama_seeds::task::{Checks, Outcome};
use serde_json::{Value as Json, json};

use self::shared::{base, call};
use super::{Attempt, CheckError, Ended, Grade, Prepared, Verdict, Vocabulary, grade};
use diorama_engine::Base;
use diorama_engine::session::{Session, SessionOptions};

mod changes;
mod goals;
mod mentions;
mod outcomes;
#[path = "../../engine/src/tests/shared.rs"]
mod shared;
mod structured;
mod texts;
mod told;

const BOOK: &str = r#"Book {"dentist_id": 12, "patient": "Eva Dias", "starts_at": "2026-03-10T09:00"}"#;

/// The change that `BOOK` makes.
fn booking() -> Json {
    json!([{
        "outcome": "done",
        "changes": [{
            "resource": "appointment", "kind": "created", "key": {"new": 0},
            "fields": {
                "dentist_id": {"equals": 12}, "patient": {"equals": "Eva Dias"},
                "starts_at": {"equals": "2026-03-10T09:00:00+00:00"}, "status": {"equals": "booked"},
                "note": "absent", "follows": "absent"
            }
        }]
    }])
}

fn clinic() -> Arc<Base> {
    static CLINIC: LazyLock<Arc<Base>> = LazyLock::new(|| base(include_str!("tests/clinic.yaml")));
    Arc::clone(&CLINIC)
}

fn checks(variants: &Json) -> Checks {
    let mut checks: Checks = serde_json::from_value(json!({"version": 1, "variants": variants})).unwrap();
    checks.name_arguments(&[]);
    checks
}

/// An episode of the clinic.
#[derive(Clone, Copy, Default)]
struct Episode<'a> {
    calls: &'a [&'a str],
    answer: &'a str,
    outcome: Option<Outcome>,
    user: &'a str,
}

/// Runs the calls; `$n` in a later call is the key of the record that call `n` (from 0) created.
fn run(checks: &Checks, episode: Episode<'_>) -> Result<Grade, CheckError> {
    let base = clinic();
    let mut session = Session::new(Arc::clone(&base), SessionOptions::default());
    let mut keys: Vec<String> = Vec::new();
    for line in episode.calls {
        let mut line = (*line).to_owned();
        for (number, key) in keys.iter().enumerate() {
            line = line.replace(&format!("${number}"), key);
        }
        let entry = session.call(&call(&line));
        let key = entry
            .reply
            .body
            .at("appointment_id")
            .and_then(|body| body.value())
            .map(|key| key.to_text(&base.world().zone));
        keys.push(key.unwrap_or_default());
    }
    let log: Vec<_> = session.log().collect();
    let user = [episode.user.to_owned()];
    let ended = [Ended {
        outcome: episode.outcome,
        answer: episode.answer,
        user_turns: &user,
        calls: log.len(),
        ..Ended::default()
    }];
    let attempt =
        Attempt { base: &base, initial: session.initial(), last: session.state(), log: &log, goals: &ended };
    let graded = grade(checks, &attempt)?;
    // With shared names nothing may differ.
    let shared = Prepared::with(checks, &base, &Vocabulary::new(&base))?;
    assert_eq!(shared.grade(&attempt), graded);
    assert_eq!(shared.grade(&attempt), graded, "a second grade differs");
    assert_eq!(shared.passes(&attempt), graded.success, "the short verdict differs");
    Ok(graded)
}

/// `ok`, or the classes of the errors in the order of their reports.
fn verdict(variants: &Json, episode: Episode<'_>) -> String {
    let grade = run(&checks(variants), episode).unwrap();
    assert_eq!(grade.reward, f64::from(u8::from(grade.success)));
    assert_eq!(grade.success, grade.errors.is_empty());
    if grade.success {
        return "ok".to_owned();
    }
    let mut classes: Vec<String> = grade
        .errors
        .iter()
        .map(|error| serde_json::to_value(error.class).unwrap().as_str().unwrap().to_owned())
        .collect();
    classes.dedup();
    classes.join(" ")
}

fn fee_of_ana() -> Json {
    json!([{
        "outcome": "done",
        "answer": [{
            "about": "fee of Ana Silva",
            "fact": {"kind": "money", "minor": 8000, "scale": 2, "currency": "EUR"},
            "evidence": [{"kind": "leaf", "resource": "dentist", "key": "11", "field": "fee"}]
        }],
        "context": [{"kind": "entity", "value": "Dr. Ana Silva", "of": ["dentist", "name"]}]
    }])
}

const FIND_ANA: &str = r#"FindDentist {"name": "Dr. Ana Silva"}"#;

#[test]
fn a_fact_counts_only_with_a_reply_that_holds_it() {
    let answer = "Dr. Ana Silva charges €80.";
    let check = |calls: &[&str], answer: &str, expect: &str| {
        let user = "What does Dr. Ana Silva charge?";
        assert_eq!(
            verdict(&fee_of_ana(), Episode { calls, answer, user, outcome: None }),
            expect,
            "{calls:?} {answer}"
        );
    };
    check(&[FIND_ANA], answer, "ok");
    check(&[r#"ListDentists {"specialty": "orthodontics"}"#], answer, "ok");
    check(&[], answer, "false_claim no_evidence no_api_call");
    check(&[r#"ListDentists {"specialty": "surgery"}"#], answer, "false_claim no_evidence");
    check(&[r#"FindDentist {"name": "Ana"}"#], answer, "false_claim no_evidence has_exception");
    check(&[r#"FindDentists {"name": "Ana"}"#], answer, "false_claim no_evidence api_hallucination");
    check(&["FindDentist"], answer, "false_claim no_evidence miss_input_parameters");
    check(&[FIND_ANA], "Dr. Ana Silva charges €95.", "missing_fact false_claim");
    check(&[FIND_ANA], "You asked what Dr. Ana Silva charges.", "missing_fact");
    check(&[FIND_ANA], "", "missing_fact");
    check(&[FIND_ANA, r#"Remove {"appointment_id": "APT-0003"}"#], answer, "collateral_damage");
}

#[test]
fn a_value_is_said_of_the_record_that_has_it() {
    let check = |answer: &str, expect: &str| {
        let calls = [r#"ListDentists {"specialty": "orthodontics"}"#];
        let episode =
            Episode { calls: &calls, answer, user: "What does Dr. Ana Silva charge?", outcome: None };
        assert_eq!(verdict(&fee_of_ana(), episode), expect, "{answer}");
    };
    check("Dr. Ana Silva charges €80, Dr. Rui Costa €95.", "ok");
    check("It's €95 with Dr. Rui Costa and €80 with Dr. Ana Silva.", "ok");
    check("Dr. Rui Costa charges €80, Dr. Ana Silva €95.", "false_claim");
    check("It's €80 with Dr. Rui Costa and €95 with Dr. Ana Silva.", "false_claim");
}

#[test]
fn saying_that_it_is_done_states_no_status() {
    let status = json!([{
        "outcome": "done",
        "answer": [{
            "about": "status of the appointment",
            "fact": {"kind": "entity", "value": "booked", "of": ["appointment", "status"]},
            "evidence": [{"kind": "leaf", "resource": "appointment", "key": "APT-0001", "field": "status"}]
        }],
        "context": []
    }]);
    let check = |answer: &str, expect: &str| {
        let calls = &[r#"ListAppointments {"patient": "Eva Dias"}"#];
        let user = "What is the status of APT-0001? Please look it up.";
        assert_eq!(verdict(&status, Episode { calls, answer, user, outcome: None }), expect, "{answer}");
    };
    check("The status of APT-0001 is booked.", "ok");
    check("The status of APT-0001 is booked. Completed!", "ok");
    check("It is completed as you asked. The status of APT-0001 is booked.", "ok");
    check("Everything's completed, all done. It is booked.", "ok");
    check("It is completed.", "missing_fact");
    check("The status of APT-0001 is completed.", "missing_fact false_claim");
}

#[test]
fn what_was_not_asked_for_is_not_evaluated() {
    let checks = checks(&fee_of_ana());
    let graded = run(&checks, Episode { calls: &[FIND_ANA], answer: "€80", ..Episode::default() }).unwrap();
    assert_eq!(graded.components.change, Verdict::NotEvaluated);
    assert_eq!(graded.components.damage, Verdict::Passed);
    assert_eq!(graded.components.answer, Verdict::Passed);
    assert_eq!(graded.components.evidence, Verdict::Passed);
    assert_eq!(graded.components.outcome, Verdict::Passed);
    let text = serde_json::to_string(&graded).unwrap();
    assert_eq!(serde_json::from_str::<Grade>(&text).unwrap(), graded);
}

#[test]
fn computed_values_and_empty_replies_are_evidence() {
    let total = json!([{
        "outcome": "done",
        "answer": [{
            "about": "total of Ana Silva",
            "fact": {"kind": "money", "minor": 16000, "scale": 2, "currency": "EUR"},
            "evidence": [{"kind": "computed", "api": "Total", "path": "total", "value": "160"}]
        }]
    }]);
    let check = |variants: &Json, calls: &[&str], answer: &str| {
        verdict(variants, Episode { calls, answer, ..Episode::default() })
    };
    assert_eq!(check(&total, &[r#"Total {"dentist_id": 11}"#], "They bring in 160 euros."), "ok");
    assert_eq!(
        check(&total, &[r#"Total {"dentist_id": 12}"#], "They bring in 160 euros."),
        "false_claim no_evidence"
    );
    let none = json!([{
        "outcome": "done",
        "answer": [{
            "about": "number of completed appointments",
            "fact": {"kind": "count", "value": 0},
            "evidence": [{"kind": "empty", "api": "ListAppointments"}]
        }]
    }]);
    assert_eq!(
        check(
            &none,
            &[r#"ListAppointments {"status": "completed"}"#],
            "There are no completed appointments."
        ),
        "ok"
    );
    assert_eq!(
        check(&none, &[r#"ListAppointments {"status": "booked"}"#], "There are no completed appointments."),
        "no_evidence"
    );
}

#[test]
fn checks_that_pass_anything_are_refused() {
    let refused = |variants: Json| run(&checks(&variants), Episode::default()).unwrap_err();
    assert_eq!(refused(json!([{"goals": []}])), CheckError::NoGoal);
    assert_eq!(refused(json!([{"outcome": "done"}])), CheckError::PassesAnything);
    assert_eq!(
        refused(json!([{"outcome": "refused", "refusal": ["not_found"]}])),
        CheckError::PassesAnything
    );
    let unevidenced = json!([{"outcome": "done", "answer": [{"about": "fee", "fact": {"kind": "count", "value": 1}, "evidence": []}]}]);
    assert_eq!(refused(unevidenced), CheckError::Unevidenced("fee".to_owned()));
    let hollow = json!([{"outcome": "refused", "evidence": [{"kind": "all", "of": []}]}]);
    assert!(matches!(refused(hollow), CheckError::Evidence(_)));
    let unknown =
        json!([{"outcome": "done", "changes": [{"resource": "dog", "kind": "deleted", "key": {"key": 1}}]}]);
    assert!(matches!(refused(unknown), CheckError::Change(_)));
    let day = json!([{"outcome": "done", "answer": [{"about": "day", "fact": {"kind": "date", "value": "2026-02-30"}, "evidence": [{"kind": "empty", "api": "ListAppointments"}]}]}]);
    assert!(matches!(refused(day), CheckError::Fact(_)));
    let other = Checks { version: 4, ..Checks::default() };
    assert!(matches!(run(&other, Episode::default()).unwrap_err(), CheckError::Version { found: 4, .. }));
    let late = json!([{"goals": [{"outcome": "done"}], "changes": [
        {"resource": "appointment", "kind": "deleted", "key": {"key": "APT-0001"}, "goal": 1}]}]);
    assert_eq!(refused(late), CheckError::Goal { found: 1, goals: 1 });
}
