//! Runs the gate `unambiguous`: every reading of the request against the records leads to one outcome.
//!
//! Words with several values are tried with each. A name must fit one record. The user's words must select
//! the item of a list. The first of an order must be the only first. Following the words literally must do no
//! damage.

mod literal;

use std::collections::BTreeSet;

use diorama_answers::Clock;
use diorama_answers::prose::{Prose, Span};
use diorama_engine::Body;
use diorama_engine::session::LogEntry;
use diorama_seeds::english;
use diorama_seeds::model::{Api, BehaviourKind, FieldId, Parameter, ParameterId, ResourceId};
use diorama_seeds::task::{ArgumentSource, Derivation, GoldCall, places};
use diorama_seeds::value::Value;

use super::report::GateReport;
use super::trial::Trial;
use crate::answer::RequestedFact;
use crate::checks::first::split_item;
use crate::ground::order::{SortOrder, extremes};
use crate::ground::seen::turns_before;
use crate::ground::text::readings;
use crate::reason::{Code, Reason};
use crate::survey::reads;

/// Runs the gate.
///
/// # Errors
/// Returns the part of the request that has several readings.
pub(super) fn run(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), Reason> {
    let world = trial.world();
    let turns = Turns::read(trial);
    for (call, gold) in trial.grounded.gold.iter().enumerate().take_while(|_| !trial.is_stopped()) {
        let Some(id) = world.api_named(&gold.api) else { continue };
        let api = world.api(id);
        for (name, source) in &gold.sources {
            let Some(parameter) = api.parameter_named(name) else { continue };
            let at = ArgumentTrial { trial, turns: &turns, call, gold, api, parameter };
            at.readings(source)?;
            at.records()?;
            at.items(source)?;
            report.unambiguous += 1;
        }
        order(trial, &turns, call, gold, api)?;
    }
    literal::run(trial, (&turns.prose, &turns.clock), report)
}

/// The user's turns, read.
struct Turns {
    prose: Vec<Prose>,
    clock: Clock,
}

impl Turns {
    fn read(trial: &Trial<'_>) -> Self {
        let clock = Clock::at(trial.grounded.clock, &trial.world().zone);
        let prose = trial.grounded.user_turns.iter().map(|turn| Prose::read(turn, &clock)).collect();
        Self { prose, clock }
    }

    /// Returns the turns before a call.
    fn before(&self, gold: &GoldCall) -> &[Prose] {
        turns_before(&self.prose, gold)
    }
}

/// An argument of a call.
struct ArgumentTrial<'a> {
    trial: &'a Trial<'a>,
    turns: &'a Turns,
    call: usize,
    gold: &'a GoldCall,
    api: &'a Api,
    parameter: ParameterId,
}

