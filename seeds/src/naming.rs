//! Owns names in a world that are made from words: identifiers of resources and fields, names of APIs. They
//! avoid the reserved words of the expression language.

use crate::english::{singular, spaced, split_identifier};

/// Returns the words as one CamelCase name of ASCII letters and digits.
pub fn camel<S: AsRef<str>>(words: &[S]) -> String {
    let mut out = String::new();
    for word in words {
        let mut characters = word.as_ref().chars().filter(char::is_ascii_alphanumeric);
        if let Some(first) = characters.next() {
            out.push(first.to_ascii_uppercase());
            out.extend(characters);
        }
    }
    out
}

/// Returns the identifier of a resource or field: lower-case ASCII words joined by `_`, never a reserved
/// word.
pub fn snake(text: &str) -> String {
    let joined = split_identifier(text)
        .iter()
        .map(|word| word.chars().filter(char::is_ascii_alphanumeric).collect::<String>())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("_");
    guard(if joined.is_empty() { "value".to_owned() } else { joined })
}

/// Returns the name of a schema's member in the world. An identifier stays as it is.
pub fn identifier(name: &str) -> String {
    if is_identifier(name) { guard(name.to_owned()) } else { snake(name) }
}

/// Returns true if the expression language can parse the name after a dot.
pub fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns the name of a resource, field or domain for people: its words, or the name itself if it has none.
pub fn label(name: &str) -> String {
    let words = spaced(name);
    if words.is_empty() { name.to_owned() } else { words }
}

/// Returns a noun as a member's name in JSON. Example: `meeting rooms` gives `meeting_rooms`.
pub fn member(noun: &str) -> String {
    let mut name = String::with_capacity(noun.len());
    for character in noun.chars() {
        if character.is_alphanumeric() {
            name.extend(character.to_lowercase());
        } else if !name.ends_with('_') && !name.is_empty() {
            name.push('_');
        }
    }
    name.truncate(name.trim_end_matches('_').len());
    name
}

/// Returns the resource for a noun. Example: `Production-Companies` gives `production_company`.
pub fn resource_name(noun: &str) -> String {
    let mut parts = split_identifier(noun);
    if let Some(last) = parts.last_mut() {
        *last = singular(last);
    }
    snake(&parts.join("_"))
}

/// Returns the reserved word that a name stands for. Example: `in_value` gives `in`.
pub fn reserved(name: &str) -> Option<&str> {
    name.strip_suffix("_value").filter(|word| is_reserved(word))
}

/// Reserved words of the expression language.
const RESERVED: &str = "\
    in as break const continue else for function if import let loop package namespace return var \
    void while true false null args record item me now today";

fn is_reserved(word: &str) -> bool {
    RESERVED.split(' ').any(|reserved| reserved == word)
}

fn guard(name: String) -> String {
    if is_reserved(&name) {
        format!("{name}_value")
    } else if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("n{name}")
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_put_together() {
        assert_eq!(camel(&split_identifier("get movie details")), "GetMovieDetails");
        assert_eq!(snake("X-Rate Limit"), "x_rate_limit");
        assert_eq!(identifier("24h"), "n24h");
        assert_eq!(identifier("in"), "in_value");
        assert_eq!(reserved("in_value"), Some("in"));
        assert_eq!(reserved("given_value"), None);
        assert_eq!(resource_name("Production-Companies"), "production_company");
        assert_eq!(member("Meeting rooms!"), "meeting_rooms");
        assert_eq!((label("startsAt"), label("_")), ("starts at".to_owned(), "_".to_owned()));
    }
}
