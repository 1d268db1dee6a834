//! Chooses the search words of an agent that has not read the tools that it searches for.
//!
//! A search is a request in the user's words (`cancel the reservation`), or a common name of the wanted tool.
//! Names with stated words come first. An API's description is never used before a search has shown it.

use std::collections::HashSet;

use diorama_answers::prose::Prose;
use diorama_engine::tools::{SearchVersion, tool_search};
use diorama_seeds::model::{ApiId, DomainId};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::names::words;
use crate::draws::rank;
use crate::worlds::world::BatchWorld;

/// The greatest number of searches for one API before the agent gives up.
const MOST_TRIES: usize = 4;
/// The greatest number of words after the verb and its article, and of words in a search for a missing tool.
const MOST_NOUNS: usize = 3;
/// The greatest number of the user's own words in a search.
const MOST_OWN_WORDS: usize = 4;
/// The greatest number of APIs in a domain that share a word which still distinguishes them.
const MANY: usize = 4;
/// The weight of a word of the API's own common names; one of another API's weighs 1.
const OWN: usize = 2;
/// The share of searches that begin with a common name, if its words were said.
const NAMED_FIRST: f64 = 0.4;
/// The greatest weight of unstated words in a name that counts as said: a preposition or an article.
const HARDLY: f64 = 0.3;
/// A word counts as frequent from this part of the highest count on: a third.
const MANY_OF: usize = 3;
/// Words between a verb and its object.
const DETERMINERS: [&str; 12] =
    ["a", "an", "the", "my", "our", "your", "his", "her", "their", "this", "these", "another"];
/// Words before an infinitive or an imperative.
const BEFORE_VERBS: [&str; 9] = ["to", "please", "you", "i", "we", "and", "then", "just", "could"];

/// The facts that a searching agent knows.
pub(crate) struct SearchFacts<'a> {
    /// The user's messages, the last first.
    pub(crate) said: Vec<&'a str>,
    /// The number of these that belong to the present goal.
    pub(crate) of_goal: usize,
    /// The text of the system message.
    pub(crate) system: &'a str,
}

/// Makes keywords for a task without a tool: the words of a message that most wordings share, preferably ones
/// that find the domain.
/// `wordings` are all of the scenario's requests and refusals.
pub(crate) fn make_vain_keywords<'w>(
    world: &BatchWorld,
    domain: DomainId,
    wordings: impl Iterator<Item = &'w String>,
    said: &str,
) -> Option<String> {
    let model = world.base.world();
    let shared = SharedWords::count(wordings.map(String::as_str));
    let own = shared.pick_said(said);
    let name = model.domains[domain.index()].name.replace('_', " ");
    let tries = [own.clone(), add_words(&own, &shared.join_most_shared()), add_words(&own, &name)];
    let shown = |words: &String| tool_search(&world.base, SearchVersion::default(), words);
    let is_of_domain = |words: &&String| shown(words).iter().any(|hit| model.api(hit.api).domain == domain);
    let words = tries.iter().find(is_of_domain).unwrap_or(&own).trim();
    (!words.is_empty()).then(|| words.to_owned())
}

/// Joins keywords with those of others that they lack.
fn add_words(keywords: &str, others: &str) -> String {
    let mut words: Vec<&str> = keywords.split_whitespace().collect();
    for word in others.split_whitespace() {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(" ")
}

/// The words that wordings of one request share: by stem, the word and the number of wordings that have it.
/// The most frequent ones name the request: `open`, `savings`, `account`.
struct SharedWords(Vec<(u64, String, usize)>);

impl SharedWords {
    /// Counts words. Text in braces holds values, which say nothing about the request.
    fn count<'w>(wordings: impl Iterator<Item = &'w str>) -> Self {
        let mut found: Vec<(u64, String, usize)> = Vec::new();
        for wording in wordings {
            let mut depth = 0_usize;
            let outside = |sign: char| {
                match sign {
                    '{' => depth += 1,
                    '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if depth > 0 || sign == '}' { ',' } else { sign }
            };
            let fixed: String = wording.chars().map(outside).collect();
            for (stem, word) in list_telling_words(&fixed) {
                match found.iter_mut().find(|(known, ..)| *known == stem) {
                    Some((.., count)) => *count += 1,
                    None => found.push((stem, word, 1)),
                }
            }
        }
        found.sort_by_key(|(.., count)| std::cmp::Reverse(*count));
        Self(found)
    }

    /// Returns the frequent words of a text, in its order. It adds the most frequent word to a single one.
    fn pick_said(&self, text: &str) -> String {
        let most = self.0.first().map_or(0, |(.., count)| *count);
        let count =
            |stem: u64| self.0.iter().find(|(known, ..)| *known == stem).map_or(0, |(.., count)| *count);
        let mut said = list_telling_words(text);
        let mut counts: Vec<usize> = said.iter().map(|(stem, _)| count(*stem)).collect();
        counts.sort_by_key(|count| std::cmp::Reverse(*count));
        let least = counts.get(MOST_NOUNS - 1).map_or(1, |least| (*least).max(1));
        said.retain(|(stem, _)| count(*stem) >= least && count(*stem) * MANY_OF >= most);
        said.truncate(MOST_NOUNS);
        let said: Vec<String> = said.into_iter().map(|(_, word)| word).collect();
        match said.as_slice() {
            [] => self.join_most_shared(),
            [word] => format!(
                "{word} {}",
                self.0
                    .iter()
                    .map(|(_, other, _)| other)
                    .find(|other| *other != word)
                    .map_or("", String::as_str)
            ),
            _ => said.join(" "),
        }
    }

    /// Returns the two most frequent words.
    fn join_most_shared(&self) -> String {
        self.0.iter().take(2).map(|(_, word, _)| word.as_str()).collect::<Vec<_>>().join(" ")
    }
}

