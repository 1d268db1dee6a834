//! What the query agent proposes: turns in words, and the reference plan behind them.
//!
//! Owns the types between the agents of the pipeline. Nothing here draws a random number or runs a call.

use diorama_seeds::model::{ApiId, ParameterId};
use diorama_seeds::task::{Ability, Derivation, Outcome, RefusalClass};
use diorama_seeds::value::Value;
use serde::{Deserialize, Serialize};

use super::text::Span;

/// A proposed task.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The ability it exercises.
    pub ability: Ability,
    /// What the user says, in order. Later turns answer the assistant's question.
    pub turns: Vec<Turn>,
    /// The reference plan, without searches for APIs.
    pub steps: Vec<Step>,
    /// The values that users put into words.
    pub slots: Vec<Slot>,
    /// The facts asked for.
    pub asked: Vec<Asked>,
    /// What the assistant says at the end.
    pub answer: Vec<AnswerPart>,
    /// How the episode ends.
    pub outcome: Outcome,
    /// For refusals: why.
    pub refusal: Option<RefusalClass>,
    /// For refusals: the same request with values for which it works, as steps of their own.
    pub twin: Option<Vec<Step>>,
    /// The twin's slots.
    pub twin_slots: Vec<Slot>,
    /// What is special about it.
    pub phenomena: Vec<&'static str>,
    /// The question the assistant asks after the first turn, where the request leaves something out.
    pub question: Option<String>,
    /// Readings of the request that the query agent already knows to be several: the gate counts them again.
    pub described: Vec<Described>,
    /// For each step, the words of the request that tell what the step is for (used as search keywords).
    pub keywords: Vec<String>,
    /// The request without its values: two requests with the same skeleton differ in values only.
    pub skeleton: String,
}

/// A turn of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The text.
    pub text: String,
    /// Where the slots stand.
    pub spans: Vec<Span>,
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
    /// Where it comes from.
    pub source: Source,
}

/// Where an argument comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The words of a slot.
    Slot(usize),
    /// Several slots, as a list.
    Slots(Vec<usize>),
    /// A place in an earlier reply.
    Reply {
        /// The step.
        step: usize,
        /// The place in its body.
        path: String,
    },
    /// Places in earlier replies, as a list.
    Replies(Vec<(usize, String)>),
    /// The documented default.
    Default,
}

/// A value put into words.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// The value.
    pub value: Value,
    /// How it follows from its words.
    pub by: Derivation,
    /// The call and parameter whose type the words are read by.
    pub api: ApiId,
    /// The parameter.
    pub parameter: ParameterId,
}

/// A record singled out by a description instead of a name: the gate checks that it is the only one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// The step whose reply lists the candidates.
    pub step: usize,
    /// How it singles one out.
    pub how: Singled,
}

/// How a description singles a record out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Singled {
    /// It is the only one in the list.
    Only,
    /// It is the first in the order asked for, and the second differs in this member.
    First {
        /// Place of the array in the reply.
        array: String,
        /// The member that orders it.
        member: String,
    },
}

/// A fact that the request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A leaf of a reply.
    Leaf {
        /// The step.
        step: usize,
        /// The place.
        path: String,
        /// In words.
        about: String,
    },
    /// The same member of every item of an array.
    Each {
        /// The step.
        step: usize,
        /// The array's place.
        array: String,
        /// The member.
        member: String,
        /// In words.
        about: String,
    },
    /// How many match: a leaf that holds a count.
    Count {
        /// The step.
        step: usize,
        /// The place.
        path: String,
        /// In words.
        about: String,
    },
}

/// A part of the final answer; stored with the row, so that it can be said again over other replies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

impl Draft {
    /// Slots as they stand in the turns: turn, span and slot.
    pub fn placed(&self) -> impl Iterator<Item = (u32, Span, &Slot)> {
        self.turns.iter().enumerate().flat_map(move |(turn, said)| {
            said.spans.iter().filter_map(move |span| Some((turn as u32, *span, self.slots.get(span.slot)?)))
        })
    }
}
