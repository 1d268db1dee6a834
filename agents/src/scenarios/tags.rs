//! Defines the tags of a conversation: the values of the column `tags`.

use diorama_seeds::doc::{ScenarioDoc, ScenarioStepDoc, Tag};

use super::detour::Detour;

/// Tags of how a scenario's calls are made: another solution of the task need not have them.
pub const OF_THE_WAY: [&str; 2] = [SAYS_BEFORE_CALLING, MISSED_SEARCH];
pub(crate) const SAYS_BEFORE_CALLING: &str = "says_before_calling";
pub(crate) const MISSED_SEARCH: &str = "missed_search";
pub(crate) const IMPATIENT: &str = "impatient";
pub(crate) const SEARCHES_POLICY: &str = "search_policy";

/// The tags that can have a share.
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
    Detour::Misspelt.label(),
    Detour::ChangedMind.label(),
    Detour::Digression.label(),
    Detour::Revised.label(),
];

/// Returns the tags that a scenario's form and its author give, before it is played.
#[must_use]
pub fn told_by(doc: &ScenarioDoc) -> Vec<&'static str> {
    let steps = || doc.goals.iter().flat_map(|goal| &goal.does);
    let calls = |step: &ScenarioStepDoc| step.call.is_some() || !step.together.is_empty();
    let declared = |tag| doc.shows.contains(&tag);
    let fails = steps().position(|step| step.fails || step.together.iter().any(|call| call.fails));
    let recovers = fails.is_some_and(|at| steps().skip(at + 1).any(|step| calls(step) && !step.fails));
    let labels = [
        ("withheld", steps().any(|step| step.ask.is_some())),
        ("parallel_calls", steps().any(|step| !step.together.is_empty() || step.each.is_some())),
        ("loop", steps().any(|step| step.each.is_some())),
        ("recovery", recovers),
        ("refusal", doc.goals.iter().any(|goal| !goal.refused.is_empty())),
        ("branch", doc.goals.iter().any(|goal| goal.when.is_some())),
        ("second_request", doc.goals.len() > 1),
        ("no_call", doc.goals.iter().any(|goal| !goal.does.iter().any(calls))),
        ("policy", doc.policy),
        ("correction", declared(Tag::Correction)),
        ("confirmation", declared(Tag::Confirmation)),
        ("no_tool", declared(Tag::NoTool)),
        ("next_page", declared(Tag::NextPage)),
        ("calculation", declared(Tag::Calculation)),
    ];
    labels.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::{LABELS, OF_THE_WAY};

    /// Tags of played conversations, which can have no share.
    const PLAYED: [&str; 9] = [
        "joined",
        "list_argument",
        "search_policy",
        "several_domains",
        "pressure",
        "persistent",
        "claim",
        "wrong_belief",
        super::IMPATIENT,
    ];

    #[test]
    fn the_page_lists_every_tag() {
        let page = include_str!("../../../docs/tags.md");
        let lists = |label: &str, share: &str| {
            page.lines().any(|line| {
                line.starts_with(&format!("| `{label}` |")) && line.ends_with(&format!("| {share} |"))
            })
        };
        let missing: Vec<&str> = LABELS.into_iter().filter(|label| !lists(label, "yes")).collect();
        assert_eq!(missing, [""; 0]);
        let missing: Vec<&str> =
            OF_THE_WAY.into_iter().chain(PLAYED).filter(|label| !lists(label, "no")).collect();
        assert_eq!(missing, [""; 0]);
    }
}
