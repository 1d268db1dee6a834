//! Owns the check of scenarios: their bindings with typed conditions, and their calls of existing APIs.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::doc::{PlaceDoc, ScenarioDoc, ScenarioStepDoc};
use crate::expr::{Expr, ExprError, ExprType, Scope, Slot, compile_condition};
use crate::model::{Api, DomainId, FieldId, Record, ResourceId, World};
use crate::schema::Schema;
use crate::value::Value;
use diorama_format::Finding;

/// A scenario that fits its world.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The source of the scenario.
    pub doc: ScenarioDoc,
    /// Domain of the scenario.
    pub domain: DomainId,
    pub(super) places: Vec<Place>,
    pub(super) given: Vec<Expr>,
}

impl Scenario {
    /// Returns the resource of a binding that holds one record.
    pub fn resource_of(&self, place: &str) -> Option<ResourceId> {
        match &self.places.iter().find(|known| known.name == place)?.kind {
            Kind::Record(of) | Kind::Value(Expr { kind: ExprType::Record(of), .. }) => Some(*of),
            _ => None,
        }
    }
}

/// A binding with its possible values.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) name: String,
    pub(super) slot: Slot,
    pub(super) kind: Kind,
    pub(super) condition: Option<Expr>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Record(ResourceId),
    Records { of: ResourceId, min: usize, max: Option<usize>, order: Option<(FieldId, bool)> },
    Value(Expr),
    Pick(Vec<Value>),
    Number { from: f64, to: f64, step: f64 },
    Like(ResourceId, FieldId),
    New(ResourceId),
}

/// The value of a binding in one run of a scenario.
#[derive(Clone, Debug)]
pub enum BoundValue {
    /// A record by key.
    Record(ResourceId, Value),
    /// Several records by key.
    Records(ResourceId, Vec<Value>),
    /// An alternate record.
    New(ResourceId, Record),
    /// A value with its schema.
    Value(Value, Arc<Schema>),
}

/// The bindings of one run, in order.
pub type Bindings = Vec<(String, BoundValue)>;

/// Checks the scenarios of a domain. Scenarios with findings are omitted.
pub fn compile(docs: &[ScenarioDoc], domain: DomainId, world: &World) -> (Vec<Scenario>, Vec<Finding>) {
    let mut scenarios: Vec<Scenario> = Vec::new();
    let mut findings = Vec::new();
    for (position, scenario) in docs.iter().enumerate() {
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
    for (name, _) in scenario.withheld.iter().filter(|(_, wordings)| wordings.is_empty()) {
        error(format!("{path}.withheld.{name}"), "found no wording", "write what the user answers");
    }
    for (number, goal) in scenario.goals.iter().enumerate() {
        let here = format!("{path}.goals[{number}]");
        let governed = goal.does.iter().filter(|step| step.governed).count();
        if governed > 1 || (governed == 0) != goal.declined.is_empty() || (governed > 0 && !scenario.policy) {
            error(
                here.clone(),
                "found no match between `governed` steps, `declined` and `policy`",
                "a goal that the policy decides has one step with `governed: true` and words under `declined`, in a scenario with `policy: true`",
            );
        }
        for (name, words) in [("user", &goal.user), ("end", &goal.end)] {
            let never_ends = name == "end" && !goal.declined.is_empty();
            if words.is_empty() && !never_ends {
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
            let talks = step.talk.is_some() || !step.user.is_empty();
            let kinds = [step.call.is_some(), !step.together.is_empty(), step.ask.is_some(), talks];
            if kinds.into_iter().filter(|is| *is).count() != 1 {
                error(
                    here.clone(),
                    "expected exactly one of `call`, `together`, `ask`, and `user` or `talk`",
                    "make a step of each; the words after which a goal ends stand in `end`",
                );
            }
            if talks && step.user.is_empty() {
                error(format!("{here}.user"), "found no words of the user", "say what the user answers");
            }
            if (step.ask.is_some() || talks) && step.say.is_empty() {
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
                if call.call.is_none()
                    || !call.say.is_empty()
                    || call.ask.is_some()
                    || call.each.is_some()
                    || !call.until.is_empty()
                {
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
        let governs = |rule: &String| api.behaviour.rules.iter().any(|known| *known.message == **rule);
        if let Some(rule) = call.claims.keys().find(|rule| !call.governed || !governs(rule)) {
            let known: Vec<&str> = api.behaviour.rules.iter().map(|rule| &*rule.message).collect();
            found.push(Finding::error(
                format!("{path}.goals"),
                format!(
                    "found a claim for the rule `{rule}`, expected a rule that governs `{name}`: {}",
                    known.join(", ")
                ),
                "write `claims` on a step with `governed: true`, by the names of rules that govern its call",
            ));
        }
        check_until(scenario, call, api, path, found);
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

/// A list that is read page by page has pages, and is read until it shows records.
fn check_until(
    scenario: &ScenarioDoc,
    call: &ScenarioStepDoc,
    api: &Api,
    path: &str,
    found: &mut Vec<Finding>,
) {
    if call.until.is_empty() {
        return;
    }
    if api.query().is_none_or(|query| query.page.is_none()) || call.each.is_some() || call.fails {
        found.push(Finding::error(
            format!("{path}.goals"),
            format!("found `until` at a call of `{}`, expected one call of a list with pages", api.name),
            "leave `until` out",
        ));
    }
    let holds_records = |place: &String| {
        scenario.bind.get(place).is_some_and(|place| place.a.is_some() || place.some.is_some())
    };
    for place in call.until.iter().filter(|place| !holds_records(place)) {
        let known: Vec<&str> =
            scenario.bind.keys().filter(|place| holds_records(place)).map(String::as_str).collect();
        found.push(Finding::error(
            format!("{path}.goals"),
            format!("found `until: {place}`, expected a place of records under `bind`: {}", known.join(", ")),
            "name one of them",
        ));
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
        match like.split_once('.') {
            Some((of, field)) => {
                let id = resource(of, scope)?;
                let field =
                    scope.field_named(id, field).ok_or_else(|| format!("`{of}` has no field `{field}`"))?;
                (Kind::Like(id, field), scope.kind_of(id, field))
            }
            None => {
                let id = resource(like, scope)?;
                (Kind::New(id), ExprType::Record(id))
            }
        }
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
        Kind::Record(of) | Kind::Records { of, .. } | Kind::New(of) => Some(*of),
        _ => None,
    };
    // The condition of a record comes before its name in scope, that of a value after it.
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
    /// Returns true if the value is the record with this key.
    pub fn is_record(&self, resource: ResourceId, key: &Value) -> bool {
        matches!(self, Self::Record(of, own) if *of == resource && own == key)
    }
}

impl Scenario {
    /// Returns true if a binding besides the caller can hold a name or an amount that was stated in another
    /// domain.
    pub fn may_take_up(&self) -> bool {
        let can_hold = |place: &&Place| matches!(place.kind, Kind::Like(..) | Kind::Number { .. });
        self.places.iter().filter(can_hold).any(|place| place.name != self.caller())
    }

    /// Returns the name of the binding that holds the user's own record or name.
    pub fn caller(&self) -> &str {
        self.doc.caller.as_deref().unwrap_or("me")
    }
}
