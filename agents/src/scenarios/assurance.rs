//! Adds the assistant's messages beside a call, by rule and for every API.
//!
//! The assistant announces a longer job, tells a price before it is charged, and has a deletion confirmed. It
//! tries nothing that the text of a tool rules out.

use std::collections::BTreeSet;
use std::sync::Arc;

use diorama_answers::Clock;
use diorama_engine::session::LogEntry;
use diorama_engine::{Body, Origin};
use diorama_proof::candidate::{CandidateCall, Turn};
use diorama_seeds::doc::{ScenarioGoalDoc, ScenarioStepDoc};
use diorama_seeds::english;
use diorama_seeds::expr::{Expr, Node};
use diorama_seeds::model::{
    Api, BehaviourKind, Change, Effect, Field, FieldId, Method, ResourceId, Which, World,
};
use diorama_seeds::scenario::BoundValue;
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::value::Value;
use diorama_user::asks_leave;

use super::act::act_on;
use super::player::Player;
use super::rule::tells_rule;
use super::speech::{SPEECH, fill};
use super::state::Assurance;
use super::steps::StepCall;
use super::unplayed::PlayError;
use crate::draws::choose;

/// The share of longer jobs that the assistant announces.
const ANNOUNCES: f64 = 0.6;
/// The smallest difference between amounts of money that counts.
const LEAST_DIFFERENCE: f64 = 1e-6;
/// The greatest length of a code that people say, in bytes.
const MAX_SAID_CODE: usize = 16;
/// The fewest calls of a longer job; a search counts as one.
const MIN_LONG_CALLS: usize = 4;

/// Returns true if the effect of a call is final: it removes a record, or sets a state that no API requires. A
/// DELETE that sets no state is final, too.
fn ends_for_good(world: &World, api: &Api) -> bool {
    match &api.behaviour.kind {
        BehaviourKind::Delete { .. } => true,
        BehaviourKind::Action { target: Some((resource, _)) } => {
            let sets = |effect: &Effect| match &effect.change {
                Change::Update { which: Which::Key(_), set } if effect.resource == *resource => {
                    set.iter().filter_map(|(field, to)| is_last(world, *resource, *field, to)).collect()
                }
                _ => Vec::new(),
            };
            let states: Vec<bool> = api.behaviour.also.iter().flat_map(sets).collect();
            states.contains(&true) || (api.method == Method::Delete && states.is_empty())
        }
        _ => false,
    }
}

/// Returns true if an enum field gets a value that no API of the domain requires; none for another field or
/// value.
fn is_last(world: &World, resource: ResourceId, field: FieldId, to: &Expr) -> Option<bool> {
    let (resource, Node::Literal(Value::String(state))) = (world.resource(resource), &to.node) else {
        return None;
    };
    let asks = format!("== '{state}'");
    let mut rules =
        world.apis.iter().filter(|api| api.domain == resource.domain).flat_map(|api| &api.behaviour.require);
    matches!(resource.field(field).schema.kind, Type::Enum(_))
        .then(|| !rules.any(|rule| rule.that.source.contains(&asks)))
}

/// Returns the price of a new record, if earlier replies showed it: the first of its own amounts.
/// Else it returns the amount by which the call changes another record (`owed` by the fee of a course).
fn find_price(world: &World, api: &Api, entry: &LogEntry, made: &[Arc<LogEntry>]) -> Option<(Value, Schema)> {
    let BehaviourKind::Create { resource, .. } = api.behaviour.kind else { return None };
    let shown = || made.iter().flat_map(|entry| entry.reply.body.values());
    let amount_of = |value: &Value| value.as_f64().filter(|_| matches!(value, Value::Decimal(_)));
    let schema_of = |resource: ResourceId, field: FieldId| {
        let schema = &world.resource(resource).field(field).schema;
        matches!(schema.kind, Type::Decimal { currency: Some(_), .. }).then(|| schema.clone())
    };
    let own = |member: &Body| {
        let Body::Leaf(price, Origin::Field { resource: of, field, .. }) = member else { return None };
        let schema = schema_of(*of, *field).filter(|_| *of == resource)?;
        let amount = amount_of(price).filter(|amount| *amount > 0.0)?;
        shown().any(|(value, _)| amount_of(value) == Some(amount)).then(|| (price.clone(), schema))
    };
    let Body::Object(members) = &entry.reply.body else { return None };
    let own_price = members.iter().find_map(|(_, member)| match member {
        // The member may be an envelope.
        Body::Object(inner) => inner.iter().find_map(|(_, member)| own(member)),
        _ => own(member),
    });
    let charged = || {
        let updates = entry
            .changes
            .iter()
            .filter_map(|change| Some((change.resource, change.before.as_ref()?, change.after.as_ref()?)));
        let fields = updates.flat_map(|(resource, before, after)| {
            let pairs = before.iter().zip(after.iter()).enumerate();
            pairs.map(move |(index, pair)| (resource, FieldId(index as u16), pair))
        });
        let mut amounts = fields.filter_map(|(resource, field, (before, after))| {
            schema_of(resource, field)?;
            let difference = (amount_of(after)? - amount_of(before)?).abs();
            (difference > LEAST_DIFFERENCE).then_some(difference)
        });
        amounts.find_map(|charged| {
            shown().find_map(|(value, origin)| {
                let Origin::Field { resource, field, .. } = origin else { return None };
                let schema = schema_of(*resource, *field)?;
                let amount = amount_of(value)?;
                ((amount - charged).abs() < LEAST_DIFFERENCE).then(|| (value.clone(), schema))
            })
        })
    };
    own_price.or_else(charged)
}

