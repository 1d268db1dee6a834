//! Owns the end-to-end tests of `diorama eval` with a chat model: a dataset, a scripted model server, and the
//! command.

use std::collections::BTreeMap;
use std::path::Path;

use diorama_agents::episode::Task;
use diorama_model_server::{Answer, ModelServer, Script};
use diorama_output::folder::Folder;
use diorama_output::row::Role;
use diorama_output::storage::Storage;
use diorama_seeds::ending;
use diorama_tests::diorama;
use diorama_tests::requests::serve;
use serde_json::{Value as Json, json};

/// Searches if the task requires it, and then finishes with outcome `done`.
fn answer(body: &Json) -> Answer {
    let tools = body["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"finish"), "{names:?}");
    let user = body["messages"].as_array().unwrap().iter().find(|message| message["role"] == "user").unwrap();
    let (name, arguments) = if names == ["ToolSearcher", "finish"] {
        ("ToolSearcher", json!({"keywords": user["content"]}))
    } else {
        ("finish", json!({"outcome": "done", "message": "It is done."}))
    };
    let function = json!({"name": name, "arguments": arguments.to_string()});
    Answer::Message(json!({"role": "assistant", "content": null,
        "tool_calls": [{"id": "a", "type": "function", "function": function}]}))
}

#[test]
fn function_calling_runs_against_a_server_and_again_from_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let dataset = dataset(folder.path(), 12);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = runtime.block_on(ModelServer::start(Script::new(answer))).unwrap();
    let (url, out, record) = (server.url(), path("run"), path("replies.jsonl"));
    let common = ["--json", "eval", "--agent", "function-calling", &dataset, "--model", "scripted"];
    let ran = diorama(common.into_iter().chain(["--base-url", &url, "--out", &out, "--record", &record]));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let report: Json = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&report["scripted"], &report["model"]), (&json!(false), &json!("scripted")));
    // An agent without calls solves no task, and each failure has a cause.
    assert_eq!(report["success"], 0.0);
    let causes: u64 = report["attribution"].as_object().unwrap().values().filter_map(Json::as_u64).sum();
    assert_eq!(causes, report["tasks"].as_u64().unwrap());
    assert_eq!(report["unfinished"], 0);
    let counts = server.counts();
    assert_eq!(report["usage_report"]["total"]["calls"], counts.calls);
    let received = server.received();
    assert!(
        received
            .iter()
            .all(|request| request.body.get("temperature").is_none() && request.body["model"] == "scripted")
    );

    // Each line of the file is an episode with its steps.
    let episodes = std::fs::read_to_string(folder.path().join("run/episodes.jsonl")).unwrap();
    let episodes: Vec<Json> = episodes.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(episodes.len() as u64, report["tasks"].as_u64().unwrap());
    assert!(episodes.iter().all(|episode| episode["steps"][0]["note"] == "asked"));

    // Grading the file again gives the same verdicts without calling a model.
    let regraded =
        diorama(["--json", "eval", "regrade", &format!("{out}/episodes.jsonl"), "--tasks", &dataset]);
    assert_eq!(regraded.code, 0, "{}", regraded.err);
    let regraded: Json = serde_json::from_str(&regraded.out).unwrap();
    assert_eq!((&regraded["episodes"], &regraded["changed"]), (&report["tasks"], &json!([])));

    // A replay of the recording gives the same run.
    let again = diorama(common.into_iter().chain(["--replay", &record]));
    let again: Json = serde_json::from_str(&again.out).unwrap();
    for key in ["tasks", "success", "errors", "attribution", "cells", "tokens"] {
        assert_eq!(again[key], report[key], "{key}");
    }
    assert_eq!(again["usage_report"]["total"]["calls"], 0);
    assert_eq!(server.counts().calls, counts.calls);
}

#[test]
fn a_model_agent_without_a_model_is_bad_usage() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = dataset(folder.path(), 2);
    let ran = diorama(["eval", "--agent", "react", &dataset]);
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (2, "error: --model: found none, expected the model's name, as its server has it\n")
    );
    let ran = diorama(["eval", "--agent", "react", &dataset, "--model", "m", "--without", "parser"]);
    assert_eq!(ran.code, 2);
}

