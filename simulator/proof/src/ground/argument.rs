//! Derives the sources of a call's arguments.

use diorama_answers::prose::Prose;
use diorama_engine::session::LogEntry;
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_engine::{Origin, State};
use diorama_seeds::model::{Api, ApiId, Parameter};
use diorama_seeds::schema::Type;
use diorama_seeds::task::{ArgumentSource, GoldCall};
use diorama_seeds::value::Value;
use serde_json::Value as Json;

use super::choice::{UnsourcedArgument, is_choice};
use super::seen::{Sources, VisiblePart};
use super::text::{self, Evidence, folded};
use crate::candidate::CandidateCall;
use crate::grounded::GroundedGoal;
use crate::reason::{Code, Reason};
use crate::survey::reads;

/// Returns the sources of a call's arguments. Arguments without one are collected, or reported at once if
/// they cannot be a choice.
pub(crate) fn sources(
    index: usize,
    call: &CandidateCall,
    id: Option<ApiId>,
    seen: &VisiblePart<'_>,
    faults: &mut Vec<Reason>,
    unsourced: &mut Vec<UnsourcedArgument>,
) -> Sources {
    let mut found = Sources::new();
    let Some(id) = id else {
        if call.api == TOOL_SEARCHER {
            found.extend(keywords(index, call, seen, faults));
        }
        return found;
    };
    let world = seen.context.base.world();
    let api = world.api(id);
    for (name, json) in &call.arguments {
        let Some(parameter) = api.parameter_named(name).map(|id| &api.parameters[id.index()]) else {
            continue;
        };
        // The engine refuses a value of another type, so it needs no source.
        let Ok(value) = parameter.schema.parse_json(json, &world.zone) else { continue };
        let argument = Argument { api, parameter, seen };
        match argument.source(&value) {
            Some(source) => {
                found.insert(name.clone(), source);
            }
            None if reads(api) && !parameter.required => {
                unsourced.push(UnsourcedArgument { call: index, name: name.clone() });
            }
            None => faults.push(
                argument
                    .find_ambiguous_name(index, &value)
                    .unwrap_or_else(|| unsupported_reason(index, &call.api, name, json)),
            ),
        }
    }
    found
}

fn unsupported_reason(call: usize, api: &str, argument: &str, value: &Json) -> Reason {
    Reason::of_call(Code::ArgumentUnsupported, call)
        .with("api", api)
        .with("argument", argument)
        .with("value", value.clone())
}

/// Settles the collected arguments: an optional argument of a read is a choice if the reply without it shows
/// all used values.
pub(crate) fn settle(
    unsourced: &[UnsourcedArgument],
    gold: &mut [GoldCall],
    goals: &[GroundedGoal],
    seen: &VisiblePart<'_>,
    initial: &State,
    faults: &mut Vec<Reason>,
) {
    for left in unsourced.iter().take_while(|_| !seen.context.stop.is_set()) {
        if is_choice(left, gold, goals, seen, initial) {
            if let Some(call) = gold.get_mut(left.call) {
                call.sources.insert(left.name.clone(), ArgumentSource::Choice);
            }
            continue;
        }
        let Some(call) = gold.get(left.call) else { continue };
        let json = call.arguments.get(&left.name).cloned().unwrap_or_default();
        faults.push(unsupported_reason(left.call, &call.api, &left.name, &json));
    }
    // A value that only a later turn gives has a reason of its own.
    for fault in faults.iter_mut() {
        if fault.code == Code::ArgumentUnsupported
            && let Some(turn) = find_later_turn(fault, gold, seen)
        {
            let details = std::mem::take(&mut fault.details);
            *fault = Reason { details, call: fault.call, ..Reason::new(Code::ArgumentTooEarly) }
                .with("turn", turn);
        }
    }
}

/// Returns the later turn of the user that gives an argument without an earlier source.
fn find_later_turn(reason: &Reason, gold: &[GoldCall], seen: &VisiblePart<'_>) -> Option<u32> {
    let world = seen.context.base.world();
    let call = gold.get(reason.call?)?;
    let name = reason.details.get("argument")?.as_str()?;
    let api = world.api(world.api_named(&call.api)?);
    let parameter = &api.parameters[api.parameter_named(name)?.index()];
    let value = parameter.schema.parse_json(reason.details.get("value")?, &world.zone).ok()?;
    let argument = Argument { api, parameter, seen };
    let source = argument.in_user(&value).or_else(|| argument.in_parts(&value))?;
    turns_of(&source).into_iter().find(|turn| *turn > call.turn)
}

