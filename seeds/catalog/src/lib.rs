//! The catalog: hand-written source worlds of one domain each, embedded in the binary.
//!
//! Every file `domains/NAME.yaml` is a domain, found when this package is built; `NAME.scenarios.yaml` beside it holds the
//! plots of its scenarios, `NAME.words.yaml` their words. A package of its own, so that a word changed in a world compiles nothing but this and the command again.
//!
//! Owns the documents' names and texts. It must not read, check or materialise them; `seeds/tests/catalog.rs`
//! holds every one to that.

/// A domain's texts.
struct Entry {
    name: &'static str,
    world: &'static str,
    scenarios: Option<&'static str>,
    words: Option<&'static str>,
}

/// In the order of their names.
static ENTRIES: &[Entry] = &include!(concat!(env!("OUT_DIR"), "/index.rs"));

/// The messages of detours, as YAML.
pub const DETOURS: &str = include_str!("../detours.yaml");

/// The messages by which users press against a policy, as YAML.
pub const PUSHES: &str = include_str!("../pushes.yaml");

/// The messages of all domains, as YAML.
pub const SPEECH: &str = include_str!("../speech.yaml");

fn entry(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// The text of a catalog world, as written.
pub fn source(name: &str) -> Option<&'static str> {
    entry(name).map(|entry| entry.world)
}

/// The text of a catalog world's scenarios, as written.
pub fn scenarios(name: &str) -> Option<&'static str> {
    entry(name).and_then(|entry| entry.scenarios)
}

/// The text of the words of a catalog world's scenarios, as written.
pub fn words(name: &str) -> Option<&'static str> {
    entry(name).and_then(|entry| entry.words)
}

/// The names of the catalog's worlds, in alphabetical order.
pub fn names() -> impl ExactSizeIterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.name)
}
