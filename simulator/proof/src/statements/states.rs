//! Decides if a message states another state of a record than a reply shows.

use diorama_answers::Stance;
use diorama_answers::prose::{Prose, Span};
use diorama_engine::Origin;
use diorama_engine::session::LogEntry;
use diorama_seeds::english;
use diorama_seeds::model::{Field, World};
use diorama_seeds::schema::Type;
use serde_json::Value as Json;

/// A stated state that differs from the shown one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Contradiction {
    /// The span of the statement.
    pub(crate) span: Span,
    pub(crate) claimed: String,
    /// The member of the reply.
    pub(crate) member: String,
    pub(crate) shown: Json,
}

/// Returns a stated state of the changed record that differs from the one in the reply.
#[must_use]
pub(crate) fn contradicts(message: &Prose, entry: &LogEntry, world: &World) -> Option<Contradiction> {
    entry.reply.body.leaves().find_map(|(path, value, origin)| {
        let declared = changed_field(&path, origin, entry, world)?;
        let (Type::Enum(values), Some(shown)) = (&declared.schema.kind, value.as_str()) else { return None };
        let claimed = |state: &str| {
            let synonyms =
                declared.synonyms.get(state).into_iter().flatten().filter(|words| !words.contains(' '));
            let names = std::iter::once(state.replace('_', " ")).chain(synonyms.map(|word| word.to_string()));
            let mut places = names.flat_map(|name| message.find(&name));
            places.find(|span| is_claimed(message, *span))
        };
        let sent = |state: &str| entry.call.arguments.values().any(|json| json.as_str() == Some(state));
        if claimed(shown).is_some() {
            return None;
        }
        let others = values.iter().filter(|other| &***other != shown && !sent(other));
        let (span, other) = others.into_iter().find_map(|other| Some((claimed(other)?, other)))?;
        Some(Contradiction {
            span,
            claimed: other.to_string(),
            member: path,
            shown: value.to_json(&world.zone),
        })
    })
}

fn is_claimed(message: &Prose, span: Span) -> bool {
    message.stance(span) == Stance::Asserted && !is_remark(message, span)
}

/// Returns the field of a changed record that a leaf shows: its origin, or the field of the same name where
/// the world computed it.
fn changed_field<'a>(path: &str, origin: &Origin, entry: &LogEntry, world: &'a World) -> Option<&'a Field> {
    let mut changes = entry.changes.iter().filter(|change| change.after.is_some());
    match origin {
        Origin::Field { resource, key, field } => changes
            .any(|change| change.resource == *resource && change.key == *key)
            .then(|| world.resource(*resource).field(*field)),
        Origin::Computed => {
            let member = english::split_identifier(path.rsplit('.').next().unwrap_or(path));
            let named = |field: &&Field| english::split_identifier(&field.name) == member;
            changes.find_map(|change| world.resource(change.resource).fields.iter().find(named))
        }
        Origin::Constant => None,
    }
}

/// Returns true if a word stands alone before a stop or a colon: `Done.` acknowledges, and names no state.
fn is_remark(message: &Prose, span: Span) -> bool {
    let source = message.source();
    let before = source.get(..span.start).unwrap_or_default().trim_end();
    let after = source.get(span.end..).unwrap_or_default();
    let opens = before.is_empty() || before.ends_with(['.', '!', '?', ',', '\n']);
    after.starts_with(": ") || (opens && (after.is_empty() || after.starts_with(['.', '!', ',', ';', ' '])))
}
