//! Owns the wordings that a model writes for the lines of a scenario: their form in prompts and replies,
//! and their tries.

use diorama_seeds::doc::{Wordings, WorldDoc};
use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};

/// Wordings of a scenario, by line.
pub type Words = IndexMap<String, Vec<String>>;

/// Tries of a wording, and the number of them that must become rows.
pub(super) const TRIES: u64 = 5;
pub(super) const ENOUGH: u64 = 4;
/// Maximum length of a wording, in bytes.
const LONGEST: usize = 600;

/// Returns the description of the service for a prompt.
pub(super) fn describe_service(doc: &WorldDoc) -> String {
    let head = doc.domain.as_ref();
    let about = head.and_then(|head| head.description.clone().or_else(|| head.title.clone()));
    about.unwrap_or_else(|| doc.name.replace('_', " "))
}

/// Returns the properties of a reply's JSON Schema: at most `most` wordings for each line.
pub(super) fn list_properties<'l>(lines: impl Iterator<Item = &'l String>, most: usize) -> Map<String, Json> {
    let wordings = json!({ "type": "array", "items": { "type": "string" }, "maxItems": most });
    lines.map(|line| (line.clone(), wordings.clone())).collect()
}

/// Returns the wordings of a line in a reply, without those that are too long.
pub(super) fn read_wordings(line: &Json) -> impl Iterator<Item = &str> {
    let texts = line.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::trim);
    texts.filter(|text| text.len() <= LONGEST)
}

/// Converts words into the form of a words file.
pub(super) fn to_doc(words: Words) -> IndexMap<String, Wordings> {
    words.into_iter().map(|(line, wordings)| (line, Wordings(wordings))).collect()
}

/// Counts the wordings of all lines.
pub(super) fn count_wordings(words: &Words) -> u64 {
    words.values().map(|wordings| wordings.len() as u64).sum()
}
