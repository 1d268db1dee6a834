//! Owns the rewriter: one request rewords a whole conversation, while its calls and claims stay.

use diorama_baselines::role_model::ParseError;
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_proof::{Candidate, GroundedCandidate};
use diorama_seeds::model::World;
use diorama_seeds::task::ArgumentSource;
use serde_json::{Value as Json, json};

use super::ask::{AskError, Asker, ModelAnswer, Question};
use super::lines::{Line, Speaker, lines, with_words};

/// Name of the step in usage reports and files.
pub const STEP: &str = "query_rewrite";

/// Minimum length of a kept word of a search, exclusive, in bytes. It excludes `a`, `of` and `the`.
const MIN_KEYWORD: usize = 3;

/// The speakers whose lines the model rewords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whose {
    /// True for the user.
    pub user: bool,
    /// True for the assistant.
    pub assistant: bool,
}

impl Whose {
    const fn has(self, speaker: Speaker) -> bool {
        match speaker {
            Speaker::User => self.user,
            Speaker::Assistant => self.assistant,
        }
    }
}

/// Request to reword a conversation.
pub struct Rewrite<'a> {
    grounded: &'a GroundedCandidate,
    whose: Whose,
    persona: &'a str,
    number: u32,
    lines: Vec<Line>,
}

impl<'a> Rewrite<'a> {
    /// Makes a request. `persona` is the voice of the user, and `number` counts the row's requests.
    pub fn new(
        grounded: &'a GroundedCandidate,
        world: &World,
        whose: Whose,
        persona: &'a str,
        number: u32,
    ) -> Self {
        Self { grounded, whose, persona, number, lines: lines(grounded, world) }
    }

    /// Returns the spoken lines, in order.
    fn list_spoken(&self) -> impl Iterator<Item = (Speaker, &str)> {
        self.lines.iter().filter_map(|line| match line {
            Line::Said { speaker, words } => Some((*speaker, words.as_str())),
            Line::Happens(_) => None,
        })
    }

    /// Returns the number of lines to reword.
    pub fn count(&self) -> usize {
        self.list_spoken().filter(|(speaker, _)| self.whose.has(*speaker)).count()
    }

    /// Returns the user's words from which arguments follow. The rewriter must keep them.
    fn list_kept_words(&self) -> Vec<&str> {
        fn spans<'t>(source: &ArgumentSource, turns: &'t [String], found: &mut Vec<&'t str>) {
            match source {
                ArgumentSource::User { turn, start, end, .. } => {
                    let turn = turns.get(*turn as usize);
                    found.extend(turn.and_then(|turn| turn.get(*start as usize..*end as usize)));
                }
                ArgumentSource::Arithmetic { of, .. } => of.iter().for_each(|part| spans(part, turns, found)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        for call in &self.grounded.gold {
            call.sources.values().for_each(|source| spans(source, &self.grounded.user_turns, &mut found));
            // The user must have said the words of a search.
            if call.api == TOOL_SEARCHER {
                let keywords = call.arguments.get("keywords").and_then(Json::as_str).unwrap_or_default();
                found.extend(keywords.split_whitespace().filter(|word| word.len() > MIN_KEYWORD));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn question(&self, asker: &Asker) -> Result<Question<'static>, AskError> {
        let kept = self.list_kept_words();
        let mut number = 0;
        let shown: Vec<Json> = self
            .lines
            .iter()
            .map(|line| match line {
                Line::Happens(text) => json!({ "text": text, "number": null, "keep": [] }),
                Line::Said { speaker, words } => {
                    let is_reworded = self.whose.has(*speaker);
                    number += usize::from(is_reworded);
                    let keep: Vec<&&str> = kept.iter().filter(|kept| words.contains(**kept)).collect();
                    json!({
                        "text": format!("{}: {words}", speaker.name()),
                        "number": is_reworded.then_some(number),
                        "keep": if is_reworded && *speaker == Speaker::User { json!(keep) } else { json!([]) },
                    })
                }
            })
            .collect();
        let input = json!({
            "system": self.grounded.system, "lines": shown, "persona": self.persona, "count": number,
            "user": self.whose.user, "assistant": self.whose.assistant,
        });
        let messages = asker.prompts().render(STEP, &input)?;
        Ok(Question { step: STEP, number: self.number, messages, schema: schema() })
    }

    /// Asks for all lines in one request.
    ///
    /// # Errors
    /// Returns an error if there is no reply, or if none has the requested form.
    pub async fn ask(&self, asker: &Asker) -> Result<ModelAnswer<Vec<String>>, AskError> {
        let question = self.question(asker)?;
        asker.ask(question, |answer| parse(answer, self.count())).await
    }

    /// Tells the model the problem with its lines, and asks once more.
    ///
    /// # Errors
    /// Returns the errors of [`Rewrite::ask`].
    pub async fn ask_again(
        &self,
        asker: &Asker,
        answer: ModelAnswer<Vec<String>>,
        why: &str,
    ) -> Result<ModelAnswer<Vec<String>>, AskError> {
        let question =
            Question { step: STEP, number: self.number, messages: answer.messages, schema: schema() };
        asker.ask_again(question, why, |answer| parse(answer, self.count())).await
    }

    /// Returns the conversation with the reworded lines of the speakers in `of` alone.
    pub fn put_in(&self, reworded: &[String], of: Whose) -> Candidate {
        let mut reworded = reworded.iter();
        let words = self.list_spoken().map(|(speaker, own)| {
            let other = if self.whose.has(speaker) { reworded.next() } else { None };
            other.filter(|_| of.has(speaker)).map_or_else(|| own.to_owned(), Clone::clone)
        });
        with_words(&self.grounded.candidate, &words.collect::<Vec<_>>())
    }
}

fn schema() -> Json {
    let line = json!({
        "type": "object", "required": ["number", "line"], "additionalProperties": false,
        "properties": { "number": { "type": "integer" }, "line": { "type": "string" } },
    });
    json!({
        "type": "object", "required": ["lines"], "additionalProperties": false,
        "properties": { "lines": { "type": "array", "items": line } },
    })
}

/// Parses the lines. Each number from 1 to `count` must have a line.
fn parse(answer: &Json, count: usize) -> Result<Vec<String>, ParseError> {
    let found = answer.get("lines").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let line = |number: usize| {
        let own = found.iter().find(|one| one["number"].as_u64() == Some(number as u64));
        let words = own.and_then(|one| one["line"].as_str()).map(str::trim).filter(|words| !words.is_empty());
        let missing = || {
            ParseError(format!("found no line {number}, expected each from 1 to {count}, none of them empty"))
        };
        words.map(str::to_owned).ok_or_else(missing)
    };
    (1..=count).map(line).collect()
}
