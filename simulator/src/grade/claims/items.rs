//! Items of lists: what an answer says of one, held against the others.

use std::sync::Arc;

use super::Known;
use super::leaves::Leaf;
use crate::engine::{Body, Origin};
use crate::grade::extract::{Mention, What};
use crate::session::LogEntry;

/// So many items of a list are looked at.
const MOST_ITEMS: usize = 100;

/// A list of a reply, of which an answer names some items.
pub(super) struct Listed<'a> {
    items: &'a [Body],
    /// The texts of items that the answer has: which item's, as it is, and in lower case.
    names: Vec<(usize, &'a str, String)>,
}

impl<'a> Listed<'a> {
    /// The lists of replies of which an answer names items.
    pub(super) fn of(entries: &'a [Arc<LogEntry>], answer: &str) -> Vec<Self> {
        let answer = answer.to_lowercase();
        let listed = entries.iter().flat_map(|entry| entry.reply.body.parts()).filter_map(|part| {
            let Body::List(items) = part else { return None };
            let texts = items.iter().enumerate().take(MOST_ITEMS).flat_map(|(at, item)| {
                let texts = item.values().filter_map(|(value, _)| value.as_str());
                texts.filter(|text| text.len() > 3).map(move |text| (at, text))
            });
            let named = texts.filter_map(|(at, text)| {
                let lower = text.to_lowercase();
                answer.contains(&lower).then_some((at, text, lower))
            });
            let names: Vec<_> = named.collect();
            (!names.is_empty()).then_some(Self { items, names })
        });
        listed.collect()
    }
}

impl<'a> Known<'a> {
    /// The name of an item of a list that an answer gives the value of another item.
    pub(super) fn of_another(&self, mention: &Mention) -> Option<&'a str> {
        let lists = self.lists.get_or_init(|| Listed::of(self.shown.entries, self.prose.source()));
        if lists.is_empty() || matches!(mention.what, What::None) || self.is_said(mention) {
            return None;
        }
        let text = self.prose.text();
        let token = text.get(mention.tokens.0)?;
        let start = text.tokens.iter().find(|other| other.sentence == token.sentence)?.start as usize;
        let before = self.prose.source().get(start..mention.start)?.to_lowercase();
        lists.iter().find_map(|list| self.swapped(list, &before, mention))
    }

    /// The same for one list: `before` is what the sentence says before the value.
    fn swapped(&self, list: &Listed<'a>, before: &str, mention: &Mention) -> Option<&'a str> {
        // The item whose name stands last before the value.
        let placed =
            list.names.iter().filter_map(|(at, name, lower)| Some((before.rfind(lower)?, *at, *name)));
        let (place, at, name) = placed.max_by_key(|(place, ..)| *place)?;
        // A name that several items bear tells none of them.
        let bears = |item: &&Body| item.values().any(|(value, _)| value.as_str() == Some(name));
        let between = before.get(place + name.len()..)?;
        let apart = between.split_whitespace().count() > 6 || between.contains([',', ';']);
        if apart || list.items.iter().filter(bears).count() > 1 {
            return None;
        }
        let own = list.items.get(at)?;
        let has = |item: &Body, path: Option<&str>| {
            item.leaves().any(|(place, value, origin)| {
                let schema = match origin {
                    Origin::Field { resource, field, .. } => {
                        Some(&self.shown.base.world().resource(*resource).field(*field).schema)
                    }
                    _ => None,
                };
                let alike = path.is_none_or(|path| path == place);
                alike && Leaf::of(value, schema).is(mention, self.shown.clock)
            })
        };
        let others = || list.items.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, item)| item);
        let taken = || own.leaves().any(|(path, ..)| others().any(|item| has(item, Some(&path))));
        // What something else has too may be said of that.
        (self.bearing(mention).count() == 1 && !has(own, None) && taken()).then_some(name)
    }
}
