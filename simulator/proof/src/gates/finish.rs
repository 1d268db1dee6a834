//! The structured final answers of a run: what an agent that made its calls would give to `finish`.

use diorama_engine::Body;
use diorama_seeds::ending::{self, Kind, NamedFact};
use diorama_seeds::task::Fact;
use diorama_user::conversation::Given;
use serde_json::{Map, Value as Json};

use super::{Run, Trial};
use crate::answer::Asked;
use crate::binding::each;
use crate::ground::Grounded;

/// The facts that each goal asks for, and the reference's values of them.
pub(super) struct FinalAnswers {
    goals: Vec<GoalFacts>,
}

struct GoalFacts {
    named: Vec<NamedFact>,
    reference: Given,
}

impl FinalAnswers {
    pub(super) fn new(grounded: &Grounded) -> Self {
        let checks = &grounded.checks.goals;
        let goals = grounded.goals.iter().zip(checks).map(|(goal, check)| GoalFacts {
            named: ending::named(check).into_iter().filter(|fact| !fact.checks.is_empty()).collect(),
            reference: Given {
                outcome: Some(goal.outcome),
                reason: goal.refusal.first().copied(),
                about: ending::subject(check),
                facts: ending::facts(check, |_, _| Some(Json::Null)).unwrap_or_default(),
            },
        });
        Self { goals: goals.collect() }
    }

    /// What an agent gives after a run: each fact from its place in the run's own replies, and the reference's value where
    /// the run has no reply for it.
    pub(super) fn of_run(&self, trial: &Trial<'_>, run: &Run) -> Vec<Given> {
        self.given(trial, run, |_| true)
    }

    /// The right facts after any run: the reference's values, and what the run itself made.
    pub(super) fn right(&self, trial: &Trial<'_>, run: &Run) -> Vec<Given> {
        self.given(trial, run, |fact| matches!(fact, Fact::Made { .. }))
    }

    fn given(&self, trial: &Trial<'_>, run: &Run, from_run: impl Fn(&Fact) -> bool) -> Vec<Given> {
        let checks = &trial.grounded.checks.goals;
        let goals = self.goals.iter().zip(&trial.grounded.goals).zip(checks);
        let given = goals.map(|((facts, goal), check)| {
            let mut given = facts.reference.clone();
            for fact in &facts.named {
                let known = fact.checks.iter().filter_map(|at| check.answer.get(*at));
                if !known.into_iter().any(|check| from_run(&check.fact)) {
                    continue;
                }
                let values =
                    fact.checks.iter().map(|at| Some((*at, values(trial, run, goal.asked.get(*at)?)?)));
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

/// The values at the place of a fact in a run's replies; none where the run has no such place.
fn values(trial: &Trial<'_>, run: &Run, asked: &Asked) -> Option<Vec<Json>> {
    let zone = &trial.world().zone;
    let body = &run.replies.get(asked.call())?.as_ref()?.reply.body;
    match asked {
        Asked::Leaf { path, .. } => Some(vec![body.at(path)?.value()?.to_json(zone)]),
        Asked::Each { array, member, .. } => {
            each(body, array, member)?.into_iter().map(|leaf| Some(leaf.value()?.to_json(zone))).collect()
        }
        Asked::Count { path, .. } => Some(vec![match body.at(path)? {
            Body::List(items) => Json::from(items.len()),
            leaf => leaf.value()?.to_json(zone),
        }]),
    }
}
