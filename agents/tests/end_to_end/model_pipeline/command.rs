//! The command with a model that is killed, or interrupted, and goes on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use diorama_model_server::{ModelServer, Script};
use serde_json::{Value as Json, json};

use super::setup::{files, script};

/// The command, with the plain model behind a server.
fn command(server: &ModelServer, out: &Path) -> std::process::Command {
    let world = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds/catalog/domains/city_library.yaml");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_diorama"));
    command.args([
        "generate",
        "--json",
        "--backend",
        "llm",
        "--model",
        "plain",
        "--dialogues",
        "60",
        "--rewrite=user",
    ]);
    command.args([
        "--judge-votes",
        "0",
        "--attempts",
        "12",
        "--concurrency",
        "8",
        "--base-url",
        &server.url(),
    ]);
    command.arg("--world").arg(world).arg("--out").arg(out);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    command
}

fn told(output: &std::process::Output) -> Json {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The rows and worlds of a folder, with the manifest that names their checksums.
fn dataset(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    files(folder).into_iter().filter(|(path, _)| !path.starts_with("steps")).collect()
}

async fn wait_for(server: &ModelServer, calls: u64) {
    while server.counts().calls < calls {
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_command_goes_on_and_repeats_only_what_was_in_flight() {
    let folder = tempfile::tempdir().unwrap();
    let (out, whole) = (folder.path().join("out"), folder.path().join("whole"));
    let server =
        ModelServer::start(Script { delay: Duration::from_millis(15), ..script(Vec::new()) }).await.unwrap();
    let mut child = command(&server, &out).spawn().unwrap();
    wait_for(&server, 30).await;
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!out.join("manifest.json").exists());
    let resumed = told(&command(&server, &out).arg("--resume").output().unwrap());
    assert_eq!(resumed["dialogues"], 60);
    let model = &resumed["model"];
    assert!(model["repeats"].as_u64().unwrap() <= 8, "{model}");
    assert!(model["replayed"].as_u64().unwrap() >= 20, "{model}");
    told(&command(&server, &whole).output().unwrap());
    assert_eq!(dataset(&out), dataset(&whole));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_command_leaves_a_valid_dataset_that_can_be_completed() {
    let folder = tempfile::tempdir().unwrap();
    let (out, whole) = (folder.path().join("out"), folder.path().join("whole"));
    let server =
        ModelServer::start(Script { delay: Duration::from_millis(15), ..script(Vec::new()) }).await.unwrap();
    let child = command(&server, &out).spawn().unwrap();
    wait_for(&server, 30).await;
    let interrupt = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    let stopped = told(&child.wait_with_output().unwrap());
    let written = stopped["dialogues"].as_u64().unwrap();
    assert!((1..60).contains(&written), "{stopped}");
    assert!(stopped["model"]["stopped"].is_string(), "{stopped}");
    assert_eq!(stopped["model"]["unknown_calls"], 0, "what was in flight was finished");
    let verify = std::process::Command::new(env!("CARGO_BIN_EXE_diorama"))
        .args(["dataset", "verify"])
        .arg(&out)
        .output()
        .unwrap();
    assert!(verify.status.success(), "{}", String::from_utf8_lossy(&verify.stdout));
    let resumed = told(&command(&server, &out).arg("--resume").output().unwrap());
    assert_eq!((&resumed["dialogues"], &resumed["model"]["repeats"]), (&json!(60), &json!(0)));
    told(&command(&server, &whole).output().unwrap());
    assert_eq!(dataset(&out), dataset(&whole));
}