/// Returns the content words of a text, each once, with their stems.
fn list_telling_words(text: &str) -> Vec<(u64, String)> {
    let mut found: Vec<(u64, String)> = Vec::new();
    for word in text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '\''))) {
        if let Some(stem) = content(word).filter(|stem| found.iter().all(|(known, _)| known != stem)) {
            found.push((stem, word.to_lowercase()));
        }
    }
    found
}

/// Returns keywords in the order in which they are tried.
pub(crate) fn attempts(
    world: &BatchWorld,
    api: ApiId,
    known: &SearchFacts<'_>,
    rng: &mut ChaCha8Rng,
) -> Vec<String> {
    let read = world.world_template.names();
    let domain = world.base.world().api(api).domain.index();
    let (own, uses, spread) = (&read.stems[api.index()], &read.uses[domain], &read.spread[domain]);
    // Words for many actions (to find, to list) distinguish no API.
    let telling = |stem: &u64| uses.get(stem).is_some_and(|uses| *uses <= MANY);
    let weigh = |stem: u64| match (own.contains(&stem), telling(&stem)) {
        (true, true) => OWN,
        (false, true) => 1,
        _ => 0,
    };

    let seen: HashSet<u64> =
        known.said.iter().copied().chain([known.system]).flat_map(Prose::stems_of).collect();
    let idle = |word: &str| Prose::stems_of(word).iter().all(|stem| !seen.contains(stem) && !telling(stem));
    let common = world.world_template.guide.api(api).search.iter();
    let of_goal = known.said.get(..known.of_goal).unwrap_or(&known.said);
    let mut names: Vec<String> = common.map(|name| without(name, idle)).collect();
    names.retain(|name| Prose::stems_of(name).iter().any(|stem| seen.contains(stem)));
    let key = rng.random();
    names.sort_by_cached_key(|name| rank(key, name));
    // An unstated word costs more the fewer APIs have it: `of` less than `find`, and that less than `budget`
    // or `cheapest`.
    let heard: HashSet<String> = known.said.iter().copied().chain([known.system]).flat_map(words).collect();
    let unsaid = |name: &String| -> f64 {
        let strange = words(name).filter(|word| !heard.contains(word));
        strange.map(|word| spread.get(&word).map_or(1.0, |uses| 1.0 / *uses as f64)).sum()
    };
    // The present goal says more than earlier messages and the system message do.
    let now: HashSet<u64> = of_goal.iter().copied().flat_map(Prose::stems_of).collect();
    let stale = |name: &String| Prose::stems_of(name).iter().all(|stem| !now.contains(stem));
    let mut ranked: Vec<(bool, f64, String)> =
        names.into_iter().map(|name| (stale(&name), unsaid(&name), name)).collect();
    ranked.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let said_names = ranked.iter().take_while(|(_, unsaid, _)| *unsaid < HARDLY).count();
    let mut names = ranked.into_iter().map(|(.., name)| name);

    let mut tries = requests(of_goal, weigh);
    let at = if rng.random_bool(NAMED_FIRST) { 0 } else { tries.len() };
    tries.splice(at..at, names.by_ref().take(said_names));
    let shows = |words: &String| {
        tool_search(&world.base, SearchVersion::default(), words).iter().any(|hit| hit.api == api)
    };
    tries.extend(pick_own_words(of_goal, |stem| uses.contains_key(&stem)).into_iter().filter(shows));
    tries.extend(names);
    tries.truncate(MOST_TRIES);
    tries
}

/// Picks from each message, the last first, the first words that name something of the domain, as the user
/// wrote them.
fn pick_own_words(said: &[&str], is_known: impl Fn(u64) -> bool) -> Vec<String> {
    let pick = |text: &&str| {
        let plain =
            text.split_whitespace().filter(|word| !word.starts_with(char::is_uppercase)).collect::<Vec<_>>();
        let mut words = list_telling_words(&plain.join(" "));
        words.retain(|(stem, _)| is_known(*stem));
        words.truncate(MOST_OWN_WORDS);
        let words: Vec<String> = words.into_iter().map(|(_, word)| word).collect();
        (words.len() > 1).then(|| words.join(" "))
    };
    said.iter().filter_map(pick).collect()
}

