//! Owns the prompts of the pipeline's agents: files of the project, or variants of them.

use std::collections::BTreeMap;

use diorama_baselines::prompts::{PromptError, Prompts};
use diorama_llm::Message;
use serde::Serialize;

use crate::scenarios::speech::SPEECH;

macro_rules! files {
    ($($name:literal,)*) => {
        /// Texts of the prompts, by name.
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

/// Prompts of a run.
#[derive(Debug)]
pub struct PromptSet {
    prompts: Prompts,
    hash: String,
}

impl PromptSet {
    /// Compiles the project's prompts. A variant replaces the prompt of its name.
    ///
    /// # Errors
    /// Returns an error if a variant is not a valid template.
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
        SPEECH.voices.iter().for_each(|persona| {
            hasher.update(persona.as_bytes());
        });
        Ok(Self { prompts: Prompts::new(files)?, hash: hasher.finalize().to_hex()[..16].to_owned() })
    }

    /// Renders the messages of a prompt.
    ///
    /// # Errors
    /// Returns an error if the input lacks a value that a variant names.
    pub fn render(&self, name: &str, input: &impl Serialize) -> Result<Vec<Message>, PromptError> {
        self.prompts.render(name, input)
    }

    /// Returns the hash over the names and texts of all prompts.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}
