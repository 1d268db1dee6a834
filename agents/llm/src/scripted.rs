//! Owns the model for tests, which answers from a script and keeps the requests.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::chat::{ChatReply, ChatRequest, Identity, JsonMode};
use crate::error::ChatError;
use crate::model::{BoxFuture, ChatModel};

/// Function from a request and its number, from 0, to the answer.
type Script = dyn Fn(&ChatRequest, usize) -> Result<ChatReply, ChatError> + Send + Sync;

/// A model that answers from a script and keeps the requests.
///
/// ```
/// # use diorama_llm::{ChatModel, ChatReply, ChatRequest, Message, RequestOrigin, Sampling, ScriptedModel};
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let model = ScriptedModel::replies([ChatReply::text("{\"name\": \"harbour pilots\"}")]);
/// let request = ChatRequest::new(RequestOrigin::default(), vec![Message::user("A domain?")], Sampling::up_to(100));
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
        let identity = Identity { model: "scripted".to_owned(), json_mode: JsonMode::JsonSchema };
        Self { identity, script: Box::new(script), sent: Mutex::default() }
    }

    /// Makes a model that gives these replies in turn.
    pub fn replies(replies: impl IntoIterator<Item = ChatReply>) -> Self {
        let replies: Vec<ChatReply> = replies.into_iter().collect();
        Self::new(move |request, number| {
            let missing = || ChatError::Unscripted { replies: replies.len(), origin: request.origin.clone() };
            replies.get(number).cloned().ok_or_else(missing)
        })
    }

    /// Returns the requests so far.
    pub fn sent(&self) -> Vec<ChatRequest> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ChatModel for ScriptedModel {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ChatError>> {
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