/// Generates a dataset in a folder, and returns its path.
fn dataset(folder: &std::path::Path, dialogues: u32) -> String {
    diorama_tests::dataset(folder, dialogues, 5).display().to_string()
}

/// Returns the JSON that `eval` prints.
fn eval(arguments: &[&str]) -> Json {
    let ran = diorama(["--json", "eval"].iter().chain(arguments));
    assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn facts_in_another_order_pass_and_under_other_items_fail() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = dataset(folder.path(), 150);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let solved = |agent: &str| {
        eval(&["--agent", agent, &dataset, "--out", &path(agent)])["success_rate"]["solved"].as_u64().unwrap()
    };
    let all = solved("oracle");
    assert!(all >= 150);
    assert_eq!(solved("oracle-reordered"), all);
    // Gives each item of a map the value of the next item.
    let exchanged = |facts: &mut Json| {
        let facts = facts.as_object_mut().into_iter().flat_map(serde_json::Map::values_mut);
        for fact in facts.filter_map(Json::as_object_mut) {
            let mut moved: Vec<Json> = fact.values().cloned().collect();
            let by = usize::from(moved.len() > 1);
            moved.rotate_left(by);
            fact.values_mut().zip(moved).for_each(|(value, other)| *value = other);
        }
    };
    let episodes = std::fs::read_to_string(format!("{}/episodes.jsonl", path("oracle"))).unwrap();
    let lines = episodes.lines().map(|line| {
        let mut episode: Json = serde_json::from_str(line).unwrap();
        let steps = episode["steps"].as_array_mut().unwrap();
        let finished = steps.iter_mut().filter(|step| step["step"] == "finished");
        finished.filter_map(|step| step.pointer_mut("/end/facts")).for_each(exchanged);
        episode.to_string() + "\n"
    });
    let file = path("exchanged.jsonl");
    std::fs::write(&file, lines.collect::<String>()).unwrap();
    let ran = diorama(["--json", "eval", "regrade", &file, "--tasks", &dataset]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let regraded: Json = serde_json::from_str(&ran.out).unwrap();
    assert!(regraded["success"].as_u64().unwrap() < all, "no task asks for values of several items");
}

#[test]
fn verdicts_over_http_are_those_of_this_process() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = dataset(folder.path(), 24);
    let server = serve(&["--tasks", &dataset, "--control-token", "secret"]);
    let path = |name: &str| folder.path().join(name).display().to_string();
    for agent in ["oracle", "exclude", "late", "noop", "dump-all"] {
        for faults in ["", "429=0.2,500=0.1,latency=1-3"] {
            let (here, there) =
                (path(&format!("here-{agent}{faults}")), path(&format!("there-{agent}{faults}")));
            let mut common = vec!["--agent", agent, &dataset];
            if !faults.is_empty() {
                common.extend(["--faults", faults]);
            }
            let local = eval(&[&common[..], &["--out", &here]].concat());
            let over = ["--server", &server.url, "--control-token", "secret", "--out", &there];
            let remote = eval(&[&common[..], &over].concat());
            for key in [
                "success",
                "errors",
                "attribution",
                "cells",
                "excluded",
                "unfinished",
                "partial_credit",
                "faults",
            ] {
                assert_eq!(local[key], remote[key], "{agent} {faults}: {key}");
            }
            assert!(remote["effort"]["seconds_p50"].is_number() && local["effort"]["seconds_p50"].is_null());
            // The steps must also agree: replies, the user's messages, and refusals.
            let read = |folder: &str| -> Vec<Json> {
                let text = std::fs::read_to_string(format!("{folder}/episodes.jsonl")).unwrap();
                text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
            };
            for (a, b) in read(&here).iter().zip(read(&there)) {
                assert_eq!((&a["steps"], &a["grade"]), (&b["steps"], &b["grade"]), "{agent} {}", a["task"]);
            }
        }
    }
    let wrong = ["eval", "--agent", "noop", &dataset, "--server", &server.url, "--control-token", "no"];
    let ran = diorama(wrong);
    assert!(ran.code == 1 && ran.err.contains("401"), "{}", ran.err);
    server.stop();
    let ran = diorama(["eval", "--agent", "noop", &dataset, "--server", "http://127.0.0.1:1"]);
    assert!(ran.code == 1 && ran.err.starts_with("error: --server: "), "{}", ran.err);
}

