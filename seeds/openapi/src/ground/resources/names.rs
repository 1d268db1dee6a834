//! What records are called: the member that holds their names, and what makes these.

use diorama_seeds::contract::plain;
use diorama_seeds::materialise::{ANY_NAME, provider_of_member, provider_of_noun, tells_person};
use serde_json::{Value as Json, json};

use crate::ground::places::Collection;
use crate::shape::{Kind, Shape};
use crate::words::words;

/// The member of a record that holds what people call it.
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

/// What makes the names of a place's records. A kind that no table knows names them itself: the `Regional retention policy`.
pub(super) fn name_maker(found: &Collection) -> Json {
    match provider_of_noun(&found.noun_words()) {
        // A property of something is no house.
        _ if found.noun == "property" => json!("slug"),
        ANY_NAME => json!({"provider": "template", "text": format!("{{purpose}} {}", found.label)}),
        made => json!(made),
    }
}

/// Returns true if the records of a place are people.
pub(super) fn is_person(found: &Collection, record: &Shape) -> bool {
    let kind = provider_of_noun(&found.noun_words());
    // A room has an email, too, and what somebody made shows the email of its maker.
    let is_own = |name: &str| words(name).len() == 1 || plain(name) == "emailaddress";
    let is_of_person = |name: &str| {
        let has_email = provider_of_member(name) == Some("email");
        tells_person(name) && (!has_email || kind == ANY_NAME && is_own(name))
    };
    kind == "person_name"
        || found.label == "me"
        || record.members().into_iter().flatten().any(|(name, _)| is_of_person(name))
}
