//! `diorama restbench`

mod agent;

use std::path::{Path, PathBuf};

use clap::Args;
use diorama_openapi::{ImportOptions, import};
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::entities::{Entities, Entity};
use diorama_seeds::materialise::materialised;
use diorama_simulator::engine::Base;
use diorama_simulator::session::{Session, SessionOptions};

use super::error::CliError;
use super::eval::model::ModelArgs;
use super::eval::name::AgentName;
use super::inputs::read_file;
use super::{Done, Streams, terminal};
use crate::restbench::service::{InSession, OverHttp};
use crate::restbench::{Paths, Query, Summary, Templates, named, parts, run};

/// Execute the gold paths of RestBench's queries, and check that ids and names agree along the way.
///
/// The document becomes a world; the things that the queries name (quoted and capitalised spans, typed by the search
/// endpoint of the gold path) are put into it before it is made. Then each gold path is executed in order in a session
/// of its own: path parameters are filled from earlier replies of the same query, numbers and listed values from the
/// query's words. A query passes when every call succeeds, every search finds what it looks for, and every record that
/// a reply shows is found by its id under the same name. For an id that no earlier reply shows, up to two calls are
/// inserted that lead from what is known to it, and reported; with --as-written such a query fails.
///
/// With --agent, agents work on the queries in that world instead, and are measured as in RestGPT's paper: correct path rate,
/// and success and Δ solution length where queries have an `answer` (a list of what an answer must hold). With --pool, the APIs
/// to choose from grow, those of the --noise document after the document's own (the paper's Figure 4c).
#[derive(Debug, Args)]
pub struct RestBench {
    /// OpenAPI document.
    #[arg(long, value_name = "FILE")]
    pub document: PathBuf,
    /// Queries: a JSON list of {query, solution: ["GET /path", ...]}.
    #[arg(long, value_name = "FILE")]
    pub queries: PathBuf,
    /// Names that the world must have, instead of those that the queries name.
    #[arg(long, value_name = "FILE")]
    pub entities: Option<PathBuf>,
    /// Seed of the records.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// With --base-url: stands in every query string, such as an API key.
    #[arg(long, value_name = "NAME=VALUE", requires = "base_url")]
    pub with: Vec<String>,
    /// Make the calls of the gold paths only: a path that leaves a look-up out fails.
    #[arg(long)]
    pub as_written: bool,
    /// Exit with 3 when fewer queries pass.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub min_passed: usize,
    /// Have agents work on the queries.
    #[arg(long, value_name = "NAME", value_enum, conflicts_with_all = ["as_written", "min_passed", "write_entities", "with"])]
    pub agent: Vec<AgentName>,
    /// Document whose APIs stand beside the document's own, as noise.
    #[arg(long, value_name = "FILE", requires = "agent", requires = "pool")]
    pub noise: Option<PathBuf>,
    /// Sizes of the pool of APIs that agents choose from, one run each; the document's own APIs when left out.
    #[arg(long, value_name = "N", value_delimiter = ',', requires = "agent")]
    pub pool: Vec<usize>,
    /// With --agent: the first so many queries only.
    #[arg(long, value_name = "N", requires = "agent")]
    pub limit: Option<usize>,
    /// With --agent: write what came of each query into this folder, one JSON object a line.
    #[arg(long, value_name = "DIR", requires = "agent")]
    pub out: Option<PathBuf>,
    /// The model of agents that ask one. Without --agent, --base-url is the server that answers the gold paths instead of a session
    /// in this process.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Write the names that the queries name, as a file for --entities, and do nothing else.
    #[arg(long, value_name = "FILE")]
    pub write_entities: Option<PathBuf>,
}

