//! Owns the throughput bench: 1,000 concurrent conversations with the scripted server, which delays each
//! reply by 200 ms.
//!
//! It prints the share of the ideal throughput, and the memory of the process (client and server together)
//! after each fifth of the run.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a bench may end this way")]

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use diorama_llm::{
    ChatModel, ChatRequest, HttpSettings, Message, RecordedModel, Recording, RequestOrigin, RetrySettings,
    RunBudget, Sampling, connect,
};
use diorama_model_server::{Answer, Keep, ModelServer, Script};
use tokio::task::JoinSet;

const CONVERSATIONS: usize = 1_000;
const TURNS: u32 = 100;
const DELAY: Duration = Duration::from_millis(200);
/// Number of calls between two measurements of memory.
const LOOK: u64 = CONVERSATIONS as u64 * TURNS as u64 / 5;

/// Returns the resident memory of the process in MiB, or none if the system does not report it.
fn resident_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? / 1024)
}

async fn converse(model: Arc<impl ChatModel>, row: usize, calls: Arc<AtomicU64>) {
    let system = "You are an assistant. ".repeat(100);
    for attempt in 0..TURNS {
        let origin = RequestOrigin { step: "caller".to_owned(), row: row as u64, attempt };
        let messages = vec![Message::system(&*system), Message::user(format!("Turn {attempt} of {row}."))];
        model.chat(&ChatRequest::new(origin, messages, Sampling::up_to(256))).await.unwrap();
        let calls = calls.fetch_add(1, Relaxed) + 1;
        if calls.is_multiple_of(LOOK) {
            println!("after {calls} calls: {} MiB", resident_mib().unwrap_or_default());
        }
    }
}

async fn measure() {
    let script =
        Script { delay: DELAY, keep: Keep::Counts, ..Script::new(|_| Answer::text("Done. ".repeat(100))) };
    let server = ModelServer::start(script).await.unwrap();
    let folder = tempfile::TempDir::new().unwrap();
    let budget = RunBudget::unlimited();
    let ceiling = NonZeroUsize::new(CONVERSATIONS).unwrap();
    let settings = HttpSettings::new(server.url(), "scripted");
    let model = connect(settings, RetrySettings::default(), None, ceiling, &budget).unwrap();
    let recording = Recording::open(folder.path().join("recording")).unwrap();
    let model = Arc::new(RecordedModel::new(model, Arc::new(recording), Arc::clone(&budget)));
    println!("at the start: {} MiB", resident_mib().unwrap_or_default());
    let (mut tasks, calls) = (JoinSet::new(), Arc::new(AtomicU64::new(0)));
    let started = Instant::now();
    for row in 0..CONVERSATIONS {
        tasks.spawn(converse(Arc::clone(&model), row, Arc::clone(&calls)));
    }
    tasks.join_all().await;
    let taken = started.elapsed().as_secs_f64();
    let calls = budget.report().total.calls;
    assert_eq!((calls, server.counts().answered), (CONVERSATIONS as u64 * u64::from(TURNS), calls));
    let ideal = DELAY.as_secs_f64() * f64::from(TURNS);
    println!(
        "{calls} calls in {taken:.2} s, ideally {ideal:.2} s: {:.1} % of the ideal throughput; {} retries",
        100.0 * ideal / taken,
        budget.report().total.retries
    );
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(measure());
}
