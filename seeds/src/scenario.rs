//! Scenarios, checked: their places with typed conditions, their calls with APIs that exist.
//!
//! Owns what a scenario's places are and which records and values they may take. Words are templates of the pipeline,
//! which also plays the calls; nothing here runs one.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use unicode_normalization::UnicodeNormalization;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::Value as Json;

use crate::doc::{DomainDoc, PlaceDoc, ScenarioDoc};
use crate::expr::eval::{Bound, Budget, Env, Records};
use crate::expr::{Expr, ExprError, ExprType, Scope, Slot, compile_condition};
use crate::model::{DomainId, FieldId, Record, Resource, ResourceId, World};
use crate::schema::{Schema, Type};
use crate::value::{Instant, Value};
use crate::world::Finding;

/// A scenario that fits its world.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// As written.
    pub doc: ScenarioDoc,
    /// Its domain.
    pub domain: DomainId,
    places: Vec<Place>,
    given: Vec<Expr>,
}

/// A place and what it may hold.
#[derive(Clone, Debug)]
struct Place {
    name: String,
    slot: Slot,
    kind: Kind,
    condition: Option<Expr>,
}

#[derive(Clone, Debug)]
enum Kind {
    Record(ResourceId),
    Records { of: ResourceId, min: usize, max: Option<usize>, order: Option<(FieldId, bool)> },
    Value(Expr),
    Pick(Vec<Value>),
    Number { from: f64, to: f64, step: f64 },
    Like(ResourceId, FieldId),
}

/// The value of a binding in one play of a scenario.
#[derive(Clone, Debug)]
pub enum BoundValue {
    /// A record, by key.
    Record(ResourceId, Value),
    /// Several records, by key.
    Records(ResourceId, Vec<Value>),
    /// A value with what is known of it.
    Value(Value, Arc<Schema>),
}

/// The places of one play, in order.
pub type Bindings = Vec<(String, BoundValue)>;

/// The records and values that bindings are chosen from.
#[derive(Clone, Copy)]
pub struct RecordSource<'a> {
    /// The world, with its records.
    pub world: &'a World,
    /// Its records for conditions.
    pub records: &'a dyn Records,
    /// Records of another seed: where values that no record has come from.
    pub alternates: &'a World,
    /// The clock.
    pub clock: Instant,
    /// Fields that hold names of people.
    pub people: &'a PersonFields,
    /// What came before.
    pub prior: &'a Prior,
}

/// What the conversation has settled before a scenario begins, where other scenarios came first.
#[derive(Clone, Debug, Default)]
pub struct Prior {
    /// The user's own record, which the place `me` must hold.
    pub me: Option<(ResourceId, Value)>,
    /// The user's name, which the record or the value of the caller must have.
    pub name: Option<Value>,
    /// The user's name at a service that knows no other, where their full name is not known.
    pub username: Option<Value>,
    /// Amounts of money that were stated: `money_places` take one of them where it fits.
    pub amounts: Vec<Value>,
    /// The places of numbers that are amounts of money.
    pub money_places: Vec<String>,
    /// Names of people that were stated: places of new people take one of them where it fits.
    pub people: Vec<Value>,
    /// Titles that were stated: `naming_places` take one of them where it fits.
    pub titles: Vec<Value>,
    /// The places of texts that a write gives to something new.
    pub naming_places: Vec<String>,
}

impl Prior {
    /// Returns true if a binding takes up somebody or something that was stated, or an amount.
    #[must_use]
    pub fn is_taken_up(
        &self,
        (place, bound): &(String, BoundValue),
        name_of: impl Fn(ResourceId, &Value) -> Option<Value>,
    ) -> bool {
        let stated = |value: &Value| self.people.contains(value) || self.titles.contains(value);
        match bound {
            BoundValue::Record(resource, key) => name_of(*resource, key).as_ref().is_some_and(stated),
            BoundValue::Value(value, _) => {
                stated(value) || (self.money_places.contains(place) && self.amounts.contains(value))
            }
            BoundValue::Records(..) => false,
        }
    }
    /// Nothing: the conversation begins.
    pub const NONE: Self = Self {
        me: None,
        name: None,
        username: None,
        amounts: Vec::new(),
        money_places: Vec::new(),
        people: Vec::new(),
        titles: Vec::new(),
        naming_places: Vec::new(),
    };
}

