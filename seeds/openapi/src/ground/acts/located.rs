//! Resolves the keys in the path of an operation to records, and requires that these exist.

use diorama_seeds::doc::{FieldDoc, RefusalDoc, RequireDoc, TypeName};
use serde_json::Value as Json;

use super::Act;
use super::scope::all_above;
use crate::constants::quote;
use crate::document::path_parameters;
use crate::ground::places::{Collection, ParentKey, Part, PathValue, form, keys, parts};
use crate::ground::resources::OF;
use crate::operations::argument;
use crate::phrases;
use crate::words::label;

/// The greatest number of parent levels that one key's expression looks up.
const MAX_LOOKUP_DEPTH: usize = 8;
/// The greatest number of look-ups in one expression. Each key of a record may have several of its own.
const MAX_LOOKUPS: usize = 24;

impl<'a> Act<'a> {
    /// Gives path parameters the resources that they are keys of.
    pub(super) fn refer(&mut self) {
        let names: Vec<String> = keys(&self.parts).into_iter().map(str::to_owned).collect();
        let mut above = self.places.above(&self.parts, usize::MAX);
        if let Some(Part::Key(_)) = self.parts.last()
            && let Some(own) = self.own()
            && above.iter().all(|known| known.at + 1 != names.len())
        {
            let at = names.len() - 1;
            above.push(ParentKey { at, of: Some(own), exact: true, ..ParentKey::default() });
        }
        for known in all_above(self.places, &above) {
            let Some(doc) = names.get(known.at).and_then(|name| self.api.parameters.get_mut(name)) else {
                continue;
            };
            let Some((_, other)) = known.of.and_then(|of| self.places.all.get_index(of)) else { continue };
            let named = match other.uses.and_then(|uses| self.places.all.get_index(uses)) {
                Some((_, used)) => used,
                None => other,
            };
            if !self.resources.contains_key(&named.name) {
                continue;
            }
            if known.by.is_some() || other.number.is_some() {
                doc.label = Some(named.label.clone());
                continue;
            }
            *doc = FieldDoc {
                reference: Some(named.name.clone()),
                place: doc.place,
                description: doc.description.clone(),
                label: Some(named.label.clone()),
                ..FieldDoc::default()
            };
        }
    }

    /// Returns the last key of the path that callers choose; a key with one value is skipped.
    pub(super) fn named_key(&self) -> Option<&str> {
        keys(&self.parts).last().copied().filter(|name| !self.places.is_constant(name))
    }

    /// Returns the phrase for the owner of a list's items: `of the board {}`.
    pub(super) fn say_whose(&self) -> Option<(String, String, bool)> {
        let name = self.named_key()?;
        Some((name.to_owned(), format!("of the {} {{}}", self.key_label(name)), true))
    }

    /// Returns the noun of the record that a key in the path names.
    pub(super) fn key_label(&self, name: &str) -> String {
        let at = keys(&self.parts).iter().position(|known| *known == name);
        let above = self.places.above(&self.parts, usize::MAX);
        let of = above.iter().find(|known| Some(known.at) == at).and_then(|known| known.of);
        match of.map(|of| self.collection(of)) {
            Some(found) => found.uses.map_or(&found.label, |uses| &self.collection(uses).label).clone(),
            None => phrases::without_id(&label(name)).to_owned(),
        }
    }

    /// Requires that a key right after another matches the record that the first key names.
    pub(super) fn agree(&mut self) {
        let all = parts(self.operation);
        for (at, pair) in all.windows(2).enumerate() {
            let [Part::Key(first), Part::Key(second)] = pair else { continue };
            let known = keys(&self.parts);
            let place = known.iter().position(|name| name == first);
            let (Some(place), false) = (place, known.contains(&second.as_str())) else { continue };
            let before = all.get(..at).unwrap_or_default();
            let own = self.places.all.get_index_of(&form(before)).filter(|own| self.is_stored(*own));
            let Some(own) = own else { continue };
            let found = self.collection(own);
            let Some(field) = found.named_by(second) else { continue };
            let text = |doc: &FieldDoc| doc.kind == Some(TypeName::String);
            if !self.resources.get(&found.name).and_then(|known| known.fields.get(&field)).is_some_and(text) {
                continue;
            }
            let above = ParentKey { at: place, of: Some(own), exact: true, ..ParentKey::default() };
            let key = self.locate(own, &above);
            self.used.insert(second.clone());
            let given = argument(second);
            self.api.behaviour.require.push(RequireDoc {
                that: format!("coalesce({}.get({key}).{field}, {given}) == {given}", found.name),
                otherwise: RefusalDoc {
                    status: 404,
                    reason: Vec::new(),
                    message: format!("no {} has this {}", found.label, label(&field)),
                },
            });
        }
    }

