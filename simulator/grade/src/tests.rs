//! Grades whole episodes in a small clinic. The engine executes every call.

use std::sync::{Arc, LazyLock};

use diorama_seeds::task::{Checks, Outcome, RefusalClass};
use serde_json::{Value as Json, json};

use self::shared::{base, call};
use super::{Attempt, CheckError, GoalEnd, Grade, PreparedChecks, Verdict, grade};
use crate::evidence::Verdicts;
use diorama_engine::Base;
use diorama_engine::session::{Session, SessionOptions};

mod changes;
mod goals;
mod outcomes;
#[path = "../../engine/src/tests/shared.rs"]
pub(crate) mod shared;
mod structured;

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

pub(crate) fn clinic() -> Arc<Base> {
    static CLINIC: LazyLock<Arc<Base>> = LazyLock::new(|| base(include_str!("tests/clinic.yaml")));
    Arc::clone(&CLINIC)
}

fn checks(variants: &Json) -> Checks {
    let mut checks: Checks = serde_json::from_value(json!({"version": 1, "variants": variants})).unwrap();
    checks.name_arguments(&[]);
    checks
}

/// An episode in the clinic. By default it ends with `done`.
#[derive(Clone)]
struct Episode<'a> {
    calls: &'a [&'a str],
    outcome: Option<Outcome>,
    reason: Option<RefusalClass>,
    about: Option<&'a str>,
    facts: Json,
}

impl Default for Episode<'_> {
    fn default() -> Self {
        Self { calls: &[], outcome: Some(Outcome::Done), reason: None, about: None, facts: json!({}) }
    }
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
    let Episode { outcome, reason, about, ref facts, .. } = episode;
    let facts = facts.as_object();
    let ended = [GoalEnd { outcome, reason, about, facts, calls: log.len(), ..GoalEnd::default() }];
    let attempt =
        Attempt { base: &base, initial: session.initial(), last: session.state(), log: &log, goals: &ended };
    let graded = grade(checks, &attempt)?;
    let prepared = PreparedChecks::new(checks, &base)?;
    assert_eq!(prepared.grade(&attempt), graded, "a second grade differs");
    assert_eq!(prepared.passes(&attempt, &Verdicts::default()), graded.success, "the short verdict differs");
    Ok(graded)
}

/// Returns `ok`, or the classes of the errors in the order of the report.
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
        }]
    }])
}

const FIND_ANA: &str = r#"FindDentist {"name": "Dr. Ana Silva"}"#;

#[test]
fn a_fact_counts_only_with_a_reply_that_holds_it() {
    let right = json!({"fee_of_ana_silva": 80});
    let check = |calls: &[&str], facts: &Json, expect: &str| {
        let episode = Episode { calls, facts: facts.clone(), ..Episode::default() };
        assert_eq!(verdict(&fee_of_ana(), episode), expect, "{calls:?} {facts}");
    };
    check(&[FIND_ANA], &right, "ok");
    check(&[r#"ListDentists {"specialty": "orthodontics"}"#], &right, "ok");
    check(&[], &right, "no_evidence no_api_call");
    check(&[r#"ListDentists {"specialty": "surgery"}"#], &right, "no_evidence");
    check(&[r#"FindDentist {"name": "Ana"}"#], &right, "no_evidence has_exception");
    check(&[r#"FindDentists {"name": "Ana"}"#], &right, "no_evidence api_hallucination");
    check(&["FindDentist"], &right, "no_evidence miss_input_parameters");
    check(&[FIND_ANA], &json!({"fee_of_ana_silva": 95}), "contradiction");
    check(&[FIND_ANA], &json!({}), "missing_fact");
    check(&[FIND_ANA, r#"Remove {"appointment_id": "APT-0003"}"#], &right, "collateral_damage");
}

#[test]
fn what_was_not_asked_for_is_not_evaluated() {
    let checks = checks(&fee_of_ana());
    let facts = json!({"fee_of_ana_silva": 80});
    let graded = run(&checks, Episode { calls: &[FIND_ANA], facts, ..Episode::default() }).unwrap();
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
    let check = |variants: &Json, call: &str, facts: Json| {
        verdict(variants, Episode { calls: &[call], facts, ..Episode::default() })
    };
    let sum = json!({"total_of_ana_silva": 160});
    assert_eq!(check(&total, r#"Total {"dentist_id": 11}"#, sum.clone()), "ok");
    assert_eq!(check(&total, r#"Total {"dentist_id": 12}"#, sum), "no_evidence");
    let none = json!([{
        "outcome": "done",
        "answer": [{
            "about": "number of completed appointments",
            "fact": {"kind": "count", "value": 0},
            "evidence": [{"kind": "empty", "api": "ListAppointments"}]
        }]
    }]);
    let zero = json!({"number_of_completed_appointments": 0});
    assert_eq!(check(&none, r#"ListAppointments {"status": "completed"}"#, zero.clone()), "ok");
    assert_eq!(check(&none, r#"ListAppointments {"status": "booked"}"#, zero), "no_evidence");
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
