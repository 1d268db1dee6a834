//! Owns `diorama generate --backend llm`: its flags, its run, and the reports that a run leaves.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use clap::{Args, ValueEnum};
use diorama_llm::UsageReport;
use diorama_output::dataset::{DatasetWriter, Summary};
use diorama_output::folder::{Folder, Selection};
use diorama_output::manifest::MANIFEST;
use diorama_output::plan::Shard;
use diorama_output::storage::{Location, Storage};
use indicatif::ProgressBar;
use serde_json::{Value as Json, json};

use super::steps::StepsFolder;
use crate::cli::error::CliError;
use crate::cli::eval::model::{ConnectionArgs, ModelConnection};
use crate::cli::files::read_file;
use crate::cli::terminal;
use crate::models::prompts::{FILES, PromptSet};
use crate::models::quality::{Cost, Diversity, Quality};
use crate::models::run::{self, RunEnd};
use crate::models::run_context::RunContext;
use crate::models::{AssistantWords, Protocol, Settings, UserWords};
use crate::worlds::recipe::Recipe;

/// File for replies if no file is named.
const REPLIES: &str = "replies.jsonl";

/// How a model is asked, with `--backend llm`.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "With --backend llm")]
pub struct LlmArgs {
    /// Server, limits and replies.
    #[command(flatten)]
    pub connection: ConnectionArgs,
    /// Terms of the model, which become part of the rows' licence.
    #[arg(long, value_name = "TEXT", default_value = "terms not stated")]
    pub model_license: String,
    /// Author of the assistant's calls.
    #[arg(long, value_enum, value_name = "WHO", default_value_t = Caller::Scenario)]
    pub caller: Caller,
    /// Author of the assistant's calls when the caller agent fails.
    #[arg(long, value_enum, value_name = "WHO", default_value_t = Fallback::Scenario)]
    pub fallback: Fallback,
    /// How the caller agent makes calls.
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Protocol::Tools)]
    pub caller_protocol: Protocol,
    /// Speakers whose lines the model rewords, in one request per conversation.
    #[arg(long, value_enum, value_name = "WHOSE", default_value_t = Rewrite::Both)]
    pub rewrite: Rewrite,
    /// Maximum attempts per row, each with another plan.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub attempts: u32,
    /// Votes of the judge per row. 0 switches the judge off.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub judge_votes: u32,
    /// Folder of prompts that replace the built-in ones: query_rewrite.txt, tester.txt, repair.txt.
    #[arg(long, value_name = "DIR")]
    pub prompts: Option<PathBuf>,
    /// Local folder for the output of each step [default: `steps` in the dataset's folder].
    #[arg(long, value_name = "DIR")]
    pub steps: Option<PathBuf>,
    /// Maximum conversations at the same time.
    #[arg(long, value_name = "N", default_value = "32")]
    pub concurrency: NonZeroUsize,
    /// Sampling temperature [default: the server's].
    #[arg(long, value_name = "T")]
    pub temperature: Option<f64>,
}

/// The author of the assistant's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Caller {
    /// The caller agent, in a live session.
    Llm,
    /// The calls of the scenario.
    Scenario,
}

/// The author of the assistant's side where the caller agent fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Fallback {
    /// The scenario.
    Scenario,
    /// None: the attempt is dropped.
    None,
}

/// The speakers whose lines the model rewords.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Rewrite {
    /// The user's.
    User,
    /// The assistant's.
    Assistant,
    /// Both.
    Both,
    /// Nobody's.
    None,
}

/// Result of a run with a model, beside its rows.
pub struct LlmOutcome {
    /// End of the run.
    pub ended: RunEnd,
    /// Report on the steps.
    pub quality: Quality,
    /// Requests and tokens of the run.
    pub usage_report: UsageReport,
}

impl LlmArgs {
    /// Returns the settings on which rows depend.
    ///
    /// # Errors
    /// Returns an error if the flags name no model, or neither a server nor a recording.
    pub fn settings(&self) -> Result<Settings, CliError> {
        let usage = |what: &str| CliError::Usage(what.to_owned());
        let ConnectionArgs { model, base_url, replay, .. } = &self.connection;
        let model = model.clone();
        let model = model
            .ok_or_else(|| usage("--model: found none, expected the model's name, as its server has it"))?;
        if base_url.is_none() && replay.is_none() {
            return Err(usage("--base-url: found none, expected a server such as http://127.0.0.1:8000"));
        }
        if self.attempts == 0 || self.attempts > 1000 {
            return Err(usage("--attempts: expected from 1 to 1000"));
        }
        let user = match self.rewrite {
            Rewrite::User | Rewrite::Both => UserWords::Rewritten,
            Rewrite::Assistant | Rewrite::None => UserWords::Scenario,
        };
        let assistant = match (self.caller, self.rewrite) {
            (Caller::Llm, _) => AssistantWords::Caller,
            (Caller::Scenario, Rewrite::Assistant | Rewrite::Both) => AssistantWords::Rewritten,
            (Caller::Scenario, Rewrite::User | Rewrite::None) => AssistantWords::Scenario,
        };
        Ok(Settings {
            model,
            terms: self.model_license.clone(),
            user,
            assistant,
            falls_back: self.fallback == Fallback::Scenario,
            protocol: self.caller_protocol,
            attempts: self.attempts,
            votes: self.judge_votes,
            sampling: self.connection.sampling(self.temperature),
        })
    }

