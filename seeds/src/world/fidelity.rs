//! Owns the measure of how faithfully an API's behaviour implements its meaning.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::expr::Node;
use crate::model::{Api, BehaviourKind, Source, World};
use crate::schema::Type;

/// Level of a behaviour, the lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// It accepts the values of its schema, and returns a reply that fits its schema.
    Contract,
    /// It stores or shows records.
    Stores,
    /// It does so only below the records that its path names.
    Scoped,
    /// Its records refer to others.
    Refers,
    /// It filters, sorts, pages, or has effects of its own.
    Behaves,
}

impl Level {
    /// All levels, the lowest first.
    const ALL: [Self; 5] = [Self::Contract, Self::Stores, Self::Scoped, Self::Refers, Self::Behaves];

    /// Returns the name of the level.
    const fn name(self) -> &'static str {
        match self {
            Self::Contract => "contract",
            Self::Stores => "stores",
            Self::Scoped => "scoped",
            Self::Refers => "refers",
            Self::Behaves => "behaves",
        }
    }

    const fn meaning(self) -> &'static str {
        match self {
            Self::Contract => "answer as their schemas promise, and change nothing",
            Self::Stores => "keep or show records",
            Self::Scoped => "keep or show what lies below their path",
            Self::Refers => "show or take records of others",
            Self::Behaves => "filter, sort, page, or have effects of their own",
        }
    }
}

/// Returns the level of an API.
fn level(api: &Api) -> Level {
    if let Some(query) = api.query()
        && (!query.filters.is_empty()
            || query.sort.is_some()
            || query.sort_parameter.is_some()
            || query.page.is_some())
    {
        return Level::Behaves;
    }
    let key = match &api.behaviour.kind {
        BehaviourKind::Compute(_) | BehaviourKind::Action { target: None }
            if api.behaviour.also.is_empty() =>
        {
            return Level::Contract;
        }
        BehaviourKind::Get { key, .. }
        | BehaviourKind::Replace { key, .. }
        | BehaviourKind::Patch { key, .. }
        | BehaviourKind::Delete { key, .. }
        | BehaviourKind::Action { target: Some((_, key)) }
            if api.behaviour.also.is_empty() =>
        {
            key.as_ref()
        }
        BehaviourKind::Create { .. } if api.behaviour.also.is_empty() => None,
        BehaviourKind::List(_) => None,
        _ => return Level::Behaves,
    };
    let follows = |source: &Source| matches!(source, Source::Follow(..) | Source::Many(_));
    let refers = api.reply.members.iter().any(|member| follows(&member.source))
        || api.parameters.iter().any(|parameter| {
            let resource = matches!(&parameter.schema.kind, Type::Reference { .. });
            resource && parameter.place == crate::model::Place::Body
        });
    let scoped = api.query().is_some_and(|query| query.condition.is_some())
        || key.is_some_and(|key| !matches!(key.node, Node::Argument(_)))
        || !api.behaviour.require.is_empty();
    match (refers, scoped) {
        (true, _) => Level::Refers,
        (false, true) => Level::Scoped,
        (false, false) => Level::Stores,
    }
}

/// Returns the number of a world's APIs by the name of their level. It omits levels without APIs.
pub fn fidelity_counts(world: &World) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for api in &world.apis {
        *counts.entry(level(api).name().to_owned()).or_default() += 1;
    }
    counts
}

/// Returns the levels of a world's APIs as a table, with the names of APIs at the lowest level.
pub fn fidelity(world: &World) -> String {
    let of: Vec<(&Api, Level)> = world.apis.iter().map(|api| (api, level(api))).collect();
    let mut out = format!("The {} operations by what they do:\n", world.apis.len());
    for wanted in Level::ALL {
        let count = of.iter().filter(|(_, level)| *level == wanted).count();
        let _ = writeln!(out, "{count:>6}  {} ({})", wanted.meaning(), wanted.name());
    }
    let silent: Vec<&str> = of
        .iter()
        .filter(|(_, level)| *level == Level::Contract)
        .map(|(api, _)| &*api.name)
        .take(MOST_NAMED)
        .collect();
    if !silent.is_empty() {
        let _ = writeln!(out, "        those that change nothing: {}", silent.join(", "));
    }
    out
}

/// Maximum number of APIs that are named below the table.
const MOST_NAMED: usize = 40;
