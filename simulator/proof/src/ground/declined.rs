//! Checks calls that a policy forbids: the API would accept them, and the shadow of the world refuses them.

use diorama_engine::session::Session;
use diorama_seeds::english;
use diorama_seeds::expr::Node;
use diorama_seeds::model::{DomainId, World};
use diorama_seeds::task::RefusalClass;
use diorama_seeds::value::Str;

use super::argument;
use super::seen::VisiblePart;
use crate::candidate::{CandidateCall, End};
use crate::grounded::{Basis, DeclinedCall};
use crate::reason::{Code, Reason};

/// Returns the domains whose policy a system message tells, by a wording of each rule or by the API that
/// searches the articles.
pub(super) fn told_policies(world: &World, system: &str) -> Vec<String> {
    let is_told = |sentences: &[Str]| sentences.iter().any(|sentence| system.contains(&**sentence));
    let is_named = |id: DomainId| {
        world.policy_search(id).is_some_and(|search| english::has_words(system, &world.api(search).name))
    };
    let domains = world.domains.iter().enumerate().filter(|(_, domain)| !domain.house.is_empty());
    let told = domains.filter(|(position, domain)| {
        domain.house.iter().all(|rule| is_told(&rule.sentences)) || is_named(DomainId(*position as u16))
    });
    told.map(|(_, domain)| domain.name.to_string()).collect()
}

/// Tries the call that a goal claims to decline. Reports faults.
pub(super) fn check(
    goal: usize,
    end: &End,
    (session, policies): (&Session, &[String]),
    seen: &VisiblePart<'_>,
    faults: &mut Vec<Reason>,
) -> Option<DeclinedCall> {
    let call = end.declines.as_ref()?;
    let world = seen.context.base.world();
    let mut fault = |code| faults.push(Reason::of_goal(code, goal).with("api", &*call.api));
    let Some(id) = world.api_named(&call.api).filter(|id| session.is_visible(*id)) else {
        fault(Code::UnknownTool);
        return None;
    };
    if end.reason.iter().any(|reason| *reason != RefusalClass::Forbidden) {
        fault(Code::DeclinedOtherwise);
        return None;
    }
    let entry = session.fork().call(call);
    let Some(rule) = entry.broken.as_ref().filter(|_| entry.reply.is_success()) else {
        fault(if entry.reply.is_success() { Code::NoRuleForbids } else { Code::DeclinedFails });
        return None;
    };
    let api = world.api(id);
    let domain = &world.domains[api.domain.index()].name;
    if !policies.iter().any(|told| **told == **domain) {
        fault(Code::PolicyUntold);
        return None;
    }
    // The user must have asked for this very call.
    let proposed = CandidateCall {
        api: call.api.clone(),
        arguments: call.arguments.clone(),
        ..CandidateCall::default()
    };
    let (mut unsupported, mut unsourced) = (Vec::new(), Vec::new());
    argument::sources(usize::MAX, &proposed, Some(id), seen, &mut unsupported, &mut unsourced);
    faults.extend(unsupported.into_iter().map(|reason| Reason { goal: Some(goal), call: None, ..reason }));
    let rule = api.behaviour.rules.iter().find(|known| known.message == *rule)?;
    Some(DeclinedCall { call: call.clone(), basis: Basis::of(&rule.that.node) })
}

impl Basis {
    fn of(rule: &Node) -> Self {
        let mut basis = Self::Nothing;
        rule.visit(&mut |node| {
            // A variable of `let` may stand for a record.
            match node {
                Node::Fold(_) | Node::Get(..) | Node::Exists(..) | Node::Variable(_) => basis = Self::Records,
                Node::Argument(_) | Node::Now | Node::Today if basis == Self::Nothing => basis = Self::Call,
                _ => {}
            }
            basis != Self::Records
        });
        basis
    }
}
