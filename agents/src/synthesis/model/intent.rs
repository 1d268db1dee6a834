//! What a line asks for, beside its values: what it is about, and which of the two speakers would say it.
//!
//! Owns both measures. Values and names are taken out first, for another one of those is another matter ([`super::fidelity`]).
//! [`SpeakerClassifier`] has learnt from the catalog's scenarios how users ask and how assistants tell; it knows no list of phrases.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use diorama_answers::prose::Prose;
use diorama_engine::embed::{dot, embedded};
use diorama_seeds::doc::{ScenarioDoc, ScenarioGoalDoc, WorldDoc};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::fidelity::{Speaker, names};
use crate::catalog;

/// Words from which on a line is long enough for a vector to tell what it is about.
const SHORT: usize = 4;

/// How far on the other speaker's side a line has to be to be theirs.
const CLEAR: f32 = 0.3;

/// The words of a text without its values and names, sentence by sentence; a question ends with its mark.
fn plain(text: &str) -> Vec<Vec<String>> {
    let named = names(text);
    let mut sentences = vec![Vec::new()];
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_value = bare.chars().any(char::is_numeric);
        let sentence = sentences.last_mut();
        if let Some(sentence) = sentence {
            // A name is told by its place, so it is compared by where it stands.
            if !is_value && !named.iter().any(|name| std::ptr::eq(name.as_ptr(), bare.as_ptr())) {
                let lower = bare.to_lowercase().replace('\u{2019}', "'");
                let parts = lower.split(|c: char| !c.is_alphabetic() && c != '\'');
                sentence.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
            }
            if word.contains('?') {
                sentence.push("?".to_owned());
            }
        }
        if word.ends_with(['.', '!', '?', ';']) {
            sentences.push(Vec::new());
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// What a line is about.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subject<'a> {
    /// What all that is said in its domain has in common, as a vector.
    pub topic: &'a [f32],
    /// The stems of the words for what is done because of it.
    pub deeds: Option<&'a BTreeSet<u64>>,
}

impl Subject<'_> {
    /// Whether a line is about the same as another: as near as `near`, a cosine, and with a word for what is done where the
    /// other one has such a word.
    #[must_use]
    pub fn is_kept(&self, line: &str, reference: &str, near: f32) -> bool {
        let says = |text: &str| {
            let stems = Prose::stems_of(text);
            self.deeds.is_some_and(|deeds| stems.iter().any(|stem| deeds.contains(stem)))
        };
        nearness(line, reference, self.topic) >= near && (says(line) || !says(reference))
    }
}

/// How near two texts are in what they speak of, values and names aside and what all of the domain has in common; 1 where the
/// second is too short to tell.
fn nearness(line: &str, reference: &str, topic: &[f32]) -> f32 {
    let words = |text: &str| plain(text).concat();
    let (line, reference) = (words(line), words(reference));
    let Ok(model) = embedded() else { return 1.0 };
    if reference.len() < SHORT {
        return 1.0;
    }
    let about = |words: Vec<String>| {
        let mut vector = model.vector(&words.join(" "));
        vector.iter_mut().zip(topic).for_each(|(value, common)| *value -= common);
        vector
    };
    let (one, other) = (about(line), about(reference));
    let length = (dot(&one, &one) * dot(&other, &other)).sqrt();
    if length > 0.0 { dot(&one, &other) / length } else { 0.0 }
}

/// Tells the words of a user who asks from those of an assistant.
///
/// A linear classifier over words and pairs of neighbours, learnt with the hinge loss and averaged over rounds (Freund and
/// Schapire, 1999). Nothing but sums, products and roots, so that it is the same on every machine.
#[derive(Debug)]
pub struct SpeakerClassifier {
    places: HashMap<String, usize>,
    weights: Vec<f32>,
    bias: f32,
}

static EAR: LazyLock<SpeakerClassifier> =
    LazyLock::new(|| SpeakerClassifier::of(&scenarios_of(catalog::worlds().unwrap_or_default())));

/// The scenarios of worlds.
fn scenarios_of(worlds: Vec<WorldDoc>) -> Vec<ScenarioDoc> {
    let domains = worlds.into_iter().flat_map(|world| world.into_domains().1);
    let mut scenarios: Vec<ScenarioDoc> = domains.flat_map(|domain| domain.scenarios).collect();
    // A few openings each, so that openings do not outweigh the other lines.
    scenarios
        .iter_mut()
        .filter_map(|scenario| scenario.goals.first_mut())
        .for_each(|goal| goal.user.truncate(4));
    scenarios
}