    /// Shows the first record of a collection, where a path without a key answers with one record.
    pub(super) fn show_first(&mut self, found: &Collection) {
        let key = self.locate_first(found);
        (self.api.behaviour.get, self.api.behaviour.key) = (Some(found.name.clone()), Some(key));
    }

    /// Returns the expression for the key of the first record below the records in the path, and requires
    /// these.
    pub(super) fn locate_first(&mut self, found: &Collection) -> String {
        self.require(&found.above);
        let conditions = self.conditions("a", &found.above, 1);
        found.first("a", &all_hold(&conditions))
    }

    /// Returns the collection of the record that the path ends with.
    pub(super) fn own(&self) -> Option<usize> {
        let before = self.parts.get(..self.parts.len().checked_sub(1)?)?;
        if before.is_empty() {
            return self.places.mine(&self.parts).filter(|of| self.is_stored(*of));
        }
        let own = self.places.all.get_index_of(&form(before)).or_else(|| self.places.same_elsewhere(before));
        let own =
            own.or_else(|| self.places.exact(&form(before)).filter(|own| !self.collection(*own).single));
        own.filter(|own| self.is_stored(*own))
    }

    pub(super) fn is_stored(&self, index: usize) -> bool {
        self.places
            .all
            .get_index(index)
            .is_some_and(|(_, found)| found.keeps_records() && self.resources.contains_key(&found.name))
    }

