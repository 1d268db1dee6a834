//! What an answer claims, held against what the episode has shown.
//!
//! A value in an answer is about the field that its own words name. So a claim is a value and its label, and it is false
//! where a field of that label has another value and no field that has the value bears the label as well. Values, measures
//! and codes that nothing gives are false too. It does not know which facts are asked for beyond their labels.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use diorama_seeds::english;
use diorama_seeds::model::{ApiId, DomainId, ResourceId, World};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::value::{Date, Instant, Time, Value};

use super::extract::lexicon::{Roles, word};
use super::extract::prose::{Prose, measures};
use super::extract::tokens::{Kind as TokenKind, LineKind, Token};
use super::extract::units::{Currency, Unit};
use super::extract::{Clock, Mention, NumberRole, Stance, What};
use super::measures::Measures;
use super::names::Vocabulary;
use super::stated::{Kind, Shown, unfounded};
use crate::engine::tools::TOOL_SEARCHER;
use crate::engine::{Base, Body, Origin};
use crate::session::LogEntry;

/// So many words before a value, and behind it, say what it is.
const BEFORE: usize = 4;
const BEHIND: usize = 2;
/// Places of replies that are looked at.
const MOST_LEAVES: usize = 4_000;

/// What an episode has shown by the end of a stage.
pub(super) struct Known<'a> {
    base: &'a Base,
    vocabulary: &'a Vocabulary,
    entries: &'a [Arc<LogEntry>],
    turns: Vec<Prose>,
    system: Prose,
    clock: Clock,
    now: Instant,
    measures: Measures,
    /// The domains of the APIs that were called.
    domains: Vec<DomainId>,
    leaves: Vec<Leaf<'a>>,
    /// For each label, its words.
    labels: Vec<Label>,
}

/// A value that a reply shows, an argument sends or the task asks for.
struct Leaf<'a> {
    value: Seen<'a>,
    label: usize,
    /// The schema of its field, where it is one.
    schema: Option<&'a Schema>,
}

enum Seen<'a> {
    Value(&'a Value),
    Sent(&'a serde_json::Value),
    /// A number that the task asks for.
    Asked(f64),
}

struct Label {
    name: String,
    /// Stems.
    words: Vec<String>,
    /// Whether it is a fact asked for.
    asked: bool,
}

/// A number asked for: what it is, in words, and the number.
pub(super) struct AskedNumber<'a> {
    pub(super) about: &'a str,
    /// Other words for it: what the user counts.
    pub(super) more: &'a str,
    pub(super) value: f64,
}

