//! Files beside a world of one domain: reads scenarios and words, adds them to the world, and locates
//! findings in them.

use indexmap::IndexMap;
use serde::de::DeserializeOwned;

use crate::doc::{ReactionsDoc, ScenarioDoc, ScenariosDoc, SignInDoc, Wordings, WordsDoc, WorldDoc};
use crate::locate::locate;
use crate::path::{Step, parse};
use crate::read::{fix_of_shape, message_of, options, read, to_u32};
use crate::report::{Finding, Report};

/// The files that a world was read from, as name and content. Findings get their lines from them.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The world's own file.
    pub world: (String, Vec<u8>),
    /// The file of its scenarios.
    pub scenarios: Option<(String, Vec<u8>)>,
    /// The file of its words.
    pub words: Option<(String, Vec<u8>)>,
}

/// Adds the scenarios of a file that stands beside a world of one domain. `name` is the file's name, for messages.
///
/// # Errors
/// A report with the position where reading stopped, or with search words of an API that the world lacks.
pub fn add_scenarios(doc: &mut WorldDoc, name: &str, text: &[u8]) -> Result<(), Report> {
    let found: ScenariosDoc = read_beside(name, text)?;
    doc.scenarios.extend(found.scenarios);
    doc.system.extend(found.system);
    add_to_all(doc, found.search, found.reactions, found.sign_in)
        .map_err(|finding| Report::one(name, *finding).located(name, text))
}

/// Adds the words of a file that stands beside a world of one domain, after its scenarios. `name` is the file's name, for messages.
///
/// # Errors
/// A report with the position where reading stopped, or with words of a scenario, line or API that the world
/// lacks.
pub fn add_words(doc: &mut WorldDoc, name: &str, text: &[u8]) -> Result<(), Report> {
    let found: WordsDoc = read_beside(name, text)?;
    doc.system.extend(found.system);
    add_to_all(doc, found.search, found.reactions, found.sign_in)
        .and_then(|()| {
            found.words.into_iter().try_for_each(|(scenario, lines)| add_lines(doc, &scenario, lines))
        })
        .map_err(|finding| Report::one(name, *finding).located(name, text))
}

/// Adds the parts that belong to no single scenario.
fn add_to_all(
    doc: &mut WorldDoc,
    search: IndexMap<String, Vec<String>>,
    reactions: ReactionsDoc,
    sign_in: SignInDoc,
) -> Result<(), Box<Finding>> {
    for (api, words) in search {
        let Some(known) = doc.apis.iter_mut().find(|known| known.name == api) else {
            let names: Vec<&str> = doc.apis.iter().map(|known| &*known.name).collect();
            let message = format!("found `{api}`, expected an API of the world: {}", names.join(", "));
            return Err(Box::new(Finding::error(format!("search.{api}"), message, "name one of them")));
        };
        known.phrases.search.extend(words);
    }
    doc.reactions.done.extend(reactions.done);
    doc.reactions.refused.extend(reactions.refused);
    doc.sign_in.ask.extend(sign_in.ask);
    doc.sign_in.tell.extend(sign_in.tell);
    Ok(())
}

fn add_lines(
    doc: &mut WorldDoc,
    scenario: &str,
    lines: IndexMap<String, Wordings>,
) -> Result<(), Box<Finding>> {
    let unknown = |path: String, known: Vec<String>| {
        let message =
            format!("found a place that the world does not have, expected one of: {}", known.join(", "));
        Box::new(Finding::error(path, message, "name one of them"))
    };
    let Some(position) = doc.scenarios.iter().position(|one| one.name == scenario) else {
        let names = doc.scenarios.iter().map(|one| one.name.clone()).collect();
        return Err(unknown(format!("words.{scenario}"), names));
    };
    let Some(scenario_doc) = doc.scenarios.get_mut(position) else { return Ok(()) };
    scenario_doc.complete_withheld();
    for (name, more) in lines {
        let mut known = Vec::new();
        let line = scenario_doc.lines_mut().find(|line| {
            known.push(line.name.clone());
            line.name == name
        });
        match line {
            Some(line) => line.wordings.extend(more.0),
            None => return Err(unknown(line_path(scenario, &name), known)),
        }
    }
    Ok(())
}

/// Returns the path of a line in a file of words.
fn line_path(scenario: &str, line: &str) -> String {
    format!("words.{scenario}[{}]", serde_json::Value::from(line))
}

