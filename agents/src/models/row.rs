//! Owns one row: attempts with different plans, until one passes the gates and the judge.
//!
//! A row is a function of the seed, its subject and number ([`RowKey`](crate::draws::RowKey)) and the
//! model's replies. [`StepLine`]s record the steps. A row is unfinished if the model gives no reply; it then
//! leaves no row and no counts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use diorama_output::funnel::Funnel;
use diorama_output::plan::Batch;
use diorama_output::row::Dialogue;
use diorama_output::row::parts::Provenance;
use diorama_output::stats::duplicates::{shingles, similar};
use diorama_output::stats::text::words;
use diorama_proof::{Candidate, GateReport, GroundedCandidate};
use serde_json::{Value as Json, json};

use super::ask::{AskError, Asker, NoReply};
use super::plan;
use super::rewrite::{self, Rewrite, Whose};
use super::run_context::RunContext;
use super::searches::searched_again;
use super::steps::{StepLine, StepOutcome};
use super::{AssistantWords, UserWords, caller, judge};
use crate::draws::choose;
use crate::rows::attempt::{ProvenDialogue, REPEATS};
use crate::rows::prove::{Rejection, test};
use crate::rows::row::{self, RowProperties};
use crate::scenarios::speech::SPEECH;
use crate::scenarios::tags::OF_THE_WAY;
use crate::worlds::world::BatchWorld;

/// Order for one row.
#[derive(Clone)]
pub struct RowJob {
    /// Index of the row.
    pub row_index: u64,
    /// Batch of the row.
    pub batch: Batch,
    /// First attempt.
    pub from: u32,
    /// Openings of other rows of the batch, which this row must not repeat.
    pub known: Arc<Vec<Box<[u64]>>>,
}

/// Outcome of a row.
#[derive(Debug, Default)]
pub struct RowOutcome {
    /// Index of the row.
    pub row_index: u64,
    /// The row, if an attempt passed.
    pub row: Option<Dialogue>,
    /// The attempt that passed, or the number of attempts.
    pub attempt: u32,
    /// Counts of the attempts' results.
    pub funnel: Funnel,
    /// Report of the gates on the row. The run counts its mutants only if it keeps the row.
    pub report: Option<GateReport>,
    /// Records of the steps, in order.
    pub lines: Vec<StepLine>,
    /// Reason for which the row is unfinished. The other fields then do not count.
    pub unfinished: Option<NoReply>,
}

impl RowOutcome {
    /// Drops the row because it repeats another one.
    pub(crate) fn drop_repeated(&mut self) {
        (self.row, self.report) = (None, None);
        self.funnel.drop_at("duplicate", REPEATS);
        // The last line recorded the row. It now records the loss.
        if let Some(line) = self.lines.last_mut() {
            (line.step, line.went, line.reason) =
                ("duplicate".to_owned(), StepOutcome::Dropped, Some(REPEATS.to_owned()));
        }
    }

    /// Adds the outcome of later attempts.
    pub(crate) fn go_on(&mut self, later: Self) {
        self.funnel.add(&later.funnel);
        self.lines.extend(later.lines);
        (self.row, self.report, self.attempt) = (later.row, later.report, later.attempt);
    }
}

/// Reasons for which an attempt ends without a row.
enum Loss {
    Dropped { step: &'static str, reason: String, what: String },
    NoReply(NoReply),
}

impl From<NoReply> for Loss {
    fn from(lost: NoReply) -> Self {
        Self::NoReply(lost)
    }
}

impl Loss {
    fn dropped(step: &'static str, reason: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Dropped { step, reason: reason.into(), what: what.into() }
    }

