//! Instances of Reverse Chain's benchmark, and the candidate APIs for an agent.

use std::collections::BTreeSet;
use std::path::Path;

use diorama_baselines::plan::{Plan, parse};
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value as Json;

use crate::material::{BenchmarkError, files_of, parse_list};

/// The form of a file of instances, for messages.
pub const INSTANCES: &str = "a JSON list of {APIs, Query, Label, Index}, or one of them on each line";

/// An API in the benchmark's form.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Api {
    /// Its name.
    #[serde(alias = "Name")]
    pub name: String,
    /// Its description.
    #[serde(default, alias = "Description")]
    pub description: String,
    /// Its arguments, in order.
    #[serde(default)]
    pub input_params: IndexMap<String, Json>,
    /// Its results.
    #[serde(default)]
    pub output_params: IndexMap<String, Json>,
}

/// A task: a request with its labelled plan.
#[derive(Clone, Debug, Deserialize)]
pub struct Instance {
    /// The APIs in the instance.
    #[serde(rename = "APIs")]
    pub apis: Vec<Api>,
    /// The user's request.
    #[serde(rename = "Query")]
    pub query: String,
    /// The label.
    #[serde(rename = "Label")]
    pub label: String,
    /// Its number.
    #[serde(rename = "Index", default)]
    pub index: u64,
}

/// The APIs that an agent may choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// Those in the label: the paper's setting.
    Gold,
    /// Those in the label and others, up to this total.
    Among(usize),
    /// All APIs of the material.
    All,
}

impl std::str::FromStr for Candidates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "gold" => Ok(Self::Gold),
            "all" => Ok(Self::All),
            text => match text.parse() {
                Ok(count) if count > 0 => Ok(Self::Among(count)),
                _ => Err(format!("found `{text}`, expected `gold`, `all` or a number from 1 on")),
            },
        }
    }
}

impl std::fmt::Display for Candidates {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Gold => formatter.write_str("gold"),
            Self::Among(count) => count.fmt(formatter),
            Self::All => formatter.write_str("all"),
        }
    }
}

/// The instances of a benchmark, and all of their APIs.
pub struct Material {
    /// The instances.
    pub instances: Vec<Instance>,
    /// All APIs by name. The first one with a name counts.
    pub pool: IndexMap<String, Api>,
}

impl Material {
    /// Reads a file, or all `.json` and `.jsonl` files of a folder. Each is a JSON list of `{APIs, Query,
    /// Label, Index}`, or has one of them per line.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or is of another form.
    pub fn read(path: &Path) -> Result<Self, BenchmarkError> {
        let mut instances: Vec<Instance> = Vec::new();
        for file in files_of(path, &[".json", ".jsonl"])? {
            instances.extend(parse_list::<Instance>(&file, INSTANCES)?);
        }
        if instances.is_empty() {
            let what = "found no instances, expected a .json or .jsonl file with some";
            return Err(BenchmarkError::form(path, what));
        }
        Ok(Self::new(instances))
    }

    /// Makes the material from instances. Of two APIs with the same name, the first one is used.
    #[must_use]
    pub fn new(instances: Vec<Instance>) -> Self {
        let mut pool = IndexMap::new();
        for api in instances.iter().flat_map(|instance| &instance.apis) {
            pool.entry(api.name.clone()).or_insert_with(|| api.clone());
        }
        Self { instances, pool }
    }

