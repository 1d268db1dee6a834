//! History: replays an episode, keeps the state before each call, and finds out which unmade calls its
//! replies answer.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_engine::{Base, State, apply};
use diorama_seeds::expr::{Node, Operator};
use diorama_seeds::model::{Api, BehaviourKind, ParameterId, ResourceId};
use diorama_seeds::task::Call;
use serde_json::Map;

use super::question::{Answer, Question, Standard};
use super::search::{MadeCall, Search};

/// The search skips calls whose resources have more records than this.
pub(super) const MAX_RECORDS: usize = 5_000;

/// Cached verdicts on questions, keyed by the replies that they depend on. Attempts at one task share most of
/// their replies.
#[derive(Debug, Default)]
pub struct Verdicts(RefCell<HashMap<VerdictKey, CachedVerdict>>);

/// The question's number, the standard, and the addresses of the replies.
type VerdictKey = (usize, Standard, Vec<usize>);

#[derive(Debug)]
struct CachedVerdict {
    holds: bool,
    /// Keeps the replies alive, so that no other reply gets one of their addresses.
    _replies: Vec<Arc<LogEntry>>,
}

/// The calls of an episode up to a point, with the state before each.
pub(crate) struct History<'a> {
    base: &'a Base,
    made: Vec<MadeCall<'a>>,
    last: State,
    verdicts: Option<&'a Verdicts>,
}

impl<'a> History<'a> {
    /// Replays the calls of a log.
    pub(crate) fn new(
        base: &'a Base,
        initial: &State,
        log: &'a [Arc<LogEntry>],
        verdicts: Option<&'a Verdicts>,
    ) -> Self {
        let world = base.world();
        let mut state = initial.clone();
        let mut made = Vec::new();
        for entry in log {
            state.set_clock(entry.clock);
            let before = state.clone();
            let moves = !entry.changes.is_empty() || entry.api.is_some_and(|id| signs(world.api(id)));
            let mut honest = true;
            // A reply that a fault or a hidden tool changed shows no record. One that a fault only delayed does.
            if moves || !entry.reply.is_success() || !entry.faults.is_empty() {
                let applied = apply(base, &state, &entry.call);
                honest = applied.reply == entry.reply;
                state = applied.state;
            }
            if let (true, Some(api)) = (honest, entry.api) {
                made.push(MadeCall { entry, before, resources: world.api(api).resources() });
            }
        }
        Self { base, made, last: state, verdicts }
    }

    /// Returns the calls whose replies may show these resources, and the state after the last call.
    pub(super) fn about(&self, resources: &BTreeSet<ResourceId>) -> (Vec<&MadeCall<'a>>, &State) {
        let about = self.made.iter().filter(|made| !made.resources.is_disjoint(resources));
        (about.collect(), &self.last)
    }

    /// Returns true if the replies tell, by the standard, which answer a call would give.
    pub(crate) fn tells(&self, question: &Question, standard: Standard) -> bool {
        let Some(base) = self.base_of(question) else { return false };
        let world = base.world();
        let api = world.api(question.api);
        // An agent cannot know a calculation's formula without calling it, unless the formula only counts,
        // adds and subtracts.
        if matches!(question.answer, Answer::Value { .. }) && has_formula(api) {
            return false;
        }
        let resources = api.resources();
        let records: usize = resources.iter().map(|id| world.resource(*id).records.len()).sum();
        // Replies about other resources cannot tell the answer.
        let replies: Vec<&MadeCall<'_>> =
            self.made.iter().filter(|made| !made.resources.is_disjoint(&resources)).collect();
        if replies.is_empty() || records > MAX_RECORDS {
            return false;
        }
        let search = || self.search(base, (question, &resources), &replies, standard);
        let Some(Verdicts(verdicts)) = self.verdicts else { return search() };
        let addresses = replies.iter().map(|made| Arc::as_ptr(made.entry).addr()).collect();
        let key = (question.number, standard, addresses);
        if let Some(known) = verdicts.borrow().get(&key) {
            return known.holds;
        }
        let holds = search();
        let _replies = replies.iter().map(|made| Arc::clone(made.entry)).collect();
        verdicts.borrow_mut().insert(key, CachedVerdict { holds, _replies });
        holds
    }

    /// Returns the world that answers a question. For a policy rule it is the shadow world, which enforces
    /// the policy.
    fn base_of(&self, question: &Question) -> Option<&'a Base> {
        match question.answer {
            Answer::Forbidden(_) => self.base.shadow().map(|shadow| &**shadow),
            _ => Some(self.base),
        }
    }

    fn search(
        &self,
        base: &Base,
        (question, resources): (&Question, &BTreeSet<ResourceId>),
        replies: &[&MadeCall<'a>],
        standard: Standard,
    ) -> bool {
        let Some(call) = self.call(question) else { return false };
        let states = std::iter::once(&self.last).chain(self.made.iter().rev().map(|made| &made.before));
        let mut replied = states.map(|state| (state, apply(base, state, &call).reply));
        let world = base.world();
        let Some((state, reply)) = replied.find(|(_, reply)| question.answer.is_given(reply, world)) else {
            return false;
        };
        Search { base, served: self.base, call: &call, question, standard, resources, state, reply, replies }
            .holds()
    }

    /// Returns the question's call, with the token that the episode got for its domain.
    fn call(&self, question: &Question) -> Option<Call> {
        let world = self.base.world();
        let api = world.api(question.api);
        let mut given = Map::new();
        for (id, value) in &question.arguments {
            given.insert(api.parameters.get(id.index())?.name.to_string(), value.to_json(&world.zone));
        }
        let known = |token: &ParameterId| question.arguments.iter().any(|(id, _)| id == token);
        if let Some(token) =
            api.token.filter(|token| !known(token)).and_then(|token| api.parameters.get(token.index()))
        {
            let known = self.made.iter().rev().find_map(|made| {
                let entry = made.entry;
                let called = world.api(entry.api.filter(|id| world.api(*id).domain == api.domain)?);
                if signs(called) {
                    let issued = entry.reply.body.parts().find_map(|part| part.member("token")?.value());
                    return issued.map(|token| token.to_json(&world.zone));
                }
                entry.call.arguments.get(&*called.parameters.get(called.token?.index())?.name).cloned()
            })?;
            given.insert(token.name.to_string(), known);
        }
        Some(Call { api: api.name.to_string(), arguments: given })
    }
}

/// Returns true if an API issues or revokes tokens.
const fn signs(api: &Api) -> bool {
    matches!(api.behaviour.kind, BehaviourKind::SignIn { .. } | BehaviourKind::SignOut)
}

/// Returns true if an API's calculation does more than count, add and subtract.
fn has_formula(api: &Api) -> bool {
    let BehaviourKind::Compute(members) = &api.behaviour.kind else { return false };
    let bindings = api.behaviour.bindings.iter().map(|(_, expr)| expr);
    members.iter().map(|(_, expr)| expr).chain(bindings).any(|expr| is_formula(&expr.node))
}

fn is_formula(node: &Node) -> bool {
    match node {
        Node::Call(..) => true,
        Node::Binary(operator, left, right) => {
            matches!(operator, Operator::Multiply | Operator::Divide | Operator::Remainder)
                || is_formula(left)
                || is_formula(right)
        }
        Node::Fold(fold) => fold.value.iter().any(is_formula),
        Node::Field(inner, _) | Node::Get(_, inner) | Node::Negate(inner) | Node::Cast(inner, _) => {
            is_formula(inner)
        }
        Node::Conditional(_, yes, no) => is_formula(yes) || is_formula(no),
        _ => false,
    }
}