impl Player<'_, '_> {
    /// Begins the assurances of a goal. Its opening consents if the goal before ended with a question for
    /// permission.
    pub(crate) fn begin_assurance(&mut self, doc: &ScenarioGoalDoc) {
        let count = |step: &ScenarioStepDoc| match (&step.each, &step.call) {
            (Some(_), _) => 2,
            (None, call) => step.together.len() + usize::from(call.is_some()),
        };
        let searches = if self.manner.retrieves { 1 } else { 0 };
        let is_long = doc.does.iter().map(count).sum::<usize>() + searches >= MIN_LONG_CALLS;
        let has_consent = self.talk.answered.last().is_some_and(|words| self.asks_leave(words));
        self.talk.assurance = Assurance { announces: is_long && self.chance(ANNOUNCES), has_consent };
    }

    /// Returns true if a message of the assistant asks for permission. The answer to other questions is no
    /// consent.
    fn asks_leave(&self, words: &str) -> bool {
        let zone = &self.world.base.world().zone;
        asks_leave(words, &Clock::at(self.session.state().clock(), zone))
    }

    /// Returns the message with a step's calls: the step's own wording, or an announcement.
    pub(crate) fn announce(&mut self, words: String) -> String {
        let announces = std::mem::take(&mut self.talk.assurance.announces);
        if !words.is_empty() || !announces {
            return words;
        }
        let words = choose(&SPEECH.announcements, self.rng).cloned().unwrap_or_default();
        self.talk.answered.push(words.clone());
        words
    }

