//! Owns the rules that no API enforces, and the articles that tell them where callers are not told them at the
//! start.

use super::ids::{FieldId, ResourceId};
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
    /// The number that it sets, as a clause for the people whom it concerns: `at least 24 hours must be left until it
    /// starts`. None without a number.
    pub limit: Option<Str>,
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
    pub fn rules_of<'r>(&self, article: &'r [Value]) -> impl Iterator<Item = &'r str> + use<'r> {
        let list = match article.get(self.rules.index()) {
            Some(Value::List(names)) => &names[..],
            _ => &[],
        };
        list.iter().filter_map(Value::as_str)
    }
}
