//! What an answer claims, held against what the episode has shown.
//!
//! A value in an answer is about the field that its own words name. So a claim is a value and its label, and it is false
//! where a field of that label has another value and no field that has the value bears the label as well. Values, measures
//! and codes that nothing gives are false too. It does not know which facts are asked for beyond their labels.

mod codes;
mod labels;
mod leaves;
mod measured;
mod subjects;
mod written;

use std::cell::OnceCell;
use std::sync::Arc;

use diorama_seeds::model::{DomainId, Field, FieldId, Record, ResourceId, World};
use diorama_seeds::schema::Type;
use diorama_seeds::value::Value;

use self::labels::Label;
use self::leaves::Leaf;
use self::measured::is_measured;
use self::subjects::Subjects;
use super::measures::Measures;
use super::stated::{Kind, Shown, unfounded};
use diorama_answers::prose::{Prose, Span};
use diorama_answers::{Mention, Stance, What};
use diorama_engine::session::LogEntry;
use diorama_engine::{Body, Origin, RecordChange};

pub(super) use self::labels::counted;

/// The replies of an episode up to the end of a goal, and the answer given there.
pub(super) struct Known<'a> {
    shown: Shown<'a>,
    prose: &'a Prose,
    /// The domains of the APIs that were called.
    domains: &'a [DomainId],
    leaves: Vec<Leaf<'a>>,
    labels: Vec<Label<'a>>,
    subjects: OnceCell<Subjects<'a>>,
}

/// A number asked for: what it is, in words, and the number.
pub(super) struct AskedNumber<'a> {
    pub(super) about: &'a str,
    /// Other words for it: what the user counts.
    pub(super) more: String,
    pub(super) value: f64,
}

/// The domains of the APIs that were called.
pub(super) fn domains(entries: &[Arc<LogEntry>], world: &World) -> Vec<DomainId> {
    let mut domains: Vec<DomainId> =
        entries.iter().filter_map(|entry| Some(world.api(entry.api?).domain)).collect();
    domains.sort_unstable();
    domains.dedup();
    domains
}

/// What is measured in where an answer measures something; else it is not asked.
pub(super) fn measures(prose: &Prose, shown: &Shown<'_>, domains: &[DomainId]) -> Measures {
    let Shown { base, vocabulary, turns, entries, .. } = *shown;
    let mut measures = Measures::default();
    if prose.mentions().iter().any(is_measured) {
        domains.iter().for_each(|domain| measures.add_domain(base, vocabulary, *domain));
        turns.iter().for_each(|turn| measures.add_prose(turn));
        entries.iter().for_each(|entry| measures.add_reply(base, vocabulary, entry));
    }
    measures
}