fn read_beside<T: DeserializeOwned>(name: &str, text: &[u8]) -> Result<T, Report> {
    let text = std::str::from_utf8(text).map_err(|_| {
        Report::one(name, Finding::error("", "found bytes that are not UTF-8", "save the file as UTF-8"))
    })?;
    serde_saphyr::from_str_with_options(text, options()).map_err(|error| {
        let message = message_of(&error);
        let fix = fix_of_shape(&message, "see docs/scenarios.md for the keys that may stand here");
        let finding = Finding::error("", message, fix);
        Report::one(
            name,
            match error.location() {
                Some(place) => finding.at(to_u32(place.line()), to_u32(place.column())),
                None => finding,
            },
        )
    })
}

impl Files {
    /// Fills in files, lines and columns of findings about the world. Walks each file once, and parses the
    /// scenarios only for findings about them.
    #[must_use]
    pub fn locate(&self, mut report: Report) -> Report {
        let (world, _) = &self.world;
        world.clone_into(&mut report.name);
        let beside = report.findings.iter().any(is_in_scenario).then(|| self.read_scenarios()).flatten();
        // Findings have other paths in the files beside the world.
        let mut own_paths = Vec::new();
        for (at, finding) in report.findings.iter_mut().enumerate() {
            let beside = beside.as_ref().filter(|_| is_in_scenario(finding));
            if let Some((file, path)) = beside.and_then(|beside| self.place_beside(&finding.path, beside)) {
                finding.file = Some(file.into());
                own_paths.push((at, std::mem::replace(&mut finding.path, path)));
            }
        }
        let texts = [Some(&self.world), self.scenarios.as_ref(), self.words.as_ref()];
        for (file, text) in texts.into_iter().flatten() {
            let is_here = |finding: &&mut Finding| finding.file.as_deref().unwrap_or(world) == file;
            locate(report.findings.iter_mut().filter(is_here), text);
        }
        for (at, path) in own_paths {
            if let Some(finding) = report.findings.get_mut(at) {
                finding.path = path;
            }
        }
        report.findings.sort_by_key(|finding| {
            (finding.file.clone(), finding.line.unwrap_or(0), finding.column.unwrap_or(0))
        });
        report
    }

    /// Reads the scenarios of the file beside the world.
    fn read_scenarios(&self) -> Option<Beside> {
        let (name, text) = self.scenarios.as_ref()?;
        let mut scenarios = read_beside::<ScenariosDoc>(name, text).ok()?.scenarios;
        scenarios.iter_mut().for_each(ScenarioDoc::complete_withheld);
        let (name, text) = &self.world;
        Some(Beside { own: read(name, text).map_or(0, |doc| doc.scenarios.len()), scenarios })
    }

    /// Returns the file beside the world that a path leads into, and the path inside that file.
    fn place_beside(&self, path: &str, beside: &Beside) -> Option<(&str, String)> {
        let Beside { own, scenarios } = beside;
        let steps = parse(path)?;
        let (Some(Step::Name(section)), Some(Step::Index(position))) = (steps.first(), steps.get(1)) else {
            return None;
        };
        let beside = position.checked_sub(*own).filter(|_| section == "scenarios")?;
        let mut scenario = scenarios.get(beside)?.clone();
        let scenario_name = scenario.name.clone();
        let rest = path.strip_prefix(&format!("scenarios[{position}]"))?;
        let inside = rest.trim_start_matches('.');
        // A wording that the scenario lacks is in the file of words.
        let in_words = self.words.as_ref().and_then(|(file, _)| {
            let (line, wording) = inside.strip_suffix(']')?.rsplit_once('[')?;
            let wording: usize = wording.parse().ok()?;
            let line = scenario.lines_mut().find(|own| own.path == line)?;
            let of_words = wording.checked_sub(line.wordings.len())?;
            let path = format!("{}[{of_words}]", line_path(&scenario_name, &line.name));
            Some((file.as_str(), path))
        });
        in_words.or_else(|| {
            let (file, _) = self.scenarios.as_ref()?;
            Some((file.as_str(), format!("scenarios[{beside}]{rest}")))
        })
    }
}

/// The scenarios of a file beside a world. The world's own file has `own` scenarios before them.
struct Beside {
    own: usize,
    scenarios: Vec<ScenarioDoc>,
}

/// Returns true if a finding is about a scenario and has no line yet.
fn is_in_scenario(finding: &Finding) -> bool {
    finding.line.is_none() && finding.path.starts_with("scenarios[")
}
