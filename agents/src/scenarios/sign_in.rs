//! Finds scenarios that depend on signing in, and holds the wordings for it.

use diorama_seeds::doc::{ScenarioDoc, ScenarioStepDoc, SignInDoc};
use diorama_seeds::model::{BehaviourKind, DomainId, World};
use diorama_seeds::scenario::Scenario;

use super::speech::{SPEECH, SignInWords, fill};

/// Returns true if a step calls an API that signs users in.
pub(crate) fn is_sign_in(world: &World, step: &ScenarioStepDoc) -> bool {
    let api = step.call.as_deref().and_then(|name| world.api_named(name));
    api.is_some_and(|api| matches!(world.api(api).behaviour.kind, BehaviourKind::SignIn { .. }))
}

/// Returns true if a step only signs the user in: it calls the API, or asks for the secret.
pub(crate) fn only_signs_in(world: &World, scenario: &Scenario, step: &ScenarioStepDoc) -> bool {
    match &step.ask {
        Some(about) => asks_for_secret(world, scenario.domain, &scenario.doc, about),
        None => is_sign_in(world, step),
    }
}

/// Returns true if a scenario does not depend on how its user signs in.
/// No sign-in fails or has other calls beside it. The user gives no secret unasked or with something else,
/// and never signs out.
pub(crate) fn may_be_signed_in(world: &World, scenario: &Scenario) -> bool {
    let Some(secret) = secret_place(world, scenario.domain) else { return true };
    let doc = &scenario.doc;
    let says_secret = |wordings: &Vec<String>| wordings.iter().any(|wording| wording.contains(&secret));
    let mut openings = doc.goals.iter().map(|goal| &goal.user).chain([&doc.later]);
    let mut steps = doc.goals.iter().flat_map(|goal| &goal.does);
    let is_mixed = |wording: &String| {
        wording.contains(&secret) && wording.matches('{').count() != wording.matches("{me.").count()
    };
    let mut calls = doc.calls();
    !openings.any(says_secret)
        && !steps.any(|step| step.together.iter().any(|call| is_sign_in(world, call)))
        && !doc.withheld.values().flatten().any(is_mixed)
        && calls.all(|call| !is_sign_in(world, call) || (!call.fails && call.name.is_none()))
        && !doc.calls().any(|call| {
            let api = call.call.as_deref().and_then(|name| world.api_named(name));
            api.is_some_and(|api| matches!(world.api(api).behaviour.kind, BehaviourKind::SignOut))
        })
}

/// Returns true if the user tells a domain's secret when asked for a detail.
fn asks_for_secret(world: &World, domain: DomainId, doc: &ScenarioDoc, about: &str) -> bool {
    let wordings = doc.withheld.get(about).map_or(&[][..], Vec::as_slice);
    secret_place(world, domain).is_some_and(|secret| wordings.iter().any(|wording| wording.contains(&secret)))
}

/// Returns the beginning of the binding for the user's secret in wordings, if users of the domain sign in.
fn secret_place(world: &World, domain: DomainId) -> Option<String> {
    let auth = world.domains[domain.index()].auth.as_ref()?;
    Some(format!("{{me.{}", world.resource(auth.user).field(auth.secret).name))
}

/// Returns the wordings for signing in to a domain: the domain's own, else plain ones.
pub(crate) fn words(doc: &SignInDoc, world: &World, domain: DomainId) -> SignInDoc {
    let Some(auth) = world.domains.get(domain.index()).and_then(|domain| domain.auth.as_ref()) else {
        return doc.clone();
    };
    let users = world.resource(auth.user);
    let (login, secret) = (users.field(auth.login), users.field(auth.secret));
    let (login_label, secret_label) = (login.label.to_lowercase(), secret.label.to_lowercase());
    let (my_login, my_secret) = (format!("{{me.{}}}", login.name), format!("{{me.{}}}", secret.name));
    let values = [
        ("login", &*login_label),
        ("secret", &*secret_label),
        ("my_login", &*my_login),
        ("my_secret", &*my_secret),
    ];
    let or = |own: &[String], plain: &[String]| match own {
        [] => plain.iter().map(|words| fill(words, &values)).collect(),
        own => own.to_vec(),
    };
    let SignInWords { ask, tell } = &SPEECH.sign_in;
    SignInDoc { ask: or(&doc.ask, ask), tell: or(&doc.tell, tell) }
}
