//! Owns the agents that ask a model: an agent is a model with a method.

use std::sync::Arc;

use crate::environment::{Agent, Environment, EnvironmentFuture};
use crate::episode::Episode;
use crate::jq::JqRunner;
use crate::note::Note;
use crate::plan::Execution;
use crate::restgpt::{CallerForm, Parsing, Planning};
use crate::reverse_chain::Completion;
use crate::role_model::{RoleModel, Stop};
use crate::{function_calling, planned, prompted, react, restgpt, reverse_chain};

/// An agent that asks a model.
pub struct Baseline {
    model: RoleModel,
    method: Method,
    jq: Option<Arc<dyn JqRunner>>,
}

/// The method of an agent that asks a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Function calling: the plain loop over a list of tools.
    FunctionCalling,
    /// Thought, action and observation in turn (Yao et al., 2023).
    ReAct,
    /// RestGPT (Song et al., 2023), whole or with a part left out, as in the ablation of the paper.
    RestGpt(Planning, Parsing, CallerForm),
    /// Reverse Chain (Zhang et al., 2023), or one of its variants.
    ReverseChain(Completion, Execution),
    /// A plan of nested calls in one reply: the prompted baselines of Reverse Chain's paper.
    Prompted {
        /// True if the prompt has an example (few-shot).
        has_example: bool,
        /// True if the model writes its steps first (chain of thought).
        has_steps: bool,
        /// The use of the plan.
        execution: Execution,
    },
    /// Plans once and executes the plan: a baseline of RestGPT's paper, like the next two.
    Offline(CallerForm),
    /// Describes, explains and plans again after each step.
    Deps(CallerForm),
    /// Makes a second trial, which is shown a reflection on the first.
    Reflexion(CallerForm),
}

impl Baseline {
    /// Makes the agent of one episode. It cannot run jq, and reads replies by the model instead.
    #[must_use]
    pub const fn new(model: RoleModel, method: Method) -> Self {
        Self { model, method, jq: None }
    }

    /// Gives it a runner of the jq programs that its parser writes.
    #[must_use]
    pub fn with_jq(self, jq: Arc<dyn JqRunner>) -> Self {
        Self { jq: Some(jq), ..self }
    }
}

impl Agent for Baseline {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> EnvironmentFuture<'a, ()> {
        Box::pin(async move {
            let mut episode = Episode::new(&self.model, environment, self.jq.as_deref());
            match self.method.converse(&mut episode).await {
                Ok(()) => Ok(()),
                Err(Stop::Environment(error)) => Err(error),
                Err(stop) => episode.note(Note::GaveUp { because: stop.to_string() }),
            }
        })
    }
}

impl Method {
    async fn converse(self, episode: &mut Episode<'_>) -> Result<(), Stop> {
        match self {
            Self::FunctionCalling => return function_calling::converse(episode).await,
            Self::ReAct => return react::converse(episode).await,
            _ => {}
        }
        while !episode.view().over {
            let answer = self.answer(episode).await?;
            episode.end_goal(&answer).await?;
        }
        Ok(())
    }

    /// Works on the open goal, and returns the answer in words.
    async fn answer(self, episode: &mut Episode<'_>) -> Result<String, Stop> {
        // These two methods make searches as steps.
        episode.searches_by_itself = !matches!(self, Self::Deps(_) | Self::Reflexion(_));
        if let Self::RestGpt(planning, parsing, form) = self {
            return restgpt::answer(episode, planning, parsing, form).await;
        }
        let request = episode.last_request();
        episode.search(&request).await?;
        match self {
            Self::ReverseChain(completion, execution) => {
                reverse_chain::answer(episode, completion, execution).await
            }
            Self::Prompted { has_example, has_steps, execution } => {
                prompted::answer(episode, has_example, has_steps, execution).await
            }
            Self::Offline(form) => planned::offline(episode, form).await,
            Self::Deps(form) => planned::deps(episode, form).await,
            Self::Reflexion(form) => planned::reflexion(episode, form).await,
            // These methods have their own loop.
            Self::FunctionCalling | Self::ReAct | Self::RestGpt(..) => {
                Err(Stop::Ended("the method has no goals to answer".to_owned()))
            }
        }
    }
}
