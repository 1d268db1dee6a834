//! Owns the tests with the trainers' own clients, which play recorded steps in place of a model.

use std::path::Path;
use std::process::Command;

use diorama_tests::{diorama, installed};
use serde_json::{Value as Json, json};

use super::{Tasks, path};

/// Runs a script of `data/gym`, and returns its last line.
fn run(venv: &str, script: &str, arguments: &[&str]) -> Option<Json> {
    Some(run_with(&installed(&format!("{venv}/bin/python"))?, script, arguments))
}

fn run_with(python: &Path, script: &str, arguments: &[&str]) -> Json {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/gym").join(script);
    let ran = Command::new(python)
        .arg(script)
        .args(arguments)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYTHONPATH", Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("python"))
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let printed = String::from_utf8(ran.stdout).unwrap();
    serde_json::from_str(printed.lines().last().unwrap()).unwrap()
}

/// Checks that a request whose reply is lost is not sent again, because the server may have executed it.
#[test]
fn adapters_send_no_request_twice() {
    if Command::new("python3").arg("--version").output().is_err() {
        assert!(!diorama_tests::is_ci(), "python3 is missing");
        println!("skipped: python3 is not here");
        return;
    }
    let seen = run_with(Path::new("python3"), "connections.py", &[]);
    assert_eq!(seen["requests"], json!(["/first", "/lost", "/next", "/last", "/after"]));
    assert_eq!(seen["outcomes"], json!([{}, "lost", {}, {}, {}]));
}

#[test]
fn openenvs_clients_play_and_its_graders_pass() {
    let tasks = Tasks::new(20);
    let gym = tasks.serve("openenv", &[]);
    let line = ["--server", &gym.url, "--episodes", path(&tasks.episodes)];
    let Some(seen) = run("venv-openenv", "openenv_client.py", &line) else { return };
    assert_eq!((&seen["played"], &seen["reward"], &seen["idle"]), (&json!(20), &json!(20.0), &json!(0)));
    for by in ["mcp", "http"] {
        assert_eq!((&seen[by]["reward"], &seen[by]["done"]), (&json!(1.0), &json!(true)), "{by}");
    }
    assert_eq!(seen["http"]["state"], true);
    assert_eq!(seen["as_written"], json!([0.0, true]));
    let graders = seen["graders"].as_object().unwrap();
    assert!(graders.len() == 3 && graders.values().all(|result| result[0] == "pass"), "{graders:?}");
    let openenv = installed("venv-openenv/bin/openenv").unwrap();
    let validated = Command::new(openenv).args(["validate", "--url", &gym.url]).output().unwrap();
    let report = String::from_utf8_lossy(&validated.stdout);
    assert!(validated.status.success() && !report.contains("FAIL"), "{report}");
}

#[test]
#[ignore = "a minute; a lane runs it"]
fn openenvs_local_checks_pass_where_they_can_be_run() {
    let tasks = Tasks::new(60);
    let gym = tasks.serve("openenv", &[]);
    let line = ["--server", &gym.url, "--episodes", path(&tasks.episodes)];
    let Some(seen) = run("venv-openenv", "openenv_checks.py", &line) else { return };
    let of = |verdict: &str| -> Vec<String> {
        let checks = seen.as_object().unwrap().iter().filter(|(_, found)| found[0] == verdict);
        checks.map(|(name, found)| format!("{name}: {}", found[1])).collect()
    };
    println!("{}", serde_json::to_string_pretty(&seen).unwrap());
    assert_eq!(of("fail"), Vec::<String>::new());
    assert_eq!((of("pass").len(), of("not run").len()), (23, 10));
}

#[test]
fn the_open_reward_client_plays() {
    let tasks = Tasks::new(20);
    let gym = tasks.serve("ors", &[]);
    let line = ["--server", &gym.url, "--episodes", path(&tasks.episodes)];
    let Some(seen) = run("venv-ors", "ors_client.py", &line) else { return };
    assert_eq!((&seen["played"], &seen["reward"], &seen["early"]), (&json!(20), &json!(20.0), &json!(0)));
    assert_eq!((&seen["finished"], &seen["after"]), (&json!(20), &json!(["episode_finished"])));
    assert_eq!(seen["refused"]["no such tool"], "not_found");
    assert_eq!(gym.sessions(), 0);
}