/// Returns the user's turns of a source.
fn turns_of(source: &ArgumentSource) -> Vec<u32> {
    match source {
        ArgumentSource::User { turn, .. } => vec![*turn],
        ArgumentSource::Arithmetic { of, .. } => of.iter().flat_map(turns_of).collect(),
        _ => Vec::new(),
    }
}

/// Checks the keywords of a tool search: one word must have been visible, because searchers paraphrase.
fn keywords(index: usize, call: &CandidateCall, seen: &VisiblePart<'_>, faults: &mut Vec<Reason>) -> Sources {
    let text = call.arguments.get("keywords").and_then(Json::as_str).unwrap_or_default();
    let stems = Prose::stems_of(text);
    let told = |stem: &&u64| {
        let by_words =
            std::iter::once(&seen.system).chain(&seen.turns).any(|prose| prose.find_stem(**stem).is_some());
        by_words || replies_have(seen, **stem)
    };
    let known = stems.iter().filter(told).count();
    if known == 0 {
        faults.push(Reason::of_call(Code::KeywordsUnsupported, index).with("keywords", text));
        return Sources::new();
    }
    let turns = (0..seen.turns.len() as u32).collect();
    let calls = (0..seen.entries.len() as u32).collect();
    [("keywords".to_owned(), ArgumentSource::Keywords { turns, calls })].into_iter().collect()
}

pub(super) fn replies_have(seen: &VisiblePart<'_>, stem: u64) -> bool {
    seen.entries.iter().flat_map(|entry| entry.reply.body.leaves()).any(|(path, value, _)| {
        let of_value = value.as_str().is_some_and(|text| Prose::stems_of(text).contains(&stem));
        of_value || Prose::stems_of(path.rsplit(['.', ']']).next().unwrap_or_default()).contains(&stem)
    })
}

/// An argument, with everything visible before its call.
pub(crate) struct Argument<'a> {
    pub(crate) api: &'a Api,
    pub(crate) parameter: &'a Parameter,
    pub(crate) seen: &'a VisiblePart<'a>,
}

