//! Checks an author's claims of a goal: its facts, the reason of a refusal, and the completion of the task.

use std::ops::Range;

use diorama_answers::prose::Prose;
use diorama_engine::session::LogEntry;
use diorama_engine::{Body, Origin, RecordChange};
use diorama_grade::{fact_from_value, fill_fact};
use diorama_seeds::english;
use diorama_seeds::model::{FieldId, ResourceId, World};
use diorama_seeds::schema::Type;
use diorama_seeds::task::{AnswerCheck, Checks, Outcome, RefusalClass};
use diorama_seeds::value::Value;
use serde_json::Value as Json;

use super::seen::VisiblePart;
use super::text::folded;
use crate::answer::RequestedFact;
use crate::binding::item_path;
use crate::candidate::{AskClaim, End, FactClaim};
use crate::grounded::GroundedGoal;
use crate::measures::leaf_schema;
use crate::reason::{Code, Reason};
use crate::statements::{Visible, contradicts, states};

/// Reads the facts that a goal claims to state.
///
/// A negative value that the last message gives without its sign is a fault, unless it is claimed as a
/// magnitude. An agent that repeats the message would be graded as wrong.
pub(crate) fn read_facts(
    goal: usize,
    end: &End,
    last: &Prose,
    seen: &VisiblePart<'_>,
    faults: &mut Vec<Reason>,
) -> Vec<RequestedFact> {
    let mut asked = Vec::new();
    for claim in &end.facts {
        let Some(entry) = seen.entries.get(claim.call) else {
            let (call, path) = (claim.call, claim.path.clone());
            faults.push(Reason::of_goal(Code::FactTooEarly, goal).at_call(call).with("path", path));
            continue;
        };
        match fact(claim, entry, seen) {
            Some(fact) => {
                let fault = |code| Reason::of_goal(code, goal).at_call(claim.call).with("path", &*claim.path);
                let leaves = leaves_of(&fact, &entry.reply.body);
                if claim.magnitude && leaves.iter().any(|leaf| !may_be_negative(leaf, seen)) {
                    faults.push(fault(Code::FactUnsigned));
                }
                let dropped = leaves.iter().filter_map(|leaf| leaf.value()?.as_f64()).find(|value| {
                    let near = |(said, _): &(f64, _), value: f64| (said - value).abs() < 0.005;
                    *value < 0.0
                        && last.numbers().any(|said| near(&said, -value))
                        && !last.numbers().any(|said| near(&said, *value))
                });
                if let Some(value) = dropped.filter(|_| !claim.magnitude) {
                    faults.push(fault(Code::SignDropped).with("value", value));
                }
                asked.push(fact);
            }
            None => faults.push(
                Reason::of_goal(Code::FactMissing, goal).at_call(claim.call).with("path", &*claim.path),
            ),
        }
    }
    asked
}

/// Reports facts that the last message of their goal does not state. `changes` holds the changes of the
/// calls.
pub(crate) fn report_unstated(
    checks: &Checks,
    goals: &[GroundedGoal],
    changes: &[RecordChange],
    seen: &VisiblePart<'_>,
    faults: &mut Vec<Reason>,
) {
    let world = seen.context.base.world();
    let made = |new: u32, field: &str| {
        let change = changes.iter().filter(|change| change.before.is_none()).nth(new as usize)?;
        let field = world.resource(change.resource).field_named(field)?;
        Some(fact_from_value(change.after.as_ref()?.get(field.index())?, &world.zone))
    };
    for (number, (goal, check)) in goals.iter().zip(&checks.goals).enumerate() {
        if check.answer.is_empty() {
            continue;
        }
        let message = Prose::read(&goal.answer, &seen.clock);
        let turns = seen.turns.get(..goal.user_turns).unwrap_or(&seen.turns);
        let entries = seen.entries.get(..goal.calls.end).unwrap_or(&seen.entries);
        let known = (&**seen.context.base, seen.context.vocabulary);
        let visible = Visible::new(&seen.clock, seen.now, turns, entries, known);
        let is_stated = |asked: &&AnswerCheck| {
            fill_fact(&asked.fact, made).is_some_and(|fact| states(&message, &fact, &asked.about, &visible))
        };
        let missing = check.answer.iter().filter(|asked| !is_stated(asked));
        faults.extend(
            missing.map(|asked| Reason::of_goal(Code::FactUnstated, number).with("about", &*asked.about)),
        );
    }
}

