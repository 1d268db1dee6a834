//! The compositional multi-tool tasks of Reverse Chain (Zhang et al., 2023): plans that are held against labels.
//!
//! No call is executed: what an agent calls is answered by stand-ins, and what it calls with one of them is a call inside a
//! call. So any agent that acts can be measured by its plan. `diorama dataset export --format reverse-chain` writes the same form.

mod plan_only;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use diorama_baselines::Agent;
use diorama_baselines::environment::{Budget, EnvironmentError, Said, View};
use diorama_baselines::plan::{Plan, parse};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::environment::BenchmarkEnvironment;
use super::label::{Verdict, compare};
use super::{BenchmarkError, files_of, text_of, who, without_end};
use crate::evaluation::measures::word_of;
use crate::evaluation::shares::{Rate, Share};
use plan_only::PlanOnly;

/// An API as the benchmark describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Api {
    /// Its name.
    #[serde(alias = "Name")]
    pub name: String,
    /// Its description.
    #[serde(default, alias = "Description")]
    pub description: String,
    /// Its arguments, in order.
    #[serde(default)]
    pub input_params: IndexMap<String, Json>,
    /// Its results.
    #[serde(default)]
    pub output_params: IndexMap<String, Json>,
}

/// A task: a request, and the plan that it is labelled with.
#[derive(Clone, Debug, Deserialize)]
pub struct Instance {
    /// The APIs that stand beside it.
    #[serde(rename = "APIs")]
    pub apis: Vec<Api>,
    /// The user's request.
    #[serde(rename = "Query")]
    pub query: String,
    /// The label.
    #[serde(rename = "Label")]
    pub label: String,
    /// Its number.
    #[serde(rename = "Index", default)]
    pub index: u64,
}

/// Which APIs an agent may choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// Those of the label: the paper's setting.
    Gold,
    /// Those of the label and others, so many in all.
    Among(usize),
    /// Every API of the material.
    All,
}

impl std::str::FromStr for Candidates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "gold" => Ok(Self::Gold),
            "all" => Ok(Self::All),
            text => match text.parse() {
                Ok(count) if count > 0 => Ok(Self::Among(count)),
                _ => Err(format!("found `{text}`, expected `gold`, `all` or a number from 1 on")),
            },
        }
    }
}

impl std::fmt::Display for Candidates {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Gold => formatter.write_str("gold"),
            Self::Among(count) => count.fmt(formatter),
            Self::All => formatter.write_str("all"),
        }
    }
}

/// The instances of a benchmark, with all APIs of them.
pub struct Material {
    /// The instances.
    pub instances: Vec<Instance>,
    /// All APIs by name; of several with one name, the first.
    pub pool: IndexMap<String, Api>,
}

/// How an agent did on one instance.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The instance's number.
    pub index: u64,
    /// The paper's level: 1 for calls two deep, 2 for three, 3 for four and more; none where the label cannot be read.
    pub level: Option<u32>,
    /// The user's request.
    pub query: String,
    /// The label.
    pub label: String,
    /// The plan that the agent came to.
    pub plan: Option<String>,
    /// The verdict; none where the label cannot be read, or the model or its server failed.
    pub verdict: Option<Verdict>,
    /// Why there is no verdict, or why the agent gave up.
    pub because: Option<String>,
    /// Replies of the model that could not be read.
    pub malformed: u32,
    /// Tokens of the model.
    pub tokens: u64,
}

/// How an agent did on all of them.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The agent.
    pub agent: String,
    /// The model, where it asks one.
    pub model: Option<String>,
    /// The candidates: `gold`, `all`, or how many.
    pub candidates: String,
    /// Instances.
    pub instances: usize,
    /// Label match over all; an instance whose label cannot be read counts as not matched.
    pub accuracy: Rate,
    /// The same by level.
    pub levels: BTreeMap<String, Rate>,
    /// The paper's classes of errors.
    pub errors: BTreeMap<String, u64>,
    /// Labels that cannot be read, by the instance's number.
    pub unreadable: Vec<u64>,
    /// Instances that came to no end for want of a model.
    pub unfinished: usize,
    /// Tokens of the model.
    pub tokens: u64,
    /// One by one.
    pub outcomes: Vec<Outcome>,
}

impl Material {
    /// Reads a file, or all `.json` files of a folder: JSON lists of `{APIs, Query, Label, Index}`.
    ///
    /// # Errors
    /// When a file cannot be read or is of another form.
    pub fn read(path: &Path) -> Result<Self, BenchmarkError> {
        let mut instances: Vec<Instance> = Vec::new();
        for file in files_of(path, ".json")? {
            let read: Vec<Instance> = serde_json::from_str(&text_of(&file)?).map_err(|error| {
                BenchmarkError::form(
                    &file,
                    format!("{error}; expected a JSON list of {{APIs, Query, Label, Index}}"),
                )
            })?;
            instances.extend(read);
        }
        if instances.is_empty() {
            return Err(BenchmarkError::form(path, "found no instances, expected a .json file with some"));
        }
        let mut pool = IndexMap::new();
        for api in instances.iter().flat_map(|instance| &instance.apis) {
            pool.entry(api.name.clone()).or_insert_with(|| api.clone());
        }
        Ok(Self { instances, pool })
    }