#[test]
#[ignore = "needs NeMo Gym, whose package brings Ray; the lane `trainers` installs it"]
fn nemo_gyms_agent_gets_the_rewards_of_eval() {
    let tasks = Tasks::new(50);
    let rows = tasks.dataset.with_file_name("rows.jsonl");
    let line = ["dataset", "export", path(&tasks.dataset), "--format", "nemo-gym", "--out", path(&rows)];
    assert_eq!(diorama(line).code, 0);
    let gym = tasks.serve("nemo-gym", &[]);
    let line = ["--server", &gym.url, "--episodes", path(&tasks.episodes), "--rows", path(&rows)];
    let Some(seen) = run("venv-nemo-gym", "nemo_gym_agent.py", &line) else { return };
    let rewards = |policy: &str| -> Vec<f64> {
        seen["rewards"][policy].as_object().unwrap().values().map(|reward| reward.as_f64().unwrap()).collect()
    };
    assert_eq!((rewards("oracle"), rewards("idle")), (vec![1.0; 50], vec![0.0; 50]));
    assert_eq!(
        (&seen["same_metrics"], &seen["missing"]),
        (&json!(true), &json!([])),
        "{}",
        seen["differing"]
    );
    assert!(seen["again"].as_object().unwrap().values().all(|reward| *reward == 1.0));
    assert_eq!(gym.sessions(), 0);
}

#[test]
#[ignore = "needs Inspect; the lane `trainers` installs it"]
fn inspect_evaluates_sessions_and_writes_a_log_that_it_reads() {
    let tasks = Tasks::new(20);
    let gym = tasks.serve("ors", &[]);
    let logs = tasks.dataset.with_file_name("logs");
    let line = [&*gym.server.url, path(&tasks.episodes), path(&logs), "20"];
    let Some(seen) = run("venv-inspect", "inspect_eval.py", &line) else { return };
    assert_eq!(
        (&seen["status"], &seen["samples"], &seen["viewed"]),
        (&json!("success"), &json!(20), &json!(20))
    );
    assert!(seen["scores"].as_object().unwrap().values().all(|score| *score == 1.0), "{seen}");
    assert_eq!(gym.sessions(), 0);
}

#[test]
#[ignore = "needs verifiers, whose harness fetches packages; the lane `trainers` installs it"]
fn verifiers_evaluates_over_its_bridge_to_nemo_gym() {
    let tasks = Tasks::new(20);
    let rows = tasks.dataset.with_file_name("rows.jsonl");
    let line = ["dataset", "export", path(&tasks.dataset), "--format", "nemo-gym", "--out", path(&rows)];
    assert_eq!(diorama(line).code, 0);
    let gym = tasks.serve("nemo-gym", &[]);
    let folder = tasks.dataset.with_file_name("verifiers");
    let line = [&*gym.url, path(&rows), path(&tasks.episodes), path(&folder), "20"];
    let Some(seen) = run("venv-verifiers", "verifiers_eval.py", &line) else { return };
    assert_eq!(seen["rewards"], json!(vec![1.0; 20]), "{}", seen["errors"]);
    assert_eq!(gym.sessions(), 0);
}

#[test]
#[ignore = "needs verl; the lane `trainers` installs it"]
fn verls_loop_of_calls_is_rewarded_by_grades() {
    let tasks = Tasks::new(50);
    let gym = tasks.serve("ors", &[]);
    let line = ["--server", &gym.server.url, "--episodes", path(&tasks.episodes)];
    let Some(seen) = run("venv-verl", "verl_loop.py", &line) else { return };
    assert_eq!((&seen["played"], &seen["idle"]), (&json!(vec![1.0; 50]), &json!(vec![0.0; 50])));
    assert_eq!((&seen["joined"], &seen["learned"]), (&json!(vec![1.0; 50]), &json!(true)));
    assert_eq!(gym.sessions(), 0);
}

#[test]
#[ignore = "needs torch; the lane `trainers` installs it"]
fn trls_trainer_takes_two_steps_that_learn() {
    let tasks = Tasks::new(50);
    let gym = tasks.serve("ors", &[]);
    let folder = tasks.dataset.with_file_name("trl");
    let line = [&*gym.server.url, &gym.url, path(&tasks.episodes), path(&folder)];
    let Some(seen) = run("venv-trl", "trl_grpo.py", &line) else { return };
    assert_eq!(seen["as_written"], json!([{"steps": 1, "rewards": [0.0]}, {"steps": 1, "rewards": [0.0]}]));
    for by in ["environments", "ors"] {
        // One of four rollouts plays the recorded steps.
        assert_eq!(
            (&seen[by]["rewards"], &seen[by]["steps"]),
            (&json!([0.25, 0.25]), &json!(2)),
            "{by}: {seen}"
        );
        assert_eq!(
            (&seen[by]["failures"], &seen[by]["learned"]),
            (&json!([0.0, 0.0]), &json!(true)),
            "{by}: {seen}"
        );
    }
}
