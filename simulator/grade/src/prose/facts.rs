//! Facts: which of those asked for a message states, and which values in it cannot be true beside them.

use diorama_answers::prose::{Prose, Span};
use diorama_answers::{Mention, NumberRole, Stance, What};
use diorama_seeds::english;
use diorama_seeds::task::{AnswerCheck, Fact};

use super::attribution::{self, Speech};
use super::value::{Atom, Content, Target};
use super::visible::Visible;

/// The time of an instant starts so soon behind its day.
const MAX_BYTES_TO_TIME: usize = 24;

/// The state of one expected fact in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactState {
    /// It states it.
    Stated,
    /// It does not.
    NotStated,
    /// It states something that cannot be true beside it.
    Contradicted,
}

/// A message, read for the facts asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct FactReading {
    /// One for each answer check, in order.
    pub facts: Vec<FactState>,
    /// The fact's position, and the words that contradict it.
    pub contradictions: Vec<(usize, String)>,
}

/// Reads what a message says about facts.
#[must_use]
pub fn read_facts(checks: &[AnswerCheck], message: &Prose, visible: &Visible<'_>) -> FactReading {
    let atoms = atoms(checks, visible);
    let speech = Speech::new(message, visible);
    let mut candidates: Vec<Vec<Span>> = atoms.iter().map(|atom| speech.stating(atom)).collect();
    // A choice states none of its values, unless all of them are asked for.
    let all = candidates.concat();
    let asked = |at: usize| {
        let near = |one: usize| one.abs_diff(at) <= 1;
        let is_day = message
            .mentions()
            .iter()
            .any(|mention| near(mention.start) && matches!(mention.what, What::Date(_)));
        all.iter()
            .any(|span| near(span.start) || (is_day && (at..at + MAX_BYTES_TO_TIME).contains(&span.start)))
    };
    let chosen_before = |span: Span| speech.alike_before(span).is_some_and(|before| all.contains(&before));
    for places in &mut candidates {
        places.retain(|span| {
            let next = speech.alternative_after(*span).is_none_or(asked);
            next && (!speech.is_alternative(*span) || chosen_before(*span))
        });
    }
    let served = assign(&atoms, &candidates, message);
    let mut reading = FactReading { facts: Vec::new(), contradictions: Vec::new() };
    reading.contradictions.extend(attribution::swapped(&atoms, &served, message));
    reading.contradictions.extend(speech.corrected(&atoms));
    reading.contradictions.extend(speech.extra_names(&atoms));
    for position in 0..checks.len() {
        let own = || atoms.iter().zip(&served).filter(|(atom, _)| atom.check == position);
        let all = own().all(|(_, span)| span.is_some()) && own().next().is_some();
        let contradicted = reading.contradictions.iter().any(|(fact, _)| *fact == position);
        reading.facts.push(match (contradicted, all) {
            (true, _) => FactState::Contradicted,
            (false, true) => FactState::Stated,
            (false, false) => FactState::NotStated,
        });
    }
    reading
}

impl FactReading {
    /// Returns true if every fact is stated and nothing contradicts one.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.facts.iter().all(|state| *state == FactState::Stated) && self.contradictions.is_empty()
    }
}

fn atoms<'a>(checks: &'a [AnswerCheck], visible: &Visible<'_>) -> Vec<Atom<'a>> {
    let mut atoms = Vec::new();
    for (check, asked) in checks.iter().enumerate() {
        for item in diorama_seeds::ending::item_values(asked) {
            let Some(target) = Target::of_fact(item.fact, &visible.clock.zone) else { continue };
            atoms.push(Atom { check, about: &asked.about, fact: item.fact, target, items: item.names });
        }
    }
    atoms
}

