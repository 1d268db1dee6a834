//! Two hundred requests under each fault at 20 %: all answered, and the books agree with the server's own.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a test may end this way")]

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use diorama_llm::{
    Account, Books, ChatModel, ChatRequest, Format, HttpModel, HttpSettings, Ledger, Limiter, Message,
    Metered, OutputSchema, Place, RetryPolicy, Retrying, Sampling, ScriptedClock, Usage,
};
use diorama_model_server::{Answer, Books as Served, Fault, ModelServer, RetryAfter, Script, UsageReport};
use serde_json::{Value as Json, json};
use tokio::task::JoinSet;

const REQUESTS: u64 = 200;

/// A server that says back, as JSON, the number that the last message holds.
fn script(faults: Vec<(Fault, f64)>) -> Script {
    let answer = |body: &Json| {
        let words = body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
        let number: u64 = words.rsplit(' ').next().unwrap().parse().unwrap();
        Answer::text(json!({ "number": number }).to_string())
    };
    Script { faults, seed: 7, ..Script::new(answer) }
}

fn request(slot: u64, attempt: u32) -> ChatRequest {
    let place = Place { stage: "count".to_owned(), slot, attempt };
    let request =
        ChatRequest::new(place, vec![Message::user(format!("the number {slot}"))], Sampling::up_to(64));
    let schema =
        OutputSchema { name: "number".to_owned(), schema: json!({ "type": "object" }), strict: false };
    ChatRequest { schema: Some(schema), ..request }
}

/// Asks until the content is right, as an agent does; what the layers see to is none of its business.
async fn answer(model: Arc<impl ChatModel>, slot: u64) -> u64 {
    for attempt in 0.. {
        let reply = model.chat(&request(slot, attempt)).await.unwrap();
        if let Some(number) = reply.json().ok().and_then(|json| json["number"].as_u64()) {
            return number;
        }
    }
    unreachable!("attempts have no end")
}

/// Runs all requests, and gives both books.
async fn run(script: Script, timeout: Duration) -> (Books, Served) {
    let server = ModelServer::start(script).await.unwrap();
    let settings =
        HttpSettings { timeout, format: Format::JsonObject, ..HttpSettings::new(server.url(), "scripted") };
    let ledger = Ledger::unbounded();
    let policy = RetryPolicy { attempts: 20, ..RetryPolicy::default() };
    let limiter = Limiter::new(NonZeroUsize::new(64).unwrap());
    let model = Metered::new(HttpModel::new(settings, None).unwrap(), Arc::clone(&ledger));
    let model = Retrying::new(model, policy, limiter, Arc::clone(&ledger));
    let model = Arc::new(model.with_clock(Arc::new(ScriptedClock::default())));
    let mut tasks = JoinSet::new();
    for slot in 0..REQUESTS {
        let model = Arc::clone(&model);
        tasks.spawn(async move { (slot, answer(model, slot).await) });
    }
    let mut answers = tasks.join_all().await;
    answers.sort_unstable();
    assert_eq!(answers, (0..REQUESTS).map(|slot| (slot, slot)).collect::<Vec<_>>());
    (ledger.books(), server.books())
}

fn agree(books: &Books, served: &Served) {
    let account = &books.total;
    assert_eq!(
        (account.calls, account.unknown_calls, account.usage),
        (
            served.calls,
            served.lost,
            Usage { input_tokens: served.input_tokens, output_tokens: served.output_tokens }
        )
    );
    assert_eq!(books.stages["count"], *account);
}

/// What an agent sees of a fault.
#[derive(PartialEq)]
enum Seen {
    /// Nothing: the request is sent again.
    Retried,
    /// A reply that it cannot use.
    Useless,
    /// A reply that is as good as any.
    Nothing,
}

async fn check(fault: Fault, timeout: Duration, seen: Seen) {
    let (books, served) = run(script(vec![(fault, 0.2)]), timeout).await;
    agree(&books, &served);
    let faults: u64 = served.faults.values().sum();
    assert!((REQUESTS / 10..REQUESTS / 2).contains(&faults), "{faults} of {} calls", served.calls);
    let retries = if seen == Seen::Retried { faults } else { 0 };
    let again = if seen == Seen::Useless { faults } else { 0 };
    assert_eq!((books.total.retries, books.total.calls), (retries, REQUESTS + retries + again), "{fault:?}");
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_of_the_server_are_asked_again() {
    for after in [RetryAfter::Unsaid, RetryAfter::Seconds(3), RetryAfter::Date] {
        check(Fault::RateLimit(after), LONG, Seen::Retried).await;
    }
    for status in [408, 409, 500, 502, 503] {
        check(Fault::Error(status), LONG, Seen::Retried).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replies_that_never_come_are_asked_again() {
    check(Fault::Hang, Duration::from_secs(1), Seen::Retried).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replies_that_come_in_part_are_asked_again() {
    for fault in [Fault::Cut, Fault::CutBody, Fault::CutJson, Fault::NoChoices] {
        check(fault, LONG, Seen::Retried).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_model_says_is_handed_on() {
    check(Fault::Prose, LONG, Seen::Nothing).await;
    check(Fault::WrongSchema, LONG, Seen::Useless).await;
    check(Fault::Refusal, LONG, Seen::Useless).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_faults_at_once_lose_nothing() {
    let (books, served) = run(script(Fault::PROMPT.map(|kind| (kind, 0.05)).to_vec()), LONG).await;
    agree(&books, &served);
    assert!(served.faults.len() >= 9, "{:?}", served.faults);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_without_usage_are_counted_apart() {
    let (books, served) = run(Script { usage: UsageReport::Absent, ..script(Vec::new()) }, LONG).await;
    agree(&books, &served);
    let expect = Account {
        calls: REQUESTS,
        unknown_calls: REQUESTS,
        unknown_usage: books.total.unknown_usage,
        ..Account::default()
    };
    assert_eq!(books.total, expect);
    assert_eq!(books.total.unknown_usage.output_tokens, REQUESTS * 64);
}
