//! The grader: the only judge of an episode.
//!
//! A pure function of world, states, log, checks, outcome and answer. The tester, `verify`, `eval` and HTTP all
//! call it. It must not call an API, read a clock or know who the agent is.

pub mod answer;
mod change;
mod claims;
pub mod deeds;
mod errors;
pub mod evidence;
pub mod extract;
pub mod measures;
mod names;
pub(crate) mod outcome;
mod prepare;
mod refusal;
mod remembered;
pub mod stated;
mod structured;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use diorama_seeds::ending::Answers;
use diorama_seeds::task::{Checks, Fact, Outcome, RefusalClass};
use diorama_seeds::value::Value;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

pub use self::change::ChangeError;
pub use self::errors::{CheckError, ErrorClass, GradeError};
pub use self::evidence::EvidenceError;
pub use self::extract::EXTRACTOR_VERSION;
pub use self::names::Vocabulary;
pub use self::prepare::Prepared;

use self::answer::FactState;
use self::change::{Compared, Damage};
use self::claims::{AskedNumber, Known};
use self::evidence::{Leaves, NewRecords};
use self::extract::Clock;
use self::extract::prose::Prose;
use self::names::{Builder, Names};
use self::outcome::Ending;
use self::prepare::{PreparedStage, PreparedVariant};
use self::refusal::Ground;
use self::stated::Shown;
use crate::engine::{Base, RecordChange, State, diff};
use crate::session::LogEntry;

/// Version of the grader; a change that alters any verdict makes a new one.
pub const GRADER_VERSION: &str = "grade/2";

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
    /// How each stage ended, in order. A stage that was not reached is not there.
    pub stages: &'a [Ended<'a>],
}

/// How an agent ended a stage.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'a> {
    /// The outcome the agent gave; read from the answer when not given.
    pub outcome: Option<Outcome>,
    /// For refusals: the class of the reason the agent gave; read from the answer when not given.
    pub reason: Option<RefusalClass>,
    /// For refusals: the id or name that the agent gave for what they are about.
    pub about: Option<&'a str>,
    /// The facts that the agent gave, by name.
    pub facts: Option<&'a Map<String, Json>>,
    /// Whether what was given is judged, or the last message is read.
    pub answers: Answers,
    /// Its last message of the stage.
    pub answer: &'a str,
    /// What the user had said by then in the whole episode, oldest first.
    pub user_turns: &'a [String],
    /// How many calls the episode had by then.
    pub calls: usize,
}

impl Default for Ended<'_> {
    /// A message that says nothing.
    fn default() -> Self {
        Self {
            outcome: None,
            reason: None,
            about: None,
            facts: None,
            answers: Answers::Prose,
            answer: "",
            user_turns: &[],
            calls: 0,
        }
    }
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
    /// Verdicts by criterion, over all stages.
    pub components: Components,
    /// Verdicts of each expected stage.
    pub stages: Vec<StageGrade>,
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

/// Verdicts on one stage. Changes are judged over the whole episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageGrade {
    /// It ended as it should.
    pub outcome: Verdict,
    /// Its last message states the expected facts and nothing against them.
    pub answer: Verdict,
    /// What it states, a reply of the episode up to then holds.
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

/// What an attempt comes to, held against one variant.
#[derive(Default)]
struct Judgement {
    components: Components,
    stages: Vec<StageGrade>,
    errors: Vec<GradeError>,
    /// Keys of the new records, by number.
    keys: BTreeMap<u32, Value>,
}