    /// Has the calls of a step confirmed if they remove something or are charged.
    pub(crate) fn assure(&mut self, calls: &[StepCall<'_>], turns: &mut Vec<Turn>) -> Result<(), PlayError> {
        if self.confirm(calls, turns)? {
            return Ok(());
        }
        let model = self.world.base.world();
        let api = calls.first().and_then(|(step, _)| model.api_named(step.call.as_deref()?));
        let Some(api) = api.map(|id| model.api(id)).filter(|api| api.writes()) else { return Ok(()) };
        if self.talk.assurance.has_consent {
            return Ok(());
        }
        let question = if ends_for_good(model, api) {
            self.read_back(api, calls)
        } else if let [(step, None)] = calls
            && !step.fails
        {
            self.tell_price(api, step)
        } else {
            None
        };
        let Some(question) = question else { return Ok(()) };
        let consent = self.users(&SPEECH.consents)?;
        self.talk.answered.push(question.clone());
        self.talk.said.push(consent.clone());
        self.talk.assurance.has_consent = true;
        self.talk.has_asked = true;
        turns.push(Turn { say: Some(question), ..Turn::default() });
        turns.push(Turn { user: Some(consent), ..Turn::default() });
        Ok(())
    }

    /// Asks whether to do what calls do to the records that they end: by the names of these, by those of
    /// related records, or by their codes. The only record without a visible name is named by its label.
    fn read_back(&mut self, api: &Api, calls: &[StepCall<'_>]) -> Option<String> {
        let mut things = BTreeSet::new();
        for (step, item) in calls {
            if let Some((name, item)) = item {
                self.scene.name_item(name, item.clone());
            }
            things.extend(self.name_ended(api, step));
        }
        let model = self.world.base.world();
        let label = api.behaviour.kind.shown().map(|shown| model.resource(shown).label.to_lowercase());
        let are_named = things.len() == calls.len();
        let things = match (are_named, &label) {
            (true, _) => english::enumerate(&Vec::from_iter(things)),
            (false, Some(label)) if calls.len() == 1 => format!("the {label}"),
            (false, _) => return choose(&SPEECH.last_chances, self.rng).cloned(),
        };
        match label.and_then(|label| act_on(&api.description, &label, &things)) {
            Some(act) => Some(fill(choose(&SPEECH.acts, self.rng)?, &[("act", &act)])),
            None if are_named => Some(fill(choose(&SPEECH.read_backs, self.rng)?, &[("things", &things)])),
            None => choose(&SPEECH.last_chances, self.rng).cloned(),
        }
    }

    /// Names the record that a call ends.
    fn name_ended(&self, api: &Api, step: &ScenarioStepDoc) -> Option<String> {
        let model = self.world.base.world();
        let resource = api.behaviour.kind.shown()?;
        let described = model.resource(resource);
        let label = described.label.to_lowercase();
        let given = step.with.iter().find_map(|(name, given)| {
            let id = api.parameter_named(&self.scene.casing().write(name))?;
            let kind = &api.parameters[id.index()].schema.kind;
            given.as_str().filter(|_| matches!(kind, Type::Reference { resource: of, .. } if *of == resource))
        })?;
        let shown = |place: String| {
            let name = self.scene.say(&format!("{{{place}}}")).ok()?;
            self.is_visible(&name).then_some(name)
        };
        let refers_to_thing = |field: &&Field| match field.schema.kind {
            Type::Reference { resource: of, .. } => {
                model.resource(of).display.is_some()
                    && model.domains[described.domain.index()].users != Some(of)
            }
            _ => false,
        };
        let referring = || described.fields.iter().find(refers_to_thing);
        let code = shown(format!("{given}.{}", described.field(described.key).name));
        let name = shown(given.to_owned()).filter(|name| code.as_ref() != Some(name));
        if let Some(name) = name {
            return Some(format!("the {label} {name}"));
        }
        // A code alone tells a person nothing.
        let other = referring().and_then(|field| shown(format!("{given}.{}", field.name)));
        let detail = other.map(|name| format!(" for {name}"));
        let detail = detail.or_else(|| Some(format!(" of {}", self.find_day(resource, given)?)));
        let code = code.filter(|code| code.len() <= MAX_SAID_CODE).map(|code| format!(" {code}"));
        let code = code.unwrap_or_default();
        Some(format!("the {label}{code}{}", detail?))
    }

    /// Returns the first day of a record that a reply showed, in words.
    fn find_day(&self, resource: ResourceId, given: &str) -> Option<String> {
        let Some(BoundValue::Record(of, key)) = self.scene.held(given) else { return None };
        let is_day = |field: &Field| matches!(field.schema.kind, Type::Date | Type::DateTime);
        let fields = &self.world.base.world().resource(resource).fields;
        let is_shown = |field: usize| {
            let wanted = Origin::Field { resource: *of, key: key.clone(), field: FieldId(field as u16) };
            let mut values = self.calls.made.iter().flat_map(|entry| entry.reply.body.values());
            *of == resource && values.any(|(value, origin)| *origin == wanted && !value.is_missing())
        };
        let mut days = fields.iter().enumerate().filter(|(at, field)| is_day(field) && is_shown(*at));
        days.find_map(|(_, field)| self.scene.say(&format!("{{{given}.{}|day}}", field.name)).ok())
    }

    /// Returns true if a reply or a message showed a name.
    fn is_visible(&self, name: &str) -> bool {
        let mut replies = self.calls.made.iter().flat_map(|entry| entry.reply.body.values());
        !name.is_empty()
            && (self.talk.said.iter().any(|said| said.contains(name))
                || self.talk.answered.iter().any(|said| said.contains(name))
                || replies.any(|(value, _)| value.as_str() == Some(name)))
    }

    /// Tells the price of a new record, if earlier replies showed it and no message did.
    fn tell_price(&mut self, api: &Api, step: &ScenarioStepDoc) -> Option<String> {
        let call: CandidateCall = self.make_call(step).ok()?;
        let entry = self.session.fork().call(&(&call).into());
        if !entry.reply.is_success() {
            return None;
        }
        let (price, schema) = find_price(self.world.base.world(), api, &entry, &self.calls.made)?;
        let mut scene = self.scene.clone();
        scene.name_item("price", scene.shown(&price, schema));
        let price = scene.say("{price}").ok()?;
        let amount = scene.say("{price|amount}").ok()?;
        let is_said = |said: &String| said.contains(&price) || said.contains(&amount);
        if self.talk.said.iter().chain(&self.talk.answered).any(is_said) {
            return None;
        }
        let words = choose(&SPEECH.prices, self.rng)?;
        Some(fill(words, &[("price", &price)]))
    }

    /// Returns true if the text of the tool foretold the refusal of a call.
    pub(crate) fn is_foreseeable(&self, entry: &LogEntry) -> bool {
        let Some(api) = entry.api.map(|id| self.world.base.world().api(id)) else { return false };
        let detail = entry.reply.body.at("detail").and_then(Body::value).and_then(Value::as_str);
        detail.is_some_and(|detail| tells_rule(&api.description, detail))
    }
}
