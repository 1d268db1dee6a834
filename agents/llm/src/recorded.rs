//! The layers that answer from a cassette: one that calls for what is missing, and one that never calls.

use std::sync::Arc;

use crate::cassette::{Cassette, Key};
use crate::chat::{ChatModel, ChatReply, ChatRequest, Identity, Soon};
use crate::error::ChatError;
use crate::ledger::{Account, Ledger};

/// A model that is asked only for what its cassette lacks, and whose whole replies go there.
#[derive(Debug)]
pub struct Recorded<M> {
    inner: M,
    cassette: Arc<Cassette>,
    ledger: Arc<Ledger>,
}

impl<M: ChatModel> Recorded<M> {
    /// Puts a cassette before a model. Replays and repeats are entered into the ledger.
    pub fn new(inner: M, cassette: Arc<Cassette>, ledger: Arc<Ledger>) -> Self {
        Self { inner, cassette, ledger }
    }

    /// The model inside.
    pub fn inner(&self) -> &M {
        &self.inner
    }

    async fn send(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let (key, place) = (Key::new(self.inner.identity(), request), &request.place);
        if let Some(reply) = self.cassette.find(&key)? {
            self.ledger.note(&place.stage, |account| replayed(account, &reply));
            return Ok(reply);
        }
        if self.cassette.ask(&key, place)? {
            self.ledger.note(&place.stage, |account| account.repeats += 1);
        }
        match self.inner.chat(request).await {
            // Written without giving way to other tasks, so that no cancelling comes between the reply and the disk.
            Ok(reply) => Ok(self.cassette.record(&key, place, reply)?),
            Err(error) => {
                self.cassette.fail(&key)?;
                Err(error)
            }
        }
    }
}

impl<M: ChatModel> ChatModel for Recorded<M> {
    fn identity(&self) -> &Identity {
        self.inner.identity()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Soon<'a, Result<ChatReply, ChatError>> {
        Box::pin(self.send(request))
    }
}

/// A model that is a cassette and nothing else: what is not recorded fails.
#[derive(Debug)]
pub struct Replay {
    identity: Identity,
    cassette: Arc<Cassette>,
    ledger: Arc<Ledger>,
}

impl Replay {
    /// Answers as the model of this identity did when the cassette was recorded.
    pub fn new(identity: Identity, cassette: Arc<Cassette>, ledger: Arc<Ledger>) -> Self {
        Self { identity, cassette, ledger }
    }

    fn answer(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let place = &request.place;
        let Some(reply) = self.cassette.find(&Key::new(&self.identity, request))? else {
            let hint = if self.cassette.knows(place) {
                "it has one for other words, settings or another model there"
            } else {
                "it has none for that place"
            };
            return Err(ChatError::NotRecorded { place: place.clone(), hint });
        };
        self.ledger.note(&place.stage, |account| replayed(account, &reply));
        Ok(reply)
    }
}

impl ChatModel for Replay {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Soon<'a, Result<ChatReply, ChatError>> {
        Box::pin(async move { self.answer(request) })
    }
}

fn replayed(account: &mut Account, reply: &ChatReply) {
    account.replayed += 1;
    account.replayed_usage = account.replayed_usage.plus(reply.usage.unwrap_or_default());
}
