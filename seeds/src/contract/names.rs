//! Owns the meanings of names of members, resources and states.

use crate::english::{singular, split_identifier, stem};

/// Keyword of a schema that names the resource of its objects.
pub const RESOURCE: &str = "x-resource";

/// Prefix of a field that makes a list entry stand for a record of another resource.
pub const AS: &str = "as_";

/// Returns a name without case and punctuation, so that different spellings compare equal. Example:
/// `ConversationSid` and `conversation_sid`.
pub fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Returns the singular of a plain name, judged by its last letters.
pub fn noun(name: &str) -> String {
    singular(&plain(name))
}

/// Returns the name of one item of a list with this name. Example: `tracking_number` for `trackingNumbers`.
pub(super) fn item_of(name: &str) -> String {
    let mut words = split_identifier(name);
    if let Some(last) = words.last_mut() {
        *last = singular(last);
    }
    words.join("_")
}

/// Returns true if the member is the name of the object itself.
pub(super) fn is_name(name: &str) -> bool {
    ["name", "displayname", "fullname"].contains(&&*plain(name))
}

/// Returns the initial one of several states. It skips states whose time another member shows. Example:
/// `accepted_at` excludes `accepted`.
pub fn first_state<'v>(values: impl Iterator<Item = &'v str> + Clone, beside: &[&str]) -> Option<&'v str> {
    let told =
        |name: &&str| matches!(&*split_identifier(name), [verb, at] if at == "at" && stem(verb) != "creat");
    let later: Vec<String> =
        beside.iter().filter(|name| told(name)).map(|name| stem(name.trim_end_matches("_at"))).collect();
    values.clone().find(|value| !later.contains(&stem(value))).or_else(|| values.clone().next())
}

/// Returns true if a member or a value means that an object is gone. Examples: `deleted_at`, `isTrashed`,
/// `purged`.
pub fn is_gone(name: &str) -> bool {
    // This quick check excludes most names.
    name.to_ascii_lowercase().contains("ed")
        && split_identifier(name)
            .iter()
            .any(|word| word.ends_with("ed") && REMOVING.iter().any(|verb| stem(verb) == stem(word)))
}

/// Verbs that remove their object.
const REMOVING: [&str; 8] =
    ["delete", "remove", "trash", "purge", "erase", "destroy", "discard", "terminate"];

/// Returns true if a value is a state that ends by itself. Examples: `pending`, `initializing`.
pub fn is_passing(value: &str) -> bool {
    split_identifier(value).first().is_some_and(|word| word.len() > 5 && word.ends_with("ing"))
}

/// Returns true if a member describes an error.
pub fn tells_error(name: &str) -> bool {
    // This quick check excludes most names.
    name.to_ascii_lowercase().contains("error")
        && split_identifier(name).iter().any(|word| word == "error" || word == "errors")
}

/// Names that hold the key of the object around them.
pub const KEYS: [&str; 4] = ["id", "sid", "uuid", "guid"];
/// Names of keys that do not name their resource.
pub const ANY_KEY: [&str; 12] =
    ["id", "sid", "uuid", "guid", "name", "title", "slug", "code", "key", "token", "number", "index"];
/// Path segments that mean the caller.
pub const ME: [&str; 4] = ["me", "@me", "self", "current"];
/// Endings of names that hold a key.
const KEY_ENDINGS: [&str; 12] =
    ["uuid", "guid", "sid", "id", "key", "slug", "code", "name", "number", "login", "token", "handle"];

/// Returns the noun and the ending of a key's name: `user` and `id` for `user_id`, an empty noun and `id` for
/// `id`.
pub fn key_name(name: &str) -> Option<(String, &'static str)> {
    let letters = plain(name);
    // This quick check excludes most names.
    let Some(found) = KEY_ENDINGS.into_iter().find(|ending| letters.ends_with(ending)) else {
        // `idBoard` is the id of a board.
        let words = if letters.starts_with("id") { split_identifier(name) } else { Vec::new() };
        let rest = words.split_first().filter(|(first, rest)| *first == "id" && !rest.is_empty())?.1;
        return Some((noun(&rest.concat()), "id"));
    };
    // `alias_id` ends with `id`, although the letters `aliasid` end with `sid`.
    let last = split_identifier(name).pop();
    let ending = KEY_ENDINGS.into_iter().find(|ending| last.as_deref() == Some(*ending)).unwrap_or(found);
    let stem = letters.strip_suffix(ending).unwrap_or_default();
    Some((noun(stem), ending))
}
