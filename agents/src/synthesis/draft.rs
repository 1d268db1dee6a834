//! Proposals of the query agent: goals in words, and the plan behind them.
//!
//! Owns the types between the offline query agent and the offline caller. Nothing here draws a random number or runs a
//! call, and nothing of it reaches the gates: those see the candidate alone.

use std::ops::Range;

use diorama_proof::answer::Asked;
use diorama_seeds::model::{ApiId, FieldId, ParameterId, ResourceId};
use diorama_seeds::task::{Ability, Outcome, RefusalClass};
use diorama_seeds::value::Value;

/// A proposed conversation.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The ability it exercises.
    pub ability: Ability,
    /// What the user wants, one thing after the other.
    pub goals: Vec<DraftGoal>,
    /// The plan, without searches for APIs.
    pub steps: Vec<Step>,
    /// What is special about it.
    pub tags: Vec<&'static str>,
}

/// One thing that the user wants.
#[derive(Clone, Debug)]
pub struct DraftGoal {
    /// What they say to open it.
    pub user: String,
    /// When it opens; always when not given.
    pub when: Option<Shown>,
    /// What they hold back until asked.
    pub held: Vec<HeldBack>,
    /// The steps of the plan that serve it.
    pub steps: Range<usize>,
    /// The facts asked for; calls count steps.
    pub asked: Vec<Asked>,
    /// What the assistant says at the end; calls count steps.
    pub answer: Vec<AnswerPart>,
    /// For refusals: why.
    pub refusal: Option<RefusalClass>,
    /// The fields asked for in vain.
    pub asks: Vec<(ResourceId, FieldId)>,
}

/// Something that a reply must have shown for a goal to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The step.
    pub step: usize,
    /// The place in its reply.
    pub path: String,
}

/// Details that are held back until the assistant asks for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldBack {
    /// The step before which they are needed.
    pub before: usize,
    /// What the assistant asks.
    pub question: String,
    /// Each detail: its name, other words for it, and what the user says.
    pub details: Vec<Detail>,
}

/// A detail that a user holds back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Its name, as the assistant asks for it.
    pub about: String,
    /// Other words for it.
    pub words: Vec<String>,
    /// What the user says.
    pub say: String,
}

/// A step of the plan: one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The API.
    pub api: ApiId,
    /// Its arguments, in parameter order.
    pub arguments: Vec<StepArgument>,
}

/// An argument of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepArgument {
    /// The parameter.
    pub parameter: ParameterId,
    /// The value.
    pub value: Value,
}

impl DraftGoal {
    /// How it ends.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        if self.refusal.is_some() { Outcome::Refused } else { Outcome::Done }
    }
}

/// A part of a last message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerPart {
    /// Text.
    Text(String),
    /// A leaf of a reply, in words.
    Leaf {
        /// The call.
        call: usize,
        /// The place.
        path: String,
        /// Which form of words.
        style: u32,
        /// Without its unit or currency, which nothing visible gives.
        bare: bool,
    },
    /// One of two texts, as a boolean leaf of a reply says.
    Truth {
        /// The call.
        call: usize,
        /// The place.
        path: String,
        /// For true.
        yes: String,
        /// For false.
        no: String,
    },
    /// The same member of every item of an array, joined.
    Each {
        /// The call.
        call: usize,
        /// The array's place.
        array: String,
        /// The member.
        member: String,
        /// Which form of words; also chooses between a sentence and bullets.
        style: u32,
    },
}
