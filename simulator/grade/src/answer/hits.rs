//! Names in an answer: expected ones, allowed ones and their rivals, each place taken by the longest.

use std::borrow::Cow;

use super::goal::{Entity, Goal};
use super::{AnswerKey, is_inflected};
use diorama_answers::lexicon::Roles;
use diorama_answers::names::Names;
use diorama_answers::tokens::{Kind, LineKind, Marks, Text, Token};
use diorama_answers::{Stance, stance};
use diorama_answers::{word, words};

/// A name at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) identity: u64,
    /// The field whose values have it; `None` for names that only this task knows.
    pub(crate) field: Option<usize>,
    pub(crate) stance: Stance,
    /// Said of it beside others: it is denied something, or stands in a clause after `while`.
    pub(crate) aside: bool,
}

/// Finds names, the longest at each place; `extra` are rivals made in the episode. The text comes back with the
/// words of longer names mute, so that `The Old Mill` says nothing of what was formerly so.
pub(crate) fn find<'a>(
    key: &AnswerKey,
    text: &'a Text,
    source: &str,
    extra: &[(usize, Names)],
) -> (Cow<'a, Text>, Vec<Hit>) {
    let entities: Vec<&Entity> = key
        .atoms
        .iter()
        .map(|atom| &atom.goal)
        .chain(&key.context)
        .filter_map(|goal| if let Goal::Entity(entity) = goal { Some(entity) } else { None })
        .collect();
    let mut hits: Vec<Hit> = Vec::new();
    if entities.is_empty() {
        return (Cow::Borrowed(text), hits);
    }
    let mut at = 0;
    while at < text.tokens.len() {
        let best = longest(key, &entities, text, source, extra, at);
        let Some((end, identity, field)) = best else {
            at += 1;
            continue;
        };
        // A longer name may start one word later (`the dark forest` in `of the dark forest park`); the leftmost
        // wins, as people read.
        hits.push(Hit { start: at, end, identity, field, stance: Stance::Asserted, aside: false });
        at = end;
    }
    inflected(key, text, source, &mut hits);
    let taken = taken(text, &hits);
    let mut text = Cow::Borrowed(text);
    if !taken.is_empty() {
        for (start, end) in taken {
            text.to_mut().mute(start..end);
        }
    }
    for hit in &mut hits {
        hit.stance = stance::of_name(&text, hit.start, hit.end);
        hit.aside = is_aside(&text, hit.start, hit.end);
    }
    (text, hits)
}

/// Adds expected common words with another ending, where they do not stand as they are: a `carpenter` for `carpentry`.
fn inflected(key: &AnswerKey, text: &Text, source: &str, hits: &mut Vec<Hit>) {
    for atom in &key.atoms {
        let Goal::Entity(entity) = &atom.goal else { continue };
        let Some(common) = &entity.common else { continue };
        let rival = |hit: &Hit| hit.field.is_some() && hit.field == entity.field;
        if hits.iter().any(|hit| rival(hit) || entity.is(hit.identity)) {
            continue;
        }
        let found = text.tokens.iter().position(|token| {
            let spelt = source.get(token.start as usize..token.end as usize).unwrap_or_default();
            let stem = diorama_seeds::english::stem(&spelt.to_lowercase());
            token.is_word() && is_inflected(&stem, common)
        });
        if let Some(at) = found {
            let identity = entity.identities.first().copied().unwrap_or_default();
            let (start, end) = (at, at + 1);
            hits.push(Hit {
                start,
                end,
                identity,
                field: entity.field,
                stance: Stance::Asserted,
                aside: false,
            });
        }
    }
    hits.sort_unstable_by_key(|hit| hit.start);
}

fn longest(
    key: &AnswerKey,
    entities: &[&Entity],
    text: &Text,
    source: &str,
    extra: &[(usize, Names)],
    at: usize,
) -> Option<(usize, u64, Option<usize>)> {
    if matches!(text.get(at)?.kind, Kind::Symbol(_)) {
        return None;
    }
    let mut best: Option<(usize, u64, Option<usize>)> = None;
    let mut offer = |end: usize, identity: u64, field: Option<usize>| {
        if best.is_none_or(|(known, ..)| end > known) {
            best = Some((end, identity, field));
        }
    };
    for entity in entities {
        let identity = entity.identities.first().copied().unwrap_or(0);
        for name in &entity.names {
            if let Some(end) =
                name.at(text, at, false).or_else(|| name.digits_at(text, at, &entity.digits, source))
            {
                offer(end, identity, entity.field);
            }
        }
    }
    for (field, names) in key.names.iter().enumerate() {
        if let Some((identity, end)) = names.longest_at(text, at) {
            offer(end, identity, Some(field));
        }
    }
    for (field, names) in extra {
        if let Some((identity, end)) = names.longest_at(text, at) {
            offer(end, identity, Some(*field));
        }
    }
    best
}

