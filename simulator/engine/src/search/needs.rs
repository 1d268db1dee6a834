//! Needs between APIs: an input of one API that is an output of another. Integers only; shares are in percent.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::entry::ApiEntry;
use super::score::{BEST_OF_ALL, Score, Scores, best_first};
use super::vectors::Vectors;

/// Hits whose needs are looked at.
const NEEDY: usize = 10;
/// The share of the best source's score that a hit gains for each of its inputs.
const FED: Score = 30;
/// How far needs are followed.
const STEPS: usize = 3;
/// The share of the best score that remains for the hit that gained most: the best match of the words stays first.
const BELOW_BEST: Score = 97;
/// The share of a hit's score for the sources of an identifier that it asks for.
const PASSED_HIDDEN: Score = 90;
/// The same for another thing that some API exists to tell: half-way, since users may or may not say it.
const PASSED_TOLD: Score = 70;
/// The same for anything else.
const PASSED_OTHER: Score = 50;
/// Sources of one need that a hit passes on to; which of them is meant is not known for sure.
const ALTERNATIVES: usize = 3;
/// The share of the better source's score that the next source gets.
const NEXT: Score = 85;
/// Fitness is in 2^-28ths, as products of vectors are: a hundredth of one.
const FIT: Score = (1 << 28) / 100;
/// The weight of a source's own score in its fitness, in units of `FIT`.
const OWN: Score = 25;
/// The fitness that a source loses for each identifier that it asks for itself, in units of `FIT`; and the most that
/// count.
const ASKS: Score = 20;
const MOST_ASKED: usize = 3;
/// The fitness that a source gains if it has a single output, in units of `FIT`. It is divided by the number of
/// outputs.
const TELLS_ONLY_THIS: Score = 60;
/// Entries that return one thing, at most; what everything returns tells nothing apart.
const MAX_SOURCES: usize = 64;
/// The fittest of them that one input keeps.
const KEPT: usize = 16;
/// The least words of a name that another's may end with to be the same thing.
const LEAST_WORDS: usize = 2;

/// The sources that can fill each input, by the positions of entries.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// For each entry the inputs that others can fill.
    of: Vec<Vec<Need>>,
}

/// An input that other APIs can fill.
#[derive(Debug)]
struct Need {
    /// The share of a hit's score that its sources get.
    share: Score,
    /// Entries that return it and how well each fits, whatever is searched for; the best first.
    sources: Vec<(Score, u32)>,
}

/// The score that a source gets from a hit that needs it.
#[derive(Clone, Copy, Debug)]
pub struct Passed {
    pub score: Score,
    /// The hit's position.
    pub by: usize,
}

/// The scores that hits gain from each other.
#[derive(Debug, Default)]
pub struct Exchanged {
    /// The best hits: what they have now, and their positions, best first.
    pub fed: Vec<(Score, usize)>,
    /// The scores that sources get, by position.
    pub passed: BTreeMap<usize, Passed>,
}

/// Entries by what they return, world by world.
type Sources<'a> = FxHashMap<(&'a str, &'a str), Vec<u32>>;

impl Needs {
    /// An entry can fill an input of its own world that it does not ask for itself. Where entries that only read can,
    /// those that change records are left out: a key is looked up, not made.
    pub(super) fn new(entries: &[ApiEntry], vectors: &Vectors) -> Self {
        let sources = sources(entries);
        let needs = |(position, entry): (usize, &ApiEntry)| {
            let need = |input: &super::Port| {
                let found = found(&sources, &entry.world, &input.thing)?;
                let others = found.iter().copied().filter(|source| *source as usize != position);
                let fitness = |source: u32| {
                    let alike = Score::from(vectors.between(source as usize, position));
                    alike + entries.get(source as usize).map_or(0, ease)
                };
                let mut fit: Vec<(Score, u32)> = others.map(|source| (fitness(source), source)).collect();
                best_first(&mut fit);
                fit.truncate(KEPT);
                let told =
                    |source: &(Score, u32)| entries.get(source.1 as usize).is_some_and(tells_one_thing);
                let share = match input.hidden {
                    true => PASSED_HIDDEN,
                    false if fit.iter().any(told) => PASSED_TOLD,
                    false => PASSED_OTHER,
                };
                (!fit.is_empty()).then_some(Need { share, sources: fit })
            };
            entry.inputs.iter().filter_map(need).collect()
        };
        Self { of: entries.iter().enumerate().map(needs).collect() }
    }