impl Prepared {
    /// Grades an attempt.
    #[must_use]
    pub fn grade(&self, attempt: &Attempt<'_>) -> Grade {
        let episode = self.episode(attempt);
        let mut best: Option<Judgement> = None;
        for variant in &self.variants {
            let judged = self.judge(variant, &episode, false);
            let solved = judged.components.solved();
            if solved || best.as_ref().is_none_or(|known| judged.is_nearer(known)) {
                best = Some(judged);
            }
            if solved {
                break;
            }
        }
        let Judgement { components, stages, mut errors, .. } = best.unwrap_or_default();
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
            stages,
            errors,
        }
    }

    /// Whether an attempt succeeds: [`Grade::success`], without the reasons and without reading the answers where
    /// what was done decides.
    #[must_use]
    pub fn passes(&self, attempt: &Attempt<'_>) -> bool {
        let episode = self.episode(attempt);
        self.variants.iter().any(|variant| {
            let mut deeds = Judgement::default();
            self.judge_deeds(variant, &episode, &mut deeds);
            let reached = variant.stages.len() <= episode.stages.len();
            let new = variant.new_records(attempt, &deeds.keys);
            for (stage, ended) in variant.stages.iter().zip(&episode.stages).filter(|_| reached) {
                judge_evidence(stage, &episode, ended, &new, &mut deeds.errors);
            }
            reached && deeds.errors.is_empty() && self.judge(variant, &episode, true).components.solved()
        })
    }

    fn episode<'a>(&self, attempt: &'a Attempt<'a>) -> Episode<'a> {
        let opened = std::iter::once(0).chain(attempt.stages.iter().map(|stage| stage.calls)).collect();
        Episode {
            attempt,
            stages: (0..)
                .zip(attempt.stages)
                .map(|(number, ended)| Stage::new(number, ended, attempt, &self.leaves))
                .collect(),
            changes: diff(attempt.base, attempt.initial, attempt.last),
            damage: Damage::new(attempt.log, opened),
        }
    }

    /// Holds an episode against a variant; where it is asked only whether it is solved, the first fault ends it.
    fn judge(&self, variant: &PreparedVariant, episode: &Episode<'_>, only_whether: bool) -> Judgement {
        let mut judged = Judgement::default();
        self.judge_deeds(variant, episode, &mut judged);
        let keys = std::mem::take(&mut judged.keys);
        let new = variant.new_records(episode.attempt, &keys);
        for (number, stage) in variant.stages.iter().enumerate() {
            let Some(ended) = episode.stages.get(number) else {
                let message = format!("stage {number} of the conversation was not reached");
                judged.errors.push(GradeError::new(ErrorClass::MissingStage, message));
                judged.stages.push(StageGrade { outcome: Verdict::Failed, ..StageGrade::default() });
                continue;
            };
            let mut answer = judge_answer(stage, episode, ended, &new, &mut judged.errors);
            if only_whether && answer == Verdict::Failed {
                judged.components.answer = Verdict::Failed;
                return judged;
            }
            let lies = self.judge_claims(stage, episode, ended, &new);
            if !lies.is_empty() {
                answer = Verdict::Failed;
                judged.errors.extend(lies);
            }
            let evidence = judge_evidence(stage, episode, ended, &new, &mut judged.errors);
            let outcome = ended.outcome(stage, answer, episode, &mut judged.errors);
            judged.stages.push(StageGrade { outcome, answer, evidence });
        }
        let over = |of: fn(&StageGrade) -> Verdict| Verdict::over(judged.stages.iter().map(of));
        judged.components.outcome = over(|stage| stage.outcome);
        judged.components.answer = over(|stage| stage.answer);
        judged.components.evidence = over(|stage| stage.evidence);
        judged
    }

    /// What the last message of a stage claims that is not so.
    fn judge_claims(
        &self,
        stage: &PreparedStage,
        episode: &Episode<'_>,
        ended: &Stage<'_>,
        new: &NewRecords<'_>,
    ) -> Vec<GradeError> {
        if ended.ended.answers == Answers::Structured || ended.ended.answer.is_empty() {
            return Vec::new();
        }
        let attempt = episode.attempt;
        let value_of = |number: u32, field: &str| episode.made(new, number, field);
        let counted = OnceCell::new();
        let counted =
            || counted.get_or_init(|| ended.ended.user_turns.last().map(|turn| claims::counted(turn)));
        let facts = stage.key.tops.iter().zip(&stage.facts).filter_map(|(top, (_, fact))| {
            let mut more = "";
            let value = match prepare::filled_fact(fact, value_of)? {
                Fact::Number { value, .. } => value,
                Fact::Count { value } => {
                    more = counted().as_deref().unwrap_or_default();
                    value as f64
                }
                Fact::Money { minor, scale, .. } => minor as f64 / 10_f64.powi(i32::from(scale)),
                _ => return None,
            };
            let about = top.about.split(" of the ").next().unwrap_or_default();
            Some(AskedNumber { about, more, value })
        });
        let facts: Vec<AskedNumber<'_>> = facts.collect();
        let Said { prose, clock, .. } = ended.said(attempt);
        let (base, vocabulary, entries) = (attempt.base, &self.vocabulary, ended.log(attempt));
        let turns: Vec<Prose> = ended.ended.user_turns.iter().map(|turn| Prose::read(turn, clock)).collect();
        let domains = claims::domains(entries, base.world());
        let measures = claims::measures(prose, base, vocabulary, &domains, &turns, entries);
        let shown = Shown {
            base,
            vocabulary,
            clock,
            now: attempt.last.clock(),
            system: &Prose::default(),
            turns: &turns,
            entries,
            measures: &measures,
        };
        let known = Known::new(shown, prose, &domains, &facts);
        let opened = ended.opened.min(attempt.log.len());
        let own = ended.log(attempt).get(opened..).unwrap_or_default();
        let deeds = match stage.outcome {
            Outcome::Done => {
                deeds::untold(prose, own, ended.ended.user_turns, &self.vocabulary, attempt.base.world())
            }
            _ => None,
        };
        let dump = known.is_dump(stage.key.atoms.len());
        let lies = known.falsehoods().into_iter().chain(deeds);
        lies.map(|what| GradeError::new(ErrorClass::FalseClaim, what))
            .chain(
                dump.then(|| GradeError::new(ErrorClass::Dump, "the answer is a list of values".to_owned())),
            )
            .collect()
    }

    /// What was changed: as expected, when it was asked for, and nothing else.
    fn judge_deeds(&self, variant: &PreparedVariant, episode: &Episode<'_>, judged: &mut Judgement) {
        let world = episode.attempt.base.world();
        let Compared { keys, errors: wrong, damage } =
            variant.changes.compare(&episode.changes, &self.allowed, world);
        if !variant.changes.checks.is_empty() {
            judged.components.change = Verdict::of(wrong.is_empty());
        }
        judged.errors.extend(wrong);
        judged.keys.clone_from(&keys);
        let mut harm = damage;
        for error in episode.damage.judge(&variant.changes, &keys, &self.allowed, world) {
            if !harm.contains(&error) {
                harm.push(error);
            }
        }
        if self.writes || !episode.damage.is_empty() || !harm.is_empty() {
            judged.components.damage = Verdict::of(harm.is_empty());
        }
        judged.errors.extend(harm);
    }
}

