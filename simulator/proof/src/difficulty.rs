//! Measures the difficulty of a proven task from its proof: the values that the solution uses, and the
//! alternatives beside it.

use std::collections::BTreeSet;
use std::mem::discriminant;

use diorama_answers::Clock;
use diorama_answers::prose::Prose;
use diorama_engine::session::LogEntry;
use diorama_engine::tools::{TOOL_SEARCHER, is_of_solution};
use diorama_engine::{Base, Body, Origin, State, apply};
use diorama_seeds::expr::Node;
use diorama_seeds::model::{Api, ApiId, ParameterId, ReadingError, ResourceId, World};
use diorama_seeds::schema::Type;
use diorama_seeds::task::difficulty::{DifficultyCounts, PERSISTENT, PUSHES};
use diorama_seeds::task::{Call, GoldCall, places};
use diorama_seeds::value::Value;

use crate::answer::RequestedFact;
use crate::binding::collect_member;
use crate::checks::first::split_item;
use crate::gates::GateReport;
use crate::ground::text::count_stated;
use crate::grounded::GroundedCandidate;

/// Counts the difficulties of a proven task. `tags` are the tags of its dialogue.
#[must_use]
pub fn measure(
    base: &Base,
    grounded: &GroundedCandidate,
    report: &GateReport,
    tags: &[&str],
) -> DifficultyCounts {
    let world = base.world();
    let governed = governed_apis(world, grounded);
    let rules = governed.iter().map(|id| &world.api(*id).behaviour);
    let declines = grounded.goals.iter().any(|goal| goal.declined.is_some());
    // A persistent user pleads only after a refusal.
    let is_push = |tag: &&&str| PUSHES.contains(*tag) && (declines || **tag != PERSISTENT);
    let misreadings = if governed.is_empty() { BTreeSet::new() } else { turning_misreadings(base, grounded) };
    let misread = |is_kind: &dyn Fn(ReadingError) -> bool| {
        let rules = misreadings.iter().filter(|(.., error)| is_kind(*error));
        count(rules.map(|(api, rule, _)| (api, rule)).collect::<BTreeSet<_>>().len())
    };
    DifficultyCounts {
        cells: count(cells(grounded).len() + rule_fields(world, &governed)),
        near_misses: count(near_misses(base, grounded)),
        depth: depth(&grounded.gold),
        confusable_tools: count(confusable_tools(world, grounded)),
        rules: count(rules.map(|behaviour| behaviour.rules.len() + behaviour.confirms.len()).sum()),
        limits: misread(&|error| error != ReadingError::NoException),
        exceptions: misread(&|error| error == ReadingError::NoException),
        calls: count(grounded.gold.iter().filter(|call| !call.mistake && !call.care).count()),
        traps: report.traps,
        pushes: count(tags.iter().filter(is_push).count()),
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Returns the depth of calls nested through their arguments: 1 for a call whose arguments come from the user
/// alone.
#[must_use]
pub fn depth(gold: &[GoldCall]) -> u32 {
    let mut depths: Vec<u32> = Vec::with_capacity(gold.len());
    for call in gold {
        let from = |index: &u32| depths.get(*index as usize).copied().unwrap_or(0);
        let below = call.sources.values().flat_map(places).map(|(of, _)| from(&of));
        depths.push(if call.api == TOOL_SEARCHER { 0 } else { below.max().unwrap_or(0) + 1 });
    }
    depths.into_iter().max().unwrap_or(0)
}

/// Returns the APIs of the solution's calls and of declined calls that a rule of a told policy governs.
fn governed_apis(world: &World, grounded: &GroundedCandidate) -> BTreeSet<ApiId> {
    let declined = grounded.goals.iter().filter_map(|goal| Some(&*goal.declined.as_ref()?.call.api));
    let made = grounded.gold.iter().filter(|call| !call.mistake).map(|call| &*call.api);
    let told = &grounded.checks.policy;
    let is_governed = |id: &ApiId| {
        let api = world.api(*id);
        let asks = !api.behaviour.confirms.is_empty() && grounded.checks.confirms;
        world.is_governed(*id, told)
            || (asks && told.iter().any(|name| **name == *world.domains[api.domain.index()].name))
    };
    made.chain(declined).filter_map(|name| world.api_named(name)).filter(is_governed).collect()
}

/// Returns the misreadings of rules that turn the verdict on a call of the solution, or on a declined call: the
/// API, the position of the rule, and the error.
fn turning_misreadings(base: &Base, grounded: &GroundedCandidate) -> BTreeSet<(ApiId, usize, ReadingError)> {
    let mut found = BTreeSet::new();
    let mut add = |state: &State, call: &Call| {
        let Some(api) = base.api_named(&call.api) else { return };
        if base.world().is_governed(api, &grounded.checks.policy) {
            let misreadings = diorama_engine::turning_misreadings(base, state, call);
            found.extend(misreadings.into_iter().map(|misreading| (api, misreading.rule, misreading.error)));
        }
    };
    let mut state = grounded.initial.clone();
    let calls = grounded.gold.iter().zip(&grounded.entries).enumerate();
    let declined = |end: usize| {
        let of_goals = grounded.goals.iter().filter(move |goal| goal.calls.end == end);
        of_goals.filter_map(|goal| goal.declined.as_ref())
    };
    for (index, (gold, entry)) in calls {
        declined(index).for_each(|declined| add(&state, &declined.call));
        if !gold.mistake {
            add(&state, &entry.call);
        }
        state = apply(base, &state, &entry.call).state;
    }
    declined(grounded.gold.len()).for_each(|declined| add(&state, &declined.call));
    found
}

/// Returns the number of record fields that the rules of these APIs read.
fn rule_fields(world: &World, governed: &BTreeSet<ApiId>) -> usize {
    let rules = governed.iter().flat_map(|id| &world.api(*id).behaviour.rules);
    let fields = rules.map(|rule| {
        let mut fields = 0;
        rule.that.node.visit(&mut |node| {
            fields += usize::from(matches!(node, Node::Field(..)));
            true
        });
        fields
    });
    fields.sum()
}

/// A value that a reply shows: the field of a record, or a path in a reply without a record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    Field(ResourceId, String, u16),
    Place(usize, String),
}

/// Returns the values of replies that later arguments and stated facts use.
fn cells(grounded: &GroundedCandidate) -> BTreeSet<Cell> {
    let calls = grounded.gold.iter().filter(|call| !call.mistake && !call.care);
    let taken = calls.flat_map(|call| call.sources.values()).flat_map(places);
    let mut found: BTreeSet<Cell> = taken.map(|(of, path)| cell(grounded, of as usize, path)).collect();
    for asked in grounded.goals.iter().flat_map(|goal| &goal.asked) {
        match asked {
            RequestedFact::Leaf { call, path, .. } | RequestedFact::Count { call, path, .. } => {
                found.insert(cell(grounded, *call, path));
            }
            RequestedFact::Each { call, array, member, .. } => {
                let body = grounded.entries.get(*call).map(|entry| &entry.reply.body);
                let items =
                    body.and_then(|body| collect_member(body, array, member)).map_or(0, |items| items.len());
                let dot = if member.is_empty() { "" } else { "." };
                found.extend(
                    (0..items).map(|item| cell(grounded, *call, &format!("{array}[{item}]{dot}{member}"))),
                );
            }
        }
    }
    found
}

fn cell(grounded: &GroundedCandidate, call: usize, path: &str) -> Cell {
    let leaf = grounded.entries.get(call).and_then(|entry| entry.reply.body.at(path));
    match leaf {
        Some(Body::Leaf(_, Origin::Field { resource, key, field })) => {
            Cell::Field(*resource, format!("{key:?}"), field.0)
        }
        _ => Cell::Place(call, path.to_owned()),
    }
}

/// Returns the number of records that miss one condition of the request: those listed beside a used record.
/// It adds the records that the list would show with one filter less.
fn near_misses(base: &Base, grounded: &GroundedCandidate) -> usize {
    let world = base.world();
    let clock = Clock::at(grounded.clock, &world.zone);
    let said: Vec<Prose> = grounded.user_turns.iter().map(|turn| Prose::read(turn, &clock)).collect();
    let mut state = grounded.initial.clone();
    let mut found = 0;
    for (index, (gold, entry)) in grounded.gold.iter().zip(&grounded.entries).enumerate() {
        let api = entry.api.map(|id| world.api(id));
        if let Some(api) = api.filter(|_| is_of_solution(gold) && !gold.care) {
            let filters = given_filters(api, &entry.call);
            found += taken_items(grounded, index)
                .into_iter()
                .map(|(array, item)| shown_beside(entry, (&array, item), filters.len(), &said, &clock))
                .sum::<usize>();
            found += hidden_by_one(base, &state, api, entry, &filters);
        }
        state = apply(base, &state, &entry.call).state;
    }
    found
}

/// Returns the names of the filters that a call of a list sets.
fn given_filters<'a>(api: &'a Api, call: &Call) -> Vec<&'a str> {
    let filters = api.query().into_iter().flat_map(|query| &query.filters);
    let names = filters.map(|filter| &*api.parameters[filter.parameter.index()].name);
    let given: BTreeSet<&str> = names.filter(|name| call.arguments.contains_key(*name)).collect();
    given.into_iter().collect()
}

