//! A model and a clock for tests: what they are asked is kept, and what they do is written down beforehand.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Map;

use crate::chat::{ChatModel, ChatReply, ChatRequest, Format, Identity, Soon};
use crate::error::ChatError;
use crate::retry::Clock;

/// What a script answers to a request and its number, from 0.
type Script = dyn Fn(&ChatRequest, usize) -> Result<ChatReply, ChatError> + Send + Sync;

/// A model that answers from a script and keeps what it was sent.
///
/// ```
/// # use diorama_llm::{ChatModel, ChatReply, ChatRequest, Message, Place, Sampling, ScriptedModel};
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let model = ScriptedModel::replies([ChatReply::text("{\"name\": \"harbour pilots\"}")]);
/// let request = ChatRequest::new(Place::default(), vec![Message::user("A domain?")], Sampling::up_to(100));
/// let reply = model.chat(&request).await.unwrap();
/// assert_eq!(reply.json().unwrap()["name"], "harbour pilots");
/// assert_eq!(model.sent(), [request]);
/// # });
/// ```
pub struct ScriptedModel {
    identity: Identity,
    script: Box<Script>,
    sent: Mutex<Vec<ChatRequest>>,
}

impl ScriptedModel {
    /// Makes a model that answers by a function of the request and its number, from 0.
    pub fn new(
        script: impl Fn(&ChatRequest, usize) -> Result<ChatReply, ChatError> + Send + Sync + 'static,
    ) -> Self {
        let identity =
            Identity { model: "scripted".to_owned(), format: Format::JsonSchema, extra: Map::new() };
        Self { identity, script: Box::new(script), sent: Mutex::default() }
    }

    /// Makes a model that gives these replies in turn.
    pub fn replies(replies: impl IntoIterator<Item = ChatReply>) -> Self {
        let replies: Vec<ChatReply> = replies.into_iter().collect();
        Self::new(move |request, number| {
            let missing = || ChatError::Unscripted { replies: replies.len(), place: request.place.clone() };
            replies.get(number).cloned().ok_or_else(missing)
        })
    }

    /// What it was sent so far.
    pub fn sent(&self) -> Vec<ChatRequest> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ChatModel for ScriptedModel {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Soon<'a, Result<ChatReply, ChatError>> {
        Box::pin(async move {
            let number = {
                let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
                sent.push(request.clone());
                sent.len() - 1
            };
            (self.script)(request, number)
        })
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ScriptedModel").field("identity", &self.identity).finish_non_exhaustive()
    }
}

/// A clock whose waits are over at once, and are kept.
#[derive(Debug, Default)]
pub struct ScriptedClock {
    waits: Mutex<Vec<Duration>>,
}

impl ScriptedClock {
    /// How long it was told to wait, in turn.
    pub fn waits(&self) -> Vec<Duration> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Clock for ScriptedClock {
    fn sleep(&self, time: Duration) -> Soon<'_, ()> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner).push(time);
        Box::pin(tokio::task::yield_now())
    }
}
