//! Owns the trait of all models that answer chat requests.

use std::pin::Pin;
use std::sync::Arc;

use crate::chat::{ChatReply, ChatRequest, Identity};
use crate::error::ChatError;

/// A boxed future, so that models can be chosen at run time.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Answers chat requests.
///
/// Implemented by [`HttpModel`](crate::HttpModel) and [`ScriptedModel`](crate::ScriptedModel), and by the layers around
/// them: [`RetryingModel`](crate::RetryingModel), [`RecordedModel`](crate::RecordedModel), [`ReplayModel`](crate::ReplayModel).
pub trait ChatModel: Send + Sync {
    /// Returns the model's name with the settings that every request shares.
    fn identity(&self) -> &Identity;

    /// Sends a request and waits for the whole reply.
    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ChatError>>;
}

impl<M: ChatModel + ?Sized> ChatModel for Arc<M> {
    fn identity(&self) -> &Identity {
        (**self).identity()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ChatError>> {
        (**self).chat(request)
    }
}