/// Returns the items of a reply that later arguments or facts use: the path of the list and the position.
fn taken_items(grounded: &GroundedCandidate, call: usize) -> BTreeSet<(String, usize)> {
    let sources = grounded.gold.iter().flat_map(|later| later.sources.values()).flat_map(places);
    let by_calls = sources.filter(|(of, _)| *of as usize == call).map(|(_, path)| path);
    let asked = grounded.goals.iter().flat_map(|goal| &goal.asked);
    let by_facts = asked.filter_map(|asked| match asked {
        RequestedFact::Leaf { call: of, path, .. } if *of == call => Some(&**path),
        _ => None,
    });
    let items = by_calls.chain(by_facts).filter_map(split_item);
    items.map(|(array, item, _)| (array.to_owned(), item)).collect()
}

/// Returns the number of items that differ from a used one in one condition, where the request has two or
/// more.
/// A condition is a filter of the call, or a value of the item that the user states and that some other item
/// lacks.
fn shown_beside(
    entry: &LogEntry,
    (array, item): (&str, usize),
    filters: usize,
    said: &[Prose],
    clock: &Clock,
) -> usize {
    let Some(Body::List(items)) = entry.reply.body.at(array) else { return 0 };
    let Some(taken) = items.get(item) else { return 0 };
    let value = |item: &Body, path: &str| {
        let there = if path.is_empty() { Some(item) } else { item.at(path) };
        there.and_then(Body::value).cloned()
    };
    let stated: Vec<(String, &Value)> = (taken.leaves())
        .filter(|(path, known, _)| {
            items.iter().any(|other| value(other, path).as_ref() != Some(known))
                && count_stated(known, said, clock) > 0
        })
        .map(|(path, known, _)| (path, known))
        .collect();
    if stated.is_empty() || stated.len() + filters < 2 {
        return 0;
    }
    let differs_once = |other: &&Body| {
        stated.iter().filter(|(path, known)| value(other, path).as_ref() != Some(*known)).count() == 1
    };
    items.iter().filter(differs_once).count()
}

