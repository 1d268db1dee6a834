//! Ranges of numbers and dates, by their names, their limits and the examples of the document.

use serde_json::{Value as Json, json};

use super::Span;
use crate::shape::{Kind, Shape};
use crate::words::words;

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
    let (mut low, mut high, step) =
        if let Some((low, high)) = sampled.filter(|(low, high)| counted && low < high) {
            (low, high, 1.0)
        } else if has(&["average", "rating", "score", "stars", "rate"]) {
            let top = sampled.map_or(10.0, |(_, high)| {
                if high <= 5.0 {
                    5.0
                } else if high <= 10.0 {
                    10.0
                } else {
                    100.0
                }
            });
            (if whole { 1.0 } else { top * 0.4 }, top * 0.95, 0.1)
        } else if has(&["popularity"]) {
            (0.6, 400.0, 0.001)
        } else if has(&["year"]) {
            (1980.0, 2025.0, 1.0)
        } else if has(&["latitude", "lat"]) {
            (-60.0, 60.0, 0.0001)
        } else if has(&["longitude", "lon", "lng"]) {
            (-180.0, 180.0, 0.0001)
        } else if has(&["budget", "revenue", "income", "salary", "population"]) {
            (200_000.0, 250_000_000.0, 1000.0)
        } else if has(&["price", "amount", "cost", "total", "fee", "balance"]) {
            (5.0, 500.0, 0.5)
        } else if has(&["runtime", "duration", "minutes", "run"]) {
            (22.0, 190.0, 1.0)
        } else if has(&["count", "views", "likes", "downloads", "plays", "followers"]) {
            (3.0, 9000.0, 1.0)
        } else if has(&["quantity", "qty", "stock"]) {
            (1.0, 40.0, 1.0)
        } else if has(&["age"]) {
            (1.0, 80.0, 1.0)
        } else if has(&["percent", "percentage"]) {
            (0.0, 100.0, 1.0)
        } else if has(&["width", "height"]) {
            (500.0, 3840.0, 1.0)
        } else if has(&["weight"]) {
            (0.5, 90.0, 0.1)
        } else {
            stepped(sampled.filter(|(low, high)| low < high).unwrap_or((1.0, 900.0)))
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
            return json!({"provider": "number", "min": low, "max": high, "step": step});
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

/// Dates in order: what begins lies before what ends.
pub(super) fn dated(name: &str, span: Span, provider: &str) -> Json {
    let parts = words(name);
    let has = |nouns: &[&str]| parts.iter().any(|part| nouns.contains(&part.as_str()));
    let (from, to) = if has(&["birthday", "birth", "birthdate", "dob", "born"]) {
        (-31_000, -8000)
    } else if has(&["deathday", "death", "died"]) {
        (-5000, -60)
    } else if has(&["due", "expires", "expiry", "deadline", "end", "ends", "until"]) {
        (span.to.max(20), span.to.max(20) + 60)
    } else if has(&["updated", "modified", "last", "completed", "closed"]) {
        (-20, -1)
    } else if has(&["created", "joined", "registered", "opened"]) {
        (-900, -30)
    } else {
        (span.from, span.to)
    };
    json!({"provider": provider, "from": format!("{from:+}d"), "to": format!("{to:+}d")})
}

/// The range with a step that fits its size.
fn stepped((low, high): (f64, f64)) -> (f64, f64, f64) {
    (low, high, if high - low > 50.0 { 1.0 } else { 0.01 })
}
