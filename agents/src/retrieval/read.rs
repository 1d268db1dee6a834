//! Reads the requests and the pool of the search bench from files.

use std::collections::{BTreeMap, BTreeSet};

use diorama_output::row::Dialogue;
use diorama_seeds::task::GoldCall;
use diorama_simulator::engine::tools::TOOL_SEARCHER;
use diorama_simulator::search::{ApiEntry, Port};
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value as Json;

use super::{Case, Material};
use crate::benchmarks::reverse_chain::{Api, Instance};

/// Why material cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MaterialError {
    /// The JSON is not of the expected shape.
    #[error("{file}: {source}; expected {expected}")]
    Shape {
        /// The file.
        file: String,
        /// The expected shape.
        expected: &'static str,
        /// The fault found.
        source: serde_json::Error,
    },
    /// A request names an API that is not in the pool.
    #[error("{file}, request {number}: found the API {api}, expected one of the pool's; add it to the pool")]
    Unknown {
        /// The file.
        file: String,
        /// The request, from 1.
        number: usize,
        /// The API.
        api: String,
    },
    /// There is no request.
    #[error("{0} holds no request that needs an API")]
    Empty(String),
}

const POOL_LINE: &str =
    "one API a line: {\"name\", \"description\", \"inputs\": [names], \"outputs\": [names], \"domain\"?}";
const QUERY_LINE: &str = "one request a line: {\"query\", \"apis\": [names]}";
const REVERSE_CHAIN: &str = "Reverse Chain's list of {\"APIs\": [{\"name\", \"Description\", \"input_params\", \"output_params\"}], \"Query\", \"Label\"}";

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

#[derive(Deserialize)]
struct QueryLine {
    query: String,
    apis: Vec<String>,
}

/// A request before its APIs are looked up in the pool.
struct Request {
    query: String,
    /// Names of APIs.
    apis: Vec<String>,
    /// The domain whose API is meant where several have one name.
    domain: String,
}

/// Looks up the APIs of requests; those without an API are left out.
fn load(
    file: &str,
    pool: Vec<ApiEntry>,
    requests: impl Iterator<Item = Result<Request, MaterialError>>,
) -> Result<Material, MaterialError> {
    let mut named: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, entry) in pool.iter().enumerate() {
        named.entry(entry.api.clone()).or_default().push(at);
        if !entry.domain.is_empty() {
            named.entry(prefixed(entry)).or_default().push(at);
        }
    }
    let mut cases = Vec::new();
    for (number, request) in requests.enumerate() {
        let Request { query, apis, domain } = request?;
        let find = |api: &String| {
            let all = named.get(api).map(Vec::as_slice).unwrap_or_default();
            let own = all.iter().find(|at| pool.get(**at).is_some_and(|entry| entry.domain == domain));
            own.or_else(|| all.first()).copied().ok_or_else(|| MaterialError::Unknown {
                file: file.to_owned(),
                number: number + 1,
                api: api.clone(),
            })
        };
        cases.extend(case(query, apis.iter().map(find).collect::<Result<_, _>>()?));
    }
    finished(file, pool, cases)
}

/// The name of an API with its domain before it, as composed worlds have where two would have one name.
fn prefixed(entry: &ApiEntry) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>()
    };
    entry.domain.split('_').map(capital).chain([entry.api.clone()]).collect()
}

/// Requests and a pool, both in lines of JSON.
///
/// # Errors
/// A line that is not of the shape, or an API that is not in the pool.
pub fn of_lines(queries: (&str, &str), pool: (&str, &str)) -> Result<Material, MaterialError> {
    let pool: Vec<ApiEntry> = lines::<PoolLine>(pool, POOL_LINE)?.into_iter().map(PoolLine::entry).collect();
    let requests = lines::<QueryLine>(queries, QUERY_LINE)?.into_iter();
    let request = |line: QueryLine| Ok(Request { query: line.query, apis: line.apis, domain: String::new() });
    load(queries.0, pool, requests.map(request))
}

fn lines<T: serde::de::DeserializeOwned>(
    (file, text): (&str, &str),
    expected: &'static str,
) -> Result<Vec<T>, MaterialError> {
    let line = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|source| MaterialError::Shape {
            file: format!("{file}, line {}", number + 1),
            expected,
            source,
        })
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(line).collect()
}

impl PoolLine {
    fn entry(self) -> ApiEntry {
        ApiEntry {
            api: self.name,
            domain: self.domain,
            description: self.description,
            parameters: self.inputs.join(" "),
            inputs: self.inputs.iter().map(|name| Port::named(name)).collect(),
            outputs: self.outputs.iter().map(|name| Port::named(name)).collect(),
            ..ApiEntry::default()
        }
    }
}

/// Reverse Chain's compositional multi-tool data: the pool is the APIs of all instances, told apart by name, inputs and
/// outputs; the APIs that an instance's label calls answer it.
///
/// # Errors
/// A file of another shape.
pub fn of_reverse_chain(file: &str, text: &str) -> Result<Material, MaterialError> {
    let shape = |source| MaterialError::Shape { file: file.to_owned(), expected: REVERSE_CHAIN, source };
    let instances: Vec<Instance> = serde_json::from_str(text).map_err(shape)?;
    let mut pool: Vec<ApiEntry> = Vec::new();
    let mut at: BTreeMap<(String, BTreeSet<String>, BTreeSet<String>), usize> = BTreeMap::new();
    let mut cases = Vec::new();
    for instance in instances {
        let mut gold = BTreeSet::new();
        let called = called(&instance.label);
        for api in instance.apis {
            let sorted = |params: &IndexMap<String, Json>| params.keys().cloned().collect::<BTreeSet<_>>();
            let key = (api.name.clone(), sorted(&api.input_params), sorted(&api.output_params));
            let name = api.name.clone();
            let position = *at.entry(key).or_insert_with(|| {
                pool.push(entry_of(api));
                pool.len() - 1
            });
            if called.contains(&name) {
                gold.insert(position);
            }
        }
        cases.extend(case(instance.query, gold));
    }
    finished(file, pool, cases)
}

