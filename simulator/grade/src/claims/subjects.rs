//! What a value is said of: the records that a sentence names, each with the values that replies give it.
//!
//! Names and values of a sentence pair off in order (`83 with Ana, 105 with Rui`; `Ana has 83 and Rui 105`); a pair is false
//! where replies give the record another value of that member, and the value to another record of its kind.

use std::rc::Rc;
use std::sync::Arc;

use diorama_seeds::model::ResourceId;
use diorama_seeds::value::Value;
use rustc_hash::FxHashMap;

use super::Known;
use super::leaves::Leaf;
use diorama_answers::prose::{Prose, Span};
use diorama_answers::{Mention, NumberRole, Stance, What};
use diorama_engine::session::LogEntry;
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_engine::{Body, Origin};

/// So many leaves of replies are looked at.
const MOST: usize = 4_000;

pub(super) type Record<'a> = (ResourceId, &'a Value);

/// A leaf of a reply, and the records that the object around it is about.
struct Held<'a> {
    member: &'a str,
    value: &'a Value,
    origin: &'a Origin,
    about: Rc<[Record<'a>]>,
    /// The one whose fields the object has.
    of: Option<Record<'a>>,
    /// Whether the answer has the text that it is.
    is_told: bool,
}

/// A record that an answer names, and where.
struct Named<'a> {
    record: Record<'a>,
    name: &'a str,
    places: Vec<Span>,
}

/// What an answer says of the records that it names.
pub(super) struct Subjects<'a> {
    held: Vec<Held<'a>>,
    named: Vec<Named<'a>>,
}

impl<'a> Subjects<'a> {
    pub(super) fn of(known: &Known<'a>) -> Self {
        let mut held = Vec::new();
        let entries = known.shown.entries.iter().filter(|entry| entry.reply.is_success());
        let bodies: Vec<_> = entries.filter(|entry| entry.call.api != TOOL_SEARCHER).collect();
        let leaves = bodies.iter().flat_map(|entry| entry.reply.body.values());
        let mut records: Vec<Record<'a>> = leaves.filter_map(|(_, origin)| record_of(origin)).collect();
        records.dedup();
        for entry in &bodies {
            // What is computed is about the records that the call names.
            let mut sent: Vec<Record<'a>> = Vec::new();
            for json in entry.call.arguments.values() {
                let zone = &known.shown.clock.zone;
                sent.extend(records.iter().find(|(_, key)| key.is_json(json, zone)));
            }
            hold("", &entry.reply.body, &sent, &mut held);
        }
        tell(known.prose, &mut held);
        let named = named(known, &held);
        Self { held, named }
    }

