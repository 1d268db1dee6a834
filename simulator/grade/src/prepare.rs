//! Preparation: resolves the names and parses the values of checks once, so that they can grade many
//! attempts.

use diorama_seeds::model::{ApiId, DomainId};
use diorama_seeds::task::{AnswerCheck, CHECKS_VERSION, Checks, Evidence, GoalCheck, Outcome, RefusalClass};

use super::about::Subjects;
use super::change::{AllowedFields, ExpectedChanges};
use super::errors::CheckError;
use super::evidence::{EvidenceNeeds, ResolvedEvidence};
use super::fact::check_fact;
use super::structured::AskedFact;
use diorama_engine::Base;

/// Checks with names resolved and values parsed for one world.
#[derive(Debug)]
pub struct PreparedChecks {
    pub(crate) goals: Vec<PreparedGoal>,
    pub(crate) changes: ExpectedChanges,
    pub(crate) allowed: AllowedFields,
    pub(crate) wanted: EvidenceNeeds,
    /// True if any API of the world can change a record.
    pub(crate) writes: bool,
    /// The domains whose policy must be kept.
    pub(crate) policy: Vec<DomainId>,
}

#[derive(Debug)]
pub(crate) struct PreparedGoal {
    pub(crate) outcome: Outcome,
    pub(crate) refusal: Vec<RefusalClass>,
    /// The facts asked for.
    pub(crate) answer: Vec<AnswerCheck>,
    /// The alternatives of evidence for each answer check.
    pub(crate) evidence_of: Vec<Vec<ResolvedEvidence>>,
    pub(crate) evidence: Vec<ResolvedEvidence>,
    /// The facts asked for, in the form that structured endings give them.
    pub(crate) asked: Vec<AskedFact>,
    /// The subjects that the `about` of a refusal may name. If empty, `about` is not checked.
    pub(crate) subjects: Subjects,
    /// For refusals: the APIs of the calls that a rule of a policy forbids.
    pub(crate) declined: Vec<ApiId>,
}

impl PreparedChecks {
    /// Resolves names and parses values of checks.
    ///
    /// # Errors
    /// [`CheckError`] when the checks do not fit the world, or would pass anything.
    pub fn new(checks: &Checks, base: &Base) -> Result<Self, CheckError> {
        if checks.version != CHECKS_VERSION {
            return Err(CheckError::Version { found: checks.version, expected: CHECKS_VERSION });
        }
        if checks.goals.is_empty() {
            return Err(CheckError::NoGoal);
        }
        // A refusal for lack of a tool or by a policy rule needs no evidence.
        let shows = |goal: &GoalCheck| {
            let declines =
                |class: &RefusalClass| matches!(class, RefusalClass::NoTool | RefusalClass::Forbidden);
            !goal.answer.is_empty() || !goal.evidence.is_empty() || goal.refusal.iter().any(declines)
        };
        if checks.changes.is_empty() && !checks.goals.iter().any(shows) {
            return Err(CheckError::PassesAnything);
        }
        let goals = checks.goals.len();
        if let Some(late) = checks.changes.iter().find(|change| change.goal as usize >= goals) {
            return Err(CheckError::Goal { found: late.goal, goals });
        }
        let world = base.world();
        let domain = |name: &String| {
            let position = world.domains.iter().position(|domain| *domain.name == **name);
            position.map(|at| DomainId(at as u16)).ok_or_else(|| CheckError::Policy(name.clone()))
        };
        let policy = checks.policy.iter().map(domain).collect::<Result<_, _>>()?;
        let mut wanted = EvidenceNeeds::default();
        let goals = checks.goals.iter().map(|goal| PreparedGoal::new(goal, base, &mut wanted));
        Ok(Self {
            goals: goals.collect::<Result<_, _>>()?,
            changes: ExpectedChanges::new(&checks.changes, world)?,
            allowed: AllowedFields::new(&checks.allowed, world).map_err(CheckError::Allowance)?,
            wanted,
            writes: world.apis.iter().any(diorama_seeds::model::Api::writes),
            policy,
        })
    }
}

impl PreparedGoal {
    fn new(goal: &GoalCheck, base: &Base, wanted: &mut EvidenceNeeds) -> Result<Self, CheckError> {
        let world = base.world();
        if !goal.refusal.is_empty() && goal.outcome != Outcome::Refused {
            return Err(CheckError::Refusal);
        }
        let mut ready = |evidence: &[Evidence]| {
            let parts = evidence.iter().map(|one| ResolvedEvidence::new(one, world, wanted));
            parts.collect::<Result<Vec<_>, _>>()
        };
        let mut evidence_of = Vec::with_capacity(goal.answer.len());
        for check in &goal.answer {
            if check.evidence.is_empty() {
                return Err(CheckError::Unevidenced(check.about.clone()));
            }
            evidence_of.push(ready(&check.evidence)?);
        }
        let evidence = ready(&goal.evidence)?;
        goal.answer.iter().try_for_each(|check| check_fact(&check.fact, &world.zone))?;
        let subjects = match goal.outcome {
            Outcome::Refused => Subjects::collect(&goal.evidence, base),
            _ => Subjects::default(),
        };
        let declined = goal.evidence.iter().filter_map(|evidence| match evidence {
            Evidence::Forbidden { api, .. } => world.api_named(api),
            _ => None,
        });
        Ok(Self {
            declined: declined.collect(),
            answer: goal.answer.clone(),
            asked: AskedFact::of_goal(goal, base),
            subjects,
            outcome: goal.outcome,
            refusal: goal.refusal.clone(),
            evidence_of,
            evidence,
        })
    }
}
