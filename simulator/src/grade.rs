//! The grader: the only judge of an episode.
//!
//! A pure function of world, states, log, checks, outcome and answer. The tester, `verify`, `eval` and HTTP all
//! call it. It must not call an API, read a clock or know who the agent is.

pub mod answer;
mod change;
mod errors;
mod evidence;
pub mod extract;
mod names;
mod outcome;
mod prepare;

use std::cell::OnceCell;
use std::sync::Arc;

use diorama_seeds::task::{Checks, Outcome, RefusalClass};
use diorama_seeds::value::Value;
use serde::{Deserialize, Serialize};

pub use self::change::ChangeError;
pub use self::errors::{CheckError, ErrorClass, GradeError};
pub use self::evidence::EvidenceError;
pub use self::extract::EXTRACTOR_VERSION;
pub use self::names::Vocabulary;
pub use self::prepare::Prepared;

use self::answer::FactState;
use self::change::{Compared, Damage};
use self::extract::Clock;
use self::extract::tokens::Text;
use self::names::{Builder, Names};
use self::outcome::Ending;
use self::prepare::PreparedVariant;
use crate::engine::{Base, RecordChange, State, diff};
use crate::session::LogEntry;

/// Version of the grader; a change that alters any verdict makes a new one.
pub const GRADER_VERSION: &str = "grade/1";

/// What an agent did in an episode.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    /// The world.
    pub base: &'a Base,
    /// The state at the start.
    pub initial: &'a State,
    /// The state at the end.
    pub last: &'a State,
    /// The calls, oldest first.
    pub log: &'a [Arc<LogEntry>],
    /// The outcome the agent gave; read from the answer when not given.
    pub outcome: Option<Outcome>,
    /// Its last message to the user.
    pub answer: &'a str,
    /// What the user said, oldest first.
    pub user_turns: &'a [String],
}

/// A verdict on an episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// [`GRADER_VERSION`].
    pub version: String,
    /// Whether the task is solved.
    pub success: bool,
    /// 1 for success, else 0.
    pub reward: f64,
    /// Verdicts by criterion.
    pub components: Components,
    /// What is wrong, of the accepted end that is nearest. Empty for success.
    pub errors: Vec<GradeError>,
}

/// Verdicts by criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Components {
    /// The episode ended as it should.
    pub outcome: Verdict,
    /// The expected changes were made, with the right values.
    pub change: Verdict,
    /// Nothing else was changed, not even for a while.
    pub damage: Verdict,
    /// The answer states the expected facts and nothing against them.
    pub answer: Verdict,
    /// What it states, a reply of the episode holds.
    pub evidence: Verdict,
}

/// A verdict on one criterion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds.
    Passed,
    /// It does not.
    Failed,
    /// The task does not ask for it, or it cannot be judged: neither a pass nor a failure.
    #[default]
    NotEvaluated,
}

/// Grades an attempt once. To grade many against the same checks, make them [`Prepared`] first.
///
/// # Errors
/// [`CheckError`] when the checks do not fit the world, or would pass anything.
pub fn grade(checks: &Checks, attempt: &Attempt<'_>) -> Result<Grade, CheckError> {
    Ok(Prepared::new(checks, attempt.base)?.grade(attempt))
}

impl Prepared {
    /// Grades an attempt.
    #[must_use]
    pub fn grade(&self, attempt: &Attempt<'_>) -> Grade {
        let episode = self.episode(attempt);
        let mut best: Option<(Components, Vec<GradeError>)> = None;
        for variant in &self.variants {
            let judged = self.judge(variant, &episode);
            let solved = judged.0.solved();
            if solved || best.as_ref().is_none_or(|(known, errors)| judged.nearer(known, errors)) {
                best = Some(judged);
            }
            if solved {
                break;
            }
        }
        let (components, mut errors) = best.unwrap_or_default();
        let success = components.solved();
        if success {
            errors.clear();
        } else {
            errors.extend(errors::of_calls(attempt.log));
        }
        Grade {
            version: GRADER_VERSION.to_owned(),
            success,
            reward: if success { 1.0 } else { 0.0 },
            components,
            errors,
        }
    }

    /// Whether an attempt succeeds: [`Grade::success`], without the reasons and without reading the answer where
    /// what was done decides.
    #[must_use]
    pub fn passes(&self, attempt: &Attempt<'_>) -> bool {
        let episode = self.episode(attempt);
        self.variants.iter().any(|variant| {
            let (mut deeds, mut errors) = (Components::default(), Vec::new());
            self.judge_deeds(variant, &episode, &mut deeds, &mut errors);
            self.judge_evidence(variant, &episode, &mut deeds, &mut errors);
            errors.is_empty() && self.judge(variant, &episode).0.solved()
        })
    }

    fn episode<'a>(&self, attempt: &'a Attempt<'a>) -> Episode<'a> {
        Episode {
            attempt,
            seen: self.leaves.seen(attempt.log.iter().map(|entry| &**entry)),
            said: OnceCell::new(),
            changes: diff(attempt.base, attempt.initial, attempt.last),
            damage: Damage::new(attempt.log.iter().flat_map(|entry| &entry.changes)),
        }
    }

