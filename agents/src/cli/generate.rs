//! Owns the command `diorama generate`.

mod closing;
mod folder;
pub mod llm;
mod report;
pub mod steps;
mod traces;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use clap::{Args, ValueEnum};
use diorama_engine::tools::SearchVersion;
use diorama_output::dataset::{DatasetWriter, Options, Start, Summary};
use diorama_output::manifest::Identity;
use diorama_output::plan::{Batch, Plan, PlanSizes, ROWS_PER_BATCH, Shard};
use diorama_output::row::Split;
use diorama_output::storage::Location;
use diorama_seeds::task::{Ability, Difficulty};
use serde_json::json;

use self::llm::{LlmArgs, LlmOutcome};
use self::traces::TraceArgs;
use super::ability::ability;
use super::documents::find::is_several;
use super::error::CliError;
use super::files::open_storage;
use super::inputs::{InputWorlds, RefusedDocument, Sources};
use super::{CommandEnd, Streams, terminal};
use crate::catalog;
use crate::rows::source::write_rows;
use crate::rows::uses::{self, Use};
use crate::scenarios::{Shares, detour, tags};
use crate::worlds::recipe::{Ingredients, Recipe};
use crate::worlds::split::TestRequest;
use crate::worlds::world::WorldTemplate;

/// Generate tool-use dialogues in which every call was executed.
///
/// Needs no network, key, model or server. With `--backend llm` a model writes the words. Uses the worlds of the catalog unless
/// others are named. The same seed gives the same bytes, whatever the threads, shards and interruptions. A folder is a complete
/// dataset once it holds manifest.json.
///
/// All shards of a run write into one place, and `dataset merge` completes it. A finished shard returns at once; an interrupted
/// one goes on.
#[derive(Debug, Args)]
pub struct Generate {
    /// Folder of the dataset, or a URL (s3://, gs://, az://, file://). It must be new or empty unless --resume or --shard is given.
    /// Credentials of object stores come from the environment.
    #[arg(long, value_name = "LOCATION", default_value = "dataset")]
    pub out: Location,
    /// Number of dialogues to make.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1000)]
    pub dialogues: u64,
    /// Seed of all random choices.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Where worlds come from.
    #[command(flatten)]
    pub sources: Sources,
    /// Writer of the dialogues' words.
    #[arg(long, value_enum, default_value_t = Backend::Scenarios)]
    pub backend: Backend,
    /// Ability that the dialogues need. Repeatable [default: all].
    #[arg(long, value_name = "A", value_parser = ability())]
    pub ability: Vec<Ability>,
    /// Band of difficulty of all dialogues: easy, medium or hard. Hard ones stand among dozens of tools, in worlds of more domains [default: all].
    #[arg(long, value_name = "D")]
    pub difficulty: Option<Difficulty>,
    /// Number of domains per world. With more domains, searches have more APIs to tell apart [default: 3, with --difficulty hard 10].
    #[arg(long, value_name = "N")]
    pub domains_per_world: Option<usize>,
    /// Shard to make: I of K, with I from 1 to K. `diorama dataset merge` completes the dataset.
    #[arg(long, value_name = "I/K")]
    pub shard: Option<String>,
    /// Resume an interrupted run with the same settings.
    #[arg(long)]
    pub resume: bool,
    /// Maximum threads [default: one per core].
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Share of conversations with a tag, from 0 to 1: withheld=0.4,correction=0.1. Applies to worlds with scenarios.
    #[arg(long, value_name = "TAG=SHARE", value_delimiter = ',', value_parser = parse_tag_share)]
    pub tags: Vec<(String, f64)>,
    /// Domains of the split test, by name. A world is of that split where all of its domains are [default: a tenth of the
    /// catalog's domains, and no world of your own].
    #[arg(long, value_name = "DOMAIN,...", value_delimiter = ',')]
    pub test_domains: Vec<String>,
    /// Share of the rows that are of the split test, from 0 to 1, and of the domains where --test-domains names none [default: 0.1].
    #[arg(long, value_name = "SHARE", value_parser = crate::cli::share::share)]
    pub test_share: Option<f64>,
    /// Allow worlds of public benchmarks. The manifest records it, so that such rows are not trained on by mistake.
    #[arg(long)]
    pub allow_benchmark: bool,
    /// How the model is asked.
    #[command(flatten)]
    pub llm: Box<LlmArgs>,
    /// Kept episodes that rows are made of.
    #[command(flatten)]
    pub traces: TraceArgs,
}

/// The backend that does the language work of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// The scenarios of the worlds: embedded and deterministic; no model.
    Scenarios,
    /// A model behind any OpenAI-compatible server writes the words; calls are planned and executed as ever.
    Llm,
}

/// Parses a tag and its share.
fn parse_tag_share(text: &str) -> Result<(String, f64), String> {
    let wrong = || format!("found `{text}`, expected a tag and its share, such as withheld=0.4");
    let (label, share) = text.split_once('=').ok_or_else(wrong)?;
    let share: f64 = share.parse().map_err(|_| wrong())?;
    let known = tags::LABELS.contains(&label);
    if !known {
        return Err(format!("found the tag `{label}`, expected one of {}", tags::LABELS.join(", ")));
    }
    if share > 0.0 && share < 1.0 { Ok((label.to_owned(), share)) } else { Err(wrong()) }
}

