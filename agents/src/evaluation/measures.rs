//! Owns the measures of one graded episode, as plain values that `results` groups and averages.
//!
//! Success and errors come from the grader. The rest follows the papers: correct-path rate and Δ solution length
//! (RestGPT, section 4.3), call accuracy and ROUGE-L (API-Bank, section 4).

use std::collections::BTreeSet;

use diorama_baselines::rouge::rouge_l;
use diorama_baselines::trace::{Note, Step};
use diorama_engine::tools::{TOOL_SEARCHER, is_of_solution};
use diorama_grade::ErrorClass;
use diorama_llm::Usage;
use diorama_output::row::{Dialogue, ability_name};
use diorama_seeds::task::{GoldCall, Outcome};
use serde::Serialize;

use super::attribution::Attribution;
use super::batch::Episode;
use super::call_matching::count_matched_calls;
use super::judge::{Judge, JudgedEpisode};

/// Lengths of search results at which recall is measured. A search finds five APIs, and adds the API that
/// issues a token after each that needs one, so that 10 covers all.
pub const RECALL_CUTOFFS: [usize; 4] = [1, 3, 5, 10];

/// Measures of one graded episode.
#[derive(Clone, Debug)]
pub struct EpisodeMeasures {
    /// Id of the task's row.
    pub task: String,
    /// Groups of the episode: dimension and name.
    pub groups: Vec<(&'static str, String)>,
    /// True if a model or a server failed before the episode ended.
    pub unfinished: bool,
    /// True if the simulator or the simulated user caused the failure.
    pub excluded: bool,
    /// True if the episode passed.
    pub success: bool,
    /// Cause of a failure.
    pub attribution: Option<Attribution>,
    /// Partial credit, in `0..=1`.
    pub credit: f64,
    /// Number of calls.
    pub calls: u64,
    /// Tokens of the model, sent and received.
    pub usage: Usage,
    /// Duration in milliseconds, if the episode waited for a model or a server.
    pub took_ms: Option<u64>,
    /// True if the reference refuses some goal of the task.
    pub has_refusal: bool,
    /// True if the reference refuses all goals of the task.
    pub is_refused: bool,
    /// Probability that values picked from the replies are the facts, for tasks with answers and without
    /// changes.
    pub chance: Option<f64>,
    /// True if the calls hold the reference APIs in order, with those of one message in any order
    /// (RestGPT's correct path).
    pub correct_path: bool,
    /// Calls beyond the reference calls, without searches (RestGPT's Δ solution length).
    pub extra_calls: i64,
    /// Number of reference calls without searches.
    pub reference_calls: u64,
    /// Reference calls that the agent made with the same arguments, up to renaming of tokens and keys of
    /// new records.
    pub matched_calls: u64,
    /// ROUGE-L of the final answers against the reference's, in `0..=1`.
    pub rouge_l: f64,
    /// Classes of errors, without repetition.
    pub errors: BTreeSet<String>,
    /// Measures of searches, if the agent must search for APIs.
    pub searched: Option<SearchMeasures>,
    /// Roles whose replies could not be parsed, one entry per reply.
    pub malformed: Vec<String>,
    /// Fallbacks of the agent, as `role: way`.
    pub fell_back: Vec<String>,
}

/// Comparison of the APIs that searches showed with those of the reference calls.
#[derive(Clone, Copy, Debug)]
pub struct SearchMeasures {
    /// Number of searches.
    pub searches: u64,
    /// Reference calls whose API some search showed.
    pub shown_calls: u64,
    /// recall@k at each of [`RECALL_CUTOFFS`]: the share of the reference's APIs among the first k of any
    /// search. None if the reference calls no API.
    pub recall: Option<[f64; RECALL_CUTOFFS.len()]>,
}

impl EpisodeMeasures {
    /// Measures an episode of a row.
    pub fn of(row: &Dialogue, judge: &Judge, episode: &Episode, judged: &JudgedEpisode) -> Self {
        let task = judge.task();
        let wanted: Vec<&GoldCall> = task.gold.iter().filter(|gold| is_of_solution(gold)).collect();
        let made: Vec<&str> = judged.log.iter().map(|entry| &*entry.call.api).collect();
        let reference: Vec<&str> = task.goals.iter().map(|goal| &*goal.answer).collect();
        let refused = |outcome: Outcome| outcome == Outcome::Refused;
        let notes = |name: fn(&Note) -> Option<String>| {
            let noted = episode.steps.iter().filter_map(|step| match step {
                Step::Noted(note) => Some(note),
                _ => None,
            });
            noted.filter_map(name).collect::<Vec<String>>()
        };
        Self {
            task: row.id.clone(),
            groups: groups(row, judge),
            unfinished: episode.is_unfinished(),
            excluded: episode.excluded,
            success: episode.grade.success,
            attribution: episode.attribution,
            credit: judge.credit(&episode.grade),
            calls: episode.calls(),
            usage: episode.usage(),
            took_ms: episode.took_ms,
            has_refusal: task.goals.iter().any(|goal| refused(goal.outcome)),
            is_refused: task.goals.iter().all(|goal| refused(goal.outcome)),
            chance: task.is_answer_only().then(|| task.chance()),
            correct_path: holds_path(&list_by_message(row, &task.gold), &made),
            extra_calls: extra_calls(&made, wanted.len()),
            reference_calls: wanted.len() as u64,
            matched_calls: count_matched_calls(judge.world(), &task.gold, &task.replies, &judged.log),
            rouge_l: rouge_l(&judged.answers.join(" "), &reference.join(" ")),
            errors: episode.grade.errors.iter().map(|error| class_name(error.class)).collect(),
            searched: task.episode.visible.is_empty().then(|| search_measures(&wanted, episode, judged)),
            malformed: notes(|note| match note {
                Note::Malformed { role, .. } => Some(role.clone()),
                _ => None,
            }),
            fell_back: notes(|note| match note {
                Note::FellBack { role, to, .. } => Some(format!("{role}: {to}")),
                _ => None,
            }),
        }
    }

