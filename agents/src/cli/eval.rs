//! Owns the command `diorama eval`.

mod compare;
mod export_html;
mod faults;
pub(crate) mod model;
pub(crate) mod name;
mod regrade;
mod report;
mod show;

use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clap::{Args, Subcommand};
use diorama_engine::fault::{Faults, Rule};
use diorama_grade::GRADER_VERSION;
use diorama_llm::RunBudget;
use diorama_output::folder::Folder;
use diorama_output::storage::Location;
use indicatif::{HumanCount, ProgressBar};
use serde_json::{Map, Value as Json, json};

use self::model::ModelConnection;
pub use self::model::{AnswersArgs, ModelArgs};
use self::name::{AgentName, VariantArgs};
use self::report::{Report, Who};
use super::error::CliError;
use super::files::open_dataset;
use super::rows::RowsArgs;
use super::{CommandEnd, Streams};
use crate::episode::Worlds;
use crate::evaluation::batch::Arena;
use crate::evaluation::environment::Budget;
use crate::evaluation::page::{ReportFile, page};
use crate::evaluation::remote::SessionServer;
use crate::evaluation::results::success_rate;
use crate::evaluation::run::{self, Outcome, Plan};
use crate::evaluation::stored::{Mode, RunFolder};
use crate::evaluation::transcribed::{Answers, Transcriber};

/// Maximum time for the model's server to accept a connection before the run.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const USAGE: &str = "diorama eval [run] DATASET --agent NAME [OPTIONS]\n       diorama eval compare RUN RUN...\n       diorama eval regrade FILE --tasks DATASET\n       diorama eval show RUN... [--tasks DATASET]\n       diorama eval export-html RUN... --out DIR [--tasks DATASET]";

/// Evaluate agents on the tasks of a dataset, compare and show runs, and grade kept runs again.
///
/// `eval` without a subcommand means `eval run`; `diorama eval --help` has its options.
#[derive(Debug, Args)]
#[command(override_usage = USAGE)]
pub struct EvalCommand {
    /// The subcommand.
    #[command(subcommand)]
    command: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Evaluate an agent on the tasks of a dataset.
    Run(Box<RunArgs>),
    /// Compare runs that `--out` kept, episode by episode. Runs nothing.
    Compare(compare::Compare),
    /// Grade kept episodes again and list the verdicts that changed. Runs no agent and asks no model.
    Regrade(regrade::Regrade),
    /// Show kept runs in a browser: shares, failures, and each episode beside its reference.
    Show(show::Show),
    /// Write the pages of kept runs as files that open without a server.
    ExportHtml(export_html::ExportHtml),
}

impl EvalCommand {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        match self.command {
            Action::Run(run) => run.run(streams),
            Action::Compare(compare) => compare.run(streams),
            Action::Regrade(regrade) => regrade.run(streams),
            Action::Show(show) => show.run(streams),
            Action::ExportHtml(export) => export.run(streams),
        }
    }
}

