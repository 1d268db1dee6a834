//! The prompts of the pipeline's agents: files of the project, or variants of them.

use std::collections::BTreeMap;

use diorama_baselines::prompts::{PromptError, Prompts};
use diorama_llm::Message;
use serde::Serialize;

macro_rules! files {
    ($($name:literal,)*) => {
        /// The prompts, by name.
        pub const FILES: &[(&str, &str)] = &[
            $(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/prompts/pipeline/", $name, ".txt"))),)*
        ];
    };
}

files! {
    "query_rewrite",
    "repair",
    "tester",
}

/// The voices that lines are written in.
pub const PERSONAS: [&str; 16] = [
    "someone in a hurry who leaves out greetings",
    "a polite older person who writes whole sentences",
    "a student who writes casually",
    "someone on a phone, short, hardly any punctuation",
    "a friendly person who says hello first",
    "a busy parent with one hand free",
    "a precise person who likes things exact",
    "someone a little annoyed, still civil",
    "someone who learned English late and keeps it simple",
    "a cheerful person",
    "an office worker who writes as in an e-mail",
    "someone tired at the end of a shift",
    "a shy person who asks carefully",
    "someone who explains why they ask, in a few words",
    "a matter-of-fact person who wastes no word",
    "someone who thinks aloud while writing",
];

/// The prompts of a run.
#[derive(Debug)]
pub struct PromptSet {
    prompts: Prompts,
    hash: String,
}

impl PromptSet {
    /// The project's prompts, and variants that stand for those of their names.
    ///
    /// # Errors
    /// When a variant is no template.
    pub fn new(variants: &BTreeMap<String, String>) -> Result<Self, PromptError> {
        let files =
            FILES.iter().map(|(name, text)| (*name, variants.get(*name).map_or(*text, String::as_str)));
        let mut hasher = blake3::Hasher::new();
        for (name, text) in files.clone() {
            hasher.update(&(name.len() as u64).to_le_bytes());
            hasher.update(name.as_bytes());
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        PERSONAS.iter().for_each(|persona| {
            hasher.update(persona.as_bytes());
        });
        Ok(Self { prompts: Prompts::new(files)?, hash: hasher.finalize().to_hex()[..16].to_owned() })
    }

    /// The messages of a prompt, filled in.
    ///
    /// # Errors
    /// When the input lacks something that a variant names.
    pub fn render(&self, name: &str, input: &impl Serialize) -> Result<Vec<Message>, PromptError> {
        self.prompts.render(name, input)
    }

    /// The hash of all of them.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }
}
