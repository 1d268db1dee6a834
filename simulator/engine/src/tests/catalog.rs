//! Owns the tests of the catalog's worlds: no call makes a world fail.

use std::collections::BTreeSet;

use diorama_seeds::model::ApiId;

use crate::possible::tries;
use crate::{Base, State, apply, never_succeeding};

/// Number of calls per API, in sequence on a state that keeps their changes.
const CALLS: usize = 60;

#[test]
fn the_catalogs_worlds_can_do_all_they_offer_and_never_fail() {
    let mut problems = BTreeSet::new();
    for name in diorama_catalog::names() {
        let text = diorama_catalog::source(name).unwrap();
        let mut doc =
            diorama_seeds::world::read(name, text.as_bytes()).unwrap_or_else(|report| panic!("{report}"));
        let made =
            diorama_seeds::materialise::materialised(&doc, 3).unwrap_or_else(|report| panic!("{report}"));
        let base = Base::new(made.world.clone()).unwrap();
        // The test of the plots shows that the APIs succeed which they call.
        let plots = diorama_catalog::scenarios(name).unwrap_or_default();
        diorama_seeds::world::add_scenarios(&mut doc, name, plots.as_bytes())
            .unwrap_or_else(|report| panic!("{report}"));
        let calls = doc.scenarios.iter().flat_map(|scenario| scenario.calls());
        let called: BTreeSet<&str> = calls.filter_map(|call| call.call.as_deref()).collect();
        let mut impossible = never_succeeding(&base);
        impossible.retain(|api| !called.contains(&*base.world().api(*api).name));
        for api in impossible {
            problems.insert(format!("{name}: {} never succeeds", base.world().api(api).name));
        }
        let apis: Vec<ApiId> = (0..base.world().apis.len()).map(|at| ApiId(at as u16)).collect();
        let mut state = State::initial(&base, 3);
        let mut tried: Vec<_> = apis.iter().map(|api| tries(&base, *api).take(CALLS)).collect();
        for _ in 0..CALLS {
            for calls in &mut tried {
                let Some((signed_in, call)) = calls.next() else { continue };
                // Tokens belong to a state, so calls with a token use the state that issued it.
                let needs_token = base.world().api(base.api_named(&call.api).unwrap()).token.is_some();
                let applied = apply(&base, if needs_token { &signed_in } else { &state }, &call);
                if applied.reply.status >= 500 {
                    let reply = applied.reply.to_json(&base.world().zone);
                    problems.insert(format!(
                        "{name}: {} {} {reply}",
                        call.api,
                        serde_json::Value::from(call.arguments)
                    ));
                }
                if !needs_token {
                    state = applied.state;
                }
            }
        }
        assert_eq!(state.digest(), state.digest_from_scratch(&base), "{name}");
    }
    assert!(problems.is_empty(), "{}", problems.into_iter().collect::<Vec<_>>().join("\n"));
}
