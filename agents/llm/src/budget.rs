//! Owns the counter of a run's requests, tokens and cost, which reserves tokens before a request and settles
//! them after it.
//!
//! It counts whole tokens and computes the cost from the sums, so the order of replies cannot change it.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::sync::Notify;

use crate::chat::{ChatReply, ChatRequest, Message, Usage};
use crate::error::{BudgetExhausted, ChatError, SettingsError};
use crate::model::ChatModel;

/// Tokens that a chat template adds to a request, to each message, and to a list of tools. The values exceed
/// those of known models.
const TEMPLATE_TOKENS: u64 = 64;
const TEMPLATE_MESSAGE_TOKENS: u64 = 16;
const TEMPLATE_TOOLS_TOKENS: u64 = 512;
/// Tokens of the instruction that puts a schema into the prompt.
const SCHEMA_INSTRUCTION_TOKENS: u64 = 256;

/// Prices of a million tokens, in any one currency.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prices {
    /// Price of a million input tokens.
    pub input: f64,
    /// Price of a million output tokens.
    pub output: f64,
}

impl Prices {
    /// Computes the cost of tokens.
    pub fn cost(self, usage: Usage) -> f64 {
        (usage.input_tokens as f64 * self.input + usage.output_tokens as f64 * self.output) / 1e6
    }
}

/// Limits of a run. None means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BudgetLimits {
    /// Tokens, input and output together.
    pub max_tokens: Option<u64>,
    /// Money, in the currency of the prices.
    pub max_cost: Option<f64>,
}

/// Counts of one step, or of the whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageCounts {
    /// Requests that were sent, each attempt counted.
    pub calls: u64,
    /// Requests of unknown cost: the reply was lost, or came without usage.
    pub unknown_calls: u64,
    /// Tokens that servers reported.
    pub usage: Usage,
    /// Upper bound of the tokens of those requests. The budget counts it as spent.
    pub unknown_usage: Usage,
    /// Attempts after the first of each request.
    pub retries: u64,
    /// Requests that an earlier run sent without receiving a reply, and that this run sent again.
    pub repeats: u64,
    /// Replies that came from the recording, without a request.
    pub replayed: u64,
    /// Tokens of those replies when they were recorded. This run does not spend them again.
    pub replayed_usage: Usage,
}

/// Report of a run's requests and spending so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct UsageReport {
    /// Counts of the whole run.
    pub total: UsageCounts,
    /// Counts by step.
    pub steps: BTreeMap<String, UsageCounts>,
    /// Tokens that an earlier part of the run has spent.
    pub before: Usage,
    /// Cost of the tokens that servers reported in this run.
    pub cost: f64,
    /// Upper bound of the cost of the requests of unknown cost.
    pub unknown_cost: f64,
}

/// Counter of a run that keeps its spending within its limits.
#[derive(Debug, Default)]
pub struct RunBudget {
    limits: BudgetLimits,
    prices: Prices,
    before: Usage,
    state: Mutex<State>,
    settled: Notify,
}

#[derive(Debug, Default)]
struct State {
    total: UsageCounts,
    steps: BTreeMap<String, UsageCounts>,
    reserved: Usage,
}

impl State {
    fn count(&mut self, step: &str, add: impl Fn(&mut UsageCounts)) {
        add(&mut self.total);
        if !self.steps.contains_key(step) {
            self.steps.insert(step.to_owned(), UsageCounts::default());
        }
        self.steps.get_mut(step).into_iter().for_each(add);
    }
}

impl RunBudget {
    /// Makes a counter. `before` is the usage of an earlier part of the run, as
    /// [`Recording::usage`](crate::Recording::usage) returns it.
    ///
    /// # Errors
    /// Returns an error if a limit or price is negative or not finite, or a limit on cost has no prices.
    pub fn new(limits: BudgetLimits, prices: Prices, before: Usage) -> Result<Arc<Self>, SettingsError> {
        let numbers = [
            ("the price of input", Some(prices.input)),
            ("the price of output", Some(prices.output)),
            ("the bound on cost", limits.max_cost),
        ];
        for (what, found) in numbers {
            if let Some(found) = found.filter(|number| !number.is_finite() || *number < 0.0) {
                return Err(SettingsError::Number { what, found });
            }
        }
        if limits.max_cost.is_some() && prices == Prices::default() {
            return Err(SettingsError::NoPrices);
        }
        Ok(Arc::new(Self { limits, prices, before, ..Self::default() }))
    }

    /// Makes a counter without limits.
    pub fn unlimited() -> Arc<Self> {
        Arc::default()
    }

    /// Reports the counts so far.
    pub fn report(&self) -> UsageReport {
        let state = self.state();
        UsageReport {
            total: state.total.clone(),
            steps: state.steps.clone(),
            before: self.before,
            cost: self.prices.cost(state.total.usage),
            unknown_cost: self.prices.cost(state.total.unknown_usage),
        }
    }

