//! Outages: replace the reply to a session's first call of an API, once.
//!
//! An admin injects faults, and they excuse a failed grade. A task defines outages, and its reference
//! solution copes with them. Outages are part of the state, so that a reply remains a function of state and
//! call.

use diorama_seeds::model::{Api, ApiId};
use diorama_seeds::task::{Call, OutageKind};

use super::fault::{Kind, refusal};
use super::reply::Reply;
use super::state::State;

/// Returns the reply to a call that meets an outage, with the state after it. Returns none if it meets none.
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
