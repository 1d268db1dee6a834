//! Needs: inputs of APIs that outputs of other APIs can supply. Integers only; shares are in per cent.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::entry::ApiEntry;
use super::score::{BEST_OF_ALL, Score, Scores, best_first};
use super::vectors::Vectors;

/// Number of hits whose needs are followed.
const NEEDY: usize = 10;
/// Per cent of the best source's score that a hit gains for each of its inputs.
const FED: Score = 30;
/// Number of rounds in which needs are followed.
const STEPS: usize = 3;
/// Maximum per cent of the best score for a hit that gained, so that the best match of the words stays first.
const BELOW_BEST: Score = 97;
/// Per cent of a hit's score that the sources of a required identifier get.
const PASSED_HIDDEN: Score = 90;
/// The same for another input that a single-purpose API supplies. It is lower because users may mention the
/// value themselves.
const PASSED_TOLD: Score = 70;
/// The same for any other input.
const PASSED_OTHER: Score = 50;
/// Number of sources per need that get a share. Several may be the right one.
const ALTERNATIVES: usize = 3;
/// Per cent of a source's share that the next source gets.
const NEXT: Score = 85;
/// The unit of fitness: one hundredth, in 2^-28ths like vector products.
const FIT: Score = (1 << 28) / 100;
/// The weight of a source's own score in its fitness, in units of `FIT`.
const OWN: Score = 25;
/// The fitness that a source loses for each identifier that it requires itself, in units of `FIT`. At most
/// [`MOST_ASKED`] identifiers count.
const ASKS: Score = 20;
const MOST_ASKED: usize = 3;
/// The fitness that a source with a single output gains, in units of `FIT`. It is divided by the number of
/// outputs.
const TELLS_ONLY_THIS: Score = 60;
/// Maximum number of entries that output one kind. A kind that more entries output does not distinguish them.
const MAX_SOURCES: usize = 64;
/// Number of the fittest sources that are kept per input.
const KEPT: usize = 16;
/// Minimum number of words that a shorter name must have to match the end of a longer one.
const LEAST_WORDS: usize = 2;

/// The sources of each input, by positions of entries.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// For each entry, the inputs that other entries can supply.
    of: Vec<Vec<Need>>,
}

/// An input that other APIs can supply.
#[derive(Debug)]
struct Need {
    /// Per cent of a hit's score that its sources get.
    share: Score,
    /// Entries that output it, with their fitness independent of the query, the fittest first.
    sources: Vec<(Score, u32)>,
}

/// The score that a source gets from a hit that needs it.
#[derive(Clone, Copy, Debug)]
pub struct PassedScore {
    pub score: Score,
    /// Position of the hit.
    pub by: usize,
}

/// The scores that hits give each other.
#[derive(Debug, Default)]
pub struct ExchangedScores {
    /// The best hits with their increased scores and positions, best first.
    pub fed: Vec<(Score, usize)>,
    /// The scores that sources get, by position.
    pub passed: BTreeMap<usize, PassedScore>,
}

/// Entries by world and by kind of output.
type Sources<'a> = FxHashMap<(&'a str, &'a str), Vec<u32>>;

impl Needs {
    /// Finds the needs of entries. An entry can supply an input of its own world that it does not require
    /// itself. Entries that write are left out if reading ones can supply the input, because keys should be
    /// looked up rather than created.
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

    /// Returns the scores that hits give each other. `own` has the scores of the found entries. `passes`
    /// returns true for an entry that may be shown.
    ///
    /// First, each hit gains for every input that another hit can supply. Then the best hits pass a share of
    /// their scores to the best sources of their inputs. The best of these sources do the same.
    pub(super) fn exchanged(&self, own: &Scores, passes: impl Fn(usize) -> bool) -> ExchangedScores {
        let score = |position: usize| own.get(&position).copied().unwrap_or(0);
        let fed = self.fed(own);
        let mut passed: BTreeMap<usize, PassedScore> = BTreeMap::new();
        let mut needy = fed.clone();
        for _ in 0..STEPS {
            let mut next = Vec::new();
            for (whole, by) in needy {
                for need in self.of(by) {
                    let mut part = whole * need.share / 100;
                    for (rank, source) in need.best(score, &passes).into_iter().enumerate() {
                        if passed.get(&source).is_none_or(|most| part > most.score) {
                            passed.insert(source, PassedScore { score: part, by });
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
        ExchangedScores { fed, passed }
    }

    /// Returns the best hits after each has gained for its supplied inputs, best first, ties by position.
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
    /// Returns the fittest sources, best first, ties by position.
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

/// Returns how readily an entry supplies its outputs. An entry without required identifiers and with a single
/// output scores highest.
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

/// Returns the entries that output a kind. If there are none, tries ever shorter endings of its name, down to
/// two words. Example: a `user id` fits a `recipient user id`.
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