impl<'a> Known<'a> {
    pub(super) fn new(
        shown: Shown<'a>,
        prose: &'a Prose,
        domains: &'a [DomainId],
        asked: &'a [AskedNumber<'a>],
    ) -> Self {
        let (leaves, labels) = (Vec::new(), Vec::new());
        let mut known = Self { shown, prose, domains, leaves, labels, subjects: OnceCell::new() };
        if !prose.mentions().is_empty() {
            known.gather(asked);
        }
        known
    }

    /// Why an answer is not true, where it is not.
    pub(super) fn falsehoods(&self) -> Vec<String> {
        let prose = self.prose;
        let mut found = Vec::new();
        for one in unfounded(prose, &self.shown) {
            let mention = prose.mentions().iter().find(|mention| mention.span() == one.span);
            // What is denied, asked, or only imagined is not claimed.
            if mention.is_none_or(is_claimed) && !self.is_in_code(one.span.start) {
                let words = prose.words_at(one.span);
                found.push(match one.what {
                    Kind::Currency => format!("{words}: nothing gives this currency"),
                    Kind::Unit => format!("{words}: nothing gives this unit"),
                    Kind::Value => format!("{words}: no reply shows it"),
                    Kind::Name => format!("{words}: no reply names it"),
                });
            }
        }
        let claimed = prose.mentions().iter().filter(|mention| is_claimed(mention));
        for mention in claimed.filter(|mention| !self.is_in_code(mention.start)) {
            let told = || prose.words_at(mention.span());
            if let Some(label) = self.mislabelled(mention) {
                found.push(format!("{}: the {label} is another", told()));
            } else if self.is_stale(mention) {
                found.push(format!("{}: it was so before", told()));
            } else if !self.measures_as(mention) {
                found.push(format!("{}: it is measured in something else", told()));
            }
        }
        let swapped = self.subjects().swapped(self);
        found.extend(swapped.map(|(told, name)| format!("{told}: {name} has another")));
        found.extend(self.misstated());
        found.extend(self.strange_codes().map(|code| format!("{code}: no reply shows it")));
        found
    }

    /// Another record than those written, which the answer says something was done to. `own` are the calls of the goal.
    pub(super) fn misnamed(&self, own: &[Arc<LogEntry>], claims: &[Span]) -> Option<String> {
        let name = self.subjects().misnamed(self, own, claims)?;
        Some(format!("{name}: nothing was done to it"))
    }

    /// Whether replies give the text at a place to a record that its sentence names.
    pub(super) fn gives(&self, span: Span) -> bool {
        self.subjects().gives(self.prose, span)
    }

    fn subjects(&self) -> &Subjects<'a> {
        self.subjects.get_or_init(|| Subjects::of(self))
    }

    /// Whether an answer is only values of the replies, one after the other, more than are asked for; or a reply as it is.
    pub(super) fn is_dump(&self, asked: usize) -> bool {
        let source = self.prose.source().trim();
        if source.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(source).is_ok() {
            return true;
        }
        let source = source.trim_end_matches('.');
        let source = ["It is ", "It's "].iter().find_map(|lead| source.strip_prefix(lead)).unwrap_or(source);
        let either = source.contains(" or ");
        if !either && source.matches([',', ';', '\n']).count() <= asked.max(1) {
            return false;
        }
        let parts: Vec<&str> = source
            .split([',', ';', '\n'])
            .flat_map(|part| part.split(" or "))
            .map(|part| part.trim().trim_end_matches('.'))
            .filter(|part| !part.is_empty())
            .collect();
        let zone = &self.shown.clock.zone;
        let is_leaf = |part: &&str| {
            let told: Option<f64> = part.parse().ok();
            self.shown.replies.all().any(|(value, _)| match value.as_str() {
                Some(text) => text == *part,
                // However it is spelt, it is the number.
                None => match value.as_f64() {
                    Some(number) => told == Some(number),
                    None => value.to_text(zone) == **part,
                },
            })
        };
        if either {
            let values = parts.iter().filter(|part| is_leaf(part)).count();
            return values >= 2 && values + 1 >= parts.len();
        }
        parts.len() > asked.max(1) + 1 && parts.iter().all(is_leaf)
    }

    /// Whether a value is part of a text that a reply shows and the answer tells whole: the 140 of `140 Park Road`.
    fn is_in_text(&self, mention: &Mention) -> bool {
        let said = self.prose.source();
        let texts = self.shown.replies.all().filter_map(|(value, _)| value.as_str());
        let told = self.prose.words_at(mention.span());
        texts.filter(|text| text.len() > told.len() && text.contains(told)).any(|text| {
            said.match_indices(text)
                .any(|(start, _)| start <= mention.start && mention.end <= start + text.len())
        })
    }

    /// What an answer says of a record that a reply shows alone, or of all that one lists: another value of a field than the
    /// one that is there.
    fn misstated(&self) -> Option<String> {
        let (prose, world) = (self.prose, self.shown.base.world());
        // A word of two letters says a state only where a clause ends with it: `is on`, not `on Friday`.
        let ends = |span: Span| {
            let rest = prose.source().get(span.end..).unwrap_or_default();
            span.end - span.start > 2
                || rest.is_empty()
                || rest.starts_with(['.', ',', ';', '!', ')', '\n'])
                || [" now", " at the", " right", " and"].iter().any(|next| rest.starts_with(next))
        };
        // What a rule says is no state: `only a booked one`, `can be cancelled`.
        let ruled = |word: &str| {
            let refused = self.shown.entries.iter().filter(|entry| !entry.reply.is_success());
            let mut rules =
                refused.filter_map(|entry| entry.api).flat_map(|api| &world.api(api).behaviour.require);
            rules.any(|rule| rule.message.split(' ').any(|known| known == word))
        };
        let stated = |word: &str| {
            let places = if ruled(word) { Vec::new() } else { prose.find_word(word) };
            places
                .into_iter()
                .filter(|span| ends(*span) && prose.is_stated(*span) && !prose.is_possible(*span))
        };
        let said = |word: &str| self.shown.turns.iter().any(|turn| !turn.find_word(word).is_empty());
        let entries = || self.shown.entries.iter().filter(|entry| entry.reply.is_success());
        let spaced = |value: &str| value.replace('_', " ");
        for entry in entries() {
            let lists = entry.reply.body.parts().filter_map(|part| match part {
                Body::List(items) => Some(items.len()),
                _ => None,
            });
            let items = lists.max().unwrap_or(0);
            let mut seen = Vec::new();
            for (value, origin) in entry.reply.body.values() {
                let Origin::Field { resource, key, field } = origin else { continue };
                let declared = world.resource(*resource).field(*field);
                let (Type::Enum(values), Some(shown)) = (&declared.schema.kind, value.as_str()) else {
                    continue;
                };
                // What was changed since is said as it is now.
                if self.is_changed(*resource, key) || seen.contains(&(*resource, *field, shown)) {
                    continue;
                }
                seen.push((*resource, *field, shown));
                let elsewhere =
                    |other: &str| self.shown.replies.all().any(|(value, _)| value.as_str() == Some(other));
                let of_record = |span: &Span| !self.subjects().is_of_another(prose, *span, (*resource, key));
                let asserts = |word: &str| stated(word).any(|span| of_record(&span)) && !said(word);
                let wrong = values.iter().filter(|other| &***other != shown).find(|other| {
                    let word = spaced(other);
                    // `All five are on`, of which one is off.
                    let of_all = || stated(&word).any(|span| prose.speaks_of_all(span));
                    items > 1 && !self.is_any_changed(*resource) && of_all()
                        || items < 2 && asserts(&word) && !elsewhere(other) && !asserts(&spaced(shown))
                });
                if let Some(wrong) = wrong {
                    return Some(format!("{wrong}: the {} is {shown}", declared.label));
                }
            }
        }
        None
    }

    /// Whether a call has changed a record.
    fn is_changed(&self, resource: ResourceId, key: &Value) -> bool {
        let mut changes = self.shown.entries.iter().flat_map(|entry| &entry.changes);
        changes.any(|change| (change.resource, &change.key) == (resource, key))
    }

    /// Whether a call has changed a field of a record.
    fn is_set(&self, resource: ResourceId, key: &Value, field: FieldId) -> bool {
        let changes = self.shown.entries.iter().flat_map(|entry| &entry.changes);
        let mut own = changes.filter(|change| (change.resource, &change.key) == (resource, key));
        own.any(|change| {
            let of = |record: Option<&Record>| record.and_then(|record| record.get(field.index()).cloned());
            of(change.before.as_ref()) != of(change.after.as_ref())
        })
    }

    /// Whether a call has changed a record of a resource.
    fn is_any_changed(&self, resource: ResourceId) -> bool {
        let mut changes = self.shown.entries.iter().flat_map(|entry| &entry.changes);
        changes.any(|change| change.resource == resource)
    }

    /// Whether a value is what a changed record had before, where the answer does not tell what it has now.
    fn is_stale(&self, mention: &Mention) -> bool {
        let clock = self.shown.clock;
        let is = |value: &Value| Leaf::of(value, None).is(mention, clock);
        let told = |value: &Value| {
            self.prose.mentions().iter().any(|mention| Leaf::of(value, None).is(mention, clock))
        };
        let changes: Vec<&RecordChange> =
            self.shown.entries.iter().flat_map(|entry| &entry.changes).collect();
        let stale = changes.iter().any(|change| {
            let record =
                |other: &&&RecordChange| (other.resource, &other.key) == (change.resource, &change.key);
            let last = changes.iter().rev().find(record).and_then(|last| last.after.as_ref());
            let (Some(before), Some(now)) = (&change.before, last) else { return false };
            before.iter().zip(now.iter()).any(|(old, new)| old != new && is(old) && !is(new) && !told(new))
        });
        let otherwise = || {
            self.shown.replies.all().any(|(value, origin)| {
                let changed =
                    matches!(origin, Origin::Field { resource, key, .. } if self.is_changed(*resource, key));
                !changed && Leaf::of(value, None).is(mention, clock)
            })
        };
        stale && !self.is_said(mention) && !otherwise()
    }

    /// Whether the user said it.
    fn is_said(&self, mention: &Mention) -> bool {
        let number = |what: &What| match what {
            What::Number(number) => Some(number.value),
            What::Money(money) => Some(money.amount.as_f64()),
            _ => None,
        };
        self.shown.turns.iter().flat_map(Prose::mentions).any(|said| match (&said.what, &mention.what) {
            (What::Date(a), What::Date(b)) => a.meets(b, self.shown.clock.today),
            (What::Time(a), What::Time(b)) => a.meets(b),
            (What::Money(a), What::Money(b)) => a.amount == b.amount && a.currency.overlaps(b.currency),
            (What::Number(a), What::Number(b)) => {
                let apart = a.unit.is_some() && b.unit.is_some() && a.unit != b.unit;
                a.value == b.value && !apart
            }
            (a, b) => number(a).is_some() && number(a) == number(b),
        })
    }

    /// The fields of the domains called.
    fn fields(&self) -> impl Iterator<Item = &'a Field> {
        let resources = self.shown.base.world().resources.iter();
        resources.filter(|resource| self.domains.contains(&resource.domain)).flat_map(|one| &one.fields)
    }
}

/// Whether the answer claims what is mentioned.
fn is_claimed(mention: &Mention) -> bool {
    mention.stance == Stance::Asserted
}
