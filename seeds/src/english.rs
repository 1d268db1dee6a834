//! Owns the rules of English: words and identifiers, plurals, articles, enumerations, stems, and edit
//! distance.
//!
//! It has each language rule that several modules need. It knows no worlds and no documents, and never draws
//! at random. Two frozen components keep their own rules: the words of `ToolSearcher`, and the grader's
//! extractor.

mod near;
mod noun;
mod word;

pub use near::{distance, near};
pub use noun::{article, is_plural, plural, singular};
pub use word::{capitalised, fold, lowered, spaced, split_identifier, stem, words};

/// Returns the items as a list in a sentence: `a`, `a and b`, `a, b and c`.
pub fn enumerate<S: std::borrow::Borrow<str>>(items: &[S]) -> String {
    match items {
        [] => String::new(),
        [one] => one.borrow().to_owned(),
        [most @ .., last] => format!("{} and {}", most.join(", "), last.borrow()),
    }
}

/// Returns true if a text contains another as whole words. An empty text is in none. The comparison is exact:
/// fold the texts, or lower their case, first.
pub fn has_words(text: &str, part: &str) -> bool {
    !part.is_empty()
        && text.match_indices(part).any(|(start, _)| {
            let goes_on = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            let before = text.get(..start).unwrap_or_default().chars().next_back();
            let after = text.get(start + part.len()..).unwrap_or_default().chars().next();
            !goes_on(before) && !goes_on(after)
        })
}

/// Names of weekdays, Monday first.
pub const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Names of months.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Returns the name of a date's weekday: `Monday`.
pub fn weekday(date: crate::value::Date) -> &'static str {
    WEEKDAYS[date.civil().weekday().to_monday_zero_offset() as usize % 7]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_end_with_and() {
        let check = |items: &[&str], expect: &str| assert_eq!(enumerate(items), expect);
        check(&[], "");
        check(&["tea"], "tea");
        check(&["tea", "milk"], "tea and milk");
        check(&["tea", "milk", "two biscuits"], "tea, milk and two biscuits");
    }
}
