//! Owns the query agent's paraphrases: more wordings for the lines of scenarios, each played and proven
//! before it is kept.

use std::sync::Arc;

use diorama_llm::{ChatModel, Sampling};
use diorama_output::stats::duplicates::{shingles, similar};
use diorama_output::stats::text::words;
use diorama_seeds::doc::{Line, ScenarioDoc, WordsDoc, WorldDoc};
use serde_json::{Value as Json, json};
use tokio::task::JoinSet;

use super::asking::{Asker, Complaints, Notes, Step, Stop, read_json, run_blocking};
use super::guide::{self, Section};
use super::mend::failed;
use super::wordings::{
    ENOUGH, TRIES, Words, count_wordings, describe_service, list_properties, read_wordings, to_doc,
};
use super::{AuthoringRun, WAVE, join_in_order};
use crate::scenarios::rehearse::{Rehearsal, rehearsal_of_words};
use crate::worlds::error::PipelineError;

/// Request for more wordings of one scenario's lines.
struct WriteWordings<'a> {
    doc: &'a WorldDoc,
    scenario: &'a ScenarioDoc,
    /// Existing wordings, by line.
    lines: &'a Words,
    /// Number of wordings to ask for, per line.
    count: usize,
}

impl Step for WriteWordings<'_> {
    type Output = Words;
    const NAME: &'static str = "query_paraphrase";

    fn input(&self) -> Json {
        json!({
            "guide": guide::cut(&[Section::Speech]),
            "about": describe_service(self.doc),
            "who": self.scenario.who,
            "scenario": serde_json::to_string(self.scenario).unwrap_or_default(),
            "lines": self.lines.keys().collect::<Vec<_>>(),
            "count": self.count,
        })
    }

    fn schema(&self) -> Option<Json> {
        let properties = list_properties(self.lines.keys(), self.count);
        Some(json!({ "type": "object", "properties": properties, "additionalProperties": false }))
    }

    fn parse(&self, reply: &str, wrong: &mut Complaints) -> Option<Self::Output> {
        let json = read_json(reply, wrong)?;
        let mut found = Words::new();
        for (path, wordings) in json.as_object()? {
            if !self.lines.contains_key(path) {
                wrong.add(format!("found `{path}`, expected the name of a line: {}", self.paths()));
                continue;
            }
            let texts = read_wordings(wordings).filter(|text| !text.is_empty());
            found.insert(path.clone(), texts.take(self.count).map(str::to_owned).collect());
        }
        let is_empty = found.values().all(Vec::is_empty);
        if is_empty {
            wrong.add(format!("found no wordings, expected lists of texts for {}", self.paths()));
        }
        (!is_empty).then_some(found)
    }
}

impl WriteWordings<'_> {
    fn paths(&self) -> String {
        self.lines.keys().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
    }
}

/// Asks a model for `count` more wordings of each line of each scenario. Returns the wordings with which
/// the scenario becomes rows, and the result of the run, whose slots are scenarios. Equal replies give equal
/// wordings.
pub async fn paraphrase(
    model: Arc<dyn ChatModel>,
    sampling: Sampling,
    doc: Arc<WorldDoc>,
    count: usize,
) -> (WordsDoc, AuthoringRun) {
    let (notes, mut words, mut stopped) = (Notes::default(), WordsDoc::default(), None);
    let mut from = 0;
    while from < doc.scenarios.len() && stopped.is_none() {
        let until = doc.scenarios.len().min(from + WAVE as usize);
        let mut slots = JoinSet::new();
        for slot in from..until {
            let asker = Asker::new(Arc::clone(&model), sampling.clone(), slot as u64, notes.clone());
            let doc = Arc::clone(&doc);
            slots.spawn(async move {
                (slot as u64, paraphrase_scenario(&asker, &doc, &doc.scenarios[slot], count).await)
            });
        }
        let kept;
        (kept, stopped) = join_in_order(slots).await;
        let of_scenarios = kept.into_iter().filter(|(_, lines)| !lines.is_empty());
        words.words.extend(
            of_scenarios.map(|(slot, lines)| (doc.scenarios[slot as usize].name.clone(), to_doc(lines))),
        );
        from = until;
    }
    let (steps, funnel) = notes.take();
    (words, AuthoringRun { steps, funnel, stopped, ..AuthoringRun::default() })
}