fn entry_of(api: Api) -> ApiEntry {
    let ports = |params: &IndexMap<String, Json>| params.keys().map(|name| Port::named(name)).collect();
    let described = |(name, about): (&String, &Json)| {
        format!("{name} {}", about.get("description").and_then(Json::as_str).unwrap_or_default())
    };
    ApiEntry {
        inputs: ports(&api.input_params),
        outputs: ports(&api.output_params),
        parameters: api.input_params.iter().map(described).collect::<Vec<_>>().join(" "),
        api: api.name,
        description: api.description,
        ..ApiEntry::default()
    }
}

/// The names before brackets, outside of quotes.
fn called(label: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut name = String::new();
    let mut quote = None;
    for character in label.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            // An apostrophe inside a word opens nothing.
            (None, '\'' | '"') if name.is_empty() => quote = Some(character),
            (None, '(') => {
                names.insert(std::mem::take(&mut name));
            }
            (None, _) if character.is_alphanumeric() || character == '_' => name.push(character),
            (None, _) => name.clear(),
        }
    }
    names.remove("");
    names
}

/// Rows of a dataset over a pool: the first user turn, and the APIs of the reference calls.
///
/// # Errors
/// A row whose calls cannot be read, or an API that is not in the pool.
pub fn of_dataset(file: &str, rows: &[Dialogue], pool: Vec<ApiEntry>) -> Result<Material, MaterialError> {
    let request = |row: &Dialogue| {
        let shape = |source| MaterialError::Shape {
            file: format!("{file}, row {}", row.id),
            expected: "the reference calls of a row",
            source,
        };
        let calls: Vec<GoldCall> = serde_json::from_str(&row.gold_calls).map_err(shape)?;
        let apis = calls.into_iter().map(|call| call.api).filter(|api| api != TOOL_SEARCHER).collect();
        Ok(Request { query: row.query.clone(), apis, domain: row.domains.join(", ") })
    };
    load(file, pool, rows.iter().map(request))
}

fn case(query: String, gold: BTreeSet<usize>) -> Option<Case> {
    (!gold.is_empty()).then(|| Case { query, gold: gold.into_iter().collect() })
}

fn finished(file: &str, pool: Vec<ApiEntry>, cases: Vec<Case>) -> Result<Material, MaterialError> {
    if cases.is_empty() {
        return Err(MaterialError::Empty(file.to_owned()));
    }
    Ok(Material { pool, cases })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_tells_the_apis_that_it_calls() {
        let check = |label: &str, expect: &[&str]| {
            assert_eq!(called(label).iter().map(String::as_str).collect::<Vec<_>>(), expect, "{label}");
        };
        check("Add(user=Find(name='O (x)'), day=\"f(1)\", n=3)", &["Add", "Find"]);
        check("A(b=C(d=E_2()))", &["A", "C", "E_2"]);
        check("", &[]);
    }

    #[test]
    fn reverse_chain_pools_are_keyed_by_name_inputs_and_outputs() {
        let text = r#"[
          {"APIs": [{"name": "Find", "Description": "d", "input_params": {"a": {}}, "output_params": {"b_ID": {}}},
                    {"Name": "Use", "Description": "d", "input_params": {"bID": {}}, "output_params": {}}],
           "Query": "q", "Label": "Use(bID=Find(a='x'))", "Index": 1},
          {"APIs": [{"name": "Find", "Description": "other words", "input_params": {"a": {}}, "output_params": {"b_ID": {}}},
                    {"name": "Find", "Description": "d", "input_params": {"c": {}}, "output_params": {}}],
           "Query": "r", "Label": "Find(a=1)", "Index": 2}]"#;
        let material = of_reverse_chain("f", text).unwrap();
        assert_eq!(material.pool.len(), 3);
        assert_eq!(material.pool[0].outputs[0].thing, material.pool[1].inputs[0].thing);
        assert_eq!(material.cases[0], Case { query: "q".into(), gold: vec![0, 1] });
        // A label names both; the instance's two APIs of one name cannot be told apart by it.
        assert_eq!(material.cases[1].gold, [0, 2]);
        assert!(of_reverse_chain("f", "[]").is_err() && of_reverse_chain("f", "{").is_err());
    }

    #[test]
    fn lines_name_apis_of_the_pool() {
        let pool = "{\"name\": \"A\", \"inputs\": [\"user_id\"]}\n\n{\"name\": \"B\"}\n";
        let read = |queries| of_lines(("q", queries), ("p", pool));
        assert_eq!(read("{\"query\": \"x\", \"apis\": [\"B\", \"A\"]}").unwrap().cases[0].gold, [0, 1]);
        let error = read("{\"query\": \"x\", \"apis\": [\"C\"]}").unwrap_err().to_string();
        assert_eq!(error, "q, request 1: found the API C, expected one of the pool's; add it to the pool");
        assert!(read("{\"query\": 1}").unwrap_err().to_string().contains("q, line 1"));
    }
}
