//! Prose mode: the last message of a goal is read for the facts that it states, for what it says against them, for what
//! nothing visible gives, and for how it ends.

mod attribution;
mod cues;
mod ending;
mod facts;
mod refusal;
mod states;
mod support;
mod value;
mod visible;

use std::cell::OnceCell;
use std::sync::Arc;

use diorama_answers::prose::Prose;
use diorama_answers::{Clock, Mention, Stance};
use diorama_engine::session::LogEntry;
use diorama_seeds::ending::Answers;
use diorama_seeds::task::{AnswerCheck, Outcome};

pub use self::ending::Ending;
pub use self::facts::{FactReading, FactState, read_facts};
pub use self::states::{Contradiction, contradicts};
pub use self::support::{Kind, Unsupported, unsupported};
pub use self::value::FactError;
pub(crate) use self::value::check_fact;
pub use self::visible::Visible;

use self::attribution::Speech;
use self::refusal::Refusal;
#[cfg(test)]
pub(crate) use self::refusal::restates;
use super::errors::{ErrorClass, GradeError};
use super::goal::{Held, another_outcome, reasons};
use super::measures::Measures;
use super::prepare::filled;
use super::{Ended, Episode, Verdict};

/// A message of more words and marks than these is a list of everything, whatever it says.
const MAX_WORDS: usize = 300;
/// Words that each expected value adds to [`MAX_WORDS`].
const MAX_WORDS_PER_FACT: usize = 40;
/// Values that may follow one another without a word between them, beside those asked for.
const MAX_BARE_VALUES: usize = 3;

/// The last message of a goal, read once.
pub(crate) struct Message {
    prose: Prose,
    ending: Ending,
    turns: Vec<Prose>,
    /// Why it is not true, whatever is expected.
    lies: OnceCell<Vec<String>>,
}

impl Message {
    /// Reads the last message of a goal and the user's turns before it.
    pub(crate) fn read(ended: &Ended<'_>, clock: &Clock) -> Self {
        let prose = Prose::read(ended.answer, clock);
        let turns = ended.user_turns.iter().map(|turn| Prose::read(turn, clock)).collect();
        Self { ending: Ending::read(&prose), prose, turns, lies: OnceCell::new() }
    }
}

