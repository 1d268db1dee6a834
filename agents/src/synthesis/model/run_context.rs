//! The context that the rows of a run share, and its threads for computing.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use diorama_llm::ChatModel;

use super::Settings;
use super::asking::Lost;
use super::prompts::PromptSet;
use crate::synthesis::pipeline::Agents;
use crate::synthesis::recipe::Recipe;

/// Everything that the rows of a run share.
pub struct RunContext {
    /// What rows depend on.
    pub recipe: Arc<Recipe>,
    /// The agents that need no model.
    pub agents: Agents,
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
}

impl RunContext {
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