/// Returns the leaves whose values a fact states as they stand.
fn leaves_of<'a>(fact: &RequestedFact, body: &'a Body) -> Vec<&'a Body> {
    match fact {
        RequestedFact::Leaf { path, .. } => body.at(path).into_iter().collect(),
        RequestedFact::Each { array, member, .. } => {
            crate::binding::collect_member(body, array, member).unwrap_or_default()
        }
        RequestedFact::Count { .. } => Vec::new(),
    }
}

/// Returns true if a leaf is a number whose field may be negative.
fn may_be_negative(leaf: &Body, seen: &VisiblePart<'_>) -> bool {
    let Body::Leaf(value, origin) = leaf else { return false };
    let least = leaf_schema(origin, seen.context.base.world()).limits.min;
    matches!(value, Value::Integer(_) | Value::Number(_) | Value::Decimal(_))
        && least.and_then(|least| least.as_f64()).is_none_or(|least| least < 0.0)
}

/// Reports a value of a list that the last message states, and that the goal does not claim beside the
/// others.
pub(crate) fn report_unclaimed(
    goal: usize,
    asked: &[RequestedFact],
    prose: &Prose,
    seen: &VisiblePart<'_>,
    faults: &mut Vec<Reason>,
) {
    let mut lists: Vec<(usize, &str, &str)> = Vec::new();
    let mut told: Vec<(usize, &str)> = Vec::new();
    for fact in asked {
        if let RequestedFact::Leaf { call, path, several, .. } = fact {
            told.push((*call, path));
            if *several
                && let Some((array, member)) = item_of(path)
                && !lists.contains(&(*call, array, member))
            {
                lists.push((*call, array, member));
            }
        }
    }
    let words = std::slice::from_ref(prose);
    for (call, array, member) in lists {
        let Some(entry) = seen.entries.get(call) else { continue };
        let Some(items) = crate::binding::collect_member(&entry.reply.body, array, member) else { continue };
        let path = |at: usize| item_path(array, at, member);
        let claimed = |at: usize| told.iter().any(|(of, known)| *of == call && *known == path(at));
        let known: Vec<&Value> = items
            .iter()
            .enumerate()
            .filter(|(at, _)| claimed(*at))
            .filter_map(|(_, leaf)| leaf.value())
            .collect();
        let stated = items.iter().enumerate().find(|(at, leaf)| {
            let value = leaf.value().filter(|value| !known.contains(value));
            // A number can mean something else there.
            let is_stated = |value: &Value| match value {
                Value::String(text) => text.len() > 3 && !prose.find(text).is_empty(),
                Value::Date(_) | Value::Time(_) => super::text::count_stated(value, words, &seen.clock) > 0,
                _ => false,
            };
            !claimed(*at) && value.is_some_and(is_stated)
        });
        if let Some((at, _)) = stated {
            faults.push(Reason::of_goal(Code::FactUnclaimed, goal).at_call(call).with("path", path(at)));
        }
    }
}

/// Returns the array and the member of a path such as `items[3].name`.
fn item_of(path: &str) -> Option<(&str, &str)> {
    let (array, rest) = path.rsplit_once('[')?;
    let (_, member) = rest.split_once(']')?;
    Some((array, member.trim_start_matches('.')))
}

