//! The tokens of the user: who is signed in already is not asked again.

use diorama_seeds::doc::ScenarioStepDoc;
use diorama_seeds::model::{BehaviourKind, DomainId};
use diorama_seeds::scenario::BoundValue;
use serde_json::Value as Json;

use super::player::Player;
use super::unplayed::Unplayed;

impl Player<'_> {
    /// The beginning of a place in words that tells the secret of a domain's user, where they are signed in there.
    pub(super) fn secret_of_signed_in(&self, domain: DomainId) -> Option<String> {
        let model = self.world.base.world();
        let auth = model.domains[domain.index()].auth.as_ref()?;
        self.token(domain)?;
        Some(format!("{{me.{}", model.resource(auth.user).field(auth.secret).name))
    }

    /// Returns true if a step only signs in somebody who is signed in already.
    ///
    /// # Errors
    /// When it does something else besides.
    pub(super) fn signs_in_again(&self, step: &ScenarioStepDoc) -> Result<bool, Unplayed> {
        let Some(secret) = self.secret_of_signed_in(self.scenario.domain) else { return Ok(false) };
        let model = self.world.base.world();
        let signs_in = |step: &ScenarioStepDoc| {
            let api = step.call.as_deref().and_then(|name| model.api_named(name));
            api.is_some_and(|api| matches!(model.api(api).behaviour.kind, BehaviourKind::SignIn { .. }))
        };
        let mixed = || Unplayed::SignsInAgain(self.scenario.doc.name.clone());
        if step.together.iter().any(signs_in) {
            return Err(mixed());
        }
        let Some(about) = &step.ask else { return Ok(signs_in(step) && !step.fails) };
        let wordings = self.scenario.doc.withheld.get(about).map_or(&[][..], Vec::as_slice);
        if !wordings.iter().any(|wording| wording.contains(&secret)) {
            return Ok(false);
        }
        let is_mixed =
            wordings.iter().any(|wording| wording.matches('{').count() != wording.matches("{me.").count());
        if is_mixed { Err(mixed()) } else { Ok(true) }
    }

    /// The token of the user in a domain: the standing one, or that of the latest sign-in.
    pub(super) fn token(&self, domain: DomainId) -> Option<Json> {
        if let Some(token) = self.standing_token(domain) {
            return Some(Json::from(token));
        }
        let model = self.world.base.world();
        self.calls.iter().rev().filter(|entry| entry.reply.is_success()).find_map(|entry| {
            let api = model.api(entry.api?);
            if api.domain != domain || !matches!(api.behaviour.kind, BehaviourKind::SignIn { .. }) {
                return None;
            }
            let (_, value, _) = entry.reply.body.leaves().find(|(path, ..)| path.ends_with("token"))?;
            Some(value.to_json(&model.zone))
        })
    }

    /// The standing token of the user in a domain, where the operator has signed them in.
    pub(super) fn standing_token(&self, domain: DomainId) -> Option<String> {
        let base = &self.world.base;
        let auth = base.world().domains[domain.index()].auth.as_ref().filter(|_| self.is_signed_in)?;
        let key = self.callers.iter().rev().find_map(|caller| match caller {
            BoundValue::Record(resource, key) if *resource == auth.user => Some(key),
            _ => None,
        })?;
        base.standing().token(domain, key).map(|token| token.to_string())
    }
}
