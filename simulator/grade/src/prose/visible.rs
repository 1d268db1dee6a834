//! Everything an assistant could see when it wrote a message, and the records that each visible value belongs to.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use diorama_answers::prose::Prose;
use diorama_answers::{Clock, Mention, What};
use diorama_engine::session::LogEntry;
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_engine::{Base, Body, Origin};
use diorama_seeds::model::{FieldId, ResourceId};
use diorama_seeds::task::Fact;
use diorama_seeds::value::{Instant, Value};

use super::value::{Content, Target};
use crate::measures::Measures;
use crate::vocabulary::Vocabulary;

/// Values of replies that are looked through.
const MAX_LEAVES: usize = 4000;
/// Shorter whole numbers are no names.
const MIN_NAME_DIGITS: usize = 4;

/// The texts and values that an assistant can see when it speaks.
pub struct Visible<'a> {
    /// The clock that texts are read by.
    pub clock: &'a Clock,
    /// The present instant.
    pub now: Instant,
    /// The system message, where it was kept.
    pub system: Option<&'a Prose>,
    /// The user's turns so far.
    pub turns: &'a [Prose],
    /// The calls so far.
    pub entries: &'a [Arc<LogEntry>],
    /// The units and currencies that are visible; not judged where not given.
    pub measures: Option<&'a Measures>,
    /// The world and its records' names; names are not judged where not given.
    pub world: Option<(&'a Base, &'a Vocabulary)>,
    pub(crate) leaves: Vec<Leaf<'a>>,
    pub(crate) subjects: Vec<Subject<'a>>,
}

/// A visible value.
pub(crate) struct Leaf<'a> {
    pub(crate) target: Target<'a>,
    /// The name of its member or argument.
    pub(crate) member: &'a str,
    /// The record and field that it came from.
    pub(crate) field: Option<(Record<'a>, FieldId)>,
    /// Positions in [`Visible::subjects`] of the records that its object and the objects around it show.
    pub(crate) subjects: Rc<[usize]>,
    /// The record that its object is about: that of its first member.
    pub(crate) main: Option<Record<'a>>,
    /// Returns true if the user or the assistant chose it, or the world computed it.
    pub(crate) is_free: bool,
}

/// A record: its resource and key.
pub(crate) type Record<'a> = (ResourceId, &'a Value);

/// A record that replies show, and what it is called there.
pub(crate) struct Subject<'a> {
    pub(crate) record: Record<'a>,
    pub(crate) names: Vec<Cow<'a, str>>,
}

impl<'a> Visible<'a> {
    /// The values that calls sent and replies show.
    #[must_use]
    pub fn new(
        clock: &'a Clock,
        now: Instant,
        turns: &'a [Prose],
        entries: &'a [Arc<LogEntry>],
        world: (&'a Base, &'a Vocabulary),
    ) -> Self {
        let (system, measures, leaves, subjects) = (None, None, Vec::new(), Vec::new());
        let mut visible =
            Self { clock, now, system, turns, entries, measures, world: Some(world), leaves, subjects };
        for entry in entries {
            visible.add_arguments(entry, world.0);
            if entry.call.api != TOOL_SEARCHER && entry.reply.is_success() {
                visible.add_object("", &entry.reply.body, &[], world.0);
            }
        }
        visible
    }

    /// The values of facts alone, and what the user said: for texts without a world.
    #[must_use]
    pub fn of_facts(clock: &'a Clock, now: Instant, turns: &'a [Prose], facts: &'a [Fact]) -> Self {
        let none: Rc<[usize]> = Rc::from([]);
        let items = facts.iter().flat_map(|fact| match fact {
            Fact::List { items, .. } => items.as_slice(),
            single => std::slice::from_ref(single),
        });
        let leaf = |target| Leaf {
            target,
            member: "",
            field: None,
            subjects: Rc::clone(&none),
            main: None,
            is_free: true,
        };
        let leaves = items.filter_map(|fact| Target::of_fact(fact, &clock.zone)).map(leaf).collect();
        let (system, measures, world) = (None, None, None);
        Self { clock, now, system, turns, entries: &[], measures, world, leaves, subjects: Vec::new() }
    }

