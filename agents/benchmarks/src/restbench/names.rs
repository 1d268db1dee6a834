//! NamedRecord records in queries: quoted and capitalised spans, typed by the searches of the gold path.

use std::collections::{BTreeMap, BTreeSet};

use diorama_seeds::english::{singular, stem, words};

use super::operation::{Operation, Operations, Takes};
use super::query::Query;
use crate::entities::roles::RoleMember;

/// A record that a query names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedRecord {
    /// Path of its lookup. Example: `/search/movie`.
    pub(super) path: String,
    /// Its resource.
    pub(super) resource: String,
    /// Its name, as the query writes it.
    pub(super) name: String,
}

/// Capitalised words at the start of sentences, which name no record. Words of the document do not either.
const NO_NAMES: [&str; 26] = [
    "a", "an", "are", "can", "could", "did", "do", "does", "find", "give", "how", "i", "i'm", "in", "is",
    "list", "please", "show", "tell", "the", "was", "what", "when", "where", "which", "who",
];
/// Lower-case words that may be inside of a name, if a capitalised word follows.
const INSIDE: [&str; 9] = ["of", "the", "and", "as", "for", "a", "an", "to", "de"];
/// Words before the name that the query is about. Words of the document count, too.
const CUES: [&str; 8] = ["of", "in", "for", "to", "by", "called", "named", "from"];

/// Returns the records that a query names, one for each search of its gold path, in order. If the path has no
/// search, it may name the record whose key the first call takes.
pub(super) fn named(query: &Query, operations: &Operations) -> Vec<NamedRecord> {
    let steps = query.solution.iter().filter_map(|step| operations.find(step));
    let searches = steps.filter_map(|step| Some((step.path.clone(), step.searched()?.to_owned())));
    let mut searches: Vec<(String, String)> = searches.collect();
    if searches.is_empty() {
        searches.extend(first_key(query, operations));
    }
    let mut spans = spans(&query.query, operations);
    // If there are more names than searches, those after a cue are the searched ones.
    if spans.len() > searches.len() && spans.iter().any(|span| span.is_cued) {
        spans.sort_by_key(|span| !span.is_cued);
        spans.truncate(searches.len());
        spans.sort_by_key(|span| span.at);
    }
    let pairs = searches.into_iter().zip(spans);
    pairs.map(|((path, resource), span)| NamedRecord { path, resource, name: span.name }).collect()
}

/// Returns the lookup path and the resource of the record whose key the first call takes.
fn first_key(query: &Query, operations: &Operations) -> Option<(String, String)> {
    let (_, resource) = operations.find(query.solution.first()?)?.keys().next()?;
    let details = || operations.details(resource).map(|(details, _)| details);
    let place = operations.search(resource).or_else(details)?;
    Some((place.path.clone(), resource.to_owned()))
}

/// Returns the largest part numbers in queries, such as season 3 or episode 24, by part.
pub(super) fn parts(queries: &[Query], operations: &Operations) -> BTreeMap<String, i64> {
    let mut parts = BTreeMap::new();
    for query in queries {
        let steps = query.solution.iter().filter_map(|step| operations.find(step));
        let numbered = steps.flat_map(|step| &step.parameters).filter(|given| given.takes == Takes::Number);
        for part in numbered.filter(|given| !given.noun.is_empty()) {
            let number = number(&query.query, &part.noun);
            let most = parts.entry(part.noun.clone()).or_insert(number);
            *most = number.max(*most);
        }
    }
    parts
}

/// Returns the roles in queries, in lower case, each with its type (`movie.job`). A role belongs to one end
/// of a link: the one below which more than half of its queries look last.
pub(super) fn roles(queries: &[Query], operations: &Operations) -> Vec<(String, String)> {
    let said = |query: &Query| -> BTreeSet<String> {
        let words = query.query.split(|c: char| !c.is_alphanumeric());
        words.filter(|word| word.starts_with(char::is_lowercase)).map(singular).collect()
    };
    let said: Vec<(&Query, BTreeSet<String>)> = queries.iter().map(|query| (query, said(query))).collect();
    let mut found = Vec::new();
    for RoleMember { ends, member, .. } in operations.role_members() {
        // A role in one list may occur in another one with the same member.
        let alike = operations.role_members().iter().filter(|other| other.member == *member);
        for kind in alike.flat_map(|other| &other.kinds).collect::<BTreeSet<_>>() {
            let kind_words: Vec<String> = words(kind).map(|word| singular(&word)).collect();
            let is_said =
                |(_, said): &&(&Query, BTreeSet<String>)| kind_words.iter().all(|word| said.contains(word));
            // Below one end of a link, records of another end show the member.
            let is_below = |step: &Operation, end: &String| {
                let mut others = ends.iter().filter(|other| *other != end);
                step.subjects.contains(end) && others.any(|other| step.shows(other, member))
            };
            let end_below = |(query, _): &(&Query, BTreeSet<String>)| {
                let mut steps = query.solution.iter().rev().filter_map(|step| operations.find(step));
                steps.find_map(|step| ends.iter().find(|end| is_below(step, end)))
            };
            let below: Vec<&String> = said.iter().filter(is_said).filter_map(end_below).collect();
            let count = |end: &&String| below.iter().filter(|other| *other == end).count();
            let most = ends.iter().find(|end| 2 * count(end) > below.len());
            found.extend(most.map(|end| (format!("{end}.{member}"), kind.clone())));
        }
    }
    found
}

