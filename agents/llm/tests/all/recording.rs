//! Owns the tests of recordings: a recorded reply is not requested again, and a replay repeats it byte for
//! byte.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use diorama_llm::{
    ChatError, ChatModel, ChatReply, ChatRequest, FinishReason, JsonMode, Message, OutputSchema,
    RecordedModel, Recording, ReplayModel, RequestKey, RequestOrigin, RunBudget, Sampling, ScriptedModel,
    ToolCall, Usage,
};
use tempfile::TempDir;

const REQUESTS: u64 = 12;

/// Makes a request with equal text for all rows, so that only the origin differs.
fn request(row: u64) -> ChatRequest {
    let origin = RequestOrigin { step: "domain".to_owned(), row, attempt: 0 };
    ChatRequest::new(origin, vec![Message::user("Propose a domain.")], Sampling::up_to(64))
}

/// Makes a model whose text differs by row and whose replies use every field.
fn model() -> ScriptedModel {
    ScriptedModel::new(|request, _| {
        let row = request.origin.row;
        let call = ToolCall {
            id: format!("c{row}"),
            name: "Ask".to_owned(),
            arguments: "{\"ß\":\"\\n\"}".to_owned(),
        };
        Ok(ChatReply {
            reasoning_content: (row % 2 == 0).then(|| "thinking\u{2028}on".to_owned()),
            tool_calls: vec![call],
            finish_reason: FinishReason::Other("eos".to_owned()),
            usage: (row % 3 != 0).then_some(Usage { input_tokens: row, output_tokens: 1 }),
            model: "scripted-1".to_owned(),
            ..ChatReply::text(format!("domain\n{row} \u{1F6A2}"))
        })
    })
}

fn open(path: &Path) -> Arc<Recording> {
    Arc::new(Recording::open(path).unwrap())
}

/// Requests all rows in turn. Returns the replies, the rows that were sent, and the number of repeats.
async fn run(path: &Path, rows: impl Iterator<Item = u64>) -> (Vec<ChatReply>, Vec<u64>, u64) {
    let budget = RunBudget::unlimited();
    let recorded = RecordedModel::new(model(), open(path), Arc::clone(&budget));
    let mut replies = Vec::new();
    for row in rows {
        replies.push(recorded.chat(&request(row)).await.unwrap());
    }
    let sent = recorded.inner().sent().iter().map(|request| request.origin.row).collect();
    (replies, sent, budget.report().total.repeats)
}

#[tokio::test]
async fn a_run_that_is_cut_anywhere_asks_again_only_for_what_was_not_recorded() {
    let folder = TempDir::new().unwrap();
    let (whole, cut) = (folder.path().join("whole"), folder.path().join("cut"));
    let (replies, sent, repeats) = run(&whole, 0..REQUESTS).await;
    assert_eq!((sent.len() as u64, repeats), (REQUESTS, 0));
    let bytes = fs::read(&whole).unwrap();
    let ends: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').map(|at| at + 1).collect();
    for length in
        (0..bytes.len()).step_by(61).chain(ends.iter().copied()).chain(ends.iter().map(|end| end - 1))
    {
        fs::write(&cut, &bytes[..length]).unwrap();
        let kept = &bytes[..ends.iter().copied().filter(|end| *end <= length).max().unwrap_or_default()];
        let lines: Vec<&str> = std::str::from_utf8(kept).unwrap().lines().collect();
        let count = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count() as u64;
        let (asked, answered) = (count("{\"sent\""), count("{\"reply\""));
        let (again, sent, repeats) = run(&cut, 0..REQUESTS).await;
        assert_eq!(again, replies);
        assert_eq!(sent, (answered..REQUESTS).collect::<Vec<_>>());
        assert_eq!(repeats, asked - answered, "cut at {length}");
        // The recording does not mark a repeated request as sent again, so the file equals that of an
        // undisturbed run.
        assert_eq!(fs::read(&cut).unwrap(), bytes);
    }
    let expect = Usage { input_tokens: 1 + 2 + 4 + 5 + 7 + 8 + 10 + 11, output_tokens: 8 };
    let recording = open(&whole);
    assert_eq!((recording.replies(), recording.usage()), (REQUESTS, expect));
}

