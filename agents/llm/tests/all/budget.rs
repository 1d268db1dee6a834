//! Owns the tests of the budget: a run never spends more than its limits.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use diorama_llm::{
    BoxFuture, BudgetExhausted, BudgetLimits, ChatError, ChatModel, ChatReply, ChatRequest, Identity,
    Message, Prices, RequestOrigin, RunBudget, Sampling, ScriptedModel, SettingsError, Usage, UsageCounts,
    max_usage,
};
use tokio::task::JoinSet;

/// Returns the value of a future if it is ready without waiting.
fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

fn request(row: u64) -> ChatRequest {
    let origin = RequestOrigin { step: format!("step {}", row % 2), row, attempt: 0 };
    ChatRequest::new(origin, vec![Message::user("Go.")], Sampling::up_to(100))
}

/// A model that delays some replies and reports no tokens up to the maximum.
struct Slow;

impl ChatModel for Slow {
    fn identity(&self) -> &Identity {
        unreachable!("nobody asks")
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ChatError>> {
        Box::pin(async move {
            let (row, most) = (request.origin.row, max_usage(request));
            for _ in 0..row % 7 {
                tokio::task::yield_now().await;
            }
            let usage = (row % 5 != 0).then_some(Usage {
                input_tokens: most.input_tokens * (row % 3) / 2,
                output_tokens: most.output_tokens * (row % 4) / 3,
            });
            Ok(ChatReply { usage, ..ChatReply::text("") })
        })
    }
}

/// Sends requests until no more fits. Returns the number of replies and the errors.
async fn spend(budget: &Arc<RunBudget>) -> (u64, Vec<BudgetExhausted>) {
    let mut tasks = JoinSet::new();
    for row in 0..500 {
        let budget = Arc::clone(budget);
        tasks.spawn(async move { budget.send(&Slow, &request(row)).await });
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
    let one = max_usage(&request(0)).total();
    for max_tokens in [0, one - 1, one, 7 * one + 3, 40 * one] {
        let before = Usage { input_tokens: max_tokens / 10, output_tokens: 0 };
        let limits = BudgetLimits { max_tokens: Some(max_tokens), max_cost: None };
        let budget = RunBudget::new(limits, Prices::default(), before).unwrap();
        let (answered, refused) = spend(&budget).await;
        let total = budget.report().total;
        let spent = before.plus(total.usage).plus(total.unknown_usage).total();
        assert!(spent <= max_tokens, "{spent} of {max_tokens}");
        assert!(spent + one > max_tokens, "one more would have fitted");
        assert_eq!((total.calls, answered + refused.len() as u64), (answered, 500));
        assert!(
            refused
                .iter()
                .all(|refused| matches!(refused, BudgetExhausted::Tokens { needed, .. } if *needed == one))
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_of_money_is_used_up_and_never_overspent() {
    let prices = Prices { input: 0.15, output: 0.6 };
    let one = prices.cost(max_usage(&request(0)));
    let limits = BudgetLimits { max_tokens: None, max_cost: Some(20.5 * one) };
    let budget = RunBudget::new(limits, prices, Usage::default()).unwrap();
    let (_, refused) = spend(&budget).await;
    let report = budget.report();
    let spent = report.cost + report.unknown_cost;
    assert!(spent <= 20.5 * one && spent + one > 20.5 * one, "{spent}");
    assert!(matches!(refused[0], BudgetExhausted::Cost { max, .. } if max == 20.5 * one));
    let mut joined = UsageCounts::default();
    for account in report.steps.values() {
        joined.calls += account.calls;
        joined.unknown_calls += account.unknown_calls;
        joined.usage = joined.usage.plus(account.usage);
        joined.unknown_usage = joined.unknown_usage.plus(account.unknown_usage);
    }
    assert_eq!((joined, report.steps.len()), (report.total, 2));
}

#[tokio::test]
async fn a_call_that_is_cancelled_counts_as_of_unknown_cost() {
    let budget = RunBudget::unlimited();
    assert!(now(budget.send(&Slow, &request(6))).is_none());
    let total = budget.report().total;
    assert_eq!((total.calls, total.unknown_calls, total.unknown_usage), (1, 1, max_usage(&request(6))));
}

#[tokio::test]
async fn calls_that_were_refused_cost_nothing() {
    let refused = |_: &ChatRequest, _| {
        Err(ChatError::Failing { status: 429, said: String::new(), advice: "", retry_after: None })
    };
    let budget = RunBudget::unlimited();
    let model = ScriptedModel::new(refused);
    assert!(budget.send(&model, &request(0)).await.is_err());
    assert_eq!(budget.report().total, UsageCounts { calls: 1, ..UsageCounts::default() });
}

#[test]
fn budgets_that_cannot_be_kept_are_refused() {
    let open = |max_cost, input| {
        let limits = BudgetLimits { max_tokens: None, max_cost };
        RunBudget::new(limits, Prices { input, output: 0.0 }, Usage::default()).map(drop)
    };
    assert!(matches!(open(Some(1.0), 0.0), Err(SettingsError::NoPrices)));
    assert!(matches!(open(Some(-1.0), 1.0), Err(SettingsError::Number { what: "the bound on cost", .. })));
    assert!(matches!(open(None, f64::NAN), Err(SettingsError::Number { what: "the price of input", .. })));
    assert!(open(Some(1.0), 1.0).is_ok());
}
