//! The `oracle`: the reference solution on a live session, every argument from a reply bound again.

use std::sync::Arc;

use diorama_simulator::session::LogEntry;

use super::{Agent, Ended, Live};
use crate::synthesis::binding::{bind, say_answer};

/// Drives the reference calls; its success on every row shows that the rows can be solved on any session seed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Oracle;

impl Agent for Oracle {
    fn name(&self) -> &'static str {
        "oracle"
    }

    fn act(&self, live: &mut Live<'_>) -> Ended {
        let answer = solve(live).map(|(_, answer)| answer).unwrap_or_default();
        Ended { answer, outcome: Some(live.task.episode.outcome) }
    }
}

/// Runs the reference solution; gives the replies and the answer over them, or nothing where it cannot be bound.
pub(super) fn solve(live: &mut Live<'_>) -> Option<(Vec<Option<Arc<LogEntry>>>, String)> {
    let world = live.world.base.world();
    let mut replies = Vec::with_capacity(live.task.gold.len());
    while live.said().len() < live.task.turns.len() {
        live.say("Could you give me the details that are still missing?")?;
    }
    for gold in &live.task.gold {
        let call = bind(gold, &replies, world)?;
        replies.push(Some(live.call(&call)?));
    }
    let answer = say_answer(&live.task.gold_answer.parts, &replies, world, 0)?;
    Some((replies, answer))
}
