//! Assigns records that callers create without an owner to the caller, who is the first person.

use diorama_seeds::doc::{ApiDoc, ResourceDoc};
use diorama_seeds::materialise::provider_of_name;
use indexmap::IndexMap;

use crate::words::identifier;

/// The prefix of fields for a parent that only a path shows.
pub(super) const BELOW: &str = "in_";

/// Sets the caller as the owner of a new record: `GET /members/me/boards` shows the result of `POST /boards`.
pub(super) fn add(resources: &IndexMap<String, ResourceDoc>, apis: &mut [ApiDoc]) {
    let person = |name: &String| {
        let known = resources.get(name)?;
        let label = identifier(known.label.as_deref()?);
        (provider_of_name(&label) == "person_name").then(|| format!("{name}.first(x, true).{}", known.key))
    };
    for api in apis {
        let made = api.behaviour.create.as_ref().filter(|_| api.behaviour.each.is_none());
        let Some(made) = made.and_then(|name| resources.get(name)) else { continue };
        for (field, doc) in made.fields.iter().filter(|(field, _)| field.starts_with(BELOW)) {
            if let Some(caller) = doc.reference.as_ref().and_then(person) {
                api.behaviour.set.entry(field.clone()).or_insert(caller);
            }
        }
    }
}