impl SpeakerClassifier {
    /// The one that has learnt from the whole catalog.
    #[must_use]
    pub fn trained() -> &'static Self {
        &EAR
    }

    /// Learns from scenarios.
    #[must_use]
    pub fn of(scenarios: &[ScenarioDoc]) -> Self {
        let lines: Vec<(bool, Vec<String>)> = scenarios
            .iter()
            .flat_map(said)
            .map(|(is_user, text)| (is_user, marks(&without_places(text))))
            .filter(|(_, marks)| !marks.is_empty())
            .collect();
        let mut classifier = Self { places: places(&lines), weights: Vec::new(), bias: 0.0 };
        classifier.learn(&lines);
        classifier
    }

    /// How much a line sounds like a user who asks; below 0 like an assistant, and 0 where none of its words is known.
    #[must_use]
    pub fn hears(&self, line: &str) -> f32 {
        let known = self.known(&marks(line));
        self.score(&self.weights, self.bias, &known)
    }

    /// Whether a line is its speaker's: where the line that it stands for sounds so, it does not clearly sound as the other's.
    #[must_use]
    pub fn keeps(&self, speaker: Speaker, line: &str, reference: &str) -> bool {
        let own = |text| match speaker {
            Speaker::User => self.hears(text),
            Speaker::Assistant => -self.hears(text),
        };
        own(reference) <= 0.0 || own(line) > -CLEAR
    }

    fn known(&self, marks: &[String]) -> Vec<usize> {
        marks.iter().filter_map(|mark| self.places.get(mark).copied()).collect()
    }

    fn score(&self, weights: &[f32], bias: f32, known: &[usize]) -> f32 {
        if known.is_empty() {
            return 0.0;
        }
        let sum: f32 = known.iter().filter_map(|at| weights.get(*at)).sum();
        sum / (known.len() as f32).sqrt() + bias
    }

    fn learn(&mut self, lines: &[(bool, Vec<String>)]) {
        const ROUNDS: u16 = 12;
        const STEP: f32 = 0.3;
        let users = lines.iter().filter(|(is_user, _)| *is_user).count().max(1) as f32;
        let all = lines.len() as f32;
        let mut data: Vec<(f32, f32, Vec<usize>)> = lines
            .iter()
            .map(|(is_user, marks)| match is_user {
                true => (1.0, all / 2.0 / users, self.known(marks)),
                false => (-1.0, all / 2.0 / (all - users).max(1.0), self.known(marks)),
            })
            .filter(|(.., known)| !known.is_empty())
            .collect();
        // The last place is the bias.
        let last = self.places.len();
        let mut weights = vec![0.0_f32; last + 1];
        let mut squares = vec![0.01_f32; last + 1];
        let mut sums = vec![0.0_f32; last + 1];
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        for _ in 0..ROUNDS {
            data.shuffle(&mut rng);
            for (is, share, known) in &data {
                if is * self.score(&weights, weights[last], known) >= 1.0 {
                    continue;
                }
                let slope = -share * is;
                let each = slope / (known.len() as f32).sqrt();
                for (at, slope) in known.iter().map(|at| (*at, each)).chain([(last, slope)]) {
                    squares[at] += slope * slope;
                    weights[at] -= STEP * slope / squares[at].sqrt();
                }
            }
            sums.iter_mut().zip(&weights).for_each(|(sum, weight)| *sum += weight);
        }
        sums.iter_mut().for_each(|sum| *sum /= f32::from(ROUNDS));
        self.bias = sums.pop().unwrap_or_default();
        self.weights = sums;
    }
}

/// Words and pairs of neighbours that are said in three lines or more, each with a place of its own.
fn places(lines: &[(bool, Vec<String>)]) -> HashMap<String, usize> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for mark in lines.iter().flat_map(|(_, marks)| marks) {
        *counts.entry(mark).or_default() += 1;
    }
    let often = counts.into_iter().filter(|(_, count)| *count >= 3);
    often.enumerate().map(|(place, (mark, _))| (mark.to_owned(), place)).collect()
}

/// The words of a line and its pairs of neighbours, ends of sentences included; each once.
fn marks(line: &str) -> Vec<String> {
    let mut marks = Vec::new();
    for words in plain(line) {
        let ends = ["^"].into_iter().chain(words.iter().map(String::as_str)).chain(["$"]);
        let all: Vec<&str> = ends.collect();
        marks.extend(all.windows(2).map(|pair| pair.join(" ")));
        marks.extend(words);
    }
    marks.sort_unstable();
    marks.dedup();
    marks
}

/// What is said in a scenario in order to ask, and by the assistant. What a user says beside that is as anybody's.
fn said(scenario: &ScenarioDoc) -> impl Iterator<Item = (bool, &String)> {
    let asks = |goal: &ScenarioGoalDoc| !goal.facts.is_empty() || !goal.does.is_empty();
    let goals = scenario.goals.iter().enumerate();
    goals.flat_map(move |(number, goal)| {
        let user = goal.user.iter().filter(move |_| number == 0 || asks(goal)).map(|line| (true, line));
        let told = goal.does.iter().flat_map(|step| &step.say).chain(&goal.end);
        user.chain(told.map(|line| (false, line)))
    })
}

/// A wording without its places.
fn without_places(wording: &str) -> String {
    let mut depth = 0_usize;
    let mut text = String::with_capacity(wording.len());
    for character in wording.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => text.push(character),
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests;
