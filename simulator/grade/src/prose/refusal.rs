//! The reason of a refusal: whether a message gives the one for which a request could not be carried out.
//!
//! The reasons that an API can give are the messages of its rules. A told reason is the nearest of them, by words or by meaning.
//! That something does not exist is told by denying it.

use std::sync::Arc;

use diorama_answers::prose::Prose;
use diorama_engine::embed::{StaticEmbedder, dot, embedded};
use diorama_engine::session::LogEntry;
use diorama_seeds::english;
use diorama_seeds::model::{Api, World};
use diorama_seeds::task::{Evidence, RefusalClass};

use super::cues::{BREAKDOWN, EXCUSES, INABILITY};
use super::ending::{Ending, is_denial, verb_stem, verbs_of};

/// From this cosine on, words give a reason.
const MIN_COSINE: f32 = 0.18;
/// So much nearer another reason must be to be taken for it.
const MIN_LEAD: f32 = 0.08;
/// So much nearer still an excuse must be, which says nothing.
const MIN_EXCUSE_LEAD: f32 = 0.2;
/// Words before which a reason of its own begins.
const JOINTS: [&str; 4] = [" because ", " since ", " as ", " so "];

/// A refusal, and the calls and checks that it rests on.
pub(crate) struct Refusal<'a> {
    pub(crate) world: &'a World,
    pub(crate) evidence: &'a [Evidence],
    pub(crate) classes: &'a [RefusalClass],
    /// The calls of the goal.
    pub(crate) entries: &'a [Arc<LogEntry>],
    pub(crate) user_turns: &'a [String],
    /// The ids and names of what is asked about.
    pub(crate) subjects: &'a [String],
}

impl Refusal<'_> {
    /// Why a message is no right refusal, where it is not.
    pub(crate) fn fault(&self, message: &Prose, ending: &Ending) -> Option<String> {
        let verbs: Vec<String> = self.refusing().flat_map(|(api, _)| verbs_of(api)).collect();
        if ending.claims(&verbs) && !ending.objects() {
            return Some("the answer says that it was done".to_owned());
        }
        let failed = self.entries.iter().any(|entry| entry.reply.status >= 500);
        if !failed && ending.statements().any(|text| BREAKDOWN.is_match(text)) {
            return Some("the answer says that something failed, which nothing did".to_owned());
        }
        let right = match self.classes {
            // A refusal of what no tool does, or a rule forbids, rests on no call: to decline is enough.
            _ if self.refusing().next().is_none() => {
                ending.is_unable() || (ending.objects() && !ending.asks())
            }
            [] => ending.objects(),
            [RefusalClass::NotFound] => self.denies_existence(message, ending),
            _ => !self.is_missed(ending) && self.gives_reason(message),
        };
        (!right).then(|| "the answer does not give the reason for which it could not be done".to_owned())
    }

    /// The refusing API and its status, as the checks name them.
    fn refusing(&self) -> impl Iterator<Item = (&Api, u16)> {
        self.evidence.iter().filter_map(|evidence| match evidence {
            Evidence::Refused { api, status, .. } => {
                Some((self.world.api(self.world.api_named(api)?), *status))
            }
            Evidence::Empty { api, .. } => Some((self.world.api(self.world.api_named(api)?), 404)),
            _ => None,
        })
    }

    /// Returns true if a statement denies that what was asked for exists: it denies, and names it or finding it.
    fn denies_existence(&self, message: &Prose, ending: &Ending) -> bool {
        let names = self.subjects.iter().filter(|name| name.len() > 2).flat_map(|name| message.find(name));
        let mut sentences = names.map(|span| message.words_at(message.sentence_at(span)).to_lowercase());
        self.is_missed(ending) || sentences.any(|sentence| is_denial(&sentence))
    }

    /// Returns true if a statement denies that something is found or known.
    fn is_missed(&self, ending: &Ending) -> bool {
        const FINDING: [&str; 11] =
            ["find", "found", "exist", "such", "match", "locat", "list", "regist", "recogn", "hit", "result"];
        let finds = |text: &str| english::words(text).any(|word| FINDING.contains(&&*english::stem(&word)));
        ending.statements().any(|text| is_denial(text) && finds(text))
    }

    /// Returns true if the message gives the reason, and not another that there could have been.
    fn gives_reason(&self, message: &Prose) -> bool {
        let of_class = |entry: &&Arc<LogEntry>| {
            RefusalClass::of_status(entry.reply.status).is_some_and(|class| self.classes.contains(&class))
        };
        let details = self
            .entries
            .iter()
            .filter(of_class)
            .filter_map(|entry| entry.reply.body.member("detail")?.value()?.as_str());
        let mut right: Vec<String> = details.map(str::to_owned).collect();
        if right.is_empty() {
            // Learned by reads: any of the rules that refuse with the status.
            right.extend(self.refusing().flat_map(|(api, status)| {
                let rules = api.behaviour.require.iter().filter(move |rule| rule.status == status);
                rules.map(|rule| rule.message.to_string()).collect::<Vec<_>>()
            }));
        }
        let rules =
            self.refusing().flat_map(|(api, _)| api.behaviour.require.iter().map(|rule| &*rule.message));
        let others: Vec<&str> =
            rules.filter(|rule| !right.iter().any(|right| is_alike(right, rule))).collect();
        let parts = parts(message);
        let restated = |reason: &str| parts.iter().any(|part| restates(part, reason));
        // Several reasons at once are none.
        if others.iter().chain(&EXCUSES).filter(|other| stems(other).len() > 1 && restated(other)).count() > 1
        {
            return false;
        }
        if right.iter().any(|reason| restated(reason)) {
            return true;
        }
        let Ok(model) = embedded() else { return false };
        let telling: Vec<&String> = parts.iter().filter(|part| !INABILITY.is_match(part)).collect();
        let told: Vec<&String> = if telling.is_empty() { parts.iter().collect() } else { telling };
        let shared = shared_stems(right.iter().map(String::as_str).chain(others.iter().copied()));
        let said: Vec<Vec<f32>> = told.iter().map(|part| self.vector(&model, part, &shared)).collect();
        let nearest = |reason: &str| {
            let reason = self.vector(&model, reason, &shared);
            said.iter().map(|said| dot(said, &reason)).fold(0.0, f32::max)
        };
        let best = |reasons: &mut dyn Iterator<Item = &str>| reasons.map(nearest).fold(0.0, f32::max);
        let own = best(&mut right.iter().map(String::as_str));
        let other = best(&mut others.iter().copied());
        let excuse = best(&mut EXCUSES.iter().copied()) - MIN_EXCUSE_LEAD;
        if other.max(excuse) > own + MIN_LEAD {
            return false;
        }
        own >= MIN_COSINE || (other < MIN_COSINE && self.says_more(&told))
    }

    /// Returns true if a part says something that the user has not said.
    fn says_more(&self, parts: &[&String]) -> bool {
        let said: Vec<String> = self.user_turns.iter().flat_map(|turn| stems(turn)).collect();
        parts.iter().any(|part| stems(part).iter().filter(|stem| !said.contains(stem)).count() > 1)
    }

    /// A text as a vector, without names, numbers, and words that several reasons have.
    fn vector(&self, model: &StaticEmbedder, text: &str, shared: &[String]) -> Vec<f32> {
        let keeps = |word: &&str| {
            let plain = english::fold(word.trim_matches(|c: char| !c.is_alphanumeric()));
            let named = self.subjects.iter().any(|subject| subject.split(' ').any(|part| part == plain));
            !named && !shared.contains(&english::stem(&plain)) && !plain.chars().any(|c| c.is_ascii_digit())
        };
        let kept: Vec<&str> = text.split_whitespace().filter(keeps).collect();
        model.vector(&if kept.is_empty() { text.to_owned() } else { kept.join(" ") })
    }
}