    /// The APIs that an agent may choose from.
    #[must_use]
    pub fn candidates(&self, instance: &Instance, candidates: Candidates, seed: u64) -> Vec<Api> {
        let mut needed = BTreeSet::new();
        if let Ok(label) = parse(&instance.label) {
            names(&label, &mut needed);
        }
        let own = |api: &&Api| needed.is_empty() || needed.contains(&api.name);
        let mut seen = BTreeSet::new();
        let mut chosen: Vec<Api> =
            instance.apis.iter().filter(own).filter(|api| seen.insert(api.name.clone())).cloned().collect();
        let most = match candidates {
            Candidates::Gold => return chosen,
            Candidates::Among(count) => count,
            Candidates::All => usize::MAX,
        };
        // Which others stand beside them, and in which order all do, follows from the seed and the instance alone.
        let place = |name: &str| {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&seed.to_le_bytes()).update(&instance.index.to_le_bytes());
            *hasher.update(instance.query.as_bytes()).update(name.as_bytes()).finalize().as_bytes()
        };
        let mut others: Vec<&Api> = self.pool.values().filter(|api| !seen.contains(&api.name)).collect();
        others.sort_by_key(|api| place(&api.name));
        let room = most.saturating_sub(chosen.len());
        chosen.extend(others.into_iter().take(room).cloned());
        chosen.sort_by_key(|api| place(&api.name));
        chosen
    }
}

fn names(plan: &Plan, found: &mut BTreeSet<String>) {
    found.insert(plan.api.clone());
    plan.inner().for_each(|inner| names(inner, found));
}

/// Has an agent work on an instance.
pub async fn attempt(agent: &dyn Agent, instance: &Instance, apis: Vec<Api>, budget: Budget) -> Outcome {
    let view = View {
        system:
            "You plan which functions carry out a request. Nothing is known of the user but what they say."
                .to_owned(),
        conversation: vec![Said::User(instance.query.clone())],
        tools: apis.iter().map(plan_only::tool).collect(),
        over: false,
    };
    let mut environment = BenchmarkEnvironment::new(view, PlanOnly::new(apis), budget);
    let stopped = agent.act(&mut environment).await.err();
    let mut outcome = Outcome {
        index: instance.index,
        level: None,
        query: instance.query.clone(),
        label: instance.label.clone(),
        plan: None,
        verdict: None,
        because: environment.gave_up.clone(),
        malformed: environment.malformed,
        tokens: environment.tokens,
    };
    let label = match parse(&instance.label) {
        Ok(label) => label,
        Err(error) => {
            outcome.because = Some(format!("the label: {error}"));
            return outcome;
        }
    };
    outcome.level = Some(label.depth().saturating_sub(1).clamp(1, 3));
    if let Some(error) = stopped.filter(EnvironmentError::is_want) {
        outcome.because = Some(error.to_string());
        return outcome;
    }
    let (plan, verdict) = judged(&label, &environment.counterpart, instance);
    outcome.plan = plan.map(ToString::to_string);
    outcome.verdict = Some(verdict);
    outcome
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

impl Summary {
    /// Adds outcomes up.
    #[must_use]
    pub fn of(agent: String, model: Option<String>, candidates: Candidates, outcomes: Vec<Outcome>) -> Self {
        let mut all = Share::default();
        let mut levels: BTreeMap<String, Share> = BTreeMap::new();
        let mut errors: BTreeMap<String, u64> = BTreeMap::new();
        let (mut unreadable, mut unfinished) = (Vec::new(), 0);
        for outcome in &outcomes {
            if outcome.level.is_none() {
                unreadable.push(outcome.index);
            } else if outcome.verdict.is_none() {
                unfinished += 1;
                continue;
            }
            let right = outcome.verdict == Some(Verdict::Right);
            let level = outcome.level.map_or_else(|| "unreadable".to_owned(), |level| level.to_string());
            for share in [&mut all, levels.entry(level).or_default()] {
                share.add(right);
            }
            if let Some(class) = outcome.verdict.filter(|_| !right) {
                *errors.entry(word_of(class)).or_default() += 1;
            }
        }
        Self {
            agent,
            model,
            candidates: candidates.to_string(),
            instances: outcomes.len(),
            accuracy: all.into(),
            levels: levels.into_iter().map(|(level, share)| (level, share.into())).collect(),
            errors,
            unreadable,
            unfinished,
            tokens: outcomes.iter().map(|outcome| outcome.tokens).sum(),
            outcomes,
        }
    }

    /// A table for people.
    #[must_use]
    pub fn table(&self) -> String {
        let who = who(&self.agent, self.model.as_deref());
        let mut text = format!("{who}, candidates: {}\n", self.candidates);
        text.push_str(&self.accuracy.line("label match", 12));
        for (level, rate) in &self.levels {
            text.push_str(&rate.line(&format!("level {level}"), 12));
        }
        for (class, count) in &self.errors {
            text.push_str(&format!("  {class}: {count}\n"));
        }
        if !self.unreadable.is_empty() {
            text.push_str(&format!(
                "  labels that are no nested call (counted as not matched): {:?}\n",
                self.unreadable
            ));
        }
        text + &without_end(self.unfinished)
    }
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
    for (number, line) in text_of(path)?.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |what: String| BenchmarkError::form(path, format!("line {}: {what}", number + 1));
        let pair: Pair = serde_json::from_str(line)
            .map_err(|error| wrong(format!("{error}; expected {{\"label\", \"plan\", \"right\"}}")))?;
        let label = parse(&pair.label).map_err(|error| wrong(error.to_string()))?;
        let verdict = parse(&pair.plan).map(|plan| compare(&label, &plan, &|_| Vec::new()));
        let agrees = (verdict == Ok(Verdict::Right)) == pair.right;
        share.add(agrees);
        if !agrees {
            disagreements.push((pair.label, pair.plan, pair.right));
        }
    }
    Ok(Agreement { agreement: share.into(), disagreements })
}
