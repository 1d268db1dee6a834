//! Orders the timestamps of a record: a start comes before its end.
//!
//! An end is computed from its start. Where the start may be missing, both are drawn from ranges that do not
//! overlap.

use diorama_seeds::agreement::{Lies, Moment};
use diorama_seeds::doc::FieldDoc;
use indexmap::IndexMap;
use serde_json::json;

use super::makers::{between, compute, drawn_moment, is_always, put, span};

/// Makes the timestamps of a record follow each other.
pub(super) fn follow(fields: &mut IndexMap<String, FieldDoc>) {
    let drawn = fields.iter().filter(|(_, field)| drawn_moment(field).is_some());
    let mut moments: Vec<(String, Moment)> =
        drawn.map(|(name, _)| (name.clone(), Moment::named(name))).collect();
    moments.sort_by_key(|(_, moment)| moment.stage());
    for (end, last) in &moments {
        // The closest earlier stage decides.
        let before = moments.iter().filter(|(_, first)| first.precedes(last));
        let Some((start, _)) = before.max_by_key(|(_, first)| first.stage()) else { continue };
        let (Some(first_field), Some(last_field)) = (fields.get(start), fields.get(end)) else { continue };
        if is_apart(first_field, last_field, last) {
            continue;
        }
        match follows(start, first_field, last_field, last).filter(|_| is_always(first_field)) {
            Some(expression) => {
                let over = last.lies == Lies::Past;
                let begin = span(first_field).filter(|(from, to)| over && *from < -10 && *to > -10);
                if let Some(provider) = drawn_moment(first_field)
                    && let Some((from, _)) = begin
                {
                    // An end in the past needs a start at least ten days back.
                    fields
                        .entry(start.clone())
                        .and_modify(|first| put(first, between(provider, (from, -10))));
                }
                fields.entry(end.clone()).and_modify(|last| compute(last, expression));
            }
            None => separate(fields, start, end, last),
        }
    }
}

/// Returns true if the two ranges keep the order already: a record created in some past year was changed last
/// week.
fn is_apart(first: &FieldDoc, last: &FieldDoc, said: &Moment) -> bool {
    let near = said.lies != Lies::Future;
    span(first).zip(span(last)).is_some_and(|(first, last)| first.1 < last.0 && (first.1 < 0 || !near))
}

/// Computes the end from a start of the same type. Lengths differ from record to record.
fn follows(start: &str, first: &FieldDoc, last: &FieldDoc, said: &Moment) -> Option<String> {
    let kind = last.kind.as_deref().filter(|kind| first.kind.as_deref() == Some(*kind))?;
    let begin = format!("record.{start}");
    // The lengths stay short here, so that an update in the past is not moved past the clock.
    match (kind, said.lies) {
        ("date", Lies::Past) => Some(format!("{begin} + days(day({begin}) % 3)")),
        ("date" | "date-time", _) if said.is_long => {
            Some(format!("{begin} + days(30 * (1 + day({begin}) % 12))"))
        }
        ("date", _) => Some(format!("{begin} + days(1 + day({begin}) % 9)")),
        ("date-time", Lies::Past) => Some(format!("{begin} + hours(2 + 5 * (day({begin}) % 9))")),
        ("date-time", _) => Some(format!("{begin} + minutes(30 * (1 + day({begin}) % 8))")),
        _ => None,
    }
}

/// Draws both timestamps from ranges that do not overlap.
fn separate(fields: &mut IndexMap<String, FieldDoc>, start: &str, end: &str, said: &Moment) {
    let provider = |name: &str| fields.get(name).and_then(drawn_moment);
    let (Some(first_kind), Some(last_kind)) = (provider(start), provider(end)) else { return };
    let (first, last) = if last_kind == "time" {
        (
            json!({"provider": "time", "from": "06:00", "to": "11:00", "step": "30m"}),
            json!({"provider": "time", "from": "14:00", "to": "22:00", "step": "30m"}),
        )
    } else {
        let (from, to) = fields.get(start).and_then(span).unwrap_or((-400, -40));
        // An end in the past lies at least two days before the clock.
        let (to, end) = match said.lies {
            Lies::Past => (to.min(-8), to.min(-8) + 6),
            _ => (to, to + 30),
        };
        (between(first_kind, (from.min(to), to)), between(last_kind, (to + 1, end)))
    };
    for (name, fake) in [(start, first), (end, last)] {
        fields.entry(name.to_owned()).and_modify(|field| put(field, fake));
    }
}
