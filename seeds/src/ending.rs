//! Owns the tool with which an agent ends a goal, and the schema of the facts in its final answer.
//!
//! The schema derives from the checks. It shows names, types, units and currencies of the requested facts,
//! but no value. If a request cannot be carried out, its goal asks for the facts of the request
//! ([`GoalCheck::asks`]). Its schema therefore looks like that of a solvable goal. The grader decides whether
//! the given facts are right.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

pub use crate::ask::{Ask, Kind};
use crate::english;
use crate::task::{AnswerCheck, Checks, Evidence, Fact, GoalCheck, Outcome, RefusalClass};
use crate::value::{Date, Time, Zone};

/// Name of the tool.
pub const FINISH: &str = "finish";

/// How a goal ends, as an agent gives it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finish {
    /// The outcome.
    pub outcome: Outcome,
    /// For refusals: why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<RefusalClass>,
    /// For refusals: the id or the name of what they are about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The facts asked for, by the names that [`schema`] gives them.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub facts: Map<String, Json>,
    /// The message to the user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// Returns the kind of one value of a list or map.
fn single(kind: Kind) -> Kind {
    match kind {
        Kind::List(item) | Kind::Map(item) => *item,
        single => single,
    }
}

/// Returns the JSON Schema of a value of a kind.
fn value_schema(kind: &Kind, about: Option<&str>) -> Json {
    let mut schema = match kind {
        Kind::Number { magnitude: true, .. } | Kind::Money { magnitude: true, .. } => {
            json!({"type": "number", "minimum": 0})
        }
        Kind::Number { .. } | Kind::Money { .. } => json!({"type": "number"}),
        Kind::Count => json!({"type": "integer", "minimum": 0}),
        Kind::Date => json!({"type": "string", "format": "date"}),
        Kind::Time => json!({"type": "string", "pattern": "^[0-2]?[0-9]:[0-5][0-9]"}),
        Kind::DateTime => json!({"type": "string", "format": "date-time"}),
        Kind::Text => json!({"type": "string"}),
        Kind::Boolean => json!({"type": "boolean"}),
        Kind::Made => json!({"type": ["string", "integer"]}),
        Kind::List(item) => json!({"type": "array", "items": value_schema(item, None)}),
        Kind::Map(item) => json!({"type": "object", "additionalProperties": value_schema(item, None)}),
    };
    let measure = match kind {
        Kind::Number { unit: Some(measure), .. } | Kind::Money { currency: measure, .. } => Some(measure),
        _ => None,
    };
    let form = match kind {
        Kind::Date => Some("YYYY-MM-DD".to_owned()),
        Kind::Time => Some("HH:MM".to_owned()),
        Kind::DateTime => Some("YYYY-MM-DDTHH:MM, local time".to_owned()),
        Kind::List(_) => Some(
            "one for each that is asked about, in any order, repeated where the replies repeat it".to_owned(),
        ),
        Kind::Map(_) => Some("one for each that is asked about, under the item's own name or id".to_owned()),
        _ => measure.map(|measure| format!("in {measure}")),
    };
    // The description may already state the form.
    let form = form.filter(|form| about.is_none_or(|about| !about.contains(form.as_str())));
    let parts: Vec<&str> = about.into_iter().chain(form.as_deref()).collect();
    if !parts.is_empty() {
        schema["description"] = json!(parts.join(", "));
    }
    schema
}

/// Returns `None` if the value can be parsed as the kind, otherwise a description of the expected value.
pub(crate) fn expects(kind: &Kind, given: &Json, zone: &Zone) -> Option<&'static str> {
    let is_text = |reads: &dyn Fn(&str) -> bool| given.as_str().is_some_and(reads);
    let (fits, expected) = match kind {
        Kind::Number { .. } | Kind::Money { .. } => (given.is_number(), "a number"),
        Kind::Count => (given.is_u64(), "a whole number from 0"),
        Kind::Date => (is_text(&|text| Date::parse(text).is_some()), "a day, YYYY-MM-DD"),
        Kind::Time => (is_text(&|text| Time::parse(text).is_some()), "a time, HH:MM"),
        Kind::DateTime => {
            let reads = |text: &str| zone.parse_instant(text.trim()).is_some();
            (is_text(&reads), "a day and a time, YYYY-MM-DDTHH:MM")
        }
        Kind::Text => (given.is_string(), "a text"),
        Kind::Boolean => (given.is_boolean(), "true or false"),
        Kind::Made => (given.is_string() || given.is_i64(), "a text or a whole number"),
        Kind::List(item) => match given {
            Json::Array(items) => return items.iter().find_map(|given| expects(item, given, zone)),
            _ => (false, "a list"),
        },
        Kind::Map(item) => match given {
            Json::Object(items) => return items.values().find_map(|given| expects(item, given, zone)),
            _ => (false, "an object: for the name or id of each item its value"),
        },
    };
    (!fits).then_some(expected)
}

