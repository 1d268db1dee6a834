//! Records the importer's guesses with their alternatives, and the choices that replace them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use indexmap::IndexMap;

/// Alternatives that replace first guesses, by the guess's name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices(BTreeMap<String, usize>);

impl Choices {
    /// Chooses an alternative of a guess; 0 is the first.
    pub fn choose(&mut self, name: &str, alternative: usize) {
        self.0.insert(name.to_owned(), alternative);
    }
}

/// The strength of a guess's evidence, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// No evidence: a reply may or may not show a key.
    Unseen,
    /// Nouns alone.
    Noun,
    /// Records that look alike.
    Likeness,
    /// The name of a member.
    Member,
}

/// A guess about the path of records or about their key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hypothesis {
    /// The subject and the path: `key of /rooms`.
    pub name: String,
    /// The form of the path; operations at it and below use the guess.
    pub path: String,
    /// The strength of its evidence.
    pub strength: Strength,
    /// The number of alternatives, at least 2.
    pub alternatives: usize,
}

/// The guesses made so far, and the choices that replace them.
#[derive(Debug, Default)]
pub(super) struct Guesses {
    choices: Choices,
    made: RefCell<IndexMap<String, Hypothesis>>,
}

impl Guesses {
    pub(super) fn new(choices: &Choices) -> Self {
        Self { choices: choices.clone(), made: RefCell::default() }
    }

    /// Records a guess. Returns the alternative to take, below `alternatives`.
    pub(super) fn guess(&self, what: &str, path: &str, strength: Strength, alternatives: usize) -> usize {
        if alternatives < 2 {
            return 0;
        }
        let name = format!("{what} of {path}");
        let chosen = self.choices.0.get(&name).copied().unwrap_or(0).min(alternatives - 1);
        let guess = || Hypothesis { name: name.clone(), path: path.to_owned(), strength, alternatives };
        self.made.borrow_mut().entry(name.clone()).or_insert_with(guess);
        chosen
    }

    /// Returns all guesses, in the order in which they were made.
    pub(super) fn all(&self) -> Vec<Hypothesis> {
        self.made.borrow().values().cloned().collect()
    }
}

/// Returns for each path's form the indices of the guesses that it uses.
pub(super) fn uses(hypotheses: &[Hypothesis], forms: &[String]) -> Vec<Vec<usize>> {
    let used = |form: &String| {
        let is_used = |guess: &Hypothesis| {
            form.strip_prefix(&guess.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        hypotheses.iter().enumerate().filter(|(_, guess)| is_used(guess)).map(|(place, _)| place).collect()
    };
    forms.iter().map(used).collect()
}
