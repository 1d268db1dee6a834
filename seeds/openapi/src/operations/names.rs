//! Chooses the names and descriptions of APIs.

use diorama_seeds::english::capitalised;
use indexmap::IndexSet;

use crate::document::Operation;
use crate::words::{camel, sentence, words};

/// Returns a CamelCase name: the operation's id where that is a name, else from method and path.
pub(super) fn name(operation: &Operation, taken: &mut IndexSet<String>) -> (String, bool) {
    let mut path_words: Vec<String> = Vec::new();
    let mut keys: Vec<String> = Vec::new();
    for segment in operation.written_path().split('/') {
        match segment.strip_prefix('{') {
            Some(key) => keys.extend(words(key)),
            None => path_words.extend(words(segment)),
        }
    }
    let verb = match operation.written_method() {
        "POST" => "create",
        "PUT" => "replace",
        "PATCH" => "update",
        "DELETE" => "delete",
        _ => "get",
    };
    let own = operation.id.as_deref().map(words).unwrap_or_default();
    // `GET_movie-movie_id` only repeats method and path.
    let spelt = operation
        .id
        .as_deref()
        .is_some_and(|id| id.starts_with(operation.written_method()) || id.contains(['/', '{']));
    let repeats = spelt
        && own.first().is_some_and(|first| *first == operation.written_method().to_lowercase())
        && own.iter().skip(1).all(|word| path_words.contains(word) || keys.contains(word));
    let base = if own.is_empty() || repeats {
        let mut parts = path_words.clone();
        let first_is_verb =
            parts.first().is_some_and(|first| ["search", "discover", "find"].contains(&first.as_str()));
        if !first_is_verb || operation.written_method() != "GET" {
            parts.insert(0, verb.to_owned());
        }
        if operation.written_method() == "GET" && operation.written_path().ends_with('}') {
            parts.push("details".to_owned());
        }
        camel(&parts)
    } else {
        camel(&own)
    };
    let base = if base.is_empty() || base.starts_with(|first: char| first.is_ascii_digit()) {
        format!("Call{base}")
    } else {
        base
    };
    // Tool-calling models take names of at most 64 characters.
    let short = |name: String| name.chars().take(60).collect::<String>();
    let base = short(base);
    if taken.insert(base.clone()) {
        return (base, false);
    }
    let by_keys = if keys.is_empty() { String::new() } else { format!("{base}By{}", camel(&keys)) };
    let with_path = format!("{}{}", camel(&[verb]), camel(&path_words));
    let mut candidates = vec![short(by_keys), short(with_path.clone())];
    candidates.extend((2..100_000).map(|number| format!("{base}{number}")));
    let found = candidates.into_iter().find(|name| !name.is_empty() && !taken.contains(name)).unwrap_or(base);
    taken.insert(found.clone());
    (found, true)
}

pub(super) fn description(operation: &Operation) -> String {
    let text =
        sentence(if operation.description.is_empty() { &operation.summary } else { &operation.description });
    let text = match &operation.id {
        _ if !text.is_empty() => text,
        Some(id) => capitalised(&words(id).join(" ")),
        None => operation.route(),
    };
    if text.ends_with(['.', '!', '?']) { text } else { format!("{text}.") }
}