/// Reports writes with the same arguments in one goal, although the user asks for one.
pub(crate) fn report_repeated(calls: &Range<usize>, seen: &VisiblePart<'_>, faults: &mut Vec<Reason>) {
    let world = seen.context.base.world();
    let writes: Vec<(usize, &LogEntry)> = calls
        .clone()
        .filter_map(|call| Some((call, &**seen.entries.get(call)?)))
        .filter(|(_, entry)| !entry.changes.is_empty() && entry.api.is_some_and(|id| world.api(id).writes()))
        .collect();
    for (at, (call, entry)) in writes.iter().enumerate() {
        let times = 1 + writes[..at].iter().filter(|(_, before)| before.call == entry.call).count();
        let stated = || {
            let numbers = seen.turns.iter().flat_map(|turn| turn.numbers());
            numbers.into_iter().any(|(number, _)| number >= times as f64)
                || seen.turns.iter().any(|turn| !turn.find("twice").is_empty())
        };
        if times > 1 && !stated() {
            faults.push(Reason::of_call(Code::RepeatedWrite, *call).with("api", &*entry.call.api));
            return;
        }
    }
}

/// Returns the fields that a refused goal asks for in vain.
pub(crate) fn read_asks(
    goal: usize,
    end: &End,
    seen: &VisiblePart<'_>,
    faults: &mut Vec<Reason>,
) -> Vec<(ResourceId, FieldId)> {
    let world = seen.context.base.world();
    let mut asks = Vec::new();
    for AskClaim { resource, field } in &end.asks {
        let id = world.resource_named(resource);
        let found = id.and_then(|id| Some((id, world.resource(id).field_named(field)?)));
        match found {
            Some(found) => asks.push(found),
            None => {
                let (resource, field) = (resource.clone(), field.clone());
                faults.push(
                    Reason::of_goal(Code::UnknownField, goal).with("resource", resource).with("field", field),
                );
            }
        }
    }
    asks
}

fn fact(claim: &FactClaim, entry: &LogEntry, seen: &VisiblePart<'_>) -> Option<RequestedFact> {
    let body = &entry.reply.body;
    let call = claim.call;
    let about = |path: &str| claim.about.clone().unwrap_or_else(|| about(path, body, seen));
    if let Some((array, member)) = claim.path.split_once("[*]") {
        let member = member.trim_start_matches('.').to_owned();
        let items = crate::binding::collect_member(body, array, &member)?;
        let first = if member.is_empty() { format!("{array}[0]") } else { format!("{array}[0].{member}") };
        let all_leaves = items.iter().all(|item| matches!(item, Body::Leaf(value, _) if !value.is_missing()));
        let about = about(&first);
        return (!items.is_empty() && all_leaves).then_some(RequestedFact::Each {
            call,
            array: array.to_owned(),
            member,
            about,
            magnitude: claim.magnitude,
        });
    }
    let path = claim.path.clone();
    match body.at(&path)? {
        Body::List(_) => Some(RequestedFact::Count { call, about: about(&path), path }),
        Body::Leaf(value, _) if claim.count => {
            value.as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0)?;
            Some(RequestedFact::Count { call, about: about(&path), path })
        }
        Body::Leaf(value, origin) => {
            let statable = !value.is_missing() && !matches!(origin, Origin::Constant);
            let FactClaim { several, magnitude, .. } = *claim;
            statable.then(|| RequestedFact::Leaf { call, about: about(&path), path, several, magnitude })
        }
        Body::Object(_) => None,
    }
}

/// Returns the noun of a path: the label of its field, or the name of the member.
fn about(path: &str, body: &Body, seen: &VisiblePart<'_>) -> String {
    let member = path.rsplit('.').next().unwrap_or(path);
    let member = english::split_identifier(member.split('[').next().unwrap_or(member)).join(" ");
    match body.at(path) {
        Some(Body::Leaf(_, Origin::Field { resource, field, .. })) => {
            seen.context.base.world().resource(*resource).about(*field)
        }
        _ if member.is_empty() => "number of results".to_owned(),
        _ => member,
    }
}