/// Evaluate an agent on the tasks of a dataset.
///
/// Each trial runs in a live session on a seed of its own, so generated keys and tokens differ from those of the
/// reference solution. Agents of the papers ask a model behind any OpenAI-compatible server (`--base-url`, `--model`); the
/// scripted ones need none, and say so in every report. With `--out`, each episode is kept step by step as it ends: `--resume`
/// goes on with a run that was interrupted, `eval regrade` grades a kept run again without asking a model, and `eval compare` compares
/// two runs. With `--server`, episodes run in sessions of a server over HTTP, and its verdicts count. `diorama eval help` lists the other
/// subcommands.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Dataset that holds the tasks: a folder or a URL (s3://, gs://, az://).
    #[arg(value_name = "DATASET")]
    pub dataset: Location,
    /// Agent to run.
    #[arg(long, value_enum)]
    pub agent: AgentName,
    /// Variant of the agent.
    #[command(flatten)]
    pub variant: VariantArgs,
    /// Tasks to run.
    #[command(flatten)]
    pub rows: RowsArgs,
    /// Trials per task, for pass^k.
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub trials: u32,
    /// How goals end.
    #[command(flatten)]
    pub answers: AnswersArgs,
    /// Seed of the sessions' keys, tokens and faults.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// URL of a server with the same dataset (`diorama serve --tasks`). Episodes run there over HTTP [default: in this process].
    #[arg(long, value_name = "URL")]
    pub server: Option<String>,
    /// Control token of the server, with --server.
    #[arg(long, value_name = "TOKEN", env = "DIORAMA_CONTROL_TOKEN", hide_env_values = true)]
    pub control_token: Option<String>,
    /// Faults to inject, by name and share of calls from 0 to 1: 429=0.1,500=0.05 (any 5xx),expired=0.1,stale=0.1,partial=0.1;
    /// latency=50-500 in milliseconds. Each episode also runs without faults, and the report says what they cost.
    #[arg(long, value_name = "NAME=N,...", value_delimiter = ',', value_parser = faults::rule)]
    pub faults: Vec<Rule>,
    /// Maximum threads for agents without a model [default: one per core].
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Folder for `episodes.jsonl` (one episode per line), `report.json` and `report.html`.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Resume the run in --out, which began with the same options. Finished episodes are not run again.
    #[arg(long, requires = "out")]
    pub resume: bool,
    /// Write the report with its plots to this HTML file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Minimum share of solved tasks, from 0 to 1. Exits with 3 below it.
    #[arg(long, value_name = "SHARE", value_parser = crate::cli::share::share)]
    pub min_success: Option<f64>,
    /// Maximum share of solved tasks, from 0 to 1, for adversaries. Exits with 3 above it.
    #[arg(long, value_name = "SHARE", value_parser = crate::cli::share::share)]
    pub max_success: Option<f64>,
    /// Maximum unsolved tasks to list. For adversaries: solved tasks.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub show: usize,
    /// Maximum calls per episode [default: 40, scripted agents 200].
    #[arg(long, value_name = "N", help_heading = "Budget of an episode")]
    pub max_calls: Option<u32>,
    /// Maximum calls and messages per episode [default: 60, scripted agents 400].
    #[arg(long, value_name = "N", help_heading = "Budget of an episode")]
    pub max_steps: Option<u32>,
    /// Maximum tokens of the model per episode, sent and received [default: 200000].
    #[arg(long, value_name = "N", help_heading = "Budget of an episode")]
    pub max_episode_tokens: Option<u64>,
    /// Maximum seconds per episode [default: 600].
    #[arg(long, value_name = "N", help_heading = "Budget of an episode")]
    pub max_seconds: Option<u64>,
    /// The model.
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Progress bar of a run: tasks, the share of solved ones, and the spending of the model.
struct Progress {
    bar: ProgressBar,
    run_budget: Option<Arc<RunBudget>>,
    solved: AtomicU64,
    all: AtomicU64,
}

impl Progress {
    fn new(run_budget: Option<Arc<RunBudget>>, rows: usize) -> Self {
        let (solved, all) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { bar: super::terminal::bar(rows as u64, "tasks"), run_budget, solved, all }
    }

    fn add(&self, outcome: &Outcome) {
        let rate = success_rate(Outcome::counted(&outcome.episodes));
        let solved = self.solved.fetch_add(rate.solved, Ordering::Relaxed) + rate.solved;
        let all = self.all.fetch_add(rate.of, Ordering::Relaxed) + rate.of;
        let mut text = format!("{:.1} % solved", 100.0 * solved as f64 / all.max(1) as f64);
        if let Some(usage_report) = self.run_budget.as_ref().map(|budget| budget.report()) {
            text.push_str(&format!(", {} tokens", HumanCount(usage_report.total.usage.total())));
            if usage_report.cost > 0.0 {
                text.push_str(&format!(", cost {:.4}", usage_report.cost));
            }
        }
        self.bar.set_message(text);
        self.bar.inc(1);
    }
}

