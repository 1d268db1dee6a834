//! The search benchmark: measures how well a search finds the APIs that a request needs.
//!
//! Owns its material (requests with the APIs that answer them, over one pool) and its measure. The simulator
//! owns the searches.

mod measure;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use diorama_seeds::english::capitalised;
use diorama_simulator::search::{ApiEntry, Port};
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value as Json;

use crate::material::{BenchmarkError, parse_lines, parse_list};
use crate::reverse_chain::{Api, INSTANCES, Instance};

pub use self::measure::{CUTS, Interval, MEASURES, SearchMeasures};

/// Requests over one pool of APIs.
#[derive(Clone, Debug, Default)]
pub struct Material {
    /// The pool.
    pub pool: Vec<ApiEntry>,
    /// The requests.
    pub cases: Vec<Case>,
}

/// A request and the APIs that answer it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The request.
    pub query: String,
    /// Positions in the pool of the APIs that answer it, at least one.
    pub gold: BTreeSet<usize>,
}

/// A request that names its APIs. JSON: `{"query", "apis": [names]}`.
#[derive(Clone, Debug, Deserialize)]
pub struct Request {
    /// The request.
    pub query: String,
    /// Names of the APIs that answer it.
    pub apis: Vec<String>,
    /// Domain of the API, if several have the same name.
    #[serde(skip)]
    pub domain: String,
}

#[derive(Deserialize)]
struct PoolLine {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    inputs: Vec<String>,
    #[serde(default)]
    outputs: Vec<String>,
    #[serde(default)]
    domain: String,
}

impl From<PoolLine> for ApiEntry {
    fn from(line: PoolLine) -> Self {
        Self {
            api: line.name,
            domain: line.domain,
            description: line.description,
            parameters: line.inputs.join(" "),
            inputs: line.inputs.iter().map(|name| Port::named(name)).collect(),
            outputs: line.outputs.iter().map(|name| Port::named(name)).collect(),
            ..Self::default()
        }
    }
}

