//! Owns the tests of the agents in `examples/`, which play a served dataset with a scripted model server.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use diorama_agents::episode::Task;
use diorama_model_server::{Answer, ModelServer, Script};
use diorama_output::folder::Folder;
use diorama_seeds::ending;
use diorama_tests::requests::serve;
use diorama_tests::{dataset, installed};
use serde_json::{Value as Json, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn python() -> Option<PathBuf> {
    installed("venv-examples/bin/python")
}

/// A step of a reference solution: a message to the user, or a call by name.
#[derive(Clone)]
enum Step {
    Say(String),
    Call(String, Json),
}

/// Returns the reference solutions by opening message and by id. It skips rows whose facts depend on values
/// that a session creates.
fn solutions(dataset: &Path) -> (BTreeMap<String, Vec<Step>>, BTreeMap<String, Vec<Step>>) {
    let (mut by_opening, mut by_id) = (BTreeMap::new(), BTreeMap::new());
    for row in
        Folder::open(diorama_output::storage::Storage::local(dataset)).unwrap().rows().map(Result::unwrap)
    {
        let task = Task::of(&row).unwrap();
        if let Some(steps) = solution(&task) {
            by_opening.insert(row.query.clone(), steps.clone());
            by_id.insert(row.id.clone(), steps);
        }
    }
    (by_opening, by_id)
}

fn solution(task: &Task) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for (number, goal) in task.goals.iter().enumerate() {
        let script = task.script.goals.get(number)?;
        // The facts do not name the subject of a refusal.
        if goal.reason.is_some() {
            return None;
        }
        let question = |about: &str| Step::Say(format!("Could you tell me the {}?", about.replace('_', " ")));
        steps.extend(script.withheld.iter().map(|held| question(&held.about)));
        for index in goal.calls.clone() {
            let asks = goal.consents.iter().filter(|asked| asked.at == index);
            steps.extend(asks.map(|asked| {
                let arguments = json!({"calls": asked.calls, "message": asked.question});
                Step::Call("confirm".to_owned(), arguments)
            }));
            let gold = &task.gold[index];
            steps.push(Step::Call(gold.api.clone(), Json::Object(gold.arguments.clone())));
        }
        steps.extend(script.lines.iter().map(|_| Step::Say("Shall I go on?".to_owned())));
        let expected = task.checks.goals.get(number)?;
        let facts = ending::facts(expected, |_, _| None)?;
        let end = json!({"outcome": goal.outcome, "facts": facts, "message": goal.answer});
        steps.push(Step::Call("finish".to_owned(), end));
    }
    Some(steps)
}