#[test]
fn solved_episodes_become_rows_that_hold_and_others_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let tasks = dataset(folder.path(), 40);
    let make = |agent: &str| {
        eval(&["--agent", agent, &tasks, "--out", &path(agent)]);
        let (episodes, out) = (format!("{}/episodes.jsonl", path(agent)), path(&format!("{agent}-rows")));
        let ran =
            diorama(["generate", "--json", "--from-traces", &episodes, "--tasks", &tasks, "--out", &out]);
        (ran.code, serde_json::from_str::<Json>(&ran.out).unwrap(), out)
    };
    let (code, told, out) = make("oracle");
    assert_eq!((code, &told["episodes"]), (0, &json!(40)), "{told}");
    assert!(told["dialogues"].as_u64().unwrap() >= 36, "{told}");
    let verified = diorama(["dataset", "verify", &out]);
    assert_eq!(verified.code, 0, "{}", verified.out);
    let (code, told, _) = make("noop");
    assert_eq!((code, &told["dialogues"]), (1, &json!(0)), "{told}");
}

#[test]
fn a_row_of_an_episode_with_a_wrong_call_is_not_learned_from_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let tasks = dataset(folder.path(), 40);
    eval(&["--agent", "oracle", &tasks, "--out", &path("run")]);
    let episodes = std::fs::read_to_string(path("run/episodes.jsonl")).unwrap();
    // Each episode starts with a copy of its first call that has an argument unknown to the API.
    let erring = episodes.lines().map(|line| {
        let mut episode: Json = serde_json::from_str(line).unwrap();
        let steps = episode["steps"].as_array_mut().unwrap();
        let calls = |step: &Json| step["step"] == "called" && step["api"] != "ToolSearcher";
        if let Some(at) = steps.iter().position(calls) {
            let mut wrong = steps[at].clone();
            wrong["arguments"]["frobnicate"] = json!(1);
            steps.insert(at, wrong);
        }
        episode.to_string() + "\n"
    });
    std::fs::write(path("erring.jsonl"), erring.collect::<String>()).unwrap();
    let out = path("rows");
    let made = ["generate", "--from-traces", &path("erring.jsonl"), "--tasks", &tasks, "--out", &out];
    let ran = diorama(made);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let verified = diorama(["dataset", "verify", &out]);
    assert_eq!(verified.code, 0, "{}", verified.out);
    let folder = Folder::open(Storage::local(Path::new(&out))).unwrap();
    let mut erring = 0;
    for row in folder.rows().map(Result::unwrap) {
        for said in row.messages.iter().filter(|said| said.role == Role::Assistant) {
            let is_wrong = said.tool_calls.iter().any(|call| call.function.arguments.contains("frobnicate"));
            assert_eq!(said.train, !is_wrong, "{}: {said:?}", row.id);
            erring += usize::from(is_wrong);
        }
    }
    assert!(erring >= 30, "{erring}");
}

#[test]
fn an_interrupted_run_goes_on_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = dataset(folder.path(), 16);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (whole, cut) = (path("whole"), path("cut"));
    let common = ["--agent", "dump-all", &dataset, "--trials", "2", "--faults", "429=0.3"];
    let expected = eval(&[&common[..], &["--out", &whole]].concat());
    eval(&[&common[..], &["--out", &cut]].concat());
    // Interrupts the run in the middle of a line.
    let file = std::path::Path::new(&cut).join("episodes.jsonl");
    let bytes = std::fs::read(&file).unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert_eq!(text.lines().count(), 16 * 2 * 2);
    let kept: usize = text.lines().take(21).map(|line| line.len() + 1).sum();
    std::fs::write(&file, &bytes[..kept + 40]).unwrap();
    let again = diorama(["eval"].iter().chain(&common).chain(&["--out", &cut]));
    assert!(again.code == 2 && again.err.contains("--resume"), "{}", again.err);
    let other = diorama(["eval"].iter().chain(&common).chain(&["--out", &cut, "--resume", "--seed", "9"]));
    assert!(other.code == 2 && other.err.contains("found seed 1, expected 9"), "{}", other.err);
    let ran = diorama(["--json", "eval"].iter().chain(&common).chain(&["--out", &cut, "--resume"]));
    assert!(ran.err.contains("the run holds 21 episodes"), "{}", ran.err);
    assert_eq!(serde_json::from_str::<Json>(&ran.out).unwrap(), expected);
    assert_eq!(diorama_tests::files(cut.as_ref()), diorama_tests::files(whole.as_ref()));
}

