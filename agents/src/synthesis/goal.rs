//! Goals: what a user wants of one API, in words, with the plan that reaches it.
//!
//! Owns the choice of records and values and the wording of a single wish. Joining wishes into a request is the
//! query agent's.

mod ask;
mod compute;
mod list;
mod values;
mod words;
mod write;

use diorama_seeds::model::ApiId;
use diorama_seeds::task::RefusalClass;

use super::draft::{AnswerPart, Asked};
use super::text::Segment;

pub use self::ask::{ask, ask_missing};
pub use self::compute::compute;
pub use self::list::list;
pub use self::values::arguments;
pub use self::words::infinitive;
pub use self::write::{join_answers, write};

/// One wish.
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
}

/// How a wish is worded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// A clause that starts with a verb.
    Imperative,
    /// A whole request.
    Sentence,
    /// A question.
    Question,
}

/// A wish that the plan could not reach.
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