#[tokio::test]
async fn a_replay_says_byte_for_byte_what_was_said_and_calls_nobody() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recording");
    let (replies, ..) = run(&path, 0..REQUESTS).await;
    let before = fs::read(&path).unwrap();
    let budget = RunBudget::unlimited();
    let replay = ReplayModel::new(model().identity().clone(), open(&path), Arc::clone(&budget));
    for row in (0..REQUESTS).rev() {
        let again = replay.chat(&request(row)).await.unwrap();
        assert_eq!(
            serde_json::to_string(&again).unwrap(),
            serde_json::to_string(&replies[row as usize]).unwrap()
        );
    }
    let missing = replay.chat(&request(REQUESTS)).await.unwrap_err();
    assert_eq!(
        missing.to_string(),
        "the recording has no reply for step domain, row 12, attempt 0 with these messages and settings; \
         replay with the model and settings of the recording, or without --replay"
    );
    let mut other = request(3);
    other.sampling.temperature = Some(0.7);
    assert!(matches!(replay.chat(&other).await, Err(ChatError::NotRecorded { .. })));
    let total = budget.report().total;
    assert_eq!((total.calls, total.replayed, total.replayed_usage.output_tokens), (0, REQUESTS, 8));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn everything_that_is_sent_is_in_the_key() {
    let identity = model().identity().clone();
    let key = |change: fn(&mut ChatRequest)| {
        let mut request = request(1);
        change(&mut request);
        RequestKey::new(&identity, &request)
    };
    let changes: [fn(&mut ChatRequest); 9] = [
        |_| {},
        |request| request.origin.step.push('s'),
        |request| request.origin.row = 2,
        |request| request.origin.attempt = 1,
        |request| request.messages.push(Message::user("")),
        |request| request.messages[0] = Message::system("Propose a domain."),
        |request| request.sampling.max_reply_tokens = 65,
        |request| request.sampling.temperature = Some(0.0),
        |request| {
            let schema = serde_json::Value::Null;
            request.schema = Some(OutputSchema { name: "n".to_owned(), schema });
        },
    ];
    let mut keys: Vec<RequestKey> = changes.into_iter().map(key).collect();
    let mut other = identity.clone();
    other.model.push('2');
    keys.push(RequestKey::new(&other, &request(1)));
    let mut other = identity.clone();
    other.json_mode = JsonMode::None;
    keys.push(RequestKey::new(&other, &request(1)));
    for (at, one) in keys.iter().enumerate() {
        assert!(!keys[..at].contains(one), "change {at} is not in the key");
    }
    assert_eq!(keys[0], RequestKey::new(&identity, &request(1)));
}

#[tokio::test]
async fn failures_are_not_recorded_and_asking_again_is_no_repeat() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recording");
    let failing = ScriptedModel::new(|_, number| match number {
        0 => Err(ChatError::LostReply { found: "cut off".to_owned(), usage: None }),
        _ => Ok(ChatReply::text("well")),
    });
    let (budget, recording) = (RunBudget::unlimited(), open(&path));
    let recorded = RecordedModel::new(failing, Arc::clone(&recording), Arc::clone(&budget));
    assert!(recorded.chat(&request(0)).await.is_err());
    assert_eq!(recorded.chat(&request(0)).await.unwrap().content, "well");
    assert_eq!(recorded.chat(&request(0)).await.unwrap().content, "well");
    assert_eq!((recorded.inner().sent().len(), budget.report().total.repeats), (2, 0));
    drop(recorded);
    let silent = RecordedModel::new(ScriptedModel::replies([]), recording, Arc::clone(&budget));
    assert!(silent.chat(&request(1)).await.is_err());
    drop(silent);
    let (_, sent, repeats) = run(&path, 0..2).await;
    assert_eq!((sent, repeats), (vec![1], 0));
}

#[test]
fn a_file_that_is_no_recording_of_this_version_is_refused_and_left_alone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("recording");
    let check = |text: &str, expect: &str| {
        fs::write(&path, text).unwrap();
        let found = Recording::open(&path).unwrap_err().to_string();
        assert!(found.contains(expect), "{found}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    };
    check("{\"cassette\":1}\n", "line 1: version 1; expected version 2; give another file");
    check("{\"recording\":3}\n", "line 1: version 3; expected version 2");
    check("diary\n", "line 1: something else");
    check("{\"recording\":2}\nnoise\n{\"failed\":\"00\"}\n", "line 2: something else");
    check("{\"recording\":2}\n{\"failed\":\"00\"}\n{\"failed\":\"00\"}\n", "line 2: something else");
    fs::remove_file(&path).unwrap();
    let held = open(&path);
    assert!(Recording::open(&path).unwrap_err().to_string().contains("in use; wait for the other run"));
    drop(held);
    assert_eq!(
        (open(&path).replies(), fs::read_to_string(&path).unwrap()),
        (0, "{\"recording\":2}\n".to_owned())
    );
}
