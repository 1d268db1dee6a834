//! Filters by words for a boolean field: `filter=closed` shows closed records, and `exclude_archived=true`
//! leaves archived ones out.

use diorama_seeds::contract::{noun, plain};
use diorama_seeds::doc::{FieldDoc, ResourceDoc, TypeName};
use serde_json::Value as Json;

use super::Act;
use crate::constants::quote;
use crate::fakes::is_every;
use crate::nouns;
use crate::operations::argument;
use crate::words::words;

impl Act<'_> {
    /// Handles a choice of words, one of which names a boolean field. `all` shows all, `none` no record, and
    /// one other word the rest.
    /// Returns the condition.
    pub(super) fn flagged(&self, resource: &ResourceDoc, name: &str, doc: &FieldDoc) -> Option<String> {
        // `lists=open` of a board says which of its lists are shown in it.
        let meant = noun(name);
        if self.places.all.values().any(|found| found.noun == meant) {
            return None;
        }
        let values = self.values_named(name, doc);
        let mut named = values.iter().filter_map(|value| Some((value, flag_named(resource, value)?)));
        let (value, holds) = named.next().filter(|_| named.next().is_none())?;
        let is_none = |value: &str| nouns::is("nothing", &value.to_lowercase());
        let (every, rest): (Vec<&String>, Vec<&String>) = values
            .iter()
            .filter(|other| *other != value && !is_none(other))
            .partition(|other| is_every(other));
        let opposite = match rest.as_slice() {
            [] => None,
            [only] => Some(*only),
            _ => return None,
        };
        let given = argument(name);
        let asks = |value: &String| format!("{given} == {}", quote(value));
        let mut ways: Vec<String> = every.into_iter().map(asks).collect();
        ways.push(format!("({} && {holds})", asks(value)));
        ways.extend(opposite.map(|opposite| format!("({} && !({holds}))", asks(opposite))));
        Some(format!("({})", ways.join(" || ")))
    }

    /// Handles a boolean that leaves out records by another boolean. Returns the condition.
    pub(super) fn left_out(&self, resource: &ResourceDoc, name: &str, doc: &FieldDoc) -> Option<String> {
        let said = words(name);
        let (verb, rest) = said.split_first().filter(|_| doc.kind == Some(TypeName::Boolean))?;
        let holds = flag_named(resource, &rest.join("_")).filter(|_| nouns::is("leaves_out", verb))?;
        Some(format!("({} != true || !({holds}))", argument(name)))
    }

    /// Returns the values that a document names for a parameter.
    pub(super) fn values_named(&self, name: &str, doc: &FieldDoc) -> Vec<String> {
        if !doc.values.is_empty() {
            return doc.values.clone();
        }
        let known = self.operation.parameters.iter().find(|known| known.name == name);
        let choices = known.into_iter().flat_map(|known| &known.shape.choices);
        choices.filter_map(Json::as_str).map(str::to_owned).collect()
    }
}

/// Returns the condition that a boolean field of that name is true of an item: `archived` of `is_archived`.
fn flag_named(resource: &ResourceDoc, value: &str) -> Option<String> {
    let is_named = |field: &String| {
        let said = words(field);
        let bare = said.strip_prefix(&["is".to_owned()]).unwrap_or(&said);
        plain(&bare.concat()) == plain(value)
    };
    let (field, known) = resource.fields.iter().find(|(field, _)| is_named(field))?;
    let yes = match known.kind {
        Some(TypeName::Boolean) => "true",
        Some(TypeName::String) if known.fake.as_ref().is_some_and(picks_yes_or_no) => "'true'",
        _ => return None,
    };
    Some(format!("item.{field} != null && item.{field} == {yes}"))
}

/// Returns true for generated strings that are `true` or `false`.
fn picks_yes_or_no(fake: &Json) -> bool {
    match fake.get("of") {
        Some(Json::Array(values)) => {
            !values.is_empty() && values.iter().all(|value| value == "true" || value == "false")
        }
        Some(inner) => picks_yes_or_no(inner),
        None => false,
    }
}