impl<'a> Held<'a> {
    fn message(&self) -> &'a Message {
        self.goal.message.get_or_init(|| Message::read(self.goal.ended, &self.episode.clock))
    }

    fn visible<'v>(&self, measures: &'v Measures) -> Visible<'v>
    where
        'a: 'v,
    {
        let Episode { attempt, clock, vocabulary, .. } = self.episode;
        let turns = &self.message().turns;
        let visible =
            Visible::new(clock, attempt.last.clock(), turns, self.goal.log, (attempt.base, vocabulary));
        Visible { measures: Some(measures), ..visible }
    }

    /// Which of the facts asked for the last message states.
    pub(super) fn stated_facts(&self, errors: &mut Vec<GradeError>) -> Verdict {
        let expected = self.expected;
        let Some(checks) = filled(&expected.answer, |number, field| self.made(number, field)) else {
            let message = "the answer is about a new record that was not made".to_owned();
            errors.push(GradeError::new(ErrorClass::MissingFact, message));
            return Verdict::Failed;
        };
        let measures = Measures::default();
        let visible = self.visible(&measures);
        let message = self.message();
        let reading = read_facts(&checks, &message.prose, &visible);
        let before = errors.len();
        let about = |at: &usize| checks.get(*at).map_or("", |check| &check.about);
        for (check, state) in checks.iter().zip(&reading.facts) {
            if *state == FactState::NotStated {
                let message = format!("the answer does not state the {}", check.about);
                errors.push(GradeError::new(ErrorClass::MissingFact, message));
            }
        }
        for (check, words) in &reading.contradictions {
            let message = format!("about the {}: {words}", about(check));
            errors.push(GradeError::new(ErrorClass::Contradiction, message));
        }
        if is_dump(&message.prose, &checks) {
            errors.push(GradeError::new(ErrorClass::Dump, "the answer is a list of values".to_owned()));
        }
        Verdict::of(errors.len() == before)
    }

    /// False statements of the last message.
    pub(super) fn lies(&self) -> Vec<GradeError> {
        let Self { expected, goal, episode, .. } = *self;
        if goal.ended.answers == Answers::Structured || goal.ended.answer.is_empty() {
            return Vec::new();
        }
        let message = self.message();
        let lies = message.lies.get_or_init(|| {
            let mut measures = Measures::default();
            if message.prose.mentions().iter().any(Mention::is_measured) {
                let (base, vocabulary) = (episode.attempt.base, episode.vocabulary);
                measures.add_calls(base, vocabulary, goal.log);
                message.turns.iter().for_each(|turn| measures.add_prose(turn));
            }
            let visible = self.visible(&measures);
            let claimed = |one: &Unsupported| {
                let mut mentions = message.prose.mentions().iter();
                let mention = mentions.find(|mention| mention.span() == one.span);
                mention
                    .is_none_or(|mention| matches!(mention.stance, Stance::Asserted | Stance::Hypothetical))
            };
            let unsupported = unsupported(&message.prose, &visible).into_iter().filter(claimed).map(
                |Unsupported { kind, span }| {
                    let words = message.prose.words_at(span);
                    match kind {
                        Kind::Currency => format!("{words}: nothing gives this currency"),
                        Kind::Unit => format!("{words}: nothing gives this unit"),
                        Kind::Value => format!("{words}: no reply shows it"),
                        Kind::Name => format!("{words}: no reply names it"),
                    }
                },
            );
            let speech = Speech::new(&message.prose, &visible);
            let states = states::unshown(&speech).into_iter();
            let states =
                states.map(|span| format!("{}: no reply shows this state", message.prose.words_at(span)));
            unsupported.chain(states).chain(speech.misattributed()).chain(speech.taken_back()).collect()
        });
        let done = expected.outcome == Outcome::Done;
        let denied = done.then(|| message.ending.denied_write(goal.own, self.new.world)).flatten();
        let world = self.new.world;
        let of_state = |entry: &Arc<LogEntry>| {
            let found = contradicts(&message.prose, entry, world)?;
            Some(format!("{}: the {} is {}", message.prose.words_at(found.span), found.member, found.shown))
        };
        let mut writes =
            goal.own.iter().filter(|entry| !entry.changes.is_empty() && entry.reply.is_success());
        let only = writes.next().filter(|_| writes.next().is_none() && done);
        let states = only.and_then(of_state);
        let negated = message
            .prose
            .mentions()
            .iter()
            .filter(|mention| mention.stance == Stance::Denied && mention.what.is_amount());
        let of_reply = |mention: &&Mention| {
            only.is_some_and(|entry| {
                entry.reply.body.values().any(|(value, _)| {
                    let target = value::Target::of_value(value, None, &episode.clock.zone);
                    target.is_some_and(|target| target.is(&mention.what, &episode.clock))
                })
            })
        };
        let unsaid = negated
            .filter(of_reply)
            .map(|mention| format!("{}: the reply shows it", message.prose.words_at(mention.span())));
        let all = lies.iter().cloned().chain(denied).chain(states).chain(unsaid);
        all.map(|what| GradeError::new(ErrorClass::FalseClaim, what)).collect()
    }

    /// How the goal ended by its last message, and by an outcome given beside it.
    pub(super) fn told_outcome(&self, answer: Verdict) -> Result<Verdict, String> {
        let expected = self.expected;
        let message = self.message();
        match (expected.outcome, self.goal.ended.outcome) {
            (expected, Some(given)) if given != expected => Err(another_outcome(given, expected)),
            (Outcome::Refused, _) => match self.goal.ended.reason {
                Some(reason) if !expected.refusal.is_empty() && !expected.refusal.contains(&reason) => {
                    let (given, expected) = (reasons(&[reason]), reasons(&expected.refusal));
                    Err(format!("the answer gives {given}, expected {expected}"))
                }
                Some(_) => Ok(Verdict::Passed),
                None => {
                    let refusal = Refusal {
                        world: self.new.world,
                        evidence: &expected.rests_on,
                        classes: &expected.refusal,
                        entries: self.goal.own,
                        user_turns: self.goal.ended.user_turns,
                        subjects: &expected.subjects,
                    };
                    refusal.fault(&message.prose, &message.ending).map_or(Ok(Verdict::Passed), Err)
                }
            },
            (Outcome::NeedInput, None) if !message.ending.asks() => {
                Err("the answer does not ask the user for what is missing".to_owned())
            }
            (Outcome::Done, None) if self.goal.ended.answer.trim().is_empty() => Ok(Verdict::NotEvaluated),
            // Stated facts show that it was done.
            (Outcome::Done, None) if answer == Verdict::Failed && message.ending.asks() => {
                Err("the answer asks the user instead of carrying out the request".to_owned())
            }
            _ => Ok(Verdict::Passed),
        }
    }
}

/// Returns true if a message is values without sentences, more than are asked for; a reply as it is; or far too long.
fn is_dump(message: &Prose, checks: &[AnswerCheck]) -> bool {
    let asked = checks.iter().flat_map(diorama_seeds::ending::item_values).count();
    let source = message.source().trim();
    if source.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(source).is_ok() {
        return true;
    }
    let parts: Vec<&str> = source
        .trim_end_matches('.')
        .split([',', ';', '\n'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    let bare = |part: &&str| part.split_whitespace().count() < 3;
    let values = parts.len() > asked + MAX_BARE_VALUES && parts.iter().all(bare);
    values || source.split_whitespace().count() > MAX_WORDS + MAX_WORDS_PER_FACT * asked
}
