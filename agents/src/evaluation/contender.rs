//! Owns the agents that can act in episodes.

use std::sync::Arc;

use diorama_baselines::role_model::RoleModel;
use diorama_baselines::{Agent, Baseline, Method};
use diorama_llm::{RequestOrigin, Sampling};

use super::batch::SharedModel;
use super::judge::PrivilegedTask;
use super::policies::Policy;
use crate::isolation::process::Isolation;

/// An agent that can act in episodes.
pub enum Contender {
    /// An agent that asks no model.
    Scripted(&'static Policy),
    /// An agent that asks a model.
    Model(ModelContender),
}

/// An agent with the model that it asks.
pub struct ModelContender {
    /// Method of the agent.
    pub method: Method,
    /// Model that the agent asks.
    pub model: SharedModel,
    /// Sampling of tokens.
    pub sampling: Sampling,
}

impl ModelContender {
    /// Makes the agent of one episode.
    pub fn agent(&self, origin: RequestOrigin) -> Box<dyn Agent> {
        let mind = RoleModel::new(Arc::clone(&self.model), self.sampling.clone(), origin);
        Box::new(Baseline::new(mind, self.method).with_jq(Arc::new(Isolation::of_this_program())))
    }
}

impl Contender {
    /// Makes the agent of one episode. Only scripted policies see the task.
    pub fn agent<'a>(&self, privileged: PrivilegedTask<'a>, origin: RequestOrigin) -> Box<dyn Agent + 'a> {
        match self {
            Self::Scripted(policy) => policy.agent(privileged),
            Self::Model(agent) => agent.agent(origin),
        }
    }
}
