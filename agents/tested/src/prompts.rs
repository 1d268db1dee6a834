//! Prompts: files under `agents/prompts/`, rendered with what a role is given.
//!
//! A file is cut into messages at lines of `<<system>>`, `<<user>>` and `<<assistant>>` before anything is filled in, so that
//! no user, document or reply can open a message of its own. A bound keeps templates from running on.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use diorama_llm::Message;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

/// Instructions that one prompt may take: enough for some thousand APIs.
const FUEL: u64 = 2_000_000;

/// A prompt that cannot be filled in: a fault of its file.
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
    "authoring/deeds",
    "authoring/domain",
    "authoring/fields",
    "authoring/mend",
    "authoring/rehearsal",
    "authoring/repair",
    "authoring/resources",
    "authoring/rules",
    "authoring/scenarios",
    "authoring/titles",
    "authoring/whole",
    "deps/planner",
    "deps/replan",
    "ending/report",
    "offline/answer",
    "offline/planner",
    "react/agent",
    "reflexion/judge",
    "restgpt/caller",
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

/// Who says a part of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaker {
    System,
    User,
    Assistant,
}

/// Prompts that are ready to be filled in.
#[derive(Debug)]
pub struct Prompts {
    templates: Environment<'static>,
    /// By prompt: who says which template.
    parts: BTreeMap<String, Vec<(Speaker, String)>>,
}

static PROMPTS: LazyLock<Result<Prompts, PromptError>> =
    LazyLock::new(|| Prompts::new(FILES.iter().copied()));

impl Prompts {
    /// Reads prompts: the name and the text of each, cut at lines such as `<<system>>`.
    ///
    /// # Errors
    /// The first text that is no template.
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, PromptError> {
        let mut templates = Environment::new();
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        templates.set_fuel(Some(FUEL));
        templates.set_trim_blocks(true);
        templates.set_lstrip_blocks(true);
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

    /// The messages of a prompt, filled in.
    ///
    /// # Errors
    /// When there is none of the name, or the input lacks something that it names.
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

/// The messages of a prompt, filled in.
///
/// # Errors
/// When the input lacks something that the file names.
pub fn render(name: &str, input: &impl Serialize) -> Result<Vec<Message>, PromptError> {
    PROMPTS.as_ref().map_err(Clone::clone)?.render(name, input)
}