/// Fields that hold names of people.
pub type PersonFields = BTreeSet<(ResourceId, FieldId)>;

/// Returns true if a user name has the first or the last name of a person in it.
#[must_use]
pub fn is_username_of(username: &str, name: &str) -> bool {
    let folded = |text: &str| -> String {
        text.nfd().filter(char::is_ascii_alphabetic).map(|letter| letter.to_ascii_lowercase()).collect()
    };
    let username = folded(username);
    name.split(' ').map(folded).any(|part| part.len() >= MIN_NAME_PART && username.contains(&part))
}

/// Letters of a first or last name that tell a user name, at least.
const MIN_NAME_PART: usize = 3;

/// The field of a resource that holds the name of a person: the one that it is called by, or else the first.
#[must_use]
pub fn person_field(resource: &Resource, id: ResourceId, people: &PersonFields) -> Option<FieldId> {
    let names_person = |field: &FieldId| people.contains(&(id, *field));
    let mut fields = (0..resource.fields.len()).map(|field| FieldId(field as u16));
    resource.display.filter(names_person).or_else(|| fields.find(names_person))
}

/// Conditions are looked at so often before a choice of places is given up.
const MOST_LOOKS: usize = 4_000;

/// Checks the scenarios of a domain. Those with findings are left out.
#[must_use]
pub fn compile(doc: &DomainDoc, domain: DomainId, world: &World) -> (Vec<Scenario>, Vec<Finding>) {
    let mut scenarios: Vec<Scenario> = Vec::new();
    let mut findings = Vec::new();
    for (position, scenario) in doc.scenarios.iter().enumerate() {
        let path = format!("scenarios[{position}]");
        let mut found = Vec::new();
        if scenarios.iter().any(|other| other.doc.name == scenario.name) {
            found.push(Finding::error(
                format!("{path}.name"),
                format!("found the scenario `{}` twice", scenario.name),
                "give each scenario of a domain its own name",
            ));
        }
        check_form(scenario, &path, &mut found);
        check_calls(scenario, domain, world, &path, &mut found);
        let compiled = places(scenario, domain, world, &path, &mut found);
        if found.is_empty()
            && let Some((places, given)) = compiled
        {
            scenarios.push(Scenario { doc: scenario.clone(), domain, places, given });
        }
        findings.append(&mut found);
    }
    (scenarios, findings)
}

