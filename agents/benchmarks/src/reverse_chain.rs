//! Reverse Chain's compositional tasks (Zhang et al., 2023): compares plans with labels.
//!
//! No call is executed. An agent records its plan, or it acts: each call returns stand-in values, and a call
//! with such a value counts as a nested call. So the plan of any agent can be measured. `diorama export
//! --format reverse-chain` writes the same form.

mod instance;
mod plan_only;

use std::path::Path;
use std::sync::Arc;

use diorama_baselines::environment::{ConversationEntry, View};
use diorama_baselines::plan::{Plan, parse};
use diorama_baselines::role_model::ParseError;
use diorama_baselines::shares::{Rate, Share};
use serde::{Deserialize, Serialize};

use crate::environment::BenchmarkEnvironment;
use crate::label::{Verdict, compare};
use crate::material::{BenchmarkError, parse_lines};
use crate::summary::{Measure, Outcome};
use crate::task::Benchmark;
use plan_only::PlanOnly;

pub use instance::{Api, Candidates, INSTANCES, Instance, Material};

/// The benchmark: plans of agents are compared with the labels of instances.
pub struct Plans {
    /// The instances.
    pub material: Arc<Material>,
    /// APIs to choose from.
    pub candidates: Candidates,
    /// Seed that selects the APIs beside those of the label.
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
        let label = match usable_label(instance, done.counterpart.apis()) {
            Ok(label) => label,
            Err(error) => {
                outcome.detail("because", error.to_string());
                outcome.groups.push(("level", "unreadable".to_owned()));
                outcome.errors.insert("error", "unreadable_label".to_owned());
                outcome.share("label_match", false);
                return outcome;
            }
        };
        if let Some(level) = level(&label) {
            outcome.groups.push(("level", level.to_string()));
        }
        let (plan, verdict) = judge_plan(&label, done);
        outcome.detail("plan", plan.map(|plan| plan.to_string()));
        outcome.detail("verdict", verdict.name());
        outcome.share("label_match", verdict == Verdict::Right);
        if verdict != Verdict::Right {
            outcome.errors.insert("error", verdict.name().to_owned());
        }
        outcome
    }
}

/// Returns the level of a label (section 4, Dataset): 1 for depth two, 2 for three, 3 for more. A single call
/// has none, because levels are for compositional tasks.
fn level(label: &Plan) -> Option<u32> {
    match label.depth() {
        0 | 1 => None,
        depth => Some((depth - 1).min(3)),
    }
}

/// Parses the label as a plan.
///
/// # Errors
/// Returns an error if no agent could match it: it is no nested call, repeats an argument, or calls an
/// unknown API.
fn usable_label(instance: &Instance, apis: &[Api]) -> Result<Plan, ParseError> {
    let label = parse(&instance.label)?;
    let unknown = label.calls().into_iter().find(|call| !apis.iter().any(|api| api.name == call.api));
    match unknown.map(|call| call.api.clone()) {
        Some(api) => Err(ParseError::expected("APIs that the material describes", &api)),
        None => Ok(label),
    }
}

/// Returns the agent's plan with its verdict: by its calls, or by its recorded plan if it made none. As in
/// the paper, a call that is made several times must be right once. Otherwise the last call of the label's
/// final API counts. Without a call of the final API, the verdict is that it is missing.
fn judge_plan(label: &Plan, done: &BenchmarkEnvironment<PlanOnly>) -> (Option<Plan>, Verdict) {
    let made = &done.counterpart;
    let places = |api: &str| -> Vec<String> {
        let known = made.apis().iter().find(|known| known.name == api);
        known.map(|known| known.input_params.keys().cloned().collect()).unwrap_or_default()
    };
    let mut plans: Vec<&Plan> = made.plans().collect();
    if plans.is_empty() {
        // The outermost call comes last, as in an execution.
        plans = done.planned.iter().flat_map(|plan| plan.calls().into_iter().rev()).collect();
    }
    let right = plans.iter().find(|plan| compare(label, plan, &places) == Verdict::Right);
    let with_final = || plans.iter().rfind(|plan| plan.api == label.api);
    match right.or_else(with_final) {
        Some(plan) => (Some((*plan).clone()), compare(label, plan, &places)),
        None => (plans.last().map(|plan| (*plan).clone()), Verdict::WrongFinalTool),
    }
}

/// A pair of plans with a person's judgement.
#[derive(Clone, Debug, Deserialize)]
pub struct Pair {
    /// The label.
    pub label: String,
    /// The plan.
    pub plan: String,
    /// True if the plan is right by the paper's rules.
    pub right: bool,
}

/// The agreement of the matcher with people.
#[derive(Clone, Debug, Serialize)]
pub struct Agreement {
    /// The share of pairs with equal judgements.
    pub agreement: Rate,
    /// Pairs with different judgements: label, plan, and the person's judgement.
    pub disagreements: Vec<(String, String, bool)>,
}

