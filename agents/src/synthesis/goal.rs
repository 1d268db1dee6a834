//! Goals: what a user wants of one API, in words, with the plan that reaches it.
//!
//! Owns the choice of records and values and the wording of a single goal. Joining goals into a request is the
//! query agent's.

mod ask;
mod compute;
mod list;
mod values;
mod words;
mod write;

use diorama_seeds::model::{ApiId, FieldId, ParameterId, ResourceId};
use diorama_seeds::task::RefusalClass;
use diorama_seeds::value::Value;

use crate::synthesis::draft::AnswerPart;
use diorama_proof::answer::Asked;

use super::draft::Detail;
use super::text::Segment;

pub use self::ask::{ask, ask_again, ask_missing};
pub use self::compute::compute;
pub use self::list::list;
pub use self::values::arguments;
pub(super) use self::values::{first_part, first_parts};
pub use self::words::{infinitive, opening};
pub use self::write::write;

/// One goal.
#[derive(Clone, Debug)]
pub struct Goal {
    /// How it is worded.
    pub mood: Mood,
    /// Its words.
    pub words: Vec<Segment>,
    /// The facts it asks for.
    pub asked: Vec<Asked>,
    /// What the assistant says.
    pub answer: Vec<AnswerPart>,
    /// The API that it is about.
    pub api: ApiId,
    /// For goals that the world refuses: why.
    pub refusal: Option<RefusalClass>,
    /// The fields that it asks for in vain.
    pub asks: Vec<(ResourceId, FieldId)>,
    /// What its words tell, one by one.
    pub details: Vec<Detail>,
    /// For a question about a record: what would be asked of another one.
    pub again: Option<Again>,
}

impl Goal {
    /// A question that can be answered.
    fn question(api: ApiId, words: Vec<Segment>, asked: Vec<Asked>, answer: Vec<AnswerPart>) -> Self {
        Self {
            mood: Mood::Question,
            words,
            asked,
            answer,
            api,
            refusal: None,
            asks: Vec::new(),
            details: Vec::new(),
            again: None,
        }
    }
}

/// A question about a record, as it is asked of another one.
#[derive(Clone, Debug)]
pub struct Again {
    /// The kind of record.
    pub resource: ResourceId,
    /// The record that was asked about.
    pub key: Value,
    /// The parameter that takes it.
    pub parameter: ParameterId,
    /// The fields asked for, each with its place in the reply.
    pub fields: Vec<(String, FieldId)>,
}

/// How a goal is worded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// A clause that starts with a verb.
    Imperative,
    /// A whole request.
    Sentence,
    /// A question.
    Question,
}

/// A goal that the plan could not reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoGoal;

/// What is wanted of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// It must succeed.
    Success,
    /// One of the API's own checks must refuse it.
    Refusal,
}

type Result<T> = std::result::Result<T, NoGoal>;