    /// Returns the prompts, with the variants of `--prompts`.
    ///
    /// # Errors
    /// Returns an error if the folder has a file with another name, or if a variant is not a valid template.
    pub fn prompt_set(&self) -> Result<PromptSet, CliError> {
        let mut variants = BTreeMap::new();
        for path in self.prompts.as_deref().map_or(Ok(Vec::new()), list_files)? {
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            if !FILES.iter().any(|(known, _)| *known == name) {
                let known: Vec<String> = FILES.iter().map(|(name, _)| format!("{name}.txt")).collect();
                let (found, known) = (path.display(), known.join(", "));
                return Err(CliError::Usage(format!(
                    "--prompts: found {found}, expected files named {known}"
                )));
            }
            let text = String::from_utf8(read_file(&path)?)
                .map_err(|_| CliError::Usage(format!("--prompts: {} is not text", path.display())))?;
            variants.insert(name, text);
        }
        PromptSet::new(&variants).map_err(|error| CliError::Usage(format!("--prompts: {error}")))
    }

    /// Makes the rows of a dataset.
    ///
    /// # Errors
    /// Returns an error if the model cannot be asked, or if files cannot be written.
    pub fn make(
        &self,
        recipe: Arc<Recipe>,
        (settings, prompts): (Settings, PromptSet),
        (writer, steps, batches): (&DatasetWriter, &StepsFolder, Vec<u64>),
        threads: usize,
    ) -> Result<LlmOutcome, CliError> {
        let folder = steps.path();
        std::fs::create_dir_all(folder)?;
        let connected = self.connect(folder)?;
        let run_context = run_context(recipe, (settings, prompts), &connected, threads)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let bar = terminal::bar(writer.pending().iter().map(|file| file.row_count()).sum(), "dialogues");
        runtime.spawn(stop_on_interrupt(Arc::clone(&run_context)));
        let progress = |progress: run::Progress| show(&bar, &progress, &connected);
        let made =
            run::run(&run_context, runtime.handle(), writer, self.concurrency.get(), Some(folder), &progress);
        bar.finish_and_clear();
        let ended = made?;
        let quality = Quality::read(folder, batches)?;
        Ok(LlmOutcome { ended, quality, usage_report: connected.budget.report() })
    }

    /// Returns the local folder for the outputs of the steps.
    ///
    /// # Errors
    /// Returns an error if the dataset goes to an object store and no folder is named.
    pub fn steps_folder(&self, out: &Location, shard: Shard) -> Result<StepsFolder, CliError> {
        StepsFolder::new(self.steps.as_deref(), out, shard)
    }

    fn connect(&self, folder: &Path) -> Result<ModelConnection, CliError> {
        let mut connection = self.connection.clone();
        if connection.replay.is_none() {
            connection.record.get_or_insert_with(|| folder.join(REPLIES));
        }
        connection.connect(self.temperature, self.concurrency)
    }

    /// Writes the report beside a finished dataset, and the reason if the dataset is smaller than requested.
    ///
    /// # Errors
    /// Returns an error if files cannot be written, or if the dataset cannot be measured.
    pub fn report(
        &self,
        (storage, steps): (&Storage, &StepsFolder),
        summary: &Summary,
        outcome: LlmOutcome,
    ) -> Result<LlmOutcome, CliError> {
        let LlmOutcome { ended, mut quality, usage_report } = outcome;
        let rows = summary.counts.dialogues;
        let uses = summary.funnel.model_use();
        let usage = diorama_llm::Usage { input_tokens: uses.input_tokens, output_tokens: uses.output_tokens };
        let per_row = |sum: f64| if rows > 0 { sum / rows as f64 } else { 0.0 };
        quality.cost = Cost {
            steps: summary.funnel.models.clone(),
            tokens_per_row: per_row(usage.total() as f64),
            cost_per_row: per_row(self.connection.prices().cost(usage)),
            usage_report: usage_report.clone(),
        };
        if rows > 0 && storage.open_file(MANIFEST)?.is_some() {
            let none = |_: &str, _: &[u8]| Ok::<_, diorama_seeds::world::Report>(Vec::new());
            let stats =
                diorama_output::stats::measure(&Folder::open(storage.clone())?, &Selection::default(), none)?;
            let (distinct_2, distinct_first3) = (stats.distinct_2, stats.distinct_first3);
            quality.diversity =
                Some(Diversity { distinct_2, distinct_first3, duplicate_rate: stats.duplicate_rate });
        }
        let text = serde_json::to_string_pretty(&quality).map_err(|error| CliError::Output(error.into()))?;
        steps.write_quality(storage, &(text + "\n"))?;
        if let Some(why) = &ended.stopped {
            steps.write_stopped(why)?;
        }
        Ok(LlmOutcome { ended, quality, usage_report })
    }
}

