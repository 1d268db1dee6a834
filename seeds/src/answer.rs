//! Reference answers as parts, so that they can be said again over other replies.

use serde::{Deserialize, Serialize};

/// The reference answers of a task, one for each stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "GoldAnswerForm")]
pub struct GoldAnswer {
    /// The last message of each stage.
    pub stages: Vec<Vec<AnswerPart>>,
}

/// A gold answer as it is written; rows of the first format had the parts of one stage.
#[derive(Deserialize)]
struct GoldAnswerForm {
    #[serde(default)]
    stages: Vec<Vec<AnswerPart>>,
    #[serde(default)]
    parts: Vec<AnswerPart>,
}

impl From<GoldAnswerForm> for GoldAnswer {
    fn from(form: GoldAnswerForm) -> Self {
        let GoldAnswerForm { stages, parts } = form;
        Self { stages: if stages.is_empty() { vec![parts] } else { stages } }
    }
}

/// A part of a last message.
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
        /// Without its unit or currency, which nothing visible gives.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
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
