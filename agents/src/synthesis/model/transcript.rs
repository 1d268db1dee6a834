//! A conversation as lines of text, for a model to read.

use diorama_proof::Grounded;
use diorama_seeds::model::World;

/// Characters of a reply that are shown.
const REPLY: usize = 1_200;

/// A conversation line by line. `say` gives the assistant's words for the message of this number, or its gap.
#[must_use]
pub fn lines(grounded: &Grounded, world: &World, mut say: impl FnMut(usize, &str) -> String) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut calls, mut says) = (0, 0);
    for goal in &grounded.candidate.goals {
        lines.push(format!("User: {}", goal.user));
        for turn in &goal.turns {
            if let Some(user) = &turn.user {
                lines.push(format!("User: {user}"));
            }
            if let Some(words) = &turn.say {
                lines.push(format!("Assistant: {}", say(says, words)));
                says += 1;
            }
            let first = calls;
            for call in &turn.calls {
                let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
                lines.push(format!("Call: {} {arguments}", call.api));
                calls += 1;
            }
            for entry in grounded.entries.get(first..calls).unwrap_or_default() {
                let reply = entry.reply.to_json(&world.zone);
                let shown: String = reply.chars().take(REPLY).collect();
                let cut = if shown.len() < reply.len() { " ..." } else { "" };
                lines.push(format!("Reply ({}): {shown}{cut}", entry.reply.status));
            }
        }
    }
    lines
}
