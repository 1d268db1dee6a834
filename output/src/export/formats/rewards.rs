//! Prompts with what a reward needs: what is said before the agent's first word, the tools visible then, and the task.

use diorama_seeds::agent_tools::{ASK_USER, ask_user};
use serde_json::{Value as Json, json};

use super::chat;
use crate::export::conversation::{Conversation, is_finish, tool_name, unwrap_function};
use crate::export::options::Shape;
use crate::row::{Dialogue, ability_name};

/// The name of the data's source, of the agent and of the interaction that a trainer's configuration refers to.
const SOURCE: &str = "diorama";
const NEMO_GYM_AGENT: &str = "diorama_simple_agent";
/// Paths of NeMo Gym's resources servers, which no tool has for a name.
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

/// A row that the resources server of `diorama serve --gym nemo-gym` knows by its id: it holds nothing of the solution. None where
/// the server could not offer its tools by path, or `finish` is an API of the world.
pub(super) fn nemo_gym(shape: &Shape, conversation: &Conversation, row: &Dialogue) -> Option<Json> {
    let mut offered = tools(conversation).to_vec();
    if !offered.iter().any(is_finish) || !offered.iter().all(has_plain_name) {
        return None;
    }
    if !offered.iter().any(|tool| tool_name(tool) == ASK_USER) {
        offered.insert(offered.len() - 1, ask_user());
    }
    // The Responses API has no wrapping around functions.
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
            // Calls change records, so that their order counts.
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

/// The tools visible at the prompt: what a search would show is for the agent to find.
fn tools(conversation: &Conversation) -> &[Json] {
    conversation.tools_at(conversation.prompt_len().min(conversation.visible.len().saturating_sub(1)))
}
