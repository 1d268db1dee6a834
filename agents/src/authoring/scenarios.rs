//! The query agent's plots: conversations for a world that is written, played in plain words and proven before they are kept. The words
//! that people say in them are asked for afterwards ([`words`](super::words)).

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

/// The guide to writing plots.
const GUIDE: [Section; 3] = [Section::Plots, Section::Expressions, Section::Domain];
/// The members of a plot that hold words.
const WORDS: [&str; 5] = ["user", "say", "end", "later", "withheld"];
/// Records of a resource that a prompt shows.
const SHOWN: usize = 8;
/// Goals of a scenario, and steps of a goal.
const GOALS: usize = 3;
const STEPS: usize = 8;
/// Scenarios that are asked for at a time.
const BATCH: usize = 6;
/// Tries of a scenario, and how many of them have to become rows.
const TRIES: u64 = 10;
const ENOUGH: u64 = 8;
/// Times that scenarios go back with what is wrong with them.
const MENDS: u32 = 3;

/// Asks for plots.
pub struct WriteScenarios<'a> {
    /// The world's document.
    pub document: &'a str,
    /// How many.
    pub count: usize,
    /// Those that the world has.
    pub earlier: &'a [ScenarioDoc],
    /// The APIs that none of them calls.
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

/// Shows plots with what is wrong with them, and asks for them again.
pub struct MendScenarios<'a> {
    /// The world's document.
    pub document: &'a str,
    /// The scenarios, each with what is wrong.
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

/// The JSON Schema of a reply: a list of what the world format calls a scenario, without words.
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

/// The parts that a schema refers to.
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

/// Says what makes a scenario more than a small one.
fn find_excess(scenario: &ScenarioDoc) -> Option<String> {
    let (goals, steps) =
        (scenario.goals.len(), scenario.goals.iter().map(|goal| goal.does.len()).max().unwrap_or(0));
    if !(1..=GOALS).contains(&goals) {
        return Some(format!("found {goals} goals, expected 1 to {GOALS}"));
    }
    (steps > STEPS).then(|| format!("found {steps} steps in a goal, expected {STEPS} at most"))
}

/// Has the model write plots for a world, a batch at a time, and the words of those that become rows. A batch sees the ones before and the
/// APIs that none of them calls; what is wrong goes back a few times.
///
/// # Errors
/// When the model cannot be asked.
pub async fn write(asker: &Asker, sound: &Sound, count: usize) -> Result<Vec<(ScenarioDoc, Words)>, Stop> {
    let document = brief(&sound.doc);
    let document = document.as_deref().unwrap_or(&sound.text);
    let doc = Arc::new(sound.doc.clone());
    let mut kept: Vec<ScenarioDoc> = Vec::new();
    // As many batches as would do if each kept half.
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
            // Scenarios that did not come back stay as faulty as they were.
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

/// The document as a prompt shows it: of long lists of records the first ones.
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

/// The class of what is wrong first with a scenario: `does not pass`, `cannot be played`, `finding of world check`.
fn class(wrong: &[String]) -> String {
    let first = wrong.first().map_or("", String::as_str);
    let first = first.split_once(" tries: ").map_or(first, |(_, what)| what);
    first.split(':').next().unwrap_or_default().to_owned()
}

/// Lists the APIs that no scenario calls, but for those that sign users in, which the program does.
fn list_uncalled(doc: &WorldDoc, scenarios: &[ScenarioDoc]) -> Vec<String> {
    let called: BTreeSet<&str> =
        scenarios.iter().flat_map(ScenarioDoc::calls).filter_map(|call| call.call.as_deref()).collect();
    let asked = doc.apis.iter().filter(|api| !api.behaviour.sign_in);
    asked.map(|api| api.name.as_str()).filter(|name| !called.contains(name)).map(str::to_owned).collect()
}

/// Sorts scenarios into those that become rows and those with something wrong, each looked at by itself.
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

/// Finds the faults of a plot in plain words: the findings of `world check`, else the reasons why too few tries become rows.
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
