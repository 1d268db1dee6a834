//! Answers: which expected facts a text states, which it contradicts, and what it says beside them.
//!
//! Needs no world: rivals of names come as lists. Whether a reply of the episode holds a stated fact is the
//! grader's business (`grade::evidence`).

pub(crate) mod anchors;
pub(crate) mod goal;
mod hits;
pub(crate) mod reading;
mod rivals;
pub(crate) mod yes_no;

use std::sync::Arc;

use diorama_seeds::task::{AnswerCheck, Fact};
use diorama_seeds::value::Zone;

pub use self::goal::FactError;
use self::goal::Goal;
pub(crate) use self::reading::Explained;
pub use self::reading::{AnswerReading, FactState};
use super::vocabulary::Vocabulary;
use diorama_answers::lexicon::Roles;
use diorama_answers::names::Names;
use diorama_answers::tokens::{self as extract_token, Text};
use diorama_engine::Base;

/// An answer fails as a dump above so many mentions beside what is expected and allowed, or twice the expected.
pub const MAX_UNASKED: usize = 4;
/// At most so many facts in all may be stated beside the expected ones, or three for each expected fact.
pub const MAX_CONTEXT: usize = 12;
/// An answer of more words and marks than these, and those for each expected fact, is a dump whatever they say.
pub const MAX_WORDS: usize = 300;
/// Words for each expected fact.
pub const MAX_WORDS_PER_FACT: usize = 40;

/// Expected facts, ready to read many answers.
#[derive(Clone, Debug)]
pub struct AnswerKey {
    pub(crate) tops: Vec<Top>,
    pub(crate) atoms: Vec<Atom>,
    pub(crate) context: Vec<Goal>,
    /// Names of the fields that expected entities are of.
    pub(crate) names: Vec<Arc<Names>>,
    /// Those fields: resource and field.
    fields: Vec<(String, String)>,
}

/// One answer check: a single fact or a list of them.
#[derive(Clone, Debug)]
pub(crate) struct Top {
    pub(crate) about: String,
    /// Stems of the words in `about` that say something.
    pub(crate) words: Vec<u64>,
    /// Words of `about` with a small word behind them, such as `check in`.
    pub(crate) pairs: Vec<(u64, u64)>,
    /// Its atoms in [`AnswerKey::atoms`].
    pub(crate) atoms: std::ops::Range<usize>,
    pub(crate) list: bool,
    pub(crate) ordered: bool,
}

/// One value that must be stated.
#[derive(Clone, Debug)]
pub(crate) struct Atom {
    pub(crate) top: usize,
    pub(crate) goal: Goal,
}

/// The values of a field, which contradict each other: resource, field, values.
pub type Rivals = (String, String, Vec<String>);

impl AnswerKey {
    /// Makes checks ready, with the values that would contradict expected names.
    ///
    /// # Errors
    /// [`FactError`] for a fact that no answer can state.
    pub fn new(
        checks: &[AnswerCheck],
        context: &[Fact],
        rivals: &[Rivals],
        zone: &Zone,
    ) -> Result<Self, FactError> {
        let made: Vec<((&str, &str), Arc<Names>)> = rivals
            .iter()
            .map(|(resource, field, values)| {
                ((resource.as_str(), field.as_str()), Arc::new(Names::of(values.iter().map(String::as_str))))
            })
            .collect();
        Self::build(checks, context, zone, |resource, field| {
            made.iter().find(|(of, _)| *of == (resource, field)).map(|(_, names)| Arc::clone(names))
        })
    }

    /// The same with the names of a world's records.
    pub(crate) fn of_world(
        checks: &[AnswerCheck],
        context: &[Fact],
        base: &Base,
        vocabulary: &Vocabulary,
    ) -> Result<Self, FactError> {
        let world = base.world();
        Self::build(checks, context, &world.zone, |resource, field| {
            let resource = world.resource_named(resource)?;
            let field = world.resource(resource).field_named(field)?;
            Some(vocabulary.field(base, resource, field))
        })
    }

    /// The names of a field that an expected entity is of.
    pub(crate) fn names_of(&self, resource: &str, field: &str) -> Option<Arc<Names>> {
        let at = self.fields.iter().position(|(r, f)| r == resource && f == field)?;
        self.names.get(at).cloned()
    }

    /// Makes checks ready with names from elsewhere.
    pub(crate) fn build(
        checks: &[AnswerCheck],
        context: &[Fact],
        zone: &Zone,
        lookup: impl Fn(&str, &str) -> Option<Arc<Names>>,
    ) -> Result<Self, FactError> {
        let mut fields: Vec<(String, String)> = Vec::new();
        let mut names: Vec<Arc<Names>> = Vec::new();
        let mut position = |fact: &Fact, names: &mut Vec<Arc<Names>>| -> Option<usize> {
            let Fact::Entity { of: Some((resource, field)), .. } = fact else { return None };
            if let Some(known) = fields.iter().position(|(r, f)| r == resource && f == field) {
                return Some(known);
            }
            names.push(lookup(resource, field)?);
            fields.push((resource.clone(), field.clone()));
            Some(names.len() - 1)
        };
        let mut ready = |fact: &Fact, names: &mut Vec<Arc<Names>>| -> Result<Goal, FactError> {
            let field = position(fact, names);
            Goal::new(
                fact,
                zone,
                field.and_then(|position| names.get(position).map(|names| (position, &**names))),
            )
        };
        let mut tops = Vec::with_capacity(checks.len());
        let mut atoms = Vec::with_capacity(checks.len());
        for check in checks {
            let start = atoms.len();
            let (facts, ordered) = match &check.fact {
                Fact::List { items, .. } if items.is_empty() => {
                    return Err(FactError::List(
                        "an expected list has no items; expect a count of 0 or an empty reply instead",
                    ));
                }
                Fact::List { items, ordered } => (items.as_slice(), *ordered),
                single => (std::slice::from_ref(single), false),
            };
            for fact in facts {
                atoms.push(Atom { top: tops.len(), goal: ready(fact, &mut names)? });
            }
            let about = Text::of_value(&check.about);
            let words = about.tokens.iter().filter(|token| anchors::says_something(token));
            tops.push(Top {
                about: check.about.clone(),
                words: words.map(|token| token.stem).collect(),
                pairs: pairs(&about),
                atoms: start..atoms.len(),
                list: matches!(check.fact, Fact::List { .. }),
                ordered,
            });
        }
        let mut around = Vec::with_capacity(context.len());
        for fact in context {
            match fact {
                Fact::List { items, .. } => {
                    for item in items {
                        around.push(ready(item, &mut names)?);
                    }
                }
                single => around.push(ready(single, &mut names)?),
            }
        }
        Ok(Self { tops, atoms, context: around, names, fields })
    }
}

/// A word with content and the small word right behind it: `check in`, `drop-off`.
fn pairs(text: &Text) -> Vec<(u64, u64)> {
    let words: Vec<_> = text.tokens.iter().filter(|token| token.hash != 0).collect();
    let small = |two: &&[&extract_token::Token]| two[0].has_content() && two[1].is(Roles::FUNCTION);
    words.windows(2).filter(small).map(|two| (two[0].stem, two[1].hash)).collect()
}

/// Whether one stem is another with another ending: `carpent` and `carpentri`.
pub(super) fn is_inflected(a: &str, b: &str) -> bool {
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    common >= 5 && common * 3 >= a.chars().count().max(b.chars().count()) * 2
}
