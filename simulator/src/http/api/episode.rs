//! Owns an episode from its agent's view: the task, the user's words, and the ends of its goals.

use std::sync::Arc;

use axum::extract::State;
use diorama_seeds::agent_tools::Confirmation;
use diorama_seeds::ending::Finish;
use diorama_sessions::{Live, MessageReply, PendingSteps, Problem, Sessions, Slot};

use crate::http::answer::{Answer, Reply};
use crate::http::app::{App, run_blocking};
use crate::http::extract::{Body, Session};
use crate::http::reply_types::TaskView;
use crate::http::request_types::MessageRequest;

/// Shows the task from the user's view: never reference calls, checks or later messages of the user.
pub(in crate::http) async fn task(Session(slot): Session) -> Answer<Reply<TaskView>> {
    run_blocking(move || {
        let live = slot.lock();
        let task = live.task()?;
        let mut tools = live.world.base.shown_tools(&task.visible);
        let own = live.ending_tools();
        tools.extend(&own);
        let (id, system) = (task.id.clone(), task.system.clone());
        let (user, tools) = (task.script.opening().to_owned(), tools.into_iter().cloned().collect());
        Ok(Reply::ok(TaskView { id, system, user, tools }))
    })
    .await
}

/// Sends a message to the user. The reply is null if the user has nothing more to say.
pub(in crate::http) async fn message(
    State(app): State<Arc<App>>,
    Session(slot): Session,
    body: Body<MessageRequest>,
) -> Answer<Reply<MessageReply>> {
    let (MessageRequest { content }, _held) = body.into_parts();
    exchange(app, slot, move |sessions, live| sessions.hear(live, &content)).await
}

/// Ends the open goal with its outcome. The user's next words open another goal.
pub(in crate::http) async fn finish(
    State(app): State<Arc<App>>,
    Session(slot): Session,
    body: Body<Finish>,
) -> Answer<Reply<MessageReply>> {
    let (end, _held) = body.into_parts();
    exchange(app, slot, move |sessions, live| sessions.end_goal(live, end)).await
}

/// Asks the user for consent to calls, if a rule of the task's policy requires it.
pub(in crate::http) async fn confirm(
    State(app): State<Arc<App>>,
    Session(slot): Session,
    body: Body<Confirmation>,
) -> Answer<Reply<MessageReply>> {
    let (asked, _held) = body.into_parts();
    exchange(app, slot, move |sessions, live| sessions.confirm(live, &asked)).await
}

async fn exchange(
    app: Arc<App>,
    slot: Arc<Slot>,
    say: impl FnOnce(&Sessions, &mut Live) -> Result<(MessageReply, PendingSteps), Problem> + Send + 'static,
) -> Answer<Reply<MessageReply>> {
    run_blocking(move || {
        let (shown, steps) = say(&app.sessions, &mut slot.lock())?;
        Ok(Reply::ok(shown).after(steps))
    })
    .await
}
