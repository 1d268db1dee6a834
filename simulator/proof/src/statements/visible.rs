//! Collects everything that an assistant could see when it wrote a message.

use std::sync::Arc;

use diorama_answers::prose::Prose;
use diorama_answers::{Clock, Mention, What};
use diorama_engine::session::LogEntry;
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_engine::{Base, Body, Origin};
use diorama_seeds::model::{FieldId, ResourceId};
use diorama_seeds::value::Instant;

use super::value::{Content, Target};
use crate::measures::Measures;
use crate::vocabulary::Vocabulary;

/// The greatest number of reply values that are read.
const MAX_LEAVES: usize = 4000;

/// The texts and values that an assistant can see when it speaks.
pub(crate) struct Visible<'a> {
    /// The clock that texts are read by.
    pub(crate) clock: &'a Clock,
    /// The present instant.
    pub(crate) now: Instant,
    /// The system message, where it was kept.
    pub(crate) system: Option<&'a Prose>,
    /// The user's turns so far.
    pub(crate) turns: &'a [Prose],
    /// The calls so far.
    pub(crate) entries: &'a [Arc<LogEntry>],
    /// The visible units and currencies; without them these are not judged.
    pub(crate) measures: Option<&'a Measures>,
    /// The world and its records' names; without them names are not judged.
    pub(crate) world: Option<(&'a Base, &'a Vocabulary)>,
    pub(crate) leaves: Vec<Leaf<'a>>,
}

/// A visible value.
pub(crate) struct Leaf<'a> {
    pub(crate) target: Target<'a>,
    /// The name of its member or argument.
    pub(crate) member: &'a str,
    /// The field that it came from.
    pub(crate) field: Option<(ResourceId, FieldId)>,
    /// True if the user or the assistant chose it, or the world computed it.
    pub(crate) is_free: bool,
}

impl<'a> Visible<'a> {
    /// Collects the values that calls sent and replies show.
    #[must_use]
    pub(crate) fn new(
        clock: &'a Clock,
        now: Instant,
        turns: &'a [Prose],
        entries: &'a [Arc<LogEntry>],
        world: (&'a Base, &'a Vocabulary),
    ) -> Self {
        let (system, measures, leaves) = (None, None, Vec::new());
        let mut visible = Self { clock, now, system, turns, entries, measures, world: Some(world), leaves };
        for entry in entries {
            visible.add_arguments(entry, world.0);
            if entry.call.api != TOOL_SEARCHER && entry.reply.is_success() {
                visible.add_body("", &entry.reply.body, world.0);
            }
        }
        visible
    }

    /// Collects the values of facts and the user's messages alone, for texts without a world.
    #[cfg(test)]
    pub(super) fn of_facts(
        clock: &'a Clock,
        now: Instant,
        turns: &'a [Prose],
        facts: &'a [diorama_seeds::task::Fact],
    ) -> Self {
        let items = facts.iter().flat_map(|fact| match fact {
            diorama_seeds::task::Fact::List { items } => items.as_slice(),
            single => std::slice::from_ref(single),
        });
        let leaf = |target| Leaf { target, member: "", field: None, is_free: true };
        let leaves = items.filter_map(|fact| Target::of_fact(fact, &clock.zone)).map(leaf).collect();
        Self { clock, now, system: None, turns, entries: &[], measures: None, world: None, leaves }
    }

    fn add_arguments(&mut self, entry: &'a LogEntry, base: &'a Base) {
        let api = entry.api.map(|id| base.world().api(id));
        for (member, json) in &entry.call.arguments {
            let parameter = api.and_then(|api| api.parameters.get(api.parameter_named(member)?.index()));
            let schema = parameter.map(|parameter| &parameter.schema);
            let values = json.as_array().map_or(std::slice::from_ref(json), Vec::as_slice);
            let targets =
                values.iter().filter_map(|json| Target::of_argument(json, schema, &self.clock.zone));
            self.leaves.extend(targets.map(|target| Leaf { target, member, field: None, is_free: true }));
        }
    }

    /// Adds the values of a part of a reply, under the name of its member.
    fn add_body(&mut self, member: &'a str, body: &'a Body, base: &'a Base) {
        match body {
            Body::Leaf(value, origin) if self.leaves.len() < MAX_LEAVES => {
                let field = match origin {
                    Origin::Field { resource, field, .. } => Some((*resource, *field)),
                    _ => None,
                };
                let schema =
                    field.map(|(resource, field)| &base.world().resource(resource).field(field).schema);
                let target = Target::of_value(value, schema, &self.clock.zone);
                let leaf = |target| Leaf { target, member, field, is_free: field.is_none() };
                self.leaves.extend(target.map(leaf));
            }
            Body::Leaf(..) => {}
            Body::List(items) => items.iter().for_each(|item| self.add_body(member, item, base)),
            Body::Object(members) => {
                members.iter().for_each(|(name, member)| self.add_body(name, member, base));
            }
        }
    }

    /// Returns true if the user said the same value.
    pub(crate) fn is_said(&self, mention: &Mention) -> bool {
        let number = |what: &What| match what {
            What::Number(number) => Some(number.value),
            What::Money(money) => Some(money.amount.as_f64()),
            _ => None,
        };
        self.turns.iter().flat_map(Prose::mentions).any(|said| match (&said.what, &mention.what) {
            (What::Date(a), What::Date(b)) => a.meets(b, self.clock.today),
            (What::Time(a), What::Time(b)) => a.meets(b),
            (What::Money(a), What::Money(b)) => a.amount == b.amount && a.currency.overlaps(b.currency),
            (What::Number(a), What::Number(b)) => {
                let fits = |unit| {
                    a.unit == Some(unit)
                        || (a.unit.is_none() && self.measures.is_none_or(|known| known.has_exactly(unit)))
                };
                a.value == b.value && b.unit.is_none_or(fits)
            }
            (a, b) => number(a).is_some() && number(a) == number(b),
        })
    }

    /// Returns the visible values that a mention gives.
    pub(crate) fn given_by(&self, what: &What) -> impl Iterator<Item = &Leaf<'a>> {
        self.leaves.iter().filter(|leaf| leaf.target.is(what, self.clock))
    }

    /// Returns the visible strings.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &'a str> {
        self.leaves.iter().filter_map(|leaf| match leaf.target.content {
            Content::Text(text, _) => Some(text),
            _ => None,
        })
    }
}
