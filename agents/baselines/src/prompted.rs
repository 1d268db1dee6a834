//! Owns the baselines of Reverse Chain's paper (section 4): a plan of nested calls in one reply.
//!
//! Zero-shot and few-shot, each with and without chain of thought. The plan is parsed from the reply, and may
//! be executed.

use minijinja::context;

use crate::episode::{Episode, Role};
use crate::form::{ShownApi, signature};
use crate::plan::{ApiSignature, Execution, conclude, find};
use crate::role_model::{ParseError, Stop};

const ZERO_SHOT: Role = Role { name: "plan", prompt: "reverse-chain/zero-shot" };
const FEW_SHOT: Role = Role { name: "plan", prompt: "reverse-chain/few-shot" };

/// Works on the open goal, and returns the answer in words.
pub(crate) async fn answer(
    episode: &mut Episode<'_>,
    has_example: bool,
    has_steps: bool,
    execution: Execution,
) -> Result<String, Stop> {
    let documents = episode.documents();
    let signatures: Vec<ApiSignature> =
        documents.iter().map(|document| signature(episode, document)).collect();
    let shown = documents.iter().zip(&signatures);
    let apis: Vec<ShownApi> = shown.map(|(document, signature)| ShownApi::new(document, signature)).collect();
    let role = if has_example { FEW_SHOT } else { ZERO_SHOT };
    let parse = |reply: &str| {
        find(reply, &signatures)
            .ok_or_else(|| ParseError::expected("a call such as Outer(a=Inner(b='x'), n=2)", reply))
    };
    let plan = episode.ask(role, context! { apis, thoughts => has_steps }, parse).await?;
    conclude(episode, &plan, execution).await
}
