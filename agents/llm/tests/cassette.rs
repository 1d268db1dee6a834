//! Record, resume, replay: nothing that had arrived is asked again, and what is replayed is what was said.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a test may end this way")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use diorama_llm::{
    Cassette, ChatError, ChatModel, ChatReply, ChatRequest, Contents, Durability, FinishReason, Key, Ledger,
    Message, Place, Recorded, Replay, Sampling, ScriptedModel, ToolCall, Usage,
};
use tempfile::TempDir;

const REQUESTS: u64 = 12;

/// Equal words in all slots: only the place tells them apart.
fn request(slot: u64) -> ChatRequest {
    let place = Place { stage: "domain".to_owned(), slot, attempt: 0 };
    ChatRequest::new(place, vec![Message::user("Propose a domain.")], Sampling::up_to(64))
}

/// A model whose words differ by slot, with everything that a reply can hold.
fn model() -> ScriptedModel {
    ScriptedModel::new(|request, _| {
        let slot = request.place.slot;
        let call = ToolCall {
            id: format!("c{slot}"),
            name: "Ask".to_owned(),
            arguments: "{\"ß\":\"\\n\"}".to_owned(),
        };
        Ok(ChatReply {
            reasoning_content: (slot % 2 == 0).then(|| "thinking\u{2028}on".to_owned()),
            tool_calls: vec![call],
            finish_reason: FinishReason::Other("eos".to_owned()),
            usage: (slot % 3 != 0).then_some(Usage { input_tokens: slot, output_tokens: 1 }),
            model: "scripted-1".to_owned(),
            ..ChatReply::text(format!("domain\n{slot} \u{1F6A2}"))
        })
    })
}

fn open(path: &Path) -> Arc<Cassette> {
    Arc::new(Cassette::open(path, Durability::Process).unwrap())
}

/// Asks everything in turn; gives the replies, what was sent, and the repeats.
async fn run(path: &Path, slots: impl Iterator<Item = u64>) -> (Vec<ChatReply>, Vec<u64>, u64) {
    let ledger = Ledger::unbounded();
    let recorded = Recorded::new(model(), open(path), Arc::clone(&ledger));
    let mut replies = Vec::new();
    for slot in slots {
        replies.push(recorded.chat(&request(slot)).await.unwrap());
    }
    let sent = recorded.inner().sent().iter().map(|request| request.place.slot).collect();
    (replies, sent, ledger.books().total.repeats)
}

#[tokio::test]
async fn a_run_that_is_cut_anywhere_asks_again_only_for_what_was_not_recorded() {
    let folder = TempDir::new().unwrap();
    let (whole, cut) = (folder.path().join("whole"), folder.path().join("cut"));
    let (replies, sent, repeats) = run(&whole, 0..REQUESTS).await;
    assert_eq!((sent.len() as u64, repeats), (REQUESTS, 0));
    let bytes = fs::read(&whole).unwrap();
    Cassette::compact(&whole).unwrap();
    let compacted = fs::read(&whole).unwrap();
    let ends: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').map(|at| at + 1).collect();
    for length in
        (0..bytes.len()).step_by(61).chain(ends.iter().copied()).chain(ends.iter().map(|end| end - 1))
    {
        fs::write(&cut, &bytes[..length]).unwrap();
        let kept = &bytes[..ends.iter().copied().filter(|end| *end <= length).max().unwrap_or_default()];
        let lines: Vec<&str> = std::str::from_utf8(kept).unwrap().lines().collect();
        let count = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count() as u64;
        let (asked, answered) = (count("{\"asked\""), count("{\"reply\""));
        assert_eq!(open(&cut).contents().cut_bytes, (length - kept.len()) as u64);
        let (again, sent, repeats) = run(&cut, 0..REQUESTS).await;
        assert_eq!(again, replies);
        assert_eq!(sent, (answered..REQUESTS).collect::<Vec<_>>());
        assert_eq!(repeats, asked - answered, "cut at {length}");
        Cassette::compact(&cut).unwrap();
        assert_eq!(fs::read(&cut).unwrap(), compacted);
    }
}

#[tokio::test]
async fn the_order_of_replies_leaves_no_trace() {
    let folder = TempDir::new().unwrap();
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    run(&one, 0..REQUESTS).await;
    run(&other, (0..REQUESTS).rev()).await;
    assert_ne!(fs::read(&one).unwrap(), fs::read(&other).unwrap());
    let contents = Cassette::compact(&one).unwrap();
    Cassette::compact(&other).unwrap();
    assert_eq!(fs::read(&one).unwrap(), fs::read(&other).unwrap());
    let usage = Usage { input_tokens: 1 + 2 + 4 + 5 + 7 + 8 + 10 + 11, output_tokens: 8 };
    let expect = Contents { replies: REQUESTS, usage, unknown: 4, unanswered: 0, cut_bytes: 0 };
    assert_eq!((contents, open(&one).contents()), (expect, expect));
}

