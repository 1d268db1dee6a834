//! Executes plans in an environment, the innermost calls first.

use std::collections::BTreeMap;
use std::pin::Pin;

use diorama_seeds::task::Call;
use minijinja::context;
use serde_json::{Map, Value as Json};

use super::nested::{Plan, PlanArgument};
use crate::environment::Reply;
use crate::episode::{Episode, Role, parse_json};
use crate::note::Note;
use crate::role_model::{ParseError, Stop};
use crate::toolbox::{Document, only_value, shorten};
use crate::types::{ValueType, converted, value_type};

/// The role that reads a value from a reply.
const PICK: Role = Role { name: "pick", prompt: "reverse-chain/pick" };
/// Maximum number of characters of a reply in a prompt.
const MAX_REPLY_CHARS: usize = 6_000;

/// The way in which an agent carries out a plan of nested calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Execution {
    /// It notes the plan and makes no call: Reverse Chain's paper, whose APIs are made up (section 6).
    Plan,
    /// It makes the calls.
    Calls,
    /// The same; a value that no property of a reply is named after is read by one more request to the model (`pick`).
    #[cfg_attr(feature = "clap", value(name = "picks"))]
    CallsAndPicks,
}

/// The execution of one plan.
struct Carrier<'e, 'a> {
    episode: &'e mut Episode<'a>,
    documents: Vec<Document>,
    picks: bool,
    /// Replies by call. A call that occurs twice in the plan is made once.
    made: BTreeMap<String, Reply>,
}

type Step<'a> = Pin<Box<dyn Future<Output = Result<Reply, Stop>> + Send + 'a>>;

/// Records a plan and executes it if `execution` asks for calls. Returns the answer in words.
pub(crate) async fn conclude(
    episode: &mut Episode<'_>,
    plan: &Plan,
    execution: Execution,
) -> Result<String, Stop> {
    episode.note(Note::Planned { plan: plan.clone() })?;
    if execution == Execution::Plan {
        return Ok(format!("The plan ends with {}.", plan.api));
    }
    let documents = episode.documents();
    let picks = execution == Execution::CallsAndPicks;
    let reply = Carrier { episode, documents, picks, made: BTreeMap::new() }.call(plan).await?;
    Ok(format!("{} answered {}: {}", plan.api, reply.status, shorten(&reply.body, MAX_REPLY_CHARS)))
}

impl Carrier<'_, '_> {
    fn call<'a>(&'a mut self, plan: &'a Plan) -> Step<'a> {
        Box::pin(async move {
            let key = plan.to_string();
            if let Some(reply) = self.made.get(&key) {
                return Ok(reply.clone());
            }
            let document = self.documents.iter().find(|document| document.name == plan.api).cloned();
            let parameters = document.as_ref().map(Document::positions).unwrap_or_default();
            let schema_of = |name: &str| {
                let mut parameters = document.iter().flat_map(Document::parameters);
                let own = parameters.find(|(own, ..)| *own == name);
                own.map(|(_, schema, _)| schema.clone()).unwrap_or_default()
            };
            let mut arguments = Map::new();
            for (name, filled) in plan.named(&parameters) {
                let value = match filled {
                    PlanArgument::Value(value) => Some(value.clone()),
                    PlanArgument::Call(inner) => {
                        let reply = self.call(inner).await?;
                        self.given(&plan.api, inner, &reply, (&name, &schema_of(&name))).await?
                    }
                };
                arguments.extend(value.map(|value| (name.into_owned(), value)));
            }
            let reply = self.episode.call(&Call { api: plan.api.clone(), arguments }).await?;
            self.made.insert(key, reply.clone());
            Ok(reply)
        })
    }

    /// Returns the value in an inner call's reply for an argument of `api`.
    async fn given(
        &mut self,
        api: &str,
        inner: &Plan,
        reply: &Reply,
        (name, schema): (&str, &Json),
    ) -> Result<Option<Json>, Stop> {
        let mut value = given_value(reply, name, schema);
        if value.is_none() && self.picks {
            let description = schema.get("description").and_then(Json::as_str).unwrap_or_default();
            let wanted = format!("the argument {name} of {api} ({description})");
            let reply = shorten(&reply.body, MAX_REPLY_CHARS);
            let input = context! { wanted, api => inner.api, reply };
            let picked = self.episode.ask(PICK, input, parse_value).await?;
            value = picked.map(|value| converted(value, schema));
        }
        if value.is_none() {
            let because = format!("the reply of {} does not give {name}", inner.api);
            self.episode.fall_back("plan", "leaving the argument out", because)?;
        }
        Ok(value)
    }
}

/// Returns the value of an argument in the reply of its inner call. If no single value matches, an argument
/// whose type may be an object gets the whole reply. Example: coordinates of latitude and longitude.
fn given_value(reply: &Reply, name: &str, schema: &Json) -> Option<Json> {
    if let Some(value) = only_value(&reply.body, name) {
        return Some(converted(value, schema));
    }
    let is_whole = (200..300).contains(&reply.status) && value_type(schema) == ValueType::Other;
    (is_whole && reply.body.is_object()).then(|| reply.body.clone())
}

/// Parses a value. Returns `None` if the API's reply does not contain it.
fn parse_value(reply: &str) -> Result<Option<Json>, ParseError> {
    let json = parse_json(reply)?;
    match json.get("value") {
        Some(Json::Null) => Ok(None),
        Some(value) => Ok(Some(value.clone())),
        None => Err(ParseError::expected("{\"value\": ..}", reply)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_whole_reply_is_given_where_no_single_value_is_meant() {
        let reply = Reply { status: 200, body: json!({"latitude": 1.5, "longitude": 2.5}) };
        let check = |reply: &Reply, name: &str, schema: Json, expect: Option<Json>| {
            assert_eq!(given_value(reply, name, &schema), expect, "{name}: {schema}");
        };
        check(&reply, "latitude", json!({"type": "string"}), Some(json!("1.5")));
        check(&reply, "coordinates", json!({"title": "Coordinates"}), Some(reply.body.clone()));
        check(&reply, "coordinates", json!({"type": "number"}), None);
        let failed = Reply { status: 404, body: json!({"status": 404, "detail": "there is none"}) };
        check(&failed, "coordinates", json!({}), None);
    }
}
