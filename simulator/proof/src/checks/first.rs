//! Builds the evidence of a superlative: that a fact about the cheapest or the latest of several is about
//! that one.

use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_engine::{Body, Origin};
use diorama_seeds::model::ResourceId;
use diorama_seeds::task::{ArgumentSource, Evidence, places};
use diorama_seeds::value::Value;

use super::FactBuilder;
use crate::ground::order::{SortOrder, extremes};
use crate::ground::seen::turns_before;

/// The greatest number of calls between a fact and the list that its record was chosen from.
const MAX_CALLS_BACK: usize = 3;

impl FactBuilder<'_> {
    /// Returns the evidence that the records behind a path of a reply come first, where the user asked for
    /// that.
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
        let Body::List(items) = entry.reply.body.at(array)? else { return None };
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

    /// Returns the member that the user's order sorts a call by, where an item is the first.
    fn first_by_order(&self, call: usize, items: &[Body], index: usize) -> Option<(String, bool)> {
        let gold = self.gold.get(call).filter(|_| index == 0)?;
        let query = self.world.api(self.world.api_named(&gold.api)?).query()?;
        let sought = SortOrder::from_call(gold, self.world)?;
        turns_before(self.turns, gold).iter().find_map(|prose| sought.find_request(prose))?;
        let is_by = |(_, _, origin): &(String, &Value, &Origin)| matches!(origin, Origin::Field { resource, field, .. } if (*resource, *field) == (query.resource, sought.field));
        let (path, ..) = items.first()?.leaves().find(is_by)?;
        Some((path, sought.descending))
    }

    /// Returns the member in which an item is the only least or greatest one, where the user asked for that.
    fn first_by_value(&self, call: usize, items: &[Body], index: usize) -> Option<(String, bool)> {
        let gold = self.gold.get(call).filter(|_| items.len() > 1)?;
        let mut extremes = extremes(items, index, turns_before(self.turns, gold));
        extremes.find_map(|(path, origin, greatest)| {
            matches!(origin, Origin::Field { .. }).then_some((path, greatest))
        })
    }
}

/// Splits `items[3].name` into the array, the position and the member.
pub(crate) fn split_item(path: &str) -> Option<(&str, usize, &str)> {
    let open = path.find('[')?;
    let close = open + path.get(open..)?.find(']')?;
    let index = path.get(open + 1..close)?.parse().ok()?;
    Some((path.get(..open)?, index, path.get(close + 1..)?.trim_start_matches('.')))
}

/// Returns the record that an item shows.
fn record_of(item: &Body) -> Option<(ResourceId, &Value)> {
    item.values().find_map(|(_, origin)| match origin {
        Origin::Field { resource, key, .. } => Some((*resource, key)),
        _ => None,
    })
}