impl<'a> Known<'a> {
    pub(super) fn new(
        base: &'a Base,
        vocabulary: &'a Vocabulary,
        entries: &'a [Arc<LogEntry>],
        user_turns: &[String],
        now: Instant,
        asked: &[AskedNumber<'_>],
        prose: &Prose,
    ) -> Self {
        let world = base.world();
        let clock = Clock::at(now, &world.zone);
        let turns: Vec<Prose> = user_turns.iter().map(|turn| Prose::read(turn, &clock)).collect();
        let mut domains: Vec<DomainId> =
            entries.iter().filter_map(|entry| Some(world.api(entry.api?).domain)).collect();
        domains.sort_unstable();
        domains.dedup();
        let apis = world.apis.iter().enumerate().filter(|(_, api)| domains.contains(&api.domain));
        let apis: Vec<_> = apis.map(|(index, _)| ApiId(index as u16)).collect();
        // Only where an answer measures something is it asked what is measured.
        let mut measures = Measures::default();
        if prose.mentions().iter().any(is_measured) {
            measures = Measures::of_tools(base, vocabulary, &apis);
            turns.iter().for_each(|turn| measures.add_prose(turn));
            entries.iter().for_each(|entry| measures.add_reply(base, vocabulary, entry));
            schemas_of(world, &domains).for_each(|schema| measures.add_schema(schema));
        }
        let mut known = Self {
            base,
            vocabulary,
            entries,
            turns,
            system: Prose::read("", &clock),
            clock,
            now,
            measures,
            domains,
            leaves: Vec::new(),
            labels: Vec::new(),
        };
        if !prose.mentions().is_empty() {
            known.gather(asked);
        }
        known
    }

    fn gather(&mut self, asked: &[AskedNumber<'_>]) {
        let mut positions: HashMap<String, usize> = HashMap::new();
        let mut position = |labels: &mut Vec<Label>, name: &str, more: &str, asked: bool| {
            let key = format!("{name} {more} {asked}");
            *positions.entry(key).or_insert_with(|| {
                let words = words_of(name).iter().chain(words_of(more).iter()).cloned().collect();
                labels.push(Label { name: name.to_owned(), words, asked });
                labels.len() - 1
            })
        };
        let world = self.base.world();
        for entry in self.entries.iter().filter(|entry| entry.call.api != TOOL_SEARCHER) {
            for (path, value, origin) in entry.reply.body.leaves() {
                if self.leaves.len() > MOST_LEAVES {
                    break;
                }
                let member = member_of(&path);
                // A number that names a record measures nothing.
                // What counts the items beside it is no total of theirs.
                let beside = matches!(&entry.reply.body, Body::Object(members) if members.iter().any(|(_, member)| matches!(member, Body::List(_))));
                let counts = beside && matches!(origin, Origin::Computed) && !path.contains(['.', '[']);
                if matches!(value, Value::Integer(_)) && (member.ends_with("id") || counts) {
                    continue;
                }
                let (schema, more) = match origin {
                    Origin::Field { resource, field, .. } => {
                        let declared = world.resource(*resource).field(*field);
                        (Some(&declared.schema), &*declared.label)
                    }
                    _ => (None, ""),
                };
                let label = position(&mut self.labels, member, more, false);
                self.leaves.push(Leaf { value: Seen::Value(value), label, schema });
            }
            let api = entry.api.map(|id| world.api(id));
            for (name, json) in &entry.call.arguments {
                let parameter = api.and_then(|api| api.parameters.get(api.parameter_named(name)?.index()));
                let label = position(&mut self.labels, name, parameter.map_or("", |one| &one.label), false);
                let schema = parameter.map(|parameter| &parameter.schema);
                self.leaves.push(Leaf { value: Seen::Sent(json), label, schema });
            }
        }
        for one in asked {
            let label = position(&mut self.labels, one.about, one.more, true);
            self.leaves.push(Leaf { value: Seen::Asked(one.value), label, schema: None });
        }
    }

    /// Why an answer is not true, where it is not.
    pub(super) fn falsehoods(&self, prose: &Prose) -> Vec<String> {
        let shown = Shown {
            base: self.base,
            vocabulary: self.vocabulary,
            clock: &self.clock,
            now: self.now,
            system: &self.system,
            turns: &self.turns,
            entries: self.entries,
            measures: &self.measures,
        };
        let mut found = Vec::new();
        let told = |mention: &Mention| prose.words_at(mention.span()).to_owned();
        for one in unfounded(prose, &shown) {
            let mention = prose.mentions().iter().find(|mention| mention.span() == one.span);
            // What is denied, asked, or only imagined is not claimed.
            let code = self.is_in_code(prose, one.span.start);
            if !code && mention.is_none_or(|mention| is_claimed(mention.stance)) {
                let words = prose.words_at(one.span);
                found.push(match one.what {
                    Kind::Currency => format!("{words}: nothing gives this currency"),
                    Kind::Unit => format!("{words}: nothing gives this unit"),
                    Kind::Value => format!("{words}: no reply shows it"),
                    Kind::Name => format!("{words}: no reply names it"),
                });
            }
        }
        for mention in prose
            .mentions()
            .iter()
            .filter(|mention| is_claimed(mention.stance) && !self.is_in_code(prose, mention.start))
        {
            if let Some(label) = self.mislabelled(mention, prose) {
                found.push(format!("{}: the {label} is another", told(mention)));
            } else if let Some(name) = self.of_another(mention, prose) {
                found.push(format!("{}: {name} has another", told(mention)));
            } else if !self.measures_as(mention) {
                found.push(format!("{}: it is measured in something else", told(mention)));
            }
        }
        found.extend(self.misstated(prose));
        found.extend(self.strange_codes(prose).map(|code| format!("{code}: no reply shows it")));
        found
    }

    /// Whether an answer is only values of the replies, one after the other, more than are asked for; or a reply as it is.
    pub(super) fn is_dump(&self, prose: &Prose, asked: usize) -> bool {
        let source = prose.source().trim();
        if source.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(source).is_ok() {
            return true;
        }
        let source = source.trim_end_matches('.');
        let source = ["It is ", "It's "].iter().find_map(|lead| source.strip_prefix(lead)).unwrap_or(source);
        let parts: Vec<&str> = source
            .split([',', ';', '\n'])
            .flat_map(|part| part.split(" or "))
            .map(|part| part.trim().trim_end_matches('.'))
            .filter(|part| !part.is_empty())
            .collect();
        let zone = &self.clock.zone;
        let is_leaf = |part: &&str| {
            let bodies = self.entries.iter().map(|entry| &entry.reply.body);
            bodies.flat_map(Body::values).any(|(value, _)| {
                let number = || part.parse().is_ok_and(|part: f64| value.as_f64() == Some(part));
                value.to_text(zone) == **part || number()
            })
        };
        if source.contains(" or ") {
            let values = parts.iter().filter(|part| is_leaf(part)).count();
            return values >= 2 && values + 1 >= parts.len();
        }
        parts.len() > asked.max(1) + 1 && parts.iter().all(is_leaf)
    }

    /// The label that the words of a value give it, where what bears it has another value.
    fn mislabelled(&self, mention: &Mention, prose: &Prose) -> Option<&str> {
        // `a single room`, `one of them`: seldom meant as a number.
        let spelt = !prose.words_at(mention.span()).contains(|c: char| c.is_ascii_digit());
        if matches!(&mention.what, What::Number(number) if number.role != NumberRole::Plain || (spelt && number.value == 1.0))
        {
            return None;
        }
        let Labelled { words, heads } = label_words(mention, prose);
        if words.is_empty() || self.is_said(mention) || self.is_in_text(mention, prose) {
            return None;
        }
        let alike: Vec<&Leaf<'_>> = self.leaves.iter().filter(|leaf| is_alike(leaf, mention)).collect();
        let mut labels: Vec<usize> = alike.iter().map(|leaf| leaf.label).collect();
        labels.sort_unstable();
        labels.dedup();
        let telling = |word: &String| {
            let with = labels.iter().filter(|label| self.labels[**label].words.contains(word)).count();
            with > 0 && (with < labels.len() || labels.len() == 1)
        };
        let telling: Vec<&String> = words.iter().filter(|word| telling(word)).collect();
        let score =
            |label: usize| telling.iter().filter(|word| self.labels[label].words.contains(word)).count();
        let bears = |leaf: &&&Leaf<'_>| self.is_value(leaf, mention);
        let own: Vec<usize> = alike.iter().filter(bears).map(|leaf| leaf.label).collect();
        let best = own.iter().map(|label| score(*label)).max();
        let rival = labels
            .iter()
            .copied()
            .filter(|label| !own.contains(label))
            // What follows from several replies has no label of its own: only the facts asked for speak against it.
            .filter(|label| best.is_some() || self.labels[*label].asked)
            .filter(|label| self.labels[*label].asked || self.is_covered(*label, &words, &own))
            .filter(|label| self.is_measured_like(*label, mention))
            .filter(|label| heads.iter().any(|head| self.labels[*label].words.contains(head)))
            .max_by_key(|label| score(*label))?;
        let lies = score(rival) > best.unwrap_or(0);
        lies.then(|| &*self.labels[rival].name)
    }

    /// The name of an item of a list that an answer gives the value of another item.
    fn of_another(&self, mention: &Mention, prose: &Prose) -> Option<&'a str> {
        let text = prose.text();
        let token = text.get(mention.tokens.0)?;
        let start = text.tokens.iter().find(|other| other.sentence == token.sentence)?.start as usize;
        let before = prose.source().get(start..mention.start)?.to_lowercase();
        if matches!(mention.what, What::None) || self.is_said(mention) {
            return None;
        }
        self.entries.iter().flat_map(|entry| entry.reply.body.parts()).find_map(|part| match part {
            Body::List(items) => self.swapped(items, &before, mention),
            _ => None,
        })
    }

    /// The same for one list: `before` is what the sentence says before the value.
    fn swapped(&self, items: &'a [Body], before: &str, mention: &Mention) -> Option<&'a str> {
        // The item whose name stands last before the value.
        let names = items.iter().enumerate().take(100).flat_map(|(at, item)| {
            let texts = item.values().filter_map(|(value, _)| value.as_str()).filter(|name| name.len() > 3);
            texts.map(move |name| (at, name))
        });
        let placed = names.filter_map(|(at, name)| Some((before.rfind(&name.to_lowercase())?, at, name)));
        let (place, at, name) = placed.max_by_key(|(place, ..)| *place)?;
        // A name that several items bear tells none of them.
        let bears = |item: &&Body| item.values().any(|(value, _)| value.as_str() == Some(name));
        let between = before.get(place + name.len()..)?;
        let apart = between.split_whitespace().count() > 6 || between.contains([',', ';']);
        if apart || items.iter().filter(bears).count() > 1 {
            return None;
        }
        let own = items.get(at)?;
        let has = |item: &Body, path: Option<&str>| {
            item.leaves().any(|(place, value, origin)| {
                let schema = match origin {
                    Origin::Field { resource, field, .. } => {
                        Some(&self.base.world().resource(*resource).field(*field).schema)
                    }
                    _ => None,
                };
                let alike = path.is_none_or(|path| path == place);
                alike && shows(value, schema, mention, &self.clock)
            })
        };
        let others = || items.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, item)| item);
        let taken = own.leaves().any(|(path, ..)| others().any(|item| has(item, Some(&path))));
        // What something else has too may be said of that.
        let alike = self.leaves.iter().filter(|leaf| is_alike(leaf, mention) && self.is_value(leaf, mention));
        (taken && !has(own, None) && alike.count() == 1).then_some(name)
    }

