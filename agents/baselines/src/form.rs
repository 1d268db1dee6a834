//! One-line forms of APIs for the prompts of nested plans: the arguments, and the properties of the reply.

use serde::Serialize;
use serde_json::Value as Json;

use crate::episode::Episode;
use crate::plan::ApiSignature;
use crate::toolbox::Document;
use crate::types::leaves;

/// An API in a prompt.
#[derive(Serialize)]
pub(crate) struct ShownApi {
    /// Its name.
    name: String,
    /// The form `Name(argument, ..) -> property, ..`.
    form: String,
    description: String,
    /// JSON Schema of its arguments.
    parameters: Json,
}

impl ShownApi {
    /// Makes the prompt entry of an API with the properties of its reply.
    pub(crate) fn new(document: &Document, signature: &ApiSignature) -> Self {
        let outputs = signature.outputs.join(", ");
        let arrow = if outputs.is_empty() { "" } else { " -> " };
        let Document { name, description, parameters } = document.clone();
        let form = format!("{name}({}){arrow}{outputs}", document.positions().join(", "));
        Self { name, form, description, parameters }
    }
}

/// Makes prompt entries of APIs. Reply properties are included if the environment knows the schemas.
pub(crate) fn show_apis<'a>(
    episode: &'a Episode<'_>,
    documents: impl IntoIterator<Item = &'a Document>,
) -> impl Iterator<Item = ShownApi> {
    documents.into_iter().map(|document| ShownApi::new(document, &signature(episode, document)))
}

/// Returns an API's name with its reply properties, if the environment knows the schema.
pub(crate) fn signature(episode: &Episode<'_>, document: &Document) -> ApiSignature {
    let schema = episode.reply_schema(&document.name).unwrap_or_default();
    let outputs = leaves(&schema).into_iter().map(|(name, _)| name.to_owned()).collect();
    ApiSignature { api: document.name.clone(), outputs }
}
