//! What an answer says was done: claimed, denied, or neither; and whether that is what was done.
//!
//! The words for a deed are those of the API that does it: its name, its description, the state that it leaves behind. A deed is
//! claimed where such a word is asserted as done, and denied where it is denied.

use std::sync::Arc;

use diorama_seeds::english;
use diorama_seeds::model::{Api, Field, World};
use diorama_seeds::schema::Type;
use serde_json::Value as Json;

use super::readings::Said as Answer;
use super::vocabulary::Vocabulary;
use diorama_answers::lexicon::Roles;
use diorama_answers::prose::{Prose, Span};
use diorama_answers::tokens::{Kind, Token};
use diorama_answers::{word, words};
use diorama_engine::Origin;
use diorama_engine::session::LogEntry;

/// How far before a word what denies or imagines it may stand.
const REACH: usize = 6;

/// What an answer says of a deed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// That it was done.
    pub(super) claimed: bool,
    /// That it was not.
    pub(super) denied: bool,
    /// It is offered.
    pub(super) offered: bool,
}

/// Words that stand for any deed.
const ANY: [&str; 10] =
    ["do", "done", "complet", "success", "process", "succeed", "finish", "sort", "carri", "happen"];

/// Those of them that say that it is over.
const DONE: [&str; 7] = ["done", "complet", "success", "process", "succeed", "finish", "carri"];

/// Words whose denial denies any deed: `that didn't work`, `it is not possible`.
const FAILING: [&str; 2] = ["work", "possibl"];

/// The stems of the words for what an API does.
pub(super) fn words_for(api: &Api) -> Vec<String> {
    let name = english::split_identifier(&api.name);
    let verb = api.description.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default().to_lowercase();
    let mut words: Vec<String> = name.first().into_iter().chain([&verb]).map(|word| base(word)).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// A word for a deed as the others are compared with it: `cancelled`, `cancels` and `cancelling` are `cancel`.
pub(super) fn base(word: &str) -> String {
    const IRREGULAR: [(&str, &str); 21] = [
        ("paid", "pay"),
        ("sent", "send"),
        ("made", "make"),
        ("put", "put"),
        ("set", "set"),
        ("lent", "lend"),
        ("took", "take"),
        ("taken", "take"),
        ("gave", "give"),
        ("given", "give"),
        ("bought", "buy"),
        ("sold", "sell"),
        ("withdrawn", "withdraw"),
        ("withdrew", "withdraw"),
        ("written", "write"),
        ("left", "leave"),
        ("froze", "freeze"),
        ("frozen", "freeze"),
        ("begun", "begin"),
        ("undone", "undo"),
        ("chosen", "choose"),
    ];
    let word = IRREGULAR.iter().find(|(form, _)| *form == word).map_or(word, |(_, base)| base);
    let stem = english::stem(word);
    // `cancell` and `cancel`.
    let mut letters: Vec<char> = stem.chars().collect();
    if letters.len() > 4 && letters.last() == letters.get(letters.len() - 2) {
        letters.pop();
    }
    letters.into_iter().collect()
}

/// The words of an answer, each as [`base`] spells it, and how it speaks of a deed.
pub(super) struct Deeds(Vec<(String, How, Span)>);

/// How a word speaks of the deed that it stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Asked,
    Denied,
    Offered,
    Claimed,
    /// It imagines it, or tells of earlier times.
    Aside,
}

impl Deeds {
    /// Reads the words of an answer.
    pub(super) fn read(prose: &Prose) -> Self {
        let text = prose.text();
        let words = text.tokens.iter().enumerate().filter(|(_, token)| token.is_word());
        let spoken = words.map(|(at, token)| {
            let spelt = prose.word(token).to_lowercase();
            let base = base(&spelt);
            let near = || {
                let before = text.tokens[..at].iter().rev().take(REACH);
                before.take_while(|other| other.sentence == token.sentence && !is_clause_end(other))
            };
            let denies =
                |other: &Token| other.is(Roles::NEGATOR) || other.is(Roles::ZERO) || is_failure(other);
            let how = if text.asks(token) {
                How::Asked
            } else if near().any(denies) {
                How::Denied
            } else if near().any(|other| words!("will ill").contains(&other.hash)) {
                How::Offered
            } else if !near().any(is_imagined)
                && is_done_form(&spelt, &base, at, prose)
                && !is_earlier(token, prose)
            {
                How::Claimed
            } else {
                How::Aside
            };
            (base, how, Span { start: token.start as usize, end: token.end as usize })
        });
        Self(spoken.collect())
    }