    /// Whether all of a label's name is said, units aside; or its unit, where the value's own label has another.
    fn is_covered(&self, label: usize, said: &[String], own: &[usize]) -> bool {
        let plain = |label: usize| -> Vec<String> {
            let words = words_of(&self.labels[label].name);
            words.iter().filter(|word| Measures::of_name(word).units().next().is_none()).cloned().collect()
        };
        let name = plain(label);
        let whole = !name.is_empty() && name.iter().all(|word| said.contains(word));
        whole || own.iter().any(|own| plain(*own) == name)
    }

    /// Whether what bears a label may have a unit, where the value has one.
    fn is_measured_like(&self, label: usize, mention: &Mention) -> bool {
        let measured = is_measured(mention);
        let mut bearing = self.leaves.iter().filter(|leaf| leaf.label == label);
        !measured
            || bearing.any(|leaf| match (leaf.schema, &mention.what) {
                (Some(schema), What::Money(_)) => currency_of(schema).is_some(),
                (Some(schema), _) => schema.unit.is_some(),
                (None, _) => true,
            })
    }

    /// Whether what bears a value is measured as the answer says.
    fn measures_as(&self, mention: &Mention) -> bool {
        let (said, unit, currency) = match &mention.what {
            What::Number(number) => (number.value, number.unit, None),
            What::Money(money) => (money.amount.as_f64(), None, Some(money.currency)),
            _ => return true,
        };
        if (unit.is_none() && currency.is_none()) || self.is_said(mention) {
            return true;
        }
        let bearing: Vec<&Leaf<'_>> = self
            .leaves
            .iter()
            .filter(|leaf| is_alike(leaf, mention) && self.is_value(leaf, mention))
            .collect();
        bearing.is_empty() || bearing.iter().any(|leaf| self.may_be(leaf, said, unit, currency))
    }