    /// Returns the candidate APIs for an agent. If an instance lacks an API of its label, the description
    /// from another instance is used.
    #[must_use]
    pub fn candidates(&self, instance: &Instance, candidates: Candidates, seed: u64) -> Vec<Api> {
        let needed = instance.list_called_apis();
        let own = |api: &&Api| needed.is_empty() || needed.contains(&api.name);
        let mut seen = BTreeSet::new();
        let label = parse(&instance.label).ok();
        let elsewhere = needed.iter().filter_map(|name| self.described(name, label.as_ref()));
        let described = instance.apis.iter().filter(own).chain(elsewhere);
        let mut chosen: Vec<Api> = described.filter(|api| seen.insert(api.name.clone())).cloned().collect();
        let most = match candidates {
            Candidates::Gold => return chosen,
            Candidates::Among(count) => count,
            Candidates::All => usize::MAX,
        };
        // Choice and order of the other APIs depend only on the seed and the instance.
        let place = |name: &str| {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&seed.to_le_bytes()).update(&instance.index.to_le_bytes());
            *hasher.update(instance.query.as_bytes()).update(name.as_bytes()).finalize().as_bytes()
        };
        let mut others: Vec<&Api> = self.pool.values().filter(|api| !seen.contains(&api.name)).collect();
        others.sort_by_key(|api| place(&api.name));
        let room = most.saturating_sub(chosen.len());
        chosen.extend(others.into_iter().take(room).cloned());
        chosen.sort_by_key(|api| place(&api.name));
        chosen
    }

    /// Returns the description of an API with the most arguments of a label's call, the first one of a tie.
    fn described(&self, name: &str, label: Option<&Plan>) -> Option<&Api> {
        let calls = label.into_iter().flat_map(Plan::calls).filter(|call| call.api == name);
        let arguments = calls.flat_map(|call| &call.arguments).filter_map(|(name, _)| name.as_ref());
        let arguments: BTreeSet<&String> = arguments.collect();
        let unknown =
            |api: &&Api| arguments.iter().filter(|name| !api.input_params.contains_key(**name)).count();
        let all = self.instances.iter().flat_map(|instance| &instance.apis);
        all.filter(|api| api.name == name).min_by_key(unknown)
    }
}

impl Instance {
    /// Returns the APIs that the label calls: the names before brackets, outside of quotes.
    #[must_use]
    pub fn list_called_apis(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut name = String::new();
        let mut quote = None;
        for character in self.label.chars() {
            match (quote, character) {
                (Some(open), _) if open == character => quote = None,
                (Some(_), _) => {}
                // An apostrophe inside of a word opens no quote.
                (None, '\'' | '"') if name.is_empty() => quote = Some(character),
                (None, '(') => {
                    names.insert(std::mem::take(&mut name));
                }
                (None, _) if character.is_alphanumeric() || character == '_' => name.push(character),
                (None, '-') if !name.is_empty() => name.push(character),
                (None, _) => name.clear(),
            }
        }
        names.remove("");
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_of_the_label_is_found_beside_another_instance() {
        let api = |name: &str, argument: &str| Api {
            name: name.to_owned(),
            description: String::new(),
            input_params: IndexMap::from([(argument.to_owned(), Json::Null)]),
            output_params: IndexMap::new(),
        };
        let instance = |apis: &[(&str, &str)], label: &str| Instance {
            apis: apis.iter().map(|(name, argument)| api(name, argument)).collect(),
            query: String::new(),
            label: label.to_owned(),
            index: 0,
        };
        let material = Material::new(vec![
            instance(&[("B", "x"), ("C", "x")], "A(b=B(x=1))"),
            instance(&[("A", "a")], "A(a=1)"),
            instance(&[("A", "b"), ("B", "y")], "A(b=1)"),
        ]);
        let shown = |candidates: Candidates| -> Vec<String> {
            let chosen = material.candidates(&material.instances[0], candidates, 0);
            chosen
                .iter()
                .map(|api| format!("{}({})", api.name, api.input_params.keys().next().unwrap()))
                .collect()
        };
        // The instance's own description comes first. Of several others, the one with the label's arguments
        // does.
        assert_eq!(shown(Candidates::Gold), ["B(x)", "A(b)"]);
        assert_eq!(shown(Candidates::All).len(), 3);
    }

    #[test]
    fn a_label_tells_the_apis_that_it_calls() {
        let check = |label: &str, expect: &[&str]| {
            let instance = Instance { apis: vec![], query: String::new(), label: label.to_owned(), index: 0 };
            assert_eq!(
                instance.list_called_apis().iter().map(String::as_str).collect::<Vec<_>>(),
                expect,
                "{label}"
            );
        };
        check("Add(user=Find(name='O (x)'), day=\"f(1)\", n=3)", &["Add", "Find"]);
        check("A(b=C(d=E_2()))", &["A", "C", "E_2"]);
        check("", &[]);
    }
}