fn check_form(scenario: &ScenarioDoc, path: &str, found: &mut Vec<Finding>) {
    let mut error = |at: String, message: &str, fix: &str| found.push(Finding::error(at, message, fix));
    if scenario.goals.is_empty() {
        error(format!("{path}.goals"), "found no goal", "write at least one: `user`, `does`, `end`");
    }
    if let Some(caller) = scenario.caller.as_ref().filter(|caller| !scenario.bind.contains_key(*caller)) {
        let known: Vec<&str> = scenario.bind.keys().map(String::as_str).collect();
        let message = format!("found `{caller}`, expected a place under `bind`: {}", known.join(", "));
        error(format!("{path}.caller"), &message, "name the place of the speaker's own record or name");
    }
    for (number, goal) in scenario.goals.iter().enumerate() {
        let here = format!("{path}.goals[{number}]");
        for (name, words) in [("user", &goal.user), ("end", &goal.end)] {
            if words.is_empty() {
                error(format!("{here}.{name}"), "found no wording", "write at least three");
            }
        }
        if number == 0 && goal.when.is_some() {
            error(
                format!("{here}.when"),
                "found a condition on the first goal",
                "leave it out: it always opens",
            );
        }
        for (number, step) in goal.does.iter().enumerate() {
            let here = format!("{here}.does[{number}]");
            let kinds =
                [step.call.is_some(), !step.together.is_empty(), step.ask.is_some(), !step.user.is_empty()];
            if kinds.into_iter().filter(|is| *is).count() != 1 {
                error(
                    here.clone(),
                    "expected exactly one of `call`, `together`, `ask` and `user`",
                    "make a step of each; the words after which a goal ends stand in `end`",
                );
            }
            if (step.ask.is_some() || !step.user.is_empty()) && step.say.is_empty() {
                error(
                    format!("{here}.say"),
                    "found no words of the assistant",
                    "say what the user answers to",
                );
            }
            if let Some(name) = &step.ask
                && !scenario.withheld.contains_key(name)
            {
                let known: Vec<&str> = scenario.withheld.keys().map(String::as_str).collect();
                let message =
                    format!("found `{name}`, expected a name under `withheld`: {}", known.join(", "));
                error(format!("{here}.ask"), &message, "write it under `withheld`");
            }
            for call in &step.together {
                if call.call.is_none() || !call.say.is_empty() || call.ask.is_some() || call.each.is_some() {
                    error(
                        format!("{here}.together"),
                        "expected calls alone",
                        "write `call`, `as`, `with`, `fails`",
                    );
                }
            }
        }
    }
}

fn check_calls(
    scenario: &ScenarioDoc,
    domain: DomainId,
    world: &World,
    path: &str,
    found: &mut Vec<Finding>,
) {
    let casing = world.domains[domain.index()].casing;
    for call in scenario.calls() {
        let name = call.call.as_deref().unwrap_or_default();
        let api = world.api_named(name).map(|id| world.api(id)).filter(|api| api.domain == domain);
        let Some(api) = api else {
            let own = world.apis.iter().filter(|api| api.domain == domain);
            let known: Vec<&str> = own.map(|api| &*api.name).collect();
            found.push(Finding::error(
                format!("{path}.goals"),
                format!("found a call of `{name}`, expected an API of the domain: {}", known.join(", ")),
                "name one of them",
            ));
            continue;
        };
        for parameter in call.with.keys() {
            if api.parameter_named(&casing.write(parameter)).is_none() {
                let known: Vec<&str> = api.parameters.iter().map(|known| &*known.name).collect();
                found.push(Finding::error(
                    format!("{path}.goals"),
                    format!(
                        "found the argument `{parameter}` of `{name}`, expected one of {}",
                        known.join(", ")
                    ),
                    "name one of them",
                ));
            }
        }
    }
}

fn places(
    scenario: &ScenarioDoc,
    domain: DomainId,
    world: &World,
    path: &str,
    found: &mut Vec<Finding>,
) -> Option<(Vec<Place>, Vec<Expr>)> {
    let mut scope = Scope::new(&world.resources, domain, &world.zone);
    let mut places = Vec::with_capacity(scenario.bind.len());
    for (name, doc) in &scenario.bind {
        match place(name, doc, &mut scope) {
            Ok(place) => places.push(place),
            Err(message) => {
                found.push(Finding::error(format!("{path}.bind.{name}"), message, "see docs/scenarios.md"));
            }
        }
    }
    let mut given = Vec::with_capacity(scenario.given.len());
    for (number, source) in scenario.given.iter().enumerate() {
        match compile_condition(source, &mut scope) {
            Ok(condition) => given.push(condition),
            Err(error) => found.push(Finding::error(
                format!("{path}.given[{number}]"),
                error.to_string(),
                "see the section Expressions of docs/world-format.md",
            )),
        }
    }
    found.is_empty().then_some((places, given))
}

