//! Owns the interface of a benchmark, and one attempt of an agent at a case.

use diorama_baselines::Agent;
use diorama_baselines::environment::{Budget, EnvironmentError, View};

use crate::environment::{BenchmarkEnvironment, Counterpart};
use crate::summary::{Measure, Outcome};

/// A benchmark: opens cases and measures agents' work on them.
pub trait Benchmark: Send + Sync {
    /// A case.
    type Case: Send + Sync;
    /// Answers the agent's calls and messages in a case.
    type Counterpart: Counterpart;

    /// Measures, in the order of tables.
    const MEASURES: &'static [Measure];

    /// Returns the agent's first view of a case, and its counterpart.
    fn open(&self, case: &Self::Case) -> (View, Self::Counterpart);

    /// Measures an agent's work.
    fn measure(&self, case: &Self::Case, done: &BenchmarkEnvironment<Self::Counterpart>) -> Outcome;
}

/// Runs an agent on a case.
pub async fn attempt<B: Benchmark>(
    benchmark: &B,
    case: &B::Case,
    agent: &dyn Agent,
    budget: Budget,
) -> Outcome {
    let (view, counterpart) = benchmark.open(case);
    let mut environment = BenchmarkEnvironment::new(view, counterpart, budget);
    let stopped = agent.act(&mut environment).await.err();
    let outcome = benchmark.measure(case, &environment);
    Outcome {
        unfinished: stopped.filter(EnvironmentError::is_outage).map(|error| error.to_string()),
        gave_up: environment.gave_up,
        malformed: environment.malformed,
        tokens: environment.tokens,
        ..outcome
    }
}
