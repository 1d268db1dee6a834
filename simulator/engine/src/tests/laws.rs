//! Laws that hold for any calls.

use proptest::prelude::*;
use serde_json::Value as Json;

use super::shared::{DrawnCall, any_call, any_json, made, shop};
use crate::index::{Form, same_folded};
use crate::session::{Session, SessionOptions};
use crate::{Base, State, apply, diff};
use diorama_seeds::model::{FieldId, Record, ResourceId};
use diorama_seeds::task::Call;
use diorama_seeds::value::Value;

fn token_after(session: &mut Session) -> String {
    let entry =
        session.call(&super::shared::call("SignIn {\"email\": \"ana@example.org\", \"pin\": \"1111\"}"));
    entry
        .reply
        .body
        .at("token")
        .and_then(|body| body.value())
        .and_then(|value| value.as_str())
        .unwrap()
        .to_owned()
}

/// Checks that every index returns the same records as a scan, in the same order.
fn indexes_agree(base: &Base, state: &State) {
    for resource in (0..base.world().resources.len()).map(|at| ResourceId(at as u16)) {
        let records: Vec<&Record> = state.iter(base, resource).collect();
        let keys = records.iter().map(|record| &record[base.world().resource(resource).key.index()]);
        assert!(keys.clone().is_sorted() && keys.clone().all(|key| state.get(base, resource, key).is_some()));
        for field in (0..base.world().resource(resource).fields.len()).map(|at| FieldId(at as u16)) {
            for form in [Form::Exact, Form::Folded, Form::Items] {
                let matches = |record: &Record, value: &Value| match (form, &record[field.index()]) {
                    (Form::Items, Value::List(items)) => items.contains(value),
                    (Form::Items, _) => false,
                    (Form::Exact, found) => found.loosely_equals(value),
                    (Form::Folded, found) => same_folded(found, value),
                };
                let asked = base
                    .records(resource)
                    .iter()
                    .chain(records.iter().copied())
                    .map(|record| &record[field.index()]);
                let asked = asked.flat_map(|value| match value {
                    Value::List(items) if form == Form::Items => items.to_vec(),
                    value => vec![value.clone()],
                });
                for value in asked {
                    let Some(found) = state.candidates(base, resource, field, form, &value) else { continue };
                    let found: Vec<&Record> = found.filter(|record| matches(record, &value)).collect();
                    let scanned: Vec<&Record> =
                        records.iter().copied().filter(|record| matches(record, &value)).collect();
                    assert_eq!(found, scanned, "{resource:?} {field:?} {form:?} {value:?}");
                }
            }
        }
    }
}

fn fresh(seed: u64) -> Session {
    Session::new(shop(), SessionOptions { seed, ..SessionOptions::default() })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_refusal_changes_nothing_and_the_digest_is_that_of_the_records(drawn in prop::collection::vec(any_call(), 1..25)) {
        let base = shop();
        let mut session = fresh(3);
        let token = token_after(&mut session);
        let mut state = session.state().clone();
        for drawn in &drawn {
            let call = made(&base, drawn, &token);
            let applied = apply(&base, &state, &call);
            prop_assert!((200..600).contains(&applied.reply.status));
            prop_assert!(serde_json::from_str::<Json>(&applied.reply.to_json(&base.world().zone)).is_ok());
            if !applied.reply.is_success() {
                prop_assert_eq!(applied.state.digest(), state.digest());
                prop_assert!(applied.changes.is_empty());
            }
            prop_assert_eq!(&applied.changes, &diff(&base, &state, &applied.state));
            prop_assert_eq!(applied.state.digest(), applied.state.digest_from_scratch(&base));
            for resource in 0..base.world().resources.len() {
                let id = ResourceId(resource as u16);
                prop_assert_eq!(applied.state.count(&base, id), applied.state.iter(&base, id).count());
            }
            state = applied.state;
        }
        indexes_agree(&base, &state);
    }

    #[test]
    fn a_log_replays_to_the_same_replies_and_digest(drawn in prop::collection::vec(any_call(), 1..25), seed in any::<u64>()) {
        let base = shop();
        let mut session = fresh(seed);
        let token = token_after(&mut session);
        for drawn in &drawn {
            session.call(&made(&base, drawn, &token));
        }
        let mut brief = fresh(seed).with_brief_log();
        session.log().for_each(|entry| drop(brief.call(&entry.call)));
        for (kept, again) in session.log().zip(brief.log()) {
            prop_assert_eq!(&*kept, &*again);
        }
        let mut again = fresh(seed);
        for entry in session.log() {
            let replayed = again.call(&entry.call);
            prop_assert_eq!(&replayed.reply, &entry.reply);
            prop_assert_eq!(&replayed.changes, &entry.changes);
        }
        prop_assert_eq!(again.digest(), session.digest());
        prop_assert_eq!(again.diff(), session.diff());
    }

    #[test]
    fn forks_never_see_each_others_writes(
        before in prop::collection::vec(any_call(), 0..8),
        left in prop::collection::vec(any_call(), 1..10),
        right in prop::collection::vec(any_call(), 1..10),
    ) {
        let base = shop();
        let mut session = fresh(5);
        let token = token_after(&mut session);
        let run = |session: &mut Session, calls: &[DrawnCall]| {
            calls.iter().map(|drawn| session.call(&made(&base, drawn, &token)).reply.clone()).collect::<Vec<_>>()
        };
        run(&mut session, &before);
        let (digest, length) = (session.digest(), session.calls());
        // Interleaved calls on two forks must give the same replies as separate ones.
        let (mut one, mut other) = (session.fork(), session.fork());
        let mut interleaved = Vec::new();
        for at in 0..left.len().max(right.len()) {
            if let Some(drawn) = left.get(at) {
                interleaved.push(one.call(&made(&base, drawn, &token)).reply.clone());
            }
            if let Some(drawn) = right.get(at) {
                other.call(&made(&base, drawn, &token));
            }
        }
        let mut alone = session.fork();
        prop_assert_eq!(interleaved, run(&mut alone, &left));
        prop_assert_eq!(one.digest(), alone.digest());
        prop_assert_eq!((session.digest(), session.calls()), (digest, length));
        one.reset();
        prop_assert_eq!(one.digest(), State::initial(&base, 5).digest());
        prop_assert!(one.diff().is_empty());
    }

    #[test]
    fn any_names_and_arguments_end_in_a_reply(api in "\\PC{0,40}", arguments in prop::collection::vec(("\\PC{0,10}", any_json()), 0..4)) {
        let base = shop();
        let state = State::initial(&base, 1);
        let call = Call { api, arguments: arguments.into_iter().collect() };
        let applied = apply(&base, &state, &call);
        prop_assert_eq!(applied.reply.status, 404);
    }
}