impl ArgumentTrial<'_> {
    fn parameter(&self) -> &Parameter {
        &self.api.parameters[self.parameter.index()]
    }

    fn value(&self) -> Option<Value> {
        let parameter = self.parameter();
        let json = self.gold.arguments.get(&*parameter.name)?;
        parameter.schema.parse_json(json, &self.trial.world().zone).ok()
    }

    /// Tries the values that words can mean: only one of them may succeed.
    fn readings(&self, source: &ArgumentSource) -> Result<(), Reason> {
        let ArgumentSource::User { turn, start, end, by } = source else { return Ok(()) };
        if !matches!(by, Derivation::DatePhrase | Derivation::Verbatim | Derivation::NumberWord) {
            return Ok(());
        }
        let Some(prose) = self.turns.prose.get(*turn as usize) else { return Ok(()) };
        let words = prose.source().get(*start as usize..*end as usize).unwrap_or_default();
        let span = Span { start: *start as usize, end: *end as usize };
        let Some(value) = self.value() else { return Ok(()) };
        let meant = readings(prose, span, &value, self.parameter(), &self.turns.clock);
        let others: Vec<&Value> = meant.iter().filter(|other| **other != value).collect();
        if others.is_empty() || !meant.contains(&value) {
            return Ok(());
        }
        let zone = &self.trial.world().zone;
        let working = others.into_iter().filter(|other| self.works(other)).map(|other| other.to_json(zone));
        let mut values: Vec<serde_json::Value> = working.collect();
        if values.is_empty() {
            return Ok(());
        }
        values.insert(0, value.to_json(zone));
        let (argument, words) = (self.parameter().name.to_string(), words.to_owned());
        Err(Reason::of_call(Code::SeveralReadings, self.call)
            .with("argument", argument)
            .with("words", words)
            .with("values", values))
    }

    /// Returns true if the call succeeds with another value for the taken one, which may be an item of a
    /// list.
    fn works_with(&self, taken: Option<&Value>, other: &Value) -> bool {
        match self.value() {
            Some(Value::List(items)) => {
                let put = |item: &Value| if Some(item) == taken { other.clone() } else { item.clone() };
                self.works(&Value::List(items.iter().map(put).collect()))
            }
            _ => self.works(other),
        }
    }

    /// Returns true if the call succeeds with another value as it does with the sent one: a write changes
    /// records, and a read shows some.
    fn works(&self, value: &Value) -> bool {
        let mut run = self.trial.start();
        for before in self.trial.grounded.entries.iter().take(self.call) {
            self.trial.call_aside(&mut run, &before.call);
        }
        let Some(recorded) = self.trial.grounded.entries.get(self.call) else { return false };
        let mut call = recorded.call.clone();
        call.arguments.insert(self.parameter().name.to_string(), value.to_json(&self.trial.world().zone));
        let entry = self.trial.call_aside(&mut run, &call);
        let shows = !reads(self.api) || !entry.reply.body.is_empty_result();
        entry.reply.is_success() && shows
    }

    /// Checks that a name fits one record, whole or as a part.
    fn records(&self) -> Result<(), Reason> {
        let (Some((resource, field)), Some(Value::String(name))) = (self.named_field(), self.value()) else {
            return Ok(());
        };
        let records = &self.trial.world().resource(resource).records;
        let wanted = name.to_lowercase();
        let bears = |text: &str| {
            let text = text.to_lowercase();
            text == wanted || english::has_words(&text, &wanted)
        };
        let bearing: Vec<&str> = records
            .iter()
            .filter_map(|record| record.get(field.index()).and_then(Value::as_str))
            .filter(|text| bears(text))
            .collect();
        let exact = bearing.iter().filter(|text| text.to_lowercase() == wanted).count();
        let taken = self.trial.grounded.entries.get(self.call).is_some_and(|entry| self.takes_one(entry));
        if bearing.len() > 1 && taken && (exact != 1 || !self.by_exact_name()) {
            let records = bearing.len();
            return Err(Reason::of_call(Code::SeveralRecords, self.call)
                .with("name", name.to_string())
                .with("records", records));
        }
        Ok(())
    }

    /// Returns true if later calls or facts use one record of the reply instead of all.
    fn takes_one(&self, entry: &LogEntry) -> bool {
        let sources = self.trial.grounded.gold.iter().flat_map(|gold| gold.sources.values());
        let by_calls = sources.flat_map(places).any(|(of, _)| of as usize == self.call);
        let asked = self.trial.grounded.goals.iter().flat_map(|goal| &goal.asked);
        let by_facts = asked
            .into_iter()
            .any(|asked| matches!(asked, RequestedFact::Leaf { call, .. } if *call == self.call));
        entry.reply.is_success() && (by_calls || by_facts)
    }

    /// Returns true if the look-up itself requires the whole name.
    const fn by_exact_name(&self) -> bool {
        matches!(self.api.behaviour.kind, BehaviourKind::Lookup { .. })
    }

    /// Returns the display field that a name parameter looks up.
    fn named_field(&self) -> Option<(ResourceId, FieldId)> {
        let world = self.trial.world();
        match &self.api.behaviour.kind {
            BehaviourKind::Lookup { resource, by } => {
                by.iter().find(|(_, by)| *by == self.parameter).map(|(field, _)| (*resource, *field))
            }
            BehaviourKind::List(query) => {
                let display = world.resource(query.resource).display?;
                let about = self.parameter().field == Some((query.resource, display));
                query
                    .filters
                    .iter()
                    .any(|filter| filter.parameter == self.parameter && about)
                    .then_some((query.resource, display))
            }
            _ => None,
        }
    }

    /// Checks that the user's words select the item that is taken from a list, unless all items are taken.
    fn items(&self, source: &ArgumentSource) -> Result<(), Reason> {
        for (of, path) in places(source) {
            let Some((array, index, member)) = split_item(path) else { continue };
            let Some(entry) = self.trial.grounded.entries.get(of as usize) else { continue };
            let Some(Body::List(items)) = entry.reply.body.at(array) else {
                continue;
            };
            if items.len() < 2 || self.takes_all(of, array, member, items.len()) {
                continue;
            }
            if let Some(first) = first_of_order(self.trial, of as usize, items, index) {
                if let Some(by) = first {
                    return Err(Reason::of_call(Code::Tie, of as usize).with("by", by));
                }
                continue;
            }
            if self.is_extreme(items, index) {
                continue;
            }
            let scores: Vec<usize> = items.iter().map(|item| self.said_of(item, items)).collect();
            let own = scores.get(index).copied().unwrap_or(0);
            let best = scores.iter().copied().max().unwrap_or(0);
            let spoken_for = self.taken_elsewhere(of, array);
            let rivals =
                scores.iter().enumerate().filter(|(item, _)| *item == index || !spoken_for.contains(item));
            let as_good = rivals.clone().filter(|(_, score)| **score >= own).count();
            let best = rivals.map(|(_, score)| *score).max().unwrap_or(best);
            if own < best || own == 0 || as_good > 1 {
                // Items with the same value offer no choice, and items that the call refuses are no
                // candidates.
                let value = |item: &Body| {
                    if member.is_empty() {
                        item.value().cloned()
                    } else {
                        item.at(member).and_then(Body::value).cloned()
                    }
                };
                let own_value = items.get(index).and_then(value);
                let distinct: BTreeSet<String> = items
                    .iter()
                    .zip(&scores)
                    .enumerate()
                    .filter(|(item, (_, score))| {
                        **score >= own && (*item == index || !spoken_for.contains(item))
                    })
                    .filter_map(|(at, (item, _))| value(item).map(|value| (at, value)))
                    .filter(|(at, item)| {
                        *at == index || reads(self.api) || self.works_with(own_value.as_ref(), item)
                    })
                    .map(|(_, value)| value.to_text(&self.trial.world().zone))
                    .collect();
                if distinct.len() > 1 {
                    return Err(Reason::of_call(Code::SeveralItems, self.call)
                        .with("of", of)
                        .with("items", distinct.len()));
                }
            }
        }
        Ok(())
    }

    /// Returns true if an item is the only least or greatest of its list in some member, and the user asked
    /// for that.
    fn is_extreme(&self, items: &[Body], index: usize) -> bool {
        extremes(items, index, self.turns.before(self.gold)).next().is_some()
    }

    /// Returns true if calls of the same API, or this argument, take each item of the list.
    fn takes_all(&self, of: u32, array: &str, member: &str, items: usize) -> bool {
        let same = self.trial.grounded.gold.iter().filter(|gold| gold.api == self.gold.api);
        let taken: BTreeSet<usize> = same
            .flat_map(|gold| gold.sources.values())
            .flat_map(places)
            .filter(|(call, _)| *call == of)
            .filter_map(|(_, path)| split_item(path))
            .filter(|(other, _, of_member)| *other == array && *of_member == member)
            .map(|(_, index, _)| index)
            .collect();
        taken.len() == items
    }

    /// Returns how much the user's words fit an item and not all others: one for each stated value that
    /// another item lacks.
    fn said_of(&self, item: &Body, items: &[Body]) -> usize {
        let mut score = 0;
        for (path, value, _) in item.leaves() {
            let differs = items.iter().any(|other| {
                let there = if path.is_empty() { Some(other) } else { other.at(&path) };
                there.and_then(Body::value) != Some(value)
            });
            if differs {
                score += self.weight(value);
            }
        }
        score
    }

    /// Returns how much of a value the user said; for a string, the number of its words.
    fn weight(&self, value: &Value) -> usize {
        let said = self.turns.before(self.gold);
        let words = crate::ground::text::count_stated(value, said, &self.turns.clock);
        if words > 0 { words } else { usize::from(self.is_shown_for(value)) }
    }

    /// Returns the items of a list that other calls, or other arguments of this one, take.
    fn taken_elsewhere(&self, of: u32, array: &str) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for (call, gold) in self.trial.grounded.gold.iter().enumerate() {
            for (name, source) in &gold.sources {
                if call == self.call && *name == *self.parameter().name {
                    continue;
                }
                let items = places(source).into_iter().filter(|(other, _)| *other == of);
                found.extend(
                    items
                        .filter_map(|(_, path)| split_item(path))
                        .filter(|(other, ..)| *other == array)
                        .map(|(_, index, _)| index),
                );
            }
        }
        found
    }

    /// Returns true if the value is the key that a look-up of a user's name returned.
    fn is_shown_for(&self, value: &Value) -> bool {
        let before = self.trial.grounded.entries.iter().take(self.call);
        let world = self.trial.world();
        before.filter(|entry| entry.reply.is_success()).any(|entry| {
            let looked_up = entry.api.is_some_and(|id| {
                matches!(
                    world.api(id).behaviour.kind,
                    BehaviourKind::Lookup { .. } | BehaviourKind::Get { .. }
                )
            });
            looked_up
                && !matches!(value, Value::Bool(_))
                && entry.reply.body.values().any(|(known, _)| known == value)
        })
    }
}