    fn unasked(step: &'static str, unasked: AskError) -> Self {
        match unasked {
            AskError::NoReply(lost) => Self::NoReply(lost),
            AskError::Malformed(what) => Self::dropped(step, "malformed", what),
        }
    }
}

/// A reworded conversation that passed the gates, with its authors.
struct RewordedDialogue {
    grounded: GroundedCandidate,
    report: GateReport,
    authors: BTreeMap<String, String>,
}

/// Result of the gates for a candidate that passed.
type GateResult = (GroundedCandidate, GateReport);

/// Reason to reject words: the step or gate, the name of the reason, and its description.
type Wrong = (&'static str, String, String);

/// Makes a row, or records why no attempt passed.
pub async fn make_row(run_context: Arc<RunContext>, world: Arc<BatchWorld>, job: RowJob) -> RowOutcome {
    let settings = &run_context.settings;
    let asker = Asker::new(
        run_context.model.clone(),
        run_context.prompts.clone(),
        settings.sampling.clone(),
        job.row_index,
    );
    let attempts = settings.attempts;
    let mut work = Work {
        run_context: run_context.clone(),
        world,
        job,
        asker: Arc::new(asker),
        attempt: 0,
        funnel: Funnel::default(),
        lines: Vec::new(),
    };
    let mut outcome =
        RowOutcome { row_index: work.job.row_index, attempt: attempts, ..RowOutcome::default() };
    for attempt in work.job.from..attempts {
        if attempt > work.job.from && run_context.stopping.load(Relaxed) {
            outcome.unfinished = Some(NoReply::Spent("the run was told to stop".to_owned()));
            break;
        }
        work.attempt = attempt;
        work.funnel.propose();
        match work.attempt().await {
            Ok((row, report)) => {
                (outcome.row, outcome.report) = (Some(row), Some(report));
                outcome.attempt = attempt;
                break;
            }
            Err(Loss::Dropped { step, reason, what }) => {
                work.funnel.drop_at(step, &reason);
                work.note(step, StepOutcome::Dropped, Some((&reason, &what)), Json::Null);
            }
            Err(Loss::NoReply(lost)) => {
                outcome.unfinished = Some(lost);
                break;
            }
        }
    }
    work.funnel.models = work.asker.uses();
    (outcome.funnel, outcome.lines) = (work.funnel, work.lines);
    outcome
}

/// Returns the shingles of the first user message, for finding near-duplicates.
pub fn opening(row: &Dialogue) -> Box<[u64]> {
    shingles(&words(&row.query))
}

/// State of a row in progress.
struct Work {
    run_context: Arc<RunContext>,
    world: Arc<BatchWorld>,
    job: RowJob,
    asker: Arc<Asker>,
    attempt: u32,
    funnel: Funnel,
    lines: Vec<StepLine>,
}

impl Work {
    fn note(&mut self, step: &str, went: StepOutcome, why: Option<(&str, &str)>, made: Json) {
        self.lines.push(StepLine {
            row_index: self.job.row_index,
            attempt: self.attempt,
            step: step.to_owned(),
            went,
            reason: why.map(|(reason, _)| reason.to_owned()),
            what: why.map(|(_, what)| what.to_owned()),
            made,
        });
    }

    async fn attempt(&mut self) -> Result<(Dialogue, GateReport), Loss> {
        let plan = self.plan().await?;
        let persona = self.persona();
        let proven = self.reword(&plan, persona).await?;
        let proven = self.answer(&plan, proven).await?;
        let opening = shingles(&words(proven.grounded.script.opening()));
        if self.job.known.iter().any(|known| similar(known, &opening)) {
            return Err(Loss::dropped("duplicate", REPEATS, proven.grounded.script.opening()));
        }
        self.judge(&proven.grounded).await?;
        let row = self.row(&plan, &proven);
        self.note(
            "row",
            StepOutcome::Passed,
            None,
            json!({ "id": row.id, "authors": proven.authors, "candidate": proven.grounded.candidate }),
        );
        Ok((row, proven.report))
    }

    async fn plan(&mut self) -> Result<ProvenDialogue, Loss> {
        let (world, batch) = (self.world.clone(), self.job.batch.clone());
        let place = (self.job.row_index, self.attempt);
        let made = self
            .run_context
            .compute(move |run_context| plan::plan(&run_context.recipe, &world, &batch, place));
        let none = || {
            Loss::dropped(plan::STEP, "no chain of calls passed the gates", "no scenario that was played did")
        };
        let plan = made.await?.ok_or_else(none)?;
        let calls: Vec<Json> = plan.grounded.gold.iter().map(|call| json!(call)).collect();
        self.note(
            plan::STEP,
            StepOutcome::Passed,
            None,
            json!({ "ability": plan.ability, "tags": plan.tags, "calls": calls }),
        );
        Ok(plan)
    }

    fn persona(&self) -> &'static str {
        let place = (self.job.row_index, self.attempt);
        let mut stream = plan::stream(&self.run_context.recipe, "persona", &self.job.batch, place);
        choose(&SPEECH.voices, &mut stream).map_or("", String::as_str)
    }

    /// Runs a candidate through the gates.
    async fn prove(&self, candidate: Candidate) -> Result<Result<GateResult, Wrong>, NoReply> {
        let (world, batch) = (self.world.clone(), self.job.batch.clone());
        let place = (self.job.row_index, self.attempt);
        let tested = move |run_context: &RunContext| {
            let candidate = searched_again(&world, candidate);
            let mut stream = plan::stream(&run_context.recipe, "gates", &batch, place);
            test(&world, candidate, &mut stream).map_err(|rejected| match rejected {
                Rejection::Gate(reason) => {
                    (reason.gate.name(), reason.code.name().to_owned(), reason.to_string())
                }
                Rejection::Form(error) => {
                    ("caller", "not of the form of a candidate".to_owned(), error.to_string())
                }
            })
        };
        self.run_context.compute(tested).await
    }

    /// Rewords all lines of the conversation in one request. Findings of the gates go back to the model
    /// once. If they remain, the lines of one speaker alone stay, if those pass.
    async fn reword(&mut self, plan: &ProvenDialogue, persona: &str) -> Result<RewordedDialogue, Loss> {
        let settings = &self.run_context.settings;
        let user = settings.user == UserWords::Rewritten;
        let whose = Whose { user, assistant: settings.assistant == AssistantWords::Rewritten };
        let scenario = || "scenarios".to_owned();
        let mut authors =
            BTreeMap::from([("user".to_owned(), scenario()), ("assistant".to_owned(), scenario())]);
        let (asker, world) = (self.asker.clone(), self.world.clone());
        let rewrite = Rewrite::new(&plan.grounded, world.base.world(), whose, persona, self.attempt);
        if rewrite.count() == 0 {
            return Ok(RewordedDialogue {
                grounded: plan.grounded.clone(),
                report: plan.report.clone(),
                authors,
            });
        }
        let failed = |unasked| Loss::unasked(rewrite::STEP, unasked);
        let mut answer = rewrite.ask(&asker).await.map_err(failed)?;
        let mut tested = self.prove(rewrite.put_in(&answer.value, whose)).await?;
        if let Err((_, reason, what)) = &tested {
            let lines = json!({ "lines": answer.value });
            self.note(rewrite::STEP, StepOutcome::Repaired, Some((reason, what)), lines);
            answer = rewrite.ask_again(&asker, answer, what).await.map_err(failed)?;
            tested = self.prove(rewrite.put_in(&answer.value, whose)).await?;
        }
        let mut kept = whose;
        if let Err((_, reason, what)) = &tested {
            let why = (reason.clone(), what.clone());
            let alone = [Whose { user: false, ..whose }, Whose { assistant: false, ..whose }];
            for of in alone.into_iter().filter(|_| whose.user && whose.assistant) {
                (kept, tested) = (of, self.prove(rewrite.put_in(&answer.value, of)).await?);
                if tested.is_ok() {
                    break;
                }
            }
            let lines = json!({ "lines": answer.value });
            self.note(rewrite::STEP, StepOutcome::LineLost, Some((&why.0, &why.1)), lines);
            // The reason is the one for the whole rewrite.
            tested = tested.map_err(|(step, ..)| (step, why.0, why.1));
        }
        let (grounded, report) =
            tested.map_err(|(_, reason, what)| Loss::dropped(rewrite::STEP, reason, what))?;
        self.note(rewrite::STEP, StepOutcome::Passed, None, json!({ "lines": answer.value }));
        for (role, _) in
            [("user", kept.user), ("assistant", kept.assistant)].into_iter().filter(|(_, is)| *is)
        {
            authors.insert(role.to_owned(), rewrite::STEP.to_owned());
        }
        Ok(RewordedDialogue { grounded, report, authors })
    }

    /// Lets the caller agent solve the request in a live session. If it fails, the planned calls stay if
    /// the settings allow that.
    async fn answer(
        &mut self,
        plan: &ProvenDialogue,
        proven: RewordedDialogue,
    ) -> Result<RewordedDialogue, Loss> {
        let settings = &self.run_context.settings;
        if settings.assistant != AssistantWords::Caller {
            return Ok(proven);
        }
        let falls_back = settings.falls_back;
        match self.solve(plan, &proven).await {
            Ok((grounded, report)) => {
                let mut authors = proven.authors;
                authors.insert("assistant".to_owned(), caller::STEP.to_owned());
                Ok(RewordedDialogue { grounded, report, authors })
            }
            Err(Loss::Dropped { reason, what, .. }) if falls_back => {
                self.note(caller::STEP, StepOutcome::FellBack, Some((&reason, &what)), Json::Null);
                Ok(proven)
            }
            Err(lost) => Err(lost),
        }
    }

    /// Returns the caller agent's own solution, if the gates pass it.
    async fn solve(&mut self, plan: &ProvenDialogue, proven: &RewordedDialogue) -> Result<GateResult, Loss> {
        let row = self.row(plan, proven);
        let (asker, world, protocol) =
            (self.asker.clone(), self.world.clone(), self.run_context.settings.protocol);
        let solved = caller::solve(&asker, self.attempt, protocol, &proven.grounded, &row, &world).await?;
        let candidate =
            solved.map_err(|unsolved| Loss::dropped(caller::STEP, unsolved.class, unsolved.what))?;
        let made = json!({ "goals": candidate.goals });
        match self.prove(candidate).await? {
            Ok(passed) => {
                self.note(caller::STEP, StepOutcome::Passed, None, made);
                Ok(passed)
            }
            Err((step, reason, what)) => {
                self.note(caller::STEP, StepOutcome::LineLost, Some((&reason, &what)), made);
                Err(Loss::Dropped { step, reason, what })
            }
        }
    }

    /// Asks the judge for votes, if the settings ask for any.
    async fn judge(&mut self, grounded: &GroundedCandidate) -> Result<(), Loss> {
        let votes = self.run_context.settings.votes;
        if votes == 0 {
            return Ok(());
        }
        let (asker, world) = (self.asker.clone(), self.world.clone());
        let verdict = judge::judge(&asker, self.attempt, votes, grounded, world.base.world()).await?;
        let why = verdict.votes.iter().find(|vote| !vote.is_good());
        let why = why.map(|vote| vote.reason.clone()).unwrap_or_default();
        let Some(fault) = verdict.fault() else {
            let advice = verdict.is_unnatural().then_some(("not as people write", &*why));
            self.note(judge::STEP, StepOutcome::Passed, advice, json!(verdict));
            return Ok(());
        };
        self.note(
            judge::STEP,
            StepOutcome::LineLost,
            Some((fault, &why)),
            json!({ "verdict": verdict, "candidate": grounded.candidate }),
        );
        Err(Loss::dropped(judge::STEP, fault, why))
    }

    fn row(&self, plan: &ProvenDialogue, proven: &RewordedDialogue) -> Dialogue {
        let settings = &self.run_context.settings;
        let provenance = Provenance {
            backend: "llm".to_owned(),
            model: Some(settings.model.clone()),
            prompt_hash: Some(self.run_context.prompts.hash().to_owned()),
            seed: self.run_context.recipe.seed,
            row: self.job.row_index,
            attempt: self.attempt,
            version: crate::GENERATOR_VERSION.to_owned(),
            authors: proven.authors.clone(),
            difficulty: None,
        };
        let terms = format!("{} ({})", settings.model, settings.terms);
        let by_caller = proven.authors.get("assistant").is_some_and(|author| author == caller::STEP);
        let tags: Vec<&'static str> =
            plan.tags.iter().copied().filter(|name| !by_caller || !OF_THE_WAY.contains(name)).collect();
        let about = RowProperties {
            ability: plan.ability,
            tags: &tags,
            domain: Some(plan.domain),
            split: self.job.batch.split,
            provenance: &provenance,
            model_terms: Some(&terms),
        };
        row::row(self.world.of_rows(), &proven.grounded, &proven.report, &about)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_repeats_another_takes_its_mutants_with_it() {
        let mut outcome = RowOutcome { report: Some(GateReport::default()), ..RowOutcome::default() };
        outcome.drop_repeated();
        assert!(outcome.report.is_none());
        assert_eq!(outcome.funnel.dropped["duplicate"][REPEATS], 1);
        let report = Some(GateReport::default());
        outcome.go_on(RowOutcome { report, attempt: 2, ..RowOutcome::default() });
        assert!(outcome.report.is_some() && outcome.attempt == 2);
    }
}