#[test]
fn faults_cost_what_the_report_says() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = dataset(folder.path(), 40);
    let run = |faults: &str| eval(&["--agent", "oracle", &dataset, "--faults", faults]);
    // The agent retries faults that pass, so no episode is lost or excluded.
    let passing = run("429=0.3,503=0.2,latency=10");
    assert_eq!((&passing["success"], &passing["excluded"]), (&json!(1.0), &json!(0)), "{passing}");
    assert_eq!(passing["faults"]["drop"]["difference"], 0.0);
    // The oracle makes the reference calls, with the tokens and new keys of its own sessions.
    assert_eq!(passing["call_accuracy"], 1.0);
    // The agent cannot retry faults that last. Those episodes do not measure the agent, so they are excluded
    // and counted separately.
    let cut = run("503=0.9");
    let excluded = cut["excluded"].as_u64().unwrap();
    let faults = &cut["faults"];
    assert!(excluded > 0 && cut["success"] == 1.0, "{cut}");
    assert_eq!((&faults["without"]["solved"], &faults["without"]["share"]), (&json!(40), &json!(1.0)));
    assert_eq!(faults["counting_excluded"]["solved"], 40 - excluded);
    assert_eq!(
        (&faults["drop"]["first_only"], &faults["drop"]["second_only"]),
        (&json!(excluded), &json!(0))
    );
    // pass^k covers the tasks that have at least k trials that are not excluded.
    let trials = eval(&["--agent", "oracle", &dataset, "--faults", "503=0.9", "--trials", "3"]);
    let tasks = ["1", "2", "3"].map(|k| {
        assert_eq!(trials["pass_k"][k]["share"], 1.0, "{k}: {:#}", trials["pass_k"]);
        trials["pass_k"][k]["tasks"].as_u64().unwrap()
    });
    assert!(tasks.is_sorted_by(|a, b| a >= b) && tasks[2] < tasks[0] && tasks[2] > 0, "{tasks:?}");
    assert_eq!((&trials["tasks"], &trials["call_accuracy"]), (&json!(tasks[0]), &json!(1.0)));
    let ran = diorama(["eval", "--agent", "oracle", &dataset, "--faults", "404=0.1"]);
    assert!(ran.code == 2 && ran.err.contains("404"), "{}", ran.err);
}

#[test]
fn two_runs_are_compared_and_the_page_needs_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = dataset(folder.path(), 24);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (oracle, noop, html) = (path("oracle"), path("noop"), path("both.html"));
    eval(&["--agent", "oracle", &dataset, "--out", &oracle]);
    eval(&["--agent", "noop", &dataset, "--out", &noop]);
    let compared = eval(&["compare", &oracle, &noop, "--html", &html]);
    let paired = &compared["paired"];
    assert_eq!(
        (&paired["pairs"], &paired["first_only"], &paired["difference"]),
        (&json!(24), &json!(24), &json!(-1.0))
    );
    assert!(paired["p"].as_f64().unwrap() < 1e-6 && compared["note"].is_null());
    for file in [html.clone(), format!("{oracle}/report.html")] {
        let page = std::fs::read_to_string(&file).unwrap();
        assert!(page.contains("scripted, no model") && page.matches("<svg").count() >= 5, "{file}");
        for outside in ["<script", "http://", "https://", "@import", "url(", "src="] {
            assert!(!page.contains(outside), "{file}: {outside}");
        }
    }
    // The oracle makes the reference calls and gets full credit. Its searches show every API in the end.
    let of = |folder: &str| -> Json {
        serde_json::from_slice(&std::fs::read(format!("{folder}/report.json")).unwrap()).unwrap()
    };
    let (all, none) = (of(&oracle), of(&noop));
    let found = &all["retrieval"];
    assert_eq!((&all["partial_credit"], &found["completeness"]["10"]), (&json!(1.0), &json!(1.0)), "{all}");
    assert!(none["partial_credit"].as_f64().unwrap() < 0.3, "{none}");
    assert_eq!(none["retrieval"]["recall"]["10"], 0.0);
    // The agent without calls never searched, so no search missed an API.
    assert!(none["attribution"]["retriever_missed"].is_null(), "{}", none["attribution"]);
    let recall: Vec<f64> = ["1", "3", "5", "10"].map(|k| found["recall"][k].as_f64().unwrap()).into();
    assert!(recall.is_sorted() && recall[0] < 1.0 && recall[3] == 1.0, "{recall:?}");
    // The page marks a comparison of a model's run with a scripted agent's run.
    let report = std::path::Path::new(&noop).join("report.json");
    let mut other: Json = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
    (other["model"], other["scripted"]) = (json!("some <model>"), json!(false));
    std::fs::write(&report, other.to_string()).unwrap();
    let ran = diorama(["eval", "compare", &oracle, &noop, "--html", &html]);
    assert!(ran.out.contains("note: one of these agents is scripted"), "{}", ran.out);
    let page = std::fs::read_to_string(&html).unwrap();
    assert!(page.contains("Note: one of these agents is scripted") && page.contains("some &lt;model&gt;"));
    drawn(&html, folder.path());
}

