//! Owns the query agent's plots: conversations for a written world, played in plain words and proven
//! before they are kept. Their words come later ([`words`](super::words)).

use std::collections::BTreeSet;
use std::sync::Arc;

use diorama_seeds::check;
use diorama_seeds::doc::{RecordsDoc, ScenarioDoc, WorldDoc};
use diorama_seeds::world::{self, Severity};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::asking::{Asker, Complaints, Step, Stop, read_json, run_blocking};
use super::guide::{self, Section};
use super::mend::{Sound, failed};
use super::plain::{add_plain_words, strip_words};
use super::whole::said;
use super::wordings::Words;
use super::words::write_words;
use crate::scenarios::rehearse::rehearsal;
use crate::worlds::error::PipelineError;
use crate::worlds::inspect::inspect;

/// Sections of the guide for plots.
const GUIDE: [Section; 3] = [Section::Plots, Section::Expressions, Section::Domain];
/// Members of a plot that hold words.
const WORDS: [&str; 5] = ["user", "say", "end", "later", "withheld"];
/// Maximum number of records of a resource in a prompt.
const SHOWN: usize = 8;
/// Maximum numbers of goals of a scenario and of steps of a goal.
const GOALS: usize = 3;
const STEPS: usize = 8;
/// Maximum number of scenarios per request.
const BATCH: usize = 6;
/// Tries of a scenario, and the number of them that must become rows.
const TRIES: u64 = 10;
const ENOUGH: u64 = 8;
/// Maximum number of requests to repair scenarios.
const MENDS: u32 = 3;

/// Request for plots.
pub struct WriteScenarios<'a> {
    /// Text of the world's document.
    pub document: &'a str,
    /// Number of plots to ask for.
    pub count: usize,
    /// Plots that the world has already.
    pub earlier: &'a [ScenarioDoc],
    /// APIs that no plot calls.
    pub uncalled: &'a [String],
}

impl Step for WriteScenarios<'_> {
    type Output = Vec<ScenarioDoc>;
    const NAME: &'static str = "query";

    fn input(&self) -> Json {
        let earlier: Vec<Json> =
            self.earlier.iter().map(|one| json!({ "name": one.name, "who": one.who })).collect();
        json!({
            "document": self.document, "guide": guide::cut(&GUIDE), "count": self.count, "earlier": earlier, "uncalled": self.uncalled,
        })
    }

    fn schema(&self) -> Option<Json> {
        Some(schema(self.count))
    }

    fn parse(&self, reply: &str, wrong: &mut Complaints) -> Option<Vec<ScenarioDoc>> {
        read(reply, self.count, wrong)
    }
}

/// Request to repair plots.
pub struct MendScenarios<'a> {
    /// Text of the world's document.
    pub document: &'a str,
    /// Plots, each with its faults.
    pub faulty: &'a [(ScenarioDoc, Vec<String>)],
}

impl Step for MendScenarios<'_> {
    type Output = Vec<ScenarioDoc>;
    const NAME: &'static str = "query_mend";

    fn input(&self) -> Json {
        let scenarios = self.faulty.iter().map(|(scenario, wrong)| {
            json!({ "scenario": serde_json::to_string(scenario).unwrap_or_default(), "wrong": wrong })
        });
        let guide = guide::cut(&[&GUIDE[..], &[Section::Findings]].concat());
        json!({ "document": self.document, "guide": guide, "scenarios": scenarios.collect::<Vec<_>>() })
    }

    fn schema(&self) -> Option<Json> {
        Some(schema(self.faulty.len()))
    }

    fn parse(&self, reply: &str, wrong: &mut Complaints) -> Option<Vec<ScenarioDoc>> {
        read(reply, self.faulty.len(), wrong)
    }
}

/// Returns the JSON Schema of a reply: a list of at most `most` scenarios of the world format, without
/// words.
fn schema(most: usize) -> Json {
    const SCENARIO: &str = "ScenarioDoc";
    let format = check::json_schema();
    let mut parts = Map::new();
    let mut open = vec![SCENARIO.to_owned()];
    while let Some(name) = open.pop() {
        if let Some(part) = format["$defs"].get(&name).filter(|_| !parts.contains_key(&name)) {
            let mut part = part.clone();
            if let Some(properties) = part.get_mut("properties").and_then(Json::as_object_mut) {
                properties.retain(|member, _| !WORDS.contains(&member.as_str()));
            }
            if let Some(required) = part.get_mut("required").and_then(Json::as_array_mut) {
                required.retain(|member| WORDS.iter().all(|words| member != words));
            }
            named_in(&part, &mut open);
            parts.insert(name, part);
        }
    }
    let scenario = json!({ "$ref": format!("#/$defs/{SCENARIO}") });
    let list = json!({ "type": "array", "items": scenario, "maxItems": most });
    json!({ "type": "object", "required": ["scenarios"], "properties": { "scenarios": list }, "$defs": parts })
}

