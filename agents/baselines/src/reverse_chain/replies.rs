//! Reply formats in Reverse Chain: an API for a task, and the sources of a call's arguments.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value as Json;

use crate::episode::parse_json;
use crate::role_model::ParseError;
use crate::toolbox::Document;

/// The candidate APIs for an argument.
#[derive(Serialize)]
pub(super) struct Candidates {
    /// The argument.
    pub name: String,
    /// Their names.
    pub apis: Vec<String>,
}

/// The choice for a task.
pub(super) enum Choice {
    /// The call of an API, by name.
    Api(String),
    /// An answer in words. No call is needed.
    Answer(String),
    /// No API fits.
    None,
}

/// The source of an argument's value.
pub(super) enum Source {
    /// The request or earlier replies supply this value.
    Value(Json),
    /// The reply of this API supplies the value.
    Api(String),
    /// The user is asked this question.
    Ask(String),
}

/// Sources by argument.
pub(super) type Sources = BTreeMap<String, Source>;

/// Parses a choice among candidates. Only a request can be answered without a call.
pub(super) fn parse_choice(
    reply: &str,
    candidates: &[Document],
    is_request: bool,
) -> Result<Choice, ParseError> {
    let json = parse_json(reply)?;
    let words = json.get("answer").and_then(Json::as_str).map(str::trim).filter(|words| !words.is_empty());
    match (json.get("api"), words.filter(|_| is_request)) {
        (Some(Json::String(name)), _) if candidates.iter().any(|api| api.name == *name) => {
            Ok(Choice::Api(name.clone()))
        }
        (None | Some(Json::Null), Some(words)) => Ok(Choice::Answer(words.to_owned())),
        (Some(Json::Null), None) => Ok(Choice::None),
        _ => {
            let names: Vec<&str> = candidates.iter().map(|api| &*api.name).collect();
            Err(ParseError::expected(&format!("{{\"api\": ..}} with one of {}", names.join(", ")), reply))
        }
    }
}

/// Parses the values from the request alone, by argument.
pub(super) fn parse_extracted(reply: &str, document: &Document) -> Result<Sources, ParseError> {
    let Json::Object(properties) = parse_json(reply)? else {
        return Err(ParseError::expected("one JSON object", reply));
    };
    let mut sources = Sources::new();
    for (name, value) in properties {
        check_argument(document, &name)?;
        let none = value.is_null() || value.as_str().is_some_and(|text| text.eq_ignore_ascii_case("none"));
        if !none {
            sources.insert(name, Source::Value(value));
        }
    }
    Ok(sources)
}

/// Checks that an API has an argument.
fn check_argument(document: &Document, name: &str) -> Result<(), ParseError> {
    if document.parameters().any(|(own, ..)| own == name) {
        return Ok(());
    }
    let names: Vec<&str> = document.parameters().map(|(own, ..)| own).collect();
    Err(ParseError::expected(&format!("arguments among {}", names.join(", ")), name))
}

/// Parses a completion: each argument with a value, a candidate for it, or a question.
pub(super) fn parse_completion(
    reply: &str,
    document: &Document,
    candidates: &[Candidates],
) -> Result<Sources, ParseError> {
    let Json::Object(properties) = parse_json(reply)? else {
        return Err(ParseError::expected("one JSON object", reply));
    };
    let mut sources = Sources::new();
    for (name, source) in properties {
        check_argument(document, &name)?;
        sources.extend(parse_source(&name, &source, candidates)?.map(|source| (name, source)));
    }
    Ok(sources)
}

fn parse_source(name: &str, source: &Json, candidates: &[Candidates]) -> Result<Option<Source>, ParseError> {
    if let Some(value) = source.get("value") {
        return Ok((!value.is_null()).then(|| Source::Value(value.clone())));
    }
    if let Some(question) = source.get("ask").and_then(Json::as_str) {
        return Ok(Some(Source::Ask(question.to_owned())));
    }
    if let Some(api) = source.get("api").and_then(Json::as_str) {
        let known = candidates.iter().find(|candidates| candidates.name == name);
        let names: Vec<&str> = known.into_iter().flat_map(|known| &known.apis).map(String::as_str).collect();
        if names.contains(&api) {
            return Ok(Some(Source::Api(api.to_owned())));
        }
        let expected = format!("an API that can give {name} ({})", names.join(", "));
        return Err(ParseError::expected(&expected, api));
    }
    match source {
        Json::Null => Ok(None),
        Json::Object(_) => {
            Err(ParseError::expected("`value`, `api` or `ask` for each argument", &source.to_string()))
        }
        // A bare value is the argument's value.
        value => Ok(Some(Source::Value(value.clone()))),
    }
}