impl RunArgs {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let folder = open_dataset(&self.dataset)?;
        let rows = self.rows.read(&folder)?;
        let agent = self.agent;
        self.variant.check([agent])?;
        let connected = agent.asks_model().then(|| self.model.connect()).transpose()?;
        let transcriber = self.answers.connect(&self.model)?;
        let options = self.options(agent, &folder)?;
        let plan = self.plan(agent, connected.as_ref(), transcriber, &options)?;
        if let Some(url) = self.model.connection.base_url.as_deref().filter(|_| agent.asks_model()) {
            note_if_silent(url, self.model.connection.retries, streams);
        }
        let held = plan.folder.as_ref().map_or(0, RunFolder::len);
        if held > 0 {
            super::terminal::note(
                streams,
                &format!("the run holds {held} episodes, which are not run again"),
            );
        }
        let budget = connected.as_ref().map(|connected| Arc::clone(&connected.budget));
        let progress = Progress::new(budget, rows.len());
        let bar = progress.bar.clone();
        let outcome = run::run(
            plan,
            Worlds::new(folder),
            rows,
            (self.model.concurrency, self.threads.unwrap_or(0)),
            Box::new(move |outcome| progress.add(outcome)),
        )?;
        bar.finish_and_clear();
        for text in outcome.shown.iter().take(self.show) {
            let _ = writeln!(streams.err, "{text}\n");
        }
        let usage_report = connected.as_ref().map(|connected| connected.budget.report());
        let model = connected.as_ref().map(|connected| &*connected.name);
        let transcriber = self.answers.transcriber_model.as_deref();
        let who = Who { agent: &agent.text(), model, transcriber, faults: &self.faults };
        let prices = connected.as_ref().map(|connected| connected.prices);
        let report = Report::new(&who, &outcome, usage_report, prices, options);
        self.write(&report)?;
        streams.print(&report, || report.table())?;
        if let (Some(why), 0) = (&outcome.first_unfinished, report.results.success_rate.of) {
            return Err(CliError::Empty(format!("no episode came to an end; the first: {why}")));
        }
        if let Some(why) = &outcome.first_unfinished {
            super::terminal::note(streams, &format!("some episodes came to no end; the first: {why}"));
        }
        let success = report.results.success;
        let low = self.min_success.is_some_and(|share| success < share);
        let high = self.max_success.is_some_and(|share| success > share);
        Ok(if low || high { CommandEnd::NotMet } else { CommandEnd::Met })
    }

    fn plan(
        &self,
        agent: AgentName,
        connected: Option<&ModelConnection>,
        transcriber: Option<Arc<Transcriber>>,
        options: &Map<String, Json>,
    ) -> Result<Plan, CliError> {
        let Some(contender) = agent.contender(connected, self.variant) else {
            return Err(CliError::Usage("--agent: found none".into()));
        };
        let server =
            self.server.as_deref().map(|url| connect_server(url, self.control_token.clone())).transpose()?;
        let faults = Faults::new(self.faults.clone()).map_err(|error| CliError::Usage(error.to_string()))?;
        let arena = |faults| Arena { server: server.clone(), faults, transcriber: transcriber.clone() };
        let mut arenas = vec![arena(Faults::default())];
        if !self.faults.is_empty() {
            arenas.push(arena(faults));
        }
        let mode = if self.resume { Mode::Resume } else { Mode::New };
        let folder = self.out.as_deref().map(|folder| RunFolder::open(folder, options, mode)).transpose()?;
        Ok(Plan {
            contender,
            name: agent.text(),
            model: connected.map(|connected| connected.name.clone()),
            budget: self.budget(agent),
            trials: self.trials.max(1),
            seed: self.seed,
            adversary: agent.is_adversary(),
            show: self.show > 0,
            arenas,
            folder,
        })
    }

    /// Returns the options on which episodes depend. A run can be resumed only with the same ones.
    fn options(&self, agent: AgentName, dataset: &Folder) -> Result<Map<String, Json>, CliError> {
        let budget = self.budget(agent);
        let answers: Answers = self.answers.answers;
        let mut options = json!({
            "agent": agent.text(),
            "without": self.variant.without(),
            "caller_form": self.variant.caller_form(),
            "dataset": hash_dataset(dataset)?,
            "split": self.rows.split,
            "domains": self.rows.domain,
            "abilities": self.rows.selection().abilities,
            "tags": self.rows.tag,
            "difficulties": self.rows.difficulty,
            "ids": self.rows.id,
            "limit": self.rows.limit,
            "trials": self.trials.max(1),
            "answers": answers,
            "transcriber": self.answers.transcriber_model,
            "seed": self.seed,
            "faults": self.faults,
            "over_http": self.server.is_some(),
            "budget": {"steps": budget.steps, "calls": budget.calls, "tokens": budget.tokens, "time_ms": budget.time_ms},
            "grader": GRADER_VERSION,
        });
        if agent.asks_model() {
            options["model"] = json!(self.model.connection.model);
            options["temperature"] = json!(self.model.temperature);
            options["max_reply_tokens"] = json!(self.model.connection.max_reply_tokens);
        }
        Ok(options.as_object().cloned().unwrap_or_default())
    }

    /// Writes the report to the run's folder, and as a page if the user asked for one.
    fn write(&self, report: &Report) -> Result<(), CliError> {
        let unwritten = |error: serde_json::Error| CliError::Output(error.into());
        let json = serde_json::to_value(report).map_err(unwritten)?;
        let html = || -> Result<String, CliError> {
            let shown = ReportFile::read(json.clone()).map_err(unwritten)?;
            Ok(page(&[shown], None)?)
        };
        if let Some(folder) = &self.out {
            std::fs::write(folder.join("report.json"), serde_json::to_vec_pretty(&json).map_err(unwritten)?)?;
            std::fs::write(folder.join("report.html"), html()?)?;
        }
        self.html.as_deref().map_or(Ok(()), |file| Ok(std::fs::write(file, html()?)?))
    }

    /// Returns the budget of an episode.
    fn budget(&self, agent: AgentName) -> Budget {
        let usual = if agent.asks_model() { Budget::WITH_MODEL } else { Budget::USUAL };
        Budget {
            steps: self.max_steps.unwrap_or(usual.steps),
            calls: self.max_calls.unwrap_or(usual.calls),
            tokens: self.max_episode_tokens.unwrap_or(usual.tokens),
            ..usual.with_seconds(self.max_seconds)
        }
    }
}

