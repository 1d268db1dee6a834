//! Checks the wordings of scenarios before any of them is played.

use diorama_seeds::doc::{ScenarioDoc, ScenarioStepDoc};
use diorama_seeds::world::Finding;
use serde_json::Value as Json;

use super::templates::{find_expression_fault, find_template_fault};

/// Finds faults of a scenario's wordings as templates.
pub(crate) fn check_words(doc: &ScenarioDoc, position: usize) -> Vec<Finding> {
    let mut wrong: Vec<(String, String)> = Vec::new();
    let path = format!("scenarios[{position}]");
    let mut lines = doc.clone();
    let of_lines = lines.lines_mut().flat_map(|line| {
        let path = format!("{path}.{}", line.path);
        line.wordings
            .iter()
            .enumerate()
            .map(move |(number, wording)| (format!("{path}[{number}]"), wording.clone()))
    });
    for (place, wording) in of_lines.collect::<Vec<_>>() {
        if let Some(fault) = find_template_fault(&wording) {
            wrong.push((place, format!("`{wording}` is no template: {fault}")));
        }
    }
    for (number, goal) in doc.goals.iter().enumerate() {
        for condition in &goal.only_if {
            if let Some(fault) = find_expression_fault(condition) {
                let path = format!("{path}.goals[{number}].only_if");
                wrong.push((path, format!("`{condition}` is no expression: {fault}")));
            }
        }
    }
    let wrong = wrong.into_iter();
    let mut findings: Vec<Finding> =
        wrong.map(|(path, message)| Finding::error(path, message, "see docs/scenarios.md")).collect();
    for step in doc.calls() {
        check_arguments(step, &path, &mut findings);
    }
    findings
}

fn check_arguments(step: &ScenarioStepDoc, path: &str, findings: &mut Vec<Finding>) {
    for (name, given) in &step.with {
        if let Json::String(expression) = given
            && let Some(fault) = find_expression_fault(expression)
        {
            let message = format!("`{name}: {expression}` is no expression: {fault}");
            findings.push(Finding::error(
                format!("{path}.goals"),
                message,
                "name a place, a reply or a literal; quote texts",
            ));
        }
    }
}
