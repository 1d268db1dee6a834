//! Guesses of the importer: what it took, what else it might have been, and the choice of another.

use std::cell::RefCell;
use std::collections::BTreeMap;

use indexmap::IndexMap;

/// Alternatives that are taken in place of first guesses, by the guess's name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices(BTreeMap<String, usize>);

impl Choices {
    /// Takes an alternative of a guess; the first is 0.
    pub fn choose(&mut self, name: &str, alternative: usize) {
        self.0.insert(name.to_owned(), alternative);
    }
}

/// How strong the evidence of a guess is, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// None: whether any reply shows a key.
    Unseen,
    /// Nouns alone.
    Noun,
    /// Records that look alike.
    Likeness,
    /// The name of a member.
    Member,
}

/// A guess about where records are and by what they are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hypothesis {
    /// What is guessed, and of which path: `key of /rooms`.
    pub name: String,
    /// The form of the path; operations at it and below use the guess.
    pub path: String,
    /// How strong its evidence is.
    pub strength: Strength,
    /// Values that it may take.
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

    /// Notes a guess. The alternative to take, below `alternatives`.
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

    /// All guesses, in the order in which they were made.
    pub(super) fn all(&self) -> Vec<Hypothesis> {
        self.made.borrow().values().cloned().collect()
    }
}

/// Of each path's form, the places of the guesses that it uses.
pub(super) fn uses(hypotheses: &[Hypothesis], forms: &[String]) -> Vec<Vec<usize>> {
    let used = |form: &String| {
        let is_used = |guess: &Hypothesis| {
            form.strip_prefix(&guess.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        hypotheses.iter().enumerate().filter(|(_, guess)| is_used(guess)).map(|(place, _)| place).collect()
    };
    forms.iter().map(used).collect()
}
