//! Prompts with the data for a reward: the messages before the agent's first, the tools visible then, and the
//! task.

use diorama_seeds::agent_tools::{ASK_USER, ask_user};
use serde_json::{Value as Json, json};

use super::chat;
use crate::export::conversation::{Conversation, is_finish, tool_name, unwrap_function};
use crate::export::options::Shape;
use crate::row::{Dialogue, ability_name};

/// The name of the data source, the agent and the interaction in a trainer's configuration.
const SOURCE: &str = "diorama";
const NEMO_GYM_AGENT: &str = "diorama_simple_agent";
/// Reserved paths of NeMo Gym's resources servers, which tools cannot have.
const NEMO_GYM_RESERVED: [&str; 6] =
    ["seed_session", "verify", "aggregate_metrics", "close_session", "reverify_mode", "mcp"];

pub(super) fn prompt_only(shape: &Shape, conversation: &Conversation, row: &Dialogue) -> Json {
    json!({
        "prompt": prompt(shape, conversation),
        "tools": tools(conversation),
        "world_id": row.world_id,
        "episode": row.episode,
        "user_facts": row.user_facts,
        "checks": row.checks,
    })
}

/// Returns a row for the resources server of `diorama serve --gym nemo-gym`, which knows the task by its id.
/// It has no part of the solution. Returns none if the server cannot offer the tools by path, or if `finish`
/// is an API of the world.
pub(super) fn nemo_gym(shape: &Shape, conversation: &Conversation, row: &Dialogue) -> Option<Json> {
    let mut offered = tools(conversation).to_vec();
    if !offered.iter().any(is_finish) || !offered.iter().all(has_plain_name) {
        return None;
    }
    if !offered.iter().any(|tool| tool_name(tool) == ASK_USER) {
        offered.insert(offered.len() - 1, ask_user());
    }
    // The Responses API does not wrap functions.
    let tools = offered.iter().map(|tool| {
        let function = unwrap_function(tool);
        json!({
            "type": "function",
            "name": function.get("name"),
            "description": function.get("description"),
            "parameters": function.get("parameters"),
            "strict": false,
        })
    });
    Some(json!({
        "responses_create_params": {
            "input": prompt(shape, conversation),
            "tools": tools.collect::<Vec<_>>(),
            // Calls change records, so their order matters.
            "parallel_tool_calls": false,
        },
        "agent_ref": {"type": "responses_api_agents", "name": NEMO_GYM_AGENT},
        "split": row.split.as_str(),
        "world_id": row.world_id,
        "license": row.license,
        "source": row.source,
    }))
}

/// Returns true if a tool can be called by path.
fn has_plain_name(tool: &Json) -> bool {
    let name = tool_name(tool);
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    plain && !name.is_empty() && !NEMO_GYM_RESERVED.contains(&name)
}

pub(super) fn verl(shape: &Shape, conversation: &Conversation, row: &Dialogue, number: u64) -> Json {
    json!({
        "data_source": SOURCE,
        "agent_name": "tool_agent",
        "prompt": prompt(shape, conversation),
        "tools": Json::Array(tools(conversation).to_vec()).to_string(),
        "ability": ability_name(row.ability),
        "reward_model": {"style": "rule", "ground_truth": row.checks},
        "extra_info": {
            "split": row.split.as_str(),
            "index": number,
            "id": row.id,
            "world_id": row.world_id,
            "episode": row.episode,
            "user_facts": row.user_facts,
            "need_tools_kwargs": false,
            "interaction_kwargs": {"name": SOURCE, "id": row.id, "query": row.query},
        },
    })
}

fn prompt(shape: &Shape, conversation: &Conversation) -> Vec<Json> {
    chat::trl_messages(shape, &conversation.turns[..conversation.prompt_len()])
}

/// Returns the tools visible at the prompt. The agent has to find others by searching.
fn tools(conversation: &Conversation) -> &[Json] {
    conversation.tools_at(conversation.prompt_len().min(conversation.visible.len().saturating_sub(1)))
}