fn place(name: &str, doc: &PlaceDoc, scope: &mut Scope<'_>) -> Result<Place, String> {
    let said = |error: ExprError| error.to_string();
    let forms = [
        doc.a.is_some(),
        doc.some.is_some(),
        doc.value.is_some(),
        !doc.pick.is_empty(),
        doc.from.is_some(),
        doc.like.is_some(),
    ];
    if forms.into_iter().filter(|is| *is).count() != 1 {
        return Err("expected exactly one of `a`, `some`, `value`, `pick`, `from`, `like`".to_owned());
    }
    let resource = |name: &str, scope: &Scope<'_>| {
        scope.resource_named(name).ok_or_else(|| format!("found `{name}`, expected a resource of the domain"))
    };
    let (kind, result) = if let Some(of) = &doc.a {
        let of = resource(of, scope)?;
        (Kind::Record(of), ExprType::Record(of))
    } else if let Some(of) = &doc.some {
        let of = resource(of, scope)?;
        let order = doc.order.as_deref().map(|order| {
            let name = order.trim_start_matches('-');
            let field =
                scope.field_named(of, name).ok_or_else(|| format!("found no field `{name}` to order by"))?;
            Ok::<_, String>((field, order.starts_with('-')))
        });
        (
            Kind::Records { of, min: doc.min.unwrap_or(2), max: doc.max, order: order.transpose()? },
            ExprType::Any,
        )
    } else if let Some(source) = &doc.value {
        let value = crate::expr::compile(source, scope).map_err(said)?;
        let result = value.kind.clone();
        (Kind::Value(value), result)
    } else if let Some(like) = &doc.like {
        let (of, field) =
            like.split_once('.').ok_or_else(|| format!("found `{like}`, expected `resource.field`"))?;
        let id = resource(of, scope)?;
        let field = scope.field_named(id, field).ok_or_else(|| format!("`{of}` has no field `{field}`"))?;
        (Kind::Like(id, field), scope.kind_of(id, field))
    } else if let Some(from) = doc.from {
        let (to, step) = (doc.to.unwrap_or(from), doc.step.unwrap_or(1.0));
        if !(step > 0.0 && to >= from && (to - from) / step <= 1e6) {
            return Err("expected `from` at most `to`, and a positive `step`".to_owned());
        }
        let whole = [from, step].iter().all(|number| number.fract() == 0.0);
        (Kind::Number { from, to, step }, if whole { ExprType::Integer } else { ExprType::Number })
    } else {
        let picks: Option<Vec<Value>> = doc.pick.iter().map(scalar).collect();
        let picks = picks.ok_or("expected texts, numbers or truth values under `pick`")?;
        let result = match picks.first() {
            Some(Value::Integer(_)) if picks.iter().all(|pick| matches!(pick, Value::Integer(_))) => {
                ExprType::Integer
            }
            Some(Value::Integer(_) | Value::Number(_)) => ExprType::Number,
            Some(Value::Bool(_)) => ExprType::Boolean,
            _ => ExprType::String,
        };
        (Kind::Pick(picks), result)
    };
    let about_item = match &kind {
        Kind::Record(of) | Kind::Records { of, .. } => Some(*of),
        _ => None,
    };
    // The condition of a record comes before its name, that of a value after it.
    let bind = |scope: &mut Scope<'_>| match (name, about_item) {
        ("me", Some(of)) => {
            scope.set_me(Some(of));
            Ok(Slot::ME)
        }
        _ => scope.bind(name, result.clone()).map_err(|error| error.message),
    };
    let early = if about_item.is_none() { Some(bind(scope)?) } else { None };
    scope.set_item(about_item);
    let condition =
        doc.condition.as_deref().map(|source| compile_condition(source, scope)).transpose().map_err(said);
    scope.set_item(None);
    let condition = condition?;
    let slot = match early {
        Some(slot) => slot,
        None => bind(scope)?,
    };
    Ok(Place { name: name.to_owned(), slot, kind, condition })
}

