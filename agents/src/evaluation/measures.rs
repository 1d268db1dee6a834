//! Measures over graded episodes.
//!
//! Success and errors come from the grader. The rest follows the papers: correct-path rate and Δ solution length
//! (RestGPT, section 4.2), call accuracy and ROUGE-L (API-Bank, section 4).

use std::collections::BTreeMap;

use diorama_seeds::task::{Ability, GoldCall, Outcome};
use diorama_simulator::engine::tools::TOOL_SEARCHER;
use diorama_simulator::grade::ErrorClass;
use serde::Serialize;

use super::judge::{Judge, Judged};
use crate::episode::Task;

/// Results of an agent over a set of tasks. Shares are from 0 to 1.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Results {
    /// Tasks.
    pub tasks: u64,
    /// Share of tasks that were solved, over all trials.
    pub success: f64,
    /// Share whose calls hold the reference APIs in order (RestGPT's correct-path rate).
    pub correct_path: f64,
    /// Mean of calls made beyond the reference calls, over solved tasks (RestGPT's Δ solution length).
    pub delta_len: f64,
    /// Share of reference calls that were made with the same arguments.
    pub call_accuracy: f64,
    /// Mean ROUGE-L (F1) of the final answer against the reference answer.
    pub rouge_l: f64,
    /// Errors by class, counted once per episode.
    pub errors: BTreeMap<String, u64>,
    /// pass^k: how likely k trials of a task are all solved, estimated from all trials of each task without bias, as in
    /// τ-bench: with c of n trials solved, the share of the ways to choose k of the n that are all among the c.
    pub pass_k: BTreeMap<String, f64>,
    /// Share of reference APIs that the agent's searches showed; none without searches.
    pub recall_at_5: Option<f64>,
    /// Success by ability.
    pub success_by_ability: BTreeMap<String, f64>,
    /// Success of tasks whose reference outcome is not a refusal.
    pub success_without_refusals: f64,
    /// Success of tasks that are answered and change nothing.
    pub success_answer_only: f64,
    /// Success of tasks whose stages are all refused.
    pub success_refused: f64,
    /// How likely it is that values picked from the replies to the right calls, each of its fact's kind, are the facts:
    /// the mean over the tasks that are answered and change nothing.
    pub chance_answer_only: f64,
}

/// Adds episodes up.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    tasks: u64,
    episodes: u64,
    solved: u64,
    correct_path: u64,
    extra_calls: i64,
    gold_calls: u64,
    matched_calls: u64,
    rouge: f64,
    errors: BTreeMap<String, u64>,
    passes: Vec<f64>,
    shown: (u64, u64),
    by_ability: BTreeMap<String, (u64, u64)>,
    not_refused: (u64, u64),
    answer_only: (u64, u64),
    refused: (u64, u64),
    chance: f64,
}

impl Tally {
    /// Adds the trials of one task.
    pub fn add(&mut self, judge: &Judge, ability: Ability, trials: &[Judged]) {
        let task = judge.task();
        self.tasks += 1;
        let name = serde_json::to_value(ability)
            .ok()
            .and_then(|value| value.as_str().map(str::to_owned))
            .unwrap_or_default();
        let solved = trials.iter().filter(|judged| judged.grade.success).count();
        self.passes.resize(self.passes.len().max(trials.len()), 0.0);
        for (k, passes) in self.passes.iter_mut().enumerate().take(trials.len()) {
            *passes += all_of(k + 1, solved, trials.len());
        }
        for judged in trials {
            let success = judged.grade.success;
            self.episodes += 1;
            self.solved += u64::from(success);
            let ability = self.by_ability.entry(name.clone()).or_default();
            ability.0 += u64::from(success);
            ability.1 += 1;
            if !task.stages.iter().any(|stage| stage.outcome == Outcome::Refused) {
                self.not_refused.0 += u64::from(success);
                self.not_refused.1 += 1;
            }
            if task.is_answer_only() {
                self.answer_only = (self.answer_only.0 + u64::from(success), self.answer_only.1 + 1);
                self.chance += task.chance();
            }
            if task.stages.iter().all(|stage| stage.outcome == Outcome::Refused) {
                self.refused = (self.refused.0 + u64::from(success), self.refused.1 + 1);
            }
            self.path(task, judged, success);
            let told: Vec<&str> = task.stages.iter().map(|stage| &*stage.answer).collect();
            self.rouge += rouge_l(&judged.answers.join(" "), &told.join(" "));
            let mut classes: Vec<String> =
                judged.grade.errors.iter().map(|error| class_name(error.class)).collect();
            classes.sort_unstable();
            classes.dedup();
            for class in classes {
                *self.errors.entry(class).or_default() += 1;
            }
        }
    }

    /// Adds another tally; the order of adding does not matter but for rounding.
    pub fn merge(&mut self, other: &Self) {
        self.tasks += other.tasks;
        self.episodes += other.episodes;
        self.solved += other.solved;
        self.correct_path += other.correct_path;
        self.extra_calls += other.extra_calls;
        self.gold_calls += other.gold_calls;
        self.matched_calls += other.matched_calls;
        self.rouge += other.rouge;
        for (class, count) in &other.errors {
            *self.errors.entry(class.clone()).or_default() += count;
        }
        self.passes.resize(self.passes.len().max(other.passes.len()), 0.0);
        for (k, passes) in other.passes.iter().enumerate() {
            self.passes[k] += passes;
        }
        self.shown = (self.shown.0 + other.shown.0, self.shown.1 + other.shown.1);
        for (name, (part, of)) in &other.by_ability {
            let ability = self.by_ability.entry(name.clone()).or_default();
            *ability = (ability.0 + part, ability.1 + of);
        }
        let add = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
        self.not_refused = add(self.not_refused, other.not_refused);
        self.answer_only = add(self.answer_only, other.answer_only);
        self.refused = add(self.refused, other.refused);
        self.chance += other.chance;
    }