/// Token ranges that names take from the recognisers of numbers and dates: those with letters, unless one word.
pub(crate) fn taken(text: &Text, hits: &[Hit]) -> Vec<(usize, usize)> {
    let masks = |hit: &&Hit| {
        let tokens = &text.tokens[hit.start..hit.end];
        tokens.iter().any(Token::is_word) && tokens.len() > 1
    };
    hits.iter().filter(masks).map(|hit| (hit.start, hit.end)).collect()
}

/// Whether the clause denies something of a name, or sets it beside another.
fn is_aside(text: &Text, start: usize, end: usize) -> bool {
    let Some(token) = text.get(start) else { return false };
    let line = text.lines.get(token.line as usize).copied().unwrap_or(LineKind::Plain);
    let same = |other: &Token| match line {
        LineKind::Row => other.line == token.line && other.cell == token.cell,
        _ => other.sentence == token.sentence,
    };
    for before in text.tokens[..start].iter().rev().take(4).take_while(|before| same(before)) {
        if before.is(Roles::WHEREAS) {
            return true;
        }
        if before.is_symbol(',') {
            break;
        }
    }
    for after in text.tokens[end..].iter().take(4).take_while(|after| same(after)) {
        if after.is(Roles::NEGATOR) || after.hash == word!("unavailable") {
            return true;
        }
        if matches!(after.kind, Kind::Symbol(',' | ';' | '(' | '—')) || after.is(Roles::BUT) {
            break;
        }
    }
    false
}

/// Whether a sentence only says that the request was carried out, and of no record that it is in a state: `Done.`,
/// `It is done as you asked.`
fn acknowledges(text: &Text, token: &Token) -> bool {
    const OUTCOMES: [u64; 8] = words!("done complete completed finished set sorted ready ok");
    const AROUND: [u64; 14] = words!(
        "all asked both everything great now perfect request requested successfully sure \
         thanks wanted well"
    );
    let same = |other: &&Token| other.sentence == token.sentence && other.cell == token.cell;
    // `Done: you are booked for ten.`
    let opens = token.has(Marks::FIRST)
        && text.tokens.iter().find(|other| other.start >= token.end).is_some_and(|next| next.is_symbol(':'));
    if opens && token.hash == word!("done") {
        return true;
    }
    OUTCOMES.contains(&token.hash)
        && text.lines.get(token.line as usize).is_none_or(|line| *line == LineKind::Plain)
        && text.tokens.iter().filter(same).all(|other| match other.kind {
            Kind::Word => {
                !other.has_content() || OUTCOMES.contains(&other.hash) || AROUND.contains(&other.hash)
            }
            // `Status: done` is no acknowledgement, and neither is `done (12 March)`.
            Kind::Symbol(symbol) => matches!(symbol, '.' | ',' | '!' | '*' | '\'' | '’' | ';'),
            _ => false,
        })
}

/// Whether one word, such as a status, is only the verb of what the speaker did or of what is yet to come
/// (`I have cancelled`, `will be delivered`).
pub(crate) fn is_deed(text: &Text, hit: &Hit) -> bool {
    if hit.end != hit.start + 1 {
        return false;
    }
    let Some(token) = text.get(hit.start).filter(|token| token.is_word()) else { return false };
    if acknowledges(text, token) {
        return true;
    }
    if token.has(Marks::EMPHASISED) {
        return false;
    }
    let near =
        text.tokens[..hit.start].iter().rev().take(4).take_while(|before| before.sentence == token.sentence);
    let coming = |before: &Token| {
        words!("will would once when until before after can could to yet ill soon if").contains(&before.hash)
    };
    near.into_iter()
        .any(|before| before.is(Roles::FIRST_PERSON) || (!token.has(Marks::CAPITAL) && coming(before)))
}
