//! What is in flight and what is spent stay within their bounds.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a test may end this way")]

use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use diorama_llm::{
    Account, Budget, BudgetError, ChatError, ChatModel, ChatReply, ChatRequest, Exhausted, Identity, Ledger,
    Limiter, Message, Metered, Permit, Place, Prices, Sampling, ScriptedModel, Soon, Usage, most_usage,
};
use tokio::task::JoinSet;

/// The future's value, if it has one without waiting.
fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

fn limiter(ceiling: usize) -> Limiter {
    Limiter::new(NonZeroUsize::new(ceiling).unwrap())
}

fn take_all(limiter: &Limiter) -> Vec<Permit> {
    std::iter::from_fn(|| now(limiter.acquire())).collect()
}

#[test]
fn the_limit_doubles_until_the_ceiling_and_no_more_are_in_flight() {
    let limiter = limiter(10);
    let mut rounds = Vec::new();
    for _ in 0..4 {
        let permits = take_all(&limiter);
        rounds.push((permits.len(), limiter.limit()));
        permits.into_iter().for_each(Permit::answered);
    }
    assert_eq!(rounds, [(3, 3), (6, 6), (10, 10), (10, 10)]);
}

#[test]
fn a_round_of_refusals_cuts_once_and_after_it_a_round_of_replies_adds_one() {
    let limiter = limiter(32);
    let mut permits = take_all(&limiter);
    assert_eq!(permits.len(), 8);
    permits.pop().unwrap().refused();
    assert_eq!((limiter.limit(), now(limiter.acquire()).is_some()), (4, false));
    permits.into_iter().for_each(Permit::refused);
    assert_eq!(limiter.limit(), 4, "what was sent before the cut says nothing about what came after");
    let mut rounds = Vec::new();
    for _ in 0..3 {
        let permits = take_all(&limiter);
        rounds.push(permits.len());
        permits.into_iter().for_each(Permit::answered);
    }
    assert_eq!(rounds, [4, 5, 6]);
    for expect in [3, 1, 1] {
        take_all(&limiter).pop().unwrap().refused();
        assert_eq!(limiter.limit(), expect);
    }
    assert_eq!(take_all(&limiter).len(), 1, "one request is always allowed");
}

#[test]
fn a_cut_takes_free_turns_first() {
    let limiter = limiter(32);
    let [one, _two] = [now(limiter.acquire()).unwrap(), now(limiter.acquire()).unwrap()];
    one.refused();
    assert_eq!((limiter.limit(), take_all(&limiter).len()), (4, 3));
}

#[test]
fn whatever_happens_as_many_turns_come_back_as_the_limit_says() {
    // A fixed walk through all that can happen to turns, from a simple generator.
    let limiter = limiter(20);
    let (mut permits, mut state) = (Vec::new(), 1_u64);
    for _ in 0..20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        match (state >> 33) % 16 {
            0 => permits.pop().into_iter().for_each(Permit::refused),
            1 => drop(permits.pop()),
            2..7 => permits.pop().into_iter().for_each(Permit::answered),
            _ => permits.extend(now(limiter.acquire())),
        }
        assert!(permits.len() <= 20 && (1..=20).contains(&limiter.limit()));
    }
    permits.clear();
    assert_eq!(take_all(&limiter).len(), limiter.limit());
}

fn request(slot: u64) -> ChatRequest {
    let place = Place { stage: format!("stage {}", slot % 2), slot, attempt: 0 };
    ChatRequest::new(place, vec![Message::user("Go.")], Sampling::up_to(100))
}

/// A model that others overtake, and that takes from nothing to the most it may.
struct Slow;

impl ChatModel for Slow {
    fn identity(&self) -> &Identity {
        unreachable!("nobody asks")
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Soon<'a, Result<ChatReply, ChatError>> {
        Box::pin(async move {
            let (slot, most) = (request.place.slot, most_usage(request));
            for _ in 0..slot % 7 {
                tokio::task::yield_now().await;
            }
            let usage = (slot % 5 != 0).then_some(Usage {
                input_tokens: most.input_tokens * (slot % 3) / 2,
                output_tokens: most.output_tokens * (slot % 4) / 3,
            });
            Ok(ChatReply { usage, ..ChatReply::text("") })
        })
    }
}

