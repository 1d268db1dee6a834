//! Owns the tests of retries, refusals, JSON modes, and the secrecy of the key.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use diorama_llm::{
    BoxFuture, ChatError, ChatModel, ChatReply, ChatRequest, HttpModel, HttpSettings, Identity, JsonMode,
    MaxTokensField, Message, OutputSchema, RecordedModel, Recording, RequestOrigin, RetrySettings,
    RetryingModel, RunBudget, Sampling, ScriptedModel, Secret,
};
use diorama_model_server::{Answer, Fault, ModelServer, RetryAfter, Script};
use serde_json::{Value as Json, json};
use tokio::task::JoinSet;

/// Retries without waiting.
const AT_ONCE: RetrySettings = RetrySettings {
    attempts: 4,
    min_delay: Duration::ZERO,
    max_delay: Duration::ZERO,
    on_first_failure: None,
};

fn request(row: u64) -> ChatRequest {
    let origin = RequestOrigin { step: "query".to_owned(), row, attempt: 0 };
    ChatRequest::new(origin, vec![Message::user("Go.")], Sampling::up_to(64))
}

fn with_schema() -> ChatRequest {
    let schema = OutputSchema { name: "it".to_owned(), schema: json!({ "type": "object" }) };
    ChatRequest { schema: Some(schema), ..request(0) }
}

fn at_most(requests: usize) -> NonZeroUsize {
    NonZeroUsize::new(requests).unwrap()
}

fn retrying<M: ChatModel>(model: M) -> RetryingModel<M> {
    RetryingModel::new(model, AT_ONCE, at_most(4), RunBudget::unlimited())
}

fn broken() -> ChatError {
    ChatError::LostReply { found: "cut off".to_owned(), usage: None }
}

#[tokio::test]
async fn attempts_have_an_end_and_what_cannot_help_is_not_tried() {
    let check = async |error: fn() -> ChatError, errors: usize, sent: usize, expect: Result<&str, &str>| {
        let script = move |_: &ChatRequest, number| {
            if number < errors { Err(error()) } else { Ok(ChatReply::text("ok")) }
        };
        let model = Arc::new(ScriptedModel::new(script));
        let result = retrying(Arc::clone(&model)).chat(&request(0)).await;
        let result = result.map(|reply| reply.content).map_err(|error| error.to_string());
        assert_eq!(result.as_deref().map_err(String::as_str), expect);
        assert_eq!(model.sent().len(), sent);
    };
    check(broken, 3, 4, Ok("ok")).await;
    let given_up = "given up after 4 attempts; the last: cut off";
    check(broken, 99, 4, Err(given_up)).await;
    let refused = || ChatError::Refused {
        status: 401,
        url: "u".to_owned(),
        said: "no".to_owned(),
        advice: "check the key",
    };
    check(
        refused,
        99,
        1,
        Err("the server at u answered 401 (no), expected a chat completion; check the key"),
    )
    .await;
}

#[tokio::test]
async fn the_first_failure_alone_is_told() {
    static TOLD: AtomicUsize = AtomicUsize::new(0);
    let on_first_failure: fn(&ChatError) = |error| {
        assert_eq!(error.to_string(), "cut off");
        TOLD.fetch_add(1, Relaxed);
    };
    let script = |_: &ChatRequest, number| if number < 3 { Err(broken()) } else { Ok(ChatReply::text("ok")) };
    let settings = RetrySettings { on_first_failure: Some(on_first_failure), ..AT_ONCE };
    let model = RetryingModel::new(ScriptedModel::new(script), settings, at_most(4), RunBudget::unlimited());
    for row in 0..2 {
        model.chat(&request(row)).await.unwrap();
    }
    assert_eq!(TOLD.load(Relaxed), 1);
}

/// Makes a server that accepts only these fields for the length, and refuses others with a message.
async fn bounded_by(fields: &'static [&'static str], said: &'static str) -> ModelServer {
    let answer = move |body: &Json| {
        let sent =
            ["max_tokens", "max_completion_tokens"].into_iter().find(|field| body.get(field).is_some());
        match fields.contains(&sent.unwrap_or("none")) {
            true => Answer::text("ok"),
            false => Answer::Status(400, json!({ "error": { "message": said } })),
        }
    };
    ModelServer::start(Script::new(answer)).await.unwrap()
}

