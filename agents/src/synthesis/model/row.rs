//! One row: attempts at a row, each with a plan of its own, until one passes the gates and the judge.
//!
//! A row is a function of (seed, config, number) and of the model's replies. What happens on the way is written down as
//! [`StepLine`]s; a row for which the model gave no reply is unfinished and leaves nothing behind.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use diorama_answers::Clock;
use diorama_output::funnel::Funnel;
use diorama_output::row::parts::Provenance;
use diorama_output::row::{Dialogue, Split};
use diorama_output::stats::duplicates::{shingles, similar};
use diorama_output::stats::text::words;
use diorama_proof::{Candidate, GateReport, Grounded};
use rand::RngExt;
use serde_json::{Value as Json, json};

use super::asking::{Asker, Lost, Unasked};
use super::fidelity::{self, Line, NEAR_PLAN, Speaker};
use super::intent::Subject;
use super::lines::{UserLines, says, with_says};
use super::plan::{self, Plan};
use super::prompts::PERSONAS;
use super::rewrite::{self, Reworded, Spot};
use super::run_context::RunContext;
use super::searches::searched_again;
use super::steps::{StepLine, Went};
use super::{AssistantWords, UserWords, caller, judge, query, wording};
use crate::synthesis::pipeline::{REPEATS, count_mutants};
use crate::synthesis::row::{self, About};
use crate::synthesis::tester::Rejected;
use crate::synthesis::world::BatchWorld;

/// The order for one row.
#[derive(Clone)]
pub struct RowJob {
    /// Its number.
    pub row_index: u64,
    /// Its split.
    pub split: Split,
    /// The attempt to begin with.
    pub from: u32,
    /// Openings of rows of the batch that this one must not repeat.
    pub known: Arc<Vec<Box<[u64]>>>,
}

/// The outcome of a row.
#[derive(Debug, Default)]
pub struct RowOutcome {
    /// Its number.
    pub row_index: u64,
    /// The row, where an attempt passed.
    pub row: Option<Dialogue>,
    /// The attempt that passed, or the number of attempts.
    pub attempt: u32,
    /// What became of the attempts.
    pub funnel: Funnel,
    /// The record of the steps, in order.
    pub lines: Vec<StepLine>,
    /// Why it came to no end. Then nothing else counts.
    pub unfinished: Option<Lost>,
}

impl RowOutcome {
    /// Gives up the row, which repeats another.
    pub(super) fn drop_repeated(&mut self) {
        self.row = None;
        self.funnel.drop_at("duplicate", REPEATS);
        // What was written down of a row is now what was lost.
        if let Some(line) = self.lines.last_mut() {
            (line.step, line.went, line.reason) =
                ("duplicate".to_owned(), Went::Dropped, Some(REPEATS.to_owned()));
        }
    }

    /// Takes in what came of the attempts that followed.
    pub(super) fn go_on(&mut self, later: Self) {
        self.funnel.add(&later.funnel);
        self.lines.extend(later.lines);
        (self.row, self.attempt) = (later.row, later.attempt);
    }
}

/// Why an attempt ends without a row.
enum Loss {
    Dropped { step: &'static str, reason: String, what: String },
    Lost(Lost),
}

impl From<Lost> for Loss {
    fn from(lost: Lost) -> Self {
        Self::Lost(lost)
    }
}

impl Loss {
    fn dropped(step: &'static str, reason: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Dropped { step, reason: reason.into(), what: what.into() }
    }

    fn unasked(step: &'static str, unasked: Unasked) -> Self {
        match unasked {
            Unasked::Lost(lost) => Self::Lost(lost),
            Unasked::Malformed(what) => Self::dropped(step, "malformed", what),
        }
    }
}

/// A conversation that passed the gates, and who wrote it.
struct Proven {
    grounded: Grounded,
    report: GateReport,
    authors: BTreeMap<String, String>,
}

/// What the gates made of a candidate that passed.
type Passed = (Grounded, GateReport);

/// Why words do not stand: the step or gate, the reason by name, and in full.
type Wrong = (&'static str, String, String);

/// Makes a row.
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
            outcome.unfinished = Some(Lost::Spent("the run was told to stop".to_owned()));
            break;
        }
        work.attempt = attempt;
        work.funnel.propose();
        match work.attempt().await {
            Ok(row) => {
                outcome.row = Some(row);
                outcome.attempt = attempt;
                break;
            }
            Err(Loss::Dropped { step, reason, what }) => {
                work.funnel.drop_at(step, &reason);
                work.note(step, Went::Dropped, Some((&reason, &what)), Json::Null);
            }
            Err(Loss::Lost(lost)) => {
                outcome.unfinished = Some(lost);
                break;
            }
        }
    }
    work.funnel.models = work.asker.uses();
    (outcome.funnel, outcome.lines) = (work.funnel, work.lines);
    outcome
}