/// Returns the next reply of the scripted model: the step at the current turn of the conversation.
fn next(solutions: &BTreeMap<String, Vec<Step>>, body: &Json) -> Answer {
    let messages = body["messages"].as_array().unwrap();
    let said = |role: &str| messages.iter().filter(|message| message["role"] == role).collect::<Vec<_>>();
    assert!(!said("system").is_empty() && !body["tools"].as_array().unwrap().is_empty());
    let steps = solutions.get(said("user")[0]["content"].as_str().unwrap());
    match steps.and_then(|steps| steps.get(said("assistant").len())) {
        Some(Step::Say(words)) => Answer::text(words.clone()),
        Some(Step::Call(name, arguments)) => {
            let names: Vec<&Json> =
                body["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
            assert!(names.contains(&&json!(name)), "{name} is not among {names:?}");
            let function = json!({"name": name, "arguments": arguments.to_string()});
            let call = json!({"id": "a", "type": "function", "function": function});
            Answer::Message(json!({"role": "assistant", "content": null, "tool_calls": [call]}))
        }
        None => Answer::text("Shall I go on?"),
    }
}

/// Runs an example, and returns its output lines.
fn lines(python: &Path, script: &str, server: &str, model: &str) -> Vec<Json> {
    let mut command = Command::new(python);
    command.arg(root().join("examples").join(script)).args(["--server", server, "--base-url", model]);
    command
        .args(["--model", "scripted", "--split", "train", "--tasks", "1000"])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("DIORAMA_CONTROL_TOKEN", "secret");
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{script}: {}", String::from_utf8_lossy(&ran.stderr));
    let text = String::from_utf8(ran.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_python_agent_solves_what_its_model_solves_and_nothing_else() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let out = dataset(folder.path(), 30, 5);
    let (by_opening, by_id) = solutions(&out);
    assert!(by_id.len() >= 10, "{} of the rows have a solution that can be written down", by_id.len());
    let server = serve(&["--tasks", out.to_str().unwrap(), "--control-token", "secret"]);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let model =
        runtime.block_on(ModelServer::start(Script::new(move |body| next(&by_opening, body)))).unwrap();
    let plain = lines(&python, "evaluate_agent.py", &server.url, &model.url());
    let (total, episodes) = plain.split_last().unwrap();
    assert_eq!(episodes.len(), 30);
    for episode in episodes {
        let task = episode["task"].as_str().unwrap();
        let solved = if by_id.contains_key(task) { 1.0 } else { 0.0 };
        assert_eq!((&episode["reward"], &episode["excluded"]), (&json!(solved), &json!(false)), "{task}");
    }
    assert_eq!(total["success"], json!(by_id.len() as f64 / 30.0));
    let received = model.received();
    assert!(received.iter().all(|request| request.body["model"] == "scripted"));
    server.stop();
}

#[test]
fn trl_gets_a_class_for_each_world_whose_tools_solve_its_tasks() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let out = dataset(folder.path(), 30, 5);
    let (_, by_id) = solutions(&out);
    let step = |step: &Step| match step {
        Step::Say(words) => json!(["ask_user", {"question": words}]),
        Step::Call(name, arguments) => json!([name, arguments]),
    };
    let steps: BTreeMap<&String, Vec<Json>> =
        by_id.iter().map(|(id, steps)| (id, steps.iter().map(step).collect())).collect();
    let server = serve(&["--tasks", out.to_str().unwrap(), "--control-token", "secret"]);
    let mut child = Command::new(&python)
        .arg(root().join("tests/data/examples/trl_driver.py"))
        .arg(&server.url)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("DIORAMA_CONTROL_TOKEN", "secret")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(json!(steps).to_string().as_bytes()).unwrap();
    let ran = child.wait_with_output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let seen: Json = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!((&seen["rows"], seen["rewards"].as_object().unwrap().len()), (&json!(30), by_id.len()));
    assert!(seen["idle"].as_object().unwrap().values().all(|reward| *reward == 0.0), "{}", seen["idle"]);
    for (task, reward) in seen["rewards"].as_object().unwrap() {
        assert_eq!(*reward, 1.0, "{task}");
    }
    assert!(seen["asked"].as_array().unwrap().iter().all(|asked| asked.as_str().unwrap().contains("finish")));

    // The schemas that TRL shows a model have the properties and required names of the world's own schemas.
    for row in Folder::open(diorama_output::storage::Storage::local(out.as_ref()))
        .unwrap()
        .rows()
        .map(Result::unwrap)
    {
        for tool in serde_json::from_str::<Vec<Json>>(&row.tools).unwrap() {
            let (function, shown) = (&tool["function"], &seen["schemas"][&row.world_id]);
            let parameters = &shown[function["name"].as_str().unwrap()];
            let names = |schema: &Json| -> Vec<String> {
                let mut names: Vec<String> =
                    schema["properties"].as_object().unwrap().keys().cloned().collect();
                names.sort_unstable();
                names
            };
            let required = |schema: &Json| {
                let all = schema["required"].as_array().cloned().unwrap_or_default();
                let mut all: Vec<String> = all.iter().map(|name| name.as_str().unwrap().to_owned()).collect();
                all.sort_unstable();
                all
            };
            // TRL appends an underscore to a keyword of Python, such as `from`.
            let plain = |names: Vec<String>| -> Vec<String> {
                names.iter().map(|name| name.strip_suffix('_').unwrap_or(name).to_owned()).collect()
            };
            assert_eq!(plain(names(parameters)), names(&function["parameters"]), "{function}");
            assert_eq!(plain(required(parameters)), required(&function["parameters"]), "{function}");
        }
    }
    server.stop();
}
