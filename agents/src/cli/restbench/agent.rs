//! `diorama restbench --agent`

use std::sync::Arc;

use diorama_llm::Place;
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::entities::Entities;
use diorama_seeds::materialise::materialised;
use diorama_simulator::engine::Base;

use super::{RestBench, imported};
use crate::benchmarks::run::at_once;
use crate::cli::benchmark::{BUDGET, ready};
use crate::cli::error::CliError;
use crate::cli::eval::name::AgentName;
use crate::cli::{Done, Streams, terminal};
use crate::restbench::agents::{Attempts, Field};
use crate::restbench::{Query, Templates};

type Task = (usize, Query, Option<Vec<String>>);

impl RestBench {
    /// Has agents work on the queries, with each size of the pool.
    pub(super) fn run_agents(
        &self,
        queries: Vec<Query>,
        mut doc: WorldDoc,
        templates: Templates,
        entities: &Entities,
        streams: &mut Streams<'_>,
    ) -> Result<Done, CliError> {
        for left in entities.put_into(&mut doc) {
            terminal::note(streams, &format!("no place for `{}`: {}", left.entity.name, left.reason));
        }
        let noise = self.noise.as_deref().map(imported).transpose()?;
        let noise = noise.map(|doc| made(&doc, self.seed)).transpose()?;
        let base = made(&doc, self.seed)?;
        let field =
            Field { doc: Arc::new(doc), base, templates: Arc::new(templates), noise, seed: self.seed };
        let mut tasks: Vec<Task> = Vec::new();
        for (index, query) in queries.into_iter().enumerate().take(self.limit.unwrap_or(usize::MAX)) {
            let walked = field.walked(&query)?;
            tasks.push((index, query, walked));
        }
        let sizes: Vec<Option<usize>> =
            if self.pool.is_empty() { vec![None] } else { self.pool.iter().copied().map(Some).collect() };
        let mut all = Vec::new();
        for name in &self.agent {
            for size in &sizes {
                all.push(self.attempts(*name, *size, &field, &tasks)?);
            }
        }
        if let Some(folder) = &self.out {
            std::fs::create_dir_all(folder)?;
            for attempts in &all {
                let lines: Result<Vec<String>, _> =
                    attempts.attempts.iter().map(serde_json::to_string).collect();
                let lines = lines.map_err(|error| CliError::Output(error.into()))?.join("\n");
                let size = attempts.pool_asked.map_or_else(|| "all".to_owned(), |size| size.to_string());
                std::fs::write(folder.join(format!("{}-{size}.jsonl", attempts.agent)), lines + "\n")?;
            }
        }
        streams.print(&all, || all.iter().map(Attempts::table).collect())?;
        Ok(Done::Met)
    }

    fn attempts(
        &self,
        name: AgentName,
        size: Option<usize>,
        field: &Field,
        tasks: &[Task],
    ) -> Result<Attempts, CliError> {
        let ready = ready(name, &self.model)?;
        let bar = terminal::bar(tasks.len() as u64, "queries");
        let (contender, field, moved) = (Arc::clone(&ready.contender), field.clone(), bar.clone());
        let attempts = at_once(tasks.to_vec(), self.model.concurrency, move |_, (index, query, walked)| {
            let (contender, field, bar) = (Arc::clone(&contender), field.clone(), moved.clone());
            async move {
                let place = Place { stage: String::new(), slot: index as u64, attempt: 0 };
                let agent = contender.without_task(place)?;
                let done =
                    field.attempt(agent.as_ref(), (index, &query), size, walked.as_deref(), BUDGET).await;
                bar.inc(1);
                Some(done)
            }
        })?
        .ok_or(CliError::Worker)?;
        bar.finish_and_clear();
        Ok(Attempts::of(ready.name.clone(), ready.model(), size, attempts.into_iter().flatten().collect()))
    }
}

fn made(doc: &WorldDoc, seed: u64) -> Result<Arc<Base>, CliError> {
    let made = materialised(doc, seed)?;
    Base::new(made.world.clone()).map_err(|error| CliError::Empty(error.to_string()))
}
