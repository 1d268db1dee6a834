//! Owns the providers by names of fields and resources, from the embedded table.

use std::sync::LazyLock;

use crate::english::{singular, split_identifier};
use crate::table::sections;

/// Provider of names for anything that people work on.
pub const ANY_NAME: &str = "work_title";

/// Returns the provider for names of a resource's records, or [`ANY_NAME`] if the table has none.
pub fn provider_of_name(resource: &str) -> &'static str {
    let words = split_identifier(resource);
    match of_resource(&words) {
        Some(provider) => provider,
        None if is_person(&words) => "person_name",
        None => ANY_NAME,
    }
}

/// Names that denote one provider.
struct Row {
    provider: &'static str,
    /// Each name as its words. The flag is true if longer names that end with them also match. The text joins
    /// several words.
    names: Vec<(Vec<&'static str>, bool, Option<String>)>,
}

struct Names {
    fields: Vec<Row>,
    resources: Vec<Row>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let mut names = Names { fields: Vec::new(), resources: Vec::new() };
    for (section, row) in sections(include_str!("../../../data/fields.txt")) {
        let Some((provider, list)) = row.split_once(": ") else { continue };
        let words = |name: &'static str| {
            let whole = name.strip_prefix('=');
            let words: Vec<&str> = whole.unwrap_or(name).split('_').collect();
            let joined = (words.len() > 1).then(|| words.concat());
            (words, whole.is_none(), joined)
        };
        let row = Row { provider, names: list.split(", ").map(words).collect() };
        if section == "fields" { names.fields.push(row) } else { names.resources.push(row) }
    }
    names
});

/// Returns the provider for a field, by the last words of its name.
pub(in super::super) fn of_field(words: &[String]) -> Option<&'static str> {
    find(&NAMES.fields, words, false)
}

/// Returns the provider for a field with exactly this name.
pub(in super::super) fn of_whole_field(words: &[String]) -> Option<&'static str> {
    find(&NAMES.fields, words, true)
}

/// Returns the provider for names of the records of a resource.
pub(in super::super) fn of_resource(words: &[String]) -> Option<&'static str> {
    find(&NAMES.resources, words, false)
}

/// Returns true if the name denotes a person, such as `tenant`.
pub(in super::super) fn is_person(words: &[String]) -> bool {
    NAMES.fields.iter().any(|row| row.provider == "person_name" && row.fits(words, false))
}

/// Returns true if the words end with one of these names, which have `_` between words. Plural endings also
/// match.
pub(super) fn ends(words: &[String], names: &[&str]) -> bool {
    names.iter().any(|name| ends_like(words, &name.split('_').collect::<Vec<_>>()))
}

impl Row {
    fn fits(&self, words: &[String], whole: bool) -> bool {
        let fits = |(name, longer, joined): &(Vec<&str>, bool, Option<String>)| {
            // `firstname` equals `first_name`.
            let is_joined = joined.is_some() && words.last() == joined.as_ref();
            ((!whole && *longer || name.len() == words.len()) && ends_like(words, name))
                || (is_joined && (!whole && *longer || words.len() == 1))
        };
        self.names.iter().any(fits)
    }
}

fn find(rows: &[Row], words: &[String], whole: bool) -> Option<&'static str> {
    rows.iter().find(|row| row.fits(words, whole)).map(|row| row.provider)
}

fn ends_like(words: &[String], name: &[&str]) -> bool {
    let Some(start) = words.len().checked_sub(name.len()) else { return false };
    // A plural keeps the first letter, and most words differ in it, so this check is fast.
    let same = |word: &str, part: &str| {
        word == part || (word.as_bytes().first() == part.as_bytes().first() && singular(word) == part)
    };
    words.iter().skip(start).zip(name).all(|(word, part)| same(word, part))
}

/// Returns the unknown providers of the table, for the tests.
#[cfg(test)]
pub(super) fn unknown_providers() -> Vec<&'static str> {
    use super::super::provider::Provider;
    let rows = NAMES.fields.iter().chain(&NAMES.resources).map(|row| row.provider);
    rows.filter(|provider| Provider::named(provider).is_none()).collect()
}
