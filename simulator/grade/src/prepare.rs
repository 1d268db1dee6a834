//! Checks, made ready to grade many attempts: names resolved, values parsed, nonsense refused.

use std::borrow::Cow;

use diorama_seeds::model::{FieldId, ResourceId};
use diorama_seeds::task::{
    AnswerCheck, CHECKS_VERSION, Checks, Fact, GoalCheck, Outcome, RefusalClass, Variant,
};
use diorama_seeds::value::{Value, Zone};

use super::answer::AnswerKey;
use super::change::{Allowed, Expected};
use super::errors::CheckError;
use super::evidence::{Leaves, Ready};
use super::structured::{self, AskedFact};
use super::vocabulary::{Vocabulary, add_value};
use diorama_answers::names::{Builder, Names};
use diorama_engine::{Base, RecordChange};

/// Checks, made ready for a world.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) variants: Vec<PreparedVariant>,
    pub(crate) allowed: Allowed,
    pub(crate) leaves: Leaves,
    pub(crate) vocabulary: Vocabulary,
    /// Whether any API of the world can change a record.
    pub(crate) writes: bool,
}

#[derive(Debug)]
pub(crate) struct PreparedVariant {
    pub(crate) goals: Vec<PreparedGoal>,
    pub(crate) changes: Expected,
}

#[derive(Debug)]
pub(crate) struct PreparedGoal {
    pub(crate) outcome: Outcome,
    pub(crate) refusal: Vec<RefusalClass>,
    pub(crate) key: AnswerKey,
    /// For each answer check, its alternatives.
    pub(crate) evidence_of: Vec<Vec<Ready>>,
    pub(crate) evidence: Vec<Ready>,
    /// The facts asked for, one for each answer check.
    pub(crate) facts: Vec<Fact>,
    /// The facts asked for, as structured endings give them.
    pub(crate) asked: Vec<AskedFact>,
    /// For refusals: what they may be said to be about; nothing where that is not judged.
    pub(crate) subjects: Vec<String>,
    /// For refusals: what they rest on, as the checks name it.
    pub(crate) rests_on: Vec<diorama_seeds::task::Evidence>,
    /// The fields behind [`AnswerKey::names`].
    pub(crate) fields: Vec<(ResourceId, FieldId)>,
    /// The facts and what may stand beside them, where the world makes some of their values anew in each episode.
    made: Option<(Vec<AnswerCheck>, Vec<Fact>)>,
}

impl Prepared {
    /// Makes checks ready. Where many tasks share a world, [`Prepared::with`] shares the world's names too.
    ///
    /// # Errors
    /// [`CheckError`] when the checks do not fit the world, or would pass anything.
    pub fn new(checks: &Checks, base: &Base) -> Result<Self, CheckError> {
        Self::with(checks, base, &Vocabulary::new(base))
    }

    /// Makes checks ready with the names of a world's records, which are built once for all tasks.
    ///
    /// # Errors
    /// As [`Prepared::new`].
    pub fn with(checks: &Checks, base: &Base, vocabulary: &Vocabulary) -> Result<Self, CheckError> {
        // Version 1 is version 2 with one goal, and is read as such.
        if !(1..=CHECKS_VERSION).contains(&checks.version) {
            return Err(CheckError::Version { found: checks.version, expected: CHECKS_VERSION });
        }
        if checks.variants.is_empty() {
            return Err(CheckError::NoVariant);
        }
        let world = base.world();
        let mut leaves = Leaves::default();
        let mut variants = Vec::with_capacity(checks.variants.len());
        for (position, variant) in checks.variants.iter().enumerate() {
            let mut variant = PreparedVariant::new(position, variant, base, vocabulary, &mut leaves)?;
            // Version 1 did not ask what a refusal is about.
            if checks.version == 1 {
                variant.goals.iter_mut().for_each(|goal| goal.subjects.clear());
            }
            variants.push(variant);
        }
        Ok(Self {
            variants,
            allowed: Allowed::new(&checks.allowed, world).map_err(CheckError::Allowance)?,
            leaves,
            vocabulary: vocabulary.clone(),
            writes: world.apis.iter().any(diorama_seeds::model::Api::writes),
        })
    }
}

impl PreparedVariant {
    fn new(
        position: usize,
        variant: &Variant,
        base: &Base,
        vocabulary: &Vocabulary,
        leaves: &mut Leaves,
    ) -> Result<Self, CheckError> {
        if variant.goals.is_empty() {
            return Err(CheckError::NoGoal(position));
        }
        // A refusal of what no tool does, or a rule forbids, needs no reply to rest on.
        let shows = |goal: &GoalCheck| {
            let declines =
                |class: &RefusalClass| matches!(class, RefusalClass::NoTool | RefusalClass::Forbidden);
            !goal.answer.is_empty() || !goal.evidence.is_empty() || goal.refusal.iter().any(declines)
        };
        if variant.changes.is_empty() && !variant.goals.iter().any(shows) {
            return Err(CheckError::PassesAnything(position));
        }
        let goals = variant.goals.len();
        if let Some(late) = variant.changes.iter().find(|change| change.goal as usize >= goals) {
            return Err(CheckError::Goal { variant: position, found: late.goal, goals });
        }
        let prepared =
            variant.goals.iter().map(|goal| PreparedGoal::new(position, goal, base, vocabulary, leaves));
        Ok(Self {
            goals: prepared.collect::<Result<_, _>>()?,
            changes: Expected::new(&variant.changes, base.world())
                .map_err(|error| CheckError::Change(position, error))?,
        })
    }
}

