//! Gold calls over live replies: arguments bound again from where they came from, answers said again.
//!
//! The gates and the `oracle` go through here, so that a reference solution means the same in each of them.

use std::sync::Arc;

use diorama_engine::Body;
use diorama_engine::session::LogEntry;
use diorama_grade::measures::{self, leaf_schema};
use diorama_seeds::english::enumerate;
use diorama_seeds::model::World;
use diorama_seeds::task::{ArgumentSource, Call, GoldCall};
use diorama_seeds::value::Value;

use crate::answer::AnswerPart;
use crate::render as say;

/// Replies by gold call; `None` where the call was left out.
pub type Replies = [Option<Arc<LogEntry>>];

/// The call with every argument that comes from a reply taken from the live replies. `None` when one of those
/// places does not exist there.
#[must_use]
pub fn bind(gold: &GoldCall, replies: &Replies, world: &World) -> Option<Call> {
    let mut arguments = gold.arguments.clone();
    for (name, source) in &gold.sources {
        if let Some(value) = live(source, replies)? {
            arguments.insert(name.clone(), value.to_json(&world.zone));
        }
    }
    Some(Call { api: gold.api.clone(), arguments })
}

/// The live value of a source; the inner `None` means that it does not come from a reply.
fn live(source: &ArgumentSource, replies: &Replies) -> Option<Option<Value>> {
    let at = |call: u32, path: &str| -> Option<Value> {
        let entry = replies.get(call as usize)?.as_ref()?;
        entry.reply.body.at(path)?.value().cloned()
    };
    Some(match source {
        ArgumentSource::Reply { call, path } => Some(at(*call, path)?),
        ArgumentSource::Replies { places } => {
            let values: Option<Vec<Value>> = places.iter().map(|(call, path)| at(*call, path)).collect();
            Some(Value::List(values?.into()))
        }
        _ => None,
    })
}

/// Says an answer over live replies. `None` when a place that it speaks of does not exist.
#[must_use]
pub fn say_answer(parts: &[AnswerPart], replies: &Replies, world: &World, restyle: u32) -> Option<String> {
    let mut text = String::new();
    for part in parts {
        match part {
            // A text that ends its own sentence needs no second stop.
            AnswerPart::Text(literal)
                if literal.starts_with('.') && (text.ends_with(['.', '!', '?']) || lists(&text)) =>
            {
                text.push_str(literal.get(1..).unwrap_or_default());
            }
            AnswerPart::Text(literal) => text.push_str(literal),
            AnswerPart::Leaf { call, path, style, bare } => {
                let body = &replies.get(*call)?.as_ref()?.reply.body;
                text.push_str(&leaf_words(body.at(path)?, world, style + restyle, *bare)?);
            }
            AnswerPart::Truth { call, path, yes, no } => {
                let leaf = replies.get(*call)?.as_ref()?.reply.body.at(path)?;
                let Some(Value::Bool(value)) = leaf.value() else { return None };
                text.push_str(if *value { yes } else { no });
            }
            AnswerPart::Each { call, array, member, style } => {
                let body = &replies.get(*call)?.as_ref()?.reply.body;
                let items = each(body, array, member)?;
                let words: Option<Vec<String>> =
                    items.into_iter().map(|item| leaf_words(item, world, *style, true)).collect();
                let words = joined(&words?, style + restyle);
                if words.starts_with('\n') {
                    text.truncate(text.trim_end().len());
                }
                text.push_str(&words);
            }
        }
    }
    Some(text)
}

/// Whether a text ends with a list of lines, which no stop ends.
fn lists(text: &str) -> bool {
    text.lines().last().is_some_and(|last| last.starts_with("- "))
}

/// The members of an array's items.
#[must_use]
pub fn each<'a>(body: &'a Body, array: &str, member: &str) -> Option<Vec<&'a Body>> {
    let items = match if array.is_empty() { Some(body) } else { body.at(array) }? {
        Body::List(items) => items,
        _ => return None,
    };
    items.iter().map(|item| if member.is_empty() { Some(item) } else { item.at(member) }).collect()
}

fn leaf_words(leaf: &Body, world: &World, style: u32, bare: bool) -> Option<String> {
    let Body::Leaf(value, origin) = leaf else { return None };
    if value.is_missing() {
        return None;
    }
    // A list of references or texts is told by its items; the schema is the field's.
    let schema = leaf_schema(origin, world);
    let schema = if bare { measures::bare(schema) } else { schema };
    Some(say::told(value, &schema, &world.zone, style))
}

fn joined(words: &[String], style: u32) -> String {
    match style % 3 {
        0 => enumerate(words),
        1 if words.len() > 1 => format!("\n- {}", words.join("\n- ")),
        _ => words.join("; "),
    }
}
