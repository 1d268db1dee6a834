//! Owns the visible APIs under RestGPT's names: method and path, or the name of the tool.

use serde::Serialize;

use crate::episode::Episode;
use crate::operation::Operation;
use crate::toolbox::Document;

/// The form in which plans name APIs, and in which the caller writes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum CallerForm {
    /// Method, URL, parameters and body, by the OpenAPI text of the operation: RestGPT's, section 3.3. Where the environment is
    /// no REST service, as `tool`.
    Request,
    /// The name of a tool, and its arguments.
    Tool,
}

/// The visible APIs.
pub(crate) struct NamedApis {
    pub all: Vec<NamedApi>,
}

/// A visible API.
#[derive(Serialize)]
pub(crate) struct NamedApi {
    /// `GET /rooms/{room_id}`, or the name of the tool.
    pub name: String,
    pub description: String,
    /// The tool.
    #[serde(skip)]
    pub tool: Document,
    /// The operation, if the caller writes requests.
    #[serde(skip)]
    pub operation: Option<Operation>,
}

impl NamedApis {
    /// Collects the visible APIs in a form.
    pub(crate) fn collect(episode: &Episode<'_>, form: CallerForm) -> Self {
        let tools = episode.documents();
        let operation = |tool: &Document| episode.operation(&tool.name);
        let operations: Option<Vec<Operation>> = match form {
            CallerForm::Request => tools.iter().map(operation).collect(),
            CallerForm::Tool => None,
        };
        let mut operations = operations.into_iter().flatten();
        Self { all: tools.into_iter().map(|tool| NamedApi::new(tool, operations.next())).collect() }
    }

    /// Returns true if plans name methods and paths.
    pub(crate) fn by_request(&self) -> bool {
        self.all.iter().any(|api| api.operation.is_some())
    }

    /// Adds a tool without an operation.
    pub(crate) fn with_tool(mut self, tool: Option<Document>) -> Self {
        self.all.extend(tool.map(|tool| NamedApi::new(tool, None)));
        self
    }

    /// Parses the plan of a call. Returns the tool names of its APIs, in order.
    ///
    /// # Errors
    /// Returns the expected form if the plan names no API. `alternative` is its last part.
    pub(crate) fn named_in(&self, text: &str, alternative: &str) -> Result<Vec<String>, String> {
        let mut named: Vec<String> = Vec::new();
        let mut add = |api: &NamedApi| {
            if !named.contains(&api.tool.name) {
                named.push(api.tool.name.clone());
            }
        };
        let words = text
            .split_whitespace()
            .map(|word| word.trim_matches(['`', '"', '\'', '*', ',', ':', ';', '(', ')']));
        let words: Vec<&str> = words.collect();
        for (method, url) in words.iter().zip(words.iter().skip(1)) {
            self.find_operations(method, url.trim_end_matches('.')).into_iter().for_each(&mut add);
        }
        for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')) {
            let tools = self.all.iter().filter(|api| api.operation.is_none() && api.name == word);
            tools.for_each(&mut add);
        }
        if named.is_empty() {
            let names: Vec<&str> = self.all.iter().map(|api| &*api.name).collect();
            return Err(format!("the name of one of the APIs ({}){alternative}", names.join(", ")));
        }
        Ok(named)
    }

    /// Returns the operations with a method and a URL. Literal segments take precedence over parameters.
    /// Operations on the same path are distinguished by the members of a request.
    fn find_operations(&self, method: &str, url: &str) -> Vec<&NamedApi> {
        let matches = self
            .all
            .iter()
            .filter_map(|api| Some((api.operation.as_ref()?.literal_matches(method, url)?, api)));
        let matches: Vec<(usize, &NamedApi)> = matches.collect();
        let most = matches.iter().map(|(literal, _)| *literal).max();
        matches.into_iter().filter(|(literal, _)| Some(*literal) == most).map(|(_, api)| api).collect()
    }
}

impl NamedApi {
    fn new(tool: Document, operation: Option<Operation>) -> Self {
        let name = operation.as_ref().map_or_else(|| tool.name.clone(), Operation::name);
        Self { name, description: tool.description.clone(), tool, operation }
    }
}