impl RestBench {
    /// Runs the command.
    ///
    /// # Errors
    /// When a file cannot be read or is wrong, or the server does not answer.
    pub fn run(self, streams: &mut Streams<'_>) -> Result<Done, CliError> {
        let queries = self.queries()?;
        let mut doc = self.import()?;
        let templates = Templates::of(&doc);
        let entities = self.entities(&queries, &templates)?;
        if let Some(path) = &self.write_entities {
            std::fs::write(path, entities.to_yaml())?;
            terminal::note(
                streams,
                &format!("{} names written to {}", entities.iter().count(), path.display()),
            );
            return Ok(Done::Met);
        }
        if !self.agent.is_empty() {
            return self.run_agents(queries, doc, templates, &entities, streams);
        }
        let paths = if self.as_written { Paths::AsWritten } else { Paths::Completed };
        let summary = match &self.model.connection.base_url {
            Some(base) => {
                let server = OverHttp::new(base, self.always()?)?;
                run(&queries, &templates, paths, || server.clone())
            }
            None => {
                for left in entities.put_into(&mut doc) {
                    terminal::note(streams, &format!("no place for `{}`: {}", left.entity.name, left.reason));
                }
                let made = materialised(&doc, self.seed)?;
                let base =
                    Base::new(made.world.clone()).map_err(|error| CliError::Empty(error.to_string()))?;
                run(&queries, &templates, paths, || {
                    let options = SessionOptions { seed: self.seed, ..SessionOptions::default() };
                    InSession::new(&doc, Session::new(std::sync::Arc::clone(&base), options))
                })
            }
        }?;
        streams.print(&summary, || table(&summary))?;
        Ok(if summary.passed < self.min_passed { Done::NotMet } else { Done::Met })
    }

    fn queries(&self) -> Result<Vec<Query>, CliError> {
        let queries: Vec<Query> = serde_json::from_slice(&read_file(&self.queries)?).map_err(|error| {
            CliError::Usage(format!(
                "{}: {error}; expected a JSON list of {{query, solution}}",
                self.queries.display()
            ))
        })?;
        if queries.is_empty() {
            return Err(CliError::Usage(format!("{} holds no queries", self.queries.display())));
        }
        Ok(queries)
    }

    fn import(&self) -> Result<WorldDoc, CliError> {
        imported(&self.document)
    }

    fn entities(&self, queries: &[Query], templates: &Templates) -> Result<Entities, CliError> {
        if let Some(path) = &self.entities {
            return Ok(Entities::read(&path.display().to_string(), &read_file(path)?)?);
        }
        let names = queries.iter().flat_map(|query| named(query, templates));
        let names = names.map(|named| Entity { of: format!("GET {}", named.search), name: named.name });
        let parts = parts(queries, templates).into_iter();
        Ok(Entities::new(names.chain(parts.map(|(of, number)| Entity { of, name: number.to_string() }))))
    }

    fn always(&self) -> Result<Vec<(String, String)>, CliError> {
        let pair = |text: &String| {
            let (name, value) = text
                .split_once('=')
                .ok_or_else(|| CliError::Usage(format!("--with: found `{text}`, expected NAME=VALUE")))?;
            Ok((name.to_owned(), value.to_owned()))
        };
        self.with.iter().map(pair).collect()
    }
}

/// The world of a document.
fn imported(document: &Path) -> Result<WorldDoc, CliError> {
    let stem = document.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let options = ImportOptions { benchmark: true, ..ImportOptions::default() };
    Ok(import(&stem, &read_file(document)?, &options)?.doc)
}

fn table(summary: &Summary) -> String {
    let mut text = String::new();
    for outcome in &summary.outcomes {
        let mark = if outcome.faults.is_empty() { "ok  " } else { "FAIL" };
        text.push_str(&format!("{:>3} {mark} {}\n", outcome.index, outcome.query.trim()));
        for call in &outcome.inserted {
            text.push_str(&format!("         inserted {call}\n"));
        }
        for fault in &outcome.faults {
            text.push_str(&format!("         {fault}\n"));
        }
    }
    text.push_str(&format!(
        "{} of {} queries pass (every call 2xx, every id under its name): {} as written, {} with {} inserted calls; every call 2xx in {}; {} of {} calls 2xx; {} ids agree\n",
        summary.passed,
        summary.queries,
        summary.passed_as_written,
        summary.passed - summary.passed_as_written,
        summary.inserted_calls,
        summary.every_call_succeeded,
        summary.calls_succeeded,
        summary.calls,
        summary.ids_agreeing
    ));
    text
}