/// Returns keywords of the user's words that find an API; none if no such search does.
pub(crate) fn keywords(world: &BatchWorld, said: &[String], api: ApiId, system: &str) -> Option<String> {
    let said: Vec<&str> = said.iter().rev().map(String::as_str).collect();
    let known = SearchFacts { of_goal: said.len(), said, system };
    // The choice follows from the messages alone.
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let shows = |words: &String| {
        tool_search(&world.base, SearchVersion::default(), words).iter().any(|hit| hit.api == api)
    };
    attempts(world, api, &known, &mut rng).into_iter().find(shows)
}

/// Drops needless words at the beginning of a name, as long as two content words remain.
fn without(name: &str, idle: impl Fn(&str) -> bool) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    let means = |words: &[&str]| words.iter().filter(|word| !Prose::stems_of(word).is_empty()).count();
    let from = words.iter().take_while(|word| idle(word)).count();
    let rest = words.get(from..).unwrap_or_default();
    if means(rest) < 2 { name.to_owned() } else { rest.join(" ") }
}

/// Lists the requests of texts with weighted words, the heaviest first; of equal weights, the first in the
/// list.
fn requests(texts: &[&str], weigh: impl Fn(u64) -> usize) -> Vec<String> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for text in texts {
        for part in text.split(['.', ',', '!', '?', ':', ';', '(', ')', '\n']) {
            let words: Vec<&str> = part.split_whitespace().collect();
            found.extend((0..words.len()).filter_map(|at| request(&words, at, &weigh)));
        }
    }
    found.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    found.into_iter().take(2).map(|(_, words)| words).collect()
}

/// Returns the request whose verb stands at a position: verb, determiner and nouns up to the next other word.
fn request(words: &[&str], at: usize, weigh: impl Fn(u64) -> usize) -> Option<(usize, String)> {
    let lower = |at: usize| words.get(at).map(|word| word.to_lowercase());
    let among = |at: usize, list: &[&str]| lower(at).is_some_and(|word| list.contains(&word.as_str()));
    let opens = at == 0 || among(at - 1, &BEFORE_VERBS);
    if !opens || !among(at + 1, &DETERMINERS) {
        return None;
    }
    let mut weights = vec![content(words[at]).map(&weigh)?];
    let mut until = at + 2;
    while let Some(stem) = words.get(until).and_then(|word| content(word)) {
        if words[until].starts_with(char::is_uppercase) {
            return None;
        }
        weights.push(weigh(stem));
        until += 1;
    }
    let ends_known = weights.first() > Some(&0) && weights.last() > Some(&0);
    let weight: usize = weights.iter().sum();
    let whole = (1..=MOST_NOUNS).contains(&(weights.len() - 1)) && ends_known && weight > OWN;
    whole.then(|| (weight, words[at..until].join(" ").to_lowercase()))
}

/// Returns the stem of a plain content word.
fn content(word: &str) -> Option<u64> {
    let plain = word.chars().all(|c| c.is_alphabetic() || c == '-');
    let stems = Prose::stems_of(word);
    stems.first().copied().filter(|_| plain && stems.len() == 1)
}

#[cfg(test)]
mod tests {
    use super::{Prose, SharedWords, pick_own_words};

    #[test]
    fn a_search_uses_the_known_words_of_the_user() {
        let known = Prose::stems_of("move an appointment to another day");
        let check = |said: &[&str], expect: &[&str]| {
            assert_eq!(pick_own_words(said, |stem| known.contains(&stem)), expect, "{said:?}");
        };
        check(&["could my appointment with Dr Salem be moved, i have a cold"], &["appointment moved"]);
        check(&["Moved it? Thanks", "Please move my appointment."], &["move appointment"]);
        check(&["hello"], &[]);
    }

    #[test]
    fn words_that_wordings_share_name_the_request() {
        let wordings = [
            "Can you open another savings account for me? It's for a sailing boat.",
            "open a new savings pot for {me.name} pls",
            "My grandson is getting married, so I'd like a separate savings account opened.",
            "I have no way to open an account.",
        ];
        let shared = SharedWords::count(wordings.into_iter());
        let check = |said: &str, expect: &str| assert_eq!(shared.pick_said(said), expect, "{said}");
        check(
            "My grandson is getting married, so I'd like a savings account opened.",
            "savings account opened",
        );
        check("i want a savings pot", "savings open");
        check("Could you open one?", "open savings");
        check("", "open savings");
        assert_eq!(SharedWords::count(std::iter::empty()).pick_said("ring"), "");
    }
}
