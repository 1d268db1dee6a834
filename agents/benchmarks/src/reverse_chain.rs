//! The compositional multi-tool tasks of Reverse Chain (Zhang et al., 2023): plans that are held against labels.
//!
//! No call is executed: what an agent calls is answered by stand-ins, and what it calls with one of them is a call inside a
//! call. So any agent that acts can be measured by its plan. `diorama export --format reverse-chain` writes the same form.

mod instance;
mod plan_only;

use std::path::Path;
use std::sync::Arc;

use diorama_baselines::environment::{ConversationEntry, View};
use diorama_baselines::plan::{Plan, parse};
use diorama_baselines::shares::{Rate, Share};
use serde::{Deserialize, Serialize};

use crate::environment::BenchmarkEnvironment;
use crate::label::{Verdict, compare};
use crate::material::{BenchmarkError, lines_of};
use crate::summary::{Measure, Outcome};
use crate::task::Benchmark;
use plan_only::PlanOnly;

pub use instance::{Api, Candidates, INSTANCES, Instance, Material};

/// Plans of agents, by the label that an instance has.
pub struct Plans {
    /// The instances.
    pub material: Arc<Material>,
    /// APIs to choose from.
    pub candidates: Candidates,
    /// Seed of which other APIs stand beside those of the label.
    pub seed: u64,
}

impl Benchmark for Plans {
    type Case = Instance;
    type Counterpart = PlanOnly;

    const MEASURES: &'static [Measure] = &[("label_match", "label match")];

    fn open(&self, instance: &Instance) -> (View, PlanOnly) {
        let apis = self.material.candidates(instance, self.candidates, self.seed);
        let view = View {
            system: "You plan which functions carry out a request. Nothing is known of the user but what they say."
                .to_owned(),
            conversation: vec![ConversationEntry::User(instance.query.clone())],
            tools: apis.iter().map(plan_only::tool).collect(),
            over: false,
        };
        (view, PlanOnly::new(apis))
    }

    fn measure(&self, instance: &Instance, done: &BenchmarkEnvironment<PlanOnly>) -> Outcome {
        let mut outcome = Outcome::new(instance.index.to_string());
        outcome.detail("query", instance.query.as_str());
        outcome.detail("label", instance.label.as_str());
        let label = match parse(&instance.label) {
            Ok(label) => label,
            Err(error) => {
                outcome.detail("because", error.to_string());
                outcome.groups.push(("level", "unreadable".to_owned()));
                outcome.errors.insert("error", "unreadable_label".to_owned());
                outcome.share("label_match", false);
                return outcome;
            }
        };
        let level = label.depth().saturating_sub(1).clamp(1, 3);
        outcome.groups.push(("level", level.to_string()));
        let (plan, verdict) = judged(&label, &done.counterpart, instance);
        outcome.detail("plan", plan.map(ToString::to_string));
        outcome.detail("verdict", verdict.name());
        outcome.share("label_match", verdict == Verdict::Right);
        if verdict != Verdict::Right {
            outcome.errors.insert("error", verdict.name().to_owned());
        }
        outcome
    }
}

/// The plan that an agent came to, and the verdict on it. As in the paper, a call that is made several times need be right once;
/// otherwise the last call of the label's final API is looked at, or the last one.
fn judged<'a>(label: &Plan, made: &'a PlanOnly, instance: &Instance) -> (Option<&'a Plan>, Verdict) {
    let places = |api: &str| -> Vec<String> {
        let known = instance.apis.iter().find(|known| known.name == api);
        known.map(|known| known.input_params.keys().cloned().collect()).unwrap_or_default()
    };
    let right = made.plans().find(|plan| compare(label, plan, &places) == Verdict::Right);
    let last = right
        .or_else(|| made.plans().filter(|plan| plan.api == label.api).last())
        .or_else(|| made.plans().last());
    (last, last.map_or(Verdict::WrongFinalTool, |plan| compare(label, plan, &places)))
}

/// A pair of plans that a person has judged.
#[derive(Clone, Debug, Deserialize)]
pub struct Pair {
    /// The label.
    pub label: String,
    /// The plan.
    pub plan: String,
    /// True where the plan is right by the paper's rules.
    pub right: bool,
}

/// How often the matcher agrees with people.
#[derive(Clone, Debug, Serialize)]
pub struct Agreement {
    /// Pairs on which both say the same.
    pub agreement: Rate,
    /// Pairs on which they do not: label, plan, what the person says.
    pub disagreements: Vec<(String, String, bool)>,
}

/// Holds the matcher against pairs that a person has judged, a JSON object `{label, plan, right}` a line.
///
/// # Errors
/// When the file cannot be read or a line is of another form.
pub fn agreement(path: &Path) -> Result<Agreement, BenchmarkError> {
    let (mut share, mut disagreements) = (Share::default(), Vec::new());
    for pair in lines_of::<Pair>(path, r#"{"label", "plan", "right"}"#)? {
        let label = parse(&pair.label).map_err(|error| BenchmarkError::form(path, error.to_string()))?;
        let verdict = parse(&pair.plan).map(|plan| compare(&label, &plan, &|_| Vec::new()));
        let agrees = (verdict == Ok(Verdict::Right)) == pair.right;
        share.add(agrees);
        if !agrees {
            disagreements.push((pair.label, pair.plan, pair.right));
        }
    }
    Ok(Agreement { agreement: share.into(), disagreements })
}
