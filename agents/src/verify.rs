//! Owns `verify`, which checks every row again from the files alone.
//!
//! It replays the reference calls of a row in its world, and compares each reply, both state hashes and the
//! messages. It makes the row again from its messages and calls ([`derive`]). It also grades the reference's
//! structured final answers with the row's checks.

mod derive;
mod error;

use diorama_engine::tools::TOOL_SEARCHER;
use diorama_grade::{Attempt, PreparedChecks};
use diorama_output::row::parts::Event;
use diorama_output::row::{Dialogue, Role};
use diorama_proof::GateReport;
use diorama_proof::difficulty::depth;
use diorama_seeds::model::{self, DomainId};
use diorama_seeds::task::{Ability, Call};
use serde_json::Value as Json;

pub use self::derive::OF_OLDER_ROWS;
pub(crate) use self::derive::candidate_of;
pub use self::error::VerifyError;
use self::error::{column, same};
use crate::episode::{Task, Worlds};
use crate::rows::row::{called, nested, rc_level};

/// Replays a row. Returns true if all columns that follow from its calls and messages were derived. Rows of
/// an older version lack the claims for some columns ([`OF_OLDER_ROWS`]).
///
/// # Errors
/// Returns the first mismatch.
pub fn replay(row: &Dialogue, worlds: &Worlds) -> Result<bool, VerifyError> {
    let task = Task::of(row)?;
    let world = worlds.get(&row.world_id)?;
    if world.hash != row.world_hash {
        let what = format!("found {}, expected {}, that of the world's file", row.world_hash, world.hash);
        return Err(column("world_hash", what));
    }
    tools(row, &task, &world)?;
    let mut session = task.session(&world, task.episode.session_seed)?;
    same("initial_state_hash", &row.initial_state_hash, &session.digest().to_string())?;
    let base = &world.base;
    let zone = base.world().zone.clone();
    let mut replies = task.replies.iter();
    for event in &task.episode.events {
        let Event::Call(index) = event else { continue };
        let gold = task.gold.get(*index as usize).ok_or_else(|| {
            column(
                "episode",
                format!("found call {index}, expected one of the {} reference calls", task.gold.len()),
            )
        })?;
        let entry = session.call(&Call { api: gold.api.clone(), arguments: gold.arguments.clone() });
        let recorded =
            replies.next().ok_or_else(|| column("messages", format!("found no reply to call {index}")))?;
        same(&format!("reply to call {index} ({})", gold.api), recorded, &entry.reply.to_json(&zone))?;
    }
    if replies.next().is_some() {
        return Err(column("messages", "found more replies than calls"));
    }
    same("final_state_hash", &row.final_state_hash, &session.digest().to_string())?;
    messages(row, &task)?;
    same("gold_plan", row.gold_plan.as_deref().unwrap_or_default(), &nested(&task.gold))?;
    gates(&task)?;
    let derived = derive::compare(row, &task, &world)?;
    labels(row, &task, base.world(), !derived)?;
    let log: Vec<_> = session.log().collect();
    let mut task = task;
    task.tell_changes_by_goal(&world).map_err(|error| VerifyError::Checks(error.to_string()))?;
    let prepared = PreparedChecks::new(&task.checks, &world.base)
        .map_err(|error| VerifyError::Checks(error.to_string()))?;
    let given = task.final_answers(&world, &log);
    let gold = task.endings(&given, |goal| goal.calls.end);
    let attempt = Attempt {
        base: &world.base,
        initial: session.initial(),
        last: session.state(),
        log: &log,
        goals: &gold,
    };
    if !prepared.grade(&attempt).success {
        return Err(VerifyError::Checks("the reference solution does not pass them".to_owned()));
    }
    let fresh = session.initial().clone();
    let silent = task.endings(&given, |_| 0);
    let idle = Attempt { last: &fresh, log: &[], goals: &silent, ..attempt };
    // If a request is declined without a call, the final answer is the whole solution.
    if !task.gold.is_empty() && prepared.grade(&idle).success {
        return Err(VerifyError::Checks("the right facts pass them without a call".to_owned()));
    }
    Ok(derived)
}

