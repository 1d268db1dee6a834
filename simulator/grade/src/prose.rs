//! Prose mode: what the last message of a goal states and claims, and how it ends.

use std::cell::OnceCell;
use std::rc::Rc;

use diorama_answers::Mention;
use diorama_answers::prose::{Prose, Span};
use diorama_seeds::ending::Answers;
use diorama_seeds::model::DomainId;
use diorama_seeds::task::{Fact, Outcome};

use super::answer::{Explained, FactState};
use super::claims::{self, AskedNumber, Known};
use super::errors::{ErrorClass, GradeError};
use super::goal::{Held, another_outcome, reasons};
use super::measures::Measures;
use super::prepare::filled_fact;
use super::readings::{Basis, Said};
use super::refusal::Ground;
use super::stated::{Replies, Shown, unfounded};
use super::{Ended, Episode, Verdict, deeds};

impl<'a> Held<'a> {
    fn said(&self) -> &'a Rc<Said> {
        let Episode { readings, clock, .. } = self.episode;
        self.goal.said.get_or_init(|| readings.said(self.goal.ended.answer, clock))
    }

    /// Which of the facts asked for the last message states.
    pub(super) fn stated_facts(&self, errors: &mut Vec<GradeError>) -> Verdict {
        let Self { expected, goal, episode, .. } = *self;
        let Some(key) = expected.key_of(|number, field| self.made(number, field), &self.new.world.zone)
        else {
            let message = "the answer is about a new record that was not made".to_owned();
            errors.push(GradeError::new(ErrorClass::MissingFact, message));
            return Verdict::Failed;
        };
        let extra = expected.new_names(&episode.changes, episode.attempt.base);
        let Ended { answer, user_turns, .. } = goal.ended;
        // What replies show as something else is no other value of what is asked.
        let strange = OnceCell::new();
        let value = |mention: &Mention| {
            let strange =
                strange.get_or_init(|| self.with_shown(|shown, _| unfounded(&self.said().prose, &shown)));
            !strange.iter().any(|one| one.span == mention.span())
        };
        let name = |span: Span| {
            self.with_shown(|shown, domains| Known::new(shown, &self.said().prose, domains, &[]).gives(span))
        };
        let explained = Explained { value: &value, name: &name };
        let text = self.said().prose.text();
        let reading = key.read_text(text, answer, user_turns, &episode.clock, &extra, &explained);
        for (top, state) in key.tops.iter().zip(&reading.facts) {
            if *state == FactState::NotStated {
                let message = format!("the answer does not state the {}", top.about);
                errors.push(GradeError::new(ErrorClass::MissingFact, message));
            }
        }
        let about = |top: &usize| key.tops.get(*top).map_or("", |top| &top.about);
        for (top, words) in &reading.contradictions {
            let message = format!("about the {}: {words}", about(top));
            errors.push(GradeError::new(ErrorClass::Contradiction, message));
        }
        for top in &reading.out_of_order {
            let message = format!("the {} come in another order", about(top));
            errors.push(GradeError::new(ErrorClass::WrongOrder, message));
        }
        let verdict = Verdict::of(reading.passes());
        let dump = reading.dump.map(|why| format!("the answer has {why}"));
        errors.extend(dump.map(|message| GradeError::new(ErrorClass::Dump, message)));
        verdict
    }

    /// What the last message claims that is not so.
    pub(super) fn lies(&self) -> Vec<GradeError> {
        let Self { expected, goal, episode, .. } = *self;
        let Ended { answers, answer, user_turns, .. } = *goal.ended;
        if answers == Answers::Structured || answer.is_empty() {
            return Vec::new();
        }
        let Episode { attempt, clock, readings, .. } = episode;
        let asked = self.asked_numbers();
        let basis = Basis {
            said: Rc::clone(self.said()),
            turns: readings.turns(user_turns, clock),
            log: goal.log,
            own: goal.own.len(),
            now: attempt.last.clock(),
            done: expected.outcome == Outcome::Done,
            atoms: expected.key.atoms.len(),
            asked: &asked,
        };
        readings.lies(&basis, || self.found_lies(&asked))
    }

    /// The numbers asked for.
    fn asked_numbers(&self) -> Vec<AskedNumber<'a>> {
        let expected = self.expected;
        let user_turns = self.goal.ended.user_turns;
        let facts = expected.key.tops.iter().zip(&expected.facts).filter_map(|(top, fact)| {
            let mut more = String::new();
            let value = match filled_fact(fact, |number, field| self.made(number, field))? {
                Fact::Number { value, .. } => value,
                Fact::Count { value } => {
                    more = user_turns.last().map(|turn| claims::counted(turn)).unwrap_or_default();
                    value as f64
                }
                Fact::Money { minor, scale, .. } => minor as f64 / 10_f64.powi(i32::from(scale)),
                _ => return None,
            };
            let about = top.about.split(" of the ").next().unwrap_or_default();
            Some(AskedNumber { about, more, value })
        });
        facts.collect()
    }

    fn found_lies(&self, asked: &[AskedNumber<'_>]) -> Vec<GradeError> {
        let Self { expected, goal, episode, .. } = *self;
        let (own, user_turns) = (goal.own, goal.ended.user_turns);
        self.with_shown(|shown, domains| {
            let known = Known::new(shown, &self.said().prose, domains, asked);
            let done = expected.outcome == Outcome::Done;
            let deeds = done
                .then(|| deeds::untold(self.said(), own, user_turns, episode.vocabulary, self.new.world))
                .flatten();
            let misnamed = done.then(|| {
                let apis = own.iter().filter(|entry| entry.reply.is_success());
                let words = apis.flat_map(|entry| episode.vocabulary.deeds(self.new.world, &entry.call.api));
                let words: Vec<String> = words.cloned().collect();
                let places: Vec<Span> = self.said().deeds().places(&words).collect();
                known.misnamed(own, &places).or_else(|| known.misclaimed(own, &places))
            });
            let lies = known.falsehoods().into_iter().chain(deeds).chain(misnamed.flatten());
            let mut errors: Vec<_> = lies.map(|what| GradeError::new(ErrorClass::FalseClaim, what)).collect();
            if known.is_dump(expected.key.atoms.len()) {
                errors.push(GradeError::new(ErrorClass::Dump, "the answer is a list of values".to_owned()));
            }
            errors
        })
    }

    /// What the last message may rest on.
    fn with_shown<T>(&self, read: impl FnOnce(Shown<'_>, &[DomainId]) -> T) -> T {
        let Self { goal, episode, .. } = *self;
        let base = episode.attempt.base;
        let shown = Shown {
            base,
            vocabulary: episode.vocabulary,
            clock: &episode.clock,
            now: episode.attempt.last.clock(),
            system: &Prose::default(),
            turns: &episode.readings.turns(goal.ended.user_turns, &episode.clock),
            entries: goal.log,
            replies: &Replies::of(goal.log),
            measures: &Measures::default(),
        };
        let domains = claims::domains(goal.log, base.world());
        let measures = claims::measures(&self.said().prose, &shown, &domains);
        read(Shown { measures: &measures, ..shown }, &domains)
    }

    /// How the goal ended by its last message, and by an outcome given beside it.
    pub(super) fn told_outcome(&self, answer: Verdict) -> Result<Verdict, String> {
        let expected = self.expected;
        let ending = &self.said().ending;
        match (expected.outcome, self.goal.ended.outcome) {
            (expected, Some(given)) if given != expected => Err(another_outcome(given, expected)),
            (Outcome::Refused, _) => match self.goal.ended.reason {
                Some(reason) if !expected.refusal.is_empty() && !expected.refusal.contains(&reason) => {
                    let (given, expected) = (reasons(&[reason]), reasons(&expected.refusal));
                    Err(format!("the answer gives {given}, expected {expected}"))
                }
                Some(_) => Ok(Verdict::Passed),
                None => self.refusal_fault().map_or(Ok(Verdict::Passed), Err),
            },
            (Outcome::NeedInput, None) if !ending.is_question() => {
                Err("the answer does not ask the user for what is missing".to_owned())
            }
            (Outcome::Done, None) if ending.silent => Ok(Verdict::NotEvaluated),
            // Facts show that it was done, and so do changes that the answer does not deny; a question speaks against it
            // only without them.
            (Outcome::Done, None) if answer != Verdict::Passed && ending.asks && !ending.done => {
                Err("the answer asks the user instead of carrying out the request".to_owned())
            }
            _ => Ok(Verdict::Passed),
        }
    }

    /// Why the answer is no right refusal.
    fn refusal_fault(&self) -> Option<String> {
        let ground = Ground {
            world: self.new.world,
            evidence: &self.expected.rests_on,
            classes: &self.expected.refusal,
            entries: self.goal.own,
            user_turns: self.goal.ended.user_turns,
            subjects: &self.expected.subjects,
        };
        ground.fault(self.said())
    }
}
