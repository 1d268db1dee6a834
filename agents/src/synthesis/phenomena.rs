//! What is special about a conversation, by name: the labels of the column `phenomena`.

use diorama_seeds::doc::{Phenomenon, ScenarioDoc, ScenarioStepDoc};
use diorama_seeds::scenario::Scenario;

use super::scenario::Played;

/// The labels that a share can be set for.
pub const LABELS: [&str; 14] = [
    "held_back",
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
    "reckoning",
];

/// Labels by what a scenario's form tells, and its author: known before it is played.
#[must_use]
pub fn told_by(doc: &ScenarioDoc) -> Vec<&'static str> {
    let steps = || doc.stages.iter().flat_map(|stage| &stage.does);
    let calls = |step: &ScenarioStepDoc| step.call.is_some() || !step.together.is_empty();
    let declared = |phenomenon| doc.shows.contains(&phenomenon);
    let fails = steps().position(|step| step.fails || step.together.iter().any(|call| call.fails));
    let recovers = fails.is_some_and(|at| steps().skip(at + 1).any(|step| calls(step) && !step.fails));
    let labels = [
        ("held_back", steps().any(|step| step.ask.is_some())),
        ("parallel_calls", steps().any(|step| !step.together.is_empty() || step.at_once)),
        ("loop", steps().any(|step| step.each.is_some())),
        ("recovery", recovers),
        ("refusal", doc.stages.iter().any(|stage| stage.refused.is_some())),
        ("branch", doc.stages.iter().any(|stage| stage.when.is_some())),
        ("second_request", doc.stages.len() > 1),
        ("no_call", doc.stages.iter().any(|stage| !stage.does.iter().any(calls))),
        ("policy", !doc.policy.is_empty()),
        ("correction", declared(Phenomenon::Correction)),
        ("confirmation", declared(Phenomenon::Confirmation)),
        ("no_tool", declared(Phenomenon::NoTool)),
        ("next_page", declared(Phenomenon::NextPage)),
        ("reckoning", declared(Phenomenon::Reckoning)),
    ];
    labels.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| name).collect()
}

/// The labels of a scenario that was played.
#[must_use]
pub fn of(scenario: &Scenario, played: &Played) -> Vec<&'static str> {
    let turns = || played.candidate.stages.iter().flat_map(|stage| &stage.turns);
    let mut arguments = turns().flat_map(|turn| &turn.calls).flat_map(|call| call.arguments.values());
    let labels = [
        ("says_before_calling", turns().any(|turn| turn.say.is_some() && !turn.calls.is_empty())),
        ("missed_search", played.missed > 0),
        ("list_argument", arguments.any(|value| value.is_array() || value.is_object())),
    ];
    let mut found = told_by(&scenario.doc);
    found.extend(labels.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| name));
    found
}
