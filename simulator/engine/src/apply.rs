//! Executes one call: takes a state and a call, and returns a reply and the next state.

use diorama_seeds::model::{ApiId, Misreading};
use diorama_seeds::task::Call;
use diorama_seeds::value::Str;

use super::base::Base;
use super::consent::NeededConsent;
use super::refusal::{Outcome, Refusal};
use super::reply::Reply;
use super::run::Run;
use super::state::{RecordChange, State};
use super::tools::{self, TOOL_SEARCHER};
use super::{arguments, contract, outage, run};

/// The result of a call.
#[derive(Clone, Debug)]
pub struct CallResult {
    /// The reply.
    pub reply: Reply,
    /// The state after the call. Equal to the state before it unless the call succeeded.
    pub state: State,
    /// The changed records, one entry each, sorted by resource and key.
    pub changes: Vec<RecordChange>,
    /// The consent of the user that a policy rule requires.
    pub needs: Option<NeededConsent>,
}

/// Executes a call.
///
/// Errors are replies, too: 400 (wrong argument), 401 (token), 404 (no such API or record), 409 and other
/// refusals of the world. A 422 is a value that records do not accept, or a calculation without a result. A
/// 500 is a fault of the world itself, independent of arguments and earlier calls.
#[must_use]
pub fn apply(base: &Base, state: &State, call: &Call) -> CallResult {
    attempt(base, state, call).unwrap_or_else(|refusal| CallResult {
        reply: refusal.into_reply(),
        state: state.clone(),
        changes: Vec::new(),
        needs: None,
    })
}

/// Returns the policy rule that a call would break: the one by which the shadow world refuses it.
#[must_use]
pub fn broken_rule(base: &Base, state: &State, call: &Call, api: ApiId) -> Option<Str> {
    let rules = &base.world().api(api).behaviour.rules;
    let shadow = base.shadow().filter(|_| !rules.is_empty())?;
    let refusal = attempt(shadow, state, call).err()?;
    rules.iter().map(|rule| &rule.message).find(|name| ***name == *refusal.detail).cloned()
}

/// Returns the misreadings of policy rules that turn the verdict on a call. Returns none for a call that the
/// API refuses.
#[must_use]
pub fn turning_misreadings<'a>(base: &'a Base, state: &'a State, call: &'a Call) -> Vec<&'a Misreading> {
    let is_misread = |id: &ApiId| !base.world().api(*id).behaviour.misreadings.is_empty();
    let Some(id) = base.api_named(&call.api).filter(is_misread) else { return Vec::new() };
    let performed = begin(base, state, call, id).and_then(|mut run| {
        run.collects_misreadings = true;
        run.perform()?;
        Ok(run.misreadings)
    });
    performed.unwrap_or_default()
}

/// Returns the result of [`apply`], or its refusal.
pub(super) fn attempt(base: &Base, state: &State, call: &Call) -> Outcome<CallResult> {
    let Some(id) = base.api_named(&call.api) else {
        if call.api != TOOL_SEARCHER {
            return Err(unknown_api(&call.api, base.world().apis.iter().map(|api| &*api.name), false));
        }
        let arguments = arguments::parse(&base.tools.searcher, &call.arguments, &base.world().zone)?;
        let reply = tools::search_reply(base, state.search(), &arguments);
        return Ok(CallResult { reply, state: state.clone(), changes: Vec::new(), needs: None });
    };
    let api = base.world().api(id);
    if let Some((reply, state)) = outage::meet(state, id, api, call) {
        return Ok(CallResult { reply, state, changes: Vec::new(), needs: None });
    }
    let mut run = begin(base, state, call, id)?;
    let body = run.perform()?;
    let Run { draft, made, next, total, needs, .. } = run;
    let (state, changes) = draft.finish(|resource, field| run::parameter_of(base, api, resource, field))?;
    let status = made.then_some(api.reply.made).flatten().unwrap_or(api.reply.status);
    Ok(CallResult { reply: Reply { status, body, next, total }, state, changes, needs })
}

/// Parses the arguments of a call, and checks its caller.
fn begin<'a>(base: &'a Base, state: &'a State, call: &'a Call, id: ApiId) -> Outcome<Run<'a>> {
    let api = base.world().api(id);
    let sent = contract::read_body(api, &call.arguments, &base.world().zone)?;
    let arguments = arguments::parse(api, &call.arguments, &base.world().zone)
        .map_err(|refusal| contract::refused(api, refusal))?;
    let mut run = Run::new(base, state, id, arguments);
    run.sent = sent;
    run.steps = contract::read_steps(api, &call.arguments);
    run.name_caller();
    run.authorise()?;
    Ok(run)
}

/// Returns the refusal of a call to an unknown API, with the nearest names. It mentions the tool search only
/// if the agent has to search.
pub fn unknown_api<'a>(name: &str, known: impl Iterator<Item = &'a str>, searches: bool) -> Refusal {
    let shown: String = name.chars().take(60).collect();
    let near = crate::search::words::nearest(name, known);
    let hint = match near.as_slice() {
        [] if searches => format!("; find one with {TOOL_SEARCHER}"),
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(", ")),
    };
    Refusal::new(404, format!("no API has the name `{shown}`{hint}"))
}