impl PreparedGoal {
    fn new(
        position: usize,
        goal: &GoalCheck,
        base: &Base,
        vocabulary: &Vocabulary,
        leaves: &mut Leaves,
    ) -> Result<Self, CheckError> {
        let world = base.world();
        if !goal.refusal.is_empty() && goal.outcome != Outcome::Refused {
            return Err(CheckError::Refusal(position));
        }
        let mut ready = |evidence: &[diorama_seeds::task::Evidence]| {
            let parts = evidence.iter().map(|one| Ready::new(one, world, leaves));
            parts.collect::<Result<Vec<_>, _>>().map_err(|error| CheckError::Evidence(position, error))
        };
        let mut evidence_of = Vec::with_capacity(goal.answer.len());
        for check in &goal.answer {
            if check.evidence.is_empty() {
                return Err(CheckError::Unevidenced(position, check.about.clone()));
            }
            evidence_of.push(ready(&check.evidence)?);
        }
        let evidence = ready(&goal.evidence)?;
        // The values of new records are put in when there are some.
        let unknown = |_: u32, field: &str| Some(entity(field.to_owned()));
        let (answer, context) = (filled(&goal.answer, unknown), beside(&goal.context, |_, _| None));
        let key = AnswerKey::of_world(&answer.unwrap_or_default(), &context, base, vocabulary)
            .map_err(|error| CheckError::Fact(position, error))?;
        let facts = goal.answer.iter().map(|check| &check.fact).chain(&goal.context);
        let made = facts.into_iter().any(is_made).then(|| (goal.answer.clone(), goal.context.clone()));
        let facts = goal.answer.iter().map(|check| check.fact.clone()).collect();
        let subjects = match goal.outcome {
            Outcome::Refused => structured::subjects(&goal.evidence, base),
            _ => Vec::new(),
        };
        Ok(Self {
            facts,
            asked: AskedFact::of_goal(goal),
            subjects,
            rests_on: if goal.outcome == Outcome::Refused { goal.evidence.clone() } else { Vec::new() },
            made,
            outcome: goal.outcome,
            refusal: goal.refusal.clone(),
            fields: fields(goal, base),
            key,
            evidence_of,
            evidence,
        })
    }
}

impl PreparedGoal {
    /// The facts with what the world made for the new records of an episode; nothing where one was not made.
    pub(crate) fn key_of(
        &self,
        value_of: impl Fn(u32, &str) -> Option<Fact> + Copy,
        zone: &Zone,
    ) -> Option<Cow<'_, AnswerKey>> {
        let Some((answer, context)) = &self.made else { return Some(Cow::Borrowed(&self.key)) };
        let answer = filled(answer, value_of)?;
        let names = |resource: &str, field: &str| self.key.names_of(resource, field);
        AnswerKey::build(&answer, &beside(context, value_of), zone, names).ok().map(Cow::Owned)
    }

    /// Values that the episode itself put into fields that expected names are of.
    pub(crate) fn new_names(&self, changes: &[RecordChange], base: &Base) -> Vec<(usize, Names)> {
        let mut found = Vec::new();
        for (position, (resource, field)) in self.fields.iter().enumerate() {
            let mut builder = Builder::default();
            let mut any = false;
            for change in changes.iter().filter(|change| change.resource == *resource) {
                let after = change.after.as_ref().and_then(|record| record.get(field.index()));
                if let Some(value) = after.filter(|value| !matches!(value, Value::Absent)) {
                    add_value(&mut builder, value, base);
                    any = true;
                }
            }
            if any {
                found.push((position, builder.finish()));
            }
        }
        found
    }
}

fn is_made(fact: &Fact) -> bool {
    match fact {
        Fact::Made { .. } => true,
        Fact::List { items, .. } => items.iter().any(is_made),
        _ => false,
    }
}

fn entity(value: String) -> Fact {
    Fact::Entity { value, aliases: Vec::new(), of: None }
}

pub(super) fn filled_fact(fact: &Fact, value_of: impl Fn(u32, &str) -> Option<Fact> + Copy) -> Option<Fact> {
    Some(match fact {
        Fact::Made { new, field } => value_of(*new, field)?,
        Fact::List { items, ordered } => Fact::List {
            items: items.iter().map(|item| filled_fact(item, value_of)).collect::<Option<_>>()?,
            ordered: *ordered,
        },
        other => other.clone(),
    })
}

fn filled(
    answer: &[AnswerCheck],
    value_of: impl Fn(u32, &str) -> Option<Fact> + Copy,
) -> Option<Vec<AnswerCheck>> {
    let fill = |check: &AnswerCheck| {
        let fact = filled_fact(&check.fact, value_of)?;
        Some(AnswerCheck { fact, ..check.clone() })
    };
    answer.iter().map(fill).collect()
}

/// What may stand beside the facts; what was not made does not stand there.
fn beside(context: &[Fact], value_of: impl Fn(u32, &str) -> Option<Fact> + Copy) -> Vec<Fact> {
    context.iter().filter_map(|fact| filled_fact(fact, value_of)).collect()
}

/// The fields that expected entities are of, in the order in which an answer key numbers them.
fn fields(goal: &GoalCheck, base: &Base) -> Vec<(ResourceId, FieldId)> {
    let world = base.world();
    let mut found = Vec::new();
    let facts = goal.answer.iter().map(|check| &check.fact).chain(&goal.context);
    for fact in facts {
        let items = match fact {
            Fact::List { items, .. } => items.as_slice(),
            single => std::slice::from_ref(single),
        };
        for item in items {
            let Fact::Entity { of: Some((resource, field)), .. } = item else { continue };
            let Some(resource) = world.resource_named(resource) else { continue };
            let Some(field) = world.resource(resource).field_named(field) else { continue };
            if !found.contains(&(resource, field)) {
                found.push((resource, field));
            }
        }
    }
    found
}