/// Compares the labels of a row with its calls.
fn labels(row: &Dialogue, task: &Task, world: &model::World, is_older: bool) -> Result<(), VerifyError> {
    let depth = depth(&task.gold);
    if row.depth != depth {
        return Err(column("depth", format!("found {}, expected {depth}", row.depth)));
    }
    if row.rc_level != rc_level(depth) {
        return Err(column("rc_level", format!("found {:?}, expected {:?}", row.rc_level, rc_level(depth))));
    }
    domains(row, &called(world, &task.gold), world, is_older)?;
    let searches = task.gold.iter().any(|call| call.api == TOOL_SEARCHER);
    if searches == (row.ability == Ability::Call) {
        let what = if searches { "a search" } else { "no search" };
        return Err(column("ability", format!("found {what} among the calls, expected otherwise")));
    }
    Ok(())
}

/// Compares the domains with those of the calls, or with one of the world's for a row without calls. Rows of
/// schema version 1 name a single domain.
fn domains(
    row: &Dialogue,
    called: &[DomainId],
    world: &model::World,
    is_older: bool,
) -> Result<(), VerifyError> {
    let names = |ids: &[DomainId]| -> Vec<String> {
        ids.iter().map(|id| world.domains[id.index()].name.to_string()).collect()
    };
    let all: Vec<DomainId> = (0..world.domains.len()).map(|position| DomainId(position as u16)).collect();
    let one_of = |names: &[String]| matches!(&*row.domains, [only] if names.contains(only));
    let (holds, expected) = match called {
        [] => (one_of(&names(&all)), format!("one of the world: {}", names(&all).join(", "))),
        _ if is_older => {
            (one_of(&names(called)), format!("one of those called: {}", names(called).join(", ")))
        }
        _ => (row.domains == names(called), format!("{}, those of the calls", names(called).join(", "))),
    };
    let wrong = || column("domains", format!("found {}, expected {expected}", row.domains.join(", ")));
    if holds { Ok(()) } else { Err(wrong()) }
}

/// Checks that the counts of the gates are possible for these calls.
fn gates(task: &Task) -> Result<(), VerifyError> {
    let GateReport { solvable, nontrivial, mutation, grounded, .. } = &task.gates;
    let arguments: usize = task.gold.iter().map(|call| call.sources.len()).sum();
    let survived: u32 = mutation.values().map(|tally| tally.survived).sum();
    let killed: u32 = mutation.values().map(|tally| tally.killed).sum();
    let wrong = |what: String| Err(column("gates", what));
    if *solvable as usize != task.gold.len() {
        return wrong(format!("found {solvable} reference calls, expected {}", task.gold.len()));
    }
    if *grounded as usize != arguments {
        return wrong(format!("found {grounded} grounded arguments, expected {arguments}"));
    }
    // Without a call, there are no mutants of calls.
    let undamaged = killed == 0 && !task.gold.is_empty();
    if *nontrivial == 0 || undamaged || survived > 0 {
        return wrong(format!(
            "found {nontrivial} ways of doing nothing, {killed} mutants that failed and {survived} that passed, expected some, \
             some and none"
        ));
    }
    Ok(())
}

/// Compares the `tools` column with the schemas of the visible APIs.
fn tools(row: &Dialogue, task: &Task, world: &crate::episode::World) -> Result<(), VerifyError> {
    let tools: Vec<Json> =
        serde_json::from_str(&row.tools).map_err(|error| column("tools", error.to_string()))?;
    if tools == task.tools(world)? {
        Ok(())
    } else {
        Err(column("tools", "found other schemas than those of the visible APIs"))
    }
}

/// Compares the calls in the messages with the reference calls.
fn messages(row: &Dialogue, task: &Task) -> Result<(), VerifyError> {
    let calls = row
        .messages
        .iter()
        .filter(|message| message.role == Role::Assistant)
        .flat_map(|message| &message.tool_calls);
    let mut golds = task.gold.iter();
    for call in calls {
        let gold = golds.next().ok_or_else(|| column("messages", "found more calls than reference calls"))?;
        let arguments: Json = serde_json::from_str(&call.function.arguments)
            .map_err(|error| column("messages", error.to_string()))?;
        if call.function.name != gold.api || arguments.as_object() != Some(&gold.arguments) {
            return Err(column(
                "messages",
                format!("found another call than the reference call of {}", gold.api),
            ));
        }
        let needs_search = task.episode.visible.is_empty() || gold.api != TOOL_SEARCHER;
        if !needs_search {
            return Err(column("messages", "found a search where all tools are visible"));
        }
    }
    if golds.next().is_some() {
        return Err(column("messages", "found fewer calls than reference calls"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
