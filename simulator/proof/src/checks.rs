//! Builds the checks of a grounded candidate: the changes of each goal, the facts that it states, and the
//! evidence of each fact.
//!
//! The builder uses engine facts (the state difference and the provenance of reply leaves), and never the
//! words.

use std::collections::HashMap;
use std::sync::Arc;

use diorama_answers::prose::Prose;
use diorama_engine::session::{LogEntry, Session};
use diorama_engine::{Body, Origin};
use diorama_seeds::ending::{Ask, Kind};
use diorama_seeds::english::WEEKDAYS;
use diorama_seeds::model::{FieldId, ResourceId, World};
use diorama_seeds::schema::{KeyKind, Type};
use diorama_seeds::task::{
    AnswerCheck, ArgumentSource, CHECKS_VERSION, Call, Checks, Evidence, Fact, GoalCheck, GoldCall, Outcome,
    RefusalClass,
};
use diorama_seeds::value::Value;
use serde_json::Value as Json;

use crate::answer::RequestedFact;
use crate::binding::{collect_member, item_path};
use crate::context::WorldContext;
use crate::grounded::{Basis, GroundedGoal};
use crate::measures::Measures;

mod changes;
pub(crate) mod first;
mod items;
mod ways;

use self::changes::{allowances, new_keys};
pub use self::changes::{change_checks, changed_by_goal, older_change_checks};

/// Builds the checks of a candidate that was run.
#[must_use]
pub fn build(
    context: WorldContext<'_>,
    measures: &Measures,
    session: &Session,
    goals: &[GroundedGoal],
    gold: &[GoldCall],
    entries: &[Arc<LogEntry>],
    turns: &[Prose],
) -> Checks {
    let world = context.base.world();
    let logs: Vec<&[Arc<LogEntry>]> =
        goals.iter().map(|goal| entries.get(goal.calls.clone()).unwrap_or_default()).collect();
    let changed = changed_by_goal(&logs);
    let builder = FactBuilder { world, measures, new: new_keys(changed.iter().flatten()), gold, turns };
    let goals = goals.iter().map(|goal| builder.goal(goal, entries, session)).collect();
    let (changes, allowed) = (change_checks(world, &changed), allowances(world, &logs));
    Checks { version: CHECKS_VERSION, goals, changes, allowed, policy: Vec::new(), confirms: false }
}

/// Builds facts and their evidence from replies, with the measures that are visible.
struct FactBuilder<'a> {
    world: &'a World,
    measures: &'a Measures,
    /// The numbers of new records.
    new: HashMap<(ResourceId, Value), u32>,
    gold: &'a [GoldCall],
    /// The user's messages, turn by turn.
    turns: &'a [Prose],
}

