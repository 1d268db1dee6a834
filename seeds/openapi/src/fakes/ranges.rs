//! Chooses ranges of numbers and dates by their names, their limits and the examples of the document.

use diorama_seeds::agreement::{Lies, Moment};
use diorama_seeds::materialise::range_of_member;
use serde_json::{Value as Json, json};

use super::Span;
use crate::shape::{Kind, Shape};
use crate::words::words;

/// About the greatest number of multiples of a step that a provider may pick.
const MAX_MULTIPLES: i64 = 90;
/// The greatest number of multiples that are tried for each of these.
const MAX_TRIES: usize = 10_000;

pub(super) fn numeric(name: &str, shape: &Shape) -> Json {
    let parts = words(name);
    let has = |nouns: &[&str]| parts.iter().any(|part| nouns.contains(&part.as_str()));
    let whole = shape.kind == Kind::Integer;
    if !shape.choices.is_empty() {
        return json!({"provider": "pick", "of": shape.choices});
    }
    if parts.last().is_some_and(|last| last == "ratio") {
        return json!({"provider": "pick", "of": [0.667, 1.778]});
    }
    let samples: Vec<f64> = shape.samples.iter().filter_map(Json::as_f64).collect();
    let sampled = (samples.len() >= 3).then(|| {
        samples.iter().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)))
    });
    let counted = has(&["count", "views", "likes", "downloads", "plays", "followers", "width", "height"]);
    let sampled = sampled.filter(|(low, high)| low < high);
    let (mut low, mut high, step) = match (sampled, range_of_member(name, whole)) {
        (Some((low, high)), _) if counted => (low, high, 1.0),
        // A document has its own scale of ratings, which the highest example shows.
        (Some((_, high)), _) if has(&["average", "rating", "score", "stars", "rate"]) => {
            let top = [5.0, 10.0, 100.0].into_iter().find(|top| high <= *top).unwrap_or(high);
            (if whole { 1.0 } else { top * 0.4 }, top * 0.95, 0.1)
        }
        (None, _) if whole && has(&["width", "height"]) => (500.0, 3840.0, 1.0),
        (None, Some([low, high, step])) => (low, high, step),
        _ => stepped(sampled.unwrap_or((1.0, 900.0))),
    };
    let bound = |key: &Option<Json>| key.as_ref().and_then(Json::as_f64);
    if let Some(min) = bound(&shape.min) {
        low = low.max(min);
        high = high.max(low);
    }
    if let Some(max) = bound(&shape.max) {
        high = high.min(max);
        low = low.min(high);
    }
    if let Some(step) = shape.step {
        low = (low / step).ceil() * step;
        high = ((high / step).floor() * step).max(low);
        if whole && step.fract() == 0.0 {
            return json!({"provider": "integer", "min": low as i64, "max": high as i64, "step": step as i64});
        }
        if !whole {
            let exact = multiples(step, low, high);
            return match exact.is_empty() {
                true => json!({"provider": "number", "min": low, "max": high, "step": step}),
                false => json!({"provider": "pick", "of": exact}),
            };
        }
    }
    if whole || shape.format.as_deref() == Some("int64") {
        let (low, high) = (low.ceil() as i64, (high.floor() as i64).max(low.ceil() as i64));
        return json!({"provider": "integer", "min": low, "max": high});
    }
    if shape.fractional {
        // Odd tenths are never whole.
        let first = low.floor() + 0.1;
        return json!({"provider": "number", "min": first, "max": high.max(first), "step": 0.2});
    }
    json!({"provider": "number", "min": low, "max": high, "step": step})
}

/// Draws dates where the name says: finished steps lie in the past, in their usual order, and due dates in
/// the future.
pub(super) fn dated(name: &str, span: Span, provider: &str) -> Json {
    let said = Moment::named(name);
    let (from, to) = match said.lies {
        _ if said.is_birth() => (-31_000, -8000),
        Lies::Future => (span.to.max(20), span.to.max(20) + 60),
        Lies::Past if said.is_latest() => (-4, -1),
        Lies::Past if said.is_first() => (-900, -30),
        Lies::Past if said.stage().is_some() => (-28, -18),
        Lies::Past => (span.from.min(-1), -1),
        Lies::Any => (span.from, span.to),
    };
    json!({"provider": provider, "from": format!("{from:+}d"), "to": format!("{to:+}d")})
}

/// Returns some multiples of a step that stay multiples in floating-point numbers, as clients check them.
/// 66.91 is none of 0.01.
fn multiples(step: f64, low: f64, high: f64) -> Vec<f64> {
    let (first, last) = ((low / step).round() as i64, (high / step).round() as i64);
    let stride = (last.saturating_sub(first) / MAX_MULTIPLES).max(1) as usize;
    let multiple = |count: i64| (count as f64 * step * 1e9).round() / 1e9;
    let is_exact = |value: &f64| (value / step).fract() == 0.0;
    (first..=last)
        .step_by(stride)
        .filter_map(|from| (from..=last).take(stride.min(MAX_TRIES)).map(multiple).find(is_exact))
        .collect()
}

/// Returns the range with a step that fits its size.
fn stepped((low, high): (f64, f64)) -> (f64, f64, f64) {
    (low, high, if high - low > 50.0 { 1.0 } else { 0.01 })
}
