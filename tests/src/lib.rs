//! Owns the harness of the end-to-end tests, which runs the command in a temporary folder.
//!
//! It runs `diorama` in the test's own process or as a child, and compares folders. It uses no fixed ports,
//! sleeps or shared state.

pub mod requests;
pub mod server;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The result of a command line.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The exit code.
    pub code: u8,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// Runs a command line in this process.
#[must_use]
pub fn diorama<I: IntoIterator<Item = S>, S: Into<OsString>>(arguments: I) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let line = std::iter::once("diorama".into()).chain(arguments.into_iter().map(Into::into));
    let code = diorama_agents::cli::main(line, &mut out, &mut err);
    // ExitCode has no accessor; its debug form holds the number.
    let code =
        format!("{code:?}").chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap_or(255);
    Ran {
        code,
        out: String::from_utf8_lossy(&out).into_owned(),
        err: String::from_utf8_lossy(&err).into_owned(),
    }
}

/// Generates a dataset of `dialogues` dialogues in a folder, and returns its path.
///
/// # Panics
/// Panics if the command fails.
#[must_use]
pub fn dataset(folder: &Path, dialogues: u32, seed: u32) -> PathBuf {
    let out = folder.join("dataset");
    let line = format!("generate --dialogues {dialogues} --seed {seed} --out");
    let ran = diorama(line.split(' ').map(OsString::from).chain([out.clone().into_os_string()]));
    assert_eq!(ran.code, 0, "{}", ran.err);
    out
}

/// Returns all files below a folder, by their relative paths.
#[must_use]
pub fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                waiting.push(path);
            } else if let (Ok(bytes), Ok(name)) = (std::fs::read(&path), path.strip_prefix(folder)) {
                found.insert(name.to_owned(), bytes);
            }
        }
    }
    found
}

/// Returns the path of a file of the reference material beside the project. If it is missing, it prints the
/// reason.
#[must_use]
pub fn shared_data(file: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(file);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is not here", path.display());
    None
}

/// Returns the path of a program below `target`, which `.ci/run` installs. If it is missing, it prints the
/// reason.
///
/// # Panics
/// Panics if the program is missing in `.ci/run`.
#[must_use]
pub fn installed(program: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("target").join(program);
    if path.exists() {
        return Some(path);
    }
    assert!(!is_ci(), "{} is missing; .ci/run makes it", path.display());
    println!("skipped: {} is missing; .ci/run makes it", path.display());
    None
}

/// Returns true in `.ci/run`, which must not skip a test.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "tests are told by their environment")]
pub fn is_ci() -> bool {
    std::env::var("DIORAMA_CI").is_ok_and(|value| value == "1")
}