    /// Returns the scores that hits gain from each other. `own` are the scores of the entries found, `passes` is true
    /// for an entry that may be shown.
    ///
    /// First each hit gains for every input that another hit can fill. Then the best pass a share of their scores on to
    /// the best sources of each of their inputs, and the first of these to its own.
    pub(super) fn exchanged(&self, own: &Scores, passes: impl Fn(usize) -> bool) -> Exchanged {
        let score = |position: usize| own.get(&position).copied().unwrap_or(0);
        let fed = self.fed(own);
        let mut passed: BTreeMap<usize, Passed> = BTreeMap::new();
        let mut needy = fed.clone();
        for _ in 0..STEPS {
            let mut next = Vec::new();
            for (whole, by) in needy {
                for need in self.of(by) {
                    let mut part = whole * need.share / 100;
                    for (rank, source) in need.best(score, &passes).into_iter().enumerate() {
                        if passed.get(&source).is_none_or(|most| part > most.score) {
                            passed.insert(source, Passed { score: part, by });
                            if rank == 0 {
                                next.push((part, source));
                            }
                        }
                        part = part * NEXT / 100;
                    }
                }
            }
            needy = next;
        }
        Exchanged { fed, passed }
    }

    /// The best hits when each has gained for the inputs that others can fill, best first, ties by position.
    fn fed(&self, own: &Scores) -> Vec<(Score, usize)> {
        let best = |need: &Need| {
            let scores = need.sources.iter().filter_map(|(_, source)| own.get(&(*source as usize)));
            scores.copied().max().unwrap_or(0)
        };
        let gain = |position: usize| FED * self.of(position).iter().map(best).sum::<Score>() / 100;
        let gained =
            |(position, score): (&usize, &Score)| (score + score * gain(*position) / BEST_OF_ALL, *position);
        let mut fed: Vec<(Score, usize)> = own.iter().map(gained).collect();
        best_first(&mut fed);
        fed.truncate(NEEDY);
        let top = own.values().copied().max().unwrap_or(0);
        let gained = fed.first().map_or(0, |(score, _)| *score);
        if gained > top {
            fed.iter_mut().for_each(|(score, _)| *score = *score * BELOW_BEST * top / (gained * 100));
        }
        fed
    }

    fn of(&self, position: usize) -> &[Need] {
        self.of.get(position).map_or(&[], Vec::as_slice)
    }
}

impl Need {
    /// The sources that fit best, best first, ties by position.
    fn best(&self, own: impl Fn(usize) -> Score, passes: impl Fn(usize) -> bool) -> Vec<usize> {
        let shown = self.sources.iter().map(|(fit, source)| (*fit, *source as usize));
        let mut fit: Vec<(Score, usize)> = shown
            .filter(|(_, source)| passes(*source))
            .map(|(fit, source)| (fit + OWN * FIT * own(source) / BEST_OF_ALL, source))
            .collect();
        best_first(&mut fit);
        fit.into_iter().take(ALTERNATIVES).map(|(_, source)| source).collect()
    }
}

/// How readily an entry tells what it tells: best is one that asks for no identifier and tells this only.
fn ease(entry: &ApiEntry) -> Score {
    FIT * (TELLS_ONLY_THIS / entry.outputs.len().max(1) as Score
        - ASKS * asked(entry).min(MOST_ASKED) as Score)
}

fn tells_one_thing(entry: &ApiEntry) -> bool {
    entry.outputs.len() == 1
}

fn asked(entry: &ApiEntry) -> usize {
    entry.inputs.iter().filter(|input| input.hidden).count()
}

fn sources(entries: &[ApiEntry]) -> Sources<'_> {
    let mut sources = Sources::default();
    for (position, entry) in entries.iter().enumerate() {
        for output in &entry.outputs {
            if !entry.inputs.iter().any(|input| input.thing == output.thing) {
                sources.entry((&entry.world, &output.thing)).or_default().push(position as u32);
            }
        }
    }
    for found in sources.values_mut() {
        let writes = |position: &u32| entries.get(*position as usize).is_some_and(|entry| entry.writes);
        if !found.iter().all(writes) {
            found.retain(|position| !writes(position));
        }
        found.dedup();
        if found.len() > MAX_SOURCES {
            let ease = |position: &u32| entries.get(*position as usize).map_or(0, ease);
            found.sort_by_key(|position| (Reverse(ease(position)), *position));
            found.truncate(MAX_SOURCES);
        }
    }
    sources
}

/// Returns the entries that output a thing. If there are none, the longest ending of its name with at least two words
/// counts: the `recipient user id` is a `user id`.
fn found<'a>(sources: &'a Sources<'a>, world: &'a str, thing: &'a str) -> Option<&'a Vec<u32>> {
    let mut rest = thing;
    loop {
        if let Some(found) = sources.get(&(world, rest)) {
            return Some(found);
        }
        rest = rest.split_once(' ')?.1;
        if rest.split(' ').count() < LEAST_WORDS {
            return None;
        }
    }
}