/// Makes the context that the rows of a run share.
fn run_context(
    recipe: Arc<Recipe>,
    (settings, prompts): (Settings, PromptSet),
    connected: &ModelConnection,
    threads: usize,
) -> Result<Arc<RunContext>, CliError> {
    let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).panic_handler(|_| {}).build()?;
    Ok(Arc::new(RunContext {
        recipe,
        settings,
        prompts: Arc::new(prompts),
        model: connected.model.clone(),
        threads,
        stopping: AtomicBool::new(false),
        abort: tokio::sync::watch::channel(false).0,
    }))
}

impl LlmOutcome {
    /// Returns the JSON for `--json`.
    pub fn json(&self) -> Json {
        json!({
            "stopped": self.ended.stopped,
            "unfinished": self.ended.unfinished,
            "tokens_per_row": self.quality.cost.tokens_per_row,
            "cost_per_row": self.quality.cost.cost_per_row,
            "steps": self.quality.cost.steps,
            "calls": self.usage_report.total.calls,
            "retries": self.usage_report.total.retries,
            "repeats": self.usage_report.total.repeats,
            "replayed": self.usage_report.total.replayed,
            "unknown_calls": self.usage_report.total.unknown_calls,
            "input_tokens": self.usage_report.total.usage.input_tokens,
            "output_tokens": self.usage_report.total.usage.output_tokens,
            "cost": self.usage_report.cost,
            "authors": self.quality.authors,
        })
    }

    /// Returns the text for the terminal.
    pub fn text(&self) -> String {
        use std::fmt::Write as _;
        let mut text = String::new();
        for (step, uses) in &self.quality.cost.steps {
            let _ = writeln!(
                text,
                "{:>10}  replies of {step}: {} tokens sent, {} received",
                uses.replies, uses.input_tokens, uses.output_tokens
            );
        }
        let total = &self.usage_report.total;
        let _ = writeln!(
            text,
            "{:>10.0}  tokens per row, cost {:.6}",
            self.quality.cost.tokens_per_row, self.quality.cost.cost_per_row
        );
        let _ = writeln!(
            text,
            "{:>10}  calls in this run ({} tried again, {} repeated, {} of unknown cost), {} replies from the recording, cost {:.4}",
            total.calls,
            total.retries,
            total.repeats,
            total.unknown_calls,
            total.replayed,
            self.usage_report.cost
        );
        for (authors, rows) in &self.quality.authors {
            let _ = writeln!(text, "{rows:>10}  rows by {authors}");
        }
        if self.ended.unfinished > 0 {
            let _ = writeln!(text, "{:>10}  rows came to no end for want of a reply", self.ended.unfinished);
        }
        if let Some(why) = &self.ended.stopped {
            let _ = writeln!(text, "stopped early: {why}; --resume goes on from here");
        }
        text
    }
}

fn show(bar: &ProgressBar, progress: &run::Progress, connected: &ModelConnection) {
    bar.set_position(progress.settled);
    let usage_report = connected.budget.report();
    bar.set_message(format!(
        "{} rows, {} in flight, {} tokens, cost {:.4}",
        progress.rows,
        progress.in_flight,
        usage_report.total.usage.total(),
        usage_report.cost
    ));
}

/// Stops a run on SIGINT. The first signal prevents new conversations, and the second ends all at once.
async fn stop_on_interrupt(run_context: Arc<RunContext>) {
    // Without signal handling, the run simply ends when its work is done.
    if tokio::signal::ctrl_c().await.is_ok() {
        run_context.stopping.store(true, Relaxed);
        if tokio::signal::ctrl_c().await.is_ok() {
            let _ = run_context.abort.send(true);
        }
    }
}

/// Returns the files of a folder, by name.
fn list_files(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let fail = |source| CliError::Read { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
