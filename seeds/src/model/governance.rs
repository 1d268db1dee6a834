//! Answers questions about the policies of a world, and makes the worlds in which they refuse calls.

use super::behaviour::{Behaviour, BehaviourKind, Require};
use super::ids::{ApiId, DomainId};
use super::{Api, World};
use crate::value::Str;

impl World {
    /// Returns true if a rule governs an API, of the policy of one of these domains.
    pub fn is_governed(&self, api: ApiId, policies: &[String]) -> bool {
        let api = self.api(api);
        let domain = &self.domains[api.domain.index()].name;
        !api.behaviour.rules.is_empty() && policies.iter().any(|policy| **policy == **domain)
    }

    /// Returns true if a rule asks for a yes of the user before some call, of the policy of one of these domains.
    pub fn asks_confirmation(&self, policies: &[String]) -> bool {
        let is_told =
            |api: &Api| policies.iter().any(|policy| **policy == *self.domains[api.domain.index()].name);
        self.apis.iter().any(|api| !api.behaviour.confirms.is_empty() && is_told(api))
    }

    /// The same world in which the rules of policies refuse calls; none where no policy governs a call.
    pub fn shadow(&self) -> Option<Self> {
        let has_rules = self.apis.iter().any(|api| !api.behaviour.rules.is_empty());
        has_rules.then(|| self.refusing_by(|behaviour| &mut behaviour.rules))
    }

    /// The same world in which the rules of policies refuse calls as articles tell them that were replaced; none where none was.
    pub fn replaced_shadow(&self) -> Option<Self> {
        let has_rules = self.apis.iter().any(|api| !api.behaviour.replaced.is_empty());
        has_rules.then(|| self.refusing_by(|behaviour| &mut behaviour.replaced))
    }

    fn refusing_by(&self, rules: fn(&mut Behaviour) -> &mut Vec<Require>) -> Self {
        let mut shadow = self.clone();
        for behaviour in shadow.apis.iter_mut().map(|api| &mut api.behaviour) {
            let mut refusing = std::mem::take(rules(behaviour));
            behaviour.require.append(&mut refusing);
        }
        shadow
    }

    /// The API with which callers search the articles of a domain's policy; none where the policy does not stand in articles.
    pub fn policy_search(&self, domain: DomainId) -> Option<ApiId> {
        let articles = self.domains.get(domain.index())?.articles?;
        self.api_ids().find(|id| {
            let kind = &self.api(*id).behaviour.kind;
            matches!(kind, BehaviourKind::List(query) if query.resource == articles.resource)
        })
    }

    /// The names of the rules of a policy that govern an API, those that ask for a yes too.
    pub fn rules_of(&self, api: ApiId) -> impl Iterator<Item = &Str> {
        let behaviour = &self.api(api).behaviour;
        let rules = behaviour.rules.iter().map(|rule| &rule.message);
        rules.chain(behaviour.confirms.iter().map(|confirm| &confirm.rule))
    }
}