/// Checks an item against the order of its call. Returns none if there is no order or the item is not the
/// first.
/// Else returns the field in which it ties with the second item, if it does.
fn first_of_order(trial: &Trial<'_>, call: usize, items: &[Body], index: usize) -> Option<Option<String>> {
    let (field, _) = sort_of(trial, call)?;
    (index == 0).then_some(())?;
    let value = |index: usize| member_named(items.get(index)?, &field);
    Some(match (value(0), value(1)) {
        (Some(first), Some(second)) if first == second => Some(field),
        _ => None,
    })
}

/// Returns the member of an item that shows a field.
fn member_named(item: &Body, field: &str) -> Option<Value> {
    match item {
        Body::Object(members) => members
            .iter()
            .find(|(name, _)| crate::ground::text::folded(name) == crate::ground::text::folded(field))
            .and_then(|(_, member)| member.value().cloned()),
        _ => None,
    }
}

/// Returns the field that the caller's order sorts by, and the order.
fn sort_of(trial: &Trial<'_>, call: usize) -> Option<(String, SortOrder)> {
    let world = trial.world();
    let gold = trial.grounded.gold.get(call)?;
    let sought = SortOrder::from_call(gold, world)?;
    let query = world.api(world.api_named(&gold.api)?).query()?;
    Some((world.resource(query.resource).field(sought.field).name.to_string(), sought))
}