    /// What is said of the deeds that words stand for.
    pub(super) fn said(&self, words: &[String]) -> Said {
        let mut said = Said::default();
        for (base, how, _) in &self.0 {
            let generic = ANY.contains(&base.as_str());
            if !generic && !words.contains(base) {
                continue;
            }
            match how {
                How::Asked => said.offered |= !generic,
                How::Denied => said.denied = true,
                How::Offered => said.offered = true,
                How::Claimed => said.claimed = true,
                How::Aside => {}
            }
        }
        said
    }

    /// Whether an answer takes back a deed that it claims, or denies any without claiming one that words stand for.
    fn denies_all(&self, words: &[String], prose: &Prose) -> bool {
        let sentence = |span: &Span| prose.sentences().position(|one| one.overlaps(*span));
        let last = |wanted: How, is_one: &dyn Fn(&String) -> bool| {
            let spoken = self.0.iter().filter(|(base, how, _)| *how == wanted && is_one(base));
            spoken.filter_map(|(.., span)| sentence(span)).max()
        };
        let undone = last(How::Denied, &|base| DONE.contains(&base.as_str()));
        let failed = last(How::Denied, &|base| FAILING.contains(&base.as_str()));
        match last(How::Claimed, &|base| words.contains(base)) {
            Some(claimed) => undone > Some(claimed),
            None => undone.or(failed).is_some(),
        }
    }

    /// Where deeds are claimed that words stand for.
    pub(super) fn places(&self, words: &[String]) -> impl Iterator<Item = Span> {
        let claimed =
            self.0.iter().filter(move |(base, how, _)| *how == How::Claimed && words.contains(base));
        claimed.map(|(.., span)| *span)
    }

    /// Whether the deed that a word stands for is claimed.
    fn claims(&self, word: &str) -> bool {
        self.0.iter().any(|(base, how, _)| *how == How::Claimed && base == word)
    }
}

/// Whether the answer says that something was tried and refused.
pub(super) fn claims_attempt(prose: &Prose) -> bool {
    const ATTEMPTS: [u64; 7] = words!("refused rejected declined blocked tried failed technical");
    prose.text().has_any(&ATTEMPTS)
}

/// Whether the speaker says of themselves that they cannot, or could not.
fn is_unable(prose: &Prose) -> bool {
    let text = prose.text();
    text.tokens.iter().enumerate().any(|(at, token)| {
        let cannot = words!("cant cannot couldnt unable wont wasnt");
        cannot.contains(&token.hash)
            && !text.asks(token)
            && text.tokens[..at]
                .iter()
                .rev()
                .take(2)
                .any(|before| before.sentence == token.sentence && before.is(Roles::FIRST_PERSON))
    })
}

/// Whether the answer says that something failed.
fn tells_failure(prose: &Prose) -> bool {
    prose.text().has_any(&words!("failed unsuccessful unsuccessfully"))
}

fn is_clause_end(token: &Token) -> bool {
    matches!(token.kind, Kind::Symbol(';' | ':' | '—' | '–' | '(' | ')')) || token.hash == word!("but")
}

fn is_failure(token: &Token) -> bool {
    words!("unable failed couldnt refused impossible tried").contains(&token.hash)
}

/// Words before a deed that is not said to be done: it may, will or can be, or would be if.
fn is_imagined(token: &Token) -> bool {
    const IMAGINED: [u64; 19] = words!(
        "can could will would should shall may might must to if unless when once until \
         before only ill id"
    );
    IMAGINED.contains(&token.hash)
}

