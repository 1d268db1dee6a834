//! Owns the agents of `diorama eval` by name.

use std::sync::{Arc, LazyLock};

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use diorama_baselines::{CallerForm, Completion, Execution, Method, Parsing, Planning};

use super::model::ModelConnection;
use crate::cli::error::CliError;
use crate::evaluation::contender::{Contender, ModelContender};
use crate::evaluation::policies::{POLICIES, Policy};

/// Agent by its name on the command line.
#[derive(Clone, Copy, Debug)]
pub enum AgentName {
    /// An agent that asks a model.
    Model(ModelAgent),
    /// An agent without a model.
    Scripted(&'static Policy),
}

/// The agents that ask a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModelAgent {
    /// Model: the plain loop over a list of tools.
    FunctionCalling,
    /// Model: thought, action and observation in turn.
    #[value(name = "react")]
    ReAct,
    /// Model: planner, API selector, caller and parser.
    #[value(name = "restgpt")]
    RestGpt,
    /// Model: from the last call backwards.
    ReverseChain,
    /// Model: the same, completing one argument after the other.
    ReverseChainOneByOne,
    /// Model: the same, in three steps: values from the request alone, an API for what is missing, the user.
    ReverseChainThreeStep,
    /// Model: a plan of nested calls in one reply.
    ZeroShot,
    /// Model: the same, with an example.
    FewShot,
    /// Model: a plan of nested calls after a chain of thought.
    ZeroShotCot,
    /// Model: the same, with an example.
    FewShotCot,
    /// Model: plans once and carries the plan out (RestGPT's executor).
    Offline,
    /// Model: describes, explains and plans again after each step (RestGPT's executor).
    Deps,
    /// Model: two trials, the second told what was wrong with the first (RestGPT's executor).
    Reflexion,
}

/// A part that is left out of RestGPT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// The parser: a model reads the JSON of replies.
    Parser,
    /// The planner: by the paper, this is ReAct with RestGPT's executor.
    Planner,
}

/// Variants of agents that ask a model.
#[derive(Clone, Copy, Debug, Args)]
pub struct VariantArgs {
    /// Part of `restgpt` to leave out.
    #[arg(long, value_enum, value_name = "PART")]
    pub without: Option<Part>,
    /// How the caller of `restgpt`, `offline`, `deps` and `reflexion` writes a call.
    #[arg(long, value_enum, value_name = "FORM", default_value_t = CallerForm::Request)]
    pub caller_form: CallerForm,
    /// The way in which `reverse-chain` and the agents that write a plan of nested calls carry it out [default: calls and picks].
    #[arg(skip)]
    pub execution: Option<Execution>,
}

impl VariantArgs {
    /// Checks that the variants belong to the selected agents.
    ///
    /// # Errors
    /// Returns an error if a variant belongs to another agent.
    pub fn check(self, agents: impl IntoIterator<Item = AgentName>) -> Result<(), CliError> {
        let mut agents = agents.into_iter();
        let other = agents.find(|agent| !matches!(agent, AgentName::Model(ModelAgent::RestGpt)));
        match (self.without, other) {
            (Some(_), Some(other)) => {
                Err(CliError::Usage(format!("--without: found the agent {}, expected restgpt", other.text())))
            }
            _ => Ok(()),
        }
    }

    /// Returns the name of the omitted part.
    pub fn without(self) -> Option<String> {
        self.without.and_then(|part| Some(part.to_possible_value()?.get_name().to_owned()))
    }

    /// Returns the name of the form of a caller's calls.
    pub fn caller_form(self) -> Option<String> {
        Some(self.caller_form.to_possible_value()?.get_name().to_owned())
    }
}

impl ValueEnum for AgentName {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<AgentName>> = LazyLock::new(|| {
            let models = ModelAgent::value_variants().iter().copied().map(AgentName::Model);
            models.chain(POLICIES.iter().map(AgentName::Scripted)).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Model(agent) => agent.to_possible_value(),
            Self::Scripted(policy) => {
                Some(PossibleValue::new(policy.name).help(format!("Scripted: {}", policy.help)))
            }
        }
    }
}

impl AgentName {
    /// Returns the name on the command line.
    pub fn text(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Returns true if the agent asks a model.
    pub const fn asks_model(self) -> bool {
        matches!(self, Self::Model(_))
    }

    /// Returns true if the agent must not solve any task.
    pub const fn is_adversary(self) -> bool {
        matches!(self, Self::Scripted(policy) if policy.is_adversary())
    }

    /// Makes the agent. `connected` is its model; None gives no agent for an agent that asks a model.
    pub fn contender(self, connected: Option<&ModelConnection>, variant: VariantArgs) -> Option<Contender> {
        Some(match self {
            Self::Scripted(policy) => Contender::Scripted(policy),
            Self::Model(agent) => Contender::Model(agent.contender(connected?, variant)),
        })
    }
}

impl ModelAgent {
    /// Makes the agent with its model.
    pub fn contender(self, connected: &ModelConnection, variant: VariantArgs) -> ModelContender {
        let ModelConnection { model, sampling, .. } = connected;
        ModelContender { method: method(self, variant), model: Arc::clone(model), sampling: sampling.clone() }
    }
}

fn method(name: ModelAgent, variant: VariantArgs) -> Method {
    let VariantArgs { without, caller_form, execution } = variant;
    let form = caller_form;
    let execution = execution.unwrap_or(Execution::CallsAndPicks);
    let prompted = |has_example, has_steps| Method::Prompted { has_example, has_steps, execution };
    match name {
        ModelAgent::FunctionCalling => Method::FunctionCalling,
        ModelAgent::ReAct => Method::ReAct,
        ModelAgent::RestGpt => {
            let planning = if without == Some(Part::Planner) { Planning::None } else { Planning::Planner };
            let parsing = if without == Some(Part::Parser) { Parsing::Model } else { Parsing::Program };
            Method::RestGpt(planning, parsing, form)
        }
        ModelAgent::ReverseChain => Method::ReverseChain(Completion::AllAtOnce, execution),
        ModelAgent::ReverseChainOneByOne => Method::ReverseChain(Completion::OneByOne, execution),
        ModelAgent::ReverseChainThreeStep => Method::ReverseChain(Completion::ThreeStep, execution),
        ModelAgent::ZeroShot => prompted(false, false),
        ModelAgent::FewShot => prompted(true, false),
        ModelAgent::ZeroShotCot => prompted(false, true),
        ModelAgent::FewShotCot => prompted(true, true),
        ModelAgent::Offline => Method::Offline(form),
        ModelAgent::Deps => Method::Deps(form),
        ModelAgent::Reflexion => Method::Reflexion(form),
    }
}