/// Gives each value a place of its own. A place serves several equal values where its sentence says so.
fn assign(atoms: &[Atom<'_>], candidates: &[Vec<Span>], message: &Prose) -> Vec<Option<Span>> {
    let mut taken: Vec<Span> = Vec::new();
    let places = atoms.iter().zip(candidates).map(|(atom, candidates)| {
        let free = candidates.iter().find(|span| !taken.contains(span)).copied();
        taken.extend(free);
        free.or_else(|| {
            let shared = |span: &&Span| {
                let sentence = message.words_at(message.sentence_at(**span));
                english::words(sentence).any(|word| EACH.contains(&&*word))
                    || atom.items.iter().any(|name| !message.find(name).is_empty())
                    || matches!(atom.target.content, Content::Text(..))
            };
            candidates.iter().find(shared).copied()
        })
    });
    places.collect()
}

/// Words by which one value is said of several things.
const EACH: [&str; 8] = ["each", "both", "all", "every", "either", "apiece", "same", "everyone"];

impl Speech<'_> {
    /// Where a message states a value.
    pub(super) fn stating(&self, atom: &Atom<'_>) -> Vec<Span> {
        let message = self.message;
        let places: Vec<Span> = match (&atom.target.content, atom.fact) {
            (Content::Text(text, aliases), _) => {
                let names = std::iter::once(*text).chain(aliases.iter().map(|alias| &**alias));
                let mut places: Vec<Span> = names.flat_map(|name| self.places(name)).collect();
                if places.is_empty() {
                    places.extend(self.last_name(text));
                    places.extend(self.paraphrase(text));
                }
                places.retain(|span| self.is_asserted(*span));
                if *text == "none" {
                    let none = message
                        .mentions()
                        .iter()
                        .filter(|mention| mention.what == What::None && self.states(mention));
                    places.extend(none.map(Mention::span));
                }
                places
            }
            (Content::Truth(truth), Fact::Boolean { when_true, when_false, .. }) => {
                let (own, other) = if *truth { (when_true, when_false) } else { (when_false, when_true) };
                if own.is_empty() && other.is_empty() {
                    let asked = [atom.about.split(" of ").next().unwrap_or_default().to_owned()];
                    let (own, other) = if *truth { (&asked[..], &[][..]) } else { (&[][..], &asked[..]) };
                    self.truth(own, other, *truth)
                } else {
                    self.truth(own, other, *truth)
                }
            }
            (Content::Instant(date, time), _) => {
                let is =
                    |mention: &Mention, target: &Target<'_>| target.is(&mention.what, self.visible.clock);
                let day = Target { content: Content::Date(*date), ..atom.target.clone() };
                let hour = Target { content: Content::Time(*time), ..atom.target.clone() };
                let dated = self
                    .visible
                    .turns
                    .iter()
                    .chain([message])
                    .flat_map(Prose::mentions)
                    .any(|mention| is(mention, &day));
                let hours =
                    message.mentions().iter().filter(|mention| is(mention, &hour) && self.states(mention));
                hours.filter(|_| dated).map(Mention::span).collect()
            }
            _ => {
                let mut found: Vec<&Mention> = message
                    .mentions()
                    .iter()
                    .filter(|mention| {
                        self.states(mention) && atom.target.is(&mention.what, self.visible.clock)
                    })
                    .collect();
                if matches!(atom.target.content, Content::Count(_)) {
                    found.retain(|mention| !matches!(&mention.what, What::Number(number) if matches!(number.role, NumberRole::Limit | NumberRole::Subset)));
                }
                found.sort_by_key(|mention| weakness(mention));
                found.into_iter().map(Mention::span).collect()
            }
        };
        places
    }

    /// Returns true if a mention is said to be so.
    pub(super) fn states(&self, mention: &Mention) -> bool {
        mention.stance == Stance::Asserted
    }

    /// The last name of a person alone, where no other visible text has it.
    fn last_name(&self, text: &str) -> Vec<Span> {
        let words: Vec<&str> = text.split(' ').collect();
        let proper = (2..=3).contains(&words.len())
            && words.iter().all(|word| word.chars().next().is_some_and(char::is_uppercase));
        let Some(last) = words.last().filter(|_| proper) else { return Vec::new() };
        let shared =
            self.visible.texts().any(|other| other != text && other.split(' ').any(|word| word == *last));
        if shared { Vec::new() } else { self.message.find(last) }
    }

    /// A sentence with all words that have a meaning of a text in small letters, such as a note.
    fn paraphrase(&self, text: &str) -> Option<Span> {
        let wanted = Prose::stems_of(text);
        let is_note =
            wanted.len() > 1 && text.split(' ').skip(1).all(|word| word.starts_with(char::is_lowercase));
        let has_all = |sentence: &Span| {
            let said = Prose::stems_of(self.message.words_at(*sentence));
            wanted.iter().all(|stem| said.contains(stem))
        };
        self.message.sentences().filter(|_| is_note).find(has_all)
    }

    /// Where a message says yes or no: by the fact's words asserted, the opposite words denied, or a bare yes or no.
    fn truth(&self, own: &[String], other: &[String], truth: bool) -> Vec<Span> {
        let said = |words: &[String], asserted: bool| -> Vec<Span> {
            let places = words.iter().flat_map(|words| self.message.find(words));
            places.filter(|span| self.is_asserted(*span) == asserted).collect()
        };
        // `not available` is longer than `available`, and wins.
        let of_other = said(other, true);
        let mut places: Vec<Span> = said(own, true)
            .into_iter()
            .filter(|span| {
                !of_other
                    .iter()
                    .any(|longer| longer.overlaps(*span) && longer.end - longer.start > span.end - span.start)
            })
            .collect();
        let denied = said(other, false);
        if of_other.is_empty() {
            places.extend(denied);
            let bare = if truth { ["yes", "correct", "indeed"] } else { ["no", "nope", "not"] };
            let first = self.message.words().next().filter(|(word, _)| bare.contains(&&*word.to_lowercase()));
            places.extend(first.filter(|_| places.is_empty()).map(|(_, span)| span));
        }
        places
    }
}

/// The rank of a mention: numbers that measure or count go before those that name something.
pub(super) fn weakness(mention: &Mention) -> usize {
    match &mention.what {
        What::Number(number) => match number.role {
            NumberRole::Plain => 0,
            NumberRole::Limit | NumberRole::Subset => 1,
            NumberRole::Identifier => 2,
            NumberRole::Weak => 3,
        },
        _ => 0,
    }
}
