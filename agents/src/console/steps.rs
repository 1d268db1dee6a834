//! Owns the turns of an episode, made of its steps.

use diorama_baselines::trace::{ModelExchange, Note, Step};
use diorama_console::{Argument, CallTurn, Speaker, Turn};
use diorama_output::row::{Dialogue, Role};
use serde_json::{Value as Json, json};

use crate::evaluation::batch::Episode;

/// Returns the turns of an episode. The row gives the system message and the user's first message.
pub(super) fn turns(episode: &Episode, row: Option<&Dialogue>) -> Vec<Turn> {
    let mut turns = row.map(opening).unwrap_or_default();
    for step in &episode.steps {
        match step {
            Step::Called { call, status, body, .. } => {
                let arguments = call.arguments.iter().map(|(name, value)| argument(name, value)).collect();
                turns.push(Turn::Call(CallTurn {
                    api: call.api.clone(),
                    arguments,
                    status: Some(*status),
                    reply: body.to_string(),
                    remark: None,
                }));
            }
            Step::Said { words, answer, .. } => {
                turns.push(message(Speaker::Assistant, words));
                turns.extend(answer.as_ref().map(|answer| message(Speaker::User, answer)));
            }
            Step::Finished { end, answer, .. } => {
                turns.push(message(Speaker::Assistant, &end.message));
                turns.push(Turn::Facts(members(&json!(end))));
                turns.extend(answer.as_ref().map(|answer| message(Speaker::User, answer)));
            }
            Step::Refused { end, error } => {
                let text = end.as_ref().map(|end| format!("{:#}", json!(end))).unwrap_or_default();
                turns.push(Turn::Note { title: format!("refused: {error}"), text });
            }
            Step::Noted(note) => turns.push(note_turn(note)),
        }
    }
    turns
}

/// Returns the system message and the user's first message.
fn opening(row: &Dialogue) -> Vec<Turn> {
    let first = |role: Role, speaker: Speaker| {
        let found = row.messages.iter().find(|message| message.role == role);
        found.and_then(|found| found.content.as_deref()).map(|text| message(speaker, text))
    };
    [first(Role::System, Speaker::System), first(Role::User, Speaker::User)].into_iter().flatten().collect()
}

fn message(speaker: Speaker, text: &str) -> Turn {
    Turn::Message { speaker, text: text.to_owned(), remark: None }
}

fn argument(name: &str, value: &Json) -> Argument {
    Argument { name: name.to_owned(), value: Some(value.clone()), source: None }
}

/// Returns the arguments of `finish` except the message, which is a turn of its own.
fn members(end: &Json) -> Vec<Argument> {
    let members = end.as_object().into_iter().flatten().filter(|(name, _)| *name != "message");
    members.map(|(name, value)| argument(name, value)).collect()
}

fn note_turn(note: &Note) -> Turn {
    let (title, text) = match note {
        Note::Asked(asked) => (format!("{} asks the model", asked.role), exchange(asked)),
        Note::Malformed { role, what } => (format!("{role}: reply not of the form asked for"), what.clone()),
        Note::Planned { plan } => ("plan".to_owned(), plan.to_string()),
        Note::FellBack { role, to, because } => (format!("{role} falls back to {to}"), because.clone()),
        Note::GaveUp { because } => ("gave up".to_owned(), because.clone()),
    };
    Turn::Note { title, text }
}

/// Formats a request to a model with its reply.
fn exchange(asked: &ModelExchange) -> String {
    let mut text = String::new();
    if asked.same > 0 {
        text.push_str(&format!("({} messages as in the request before)\n\n", asked.same));
    }
    for message in &asked.messages {
        text.push_str(&format!("{:#}\n\n", json!(message)));
    }
    text.push_str(&format!("reply:\n{}\n", asked.content));
    for call in &asked.tool_calls {
        text.push_str(&format!("{:#}\n", json!(call)));
    }
    if let Some(reasoning) = &asked.reasoning {
        text.push_str(&format!("\nreasoning:\n{reasoning}\n"));
    }
    text
}
