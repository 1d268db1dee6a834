use super::*;
use crate::engine::tests::{call, shop};

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
    assert_eq!(session.log().len(), 1);
}

#[test]
fn a_found_api_that_needs_a_token_brings_the_sign_in_with_it() {
    let mut session = session(&["GetProduct"]);
    session.call(&call("ToolSearcher {\"keywords\": \"cancel my order\"}"));
    let names = names(&session);
    assert!(names.contains(&"CancelOrder".to_owned()) && names.contains(&"SignIn".to_owned()), "{names:?}");
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
