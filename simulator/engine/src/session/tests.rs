use diorama_seeds::model::ReadingError;
use diorama_seeds::task::{Outage, OutageKind};
use diorama_seeds::value::{Instant, Value};

use super::*;
use crate::fault::Faults;
use crate::tests::{base, call, shop};
use crate::tools::SearchVersion;

fn assert_shareable<T: Send + Sync>() {}

#[test]
fn sessions_can_be_shared_between_threads() {
    assert_shareable::<Session>();
    assert_shareable::<LogEntry>();
}

fn session(visible: &[&str]) -> Session {
    let base = shop();
    let visible = visible.iter().map(|name| base.api_named(name).unwrap()).collect();
    Session::new(base, SessionOptions { visible: Some(visible), ..SessionOptions::default() })
}

fn names(session: &Session) -> Vec<String> {
    session.visible().map(|api| session.base().world().api(api).name.to_string()).collect()
}

#[test]
fn an_api_becomes_callable_when_a_search_shows_it() {
    let mut session = session(&[]);
    let quote = call("Quote {\"product_id\": 11, \"quantity\": 1}");
    let hidden = session.call(&quote);
    assert_eq!(hidden.reply.status, 403);
    assert_eq!(
        hidden.reply.body.at("detail").and_then(|body| body.value()).and_then(|value| value.as_str()),
        Some("`Quote` has not been shown to you yet; find it with ToolSearcher first")
    );
    assert_eq!(session.call(&call("ToolSearcher {\"keywords\": 3}")).reply.status, 400);
    assert!(names(&session).is_empty());
    let found = session.call(&call("ToolSearcher {\"keywords\": \"compute a price quote\"}"));
    assert_eq!(found.api, None);
    assert_eq!(session.call(&quote).reply.status, 200);
    session.reset();
    assert_eq!(session.call(&quote).reply.status, 403);
    assert_eq!(session.calls(), 1);
}

#[test]
fn the_third_search_shows_the_sign_in_beside_its_hits_and_the_fourth_does_not() {
    for (version, shows) in [(SearchVersion::V3, true), (SearchVersion::V4, false)] {
        let base = shop();
        let visible = Some(vec![base.api_named("GetProduct").unwrap()]);
        let mut session = Session::new(
            base,
            SessionOptions { visible, search: Some(version), ..SessionOptions::default() },
        );
        session.call(&call("ToolSearcher {\"keywords\": \"cancel my order\"}"));
        let names = names(&session);
        assert!(names.contains(&"CancelOrder".to_owned()), "{names:?}");
        assert_eq!(names.contains(&"SignIn".to_owned()), shows, "{names:?}");
    }
}

#[test]
fn hidden_names_are_not_given_away() {
    let mut session = session(&["GetProduct"]);
    let reply = session.call(&call("GetProductPag")).reply.clone();
    assert_eq!(reply.status, 404);
    assert_eq!(
        reply.to_json(&session.base().world().zone),
        r#"{"title":"Not Found","status":404,"detail":"no API has the name `GetProductPag`; did you mean GetProduct?"}"#
    );
    // All tools are visible, so the refusal does not mention the search.
    let hidden = session.call(&call("Quote {\"product_id\": 11, \"quantity\": 1}")).reply.clone();
    assert_eq!(
        hidden.to_json(&session.base().world().zone),
        r#"{"title":"Not Found","status":404,"detail":"no API has the name `Quote`"}"#
    );
}

#[test]
fn the_clock_is_the_sessions_own() {
    let base = shop();
    let clock = Instant(base.world().clock.0 + 86_400);
    let mut session = Session::new(base, SessionOptions { clock: Some(clock), ..SessionOptions::default() });
    assert_eq!(session.state().clock(), clock);
    let digest = session.digest();
    session.set_clock(Instant(0));
    assert_eq!(session.call(&call("AllNames")).clock, Instant(0));
    assert_eq!(session.digest(), digest, "time alone changes no record");
    session.reset();
    assert_eq!(session.state().clock(), clock);
}

