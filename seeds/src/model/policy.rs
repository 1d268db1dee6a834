//! Policies: rules that no API enforces, and the articles that tell them where callers are not told them at the start.

use super::behaviour::{Behaviour, BehaviourKind, Require};
use super::ids::{ApiId, DomainId, FieldId, ResourceId};
use super::{Api, Record, World};
use crate::value::{Str, Value};

/// A rule of a domain's policy, as people read it.
#[derive(Clone, Debug)]
pub struct HouseRule {
    /// Its name, unique in the domain.
    pub name: Str,
    /// The governed act, in the imperative.
    pub act: Str,
    /// Wordings, each of which says all of it.
    pub sentences: Vec<Str>,
    /// Cases near its number with the verdict that its expression gives, each as a sentence.
    pub examples: Vec<Str>,
}

/// The records that tell a policy.
#[derive(Clone, Copy, Debug)]
pub struct Articles {
    /// Their resource.
    pub resource: ResourceId,
    /// The field with the words of an article.
    pub text: FieldId,
    /// The field with the names of the rules that an article in force tells. No reply shows it.
    pub rules: FieldId,
}

impl Articles {
    /// The names of the rules that an article in force tells; none of others.
    pub fn rules_of<'r>(&self, article: &'r Record) -> impl Iterator<Item = &'r str> + use<'r> {
        let list = match article.get(self.rules.index()) {
            Some(Value::List(names)) => &names[..],
            _ => &[],
        };
        list.iter().filter_map(Value::as_str)
    }
}

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
