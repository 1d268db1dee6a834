//! An API on one line, as the prompts of nested plans show it: its arguments, and what its reply gives.

use serde::Serialize;
use serde_json::Value as Json;

use crate::episode::Episode;
use crate::plan::ApiSignature;
use crate::toolbox::Document;
use crate::types::leaves;

/// An API as a prompt shows it.
#[derive(Serialize)]
pub(crate) struct ShownApi {
    /// Its name.
    name: String,
    /// `Name(argument, ..) -> property, ..`.
    form: String,
    description: String,
    /// JSON Schema of its arguments.
    parameters: Json,
}

impl ShownApi {
    /// Shows an API with the properties of its reply.
    pub(crate) fn new(document: &Document, signature: &ApiSignature) -> Self {
        let outputs = signature.outputs.join(", ");
        let arrow = if outputs.is_empty() { "" } else { " -> " };
        let Document { name, description, parameters } = document.clone();
        let form = format!("{name}({}){arrow}{outputs}", document.positions().join(", "));
        Self { name, form, description, parameters }
    }
}

/// Shows APIs with the properties of their replies, where the environment knows the schemas.
pub(crate) fn show_apis<'a>(
    episode: &'a Episode<'_>,
    documents: impl IntoIterator<Item = &'a Document>,
) -> impl Iterator<Item = ShownApi> {
    documents.into_iter().map(|document| ShownApi::new(document, &signature(episode, document)))
}

/// An API with the properties of its reply, where the environment knows the schema.
pub(crate) fn signature(episode: &Episode<'_>, document: &Document) -> ApiSignature {
    let schema = episode.reply_schema(&document.name).unwrap_or_default();
    let outputs = leaves(&schema).into_iter().map(|(name, _)| name.to_owned()).collect();
    ApiSignature { api: document.name.clone(), outputs }
}
