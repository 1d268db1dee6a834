//! Checks that the fields of generated records agree, on small documents.

use diorama_seeds::doc::RecordsDoc;
use diorama_seeds::materialise::materialised;
use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::{ImportOptions, import};

/// Returns the fields of a resource with such members, as the world file writes them, and its records.
fn made(members: &str, seed: u64) -> (String, Vec<IndexMap<String, Json>>) {
    let source = format!(
        "{{openapi: 3.0.0, info: {{title: t, version: '1'}}, paths: {{/stays: {{get: {{responses: {{'200': {{description: All, content: {{application/json: {{schema: {{type: array, items: {{type: object, properties: {{id: {{type: integer}}, {members}}}}}}}}}}}}}}}}}}}}}}}"
    );
    let doc = import("stays", source.as_bytes(), &ImportOptions::default()).unwrap().doc;
    let world = materialised(&doc, seed).unwrap();
    let written = serde_json::to_string(&doc.resources["stay"].fields).unwrap();
    let world = diorama_seeds::world::read("made.json", world.canonical.as_bytes()).unwrap();
    let RecordsDoc::Given(records) = &world.domains[0].resources["stay"].records else { panic!() };
    assert!((8..16).contains(&records.len()), "{} records", records.len());
    (written, records.clone())
}

fn records(members: &str) -> Vec<IndexMap<String, Json>> {
    (0..3).flat_map(|seed| made(members, seed).1).collect()
}