/// The first words of a row, for telling near-duplicates.
#[must_use]
pub fn opening(row: &Dialogue) -> Box<[u64]> {
    shingles(&words(&row.query))
}

/// A row on its way.
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
    fn note(&mut self, step: &str, went: Went, why: Option<(&str, &str)>, made: Json) {
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

    /// Writes down that words do not stand: once they go back with what is wrong, then the attempt ends.
    fn sent_back(
        &mut self,
        of: &str,
        (step, reason, what): Wrong,
        made: Json,
        is_repaired: bool,
    ) -> Result<String, Loss> {
        let went = if is_repaired { Went::LineLost } else { Went::Repaired };
        self.note(of, went, Some((&reason, &what)), made);
        if is_repaired { Err(Loss::Dropped { step, reason, what }) } else { Ok(what) }
    }

    async fn attempt(&mut self) -> Result<Dialogue, Loss> {
        let plan = self.plan().await?;
        let persona = self.persona();
        let settings = &self.run_context.settings;
        let rewrites =
            settings.user == UserWords::Rewritten || settings.assistant == AssistantWords::Rewritten;
        let proven = if rewrites {
            self.rewritten(&plan, persona).await?
        } else {
            let proven = match settings.user {
                UserWords::Query => self.asked(&plan, persona).await?,
                UserWords::Rewritten | UserWords::Scenario => self.offline(&plan),
            };
            self.answered(&plan, proven).await?
        };
        let opening = shingles(&words(proven.grounded.script.opening()));
        if self.job.known.iter().any(|known| similar(known, &opening)) {
            return Err(Loss::dropped("duplicate", REPEATS, proven.grounded.script.opening()));
        }
        self.judged(&proven.grounded).await?;
        count_mutants(&mut self.funnel, &proven.report);
        let row = self.row(&plan, &proven);
        self.note(
            "row",
            Went::Passed,
            None,
            json!({ "id": row.id, "authors": proven.authors, "candidate": proven.grounded.candidate }),
        );
        Ok(row)
    }

    async fn plan(&mut self) -> Result<Plan, Loss> {
        let (world, place) = (self.world.clone(), (self.job.row_index, self.attempt));
        let made = self
            .run_context
            .compute(move |run_context| plan::plan(&run_context.recipe, &run_context.agents, &world, place));
        let none = || {
            Loss::dropped(
                "plan",
                "no chain of calls passed the gates",
                "no proposal of the offline planner did",
            )
        };
        let plan = made.await?.ok_or_else(none)?;
        let calls: Vec<Json> = plan.grounded.gold.iter().map(|call| json!(call)).collect();
        self.note(
            "plan",
            Went::Passed,
            None,
            json!({ "ability": plan.ability, "tags": plan.tags, "calls": calls }),
        );
        Ok(plan)
    }

    fn persona(&self) -> &'static str {
        let place = (self.job.row_index, self.attempt);
        let mut stream = plan::stream(&self.run_context.recipe, "persona", place);
        PERSONAS[stream.random_range(0..PERSONAS.len())]
    }

    /// Runs a candidate through the gates.
    async fn prove(&self, candidate: Candidate) -> Result<Result<Passed, Wrong>, Lost> {
        let (world, place) = (self.world.clone(), (self.job.row_index, self.attempt));
        let tested = move |run_context: &RunContext| {
            let candidate = searched_again(&world, candidate);
            let mut stream = plan::stream(&run_context.recipe, "gates", place);
            run_context.agents.tester.test(&world, candidate, &mut stream).map_err(
                |rejected| match rejected {
                    Rejected::Gate(reason) => {
                        (reason.gate.name(), reason.code.name().to_owned(), reason.to_string())
                    }
                    Rejected::Form(error) => {
                        ("caller", "not of the form of a candidate".to_owned(), error.to_string())
                    }
                },
            )
        };
        self.run_context.compute(tested).await
    }

    /// The offline conversation as it is.
    fn offline(&self, plan: &Plan) -> Proven {
        let authors = BTreeMap::from([("user".to_owned(), "scenarios".to_owned())]);
        Proven { grounded: plan.grounded.clone(), report: plan.report.clone(), authors }
    }

    /// The plan with the words of the query agent for the user.
    async fn asked(&mut self, plan: &Plan, persona: &str) -> Result<Proven, Loss> {
        let lines = UserLines::of(&plan.grounded.candidate);
        let brief = plan.brief(&self.world, persona);
        let failed = |unasked| Loss::unasked(query::STEP, unasked);
        let asker = self.asker.clone();
        let mut told = query::ask(&asker, self.attempt, &brief, &lines).await.map_err(failed)?;
        let mut is_repaired = false;
        loop {
            let made = json!(told.value);
            match self.user_lines(plan, &lines, &told.value).await? {
                Ok((grounded, report)) => {
                    self.note(query::STEP, Went::Passed, None, made);
                    let authors = BTreeMap::from([("user".to_owned(), query::STEP.to_owned())]);
                    return Ok(Proven { grounded, report, authors });
                }
                Err(wrong) => {
                    let what = self.sent_back(query::STEP, wrong, made, is_repaired)?;
                    let again = query::again(&asker, self.attempt, &brief, &lines, told, &what);
                    told = again.await.map_err(failed)?;
                }
            }
            is_repaired = true;
        }
    }

    /// Whether the words of the query agent say what the plan's say, and the gates find everything in them.
    async fn user_lines(
        &self,
        plan: &Plan,
        reference: &UserLines,
        lines: &UserLines,
    ) -> Result<Result<Passed, Wrong>, Lost> {
        let clock = Clock::at(plan.grounded.clock, &self.world.base.world().zone);
        let known = &plan.grounded.system;
        let topic = &plan.topic(&self.world);
        for (at, (line, reference)) in lines.iter().zip(reference.iter()).enumerate() {
            let line = Line {
                speaker: Speaker::User,
                line,
                reference,
                known,
                whole: false,
                told: &[],
                near: NEAR_PLAN,
                subject: Subject { topic, deeds: Some(&plan.deeds(&self.world, at)) },
                clock: &clock,
            };
            match fidelity::check(line) {
                // The plan's words were not shown: short answers are often the same.
                Ok(()) | Err(fidelity::Unfit::Unchanged { .. }) => {}
                Err(unfit) => return Ok(Err((query::STEP, unfit.name().to_owned(), unfit.to_string()))),
            }
        }
        self.prove(lines.put_into(&plan.grounded.candidate)).await
    }

    /// The assistant's side of a conversation whose user speaks already.
    async fn answered(&mut self, plan: &Plan, proven: Proven) -> Result<Proven, Loss> {
        let (mut way, fallback) = (self.run_context.settings.assistant, self.run_context.settings.fallback);
        let mut called = None;
        if way == AssistantWords::Caller {
            match self.called(plan, &proven).await {
                Ok(passed) => called = Some(passed),
                Err(Loss::Dropped { step, reason, what }) => {
                    let Some(fallback) = fallback else {
                        return Err(Loss::Dropped { step, reason, what });
                    };
                    self.note(caller::STEP, Went::FellBack, Some((&reason, &what)), Json::Null);
                    way = fallback;
                }
                Err(lost) => return Err(lost),
            }
        }
        let (author, (grounded, report)) = match (called, way) {
            (Some(passed), _) => (caller::STEP, passed),
            (None, AssistantWords::Gold) => ("planned calls, worded", self.worded(&proven.grounded).await?),
            (None, _) => ("scenarios", (proven.grounded, proven.report)),
        };
        let mut authors = proven.authors;
        authors.insert("assistant".to_owned(), author.to_owned());
        Ok(Proven { grounded, report, authors })
    }

    /// The caller agent's own way to the same end.
    async fn called(&mut self, plan: &Plan, proven: &Proven) -> Result<Passed, Loss> {
        let row = self.row(plan, proven);
        let (asker, world, protocol) =
            (self.asker.clone(), self.world.clone(), self.run_context.settings.protocol);
        let solved = caller::solve(&asker, self.attempt, protocol, &proven.grounded, &row, &world).await?;
        let candidate =
            solved.map_err(|unsolved| Loss::dropped(caller::STEP, unsolved.class, unsolved.what))?;
        let made = json!({ "goals": candidate.goals });
        match self.prove(candidate).await? {
            Ok(passed) => {
                self.note(caller::STEP, Went::Passed, None, made);
                Ok(passed)
            }
            Err((step, reason, what)) => {
                self.note(caller::STEP, Went::LineLost, Some((&reason, &what)), made);
                Err(Loss::Dropped { step, reason, what })
            }
        }
    }

    /// The planned calls with words of a model.
    async fn worded(&mut self, grounded: &Grounded) -> Result<Passed, Loss> {
        let (asker, world) = (self.asker.clone(), self.world.clone());
        let model = world.base.world();
        let failed = |unasked| Loss::unasked(wording::STEP, unasked);
        let mut told = wording::ask(&asker, self.attempt, grounded, model).await.map_err(failed)?;
        let mut is_repaired = false;
        loop {
            let made = json!({ "says": told.value });
            match self.prove(with_says(&grounded.candidate, &told.value)).await? {
                Ok(passed) => {
                    self.note(wording::STEP, Went::Passed, None, made);
                    return Ok(passed);
                }
                Err(wrong) => {
                    let what = self.sent_back(wording::STEP, wrong, made, is_repaired)?;
                    told = wording::again(&asker, self.attempt, told, &what).await.map_err(failed)?;
                }
            }
            is_repaired = true;
        }
    }

    /// The offline conversation in other words, line by line. A line that does not stand stays as it was; the first
    /// request has to be the model's, or the attempt is lost.
    async fn rewritten(&mut self, plan: &Plan, persona: &str) -> Result<Proven, Loss> {
        let settings = &self.run_context.settings;
        let (user, assistant) =
            (settings.user == UserWords::Rewritten, settings.assistant == AssistantWords::Rewritten);
        let spots = rewrite::spots(&plan.grounded.candidate, user, assistant);
        let asker = self.asker.clone();
        let world = self.world.clone();
        let number = self.attempt;
        let job = |spot| rewrite::Job { plan, world: &world, spot, persona, number };
        let mut reworded: Vec<Reworded> = Vec::new();
        let mut lost: Vec<(Spot, String, String)> = Vec::new();
        for spot in &spots {
            match job(*spot).ask(&asker).await? {
                Ok(line) => reworded.push(line),
                Err((reason, what)) => {
                    lost.push((*spot, reason, what));
                    // Without its first request a conversation is not the model's.
                    if user && *spot == Spot::User(0) {
                        break;
                    }
                }
            }
        }
        let mut passed = None;
        let is_opened = !user || reworded.first().is_some_and(|line| line.spot == Spot::User(0));
        if is_opened && !reworded.is_empty() {
            let all: Vec<&Reworded> = reworded.iter().collect();
            passed = self.prove(rewrite::put_into(&plan.grounded.candidate, &all)).await?.ok();
            if passed.is_none() {
                passed = self.one_by_one(plan, persona, &mut reworded, &mut lost).await?;
            }
        }
        for (spot, reason, what) in &lost {
            self.note(rewrite::STEP, Went::LineLost, Some((reason, what)), json!(spot));
        }
        let Some((grounded, report)) = passed else {
            let first = lost.iter().find(|(spot, ..)| !user || *spot == Spot::User(0));
            let (reason, what) = first.map_or_else(
                || ("no line stands".to_owned(), String::new()),
                |(_, reason, what)| (reason.clone(), what.clone()),
            );
            return Err(Loss::dropped(rewrite::STEP, reason, what));
        };
        let told = |line: &Reworded| {
            let (_, was) = job(line.spot).line();
            json!({ "spot": line.spot, "was": was, "line": line.told.value })
        };
        let lines: Vec<Json> = reworded.iter().map(told).collect();
        self.note(rewrite::STEP, Went::Passed, None, json!({ "lines": lines, "of": spots.len() }));
        let count = |wanted: fn(&Spot) -> bool| {
            let kept = reworded.iter().filter(|line| wanted(&line.spot)).count();
            format!("rewritten, {kept} of {} lines", spots.iter().filter(|spot| wanted(spot)).count())
        };
        let by = |asked: bool, wanted: fn(&Spot) -> bool| {
            if asked { count(wanted) } else { "scenarios".to_owned() }
        };
        let authors = BTreeMap::from([
            ("user".to_owned(), by(user, |spot| matches!(spot, Spot::User(_)))),
            ("assistant".to_owned(), by(assistant, |spot| matches!(spot, Spot::Assistant(_)))),
        ]);
        Ok(Proven { grounded, report, authors })
    }

    /// Puts reworded lines in one after the other, and keeps those with which the conversation still passes. What is wrong
    /// with a line goes back once. Nothing, where the first request does not stand.
    async fn one_by_one(
        &self,
        plan: &Plan,
        persona: &str,
        reworded: &mut Vec<Reworded>,
        lost: &mut Vec<(Spot, String, String)>,
    ) -> Result<Option<Passed>, Lost> {
        let mut kept: Vec<Reworded> = Vec::new();
        let mut passed = None;
        for line in std::mem::take(reworded) {
            let spot = line.spot;
            let trial = |line: &Reworded, kept: &[Reworded]| {
                let lines: Vec<&Reworded> = kept.iter().chain([line]).collect();
                rewrite::put_into(&plan.grounded.candidate, &lines)
            };
            let wrong = match self.prove(trial(&line, &kept)).await? {
                Ok(proven) => {
                    passed = Some(proven);
                    kept.push(line);
                    continue;
                }
                Err(wrong) => wrong,
            };
            let job = rewrite::Job { plan, world: &self.world, spot, persona, number: self.attempt };
            let wrong = match job.again(&self.asker, line.told, &wrong.2).await? {
                Ok(line) => match self.prove(trial(&line, &kept)).await? {
                    Ok(proven) => {
                        passed = Some(proven);
                        kept.push(line);
                        continue;
                    }
                    Err((_, reason, what)) => (reason, what),
                },
                Err(wrong) => wrong,
            };
            lost.push((spot, wrong.0, wrong.1));
            if spot == Spot::User(0) {
                return Ok(None);
            }
        }
        *reworded = kept;
        Ok(passed)
    }

    /// Has the judge vote, where it is asked.
    async fn judged(&mut self, grounded: &Grounded) -> Result<(), Loss> {
        let votes = self.run_context.settings.votes;
        if votes == 0 {
            return Ok(());
        }
        let (asker, world) = (self.asker.clone(), self.world.clone());
        let verdict = judge::judge(&asker, self.attempt, votes, grounded, world.base.world()).await?;
        let Some(fault) = verdict.fault() else {
            self.note(judge::STEP, Went::Passed, None, json!(verdict));
            return Ok(());
        };
        let why = verdict.votes.iter().find(|vote| !vote.is_good());
        let why = why.map(|vote| vote.reason.clone()).unwrap_or_default();
        self.note(
            judge::STEP,
            Went::LineLost,
            Some((fault, &why)),
            json!({ "verdict": verdict, "says": says(&grounded.candidate), "user": grounded.user_turns }),
        );
        Err(Loss::dropped(judge::STEP, fault, why))
    }

    fn row(&self, plan: &Plan, proven: &Proven) -> Dialogue {
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
        };
        let terms = format!("{} ({})", settings.model, settings.terms);
        let by_caller = proven.authors.get("assistant").is_some_and(|author| author == caller::STEP);
        let told_by_trace = ["missed_search", "says_before_calling"];
        let tags: Vec<&'static str> =
            plan.tags.iter().copied().filter(|name| !by_caller || !told_by_trace.contains(name)).collect();
        let about = About {
            ability: plan.ability,
            tags: &tags,
            domain: plan.domain,
            split: self.job.split,
            provenance: &provenance,
            model_terms: Some(&terms),
        };
        row::row(self.world.of_rows(), &proven.grounded, &proven.report, &about)
    }
}
