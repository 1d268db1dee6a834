//! The evidence of a superlative: of a fact about the cheapest or the latest of several, that it is.

use std::sync::Arc;

use diorama_answers::prose::Prose;
use diorama_engine::session::LogEntry;
use diorama_engine::{Body, Origin};
use diorama_seeds::model::ResourceId;
use diorama_seeds::task::{ArgumentSource, Evidence};
use diorama_seeds::value::Value;

use super::FactBuilder;
use crate::ground::{Sought, asks_for_extreme, places};

/// Calls that are gone back over from a fact to the list that its record was chosen from.
const MAX_CALLS_BACK: usize = 3;

impl FactBuilder<'_> {
    /// Returns the evidence that the records on the way to a place of a reply come first where the user asked for that.
    pub(super) fn first_ones(&self, call: usize, path: &str, entries: &[Arc<LogEntry>]) -> Vec<Evidence> {
        let mut found = Vec::new();
        let mut open = vec![(call, path.to_owned())];
        for _ in 0..MAX_CALLS_BACK {
            found.extend(open.iter().filter_map(|(call, path)| self.first_one(*call, path, entries)));
            let calls: Vec<usize> = open.drain(..).map(|(call, _)| call).collect();
            let sources = calls.iter().filter_map(|call| self.gold.get(*call)).flat_map(|gold| {
                gold.sources.values().filter(|source| matches!(source, ArgumentSource::Reply { .. }))
            });
            open.extend(sources.flat_map(places).map(|(of, path)| (of as usize, path.to_owned())));
        }
        found
    }

    fn first_one(&self, call: usize, path: &str, entries: &[Arc<LogEntry>]) -> Option<Evidence> {
        let (array, index, _) = split_item(path)?;
        let entry = entries.get(call)?;
        let Body::List(items) = at(&entry.reply.body, array)? else { return None };
        let item = items.get(index)?;
        let (resource, key) = record_of(item)?;
        if self.new.contains_key(&(resource, key.clone())) {
            return None;
        }
        let (by, greatest) =
            self.first_by_order(call, items, index).or_else(|| self.first_by_value(call, items, index))?;
        Some(Evidence::First {
            api: entry.call.api.clone(),
            arguments: self.lasting_arguments(entry),
            array: array.to_owned(),
            by,
            greatest,
            resource: self.world.resource(resource).qualified.to_string(),
            key: key.to_text(&self.world.zone),
        })
    }

    /// The member that a call is ordered by at the user's wish, where an item is the first.
    fn first_by_order(&self, call: usize, items: &[Body], index: usize) -> Option<(String, bool)> {
        let gold = self.gold.get(call).filter(|_| index == 0)?;
        let api = self.world.api(self.world.api_named(&gold.api)?);
        let query = api.query()?;
        let (parameter, _) = query.sort_parameter.as_ref()?;
        let parameter = api.parameters.get(parameter.index())?;
        let value = gold.arguments.get(&*parameter.name)?;
        let value = parameter.schema.parse_json(value, &self.world.zone).ok()?;
        let sought = Sought::of(api, parameter, &value, self.world)?;
        self.said(call).iter().find_map(|prose| sought.asked_in(prose))?;
        let is_by = |(_, _, origin): &(String, &Value, &Origin)| matches!(origin, Origin::Field { resource, field, .. } if (*resource, *field) == (query.resource, sought.field));
        let (path, ..) = items.first()?.leaves().find(is_by)?;
        Some((path, sought.descending))
    }

    /// The member in which an item is the only least or greatest one, where the user asked for that.
    fn first_by_value(&self, call: usize, items: &[Body], index: usize) -> Option<(String, bool)> {
        let others = || items.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, item)| item);
        others().next()?;
        items.get(index)?.leaves().find_map(|(path, value, origin)| {
            if !matches!(origin, Origin::Field { .. }) {
                return None;
            }
            let of_time = matches!(value, Value::Date(_) | Value::Time(_) | Value::DateTime(_));
            let rank = value.magnitude()?;
            let ranks: Vec<f64> =
                others().map(|other| at(other, &path)?.value()?.magnitude()).collect::<Option<_>>()?;
            let asks =
                |greatest| self.said(call).iter().any(|prose| asks_for_extreme(prose, greatest, of_time));
            let greatest = if ranks.iter().all(|other| *other > rank) && asks(false) {
                false
            } else if ranks.iter().all(|other| *other < rank) && asks(true) {
                true
            } else {
                return None;
            };
            Some((path, greatest))
        })
    }

    /// What the user had said before a call.
    fn said(&self, call: usize) -> &[Prose] {
        let turn = self.gold.get(call).map_or(0, |gold| gold.turn as usize);
        self.turns.get(..=turn).unwrap_or(self.turns)
    }

    /// The arguments of a call that are the same in every session: no token and no key of a new record.
    fn lasting_arguments(&self, entry: &LogEntry) -> serde_json::Map<String, serde_json::Value> {
        let Some(api) = entry.api.map(|id| self.world.api(id)) else { return serde_json::Map::new() };
        let lasts = |name: &str, json: &serde_json::Value| {
            let Some(id) = api.parameter_named(name) else { return false };
            let value = api.parameters[id.index()].schema.parse_json(json, &self.world.zone);
            api.token != Some(id) && value.is_ok_and(|value| !self.new.keys().any(|(_, key)| *key == value))
        };
        let arguments = entry.call.arguments.iter().filter(|(name, json)| lasts(name, json));
        arguments.map(|(name, json)| (name.clone(), json.clone())).collect()
    }
}

/// `items[3].name` as the array, the position and the member.
pub(crate) fn split_item(path: &str) -> Option<(&str, usize, &str)> {
    let open = path.find('[')?;
    let close = open + path.get(open..)?.find(']')?;
    let index = path.get(open + 1..close)?.parse().ok()?;
    Some((path.get(..open)?, index, path.get(close + 1..)?.trim_start_matches('.')))
}

fn at<'a>(body: &'a Body, path: &str) -> Option<&'a Body> {
    if path.is_empty() { Some(body) } else { body.at(path) }
}

/// The record that an item shows.
fn record_of(item: &Body) -> Option<(ResourceId, &Value)> {
    item.values().find_map(|(_, origin)| match origin {
        Origin::Field { resource, key, .. } => Some((*resource, key)),
        _ => None,
    })
}
