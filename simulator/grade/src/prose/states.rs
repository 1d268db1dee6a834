//! States: whether a message says that a record is in another state than the one that a reply shows.

use diorama_answers::Stance;
use diorama_answers::prose::{Prose, Span};
use diorama_engine::Origin;
use diorama_engine::session::LogEntry;
use diorama_seeds::english;
use diorama_seeds::model::{Field, World};
use diorama_seeds::schema::Type;
use serde_json::Value as Json;

use super::cues::{PREDICATE, RELATIVE};
use super::visible::Visible;

/// A state that a message claims and a reply shows to be another.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// Where the message claims it.
    pub span: Span,
    /// The member of the reply.
    pub member: String,
    /// Its value.
    pub shown: Json,
}

/// Returns the state that a message claims of the changed record of a reply, where the reply shows another.
#[must_use]
pub fn contradicts(message: &Prose, entry: &LogEntry, world: &World) -> Option<Contradiction> {
    entry.reply.body.leaves().find_map(|(path, value, origin)| {
        let declared = changed_field(&path, origin, entry, world)?;
        let (Type::Enum(values), Some(shown)) = (&declared.schema.kind, value.as_str()) else { return None };
        let claimed = |state: &str| {
            let synonyms = declared.synonyms.get(state).into_iter().flatten().filter(|words| !words.contains(' '));
            let names = std::iter::once(state.replace('_', " ")).chain(synonyms.map(|word| word.to_string()));
            let mut places = names.flat_map(|name| message.find(&name));
            places.find(|span| is_claimed(message, *span))
        };
        let sent = |state: &str| entry.call.arguments.values().any(|json| json.as_str() == Some(state));
        if claimed(shown).is_some() {
            return None;
        }
        let others = values.iter().filter(|other| &***other != shown && !sent(other));
        let span = others.into_iter().find_map(|other| claimed(other))?;
        Some(Contradiction { span, member: path, shown: value.to_json(&world.zone) })
    })
}

/// Returns the states that a message claims and no reply shows, of fields that replies show in other states.
pub(super) fn unshown(message: &Prose, visible: &Visible<'_>) -> Vec<Span> {
    let Some((base, _)) = visible.world else { return Vec::new() };
    let mut fields: Vec<_> = visible.leaves.iter().filter_map(|leaf| leaf.field).map(|((resource, _), field)| (resource, field)).collect();
    fields.sort_unstable();
    fields.dedup();
    let ruled = |state: &str| {
        let apis = visible.entries.iter().filter_map(|entry| entry.api);
        let mut rules = apis.flat_map(|api| &base.world().api(api).behaviour.require);
        rules.any(|rule| rule.message.split(' ').any(|word| word == state))
    };
    let mut found = Vec::new();
    for (resource, field) in fields {
        let Type::Enum(states) = &base.world().resource(resource).field(field).schema.kind else { continue };
        for state in states.iter() {
            let spaced = state.replace('_', " ");
            let is_visible = visible.texts().any(|text| text == &**state) || visible.is_text_said(&spaced) || ruled(&spaced);
            let places = if is_visible { Vec::new() } else { message.find(&spaced) };
            let said = |span: &Span| {
                let before = message.source().get(..span.start).unwrap_or_default();
                is_claimed(message, *span) && PREDICATE.is_match(before) && !RELATIVE.is_match(before)
            };
            found.extend(places.into_iter().filter(said));
        }
    }
    found
}

fn is_claimed(message: &Prose, span: Span) -> bool {
    message.stance(span) == Stance::Asserted && !message.is_denied(span) && !is_remark(message, span)
}

/// The field of a changed record that a leaf shows: its origin, or the field of the same name where the world computed it.
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
