//! Checks that the replies of a row agree with the calls that they answer.

use std::collections::HashMap;

use diorama_output::row::{Dialogue, ToolCall};
use diorama_seeds::model::World;
use serde_json::{Map, Value as Json};

use crate::scenarios::by_rule::echoes_other_value;

/// The reason for dropping a row with a reply that shows another value than its call sent.
pub(crate) const DISAGREES: &str = "a reply shows another value than its call was sent";

/// Returns true if each reply of a row shows the values that its call sent, where the names are equal.
pub(crate) fn agrees(row: &Dialogue, world: &World) -> bool {
    let calls: HashMap<&str, &ToolCall> = row
        .messages
        .iter()
        .flat_map(|message| &message.tool_calls)
        .map(|call| (call.id.as_str(), call))
        .collect();
    row.messages.iter().all(|message| {
        let call = message.tool_call_id.as_deref().and_then(|id| calls.get(id));
        let Some((call, reply)) = call.zip(message.content.as_deref()) else { return true };
        let arguments = serde_json::from_str::<Map<String, Json>>(&call.function.arguments);
        let reply = serde_json::from_str::<Json>(reply);
        let api = world.api_named(&call.function.name);
        !matches!((arguments, reply), (Ok(arguments), Ok(reply)) if echoes_other_value(&arguments, &reply, world, api))
    })
}
