//! `verify`: every row again, from the files alone.
//!
//! Replays the reference calls of a row in its world, compares every reply, both state hashes and the dialogue's
//! messages, and grades the reference answer with the row's checks.

use diorama_output::row::{Dialogue, Role};
use diorama_seeds::task::Call;
use diorama_simulator::engine::tools::TOOL_SEARCHER;
use diorama_simulator::grade::{Attempt, Prepared};
use serde_json::Value as Json;

use crate::episode::{EpisodeError, Task, Worlds};
use crate::synthesis::row::{Event, depth, nested};

/// Replays a row.
///
/// # Errors
/// What does not hold.
pub fn replay(row: &Dialogue, worlds: &Worlds) -> Result<(), String> {
    let task = Task::of(row).map_err(|error| error.to_string())?;
    let world = worlds.get(&row.world_id).map_err(|error: EpisodeError| error.to_string())?;
    if world.hash != row.world_hash {
        return Err(format!(
            "world_hash: found {}, expected {}, that of the world's file",
            row.world_hash, world.hash
        ));
    }
    tools(row, &task, &world)?;
    let mut session = task.session(&world, task.episode.session_seed).map_err(|error| error.to_string())?;
    same("initial_state_hash", &row.initial_state_hash, &session.digest().to_string())?;
    let zone = world.base.world().zone.clone();
    let mut replies = task.replies.iter();
    for event in &task.episode.events {
        let Event::Call(index) = event else { continue };
        let gold = task.gold.get(*index as usize).ok_or_else(|| {
            format!("episode: found call {index}, expected one of the {} reference calls", task.gold.len())
        })?;
        let entry = session.call(&Call { api: gold.api.clone(), arguments: gold.arguments.clone() });
        let recorded = replies.next().ok_or_else(|| format!("messages: found no reply to call {index}"))?;
        same(&format!("reply to call {index} ({})", gold.api), recorded, &entry.reply.to_json(&zone))?;
    }
    if replies.next().is_some() {
        return Err("messages: found more replies than calls".to_owned());
    }
    same("final_state_hash", &row.final_state_hash, &session.digest().to_string())?;
    messages(row, &task)?;
    same("gold_plan", row.gold_plan.as_deref().unwrap_or_default(), &nested(&task.gold))?;
    if row.depth != depth(&task.gold) {
        return Err(format!("depth: found {}, expected {}", row.depth, depth(&task.gold)));
    }
    let log: Vec<_> = session.log().collect();
    let prepared = Prepared::with(&task.checks, &world.base, &world.vocabulary)
        .map_err(|error| format!("checks: {error}"))?;
    let attempt = |answer| Attempt {
        base: &world.base,
        initial: session.initial(),
        last: session.state(),
        log: &log,
        outcome: Some(task.episode.outcome),
        answer,
        user_turns: &task.turns,
    };
    if !prepared.grade(&attempt(&task.answer)).success {
        return Err("checks: the reference solution does not pass them".to_owned());
    }
    let fresh = session.initial().clone();
    let idle = Attempt { last: &fresh, log: &[], ..attempt(&task.answer) };
    if prepared.grade(&idle).success {
        return Err("checks: the answer passes them without a call".to_owned());
    }
    Ok(())
}

/// The tools column holds the schemas of the visible APIs.
fn tools(row: &Dialogue, task: &Task, world: &crate::episode::World) -> Result<(), String> {
    let tools: Vec<Json> = serde_json::from_str(&row.tools).map_err(|error| format!("tools: {error}"))?;
    let visible = task.visible(world).map_err(|error| error.to_string())?;
    let mut expected: Vec<&Json> =
        visible.iter().filter_map(|api| world.base.tool_schema(*api)).map(AsRef::as_ref).collect();
    if visible.is_empty() {
        expected.push(world.base.tool_searcher_schema());
    }
    if tools.iter().collect::<Vec<_>>() == expected {
        Ok(())
    } else {
        Err("tools: found other schemas than those of the visible APIs".to_owned())
    }
}

/// The messages tell the calls as they are recorded.
fn messages(row: &Dialogue, task: &Task) -> Result<(), String> {
    let calls = row
        .messages
        .iter()
        .filter(|message| message.role == Role::Assistant)
        .flat_map(|message| &message.tool_calls);
    let mut golds = task.gold.iter();
    for call in calls {
        let gold = golds.next().ok_or("messages: found more calls than reference calls")?;
        let arguments: Json =
            serde_json::from_str(&call.function.arguments).map_err(|error| format!("messages: {error}"))?;
        if call.function.name != gold.api || arguments.as_object() != Some(&gold.arguments) {
            return Err(format!("messages: found another call than the reference call of {}", gold.api));
        }
        let needs_search = task.episode.visible.is_empty() || gold.api != TOOL_SEARCHER;
        if !needs_search {
            return Err("messages: found a search where all tools are visible".to_owned());
        }
    }
    if golds.next().is_some() {
        return Err("messages: found fewer calls than reference calls".to_owned());
    }
    Ok(())
}

fn same(what: &str, found: &str, expected: &str) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    let short = |text: &str| -> String {
        let cut: String = text.chars().take(120).collect();
        if cut.len() < text.len() { format!("{cut}…") } else { cut }
    };
    Err(format!("{what}: found {}, the replay gives {}", short(found), short(expected)))
}
