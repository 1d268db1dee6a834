//! The tags of a conversation: the values of the column `tags`.

use diorama_seeds::doc::{ScenarioDoc, ScenarioStepDoc, Tag};
use indexmap::IndexSet;

use super::scenario::{Detour, Played};

/// Labels of how a scenario's calls are made: who solves the task in another way need not have them.
pub const OF_THE_WAY: [&str; 2] = [SAYS_BEFORE_CALLING, MISSED_SEARCH];
const SAYS_BEFORE_CALLING: &str = "says_before_calling";
const MISSED_SEARCH: &str = "missed_search";

/// The labels that a share can be set for.
pub const LABELS: [&str; 20] = [
    "withheld",
    "parallel_calls",
    "loop",
    "recovery",
    "refusal",
    "branch",
    "second_request",
    "no_call",
    "policy",
    "correction",
    "confirmation",
    "no_tool",
    "next_page",
    "calculation",
    Detour::TransientError.label(),
    Detour::ExpiredToken.label(),
    Detour::Slip.label(),
    Detour::Misspelt.label(),
    Detour::ChangedMind.label(),
    Detour::Digression.label(),
];

/// Labels by what a scenario's form tells, and its author: known before it is played.
#[must_use]
pub fn told_by(doc: &ScenarioDoc) -> Vec<&'static str> {
    let steps = || doc.goals.iter().flat_map(|goal| &goal.does);
    let calls = |step: &ScenarioStepDoc| step.call.is_some() || !step.together.is_empty();
    let declared = |tag| doc.shows.contains(&tag);
    let fails = steps().position(|step| step.fails || step.together.iter().any(|call| call.fails));
    let recovers = fails.is_some_and(|at| steps().skip(at + 1).any(|step| calls(step) && !step.fails));
    let labels = [
        ("withheld", steps().any(|step| step.ask.is_some())),
        ("parallel_calls", steps().any(|step| !step.together.is_empty() || step.at_once)),
        ("loop", steps().any(|step| step.each.is_some())),
        ("recovery", recovers),
        ("refusal", doc.goals.iter().any(|goal| !goal.refused.is_empty())),
        ("branch", doc.goals.iter().any(|goal| goal.when.is_some())),
        ("second_request", doc.goals.len() > 1),
        ("no_call", doc.goals.iter().any(|goal| !goal.does.iter().any(calls))),
        ("policy", !doc.policy.is_empty()),
        ("correction", declared(Tag::Correction)),
        ("confirmation", declared(Tag::Confirmation)),
        ("no_tool", declared(Tag::NoTool)),
        ("next_page", declared(Tag::NextPage)),
        ("calculation", declared(Tag::Calculation)),
    ];
    labels.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| name).collect()
}

/// The labels of scenarios that were played as one conversation.
#[must_use]
pub fn label(played: &Played<'_>) -> Vec<&'static str> {
    let scenarios = &played.scenarios;
    let turns = || played.candidate.goals.iter().flat_map(|goal| &goal.turns);
    let mut arguments = turns().flat_map(|turn| &turn.calls).flat_map(|call| call.arguments.values());
    let labels = [
        (SAYS_BEFORE_CALLING, turns().any(|turn| turn.say.is_some() && !turn.calls.is_empty())),
        (MISSED_SEARCH, played.missed > 0),
        ("list_argument", arguments.any(|value| value.is_array() || value.is_object())),
    ];
    let first = scenarios.first();
    let several = scenarios.iter().any(|other| first.is_some_and(|first| first.domain != other.domain));
    let joined = [
        ("joined", scenarios.len() > 1),
        ("several_domains", several),
        ("second_request", scenarios.len() > 1),
    ];
    let told = scenarios.iter().flat_map(|scenario| told_by(&scenario.doc));
    let shown = joined.into_iter().chain(labels).filter(|(_, holds)| *holds).map(|(name, _)| name);
    let detours = played.detours.iter().map(|detour| detour.label());
    told.chain(shown).chain(detours).collect::<IndexSet<_>>().into_iter().collect()
}