#[tokio::test]
async fn the_field_of_lengths_is_the_one_given_or_the_one_that_the_server_takes() {
    let check = async |fields, given, requests: u64, calls: u64, expect: bool| {
        let server = bounded_by(fields, "unsupported parameter").await;
        let settings = HttpSettings { max_tokens_field: given, ..HttpSettings::new(server.url(), "m") };
        let model = retrying(HttpModel::new(settings, None).unwrap());
        for row in 0..requests {
            let found = model.chat(&request(row)).await;
            assert_eq!(found.is_ok(), expect, "{found:?}");
        }
        assert_eq!(server.counts().calls, calls, "{fields:?} {given:?}");
        server.received().last().unwrap().body.clone()
    };
    let sent = check(&["max_tokens"], None, 2, 2, true).await;
    assert_eq!((&sent["max_tokens"], &sent["temperature"]), (&json!(64), &Json::Null));
    // Only the first request is sent twice.
    let sent = check(&["max_completion_tokens"], None, 2, 3, true).await;
    assert_eq!(sent["max_completion_tokens"], 64);
    check(&["max_tokens"], Some(MaxTokensField::MaxCompletionTokens), 1, 1, false).await;
    check(&["max_completion_tokens"], Some(MaxTokensField::MaxTokens), 1, 1, false).await;
    check(&["none"], Some(MaxTokensField::None), 1, 1, true).await;
    // The model never drops the field by itself, because the budget relies on the bound.
    check(&["none"], None, 1, 2, false).await;
}

#[tokio::test]
async fn the_refusal_of_a_field_hides_no_other_refusal() {
    let answer = |body: &Json| {
        let said = if body.get("max_tokens").is_some() { "no max_tokens here" } else { "no such model" };
        Answer::Status(400, json!({ "error": { "message": said } }))
    };
    let server = ModelServer::start(Script::new(answer)).await.unwrap();
    let model = HttpModel::new(HttpSettings::new(server.url(), "m"), None).unwrap();
    let error = model.chat(&request(0)).await.unwrap_err().to_string();
    assert!(error.contains("answered 400 (no such model)"), "{error}");
}

#[tokio::test]
async fn the_wait_that_a_refusal_asks_for_is_read_from_its_head() {
    for (after, seconds) in
        [(RetryAfter::Seconds(9), Some(9)), (RetryAfter::Date, Some(0)), (RetryAfter::Unsaid, None)]
    {
        let faults = vec![(Fault::RateLimit(after), 1.0)];
        let server =
            ModelServer::start(Script { faults, ..Script::new(|_| Answer::text("ok")) }).await.unwrap();
        let model = HttpModel::new(HttpSettings::new(server.url(), "m"), None).unwrap();
        let error = model.chat(&request(0)).await.unwrap_err();
        let ChatError::Failing { status: 429, retry_after, .. } = error else { unreachable!("{error}") };
        assert_eq!(retry_after, seconds.map(Duration::from_secs));
    }
}

/// A model that counts the requests in flight.
#[derive(Default)]
struct Counting {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl ChatModel for Counting {
    fn identity(&self) -> &Identity {
        unreachable!("nobody asks")
    }

    fn chat<'a>(&'a self, _: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ChatError>> {
        Box::pin(async move {
            let now = self.now.fetch_add(1, Relaxed) + 1;
            self.most.fetch_max(now, Relaxed);
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            self.now.fetch_sub(1, Relaxed);
            Ok(ChatReply::text("ok"))
        })
    }
}

#[tokio::test]
async fn no_more_requests_are_in_flight_than_allowed() {
    let counting = Arc::new(Counting::default());
    let model = Arc::new(retrying(Arc::clone(&counting)));
    let mut tasks = JoinSet::new();
    for row in 0..40 {
        let model = Arc::clone(&model);
        tasks.spawn(async move { model.chat(&request(row)).await });
    }
    assert!(tasks.join_all().await.iter().all(Result::is_ok));
    assert_eq!(counting.most.load(Relaxed), 4);
}

/// Makes a server that accepts only these response formats.
async fn taking(formats: &'static [&'static str], status: u16) -> ModelServer {
    let answer = move |body: &Json| match body["response_format"]["type"].as_str().unwrap_or("none") {
        format if formats.contains(&format) => Answer::text("{}"),
        format => Answer::Status(status, json!({ "error": { "message": format!("no {format} here") } })),
    };
    ModelServer::start(Script::new(answer)).await.unwrap()
}

