//! Owns the judge of properties that code cannot check: natural language, answerable requests, and
//! answers that fit.
//!
//! It votes on rows that passed the gates. A majority drops a row, except that unnatural language is
//! advice only.

use diorama_baselines::prompts::PromptError;
use diorama_baselines::role_model::ParseError;
use diorama_llm::Message;
use diorama_proof::GroundedCandidate;
use diorama_seeds::model::World;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::ask::{AskError, Asker, NoReply, Question};
use super::lines::{Line, lines};
use super::prompts::PromptSet;

/// Name of the step in usage reports and files.
pub const STEP: &str = "tester";
/// Maximum number of votes of one attempt. Votes of several attempts have separate numbers.
pub const MOST_VOTES: u32 = 32;
/// Minimum length of a quotation, in characters.
const LEAST_QUOTE: usize = 4;

/// Vote of the judge on a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// Reason for the vote.
    #[serde(default)]
    pub reason: String,
    /// Quotation of the wrong words. A negative vote without a valid quotation counts as a positive one.
    #[serde(default)]
    pub quote: String,
    /// True if user and assistant speak as people do.
    pub natural: bool,
    /// True if the request can be carried out as it is worded.
    pub answerable: bool,
    /// True if the last words answer the request.
    pub answers: bool,
}

impl Vote {
    /// Returns true if the vote finds no problem.
    pub const fn is_good(&self) -> bool {
        self.natural && self.answerable && self.answers
    }
}

/// Returns the lines of a conversation in the form that the judge reads.
fn show_lines(grounded: &GroundedCandidate, world: &World) -> Vec<String> {
    let line = |line| match line {
        Line::Said { speaker, words } => format!("{}: {words}", speaker.name()),
        Line::Happens(text) => text,
    };
    lines(grounded, world).into_iter().map(line).collect()
}

/// Returns the prompt of the judge: the assistant's instructions with the domain's policy, and the
/// conversation.
///
/// # Errors
/// Returns an error if a variant of the prompt names an input that does not exist.
pub fn prompt(prompts: &PromptSet, system: &str, lines: &[String]) -> Result<Vec<Message>, PromptError> {
    prompts.render(STEP, &json!({ "system": system, "lines": lines }))
}

/// Returns the JSON Schema of a vote.
pub fn schema() -> Json {
    let (text, yes_no) = (json!({ "type": "string" }), json!({ "type": "boolean" }));
    json!({
        "type": "object", "required": ["reason", "quote", "natural", "answerable", "answers"],
        "additionalProperties": false,
        "properties": { "reason": text, "quote": text, "natural": yes_no, "answerable": yes_no, "answers": yes_no },
    })
}

/// Parses a vote on a conversation. A negative vote counts only if it quotes words of the conversation.
///
/// # Errors
/// Returns an error if the vote lacks a member, or has one of another type.
pub fn parse(answer: &Json, lines: &[String]) -> Result<Vote, ParseError> {
    let vote: Vote = serde_json::from_value(answer.clone())
        .map_err(|error| ParseError(format!("the vote is not of the form asked for: {error}")))?;
    let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let quote = folded(vote.quote.trim().trim_matches('"'));
    let is_quoted =
        quote.chars().count() >= LEAST_QUOTE && lines.iter().any(|line| folded(line).contains(&quote));
    let is_good = vote.is_good() || !is_quoted;
    Ok(if is_good { Vote { natural: true, answerable: true, answers: true, ..vote } } else { vote })
}

/// Result of all votes on a row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Votes that were parsed.
    pub votes: Vec<Vote>,
    /// Number of votes that could not be parsed.
    pub malformed: u32,
}

impl Verdict {
    /// Returns the reason to drop the row, if more than half of the votes find that the request cannot be
    /// answered or is not. Among both reasons it is the one with more votes.
    pub fn fault(&self) -> Option<&'static str> {
        let count = |wrong: fn(&Vote) -> bool| self.votes.iter().filter(|vote| wrong(vote)).count();
        let unanswerable = count(|vote| !vote.answerable);
        if 2 * count(|vote| !(vote.answerable && vote.answers)) <= self.votes.len() {
            return None;
        }
        let is_first = unanswerable >= count(|vote| !vote.answers);
        Some(if is_first { "not answerable as asked" } else { "does not answer what was asked" })
    }

    /// Returns true if more than half of the votes find the language unnatural. This is advice and drops
    /// no row.
    pub fn is_unnatural(&self) -> bool {
        2 * self.votes.iter().filter(|vote| !vote.natural).count() > self.votes.len()
    }

    /// Returns true if all votes agree on the row.
    pub fn is_unanimous(&self) -> bool {
        self.votes.windows(2).all(|pair| pair[0].is_good() == pair[1].is_good())
    }
}

/// Asks the judge for votes on a conversation.
///
/// # Errors
/// Returns an error if the model gives no reply.
pub async fn judge(
    asker: &Asker,
    number: u32,
    votes: u32,
    grounded: &GroundedCandidate,
    world: &World,
) -> Result<Verdict, NoReply> {
    let shown = show_lines(grounded, world);
    let messages = prompt(asker.prompts(), &grounded.system, &shown)
        .map_err(|error| NoReply::Fatal(error.to_string()))?;
    let mut verdict = Verdict::default();
    for vote in 0..votes.min(MOST_VOTES) {
        let number = number.wrapping_mul(MOST_VOTES).wrapping_add(vote);
        let question = Question { step: STEP, number, messages: messages.clone(), schema: schema() };
        match asker.ask(question, |answer| parse(answer, &shown)).await {
            Ok(told) => verdict.votes.push(told.value),
            Err(AskError::Malformed(_)) => verdict.malformed += 1,
            Err(AskError::NoReply(lost)) => return Err(lost),
        }
    }
    Ok(verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vote(natural: bool, answerable: bool, answers: bool) -> Vote {
        Vote { natural, answerable, answers, ..Vote::default() }
    }

    #[test]
    fn more_than_half_of_the_votes_drop_a_row() {
        let fault = |votes: Vec<Vote>| Verdict { votes, malformed: 0 }.fault();
        let (good, stiff, off) = (vote(true, true, true), vote(false, true, true), vote(true, true, false));
        assert_eq!(fault(vec![]), None);
        assert_eq!(fault(vec![good.clone(), off.clone()]), None);
        assert_eq!(fault(vec![off.clone(), off.clone(), good]), Some("does not answer what was asked"));
        let stiff = Verdict { votes: vec![stiff], malformed: 0 };
        assert!(stiff.is_unnatural() && stiff.fault().is_none());
        assert_eq!(fault(vec![off]), Some("does not answer what was asked"));
    }

    #[test]
    fn a_vote_against_a_conversation_quotes_it() {
        let lines = ["User: is it in?".to_owned(), "Assistant: Yes, two  copies.".to_owned()];
        let vote = |quote: &str| {
            let answer = json!({ "reason": "", "quote": quote, "natural": true, "answerable": true, "answers": false });
            parse(&answer, &lines).unwrap().is_good()
        };
        assert!(vote("") && vote("three copies") && vote("in"));
        assert!(!vote("two copies") && !vote("\"Yes, TWO copies.\""));
    }
}
