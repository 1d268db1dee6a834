//! Owns the tables of a grade: verdicts by component and goal, and the errors.

use maud::{Markup, html};
use serde_json::Value as Json;

use crate::pieces::short;

/// Renders a grade in the form of the admin API: a table of verdicts, with the errors below.
pub(crate) fn verdicts(grade: &Json) -> Markup {
    let list = |name: &str| grade.get(name).and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let (goals, errors) = (list("goals"), list("errors"));
    let components = grade.get("components").and_then(Json::as_object);
    let text =
        |error: &Json, name: &str| error.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    html! {
        div.scroll tabindex="0" role="region" aria-label="Verdicts" { table {
            thead { tr { th scope="col" { "Component" } th scope="col" { "Episode" } @for number in 1..=goals.len() { th scope="col" { "Goal " (number) } } } }
            tbody {
                @for (name, verdict) in components.into_iter().flatten() {
                    tr {
                        th scope="row" { (name) }
                        td { (badge(verdict)) }
                        @for goal in goals { td { @if let Some(verdict) = goal.get(name) { (badge(verdict)) } } }
                    }
                }
            }
        } }
        @if !errors.is_empty() {
            ul.errors { @for error in errors { li { strong { (text(error, "class").replace('_', " ")) } ": " (short(&text(error, "message"))) } } }
        }
    }
}

fn badge(verdict: &Json) -> Markup {
    let class = match verdict.as_str() {
        Some("passed") => "good",
        Some("failed") => "bad",
        _ => "none",
    };
    html! { span.badge.(class) { (words(verdict)) } }
}

/// Returns the name of a variant in words.
fn words(name: &Json) -> String {
    name.as_str().unwrap_or_default().replace('_', " ")
}