    fn may_be(&self, leaf: &Leaf<'_>, said: f64, unit: Option<Unit>, currency: Option<Currency>) -> bool {
        let label = &self.labels[leaf.label];
        let named = Measures::of_name(&label.name);
        if let Some(unit) = unit {
            let declared = leaf.schema.and_then(|schema| schema.unit.as_deref()).and_then(Unit::named);
            let here: Vec<Unit> = declared.into_iter().chain(named.units()).collect();
            let value = match &leaf.value {
                Seen::Value(value) => value.as_f64(),
                Seen::Sent(json) => json.as_f64(),
                Seen::Asked(value) => Some(*value),
            };
            // The same unit, or the same amount in another.
            let fits = |known: Unit| {
                known == unit
                    || unit.convert(said, known).is_some_and(|said| {
                        value.is_some_and(|value| (value - said).abs() <= 0.01 * value.abs())
                    })
            };
            if !here.is_empty() {
                return here.into_iter().any(fits);
            }
            let mut like = self.like(label).peekable();
            if like.peek().is_some() {
                return like.any(|schema| schema.unit.as_deref().and_then(Unit::named).is_some_and(fits));
            }
            return self.measures.has_exactly(unit);
        }
        let Some(currency) = currency else { return true };
        let declared = leaf.schema.and_then(currency_of);
        match declared {
            Some(code) => currency.means(code),
            None if named.has_any_currency() => named.has_currency(currency),
            None => {
                schemas_of(self.base.world(), &self.domains)
                    .filter_map(currency_of)
                    .any(|code| currency.means(code))
                    || self.measures.has_currency(currency)
            }
        }
    }

