//! The prompts of the pipeline's agents: files of the project, or variants of them.

use std::collections::BTreeMap;

use diorama_baselines::prompts::{PromptError, Prompts};
use diorama_llm::Message;
use serde::Serialize;

use crate::scenarios::speech::SPEECH;

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
        SPEECH.voices.iter().for_each(|persona| {
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
    pub fn hash(&self) -> &str {
        &self.hash
    }
}