/// Compares the matcher with people's judgements. The file has a JSON object `{label, plan, right}` per line.
///
/// # Errors
/// Returns an error if the file cannot be read or a line is of another form.
pub fn agreement(path: &Path) -> Result<Agreement, BenchmarkError> {
    let (mut share, mut disagreements) = (Share::default(), Vec::new());
    for pair in parse_lines::<Pair>(path, r#"{"label", "plan", "right"}"#)? {
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

#[cfg(test)]
mod tests {
    use diorama_baselines::environment::{Budget, Environment};
    use diorama_baselines::trace::Note;
    use diorama_seeds::task::Call;
    use indexmap::IndexMap;
    use serde_json::{Value as Json, json};

    use super::*;

    fn api(name: &str, input: &str, output: &str) -> Api {
        let one = |name: &str| IndexMap::from([(name.to_owned(), json!({"type": "String"}))]);
        Api {
            name: name.to_owned(),
            description: String::new(),
            input_params: one(input),
            output_params: one(output),
        }
    }

    fn boats(label: &str) -> (Plans, Instance) {
        let apis =
            vec![api("Rent", "boat", "status"), api("Boat2Id", "name", "id"), api("Sell", "boat", "price")];
        let instance = Instance { apis, query: String::new(), label: label.to_owned(), index: 0 };
        let material = Arc::new(Material::new(vec![instance.clone()]));
        (Plans { material, candidates: Candidates::All, seed: 0 }, instance)
    }

    fn class_of(outcome: &Outcome) -> String {
        outcome.errors.get("error").cloned().unwrap_or_else(|| "right".to_owned())
    }

    /// Returns the outcome of an agent that made calls. `<id 1>` stands for the value from the first call.
    async fn outcome(label: &str, calls: &[(&str, Json)]) -> Outcome {
        let (plans, instance) = boats(label);
        let (view, counterpart) = plans.open(&instance);
        let mut environment = BenchmarkEnvironment::new(view, counterpart, Budget::USUAL);
        for (api, arguments) in calls {
            let call = Call { api: (*api).to_owned(), arguments: arguments.as_object().unwrap().clone() };
            environment.call(&call).await.unwrap();
        }
        plans.measure(&instance, &environment)
    }

    /// Returns the class of an agent that recorded a plan and made no call.
    fn planned_class(label: &str, plan: &str) -> String {
        let (plans, instance) = boats(label);
        let (view, counterpart) = plans.open(&instance);
        let mut environment = BenchmarkEnvironment::new(view, counterpart, Budget::USUAL);
        environment.note(Note::Planned { plan: parse(plan).unwrap() }).unwrap();
        class_of(&plans.measure(&instance, &environment))
    }

    #[tokio::test]
    async fn the_final_api_is_missing_where_no_call_is_of_it() {
        let label = "Rent(boat=Boat2Id(name='Sea Otter'))";
        let find = ("Boat2Id", json!({"name": "Sea Otter"}));
        let rent = |boat: &str| ("Rent", json!({ "boat": boat }));
        let check = async |calls: &[(&str, Json)], expect: &str| {
            assert_eq!(class_of(&outcome(label, calls).await), expect, "{calls:?}");
        };
        check(&[find.clone(), rent("<id 1>")], "right").await;
        check(&[rent("Sea Otter")], "wrong_argument_api").await;
        check(&[("Boat2Id", json!({"name": "Sea Otters"})), rent("<id 1>")], "wrong_argument_value").await;
        check(std::slice::from_ref(&find), "wrong_final_tool").await;
        check(&[find, ("Sell", json!({"boat": "<id 1>"}))], "wrong_final_tool").await;
        check(&[], "wrong_final_tool").await;
        // A recorded plan without calls is judged in the same way.
        for (plan, expect) in [
            (label, "right"),
            ("Rent(Boat2Id('Sea Otter'))", "right"),
            ("Rent(boat='Sea Otter')", "wrong_argument_api"),
            ("Boat2Id(name='Sea Otter')", "wrong_final_tool"),
            ("Sell(boat=Boat2Id(name='Sea Otter'))", "wrong_final_tool"),
        ] {
            assert_eq!(planned_class(label, plan), expect, "{plan}");
        }
    }

    #[tokio::test]
    async fn a_label_of_a_single_call_has_no_level() {
        for (label, expect) in [
            ("Boat2Id(name='Sea Otter')", None),
            ("Rent(boat=Boat2Id(name='x'))", Some("1")),
            ("Sell(boat=Rent(boat=Boat2Id(name='x')))", Some("2")),
        ] {
            let groups = outcome(label, &[]).await.groups;
            assert_eq!(groups.first().map(|(_, level)| level.as_str()), expect, "{label}");
        }
    }

    #[tokio::test]
    async fn a_label_that_no_agent_can_come_to_is_unreadable() {
        for label in
            ["Rent(boat='Sea Otter'", "Rent(boat=Boat2Id(name='x'), boat='y')", "Rent(boat=Dream(of='x'))"]
        {
            assert_eq!(class_of(&outcome(label, &[]).await), "unreadable_label", "{label}");
        }
    }
}