    fn path(&mut self, task: &Task, judged: &Judged, success: bool) {
        let wanted: Vec<&GoldCall> = task.gold.iter().filter(|gold| gold.api != TOOL_SEARCHER).collect();
        let made: Vec<&str> = judged.log.iter().map(|entry| entry.call.api.as_str()).collect();
        let mut rest = made.iter();
        let in_order = wanted.iter().all(|gold| rest.any(|api| *api == gold.api));
        self.correct_path += u64::from(in_order);
        if success {
            self.extra_calls += judged.log.len() as i64 - task.gold.len() as i64;
        }
        self.gold_calls += wanted.len() as u64;
        self.matched_calls += wanted
            .iter()
            .filter(|gold| {
                judged
                    .log
                    .iter()
                    .any(|entry| entry.call.api == gold.api && entry.call.arguments == gold.arguments)
            })
            .count() as u64;
        if task.episode.visible.is_empty() {
            let shown: Vec<String> = judged
                .log
                .iter()
                .filter(|entry| entry.call.api == TOOL_SEARCHER)
                .flat_map(|entry| {
                    entry
                        .reply
                        .body
                        .leaves()
                        .filter(|(path, ..)| path.ends_with("].name"))
                        .filter_map(|(_, value, _)| value.as_str().map(str::to_owned))
                        .collect::<Vec<_>>()
                })
                .collect();
            self.shown.0 += wanted.iter().filter(|gold| shown.contains(&gold.api)).count() as u64;
            self.shown.1 += wanted.len() as u64;
        }
    }

    /// The results so far.
    #[must_use]
    pub fn results(&self) -> Results {
        let share = |part: u64, of: u64| if of == 0 { 0.0 } else { part as f64 / of as f64 };
        Results {
            tasks: self.tasks,
            success: share(self.solved, self.episodes),
            correct_path: share(self.correct_path, self.episodes),
            delta_len: if self.solved == 0 { 0.0 } else { self.extra_calls as f64 / self.solved as f64 },
            call_accuracy: share(self.matched_calls, self.gold_calls),
            rouge_l: if self.episodes == 0 { 0.0 } else { self.rouge / self.episodes as f64 },
            errors: self.errors.clone(),
            pass_k: self
                .passes
                .iter()
                .enumerate()
                .map(|(k, passed)| {
                    ((k + 1).to_string(), if self.tasks == 0 { 0.0 } else { passed / self.tasks as f64 })
                })
                .collect(),
            recall_at_5: (self.shown.1 > 0).then(|| share(self.shown.0, self.shown.1)),
            success_by_ability: self
                .by_ability
                .iter()
                .map(|(name, (part, of))| (name.clone(), share(*part, *of)))
                .collect(),
            success_without_refusals: share(self.not_refused.0, self.not_refused.1),
            success_answer_only: share(self.answer_only.0, self.answer_only.1),
            success_refused: share(self.refused.0, self.refused.1),
            chance_answer_only: if self.answer_only.1 == 0 {
                0.0
            } else {
                self.chance / self.answer_only.1 as f64
            },
        }
    }
}

/// The share of the ways to choose `k` of `n` trials that choose solved ones only.
fn all_of(k: usize, solved: usize, n: usize) -> f64 {
    (0..k).map(|at| solved.saturating_sub(at) as f64 / (n - at).max(1) as f64).product()
}

/// The word that JSON has for a state, such as an error class.
#[must_use]
pub fn word_of(state: impl Serialize) -> String {
    let json = serde_json::to_value(state).unwrap_or_default();
    json.as_str().map(str::to_owned).unwrap_or_default()
}

/// The name of an error class, as grades spell it.
#[must_use]
pub fn class_name(class: ErrorClass) -> String {
    word_of(class)
}

/// ROUGE-L, F1 with equal weights (Lin 2004), over lower-case words.
#[must_use]
pub fn rouge_l(answer: &str, reference: &str) -> f64 {
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .take(400)
            .collect()
    };
    let (a, b) = (words(answer), words(reference));
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let mut row = vec![0_usize; b.len() + 1];
    for x in &a {
        let mut diagonal = 0;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y { diagonal + 1 } else { above.max(row[j]) };
            diagonal = above;
        }
    }
    let common = row[b.len()] as f64;
    let (precision, recall) = (common / a.len() as f64, common / b.len() as f64);
    if common == 0.0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) }
}

#[cfg(test)]
mod tests {
    use super::{all_of, rouge_l};

    #[test]
    fn pass_k_takes_all_trials_into_account() {
        assert_eq!(all_of(1, 3, 4), 0.75);
        assert_eq!(all_of(2, 3, 4), 0.5);
        assert_eq!(all_of(4, 3, 4), 0.0);
        assert_eq!(all_of(2, 2, 2), 1.0);
    }

    #[test]
    fn rouge_l_is_the_f1_of_the_longest_common_subsequence() {
        assert_eq!(rouge_l("the cat sat", "The cat sat."), 1.0);
        assert_eq!(rouge_l("", "x"), 0.0);
        // Common subsequence "police killed gunman"? No: "police the gunman" has length 3 of 4 words each.
        assert!((rouge_l("police kill the gunman", "police killed the gunman") - 0.75).abs() < 1e-12);
    }
}
