//! Finds alternative evidence of a value: its own position in a reply, or the same computed value with two
//! arguments exchanged.

use diorama_engine::Body;
use diorama_engine::session::{LogEntry, Session};
use diorama_seeds::schema::Type;
use diorama_seeds::task::{Call, Evidence};
use serde_json::{Map, Value as Json};

use super::FactBuilder;

impl FactBuilder<'_> {
    /// Returns the alternative evidence of a leaf, each enough by itself: the leaf, or the same value with
    /// two arguments exchanged.
    /// Example of the latter: the distance between two cities.
    pub(super) fn ways(
        &self,
        (call, entry, path): (usize, &LogEntry, &str),
        leaf: &Body,
        session: &Session,
    ) -> Option<Vec<Evidence>> {
        let first = self.evidence(call, entry, path, leaf)?;
        let mut ways = vec![first];
        if let (Some(Evidence::Computed { arguments, .. }), Some(value)) = (ways.first(), leaf.value()) {
            let swapped = self.exchanged(entry, arguments, |other| {
                let reply = session.fork_at(call).call(other);
                let same = reply.reply.body.at(path).and_then(Body::value) == leaf.value();
                reply.reply.is_success() && same
            });
            ways.extend(swapped.map(|arguments| Evidence::Computed {
                api: entry.call.api.clone(),
                path: path.to_owned(),
                value: value.to_text(&self.world.zone),
                arguments,
            }));
        }
        Some(ways)
    }

    /// Returns the arguments of a read with two of one type exchanged, where `is_same` accepts the reply.
    fn exchanged(
        &self,
        entry: &LogEntry,
        arguments: &Map<String, Json>,
        is_same: impl Fn(&Call) -> bool,
    ) -> Option<Map<String, Json>> {
        let api = entry.api.map(|id| self.world.api(id)).filter(|api| !api.writes())?;
        let target = |name: &str| match api.parameters[api.parameter_named(name)?.index()].schema.kind {
            Type::Reference { resource, .. } => Some(resource),
            _ => None,
        };
        let names: Vec<&String> = arguments.keys().filter(|name| target(name).is_some()).collect();
        let pairs = names.iter().enumerate().flat_map(|(at, first)| {
            names.iter().skip(at + 1).map(move |second| (first.as_str(), second.as_str()))
        });
        let (first, second) = pairs
            .filter(|(first, second)| target(first) == target(second))
            .find(|(first, second)| arguments[*first] != arguments[*second])?;
        let exchange = |of: &Map<String, Json>| {
            let mut exchanged = of.clone();
            exchanged.insert(first.to_owned(), of.get(second)?.clone());
            exchanged.insert(second.to_owned(), of.get(first)?.clone());
            Some(exchanged)
        };
        let other = Call { api: entry.call.api.clone(), arguments: exchange(&entry.call.arguments)? };
        if is_same(&other) { exchange(arguments) } else { None }
    }
}