/// What the last message of a stage says of the facts asked for.
fn judge_answer(
    stage: &PreparedStage,
    episode: &Episode<'_>,
    ended: &Stage<'_>,
    new: &NewRecords<'_>,
    errors: &mut Vec<GradeError>,
) -> Verdict {
    if stage.key.tops.is_empty() {
        return Verdict::NotEvaluated;
    }
    if ended.ended.answers == Answers::Structured {
        return judge_facts(stage, episode, ended.ended, new, errors);
    }
    let value_of = |number: u32, field: &str| episode.made(new, number, field);
    let Some(key) = stage.key_of(value_of, &new.world.zone) else {
        let message = "the answer is about a new record that was not made".to_owned();
        errors.push(GradeError::new(ErrorClass::MissingFact, message));
        return Verdict::Failed;
    };
    let extra = stage.new_names(&episode.changes, episode.attempt.base);
    let Said { prose, clock, .. } = ended.said(episode.attempt);
    let reading = key.read_text(prose.text(), ended.ended.answer, ended.ended.user_turns, clock, &extra);
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
    errors.extend(reading.dump.map(|why| GradeError::new(ErrorClass::Dump, format!("the answer has {why}"))));
    verdict
}

/// The facts that a structured ending gives.
fn judge_facts(
    stage: &PreparedStage,
    episode: &Episode<'_>,
    ended: &Ended<'_>,
    new: &NewRecords<'_>,
    errors: &mut Vec<GradeError>,
) -> Verdict {
    let value_of = |number: u32, field: &str| episode.made(new, number, field);
    let before = errors.len();
    for (name, fact) in &stage.facts {
        let given = ended.facts.and_then(|facts| facts.get(name)).filter(|given| !given.is_null());
        let expected = prepare::filled_fact(fact, value_of);
        let (class, message) = match (given, expected) {
            (None, _) => (ErrorClass::MissingFact, format!("`{name}` was not given")),
            (Some(given), Some(expected)) if structured::states(&expected, given, &new.world.zone) => {
                continue;
            }
            (Some(given), _) => {
                let given: String = given.to_string().chars().take(80).collect();
                (ErrorClass::Contradiction, format!("`{name}` was given as {given}, which it is not"))
            }
        };
        errors.push(GradeError::new(class, message));
    }
    Verdict::of(errors.len() == before)
}