/// Domains of a world where nothing is said.
const DOMAINS: usize = 3;
/// Domains of a world of hard dialogues where nothing is said: more than a hundred tools.
const HARD_DOMAINS: usize = 10;

impl Generate {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let started = Instant::now();
        if let (Some(file), Some(tasks)) = (&self.traces.from_traces, &self.traces.tasks) {
            let threads = self.threads.or_else(|| std::thread::available_parallelism().ok());
            let threads = threads.map_or(1, NonZeroUsize::get);
            return traces::run(file, tasks, (&self.out, &self.llm.model_license, threads), streams);
        }
        let sum = detour::sum_shares(&self.shares());
        if sum > 1.0 {
            let what = "--tags: found shares of misspelt, changed_mind, digression, transient_error and expired_token";
            return Err(CliError::Usage(format!(
                "{what} that add up to {sum:.2}, expected 1 at most: a conversation has one of them"
            )));
        }
        let inputs = self.sources.inputs()?;
        let is_alone = inputs.world.is_empty() && inputs.entities.is_none();
        if self.backend == Backend::Scenarios && is_alone && is_several(&inputs.openapi) {
            if !self.test_domains.is_empty() || self.test_share.is_some() {
                let what = "--test-domains and --test-share: a folder of documents is split by provider; leave them out";
                return Err(CliError::Usage(what.to_owned()));
            }
            if self.difficulty.is_some() {
                let what = "--difficulty: a folder of documents has rows of all bands; leave it out, and select them with --difficulty of `dataset export`";
                return Err(CliError::Usage(what.to_owned()));
            }
            return folder::run(&self, &inputs, started, streams);
        }
        if self.backend == Backend::Llm && self.difficulty.is_some() {
            let what = "--difficulty: found it with --backend llm, expected --backend scenarios; leave one of them out";
            return Err(CliError::Usage(what.to_owned()));
        }
        let shard = self.shard.as_deref().map_or(Ok(Shard::WHOLE), str::parse)?;
        let InputWorlds { docs: named, refused, files } = inputs.read(streams)?;
        let names: Vec<String> = named.iter().map(|doc| doc.name.clone()).collect();
        let benchmark = named.iter().find(|doc| doc.benchmark).map(|doc| doc.name.clone());
        if let (Some(name), false) = (&benchmark, self.allow_benchmark) {
            return Err(CliError::Benchmark(name.clone()));
        }
        let (domains, worlds) =
            if named.is_empty() { (catalog::domains(), Vec::new()) } else { (Vec::new(), named) };
        let abilities = self.abilities()?;
        let asked = match self.backend {
            Backend::Scenarios => None,
            Backend::Llm => Some((self.llm.settings()?, self.llm.prompt_set()?)),
        };
        let threads = self.threads.or_else(|| std::thread::available_parallelism().ok());
        let threads = threads.map_or(1, NonZeroUsize::get);
        let ingredients = Ingredients {
            seed: self.seed,
            abilities,
            domains,
            worlds,
            domains_per_world: self.domains_per_world(),
            dialogues: self.dialogues,
            shares: self.shares(),
            difficulty: self.difficulty,
            test_split: TestRequest { domains: self.test_domains.clone(), share: self.test_share },
            model: asked.as_ref().map(|(settings, prompts)| settings.config(prompts.hash())),
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let recipe = pool
            .install(|| Recipe::new(ingredients))
            .map_err(|report| InputWorlds::located(&names, &files, report))?;
        let sizes = PlanSizes::new(self.dialogues);
        let plan = Plan::new(sizes, |batch| recipe.split_of(batch))?;
        let batches = plan.files_of(shard).flat_map(|file| file.batches.iter().map(|batch| batch.index));
        let batches: Vec<u64> = batches.collect();
        let identity = Identity {
            versions: super::dataset::verify::versions(SearchVersion::default()),
            seed: self.seed,
            config: recipe.config().clone(),
            benchmark: benchmark.is_some(),
        };
        let start = if self.resume { Start::Resume } else { Start::Fresh };
        let storage = open_storage(&self.out)?;
        let steps = asked.as_ref().map(|_| self.llm.steps_folder(&self.out, shard)).transpose()?;
        if let (Some(steps), true) = (&steps, self.resume) {
            steps.reopen(&storage, &identity, sizes)?;
        }
        let writer = DatasetWriter::open(storage.clone(), identity, plan, Options { shard, start })?;
        let (Some(asked), Some(steps)) = (asked, steps) else {
            let bar = terminal::bar(writer.pending().iter().map(|file| file.row_count()).sum(), "dialogues");
            write_rows(&recipe, &writer, threads, |settled| bar.set_position(settled))?;
            bar.finish_and_clear();
            let summary = writer.finish()?;
            self.report((&recipe, &summary), None, &refused, started.elapsed().as_secs_f64(), streams)?;
            // The program ends after this, and freeing the worlds would only take time.
            std::mem::forget(recipe);
            return Ok(CommandEnd::Met);
        };
        let recipe = Arc::new(recipe);
        let outcome = self.llm.make(Arc::clone(&recipe), asked, (&writer, &steps, batches), threads)?;
        let summary = writer.finish()?;
        let outcome = self.llm.report((&storage, &steps), &summary, outcome)?;
        self.report((&recipe, &summary), Some(&outcome), &refused, started.elapsed().as_secs_f64(), streams)?;
        Ok(CommandEnd::Met)
    }

