//! Owns the keywords of JSON Schema 2020-12 whose effect depends on the rest of the value: `if`,
//! `dependentRequired`, `contains`, `unevaluatedProperties`.

use std::collections::HashSet;

use serde_json::{Map, Value as Json};

use super::check::{Progress, Verdict, Wrong, list, matches, number, word, wrong};
use super::schemas::Schemas;

/// Keywords that make the validity of one member depend on others.
pub(super) const CONDITIONS: [&str; 7] = [
    "if",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
    "propertyNames",
    "not",
    "minProperties",
];

impl Schemas {
    /// Checks `if` with `then` or `else`.
    pub(super) fn check_condition(
        &self,
        members: &Map<String, Json>,
        value: &Json,
        at: Progress<'_>,
    ) -> Verdict {
        let Some(condition) = word(members, "if") else { return Ok(()) };
        let holds = self.check_at(condition, value, at.inside()).is_ok();
        match word(members, if holds { "then" } else { "else" }) {
            Some(then) => self.check_at(then, value, at.inside()),
            None => Ok(()),
        }
    }

    /// Checks the requirements that members of an object impose on its other members.
    pub(super) fn check_dependents(
        &self,
        members: &Map<String, Json>,
        found: &Map<String, Json>,
        value: &Json,
        at: Progress<'_>,
    ) -> Verdict {
        let dependent = |word_: &str| word(members, word_).and_then(Json::as_object).into_iter().flatten();
        for (_, names) in dependent("dependentRequired").filter(|(name, _)| found.contains_key(*name)) {
            let names = names.as_array().into_iter().flatten().filter_map(Json::as_str);
            if let Some(missing) = names.into_iter().find(|name| !found.contains_key(*name)) {
                return Err(Wrong::missing(missing));
            }
        }
        for (_, schema) in dependent("dependentSchemas").filter(|(name, _)| found.contains_key(*name)) {
            self.check_at(schema, value, at.inside())?;
        }
        if let Some(names) = word(members, "propertyNames") {
            for name in found.keys() {
                self.check_at(names, &Json::from(name.as_str()), at.inside())
                    .map_err(|error| error.inside(name))?;
            }
        }
        let rest = word(members, "unevaluatedProperties").filter(|rest| **rest != Json::Bool(true));
        if let Some(rest) = rest {
            let mut known = HashSet::new();
            self.evaluate(members, found, value, at, &mut known);
            for (name, part) in found.iter().filter(|(name, _)| !known.contains(name.as_str())) {
                self.check_at(rest, part, at.inside())
                    .map_err(|_| wrong("no such member", part).inside(name))?;
            }
        }
        Ok(())
    }

    /// Adds the members that a schema evaluates, by its own keywords, its reference, and its valid parts.
    fn evaluate<'f>(
        &self,
        members: &Map<String, Json>,
        found: &'f Map<String, Json>,
        value: &Json,
        at: Progress<'_>,
        known: &mut HashSet<&'f str>,
    ) {
        if at.is_spent() {
            return;
        }
        let properties = word(members, "properties").and_then(Json::as_object);
        let patterns = word(members, "patternProperties").and_then(Json::as_object);
        let any = word(members, "additionalProperties").is_some();
        for name in found.keys() {
            let declared = properties.is_some_and(|all| all.contains_key(name))
                || patterns.is_some_and(|all| all.keys().any(|pattern| matches(pattern, name)));
            if declared || any {
                known.insert(name);
            }
        }
        let mut inside = |schema: &Json| {
            if let Some(part) = schema.as_object() {
                self.evaluate(part, found, value, at.inside(), known);
            }
        };
        self.target_of(members).into_iter().chain(list(members, "allOf")).for_each(&mut inside);
        let fits = |schema: &Json| self.check_at(schema, value, at.inside()).is_ok();
        let ways = list(members, "anyOf").iter().chain(list(members, "oneOf"));
        ways.filter(|way| fits(way)).for_each(&mut inside);
        if let Some(condition) = word(members, "if") {
            let holds = fits(condition);
            if holds {
                inside(condition);
            }
            word(members, if holds { "then" } else { "else" }).into_iter().for_each(&mut inside);
        }
    }

    /// Checks that a list has an item that fits `contains`.
    pub(super) fn check_contains(
        &self,
        members: &Map<String, Json>,
        items: &[Json],
        at: Progress<'_>,
    ) -> Verdict {
        let Some(schema) = word(members, "contains") else { return Ok(()) };
        let fitting =
            items.iter().filter(|item| self.check_at(schema, item, at.inside()).is_ok()).count() as f64;
        let least = number(members, "minContains").unwrap_or(1.0);
        if fitting < least || number(members, "maxContains").is_some_and(|most| fitting > most) {
            return Err(wrong("an item that `contains` describes", &Json::from(items.len())));
        }
        Ok(())
    }
}