    fn judge(&self, variant: &PreparedVariant, episode: &Episode<'_>) -> (Components, Vec<GradeError>) {
        let mut components = Components::default();
        let mut errors = Vec::new();
        self.judge_deeds(variant, episode, &mut components, &mut errors);
        self.judge_answer(variant, episode, &mut components, &mut errors);
        self.judge_evidence(variant, episode, &mut components, &mut errors);
        components.outcome = episode.outcome(variant, components, &mut errors);
        (components, errors)
    }

    /// What was changed: as expected, and nothing else.
    fn judge_deeds(
        &self,
        variant: &PreparedVariant,
        episode: &Episode<'_>,
        components: &mut Components,
        errors: &mut Vec<GradeError>,
    ) {
        let world = episode.attempt.base.world();
        let Compared { keys, errors: wrong, damage } =
            variant.changes.compare(&episode.changes, &self.allowed, world);
        if !variant.changes.checks.is_empty() {
            components.change = Verdict::of(wrong.is_empty());
        }
        errors.extend(wrong);
        let mut harm = damage;
        for error in episode.damage.judge(&variant.changes, &keys, &self.allowed, world) {
            if !harm.contains(&error) {
                harm.push(error);
            }
        }
        if self.writes || !episode.damage.is_empty() || !harm.is_empty() {
            components.damage = Verdict::of(harm.is_empty());
        }
        errors.extend(harm);
    }

    fn judge_answer(
        &self,
        variant: &PreparedVariant,
        episode: &Episode<'_>,
        components: &mut Components,
        errors: &mut Vec<GradeError>,
    ) {
        let attempt = episode.attempt;
        if !variant.key.tops.is_empty() {
            let extra = variant.new_names(&episode.changes, attempt.base);
            let Said { text, clock, .. } = episode.said();
            let reading = variant.key.read_text(text, attempt.answer, attempt.user_turns, clock, &extra);
            components.answer = Verdict::of(reading.passes());
            for (top, state) in variant.key.tops.iter().zip(&reading.facts) {
                if *state == FactState::NotStated {
                    errors.push(GradeError::new(
                        ErrorClass::MissingFact,
                        format!("the answer does not state the {}", top.about),
                    ));
                }
            }
            for (top, words) in &reading.contradictions {
                let about = variant.key.tops.get(*top).map_or("", |top| &top.about);
                errors
                    .push(GradeError::new(ErrorClass::Contradiction, format!("about the {about}: {words}")));
            }
            for top in &reading.out_of_order {
                let about = variant.key.tops.get(*top).map_or("", |top| &top.about);
                errors.push(GradeError::new(
                    ErrorClass::WrongOrder,
                    format!("the {about} come in another order"),
                ));
            }
            errors.extend(
                reading.dump.map(|why| GradeError::new(ErrorClass::Dump, format!("the answer has {why}"))),
            );
        }
    }

    /// Whether replies of the episode hold what the answer states and what the ending rests on.
    fn judge_evidence(
        &self,
        variant: &PreparedVariant,
        episode: &Episode<'_>,
        components: &mut Components,
        errors: &mut Vec<GradeError>,
    ) {
        let zone = &episode.attempt.base.world().zone;
        let log = episode.attempt.log.iter().map(|entry| &**entry);
        let mut missing = Vec::new();
        for (top, evidence) in variant.key.tops.iter().zip(&variant.evidence_of) {
            if !evidence.iter().any(|one| one.holds(&log, &episode.seen, zone)) {
                missing.push(format!("no reply shows the {}", top.about));
            }
        }
        if !variant.evidence.is_empty()
            && !variant.evidence.iter().any(|one| one.holds(&log, &episode.seen, zone))
        {
            missing.push("no reply shows what the ending rests on".to_owned());
        }
        if !variant.key.tops.is_empty() || !variant.evidence.is_empty() {
            components.evidence = Verdict::of(missing.is_empty());
        }
        errors.extend(missing.into_iter().map(|message| GradeError::new(ErrorClass::NoEvidence, message)));
    }
}

/// An attempt with what all variants read.
struct Episode<'a> {
    attempt: &'a Attempt<'a>,
    said: OnceCell<Said>,
    changes: Vec<RecordChange>,
    damage: Damage<'a>,
    seen: Vec<bool>,
}

/// What the answer says, before it is held against facts.
struct Said {
    text: Text,
    ending: Ending,
    clock: Clock,
}

