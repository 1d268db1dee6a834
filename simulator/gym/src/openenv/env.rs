//! Owns the environment that the routes and sockets share.

use std::sync::Arc;

use diorama_sessions::{Problem, unguessable};
use tokio::sync::Semaphore;

use super::attachments::Attachments;
use crate::gym::Gym;

pub(super) struct OpenEnv {
    pub(super) gym: Arc<Gym>,
    /// One permit for each further socket. There are as many permits as sessions.
    pub(super) sockets: Semaphore,
    pub(super) attachments: Attachments,
}

impl OpenEnv {
    /// Makes an environment without sockets.
    pub(super) fn new(gym: &Arc<Gym>) -> Self {
        let sockets = Semaphore::new(gym.episodes.capacity().most.min(Semaphore::MAX_PERMITS));
        Self { gym: Arc::clone(gym), sockets, attachments: Attachments::default() }
    }

    /// Returns a name for an episode that its caller did not name.
    pub(super) fn new_name(&self) -> Result<String, Problem> {
        unguessable().map_err(Problem::no_random)
    }
}