    /// Returns true if the episode shows something about the agent.
    pub const fn counts(&self) -> bool {
        !self.unfinished && !self.excluded
    }
}

/// Returns the number of calls beyond the `wanted` ones of the reference, without searches.
fn extra_calls(made: &[&str], wanted: usize) -> i64 {
    made.iter().filter(|api| **api != TOOL_SEARCHER).count() as i64 - wanted as i64
}

/// Returns the APIs of the reference's calls without searches, message by message.
fn list_by_message<'a>(row: &Dialogue, gold: &'a [GoldCall]) -> Vec<Vec<&'a str>> {
    let mut calls = gold.iter();
    let counts = row.messages.iter().map(|message| message.tool_calls.len()).filter(|count| *count > 0);
    let mut messages: Vec<Vec<&GoldCall>> =
        counts.map(|count| calls.by_ref().take(count).collect()).collect();
    messages.extend(calls.map(|call| vec![call]));
    let apis = |calls: Vec<&'a GoldCall>| {
        calls.into_iter().filter(|call| is_of_solution(call)).map(|call| &*call.api).collect()
    };
    messages.into_iter().map(apis).collect()
}

/// Returns true if the calls hold those of all messages, one message after the other. The calls of one
/// message are independent, and may come in any order.
fn holds_path(messages: &[Vec<&str>], made: &[&str]) -> bool {
    let mut from = 0;
    for message in messages {
        let mut open = message.clone();
        let mut end = from;
        for (at, api) in made.iter().enumerate().skip(from) {
            let Some(found) = open.iter().position(|wanted| wanted == api) else { continue };
            open.swap_remove(found);
            end = at + 1;
            if open.is_empty() {
                break;
            }
        }
        if !open.is_empty() {
            return false;
        }
        from = end;
    }
    true
}

/// Returns the groups of a row's episodes: dimension and name.
fn groups(row: &Dialogue, judge: &Judge) -> Vec<(&'static str, String)> {
    let ability = ability_name(row.ability);
    let mut groups = vec![
        ("ability", ability.to_owned()),
        ("depth", row.depth.to_string()),
        ("pool", pool_range(judge.pool())),
    ];
    groups.extend(row.difficulty.map(|band| ("difficulty", band.name().to_owned())));
    for tag in &row.tags {
        groups.push(("ability_and_tag", format!("{ability} / {tag}")));
        groups.push(("tag", tag.clone()));
    }
    groups
}

