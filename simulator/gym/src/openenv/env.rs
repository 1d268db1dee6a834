//! The environment: what its routes and sockets share.

use std::sync::Arc;

use diorama_sessions::{Problem, unguessable};
use tokio::sync::Semaphore;

use super::attachments::Attachments;
use crate::gym::Gym;

/// The environment.
pub(super) struct OpenEnv {
    pub(super) gym: Arc<Gym>,
    /// A permit for each socket that may still be opened: there are no more of them than sessions.
    pub(super) sockets: Semaphore,
    pub(super) attachments: Attachments,
}

impl OpenEnv {
    /// An environment without a socket.
    pub(super) fn new(gym: &Arc<Gym>) -> Self {
        let sockets = Semaphore::new(gym.episodes.capacity().most.min(Semaphore::MAX_PERMITS));
        Self { gym: Arc::clone(gym), sockets, attachments: Attachments::default() }
    }

    /// A name for an episode that its caller has not named.
    pub(super) fn new_name(&self) -> Result<String, Problem> {
        unguessable().map_err(Problem::no_random)
    }
}
