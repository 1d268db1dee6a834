//! Measures the cost of grading an episode and of preparing checks.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test or bench may end this way"
)]

use std::fmt::Write as _;
use std::sync::Arc;

use diorama_engine::Base;
use diorama_engine::session::{LogEntry, Session, SessionOptions};
use diorama_grade::{Attempt, GoalEnd, PreparedChecks};
use diorama_seeds::task::{Call, Checks, Outcome};
use serde_json::json;

fn main() {
    divan::main();
}

const FIRST: &[&str] = &[
    "Ana", "Rui", "Marta", "João", "Inês", "Carlos", "Sofia", "Pedro", "Lena", "Tom", "Eva", "Noa", "Yuki",
    "Zoë", "Liam",
];
const LAST: &[&str] = &[
    "Silva", "Costa", "Lopes", "Pinto", "Rocha", "Mendes", "Nunes", "Berg", "Tanaka", "Müller", "O'Neill",
    "Dias", "Reis", "Holm", "Abara", "Ferrer", "Park", "Eze", "Diallo", "Larsen",
];

/// A clinic with 300 dentists.
fn clinic() -> Arc<Base> {
    let mut text = String::from(
        "world: 1\nname: clinic\nclock: 2026-03-02T09:00\nmaterialised: 1\n\
         domain: {name: clinic, title: Clinic, description: A clinic., sector: health}\n\
         resources:\n  dentist:\n    key: dentist_id\n    display: name\n    fields:\n      dentist_id: {type: integer}\n      \
         name: {type: string}\n      fee: {type: decimal, scale: 2, currency: EUR}\n      next: {type: date-time}\n      booked: {type: integer}\n    records:\n",
    );
    for (number, first) in (0..300).map(|number| (number, FIRST[number % FIRST.len()])) {
        let last = LAST[number / FIRST.len()];
        let _ = writeln!(
            text,
            "      - {{dentist_id: {number}, name: \"Dr. {first} {last}\", fee: 80, next: \"2026-03-05T14:30\", booked: 3}}"
        );
    }
    text.push_str(
        "apis:\n  - {name: Find, method: GET, path: /find, description: Finds a dentist., parameters: {name: {like: dentist.name}}, behaviour: {lookup: dentist, by: {name: name}}}\n",
    );
    let (_, world) = diorama_seeds::world::load("clinic.yaml", text.as_bytes()).unwrap();
    Base::new(world).unwrap()
}

fn checks() -> Checks {
    let leaf = |field: &str| json!([{"kind": "leaf", "resource": "dentist", "key": "0", "field": field}]);
    serde_json::from_value(json!({"version": 3, "goals": [{
        "outcome": "done",
        "answer": [
            {"about": "cheaper dentist", "fact": {"kind": "entity", "value": "Dr. Ana Silva", "of": ["dentist", "name"]}, "evidence": leaf("name")},
            {"about": "fee of the dentist", "fact": {"kind": "money", "minor": 8000, "scale": 2, "currency": "EUR"}, "evidence": leaf("fee")},
            {"about": "next appointment", "fact": {"kind": "date_time", "value": "2026-03-05T14:30:00Z"}, "evidence": leaf("next")},
            {"about": "number of booked appointments", "fact": {"kind": "count", "value": 3}, "evidence": leaf("booked")},
        ],
    }]}))
    .unwrap()
}

fn episode(base: &Arc<Base>) -> (Session, Vec<Arc<LogEntry>>) {
    let mut session = Session::new(Arc::clone(base), SessionOptions::default());
    let arguments = json!({"name": "Dr. Ana Silva"});
    session.call(&Call { api: "Find".to_owned(), arguments: arguments.as_object().unwrap().clone() });
    let log = session.log().collect();
    (session, log)
}

#[divan::bench]
fn grade_prepared(bencher: divan::Bencher<'_, '_>) {
    let base = clinic();
    let prepared = PreparedChecks::new(&checks(), &base).unwrap();
    let (session, log) = episode(&base);
    let facts = json!({
        "cheaper_dentist": "Dr. Ana Silva", "fee_of_the_dentist": 80, "next_appointment": "2026-03-05T14:30",
        "number_of_booked_appointments": 3,
    });
    let (outcome, facts) = (Some(Outcome::Done), facts.as_object());
    let attempt = Attempt {
        base: &base,
        initial: session.initial(),
        last: session.state(),
        log: &log,
        goals: &[GoalEnd { outcome, facts, calls: log.len(), ..GoalEnd::default() }],
    };
    let grade = prepared.grade(&attempt);
    assert!(grade.success, "{grade:?}");
    bencher.bench(|| prepared.grade(divan::black_box(&attempt)));
}

#[divan::bench]
fn prepare(bencher: divan::Bencher<'_, '_>) {
    let base = clinic();
    let checks = checks();
    bencher.bench(|| PreparedChecks::new(divan::black_box(&checks), &base).unwrap());
}
