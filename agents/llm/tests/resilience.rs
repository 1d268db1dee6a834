//! Waiting, giving up, falling back, and keeping the key to itself.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a test may end this way")]

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use diorama_llm::{
    Cassette, ChatError, ChatModel, ChatReply, ChatRequest, Durability, Fallback, Format, HttpModel,
    HttpSettings, Ledger, Limiter, Message, OutputSchema, Place, Recorded, RetryPolicy, Retrying, Sampling,
    ScriptedClock, ScriptedModel, Secret, connect,
};
use diorama_model_server::{Answer, Fault, ModelServer, RetryAfter, Script};
use serde_json::{Value as Json, json};

fn request(slot: u64) -> ChatRequest {
    let place = Place { stage: "query".to_owned(), slot, attempt: 0 };
    ChatRequest::new(place, vec![Message::user("Go.")], Sampling::up_to(64))
}

fn with_schema(title: &str) -> ChatRequest {
    let schema = OutputSchema { name: "it".to_owned(), schema: json!({ "title": title }), strict: true };
    ChatRequest { schema: Some(schema), ..request(0) }
}

fn ceiling(most: usize) -> NonZeroUsize {
    NonZeroUsize::new(most).unwrap()
}

/// The waits of a request that meets these errors, and what it came to.
async fn waits(
    policy: RetryPolicy,
    slot: u64,
    error: fn() -> ChatError,
    errors: usize,
) -> (Vec<Duration>, Result<ChatReply, ChatError>) {
    let model = ScriptedModel::new(
        move |_, number| if number < errors { Err(error()) } else { Ok(ChatReply::text("")) },
    );
    let clock = Arc::new(ScriptedClock::default());
    let model = Retrying::new(model, policy, Limiter::new(ceiling(1)), Ledger::unbounded());
    let result = model.with_clock(clock.clone()).chat(&request(slot)).await;
    (clock.waits(), result)
}

fn broken() -> ChatError {
    ChatError::Broken { cause: "reset".to_owned() }
}

fn asked_to_wait(seconds: u64) -> ChatError {
    ChatError::Busy { status: 429, said: "slow down".to_owned(), wait: Some(Duration::from_secs(seconds)) }
}

#[tokio::test]
async fn waits_grow_scatter_stay_in_bounds_and_follow_from_the_seed() {
    let policy = RetryPolicy { attempts: 40, ..RetryPolicy::default() };
    let (first, result) = waits(policy.clone(), 0, broken, 39).await;
    assert!(result.is_ok());
    assert_eq!(first.len(), 39);
    assert!(first.iter().all(|wait| (policy.shortest..=policy.longest).contains(wait)), "{first:?}");
    assert!(first.windows(2).all(|pair| pair[1] <= pair[0] * 3));
    assert!(first.iter().any(|wait| *wait > policy.longest / 2));
    assert_eq!(waits(policy.clone(), 0, broken, 39).await.0, first);
    assert_ne!(waits(policy.clone(), 1, broken, 39).await.0, first);
    assert_ne!(waits(RetryPolicy { seed: 1, ..policy }, 0, broken, 39).await.0, first);
}

#[tokio::test]
async fn a_server_is_asked_again_when_it_says_so_up_to_a_ceiling() {
    let policy = RetryPolicy::default();
    let check = |waits: Vec<Duration>, seconds: u64| {
        let asked = Duration::from_secs(seconds);
        assert_eq!(waits.len(), 3);
        assert!(waits.iter().all(|wait| (asked..=asked + policy.shortest).contains(wait)), "{waits:?}");
    };
    check(waits(policy.clone(), 0, || asked_to_wait(7), 3).await.0, 7);
    check(waits(policy.clone(), 0, || asked_to_wait(0), 3).await.0, 0);
    check(waits(policy.clone(), 0, || asked_to_wait(86_400), 3).await.0, 120);
}

#[tokio::test]
async fn what_a_refusal_asks_for_is_read_from_its_head() {
    for (after, seconds) in [(RetryAfter::Seconds(9), 9), (RetryAfter::Date, 0)] {
        let faults = vec![(Fault::RateLimit(after), 0.5)];
        let script = Script { faults, ..Script::new(|_| Answer::text("ok")) };
        let server = ModelServer::start(script).await.unwrap();
        let clock = Arc::new(ScriptedClock::default());
        let model = connect(
            HttpSettings::new(server.url(), "m"),
            None,
            RetryPolicy::default(),
            ceiling(4),
            &Ledger::unbounded(),
        );
        let model = model.unwrap().with_clock(clock.clone());
        for slot in 0..20 {
            model.chat(&request(slot)).await.unwrap();
        }
        let (asked, scatter) = (Duration::from_secs(seconds), RetryPolicy::default().shortest);
        let waits = clock.waits();
        assert!(
            waits.len() > 3 && waits.iter().all(|wait| (asked..asked + scatter).contains(wait)),
            "{waits:?}"
        );
    }
}

