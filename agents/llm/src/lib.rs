//! Chat models: what is sent to them and comes back, over any OpenAI-compatible server, from a recording, or from a script.
//!
//! [`HttpModel`] makes one request. Around it stand [`Metered`] (the budget: reserves before it sends), [`Retrying`] (asks again
//! where that can help, and for no more at once than the server bears) and [`Recorded`] (what has been answered is never asked
//! again). [`connect`] puts the first three together. The crate never reads the environment or the machine's clock.

mod cassette;
mod chat;
mod error;
mod extract;
mod http;
mod ledger;
mod limiter;
mod metered;
mod recorded;
mod retry;
mod scripted;
mod secret;

use std::num::NonZeroUsize;
use std::sync::Arc;

pub use self::cassette::{Cassette, CassetteError, Contents, Durability, Key};
pub use self::chat::{
    ChatModel, ChatReply, ChatRequest, FinishReason, Format, Identity, Message, OutputSchema, Place,
    Sampling, Soon, Tool, ToolCall, ToolChoice, Usage,
};
pub use self::error::{Again, ChatError, Spent};
pub use self::extract::{NoJson, json_in};
pub use self::http::{Fallback, HttpModel, HttpSettings, LengthField, SettingsError};
pub use self::ledger::{Account, Books, Budget, BudgetError, Exhausted, Ledger, Prices};
pub use self::limiter::{Limiter, Permit};
pub use self::metered::{Metered, most_usage};
pub use self::recorded::{Recorded, Replay};
pub use self::retry::{Clock, MachineClock, RetryPolicy, Retrying};
pub use self::scripted::{ScriptedClock, ScriptedModel};
pub use self::secret::Secret;

/// Makes a model that asks again, adapts how much it asks at once, and keeps to the ledger's budget.
///
/// `ceiling` is the most requests in flight. Wrap the result in [`Recorded`] to keep the replies.
///
/// ```no_run
/// use std::{num::NonZeroUsize, sync::Arc};
///
/// use diorama_llm::*;
///
/// # async fn ask() -> Result<(), Box<dyn std::error::Error>> {
/// let cassette = Arc::new(Cassette::open("replies.jsonl", Durability::Process)?);
/// let budget = Budget { max_tokens: Some(5_000_000), max_cost: None };
/// let ledger = Ledger::new(budget, Prices::default(), cassette.contents().usage)?;
/// let settings = HttpSettings::new("http://127.0.0.1:8000", "SmolLM2-135M-Instruct");
/// let ceiling = NonZeroUsize::new(64).ok_or("no requests at all")?;
/// let model = connect(settings, None, RetryPolicy::default(), ceiling, &ledger)?;
/// let model = Recorded::new(model, cassette, Arc::clone(&ledger));
///
/// let place = Place { stage: "domain".to_owned(), slot: 0, attempt: 0 };
/// let request = ChatRequest::new(place, vec![Message::user("Propose a domain.")], Sampling::up_to(200));
/// println!("{}", model.chat(&request).await?.content);
/// println!("{} tokens", ledger.books().total.usage.total());
/// # Ok(())
/// # }
/// ```
pub fn connect(
    settings: HttpSettings,
    key: Option<Secret>,
    policy: RetryPolicy,
    ceiling: NonZeroUsize,
    ledger: &Arc<Ledger>,
) -> Result<Retrying<Metered<HttpModel>>, SettingsError> {
    let model = Metered::new(HttpModel::new(settings, key)?, Arc::clone(ledger));
    Ok(Retrying::new(model, policy, Limiter::new(ceiling), Arc::clone(ledger)))
}
