//! What an answer says of its own deeds: a value in a sentence that claims a deed is one that the deed had.

use std::sync::Arc;

use super::Known;
use super::leaves::Leaf;
use super::measured::currency_of;
use crate::evidence::parsed;
use diorama_answers::prose::{Prose, Span};
use diorama_answers::units::Unit;
use diorama_answers::{Mention, Stance, What};
use diorama_engine::RecordChange;
use diorama_engine::session::LogEntry;

/// Words before a value that bounds what a deed was done to.
const BOUNDS: [&str; 6] = [" since", " from", " until", " after", " before", " by"];

impl Known<'_> {
    /// A value that a sentence which claims a deed gives, where the deeds of the goal had another of its kind and the
    /// sentence gives none of theirs. `own` are the calls of the goal, `claims` the places of words that claim.
    pub(crate) fn misclaimed(&self, own: &[Arc<LogEntry>], claims: &[Span]) -> Option<String> {
        let (prose, clock, world) = (self.prose, self.shown.clock, self.shown.base.world());
        let writes = |entry: &&Arc<LogEntry>| entry.api.is_some_and(|id| world.api(id).writes());
        let done: Vec<_> = own.iter().filter(|entry| entry.reply.is_success()).filter(writes).collect();
        let changes: Vec<&RecordChange> = done.iter().flat_map(|entry| &entry.changes).collect();
        let written: Vec<Leaf<'_>> = changes.iter().flat_map(|change| self.written(change)).collect();
        let held = |mention: &Mention| {
            let records = changes.iter().flat_map(|change| change.before.iter().chain(&change.after));
            let replies = done.iter().flat_map(|entry| entry.reply.body.values());
            let sent = done.iter().flat_map(|entry| entry.call.arguments.values());
            // However an argument was spelt, it is the value that its parameter reads.
            let read = done.iter().flat_map(|entry| parsed(&entry.call.api, &entry.call.arguments, world));
            records.flat_map(|record| record.iter()).any(|value| Leaf::of(value, None).is(mention, clock))
                || replies.into_iter().any(|(value, _)| Leaf::of(value, None).is(mention, clock))
                || sent.into_iter().any(|json| Leaf::sent(json).is(mention, clock))
                || read.into_iter().any(|(_, value)| Leaf::of(&value, None).is(mention, clock))
        };
        let sentences = prose.sentences().filter(|one| claims.iter().any(|claim| one.overlaps(*claim)));
        for sentence in sentences {
            let said: Vec<&Mention> =
                prose.mentions().iter().filter(|mention| sentence.overlaps(mention.span())).collect();
            let stated = said.iter().filter(|mention| mention.stance == Stance::Asserted);
            for mention in stated.filter(|mention| !self.is_in_code(mention.start)) {
                let alike: Vec<&Leaf<'_>> = written.iter().filter(|leaf| is_of_kind(leaf, mention)).collect();
                let kind = std::mem::discriminant(&mention.what);
                let same = said.iter().filter(|other| std::mem::discriminant(&other.what) == kind);
                let told = same.into_iter().any(|other| alike.iter().any(|leaf| leaf.is(other, clock)));
                // `all that you have logged since 28 January`
                let before = prose.source().get(..mention.start).unwrap_or_default().trim_end();
                let bounds = BOUNDS.iter().any(|word| before.ends_with(word)) && self.is_said(mention);
                let beside = |claim: &Span| {
                    let (from, to) = (claim.end.min(mention.end), claim.start.max(mention.start));
                    prose.words_at(Span { start: from, end: to }).split_whitespace().count() <= 3
                };
                let miscounts = claims.iter().any(beside) && self.miscounts(mention, &changes);
                if (miscounts || (!alike.is_empty() && !told && !bounds)) && !held(mention) {
                    return Some(format!("{}: not what was done", prose.words_at(mention.span())));
                }
            }
        }
        None
    }

    /// The fields that a change has set; of a record that is gone, all that it had.
    fn written<'c>(&'c self, change: &'c RecordChange) -> impl Iterator<Item = Leaf<'c>> {
        let fields = &self.shown.base.world().resource(change.resource).fields;
        let (before, after) = (change.before.as_ref(), change.after.as_ref());
        let values = after.or(before).into_iter().flat_map(|record| record.iter());
        let old = move |at: usize| before.zip(after).and_then(|(before, _)| before.get(at));
        let set =
            fields.iter().zip(values).enumerate().filter(move |(at, (_, value))| old(*at) != Some(*value));
        set.map(|(_, (field, value))| Leaf::of(value, Some(&field.schema)))
    }

    /// Whether a number counts records of a kind that was changed, and not as many as were.
    fn miscounts(&self, mention: &Mention, changes: &[&RecordChange]) -> bool {
        let What::Number(number) = &mention.what else { return false };
        if !self.prose.words_at(mention.span()).contains(|c: char| c.is_ascii_digit()) {
            return false;
        }
        let world = self.shown.base.world();
        let mut counted = changes.iter().filter(|change| {
            let label = Prose::stems_of(&world.resource(change.resource).label);
            number.unit.is_none() && label.last().is_some_and(|label| number.noun.contains(label))
        });
        let Some(first) = counted.next() else { return false };
        let mut keys: Vec<_> = changes.iter().filter(|change| change.resource == first.resource).collect();
        keys.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        keys.dedup_by(|a, b| a.key == b.key);
        (number.value - keys.len() as f64).abs() > 1e-9
    }
}

/// Whether a value that was set is of the kind of a mention, and measured as it: bare numbers are of any.
fn is_of_kind(leaf: &Leaf<'_>, mention: &Mention) -> bool {
    leaf.is_alike(mention)
        && match &mention.what {
            What::Number(number) => number.unit.is_some_and(|said| {
                let unit = leaf.schema.and_then(|schema| schema.unit.as_deref()).and_then(Unit::named);
                unit.is_some_and(|unit| unit.dimension == said.dimension)
            }),
            What::Money(_) => leaf.schema.and_then(currency_of).is_some(),
            What::Date(day) => !day.derived,
            What::Time(time) => !time.end,
            What::None => false,
        }
}