    /// The fields of the domains called whose names share a word with a label.
    fn like<'s>(&'s self, label: &'s Label) -> impl Iterator<Item = &'s Schema> {
        let world = self.base.world();
        world.resources.iter().filter(|resource| self.domains.contains(&resource.domain)).flat_map(
            move |resource| {
                let fields = resource.fields.iter();
                fields
                    .filter(move |field| {
                        let (name, own) = (words_of(&field.name), words_of(&field.label));
                        name.iter().chain(own.iter()).any(|word| label.words.contains(word))
                    })
                    .map(|field| &field.schema)
            },
        )
    }

    /// Whether a value is part of a text that a reply shows and the answer tells whole: the 140 of `140 Park Road`.
    fn is_in_text(&self, mention: &Mention, prose: &Prose) -> bool {
        let said = prose.source();
        let bodies = self.entries.iter().map(|entry| &entry.reply.body);
        let texts = bodies.flat_map(Body::values).filter_map(|(value, _)| value.as_str());
        let told = prose.words_at(mention.span());
        texts.filter(|text| text.len() > told.len() && text.contains(told)).any(|text| {
            said.match_indices(text)
                .any(|(start, _)| start <= mention.start && mention.end <= start + text.len())
        })
    }

    /// What an answer says of a record that a reply shows alone: another value of one of its fields than the one that is
    /// there.
    fn misstated(&self, prose: &Prose) -> Option<String> {
        let world = self.base.world();
        let alone = self.entries.iter().filter(|entry| {
            entry.reply.is_success() && !entry.reply.body.parts().any(|part| matches!(part, Body::List(_)))
        });
        let asserts = |word: &str| {
            word.len() > 2
                && !self.turns.iter().any(|turn| !turn.find(word).is_empty())
                && prose.find(word).into_iter().any(|span| {
                    prose.stance(span) == Stance::Asserted
                        && !prose.is_denied(span)
                        && !prose.is_limited(span)
                })
        };
        // What was changed since is said as it is now.
        let changed = |resource: ResourceId, key: &Value| {
            let changes = self.entries.iter().flat_map(|entry| &entry.changes);
            changes.into_iter().any(|change| (change.resource, &change.key) == (resource, key))
        };
        for (value, origin) in alone.flat_map(|entry| entry.reply.body.values()) {
            let Origin::Field { resource, key, field } = origin else { continue };
            if changed(*resource, key) {
                continue;
            }
            let declared = world.resource(*resource).field(*field);
            let (Type::Enum(values), Some(shown)) = (&declared.schema.kind, value.as_str()) else { continue };
            let elsewhere = |other: &str| {
                let bodies = self.entries.iter().map(|entry| &entry.reply.body);
                bodies.flat_map(Body::values).any(|(value, _)| value.as_str() == Some(other))
            };
            let spaced = |value: &str| value.replace('_', " ");
            let wrong = values.iter().find(|other| {
                &***other != shown && !elsewhere(other) && asserts(&spaced(other)) && !asserts(&spaced(shown))
            });
            if let Some(wrong) = wrong {
                return Some(format!("{wrong}: the {} is {shown}", declared.label));
            }
        }
        None
    }