/// Returns the number of a part: `season 3`, `the second season`. Returns 1 if the query has none.
pub(super) fn number(query: &str, part: &str) -> i64 {
    const ORDINALS: [&str; 10] =
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
    let words: Vec<String> = words(query).collect();
    // Misspelt nouns are recognised by their first letters.
    let start: String = part.chars().take(5).collect();
    let numbers =
        words.iter().enumerate().filter(|(_, word)| word.starts_with(&start)).filter_map(|(at, _)| {
            let after = words.get(at + 1).and_then(|next| next.parse::<i64>().ok());
            let before = at.checked_sub(1).and_then(|before| words.get(before));
            let ordinal = before.and_then(|before| ORDINALS.iter().position(|ordinal| ordinal == before));
            after.or_else(|| ordinal.map(|position| position as i64 + 1))
        });
    numbers.into_iter().next().unwrap_or(1)
}

/// Returns the listed value whose words occur in the query, or the first value.
pub(super) fn listed<'a>(query: &[String], values: &'a [String]) -> Option<&'a String> {
    let is_said = |value: &&String| words(value).all(|word| query.contains(&stem(&word)));
    values.iter().find(is_said).or_else(|| values.first())
}

#[derive(Debug)]
struct Span {
    at: usize,
    name: String,
    is_cued: bool,
}

fn spans(text: &str, operations: &Operations) -> Vec<Span> {
    let quoted = text.split('"').enumerate().filter(|(at, part)| at % 2 == 1 && !part.trim().is_empty());
    let quoted: Vec<Span> =
        quoted.map(|(at, part)| Span { at, name: part.trim().to_owned(), is_cued: true }).collect();
    if !quoted.is_empty() {
        return quoted;
    }
    let reader = Reader { words: text.split_whitespace().collect(), operations };
    let mut found = Vec::new();
    let mut at = 0;
    while at < reader.words.len() {
        if !reader.begins(at) {
            at += 1;
            continue;
        }
        let end = reader.end(at);
        let before = at.checked_sub(1).and_then(|before| reader.words.get(before));
        let is_cue = |word: &&str| {
            let word = word.to_ascii_lowercase();
            CUES.contains(&&*word) || operations.has_word(&word)
        };
        let name = reader.words.get(at..end).unwrap_or_default().join(" ");
        found.push(Span { at, name: bare(&name).to_owned(), is_cued: before.is_some_and(is_cue) });
        at = end;
    }
    found
}

struct Reader<'a> {
    words: Vec<&'a str>,
    operations: &'a Operations,
}

impl Reader<'_> {
    /// Returns true if a name begins here: with a name word, or with a number or `The` before one.
    fn begins(&self, at: usize) -> bool {
        let word = self.words.get(at).copied().unwrap_or_default();
        let leads = word == "The" || word.chars().all(|c| c.is_ascii_digit());
        self.is_name(word) || (leads && self.words.get(at + 1).is_some_and(|next| self.is_name(next)))
    }

    /// Returns the end of the name that begins at a word.
    fn end(&self, start: usize) -> usize {
        let mut end = start + 1;
        loop {
            let before = self.words.get(end - 1).copied().unwrap_or_default();
            if before.ends_with([',', '.', '?', '!', ';']) || before.ends_with("'s") {
                return end;
            }
            let rest = self.words.get(end..).unwrap_or_default();
            let inside = rest.iter().take_while(|word| INSIDE.contains(word)).count();
            // `and` joins two names unless another small word follows it, as in `The Fast and the Furious`.
            let joins = rest.first() == Some(&"and") && inside < 2;
            match rest.get(inside) {
                Some(word) if !joins && (self.is_name(word) || (*word == "The" && inside == 0)) => {
                    end += inside + 1;
                }
                _ => return end,
            }
        }
    }

    fn is_name(&self, word: &str) -> bool {
        let plain = bare(word);
        let first = plain.split('-').next().unwrap_or_default().to_ascii_lowercase();
        plain.chars().next().is_some_and(char::is_uppercase)
            && !NO_NAMES.contains(&&*first)
            && !self.operations.has_word(&first)
    }
}

