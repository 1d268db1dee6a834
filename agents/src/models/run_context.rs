//! Owns the context that the rows of a run share, and its threads for computing.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use diorama_llm::ChatModel;
use tokio::sync::watch;

use super::Settings;
use super::ask::NoReply;
use super::prompts::PromptSet;
use crate::worlds::recipe::Recipe;

/// Context that the rows of a run share.
pub struct RunContext {
    /// Recipe on which rows depend.
    pub recipe: Arc<Recipe>,
    /// Settings of the requests.
    pub settings: Settings,
    /// Prompts of the agents.
    pub prompts: Arc<PromptSet>,
    /// Chat model of the run.
    pub model: Arc<dyn ChatModel>,
    /// Threads for planning and gates, separate from the threads that wait for the model.
    pub threads: rayon::ThreadPool,
    /// True if no further attempt may start.
    pub stopping: AtomicBool,
    /// True if all conversations in flight must end at once.
    pub abort: watch::Sender<bool>,
}

impl RunContext {
    /// Waits until all conversations in flight must end.
    pub async fn wait_for_abort(&self) {
        // This context owns the sender, so that waiting cannot fail.
        let _ = self.abort.subscribe().wait_for(|aborted| *aborted).await;
    }

    /// Runs `work` on the threads for computing.
    ///
    /// # Errors
    /// Returns an error if the work ended before its result, for example by a panic.
    pub async fn compute<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, NoReply> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let run_context = Arc::clone(self);
        self.threads.spawn(move || {
            // The receiver is gone if the row was given up.
            let _ = sender.send(work(&run_context));
        });
        receiver.await.map_err(|_| NoReply::Fatal("a thread ended before its work was done".to_owned()))
    }
}
