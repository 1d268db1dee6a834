//! Reads the wants of the user as typed mentions: in messages, in withheld details and in the next line.
//!
//! This module sees the script and the shown replies, and no other record.

use diorama_answers::Clock;
use diorama_seeds::english::{fold, has_words};
use diorama_seeds::model::{FieldId, ResourceId};
use diorama_seeds::script::{Goal, Script};
use diorama_seeds::value::Date;

use super::consent::is_consent;
use super::mentions::{Mention, Reading};
use super::progress::{Progress, Scene};
use super::shown::shown_names;
use super::source::{Source, SourceKind};
use super::ties::has_same_value;
use super::tokens::content_stems;
use super::turn::Turn;
use super::vocabulary::{SECRETS, is_one_of};

/// The fewest letters that two forms of a word share.
const MIN_FORM_LETTERS: usize = 3;

#[derive(Debug)]
pub(super) struct Wants {
    /// Texts of the user, the newest first.
    pub(super) sources: Vec<Source>,
    /// Names that replies showed, with their fields.
    pub(super) shown: Vec<(ResourceId, FieldId, String)>,
    pub(super) clock: Clock,
}

impl Wants {
    /// Reads the part of the script that was said, and the rest of the goal.
    pub(super) fn new(script: &Script, goal: &Goal, progress: &Progress, scene: &Scene<'_>) -> Self {
        let clock = Clock::at(scene.clock, &scene.base.world().zone);
        let mut sources = Vec::new();
        let mut add = |kind: SourceKind, text: &str, detail: Option<usize>, names: &str| {
            let nouns = content_stems(names);
            sources.push(Source {
                kind,
                reading: Reading::read(text, &clock),
                detail,
                is_secret: nouns.iter().any(|noun| is_one_of(noun, &SECRETS)),
                nouns,
                folded: fold(text),
            });
        };
        let lines = progress.lines as usize;
        for line in goal.lines.iter().take(lines).rev() {
            if !is_consent(line) {
                add(SourceKind::Line, line, None, "");
            }
        }
        for (at, detail) in goal.withheld.iter().enumerate() {
            let names: Vec<&str> = std::iter::once(&detail.about)
                .chain(&detail.words)
                .filter(|text| !text.contains('?'))
                .map(|text| &**text)
                .collect();
            add(SourceKind::Goal, &detail.say, Some(at), &names.join(" "));
        }
        add(SourceKind::Goal, &goal.user, None, "");
        if let Some(next) = goal.lines.get(lines) {
            add(if is_consent(next) { SourceKind::Goal } else { SourceKind::NextLine }, next, None, "");
        }
        for earlier in script.goals.iter().take(progress.goal as usize).rev() {
            for line in earlier.lines.iter().rev() {
                add(SourceKind::Earlier, line, None, "");
            }
            for detail in &earlier.withheld {
                add(SourceKind::Earlier, &detail.say, None, &detail.about);
            }
            add(SourceKind::Earlier, &earlier.user, None, "");
        }
        Self { sources, shown: shown_names(scene), clock }
    }

    /// Returns the texts of the open goal that apply already.
    pub(super) fn current_sources(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|source| matches!(source.kind, SourceKind::Line | SourceKind::Goal))
    }

    /// Returns the texts of the open goal, with the next line.
    pub(super) fn goal_sources(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|source| source.kind != SourceKind::Earlier)
    }

    /// Returns the date of the conversation.
    pub(super) const fn today(&self) -> Date {
        self.clock.today
    }

    /// Reads a text by the clock of the conversation.
    pub(super) fn read(&self, text: &str) -> Reading {
        Reading::read(text, &self.clock)
    }

    /// Returns true if a text of the user has a word of a stem.
    pub(super) fn knows(&self, stem: &str) -> bool {
        self.sources
            .iter()
            .any(|source| source.reading.has(stem) || source.nouns.iter().any(|noun| noun == stem))
    }

    /// Returns true if a text of the user has a stem that it does not negate, as `not approving` does.
    pub(super) fn asks_to(&self, stem: &str) -> bool {
        self.goal_sources().any(|source| {
            let tokens = &source.reading.tokens;
            let is_denied = |at: usize| {
                at.checked_sub(1)
                    .is_some_and(|before| matches!(&*tokens[before].text, "not" | "t" | "never" | "dont"))
            };
            (0..tokens.len()).any(|at| tokens[at].stem == stem && !is_denied(at))
        })
    }

    /// Returns true if a text of the open goal has the value of a mention: a later goal replaces the values of
    /// earlier ones.
    pub(super) fn says_value(&self, mention: &Mention) -> bool {
        let mut own = self.goal_sources().flat_map(|source| &source.reading.mentions);
        own.any(|own| {
            own.value.is_alike(&mention.value)
                && !own.is_denied
                && has_same_value(mention, own, self.clock.today)
        })
    }

    /// Returns true if a text of the user has some folded words.
    pub(super) fn says(&self, words: &str) -> bool {
        self.sources.iter().any(|source| has_words(&source.folded, words))
    }

    /// Returns true if a message has all values of a withheld detail.
    pub(super) fn is_stated(&self, detail: usize, message: &Turn) -> bool {
        let source = self.sources.iter().find(|source| source.detail == Some(detail));
        let own = source.map_or(&[][..], |source| &source.reading.mentions);
        let is_in = |own: &Mention| {
            let mut mentions = message.acts.iter().flat_map(|act| &act.reading.mentions);
            mentions
                .any(|other| other.value.is_alike(&own.value) && has_same_value(other, own, self.clock.today))
        };
        !own.is_empty() && own.iter().all(is_in)
    }

    /// Returns true if a text of the open goal has some folded words.
    pub(super) fn says_now(&self, words: &str) -> bool {
        self.goal_sources().any(|source| has_words(&source.folded, words))
    }

    /// Returns true if a text of the user has a word that another derives from: `pay` for `payment`.
    pub(super) fn has_form_of(&self, word: &str) -> bool {
        let tokens = self.sources.iter().flat_map(|source| &source.reading.tokens);
        let mut stems = tokens.map(|token| &*token.stem).filter(|stem| stem.len() >= MIN_FORM_LETTERS);
        stems.any(|stem| word.starts_with(stem))
    }
}
