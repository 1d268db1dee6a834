//! Agents that are ready to be put into episodes.

use std::sync::Arc;

use diorama_baselines::role_model::RoleModel;
use diorama_baselines::{Agent, Baseline, Method};
use diorama_llm::{RequestOrigin, Sampling};

use super::batch::SharedModel;
use super::judge::Privileged;
use super::policies::Policy;
use crate::isolation::process::Isolation;

/// An agent, ready to be put into episodes.
pub enum Contender {
    /// One that asks no model.
    Scripted(&'static Policy),
    /// One that asks a model.
    Model(ModelContender),
}

/// An agent with the model that it asks.
pub struct ModelContender {
    /// How it works.
    pub method: Method,
    /// The model.
    pub model: SharedModel,
    /// How tokens are drawn.
    pub sampling: Sampling,
}

impl ModelContender {
    /// The agent for one episode.
    pub fn agent(&self, origin: RequestOrigin) -> Box<dyn Agent> {
        let mind = RoleModel::new(Arc::clone(&self.model), self.sampling.clone(), origin);
        Box::new(Baseline::new(mind, self.method).with_jq(Arc::new(Isolation::of_this_program())))
    }
}

impl Contender {
    /// The agent for one episode. Only scripted policies look at the task.
    pub fn agent<'a>(&self, privileged: Privileged<'a>, origin: RequestOrigin) -> Box<dyn Agent + 'a> {
        match self {
            Self::Scripted(policy) => policy.agent(privileged),
            Self::Model(agent) => agent.agent(origin),
        }
    }
}