/// Adds the names of the definitions to which a schema refers.
fn named_in(schema: &Json, names: &mut Vec<String>) {
    match schema {
        Json::Object(members) => {
            let name = members.get("$ref").and_then(Json::as_str).and_then(|path| path.rsplit('/').next());
            names.extend(name.map(str::to_owned));
            members.values().for_each(|member| named_in(member, names));
        }
        Json::Array(items) => items.iter().for_each(|item| named_in(item, names)),
        _ => {}
    }
}

fn read(reply: &str, most: usize, wrong: &mut Complaints) -> Option<Vec<ScenarioDoc>> {
    let json = read_json(reply, wrong)?;
    let Some(list) = json.get("scenarios").and_then(Json::as_array) else {
        wrong.add("found no list `scenarios`, expected {\"scenarios\": [...]}");
        return None;
    };
    let mut scenarios: Vec<ScenarioDoc> = Vec::new();
    for (number, one) in list.iter().take(most).enumerate() {
        match ScenarioDoc::deserialize(one) {
            Ok(scenario) => match find_excess(&scenario) {
                Some(what) => wrong.add(format!("`scenarios[{number}]`: {what}")),
                None if scenarios.iter().any(|known| known.name == scenario.name) => {
                    wrong.add(format!("`scenarios[{number}]`: `{}` is the name of another", scenario.name));
                }
                None => scenarios.push(strip_words(&scenario)),
            },
            Err(error) => wrong.add(format!("`scenarios[{number}]`: {error}")),
        }
    }
    (!scenarios.is_empty()).then_some(scenarios)
}

/// Returns a complaint if a scenario has too many goals or steps, or no goal.
fn find_excess(scenario: &ScenarioDoc) -> Option<String> {
    let (goals, steps) =
        (scenario.goals.len(), scenario.goals.iter().map(|goal| goal.does.len()).max().unwrap_or(0));
    if !(1..=GOALS).contains(&goals) {
        return Some(format!("found {goals} goals, expected 1 to {GOALS}"));
    }
    (steps > STEPS).then(|| format!("found {steps} steps in a goal, expected {STEPS} at most"))
}

/// Asks the model for plots of a world, a batch at a time, and for the words of those that become rows.
/// Each batch sees the plots so far and the APIs without a call. Faulty plots go back a few times.
///
/// # Errors
/// Returns an error if the model cannot be asked.
pub async fn write(asker: &Asker, sound: &Sound, count: usize) -> Result<Vec<(ScenarioDoc, Words)>, Stop> {
    let document = brief(&sound.doc);
    let document = document.as_deref().unwrap_or(&sound.text);
    let doc = Arc::new(sound.doc.clone());
    let mut kept: Vec<ScenarioDoc> = Vec::new();
    // If half of the plots of each batch are kept, these batches suffice.
    for number in 0..(2 * count.div_ceil(BATCH)) as u32 {
        let wanted = (count - kept.len()).min(BATCH);
        if wanted == 0 {
            break;
        }
        let uncalled = list_uncalled(&sound.doc, &kept);
        let step = WriteScenarios { document, count: wanted, earlier: &kept, uncalled: &uncalled };
        let mut written = asker.ask(number, &step).await?.unwrap_or_default();
        written.retain(|scenario| kept.iter().all(|other| other.name != scenario.name));
        asker.count(|funnel| funnel.scenarios_written += written.len() as u64);
        let mut faulty = Vec::new();
        sort(&doc, written, &mut kept, &mut faulty).await?;
        for mend in 0..MENDS {
            if faulty.is_empty() {
                break;
            }
            let step = MendScenarios { document, faulty: &faulty };
            let mended = asker.ask(number * MENDS + mend, &step).await?.unwrap_or_default();
            let names: BTreeSet<String> = faulty.iter().map(|(scenario, _)| scenario.name.clone()).collect();
            let mended: Vec<ScenarioDoc> =
                mended.into_iter().filter(|scenario| names.contains(&scenario.name)).collect();
            // A scenario that the reply lacks stays faulty.
            faulty.retain(|(scenario, _)| mended.iter().all(|other| other.name != scenario.name));
            let before = kept.len();
            sort(&doc, mended, &mut kept, &mut faulty).await?;
            asker.count(|funnel| funnel.scenarios_mended += (kept.len() - before) as u64);
        }
        asker.count(|funnel| {
            for (_, wrong) in &faulty {
                *funnel.scenarios_dropped.entry(class(wrong)).or_default() += 1;
            }
        });
        if !faulty.is_empty() {
            asker.keep("scenarios_dropped", json!(faulty));
        }
    }
    let mut worded = Vec::new();
    for (number, plot) in (0..).zip(kept) {
        match write_words(asker, &doc, &plot, number).await? {
            Some(words) => worded.push((plot, words)),
            None => {
                asker.count(|funnel| *funnel.scenarios_dropped.entry("no words".to_owned()).or_default() += 1)
            }
        }
    }
    Ok(worded)
}

