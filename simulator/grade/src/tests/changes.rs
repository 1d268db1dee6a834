//! Changes and collateral damage.

use serde_json::{Value as Json, json};

use super::{BOOK, Episode, booking, verdict};

fn check(variants: &Json, calls: &[&str], expect: &str) {
    assert_eq!(verdict(variants, Episode { calls, ..Episode::default() }), expect, "{calls:?}");
}

#[test]
fn a_new_record_is_compared_field_by_field() {
    check(&booking(), &[BOOK], "ok");
    check(&booking(), &["ListDentists", BOOK], "ok");
    check(
        &booking(),
        &[r#"Book {"dentist_id": 12, "patient": "Eva Dias", "starts_at": "2026-03-10T09:00:00Z"}"#],
        "ok",
    );
    check(&booking(), &[], "missing_change no_api_call");
}

#[test]
fn a_refused_call_beside_the_right_one_does_no_harm() {
    let taken = r#"Book {"dentist_id": 11, "patient": "Eva Dias", "starts_at": "2026-03-05T14:30"}"#;
    check(&booking(), &[taken, BOOK], "ok");
    // The API refuses the second call, since the time is taken.
    check(&booking(), &[BOOK, BOOK], "ok");
}

#[test]
fn wrong_values_and_further_records_fail() {
    check(
        &booking(),
        &[r#"Book {"dentist_id": 11, "patient": "Eva Dias", "starts_at": "2026-03-10T09:00"}"#],
        "wrong_value",
    );
    check(
        &booking(),
        &[r#"Book {"dentist_id": 12, "patient": "Eva Dias", "starts_at": "2026-03-10T09:00", "note": "hi"}"#],
        "wrong_value",
    );
    let second = r#"Book {"dentist_id": 12, "patient": "Eva Dias", "starts_at": "2026-03-11T09:00"}"#;
    check(&booking(), &[BOOK, second], "collateral_damage");
    check(&booking(), &[BOOK, r#"Change {"appointment_id": "APT-0001", "note": "x"}"#], "collateral_damage");
}

#[test]
fn damage_counts_even_when_it_is_undone() {
    let second = r#"Book {"dentist_id": 12, "patient": "Eva Dias", "starts_at": "2026-03-11T09:00"}"#;
    check(&booking(), &[second, r#"Remove {"appointment_id": "$0"}"#, BOOK], "collateral_damage");
    check(&booking(), &[BOOK, r#"Remove {"appointment_id": "$0"}"#, BOOK], "collateral_damage");
    let there_and_back = [
        BOOK,
        r#"Change {"appointment_id": "APT-0001", "status": "cancelled"}"#,
        r#"Change {"appointment_id": "APT-0001", "status": "booked"}"#,
    ];
    check(&booking(), &there_and_back, "collateral_damage");
}

#[test]
fn a_new_record_may_get_its_values_in_steps_but_not_back_and_forth() {
    let at = |time: &str| format!(r#"Change {{"appointment_id": "$0", "starts_at": "2026-03-10T{time}"}}"#);
    let first = r#"Book {"dentist_id": 12, "patient": "Eva Dias", "starts_at": "2026-03-10T08:00"}"#;
    check(&booking(), &[first, &at("09:00")], "ok");
    check(&booking(), &[BOOK, &at("10:00"), &at("09:00")], "collateral_damage");
}

#[test]
fn updates_touch_only_what_is_expected() {
    let cancelled = json!([{
        "outcome": "done",
        "changes": [{"resource": "appointment", "kind": "updated", "key": {"key": "APT-0001"}, "fields": {"status": {"equals": "cancelled"}}}]
    }]);
    check(&cancelled, &[r#"Change {"appointment_id": "APT-0001", "status": "cancelled"}"#], "ok");
    check(&cancelled, &[r#"Change {"appointment_id": "APT-0001", "status": "completed"}"#], "wrong_value");
    check(
        &cancelled,
        &[r#"Change {"appointment_id": "APT-0001", "status": "cancelled", "note": "sorry"}"#],
        "collateral_damage",
    );
    check(
        &cancelled,
        &[r#"Change {"appointment_id": "APT-0003", "status": "cancelled"}"#],
        "missing_change collateral_damage",
    );
    check(&cancelled, &[r#"Remove {"appointment_id": "APT-0001"}"#], "missing_change collateral_damage");
    // A later call corrects the wrong value.
    let corrected = [
        r#"Change {"appointment_id": "APT-0001", "status": "completed"}"#,
        r#"Change {"appointment_id": "APT-0001", "status": "cancelled"}"#,
    ];
    check(&cancelled, &corrected, "ok");
}

#[test]
fn allowed_changes_are_neither_asked_for_nor_damage() {
    let checks = super::checks(&booking());
    let calls = [BOOK, r#"Change {"appointment_id": "APT-0001", "note": "called"}"#];
    let episode = Episode { calls: &calls, ..Episode::default() };
    assert!(!super::run(&checks, episode.clone()).unwrap().success);
    let mut checks = checks;
    checks.allowed = serde_json::from_value(json!([{"resource": "appointment", "field": "note"}])).unwrap();
    assert!(super::run(&checks, episode).unwrap().success);
}

/// Two new appointments, the second a follow-up of the first.
fn pair(second: Json) -> Json {
    json!([{
        "outcome": "done",
        "changes": [
            {"resource": "appointment", "kind": "created", "key": {"new": 1}, "fields": {
                "dentist_id": {"equals": 12}, "patient": {"text": "eva dias"}, "starts_at": {"equals": "2026-03-17T09:00"},
                "status": {"equals": "booked"}, "follows": second, "note": {"text": "check-up please"}}},
            {"resource": "appointment", "kind": "created", "key": {"new": 0}, "fields": {
                "dentist_id": {"equals": 12}, "patient": {"text": "Eva Dias"}, "starts_at": {"equals": "2026-03-10T09:00"},
                "status": {"equals": "booked"}}}
        ]
    }])
}

#[test]
fn new_keys_match_up_to_renaming_and_references_follow() {
    let follow = r#"Book {"dentist_id": 12, "patient": "Eva Dias", "starts_at": "2026-03-17T09:00", "follows": "$0", "note": "Check-up, please."}"#;
    check(&pair(json!({"new": 0})), &[BOOK, follow], "ok");
    let other = r#"Book {"dentist_id": 12, "patient": "Eva Dias", "starts_at": "2026-03-17T09:00", "follows": "APT-0001", "note": "check-up please"}"#;
    check(&pair(json!({"new": 0})), &[BOOK, other], "wrong_value");
    check(&pair(json!({"equals": "APT-0001"})), &[BOOK, other], "ok");
    check(&pair(json!({"new": 0})), &[BOOK], "missing_change");
    let silent = r#"Book {"dentist_id": 12, "patient": "Eva Dias", "starts_at": "2026-03-17T09:00", "follows": "$0", "note": "soon"}"#;
    check(&pair(json!({"new": 0})), &[BOOK, silent], "wrong_value");
}

#[test]
fn many_equal_new_records_are_matched_within_a_bound() {
    let dates: Vec<String> = (1..=12).map(|day| format!("2026-04-{day:02}T09:00")).collect();
    let changes: Vec<Json> = (0..12)
        .zip(dates.iter().rev())
        .map(|(number, date)| {
            json!({"resource": "appointment", "kind": "created", "key": {"new": number}, "fields": {
                "dentist_id": {"equals": 12}, "patient": {"equals": "Eva Dias"}, "starts_at": {"equals": date},
                "status": {"equals": "booked"}}})
        })
        .collect();
    let variants = json!([{"outcome": "done", "changes": changes}]);
    let calls: Vec<String> = dates
        .iter()
        .map(|date| format!(r#"Book {{"dentist_id": 12, "patient": "Eva Dias", "starts_at": "{date}"}}"#))
        .collect();
    let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
    check(&variants, &calls, "ok");
    check(&variants, &calls[1..], "missing_change");
    let wrong = [
        &calls[1..],
        &[r#"Book {"dentist_id": 13, "patient": "Eva Dias", "starts_at": "2026-05-01T09:00"}"#],
    ]
    .concat();
    check(&variants, &wrong, "wrong_value");
}
