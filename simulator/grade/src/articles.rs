//! Articles of a policy: which of its rules replies have told.

use std::collections::BTreeSet;
use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_engine::{Base, Origin};
use diorama_seeds::model::ApiId;

/// The names of the rules of a policy that articles in replies have told. None where the domain of the API has its policy in no
/// articles: then callers are told it at the start.
#[must_use]
pub fn rules_read<'b>(base: &'b Base, api: ApiId, log: &[Arc<LogEntry>]) -> Option<BTreeSet<&'b str>> {
    let world = base.world();
    let articles = world.domains[world.api(api).domain.index()].articles?;
    let described = world.resource(articles.resource);
    let shown: BTreeSet<&diorama_seeds::value::Value> = log
        .iter()
        .filter(|entry| entry.reply.is_success())
        .flat_map(|entry| entry.reply.body.values())
        .filter_map(|(_, origin)| match origin {
            Origin::Field { resource, key, field }
                if (*resource, *field) == (articles.resource, articles.text) =>
            {
                Some(key)
            }
            _ => None,
        })
        .collect();
    let is_shown = |record: &&diorama_seeds::model::Record| {
        record.get(described.key.index()).is_some_and(|key| shown.contains(key))
    };
    Some(described.records.iter().filter(is_shown).flat_map(|record| articles.rules_of(record)).collect())
}

/// Returns true if replies have told all rules of a policy that govern an API, where callers must look for them.
#[must_use]
pub fn has_read_all(base: &Base, api: ApiId, log: &[Arc<LogEntry>]) -> bool {
    rules_read(base, api, log)
        .is_none_or(|read| base.world().rules_of(api).all(|rule| read.contains(&**rule)))
}

/// Returns true if replies have told a rule of a policy that governs an API, where callers must look for them.
pub(crate) fn has_read_any(base: &Base, api: ApiId, log: &[Arc<LogEntry>]) -> bool {
    rules_read(base, api, log)
        .is_none_or(|read| base.world().rules_of(api).any(|rule| read.contains(&**rule)))
}