/// Said of earlier times, or as a rule: `already`, `earlier`, `is done by phone only`.
fn is_earlier(token: &Token, prose: &Prose) -> bool {
    const EARLIER: [u64; 6] = words!("already earlier previously still before only");
    let text = prose.text();
    text.tokens.iter().any(|other| other.sentence == token.sentence && EARLIER.contains(&other.hash))
}

/// Whether a word is spelt as something done is: a past form, or a form of success.
fn is_done_form(spelt: &str, base: &str, at: usize, prose: &Prose) -> bool {
    let past = spelt.ends_with("ed");
    let irregular = || base != english::stem(spelt);
    let shared = matches!(spelt, "put" | "set" | "done" | "successfully" | "successful" | "success" | "left");
    let after_have = || {
        prose.text().before(at).is_some_and(|before| {
            before.is(Roles::COPULA) || before.is(Roles::FIRST_PERSON) || before.hash == word!("been")
        })
    };
    past || (shared && (spelt != "set" || after_have())) || irregular()
}

/// Words that assert another state of a changed record than its reply shows: another value of an enum field, and not the
/// one that is there. Gives the place, the member and what it shows.
#[must_use]
pub fn misspoken(entry: &LogEntry, prose: &Prose, world: &World) -> Option<(Span, String, Json)> {
    for (path, value, origin) in entry.reply.body.leaves() {
        let Some(declared) = field_of(&path, origin, entry, world) else { continue };
        let (Type::Enum(values), Some(shown)) = (&declared.schema.kind, value.as_str()) else { continue };
        let says = |other: &str| {
            // Whole phrases such as `on its way` are said loosely.
            let synonyms = declared.synonyms.get(other).into_iter().flatten().map(|word| &**word);
            let synonyms = synonyms.filter(|words| !words.contains(' '));
            let spaced = other.replace('_', " ");
            let spans = prose.find(&spaced);
            spans
                .into_iter()
                .chain(synonyms.flat_map(|word| prose.find(word)))
                .find(|span| prose.is_stated(*span) && !is_remark(prose, *span))
        };
        if says(shown).is_some() {
            continue;
        }
        // A word that the user chose as another argument says nothing of this field.
        let chosen = |other: &str| entry.call.arguments.values().any(|json| json.as_str() == Some(other));
        let wrong =
            values.iter().filter(|other| &***other != shown && !chosen(other)).find_map(|other| says(other));
        if let Some(span) = wrong {
            return Some((span, path, value.to_json(&world.zone)));
        }
    }
    None
}

/// The field of a changed record that a leaf shows: by where it came from, or by its name where the world computed it.
fn field_of<'a>(path: &str, origin: &Origin, entry: &LogEntry, world: &'a World) -> Option<&'a Field> {
    // What is gone is in no state.
    let mut changes = entry.changes.iter().filter(|change| change.after.is_some());
    match origin {
        Origin::Field { resource, key, field } => changes
            .any(|change| change.resource == *resource && change.key == *key)
            .then(|| world.resource(*resource).field(*field)),
        Origin::Computed => {
            let member = bare(path.rsplit('.').next().unwrap_or(path));
            changes.find_map(|change| {
                world.resource(change.resource).fields.iter().find(|field| bare(&field.name) == member)
            })
        }
        Origin::Constant => None,
    }
}

/// A name without case and underscores.
fn bare(name: &str) -> String {
    english::fold(name).replace(['_', '-', ' '], "")
}

/// A word alone before a stop: `Done.`, `Done: ...` acknowledges, and states nothing of a record.
fn is_remark(prose: &Prose, span: Span) -> bool {
    let source = prose.source();
    let marks = |c: char| !c.is_alphanumeric() && !matches!(c, '.' | '!' | '?' | ',');
    let before = source.get(..span.start).unwrap_or_default().trim_end_matches(marks);
    let after = source.get(span.end..).unwrap_or_default();
    after.starts_with(": ")
        || (before.is_empty() || before.ends_with(['.', '!', '?', ',']))
            && (after.is_empty()
                || after.starts_with(['.', '!', ':', ',', ';', ' '])
                    && !after.trim_start().starts_with(char::is_alphanumeric))
}

