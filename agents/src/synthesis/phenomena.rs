//! What is special about a conversation, by name: the labels of the column `phenomena`.

use diorama_seeds::doc::{Phenomenon, ScenarioStepDoc};
use diorama_seeds::scenario::Scenario;

use super::scenario::Played;

/// The labels of a scenario that was played.
#[must_use]
pub fn of(scenario: &Scenario, played: &Played) -> Vec<&'static str> {
    let doc = &scenario.doc;
    let stages = &played.candidate.stages;
    let steps = || doc.stages.iter().flat_map(|stage| &stage.does);
    let calls = |step: &ScenarioStepDoc| step.call.is_some() || !step.together.is_empty();
    let turns = || stages.iter().flat_map(|stage| &stage.turns);
    let declared = |phenomenon| doc.shows.contains(&phenomenon);
    let asks = stages.iter().any(|stage| !stage.knows.is_empty());
    let fails = steps().position(|step| step.fails || step.together.iter().any(|call| call.fails));
    let recovers = fails.is_some_and(|at| steps().skip(at + 1).any(|step| calls(step) && !step.fails));
    let nested = turns().flat_map(|turn| &turn.calls).flat_map(|call| call.arguments.values());
    let labels = [
        ("held_back", asks),
        ("parallel_calls", turns().any(|turn| turn.calls.len() > 1)),
        ("loop", steps().any(|step| step.each.is_some())),
        ("recovery", recovers),
        ("refusal", doc.stages.iter().any(|stage| stage.refused.is_some())),
        ("branch", doc.stages.iter().any(|stage| stage.when.is_some())),
        ("second_request", stages.len() > 1),
        ("no_call", stages.iter().any(|stage| stage.turns.iter().all(|turn| turn.calls.is_empty()))),
        ("says_before_calling", turns().any(|turn| turn.say.is_some() && !turn.calls.is_empty())),
        ("missed_search", played.missed > 0),
        ("list_argument", nested.into_iter().any(|value| value.is_array() || value.is_object())),
        ("correction", declared(Phenomenon::Correction)),
        ("confirmation", declared(Phenomenon::Confirmation)),
        ("no_tool", declared(Phenomenon::NoTool)),
        ("next_page", declared(Phenomenon::NextPage)),
        ("reckoning", declared(Phenomenon::Reckoning)),
    ];
    labels.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| name).collect()
}
