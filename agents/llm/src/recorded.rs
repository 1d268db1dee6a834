//! Owns the two layers that answer from a recording: one asks a model for missing replies, the other fails.

use std::sync::Arc;

use crate::budget::RunBudget;
use crate::chat::{ChatReply, ChatRequest, Identity};
use crate::error::ChatError;
use crate::model::{BoxFuture, ChatModel};
use crate::recording::{Recording, RequestKey};

/// A model that is called only for replies that its recording lacks. It records each whole reply.
#[derive(Debug)]
pub struct RecordedModel<M> {
    inner: M,
    recording: Arc<Recording>,
    budget: Arc<RunBudget>,
}

impl<M: ChatModel> RecordedModel<M> {
    /// Wraps a model. The budget counts replayed replies and repeated calls.
    pub fn new(inner: M, recording: Arc<Recording>, budget: Arc<RunBudget>) -> Self {
        Self { inner, recording, budget }
    }

    /// Returns the wrapped model.
    pub fn inner(&self) -> &M {
        &self.inner
    }

    async fn send(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let (key, origin) = (RequestKey::new(self.inner.identity(), request), &request.origin);
        if let Some(reply) = replayed(&self.recording, &key, &self.budget, request)? {
            return Ok(reply);
        }
        if self.recording.mark_sent(&key, origin)? {
            self.budget.count(&origin.step, |counts| counts.repeats += 1);
        }
        match self.inner.chat(request).await {
            // Recording does not yield to other tasks, so no cancellation can come between the reply and the
            // disk.
            Ok(reply) => Ok(self.recording.record(&key, origin, reply)?),
            Err(error) => {
                self.recording.mark_failed(&key)?;
                Err(error)
            }
        }
    }
}

impl<M: ChatModel> ChatModel for RecordedModel<M> {
    fn identity(&self) -> &Identity {
        self.inner.identity()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ChatError>> {
        Box::pin(self.send(request))
    }
}

/// A model that answers only from a recording. Other requests fail.
#[derive(Debug)]
pub struct ReplayModel {
    identity: Identity,
    recording: Arc<Recording>,
    budget: Arc<RunBudget>,
}

impl ReplayModel {
    /// Makes a model with the identity of the recorded one.
    pub fn new(identity: Identity, recording: Arc<Recording>, budget: Arc<RunBudget>) -> Self {
        Self { identity, recording, budget }
    }
}

impl ChatModel for ReplayModel {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ChatError>> {
        let key = RequestKey::new(&self.identity, request);
        let missing = || ChatError::NotRecorded { origin: request.origin.clone() };
        let reply = replayed(&self.recording, &key, &self.budget, request);
        Box::pin(std::future::ready(reply.and_then(|reply| reply.ok_or_else(missing))))
    }
}

/// Returns a recorded reply, and counts it as replayed.
fn replayed(
    recording: &Recording,
    key: &RequestKey,
    budget: &RunBudget,
    request: &ChatRequest,
) -> Result<Option<ChatReply>, ChatError> {
    let reply = recording.find(key)?;
    if let Some(reply) = &reply {
        budget.count(&request.origin.step, |counts| {
            counts.replayed += 1;
            counts.replayed_usage = counts.replayed_usage.plus(reply.usage.unwrap_or_default());
        });
    }
    Ok(reply)
}