    /// Whether a place is inside a code that the episode has shown: the 5150 of `AFN-5150` is no amount.
    fn is_in_code(&self, prose: &Prose, at: usize) -> bool {
        let source = prose.source();
        let ends = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '*' | '"' | '`');
        let start = source.get(..at).and_then(|before| before.rfind(ends)).map_or(0, |at| at + 1);
        let word = source.get(start..).unwrap_or_default().split(ends).next().unwrap_or_default();
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        is_code(word) && self.shows(word)
    }

    /// Codes (letters and digits in one word) that nothing visible shows.
    fn strange_codes<'s>(&'s self, prose: &'s Prose) -> impl Iterator<Item = &'s str> + 's {
        let words = prose
            .source()
            .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '*' | '"' | '`'));
        let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
        // `EUR500` is an amount.
        let amount = |word: &str| {
            word.len() > 3
                && word.is_char_boundary(3)
                && !measures(&word[..3]).1.is_empty()
                && !word.contains('-')
        };
        words.filter(move |word| is_code(word) && !amount(word)).filter(move |word| !self.shows(word))
    }

    fn shows(&self, code: &str) -> bool {
        let has = |text: &str| {
            text.get(..code.len()).is_some() && text.to_lowercase().contains(&code.to_lowercase())
        };
        self.turns.iter().any(|turn| has(turn.source()))
            || self.entries.iter().any(|entry| {
                entry.reply.body.values().any(|(value, _)| value.as_str().is_some_and(has))
                    || entry.call.arguments.values().any(|json| json.as_str().is_some_and(has))
            })
    }

    /// Whether the user said it.
    fn is_said(&self, mention: &Mention) -> bool {
        let number = |what: &What| match what {
            What::Number(number) => Some(number.value),
            What::Money(money) => Some(money.amount.as_f64()),
            _ => None,
        };
        self.turns.iter().flat_map(Prose::mentions).any(|said| match (&said.what, &mention.what) {
            (What::Date(a), What::Date(b)) => (-14..=370)
                .map(|ahead| Date(self.clock.today.0 + ahead))
                .any(|day| a.means(day, self.clock.today) && b.means(day, self.clock.today)),
            (What::Time(a), What::Time(b)) => {
                a.time == b.time || a.other == Some(b.time) || b.other == Some(a.time)
            }
            (What::Money(a), What::Money(b)) => a.amount == b.amount && a.currency.overlaps(b.currency),
            (What::Number(a), What::Number(b)) => {
                let apart = a.unit.is_some() && b.unit.is_some() && a.unit != b.unit;
                a.value == b.value && !apart
            }
            (a, b) => number(a).is_some() && number(a) == number(b),
        })
    }

    /// Whether a leaf has the value of a mention.
    fn is_value(&self, leaf: &Leaf<'_>, mention: &Mention) -> bool {
        is_value(leaf, mention, &self.clock)
    }
}

/// Whether a leaf has the value of a mention.
fn is_value(leaf: &Leaf<'_>, mention: &Mention, clock: &Clock) -> bool {
    let zone = &clock.zone;
    let day = |date: Date| matches!(&mention.what, What::Date(said) if said.means(date, clock.today));
    let hour = |time: Time| matches!(&mention.what, What::Time(said) if said.time == time || said.other == Some(time));
    let number = |known: f64| match &mention.what {
        What::Number(number) => {
            let converted = number.unit.and_then(|said| {
                let unit = leaf.schema?.unit.as_deref().and_then(Unit::named)?;
                said.convert(number.value, unit)
            });
            [Some(number.value), number.other, converted]
                .into_iter()
                .flatten()
                .any(|said| is_near(known, said, number.decimals))
        }
        What::Money(money) => {
            let close = |said: f64| is_near(known.abs(), said.abs(), 2);
            close(money.amount.as_f64()) || money.other.is_some_and(|other| close(other.as_f64()))
        }
        What::None => known == 0.0,
        _ => false,
    };
    match &leaf.value {
        Seen::Value(Value::Date(date)) => day(*date),
        Seen::Value(Value::Time(time)) => hour(*time),
        Seen::Value(Value::DateTime(instant)) => day(zone.date_of(*instant)) || hour(zone.time_of(*instant)),
        Seen::Value(value) => value.as_f64().is_some_and(number),
        Seen::Sent(serde_json::Value::String(text)) => {
            text.get(..10).and_then(Date::parse).is_some_and(day)
                || Time::parse(text).is_some_and(hour)
                || zone.parse_instant(text).is_some_and(|instant| hour(zone.time_of(instant)))
        }
        Seen::Sent(json) => json.as_f64().is_some_and(number),
        Seen::Asked(known) => number(*known),
    }
}

