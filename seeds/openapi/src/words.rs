//! Reads words of documents: labels, units, first sentences.

pub(super) use diorama_seeds::english::{
    article, enumerate, is_plural, plural, singular, split_identifier as words,
};
pub(super) use diorama_seeds::naming::{camel, identifier, is_identifier, snake};

use diorama_seeds::naming::reserved;

use super::nouns::without_constraints;

/// Returns true if a name says that it holds a key without a meaning of its own: `id`, `user_id`, `uuid`.
pub(super) fn is_id(name: &str) -> bool {
    let words = words(name);
    let is_prefixed = words.len() > 1 && words.first().is_some_and(|first| first == "id");
    is_prefixed || words.last().is_some_and(|last| ["id", "uuid", "guid"].contains(&last.as_str()))
}

/// Returns true if a segment is a version: `v2`, `v1beta1`, `2020-01-31`.
pub(super) fn is_version(segment: &str) -> bool {
    let number = segment.strip_prefix(['v', 'V']).unwrap_or(segment);
    let plain = number.replace("alpha", "").replace("beta", "");
    number.starts_with(|first: char| first.is_ascii_digit())
        && plain.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | '-' | '_' | 'p'))
}

/// Returns a label: words with spaces, some abbreviations spelt out.
pub(super) fn label(name: &str) -> String {
    match name {
        "iso_639_1" => return "language code".to_owned(),
        "iso_3166_1" => return "country code".to_owned(),
        "tv" => return "TV show".to_owned(),
        _ => {}
    }
    // A reserved word has a suffix in the world and none in phrases.
    if let Some(word) = reserved(name) {
        return word.to_owned();
    }
    let spelt: Vec<String> = words(name)
        .into_iter()
        .map(|word| match word.as_str() {
            "id" | "sid" | "ai" | "api" | "ip" | "sms" | "ssh" => word.to_uppercase(),
            "url" | "uri" => "URL".to_owned(),
            "tv" => "TV".to_owned(),
            "imdb" => "IMDb".to_owned(),
            "qty" => "quantity".to_owned(),
            _ => word,
        })
        .collect();
    if spelt.is_empty() { "value".to_owned() } else { spelt.join(" ") }
}

/// Units, as names and descriptions write them, with their symbols.
const UNITS: [(&str, &str); 38] = [
    ("kg", "kg"),
    ("kilograms", "kg"),
    ("grams", "g"),
    ("lb", "lb"),
    ("lbs", "lb"),
    ("pounds", "lb"),
    ("km", "km"),
    ("kilometers", "km"),
    ("kilometres", "km"),
    ("miles", "miles"),
    ("meters", "m"),
    ("metres", "m"),
    ("cm", "cm"),
    ("mm", "mm"),
    ("ms", "ms"),
    ("millis", "ms"),
    ("milliseconds", "ms"),
    ("seconds", "seconds"),
    ("secs", "seconds"),
    ("minutes", "minutes"),
    ("mins", "minutes"),
    ("hours", "hours"),
    ("days", "days"),
    ("weeks", "weeks"),
    ("months", "months"),
    ("percent", "%"),
    ("pct", "%"),
    ("ml", "ml"),
    ("liters", "l"),
    ("litres", "l"),
    ("eur", "EUR"),
    ("usd", "USD"),
    ("gbp", "GBP"),
    ("celsius", "°C"),
    ("kb", "KB"),
    ("mb", "MB"),
    ("gb", "GB"),
    ("bytes", "bytes"),
];

/// Returns the unit that a description gives: `The duration of the video, in seconds`.
pub(super) fn described_unit(description: &str) -> Option<&'static str> {
    let (_, after) = description.split_once(" in ").or_else(|| description.split_once("(in "))?;
    let word = after.split(|c: char| !c.is_alphanumeric()).next()?.to_lowercase();
    UNITS.iter().find(|(known, _)| *known == word && known.len() > 3).map(|(_, unit)| *unit)
}

/// Splits a number's name into quantity and unit: `weight_kg` is a weight in kg.
pub(super) fn measured(name: &str) -> Option<(String, &'static str)> {
    let parts = words(name);
    let (last, stem) = parts.split_last()?;
    let (_, unit) = UNITS.iter().find(|(word, _)| word == last)?;
    let stem = stem.strip_suffix(&["in".to_owned()]).unwrap_or(stem);
    let counts = |word: &String| {
        ["of", "num", "number", "count", "per", "max", "min", "total"].contains(&word.as_str())
    };
    let what = stem.last().filter(|word| !counts(word)).map(|_| label(&stem.join("_")));
    what.map(|what| (what, *unit))
}

/// Returns the first informative sentence of a description, without Markdown, on one line and bounded.
pub(super) fn sentence(text: &str) -> String {
    let paragraph = without_constraints(text).trim().split("\n\n").next().unwrap_or_default();
    let flat = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let flat = strip_links(&flat).replace(['`', '*', '#'], "");
    let end = flat
        .match_indices(". ")
        .map(|(at, _)| at + 1)
        .find(|end| flat.get(..*end).is_some_and(|head| !head.ends_with("e.g.") && !head.ends_with("i.e.")))
        .unwrap_or(flat.len());
    let first = flat.get(..end).unwrap_or(&flat).trim();
    let bounded: String = first.chars().take(300).collect();
    bounded
}

/// Replaces `[text](target)` by `text`.
fn strip_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let Some(middle) = rest.get(open..).and_then(|tail| tail.find("](")).map(|at| open + at) else {
            break;
        };
        let Some(close) = rest.get(middle..).and_then(|tail| tail.find(')')).map(|at| middle + at) else {
            break;
        };
        out.push_str(rest.get(..open).unwrap_or_default());
        out.push_str(rest.get(open + 1..middle).unwrap_or_default());
        rest = rest.get(close + 1..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_become_a_sentence() {
        assert_eq!(sentence("Get [this](#a) now. And `more`.\n\nRest"), "Get this now.");
    }
}
