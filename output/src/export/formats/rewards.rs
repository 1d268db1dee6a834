//! Prompts with what a reward needs: what is said before the agent's first word, the tools visible then, and the task.

use diorama_seeds::ending::Answers;
use serde_json::{Value as Json, json};

use super::chat;
use crate::export::conversation::{Conversation, bare};
use crate::export::options::Shape;
use crate::row::{Dialogue, ability_name};

/// The name of the data's source, of the agent and of the interaction that a trainer's configuration refers to.
const SOURCE: &str = "diorama";
const AGENT: &str = "diorama_agent";

pub(super) fn prompt_only(shape: &Shape, conversation: &Conversation, row: &Dialogue) -> Json {
    json!({
        "prompt": prompt(shape, conversation),
        "tools": tools(conversation),
        "answers": answers(shape),
        "world_id": row.world_id,
        "episode": row.episode,
        "user_facts": row.user_facts,
        "checks": row.checks,
    })
}

pub(super) fn nemo_gym(shape: &Shape, conversation: &Conversation, row: &Dialogue) -> Json {
    // The Responses API has no wrapping around functions.
    let tools = tools(conversation).iter().map(|tool| {
        let function = bare(tool);
        json!({
            "type": "function",
            "name": function.get("name"),
            "description": function.get("description"),
            "parameters": function.get("parameters"),
            "strict": false,
        })
    });
    json!({
        "responses_create_params": {
            "input": prompt(shape, conversation),
            "tools": tools.collect::<Vec<_>>(),
            "parallel_tool_calls": true,
        },
        "agent_ref": {"type": "responses_api_agents", "name": AGENT},
        "answers": answers(shape),
        "world_id": row.world_id,
        "episode": row.episode,
        "user_facts": row.user_facts,
        "checks": row.checks,
    })
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
            "answers": answers(shape),
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

const fn answers(shape: &Shape) -> &'static str {
    match shape.answers {
        Answers::Structured => "structured",
        Answers::Prose => "prose",
    }
}
