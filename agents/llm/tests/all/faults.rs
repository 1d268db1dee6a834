//! Owns the tests of 200 requests under each fault at 20 %. All get an answer, and the counts match the
//! server's.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use diorama_llm::{
    ChatModel, ChatRequest, HttpModel, HttpSettings, JsonMode, Message, OutputSchema, RequestOrigin,
    RetrySettings, RetryingModel, RunBudget, Sampling, Usage, UsageCounts, UsageReport,
};
use diorama_model_server::{Answer, Fault, ModelServer, RetryAfter, Script, ServerCounts, UsageField};
use serde_json::{Value as Json, json};
use tokio::task::JoinSet;

const REQUESTS: u64 = 200;

/// Makes a server that returns, as JSON, the number in the last message.
fn script(faults: Vec<(Fault, f64)>) -> Script {
    let answer = |body: &Json| {
        let words = body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
        let number: u64 = words.rsplit(' ').next().unwrap().parse().unwrap();
        Answer::text(json!({ "number": number }).to_string())
    };
    Script { faults, seed: 7, ..Script::new(answer) }
}

fn request(row: u64, attempt: u32) -> ChatRequest {
    let origin = RequestOrigin { step: "count".to_owned(), row, attempt };
    let request =
        ChatRequest::new(origin, vec![Message::user(format!("the number {row}"))], Sampling::up_to(64));
    let schema = OutputSchema { name: "number".to_owned(), schema: json!({ "type": "object" }) };
    ChatRequest { schema: Some(schema), ..request }
}

/// Asks until the content is right, as an agent does. The layers below retry other failures.
async fn answer(model: Arc<impl ChatModel>, row: u64) -> u64 {
    for attempt in 0.. {
        let reply = model.chat(&request(row, attempt)).await.unwrap();
        if let Some(number) = reply.json().ok().and_then(|json| json["number"].as_u64()) {
            return number;
        }
    }
    unreachable!("attempts have no end")
}

/// Runs all requests, and returns the counts of both sides.
async fn run(script: Script, timeout: Duration) -> (UsageReport, ServerCounts) {
    let server = ModelServer::start(script).await.unwrap();
    let settings = HttpSettings {
        timeout,
        json_mode: JsonMode::JsonObject,
        ..HttpSettings::new(server.url(), "scripted")
    };
    let budget = RunBudget::unlimited();
    let retries = RetrySettings {
        attempts: 20,
        min_delay: Duration::ZERO,
        max_delay: Duration::ZERO,
        on_first_failure: None,
    };
    let max_in_flight = NonZeroUsize::new(64).unwrap();
    let model = HttpModel::new(settings, None).unwrap();
    let model = Arc::new(RetryingModel::new(model, retries, max_in_flight, Arc::clone(&budget)));
    let mut tasks = JoinSet::new();
    for row in 0..REQUESTS {
        let model = Arc::clone(&model);
        tasks.spawn(async move { (row, answer(model, row).await) });
    }
    let mut answers = tasks.join_all().await;
    answers.sort_unstable();
    assert_eq!(answers, (0..REQUESTS).map(|row| (row, row)).collect::<Vec<_>>());
    (budget.report(), server.counts())
}

fn agree(report: &UsageReport, served: &ServerCounts) {
    let total = &report.total;
    assert_eq!(
        (total.calls, total.unknown_calls, total.usage),
        (
            served.calls,
            served.lost,
            Usage { input_tokens: served.input_tokens, output_tokens: served.output_tokens }
        )
    );
    assert_eq!(report.steps["count"], *total);
}

/// Effect of a fault on an agent.
#[derive(PartialEq)]
enum FaultEffect {
    /// The layers send the request again, and the agent notices nothing.
    Retried,
    /// The agent gets a reply that it cannot use.
    Useless,
    /// The agent gets a usable reply.
    Nothing,
}

async fn check(fault: Fault, timeout: Duration, seen: FaultEffect) {
    let (report, served) = run(script(vec![(fault, 0.2)]), timeout).await;
    agree(&report, &served);
    let faults: u64 = served.faults.values().sum();
    assert!((REQUESTS / 10..REQUESTS / 2).contains(&faults), "{faults} of {} calls", served.calls);
    let retries = if seen == FaultEffect::Retried { faults } else { 0 };
    let again = if seen == FaultEffect::Useless { faults } else { 0 };
    assert_eq!(
        (report.total.retries, report.total.calls),
        (retries, REQUESTS + retries + again),
        "{fault:?}"
    );
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_of_the_server_are_asked_again() {
    for after in [RetryAfter::Unsaid, RetryAfter::Seconds(0), RetryAfter::Date] {
        check(Fault::RateLimit(after), LONG, FaultEffect::Retried).await;
    }
    for status in [408, 409, 500, 502, 503] {
        check(Fault::Error(status), LONG, FaultEffect::Retried).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replies_that_never_come_are_asked_again() {
    check(Fault::Hang, Duration::from_secs(1), FaultEffect::Retried).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replies_that_come_in_part_are_asked_again() {
    for fault in [Fault::Cut, Fault::CutBody, Fault::CutJson, Fault::NoChoices] {
        check(fault, LONG, FaultEffect::Retried).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_model_says_is_handed_on() {
    check(Fault::Prose, LONG, FaultEffect::Nothing).await;
    check(Fault::WrongSchema, LONG, FaultEffect::Useless).await;
    check(Fault::Refusal, LONG, FaultEffect::Useless).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_faults_at_once_lose_nothing() {
    let (report, served) = run(script(Fault::ALL_BUT_HANG.map(|kind| (kind, 0.05)).to_vec()), LONG).await;
    agree(&report, &served);
    assert!(served.faults.len() >= 9, "{:?}", served.faults);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_without_usage_are_counted_apart() {
    let (report, served) = run(Script { usage: UsageField::Absent, ..script(Vec::new()) }, LONG).await;
    agree(&report, &served);
    let expect = UsageCounts {
        calls: REQUESTS,
        unknown_calls: REQUESTS,
        unknown_usage: report.total.unknown_usage,
        ..UsageCounts::default()
    };
    assert_eq!(report.total, expect);
    assert_eq!(report.total.unknown_usage.output_tokens, REQUESTS * 64);
}