    /// The one record that the sentence around a place names; none where it names several.
    pub(super) fn alone(&self, prose: &Prose, span: Span) -> Option<Record<'a>> {
        let mut records = self.named_around(prose, span).map(|named| named.record);
        let first = records.next()?;
        records.all(|other| other == first).then_some(first)
    }

    /// What replies show in the objects about a record.
    pub(super) fn about(&self, record: Record<'a>) -> impl Iterator<Item = (&'a str, &'a Value, &'a Origin)> {
        let held = self.held.iter().filter(move |held| held.about.contains(&record));
        held.map(|held| (held.member, held.value, held.origin))
    }

    /// The records that the sentence around a place names.
    fn named_around(&self, prose: &Prose, span: Span) -> impl Iterator<Item = &Named<'a>> {
        let sentence = prose.sentences().find(|one| one.overlaps(span));
        let inside =
            move |place: &Span| sentence.is_some_and(|one| one.overlaps(*place)) && !place.overlaps(span);
        self.named.iter().filter(move |named| named.places.iter().any(inside))
    }

    /// Whether the sentence around a place names other records than this one, and not it.
    pub(super) fn is_of_another(&self, prose: &Prose, span: Span, record: Record<'_>) -> bool {
        let mut records = self.named_around(prose, span).map(|named| named.record).peekable();
        records.peek().is_some() && records.all(|other| other != record)
    }

    /// Whether a place is in the name of a record.
    pub(super) fn names(&self, span: Span) -> bool {
        self.named.iter().any(|named| named.places.iter().any(|place| place.overlaps(span)))
    }

    /// Whether replies give the text at a place to a record that its sentence names.
    pub(super) fn gives(&self, prose: &Prose, span: Span) -> bool {
        let is_text = |value: &Value| {
            value.as_str().is_some_and(|text| prose.find(text).iter().any(|place| place.overlaps(span)))
        };
        self.named_around(prose, span).any(|named| {
            let mut held = self.held.iter().filter(|held| held.about.contains(&named.record));
            held.any(|held| is_text(held.value))
        })
    }

    /// The values that replies give a record under a member's name.
    fn values_of(&self, record: Record<'a>, member: &str) -> impl Iterator<Item = &'a Value> {
        let held = self.held.iter().filter(move |held| held.member == member && held.about.contains(&record));
        held.map(|held| held.value)
    }

    /// The values said of the wrong record: their words, and the record's name.
    pub(super) fn swapped(&self, known: &Known<'a>) -> Option<(String, &'a str)> {
        let mut kinds: Vec<ResourceId> = self.named.iter().map(|named| named.record.0).collect();
        kinds.sort_unstable();
        kinds.dedup();
        if kinds.is_empty() {
            return None;
        }
        let sentences: Vec<(Span, Vec<Told<'_>>)> =
            known.prose.sentences().map(|own| (own, told_in(known, own))).collect();
        let swapped =
            |kind| sentences.iter().find_map(|(own, told)| self.swapped_in(known, kind, *own, told));
        kinds.into_iter().find_map(swapped)
    }

    /// The name of another record than the ones written, in a sentence that says what was done. `claims` are the places of
    /// words that do.
    pub(super) fn misnamed(
        &self,
        known: &Known<'a>,
        own: &[Arc<LogEntry>],
        claims: &[Span],
    ) -> Option<&'a str> {
        let world = known.shown.base.world();
        let writes = |entry: &&Arc<LogEntry>| entry.api.is_some_and(|id| world.api(id).writes());
        let done: Vec<_> = own.iter().filter(|entry| entry.reply.is_success()).filter(writes).collect();
        let zone = &known.shown.clock.zone;
        let touched = |record: Record<'a>| {
            done.iter().any(|entry| {
                let mut changes = entry.changes.iter();
                entry.reply.body.values().any(|(_, origin)| record_of(origin) == Some(record))
                    || entry.call.arguments.values().any(|json| record.1.to_json(zone) == *json)
                    || changes.any(|change| (change.resource, &change.key) == record)
            })
        };
        let told = |named: &Named<'_>| done.iter().any(|entry| told_by(&entry.reply.body, named.name));
        let sentences = known.prose.sentences();
        let claiming: Vec<Span> =
            sentences.filter(|one| claims.iter().any(|claim| one.overlaps(*claim))).collect();
        let in_claim = |named: &&Named<'a>| {
            named.places.iter().any(|place| claiming.iter().any(|one| one.overlaps(*place)))
        };
        let strange = |named: &&Named<'a>| {
            let said = known.shown.turns.iter().any(|turn| !turn.find(named.name).is_empty());
            !said && !touched(named.record) && !told(named)
        };
        let shown = |named: &Named<'_>| own.iter().any(|entry| told_by(&entry.reply.body, named.name));
        let mut others = self.named.iter().filter(strange).filter(|named| in_claim(named) || !shown(named));
        others.find_map(|named| {
            let kind = named.record.0;
            let right = self
                .named
                .iter()
                .any(|other| other.record.0 == kind && (touched(other.record) || told(other)));
            let written = self
                .held
                .iter()
                .any(|held| held.about.iter().any(|about| about.0 == kind && touched(*about)));
            (written && !right).then_some(named.name)
        })
    }

    /// The same for the records of a kind in a sentence. `told` are the numbers, days and times that it gives.
    fn swapped_in(
        &self,
        known: &Known<'a>,
        kind: ResourceId,
        own: Span,
        told: &[Told<'_>],
    ) -> Option<(String, &'a str)> {
        let inside = |span: &Span| own.start <= span.start && span.end <= own.end;
        let of_kind = self.named.iter().filter(|named| named.record.0 == kind);
        let mut places: Vec<(Span, &Named<'a>)> = of_kind
            .flat_map(|named| named.places.iter().filter(|span| inside(span)).map(move |span| (*span, named)))
            .collect();
        places.sort_by_key(|(span, _)| span.start);
        if places.is_empty() {
            return None;
        }
        let mut members: Vec<&str> = Vec::new();
        for held in self.held.iter().filter(|held| !told.is_empty() || held.is_told) {
            if !members.contains(&held.member) && held.about.iter().any(|about| about.0 == kind) {
                members.push(held.member);
            }
        }
        members.into_iter().find_map(|member| {
            let told = self.told(known, kind, member, own, told);
            self.swapped_member(known, &places, member, told)
        })
    }

    /// The same for the values of one member.
    fn swapped_member(
        &self,
        known: &Known<'a>,
        places: &[(Span, &Named<'a>)],
        member: &str,
        mut told: Vec<Told<'_>>,
    ) -> Option<(String, &'a str)> {
        let kind = places.first()?.1.record.0;
        let has = |record: Record<'a>, told: &Told<'_>| {
            self.values_of(record, member).any(|value| told.is(value, known))
        };
        if told.is_empty() {
            return None;
        }
        let of_kind =
            |held: &&Held<'a>| held.member == member && held.about.iter().any(|about| about.0 == kind);
        let own: Vec<&Held<'a>> = self.held.iter().filter(of_kind).collect();
        told.retain(|told| own.iter().any(|held| told.is(held.value, known)));
        let mut records = own.iter().flat_map(|held| held.about.iter()).filter(|about| about.0 == kind);
        let first = records.next();
        if told.is_empty() || !records.any(|record| Some(record) != first) {
            return None;
        }
        // Told once each, they pair off in order; else the nearest on either side has it.
        let mut distinct: Vec<&Value> = places.iter().map(|(_, named)| named.record.1).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let in_order = distinct.len() == places.len() && places.len() == told.len();
        told.iter().enumerate().find_map(|(at, told)| {
            let before = places.iter().rev().find(|(span, _)| span.end <= told.span.start);
            let after = places.iter().find(|(span, _)| span.start >= told.span.end);
            let (_, named) = if in_order { places.get(at)? } else { before.or(after)? };
            let near = |place: &(Span, &Named<'a>)| has(place.1.record, told);
            let known_of = || own.iter().any(|held| held.about.contains(&named.record));
            let fits = || has(named.record, told) || (!in_order && before.into_iter().chain(after).any(near));
            // What was changed since, or belongs to the record in another way.
            let changed = || {
                own.iter().filter(|held| held.about.contains(&named.record)).any(|held| match held.origin {
                    Origin::Field { resource, key, field } => known.is_set(*resource, key, *field),
                    _ => known.is_changed(named.record.0, named.record.1),
                })
            };
            let in_another_way = || {
                self.held.iter().any(|held| {
                    (held.about.contains(&named.record) || held.member != member)
                        && told.is(held.value, known)
                })
            };
            // One name: what stands right behind it, or a name where no other of its kind is named.
            let behind = |place: &(Span, &Named<'a>)| {
                let between = known.prose.words_at(Span { start: place.0.end, end: told.span.start });
                between.split_whitespace().count() <= 6 && !between.contains([',', ';'])
            };
            let sole = || self.named.iter().filter(|other| other.record.0 == kind).count() == 1;
            let of_own = |held: &&Held<'a>| {
                let itself = record_of(held.origin).is_none_or(|own| own == named.record);
                held.about.contains(&named.record) && (itself || held.of == Some(named.record))
            };
            let alone = in_order && places.len() > 1
                || places.len() == 1
                    && ((told.text.is_some() && sole()) || before.is_some_and(behind))
                    && own.iter().any(of_own);
            (alone && known_of() && !fits() && !changed() && !in_another_way())
                .then(|| (known.prose.words_at(told.span).to_owned(), named.name))
        })
    }

    /// The values in a sentence that a member may have: the numbers, days and times of it, and texts.
    fn told<'k>(
        &self,
        known: &'k Known<'a>,
        kind: ResourceId,
        member: &str,
        sentence: Span,
        mentioned: &[Told<'k>],
    ) -> Vec<Told<'k>>
    where
        'a: 'k,
    {
        let inside = |span: Span| sentence.start <= span.start && span.end <= sentence.end;
        let mut texts: Vec<&'a str> = Vec::new();
        for held in self.held.iter().filter(|held| held.is_told && held.member == member) {
            let names_kind = matches!(held.origin, Origin::Field { resource, .. } if *resource == kind)
                && self.named.iter().any(|named| held.value.as_str() == Some(named.name));
            if let Some(text) = held.value.as_str().filter(|_| !names_kind)
                && !texts.contains(&text)
            {
                texts.push(text);
            }
        }
        let mut told = mentioned.to_vec();
        for text in texts {
            let spaced = text.replace('_', " ");
            let said = known.shown.turns.iter().any(|turn| !turn.find(&spaced).is_empty());
            let places = known.prose.find(&spaced);
            let stated =
                places.into_iter().filter(|span| inside(*span) && known.prose.is_stated(*span) && !said);
            told.extend(stated.map(|span| Told { span, what: None, text: Some(text) }));
        }
        told.sort_by_key(|told| told.span.start);
        told
    }
}

/// The numbers, days and times that a sentence gives.
fn told_in<'k>(known: &'k Known<'_>, sentence: Span) -> Vec<Told<'k>> {
    let mentions = known.prose.mentions().iter().filter(|mention| {
        let stated = matches!(mention.stance, Stance::Asserted | Stance::Compared);
        let counts = match &mention.what {
            What::Number(number) => {
                number.role == NumberRole::Plain && is_figure(known.prose.words_at(mention.span()))
            }
            What::None => false,
            _ => true,
        };
        let inside = sentence.start <= mention.start && mention.end <= sentence.end;
        inside && stated && counts && !known.is_said(mention)
    });
    mentions.map(|mention| Told { span: mention.span(), what: Some(mention), text: None }).collect()
}

/// A value as an answer tells it.
#[derive(Clone, Copy)]
struct Told<'k> {
    span: Span,
    what: Option<&'k Mention>,
    text: Option<&'k str>,
}

impl Told<'_> {
    fn is(&self, value: &Value, known: &Known<'_>) -> bool {
        match (self.what, self.text) {
            (Some(mention), _) => Leaf::of(value, None).is(mention, known.shown.clock),
            (None, Some(text)) => value.as_str() == Some(text),
            (None, None) => false,
        }
    }
}

fn is_figure(words: &str) -> bool {
    words.contains(|c: char| c.is_ascii_digit())
}

fn told_by(body: &Body, name: &str) -> bool {
    body.values().any(|(value, _)| value.as_str() == Some(name))
}

pub(super) fn record_of(origin: &Origin) -> Option<Record<'_>> {
    match origin {
        Origin::Field { resource, key, .. } => Some((*resource, key)),
        _ => None,
    }
}