fn scalar(json: &Json) -> Option<Value> {
    match json {
        Json::String(text) => Some(Value::string(text)),
        Json::Bool(value) => Some(Value::Bool(*value)),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Some(Value::Integer(whole)),
            None => Value::number(number.as_f64()?),
        },
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

impl BoundValue {
    /// Returns true if this is the record of a key.
    #[must_use]
    pub fn is_record(&self, resource: ResourceId, key: &Value) -> bool {
        matches!(self, Self::Record(of, own) if *of == resource && own == key)
    }
}

impl Scenario {
    /// The name of the place that holds the user's own record or name.
    #[must_use]
    pub fn caller(&self) -> &str {
        self.doc.caller.as_deref().unwrap_or("me")
    }

    /// Chooses records and values that make the scenario true; `None` where none were found. A function of the record source and
    /// of the stream of choices.
    #[must_use]
    pub fn bind(&self, record_source: RecordSource<'_>, rng: &mut ChaCha8Rng) -> Option<Bindings> {
        let mut casting = Binder {
            scenario: self,
            record_source,
            bound: vec![Bound::Empty; usize::from(Slot::FIRST_FREE)],
            bindings: Vec::with_capacity(self.places.len()),
            looks: 0,
        };
        casting.choose(0, rng).then_some(casting.bindings)
    }
}

struct Binder<'a> {
    scenario: &'a Scenario,
    record_source: RecordSource<'a>,
    bound: Vec<Bound>,
    bindings: Bindings,
    looks: usize,
}