/// Why what an answer says of the changes of a goal is not so. `entries` are the calls of the goal.
pub(super) fn untold(
    said: &Answer,
    entries: &[Arc<LogEntry>],
    user_turns: &[String],
    vocabulary: &Vocabulary,
    world: &World,
) -> Option<String> {
    let prose = &said.prose;
    let written = |entry: &&Arc<LogEntry>| entry.api.is_some_and(|id| world.api(id).writes());
    let done: Vec<&Arc<LogEntry>> =
        entries.iter().filter(|entry| entry.reply.is_success()).filter(written).collect();
    let apis = || done.iter().filter_map(|entry| Some(world.api(entry.api?)));
    for (at, entry) in done.iter().enumerate() {
        let mut later = done.iter().skip(at + 1);
        let of_another = |span: Span| {
            let words = prose.words_at(span).to_lowercase();
            let others = done.iter().enumerate().filter(|(other, _)| *other != at);
            others.flat_map(|(_, other)| &other.changes).any(|change| {
                let after = change.after.iter().flat_map(|record| record.iter());
                after.filter_map(|value| value.as_str()).any(|text| text.replace('_', " ") == words)
            })
        };
        let misspoken = misspoken(entry, prose, world).filter(|(span, ..)| !of_another(*span));
        if let Some((span, member, shown)) = misspoken.filter(|_| !later.any(|later| later.touches(entry))) {
            return Some(format!("{}: {member} is {shown}", prose.words_at(span)));
        }
    }
    if done.is_empty() {
        return None;
    }
    let deeds = said.deeds();
    let all_went = entries.iter().all(|entry| entry.reply.is_success());
    let words: Vec<String> = apis().flat_map(|api| vocabulary.deeds(world, &api.name)).cloned().collect();
    let own = deeds.said(&words);
    if (all_went && deeds.denies_all(&words, prose)) || (!own.claimed && said.ending.asks_leave) {
        return Some("what was done, the answer denies or only offers".to_owned());
    }
    for api in apis() {
        let own = deeds.said(vocabulary.deeds(world, &api.name));
        if (own.denied || own.offered || is_unable(prose) || (all_went && tells_failure(prose)))
            && !own.claimed
        {
            return Some(format!("{} was done, which the answer does not say", api.name));
        }
    }
    // Another deed than those that were done: one of another API that changes records of the same domain. Adding and
    // making are said of many deeds.
    const COMMON: [&str; 6] = ["add", "make", "chang", "updat", "set", "put"];
    let told = |word: &&String| {
        deeds.claims(word)
            && !COMMON.contains(&word.as_str())
            && !apis().any(|api| vocabulary.deeds(world, &api.name).contains(word))
    };
    // What the user said, a reply tells or a record holds may be said again.
    let known = |wanted: &str| {
        let said = user_turns.iter().flat_map(|turn| english::words(turn));
        let replies = entries.iter().flat_map(|entry| entry.reply.body.values());
        let told = replies.filter_map(|(value, _)| value.as_str());
        let told = told.flat_map(|text| text.split(|c: char| !c.is_alphabetic()).map(str::to_lowercase));
        let after = done.iter().flat_map(|entry| &entry.changes).filter_map(|change| change.after.as_ref());
        let mut held = after.flat_map(|record| record.iter()).filter_map(|value| value.as_str());
        said.chain(told).any(|word| base(&word) == wanted) || held.any(|text| base(text) == wanted)
    };
    let domains: Vec<_> = apis().map(|api| api.domain).collect();
    let mut others = world.apis.iter().filter(|api| api.writes() && domains.contains(&api.domain));
    let other = others
        .find(|other| vocabulary.deeds(world, &other.name).iter().filter(told).any(|word| !known(word)))?;
    Some(format!("{} was not done, which the answer says", other.name))
}