    /// The number of domains of a world.
    fn domains_per_world(&self) -> usize {
        let usual = if self.difficulty == Some(Difficulty::Hard) { HARD_DOMAINS } else { DOMAINS };
        self.domains_per_world.unwrap_or(usual)
    }

    /// Returns the requested shares of conversations, by tag.
    fn shares(&self) -> Shares {
        self.tags.iter().cloned().collect()
    }

    /// Returns the requested abilities. An empty list means all.
    ///
    /// # Errors
    /// Returns an error if hard conversations must call one API alone: they have too few calls to be hard.
    fn abilities(&self) -> Result<Vec<Ability>, CliError> {
        let is_hard = self.difficulty == Some(Difficulty::Hard);
        if is_hard && self.ability.contains(&Ability::RetrieveCall) {
            let what = "--ability: found retrieve_call with --difficulty hard, expected call or plan_retrieve_call, as one API alone makes no hard task; leave retrieve_call out";
            return Err(CliError::Usage(what.to_owned()));
        }
        let mut abilities = self.ability.clone();
        if is_hard && abilities.is_empty() {
            abilities = vec![Ability::Call, Ability::PlanRetrieveCall];
        }
        abilities.sort_unstable();
        abilities.dedup();
        Ok(abilities)
    }

    fn report(
        &self,
        (recipe, summary): (&Recipe, &Summary),
        outcome: Option<&LlmOutcome>,
        refused: &[RefusedDocument],
        seconds: f64,
        streams: &mut Streams<'_>,
    ) -> Result<(), CliError> {
        // The templates include those of batches that other shards or an earlier run made.
        let batches = (0..self.dialogues.div_ceil(u64::from(ROWS_PER_BATCH))).map(|index| {
            let batch = Batch { index, split: recipe.split_of(index), row_indexes: 0..0 };
            recipe.world_template(&batch)
        });
        let mut all: Vec<&Arc<WorldTemplate>> = batches.collect::<Result<_, _>>()?;
        let mut seen = HashSet::new();
        all.retain(|template| seen.insert(Arc::as_ptr(template)));
        let templates = || all.iter().copied();
        let apis: usize = templates()
            .flat_map(|world_template| world_template.world().apis.iter().map(|api| api.name.clone()))
            .collect::<std::collections::BTreeSet<_>>()
            .len();
        let uses = uses::uses(templates().map(AsRef::as_ref), &summary.counts.sources_called);
        let mut data = json!({
            "dialogues": summary.counts.dialogues,
            "worlds": summary.worlds.len(),
            "domains": summary.counts.domains.len(),
            "apis": apis,
            "proposed": summary.funnel.proposed,
            "dropped": summary.funnel.dropped_by_gate(),
            "abilities": summary.counts.abilities,
            "seconds": seconds,
            "uses": uses,
            "refused": refused,
            "skeletons": summary.skeleton_count,
            "shard": self.shard,
            "out": self.out.to_string(),
        });
        if let Some(outcome) = outcome {
            data["model"] = outcome.json();
        }
        streams.print(&data, || self.funnel(recipe, summary, &uses, outcome, seconds))?;
        // A shard may have no rows of its own.
        if summary.counts.dialogues == 0 && summary.funnel.proposed > 0 {
            let why =
                "no dialogue passed the gates; the funnel above says why, and which APIs no dialogue calls";
            return Err(CliError::Empty(why.to_owned()));
        }
        Ok(())
    }

    fn funnel(
        &self,
        recipe: &Recipe,
        summary: &Summary,
        uses: &[Use],
        outcome: Option<&LlmOutcome>,
        seconds: f64,
    ) -> String {
        let mut text = report::funnel(summary);
        let funnel = &summary.funnel;
        if funnel.proposed > 0 && !summary.counts.splits.contains_key(Split::Test.as_str()) {
            let why = match recipe.test_share().count_to_first() {
                Some(batches) => {
                    format!("the split test has rows from {} on", batches * u64::from(ROWS_PER_BATCH))
                }
                None => "--test-domains and --test-share give the split test domains of its own".to_owned(),
            };
            let _ = writeln!(text, "All rows are of the split train: {why}.");
        }
        let own = !self.sources.is_empty();
        for unused in uses.iter().filter(|unused| own && unused.dialogues == 0) {
            let why = unused.why.as_deref().unwrap_or_default();
            let _ = writeln!(text, "{}.{} is in no dialogue: {why}", unused.domain, unused.api);
        }
        text.push_str(&outcome.map(LlmOutcome::text).unwrap_or_default());
        text.push_str(&closing::closing(summary.counts.dialogues, &self.out, seconds));
        text
    }
}