impl Episode<'_> {
    fn said(&self) -> &Said {
        self.said.get_or_init(|| {
            let text = Text::read(self.attempt.answer);
            let clock = Clock::at(self.attempt.last.clock(), &self.attempt.base.world().zone);
            Said { ending: outcome::read(&text), clock, text }
        })
    }

    /// Whether the answer says again why the world refused a call for a reason of this class.
    fn restates(&self, class: RefusalClass) -> bool {
        let refused = self.attempt.log.iter().filter(|entry| {
            entry.api.is_some() && RefusalClass::of_status(entry.reply.status) == Some(class)
        });
        refused
            .filter_map(|entry| entry.reply.body.member("detail")?.value()?.as_str())
            .any(|detail| outcome::restates(&self.said().text, detail))
    }

    fn outcome(
        &self,
        variant: &PreparedVariant,
        components: Components,
        errors: &mut Vec<GradeError>,
    ) -> Verdict {
        let ending = &self.said().ending;
        let given = self.attempt.outcome;
        let wrong = |message: String| Err(GradeError::new(ErrorClass::WrongOutcome, message));
        let verdict = match (variant.outcome, given) {
            (expected, Some(given)) if given != expected => {
                wrong(format!("the outcome given is {}, expected {}", name(given), name(expected)))
            }
            (Outcome::Refused, _) => {
                if given.is_none() && !ending.is_refusal() {
                    wrong("the answer does not say that the request could not be carried out".to_owned())
                } else if variant.refusal.is_empty()
                    || variant
                        .refusal
                        .iter()
                        .any(|class| ending.reasons.contains(class) || self.restates(*class))
                {
                    Ok(Verdict::Passed)
                } else {
                    wrong(format!(
                        "the answer gives {}, expected {}",
                        reasons(&ending.reasons),
                        reasons(&variant.refusal)
                    ))
                }
            }
            (Outcome::NeedInput, None) if !ending.is_question() => {
                wrong("the answer does not ask the user for what is missing".to_owned())
            }
            (Outcome::Done, None) if ending.silent => Ok(Verdict::NotEvaluated),
            // Facts and changes show that it was done; a refusal or a question speaks against it only without them.
            (Outcome::Done, None) if components.answer != Verdict::Passed && ending.asks && !ending.done => {
                wrong("the answer asks the user instead of carrying out the request".to_owned())
            }
            (Outcome::Done, None)
                if components.answer != Verdict::Passed && ending.refuses && !ending.done =>
            {
                wrong("the answer refuses the request".to_owned())
            }
            _ => Ok(Verdict::Passed),
        };
        verdict.unwrap_or_else(|error| {
            errors.push(error);
            Verdict::Failed
        })
    }
}

impl PreparedVariant {
    /// Values that the episode itself put into fields that expected names are of.
    fn new_names(&self, changes: &[RecordChange], base: &Base) -> Vec<(usize, Names)> {
        let mut found = Vec::new();
        for (position, (resource, field)) in self.fields.iter().enumerate() {
            let mut builder = Builder::default();
            let mut any = false;
            for change in changes.iter().filter(|change| change.resource == *resource) {
                let after = change.after.as_ref().and_then(|record| record.get(field.index()));
                if let Some(value) = after.filter(|value| !matches!(value, Value::Absent)) {
                    builder.add_value(value, base);
                    any = true;
                }
            }
            if any {
                found.push((position, builder.finish()));
            }
        }
        found
    }
}

impl Components {
    /// Nothing failed, and something that had to be shown was.
    fn solved(self) -> bool {
        let all = [self.outcome, self.change, self.damage, self.answer, self.evidence];
        !all.contains(&Verdict::Failed)
            && [self.change, self.answer, self.evidence].contains(&Verdict::Passed)
    }

    fn failed(self) -> usize {
        let all = [self.outcome, self.change, self.damage, self.answer, self.evidence];
        all.into_iter().filter(|verdict| *verdict == Verdict::Failed).count()
    }
}

impl Default for Components {
    fn default() -> Self {
        let not = Verdict::NotEvaluated;
        Self { outcome: not, change: not, damage: not, answer: not, evidence: not }
    }
}

impl Verdict {
    const fn of(holds: bool) -> Self {
        if holds { Self::Passed } else { Self::Failed }
    }
}

/// Whether a judgement is nearer to success than another.
trait Nearer {
    fn nearer(&self, components: &Components, errors: &[GradeError]) -> bool;
}

impl Nearer for (Components, Vec<GradeError>) {
    fn nearer(&self, components: &Components, errors: &[GradeError]) -> bool {
        (self.0.failed(), self.1.len()) < (components.failed(), errors.len())
    }
}

const fn name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "done",
        Outcome::Refused => "refused",
        Outcome::NeedInput => "need_input",
    }
}

fn reasons(classes: &[RefusalClass]) -> String {
    let names: Vec<&str> = classes
        .iter()
        .map(|class| match class {
            RefusalClass::NotFound => "not_found",
            RefusalClass::Conflict => "conflict",
            RefusalClass::Forbidden => "forbidden",
            RefusalClass::Invalid => "invalid",
            RefusalClass::NoTool => "no_tool",
        })
        .collect();
    if names.is_empty() { "no reason".to_owned() } else { format!("the reason {}", names.join(" or ")) }
}

#[cfg(test)]
mod tests;