/// A fact that a goal asks for, with its name in the final answer.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedFact {
    /// Name of the fact.
    pub name: String,
    /// The requested fact.
    pub ask: Ask,
    /// Positions of the answer checks whose values it holds. It is empty for a goal that cannot be answered.
    pub checks: Vec<usize>,
}

/// Returns the facts that a goal asks for.
pub fn asks(checks: &Checks, goal: usize) -> Vec<NamedFact> {
    checks.goals.get(goal).map(named).unwrap_or_default()
}

/// Returns the facts that a goal asks for, those with answers first.
///
/// Answer checks about the same thing form one fact. It is a map if each value's item has a name, otherwise a
/// list. Example: the prices of two rooms form a map from room to price.
pub fn named(goal: &GoalCheck) -> Vec<NamedFact> {
    let mut groups: Vec<(&str, Kind, Vec<usize>)> = Vec::new();
    let mut groups_about: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, check) in goal.answer.iter().enumerate() {
        let single = single(check.fact.kind());
        let alike = groups_about.entry(&check.about).or_default();
        match alike.iter().find(|group| groups[**group].1 == single) {
            Some(group) => groups[*group].2.push(at),
            None => {
                alike.push(groups.len());
                groups.push((&check.about, single, vec![at]));
            }
        }
    }
    let answered = groups.into_iter().map(|(about, single, checks)| {
        let of_fact: Vec<&AnswerCheck> = checks.iter().filter_map(|at| goal.answer.get(*at)).collect();
        let sign = of_fact.iter().find_map(|check| check.sign.clone());
        let kind = kind_of(&of_fact, single);
        (Ask { about: about.to_owned(), sign, kind }, checks)
    });
    let mut taken: HashSet<String> = HashSet::new();
    // Next number to try for each name. Earlier numbers are taken.
    let mut next: HashMap<String, u64> = HashMap::new();
    let mut free = |name: String| {
        if taken.insert(name.clone()) {
            return name;
        }
        let number = next.entry(name.clone()).or_insert(2);
        loop {
            let numbered = format!("{name}_{number}");
            *number += 1;
            if taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    };
    let asked = answered.chain(goal.asks.iter().map(|ask| (ask.clone(), Vec::new())));
    asked.map(|(ask, checks)| NamedFact { name: free(name_of(&ask.about)), ask, checks }).collect()
}

/// Returns the kind of a fact that holds the values of these checks.
fn kind_of(checks: &[&AnswerCheck], single: Kind) -> Kind {
    let is_several =
        |check: &&&AnswerCheck| !check.items.is_empty() || matches!(check.fact, Fact::List { .. });
    if checks.len() == 1 && !checks.iter().any(|check| is_several(&check)) {
        return single;
    }
    let items = || checks.iter().flat_map(|check| item_values(check));
    let is_map = items().all(|item| !item.names.is_empty());
    if is_map { Kind::Map(Box::new(single)) } else { Kind::List(Box::new(single)) }
}

/// A requested value with the names of its item.
#[derive(Clone, Copy, Debug)]
pub struct ItemValue<'a> {
    /// The value.
    pub fact: &'a Fact,
    /// Names of its item, the best first.
    pub names: &'a [String],
}

/// Returns each value of a check with the names of its item.
pub fn item_values(check: &AnswerCheck) -> impl Iterator<Item = ItemValue<'_>> {
    let values = match &check.fact {
        Fact::List { items, .. } => items.as_slice(),
        single => std::slice::from_ref(single),
    };
    let names = |at: usize| check.items.get(at).map_or(&[][..], Vec::as_slice);
    values.iter().enumerate().map(move |(at, fact)| ItemValue { fact, names: names(at) })
}

/// Returns a description as a name. Example: `year of study of the student` gives
/// `year_of_study_of_the_student`.
fn name_of(about: &str) -> String {
    let name = english::split_identifier(about).join("_");
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(60).collect();
    if name.is_empty() { "fact".to_owned() } else { name }
}

/// Returns the definition of the tool for a goal, in OpenAI's function format.
pub fn tool(checks: &Checks, goal: usize) -> Json {
    json!({
        "type": "function",
        "function": {
            "name": FINISH,
            "description": "Ends the user's present request, once it is carried out, or cannot be. Call it once for each request, \
                            after every other call; what the user says next comes back. While they keep asking for the same, \
                            the request is open.",
            "parameters": schema(checks, goal),
        },
    })
}