fn check_order(start: &str, end: &str, kind: &str, is_computed: bool) {
    let text = "{type: string, format: KIND}".replace("KIND", kind);
    let (written, _) = made(&format!("{start}: {text}, {end}: {text}"), 0);
    assert_eq!(written.contains(r#""provider":"expr""#), is_computed, "{start} {end}: {written}");
    for record in records(&format!("{end}: {text}, {start}: {text}")) {
        let [first, last] = [start, end].map(|name| record[name].as_str().unwrap());
        assert!(first <= last, "{start} {first} {end} {last}");
    }
}

#[test]
fn start_timestamps_come_before_end_timestamps() {
    check_order("start_date", "end_date", "date", true);
    check_order("starts_at", "ends_at", "date-time", true);
    check_order("from", "to", "date", true);
    check_order("check_in", "check_out", "date", true);
    check_order("checkInDate", "checkOutDate", "date", true);
    check_order("valid_from", "valid_until", "date", true);
    check_order("startTime", "endTime", "date-time", true);
    check_order("pickup_at", "dropoff_at", "date-time", true);
    check_order("started_at", "completed_at", "date-time", true);
    check_order("created_at", "updated_at", "date-time", false);
    check_order("first_action_date", "latest_action_date", "date", false);
    check_order("createDate", "expires_on", "date", false);
    check_order("opens", "closes", "time", false);
    check_order("opening_time", "closing_time", "time", false);
}

#[test]
fn past_actions_come_before_the_clock_and_due_dates_after() {
    let moment = "{type: string, format: date-time}";
    for record in records(&format!("date_finished: {moment}, lastCheckedTime: {moment}, due_at: {moment}")) {
        for past in ["date_finished", "lastCheckedTime"] {
            assert!(record[past].as_str().unwrap() < "2026-03-02T09:00", "{record:?}");
        }
        assert!(record["due_at"].as_str().unwrap() > "2026-03-02T09:00", "{record:?}");
    }
}

#[test]
fn nullable_start_timestamps_come_first_too() {
    let moment = "{type: string, format: date}";
    let first = "{type: string, format: date, nullable: true}";
    for record in records(&format!("start_date: {first}, end_date: {moment}")) {
        assert!(record["start_date"].as_str().unwrap() < record["end_date"].as_str().unwrap(), "{record:?}");
    }
}

#[test]
fn a_state_decides_which_timestamps_and_flags_are_set() {
    let moment = "{type: string, format: date-time}";
    let all = records(&format!(
        "status: {{type: string, enum: [open, paid, shipped, delivered, cancelled]}}, created_at: {moment}, paid_at: {moment}, shippedAt: {moment}, delivered_at: {moment}, cancelled_at: {moment}, paid: {{type: boolean}}, is_cancelled: {{type: boolean}}"
    ));
    for record in &all {
        let status = record["status"].as_str().unwrap();
        let is_there = |name: &str| !record[name].is_null();
        let is_in = |states: &[&str]| states.contains(&status);
        assert_eq!(is_there("paid_at"), is_in(&["paid", "shipped", "delivered"]), "{record:?}");
        assert_eq!(is_there("shippedAt"), is_in(&["shipped", "delivered"]), "{record:?}");
        assert_eq!(is_there("delivered_at"), is_in(&["delivered"]), "{record:?}");
        assert_eq!(is_there("cancelled_at"), is_in(&["cancelled"]), "{record:?}");
        assert_eq!(record["paid"], is_there("paid_at"), "{record:?}");
        assert_eq!(record["is_cancelled"], is_there("cancelled_at"), "{record:?}");
        let reached =
            ["created_at", "shippedAt", "delivered_at"].iter().filter_map(|name| record[*name].as_str());
        assert!(reached.is_sorted(), "{record:?}");
    }
    let states: std::collections::BTreeSet<&str> =
        all.iter().filter_map(|one| one["status"].as_str()).collect();
    assert_eq!(states.len(), 5, "{states:?}");
}

#[test]
fn a_flag_decides_whether_its_timestamp_is_set() {
    for record in records("verified: {type: boolean}, verified_at: {type: string, format: date-time}") {
        assert_eq!(record["verified"], !record["verified_at"].is_null(), "{record:?}");
    }
}

#[test]
fn amounts_add_up_and_bounds_are_in_order() {
    let members = "total: number, subtotal: number, tax: number, discount: number, amount_paid: number, amount_due: number, limit: integer, used: integer, remaining: integer, min_age: integer, max_age: integer";
    let members: String = members.replace("number", "{type: number}").replace("integer", "{type: integer}");
    for record in records(&members) {
        let of = |name: &str| record[name].as_f64().unwrap();
        let equal = |one: f64, other: f64| assert!((one - other).abs() < 0.006, "{one} {other} {record:?}");
        equal(of("total"), of("subtotal") + of("tax") - of("discount"));
        equal(of("amount_due"), of("total") - of("amount_paid"));
        equal(of("limit"), of("used") + of("remaining"));
        assert!(of("amount_due") >= 0.0 && of("total") > 0.0, "{record:?}");
        assert!(of("min_age") <= of("max_age"), "{record:?}");
    }
}

#[test]
fn members_of_a_record_share_one_country_and_city() {
    let text = "{type: string}";
    for record in records(&format!(
        "city: {text}, countryCode: {text}, phone: {text}, currency: {text}, timezone: {text}, address: {{type: object, properties: {{city: {text}, country: {text}}}}}, latitude: {{type: number}}"
    )) {
        // Records may lack an address; replies then generate one.
        let address = record.get("address");
        assert!(address.is_none_or(|address| address["city"] == record["city"]), "{record:?}");
        let pairs = [
            ("FR", "France", "EUR", "+33 "),
            ("JP", "Japan", "JPY", "+81 "),
            ("BR", "Brazil", "BRL", "+55 "),
        ];
        for (code, country, currency, dial) in pairs {
            if record["countryCode"] == code {
                assert!(address.is_none_or(|address| address["country"] == country), "{record:?}");
                assert_eq!(record["currency"], currency, "{record:?}");
                assert!(record["phone"].as_str().unwrap().starts_with(dial), "{record:?}");
            }
        }
    }
}

#[test]
fn optional_placeholder_strings_are_dropped() {
    let text = "{type: string}";
    let (written, all) = made(
        &format!("protocol: {text}, description: {text}, status: {text}, email: {text}, city: {text}"),
        0,
    );
    for record in &all {
        for filler in ["protocol", "description", "status"] {
            assert!(record.get(filler).is_none_or(Json::is_null), "{record:?}");
        }
        assert!(record["email"].as_str().unwrap().contains('@'), "{record:?}");
        assert!(record["city"].is_string(), "{record:?}");
    }
    assert!(!written.contains("What's the protocol"), "{written}");
}

#[test]
fn timestamps_in_seconds_are_generated_by_replies() {
    let text = |example: &str| format!("{{type: string, example: '{example}'}}");
    let (written, _) = made(&format!("created_at: {}, code: {}", text("1609869152"), text("1609869152")), 0);
    assert!(!written.contains("created_at") && written.contains("code"), "{written}");
}
