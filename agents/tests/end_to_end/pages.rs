//! The commands of the documentation, read from its pages: blocks that are marked `run` are run, and all command lines are parsed.
//!
//! A fence says so after its language: ```` ```sh run ````. A block marked `file=NAME` is a file that the commands of its page find.

use std::path::{Path, PathBuf};
use std::process::Command;

use diorama_model_server::{Answer, ModelServer, Script};

use crate::readme::{Block, blocks, free_port, place, root, run};

/// Folders of the project that commands name files of.
const PROJECT_FOLDERS: [&str; 6] = ["benches/", "docs/", "examples/", "recipes/", "seeds/", "tests/"];

/// The pages of the documentation, in the order of their paths.
fn pages() -> Vec<PathBuf> {
    let (mut found, mut waiting) = (Vec::new(), vec![root().join("docs")]);
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort_unstable();
    found
}

/// Writes the file that a block holds, where it holds one. The project's own copy in `examples` is the same.
fn write_file(block: &Block, page: &Path, folder: &Path) {
    let Some(name) = block.marks.iter().find_map(|mark| mark.strip_prefix("file=")) else { return };
    std::fs::write(folder.join(name), &block.text).unwrap();
    if let Ok(example) = std::fs::read_to_string(root().join("examples").join(name)) {
        assert_eq!(block.text, example, "{} shows another {name} than examples/", page.display());
    }
}

#[test]
#[ignore = "makes some thousand rows; the lane `book` runs it"]
fn the_pages_commands_run() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let model =
        runtime.block_on(ModelServer::start(Script::new(|_| Answer::text("Done.".to_owned())))).unwrap();
    let mut ran = 0;
    for page in pages() {
        let blocks = blocks(&page);
        let marked = blocks.iter().filter(|block| block.has("run"));
        let commands: Vec<&str> = marked.map(|block| block.text.as_str()).collect();
        if commands.is_empty() {
            continue;
        }
        let (folder, path) = place("");
        for block in &blocks {
            write_file(block, &page, folder.path());
        }
        let port = free_port().to_string();
        let script = commands
            .join("\n")
            .replace("8080", &port)
            .replace("diorama serve ", &format!("diorama serve --port {port} "))
            .replace("http://127.0.0.1:8000", &model.url())
            .replace("--model NAME", "--model scripted");
        println!("{}", page.display());
        run(&script, folder.path(), &path);
        ran += 1;
    }
    assert!(ran >= 10, "{ran} pages have blocks that are marked `run`");
}

/// The command lines of `diorama` in a block: without comments, and without what stands before and after them in their line.
fn command_lines(block: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in block.replace("\\\n", " ").lines() {
        let line = if line.starts_with('#') { "" } else { line.split(" #").next().unwrap_or_default() };
        for part in line.split(['|', '&', ';']) {
            let part = format!(" {part}");
            found.extend(part.split_once(" diorama ").map(|(_, arguments)| arguments.trim().to_owned()));
        }
    }
    found
}

/// Has the command parse a line, and looks for the files of the project that it names.
fn check_line(arguments: &str, page: &Path, folder: &Path, path: &str) {
    // The parser meets every option and value before `--help`, and refuses those that it does not know.
    let script = format!("i=1\ndiorama() {{ command diorama \"$@\" --help; }}\ndiorama {arguments}");
    let ran =
        Command::new("bash").args(["-c", &script]).current_dir(folder).env("PATH", path).output().unwrap();
    let error = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{}: diorama {arguments}\n{error}", page.display());
    for word in arguments.split(' ') {
        let is_named = PROJECT_FOLDERS.iter().any(|name| word.starts_with(name));
        assert!(!is_named || root().join(word).exists(), "{}: found no file {word}", page.display());
    }
}

#[test]
fn the_pages_command_lines_are_understood() {
    let (folder, path) = place("");
    let mut parsed = 0;
    for page in pages().into_iter().chain([root().join("README.md")]) {
        for block in blocks(&page).iter().filter(|block| block.has("sh")) {
            for arguments in command_lines(&block.text) {
                check_line(&arguments, &page, folder.path(), &path);
                parsed += 1;
            }
        }
    }
    assert!(parsed >= 50, "the pages have {parsed} command lines");
}
