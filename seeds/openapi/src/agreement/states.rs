//! Makes flags and timestamps of a record agree with its state and with each other.

use diorama_seeds::agreement::{Lies, Moment, holds_state, reached, stand, tells_same};
use diorama_seeds::doc::{FieldDoc, TypeName};
use indexmap::IndexMap;

use super::makers::{compute, drawn_moment, is_always, span};

/// Derives fields that tell of a state from it: `failed_at` is null unless the record failed.
/// `in_progress_at` comes before the timestamp that ended the work.
pub(super) fn come_about(fields: &mut IndexMap<String, FieldDoc>) {
    let is_state = |(name, field): &(&String, &FieldDoc)| {
        holds_state(name) && field.values.iter().any(|value| stand(value).is_some())
    };
    let state = fields.iter().find(is_state).map(|(name, field)| (name.clone(), field.values.clone()));
    let names: Vec<String> = fields.keys().cloned().collect();
    let begin = beginning(fields, state.as_ref().map_or(&[][..], |(_, values)| values));
    for name in &names {
        let Some((state, values)) = state.as_ref().filter(|(state, _)| state != name) else { continue };
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let Some(states) = reached(name, &values) else { continue };
        let tests: Vec<String> = states
            .iter()
            .map(|value| format!("record.{state} == {}", crate::constants::quote(value)))
            .collect();
        let is_there = if tests.is_empty() { "false".to_owned() } else { tests.join(" || ") };
        tell(fields, name, &is_there, begin.as_deref());
    }
    for flag in &names {
        if !is_flag(fields, flag) {
            continue;
        }
        let moments = names.iter().filter(|other| *other != flag && tells_same(flag, other));
        for moment in moments.cloned().collect::<Vec<_>>() {
            if fields.get(&moment).is_some_and(|field| drawn_moment(field).is_some()) {
                tell(fields, &moment, &format!("record.{flag}"), begin.as_deref());
            }
        }
    }
}

fn is_flag(fields: &IndexMap<String, FieldDoc>, name: &str) -> bool {
    fields.get(name).is_some_and(|field| field.kind == Some(TypeName::Boolean) && is_always(field))
}

/// Returns the timestamp at which a record began: its creation, else a past timestamp that no state decides.
fn beginning(fields: &IndexMap<String, FieldDoc>, values: &[String]) -> Option<String> {
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let is_over = |(name, field): &(&String, &FieldDoc)| {
        drawn_moment(field).is_some()
            && is_always(field)
            && span(field).is_some_and(|(_, to)| to <= 0)
            && Moment::named(name).lies == Lies::Past
            && !Moment::named(name).is_latest()
    };
    let made = |known: &(&String, &FieldDoc)| is_over(known) && Moment::named(known.0).is_first();
    let other = |known: &(&String, &FieldDoc)| is_over(known) && reached(known.0, &values).is_none();
    fields.iter().find(made).or_else(|| fields.iter().find(other)).map(|(name, _)| name.clone())
}

/// Computes a flag, or an optional timestamp, from a condition.
fn tell(fields: &mut IndexMap<String, FieldDoc>, name: &str, is_there: &str, begin: Option<&str>) {
    let begin = begin.filter(|begin| *begin != name);
    let from = begin.and_then(|begin| Some((begin, fields.get(begin)?.kind?)));
    let Some(field) = fields.get_mut(name) else { return };
    if field.kind == Some(TypeName::Boolean) {
        compute(field, is_there.to_owned());
        return;
    }
    if !(field.nullable || field.optional) {
        return;
    }
    // Timestamps of later stages get later hours.
    let turn = 1 + 3 * Moment::named(name).stage().unwrap_or_default();
    let moment = match (drawn_moment(field), from) {
        (Some("date_time"), Some((begin, TypeName::DateTime))) => {
            format!("record.{begin} + hours({turn} + day(record.{begin}) % 3)")
        }
        (Some("date"), Some((begin, TypeName::Date))) => format!("record.{begin} + days({})", turn / 12),
        (Some("date"), Some((begin, TypeName::DateTime))) => {
            format!("date(record.{begin}) + days({})", turn / 12)
        }
        (Some("date_time"), _) => format!("now - hours({})", 400 - turn),
        (Some("date"), _) => format!("today - days({})", 20 - turn / 12),
        _ => return,
    };
    // The condition alone decides whether the timestamp is null.
    field.fake = None;
    compute(field, format!("({is_there}) ? {moment} : null"));
    (field.nullable, field.optional) = (true, false);
}