impl<'a> Binder<'a> {
    fn choose(&mut self, number: usize, rng: &mut ChaCha8Rng) -> bool {
        let scenario = self.scenario;
        let Some(place) = scenario.places.get(number) else {
            return scenario.given.iter().all(|condition| self.holds(condition));
        };
        match &place.kind {
            Kind::Record(of) => {
                let resource = self.record_source.world.resource(*of);
                let mut records = self.records(*of);
                records.shuffle(rng);
                // Who or what was spoken of comes first.
                if let Some(display) = resource.display {
                    let prior = self.record_source.prior;
                    let stated = |record: &Record| {
                        let name = record.get(display.index());
                        name.is_some_and(|name| prior.people.contains(name))
                    };
                    records.sort_by_key(|record| !stated(record));
                }
                for record in records {
                    if !self.is_caller(place, *of, record) || !self.fits(place, record) {
                        if self.looks > MOST_LOOKS {
                            return false;
                        }
                        continue;
                    }
                    let Some(key) = record.get(resource.key.index()) else { continue };
                    // No two places hold the same record.
                    if self.bindings.iter().any(|(_, other)| other.is_record(*of, key)) {
                        continue;
                    }
                    let held = BoundValue::Record(*of, key.clone());
                    if self.hold(place, Bound::Record(record.clone()), held, number, rng) {
                        return true;
                    }
                }
                false
            }
            Kind::Records { of, min, max, order } => {
                let resource = self.record_source.world.resource(*of);
                let mut records = self.records(*of);
                records.retain(|record| self.fits(place, record));
                if records.len() < *min {
                    return false;
                }
                if let Some(max) = max.filter(|max| records.len() > *max) {
                    let mut chosen: Vec<usize> = (0..records.len()).collect();
                    chosen.shuffle(rng);
                    chosen.truncate(rng.random_range((*min).min(max)..=max));
                    chosen.sort_unstable();
                    records = chosen.into_iter().map(|index| records[index]).collect();
                }
                if let Some((field, descending)) = order {
                    // Equal ones stay in the order of their keys.
                    records.sort_by(|a, b| {
                        let (a, b) = (a.get(field.index()), b.get(field.index()));
                        if *descending { b.cmp(&a) } else { a.cmp(&b) }
                    });
                }
                let keys = records.iter().filter_map(|record| record.get(resource.key.index()).cloned());
                let held = BoundValue::Records(*of, keys.collect());
                self.hold(place, Bound::Empty, held, number, rng)
            }
            Kind::Value(expr) => match self.evaluate(expr) {
                Some(Bound::Value(value)) if !value.is_missing() => {
                    self.value(place, value, None, number, rng)
                }
                Some(Bound::Record(record)) => {
                    let ExprType::Record(of) = expr.kind else { return false };
                    let key = record.get(self.record_source.world.resource(of).key.index()).cloned();
                    let Some(key) = key else { return false };
                    self.hold(place, Bound::Record(record), BoundValue::Record(of, key), number, rng)
                }
                _ => false,
            },
            Kind::Pick(values) => {
                let mut values = values.clone();
                values.shuffle(rng);
                values.into_iter().any(|value| self.value(place, value, None, number, rng))
            }
            Kind::Number { from, to, step } => {
                let prior = self.record_source.prior;
                let amounts = prior.amounts.iter().filter(|_| prior.money_places.contains(&place.name));
                let fitting =
                    amounts.filter(|amount| amount.as_f64().is_some_and(|own| (*from..=*to).contains(&own)));
                if fitting.cloned().any(|amount| self.value(place, amount, None, number, rng)) {
                    return true;
                }
                let steps = ((to - from) / step).floor() as u32;
                (0..20).any(|_| {
                    let drawn = from + step * f64::from(rng.random_range(0..=steps));
                    // A step of a tenth is not one in binary; nobody steps by less than a millionth.
                    let drawn = (drawn * 1e6).round() / 1e6;
                    let whole = from.fract() == 0.0 && step.fract() == 0.0;
                    let value = if whole { Some(Value::Integer(drawn as i64)) } else { Value::number(drawn) };
                    value.is_some_and(|value| self.value(place, value, None, number, rng))
                })
            }
            Kind::Like(of, field) => {
                let known = &self.record_source.world.resource(*of).records;
                let taken =
                    |value: &Value| known.iter().any(|record| record.get(field.index()) == Some(value));
                let records = self.record_source.alternates.resource(*of).records.iter();
                let mut values: Vec<Value> = records
                    .filter_map(|record| record.get(field.index()))
                    .filter(|value| !value.is_missing() && !taken(value))
                    .cloned()
                    .collect();
                values.shuffle(rng);
                let schema = self.record_source.world.resource(*of).field(*field).schema.clone();
                let is_caller = self.scenario.caller() == place.name;
                let prior = self.record_source.prior;
                if let Some(name) = prior.name.as_ref().filter(|_| is_caller) {
                    return self.value(place, name.clone(), Some(schema), number, rng);
                }
                let is_person = self.record_source.people.contains(&(*of, *field));
                let names_new = prior.naming_places.contains(&place.name);
                let stated: &[Value] = match is_person {
                    true => &prior.people,
                    false if names_new => &prior.titles,
                    false => &[],
                };
                // A title is taken up as what something is called, never as a code or a secret.
                let is_display = self.record_source.world.resource(*of).display == Some(*field);
                let is_text = matches!(schema.kind, Type::String) && (is_person || is_display);
                let fitting = stated.iter().filter(|value| is_text && !taken(value)).cloned();
                fitting
                    .collect::<Vec<_>>()
                    .into_iter()
                    .chain(values)
                    .take(20)
                    .any(|value| self.value(place, value, Some(schema.clone()), number, rng))
            }
        }
    }