/// Spends until nothing more fits; gives how many calls did.
async fn spend(ledger: &Arc<Ledger>) -> (u64, Vec<Exhausted>) {
    let model = Arc::new(Metered::new(Slow, Arc::clone(ledger)));
    let mut tasks = JoinSet::new();
    for slot in 0..500 {
        let model = Arc::clone(&model);
        tasks.spawn(async move { model.chat(&request(slot)).await });
    }
    let (mut answered, mut refused) = (0, Vec::new());
    for result in tasks.join_all().await {
        match result {
            Ok(_) => answered += 1,
            Err(ChatError::Exhausted(exhausted)) => refused.push(exhausted),
            Err(other) => unreachable!("{other}"),
        }
    }
    (answered, refused)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_of_tokens_is_used_up_and_never_overspent() {
    let one = most_usage(&request(0)).total();
    for max_tokens in [0, one - 1, one, 7 * one + 3, 40 * one] {
        let before = Usage { input_tokens: max_tokens / 10, output_tokens: 0 };
        let budget = Budget { max_tokens: Some(max_tokens), max_cost: None };
        let ledger = Ledger::new(budget, Prices::default(), before).unwrap();
        let (answered, refused) = spend(&ledger).await;
        let total = ledger.books().total;
        let spent = before.plus(total.usage).plus(total.unknown_usage).total();
        assert!(spent <= max_tokens, "{spent} of {max_tokens}");
        assert!(spent + one > max_tokens, "one more would have fitted");
        assert_eq!((total.calls, answered + refused.len() as u64), (answered, 500));
        assert!(
            refused
                .iter()
                .all(|refused| matches!(refused, Exhausted::Tokens { needed, .. } if *needed == one))
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_of_money_is_used_up_and_never_overspent() {
    let prices = Prices { input: 0.15, output: 0.6 };
    let one = prices.cost(most_usage(&request(0)));
    let budget = Budget { max_tokens: None, max_cost: Some(20.5 * one) };
    let ledger = Ledger::new(budget, prices, Usage::default()).unwrap();
    let (_, refused) = spend(&ledger).await;
    let books = ledger.books();
    let spent = books.cost + books.unknown_cost;
    assert!(spent <= 20.5 * one && spent + one > 20.5 * one, "{spent}");
    assert!(matches!(refused[0], Exhausted::Cost { max, .. } if max == 20.5 * one));
    let mut joined = Account::default();
    for account in books.stages.values() {
        joined.calls += account.calls;
        joined.unknown_calls += account.unknown_calls;
        joined.usage = joined.usage.plus(account.usage);
        joined.unknown_usage = joined.unknown_usage.plus(account.unknown_usage);
    }
    assert_eq!((joined, books.stages.len()), (books.total, 2));
}

#[tokio::test]
async fn a_call_that_is_cancelled_counts_as_of_unknown_cost() {
    let ledger = Ledger::unbounded();
    let model = Metered::new(Slow, Arc::clone(&ledger));
    assert!(now(model.chat(&request(6))).is_none());
    let total = ledger.books().total;
    assert_eq!((total.calls, total.unknown_calls, total.unknown_usage), (1, 1, most_usage(&request(6))));
}

#[tokio::test]
async fn calls_that_were_refused_cost_nothing() {
    let refused = |_: &ChatRequest, _| Err(ChatError::Busy { status: 429, said: String::new(), wait: None });
    let ledger = Ledger::unbounded();
    let model = Metered::new(ScriptedModel::new(refused), Arc::clone(&ledger));
    assert!(model.chat(&request(0)).await.is_err());
    assert_eq!(ledger.books().total, Account { calls: 1, ..Account::default() });
}

#[test]
fn budgets_that_cannot_be_kept_are_refused() {
    let open = |max_cost, input| {
        let budget = Budget { max_tokens: None, max_cost };
        Ledger::new(budget, Prices { input, output: 0.0 }, Usage::default()).map(drop)
    };
    assert_eq!(open(Some(1.0), 0.0), Err(BudgetError::NoPrices));
    assert_eq!(open(Some(-1.0), 1.0), Err(BudgetError::Number { what: "the bound on cost", found: -1.0 }));
    assert!(matches!(open(None, f64::NAN), Err(BudgetError::Number { what: "the price of input", .. })));
    assert_eq!(open(Some(1.0), 1.0), Ok(()));
}
