//! The things that a query names: quoted and capitalised spans, typed by the search endpoints of its gold path.

use std::collections::BTreeMap;

use super::choose::number;
use super::query::Query;
use super::template::{Template, Templates};

/// A thing that a query names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The path that searches for things of its kind: `/search/movie`.
    pub search: String,
    /// Its kind: `movie`.
    pub kind: String,
    /// Its name, as the query writes it.
    pub name: String,
}

/// Capitalised words that name no thing.
const NO_NAMES: [&str; 34] = [
    "a", "an", "are", "can", "could", "did", "do", "does", "english", "episode", "find", "give", "how", "i",
    "i'm", "in", "is", "list", "part", "please", "season", "show", "tell", "the", "tmdb", "top", "tv", "was",
    "what", "when", "where", "which", "who", "why",
];
/// Lower-case words inside names, when a capitalised word follows.
const INSIDE: [&str; 9] = ["of", "the", "and", "as", "for", "a", "an", "to", "de"];
/// Words after which a name is what the query is about.
const CUES: [&str; 14] = [
    "movie",
    "film",
    "show",
    "series",
    "television",
    "called",
    "collection",
    "of",
    "in",
    "for",
    "to",
    "company",
    "by",
    "actor",
];

/// The things that a query names, one for each search of its gold path, in the path's order. A path that searches for
/// nothing names what its first id stands for, when nothing before can have shown it.
#[must_use]
pub fn named(query: &Query, templates: &Templates) -> Vec<Named> {
    let mut searches: Vec<(String, String)> = query
        .solution
        .iter()
        .filter_map(|step| templates.find(step))
        .filter_map(|template| Some((template.path.clone(), template.searched()?)))
        .collect();
    if searches.is_empty() {
        searches.extend(first_id(query, templates));
    }
    let mut spans = spans(&query.query);
    // More names than searches: those right after a cue are what is searched for.
    if spans.len() > searches.len() && spans.iter().any(|span| span.cued) {
        spans.sort_by_key(|span| !span.cued);
        spans.truncate(searches.len());
        spans.sort_by_key(|span| span.at);
    }
    let pairs = searches.into_iter().zip(spans);
    pairs.map(|((search, kind), span)| Named { search, kind, name: span.name }).collect()
}

/// Where the thing is looked up whose id the first call of a path takes, and its kind.
fn first_id(query: &Query, templates: &Templates) -> Option<(String, String)> {
    let kinds = templates.kinds();
    let holes = templates.find(query.solution.first()?)?.holes();
    let (_, kind) = holes.into_iter().find(|(_, noun)| kinds.contains(noun))?;
    let place = templates.search(&kind).or_else(|| templates.details(&kind))?;
    Some((place.path.clone(), kind))
}

/// The numbered parts that queries name (season 3, episode 24): the greatest number of each kind.
#[must_use]
pub fn parts(queries: &[Query], templates: &Templates) -> BTreeMap<String, i64> {
    let mut parts = BTreeMap::new();
    for query in queries {
        let holes = query.solution.iter().filter_map(|step| templates.find(step)).flat_map(Template::holes);
        for (_, noun) in holes.filter(|(name, _)| name.ends_with("number")) {
            let number = number(&query.query, &noun);
            let most = parts.entry(noun).or_insert(number);
            *most = number.max(*most);
        }
    }
    parts
}

#[derive(Debug)]
struct Span {
    at: usize,
    name: String,
    cued: bool,
}

fn spans(text: &str) -> Vec<Span> {
    let quoted: Vec<Span> = text
        .split('"')
        .enumerate()
        .filter(|(position, part)| position % 2 == 1 && !part.trim().is_empty())
        .map(|(at, part)| Span { at, name: part.trim().to_owned(), cued: true })
        .collect();
    if !quoted.is_empty() {
        return quoted;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let digits_lead = word.chars().all(|c| c.is_ascii_digit())
            && words.get(at + 1).is_some_and(|next| starts_name(next));
        let leading_the = *word == "The" && words.get(at + 1).is_some_and(|next| starts_name(next));
        if !starts_name(word) && !digits_lead && !leading_the {
            at += 1;
            continue;
        }
        let end = span_end(&words, at);
        let cued = at
            .checked_sub(1)
            .and_then(|before| words.get(before))
            .is_some_and(|before| CUES.contains(&before.to_ascii_lowercase().as_str()));
        let name = words.get(at..end).unwrap_or_default().join(" ");
        found.push(Span { at, name: bare(&name).to_owned(), cued });
        at = end;
    }
    found
}

/// The end of the name that begins at a word.
fn span_end(words: &[&str], start: usize) -> usize {
    let mut end = start + 1;
    loop {
        let before = words.get(end - 1).copied().unwrap_or_default();
        if before.ends_with([',', '.', '?', '!', ';']) || before.ends_with("'s") {
            return end;
        }
        let rest = words.get(end..).unwrap_or_default();
        let inside = rest.iter().take_while(|word| INSIDE.contains(word)).count();
        // "and" joins two names unless another small word follows it: The Fast and the Furious.
        let joins = rest.first() == Some(&"and") && inside < 2;
        match rest.get(inside) {
            Some(word) if !joins && (starts_name(word) || (*word == "The" && inside == 0)) => {
                end += inside + 1
            }
            _ => return end,
        }
    }
}

fn starts_name(word: &str) -> bool {
    let plain = bare(word);
    let first = plain.split('-').next().unwrap_or_default().to_ascii_lowercase();
    plain.chars().next().is_some_and(char::is_uppercase) && !NO_NAMES.contains(&first.as_str())
}

/// The word without punctuation and the genitive.
fn bare(word: &str) -> &str {
    let word = word.trim_end_matches([',', '.', '?', '!', ';', ':']);
    word.strip_suffix("'s").unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_or_capitalised_spans() {
        let check = |text: &str, expect: &[&str]| {
            let found: Vec<String> = spans(text).into_iter().map(|span| span.name).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("Who directed films of Ada Byrne?", &["Ada Byrne"]);
        check("tell me where the company \"blue kite\" sits", &["blue kite"]);
        check("When is Ada Byrne's latest movie out?", &["Ada Byrne"]);
        check("List movies from The Slow and the Curious collection", &["The Slow and the Curious"]);
        check(
            "Are Ada Byrne and Bo Quinn in We Lived as One?",
            &["Ada Byrne", "Bo Quinn", "We Lived as One"],
        );
        check("Kite versus Kite: The Return of Wind, which is better", &["Kite", "Kite: The Return of Wind"]);
        check("I'm watching The End Of It and I need more", &["The End Of It"]);
        check("a poster of 3 Kites", &["3 Kites"]);
        check("Is Kite Hill in the Top-10 rated list of the TMDB?", &["Kite Hill"]);
        check("the director of Kite Hill Season 1 and Moon Street", &["Kite Hill", "Moon Street"]);
        check("What is the top-1 rated TV show?", &[]);
    }
}
