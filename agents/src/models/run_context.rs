//! The context that the rows of a run share, and its threads for computing.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use diorama_llm::ChatModel;
use tokio::sync::watch;

use super::Settings;
use super::ask::Lost;
use super::prompts::PromptSet;
use crate::worlds::recipe::Recipe;

/// Everything that the rows of a run share.
pub struct RunContext {
    /// What rows depend on.
    pub recipe: Arc<Recipe>,
    /// How the model is asked.
    pub settings: Settings,
    /// What it is told.
    pub prompts: Arc<PromptSet>,
    /// The model.
    pub model: Arc<dyn ChatModel>,
    /// Where planning and gates run: never on the threads that wait for the model.
    pub threads: rayon::ThreadPool,
    /// Whether no further attempt is to be started.
    pub stopping: AtomicBool,
    /// Whether everything in flight is to end where it is.
    pub abort: watch::Sender<bool>,
}

impl RunContext {
    /// Waits until everything in flight is to end.
    pub async fn wait_for_abort(&self) {
        // The sender lives as long as this context, so that waiting cannot fail.
        let _ = self.abort.subscribe().wait_for(|aborted| *aborted).await;
    }

    /// Has something worked out on the threads for work.
    ///
    /// # Errors
    /// When the work ended before its time.
    pub async fn compute<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, Lost> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let run_context = Arc::clone(self);
        self.threads.spawn(move || {
            // The row was given up: its receiver is gone.
            let _ = sender.send(work(&run_context));
        });
        receiver.await.map_err(|_| Lost::Fatal("a thread ended before its work was done".to_owned()))
    }
}
