//! The pipeline with a model, against a server that misbehaves: nothing is lost, the counts agree, and the same replies give the
//! same bytes.

mod command;
mod setup;
mod throughput;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use diorama_agents::episode::Task;
use diorama_agents::models::prompts::PromptSet;
use diorama_agents::models::quality::Quality;
use diorama_agents::models::run::{RunEnd, RunError, run};
use diorama_agents::models::{AssistantWords, Settings, UserWords};
use diorama_llm::{
    BudgetLimits, ChatError, ChatModel, ChatReply, ChatRequest, HttpModel, HttpSettings, JsonMode, Message,
    Prices, RecordedModel, Recording, RecordingError, RecordingFault, ReplayModel, RetrySettings,
    RetryingModel, RunBudget, Sampling, ScriptedModel, ToolCall, Usage,
};
use diorama_model_server::{Fault, Keep, ModelServer, Script};
use diorama_output::dataset::{Start, Summary};
use diorama_output::plan::PlanSizes;
use diorama_output::storage::Storage;
use diorama_seeds::task::Ability;
use serde_json::{Value as Json, json};

use self::setup::{connected, files, make, plain, recipe, run_context, script, settings, writer};

/// Makes rows with a server under faults, and holds the counts against the server's own.
async fn under(faults: Vec<(Fault, f64)>, dialogues: u64) -> (RunEnd, Summary) {
    let server = ModelServer::start(script(faults)).await.unwrap();
    let budget = RunBudget::unlimited();
    let settings = settings(UserWords::Rewritten, AssistantWords::Scenario);
    let recipe = recipe(&settings, dialogues, vec![Ability::Call]);
    let run_context = run_context(&recipe, &settings, Arc::new(connected(&server, &budget)));
    let folder = tempfile::tempdir().unwrap();
    let made = make(&run_context, folder.path(), dialogues, Start::Fresh).await.unwrap();
    let (counts, served) = (budget.report().total, server.counts());
    assert_eq!((counts.calls, counts.unknown_calls), (served.calls, served.lost));
    let usage = Usage { input_tokens: served.input_tokens, output_tokens: served.output_tokens };
    assert_eq!(counts.usage, usage);
    made
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_loses_nothing_under_all_faults_together() {
    let all = Fault::ALL_BUT_HANG.map(|fault| (fault, 0.2 / Fault::ALL_BUT_HANG.len() as f64)).to_vec();
    let (ended, summary) = under(all, 60).await;
    assert_eq!((summary.counts.dialogues, ended.unfinished, ended.stopped), (60, 0, None));
}

/// Two hundred dialogues under each fault alone, at a fifth of the requests: minutes, so only when asked for.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes"]
async fn two_hundred_dialogues_complete_under_each_fault() {
    for fault in Fault::ALL_BUT_HANG.into_iter().chain([Fault::Hang]) {
        let started = std::time::Instant::now();
        let (ended, summary) = under(vec![(fault, 0.2)], 200).await;
        println!("{fault:?}: {} rows, {:.1} s", summary.counts.dialogues, started.elapsed().as_secs_f64());
        assert_eq!((summary.counts.dialogues, ended.unfinished, ended.stopped), (200, 0, None), "{fault:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_run_is_made_again_byte_for_byte_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.jsonl");
    let settings = Settings { votes: 2, ..settings(UserWords::Rewritten, AssistantWords::Rewritten) };
    let recipe = recipe(&settings, 30, vec![Ability::Call, Ability::PlanRetrieveCall]);
    let server = ModelServer::start(script(Vec::new())).await.unwrap();
    let budget = RunBudget::unlimited();
    let identity = {
        let replies = Arc::new(Recording::open(&path).unwrap());
        let model = RecordedModel::new(connected(&server, &budget), replies, Arc::clone(&budget));
        let identity = model.identity().clone();
        let run_context = run_context(&recipe, &settings, Arc::new(model));
        let (_, summary) = make(&run_context, &folder.path().join("first"), 30, Start::Fresh).await.unwrap();
        assert_eq!(summary.counts.dialogues, 30);
        // Cost per row follows from the replies alone.
        let uses = summary.funnel.model_use();
        assert_eq!(uses.input_tokens + uses.output_tokens, budget.report().total.usage.total());
        identity
    };
    drop(server);
    let replies = Arc::new(Recording::open(&path).unwrap());
    let model = ReplayModel::new(identity, replies, RunBudget::unlimited());
    let run_context = run_context(&recipe, &settings, Arc::new(model));
    make(&run_context, &folder.path().join("second"), 30, Start::Fresh).await.unwrap();
    assert_eq!(files(&folder.path().join("first")), files(&folder.path().join("second")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_cut_off_asks_again_only_what_was_in_flight() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (folder.path().join("replies.jsonl"), folder.path().join("out"));
    let settings = settings(UserWords::Rewritten, AssistantWords::Scenario);
    let recipe = recipe(&settings, 40, vec![Ability::Call]);
    let server =
        ModelServer::start(Script { delay: Duration::from_millis(5), ..script(Vec::new()) }).await.unwrap();
    {
        let replies = Arc::new(Recording::open(&path).unwrap());
        let budget = RunBudget::unlimited();
        let model = RecordedModel::new(connected(&server, &budget), replies, Arc::clone(&budget));
        let run_context = run_context(&recipe, &settings, Arc::new(model));
        let watched = Arc::clone(&budget);
        // As a kill does: everything in flight ends where it is.
        let cut = Arc::clone(&run_context);
        let mut watching = tokio::task::JoinSet::new();
        watching.spawn(async move {
            while watched.report().total.calls < 25 {
                tokio::time::sleep(Duration::from_millis(2)).await
            }
            cut.abort.send(true).unwrap();
        });
        let ended = make(&run_context, &out, 40, Start::Fresh).await;
        assert!(matches!(ended, Err(RunError::Interrupted)), "the run was to be cut off");
    }
    // Tasks that were cut off let go of the file when they are next looked at.
    let replies = loop {
        match Recording::open(&path) {
            Ok(replies) => break Arc::new(replies),
            Err(RecordingError { fault: RecordingFault::InUse, .. }) => {
                tokio::time::sleep(Duration::from_millis(5)).await
            }
            Err(error) => panic!("{error}"),
        }
    };
    let answered = replies.replies();
    let budget = RunBudget::unlimited();
    let model = RecordedModel::new(connected(&server, &budget), replies, Arc::clone(&budget));
    let run_context = run_context(&recipe, &settings, Arc::new(model));
    let (_, summary) = make(&run_context, &out, 40, Start::Resume).await.unwrap();
    let counts = budget.report().total;
    assert_eq!(summary.counts.dialogues, 40);
    assert!(counts.repeats <= 64, "{counts:?}");
    assert!(counts.replayed > 0 && counts.replayed <= answered, "{counts:?}");
    // The same as a run that nobody disturbed.
    let whole = self::run_context(&recipe, &settings, Arc::new(connected(&server, &RunBudget::unlimited())));
    make(&whole, &folder.path().join("whole"), 40, Start::Fresh).await.unwrap();
    assert_eq!(files(&out), files(&folder.path().join("whole")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_ends_a_run_with_a_smaller_dataset() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(UserWords::Rewritten, AssistantWords::Scenario);
    let recipe = recipe(&settings, 60, vec![Ability::Call]);
    let server = ModelServer::start(script(Vec::new())).await.unwrap();
    let limits = BudgetLimits { max_tokens: Some(40_000), max_cost: None };
    let budget = RunBudget::new(limits, Prices::default(), Usage::default()).unwrap();
    let run_context = run_context(&recipe, &settings, Arc::new(connected(&server, &budget)));
    let (ended, summary) = make(&run_context, folder.path(), 60, Start::Fresh).await.unwrap();
    assert!(ended.stopped.is_some_and(|why| why.contains("budget")), "{:?}", budget.report());
    assert!((1..60).contains(&summary.counts.dialogues), "{}", summary.counts.dialogues);
    assert!(budget.report().total.usage.total() <= 40_000);
    assert!(folder.path().join("manifest.json").is_file());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_told_to_stop_finishes_what_is_in_flight() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(UserWords::Rewritten, AssistantWords::Scenario);
    let recipe = recipe(&settings, 200, vec![Ability::Call]);
    let server = ModelServer::start(script(Vec::new())).await.unwrap();
    let budget = RunBudget::unlimited();
    let run_context = run_context(&recipe, &settings, Arc::new(connected(&server, &budget)));
    let watch = Arc::clone(&run_context);
    let sizes = PlanSizes { rows: 200, rows_per_batch: 20, batches_per_file: 2 };
    let writer = writer(&recipe, folder.path(), sizes, Start::Fresh);
    let stop = |progress: diorama_agents::models::run::Progress| {
        if progress.settled >= 10 {
            watch.stopping.store(true, Relaxed);
        }
    };
    let runtime = tokio::runtime::Handle::current();
    let ended = tokio::task::block_in_place(|| run(&run_context, &runtime, &writer, 8, None, &stop)).unwrap();
    let summary = writer.finish().unwrap();
    assert!(ended.stopped.is_some());
    assert!((10..60).contains(&summary.counts.dialogues), "{}", summary.counts.dialogues);
    assert_eq!(budget.report().total.unknown_calls, 0, "nothing was broken off");
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_replies_of_every_agent_cost_rows_and_nothing_else() {
    let odd = [
        "",
        "I'd rather not.",
        "{\"lines\": 3}",
        "{\"lines\": [1]}",
        "{\"lines\": [{\"number\": 1, \"line\": \"\"}]}",
        "{\"natural\": \"yes\"}",
        "[[[[",
        "{\"lines\": [{\"number\": \"one\", \"line\": 7}]}",
    ];
    for (user, assistant) in [
        (UserWords::Rewritten, AssistantWords::Scenario),
        (UserWords::Rewritten, AssistantWords::Rewritten),
        (UserWords::Scenario, AssistantWords::Caller),
    ] {
        let settings = Settings { attempts: 2, ..settings(user, assistant) };
        let recipe = recipe(&settings, 8, vec![Ability::Call]);
        let model = ScriptedModel::new(move |request, _| {
            let at = request.messages.len() + request.origin.row as usize + request.origin.attempt as usize;
            Ok(ChatReply::text(odd[at % odd.len()]))
        });
        let run_context = run_context(&recipe, &settings, Arc::new(model));
        let folder = tempfile::tempdir().unwrap();
        let (ended, summary) = make(&run_context, folder.path(), 8, Start::Fresh).await.unwrap();
        assert_eq!((summary.counts.dialogues, ended.unfinished), (0, 0), "{user:?} {assistant:?}");
        assert_eq!(summary.funnel.proposed, 16);
        assert_eq!(summary.funnel.dropped_by_gate().values().sum::<u64>(), 16);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_finds_its_own_way_gives_the_dialogue() {
    let settings = Settings { attempts: 6, ..settings(UserWords::Scenario, AssistantWords::Caller) };
    let recipe = recipe(&settings, 6, vec![Ability::Call]);
    // A first run without a model's words gives what the calls are; the scripted caller makes them, and thinks aloud.
    let gold = {
        let settings = Settings { assistant: AssistantWords::Scenario, ..settings.clone() };
        let run_context = run_context(&recipe, &settings, Arc::new(ScriptedModel::replies([])));
        let folder = tempfile::tempdir().unwrap();
        let (_, summary) = make(&run_context, folder.path(), 6, Start::Fresh).await.unwrap();
        assert_eq!(summary.counts.dialogues, 6);
        rows(folder.path())
    };
    let model = ScriptedModel::new(move |request, _| Ok(next_move(&gold, request)));
    let run_context = run_context(&recipe, &settings, Arc::new(model));
    let folder = tempfile::tempdir().unwrap();
    let (_, summary) = make(&run_context, folder.path(), 6, Start::Fresh).await.unwrap();
    let quality = Quality::read(&folder.path().join("steps"), 0..100).unwrap();
    assert!(summary.counts.dialogues >= 3, "{:#?}", quality.steps["caller"]);
    for row in rows(folder.path()) {
        assert!(row.provenance.contains("\"assistant\":\"caller\""), "{}", row.provenance);
        assert!(row.license.ends_with("words by scripted (made up)"), "{}", row.license);
        let thoughts = row.messages.iter().filter_map(|message| message.reasoning_content.as_deref());
        assert!(thoughts.into_iter().all(|thought| thought == "hm"));
        assert!(row.messages.iter().any(|message| message.reasoning_content.is_some()));
    }
}

fn rows(folder: &Path) -> Vec<diorama_output::row::Dialogue> {
    let folder = diorama_output::folder::Folder::open(Storage::local(folder)).unwrap();
    let parts = folder.parts().unwrap();
    parts.iter().flat_map(|part| folder.read(part).unwrap().map(Result::unwrap).collect::<Vec<_>>()).collect()
}

/// Returns the first messages and calls of the assistant in the row with this opening.
/// The ending that an assistant's message of a row stands for, by the position of the message among the assistant's.
fn end_of_goal(row: &diorama_output::row::Dialogue, message: usize) -> Option<Json> {
    let task = Task::of(row).unwrap();
    let opens = |at: usize| {
        let next = row.messages.get(at + 1);
        next.is_none_or(|next| {
            task.script.goals.iter().skip(1).any(|goal| next.content.as_ref() == Some(&goal.user))
        })
    };
    let assistants = row.messages.iter().enumerate().filter(|(_, said)| said.role.as_str() == "assistant");
    let ends: Vec<usize> = assistants
        .enumerate()
        .filter(|(_, (at, said))| said.tool_calls.is_empty() && opens(*at))
        .map(|(number, _)| number)
        .collect();
    let goal = ends.iter().position(|end| *end == message)?;
    let (check, gold) = (task.checks.goals.get(goal)?, task.goals.get(goal)?);
    let words =
        row.messages.iter().filter(|said| said.role.as_str() == "assistant").nth(message)?.content.clone();
    let mut end = json!({"outcome": gold.outcome, "message": words});
    match gold.reason {
        Some(reason) => {
            end["reason"] = json!(reason);
            end["about"] = json!(diorama_seeds::ending::subject(check));
        }
        None => end["facts"] = json!(diorama_seeds::ending::facts(check, |_, _| None).unwrap_or_default()),
    }
    Some(end)
}

fn next_move(gold: &[diorama_output::row::Dialogue], request: &ChatRequest) -> ChatReply {
    let said = |wanted: &Message| matches!(wanted, Message::User { .. });
    let opening = request.messages.iter().find(|message| said(message));
    let Some(Message::User { content }) = opening else { return ChatReply::text("") };
    let Some(row) = gold.iter().find(|row| row.query == *content) else {
        return ChatReply::text("I don't know.");
    };
    let made = request.messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
    let assistants: Vec<_> =
        row.messages.iter().filter(|message| message.role.as_str() == "assistant").collect();
    let Some(next) = assistants.get(made) else { return ChatReply::text("Anything else?") };
    let mut reply = ChatReply::text(next.content.clone().unwrap_or_default());
    reply.reasoning_content = Some("hm".to_owned());
    if let Some(end) = end_of_goal(row, made) {
        let arguments = end.to_string();
        reply.content = String::new();
        reply.tool_calls = vec![ToolCall { id: "end".to_owned(), name: "finish".to_owned(), arguments }];
        return reply;
    }
    reply.tool_calls = next
        .tool_calls
        .iter()
        .map(|call| ToolCall {
            id: call.id.clone(),
            name: call.function.name.clone(),
            arguments: call.function.arguments.clone(),
        })
        .collect();
    reply
}

#[tokio::test(flavor = "multi_thread")]
async fn the_judge_drops_what_most_votes_find_wrong() {
    let settings =
        Settings { votes: 3, attempts: 2, ..settings(UserWords::Scenario, AssistantWords::Scenario) };
    let recipe = recipe(&settings, 12, vec![Ability::Call]);
    // Two of three votes are against every second row.
    let model = ScriptedModel::new(|request, _| {
        let mut answer = plain(&json!({ "messages": request.messages }));
        if request.origin.row % 2 == 1 && request.origin.attempt % 3 != 0 && request.origin.row < 12 {
            answer["answers"] = json!(false);
            answer["quote"] = json!("Assistant:");
        }
        Ok(ChatReply::text(answer.to_string()))
    });
    let run_context = run_context(&recipe, &settings, Arc::new(model));
    let folder = tempfile::tempdir().unwrap();
    let (_, summary) = make(&run_context, folder.path(), 12, Start::Fresh).await.unwrap();
    let dropped = summary
        .funnel
        .dropped
        .get("tester")
        .and_then(|reasons| reasons.get("does not answer what was asked"))
        .copied();
    assert!(dropped.is_some_and(|dropped| dropped >= 6), "{:?}", summary.funnel);
    let quality = Quality::read(&folder.path().join("steps"), 0..100).unwrap();
    assert_eq!(quality.judged.dropped, dropped.unwrap());
    assert_eq!(quality.steps["row"].passed, summary.counts.dialogues);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_never_answers_ends_the_run_with_its_reason() {
    let settings = settings(UserWords::Rewritten, AssistantWords::Scenario);
    let recipe = recipe(&settings, 5, vec![Ability::Call]);
    let late = || ChatError::LostReply { found: "no whole reply".to_owned(), usage: None };
    let model =
        ScriptedModel::new(move |_, _| Err(ChatError::GaveUp { attempts: 8, last: Box::new(late()) }));
    let run_context = run_context(&recipe, &settings, Arc::new(model));
    let folder = tempfile::tempdir().unwrap();
    let ended = make(&run_context, folder.path(), 5, Start::Fresh).await;
    assert!(ended.is_err_and(|error| error.to_string().contains("no whole reply")));
    assert!(!folder.path().join("manifest.json").exists());
}

#[test]
fn a_prompt_without_a_message_is_refused() {
    let variant = BTreeMap::from([("query_rewrite".to_owned(), "Write the chat anew.".to_owned())]);
    let error = PromptSet::new(&variant).unwrap_err().to_string();
    assert!(error.contains("the prompt query_rewrite: found no message"), "{error}");
    let variant = BTreeMap::from([("query_rewrite".to_owned(), "<<user>>\n{{ persona }}".to_owned())]);
    assert_ne!(PromptSet::new(&variant).unwrap().hash(), PromptSet::new(&BTreeMap::new()).unwrap().hash());
}