/// The sentences of a message, in lower case, and their parts.
fn parts(message: &Prose) -> Vec<String> {
    let mut told = Vec::new();
    for span in message.sentences() {
        let sentence = message.words_at(span).to_lowercase().replace('’', "'");
        let marked = sentence.split([',', ';', ':', '—', '–', '(']);
        let causes = JOINTS.into_iter().flat_map(|joint| sentence.split(joint));
        let parts = marked.chain(causes).map(|part| {
            let part = part.trim();
            JOINTS.iter().find_map(|joint| part.strip_prefix(joint.trim_start())).unwrap_or(part)
        });
        told.extend(
            parts.filter(|part| part.len() < sentence.len() && part.contains(' ')).map(str::to_owned),
        );
        told.push(sentence);
    }
    told
}

/// The stems of the words with meaning in a text.
fn stems(text: &str) -> Vec<String> {
    let mut stems: Vec<String> = english::words(text)
        .filter(|word| word.len() > 2 && !SMALL.contains(&&**word))
        .map(|word| verb_stem(&word))
        .collect();
    stems.sort_unstable();
    stems.dedup();
    stems
}

/// Words that tell no reason from another.
const SMALL: [&str; 22] = [
    "the", "and", "for", "has", "have", "had", "was", "are", "not", "can", "that", "this", "its", "but",
    "you", "your", "been", "with", "from", "there", "already", "any",
];

fn shared_stems<'a>(reasons: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut once: Vec<String> = Vec::new();
    let mut shared: Vec<String> = Vec::new();
    for stem in reasons.flat_map(stems) {
        if once.contains(&stem) { shared.push(stem) } else { once.push(stem) }
    }
    shared
}

/// Returns true if two reasons are one, with other values in their places.
fn is_alike(a: &str, b: &str) -> bool {
    let (a, b) = (stems(a), stems(b));
    let common = a.iter().filter(|stem| b.contains(stem)).count();
    common * 4 >= a.len().max(b.len()) * 3
}

/// Returns true if a part has two thirds of the words with meaning of a reason, and two at least where there are two.
pub(crate) fn restates(part: &str, reason: &str) -> bool {
    let (wanted, said) = (stems(reason), stems(part));
    let found = wanted.iter().filter(|stem| said.contains(stem)).count();
    found > 0 && found >= wanted.len().min(2) && found * 3 >= wanted.len() * 2
}
