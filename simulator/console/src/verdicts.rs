//! The verdicts of a grade: by component and goal, and what was wrong.

use diorama_grade::{Components, GoalGrade, GradeError};
use maud::{Markup, html};
use serde_json::{Value as Json, json};

use crate::pieces::short;

/// The verdicts as a table, with the errors below.
pub(crate) fn verdicts(components: Components, goals: &[GoalGrade], errors: &[GradeError]) -> Markup {
    let members = |json: Json| match json {
        Json::Object(members) => members.into_iter().collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    let whole = members(json!(components));
    let goals: Vec<_> = goals.iter().map(|goal| members(json!(goal))).collect();
    html! {
        div.scroll tabindex="0" role="region" aria-label="Verdicts" { table {
            thead { tr { th scope="col" { "Component" } th scope="col" { "Episode" } @for number in 1..=goals.len() { th scope="col" { "Goal " (number) } } } }
            tbody {
                @for (position, (name, verdict)) in whole.iter().enumerate() {
                    tr {
                        th scope="row" { (name) }
                        td { (badge(verdict)) }
                        @for goal in &goals { td { @if let Some((_, verdict)) = goal.get(position) { (badge(verdict)) } } }
                    }
                }
            }
        } }
        @if !errors.is_empty() {
            ul.errors { @for error in errors { li { strong { (words(&json!(error.class))) } ": " (short(&error.message)) } } }
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

/// The name of a variant in words.
pub(crate) fn words(name: &Json) -> String {
    name.as_str().unwrap_or_default().replace('_', " ")
}