/// Returns the text of a document for a prompt: each list of records keeps its first ones only.
fn brief(doc: &WorldDoc) -> Option<String> {
    let mut doc = doc.clone();
    let mut cut = Vec::new();
    for (name, resource) in &mut doc.resources {
        if let RecordsDoc::Given(given) = &mut resource.records
            && given.len() > SHOWN
        {
            cut.push(format!("# {name}: {} more records like these\n", given.len() - SHOWN));
            given.truncate(SHOWN);
        }
    }
    Some(world::to_yaml(&doc).ok()? + &cut.concat())
}

/// Returns the class of a scenario's first fault: `does not pass`, `cannot be played`,
/// `finding of world check`.
fn class(wrong: &[String]) -> String {
    let first = wrong.first().map_or("", String::as_str);
    let first = first.split_once(" tries: ").map_or(first, |(_, what)| what);
    first.split(':').next().unwrap_or_default().to_owned()
}

/// Returns the APIs that no scenario calls, without those for sign-in, which the program calls itself.
fn list_uncalled(doc: &WorldDoc, scenarios: &[ScenarioDoc]) -> Vec<String> {
    let called: BTreeSet<&str> =
        scenarios.iter().flat_map(ScenarioDoc::calls).filter_map(|call| call.call.as_deref()).collect();
    let asked = doc.apis.iter().filter(|api| !api.behaviour.sign_in);
    asked.map(|api| api.name.as_str()).filter(|name| !called.contains(name)).map(str::to_owned).collect()
}

/// Tries each scenario by itself, and sorts it into those that become rows and those with faults.
async fn sort(
    doc: &Arc<WorldDoc>,
    scenarios: Vec<ScenarioDoc>,
    kept: &mut Vec<ScenarioDoc>,
    faulty: &mut Vec<(ScenarioDoc, Vec<String>)>,
) -> Result<(), Stop> {
    let doc = Arc::clone(doc);
    let tried = run_blocking(move || {
        let found =
            |scenario| (find_faults(&doc, &scenario).unwrap_or_else(|error| vec![failed(&error)]), scenario);
        scenarios.into_iter().map(found).collect::<Vec<_>>()
    });
    for (wrong, scenario) in tried.await? {
        match wrong.is_empty() {
            true => kept.push(scenario),
            false => faulty.push((scenario, wrong)),
        }
    }
    Ok(())
}

/// Returns the faults of a plot in plain words: findings of `world check`, else the reasons for too few
/// rows.
fn find_faults(doc: &WorldDoc, plot: &ScenarioDoc) -> Result<Vec<String>, PipelineError> {
    let doc = WorldDoc { scenarios: vec![add_plain_words(doc, plot)], ..doc.clone() };
    let report = inspect(&doc.name, world::to_yaml(&doc)?.as_bytes(), &doc)?;
    let found: Vec<String> = report
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error || finding.path.contains("scenarios"))
        .map(|finding| format!("finding of `world check`: {}", said(finding)))
        .collect();
    if !found.is_empty() {
        return Ok(found);
    }
    Ok(rehearsal(&doc, TRIES)?.list_reasons(ENOUGH))
}
