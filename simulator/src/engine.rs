//! The engine: what a call does to a world.
//!
//! Owns states and the one function that moves them on, [`apply`]. It is pure: no clock, no randomness, no files;
//! time and seed are part of the state. Whatever the arguments are, a call ends in a reply, and a call that
//! does not succeed changes nothing.

mod aggregate;
mod arguments;
mod base;
mod contract;
mod digest;
mod draft;
pub mod eval;
mod filter;
mod fit;
mod index;
mod overlay;
mod page;
mod perform;
mod possible;
pub(crate) mod refusal;
mod reply;
mod run;
mod select;
mod show;
mod sign;
mod smoke;
mod state;
pub mod tools;
mod write;

use diorama_seeds::task::Call;

pub use self::base::{Base, BaseError};
pub use self::digest::Digest;
pub use self::possible::never_succeeding;
pub use self::reply::{Body, Origin, Reply};
pub use self::smoke::{Smoke, smoke};
pub(crate) use self::state::KeptState;
pub use self::state::{Reading, RecordChange, State, diff};

use self::refusal::{Outcome, Refusal};
use self::run::Run;
use self::tools::TOOL_SEARCHER;

/// The version of the engine's behaviour. It changes with anything that could change a recorded reply or digest.
pub const ENGINE_VERSION: &str = "engine/1";

/// What came of a call.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The reply.
    pub reply: Reply,
    /// The state after the call: the same as before unless the call succeeded.
    pub state: State,
    /// What the call changed, one entry for each record, sorted by resource and key.
    pub changes: Vec<RecordChange>,
}

/// Executes a call.
///
/// Errors are replies too: 400 (an argument is wrong), 401 (the token), 404 (no such API or record), 409 and other
/// refusals of the world, 422 (a value that the records do not take), 500 (the world's own fault).
#[must_use]
pub fn apply(base: &Base, state: &State, call: &Call) -> Applied {
    execute(base, state, call).unwrap_or_else(|refusal| Applied {
        reply: refusal.into_reply(),
        state: state.clone(),
        changes: Vec::new(),
    })
}

fn execute(base: &Base, state: &State, call: &Call) -> Outcome<Applied> {
    let Some(id) = base.api_named(&call.api) else {
        if call.api != TOOL_SEARCHER {
            return Err(unknown_api(&call.api, base.world().apis.iter().map(|api| &*api.name)));
        }
        let arguments = arguments::parse(&base.tools.searcher, &call.arguments, &base.world().zone)?;
        let reply = tools::search_reply(base, state.search(), &arguments);
        return Ok(Applied { reply, state: state.clone(), changes: Vec::new() });
    };
    let api = base.world().api(id);
    let sent = contract::sent(api, &call.arguments)?;
    let arguments = arguments::parse(api, &call.arguments, &base.world().zone)?;
    let mut run = Run::new(base, state, api, arguments);
    run.sent = sent;
    run.authorise()?;
    let body = run.perform()?;
    let Run { draft, .. } = run;
    let (state, changes) = draft.finish(|resource, field| run::parameter_of(base, api, resource, field))?;
    Ok(Applied { reply: Reply { status: api.reply.status, body }, state, changes })
}

/// The refusal of a call to an API that is not there, with the names it may have meant.
pub(crate) fn unknown_api<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Refusal {
    let shown: String = name.chars().take(60).collect();
    let near = crate::search::words::nearest(name, known);
    let hint = match near.as_slice() {
        [] => format!("find one with {TOOL_SEARCHER}"),
        near => format!("did you mean {}?", near.join(", ")),
    };
    Refusal::new(404, format!("no API has the name `{shown}`; {hint}"))
}

#[cfg(test)]
pub(crate) mod tests;
