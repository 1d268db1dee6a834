//! The books of a run and its budget: what may be spent is reserved before a request is sent, and settled when it ends.
//!
//! Books hold whole tokens and nothing else; cost is made from them, so that the order of replies cannot change it.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::sync::Notify;

use crate::chat::Usage;
use crate::error::Spent;

/// What a million tokens cost, in any one currency.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prices {
    /// A million tokens that are sent.
    pub input: f64,
    /// A million tokens that come back.
    pub output: f64,
}

impl Prices {
    /// Says what tokens cost.
    pub fn cost(self, usage: Usage) -> f64 {
        (usage.input_tokens as f64 * self.input + usage.output_tokens as f64 * self.output) / 1e6
    }
}

/// What a run may spend; what is absent has no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Tokens, sent and received together.
    pub max_tokens: Option<u64>,
    /// Money, in the currency of the prices.
    pub max_cost: Option<f64>,
}

/// A budget or price that cannot be kept to.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BudgetError {
    /// A number that is none.
    #[error("{what} is {found}; expected a finite number of 0 or more")]
    Number {
        /// Which.
        what: &'static str,
        /// Its value.
        found: f64,
    },
    /// A bound on cost without prices.
    #[error("a bound on cost needs prices; give those of a million input and output tokens")]
    NoPrices,
}

/// The budget has no room for a request.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Exhausted {
    /// Of tokens.
    #[error(
        "the budget of {max} tokens has {left} left, and the next call may take {needed}; raise it and resume"
    )]
    Tokens {
        /// The budget.
        max: u64,
        /// What is left of it.
        left: u64,
        /// The most that the call may take.
        needed: u64,
    },
    /// Of money.
    #[error(
        "the budget of {max} has {left:.6} left, and the next call may cost {needed:.6}; raise it and resume"
    )]
    Cost {
        /// The budget.
        max: f64,
        /// What is left of it.
        left: f64,
        /// The most that the call may cost.
        needed: f64,
    },
}

/// What one stage, or the whole run, has asked and spent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Requests that were sent, each attempt counted.
    pub calls: u64,
    /// Of those, requests whose cost is not known: the reply was lost, or came without usage.
    pub unknown_calls: u64,
    /// What servers reported.
    pub usage: Usage,
    /// The most that calls of unknown cost can have taken; the budget counts it as spent.
    pub unknown_usage: Usage,
    /// Attempts after the first of a request.
    pub retries: u64,
    /// Requests that an earlier run had sent without getting the reply, and that were sent again.
    pub repeats: u64,
    /// Replies that came from the cassette, without a call.
    pub replayed: u64,
    /// What those had taken when they were recorded; not counted again.
    pub replayed_usage: Usage,
}

/// What a run has asked and spent so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Books {
    /// All of it.
    pub total: Account,
    /// By stage.
    pub stages: BTreeMap<String, Account>,
    /// What an earlier part of the run had spent.
    pub before: Usage,
    /// The cost of what servers reported in this run.
    pub cost: f64,
    /// The most that calls of unknown cost can have cost.
    pub unknown_cost: f64,
}

/// Keeps the books of a run and sees to it that its budget holds.
#[derive(Debug)]
pub struct Ledger {
    budget: Budget,
    prices: Prices,
    before: Usage,
    state: Mutex<State>,
    settled: Notify,
}

#[derive(Debug, Default)]
struct State {
    total: Account,
    stages: BTreeMap<String, Account>,
    reserved: Usage,
}

impl State {
    fn note(&mut self, stage: &str, note: impl Fn(&mut Account)) {
        note(&mut self.total);
        if let Some(account) = self.stages.get_mut(stage) {
            note(account);
        } else {
            note(self.stages.entry(stage.to_owned()).or_default());
        }
    }
}

/// Whether a request fits into the budget.
enum Room {
    Now,
    /// It may, when requests in flight turn out to take less than they reserve.
    Perhaps,
    Never(Exhausted),
}

