//! Checks, made ready to grade many attempts: names resolved, values parsed, nonsense refused.

use diorama_seeds::model::{FieldId, ResourceId};
use diorama_seeds::task::{CHECKS_VERSION, Checks, Fact, Outcome, RefusalClass, Variant};

use super::answer::AnswerKey;
use super::change::{Allowed, Expected};
use super::errors::CheckError;
use super::evidence::{Leaves, Ready};
use super::names::Vocabulary;
use crate::engine::Base;

/// Checks, made ready for a world.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) variants: Vec<PreparedVariant>,
    pub(crate) allowed: Allowed,
    pub(crate) leaves: Leaves,
    /// Whether any API of the world can change a record.
    pub(crate) writes: bool,
}

#[derive(Debug)]
pub(crate) struct PreparedVariant {
    pub(crate) outcome: Outcome,
    pub(crate) refusal: Vec<RefusalClass>,
    pub(crate) changes: Expected,
    pub(crate) key: AnswerKey,
    /// For each answer check, its alternatives.
    pub(crate) evidence_of: Vec<Vec<Ready>>,
    pub(crate) evidence: Vec<Ready>,
    /// The fields behind [`AnswerKey::names`].
    pub(crate) fields: Vec<(ResourceId, FieldId)>,
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
        if checks.version != CHECKS_VERSION {
            return Err(CheckError::Version { found: checks.version, expected: CHECKS_VERSION });
        }
        if checks.variants.is_empty() {
            return Err(CheckError::NoVariant);
        }
        let world = base.world();
        let mut leaves = Leaves::default();
        let mut variants = Vec::with_capacity(checks.variants.len());
        for (position, variant) in checks.variants.iter().enumerate() {
            variants.push(PreparedVariant::new(position, variant, base, vocabulary, &mut leaves)?);
        }
        Ok(Self {
            variants,
            allowed: Allowed::new(&checks.allowed, world).map_err(CheckError::Allowance)?,
            leaves,
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
        let world = base.world();
        if variant.changes.is_empty() && variant.answer.is_empty() && variant.evidence.is_empty() {
            return Err(CheckError::PassesAnything(position));
        }
        if !variant.refusal.is_empty() && variant.outcome != Outcome::Refused {
            return Err(CheckError::Refusal(position));
        }
        let mut ready = |evidence: &[diorama_seeds::task::Evidence]| {
            let parts = evidence.iter().map(|one| Ready::new(one, world, leaves));
            parts.collect::<Result<Vec<_>, _>>().map_err(|error| CheckError::Evidence(position, error))
        };
        let mut evidence_of = Vec::with_capacity(variant.answer.len());
        for check in &variant.answer {
            if check.evidence.is_empty() {
                return Err(CheckError::Unevidenced(position, check.about.clone()));
            }
            evidence_of.push(ready(&check.evidence)?);
        }
        let evidence = ready(&variant.evidence)?;
        let key = AnswerKey::of_world(&variant.answer, &variant.context, base, vocabulary)
            .map_err(|error| CheckError::Fact(position, error))?;
        Ok(Self {
            outcome: variant.outcome,
            refusal: variant.refusal.clone(),
            changes: Expected::new(&variant.changes, world)
                .map_err(|error| CheckError::Change(position, error))?,
            fields: fields(variant, base),
            key,
            evidence_of,
            evidence,
        })
    }
}

/// The fields that expected entities are of, in the order in which an answer key numbers them.
fn fields(variant: &Variant, base: &Base) -> Vec<(ResourceId, FieldId)> {
    let world = base.world();
    let mut found = Vec::new();
    let facts = variant.answer.iter().map(|check| &check.fact).chain(&variant.context);
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
