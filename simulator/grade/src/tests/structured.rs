//! Structured endings: typed comparison, and the subject of a refusal.

use diorama_seeds::task::{Checks, Evidence, Fact, GoalCheck};
use serde_json::{Value as Json, json};

use super::clinic;
use crate::about::Subjects;
use crate::structured::{AskedFact, states, strip_name};
use crate::text;

fn holds(fact: Json, given: Json) -> bool {
    let fact: Fact = serde_json::from_value(fact).unwrap();
    states(&fact, &given, "state of the case", clinic().world())
}

#[test]
fn facts_are_compared_by_type() {
    let number = |value: f64| json!({"kind": "number", "value": value});
    let cases = [
        (number(12.0), json!(12), true),
        (number(12.0), json!(12.0), true),
        (number(12.0), json!(13), false),
        (number(12.0), json!("12"), false),
        (number(96.666_666_7), json!(96.67), true),
        (number(96.666_666_7), json!(96.66), false),
        // Rounding to whole numbers hides too much.
        (number(96.666_666_7), json!(97), false),
        (number(-68.9), json!(68.9), false),
        (json!({"kind": "number", "value": -68.9, "magnitude": true}), json!(68.9), true),
        (json!({"kind": "number", "value": -68.9, "magnitude": true}), json!(-68.9), true),
        (json!({"kind": "number", "value": -68.9, "magnitude": true}), json!(68.8), false),
        (
            json!({"kind": "money", "minor": -5835, "scale": 2, "currency": "GBP", "magnitude": true}),
            json!(58.35),
            true,
        ),
        (json!({"kind": "money", "minor": -5835, "scale": 2, "currency": "GBP"}), json!(58.35), false),
        (json!({"kind": "money", "minor": 1160, "scale": 2, "currency": "EUR"}), json!(11.6), true),
        (json!({"kind": "money", "minor": 1160, "scale": 2, "currency": "EUR"}), json!(11.61), false),
        (json!({"kind": "count", "value": 2}), json!(2), true),
        (json!({"kind": "count", "value": 2}), json!(3), false),
        (json!({"kind": "date", "value": "2026-09-16"}), json!("2026-09-16"), true),
        (json!({"kind": "date", "value": "2026-09-16"}), json!("2026-09-18"), false),
        (json!({"kind": "date", "value": "2026-09-16"}), json!("16 September"), false),
        (json!({"kind": "time", "value": "09:00:00"}), json!("9:00"), true),
        (json!({"kind": "time", "value": "09:00:00"}), json!("21:00"), false),
        (json!({"kind": "date_time", "value": "2026-09-16T09:00:00+01:00"}), json!("2026-09-16T09:00"), true),
        (
            json!({"kind": "date_time", "value": "2026-09-16T09:00:00+01:00"}),
            json!("2026-09-16T08:00:00Z"),
            true,
        ),
        (
            json!({"kind": "date_time", "value": "2026-09-16T09:00:00+01:00"}),
            json!("2026-09-16T10:00"),
            false,
        ),
        (
            json!({"kind": "entity", "value": "under_way", "aliases": ["in progress"]}),
            json!("Under way"),
            true,
        ),
        (
            json!({"kind": "entity", "value": "under_way", "aliases": ["in progress"]}),
            json!("in progress"),
            true,
        ),
        (json!({"kind": "entity", "value": "Dr. Uroš Pavlović"}), json!("Dr. Uros Pavlovic"), true),
        (json!({"kind": "entity", "value": "orthodontics"}), json!("orthodontics or surgery"), false),
        (json!({"kind": "boolean", "value": true}), json!(true), true),
        (json!({"kind": "boolean", "value": true}), json!("yes"), false),
    ];
    for (fact, given, expected) in cases {
        assert_eq!(holds(fact.clone(), given.clone()), expected, "{fact} {given}");
    }
}

#[test]
fn lists_hold_each_item_as_often_as_it_is_there() {
    let names = |names: &[&str]| {
        let items: Vec<Json> = names.iter().map(|name| json!({"kind": "entity", "value": name})).collect();
        json!({"kind": "list", "items": items})
    };
    assert!(holds(names(&["a1", "b2"]), json!(["b2", "a1"])));
    assert!(!holds(names(&["a1", "b2"]), json!(["a1", "a1"])));
    assert!(!holds(names(&["a1", "b2"]), json!(["a1", "b2", "c3"])));
    assert!(!holds(names(&["a1", "b2"]), json!("a1, b2")));
    assert!(holds(names(&["a1", "a1", "b2"]), json!(["b2", "a1", "a1"])));
    assert!(!holds(names(&["a1", "a1", "b2"]), json!(["b2", "a1"])));
    assert!(!holds(names(&["a1", "a1", "b2"]), json!(["a1", "b2", "b2"])));
}

/// Parses the answer checks of a goal that ends with `done`.
fn asked(answer: Json) -> GoalCheck {
    serde_json::from_value(json!({"outcome": "done", "answer": answer})).unwrap()
}

