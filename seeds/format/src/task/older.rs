//! Translates checks of versions 1 and 2 into the current version.
//!
//! Both versions had a list of accepted `variants`, of which every dataset has one. Their `context` (facts
//! beside those asked for) served a grader of prose and is dropped. Features without a translation are
//! refused: several variants, ordered lists, any change of a resource, and values compared with `any` or
//! `mentions`.

use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::{Allowance, ArgumentSource, CHECKS_VERSION, ChangeCheck, Checks, Evidence, GoalCheck, GoldCall};

/// Checks as serialised, in any version.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChecksForm {
    version: u32,
    #[serde(default)]
    goals: Vec<GoalCheck>,
    #[serde(default)]
    changes: Vec<ChangeCheck>,
    #[serde(default)]
    allowed: Vec<Allowance>,
    #[serde(default)]
    policy: Vec<String>,
    #[serde(default)]
    confirms: bool,
    /// Only versions 1 and 2 have it.
    #[serde(default)]
    variants: Vec<Json>,
}

/// The one variant of version 2. In version 1 the members of its only goal are beside the changes.
#[derive(Deserialize)]
struct VariantForm {
    #[serde(default)]
    goals: Vec<GoalCheck>,
    #[serde(default)]
    changes: Vec<ChangeCheck>,
}

/// The reason for which checks of an older version cannot be translated.
#[derive(Debug, thiserror::Error)]
pub(super) enum OlderError {
    #[error("found {0} variants, expected one; make a task of each accepted end")]
    Variants(usize),
    #[error("found variants in checks of version {0}, expected `goals`")]
    Version(u32),
    #[error("found a list whose items must come in an order, expected one in any order")]
    Ordered,
    #[error("variants[0]: {0}")]
    Json(#[from] serde_json::Error),
}

impl TryFrom<ChecksForm> for Checks {
    type Error = OlderError;

    fn try_from(form: ChecksForm) -> Result<Self, OlderError> {
        let ChecksForm { version, goals, changes, allowed, policy, confirms, mut variants } = form;
        let only = match (version, variants.len()) {
            (1 | 2, 1) => variants.swap_remove(0),
            (1 | 2, found) => return Err(OlderError::Variants(found)),
            (_, 0) => return Ok(Self { version, goals, changes, allowed, policy, confirms }),
            _ => return Err(OlderError::Version(version)),
        };
        let VariantForm { goals, changes } = serde_json::from_value(translated(only, version)?)?;
        // Version 1 remains until [`Checks::name_arguments`] adds arguments to its evidence. Version 2
        // remains until its changes are split by goal ([`Checks::has_changes_by_goal`]).
        let version = match version {
            2 if goals.len() < 2 || changes.is_empty() => CHECKS_VERSION,
            version => version,
        };
        Ok(Self { version, goals, changes, allowed, policy, confirms })
    }
}

/// Removes the members that no longer exist from a variant, and puts the goal of version 1 into a list.
fn translated(mut variant: Json, version: u32) -> Result<Json, OlderError> {
    if version == 1
        && let Json::Object(members) = &mut variant
        && !members.contains_key("goals")
    {
        let changes = members.remove("changes").unwrap_or_else(|| Json::Array(Vec::new()));
        let goal = std::mem::take(members);
        members.insert("goals".to_owned(), Json::Array(vec![Json::Object(goal)]));
        members.insert("changes".to_owned(), changes);
    }
    let goals = variant.get_mut("goals").and_then(Json::as_array_mut).into_iter().flatten();
    for goal in goals.filter_map(Json::as_object_mut) {
        goal.remove("context");
        let answer = goal.get_mut("answer").and_then(Json::as_array_mut).into_iter().flatten();
        for fact in answer.filter_map(|check| check.get_mut("fact")?.as_object_mut()) {
            drop_order(fact)?;
        }
    }
    Ok(variant)
}

/// Removes the order from a list and from the lists inside of it. The depth of the JSON text bounds the
/// recursion.
fn drop_order(fact: &mut Map<String, Json>) -> Result<(), OlderError> {
    if fact.remove("ordered").is_some_and(|ordered| ordered != Json::Bool(false)) {
        return Err(OlderError::Ordered);
    }
    let items = fact.get_mut("items").and_then(Json::as_array_mut).into_iter().flatten();
    items.filter_map(Json::as_object_mut).try_for_each(drop_order)
}

impl Checks {
    /// Adds arguments to the evidence of version 1, which had none. They come from the reference call,
    /// without tokens and view options. Sets the current version.
    pub fn name_arguments(&mut self, gold: &[GoldCall]) {
        if self.version > 1 {
            return;
        }
        for goal in &mut self.goals {
            let of_facts = goal.answer.iter_mut().flat_map(|check| &mut check.evidence);
            goal.evidence.iter_mut().chain(of_facts).for_each(|evidence| evidence.name_arguments(gold));
        }
        self.version = CHECKS_VERSION;
    }
}

impl Checks {
    /// Returns true if the expected changes are split by goal. Version 2 had those of the whole episode, each
    /// with the goal that began it.
    pub const fn has_changes_by_goal(&self) -> bool {
        self.version >= CHECKS_VERSION
    }

