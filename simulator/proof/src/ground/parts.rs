//! A last message as parts: where the facts it was asked for stand in it, so that they can be said again over the
//! replies of another run.

use diorama_answers::prose::{Prose, Span};
use diorama_answers::{Mention, What};
use diorama_engine::{Body, Origin};
use diorama_seeds::english::enumerate;
use diorama_seeds::value::Value;

use super::{Seen, text};
use crate::answer::{AnswerPart, Asked};
use diorama_grade::measures::{bare, leaf_schema};

use crate::binding::each;
use crate::render;

/// So many styles of saying a value are told apart.
const STYLES: u32 = 6;

/// The parts of a message: text, and the facts asked for where they stand in it. A fact that is told in another way (a
/// count in words, a yes) stays text.
pub(crate) fn of(prose: &Prose, asked: &[Asked], seen: &Seen<'_>) -> Vec<AnswerPart> {
    let words = prose.source();
    let mut placed: Vec<(Span, AnswerPart)> = Vec::new();
    for fact in asked {
        let free = |span: Span, placed: &[(Span, AnswerPart)]| {
            !placed.iter().any(|(other, _)| span.overlaps(*other))
        };
        match fact {
            Asked::Leaf { call, path, .. } | Asked::Count { call, path, .. } => {
                let Some(leaf) = seen.entries.get(*call).and_then(|entry| entry.reply.body.at(path)) else {
                    continue;
                };
                let found = spans_of(leaf, prose, seen);
                let chosen = found.into_iter().find(|(span, ..)| free(*span, &placed));
                if let Some((span, style, bare)) = chosen {
                    let part = AnswerPart::Leaf { call: *call, path: path.clone(), style, bare };
                    placed.push((span, part));
                }
            }
            Asked::Each { call, array, member, .. } => {
                if let Some((span, style)) = whole_list(*call, array, member, prose, seen) {
                    let (array, member) = (array.clone(), member.clone());
                    placed.push((span, AnswerPart::Each { call: *call, array, member, style }));
                }
            }
        }
    }
    made_up(words, seen, &mut placed);
    placed.sort_by_key(|(span, _)| *span);
    let mut parts = Vec::new();
    let mut at = 0;
    for (span, part) in placed {
        if let Some(text) = words.get(at..span.start).filter(|text| !text.is_empty()) {
            parts.push(AnswerPart::Text(text.to_owned()));
        }
        parts.push(part);
        at = span.end;
    }
    if let Some(text) = words.get(at..).filter(|text| !text.is_empty()) {
        parts.push(AnswerPart::Text(text.to_owned()));
    }
    parts
}

/// The keys of new records that the words tell: another session makes others.
fn made_up(words: &str, seen: &Seen<'_>, placed: &mut Vec<(Span, AnswerPart)>) {
    let world = seen.context.base.world();
    for (call, entry) in seen.entries.iter().enumerate() {
        for change in entry.changes.iter().filter(|change| change.before.is_none()) {
            let told = change.key.to_text(&world.zone);
            let key_of = |origin: &Origin| matches!(origin, Origin::Field { resource, key, field } if *resource == change.resource && *key == change.key && *field == world.resource(*resource).key);
            let Some((path, ..)) = entry.reply.body.leaves().find(|(_, _, origin)| key_of(origin)) else {
                continue;
            };
            for (start, _) in
                words.match_indices(&told).filter(|(start, _)| is_whole(words, *start, told.len()))
            {
                let span = Span { start, end: start + told.len() };
                if !placed.iter().any(|(other, _)| span.overlaps(*other)) {
                    placed.push((span, AnswerPart::Leaf { call, path: path.clone(), style: 0, bare: true }));
                }
            }
        }
    }
}

/// Where a leaf is told: in one of the forms that it can be said again in, else by what is mentioned.
fn spans_of(leaf: &Body, prose: &Prose, seen: &Seen<'_>) -> Vec<(Span, u32, bool)> {
    let Body::Leaf(value, origin) = leaf else { return Vec::new() };
    let words = prose.source();
    let world = seen.context.base.world();
    let schema = leaf_schema(origin, world);
    let plain = bare(schema.clone());
    let mut found = Vec::new();
    for (schema, is_bare) in [(&schema, false), (&plain, true)] {
        for style in 0..STYLES {
            let told = render::told(value, schema, &world.zone, style);
            for (start, _) in
                words.match_indices(&told).filter(|(start, told)| is_whole(words, *start, told.len()))
            {
                let span = Span { start, end: start + told.len() };
                if !found.iter().any(|(known, ..): &(Span, u32, bool)| known.start == span.start) {
                    found.push((span, style, is_bare));
                }
            }
        }
    }
    if found.is_empty() {
        let mentioned = prose.mentions().iter().filter(|mention| tells(mention, value, seen));
        found.extend(mentioned.map(|mention| {
            let bare = matches!(&mention.what, What::Number(number) if number.unit.is_none());
            (mention.span(), 0, bare)
        }));
        if let Value::String(name) = value {
            found.extend(prose.find(name).into_iter().map(|span| (span, 0, true)));
        }
    }
    // A moment that is told by its day and its time apart is said again whole.
    found
}

fn tells(mention: &Mention, value: &Value, seen: &Seen<'_>) -> bool {
    match (&mention.what, value) {
        (what, Value::Date(date)) => text::is_date(what, *date, &seen.clock),
        (what, Value::Time(time)) => text::is_time(what, *time),
        (What::Number(number), value) => value.as_f64() == Some(number.value),
        (What::Money(money), value) => value.as_f64() == Some(money.amount.as_f64()),
        _ => false,
    }
}

/// Whether a match is a whole word: no letter or digit goes on before or behind it.
fn is_whole(words: &str, start: usize, length: usize) -> bool {
    let before = words.get(..start).and_then(|text| text.chars().next_back());
    let mut after = words.get(start + length..).unwrap_or_default().chars();
    let goes_on = match (after.next(), after.next()) {
        (Some('.' | ',' | ':'), Some(next)) => next.is_ascii_digit(),
        (Some(next), _) => next.is_alphanumeric(),
        (None, _) => false,
    };
    !before.is_some_and(char::is_alphanumeric) && !goes_on
}

/// A whole list, where its items are told one after the other in one of the forms that it can be said again in.
fn whole_list(call: usize, array: &str, member: &str, prose: &Prose, seen: &Seen<'_>) -> Option<(Span, u32)> {
    let world = seen.context.base.world();
    let items = each(&seen.entries.get(call)?.reply.body, array, member)?;
    let said = |leaf: &&Body| match leaf {
        Body::Leaf(value, origin) => {
            Some(render::told(value, &bare(leaf_schema(origin, world)), &world.zone, 0))
        }
        _ => None,
    };
    let told: Vec<String> = items.iter().map(said).collect::<Option<_>>()?;
    let forms = [enumerate(&told), format!("\n- {}", told.join("\n- ")), told.join("; ")];
    let exact = forms.iter().zip(0..).find_map(|(form, style)| {
        let start = prose.source().find(form.as_str())?;
        Some((Span { start, end: start + form.len() }, style))
    });
    exact.or_else(|| {
        // In another order, or with other words between: from the first item told to the last.
        let spans: Vec<Span> =
            told.iter().map(|name| prose.find(name).into_iter().next()).collect::<Option<_>>()?;
        let in_order =
            spans.windows(2).all(|pair| pair[0].end <= pair[1].start && pair[1].start - pair[0].end <= 6);
        let span = Span { start: spans.first()?.start, end: spans.last()?.end };
        in_order.then_some((span, 0))
    })
}
