//! Owns the API agent and its repair: whole documents, parts and sections of them, in the world format.

use diorama_seeds::doc::{ApiDoc, ResourceDoc, WorldDoc};
use diorama_seeds::world::{self, Report};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::asking::{Complaints, Step, read_json};
use super::domain::Domain;
use super::form;
use super::guide::{self, Section};

/// Sections of the guide for worlds.
const GUIDE: [Section; 4] = [Section::World, Section::Expressions, Section::Values, Section::Domain];

/// Maximum length of a document, in bytes.
const LONGEST: usize = 200_000;

/// Part of a world that a request asks for.
#[derive(Clone, Copy)]
pub enum Part<'a> {
    /// The whole world.
    Whole,
    /// The domain and its resources.
    Resources,
    /// More APIs for a document.
    Apis(&'a WorldDoc),
}

/// Maximum number of APIs per request for more APIs.
pub const APIS_AT_A_TIME: usize = 4;

/// Request for a world document, or for a part of one.
pub struct WriteWorld<'a> {
    /// Domain of the world.
    pub domain: &'a Domain,
    /// Services with some of their APIs, as examples.
    pub examples: &'a [String],
    /// Part that the request asks for.
    pub part: Part<'a>,
}

/// Reply with APIs alone.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApisDoc {
    apis: Vec<ApiDoc>,
}

impl Step for WriteWorld<'_> {
    type Output = WorldDoc;
    const NAME: &'static str = "api";

    fn input(&self) -> Json {
        let (part, document, names) = match self.part {
            Part::Whole => ("whole", String::new(), Vec::new()),
            Part::Resources => ("resources", String::new(), Vec::new()),
            Part::Apis(doc) => {
                let head = WorldDoc { apis: Vec::new(), ..doc.clone() };
                let names = doc.apis.iter().map(|api| api.name.as_str()).collect();
                ("apis", world::to_yaml(&head).unwrap_or_default(), names)
            }
        };
        let count = APIS_AT_A_TIME;
        json!({
            "guide": guide::cut(&GUIDE), "domain": self.domain, "examples": self.examples, "part": part, "document": document, "apis": names,
            "count": count,
        })
    }

    fn schema(&self) -> Option<Json> {
        None
    }

    fn parse(&self, reply: &str, wrong: &mut Complaints) -> Option<WorldDoc> {
        let text = document(reply);
        if text.len() > LONGEST {
            wrong.add(format!("found {} bytes, expected a document of at most {LONGEST}", text.len()));
            return None;
        }
        if let Part::Apis(doc) = self.part {
            return match world::read_words::<ApisDoc>(text) {
                Ok(found) => {
                    let mut doc = doc.clone();
                    let is_new = |api: &ApiDoc| doc.apis.iter().all(|known| known.name != api.name);
                    let new: Vec<ApiDoc> = found.apis.into_iter().filter(is_new).collect();
                    doc.apis.extend(new);
                    Some(doc)
                }
                Err(error) => {
                    wrong.add(format!("{error}; expected YAML with the one key `apis`, a list"));
                    None
                }
            };
        }
        match world::read("reply.yaml", text.as_bytes()) {
            Ok(doc) => Some(doc),
            Err(report) => {
                report.findings.iter().for_each(|finding| wrong.add(said(finding)));
                None
            }
        }
    }
}

/// Returns the document of a reply: the longest code block, else the text from `world: 1` on.
fn document(reply: &str) -> &str {
    let mut parts = reply.split("```").skip(1).step_by(2);
    let fenced = parts.by_ref().max_by_key(|part| part.len());
    if let Some(part) = fenced {
        // The line of the fence may name the language.
        let (info, rest) = part.split_once('\n').unwrap_or(("", part));
        return if info.contains(':') { part } else { rest };
    }
    let start = reply.find("world: 1").or_else(|| reply.find("apis:"));
    start.map_or(reply, |at| &reply[at..])
}

pub(crate) fn said(finding: &world::Finding) -> String {
    let line = finding.line.map(|line| format!("line {line}: ")).unwrap_or_default();
    let place = if finding.path.is_empty() { String::new() } else { format!("{}: ", finding.path) };
    format!("{line}{place}{}; {}", finding.message, finding.fix)
}

/// Sections of a world that replace those of the same name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Edits {
    /// Resources by name.
    pub resources: IndexMap<String, ResourceDoc>,
    /// APIs with their names.
    pub apis: Vec<ApiDoc>,
}

/// Request to repair the sections of a world that have findings.
pub struct Repair<'a> {
    /// Document of one domain.
    pub doc: &'a WorldDoc,
    /// Text of the document.
    pub text: &'a str,
    /// Findings in the document.
    pub report: &'a Report,
}

impl Step for Repair<'_> {
    type Output = Edits;
    const NAME: &'static str = "api_mend";

    fn input(&self) -> Json {
        /// Maximum number of findings per request.
        const MOST: usize = 20;
        let lines = self.text.lines().enumerate().map(|(at, line)| format!("{:>4} {line}\n", at + 1));
        let findings: Vec<String> = self.report.findings.iter().take(MOST).map(said).collect();
        json!({ "document": lines.collect::<String>(), "findings": findings })
    }

    /// Returns none, because servers that enforce a schema take an object without properties for an empty
    /// one.
    fn schema(&self) -> Option<Json> {
        None
    }

    fn parse(&self, reply: &str, wrong: &mut Complaints) -> Option<Edits> {
        let json = read_json(reply, wrong)?;
        let mut edits = Edits::default();
        let resources = json.get("resources").and_then(Json::as_object).into_iter().flatten();
        for (name, section) in resources.take(self.doc.resources.len()) {
            if !self.doc.resources.contains_key(name) {
                wrong.add(format!(
                    "`resources`: found {}, expected one of the document",
                    form::shown(Some(&json!(name)))
                ));
                continue;
            }
            match ResourceDoc::deserialize(section) {
                Ok(section) => drop(edits.resources.insert(name.clone(), section)),
                Err(error) => wrong.add(format!("`resources.{name}`: {error}")),
            }
        }
        for section in
            json.get("apis").and_then(Json::as_array).into_iter().flatten().take(self.doc.apis.len())
        {
            match ApiDoc::deserialize(section) {
                Ok(api) if self.doc.apis.iter().any(|known| known.name == api.name) => edits.apis.push(api),
                Ok(api) => {
                    wrong.add(format!("`apis`: found `{}`, expected an API of the document", api.name))
                }
                Err(error) => wrong.add(format!("`apis`: {error}")),
            }
        }
        let none = edits.resources.is_empty() && edits.apis.is_empty();
        if none {
            wrong.add("found no section that can be used, expected the corrected `resources` and `apis`");
        }
        (!none).then_some(edits)
    }
}

impl Edits {
    /// Returns the document with the sections replaced.
    #[must_use]
    pub fn applied(self, doc: &WorldDoc) -> WorldDoc {
        let mut doc = doc.clone();
        doc.resources.extend(self.resources);
        for api in self.apis {
            if let Some(place) = doc.apis.iter_mut().find(|known| known.name == api.name) {
                *place = api;
            }
        }
        doc
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_found_in_fences_and_in_prose() {
        let check = |reply: &str| assert_eq!(document(reply).trim(), "world: 1\nname: a", "{reply}");
        check("world: 1\nname: a");
        check("Here you are:\n```yaml\nworld: 1\nname: a\n```\nAnything else?");
        check("```\nworld: 1\nname: a\n```");
        check("Surely. world: 1\nname: a");
        check("```yaml\nworld: 1\nname: a");
    }
}