#[tokio::test]
async fn a_replay_says_byte_for_byte_what_was_said_and_calls_nobody() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("cassette");
    let (replies, ..) = run(&path, 0..REQUESTS).await;
    let before = fs::read(&path).unwrap();
    let ledger = Ledger::unbounded();
    let replay = Replay::new(model().identity().clone(), open(&path), Arc::clone(&ledger));
    for slot in (0..REQUESTS).rev() {
        let again = replay.chat(&request(slot)).await.unwrap();
        assert_eq!(
            serde_json::to_string(&again).unwrap(),
            serde_json::to_string(&replies[slot as usize]).unwrap()
        );
    }
    let missing = replay.chat(&request(REQUESTS)).await.unwrap_err();
    assert_eq!(
        missing.to_string(),
        "the cassette has no reply for stage domain, slot 12, attempt 0 (it has none for that place); \
         replay with the settings of the recording, or allow calls"
    );
    let mut other = request(3);
    other.sampling.temperature = Some(0.7);
    let missing = replay.chat(&other).await.unwrap_err();
    assert!(
        missing.to_string().contains("slot 3, attempt 0 (it has one for other words, settings"),
        "{missing}"
    );
    let total = ledger.books().total;
    assert_eq!((total.calls, total.replayed, total.replayed_usage.output_tokens), (0, REQUESTS, 8));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn everything_that_is_sent_is_in_the_key() {
    let identity = model().identity().clone();
    let key = |change: fn(&mut ChatRequest)| {
        let mut request = request(1);
        change(&mut request);
        Key::new(&identity, &request)
    };
    let changes: [fn(&mut ChatRequest); 10] = [
        |_| {},
        |request| request.place.stage.push('s'),
        |request| request.place.slot = 2,
        |request| request.place.attempt = 1,
        |request| request.messages.push(Message::user("")),
        |request| request.messages[0] = Message::system("Propose a domain."),
        |request| request.sampling.max_tokens = 65,
        |request| request.sampling.seed = Some(0),
        |request| {
            let (schema, strict) = (serde_json::Value::Null, false);
            request.schema = Some(diorama_llm::OutputSchema { name: "n".to_owned(), schema, strict });
        },
        |request| request.tool_choice = diorama_llm::ToolChoice::Required,
    ];
    let mut keys: Vec<Key> = changes.into_iter().map(key).collect();
    let mut other = identity.clone();
    other.model.push('2');
    keys.push(Key::new(&other, &request(1)));
    let mut other = identity.clone();
    other.extra.insert("top_k".to_owned(), 5.into());
    keys.push(Key::new(&other, &request(1)));
    for (at, one) in keys.iter().enumerate() {
        assert!(!keys[..at].contains(one), "change {at} is not in the key");
    }
    assert_eq!(keys[0], Key::new(&identity, &request(1)));
}

#[tokio::test]
async fn failures_are_not_recorded_and_asking_again_is_no_repeat() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("cassette");
    let failing = ScriptedModel::new(|_, number| match number {
        0 => Err(ChatError::Empty { usage: None }),
        _ => Ok(ChatReply::text("well")),
    });
    let (ledger, cassette) = (Ledger::unbounded(), open(&path));
    let recorded = Recorded::new(failing, Arc::clone(&cassette), Arc::clone(&ledger));
    assert!(recorded.chat(&request(0)).await.is_err());
    assert_eq!(recorded.chat(&request(0)).await.unwrap().content, "well");
    assert_eq!(recorded.chat(&request(0)).await.unwrap().content, "well");
    assert_eq!((recorded.inner().sent().len(), ledger.books().total.repeats), (2, 0));
    drop(recorded);
    let silent = Recorded::new(ScriptedModel::replies([]), cassette, Arc::clone(&ledger));
    assert!(silent.chat(&request(1)).await.is_err());
    drop(silent);
    let (_, sent, repeats) = run(&path, 0..2).await;
    assert_eq!((sent, repeats), (vec![1], 0));
}

#[test]
fn what_is_no_cassette_is_refused_and_left_alone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("cassette");
    let check = |text: &str, expect: &str| {
        fs::write(&path, text).unwrap();
        let found = Cassette::open(&path, Durability::Machine).unwrap_err().to_string();
        assert!(found.contains(expect), "{found}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    };
    check("{\"cassette\":2}\n", "line 1: version 2; expected version 1");
    check("diary\n", "line 1: something else");
    check("{\"cassette\":1}\nnoise\n{\"failed\":\"00\"}\n", "line 2: something else");
    check("{\"cassette\":1}\n{\"failed\":\"00\"}\n{\"failed\":\"00\"}\n", "line 2: no key");
    fs::remove_file(&path).unwrap();
    let held = open(&path);
    assert!(Cassette::open(&path, Durability::Process).unwrap_err().to_string().contains("is in use"));
    drop(held);
    assert_eq!(open(&path).contents(), Contents::default());
}
