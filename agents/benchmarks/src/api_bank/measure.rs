//! Measures of an agent's calls: against single gold calls, and against the calls of a scenario in their
//! order.

use diorama_engine::session::Session;
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_seeds::task::Call;
use serde_json::{Value as Json, json};

use super::dialogue::{Dialogue, Gold};
use super::released;
use super::scenario::Scenario;
use super::world::{BankWorld, Effect, SearchRule};
use crate::summary::{Measure, Outcome, Summary};

pub(super) const CALL: Measure = ("call", "calls (section 3.3; a search: the nearest API)");
pub(super) const CALL_TOTAL: Measure =
    ("call_total", "the same, gold calls that our world refuses with them");
pub(super) const REFUSED: Measure = ("refused", "gold calls that our world refuses");
pub(super) const CALL_ANY_HIT: Measure = ("call_any_hit", "calls (a search: any of our search's hits)");
pub(super) const CALL_RELEASED: Measure = ("call_released", "calls (the released evaluator's rules)");
pub(super) const SCENARIO_CALL: Measure = ("scenario_call", "scenarios, calls in order");
pub(super) const SCENARIO_CALL_TOTAL: Measure =
    ("scenario_call_total", "the same, calls that our world refuses with them");

/// The paper's name of an error (appendix A.1, tables 4 to 6), and our key.
type Class = (&'static str, &'static str);

/// Measures the call made in place of a gold call: by the paper's rules, by our rule for searches, and by the
/// released evaluator's rules. A gold call that the world refuses counts only in the total, since no call can
/// be right in its place.
pub(super) fn called(
    outcome: &mut Outcome,
    world: &BankWorld,
    gold: &Gold,
    call: Option<&Call>,
    malformed: bool,
) {
    outcome.share("call_released", call.is_some_and(|call| released::is_right(world, call, gold)));
    outcome.detail("call", call.map(|call| json!(call)));
    let refusal = world.effect(&gold.call()).refusal();
    outcome.share("refused", refusal.is_some());
    if let Some(refusal) = refusal {
        outcome.share("call_total", false);
        outcome.detail("left_out", vec![format!("{}: {refusal}", gold.api)]);
        return;
    }
    let is_right = |rule| call.is_some_and(|call| world.is_equivalent(call, gold, rule));
    let is_nearest = is_right(SearchRule::Nearest);
    outcome.share("call", is_nearest);
    outcome.share("call_total", is_nearest);
    outcome.share("call_any_hit", is_right(SearchRule::AnyHit));
    if !is_nearest {
        add_error(outcome, class(world, gold, call, malformed));
    }
}

fn add_error(outcome: &mut Outcome, (error, ours): Class) {
    outcome.errors.insert("error", error.to_owned());
    outcome.errors.insert("error_ours", ours.to_owned());
}

/// Returns the class of a call that is not right in place of a gold call.
fn class(world: &BankWorld, gold: &Gold, call: Option<&Call>, malformed: bool) -> Class {
    let Some(call) = call else {
        return if malformed { ("False API Call Format", "malformed") } else { ("No API Call", "no_call") };
    };
    if call.api != gold.api {
        let known = call.api == TOOL_SEARCHER || world.base.world().api_named(&call.api).is_some();
        return ("API Hallucination", if known { "wrong_api" } else { "unknown_api" });
    }
    class_of_arguments(world, &gold.call(), call, &world.effect(call))
}

/// Returns the class of a call of the right API, by its effect.
fn class_of_arguments(world: &BankWorld, wanted: &Call, call: &Call, effect: &Effect) -> Class {
    let model = world.base.world();
    let takes = |name: &str| match model.api_named(&call.api) {
        Some(api) => model.api(api).parameters.iter().any(|parameter| *parameter.name == *name),
        // The search is no API of the world.
        None => true,
    };
    if wanted.arguments.keys().any(|name| takes(name) && !call.arguments.contains_key(name)) {
        return ("Miss Input Parameters", "missing_argument");
    }
    match effect.status {
        400 | 422 => ("Invalid Input Parameters", "refused_argument"),
        status if status >= 400 => ("Has Exception", "exception"),
        _ if call.api == TOOL_SEARCHER => ("Failed API Retrieval", "other_api_found"),
        // The paper has no class for a call that succeeds with another effect.
        _ => ("Different Effect", "different_effect"),
    }
}

/// Measures the calls made in place of a scenario's: the longest sequence of them in the scenario's order.
/// Calls that the world refuses count only in the totals. `is_found` returns true if a search has shown an
/// API.
pub(super) fn carried_out(
    outcome: &mut Outcome,
    world: &BankWorld,
    scenario: &Scenario,
    calls: &[Call],
    is_found: &dyn Fn(&str) -> bool,
) {
    outcome.detail("calls", json!(calls));
    let (mut scored, mut left_out) = (Vec::new(), Vec::new());
    for (at, wanted) in scenario.calls.iter().enumerate() {
        let before = scenario.calls.get(..at).unwrap_or_default();
        let effect = world.effect_after(before, wanted);
        match effect.refusal() {
            Some(refusal) => left_out.push(format!("{}: {refusal}", wanted.api)),
            None => scored.push((before, wanted, effect)),
        }
    }
    let is_same = |(before, wanted, effect): &(&[Call], &Call, Effect), call: &Call| {
        call.api == wanted.api && (call == *wanted || world.effect_after(before, call) == *effect)
    };
    let same: Vec<Vec<bool>> =
        scored.iter().map(|wanted| calls.iter().map(|call| is_same(wanted, call)).collect()).collect();
    let missed = missed_in_order(&same, calls.len());
    let (all, matched) = (scenario.calls.len(), scored.len() - missed.len());
    outcome.detail("left_out", left_out);
    outcome.part("scenario_call", matched as u64, scored.len() as u64);
    outcome.part("scenario_call_total", matched as u64, all as u64);
    outcome.share("scenario", matched == scored.len());
    outcome.share("scenario_total", matched == all);
    let Some(first) = missed.first() else { return };
    let (before, wanted, _) = &scored[*first];
    let last = calls.iter().rfind(|call| call.api == wanted.api);
    let class = match last {
        None if !is_found(&wanted.api) => ("Failed API Retrieval", "not_retrieved"),
        None => ("No API Call", "no_call"),
        Some(_) if same[*first].contains(&true) => ("Different Effect", "wrong_order"),
        Some(call) => class_of_arguments(world, wanted, call, &world.effect_after(before, call)),
    };
    add_error(outcome, class);
}

