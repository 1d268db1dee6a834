//! Records that callers make without saying whose they are: they are the caller's, who is the first of the people.

use diorama_seeds::doc::{ApiDoc, ResourceDoc};
use diorama_seeds::materialise::provider_of_name;
use indexmap::IndexMap;

use crate::words::identifier;

/// What a field's name begins with that says below which record another stands, where only a path tells it.
pub(super) const BELOW: &str = "in_";

/// Gives what is made the caller for the person below whom it is listed: `GET /members/me/boards` shows what `POST /boards` made.
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
