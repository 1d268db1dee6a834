//! Owns the executor (section 3.3 of the paper): the caller and the parser make the calls of an API plan.
//!
//! It chooses no API. The plan names the APIs whose documents the caller sees.

use diorama_llm::Message;
use minijinja::{Value, context};

use super::apis::{CallerForm, NamedApi, NamedApis};
use super::parser::{self, Parsing};
use super::roles::{CALLER, CallerTurn, TOOL_CALLER, parse_caller_turn};
use crate::episode::{Episode, Role};
use crate::labels::cut_before;
use crate::operation::Operation;
use crate::role_model::Stop;
use crate::toolbox::{Document, shorten};

/// Number of caller turns per plan beyond one per planned API: a retry, and the result.
const MAX_EXTRA_TURNS: usize = 3;
/// Maximum number of characters of an error in the caller's prompt.
const MAX_ERROR_CHARS: usize = 6_000;

/// Makes the calls of a plan.
#[derive(Clone, Copy)]
pub(crate) struct Executor {
    pub form: CallerForm,
    pub parsing: Parsing,
}

/// The planned call, with the plan's APIs.
pub(crate) struct PlannedCall<'a> {
    /// The plan of the call in words.
    pub calling: &'a str,
    /// Names of the planned APIs' tools.
    pub apis: &'a [String],
    /// The known results.
    pub background: &'a str,
}

impl Executor {
    /// Makes the planned calls. Returns their result in words, and adds it to the results of the open goal.
    pub(crate) async fn execute(
        self,
        episode: &mut Episode<'_>,
        planned: PlannedCall<'_>,
    ) -> Result<String, Stop> {
        let text = self.call(episode, &planned).await?;
        episode.results.push_str(&format!("{text}\n"));
        Ok(text)
    }

    async fn call(self, episode: &mut Episode<'_>, planned: &PlannedCall<'_>) -> Result<String, Stop> {
        let PlannedCall { calling, apis: names, background } = planned;
        let apis = NamedApis::collect(episode, self.form);
        let apis: Vec<&NamedApi> = apis.all.iter().filter(|api| names.contains(&api.tool.name)).collect();
        let (role, documents) = make_caller(&apis);
        let mut messages = episode.prompt(role, context! { background, plan => calling, ..documents })?;
        for _ in 0..MAX_EXTRA_TURNS + apis.len() {
            let parse = |reply: &str| parse_caller_turn(reply, &apis).map(|turn| (turn, reply.to_owned()));
            let (turn, words) = episode.ask_with(role, messages.clone(), parse).await?;
            let (call, description, instructions) = match turn {
                CallerTurn::Result(result) => return Ok(result),
                CallerTurn::Operation { call, description, instructions } => {
                    (call, description, instructions)
                }
            };
            let reply = episode.call(&call).await?;
            let response = if reply.status >= 400 {
                format!("status {}: {}", reply.status, shorten(&reply.body, MAX_ERROR_CHARS))
            } else {
                let api = apis.iter().find(|api| api.tool.name == call.api);
                let (api, api_description) =
                    api.map(|api| (&*api.name, &*api.description)).unwrap_or_default();
                let question = if instructions.is_empty() { *calling } else { &instructions };
                let input = context! { api, api_description, about => description, instructions => question };
                parser::read(episode, self.parsing, &call, &reply.body, input).await?
            };
            messages.push(Message::assistant(cut_before(&words, "Response")));
            messages.push(Message::user(format!("Response: {response}")));
        }
        Err(Stop::Ended("the caller makes call after call without a result".to_owned()))
    }
}

/// Returns the caller role for a plan, with the documents for its prompt.
fn make_caller(apis: &[&NamedApi]) -> (Role, Value) {
    let operations: Option<Vec<_>> = apis.iter().map(|api| Some((*api, api.operation.as_ref()?))).collect();
    let Some(operations) = operations.filter(|operations| !operations.is_empty()) else {
        let documents: Vec<&Document> = apis.iter().map(|api| &api.tool).collect();
        return (TOOL_CALLER, context! { documents });
    };
    let base_url = operations.first().map(|(_, operation)| &*operation.base_url);
    let document = |(api, operation): &(&NamedApi, &Operation)| {
        context! { name => api.name, text => operation.text(&api.tool).to_string() }
    };
    let documents: Vec<Value> = operations.iter().map(document).collect();
    (CALLER, context! { base_url, documents })
}
