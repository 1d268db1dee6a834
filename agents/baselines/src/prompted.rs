//! The baselines of Reverse Chain's paper (section 4): a plan of nested calls in one reply.
//!
//! Zero-shot and few-shot, each with and without chain of thought. The plan is parsed out of the reply, and may be carried out.

use minijinja::context;
use serde::Serialize;

use crate::episode::{Episode, Role};
use crate::plan::{ApiSignature, Execution, conclude, find};
use crate::role_model::{ParseError, Stop};
use crate::toolbox::Document;
use crate::types::leaves;

const ZERO_SHOT: Role = Role { name: "plan", prompt: "reverse-chain/zero-shot" };
const FEW_SHOT: Role = Role { name: "plan", prompt: "reverse-chain/few-shot" };

/// An API as the prompt shows it.
#[derive(Serialize)]
struct ShownApi<'a> {
    /// `Name(argument, ..) -> property, ..`.
    form: String,
    description: &'a str,
    /// JSON Schema of its arguments.
    parameters: &'a serde_json::Value,
}

/// Works on the open goal; returns the answer in words.
pub(crate) async fn answer(
    episode: &mut Episode<'_>,
    has_example: bool,
    has_steps: bool,
    execution: Execution,
) -> Result<String, Stop> {
    let documents = episode.documents();
    let signatures: Vec<ApiSignature> =
        documents.iter().map(|document| signature(episode, document)).collect();
    let apis: Vec<ShownApi<'_>> = documents
        .iter()
        .zip(&signatures)
        .map(|(document, signature)| make_shown_api(document, signature))
        .collect();
    let role = if has_example { FEW_SHOT } else { ZERO_SHOT };
    let parse = |reply: &str| {
        find(reply, &signatures)
            .ok_or_else(|| ParseError::expected("a call such as Outer(a=Inner(b='x'), n=2)", reply))
    };
    let plan = episode.ask(role, context! { apis, thoughts => has_steps }, parse).await?;
    conclude(episode, &plan, execution).await
}

/// An API with the properties of its reply, where the environment knows the schema.
fn signature(episode: &Episode<'_>, document: &Document) -> ApiSignature {
    let schema = episode.reply_schema(&document.name).unwrap_or_default();
    let outputs = leaves(&schema).into_iter().map(|(name, _)| name.to_owned()).collect();
    ApiSignature { api: document.name.clone(), outputs }
}

fn make_shown_api<'a>(document: &'a Document, signature: &ApiSignature) -> ShownApi<'a> {
    let outputs = signature.outputs.join(", ");
    let arrow = if outputs.is_empty() { "" } else { " -> " };
    ShownApi {
        form: format!("{}({}){arrow}{outputs}", document.name, document.positions().join(", ")),
        description: &document.description,
        parameters: &document.parameters,
    }
}
