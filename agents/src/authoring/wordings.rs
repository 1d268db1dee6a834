//! Wordings that a model writes for the lines of a scenario: their form in a prompt and in a reply, and the tries that each has to pass.

use diorama_seeds::doc::{Wordings, WorldDoc};
use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};

/// The wordings of a scenario, by line.
pub type Words = IndexMap<String, Vec<String>>;

/// Tries of a wording, and how many of them have to become rows.
pub(super) const TRIES: u64 = 5;
pub(super) const ENOUGH: u64 = 4;
/// Characters of a wording, at most.
const LONGEST: usize = 600;

/// Describes the service to those who write its words.
pub(super) fn describe_service(doc: &WorldDoc) -> String {
    let head = doc.domain.as_ref();
    let about = head.and_then(|head| head.description.clone().or_else(|| head.title.clone()));
    about.unwrap_or_else(|| doc.name.replace('_', " "))
}

/// Returns the properties of a reply's JSON Schema: `most` wordings for each line.
pub(super) fn list_properties<'l>(lines: impl Iterator<Item = &'l String>, most: usize) -> Map<String, Json> {
    let wordings = json!({ "type": "array", "items": { "type": "string" }, "maxItems": most });
    lines.map(|line| (line.clone(), wordings.clone())).collect()
}

/// Reads the wordings of a line in a reply, without those that are too long.
pub(super) fn read_wordings(line: &Json) -> impl Iterator<Item = &str> {
    let texts = line.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::trim);
    texts.filter(|text| text.len() <= LONGEST)
}

/// Returns words as a file of words has them.
pub(super) fn to_doc(words: Words) -> IndexMap<String, Wordings> {
    words.into_iter().map(|(line, wordings)| (line, Wordings(wordings))).collect()
}

/// Counts the wordings of all lines.
pub(super) fn count_wordings(words: &Words) -> u64 {
    words.values().map(|wordings| wordings.len() as u64).sum()
}
