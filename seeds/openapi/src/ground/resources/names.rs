//! Chooses the display name of records: the member that holds it, and its provider.

use diorama_seeds::contract::plain;
use diorama_seeds::materialise::{ANY_NAME, provider_of_member, provider_of_noun, tells_person};
use serde_json::{Value as Json, json};

use crate::ground::places::Collection;
use crate::shape::{Kind, Shape};
use crate::words::words;

/// Returns the member of a record that holds its display name.
pub(super) fn display_member(shape: &Shape) -> Option<&'static str> {
    [
        "name",
        "title",
        "full_name",
        "fullName",
        "display_name",
        "displayName",
        "username",
        "label",
        "subject",
        "headline",
    ]
    .into_iter()
    .find(|name| shape.member(name).is_some_and(|member| matches!(member.kind, Kind::String)))
}

/// Returns the provider of a collection's names. A kind that no table knows uses its label: the `Regional
/// retention policy`.
pub(super) fn name_maker(found: &Collection) -> Json {
    match provider_of_noun(&found.noun_words()) {
        // A property of an object is no real estate.
        _ if found.noun == "property" => json!("slug"),
        ANY_NAME => json!({"provider": "template", "text": format!("{{purpose}} {}", found.label)}),
        made => json!(made),
    }
}

/// Returns true if the records of a collection are people.
pub(super) fn is_person(found: &Collection, record: &Shape) -> bool {
    let kind = provider_of_noun(&found.noun_words());
    // Rooms have emails, and records show the emails of their authors.
    let is_own = |name: &str| words(name).len() == 1 || plain(name) == "emailaddress";
    let is_of_person = |name: &str| {
        let has_email = provider_of_member(name) == Some("email");
        tells_person(name) && (!has_email || kind == ANY_NAME && is_own(name))
    };
    kind == "person_name"
        || found.label == "me"
        || record.members().into_iter().flatten().any(|(name, _)| is_of_person(name))
}
