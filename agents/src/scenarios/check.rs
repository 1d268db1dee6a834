//! What is wrong with the words of scenarios before any of them is played.

use diorama_seeds::doc::{ScenarioDoc, ScenarioStepDoc};
use diorama_seeds::world::Finding;
use serde_json::Value as Json;

use super::templates::{find_expression_fault, find_template_fault};

/// Finds what is wrong with the words of a scenario as templates.
pub(crate) fn check_words(doc: &ScenarioDoc, position: usize) -> Vec<Finding> {
    let mut wrong: Vec<(String, String)> = Vec::new();
    let mut check = |path: String, wording: &str| {
        if let Some(fault) = find_template_fault(wording) {
            wrong.push((path, format!("`{wording}` is no template: {fault}")));
        }
    };
    let path = format!("scenarios[{position}]");
    doc.later.iter().for_each(|wording| check(format!("{path}.later"), wording));
    doc.policy.iter().for_each(|wording| check(format!("{path}.policy"), wording));
    for (name, wordings) in &doc.withheld {
        wordings.iter().for_each(|wording| check(format!("{path}.withheld.{name}"), wording));
    }
    for (number, goal) in doc.goals.iter().enumerate() {
        let path = format!("{path}.goals[{number}]");
        goal.user.iter().for_each(|wording| check(format!("{path}.user"), wording));
        goal.end.iter().for_each(|wording| check(format!("{path}.end"), wording));
        for (number, step) in goal.does.iter().enumerate() {
            let path = format!("{path}.does[{number}]");
            step.say.iter().for_each(|wording| check(format!("{path}.say"), wording));
            step.user.iter().for_each(|wording| check(format!("{path}.user"), wording));
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