/// Asks for wordings of a scenario. Returns the kept ones, by line.
async fn paraphrase_scenario(
    asker: &Asker,
    doc: &Arc<WorldDoc>,
    scenario: &ScenarioDoc,
    count: usize,
) -> Result<Words, Stop> {
    let lines: Words = worded(&mut scenario.clone()).map(|line| (line.name, line.wordings.clone())).collect();
    let step = WriteWordings { doc, scenario, lines: &lines, count };
    let written = asker.ask(0, &step).await?.unwrap_or_default();
    let (mut kept, mut dropped) = (Words::new(), Vec::new());
    for (path, wordings) in written {
        asker.count(|funnel| funnel.wordings_written += wordings.len() as u64);
        for wording in wordings {
            let known = lines[&path].iter().chain(kept.get(&path).into_iter().flatten());
            let known: Vec<String> = known.cloned().collect();
            let tried = {
                let (doc, scenario) = (Arc::clone(doc), scenario.clone());
                let (path, wording) = (path.clone(), wording.clone());
                move || fault(&doc, &scenario, (&path, &wording), &known)
            };
            match run_blocking(tried).await? {
                None => kept.entry(path.clone()).or_default().push(wording),
                Some((class, what)) => {
                    asker.count(|funnel| *funnel.wordings_dropped.entry(class.to_owned()).or_default() += 1);
                    dropped.push(json!({ "line": path, "wording": wording, "why": what }));
                }
            }
        }
    }
    asker.count(|funnel| funnel.wordings_kept += count_wordings(&kept));
    if !dropped.is_empty() {
        asker.keep("wordings_dropped", json!({ "scenario": scenario.name, "wordings": dropped }));
    }
    Ok(kept)
}

/// Returns the lines of a scenario that have wordings.
fn worded(scenario: &mut ScenarioDoc) -> impl Iterator<Item = Line<'_>> {
    scenario.lines_mut().filter(|line| !line.wordings.is_empty())
}

/// Returns the reason to drop a wording: its class, and its description.
fn fault(
    doc: &WorldDoc,
    scenario: &ScenarioDoc,
    (name, wording): (&str, &str),
    known: &[String],
) -> Option<(&'static str, String)> {
    let own = shingles(&words(wording));
    if let Some(near) =
        known.iter().find(|other| **other == wording || similar(&shingles(&words(other)), &own))
    {
        return Some(("repeats another", near.clone()));
    }
    match try_alone(doc, scenario, (name, wording)) {
        Ok(rehearsal) if rehearsal.passed >= ENOUGH => None,
        Ok(Rehearsal { lost, .. }) => {
            let first = lost.into_iter().next().map(|loss| loss.what);
            Some(("does not pass", first.unwrap_or_default()))
        }
        Err(error) => Some(("not a wording that can be said", failed(&error))),
    }
}

/// Tries a scenario with one wording as the only one of its line.
fn try_alone(
    doc: &WorldDoc,
    scenario: &ScenarioDoc,
    (name, wording): (&str, &str),
) -> Result<Rehearsal, PipelineError> {
    let mut scenario = scenario.clone();
    // A wording for a later goal is tried as the opening.
    let name = if name == "later" { "user" } else { name };
    for line in worded(&mut scenario).filter(|line| line.name == name) {
        *line.wordings = vec![wording.to_owned()];
    }
    rehearsal_of_words(&WorldDoc { scenarios: vec![scenario], ..doc.clone() }, TRIES)
}
