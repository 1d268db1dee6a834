//! Whether the operator may have signed in the user of a scenario.

use diorama_seeds::doc::ScenarioStepDoc;
use diorama_seeds::model::{BehaviourKind, World};
use diorama_seeds::scenario::Scenario;

/// Returns true if nothing depends on how the user of a scenario signs in: no sign-in fails, and nobody signs out.
pub(super) fn may_be_signed_in(world: &World, scenario: &Scenario) -> bool {
    let Some(auth) = &world.domains[scenario.domain.index()].auth else { return true };
    let secret = format!("{{me.{}", world.resource(auth.user).field(auth.secret).name);
    let says_secret = |wordings: &Vec<String>| wordings.iter().any(|wording| wording.contains(&secret));
    let mut openings = scenario.doc.goals.iter().map(|goal| &goal.user).chain([&scenario.doc.later]);
    let mut calls = scenario.doc.calls();
    let signs_in = |call: &ScenarioStepDoc| {
        let api = call.call.as_deref().and_then(|name| world.api_named(name));
        api.is_some_and(|api| matches!(world.api(api).behaviour.kind, BehaviourKind::SignIn { .. }))
    };
    let mut steps = scenario.doc.goals.iter().flat_map(|goal| &goal.does);
    let beside_others = steps.any(|step| step.together.iter().any(signs_in));
    // Who is asked for a password and something else at once is asked anyway.
    let is_mixed = |wording: &String| {
        wording.contains(&secret) && (wording.matches('{').count() != wording.matches("{me.").count())
    };
    !beside_others
        && !openings.any(says_secret)
        && !scenario.doc.withheld.values().flatten().any(is_mixed)
        && calls.all(|call| {
            let api = call.call.as_deref().and_then(|name| world.api_named(name));
            api.is_none_or(|api| match world.api(api).behaviour.kind {
                BehaviourKind::SignIn { .. } => !call.fails && call.name.is_none(),
                BehaviourKind::SignOut => false,
                _ => true,
            })
        })
}