/// Returns the classes of a refusal, and the call that gives it: the last refused call of the goal, else the
/// last empty one.
pub(crate) fn read_refusal(
    goal: usize,
    end: &End,
    calls: &Range<usize>,
    seen: &VisiblePart<'_>,
    faults: &mut Vec<Reason>,
) -> (Vec<RefusalClass>, Option<usize>) {
    if end.outcome != Outcome::Refused {
        return (Vec::new(), None);
    }
    let of_goal = || calls.clone().rev().filter_map(|call| Some((call, seen.entries.get(call)?)));
    let refused = of_goal().find_map(|(call, entry)| {
        let classes = classes_of(entry, seen.context.base.world())?;
        Some((classes, call, entry.reply.status))
    });
    if let Some((classes, call, status)) = refused {
        if let Some(given) = end.reason.iter().find(|given| !classes.contains(given)) {
            faults.push(
                Reason::of_goal(Code::WrongRefusalReason, goal)
                    .at_call(call)
                    .with("given", serde_json::json!(given))
                    .with("status", status),
            );
        }
        return (classes, Some(call));
    }
    let empty = of_goal().find(|(_, entry)| {
        entry.api.is_some() && entry.reply.is_success() && entry.reply.body.is_empty_result()
    });
    let not_found = [RefusalClass::NotFound];
    if let (Some((call, _)), true) = (empty, end.reason.is_empty() || end.reason == not_found) {
        return (not_found.to_vec(), Some(call));
    }
    // A refusal after a read rests on the facts that it states.
    if !end.facts.is_empty() && !end.reason.is_empty() {
        return (end.reason.clone(), None);
    }
    let only_searched = of_goal().all(|(_, entry)| entry.api.is_none());
    if end.reason.contains(&RefusalClass::NoTool) && only_searched {
        return (end.reason.clone(), None);
    }
    faults.push(Reason::of_goal(Code::RefusedWithoutReason, goal));
    (end.reason.clone(), None)
}

/// Returns the classes of a reply's refusal: those of the refusing rule, else those of its status.
/// Returns none where the reply refuses nothing, or the call is of no API.
fn classes_of(entry: &LogEntry, world: &World) -> Option<Vec<RefusalClass>> {
    let (api, status) = (world.api(entry.api?), entry.reply.status);
    let detail = entry.reply.body.at("detail").and_then(Body::value).and_then(Value::as_str);
    let rule =
        api.behaviour.require.iter().find(|rule| rule.status == status && detail == Some(&*rule.message));
    let classes = rule.map_or_else(|| RefusalClass::all_of_status(status), |rule| rule.reasons.clone());
    (!classes.is_empty() && !entry.reply.is_success()).then_some(classes)
}

/// Reports the replies by which a goal with the outcome `done` is not done.
pub(crate) fn check_done(
    goal: usize,
    end: &End,
    calls: &Range<usize>,
    prose: &Prose,
    seen: &VisiblePart<'_>,
    faults: &mut Vec<Reason>,
) {
    if end.outcome != Outcome::Done {
        return;
    }
    let world = seen.context.base.world();
    let writes = || {
        calls.clone().filter_map(|call| {
            let entry = seen.entries.get(call)?;
            world.api(entry.api?).writes().then_some((call, entry))
        })
    };
    if let Some((call, entry)) = writes().next_back()
        && !entry.reply.is_success()
        && (end.facts.is_empty() || !writes().any(|(_, entry)| entry.reply.is_success()))
    {
        let (api, status) = (entry.call.api.clone(), entry.reply.status);
        faults.push(
            Reason::of_goal(Code::DoneThoughRefused, goal)
                .at_call(call)
                .with("api", api)
                .with("status", status),
        );
    }
    for (call, entry) in writes().filter(|(_, entry)| entry.reply.is_success()) {
        if let Some((member, shown, sent)) = find_contradiction(entry, seen) {
            let api = entry.call.api.clone();
            faults.push(
                Reason::of_goal(Code::ReplyContradicts, goal)
                    .at_call(call)
                    .with("api", api)
                    .with("member", member)
                    .with("shown", shown)
                    .with("sent", sent),
            );
        }
        // A later call may have changed the record again.
        let is_last = !writes().any(|(later, other)| later > call && other.touches(entry));
        // Another call of the goal may show the claimed state.
        let shown = |state: &str| {
            let mut replies = writes().map(|(_, other)| &other.reply.body);
            replies.any(|body| body.values().any(|(value, _)| value.as_str() == Some(state)))
        };
        if let Some(found) =
            contradicts(prose, entry, world).filter(|found| is_last && !shown(&found.claimed))
        {
            let words = prose.words_at(found.span).to_owned();
            let (member, shown) = (found.member, found.shown);
            faults.push(
                Reason::of_goal(Code::MessageContradicts, goal)
                    .at_call(call)
                    .with("words", words)
                    .with("member", member)
                    .with("shown", shown),
            );
        }
    }
}