    /// Sends one request within the limits. If it does not fit, it waits as long as requests in flight may
    /// release tokens.
    ///
    /// # Errors
    /// Returns the model's errors, and [`ChatError::Exhausted`] if the request cannot fit.
    pub async fn send(&self, model: &dyn ChatModel, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let reservation = self.reserve(request).await?;
        let result = model.chat(request).await;
        reservation.settle(result.as_ref().map_or_else(ChatError::usage, |reply| reply.usage));
        result
    }

    async fn reserve<'a>(&'a self, request: &'a ChatRequest) -> Result<Reservation<'a>, BudgetExhausted> {
        let most = max_usage(request);
        loop {
            // The listener is registered before the sums are read, so that it misses no settlement in
            // between.
            let mut settled = pin!(self.settled.notified());
            settled.as_mut().enable();
            {
                let mut state = self.state();
                let spent = self.before.plus(state.total.usage).plus(state.total.unknown_usage);
                // A request that does not fit beside the settled ones never will.
                self.check(spent, most)?;
                if self.check(spent.plus(state.reserved), most).is_ok() {
                    state.reserved = state.reserved.plus(most);
                    let step = &request.origin.step;
                    return Ok(Reservation { budget: self, step, most, spent: None });
                }
            }
            settled.await;
        }
    }

    /// Adds to the counts of a step.
    pub(crate) fn count(&self, step: &str, add: impl Fn(&mut UsageCounts)) {
        self.state().count(step, add);
    }

    /// Checks that a request of at most `most` tokens fits beside `taken`.
    fn check(&self, taken: Usage, most: Usage) -> Result<(), BudgetExhausted> {
        let after = taken.plus(most);
        if let Some(max) = self.limits.max_tokens.filter(|max| after.total() > *max) {
            let left = max.saturating_sub(taken.total());
            return Err(BudgetExhausted::Tokens { max, left, needed: most.total() });
        }
        if let Some(max) = self.limits.max_cost.filter(|max| self.prices.cost(after) > *max) {
            let left = (max - self.prices.cost(taken)).max(0.0);
            return Err(BudgetExhausted::Cost { max, left, needed: self.prices.cost(most) });
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tokens reserved for one request. If it is dropped unsettled, as when the request is cancelled, its tokens
/// count as of unknown cost.
struct Reservation<'a> {
    budget: &'a RunBudget,
    step: &'a str,
    most: Usage,
    /// Tokens that the request has spent, if they are known.
    spent: Option<Usage>,
}

impl Reservation<'_> {
    fn settle(mut self, spent: Option<Usage>) {
        self.spent = spent;
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        // One lock covers both updates. Between two locks, the tokens would be neither reserved nor spent,
        // and another request could take them.
        let mut state = self.budget.state();
        state.reserved.input_tokens -= self.most.input_tokens;
        state.reserved.output_tokens -= self.most.output_tokens;
        state.count(self.step, |counts| {
            counts.calls += 1;
            match self.spent {
                Some(usage) => counts.usage = counts.usage.plus(usage),
                None => {
                    counts.unknown_calls += 1;
                    counts.unknown_usage = counts.unknown_usage.plus(self.most);
                }
            }
        });
        drop(state);
        self.budget.settled.notify_waiters();
    }
}

/// Returns an upper bound of the tokens of a request and its reply.
///
/// A token of a byte-level vocabulary stands for at least one byte, so the bytes of the prompt bound its
/// tokens. The bound is about four times the usual count. The budget releases the surplus after the reply.
pub fn max_usage(request: &ChatRequest) -> Usage {
    let bytes = |text: &str| text.len() as u64;
    let messages = request.messages.iter().map(|message| {
        let content = match message {
            Message::System { content } | Message::User { content } => bytes(content),
            Message::Assistant { content, tool_calls } => {
                let calls = tool_calls
                    .iter()
                    .map(|call| bytes(&call.id) + bytes(&call.name) + bytes(&call.arguments));
                bytes(content) + calls.map(|call| call + TEMPLATE_MESSAGE_TOKENS).sum::<u64>()
            }
            Message::Tool { tool_call_id, content } => bytes(tool_call_id) + bytes(content),
        };
        content + TEMPLATE_MESSAGE_TOKENS
    });
    let tools = request.tools.iter().map(|tool| {
        bytes(&tool.name)
            + bytes(&tool.description)
            + bytes(&tool.parameters.to_string())
            + TEMPLATE_MESSAGE_TOKENS
    });
    let schema =
        request.schema.as_ref().map(|schema| bytes(&schema.schema.to_string()) + SCHEMA_INSTRUCTION_TOKENS);
    let input = messages.sum::<u64>() + tools.sum::<u64>() + schema.unwrap_or_default();
    let template = TEMPLATE_TOKENS + if request.tools.is_empty() { 0 } else { TEMPLATE_TOOLS_TOKENS };
    Usage { input_tokens: input + template, output_tokens: u64::from(request.sampling.max_reply_tokens) }
}
