//! Binds the arguments of reference calls to live replies.
//!
//! The gates and the `oracle` agent use it, so that a reference solution means the same in each of them.

use std::sync::Arc;

use diorama_engine::Body;
use diorama_engine::session::LogEntry;
use diorama_seeds::model::World;
use diorama_seeds::task::{ArgumentSource, Call, GoldCall};
use diorama_seeds::value::Value;

/// Replies by position of their reference calls; `None` where the call was left out.
pub type Replies = [Option<Arc<LogEntry>>];

/// Returns the call with every argument that comes from a reply taken from the live replies.
/// Returns `None` when one of those paths does not exist there.
#[must_use]
pub fn bind(gold: &GoldCall, replies: &Replies, world: &World) -> Option<Call> {
    let mut arguments = gold.arguments.clone();
    for (name, source) in &gold.sources {
        if let Some(value) = read_live_value(source, replies)? {
            arguments.insert(name.clone(), value.to_json(&world.zone));
        }
    }
    Some(Call { api: gold.api.clone(), arguments })
}

/// Returns the live value of a source; the inner `None` means that it does not come from a reply.
fn read_live_value(source: &ArgumentSource, replies: &Replies) -> Option<Option<Value>> {
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

/// Returns a member of each item of an array.
#[must_use]
pub fn collect_member<'a>(body: &'a Body, array: &str, member: &str) -> Option<Vec<&'a Body>> {
    let items = match if array.is_empty() { Some(body) } else { body.at(array) }? {
        Body::List(items) => items,
        _ => return None,
    };
    items.iter().map(|item| if member.is_empty() { Some(item) } else { item.at(member) }).collect()
}

/// Returns the path of a member of an item: `items[3].name`.
pub(crate) fn item_path(array: &str, at: usize, member: &str) -> String {
    if member.is_empty() { format!("{array}[{at}]") } else { format!("{array}[{at}].{member}") }
}