    pub(super) fn collection(&self, index: usize) -> &'a Collection {
        &self.places.all[index]
    }

    pub(super) fn argument(&mut self, at: usize) -> String {
        let name = keys(&self.parts).get(at).copied().unwrap_or_default().to_owned();
        self.used.insert(name.clone());
        argument(&name)
    }

    /// Returns the expression for the key of the record that a key in the path names.
    /// It looks up at most [`MAX_LOOKUP_DEPTH`] levels of parents and [`MAX_LOOKUPS`] records.
    pub(super) fn locate(&mut self, index: usize, known: &ParentKey) -> String {
        let mut left = MAX_LOOKUPS;
        self.locate_within(index, known, 0, &mut left)
    }

    fn locate_within(&mut self, index: usize, known: &ParentKey, depth: usize, left: &mut usize) -> String {
        let found = self.collection(index);
        let given = self.argument(known.at);
        let field = match &known.by {
            Some(field) if self.has_field(&found.name, field) => field,
            _ if found.uses.is_some() => OF,
            _ => found.number.as_ref().unwrap_or(&found.key),
        };
        if *field == found.key && (found.above.is_empty() || !known.exact) {
            return given;
        }
        let variable = ["a", "b", "c", "d", "e", "f", "g", "h"].get(depth).copied().unwrap_or("z");
        let mut conditions = Vec::new();
        if known.exact && depth < MAX_LOOKUP_DEPTH {
            for above in &found.above {
                let Some(rest) = left.checked_sub(1) else { break };
                *left = rest;
                let key = self.key_within(above, depth + 1, left);
                conditions.push(format!("{variable}.{} == {key}", above.field));
            }
        }
        // The first condition uses an index: a number matches many records, and a key matches one.
        let named = format!("{variable}.{field} == {given}");
        let place = if found.number.as_deref() == Some(field) { conditions.len() } else { 0 };
        conditions.insert(place, named);
        found.first(variable, &conditions.join(" && "))
    }

    fn has_field(&self, resource: &str, field: &str) -> bool {
        self.resources.get(resource).is_some_and(|known| known.fields.contains_key(field))
    }

    pub(super) fn key_above(&mut self, above: &ParentKey) -> String {
        let mut left = MAX_LOOKUPS;
        self.key_within(above, 0, &mut left)
    }

    fn key_within(&mut self, above: &ParentKey, depth: usize, left: &mut usize) -> String {
        match above.of {
            Some(of) if above.mine => self.collection(of).first("x", "true"),
            Some(of) => self.locate_within(of, above, depth, left),
            None => self.argument(above.at),
        }
    }

    /// Requires that the parent records exist.
    pub(super) fn require(&mut self, above: &[ParentKey]) {
        for known in above.iter().filter(|known| !known.mine) {
            let Some(of) = known.of.filter(|of| self.is_stored(*of)) else {
                self.argument(known.at);
                continue;
            };
            let key = self.locate(of, known);
            self.require_one(of, &key);
        }
    }

    /// Requires that every record in the path exists, even where it selects nothing.
    pub(super) fn require_named(&mut self) {
        let above = self.places.above(&self.parts, usize::MAX);
        self.require(&above);
    }

    /// Requires the given value of a key, where callers are given one.
    pub(super) fn require_given(&mut self) {
        for name in path_parameters(&self.operation.path) {
            let Some(PathValue::Value(value)) = self.places.given.get(&name) else { continue };
            let value = match value {
                Json::String(text) => quote(text),
                other => other.to_string(),
            };
            self.used.insert(name.clone());
            self.api.behaviour.require.insert(
                0,
                RequireDoc {
                    that: format!("{} == {value}", argument(&name)),
                    otherwise: RefusalDoc {
                        status: 404,
                        reason: Vec::new(),
                        message: format!("there is no such {}", phrases::without_id(&label(&name))),
                    },
                },
            );
        }
    }

    /// Requires that a record has the values in the path.
    pub(super) fn require_values(&mut self, index: usize, above: &[ParentKey]) {
        let found = self.collection(index);
        let is_given = |known: &ParentKey| {
            let name = keys(&self.parts).get(known.at).copied().unwrap_or_default();
            self.places.is_constant(name)
        };
        let above: Vec<&ParentKey> =
            above.iter().filter(|known| known.of.is_none() && !is_given(known)).collect();
        for known in above {
            let given = self.argument(known.at);
            let holder = found.first("a", &format!("a.{} == {given}", known.field));
            self.require_one(index, &holder);
        }
    }

    /// Requires that a record exists; else the reply is 404.
    pub(super) fn require_one(&mut self, of: usize, key: &str) {
        let other = self.collection(of);
        let required = RequireDoc {
            that: format!("{}.exists({key})", other.name),
            otherwise: RefusalDoc {
                status: 404,
                reason: Vec::new(),
                message: format!("there is no such {}", other.label),
            },
        };
        if !self.api.behaviour.require.contains(&required) {
            self.api.behaviour.require.push(required);
        }
    }

    /// Returns the conditions that a variable's record belongs to the parents in the path.
    pub(super) fn conditions(&mut self, variable: &str, above: &[ParentKey], depth: usize) -> Vec<String> {
        let mut left = MAX_LOOKUPS;
        let condition = |known: &ParentKey| {
            let key = self.key_within(known, depth, &mut left);
            let field = &known.field;
            if known.among {
                format!("({variable}.{field} != null && {key} in {variable}.{field})")
            } else {
                format!("{variable}.{field} == {key}")
            }
        };
        above.iter().map(condition).collect()
    }
}

/// Joins conditions by "and".
pub(super) fn all_hold(conditions: &[String]) -> String {
    if conditions.is_empty() { "true".to_owned() } else { conditions.join(" && ") }
}

impl Collection {
    /// Returns the expression for the key of the first record that meets a condition.
    pub(super) fn first(&self, variable: &str, condition: &str) -> String {
        format!("{}.first({variable}, {condition}).{}", self.name, self.key)
    }
}
