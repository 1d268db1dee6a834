//! Owns the query agent's words: a model words a plot that becomes rows, with a sample of those rows in
//! the prompt.

use std::sync::Arc;

use diorama_seeds::doc::{ScenarioDoc, WorldDoc};
use diorama_seeds::task::Ability;
use indexmap::IndexSet;
use serde_json::{Value as Json, json};

use super::asking::{Asker, Complaints, Step, Stop, read_json, run_blocking};
use super::guide::{self, Section};
use super::mend::failed;
use super::plain::add_plain_words;
use super::wordings::{
    ENOUGH, TRIES, Words, count_wordings, describe_service, list_properties, read_wordings,
};
use crate::scenarios::Shares;
use crate::scenarios::rehearse::{conversation, rehearsal_of_words, rehearse};
use crate::worlds::error::PipelineError;
use crate::worlds::make::make_world;
use crate::worlds::world::WorldTemplate;

/// Maximum number of rows in a prompt.
const SHOWN: usize = 2;
/// Maximum number of worlds to try for sample rows.
const MOST_WORLDS: u64 = 10;
/// Maximum number of requests to repair words.
const MENDS: u32 = 2;
/// Maximum number of wordings of a line.
const WORDINGS: usize = 12;

/// Request for the words of a plot.
struct WriteWords<'a> {
    /// Plot without words.
    plot: &'a ScenarioDoc,
    /// Description of the service.
    about: &'a str,
    /// Names of the spoken lines, optional ones last.
    lines: &'a Lines,
    /// Rows of the plot in plain words.
    rows: &'a [String],
    /// Words of the previous reply with their faults.
    before: Option<(&'a Words, &'a [String])>,
}

/// Lines of a plot, by name.
#[derive(Default)]
struct Lines {
    needed: Vec<String>,
    /// Lines that a plot may lack.
    optional: Vec<String>,
}

impl Lines {
    /// Returns the names of all lines.
    fn names(&self) -> impl Iterator<Item = &String> {
        self.needed.iter().chain(&self.optional)
    }
}

impl Step for WriteWords<'_> {
    type Output = Words;
    const NAME: &'static str = "query_words";

    fn input(&self) -> Json {
        let (before, wrong) = self.before.unzip();
        let findings = before.map(|_| Section::Findings);
        let guide = guide::cut(&[Section::Words].into_iter().chain(findings).collect::<Vec<_>>());
        json!({
            "guide": guide, "about": self.about, "who": self.plot.who, "rows": self.rows,
            "plot": serde_json::to_string(self.plot).unwrap_or_default(),
            "needed": self.lines.needed, "optional": self.lines.optional,
            "before": before.map(|words| serde_json::to_string(words).unwrap_or_default()), "wrong": wrong.unwrap_or_default(),
        })
    }

    fn schema(&self) -> Option<Json> {
        let properties = list_properties(self.lines.names(), WORDINGS);
        Some(json!({
            "type": "object", "properties": properties, "required": self.lines.needed, "additionalProperties": false,
        }))
    }

    fn parse(&self, reply: &str, wrong: &mut Complaints) -> Option<Words> {
        let json = read_json(reply, wrong)?;
        let mut found = Words::new();
        for (name, wordings) in json.as_object()? {
            if self.lines.names().all(|known| known != name) {
                let known: Vec<&str> = self.lines.names().map(String::as_str).collect();
                wrong.add(format!("found `{name}`, expected the name of a line: {}", known.join(", ")));
                continue;
            }
            let texts: IndexSet<&str> = read_wordings(wordings).take(WORDINGS).collect();
            found.insert(name.clone(), texts.into_iter().map(str::to_owned).collect());
        }
        let is_missing =
            |name: &&String| found.get(*name).is_none_or(|texts| texts.iter().all(String::is_empty));
        let missing: Vec<&str> = self.lines.needed.iter().filter(is_missing).map(String::as_str).collect();
        if !missing.is_empty() {
            wrong.add(format!(
                "found no wordings of {}, expected a list of texts for each",
                missing.join(", ")
            ));
            return None;
        }
        Some(found)
    }
}