/// Renders the page in a browser, if one is installed, and checks that no error occurs.
fn drawn(html: &str, folder: &std::path::Path) {
    let Some(browser) = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        std::process::Command::new(name).arg("--version").output().is_ok_and(|ran| ran.status.success())
    }) else {
        println!("skipped: no chromium is installed, so the page is not drawn");
        return;
    };
    let shot = folder.join("page.png");
    let ran = std::process::Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1000,2400"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("--screenshot={}", shot.display()))
        .arg(format!("file://{html}"))
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    // A blank page of this size takes only a few kilobytes.
    assert!(std::fs::metadata(&shot).unwrap().len() > 60_000, "{}", std::fs::metadata(&shot).unwrap().len());
}

#[test]
fn a_model_transcribes_the_messages_of_agents_without_finish() {
    let folder = tempfile::tempdir().unwrap();
    let out = dataset(folder.path(), 12);
    let mut ends: BTreeMap<String, Json> = BTreeMap::new();
    for row in Folder::open(Storage::local(out.as_ref())).unwrap().rows().map(Result::unwrap) {
        let task = Task::of(&row).unwrap();
        for (goal, check) in task.goals.iter().zip(&task.checks.goals) {
            let about = ending::subject(check).filter(|_| goal.reason.is_some());
            let facts = ending::facts(check, |_, _| None);
            let end = json!({"outcome": goal.outcome, "reason": goal.reason, "about": about, "facts": facts});
            ends.extend(facts.is_some().then(|| (goal.answer.clone(), end)));
        }
    }
    let script = Script::new(move |body| {
        let messages = body["messages"].as_array().unwrap();
        let prompt = messages[1]["content"].as_str().unwrap();
        let message = prompt.split_once("The assistant's message:\n").unwrap().1;
        match ends.get(message.trim_end_matches("JSON:").trim()) {
            // The evaluator asks once more after a reply that it cannot parse.
            Some(_) if messages.len() == 2 => Answer::text("It is done."),
            Some(end) => Answer::text(end.to_string()),
            None => Answer::text("null"),
        }
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let model = runtime.block_on(ModelServer::start(script)).unwrap();
    let run = |agent: &str| -> Json {
        let url = model.url();
        let line = ["eval", &*out, "--agent", agent, "--answers", "transcribed", "--json"];
        let of_model = ["--transcriber-model", "scripted", "--transcriber-base-url", &url];
        let ran = diorama(line.into_iter().chain(of_model));
        assert_eq!(ran.code, 0, "{}", ran.err);
        serde_json::from_str(&ran.out).unwrap()
    };
    let solved = run("oracle");
    assert_eq!(solved["answers_transcribed_by"], "scripted");
    assert!(solved["success"].as_f64().unwrap() >= 0.5, "{solved}");
    // The messages alone solve no task.
    assert_eq!(run("noop")["success"], 0.0);
    for request in model.received() {
        let text = request.body.to_string();
        assert!(!text.contains("evidence") && !text.contains("gold"), "{text}");
    }
    let unnamed = diorama(["eval", &*out, "--agent", "oracle", "--answers", "transcribed"]);
    assert!(unnamed.code == 2 && unnamed.err.contains("--transcriber-model"), "{}", unnamed.err);
}
