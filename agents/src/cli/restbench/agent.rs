//! `diorama restbench --agent`

use std::sync::Arc;

use diorama_seeds::doc::WorldDoc;
use diorama_seeds::entities::Entities;
use diorama_seeds::materialise::materialised;
use diorama_simulator::engine::Base;

use super::{RestBench, imported};
use crate::cli::benchmark::{ready, write_lines};
use crate::cli::error::CliError;
use crate::cli::eval::name::AgentName;
use crate::cli::{Done, Streams, terminal};
use crate::evaluation::environment::Budget;
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
            for attempts in &all {
                let size = attempts.pool_asked.map_or_else(|| "all".to_owned(), |size| size.to_string());
                write_lines(folder, &format!("{}-{size}", attempts.agent), &attempts.attempts)?;
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
        let field = field.clone();
        let attempts = ready.work(tasks.to_vec(), "queries", move |agent, (index, query, walked)| {
            let field = field.clone();
            async move {
                let (task, walked) = ((index, &query), walked.as_deref());
                field.attempt(agent.as_ref(), task, size, walked, Budget::WITH_MODEL).await
            }
        })?;
        Ok(Attempts::of(ready.name, ready.model, size, attempts))
    }
}

fn made(doc: &WorldDoc, seed: u64) -> Result<Arc<Base>, CliError> {
    let made = materialised(doc, seed)?;
    Base::new(made.world.clone()).map_err(|error| CliError::Empty(error.to_string()))
}
