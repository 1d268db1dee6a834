//! Owns the command `diorama bench restbench`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use diorama_benchmarks::entities::Entities;
use diorama_benchmarks::restbench::{Field, Operations, Pool, Query, QueryCase, entities, imported, replay};

use super::{AgentArgs, tables};
use crate::cli::error::CliError;
use crate::cli::files::read_file;
use crate::cli::{CommandEnd, Streams, terminal};
use crate::isolation::process::Isolation;

/// Execute the gold paths of RestBench's queries, or measure agents on the queries.
///
/// The document becomes a world; the records that the queries name (quoted and capitalised spans, typed by the searches
/// of the gold path) and the roles that they ask for (a film's director) are put into it before it is made. Then each gold
/// path is executed in order, as it is written, in a session of its own: keys come from earlier replies of the same query,
/// numbers and listed values from the query's words. A query passes when every call succeeds, every search finds what it
/// looks for, every record that a reply shows is found by its key under the same name, and a body below the path of a record
/// shows no other id. Results are broken down by the length of the gold path.
///
/// With --agent, agents work on the queries in that world instead, and are measured as in RestGPT's paper: correct path rate,
/// and success and Δ solution length where queries have an `answer`: a list of {step, jq}, each a program that reads facts from
/// the reply to that call of the executed gold path. With --pool, the APIs
/// to choose from grow, those of the --noise document after the document's own (the paper's Figure 4c).
#[derive(Debug, Args)]
pub struct RestBenchCommand {
    /// OpenAPI document of the service.
    #[arg(value_name = "DOCUMENT")]
    pub document: PathBuf,
    /// Queries: a JSON list of {query, solution: ["GET /path", ...], answer: [{step, jq}, ...]}.
    #[arg(value_name = "QUERIES")]
    pub queries: PathBuf,
    /// YAML file of names that the world must have [default: the names in the queries].
    #[arg(long, value_name = "FILE")]
    pub entities: Option<PathBuf>,
    /// Seed of the generated records.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Minimum number of queries that pass. Exits with 3 below it.
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "agent")]
    pub min_passed: u64,
    /// OpenAPI document whose APIs are added as noise.
    #[arg(long, value_name = "FILE", requires = "agent", requires = "pool")]
    pub noise: Option<PathBuf>,
    /// Sizes of the pool of APIs that agents choose from, with one run each [default: the document's own APIs].
    #[arg(long, value_name = "N", value_delimiter = ',', requires = "agent")]
    pub pool: Vec<usize>,
    /// Agents; without one, the gold paths are executed.
    #[command(flatten)]
    pub agents: AgentArgs,
    /// Write the names in the queries to this file, for --entities, then exit.
    #[arg(long, value_name = "FILE", conflicts_with = "agent")]
    pub write_entities: Option<PathBuf>,
}

impl RestBenchCommand {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        if self.agents.agent.is_empty() && self.agents.model.connection.base_url.is_some() {
            let what = "--base-url: found no --agent that asks the model there; name one";
            return Err(CliError::Usage(what.to_owned()));
        }
        let mut queries = Query::read(&self.queries)?;
        let mut doc = imported(&self.document)?;
        let entities = match &self.entities {
            Some(path) => Entities::read(&path.display().to_string(), &read_file(path)?)?,
            None => entities(&queries, &Operations::of(&doc)),
        };
        if let Some(path) = &self.write_entities {
            std::fs::write(path, entities.to_yaml())?;
            let note = format!("{} names written to {}", entities.iter().count(), path.display());
            terminal::note(streams, &note);
            return Ok(CommandEnd::Met);
        }
        queries.truncate(self.agents.limit.unwrap_or(usize::MAX));
        for left in entities.put_into(&mut doc) {
            terminal::note(streams, &format!("no place for `{}`: {}", left.entity.name, left.reason));
        }
        let noise = self.noise.as_deref().map(imported).transpose()?;
        let field = Field::new(doc, noise.as_ref(), self.seed)?;
        if self.agents.agent.is_empty() {
            let summary = replay(&field, &queries);
            streams.print(&summary, || summary.table())?;
            let is_low = summary.rate("passed").solved < self.min_passed;
            return Ok(if is_low { CommandEnd::NotMet } else { CommandEnd::Met });
        }
        let jq = Isolation::of_this_program();
        let asked = queries.into_iter().enumerate();
        let asked: Vec<QueryCase> =
            asked.map(|(index, query)| QueryCase::new(&field, index, query, &jq)).collect();
        let all = vec![None];
        let sizes = if self.pool.is_empty() { all } else { self.pool.iter().copied().map(Some).collect() };
        let mut summaries = Vec::new();
        for size in sizes {
            let setting = ("pool", size.map_or_else(|| "all".to_owned(), |size| size.to_string()));
            let pool = Arc::new(Pool { field: field.clone(), size });
            summaries.extend(self.agents.run(&pool, &asked, Some(setting))?);
        }
        streams.print(&summaries, || tables(&summaries))?;
        Ok(CommandEnd::Met)
    }
}