#[tokio::test]
async fn attempts_have_an_end_and_what_cannot_help_is_not_tried() {
    let (waited, result) = waits(RetryPolicy { attempts: 4, ..RetryPolicy::default() }, 0, broken, 99).await;
    assert_eq!(waited.len(), 3);
    assert_eq!(
        result.unwrap_err().to_string(),
        "given up after 4 attempts; the last: the connection ended before the whole reply had arrived (reset); see the server's log"
    );
    let refused = || ChatError::Refused {
        status: 401,
        url: String::new(),
        said: String::new(),
        advice: "check the key",
    };
    let (waited, result) = waits(RetryPolicy::default(), 0, refused, 99).await;
    assert!(waited.is_empty() && matches!(result, Err(ChatError::Refused { .. })));
}

/// A server that takes these formats, and how it refuses others.
async fn taking(formats: &'static [&'static str], status: u16) -> ModelServer {
    let answer = move |body: &Json| match body["response_format"]["type"].as_str().unwrap_or("prompt") {
        format if formats.contains(&format) => Answer::text("{}"),
        format => Answer::Status(status, json!({ "error": { "message": format!("no {format} here") } })),
    };
    ModelServer::start(Script::new(answer)).await.unwrap()
}

fn model(server: &ModelServer, fallback: Fallback) -> (impl ChatModel, Arc<Ledger>) {
    let settings = HttpSettings { fallback, ..HttpSettings::new(server.url(), "m") };
    let ledger = Ledger::unbounded();
    let model = connect(settings, None, RetryPolicy::default(), ceiling(4), &ledger).unwrap();
    (model.with_clock(Arc::new(ScriptedClock::default())), ledger)
}

#[tokio::test]
async fn a_poorer_format_is_found_once_and_kept_for_the_run() {
    let check = async |formats, status, calls: u64, expect: Format| {
        let server = taking(formats, status).await;
        let (model, ledger) = model(&server, Fallback::Poorer);
        let formats: Vec<_> = [
            model.chat(&with_schema("a")).await.unwrap().format,
            model.chat(&with_schema("b")).await.unwrap().format,
            model.chat(&with_schema("a")).await.unwrap().format,
        ]
        .to_vec();
        assert_eq!(formats, [Some(expect); 3]);
        assert_eq!((server.books().calls, ledger.books().total.calls), (calls, calls));
        assert_eq!(model.chat(&request(0)).await.unwrap().format, None);
    };
    check(&["json_schema", "prompt"], 400, 3, Format::JsonSchema).await;
    check(&["json_object", "prompt"], 400, 4, Format::JsonObject).await;
    check(&["prompt"], 422, 5, Format::Prompt).await;
    // A failure counts only when it comes three times: others pass.
    check(&["json_object", "prompt"], 500, 6, Format::JsonObject).await;
}

#[tokio::test]
async fn without_fall_back_the_refusal_is_said() {
    let server = taking(&["prompt"], 400).await;
    let (model, _) = model(&server, Fallback::Off);
    let error = model.chat(&with_schema("a")).await.unwrap_err().to_string();
    let expect = format!(
        "the server at {}/v1/chat/completions answered 400 (no json_schema here), expected a chat completion; \
         check that the model takes these settings (docs/models.md)",
        server.url()
    );
    assert_eq!((error, server.books().calls), (expect, 1));
}

#[tokio::test]
async fn a_request_that_every_format_refuses_fails_and_spoils_no_other() {
    let answer = |body: &Json| match body["messages"].to_string().contains("too long") {
        true => Answer::Status(400, json!({ "error": { "message": "the context is full" } })),
        false => Answer::text("{}"),
    };
    let server = ModelServer::start(Script::new(answer)).await.unwrap();
    let (model, _) = model(&server, Fallback::Poorer);
    let mut long = with_schema("a");
    long.messages.push(Message::user("too long"));
    let error = model.chat(&long).await.unwrap_err();
    assert!(matches!(error, ChatError::Refused { status: 400, .. }), "{error}");
    assert_eq!(server.books().calls, 3);
    assert_eq!(model.chat(&with_schema("a")).await.unwrap().format, Some(Format::JsonSchema));
}

