//! Prompts: files under `agents/prompts/`, filled in with the input of a role.
//!
//! A file is split into messages at lines of `<<system>>`, `<<user>>` and `<<assistant>>` before values are
//! filled in. So no user, document or reply can start a message of its own. The template engine's
//! instructions are limited. Lists, objects, booleans and missing values are filled in as JSON.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::LazyLock;

use diorama_llm::Message;
use minijinja::value::ValueKind;
use minijinja::{Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value, escape_formatter};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Maximum number of template instructions per prompt: enough for some thousand APIs.
const MAX_INSTRUCTIONS: u64 = 2_000_000;

/// The reason for which a prompt cannot be filled in: its file has an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the prompt {name}: {what}")]
pub struct PromptError {
    name: String,
    what: String,
}

macro_rules! files {
    ($($name:literal,)*) => {
        /// The prompts, by name.
        pub const FILES: &[(&str, &str)] = &[
            $(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../prompts/", $name, ".txt"))),)*
        ];
    };
}

files! {
    "deps/planner",
    "deps/replan",
    "ending/report",
    "ending/transcribe",
    "offline/answer",
    "offline/planner",
    "pipeline/api",
    "pipeline/api_mend",
    "pipeline/domain",
    "pipeline/query",
    "pipeline/query_mend",
    "pipeline/query_paraphrase",
    "pipeline/query_words",
    "pipeline/repair",
    "react/agent",
    "reflexion/judge",
    "restgpt/caller",
    "restgpt/caller_request",
    "restgpt/parser",
    "restgpt/planner",
    "restgpt/reader",
    "restgpt/selector",
    "restgpt/snippet",
    "reverse-chain/complete",
    "reverse-chain/extract",
    "reverse-chain/few-shot",
    "reverse-chain/pick",
    "reverse-chain/select",
    "reverse-chain/zero-shot",
}

/// The speaker of a part of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaker {
    System,
    User,
    Assistant,
}

/// Compiled prompts.
#[derive(Debug)]
pub struct Prompts {
    templates: Environment<'static>,
    /// By prompt: the speaker and the template of each part.
    parts: BTreeMap<String, Vec<(Speaker, String)>>,
}

static PROMPTS: LazyLock<Result<Prompts, PromptError>> =
    LazyLock::new(|| Prompts::new(FILES.iter().copied()));

impl Prompts {
    /// Compiles prompts from names and texts, split at lines such as `<<system>>`.
    ///
    /// # Errors
    /// Returns the error of the first invalid template.
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, PromptError> {
        let mut templates = Environment::new();
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        templates.set_fuel(Some(MAX_INSTRUCTIONS));
        templates.set_trim_blocks(true);
        templates.set_lstrip_blocks(true);
        templates.set_formatter(as_json);
        let mut parts = BTreeMap::new();
        for (name, file) in files {
            let mut said = Vec::new();
            for (number, (speaker, text)) in cut(file).into_iter().enumerate() {
                let part = format!("{name}.{number}.txt");
                templates.add_template_owned(part.clone(), text).map_err(|error| failed(name, &error))?;
                said.push((speaker, part));
            }
            if said.is_empty() {
                let what =
                    "found no message, expected a line such as <<system>> or <<user>> before the words"
                        .to_owned();
                return Err(PromptError { name: name.to_owned(), what });
            }
            parts.insert(name.to_owned(), said);
        }
        Ok(Self { templates, parts })
    }

    /// Returns the messages of a prompt, filled in.
    ///
    /// # Errors
    /// Returns an error if the name is unknown, or if the input lacks a value.
    pub fn render(&self, name: &str, input: &impl Serialize) -> Result<Vec<Message>, PromptError> {
        let missing = || PromptError { name: name.to_owned(), what: "there is none of this name".to_owned() };
        let parts = self.parts.get(name).ok_or_else(missing)?;
        let fill = |(speaker, part): &(Speaker, String)| {
            let template = self.templates.get_template(part).map_err(|error| failed(name, &error))?;
            let text = template.render(input).map_err(|error| failed(name, &error))?;
            let text = text.trim();
            Ok(match speaker {
                Speaker::System => Message::system(text),
                Speaker::User => Message::user(text),
                Speaker::Assistant => Message::assistant(text),
            })
        };
        parts.iter().map(fill).collect()
    }
}

/// Writes a value into a prompt. The template engine itself would write `True` and `None` in lists and
/// objects.
fn as_json(out: &mut Output<'_>, state: &State<'_, '_>, value: &Value) -> Result<(), Error> {
    match value.kind() {
        ValueKind::Bool | ValueKind::None | ValueKind::Seq | ValueKind::Map => {
            let mut text = Vec::new();
            let fault =
                |error: &dyn std::fmt::Display| Error::new(ErrorKind::BadSerialization, error.to_string());
            value
                .serialize(&mut Serializer::with_formatter(&mut text, SpacedFormatter))
                .map_err(|error| fault(&error))?;
            let text = String::from_utf8(text).map_err(|error| fault(&error))?;
            out.write_str(&text).map_err(Error::from)
        }
        _ => escape_formatter(out, state, value),
    }
}

/// Writes JSON on one line, with a blank after commas and colons.
struct SpacedFormatter;

impl Formatter for SpacedFormatter {
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> std::io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> std::io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> std::io::Result<()> {
        writer.write_all(b": ")
    }
}

fn failed(name: &str, error: &minijinja::Error) -> PromptError {
    PromptError { name: name.to_owned(), what: format!("{error:#}") }
}

fn cut(file: &str) -> Vec<(Speaker, String)> {
    let mut found: Vec<(Speaker, String)> = Vec::new();
    for line in file.lines() {
        match line.trim() {
            "<<system>>" => found.push((Speaker::System, String::new())),
            "<<user>>" => found.push((Speaker::User, String::new())),
            "<<assistant>>" => found.push((Speaker::Assistant, String::new())),
            _ => {
                if let Some((_, text)) = found.last_mut() {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
    }
    found
}

/// Returns the messages of a prompt, filled in.
///
/// # Errors
/// Returns an error if the input lacks a value of the file.
pub fn render(name: &str, input: &impl Serialize) -> Result<Vec<Message>, PromptError> {
    PROMPTS.as_ref().map_err(Clone::clone)?.render(name, input)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    #[test]
    fn values_are_filled_in_as_json() {
        let prompts = Prompts::new([("one", "<<user>>\n{{ value }}")]).unwrap();
        let filled = |value: Json| {
            let messages = prompts.render("one", &json!({ "value": value })).unwrap();
            serde_json::to_value(&messages[0]).unwrap()["content"].as_str().unwrap().to_owned()
        };
        let schema = json!({
            "additionalProperties": false,
            "properties": {"open": {"type": "boolean", "default": true, "example": null}},
            "required": ["open", "it's \"so\"", "naïve \u{1f600}\n"],
            "minimum": 1.5,
        });
        assert_eq!(serde_json::from_str::<Json>(&filled(schema.clone())).unwrap(), schema);
        assert_eq!(
            filled(json!({"additionalProperties": false, "of": [1, 2]})),
            r#"{"additionalProperties": false, "of": [1, 2]}"#
        );
        assert_eq!((filled(json!(true)), filled(json!(null))), ("true".to_owned(), "null".to_owned()));
        assert_eq!(filled(json!("<b> & \"words\"")), "<b> & \"words\"");
    }
}
