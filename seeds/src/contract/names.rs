//! Meanings of the names of members, resources and states.

use crate::english::{singular, split_identifier, stem};

/// The word of a schema that says of which resource its objects are records.
pub const RESOURCE: &str = "x-resource";

/// What the name of a field begins with by which an entry of a list stands for a record of some resource.
pub const AS: &str = "as_";

/// A name without case and punctuation, as members of different spellings are compared: `ConversationSid` is
/// `conversation_sid`.
pub fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// The singular of a plain name, as far as its last letters tell.
pub fn noun(name: &str) -> String {
    singular(&plain(name))
}

/// The name of one of what a list of this name holds: `tracking_number` for `trackingNumbers`.
pub(super) fn item_of(name: &str) -> String {
    let mut words = split_identifier(name);
    if let Some(last) = words.last_mut() {
        *last = singular(last);
    }
    words.join("_")
}

/// True when a member is what the thing itself is called.
pub(super) fn is_name(name: &str) -> bool {
    ["name", "displayname", "fullname"].contains(&&*plain(name))
}

/// Which of a few values something begins with: the first of which the other members do not tell when it came to it, as
/// `accepted_at` does of `accepted`.
pub fn first_state<'v>(values: impl Iterator<Item = &'v str> + Clone, beside: &[&str]) -> Option<&'v str> {
    let told =
        |name: &&str| matches!(&*split_identifier(name), [verb, at] if at == "at" && stem(verb) != "creat");
    let later: Vec<String> =
        beside.iter().filter(|name| told(name)).map(|name| stem(name.trim_end_matches("_at"))).collect();
    values.clone().find(|value| !later.contains(&stem(value))).or_else(|| values.clone().next())
}

/// True when a member or a value tells that something is no longer there: `deleted_at`, `isTrashed`, `purged`.
pub fn is_gone(name: &str) -> bool {
    // Most names need no closer look.
    name.to_ascii_lowercase().contains("ed")
        && split_identifier(name)
            .iter()
            .any(|word| word.ends_with("ed") && REMOVING.iter().any(|verb| stem(verb) == stem(word)))
}

/// Verbs after which what they are done to is no longer there.
const REMOVING: [&str; 8] =
    ["delete", "remove", "trash", "purge", "erase", "destroy", "discard", "terminate"];

/// True when a value is a state that passes by itself: `pending`, `initializing`.
pub fn is_passing(value: &str) -> bool {
    split_identifier(value).first().is_some_and(|word| word.len() > 5 && word.ends_with("ing"))
}

/// True when a member tells what went wrong.
pub fn tells_error(name: &str) -> bool {
    // Most names need no closer look.
    name.to_ascii_lowercase().contains("error")
        && split_identifier(name).iter().any(|word| word == "error" || word == "errors")
}

/// Names that hold a key of whatever object they stand in.
pub const KEYS: [&str; 4] = ["id", "sid", "uuid", "guid"];
/// Names of keys that say nothing of whose they are.
pub const ANY_KEY: [&str; 12] =
    ["id", "sid", "uuid", "guid", "name", "title", "slug", "code", "key", "token", "number", "index"];
/// Segments of paths that mean whoever asks.
pub const ME: [&str; 4] = ["me", "@me", "self", "current"];
/// Endings of names that hold a key.
const KEY_ENDINGS: [&str; 12] =
    ["uuid", "guid", "sid", "id", "key", "slug", "code", "name", "number", "login", "token", "handle"];

/// The noun and the ending of a name that holds a key: `user` and `id` of `user_id`, nothing and `id` of `id`.
pub fn key_name(name: &str) -> Option<(String, &'static str)> {
    let letters = plain(name);
    // Most names need no closer look.
    let Some(found) = KEY_ENDINGS.into_iter().find(|ending| letters.ends_with(ending)) else {
        // `idBoard` is the id of a board.
        let words = if letters.starts_with("id") { split_identifier(name) } else { Vec::new() };
        let rest = words.split_first().filter(|(first, rest)| *first == "id" && !rest.is_empty())?.1;
        return Some((noun(&rest.concat()), "id"));
    };
    // `alias_id` ends with `id`, whatever `aliasid` ends with.
    let last = split_identifier(name).pop();
    let ending = KEY_ENDINGS.into_iter().find(|ending| last.as_deref() == Some(*ending)).unwrap_or(found);
    let stem = letters.strip_suffix(ending).unwrap_or_default();
    Some((noun(stem), ending))
}