/// Upper ends of the ranges of pool sizes, in APIs.
const POOL_LIMITS: [usize; 6] = [5, 10, 25, 50, 100, 250];

/// Returns the range of a number of APIs: `6-10`.
fn pool_range(apis: usize) -> String {
    let above = POOL_LIMITS.iter().position(|most| apis <= *most);
    let from =
        |at: usize| at.checked_sub(1).and_then(|before| POOL_LIMITS.get(before)).map_or(1, |most| most + 1);
    match above.and_then(|at| Some((at, POOL_LIMITS.get(at)?))) {
        Some((at, most)) => format!("{}-{most}", from(at)),
        None => format!("{} and more", from(POOL_LIMITS.len())),
    }
}

fn search_measures(wanted: &[&GoldCall], episode: &Episode, judged: &JudgedEpisode) -> SearchMeasures {
    let listed = |step: &'_ Step| match step {
        Step::Called { call, found, .. } if call.api == TOOL_SEARCHER => Some(found.clone()),
        _ => None,
    };
    let lists: Vec<Vec<String>> = episode.steps.iter().filter_map(listed).collect();
    let apis: BTreeSet<&str> = wanted.iter().map(|gold| &*gold.api).collect();
    let recall = |cut: usize| {
        let shown: BTreeSet<&str> =
            lists.iter().flat_map(|list| list.iter().take(cut)).map(String::as_str).collect();
        apis.intersection(&shown).count() as f64 / apis.len() as f64
    };
    let mut shown: BTreeSet<String> = BTreeSet::new();
    for entry in judged.log.iter().filter(|entry| entry.call.api == TOOL_SEARCHER) {
        let names = entry.reply.body.leaves().filter(|(path, ..)| path.ends_with("].name"));
        shown.extend(names.filter_map(|(_, value, _)| value.as_str().map(str::to_owned)));
    }
    SearchMeasures {
        searches: lists.len() as u64,
        shown_calls: wanted.iter().filter(|gold| shown.contains(&gold.api)).count() as u64,
        recall: (!apis.is_empty()).then(|| RECALL_CUTOFFS.map(recall)),
    }
}

/// Returns the JSON name of an enum value, such as an error class.
pub fn word_of(state: impl Serialize) -> String {
    let json = serde_json::to_value(state).unwrap_or_default();
    json.as_str().map(str::to_owned).unwrap_or_default()
}

/// Returns the name of an error class, as grades spell it.
pub fn class_name(class: ErrorClass) -> String {
    word_of(class)
}

#[cfg(test)]
mod tests {
    use super::{extra_calls, holds_path, pool_range};

    #[test]
    fn searches_make_no_solution_longer() {
        assert_eq!(extra_calls(&["ToolSearcher", "Get", "ToolSearcher", "Book"], 1), 1);
        assert_eq!(extra_calls(&["ToolSearcher"], 0), 0);
    }

    #[test]
    fn calls_of_one_message_come_in_any_order_on_a_correct_path() {
        let path = [vec!["Get", "List"], vec![], vec!["Book", "Book"]];
        let check = |made: &[&str], expect: bool| assert_eq!(holds_path(&path, made), expect, "{made:?}");
        check(&["Get", "List", "Book", "Book"], true);
        check(&["List", "Pay", "Get", "Book", "Get", "Book"], true);
        check(&["List", "Book", "Get", "Book"], false);
        check(&["List", "Get", "Book"], false);
        assert!(holds_path(&[], &[]));
    }

    #[test]
    fn pools_are_told_apart_by_ranges_without_gaps() {
        let ranges: Vec<String> = [1, 5, 6, 25, 26, 250, 251, 4000].map(pool_range).into();
        assert_eq!(
            ranges,
            ["1-5", "1-5", "6-10", "11-25", "26-50", "101-250", "251 and more", "251 and more"]
        );
    }
}