/// Hashes the checksums of a dataset's files, which identify it.
fn hash_dataset(dataset: &Folder) -> Result<String, CliError> {
    let files = serde_json::to_vec(&dataset.manifest().files);
    let files = files.map_err(|error| CliError::Output(error.into()))?;
    Ok(blake3::hash(&files).to_hex().to_string())
}

/// Notes that no server listens at a URL. The run continues, because requests are usually retried for a
/// while.
fn note_if_silent(url: &str, retries: u32, streams: &mut Streams<'_>) {
    let found =
        reqwest::Url::parse(url).ok().and_then(|url| url.socket_addrs(|| None).ok()).unwrap_or_default();
    if !found.iter().any(|address| TcpStream::connect_timeout(address, CONNECT_TIMEOUT).is_ok()) {
        let then = if retries > 0 { " yet; requests are tried again" } else { "" };
        super::terminal::note(streams, &format!("nothing listens at {url}{then}"));
    }
}

/// Connects to a session server as its admin.
fn connect_server(url: &str, token: Option<String>) -> Result<Arc<SessionServer>, CliError> {
    let server = || SessionServer::new(url, token.clone()).map_err(CliError::Server);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if runtime.block_on(server()?.tasks()).map_err(CliError::Server)? == 0 {
        return Err(CliError::Empty(format!("--server: {url} serves no tasks; start it with --tasks")));
    }
    // Connections belong to their runtime, so that the run makes its own.
    server().map(Arc::new)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::{Arguments, with_eval_run};

    #[test]
    fn a_control_token_needs_no_server() {
        // clap treats a token in the environment like one on the command line.
        let line = ["diorama", "eval", "run", "--agent", "oracle", "dataset", "--control-token", "secret"];
        assert!(Arguments::try_parse_from(line).is_ok());
    }

    #[test]
    fn eval_with_options_alone_means_eval_run() {
        let check = |line: &str, expect: &str| {
            let line = with_eval_run(line.split(' ').map(Into::into));
            assert_eq!(line.join(" ".as_ref()), expect);
        };
        check("diorama --json eval --agent a", "diorama --json eval run --agent a");
        check("diorama eval compare a b", "diorama eval compare a b");
        check("diorama eval --help", "diorama eval run --help");
        check("diorama eval help", "diorama eval help");
        check("diorama -q eval --agent a", "diorama -q eval run --agent a");
        check("diorama search eval --json", "diorama search eval --json");
        check("diorama eval", "diorama eval");
        check("diorama", "diorama");
    }
}
