//! Finds the user's choice among options that exclude each other.
//!
//! The options come from the vocabulary, from the parameters of the world's APIs, and from the questions for
//! a withheld detail.

use diorama_engine::Base;
use diorama_seeds::english::{fold, stem};
use diorama_seeds::model::{Api, Method};
use diorama_seeds::schema::Type;
use diorama_seeds::script::WithheldDetail;

use super::calls::WantedCalls;
use super::fit::Correction;
use super::mentions::Reading;
use super::source::{Source, SourceKind};
use super::tokens::folded_words;
use super::vocabulary::{CONTRASTS, PARTICLES, action, is_common};
use super::wants::Wants;

/// The number of words that name an option; later words describe it.
const MAX_OPTION_WORDS: usize = 3;

/// Returns the user's choice that an offer departs from: `debit card` where it says `credit card`.
pub(super) fn find_other_choice(
    offer: &Reading,
    wants: &Wants,
    (withheld, calls): (&[WithheldDetail], &WantedCalls),
    base: &Base,
) -> Option<Correction> {
    // The user chooses among the values of wanted calls, else of all calls that change records.
    let counts = |api: &Api| {
        api.method != Method::Get && (calls.is_empty() || calls.apis.iter().any(|name| *name == *api.name))
    };
    let of_words = CONTRASTS.iter().map(|words| words.iter().map(|word| stems(word)).collect::<Vec<_>>());
    let of_world = base.world().apis.iter().filter(|api| counts(api)).flat_map(|api| {
        api.parameters.iter().filter_map(|parameter| match &parameter.schema.kind {
            // `Lead::names` compares particles, as parts of verbs.
            Type::Enum(values) if values.iter().any(|value| PARTICLES.contains(&&**value)) => None,
            Type::Enum(values) => Some(values.iter().map(|value| stems(&value.replace('_', " "))).collect()),
            _ => None,
        })
    });
    let of_set =
        of_words.chain(of_world).find_map(|set: Vec<Vec<String>>| find_other_option(&set, offer, wants));
    let of_detail = || withheld.iter().position(|detail| departs_from(offer, detail, wants));
    of_set.or_else(|| of_detail().map(Correction::Detail))
}

fn find_other_option(set: &[Vec<String>], offer: &Reading, wants: &Wants) -> Option<Correction> {
    let has = |reading: &Reading, words: &[String]| {
        words.iter().any(|word| !is_common(word) || words.len() == 1) && reading.find_words(words).is_some()
    };
    let offered: Vec<&Vec<String>> = set.iter().filter(|words| has(offer, words)).collect();
    if offered.is_empty() {
        return None;
    }
    let chosen_in =
        |source: &Source| set.iter().filter(|words| has(&source.reading, words)).collect::<Vec<_>>();
    // The user's last message counts first, and their next line may change it.
    let next = wants.sources.iter().filter(|source| source.kind == SourceKind::NextLine);
    if next.flat_map(chosen_in).any(|words| offered.contains(&words)) {
        return None;
    }
    let is_elliptic = wants.current_sources().all(|source| source.reading.mentions.is_empty());
    let places = if is_elliptic {
        &[SourceKind::Line, SourceKind::Goal, SourceKind::Earlier][..]
    } else {
        &[SourceKind::Line, SourceKind::Goal]
    };
    for place in places {
        let of_place = wants.sources.iter().filter(|source| source.kind == *place);
        let chosen: Vec<(&Source, &Vec<String>)> = of_place
            .flat_map(|source| chosen_in(source).into_iter().map(move |words| (source, words)))
            .collect();
        if chosen.iter().any(|(_, words)| offered.contains(words)) {
            return None;
        }
        if let Some((source, words)) = chosen.first() {
            return Some(
                source
                    .detail
                    .map_or_else(|| Correction::Words(quote(&source.reading, words)), Correction::Detail),
            );
        }
    }
    None
}

/// Returns the words of some stems, as a text has them.
fn quote(reading: &Reading, words: &[String]) -> String {
    reading.find_words(words).map_or("", |span| reading.words_at(span)).to_owned()
}

/// Returns true if an offer names an option that a detail's questions list, and the user chose another.
fn departs_from(offer: &Reading, detail: &WithheldDetail, wants: &Wants) -> bool {
    let say: Vec<String> = folded_words(&detail.say).map(|word| stem(&word)).collect();
    detail.words.iter().chain(&detail.questions).any(|text| {
        let options = options(text);
        let overlap = |option: &&Vec<String>| option.iter().filter(|word| say.contains(word)).count();
        let Some(chosen) = options.iter().max_by_key(overlap).filter(|option| overlap(option) > 0) else {
            return false;
        };
        let is_other = |word: &String| {
            !chosen.contains(word)
                && !say.contains(word)
                && !wants.sources.iter().any(|source| source.reading.has(word))
                && offer.has(word)
        };
        let keeps = chosen
            .iter()
            .any(|word| offer.has(word) && options.iter().filter(|other| other.contains(word)).count() == 1);
        !keeps && options.iter().filter(|option| *option != chosen).flatten().any(is_other)
    })
}

/// Returns the options that a text lists, each by its first words: `saver: cheapest; flexible: free changes`.
fn options(text: &str) -> Vec<Vec<String>> {
    let described = text.contains(';');
    let parts = text.split([';', ',', '?', '.', '(']).flat_map(|part| part.split(" or "));
    let options = parts.filter_map(|part| {
        let part = match part.split_once(':') {
            Some((head, _)) if described => head,
            Some((_, rest)) => rest,
            None => part,
        };
        let words: Vec<String> = folded_words(part)
            .filter(|word| !is_common(word))
            .take(MAX_OPTION_WORDS)
            .map(|word| stem(&word))
            .filter(|word| action(word).is_none() && word.starts_with(char::is_alphabetic))
            .collect();
        (!words.is_empty()).then_some(words)
    });
    let options: Vec<Vec<String>> = options.collect();
    if options.len() < 2 { Vec::new() } else { options }
}

fn stems(words: &str) -> Vec<String> {
    words.split_whitespace().map(|word| stem(&fold(word))).collect()
}