/// Returns the number of records that a list gains without one of its filters, summed over two or more
/// filters.
fn hidden_by_one(base: &Base, state: &State, api: &Api, entry: &LogEntry, filters: &[&str]) -> usize {
    let Some(query) = api.query().filter(|_| filters.len() > 1 && entry.reply.is_success()) else { return 0 };
    let shown =
        |reply: &diorama_engine::Reply| reply.total.unwrap_or_else(|| keys(&reply.body, query.resource));
    let own = shown(&entry.reply);
    let without = filters.iter().map(|name| {
        let mut call = entry.call.clone();
        call.arguments.remove(*name);
        let reply = apply(base, state, &call).reply;
        if reply.is_success() { shown(&reply).saturating_sub(own) } else { 0 }
    });
    without.sum()
}

/// Returns the number of records of a resource in a reply.
fn keys(body: &Body, resource: ResourceId) -> usize {
    let keys = body.values().filter_map(|(_, origin)| match origin {
        Origin::Field { resource: of, key, .. } if *of == resource => Some(format!("{key:?}")),
        _ => None,
    });
    keys.collect::<BTreeSet<String>>().len()
}

/// Returns the number of visible tools outside the solution that could replace one of its calls by kind and
/// parameter types.
fn confusable_tools(world: &World, grounded: &GroundedCandidate) -> usize {
    let found = grounded.entries.iter().flat_map(|entry| entry.tools_found());
    let mut visible: BTreeSet<ApiId> = found.filter_map(|name| world.api_named(name)).collect();
    visible.extend(&grounded.visible);
    let of_solution = grounded.gold.iter().filter(|call| is_of_solution(call));
    let declined = grounded.goals.iter().filter_map(|goal| Some(&*goal.declined.as_ref()?.call.api));
    let names = of_solution.map(|call| &*call.api).chain(declined);
    let called: BTreeSet<ApiId> = names.filter_map(|name| world.api_named(name)).collect();
    let others = visible.iter().filter(|id| !called.contains(*id)).map(|id| world.api(*id));
    others.filter(|other| called.iter().any(|own| is_confusable(other, world.api(*own)))).count()
}

/// Returns true if an API can be mistaken for another.
/// Both have one kind, and the other has a parameter of the type of each that the first requires.
#[must_use]
pub fn is_confusable(other: &Api, own: &Api) -> bool {
    let takes = |parameter: &Type| {
        own.parameters.iter().any(|known| discriminant(&known.schema.kind) == discriminant(parameter))
    };
    let required =
        other.parameters.iter().enumerate().filter(|(index, parameter)| {
            parameter.required && other.token != Some(ParameterId(*index as u16))
        });
    discriminant(&other.behaviour.kind) == discriminant(&own.behaviour.kind)
        && required.into_iter().all(|(_, parameter)| takes(&parameter.schema.kind))
}