/// Returns the JSON Schema of a [`Finish`] for a goal.
pub fn schema(checks: &Checks, goal: usize) -> Json {
    let facts: Map<String, Json> = asks(checks, goal)
        .into_iter()
        .map(|fact| {
            let about = match &fact.ask.sign {
                Some(sign) => format!("{} ({sign})", fact.ask.about),
                None => fact.ask.about,
            };
            let schema = value_schema(&fact.ask.kind, Some(&about));
            (fact.name, schema)
        })
        .collect();
    json!({
        "type": "object",
        "properties": {
            "outcome": {
                "type": "string",
                "enum": ["done", "refused"],
                "description": "done: carried out, or answered. refused: it cannot be.",
            },
            "reason": {
                "type": "string",
                "enum": RefusalClass::ALL.map(RefusalClass::name),
                "description": "Of a refusal: why. not_found: something that the request names does not exist. forbidden: a rule, a \
                                right or a limit does not allow it, whatever the present state. conflict: the present state \
                                prevents it (taken, full, already done, too late, not enough). invalid: a value as such cannot \
                                be. no_tool: no tool does it. Where two fit, either is right.",
            },
            "about": {
                "type": "string",
                "description": "Of a refusal: what it is about, and nothing else: the id or the name that was asked for (LN-52823, \
                                Elio Dupond), or the name of the value that cannot be (daily limit). Needed with not_found, \
                                conflict and invalid.",
            },
            "facts": {
                "type": "object",
                "properties": facts,
                "additionalProperties": false,
                "description": "What was asked for: all of it when the outcome is done, nothing when it is refused.",
            },
            "message": {"type": "string", "description": "What is said to the user. It is not judged."},
        },
        "required": ["outcome"],
        "additionalProperties": false,
    })
}

/// Returns the facts of a goal's reference answer. `made` returns the value that the world gave to a field of
/// a new record. The result is none if such a value is missing.
pub fn facts(goal: &GoalCheck, made: impl Fn(u32, &str) -> Option<Json>) -> Option<Map<String, Json>> {
    let given = named(goal).into_iter().filter(|fact| !fact.checks.is_empty()).map(|fact| {
        let checks = fact.checks.iter().filter_map(|at| goal.answer.get(*at));
        let mut items = checks.flat_map(item_values);
        let given = match fact.ask.kind {
            Kind::Map(_) => Json::Object(
                items
                    .map(|item| Some((item.names.first()?.clone(), value(item.fact, &made)?)))
                    .collect::<Option<_>>()?,
            ),
            Kind::List(_) => items.map(|item| value(item.fact, &made)).collect::<Option<_>>()?,
            _ => value(items.next()?.fact, &made)?,
        };
        Some((fact.name, given))
    });
    given.collect()
}

/// Returns the subject of a refusal in the reference: an argument of the refused call, or the value that was
/// read.
pub fn subject(goal: &GoalCheck) -> Option<String> {
    let argument = goal.evidence.iter().find_map(|evidence| match evidence {
        Evidence::Refused { arguments, .. }
        | Evidence::Forbidden { arguments, .. }
        | Evidence::Empty { arguments, .. } => arguments.values().next(),
        _ => None,
    });
    match (argument, goal.evidence.first()?) {
        (Some(Json::String(text)), _) => Some(text.clone()),
        (Some(other), _) => Some(other.to_string()),
        (None, Evidence::Leaf { key, .. }) => Some(key.clone()),
        (None, Evidence::Computed { path, .. }) => Some(english::spaced(path)),
        (None, _) => None,
    }
}

fn value(fact: &Fact, made: &impl Fn(u32, &str) -> Option<Json>) -> Option<Json> {
    Some(match fact {
        Fact::Number { value, magnitude, .. } => number(unsigned(*value, *magnitude)),
        Fact::Money { minor, scale, magnitude, .. } => {
            number(unsigned(*minor as f64 / 10_f64.powi(i32::from(*scale)), *magnitude))
        }
        Fact::Count { value } => json!(value),
        Fact::Date { value }
        | Fact::Time { value }
        | Fact::DateTime { value }
        | Fact::Entity { value, .. } => {
            json!(value)
        }
        Fact::Boolean { value, .. } => json!(value),
        Fact::Made { new, field } => made(*new, field)?,
        Fact::List { items, .. } => items.iter().map(|item| value(item, made)).collect::<Option<Json>>()?,
    })
}

const fn unsigned(value: f64, magnitude: bool) -> f64 {
    if magnitude { value.abs() } else { value }
}

/// Returns a whole number without a decimal point.
fn number(value: f64) -> Json {
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_one_name_are_numbered() {
        let ask = |about: &str| Ask { about: about.to_owned(), sign: None, kind: Kind::Text };
        let names = |abouts: &[&str]| -> Vec<String> {
            let asks = abouts.iter().map(|about| ask(about)).collect();
            named(&GoalCheck { asks, ..GoalCheck::default() }).into_iter().map(|fact| fact.name).collect()
        };
        assert_eq!(
            names(&["fee", "fee", "fee 2", "fee", "day"]),
            ["fee", "fee_2", "fee_2_2", "fee_3", "day"]
        );
        // A repeated name does not retry the numbers that are taken.
        let many = names(&vec!["fee"; 50_000]);
        assert_eq!(many.last().map(String::as_str), Some("fee_50000"));
    }
}