/// Returns a member of a write's reply that contradicts it: an argument's member with another value, or a
/// false flag for the action.
fn find_contradiction(entry: &LogEntry, seen: &VisiblePart<'_>) -> Option<(String, Json, Option<Json>)> {
    let world = seen.context.base.world();
    let api = world.api(entry.api?);
    let zone = &world.zone;
    let top: Vec<(&str, &Value, &Origin)> = find_top_leaves(&entry.reply.body);
    for (name, json) in &entry.call.arguments {
        let Some(parameter) = api.parameter_named(name).map(|id| &api.parameters[id.index()]) else {
            continue;
        };
        let Ok(sent) = parameter.schema.parse_json(json, zone) else { continue };
        let same_name = top.iter().find(|(member, ..)| folded(member) == folded(name));
        let Some((member, shown, origin)) = same_name else { continue };
        // The key of a new record differs from a sent key of another resource.
        let is_other_key = match (&parameter.schema.kind, origin) {
            (Type::Reference { resource, .. }, Origin::Field { resource: of, field, .. }) => {
                resource != of && world.resource(*of).key == *field
            }
            _ => false,
        };
        if !is_other_key && !shown.is_missing() && !is_alike(&sent, shown) {
            return Some(((*member).to_owned(), shown.to_json(zone), Some(sent.to_json(zone))));
        }
    }
    let denies = top.iter().find(|(member, value, origin)| {
        let of_world = !matches!(origin, Origin::Field { .. });
        let success = matches!(folded(member).as_str(), "success" | "ok" | "done" | "successful");
        let of_verb = member.ends_with("ed") && verbs_match(member, &api.name);
        **value == Value::Bool(false) && ((of_world && success) || of_verb)
    });
    denies.map(|(member, value, _)| ((*member).to_owned(), value.to_json(zone), None))
}

/// Returns true if a participle belongs to the verb of a name: `deleted` of `DeletePlaylist`, `cancelled` of
/// `CancelOrder`.
fn verbs_match(participle: &str, name: &str) -> bool {
    let participle = folded(participle);
    let mut words = english::split_identifier(name).into_iter();
    words.any(|verb| verb.len() > 2 && participle.starts_with(verb.trim_end_matches('e')))
}

/// Returns the leaves at the top of a reply, or one level below an envelope.
fn find_top_leaves(body: &Body) -> Vec<(&str, &Value, &Origin)> {
    let Body::Object(members) = body else { return Vec::new() };
    let mut found = Vec::new();
    for (name, member) in members {
        match member {
            Body::Leaf(value, origin) => found.push((&**name, value, origin)),
            Body::Object(inner) if members.len() == 1 => {
                found.extend(inner.iter().filter_map(|(name, member)| match member {
                    Body::Leaf(value, origin) => Some((&**name, value, origin)),
                    _ => None,
                }));
            }
            _ => {}
        }
    }
    found
}

fn is_alike(sent: &Value, shown: &Value) -> bool {
    match (sent, shown) {
        (Value::String(sent), Value::String(shown)) => folded(sent) == folded(shown),
        _ => match (sent.as_f64(), shown.as_f64()) {
            (Some(sent), Some(shown)) => (sent - shown).abs() < 1e-9,
            _ => sent == shown,
        },
    }
}