    fn add_arguments(&mut self, entry: &'a LogEntry, base: &'a Base) {
        let none: Rc<[usize]> = Rc::from([]);
        let api = entry.api.map(|id| base.world().api(id));
        for (member, json) in &entry.call.arguments {
            let parameter = api.and_then(|api| api.parameters.get(api.parameter_named(member)?.index()));
            let schema = parameter.map(|parameter| &parameter.schema);
            let values = json.as_array().map_or(std::slice::from_ref(json), Vec::as_slice);
            for target in values.iter().filter_map(|json| Target::of_argument(json, schema, &self.clock.zone))
            {
                let subjects = Rc::clone(&none);
                self.leaves.push(Leaf { target, member, field: None, subjects, main: None, is_free: true });
            }
        }
    }

    /// Adds the values of an object, with the records that it and those around it show; items of lists are objects of
    /// their own.
    fn add_object(&mut self, name: &'a str, body: &'a Body, around: &[usize], base: &'a Base) {
        let world = base.world();
        let mut own: Vec<usize> = around.to_vec();
        let mut plain: Vec<(&'a str, &'a Value, &'a Origin)> = Vec::new();
        let mut lists: Vec<(&'a str, &'a Body)> = Vec::new();
        let mut stack = vec![(name, body)];
        while let Some((name, part)) = stack.pop() {
            match part {
                Body::Leaf(value, origin) => plain.push((name, value, origin)),
                Body::Object(members) => stack.extend(members.iter().map(|(name, member)| (&**name, member))),
                Body::List(items) => lists.extend(items.iter().map(|item| (name, item))),
            }
        }
        for (_, value, origin) in &plain {
            let Origin::Field { resource, key, field } = origin else { continue };
            let subject = self.subject((*resource, key));
            if !own.contains(&subject) {
                own.push(subject);
            }
            let declared = world.resource(*resource);
            if declared.key == *field || declared.display == Some(*field) {
                let name = match value {
                    Value::String(text) => Some(Cow::Borrowed(&**text)),
                    Value::Integer(_) => Some(Cow::Owned(value.to_text(&world.zone))),
                    _ => None,
                };
                let is_name = |name: &Cow<'_, str>| {
                    name.len() >= if matches!(value, Value::Integer(_)) { MIN_NAME_DIGITS } else { 2 }
                };
                let names = &mut self.subjects[subject].names;
                names.extend(
                    name.filter(is_name).filter(|name| !names.contains(name)).into_iter().collect::<Vec<_>>(),
                );
            }
        }
        let main = match body {
            Body::Object(members) => members.iter().find_map(|(_, member)| match member {
                Body::Leaf(_, Origin::Field { resource, key, .. }) => Some((*resource, key)),
                _ => None,
            }),
            _ => None,
        };
        let subjects: Rc<[usize]> = own.as_slice().into();
        let room = MAX_LEAVES.saturating_sub(self.leaves.len());
        for (member, value, origin) in plain.into_iter().take(room) {
            let (field, schema) = match origin {
                Origin::Field { resource, key, field } => {
                    let schema = &world.resource(*resource).field(*field).schema;
                    (Some(((*resource, key), *field)), Some(schema))
                }
                _ => (None, None),
            };
            let Some(target) = Target::of_value(value, schema, &self.clock.zone) else { continue };
            let (subjects, is_free) = (Rc::clone(&subjects), field.is_none());
            self.leaves.push(Leaf { target, member, field, subjects, main, is_free });
        }
        for (name, item) in lists {
            self.add_object(name, item, &own, base);
        }
    }

    fn subject(&mut self, record: Record<'a>) -> usize {
        self.subjects.iter().position(|known| known.record == record).unwrap_or_else(|| {
            self.subjects.push(Subject { record, names: Vec::new() });
            self.subjects.len() - 1
        })
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

    /// Returns true if the user said this text.
    pub(crate) fn is_text_said(&self, text: &str) -> bool {
        self.turns.iter().any(|turn| !turn.find(text).is_empty())
    }

    /// The visible values that a mention gives.
    pub(crate) fn given_by(&self, what: &What) -> impl Iterator<Item = &Leaf<'a>> {
        self.leaves.iter().filter(|leaf| leaf.target.is(what, self.clock))
    }

    /// The visible texts.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &'a str> {
        self.leaves.iter().filter_map(|leaf| match leaf.target.content {
            Content::Text(text, _) => Some(text),
            _ => None,
        })
    }
}