/// Makes sessions with a moving clock, searches, and faults that read earlier states.
fn eventful(session: Session, calls: usize) -> Session {
    let rules = serde_json::json!([
        {"kind": "stale", "probability": 0.3},
        {"kind": "error", "probability": 0.1, "status": 503},
    ]);
    let faults = Faults::new(serde_json::from_value(rules).unwrap()).unwrap();
    let mut session = session.with_faults(faults);
    for number in 0..calls {
        session.set_clock(Instant(1_770_000_000 + number as i64 * 60));
        session.call(&match number % 7 {
            0 => call(&format!("AddProduct {{\"name\": \"Lamp {number}\", \"price\": {number}.5, \"stock\": 1, \"kind\": \"tool\"}}")),
            1 => call("ListProducts {}"),
            2 => call("NoSuchApi {\"a\": [1, 2.0, \"3\"]}"),
            3 if number > 300 => call("ToolSearcher {\"keywords\": \"compute a price quote\"}"),
            4 => call("Quote {\"product_id\": 11, \"quantity\": 2}"),
            5 => call("DeleteProduct {\"product_id\": 14}"),
            _ => call("GetProduct {\"product_id\": 11}"),
        });
    }
    session
}

#[test]
fn a_brief_log_reads_as_a_whole_one_from_any_call_on() {
    let visible = ["GetProduct", "AddProduct", "ListProducts", "DeleteProduct"];
    let whole = eventful(session(&visible), 700);
    let brief = eventful(session(&visible).with_brief_log(), 700);
    assert_eq!((brief.calls(), brief.digest()), (700, whole.digest()));
    let log: Vec<_> = whole.log().collect();
    assert_eq!(brief.log().collect::<Vec<_>>(), log);
    assert!(log.iter().any(|entry| !entry.faults.is_empty()));
    assert!(log.iter().any(|entry| !entry.changes.is_empty()));
    let statuses = |api: &str| {
        let of = log.iter().filter(|entry| entry.call.api == api);
        of.map(|entry| entry.reply.status).collect::<std::collections::BTreeSet<u16>>()
    };
    assert!(statuses("Quote").is_superset(&[200, 404].into()), "{:?}", statuses("Quote"));
    for first in [0, 1, 255, 256, 257, 511, 512, 699, 700, 5000] {
        let rest = log.get(first..).unwrap_or_default();
        assert_eq!(brief.log_from(first).len(), rest.len());
        assert_eq!(brief.log_from(first).collect::<Vec<_>>(), rest, "from {first}");
    }
    let (mut fork, mut other) = (brief.fork_at(260), whole.fork_at(260));
    let call = call("GetProduct {\"product_id\": 11}");
    assert_eq!(fork.call(&call), other.call(&call));
    assert_eq!(fork.log().collect::<Vec<_>>(), other.log().collect::<Vec<_>>());
    fork.reset();
    assert_eq!((fork.calls(), fork.log().count()), (0, 0));
}

#[test]
fn an_outage_is_met_once_and_goes_with_the_state() {
    let outage = |api: &str, kind: OutageKind| Outage { api: api.to_owned(), kind };
    let outages =
        vec![outage("GetProduct", OutageKind::Unavailable), outage("AllNames", OutageKind::TooManyRequests)];
    let options = SessionOptions { outages, ..SessionOptions::default() };
    let mut session = Session::new(shop(), options).with_brief_log();
    let (get, names) = (call("GetProduct {\"product_id\": 11}"), call("AllNames"));
    let digest = session.digest();
    let mut fork = session.fork();
    let mut memo = Memo::new();
    let first = session.call_again(&get, &mut memo);
    assert_eq!((first.reply.status, first.faults.len(), first.changes.len()), (503, 0, 0));
    let mut resumed = fork.resumed(&session.kept()).unwrap();
    for session in [&mut session, &mut resumed] {
        assert_eq!(session.call_again(&get, &mut memo).reply.status, 200);
        assert_eq!(session.call_again(&names, &mut memo).reply.status, 429);
        assert_eq!(session.call_again(&names, &mut memo).reply.status, 200);
        assert_eq!((session.digest(), session.state().outages_to_come()), (digest, 0));
    }
    assert_eq!(fork.call_again(&get, &mut memo).reply.status, 503, "the fork has not met it");
    session.reset();
    assert_eq!(session.call(&get).reply.status, 503, "it is there again from the start");
}