fn model(server: &ModelServer, json_mode: JsonMode) -> impl ChatModel + use<> {
    let settings = HttpSettings { json_mode, ..HttpSettings::new(server.url(), "m") };
    retrying(HttpModel::new(settings, None).unwrap())
}

#[tokio::test]
async fn a_json_mode_that_the_server_refuses_is_named_with_its_flag() {
    let check = async |formats, status, mode, calls: u64, expect: Result<(), &str>| {
        let server = taking(formats, status).await;
        let found =
            model(&server, mode).chat(&with_schema()).await.map(drop).map_err(|error| error.to_string());
        match (&found, expect) {
            (Ok(()), Ok(())) => {}
            (Err(found), Err(expect)) => assert!(found.ends_with(expect), "{found}"),
            _ => unreachable!("{found:?}"),
        }
        assert_eq!(server.counts().calls, calls);
    };
    let refused = "answered 400 (no json_schema here) to a request with --json-mode json_schema, expected a chat completion; if the server \
                   does not take this response format, give --json-mode json_object or none";
    check(&["json_object"], 400, JsonMode::JsonSchema, 2, Err(refused)).await;
    check(&["json_object"], 400, JsonMode::JsonObject, 1, Ok(())).await;
    let refused = "answered 501 (no json_object here) to a request with --json-mode json_object, expected a chat completion; if the server \
                   does not take this response format, give --json-mode json_schema or none";
    check(&["none"], 501, JsonMode::JsonObject, 1, Err(refused)).await;
    check(&["none"], 422, JsonMode::None, 1, Ok(())).await;
    // A failure may pass, so the model retries it before the error names the flag.
    let failed = "answered 500 (no json_schema here) to a request with --json-mode json_schema, expected a chat completion; if the server \
                  does not take this response format, give --json-mode json_object or none";
    check(&["none"], 500, JsonMode::JsonSchema, 4, Err(failed)).await;
}

#[tokio::test]
async fn a_refusal_after_the_json_mode_has_worked_has_another_cause() {
    let answer = |body: &Json| match body["messages"].to_string().contains("too long") {
        true => Answer::Status(400, json!({ "error": { "message": "the context is full" } })),
        false => Answer::text("{}"),
    };
    let server = ModelServer::start(Script::new(answer)).await.unwrap();
    let model = model(&server, JsonMode::JsonSchema);
    model.chat(&with_schema()).await.unwrap();
    let mut long = with_schema();
    long.messages.push(Message::user("too long"));
    let error = model.chat(&long).await.unwrap_err();
    assert!(matches!(error, ChatError::Refused { status: 400, .. }), "{error}");
    assert_eq!(server.counts().calls, 2);
}

#[tokio::test]
async fn each_refusal_says_what_to_do() {
    let check = async |status: u16, body: Json, expect: &str| {
        let server =
            ModelServer::start(Script::new(move |_| Answer::Status(status, body.clone()))).await.unwrap();
        let model = model(&server, JsonMode::JsonSchema);
        let error = model.chat(&request(0)).await.unwrap_err().to_string();
        assert!(error.ends_with(expect), "{error}");
        assert_eq!(server.counts().calls, 1, "{status}");
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
    // The server repeats the key in every text that it can.
    let answer = |body: &Json| match body["messages"][0]["content"].as_str() {
        Some("Refuse.") => Answer::Status(401, json!({ "error": { "message": format!("no key {KEY}") } })),
        Some("Break.") => Answer::Message(json!(format!("text {KEY}"))),
        _ => Answer::text(format!("your key is {KEY}")),
    };
    let server = ModelServer::start(Script::new(answer)).await.unwrap();
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("recording");
    let (budget, settings) = (RunBudget::unlimited(), HttpSettings::new(server.url(), "m"));
    let model = HttpModel::new(settings, Some(Secret::new(KEY))).unwrap();
    let recording = Arc::new(Recording::open(&path).unwrap());
    let model = RecordedModel::new(model, recording, budget);
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