/// Whether a value of a reply is the one mentioned.
fn shows(value: &Value, schema: Option<&Schema>, mention: &Mention, clock: &Clock) -> bool {
    let leaf = Leaf { value: Seen::Value(value), label: 0, schema };
    is_alike(&leaf, mention) && is_value(&leaf, mention, clock)
}

/// Whether a mention has a unit or a currency.
fn is_measured(mention: &Mention) -> bool {
    match &mention.what {
        What::Number(number) => number.unit.is_some(),
        What::Money(_) => true,
        _ => false,
    }
}

/// Whether a stance claims what is mentioned.
const fn is_claimed(stance: Stance) -> bool {
    matches!(stance, Stance::Asserted)
}

/// Whether a leaf is of the kind of a mention: a number, a day or a time.
fn is_alike(leaf: &Leaf<'_>, mention: &Mention) -> bool {
    match (&leaf.value, &mention.what) {
        (
            Seen::Value(Value::Integer(_) | Value::Number(_) | Value::Decimal(_)),
            What::Number(_) | What::Money(_) | What::None,
        ) => !leaf.schema.is_some_and(|schema| matches!(schema.kind, Type::Reference { .. })),
        (Seen::Value(Value::Date(_)), What::Date(_))
        | (Seen::Value(Value::Time(_)), What::Time(_))
        | (Seen::Value(Value::DateTime(_)), What::Date(_) | What::Time(_))
        | (Seen::Asked(_), What::Number(_) | What::Money(_) | What::None) => true,
        (Seen::Sent(json), What::Number(_) | What::Money(_)) => json.is_number(),
        (Seen::Sent(json), What::Date(_) | What::Time(_)) => json.is_string(),
        _ => false,
    }
}

/// People round: what is said to so many decimals is what is shown to more.
fn is_near(known: f64, said: f64, decimals: i8) -> bool {
    let step = 0.5 * 10_f64.powi(-i32::from(decimals.clamp(-12, 9)));
    let rounds = known.fract() != 0.0 || decimals < 0;
    (known - said).abs() <= 1e-9 * known.abs().max(1.0)
        || (rounds && (known - said).abs() <= step * 1.000_001 && (known - said).abs() <= known.abs() * 0.05)
}

/// The words that say what a value is.
#[derive(Default)]
struct Labelled {
    /// Their stems.
    words: Vec<String>,
    /// Those next to it.
    heads: Vec<String>,
}

/// The stems of the words that say what a value is: those before it in its clause, and the noun behind it.
fn label_words(mention: &Mention, prose: &Prose) -> Labelled {
    let text = prose.text();
    let (start, end) = mention.tokens;
    let mut labelled = Labelled::default();
    let Some(token) = text.get(start) else { return labelled };
    if text.lines.get(token.line as usize) == Some(&LineKind::Row) {
        return labelled;
    }
    // `no other visits`
    let more = [word!("other"), word!("more"), word!("further"), word!("else"), word!("additional")];
    let none = matches!(mention.what, What::None);
    if none && text.tokens.iter().skip(start).take(3).any(|token| more.contains(&token.hash)) {
        return labelled;
    }
    let taken = |at: usize| {
        prose
            .mentions()
            .iter()
            .any(|other| other.tokens != mention.tokens && other.tokens.0 <= at && at < other.tokens.1)
    };
    let Labelled { words, heads } = &mut labelled;
    let stem = |at: usize| {
        let token = text.get(at)?;
        let word = prose.source().get(token.start as usize..token.end as usize)?;
        Some(english::stem(&word.to_lowercase()))
    };
    let mut before: Vec<usize> = Vec::new();
    for at in (0..start).rev().filter(|_| !none) {
        let Some(other) = text.get(at) else { break };
        let apart = matches!(other.kind, TokenKind::Symbol(',' | ';' | '(' | ')' | '—' | '–' | '.'));
        let turns = other.is(Roles::BUT) && other.hash != word!("is");
        if other.sentence != token.sentence || other.line != token.line || apart || turns {
            break;
        }
        if taken(at) {
            // `33 packs for 232.9`: the noun right behind a value is its own.
            let nouns = (at + 1..start).take_while(|at| text.get(*at).is_some_and(Token::has_content)).last();
            before.retain(|at| nouns.is_none_or(|last| *at > last));
            break;
        }
        if other.has_content() {
            before.push(at);
        }
        if before.len() == BEFORE {
            break;
        }
    }
    heads.extend(before.first().and_then(|at| stem(*at)));
    words.extend(before.iter().filter_map(|at| stem(*at)));
    let mut behind = 0;
    for at in end..text.tokens.len() {
        let Some(other) = text.get(at) else { break };
        let joins = other.kind == TokenKind::Word
            && !other.has_content()
            && ![word!("of"), word!("your"), word!("the"), word!("my"), word!("their")].contains(&other.hash);
        let apart = matches!(other.kind, TokenKind::Symbol(_));
        if other.sentence != token.sentence || other.line != token.line || apart || joins || taken(at) {
            break;
        }
        if other.has_content() {
            heads.extend(stem(at));
            words.extend(stem(at));
            behind += 1;
        }
        if behind == BEHIND {
            break;
        }
    }
    // A unit labels its value as much as a noun does.
    if let What::Number(number) = &mention.what
        && number.unit.is_some()
    {
        let last = end.saturating_sub(1);
        let unit = text.get(last).filter(|token| token.is_word()).and_then(|_| stem(last));
        heads.extend(unit.clone());
        words.extend(unit);
    }
    words.sort_unstable();
    words.dedup();
    labelled
}

