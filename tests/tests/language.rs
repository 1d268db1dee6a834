//! Owns the tests of the language of the code: comments with a subject, types named by nouns, files of a
//! readable length.

use std::path::{Path, PathBuf};

/// The greatest number of lines of a file.
const MAX_LINES: usize = 500;
/// Words that begin a comment without a subject, and what to write instead.
const NO_SUBJECT: [&str; 8] =
    ["What ", "Who ", "Whether ", "Nothing ", "Nobody ", "So many ", "Of its ", "Whatever "];
/// Irregular participles, and particles: words that name no type.
const NO_NOUNS: [&str; 54] = [
    "About", "Above", "After", "Around", "Asked", "At", "Before", "Behind", "Below", "Borne", "Bought",
    "Broken", "Built", "By", "Chosen", "Done", "Drawn", "For", "Found", "From", "Frozen", "Given", "Gone",
    "Heard", "Held", "Hidden", "In", "Kept", "Known", "Left", "Made", "Met", "Of", "Off", "On", "Out",
    "Over", "Proven", "Put", "Read", "Said", "Seen", "Sent", "Shown", "Spoken", "Taken", "Through", "To",
    "Told", "Under", "Went", "With", "Within", "Written",
];
/// Nouns that end like a participle.
const NOUNS: [&str; 6] = ["Deed", "Feed", "Need", "Seed", "Speed", "Thread"];

/// Returns the source files of the repository.
fn sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut files, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    assert!(files.len() > 1000, "found {} source files", files.len());
    files
}

/// Checks each line of all sources. `judge` returns the fault of a line.
fn check(judge: impl Fn(&str) -> Option<String>) {
    let mut faults = Vec::new();
    for file in sources() {
        for (index, line) in std::fs::read_to_string(&file).unwrap().lines().enumerate() {
            faults.extend(judge(line).map(|fault| format!("{}:{}: {fault}", file.display(), index + 1)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Returns the name of the type that a line declares.
fn declared_type(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1.trim_start(),
        Some(rest) => rest.trim_start(),
        None => line,
    };
    let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|word| line.strip_prefix(word))?;
    rest.split(|character: char| !character.is_alphanumeric()).next()
}

/// Returns true if a name is a participle or a particle.
fn is_no_noun(name: &str) -> bool {
    let is_one_word = name.chars().skip(1).all(char::is_lowercase);
    is_one_word && (NO_NOUNS.contains(&name) || (name.ends_with("ed") && !NOUNS.contains(&name)))
}

#[test]
fn comments_begin_with_their_subject() {
    check(|line| {
        let comment =
            line.trim_start().strip_prefix("//")?.trim_start_matches(['/', '!']).strip_prefix(' ')?;
        let word = NO_SUBJECT.iter().find(|word| comment.starts_with(**word))?;
        Some(format!("a comment begins with `{}`; name its subject first", word.trim()))
    });
}

#[test]
fn types_are_named_by_nouns() {
    check(|line| {
        let name = declared_type(line).filter(|name| is_no_noun(name))?;
        Some(format!("the type `{name}` is named by no noun"))
    });
    assert!(is_no_noun("Told") && is_no_noun("Listed") && !is_no_noun("Seed") && !is_no_noun("NamedRecord"));
    assert_eq!(declared_type("    pub(crate) struct Told<'a> {"), Some("Told"));
}

#[test]
fn files_have_a_readable_length() {
    let long = sources().into_iter().filter_map(|file| {
        let lines = std::fs::read_to_string(&file).unwrap().lines().count();
        (lines > MAX_LINES).then(|| format!("{}: {lines} lines", file.display()))
    });
    assert_eq!(long.collect::<Vec<_>>(), Vec::<String>::new());
}
