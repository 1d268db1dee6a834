//! Builds the structured final answers of a run, as an agent that made its calls would give them to `finish`.

use std::sync::Arc;

use diorama_engine::Body;
use diorama_engine::session::LogEntry;
use diorama_seeds::ending::{self, Kind, NamedFact};
use diorama_seeds::task::Fact;
use diorama_seeds::value::Zone;
use diorama_user::conversation::FinishData;
use serde_json::{Map, Value as Json};

use crate::answer::RequestedFact;
use crate::binding::collect_member;
use crate::grounded::GroundedCandidate;

/// Replies by the position of their calls; none where a call was left out.
type Replies = [Option<Arc<LogEntry>>];

/// The facts that each goal asks for, with the reference values.
pub(super) struct FinalAnswers {
    goals: Vec<GoalFacts>,
}

struct GoalFacts {
    named: Vec<NamedFact>,
    reference: FinishData,
}

impl FinalAnswers {
    pub(super) fn new(grounded: &GroundedCandidate) -> Self {
        let checks = &grounded.checks.goals;
        let goals = grounded.goals.iter().zip(checks).map(|(goal, check)| GoalFacts {
            named: ending::named(check).into_iter().filter(|fact| !fact.checks.is_empty()).collect(),
            reference: FinishData {
                outcome: Some(goal.outcome),
                reason: goal.refusal.first().copied(),
                about: ending::subject(check),
                facts: ending::facts(check, |_, _| Some(Json::Null)).unwrap_or_default(),
            },
        });
        Self { goals: goals.collect() }
    }

    /// Returns the facts of a run: from its own replies, else the reference values.
    pub(super) fn of_run(
        &self,
        grounded: &GroundedCandidate,
        zone: &Zone,
        replies: &Replies,
    ) -> Vec<FinishData> {
        self.given(grounded, |asked| values(zone, replies, asked), |_| true)
    }

    /// Returns the right facts after any run: the reference values, and values that the run itself generated.
    pub(super) fn right(
        &self,
        grounded: &GroundedCandidate,
        zone: &Zone,
        replies: &Replies,
    ) -> Vec<FinishData> {
        self.given(grounded, |asked| values(zone, replies, asked), |fact| matches!(fact, Fact::Made { .. }))
    }

    fn given(
        &self,
        grounded: &GroundedCandidate,
        values: impl Fn(&RequestedFact) -> Option<Vec<Json>>,
        from_run: impl Fn(&Fact) -> bool,
    ) -> Vec<FinishData> {
        let checks = &grounded.checks.goals;
        let goals = self.goals.iter().zip(&grounded.goals).zip(checks);
        let given = goals.map(|((facts, goal), check)| {
            let mut given = facts.reference.clone();
            for fact in &facts.named {
                let known = fact.checks.iter().filter_map(|at| check.answer.get(*at));
                if !known.into_iter().any(|check| from_run(&check.fact)) {
                    continue;
                }
                let values = fact.checks.iter().map(|at| Some((*at, values(goal.asked.get(*at)?)?)));
                let Some(values) = values.collect::<Option<Vec<_>>>() else { continue };
                let value = match fact.ask.kind {
                    Kind::Map(_) => {
                        let items = values.into_iter().flat_map(|(at, values)| {
                            let names = check.answer.get(at).map_or(&[][..], |check| &check.items);
                            let names = names.iter().filter_map(|names| names.first().cloned());
                            names.zip(values).collect::<Vec<_>>()
                        });
                        Json::Object(items.collect::<Map<_, _>>())
                    }
                    Kind::List(_) => values.into_iter().flat_map(|(_, values)| values).collect(),
                    _ => values.into_iter().flat_map(|(_, values)| values).next().unwrap_or_default(),
                };
                given.facts.insert(fact.name.clone(), value);
            }
            given
        });
        given.collect()
    }
}

/// Returns the values of a fact in a run's replies; none where the run lacks its path.
fn values(zone: &Zone, replies: &Replies, asked: &RequestedFact) -> Option<Vec<Json>> {
    let body = &replies.get(asked.call())?.as_ref()?.reply.body;
    match asked {
        RequestedFact::Leaf { path, .. } => Some(vec![body.at(path)?.value()?.to_json(zone)]),
        RequestedFact::Each { array, member, .. } => collect_member(body, array, member)?
            .into_iter()
            .map(|leaf| Some(leaf.value()?.to_json(zone)))
            .collect(),
        RequestedFact::Count { path, .. } => Some(vec![match body.at(path)? {
            Body::List(items) => Json::from(items.len()),
            leaf => leaf.value()?.to_json(zone),
        }]),
    }
}