impl Argument<'_> {
    pub(super) fn source(&self, value: &Value) -> Option<ArgumentSource> {
        if let Some(token) = value.as_str().filter(|_| self.is_token())
            && self.seen.context.base.standing().user(self.api.domain, token).is_some()
            && let Some(start) = self.seen.system.source().find(token)
        {
            return Some(ArgumentSource::System { start: start as u32, end: (start + token.len()) as u32 });
        }
        let world = self.seen.context.base.world();
        if world.told_for(self.api, self.parameter).is_some_and(|given| given == value)
            && let text = value.to_text(&world.zone)
            && let Some(start) = self.seen.system.source().find(&*text)
        {
            return Some(ArgumentSource::System { start: start as u32, end: (start + text.len()) as u32 });
        }
        let (said, shown) = (self.in_user(value), self.in_reply(value));
        // The first visible position counts: a value that a list showed comes from the list, even if the user
        // picks it.
        let is_text = matches!(self.parameter.schema.kind, Type::Reference { .. } | Type::String | Type::Any);
        let first = match (&said, &shown) {
            (Some(ArgumentSource::User { turn, .. }), Some(ArgumentSource::Reply { call, .. }))
                if is_text =>
            {
                let before = self.seen.calls_before.get(*turn as usize).copied().unwrap_or(0);
                if (*call as usize) < before { shown } else { said }
            }
            _ => said.or(shown),
        };
        first
            .or_else(|| (self.parameter.default.as_ref() == Some(value)).then_some(ArgumentSource::Default))
            .or_else(|| self.in_order(value))
            .or_else(|| self.in_paging(value))
            .or_else(|| self.in_clock(value))
            .or_else(|| self.in_parts(value))
            .or_else(|| self.in_several(value))
            .or_else(|| self.in_dictation(value))
    }

    fn is_token(&self) -> bool {
        self.api.token.is_some_and(|token| self.api.parameters[token.index()].name == self.parameter.name)
    }

    /// Returns a reason if the user said a part of a name that several records share.
    fn find_ambiguous_name(&self, call: usize, value: &Value) -> Option<Reason> {
        let (resource, field) = self.parameter.field?;
        let world = self.seen.context.base.world();
        let name = value.as_str().filter(|_| world.resource(resource).display == Some(field))?;
        let said = |word: &&str| {
            word.chars().count() > 2 && self.seen.turns.iter().any(|turn| !turn.find(word).is_empty())
        };
        let part = name.split_whitespace().find(said)?;
        let records = world.resource(resource).records.iter();
        let names = records.filter_map(|record| record.get(field.index())?.as_str());
        let sharing = names.filter(|other| other.split_whitespace().any(|word| word == part)).count();
        (sharing > 1)
            .then(|| Reason::of_call(Code::SeveralRecords, call).with("name", part).with("records", sharing))
    }

    /// Finds the first turn of the user that gives the value.
    pub(super) fn in_user(&self, value: &Value) -> Option<ArgumentSource> {
        if self.is_token() {
            return None;
        }
        let mut turns = self.seen.turns.iter().enumerate();
        turns.find_map(|(turn, prose)| {
            let Evidence { span, by } = text::find(prose, value, self.parameter, self.seen)?;
            Some(ArgumentSource::User {
                turn: turn as u32,
                start: span.start as u32,
                end: span.end as u32,
                by,
            })
        })
    }

    /// Finds the first position in an earlier reply that shows the value; a key must stand as a key.
    fn in_reply(&self, value: &Value) -> Option<ArgumentSource> {
        let mut calls = self.seen.entries.iter().enumerate();
        let (call, path) = calls.find_map(|(call, entry)| {
            // A search shows tools, and an example in a schema is no value of a record.
            entry.api?;
            let path = self.place_in(entry, value)?;
            Some((call as u32, path))
        })?;
        Some(ArgumentSource::Reply { call, path })
    }

    fn place_in(&self, entry: &LogEntry, value: &Value) -> Option<String> {
        let world = self.seen.context.base.world();
        let mut second = None;
        for (path, leaf, origin) in entry.reply.body.leaves() {
            if leaf != value {
                continue;
            }
            match (&self.parameter.schema.kind, origin) {
                (Type::Reference { resource, .. }, Origin::Field { resource: of, field, .. }) => {
                    if of == resource && *field == world.resource(*resource).key {
                        return Some(path);
                    }
                    let kind = &world.resource(*of).field(*field).schema.kind;
                    let refers = matches!(kind, Type::Reference { resource: to, .. } if to == resource)
                        || matches!(kind, Type::List(item) if diorama_seeds::schema::refers_to(&item.kind) == Some(*resource));
                    if refers && second.is_none() {
                        second = Some(path);
                    }
                }
                // A key without a field of origin comes from a summary that the world computed.
                (Type::Reference { .. }, _) => {
                    second = second.or_else(|| is_named_like(&path, self.parameter).then_some(path))
                }
                _ if self.is_token() => return path.ends_with("token").then_some(path),
                // Such values carry little meaning, so they must be of the same field.
                (
                    Type::Boolean | Type::Enum(_) | Type::Integer | Type::Number | Type::Decimal { .. },
                    origin,
                ) => {
                    if self.is_same_field(origin, &path) {
                        return Some(path);
                    }
                }
                _ => return Some(path),
            }
        }
        second
    }

    pub(super) fn is_same_field(&self, origin: &Origin, path: &str) -> bool {
        let of_field = matches!(
            (origin, self.parameter.field),
            (Origin::Field { resource, field, .. }, Some(of)) if (*resource, *field) == of
        );
        of_field || is_named_like(path, self.parameter)
    }
}

/// Returns true if the member at a path is named like a parameter, ignoring case and underscores.
pub(crate) fn is_named_like(path: &str, parameter: &Parameter) -> bool {
    let member = path.rsplit('.').next().unwrap_or(path);
    let member = member.split('[').next().unwrap_or(member);
    folded(member) == folded(&parameter.name)
}