impl Material {
    /// Reads requests and their pool from JSON lines. Without a pool, reads Reverse Chain's instances as a
    /// list or as lines; their APIs are the pool.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or is of another form, or a request names an API that is not
    /// in the pool.
    pub fn read(queries: &Path, pool: Option<&Path>) -> Result<Self, BenchmarkError> {
        let Some(pool) = pool else { return Self::of_instances(queries, parse_list(queries, INSTANCES)?) };
        let form = r#"{"name", "description", "inputs": [names], "outputs": [names], "domain"?}"#;
        let pool = parse_lines::<PoolLine>(pool, form)?.into_iter().map(ApiEntry::from).collect();
        Self::of_requests(queries, pool, parse_lines(queries, r#"{"query", "apis": [names]}"#)?)
    }

    /// Resolves the APIs of requests. Requests without an API are left out.
    ///
    /// # Errors
    /// Returns an error if a request names an API outside of the pool, or if no request names any.
    pub fn of_requests(
        file: &Path,
        pool: Vec<ApiEntry>,
        requests: Vec<Request>,
    ) -> Result<Self, BenchmarkError> {
        let mut named: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, entry) in pool.iter().enumerate() {
            named.entry(entry.api.clone()).or_default().push(at);
            if !entry.domain.is_empty() {
                named.entry(prefixed(entry)).or_default().push(at);
            }
        }
        let mut cases = Vec::new();
        for (number, Request { query, apis, domain }) in requests.into_iter().enumerate() {
            let find = |api: &String| {
                let all = named.get(api).map(Vec::as_slice).unwrap_or_default();
                let own = all.iter().find(|at| pool.get(**at).is_some_and(|entry| entry.domain == domain));
                own.or_else(|| all.first()).copied().ok_or_else(|| {
                    let found = format!("request {}: found the API {api}", number + 1);
                    BenchmarkError::form(file, found + ", expected one of the pool's; add it to the pool")
                })
            };
            cases.push(Case { query, gold: apis.iter().map(find).collect::<Result<_, _>>()? });
        }
        Self { pool, cases }.checked(file)
    }

    /// Converts Reverse Chain's instances. The pool has the APIs of all, distinguished by name, inputs and
    /// outputs. The APIs in a label answer its request.
    fn of_instances(file: &Path, instances: Vec<Instance>) -> Result<Self, BenchmarkError> {
        let mut material = Self::default();
        let mut known: BTreeMap<(String, BTreeSet<String>, BTreeSet<String>), usize> = BTreeMap::new();
        for instance in instances {
            let mut gold = BTreeSet::new();
            let called = instance.list_called_apis();
            for api in instance.apis {
                let sorted = |parameters: &IndexMap<String, Json>| parameters.keys().cloned().collect();
                let key = (api.name.clone(), sorted(&api.input_params), sorted(&api.output_params));
                let is_called = called.contains(&api.name);
                let position = *known.entry(key).or_insert_with(|| {
                    material.pool.push(api.into());
                    material.pool.len() - 1
                });
                gold.extend(is_called.then_some(position));
            }
            material.cases.push(Case { query: instance.query, gold });
        }
        material.checked(file)
    }

    fn checked(mut self, file: &Path) -> Result<Self, BenchmarkError> {
        self.cases.retain(|case| !case.gold.is_empty());
        if self.cases.is_empty() {
            return Err(BenchmarkError::form(file, "found no request that needs an API, expected some"));
        }
        Ok(self)
    }
}

impl From<Api> for ApiEntry {
    fn from(api: Api) -> Self {
        let ports = |params: &IndexMap<String, Json>| params.keys().map(|name| Port::named(name)).collect();
        let described = |(name, about): (&String, &Json)| {
            format!("{name} {}", about.get("description").and_then(Json::as_str).unwrap_or_default())
        };
        Self {
            inputs: ports(&api.input_params),
            outputs: ports(&api.output_params),
            parameters: api.input_params.iter().map(described).collect::<Vec<_>>().join(" "),
            api: api.name,
            description: api.description,
            ..Self::default()
        }
    }
}

/// Returns the name of an API with its domain as a prefix, as composed worlds write ambiguous names.
fn prefixed(entry: &ApiEntry) -> String {
    entry.domain.split('_').map(capitalised).chain([entry.api.clone()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reverse_chain_pools_are_keyed_by_name_inputs_and_outputs() {
        let text = r#"[
          {"APIs": [{"name": "Find", "Description": "d", "input_params": {"a": {}}, "output_params": {"b_ID": {}}},
                    {"Name": "Use", "Description": "d", "input_params": {"bID": {}}, "output_params": {}}],
           "Query": "q", "Label": "Use(bID=Find(a='x'))", "Index": 1},
          {"APIs": [{"name": "Find", "Description": "other words", "input_params": {"a": {}}, "output_params": {"b_ID": {}}},
                    {"name": "Find", "Description": "d", "input_params": {"c": {}}, "output_params": {}}],
           "Query": "r", "Label": "Find(a=1)", "Index": 2}]"#;
        let folder = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            let file = folder.path().join("f.json");
            std::fs::write(&file, text).unwrap();
            Material::read(&file, None)
        };
        let material = read(text).unwrap();
        assert_eq!(material.pool.len(), 3);
        assert_eq!(material.pool[0].outputs[0].thing, material.pool[1].inputs[0].thing);
        assert_eq!(material.cases[0], Case { query: "q".into(), gold: BTreeSet::from([0, 1]) });
        // The label names both, since it cannot distinguish two APIs of one name.
        assert_eq!(material.cases[1].gold, BTreeSet::from([0, 2]));
        assert!(read("[]").is_err() && read("{").is_err());
        // The message for an unexpected form names both accepted forms.
        assert!(read("{").unwrap_err().to_string().contains(INSTANCES));
        let instances: Vec<Json> = serde_json::from_str(text).unwrap();
        let lines: Vec<String> = instances.iter().map(Json::to_string).collect();
        let by_line = read(&lines.join("\n")).unwrap();
        assert_eq!((&by_line.cases, by_line.pool.len()), (&material.cases, 3));
    }

    #[test]
    fn lines_name_apis_of_the_pool() {
        let folder = tempfile::tempdir().unwrap();
        let (queries, pool) = (folder.path().join("q"), folder.path().join("p"));
        std::fs::write(&pool, "{\"name\": \"A\", \"inputs\": [\"user_id\"]}\n\n{\"name\": \"B\"}\n").unwrap();
        let read = |text: &str| {
            std::fs::write(&queries, text).unwrap();
            Material::read(&queries, Some(&pool))
        };
        let found = read("{\"query\": \"x\", \"apis\": [\"B\", \"A\"]}").unwrap();
        assert_eq!(found.cases[0].gold, BTreeSet::from([0, 1]));
        let error = read("{\"query\": \"x\", \"apis\": [\"C\"]}").unwrap_err().to_string();
        let expect = "q: request 1: found the API C, expected one of the pool's; add it to the pool";
        assert!(error.ends_with(expect), "{error}");
        assert!(read("{\"query\": 1}").unwrap_err().to_string().contains("q: line 1"));
    }
}
