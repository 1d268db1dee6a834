//! Permission: decides if the replies before a call show that no policy rule forbids it.

use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_engine::{Base, State, apply};

use super::history::{History, MAX_RECORDS};
use super::question::{Answer, Question, Standard, parse_arguments};
use super::search::{Findings, Search};

/// Returns true if the replies to the calls before an entry show that the policy allows its call. A rule that
/// reads no record needs no reply.
pub(crate) fn permits(base: &Base, initial: &State, before: &[Arc<LogEntry>], entry: &LogEntry) -> bool {
    let Some((shadow, api)) = base.shadow().zip(entry.api) else { return true };
    let world = shadow.world();
    let rules = &base.world().api(api).behaviour.rules;
    let resources = world.api(api).resources();
    let records: usize = resources.iter().map(|id| world.resource(*id).records.len()).sum();
    if rules.is_empty() || records > MAX_RECORDS {
        return true;
    }
    let history = History::new(base, initial, before, None);
    let (replies, state) = history.about(&resources);
    let mut state = state.clone();
    state.set_clock(entry.clock);
    let question = Question {
        number: 0,
        api,
        arguments: parse_arguments(&entry.call.api, &entry.call.arguments, world),
        answer: Answer::Permitted(rules.iter().map(|rule| rule.message.clone()).collect()),
    };
    let search = Search {
        base: shadow,
        served: base,
        call: &entry.call,
        question: &question,
        standard: Standard::Usual,
        resources: &resources,
        reply: apply(shadow, &state, &entry.call).reply,
        state: &state,
        replies: &replies,
    };
    search.tells_all(&mut Findings::default())
}