/// Returns the word without punctuation and genitive.
fn bare(word: &str) -> &str {
    let word = word.trim_end_matches([',', '.', '?', '!', ';', ':']);
    word.strip_suffix("'s").unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_or_capitalised_spans() {
        let source = "{world: 1, name: films, title: Reel DB, clock: 2026-03-02T09:00, apis: [
            {name: A, method: GET, path: /film/top_rated, behaviour: {}},
            {name: B, method: GET, path: '/show/{show_id}/season/{number}', behaviour: {}}]}";
        let operations = Operations::of(&diorama_seeds::world::read("films", source.as_bytes()).unwrap());
        let check = |text: &str, expect: &[&str]| {
            let found: Vec<String> = spans(text, &operations).into_iter().map(|span| span.name).collect();
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
        check("Is Kite Hill in the Top-10 rated list of the Reel DB?", &["Kite Hill"]);
        check("the director of Kite Hill Season 1 and Moon Street", &["Kite Hill", "Moon Street"]);
        check("What is the top-1 rated Show?", &[]);
    }

    #[test]
    fn roles_are_kinds_that_are_asked_for_in_lower_case_below_one_end() {
        let source = "{world: 1, name: films, clock: 2026-03-02T09:00, resources: {
            film: {key: film_id, fields: {}}, person: {key: person_id, display: name, fields: {name: {type: string}}},
            crew: {key: crew_id, each: [{of: person, by: person_id, min: 1, max: 1}], fields: {film_id: {ref: film}, person_id: {ref: person},
              job: {type: string, fake: {provider: pick, of: [Director, Art, Casting, Sound Editor, Visual Effects]}}}}}, apis: [
            {name: A, method: GET, path: '/film/{film_id}/crew', parameters: {film_id: {ref: film}}, behaviour: {get: film},
             contract: {reply: {properties: {crew: {items: {x-resource: person, properties: {id: {}, name: {}, job: {}}}}}}}},
            {name: B, method: GET, path: '/person/{person_id}/films', parameters: {person_id: {ref: person}}, behaviour: {get: person},
             contract: {reply: {properties: {films: {items: {x-resource: film, properties: {id: {}, job: {}}}}}}}}]}";
        let operations = Operations::of(&diorama_seeds::world::read("films", source.as_bytes()).unwrap());
        let (crew, films) = ("GET /film/{id}/crew", "GET /person/{id}/films");
        let check = |texts: &[(&str, &[&str])], expect: &[(&str, &str)]| {
            let query = |(text, path): &(&str, &[&str])| Query {
                query: (*text).to_owned(),
                solution: path.iter().map(|step| (*step).to_owned()).collect(),
                answer: Vec::new(),
            };
            let queries: Vec<Query> = texts.iter().map(query).collect();
            let found = roles(&queries, &operations);
            let found: Vec<(&str, &str)> = found.iter().map(|(of, kind)| (&**of, &**kind)).collect();
            assert_eq!(found, expect, "{texts:?}");
        };
        check(&[("Who are the directors of Kites?", &[crew])], &[("film.job", "Director")]);
        check(&[("the cast and the sound of Sword Art Online", &[crew])], &[]);
        check(&[("Which sound editor is it?", &["GET /film/{id}"])], &[]);
        check(&[("Who made the visual effects of Kites?", &[crew])], &[("film.job", "Visual Effects")]);
        // A query for other films of a director looks below the person last.
        let other = ("more films of the director of Kites", &[crew, films][..]);
        check(&[other], &[("person.job", "Director")]);
        let who = ("the director of Kites", &[crew][..]);
        check(&[other, who, who], &[("film.job", "Director")]);
    }

    #[test]
    fn numbers_are_read_before_and_after_their_noun() {
        let check = |query: &str, expect: (i64, i64)| {
            assert_eq!((number(query, "season"), number(query, "episode")), expect, "{query}");
        };
        check("the guest star from season 3, episode 24 of Kites", (3, 24));
        check("the third episod of the second season", (2, 3));
        check("a poster of Kites", (1, 1));
    }
}
