//! The README's commands, read from there and run in its order in one folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use diorama_model_server::{Answer, ModelServer, Script};

/// Commands that other lanes run: `.ci/run` takes the tests' command from the README, the lane `install` those for installing.
const ELSEWHERE: [&str; 4] = [
    "cargo test --release --workspace",
    "cargo install --path agents --locked",
    "pip install 'maturin",
    "pip install wheels/",
];

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A fenced block of a page.
pub(crate) struct Block {
    /// The words after the opening fence: the language, and marks.
    pub(crate) marks: Vec<String>,
    /// Its lines.
    pub(crate) text: String,
}

impl Block {
    pub(crate) fn has(&self, mark: &str) -> bool {
        self.marks.iter().any(|word| word == mark)
    }
}

/// The fenced blocks of a page.
pub(crate) fn blocks(page: &Path) -> Vec<Block> {
    let text = std::fs::read_to_string(page).unwrap();
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for line in text.lines() {
        match open.take() {
            None => {
                open = line.strip_prefix("```").map(|marks| Block {
                    marks: marks.split_whitespace().map(str::to_owned).collect(),
                    text: String::new(),
                });
            }
            Some(block) if line == "```" => found.push(block),
            Some(mut block) => {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some(block);
            }
        }
    }
    assert!(open.is_none(), "{}: a block has no end", page.display());
    found
}

/// The README's blocks of shell commands.
fn readme_blocks() -> Vec<String> {
    blocks(&root().join("README.md"))
        .into_iter()
        .filter(|block| block.has("sh"))
        .map(|block| block.text)
        .collect()
}

/// Runs a block in a folder that has the project's examples, tests and recipes, and stops what it leaves behind. Gives what it printed.
pub(crate) fn run(block: &str, folder: &Path, path: &str) -> String {
    let script = format!("set -e\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n{block}");
    let ran =
        Command::new("bash").args(["-c", &script]).current_dir(folder).env("PATH", path).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{block}\n{out}\n{err}");
    out.into_owned()
}

/// A folder for the commands, and a path on which `diorama` is found.
pub(crate) fn place(more: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["examples", "tests", "recipes"] {
        std::os::unix::fs::symlink(root().join(name), folder.path().join(name)).unwrap();
    }
    let programs = Path::new(env!("CARGO_BIN_EXE_diorama")).parent().unwrap().display().to_string();
    let found = std::process::Command::new("bash").args(["-c", "printf %s \"$PATH\""]).output().unwrap();
    (folder, format!("{more}{programs}:{}", String::from_utf8_lossy(&found.stdout)))
}

/// A port that nobody listens on.
pub(crate) fn free_port() -> u16 {
    std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

#[test]
fn the_readmes_commands_do_what_it_says() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let model =
        runtime.block_on(ModelServer::start(Script::new(|_| Answer::text("Done.".to_owned())))).unwrap();
    let port = free_port().to_string();
    let (folder, path) = place("");
    let mut seen = Vec::new();
    for block in readme_blocks() {
        let is_elsewhere = |line: &str| ELSEWHERE.iter().any(|start| line.starts_with(start));
        let lines: Vec<&str> =
            block.lines().filter(|line| !is_elsewhere(line) && !line.starts_with("python ")).collect();
        let block = lines.join("\n").replace("cargo run --release -- ", "diorama ");
        let block = block.replace("http://127.0.0.1:8000", &model.url()).replace("NAME", "scripted");
        let serve = "diorama serve examples/library.yaml";
        let block = block.replace("8080", &port).replace(serve, &format!("{serve} --port {port}"));
        seen.push(run(&block, folder.path(), &path));
    }
    let printed = seen.join("\n");
    for part in [
        "1000 dialogues in dataset",
        "500 dialogues in rows",
        "success            1.0000",
        "function-calling",
        r#"[{"author":"F. Crab","language":"English","title":"Mock Turtles","id":"#,
    ] {
        assert!(printed.contains(part), "found no {part:?} in:\n{printed}");
    }
}

#[test]
#[ignore = "needs torch; the lane `trainers` installs it"]
fn the_readmes_dataset_is_trained_on() {
    let python = root().join("target/venv-trl/bin");
    let (folder, path) = place(&format!("{}:", python.display()));
    let block = readme_blocks().into_iter().find(|block| block.contains("sft_trl.py")).unwrap();
    let tiny = format!("python {} rows.jsonl tiny", root().join("tests/data/gym/tiny_model.py").display());
    let line = "python examples/sft_trl.py rows.jsonl";
    let block = block.replace(line, &format!("{tiny}\n{line} --model tiny"));
    let printed = run(&format!("export HF_HUB_OFFLINE=1\n{block}"), folder.path(), &path);
    assert!(printed.contains("trained tiny on 500 dialogues; the model is in trained"), "{printed}");
    assert!(folder.path().join("trained/model.safetensors").is_file());
}

#[test]
fn the_mock_example_remembers_what_was_written() {
    let (folder, path) = place("");
    let printed = run(&format!("PORT={} examples/mock_api.sh", free_port()), folder.path(), &path);
    assert_eq!(printed.matches(r#""title":"Mock Turtles""#).count(), 2, "{printed}");
    assert!(printed.contains(r#""status":400"#), "{printed}");
}
