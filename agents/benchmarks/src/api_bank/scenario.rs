//! Owns the scenarios of level 3: the user's knowledge, and the calls that solve the task.

use std::path::Path;

use diorama_baselines::plan::{PlanArgument, parse};
use diorama_seeds::task::Call;

use crate::material::{BenchmarkError, files_of, stem_of, text_of};

/// A scenario. It has no recorded dialogue and no recorded replies.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The file's name without its ending.
    pub id: String,
    /// The user's first message.
    pub opening: String,
    /// Facts that the user knows, as in the file.
    pub withheld: String,
    /// The calls that solve the task, in order.
    pub calls: Vec<Call>,
}

/// Reads the scenarios of a folder: `level-3/*.txt`. Returns no scenarios if the folder does not exist.
///
/// # Errors
/// Returns an error if a file cannot be read or is of another form.
pub fn scenarios(folder: &Path) -> Result<Vec<Scenario>, BenchmarkError> {
    let folder = folder.join("level-3");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    files_of(&folder, &[".txt"])?.iter().map(|file| scenario(file)).collect()
}

fn scenario(file: &Path) -> Result<Scenario, BenchmarkError> {
    let wrong = |found: String| {
        let expected = "expected lines `First Utterance: ..`, `Key Info:`, `API Calls:` and a call a line";
        BenchmarkError::form(file, format!("{found}; {expected}"))
    };
    let mut scenario =
        Scenario { id: stem_of(file), opening: String::new(), withheld: String::new(), calls: Vec::new() };
    let mut part = "";
    for line in text_of(file)?.lines().map(str::trim_end) {
        let title = line.trim_start_matches(['-', ' ']).trim_end_matches(':');
        if let Some(opening) = line.strip_prefix("First Utterance:") {
            scenario.opening = opening.trim().to_owned();
        } else if line.ends_with(':') && (title == "Key Info" || title.contains("API Call")) {
            part = if title == "Key Info" { "info" } else { "calls" };
        } else if part == "info" {
            scenario.withheld.push_str(line);
            scenario.withheld.push('\n');
        } else if part == "calls" && !line.is_empty() {
            scenario.calls.push(call(line).ok_or_else(|| wrong(format!("found `{line}`")))?);
        }
    }
    scenario.withheld = scenario.withheld.trim().to_owned();
    if scenario.opening.is_empty() || scenario.calls.is_empty() {
        return Err(wrong("found no first words or no calls".to_owned()));
    }
    Ok(scenario)
}

/// Parses `Name(argument=value, ..)`.
fn call(line: &str) -> Option<Call> {
    let plan = parse(line).ok()?;
    let argument = |(name, filled)| match filled {
        PlanArgument::Value(value) => Some((name?, value)),
        PlanArgument::Call(_) => None,
    };
    let arguments = plan.arguments.into_iter().map(argument).collect::<Option<_>>()?;
    Some(Call { api: plan.api, arguments })
}
