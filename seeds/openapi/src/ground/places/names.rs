//! Names collections: their labels for users and the names of their resources.

use std::collections::HashMap;

use diorama_seeds::contract::{noun, plain};

use super::paths::{parts, spelt};
use super::{Part, Places, form};
use diorama_seeds::naming::resource_name;

use crate::document::Operation;
use crate::nouns::contained;
use crate::words::{is_id, label, singular, words};

/// The fewest characters of each of two words that a path runs together.
const MIN_PART_CHARS: usize = 4;

impl Places {
    /// Labels a collection by the keys in its paths: `mappings/teams/{mapping_id}` has mappings.
    pub(super) fn call_by_keys(&mut self, operations: &[Operation]) {
        for operation in operations {
            let mut parts = parts(operation);
            let Some(Part::Key(name)) = parts.pop() else { continue };
            let Some(found) = self.all.get_mut(&form(&parts)) else { continue };
            let words = words(&name);
            if let Some((last, of)) = words.split_last()
                && of.len() > 1
                && is_id(last)
                && noun(&of.join(" ")) != noun(&found.label)
                && of.last().map(|last| noun(last)) != found.label.rsplit(' ').next().map(noun)
            {
                // Mappings at `/mappings/slack` are Slack mappings.
                let of = of.join("_");
                let is_said = plain(&of).contains(&found.noun);
                let kind = match found.parts.last() {
                    Some(Part::Text(kind)) => spelt(kind),
                    _ => found.noun.clone(),
                };
                found.label = label(&if is_said { of } else { format!("{kind}_{of}") });
            }
        }
    }

    /// Separates words that paths run together and names of operations do not: `employeegroups` and
    /// `getEmployeeGroups`.
    pub(super) fn split_labels(&mut self, operations: &[Operation]) {
        let mut apart: HashMap<String, String> = HashMap::new();
        for operation in operations {
            let said = [operation.id.as_deref().unwrap_or_default(), &operation.summary].map(words);
            for pair in said.iter().flat_map(|said| said.windows(2)) {
                let [first, second] = pair else { continue };
                if first.chars().count().min(second.chars().count()) >= MIN_PART_CHARS {
                    let whole = noun(&format!("{first}{second}"));
                    apart.entry(whole).or_insert_with(|| format!("{first} {}", singular(second)));
                }
            }
        }
        for found in self.all.values_mut() {
            let said = found.label.split(' ').map(|word| apart.get(word).map_or(word, String::as_str));
            found.label = said.collect::<Vec<_>>().join(" ");
        }
    }

    /// Drops the word for a container: a `template list` is a template, unless another collection has that
    /// label.
    pub(super) fn shorten_labels(&mut self) {
        let shorts: Vec<String> = self.all.values().map(|found| contained(&found.label).to_owned()).collect();
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for short in &shorts {
            *uses.entry(short.as_str()).or_default() += 1;
        }
        for (found, short) in self.all.values_mut().zip(&shorts) {
            if uses.get(short.as_str()) == Some(&1) {
                found.label.clone_from(short);
            }
        }
    }

    pub(super) fn give_names(&mut self) {
        let mut taken: Vec<String> = Vec::new();
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        // The shortest path gets the plain name.
        order.sort_by_key(|index| self.all.get_index(*index).map_or(0, |(_, found)| found.parts.len()));
        for index in order {
            let Some((_, found)) = self.all.get_index_mut(index) else { continue };
            let words: Vec<String> = found
                .parts
                .iter()
                .filter_map(|part| match part {
                    Part::Text(text) if !text.starts_with('{') => Some(resource_name(text)),
                    _ => None,
                })
                .collect();
            let candidates = (1..=words.len().max(1))
                .map(|count| words.get(words.len().saturating_sub(count)..).unwrap_or_default().join("_"));
            let short = |name: String| name.chars().take(56).collect::<String>();
            let mut names = candidates.map(short).chain((2..).map(|number| {
                format!("{}_{number}", short(words.last().cloned().unwrap_or_else(|| "record".to_owned())))
            }));
            let free = names.find(|name| {
                let sayable = crate::words::is_identifier(name) && !TAKEN.contains(&name.as_str());
                sayable && !taken.contains(name)
            });
            found.name = free.unwrap_or_default();
            taken.push(found.name.clone());
        }
    }
}

/// Names that resources cannot have.
const TAKEN: [&str; 10] = ["args", "record", "item", "me", "now", "today", "true", "false", "null", "in"];

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn words_that_a_path_runs_together_are_told_apart_by_names_of_operations() {
        let label = |id: &str, path: &str| {
            let things = json!({"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}}}});
            let reply =
                json!({"200": {"description": "", "content": {"application/json": {"schema": things}}}});
            let get = json!({"operationId": id, "responses": reply});
            let root = json!({"openapi": "3.0.0", "info": {"title": "Staff", "version": "1"}, "paths": {path: {"get": get}}});
            let found =
                crate::import("staff.json", root.to_string().as_bytes(), &Default::default()).unwrap();
            found.doc.resources.values().next().and_then(|known| known.label.clone()).unwrap_or_default()
        };
        assert_eq!(label("getEmployeeGroups", "/employeegroups"), "employee group");
        assert_eq!(label("listEmployeegroups", "/employeegroups"), "employeegroup");
        assert_eq!(label("getSetUps", "/setups"), "setup");
    }
}