    /// The records of a resource as they are now.
    fn records(&self, of: ResourceId) -> Vec<&'a Record> {
        let mut records = Vec::new();
        self.record_source.records.scan(of, &mut |record| {
            records.push(record);
            ControlFlow::Continue(())
        });
        records
    }

    /// Returns true for any record but one that would be the user's, and is somebody else's.
    fn is_caller(&self, place: &Place, of: ResourceId, record: &Record) -> bool {
        if place.name != self.scenario.caller() {
            return true;
        }
        let (prior, resource) = (self.record_source.prior, self.record_source.world.resource(of));
        let own = prior.me.as_ref().filter(|(own, _)| *own == of);
        if let Some((_, key)) = own {
            return record.get(resource.key.index()) == Some(key);
        }
        let people = self.record_source.people;
        let name = person_field(resource, of, people).and_then(|field| record.get(field.index()));
        let users = self.record_source.world.domains[resource.domain.index()].users;
        let display =
            resource.display.filter(|_| users == Some(of)).and_then(|field| record.get(field.index()));
        // Who is only called by a user name is somebody of that name.
        if let (None, Some(username), Some(prior)) = (name, display.and_then(Value::as_str), &prior.name) {
            return is_username_of(username, prior.as_str().unwrap_or_default());
        }
        if let (Some(name), Some(username)) = (name.and_then(Value::as_str), prior.username.as_ref()) {
            return is_username_of(username.as_str().unwrap_or_default(), name);
        }
        prior.name.as_ref().zip(name).is_none_or(|(prior, name)| prior == name)
    }

    /// Puts a value into its place, where its condition holds, and goes on.
    fn value(
        &mut self,
        place: &Place,
        value: Value,
        schema: Option<Schema>,
        number: usize,
        rng: &mut ChaCha8Rng,
    ) -> bool {
        let schema = schema.unwrap_or_else(|| Schema::of(type_of(&value)));
        let held = BoundValue::Value(value.clone(), Arc::new(schema));
        self.put(place.slot, Bound::Value(value));
        if place.condition.as_ref().is_some_and(|condition| !self.holds(condition)) {
            return false;
        }
        self.bindings.push((place.name.clone(), held));
        if self.choose(number + 1, rng) {
            return true;
        }
        self.bindings.truncate(number);
        false
    }

    fn hold(
        &mut self,
        place: &Place,
        bound: Bound,
        held: BoundValue,
        number: usize,
        rng: &mut ChaCha8Rng,
    ) -> bool {
        self.put(place.slot, bound);
        self.bindings.push((place.name.clone(), held));
        if self.looks <= MOST_LOOKS && self.choose(number + 1, rng) {
            return true;
        }
        self.bindings.truncate(number);
        false
    }

    fn put(&mut self, slot: Slot, bound: Bound) {
        let index = usize::from(slot.0);
        if self.bound.len() <= index {
            self.bound.resize(index + 1, Bound::Empty);
        }
        self.bound[index] = bound;
    }

    fn fits(&mut self, place: &Place, record: &Record) -> bool {
        let Some(condition) = &place.condition else { return true };
        self.put(Slot::ITEM, Bound::Record(record.clone()));
        self.holds(condition)
    }

    fn holds(&mut self, condition: &Expr) -> bool {
        matches!(self.evaluate(condition), Some(Bound::Value(Value::Bool(true))))
    }

    fn evaluate(&mut self, expr: &Expr) -> Option<Bound> {
        self.looks += 1;
        let budget = Budget::default();
        let env = Env {
            arguments: &[],
            bound: &self.bound,
            clock: self.record_source.clock,
            zone: &self.record_source.world.zone,
            records: self.record_source.records,
            budget: &budget,
        };
        env.evaluate(expr).ok()
    }
}

/// The type of a value of which nothing else is known.
fn type_of(value: &Value) -> Type {
    match value {
        Value::Integer(_) => Type::Integer,
        Value::Number(_) => Type::Number,
        Value::Decimal(decimal) => Type::Decimal { scale: decimal.scale, currency: None },
        Value::Date(_) => Type::Date,
        Value::Time(_) => Type::Time,
        Value::DateTime(_) => Type::DateTime,
        Value::Bool(_) => Type::Boolean,
        Value::String(_) => Type::String,
        _ => Type::Any,
    }
}