/// Checks that a requested order has the right direction, and no tie for the first item where a fact uses
/// that.
fn order(trial: &Trial<'_>, turns: &Turns, call: usize, gold: &GoldCall, api: &Api) -> Result<(), Reason> {
    let Some((_, sought)) = sort_of(trial, call) else { return Ok(()) };
    let said = turns.before(gold);
    let asked = said.iter().any(|prose| sought.find_request(prose).is_some());
    if !asked && said.iter().any(|prose| sought.is_other_in(prose)) {
        let parameter = api.query().and_then(|query| query.sort_parameter.as_ref());
        let name = parameter.map(|(id, _)| &api.parameters[id.index()].name);
        let order = name.and_then(|name| gold.arguments.get(&**name)).and_then(|json| json.as_str());
        return Err(Reason::of_call(Code::WrongOrder, call).with("order", order.unwrap_or_default()));
    }
    let facts = trial.grounded.goals.iter().flat_map(|goal| &goal.asked);
    for fact in facts {
        let RequestedFact::Leaf { call: of, path, .. } = fact else { continue };
        let Some((array, 0, _)) = split_item(path).filter(|_| *of == call) else { continue };
        let body = trial.grounded.entries.get(call).map(|entry| &entry.reply.body);
        let items = match body.and_then(|body| body.at(array)) {
            Some(Body::List(items)) => items,
            _ => continue,
        };
        if let Some(Some(by)) = first_of_order(trial, call, items, 0) {
            return Err(Reason::of_call(Code::Tie, call).with("by", by));
        }
    }
    Ok(())
}