fn value(about: &str, number: f64, names: &[&str]) -> Json {
    json!({"about": about, "fact": {"kind": "number", "value": number}, "items": [names],
        "evidence": [{"kind": "empty", "api": "List"}]})
}

#[test]
fn values_of_several_items_are_one_fact() {
    let given = |goal: &GoalCheck, given: Json| {
        let [fact] = AskedFact::of_goal(goal, &clinic()).try_into().unwrap();
        let wanted: Vec<Fact> = fact.items.iter().map(|item| item.fact.clone()).collect();
        fact.is_given(&wanted, &given, clinic().world())
    };
    let stock = asked(json!([
        value("stock of the part", 8.0, &["Air filter", "P-1"]),
        value("stock of the part", 3.0, &["Oil filter", "P-2"]),
    ]));
    assert!(given(&stock, json!({"air filter": 8, "oil filter": 3})));
    assert!(given(&stock, json!({"P-2": 3, "the air filter (P-1)": 8})));
    assert!(given(&stock, json!({"oil": 3, "air": 8})));
    for wrong in [
        json!({"air filter": 3, "oil filter": 8}),
        json!({"air filter": 8}),
        json!({"air filter": 8, "oil filter": 3, "fan": 1}),
        json!({"air filter": 8, "P-1": 8}),
        // The key matches the names of two items, so it names none.
        json!({"filter": 8, "oil filter": 3}),
        json!([8, 3]),
        json!(8),
    ] {
        assert!(!given(&stock, wrong.clone()), "{wrong}");
    }
    let unnamed = asked(json!([value("mean minutes", 55.0, &[]), value("mean minutes", 98.0, &["Rome"])]));
    assert!(given(&unnamed, json!([98, 55])) && !given(&unnamed, json!([98, 98])));
    // The schema does not reveal the number of items.
    let schema = |goal: GoalCheck| {
        let checks = Checks { goals: vec![goal], ..Checks::default() };
        diorama_seeds::ending::schema(&checks, 0)["properties"]["facts"]["properties"].clone()
    };
    let one = asked(json!([value("stock of the part", 8.0, &["Air filter", "P-1"])]));
    assert_eq!(schema(one), schema(stock.clone()));
    assert_eq!(
        schema(stock),
        json!({"stock_of_the_part": {
            "type": "object",
            "additionalProperties": {"type": "number"},
            "description": "stock of the part, one for each that is asked about, under the item's own name or id",
        }})
    );
}

/// The own id and name of a record always name its value, whatever other names the check lists.
#[test]
fn an_item_is_always_named_by_its_own_name_and_id() {
    let fee = |key: &str, minor: i64, names: &[&str]| {
        json!({"about": "fee of the dentist", "items": [names],
            "fact": {"kind": "money", "minor": minor, "scale": 2, "currency": "EUR"},
            "evidence": [{"kind": "leaf", "resource": "dentist", "key": key, "field": "fee"}]})
    };
    let goal = asked(json!([fee("11", 8000, &["first floor"]), fee("12", 6000, &["second floor"])]));
    let [fact] = AskedFact::of_goal(&goal, &clinic()).try_into().unwrap();
    let wanted: Vec<Fact> = fact.items.iter().map(|item| item.fact.clone()).collect();
    let given = |given: Json| fact.is_given(&wanted, &given, clinic().world());
    assert!(given(json!({"Ana Silva": 80, "12": 60})));
    assert!(given(json!({"first floor": 80, "second floor": 60})));
    assert!(!given(json!({"Ana Silva": 60, "12": 80})));
}

#[test]
fn a_value_may_have_the_name_of_its_item_beside_it() {
    let names = ["P-7453", "flush kit"].map(text::normalise_name);
    let rest = |given: &str| strip_name(&json!(given), &names).map(|rest| rest.as_str().unwrap().to_owned());
    assert_eq!(rest("flush kit (P-7453)").as_deref(), Some("flush kit"));
    assert_eq!(rest("P-7453: flush kit").as_deref(), Some("flush kit"));
    assert_eq!(rest("flush kit").as_deref(), None);
    assert_eq!(rest("water hose"), None);
}

#[test]
fn a_refusal_is_about_what_was_asked_for() {
    let evidence: Vec<Evidence> = serde_json::from_value(json!([{
        "kind": "refused", "api": "Book", "status": 422,
        "arguments": {"dentist_id": 11, "patient": "Élio Dupond", "starts_at": "2026-03-10T09:00"},
    }]))
    .unwrap();
    let subjects = Subjects::collect(&evidence, &clinic());
    for right in
        ["11", "dentist 11", "Elio Dupond", "the patient Élio Dupond", "Ana Silva", "starts at", "10 March"]
    {
        assert!(subjects.are_named_in(right), "{right}");
    }
    for wrong in ["110", "the", "", "not 11", "not Elio Dupond", "Elio", "Elio Dupond or Rui Costa"] {
        assert!(!subjects.are_named_in(wrong), "{wrong}");
    }
    // Words beyond the subject are refused.
    assert!(!subjects.are_named_in("what you told me of your trip to Rome with the dentist 11"));
    assert!(!subjects.are_named_in(&"dentist 11 ".repeat(20)));
}