    /// Replaces the changes of the whole episode by those of each goal, and sets the current version.
    pub fn set_changes_by_goal(&mut self, changes: Vec<ChangeCheck>) {
        (self.version, self.changes) = (CHECKS_VERSION, changes);
    }
}

impl Evidence {
    fn name_arguments(&mut self, gold: &[GoldCall]) {
        let (api, arguments) = match self {
            Self::Computed { api, arguments, .. }
            | Self::Refused { api, arguments, .. }
            | Self::Empty { api, arguments } => (api, arguments),
            Self::All { of } => return of.iter_mut().for_each(|part| part.name_arguments(gold)),
            Self::Leaf { .. }
            | Self::New { .. }
            | Self::First { .. }
            | Self::Searched { .. }
            | Self::Forbidden { .. } => return,
        };
        let Some(call) = gold.iter().rev().find(|call| call.api == *api) else { return };
        let lasting = |name: &str| match call.sources.get(name) {
            Some(ArgumentSource::Reply { path, .. }) => !path.ends_with("token"),
            Some(ArgumentSource::Choice | ArgumentSource::Dictated { .. } | ArgumentSource::Default) => false,
            _ => true,
        };
        let named = call.arguments.iter().filter(|(name, _)| lasting(name));
        arguments.extend(named.map(|(name, value)| (name.clone(), value.clone())));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(json: Json) -> Result<Checks, String> {
        serde_json::from_value(json).map_err(|error| error.to_string())
    }

    #[test]
    fn older_versions_are_read_as_todays() {
        let list = |ordered: bool| json!({"kind": "list", "items": [{"kind": "count", "value": 2}], "ordered": ordered});
        let answer = |ordered: bool| json!([{"about": "fees", "fact": list(ordered), "evidence": [{"kind": "all", "of": []}]}]);
        let goal =
            |ordered: bool| json!({"outcome": "done", "answer": answer(ordered), "context": [list(true)]});
        let today: Json = json!({"version": 3, "goals": [{"outcome": "done", "answer": [{"about": "fees",
            "fact": {"kind": "list", "items": [{"kind": "count", "value": 2}]}, "evidence": [{"kind": "all", "of": []}]}]}]});
        let second = read(json!({"version": 2, "variants": [{"goals": [goal(false)]}]})).unwrap();
        assert_eq!(serde_json::to_value(&second).unwrap(), today);
        let mut first = read(json!({"version": 1, "variants": [goal(false)]})).unwrap();
        first.name_arguments(&[]);
        assert_eq!(first, second);
        assert_eq!(read(today.clone()).unwrap(), second);
    }

    #[test]
    fn what_can_no_longer_be_said_is_refused() {
        let refused = |checks: Json, expected: &str| {
            let found = read(checks).unwrap_err();
            assert!(found.contains(expected), "{found}");
        };
        let goal = json!({"outcome": "done"});
        refused(
            json!({"version": 2, "variants": [{"goals": [goal]}, {"goals": [goal]}]}),
            "found 2 variants, expected one",
        );
        refused(json!({"version": 1, "variants": []}), "found 0 variants, expected one");
        refused(
            json!({"version": 3, "variants": [{"goals": [goal]}]}),
            "found variants in checks of version 3",
        );
        let fact = json!({"kind": "list", "items": [{"kind": "list", "items": [], "ordered": true}]});
        let answer = json!([{"about": "fees", "fact": fact, "evidence": []}]);
        refused(
            json!({"version": 2, "variants": [{"goals": [{"outcome": "done", "answer": answer}]}]}),
            "in an order",
        );
        refused(
            json!({"version": 2, "variants": [{"goals": [goal]}], "allowed": [{"resource": "log"}]}),
            "`field`",
        );
        let change = |matcher: Json| json!({"resource": "loan", "kind": "updated", "key": {"key": 1}, "fields": {"note": matcher}});
        for matcher in [json!("any"), json!({"mentions": ["a"]})] {
            refused(
                json!({"version": 2, "variants": [{"goals": [goal], "changes": [change(matcher)]}]}),
                "unknown variant",
            );
        }
        refused(
            json!({"version": 3, "goals": [{"outcome": "done", "context": []}]}),
            "unknown field `context`",
        );
    }
}
