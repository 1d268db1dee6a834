//! States: whether a message says that a record is in another state than the one that a reply shows.

use diorama_answers::Stance;
use diorama_answers::prose::{Prose, Span};
use diorama_engine::Origin;
use diorama_engine::session::LogEntry;
use diorama_seeds::english;
use diorama_seeds::model::{Field, World};
use diorama_seeds::schema::Type;
use serde_json::Value as Json;

use super::attribution::Speech;
use super::cues::{CLAIM, PREDICATE, RELATIVE};
use super::ending::{verb_stem, verbs_of};

/// A state that a message claims and a reply shows to be another.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// Where the message claims it.
    pub span: Span,
    /// The state claimed.
    pub claimed: String,
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

/// Returns the states that a message claims and no reply shows, of fields that replies show in other states. A sentence that
/// names records is about those.
pub(super) fn unshown(speech: &Speech<'_>) -> Vec<Span> {
    let (message, visible) = (speech.message, speech.visible);
    let Some((base, _)) = visible.world else { return Vec::new() };
    let world = base.world();
    let mut fields: Vec<_> = visible
        .leaves
        .iter()
        .filter_map(|leaf| leaf.field)
        .map(|((resource, _), field)| (resource, field))
        .collect();
    fields.sort_unstable();
    fields.dedup();
    let described = |state: &str| {
        let has = |text: &str| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == state);
        let mut apis = visible.entries.iter().filter_map(|entry| Some(world.api(entry.api?)));
        apis.any(|api| has(&api.description) || api.behaviour.require.iter().any(|rule| has(&rule.message)))
    };
    // A write may be told by any word for it: `It is cancelled`, `completed`.
    let apis = visible.entries.iter().filter_map(|entry| Some(world.api(entry.api?)));
    let asked =
        visible.turns.iter().flat_map(|turn| turn.words().map(|(word, _)| verb_stem(&word.to_lowercase())));
    let verbs: Vec<String> = apis.flat_map(verbs_of).chain(asked).collect();
    let names = speech.names();
    let mut found = Vec::new();
    for (resource, field) in fields {
        let declared = world.resource(resource).field(field);
        let Type::Enum(states) = &declared.schema.kind else { continue };
        for state in states.iter() {
            let spaced = state.replace('_', " ");
            // Words such as `completed` say that it was done, where the state is told as it is.
            let told = states
                .iter()
                .filter(|other| visible.texts().any(|text| text == &***other))
                .any(|other| !message.find(&other.replace('_', " ")).is_empty());
            let is_visible = visible.texts().any(|text| text == &**state) || visible.is_text_said(&spaced);
            if told || is_visible || described(&spaced) {
                continue;
            }
            let is_write = CLAIM.is_match(&spaced) || verbs.contains(&verb_stem(&spaced));
            let said = |span: &Span| {
                let before = message.source().get(..span.start).unwrap_or_default();
                let sentence = message.sentence_at(*span);
                let said = message.words_at(sentence).to_lowercase();
                let labelled = [&declared.label, &declared.name]
                    .iter()
                    .any(|name| !name.is_empty() && said.contains(&***name));
                let mut named = names.iter().filter(|(name, _)| sentence.overlaps(*name)).peekable();
                let of_kind =
                    named.peek().is_none() || named.any(|(_, at)| visible.subjects[*at].record.0 == resource);
                is_claimed(message, *span)
                    && (labelled || !is_write)
                    && of_kind
                    && PREDICATE.is_match(before)
                    && !RELATIVE.is_match(before)
            };
            let longer = |span: Span| {
                let mut texts = visible.texts().filter(|text| text.len() > state.len());
                texts.any(|text| speech.places(text).iter().any(|place| place.overlaps(span)))
            };
            found.extend(message.find(&spaced).into_iter().filter(said).filter(|span| !longer(*span)));
        }
    }
    found
}

fn is_claimed(message: &Prose, span: Span) -> bool {
    message.stance(span) == Stance::Asserted && !is_remark(message, span)
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