#[test]
fn an_expired_token_stays_expired_and_another_sign_in_helps() {
    let outages = vec![Outage { api: "MyOrders".to_owned(), kind: OutageKind::ExpiredToken }];
    let mut session = Session::new(shop(), SessionOptions { outages, ..SessionOptions::default() });
    let token = |session: &mut Session| {
        let entry = session.call(&call("SignIn {\"email\": \"ana@example.org\", \"pin\": \"1111\"}"));
        entry.reply.body.at("token").and_then(|body| body.value()?.as_str().map(str::to_owned)).unwrap()
    };
    let orders = |token: &str| call(&format!("MyOrders {{\"token\": \"{token}\"}}"));
    assert_eq!(session.call(&orders("unknown")).reply.status, 401);
    assert_eq!(session.state().outages_to_come(), 1, "a token that nobody gave cannot expire");
    let first = token(&mut session);
    assert_eq!(session.call(&orders(&first)).reply.status, 401);
    assert_eq!(session.call(&orders(&first)).reply.status, 401, "it stays expired");
    let second = token(&mut session);
    assert_eq!(session.call(&orders(&second)).reply.status, 200);
}

#[test]
fn a_call_that_breaks_a_rule_works_and_is_marked() {
    let base = base(
        r#"
world: 1
name: boats
materialised: 0
clock: 2026-03-02T09:00
domain:
  name: boats
  house:
    rules:
      - {name: young_outings, calls: [Cancel], act: cancel an outing, cap: {of: record.age, at_most: 3, what: its age}}
      - {name: by_the_owner, calls: [Cancel], when: record.age > 8, act: cancel an old outing, role: {by: the owner}}
      - {name: sure, calls: [Cancel], act: cancel an outing, confirm: {state: [{of: record.age, what: its age}, {of: args.outing_id, what: the outing}]}, unless: [{that: record.age == 4, where: it is of age four}]}
resources:
  outing:
    key: outing_id
    fields: {outing_id: {type: integer}, age: {type: integer}}
    records: [{outing_id: 1, age: 3}, {outing_id: 2, age: 4}, {outing_id: 3, age: 9}]
apis:
  - name: Cancel
    method: DELETE
    path: /outings/{outing_id}
    parameters: {outing_id: {ref: outing}}
    behaviour: {delete: outing}
"#,
    );
    let session = Session::new(base.clone(), SessionOptions::default());
    let check = |id: u32, broken: Option<&str>| {
        let call = call(&format!(r#"Cancel {{"outing_id": {id}}}"#));
        let entry = session.fork().call(&call);
        assert_eq!((entry.reply.is_success(), entry.broken.as_deref()), (id < 4, broken), "{id}");
        assert!(
            !entry.reply.to_json(&base.world().zone).contains("outings"),
            "the reply tells nothing of it"
        );
        let shadow = crate::apply(base.shadow().unwrap(), session.state(), &call).reply;
        let status = if broken.is_some() { 403 } else { entry.reply.status };
        assert_eq!(shadow.status, status, "{id}");
    };
    check(1, None);
    check(2, Some("young_outings"));
    check(3, Some("young_outings"));
    check(4, None);
    let turning = |id: u32| {
        let call = call(&format!(r#"Cancel {{"outing_id": {id}}}"#));
        let found = crate::turning_misreadings(&base, session.state(), &call);
        found.iter().map(|misreading| (misreading.rule, misreading.error)).collect::<Vec<_>>()
    };
    let by_one = vec![(0, ReadingError::ByOne)];
    assert_eq!((turning(1), turning(2)), (by_one.clone(), by_one));
    assert_eq!((turning(3), turning(4)), (Vec::new(), Vec::new()), "two rules forbid, and the API refuses");
    let needed = |id: u32| {
        let entry = session.fork().call(&call(&format!(r#"Cancel {{"outing_id": {id}}}"#)));
        let needed = entry.needs.clone()?;
        let state = needed.state.iter().map(|stated| (stated.noun.to_string(), stated.value.clone()));
        Some((needed.rule.to_string(), state.collect::<Vec<_>>()))
    };
    let state = vec![("its age".to_owned(), Value::Integer(3)), ("the outing".to_owned(), Value::Integer(1))];
    assert_eq!(needed(1), Some(("sure".to_owned(), state)));
    assert_eq!((needed(2), needed(4)), (None, None), "an exception, and a call that is refused");
}
