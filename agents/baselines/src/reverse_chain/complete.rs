//! Argument completion: all arguments of a call at once, each by one of three cases.

use std::collections::BTreeMap;

use diorama_llm::{Message, json_in};
use serde::Serialize;
use serde_json::Value as Json;

use crate::mind::ParseError;
use crate::prompts::{PromptError, render};
use crate::toolbox::Document;

/// The role's name.
pub const ROLE: &str = "complete";
/// The name of the role that reads values from the request alone.
pub const EXTRACT: &str = "extract";
/// The name of the role that reads a value from a reply.
pub const PICK: &str = "pick";

/// An API that can give an argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Known {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
}

/// The APIs that can give an argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Candidates {
    /// The argument.
    pub name: String,
    /// The APIs.
    pub apis: Vec<Known>,
}

/// What the role is given.
#[derive(Clone, Debug, Serialize)]
pub struct Input<'a> {
    /// The system message, which shows the clock.
    pub system: &'a str,
    /// The API.
    pub document: &'a Document,
    /// By argument, the APIs that can give it.
    pub candidates: &'a [Candidates],
    /// The conversation.
    pub request: &'a str,
    /// For which argument of another call it is made.
    pub purpose: Option<&'a str>,
    /// What was found out.
    pub known: &'a str,
}

/// What the role that reads a value is given.
#[derive(Clone, Debug, Serialize)]
pub struct PickInput<'a> {
    /// The conversation.
    pub request: &'a str,
    /// The value that is missing.
    pub wanted: &'a str,
    /// The API that was called for it.
    pub api: &'a str,
    /// What it answered.
    pub reply: &'a str,
}

/// Where the value of an argument comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Filling {
    /// The request or what is known.
    Value(Json),
    /// Another API.
    Api(String),
    /// The user.
    Ask(String),
}

/// By argument, where its value comes from.
pub type Wanted = BTreeMap<String, Filling>;

impl Known {
    /// An API by name and description.
    #[must_use]
    pub fn of(document: &Document) -> Self {
        Self { name: document.name.clone(), description: document.description.clone() }
    }
}

/// The messages of the role.
///
/// # Errors
/// When the prompt's file is wrong.
pub fn prompt(input: &Input<'_>) -> Result<Vec<Message>, PromptError> {
    render("reverse-chain/complete", input)
}

/// The messages of the role that reads a value.
///
/// # Errors
/// When the prompt's file is wrong.
pub fn pick_prompt(input: &PickInput<'_>) -> Result<Vec<Message>, PromptError> {
    render("reverse-chain/pick", input)
}

/// The messages of the role that reads values from the request alone.
///
/// # Errors
/// When the prompt's file is wrong.
pub fn extract_prompt(input: &Input<'_>) -> Result<Vec<Message>, PromptError> {
    render("reverse-chain/extract", input)
}

/// Reads what the request alone gives, by argument.
///
/// # Errors
/// When it is no JSON object, or an argument is none of the API's.
pub fn parse_extracted(reply: &str, document: &Document) -> Result<Wanted, ParseError> {
    let json = json_in(reply).map_err(|error| ParseError(error.to_string()))?;
    let Json::Object(members) = json else { return Err(ParseError::expected("one JSON object", reply)) };
    let mut wanted = Wanted::new();
    for (name, value) in members {
        is_of(document, &name)?;
        let none = value.is_null() || value.as_str().is_some_and(|text| text.eq_ignore_ascii_case("none"));
        if !none {
            wanted.insert(name, Filling::Value(value));
        }
    }
    Ok(wanted)
}

fn is_of(document: &Document, name: &str) -> Result<(), ParseError> {
    if document.parameters().any(|(own, ..)| own == name) {
        return Ok(());
    }
    let names: Vec<&str> = document.parameters().map(|(own, ..)| own).collect();
    Err(ParseError::expected(&format!("arguments among {}", names.join(", ")), name))
}

/// Reads a completion.
///
/// # Errors
/// When an argument is none of the API's, or by an API that is no candidate for it.
pub fn parse(reply: &str, document: &Document, candidates: &[Candidates]) -> Result<Wanted, ParseError> {
    let json = json_in(reply).map_err(|error| ParseError(error.to_string()))?;
    let Json::Object(members) = json else { return Err(ParseError::expected("one JSON object", reply)) };
    let mut wanted = Wanted::new();
    for (name, filling) in members {
        is_of(document, &name)?;
        wanted.extend(one(&name, &filling, candidates)?.map(|filling| (name, filling)));
    }
    Ok(wanted)
}

fn one(name: &str, filling: &Json, candidates: &[Candidates]) -> Result<Option<Filling>, ParseError> {
    if let Some(value) = filling.get("value") {
        return Ok((!value.is_null()).then(|| Filling::Value(value.clone())));
    }
    if let Some(question) = filling.get("ask").and_then(Json::as_str) {
        return Ok(Some(Filling::Ask(question.to_owned())));
    }
    if let Some(api) = filling.get("api").and_then(Json::as_str) {
        let known = candidates.iter().find(|candidates| candidates.name == name);
        let names: Vec<&str> =
            known.into_iter().flat_map(|known| &known.apis).map(|api| &*api.name).collect();
        if names.contains(&api) {
            return Ok(Some(Filling::Api(api.to_owned())));
        }
        let expected = format!("an API that can give {name} ({})", names.join(", "));
        return Err(ParseError::expected(&expected, api));
    }
    match filling {
        Json::Null => Ok(None),
        Json::Object(_) => {
            Err(ParseError::expected("`value`, `api` or `ask` for each argument", &filling.to_string()))
        }
        // A bare value is what it says.
        value => Ok(Some(Filling::Value(value.clone()))),
    }
}

/// Reads a value; none where the reply does not give it.
///
/// # Errors
/// When there is no `value`.
pub fn parse_value(reply: &str) -> Result<Option<Json>, ParseError> {
    let json = json_in(reply).map_err(|error| ParseError(error.to_string()))?;
    match json.get("value") {
        Some(Json::Null) => Ok(None),
        Some(value) => Ok(Some(value.clone())),
        None => Err(ParseError::expected("{\"value\": ..}", reply)),
    }
}

/// The value of an argument in a reply, where one member alone has its name, or the reply gives one value alone.
#[must_use]
pub fn only_value(body: &Json, name: &str) -> Option<Json> {
    if let Some(members) = body.as_object()
        && let [value] = members.values().collect::<Vec<_>>().as_slice()
        && !value.is_null()
        && !value.is_object()
        && !value.is_array()
    {
        return Some((*value).clone());
    }
    fn collect<'a>(value: &'a Json, name: &str, found: &mut Vec<&'a Json>) {
        match value {
            Json::Array(items) => items.iter().for_each(|item| collect(item, name, found)),
            Json::Object(members) => {
                for (own, member) in members {
                    if own == name && !member.is_array() && !member.is_object() {
                        found.push(member);
                    } else {
                        collect(member, name, found);
                    }
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(body, name, &mut found);
    match found.as_slice() {
        [value] if !value.is_null() => Some((*value).clone()),
        _ => None,
    }
}