/// What a user counts: the words behind `how many` and `number of`.
pub(super) fn counted(turn: &str) -> String {
    let lower = turn.to_lowercase();
    let behind = ["how many ", "number of ", "count the ", "count of "]
        .iter()
        .filter_map(|lead| Some(lower.rfind(lead)? + lead.len()))
        .max();
    let Some(rest) = behind.and_then(|at| lower.get(at..)) else { return String::new() };
    let words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2);
    words.take(2).collect::<Vec<_>>().join(" ")
}

/// A place's last member: `starts_at` of `items[0].starts_at`.
fn member_of(path: &str) -> &str {
    let last = path.rsplit('.').next().unwrap_or(path);
    last.split('[').next().unwrap_or(last)
}

thread_local! {
    /// The stems of names that were read: the same few hundred come again in every episode of a world.
    static WORDS: RefCell<HashMap<String, Rc<[String]>>> = RefCell::default();
}

/// Names that are remembered, at most.
const MOST_NAMES: usize = 8_192;

/// The stems of the words of a name or label.
fn words_of(name: &str) -> Rc<[String]> {
    WORDS.with_borrow_mut(|known| {
        if let Some(words) = known.get(name) {
            return Rc::clone(words);
        }
        if known.len() >= MOST_NAMES {
            known.clear();
        }
        let words: Rc<[String]> = read_words(name).into();
        known.insert(name.to_owned(), Rc::clone(&words));
        words
    })
}

fn read_words(name: &str) -> Vec<String> {
    const SMALL: [&str; 14] =
        ["of", "the", "a", "an", "in", "at", "on", "by", "for", "to", "and", "or", "is", "id"];
    let mut words = english::split_identifier(name);
    // `min_age` is no number of minutes.
    if words.len() > 1 && matches!(words.first().map(String::as_str), Some("min" | "max")) {
        words.remove(0);
    }
    words
        .into_iter()
        .filter(|word| !SMALL.contains(&word.as_str()))
        .map(|word| english::stem(&word))
        .collect()
}

/// Letters and digits in one word, such as `RO-12290` and `K-060`; not `30W`, `9am` or `3rd`.
fn is_code(word: &str) -> bool {
    let letters = word.chars().filter(|c| c.is_ascii_uppercase()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let starts = word.chars().next().is_some_and(|c| c.is_ascii_uppercase());
    plain && starts && digits >= 2 && letters >= 1 && word.len() >= 4
}

fn schemas_of<'w>(world: &'w World, domains: &[DomainId]) -> impl Iterator<Item = &'w Schema> {
    let fields = world.resources.iter().filter(|resource| domains.contains(&resource.domain));
    fields.flat_map(|resource| resource.fields.iter().map(|field| &field.schema))
}

fn currency_of(schema: &Schema) -> Option<&str> {
    match &schema.kind {
        Type::Decimal { currency: Some(code), .. } => Some(code),
        Type::List(item) => currency_of(item),
        _ => None,
    }
}
