//! Owns chat models: their requests and replies, over any OpenAI-compatible server, from a recording, or from
//! a script.
//!
//! [`HttpModel`] sends one request. [`RetryingModel`] sends it within a [`RunBudget`], bounds the requests in
//! flight, and retries failures that may pass. [`RecordedModel`] never asks again for a reply that it has.
//! [`connect`] combines the first two, and [`ask_and_repair`] asks for replies of a given form. The crate
//! never reads the environment or the machine's clock.

mod ask;
mod budget;
mod chat;
mod error;
mod extract;
mod http;
mod model;
mod recorded;
mod recording;
mod retry;
mod scripted;
mod secret;

use std::num::NonZeroUsize;
use std::sync::Arc;

pub use self::ask::{ModelSource, ReplySource, ask_and_repair};
pub use self::budget::{BudgetLimits, Prices, RunBudget, UsageCounts, UsageReport, max_usage};
pub use self::chat::{
    ChatReply, ChatRequest, FinishReason, Identity, JsonMode, MaxTokensField, Message, OutputSchema,
    RequestOrigin, Sampling, Tool, ToolCall, Usage,
};
pub use self::error::{BudgetExhausted, ChatError, SettingsError};
pub use self::extract::{NoJson, json_in};
pub use self::http::{HttpModel, HttpSettings};
pub use self::model::{BoxFuture, ChatModel};
pub use self::recorded::{RecordedModel, ReplayModel};
pub use self::recording::{Recording, RecordingError, RecordingFault, RequestKey};
pub use self::retry::{RetrySettings, RetryingModel};
pub use self::scripted::ScriptedModel;
pub use self::secret::Secret;

/// Makes a model that retries failures that may pass, and keeps within a budget.
///
/// `max_in_flight` bounds the requests that wait for a reply at the same time. Wrap the result in
/// [`RecordedModel`] to keep the replies.
///
/// ```no_run
/// use std::{num::NonZeroUsize, sync::Arc};
///
/// use diorama_llm::*;
///
/// # async fn ask() -> Result<(), Box<dyn std::error::Error>> {
/// let recording = Arc::new(Recording::open("replies.jsonl")?);
/// let limits = BudgetLimits { max_tokens: Some(5_000_000), max_cost: None };
/// let budget = RunBudget::new(limits, Prices::default(), recording.usage())?;
/// let settings = HttpSettings::new("http://127.0.0.1:8000", "SmolLM2-135M-Instruct");
/// let max_in_flight = NonZeroUsize::new(64).ok_or("no requests at all")?;
/// let model = connect(settings, RetrySettings::default(), None, max_in_flight, &budget)?;
/// let model = RecordedModel::new(model, recording, Arc::clone(&budget));
///
/// let origin = RequestOrigin { step: "domain".to_owned(), row: 0, attempt: 0 };
/// let request = ChatRequest::new(origin, vec![Message::user("Propose a domain.")], Sampling::up_to(200));
/// println!("{}", model.chat(&request).await?.content);
/// println!("{} tokens", budget.report().total.usage.total());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns an error if the settings or the key cannot be used.
pub fn connect(
    settings: HttpSettings,
    retries: RetrySettings,
    key: Option<Secret>,
    max_in_flight: NonZeroUsize,
    budget: &Arc<RunBudget>,
) -> Result<RetryingModel<HttpModel>, SettingsError> {
    let model = HttpModel::new(settings, key)?;
    Ok(RetryingModel::new(model, retries, max_in_flight, Arc::clone(budget)))
}