/// Whether replies up to the end of a stage hold what is stated and what the ending rests on.
fn judge_evidence(
    stage: &PreparedStage,
    episode: &Episode<'_>,
    ended: &Stage<'_>,
    new: &NewRecords<'_>,
    errors: &mut Vec<GradeError>,
) -> Verdict {
    let log = ended.log(episode.attempt).iter().map(|entry| &**entry);
    let mut missing = Vec::new();
    for (top, evidence) in stage.key.tops.iter().zip(&stage.evidence_of) {
        if !evidence.iter().any(|one| one.holds(&log, &ended.seen, new)) {
            missing.push(format!("no reply shows the {}", top.about));
        }
    }
    if !stage.evidence.is_empty() && !stage.evidence.iter().any(|one| one.holds(&log, &ended.seen, new)) {
        missing.push("no reply shows what the ending rests on".to_owned());
    }
    if stage.key.tops.is_empty() && stage.evidence.is_empty() {
        return Verdict::NotEvaluated;
    }
    let verdict = Verdict::of(missing.is_empty());
    errors.extend(missing.into_iter().map(|message| GradeError::new(ErrorClass::NoEvidence, message)));
    verdict
}

/// An attempt with what all variants read.
struct Episode<'a> {
    attempt: &'a Attempt<'a>,
    stages: Vec<Stage<'a>>,
    changes: Vec<RecordChange>,
    damage: Damage<'a>,
}

impl Episode<'_> {
    /// What the world made for a field of a new record, as a fact.
    fn made(&self, new: &NewRecords<'_>, number: u32, field: &str) -> Option<Fact> {
        let (resource, key, field) = new.field(number, field)?;
        let record = self.attempt.last.get(self.attempt.base, resource, key)?;
        let value = record.get(field.index()).filter(|value| !value.is_missing())?;
        Some(match value {
            Value::Integer(number) => Fact::Number { value: *number as f64, unit: None, tolerance: 0.0 },
            other => Fact::Entity { value: other.to_text(&new.world.zone), aliases: Vec::new(), of: None },
        })
    }
}

/// A stage as it ended, with what all variants read of it.
struct Stage<'a> {
    ended: &'a Ended<'a>,
    said: OnceCell<Said>,
    /// How many calls the episode had when it opened.
    opened: usize,
    /// Which leaves the replies up to its end show.
    seen: Vec<bool>,
}

/// What the answer says, before it is held against facts.
struct Said {
    prose: Prose,
    ending: Ending,
    clock: Clock,
}

impl<'a> Stage<'a> {
    fn new(number: usize, ended: &'a Ended<'a>, attempt: &'a Attempt<'a>, leaves: &Leaves) -> Self {
        let before = number.checked_sub(1).and_then(|before| attempt.stages.get(before));
        let opened = before.map_or(0, |before| before.calls);
        let log = attempt.log.get(..ended.calls).unwrap_or(attempt.log);
        let seen = leaves.seen(log.iter().map(|entry| &**entry));
        Self { ended, said: OnceCell::new(), opened, seen }
    }