impl Ledger {
    /// Opens books. `before` is what an earlier part of the run has spent, as a [`Cassette`](crate::Cassette) knows it.
    pub fn new(budget: Budget, prices: Prices, before: Usage) -> Result<Arc<Self>, BudgetError> {
        let numbers = [
            ("the price of input", Some(prices.input)),
            ("the price of output", Some(prices.output)),
            ("the bound on cost", budget.max_cost),
        ];
        for (what, found) in numbers {
            if let Some(found) = found.filter(|number| !number.is_finite() || *number < 0.0) {
                return Err(BudgetError::Number { what, found });
            }
        }
        if budget.max_cost.is_some() && prices == Prices::default() {
            return Err(BudgetError::NoPrices);
        }
        Ok(Arc::new(Self { budget, prices, before, state: Mutex::default(), settled: Notify::new() }))
    }

    /// Opens books without a bound.
    pub fn unbounded() -> Arc<Self> {
        Arc::new(Self {
            budget: Budget::default(),
            prices: Prices::default(),
            before: Usage::default(),
            state: Mutex::default(),
            settled: Notify::new(),
        })
    }

    /// Says what has been asked and spent so far.
    pub fn books(&self) -> Books {
        let state = self.state();
        Books {
            total: state.total.clone(),
            stages: state.stages.clone(),
            before: self.before,
            cost: self.prices.cost(state.total.usage),
            unknown_cost: self.prices.cost(state.total.unknown_usage),
        }
    }

    /// Sets aside the most that a request can take. Waits for requests in flight where their end may make room.
    pub(crate) async fn reserve(
        self: &Arc<Self>,
        stage: &str,
        most: Usage,
    ) -> Result<Reservation, Exhausted> {
        loop {
            // Listening starts before the books are read, so that no settlement in between is missed.
            let mut settled = pin!(self.settled.notified());
            settled.as_mut().enable();
            {
                let mut state = self.state();
                match self.room(&state, most) {
                    Room::Never(exhausted) => return Err(exhausted),
                    Room::Now => {
                        state.reserved = state.reserved.plus(most);
                        let ledger = Arc::clone(self);
                        return Ok(Reservation {
                            ledger,
                            stage: stage.to_owned(),
                            most,
                            ended: Spent::Unknown,
                        });
                    }
                    Room::Perhaps => {}
                }
            }
            settled.await;
        }
    }

    pub(crate) fn note(&self, stage: &str, note: impl Fn(&mut Account)) {
        self.state().note(stage, note);
    }

    fn room(&self, state: &State, most: Usage) -> Room {
        let spent = self.before.plus(state.total.usage).plus(state.total.unknown_usage);
        let held = spent.plus(state.reserved);
        let mut room = Room::Now;
        if let Some(max) = self.budget.max_tokens {
            if spent.plus(most).total() > max {
                let left = max.saturating_sub(spent.total());
                return Room::Never(Exhausted::Tokens { max, left, needed: most.total() });
            }
            if held.plus(most).total() > max {
                room = Room::Perhaps;
            }
        }
        if let Some(max) = self.budget.max_cost {
            if self.prices.cost(spent.plus(most)) > max {
                let left = (max - self.prices.cost(spent)).max(0.0);
                return Room::Never(Exhausted::Cost { max, left, needed: self.prices.cost(most) });
            }
            if self.prices.cost(held.plus(most)) > max {
                room = Room::Perhaps;
            }
        }
        room
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is set aside for one request. Dropped unsettled, as when the request is cancelled, it counts as of unknown cost.
#[derive(Debug)]
pub(crate) struct Reservation {
    ledger: Arc<Ledger>,
    stage: String,
    most: Usage,
    ended: Spent,
}

impl Reservation {
    pub(crate) fn settle(mut self, spent: Spent) {
        self.ended = spent;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // Under one lock: between the two, what was taken would be neither reserved nor spent, and others would take it again.
        let mut state = self.ledger.state();
        state.reserved.input_tokens -= self.most.input_tokens;
        state.reserved.output_tokens -= self.most.output_tokens;
        state.note(&self.stage, |account| {
            account.calls += 1;
            match self.ended {
                Spent::Nothing => {}
                Spent::Known(usage) => account.usage = account.usage.plus(usage),
                Spent::Unknown => {
                    account.unknown_calls += 1;
                    account.unknown_usage = account.unknown_usage.plus(self.most);
                }
            }
        });
        drop(state);
        self.ledger.settled.notify_waiters();
    }
}
