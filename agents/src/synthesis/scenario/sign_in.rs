//! Signing in within scenarios: the calls and questions that do it, and scenarios that depend on how it is done.

use diorama_proof::candidate::{CandidateCall, Turn};
use diorama_seeds::doc::{ScenarioDoc, ScenarioStepDoc, SignInDoc};
use diorama_seeds::model::{BehaviourKind, DomainId, World};
use diorama_seeds::scenario::{BoundValue, Scenario};

use super::player::{Player, Told};
use super::unplayed::Unplayed;

/// Returns true if a step calls an API that signs users in.
pub(super) fn is_sign_in(world: &World, step: &ScenarioStepDoc) -> bool {
    let api = step.call.as_deref().and_then(|name| world.api_named(name));
    api.is_some_and(|api| matches!(world.api(api).behaviour.kind, BehaviourKind::SignIn { .. }))
}

/// Returns true if a step only signs the user in: it calls the API, or asks for what signs them in.
pub(super) fn only_signs_in(world: &World, scenario: &Scenario, step: &ScenarioStepDoc) -> bool {
    match &step.ask {
        Some(about) => asks_for_secret(world, scenario.domain, &scenario.doc, about),
        None => is_sign_in(world, step),
    }
}

/// Returns true if nothing depends on how the user of a scenario signs in: no sign-in fails or has other calls beside it, nobody
/// gives a secret unasked or together with something else, and nobody signs out.
pub(super) fn may_be_signed_in(world: &World, scenario: &Scenario) -> bool {
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

/// The beginning of the place that stands for the user's secret in words, where users of the domain sign in.
fn secret_place(world: &World, domain: DomainId) -> Option<String> {
    let auth = world.domains[domain.index()].auth.as_ref()?;
    Some(format!("{{me.{}", world.resource(auth.user).field(auth.secret).name))
}

impl Player<'_, '_> {
    /// Signs the user in where a step's calls need it and nobody has: the assistant asks for what signs them in, is told, and
    /// calls the domain's sign-in.
    pub(super) fn sign_in(&mut self, step: &ScenarioStepDoc, told: &mut Told) -> Result<(), Unplayed> {
        let model = self.world.base.world();
        let calls = std::iter::once(step).chain(&step.together);
        let mut apis = calls.filter_map(|call| model.api_named(call.call.as_deref()?));
        let Some(needing) = apis.find(|api| model.api(*api).token.is_some()) else { return Ok(()) };
        let domain = model.api(needing).domain;
        if self.token(domain).is_some() {
            return Ok(());
        }
        let nobody = || Unplayed::NotSignedIn(model.api(needing).name.to_string());
        let auth = model.domains[domain.index()].auth.as_ref().ok_or_else(nobody)?;
        let Some(BoundValue::Record(of, key)) = self.scene.held("me").cloned() else { return Err(nobody()) };
        let record = self.session.state().get(&self.world.base, of, &key).filter(|_| of == auth.user);
        let record = record.cloned().ok_or_else(nobody)?;
        let sign_in = self.world.world_template.survey.sign_in(domain).ok_or_else(nobody)?;
        let BehaviourKind::SignIn { login, secret } = model.api(sign_in).behaviour.kind else {
            return Err(nobody());
        };
        let words = self.world.world_template.scenario_set.sign_in(domain).clone();
        self.ask_for("sign in", &words.ask, &words.tell, told)?;
        let api = model.api(sign_in);
        if !self.find(&api.name, &mut told.turns) {
            return Err(Unplayed::NotFound(api.name.to_string()));
        }
        let arguments =
            [(login, auth.login), (secret, auth.secret)].into_iter().filter_map(|(parameter, field)| {
                let value = record.get(field.index())?.to_json(&model.zone);
                Some((api.parameters[parameter.index()].name.to_string(), value))
            });
        let call =
            CandidateCall { api: api.name.to_string(), arguments: arguments.collect(), mistake: false };
        let entry = self.session.call(&(&call).into());
        if !entry.reply.is_success() {
            return Err(Unplayed::Refused { api: call.api, reply: entry.reply.to_json(&model.zone) });
        }
        self.calls.push(entry);
        told.turns.push(Turn { calls: vec![call], ..Turn::default() });
        self.scene.set_state(self.session.state().clone());
        Ok(())
    }
}

/// Words for signing in to a domain: the domain's own, else plain ones.
pub(super) fn words(doc: &SignInDoc, world: &World, domain: DomainId) -> SignInDoc {
    let Some(auth) = world.domains.get(domain.index()).and_then(|domain| domain.auth.as_ref()) else {
        return doc.clone();
    };
    let users = world.resource(auth.user);
    let (login, secret) = (users.field(auth.login), users.field(auth.secret));
    let (login_label, secret_label) = (login.label.to_lowercase(), secret.label.to_lowercase());
    let (login, secret) = (format!("{{me.{}}}", login.name), format!("{{me.{}}}", secret.name));
    let or = |own: &[String], plain: [String; 4]| if own.is_empty() { plain.to_vec() } else { own.to_vec() };
    let ask = [
        format!("To sign you in I need your {login_label} and {secret_label}."),
        format!("Could you give me your {login_label} and {secret_label}, please?"),
        format!("Please tell me your {login_label} and {secret_label} so that I can sign you in."),
        format!("I'll need your {login_label} and {secret_label} for that."),
    ];
    let tell = [
        format!("My {login_label} is {login} and my {secret_label} is {secret}."),
        format!("Sure. {login_label}: {login}, {secret_label}: {secret}"),
        format!("{login_label} is {login}, {secret_label} {secret}"),
        format!("its {login}, {secret_label} {secret}"),
    ];
    SignInDoc { ask: or(&doc.ask, ask), tell: or(&doc.tell, tell) }
}