/// Takes in the leaves of an object with the records that it is about; the items of its lists are objects of their own,
/// about those of the object as well.
fn hold<'a>(name: &'a str, body: &'a Body, around: &[Record<'a>], held: &mut Vec<Held<'a>>) {
    let mut own: Vec<Record<'a>> = around.to_vec();
    let mut plain: Vec<(&'a str, &'a Value, &'a Origin)> = Vec::new();
    let mut lists: Vec<(&'a str, &'a Body)> = Vec::new();
    let mut stack = vec![(name, body)];
    while let Some((name, part)) = stack.pop() {
        match part {
            Body::Leaf(value, origin) => {
                own.extend(record_of(origin).filter(|record| !own.contains(record)));
                plain.push((name, value, origin));
            }
            Body::Object(members) => stack.extend(members.iter().map(|(name, member)| (&**name, member))),
            Body::List(items) => lists.extend(items.iter().map(|item| (name, item))),
        }
    }
    let direct = match body {
        Body::Object(members) => members.iter().find_map(|(_, member)| match member {
            Body::Leaf(_, origin) => record_of(origin),
            _ => None,
        }),
        _ => None,
    };
    let room = MOST.saturating_sub(held.len());
    let about: Rc<[Record<'a>]> = own.as_slice().into();
    held.extend(plain.into_iter().take(room).map(|(member, value, origin)| Held {
        member,
        value,
        origin,
        about: Rc::clone(&about),
        of: direct,
        is_told: false,
    }));
    for (name, item) in lists {
        hold(name, item, &own, held);
    }
}

/// Marks the texts that an answer has.
fn tell(prose: &Prose, held: &mut [Held<'_>]) {
    let mut known: FxHashMap<&str, bool> = FxHashMap::default();
    for one in held {
        let Some(text) = one.value.as_str().filter(|text| text.len() > 2) else { continue };
        one.is_told = *known.entry(text).or_insert_with(|| match text.contains('_') {
            true => !prose.find(&text.replace('_', " ")).is_empty(),
            false => !prose.find(text).is_empty(),
        });
    }
}

/// The records that an answer names: by what they are called, or by their key.
fn named<'a>(known: &Known<'a>, held: &[Held<'a>]) -> Vec<Named<'a>> {
    let world = known.shown.base.world();
    let mut found: Vec<Named<'a>> = Vec::new();
    for one in held {
        let Origin::Field { resource, key, field } = one.origin else { continue };
        let declared = world.resource(*resource);
        let names = declared.display == Some(*field) || declared.key == *field;
        // With `_` for a blank it may stand there where the same with a blank does not.
        let may_stand = |name: &&str| names && name.len() > 2 && (one.is_told || name.contains('_'));
        let Some(name) = one.value.as_str().filter(may_stand) else { continue };
        if found.iter().any(|known| known.name == name && known.record == (*resource, key)) {
            continue;
        }
        let places = known.prose.find(name);
        if !places.is_empty() {
            found.push(Named { record: (*resource, key), name, places });
        }
    }
    // A name that several bear tells none of them.
    let shared = |name: &str, record: Record<'a>| {
        found.iter().any(|other| other.name == name && other.record != record)
    };
    let single: Vec<bool> = found.iter().map(|named| !shared(named.name, named.record)).collect();
    let mut single = single.into_iter();
    found.retain(|_| single.next().unwrap_or(false));
    found
}