#[tokio::test]
async fn each_refusal_says_what_to_do() {
    let check = async |status: u16, body: Json, expect: &str| {
        let server =
            ModelServer::start(Script::new(move |_| Answer::Status(status, body.clone()))).await.unwrap();
        let (model, _) = model(&server, Fallback::Poorer);
        let error = model.chat(&request(0)).await.unwrap_err().to_string();
        assert!(error.ends_with(expect), "{error}");
        assert_eq!(server.books().calls, 1, "{status}");
    };
    let words = |text: &str| json!({ "error": { "message": text } });
    check(
        401,
        words("who?"),
        "answered 401 (who?), expected a chat completion; check the key, and that it may use this model",
    )
    .await;
    check(
        404,
        words("no model"),
        "answered 404 (no model), expected a chat completion; check the base URL and the name of the model",
    )
    .await;
    check(307, json!(""), "give the URL that it redirects to as the base URL").await;
    let quota = json!({ "error": { "message": "nothing left", "code": "insufficient_quota" } });
    check(
        429,
        quota,
        "answered 429 (nothing left), expected a chat completion; check the credit of the account",
    )
    .await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let model = HttpModel::new(HttpSettings::new(&url, "m"), None).unwrap();
    let error = model.chat(&request(0)).await.unwrap_err();
    assert!(matches!(error, ChatError::Unreachable { .. }), "{error}");
    assert!(
        error
            .to_string()
            .starts_with(&format!("no connection to {url}/v1/chat/completions (Connection refused"))
    );
}

#[tokio::test]
async fn the_key_is_sent_and_is_nowhere_else() {
    const KEY: &str = "sk-kept-to-itself-93b1";
    // The server repeats the key wherever it can.
    let answer = |body: &Json| match body["messages"][0]["content"].as_str() {
        Some("Refuse.") => Answer::Status(401, json!({ "error": { "message": format!("no key {KEY}") } })),
        Some("Break.") => Answer::Message(json!(format!("text {KEY}"))),
        _ => Answer::text(format!("your key is {KEY}")),
    };
    let server = ModelServer::start(Script::new(answer)).await.unwrap();
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("cassette");
    let (ledger, settings) = (Ledger::unbounded(), HttpSettings::new(server.url(), "m"));
    let policy = RetryPolicy { attempts: 1, ..RetryPolicy::default() };
    let model = connect(settings, Some(Secret::new(KEY)), policy, ceiling(4), &ledger).unwrap();
    let cassette = Arc::new(Cassette::open(&path, Durability::Process).unwrap());
    let model = Recorded::new(model, cassette, ledger);
    let mut shown = format!("{model:?}");
    for words in ["Go.", "Refuse.", "Break."] {
        let asked = ChatRequest { messages: vec![Message::user(words)], ..request(0) };
        match model.chat(&asked).await {
            Ok(reply) => shown += &format!("{reply:?}"),
            Err(error) => shown += &format!("{error} {error:?}"),
        }
    }
    shown += &std::fs::read_to_string(&path).unwrap();
    assert!(shown.contains("your key is [key]") && shown.contains("no key [key]"), "{shown}");
    assert!(!shown.contains(KEY) && !shown.contains("Bearer"), "{shown}");
    let received = server.received();
    assert_eq!(received.len(), 3);
    assert!(received.iter().all(|one| one.authorization == Some(format!("Bearer {KEY}"))));
}

#[tokio::test]
async fn a_server_that_refuses_half_of_all_requests_is_asked_few_at_once() {
    let server = ModelServer::start(Script {
        faults: vec![(Fault::Error(503), 0.5)],
        ..Script::new(|_| Answer::text("ok"))
    })
    .await
    .unwrap();
    let limiter = Limiter::new(ceiling(16));
    let model = HttpModel::new(HttpSettings::new(server.url(), "m"), None).unwrap();
    let policy = RetryPolicy { attempts: 99, ..RetryPolicy::default() };
    let model = Retrying::new(model, policy, limiter.clone(), Ledger::unbounded());
    let model = model.with_clock(Arc::new(ScriptedClock::default()));
    for slot in 0..40 {
        model.chat(&request(slot)).await.unwrap();
    }
    assert!(limiter.limit() < 4, "half of the requests were refused, and {} are allowed", limiter.limit());
}