    /// The calls up to its end.
    fn log(&self, attempt: &'a Attempt<'a>) -> &'a [Arc<LogEntry>] {
        attempt.log.get(..self.ended.calls).unwrap_or(attempt.log)
    }

    fn said(&self, attempt: &Attempt<'_>) -> &Said {
        self.said.get_or_init(|| {
            let clock = Clock::at(attempt.last.clock(), &attempt.base.world().zone);
            let prose = Prose::read(self.ended.answer, &clock);
            Said { ending: outcome::read(prose.text()), clock, prose }
        })
    }

    /// Why the answer is no right refusal.
    fn refusal_fault(&self, stage: &PreparedStage, attempt: &'a Attempt<'a>) -> Option<String> {
        let ground = Ground {
            world: attempt.base.world(),
            evidence: &stage.rests_on,
            classes: &stage.refusal,
            entries: self.log(attempt).get(self.opened..).unwrap_or_default(),
            user_turns: self.ended.user_turns,
            subjects: &stage.subjects,
        };
        ground.fault(&self.said(attempt).prose)
    }

    /// How the agent says that the stage ended.
    fn structured_outcome(&self, stage: &PreparedStage) -> Result<Verdict, String> {
        let Ended { outcome, reason, about, .. } = self.ended;
        let Some(given) = *outcome else { return Err("the agent did not call finish".to_owned()) };
        if given != stage.outcome {
            return Err(format!("the outcome given is {}, expected {}", name(given), name(stage.outcome)));
        }
        if stage.outcome != Outcome::Refused {
            return Ok(Verdict::Passed);
        }
        if !stage.refusal.is_empty() && !reason.is_some_and(|reason| stage.refusal.contains(&reason)) {
            let given = reasons(reason.as_slice());
            return Err(format!("the refusal gives {given}, expected {}", reasons(&stage.refusal)));
        }
        if !stage.subjects.is_empty()
            && !about.is_some_and(|about| structured::is_about(about, &stage.subjects))
        {
            let given: String = about.unwrap_or("nothing").chars().take(60).collect();
            return Err(format!("the refusal is about {given}, expected the id or name that was asked for"));
        }
        Ok(Verdict::Passed)
    }

    fn outcome(
        &self,
        stage: &PreparedStage,
        answer: Verdict,
        episode: &Episode<'a>,
        errors: &mut Vec<GradeError>,
    ) -> Verdict {
        let given = self.ended.outcome;
        let wrong = |message: String| Err(GradeError::new(ErrorClass::WrongOutcome, message));
        if self.ended.answers == Answers::Structured {
            return self.structured_outcome(stage).unwrap_or_else(|message| {
                errors.push(GradeError::new(ErrorClass::WrongOutcome, message));
                Verdict::Failed
            });
        }
        let ending = &self.said(episode.attempt).ending;
        let verdict = match (stage.outcome, given) {
            (expected, Some(given)) if given != expected => {
                wrong(format!("the outcome given is {}, expected {}", name(given), name(expected)))
            }
            (Outcome::Refused, _) => match self.ended.reason {
                Some(reason) if stage.refusal.is_empty() || stage.refusal.contains(&reason) => {
                    Ok(Verdict::Passed)
                }
                Some(reason) => wrong(format!(
                    "the answer gives {}, expected {}",
                    reasons(&[reason]),
                    reasons(&stage.refusal)
                )),
                None => match self.refusal_fault(stage, episode.attempt) {
                    Some(fault) => wrong(fault),
                    None => Ok(Verdict::Passed),
                },
            },
            (Outcome::NeedInput, None) if !ending.is_question() => {
                wrong("the answer does not ask the user for what is missing".to_owned())
            }
            (Outcome::Done, None) if ending.silent => Ok(Verdict::NotEvaluated),
            // Facts show that it was done, and so do changes that the answer does not deny; a question speaks against it
            // only without them.
            (Outcome::Done, None) if answer != Verdict::Passed && ending.asks && !ending.done => {
                wrong("the answer asks the user instead of carrying out the request".to_owned())
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
    /// Which record each new one is.
    fn new_records<'a>(&'a self, attempt: &Attempt<'a>, keys: &'a BTreeMap<u32, Value>) -> NewRecords<'a> {
        let said = attempt.stages.last().map_or(&[][..], |stage| stage.user_turns);
        NewRecords { world: attempt.base.world(), said, resources: &self.changes.created, keys }
    }
}

impl PreparedStage {
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

    /// Failed where one failed, passed where one passed and none failed.
    fn over(verdicts: impl Iterator<Item = Self>) -> Self {
        verdicts.fold(Self::NotEvaluated, |all, one| match (all, one) {
            (Self::Failed, _) | (_, Self::Failed) => Self::Failed,
            (Self::Passed, _) | (_, Self::Passed) => Self::Passed,
            _ => Self::NotEvaluated,
        })
    }
}

impl Judgement {
    /// Whether it is nearer to success than another.
    fn is_nearer(&self, other: &Self) -> bool {
        let distance = |judged: &Self| (judged.components.failed(), judged.errors.len());
        distance(self) < distance(other)
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
