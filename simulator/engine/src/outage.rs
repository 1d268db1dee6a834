//! Outages: what a session's first call of an API meets, once, whatever the world would have said.
//!
//! Unlike a fault, which an admin asks for and which excuses a failed grade, an outage belongs to a task: its reference solution
//! meets it and goes on. It is part of the state, so that a call stays a function of state and call.

use diorama_seeds::model::{Api, ApiId};
use diorama_seeds::task::{Call, OutageKind};

use super::fault::{Kind, refusal};
use super::reply::Reply;
use super::state::State;

/// The reply to a call that meets an outage, and the state after it; none where it meets none.
pub(super) fn meet(state: &State, id: ApiId, api: &Api, call: &Call) -> Option<(Reply, State)> {
    let token = api.token.and_then(|parameter| {
        call.arguments
            .get(&*api.parameters[parameter.index()].name)?
            .as_str()
            .filter(|text| state.token(text).is_some())
    });
    let meets = |kind: OutageKind| kind != OutageKind::ExpiredToken || token.is_some();
    let position = state.outages().iter().position(|(of, kind)| *of == id && meets(*kind))?;
    let (_, kind) = state.outages()[position];
    let mut state = state.clone();
    state.end_outage(position);
    let reply = match kind {
        OutageKind::TooManyRequests => refusal(Kind::RateLimit, 429),
        OutageKind::Unavailable => refusal(Kind::Error, 503),
        OutageKind::ExpiredToken => {
            token.into_iter().for_each(|token| state.revoke(token));
            refusal(Kind::ExpiredToken, 401)
        }
    };
    Some((reply, state))
}
