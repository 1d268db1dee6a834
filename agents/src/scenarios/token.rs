//! Finds the tokens of the user: standing ones, and those from sign-ins.

use diorama_seeds::model::{BehaviourKind, DomainId};
use diorama_seeds::scenario::BoundValue;
use serde_json::Value as Json;

use super::player::Player;

impl Player<'_, '_> {
    /// Returns the user's token in a domain: the standing one, or that of the latest sign-in.
    pub(crate) fn token(&self, domain: DomainId) -> Option<Json> {
        self.standing_token(domain).map(Json::from).or_else(|| self.issued_token(domain))
    }

    /// Returns the token that the latest sign-in of a domain issued.
    pub(crate) fn issued_token(&self, domain: DomainId) -> Option<Json> {
        let model = self.world.base.world();
        self.calls.made.iter().rev().filter(|entry| entry.reply.is_success()).find_map(|entry| {
            let api = model.api(entry.api?);
            if api.domain != domain || !matches!(api.behaviour.kind, BehaviourKind::SignIn { .. }) {
                return None;
            }
            let (_, value, _) = entry.reply.body.leaves().find(|(path, ..)| path.ends_with("token"))?;
            Some(value.to_json(&model.zone))
        })
    }

    /// Returns the user's standing token in a domain, if the operator has signed them in.
    pub(crate) fn standing_token(&self, domain: DomainId) -> Option<&str> {
        let base = &self.world.base;
        let auth = base.world().domains[domain.index()].auth.as_ref().filter(|_| self.manner.is_signed_in)?;
        let key = self.user.callers.iter().rev().find_map(|caller| match caller {
            BoundValue::Record(resource, key) if *resource == auth.user => Some(key),
            _ => None,
        })?;
        base.standing().token(domain, key)
    }
}