/// Asks the model for the words of a plot, with rows in plain words in the prompt. Returns the wordings with
/// which it becomes rows, by line. None means that the first wordings of every reply gave too few rows.
///
/// # Errors
/// Returns an error if the model cannot be asked.
pub async fn write_words(
    asker: &Asker,
    doc: &Arc<WorldDoc>,
    plot: &ScenarioDoc,
    number: u32,
) -> Result<Option<Words>, Stop> {
    let plain = add_plain_words(doc, plot);
    let (lines, about) = (list_lines(&plain), describe_service(doc));
    let rows = {
        let (doc, plain) = (Arc::clone(doc), plain.clone());
        run_blocking(move || sample_rows(&doc, plain).unwrap_or_default()).await?
    };
    let mut before: Option<(Words, Vec<String>)> = None;
    for mend in 0..=MENDS {
        let last = before.as_ref().map(|(words, wrong)| (words, wrong.as_slice()));
        let step = WriteWords { plot, about: &about, lines: &lines, rows: &rows, before: last };
        let Some(written) = asker.ask(number * (MENDS + 1) + mend, &step).await? else { break };
        let tried = {
            let (doc, plain, written) = (Arc::clone(doc), plain.clone(), written.clone());
            run_blocking(move || try_words(&doc, &plain, &written)).await?
        };
        let count = count_wordings(&written);
        let left = tried.as_ref().map_or(0, count_wordings);
        asker.count(|funnel| {
            funnel.wordings_written += count;
            funnel.wordings_kept += left;
            if left < count {
                *funnel.wordings_dropped.entry("does not pass".to_owned()).or_default() += count - left;
            }
        });
        match tried {
            Ok(kept) => return Ok(Some(kept)),
            Err(why) => before = Some((written, why)),
        }
    }
    let (words, wrong) = before.unzip();
    asker.keep(
        "words_dropped",
        json!({ "plot": plot.name, "words": words, "why": wrong.unwrap_or_default() }),
    );
    Ok(None)
}

/// Replaces the plain words of a plot by other words.
fn put_words(plain: &ScenarioDoc, words: &Words) -> ScenarioDoc {
    let mut worded = plain.clone();
    for line in worded.lines_mut() {
        *line.wordings = words.get(&line.name).cloned().unwrap_or_default();
    }
    worded
}

/// Returns the lines of a plot. A line with plain words is required; the opening of a later goal and
/// words beside a call are optional.
fn list_lines(plain: &ScenarioDoc) -> Lines {
    let mut lines = Lines::default();
    for line in plain.clone().lines_mut() {
        if line.wordings.is_empty() { &mut lines.optional } else { &mut lines.needed }.push(line.name);
    }
    lines
}

/// Plays a plot in several worlds, and describes the rows that it becomes.
fn sample_rows(doc: &WorldDoc, plain: ScenarioDoc) -> Result<Vec<String>, PipelineError> {
    let doc = WorldDoc { scenarios: vec![plain], ..doc.clone() };
    let template = WorldTemplate::new(&doc, 0x5eed, &Shares::new(), &Ability::ALL)?;
    let mut rows = Vec::new();
    let Some(scenario) = template.scenario_set.scenarios().first() else { return Ok(rows) };
    for seed in 0..MOST_WORLDS {
        let world = make_world(&template, seed)?;
        if let Ok((candidate, grounded)) = rehearse(&world, (scenario, &[]), Ability::Call, seed) {
            rows.push(conversation(&candidate, Some((&grounded, &world))));
        }
        if rows.len() == SHOWN {
            break;
        }
    }
    Ok(rows)
}

/// Tries the first wordings of all lines together, then each other wording in its line. Returns those
/// that become rows.
///
/// # Errors
/// Returns the reasons for which the first wordings give too few rows.
fn try_words(doc: &WorldDoc, plain: &ScenarioDoc, written: &Words) -> Result<Words, Vec<String>> {
    let mut firsts: Words =
        written.iter().map(|(name, texts)| (name.clone(), texts.iter().take(1).cloned().collect())).collect();
    firsts.shift_remove("later");
    try_one(doc, put_words(plain, &firsts))?;
    let mut kept = Words::new();
    for (name, texts) in written {
        // A wording for a later goal is tried as the opening.
        let line = if name == "later" { "user" } else { name };
        let passes = |text: &&String| {
            if firsts.get(name).is_some_and(|first| first.contains(text)) {
                return true;
            }
            let mut words = firsts.clone();
            words.insert(line.to_owned(), vec![(*text).clone()]);
            try_one(doc, put_words(plain, &words)).is_ok()
        };
        kept.insert(name.clone(), texts.iter().filter(passes).cloned().collect());
    }
    kept.retain(|_, texts| !texts.is_empty());
    Ok(kept)
}

/// Plays a scenario in several worlds.
///
/// # Errors
/// Returns the reasons for which too few tries become rows.
fn try_one(doc: &WorldDoc, scenario: ScenarioDoc) -> Result<(), Vec<String>> {
    let tried = rehearsal_of_words(&WorldDoc { scenarios: vec![scenario], ..doc.clone() }, TRIES);
    let wrong = tried.map_err(|error| vec![failed(&error)])?.list_reasons(ENOUGH);
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}
