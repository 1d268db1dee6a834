//! Makes the numbers of a record agree: totals are the sums of their parts, and no part exceeds its total.

use diorama_seeds::agreement::{Bond, bonds, counted, holds_state, reached};
use diorama_seeds::contract::noun;
use diorama_seeds::doc::{FieldDoc, TypeName};
use indexmap::IndexMap;

use super::makers::{compute, is_always, is_drawn_number, narrow, range};
use crate::constants::quote;

/// Makes the numbers of a record agree.
pub(super) fn add_up(fields: &mut IndexMap<String, FieldDoc>) {
    count_lists(fields);
    let is_number = |(_, field): &(&String, &FieldDoc)| is_drawn_number(field) && is_always(field);
    let names: Vec<String> = fields.iter().filter(is_number).map(|(name, _)| name.clone()).collect();
    let texts: Vec<&str> = names.iter().map(String::as_str).collect();
    let name = |at: usize| texts.get(at).copied().unwrap_or_default();
    // Maps each total to its parts.
    let mut sums: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for bond in bonds(&texts) {
        match bond {
            Bond::Sum { whole, plus, minus } => {
                let plus: Vec<&str> = plus.into_iter().map(name).collect();
                let minus: Vec<&str> = minus.into_iter().map(name).collect();
                let whole = name(whole);
                if !sums.contains_key(whole) && sum(fields, whole, &plus, &minus) {
                    sums.insert(whole, [plus, minus].concat());
                }
            }
            Bond::Order { less, more } => {
                let (less, more) = (name(less), name(more));
                let is_part = sums.get(more).is_some_and(|parts| parts.contains(&less));
                if !is_part && !sums.contains_key(less) {
                    order(fields, less, more, sums.contains_key(more));
                }
            }
        }
    }
}

/// Computes integers that count a list of the record from the list's length.
fn count_lists(fields: &mut IndexMap<String, FieldDoc>) {
    let is_list = |(_, field): &(&String, &FieldDoc)| field.kind == Some(TypeName::List) && is_always(field);
    let lists: Vec<String> = fields.iter().filter(is_list).map(|(name, _)| name.clone()).collect();
    for (name, field) in fields.iter_mut().filter(|(_, field)| field.kind == Some(TypeName::Integer)) {
        let of = counted(name).and_then(|of| lists.iter().find(|list| noun(list) == of));
        if let Some(list) = of {
            compute(field, format!("size(record.{list})"));
        }
    }
}

/// Computes a total and returns true if its parts are of one type and the sum keeps the limits of the field.
fn sum(fields: &mut IndexMap<String, FieldDoc>, whole: &str, plus: &[&str], minus: &[&str]) -> bool {
    let Some(kind) = fields.get(whole).map(|field| field.kind) else { return false };
    let all = || plus.iter().chain(minus);
    if all().any(|part| fields.get(*part).is_none_or(|field| field.kind != kind)) {
        return false;
    }
    let bound = |limit: &Option<serde_json::Value>| limit.as_ref().and_then(serde_json::Value::as_f64);
    let (least, most) =
        fields.get(whole).map_or((None, None), |field| (bound(&field.min), bound(&field.max)));
    let ranges = |parts: &[&str]| -> Option<(f64, f64)> {
        parts.iter().map(|part| fields.get(*part).and_then(range)).try_fold((0.0, 0.0), |sum, range| {
            let (low, high) = range?;
            Some((sum.0 + low, sum.1 + high))
        })
    };
    // A limited total is computed only if its parts have ranges that keep the limits.
    if (least.is_some_and(|least| least > 0.0) || most.is_some())
        && !ranges(plus).is_some_and(|(low, high)| {
            most.is_none_or(|most| high <= most) && least.is_none_or(|least| least <= low)
        })
    {
        return false;
    }
    if let Some((low, _)) = ranges(plus) {
        // All deductions together may take at most half of the least sum.
        let share = (low / (2 * minus.len().max(1)) as f64).floor();
        for part in minus {
            fields.entry((*part).to_owned()).and_modify(|field| narrow(field, (0.0, share)));
        }
    }
    let added: Vec<String> = plus.iter().map(|part| format!("record.{part}")).collect();
    let taken: String = minus.iter().map(|part| format!(" - record.{part}")).collect();
    let sum = format!("{}{taken}", added.join(" + "));
    let expression = if kind == Some(TypeName::Integer) { sum } else { format!("round({sum}, 2)") };
    fields.entry(whole.to_owned()).and_modify(|field| compute(field, expression));
    true
}

/// Keeps one number no greater than another: their ranges do not overlap, or the lesser is a share of a
/// computed total.
fn order(fields: &mut IndexMap<String, FieldDoc>, less: &str, more: &str, is_sum: bool) {
    let (Some(low), Some(high)) = (fields.get(less), fields.get(more)) else { return };
    if is_sum {
        if low.kind == high.kind && low.max.is_none() {
            let share = paid_share(fields, less, more, low.kind);
            fields.entry(less.to_owned()).and_modify(|field| compute(field, share));
        }
        return;
    }
    let (Some((from, until)), Some((least, to))) = (range(low), range(high)) else { return };
    let middle = from.midpoint(to).floor();
    if until <= least || from > middle || to < middle {
        return;
    }
    let (lower, upper) = ((from, until.min(middle)), (least.max(middle), to));
    fields.entry(less.to_owned()).and_modify(|field| narrow(field, lower));
    fields.entry(more.to_owned()).and_modify(|field| narrow(field, upper));
}

/// Returns a share of a total as an expression: all or nothing where a state implies the name (`paid`), else
/// half.
fn paid_share(fields: &IndexMap<String, FieldDoc>, less: &str, more: &str, kind: Option<TypeName>) -> String {
    let told = fields.iter().filter(|(name, field)| holds_state(name) && !field.values.is_empty()).find_map(
        |(name, field)| {
            let values: Vec<&str> = field.values.iter().map(String::as_str).collect();
            let words = crate::words::words(less);
            let word =
                words.iter().find(|word| reached(word, &values).is_some_and(|states| !states.is_empty()))?;
            let states = reached(word, &values)?;
            let tests: Vec<String> =
                states.iter().map(|value| format!("record.{name} == {}", quote(value))).collect();
            Some(tests.join(" || "))
        },
    );
    let is_whole = kind == Some(TypeName::Integer);
    match told {
        Some(told) => format!("({told}) ? record.{more} : {}", if is_whole { "0" } else { "0.0" }),
        None if is_whole => format!("floor(record.{more} / 2)"),
        None => format!("round(record.{more} / 2, 2)"),
    }
}