/// Returns the positions of wanted calls outside of the longest common subsequence of wanted and made calls.
/// If several sequences are longest, it takes the one with the earliest wanted calls. `same` has a row for
/// each wanted call and a column for each made one.
fn missed_in_order(same: &[Vec<bool>], made: usize) -> Vec<usize> {
    // The length of the longest common subsequence from a wanted and a made call on.
    let mut longest = vec![vec![0_usize; made + 1]; same.len() + 1];
    for (one, row) in same.iter().enumerate().rev() {
        for (other, is_same) in row.iter().enumerate().rev() {
            let skipping = longest[one + 1][other].max(longest[one][other + 1]);
            let length = if *is_same { 1 + longest[one + 1][other + 1] } else { skipping };
            longest[one][other] = length;
        }
    }
    let (mut from, mut missed) = (0, Vec::new());
    for (one, row) in same.iter().enumerate() {
        let is_kept = |other: &usize| row[*other] && 1 + longest[one + 1][*other + 1] == longest[one][from];
        match (from..made).find(is_kept) {
            Some(other) => from = other + 1,
            None => missed.push(one),
        }
    }
    missed
}

/// Measures the recorded calls, sent verbatim. The result is the upper limit for agents.
#[must_use]
pub fn ceiling<'a>(
    world: &BankWorld,
    dialogues: impl IntoIterator<Item = &'a Dialogue>,
    scenarios: &[Scenario],
) -> Summary {
    const MEASURES: &[Measure] =
        &[CALL, CALL_TOTAL, REFUSED, CALL_ANY_HIT, CALL_RELEASED, SCENARIO_CALL, SCENARIO_CALL_TOTAL];
    let new = |case: String, level: u8| {
        let groups = vec![("level", level.to_string())];
        Outcome { groups, ..Outcome::new(case) }
    };
    let mut outcomes = Vec::new();
    for dialogue in dialogues {
        for (turn, gold) in dialogue.calls() {
            let mut outcome = new(format!("{} turn {turn}", dialogue.id), dialogue.level);
            called(&mut outcome, world, gold, Some(&gold.call()), false);
            outcomes.push(outcome);
        }
    }
    for scenario in scenarios {
        let mut outcome = new(scenario.id.clone(), 3);
        carried_out(&mut outcome, world, scenario, &scenario.calls, &|_| true);
        outcomes.push(outcome);
    }
    for outcome in &mut outcomes {
        let left_out = outcome.details.get("left_out").and_then(Json::as_array);
        let left_out = left_out.into_iter().flatten().filter_map(Json::as_str);
        let notes: Vec<String> = left_out.map(|reason| format!("refused: {reason}")).collect();
        outcome.notes.extend(notes);
    }
    Summary::of("recorded calls, sent verbatim", None, MEASURES, outcomes)
}

/// Measures a free-running dialogue: the gold calls with an equivalent call, and the final databases.
pub(super) fn free(
    outcome: &mut Outcome,
    world: &BankWorld,
    dialogue: &Dialogue,
    calls: &[Call],
    session: &Session,
) {
    let golds: Vec<&Gold> =
        dialogue.calls().map(|(_, gold)| gold).filter(|gold| gold.api != TOOL_SEARCHER).collect();
    let mut open: Vec<&Call> = calls.iter().filter(|call| call.api != TOOL_SEARCHER).collect();
    outcome.detail("calls", open.len());
    let mut matched = 0;
    let mut reference = world.session();
    for gold in &golds {
        let own = gold.call();
        reference.call(&own);
        let is_same = |call: &&Call| **call == own || world.is_equivalent(call, gold, SearchRule::Nearest);
        if let Some(at) = open.iter().position(is_same) {
            open.remove(at);
            matched += 1;
        }
    }
    outcome.part("free_call", matched, golds.len() as u64);
    if reference.digest() != world.session().digest() {
        outcome.share("free_same_state", reference.digest() == session.digest());
    }
}

#[cfg(test)]
mod tests {
    use super::missed_in_order;

    #[test]
    fn wanted_calls_count_in_their_order_alone() {
        let check = |wanted: &str, made: &str, expect: &[usize]| {
            let same: Vec<Vec<bool>> =
                wanted.chars().map(|one| made.chars().map(|other| one == other).collect()).collect();
            assert_eq!(missed_in_order(&same, made.len()), expect, "{wanted} {made}");
        };
        check("abc", "abc", &[]);
        check("abc", "xaybbc", &[]);
        check("ab", "ba", &[1]);
        check("abc", "bca", &[0]);
        check("aab", "ab", &[1]);
        check("abc", "", &[0, 1, 2]);
        check("", "abc", &[]);
    }
}