impl FactBuilder<'_> {
    fn goal(&self, goal: &GroundedGoal, entries: &[Arc<LogEntry>], session: &Session) -> GoalCheck {
        let checked =
            goal.asked.iter().filter_map(|asked| Some((asked, self.answer_check(asked, entries, session)?)));
        let (asked, mut answer): (Vec<&RequestedFact>, Vec<AnswerCheck>) = checked.unzip();
        self.name_items(&asked, &mut answer, entries);
        let mut evidence = Vec::new();
        if let Some((call, entry)) = goal.refused_by.and_then(|call| Some((call, entries.get(call)?))) {
            let (api, arguments) = (entry.call.api.clone(), self.arguments(call, entry));
            evidence.push(if entry.reply.is_success() {
                Evidence::Empty { api, arguments }
            } else {
                Evidence::Refused { api, status: entry.reply.status, arguments }
            });
        }
        // A rule that depends on no record must still be read if it stands in articles.
        let is_searched_for = |call: &Call| {
            let api = self.world.api_named(&call.api).map(|id| self.world.api(id));
            api.is_some_and(|api| self.world.domains[api.domain.index()].articles.is_some())
        };
        let declined = goal.declined.as_ref();
        let declined =
            declined.filter(|declined| declined.basis == Basis::Records || is_searched_for(&declined.call));
        evidence.extend(declined.map(|declined| self.forbidden(&declined.call)));
        // The claim that no tool exists rests on the searches, where there are any.
        if goal.refusal.first() == Some(&RefusalClass::NoTool) {
            let own = entries.get(goal.calls.clone()).unwrap_or_default();
            let tools: Vec<String> =
                own.iter().flat_map(|entry| entry.tools_found()).map(str::to_owned).collect();
            // Another search for the same thing shows other tools of the same service, so the first tool's
            // service counts.
            let domain = |name: &String| {
                let id = self.world.api(self.world.api_named(name)?).domain;
                Some(self.world.domains[id.index()].name.to_string())
            };
            let domains = tools.first().and_then(domain).into_iter().collect();
            evidence.extend((!tools.is_empty()).then_some(Evidence::Searched { tools, domains }));
        }
        // A refusal after a read rests on the facts that it states.
        let (answer, of_refusal) = match goal.outcome {
            Outcome::Refused => (Vec::new(), answer),
            _ => (answer, Vec::new()),
        };
        let of_reply = goal.refused_by.is_some() || goal.declined.is_some();
        evidence.extend(of_refusal.into_iter().flat_map(|check| check.evidence).filter(|_| !of_reply));
        GoalCheck {
            outcome: goal.outcome,
            refusal: goal.refusal.clone(),
            answer,
            evidence,
            asks: goal.asks.iter().map(|(resource, field)| self.ask(*resource, *field)).collect(),
        }
    }

    /// Returns the evidence that a policy forbids a call. It keeps a token that is the same in every session.
    fn forbidden(&self, call: &Call) -> Evidence {
        let mut arguments = call.arguments.clone();
        let api = self.world.api_named(&call.api).map(|id| self.world.api(id));
        let token = api.and_then(|api| api.parameters.get(api.token?.index())).and_then(|parameter| {
            let token = arguments.remove(&*parameter.name)?;
            let made = self.gold.iter().flat_map(|gold| &gold.sources);
            let is_issued = made.into_iter().any(|(name, source)| {
                *name == *parameter.name && matches!(source, ArgumentSource::Reply { .. })
            });
            token.as_str().filter(|_| !is_issued).map(str::to_owned)
        });
        Evidence::Forbidden { api: call.api.clone(), arguments, token }
    }

    /// Returns the arguments that a call needs for its reply to show the fact.
    /// Arguments that only choose the view are left out: an order, a page, search words, a closer look.
    fn arguments(&self, call: usize, entry: &LogEntry) -> serde_json::Map<String, Json> {
        let mut arguments = self.lasting_arguments(entry);
        let Some(api) = entry.api.map(|id| self.world.api(id)) else { return arguments };
        let sources = self.gold.get(call).map(|gold| &gold.sources);
        arguments.retain(|name, _| {
            let chosen = sources.and_then(|sources| sources.get(name));
            let is_chosen = matches!(
                chosen,
                Some(ArgumentSource::Choice | ArgumentSource::Dictated { .. } | ArgumentSource::Default)
            );
            !is_chosen
                && api
                    .parameter_named(name)
                    .is_some_and(|id| !api.parameters[id.index()].free_text && !api.chooses_view(id))
        });
        arguments
    }

    /// Returns the arguments of a call that are the same in every session: no token, and no key of a new
    /// record.
    fn lasting_arguments(&self, entry: &LogEntry) -> serde_json::Map<String, Json> {
        let Some(api) = entry.api.map(|id| self.world.api(id)) else { return serde_json::Map::new() };
        let lasts = |name: &String, json: &Json| {
            let Some(id) = api.parameter_named(name) else { return false };
            let value = api.parameters[id.index()].schema.parse_json(json, &self.world.zone);
            api.token != Some(id) && value.is_ok_and(|value| !self.new.keys().any(|(_, key)| *key == value))
        };
        let arguments = entry.call.arguments.iter().filter(|(name, json)| lasts(name, json));
        arguments.map(|(name, json)| (name.clone(), json.clone())).collect()
    }

    fn answer_check(
        &self,
        asked: &RequestedFact,
        entries: &[Arc<LogEntry>],
        session: &Session,
    ) -> Option<AnswerCheck> {
        let entry = entries.get(asked.call())?;
        let body = &entry.reply.body;
        match asked {
            RequestedFact::Leaf { path, about, magnitude, .. } => {
                let leaf = body.at(path)?;
                let mut evidence = self.ways((asked.call(), entry, path), leaf, session)?;
                let first = self.first_ones(asked.call(), path, entries);
                if !first.is_empty() {
                    let together = |way: Evidence| Evidence::All {
                        of: std::iter::once(way).chain(first.iter().cloned()).collect(),
                    };
                    evidence = evidence.into_iter().map(together).collect();
                }
                Some(AnswerCheck {
                    about: about.clone(),
                    sign: self.sign_of(leaf, *magnitude),
                    fact: with_magnitude(self.fact(leaf)?, *magnitude),
                    items: Vec::new(),
                    evidence,
                })
            }
            RequestedFact::Each { array, member, about, magnitude, .. } => {
                let items = collect_member(body, array, member)?;
                let fact = |leaf: &&Body| Some(with_magnitude(self.fact(leaf)?, *magnitude));
                let facts: Option<Vec<Fact>> = items.iter().map(fact).collect();
                let of: Option<Vec<Evidence>> = { items.iter().enumerate() }
                    .map(|(at, leaf)| self.evidence(asked.call(), entry, &item_path(array, at, member), leaf))
                    .collect();
                Some(AnswerCheck {
                    about: about.clone(),
                    sign: items.iter().find_map(|leaf| self.sign_of(leaf, *magnitude)),
                    fact: Fact::List { items: facts? },
                    items: Vec::new(),
                    evidence: vec![Evidence::All { of: of? }],
                })
            }
            RequestedFact::Count { path, about, .. } => {
                let (value, evidence) = match body.at(path)? {
                    Body::List(items) => {
                        (items.len() as f64, vec![self.evidence_of_list(asked.call(), entry, path, items)?])
                    }
                    leaf => (leaf.value()?.as_f64()?, self.ways((asked.call(), entry, path), leaf, session)?),
                };
                let fact = Fact::Count { value: value as u64 };
                Some(AnswerCheck { about: about.clone(), sign: None, fact, items: Vec::new(), evidence })
            }
        }
    }

    /// Returns a field that a refused goal asks for in vain.
    fn ask(&self, resource: ResourceId, field: FieldId) -> Ask {
        let described = self.world.resource(resource);
        let schema = self.measures.strip_invisible(described.field(field).schema.clone());
        let unit = schema.unit.as_ref().map(ToString::to_string);
        let kind = match schema.kind {
            Type::Decimal { currency: Some(currency), .. } => {
                Kind::Money { currency: currency.to_string(), magnitude: false }
            }
            Type::Integer | Type::Number | Type::Decimal { .. } => Kind::Number { unit, magnitude: false },
            Type::Date => Kind::Date,
            Type::Time => Kind::Time,
            Type::DateTime => Kind::DateTime,
            Type::Boolean => Kind::Boolean,
            Type::Reference { key: KeyKind::Integer, .. } => Kind::Number { unit: None, magnitude: false },
            _ => Kind::Text,
        };
        Ask { about: described.about(field), sign: self.meaning_of_sign(resource, field), kind }
    }

    /// Returns the meaning of a leaf's sign, from its field's description.
    fn sign_of(&self, leaf: &Body, magnitude: bool) -> Option<String> {
        match leaf {
            Body::Leaf(_, Origin::Field { resource, field, .. }) if !magnitude => {
                self.meaning_of_sign(*resource, *field)
            }
            _ => None,
        }
    }

    /// Returns the description of a field of which some record holds a value below zero.
    fn meaning_of_sign(&self, resource: ResourceId, field: FieldId) -> Option<String> {
        let described = self.world.resource(resource);
        let held = described.records.iter().filter_map(|record| record.get(field.index())?.as_f64());
        let declared = described.field(field);
        (held.into_iter().any(|value| value < 0.0) && !declared.description.is_empty())
            .then(|| declared.description.to_string())
    }

    /// Returns the number and field of a value that each session generates anew: a new record's key or
    /// generated field.
    fn made(&self, origin: &Origin) -> Option<(u32, String)> {
        let Origin::Field { resource, key, field } = origin else { return None };
        let new = *self.new.get(&(*resource, key.clone()))?;
        let described = self.world.resource(*resource);
        let declared = described.field(*field);
        (*field == described.key || declared.generated).then(|| (new, declared.name.to_string()))
    }

    /// Returns the evidence for the length of a list: one field of each of its records.
    fn evidence_of_list(
        &self,
        call: usize,
        entry: &LogEntry,
        path: &str,
        items: &[Body],
    ) -> Option<Evidence> {
        if items.is_empty() {
            let (api, arguments) = (entry.call.api.clone(), self.arguments(call, entry));
            return Some(Evidence::Empty { api, arguments });
        }
        let first = |item: &Body| -> Option<Evidence> {
            let leaf = item.parts().find(|part| matches!(part, Body::Leaf(_, Origin::Field { .. })))?;
            self.evidence(call, entry, path, leaf)
        };
        Some(Evidence::All { of: items.iter().map(first).collect::<Option<_>>()? })
    }

    /// Returns the fact that a leaf states; `None` for nested objects and missing values.
    fn fact(&self, leaf: &Body) -> Option<Fact> {
        let world = self.world;
        let Body::Leaf(value, origin) = leaf else { return None };
        if let Some((new, field)) = self.made(origin) {
            return Some(Fact::Made { new, field });
        }
        let schema = self.measures.leaf_schema(origin, world);
        let unit = schema.unit.as_ref().map(ToString::to_string);
        Some(match value {
            Value::Integer(number) => number_fact(*number as f64, unit),
            Value::Number(number) => number_fact(*number, unit),
            Value::Decimal(decimal) => match &schema.kind {
                Type::Decimal { currency: Some(currency), .. } => Fact::Money {
                    minor: decimal.minor,
                    scale: decimal.scale,
                    currency: currency.to_string(),
                    magnitude: false,
                },
                _ => number_fact(decimal.as_f64(), unit),
            },
            Value::Date(date) => Fact::Date { value: date.to_string() },
            Value::Time(time) => Fact::Time { value: time.to_string() },
            Value::DateTime(_) => Fact::DateTime { value: value.to_text(&world.zone) },
            Value::String(text) => {
                let (of, aliases) = match origin {
                    Origin::Field { resource, field, .. } => {
                        let described = world.resource(*resource);
                        let field = described.field(*field);
                        let mut aliases: Vec<String> =
                            field.synonyms.get(text).into_iter().flatten().map(ToString::to_string).collect();
                        // Messages write days in the plural, too: closed on Wednesdays.
                        if WEEKDAYS.contains(&&**text) {
                            aliases.push(format!("{text}s"));
                        }
                        if text.contains('_') {
                            aliases.push(text.replace('_', " "));
                        }
                        (Some((described.qualified.to_string(), field.name.to_string())), aliases)
                    }
                    Origin::Computed | Origin::Constant => (None, Vec::new()),
                };
                Fact::Entity { value: text.to_string(), aliases, of }
            }
            Value::Bool(value) => {
                Fact::Boolean { value: *value, when_true: Vec::new(), when_false: Vec::new() }
            }
            Value::Absent | Value::Null | Value::List(_) | Value::Object(_) => return None,
        })
    }

    fn evidence(&self, call: usize, entry: &LogEntry, path: &str, leaf: &Body) -> Option<Evidence> {
        let Body::Leaf(value, origin) = leaf else { return None };
        let world = self.world;
        Some(match origin {
            Origin::Field { resource, key, field } if self.new.contains_key(&(*resource, key.clone())) => {
                let new = *self.new.get(&(*resource, key.clone()))?;
                let value = self.made(origin).is_none().then(|| value.to_json(&world.zone));
                // A reference to another new record has another key in each session.
                let value = value.filter(|_| !self.new.keys().any(|(_, key)| leaf.value() == Some(key)));
                Evidence::New { new, field: world.resource(*resource).field(*field).name.to_string(), value }
            }
            Origin::Field { resource, key, field } => {
                let described = world.resource(*resource);
                Evidence::Leaf {
                    resource: described.qualified.to_string(),
                    key: key.to_text(&world.zone),
                    field: described.field(*field).name.to_string(),
                    value: Some(value.to_json(&world.zone)),
                }
            }
            Origin::Computed => Evidence::Computed {
                api: entry.call.api.clone(),
                path: path.to_owned(),
                value: value.to_text(&world.zone),
                arguments: self.arguments(call, entry),
            },
            Origin::Constant => return None,
        })
    }
}

const fn number_fact(value: f64, unit: Option<String>) -> Fact {
    Fact::Number { value, unit, tolerance: 0.0, magnitude: false }
}

/// Returns a fact as a signed value or as a magnitude.
fn with_magnitude(mut fact: Fact, is_magnitude: bool) -> Fact {
    if let Fact::Number { magnitude, .. } | Fact::Money { magnitude, .. } = &mut fact {
        *magnitude = is_magnitude;
    }
    fact
}
