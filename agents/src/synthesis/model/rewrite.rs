//! The rewriter: the lines of a conversation in other words, one request a line, while the plan stays.

use diorama_answers::Clock;
use diorama_answers::prose::Prose;
use diorama_baselines::prompts::PromptError;
use diorama_baselines::role_model::ParseError;
use diorama_llm::Message;
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::asking::{Asker, Lost, Question, Told, Unasked};
use super::fidelity::{self, Line, NEAR_REWORDED, Speaker};
use super::intent::Subject;
use super::lines::{UserLines, says, with_says};
use super::plan::Plan;
use super::prompts::PromptSet;
use crate::synthesis::world::BatchWorld;
use diorama_proof::Candidate;

/// Its name in usage reports and files.
pub const STEP: &str = "rewrite";

/// What the model is told of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Input {
    /// `user` or `assistant`.
    pub speaker: &'static str,
    /// The line.
    pub line: String,
    /// The voice that it gets.
    pub persona: String,
    /// Words that stay.
    pub keep: Vec<String>,
}

/// The prompt for a line.
///
/// # Errors
/// When a variant of the prompt names what is not there.
pub fn prompt(prompts: &PromptSet, input: &Input) -> Result<Vec<Message>, PromptError> {
    prompts.render(STEP, input)
}

/// The JSON Schema of the answer.
#[must_use]
pub fn schema() -> Json {
    json!({ "type": "object", "required": ["line"], "properties": { "line": { "type": "string" } }, "additionalProperties": false })
}

/// Reads the answer.
///
/// # Errors
/// When it holds no line.
pub fn parse(answer: &Json) -> Result<String, ParseError> {
    let line = answer.get("line").and_then(Json::as_str).map(str::trim).filter(|line| !line.is_empty());
    line.map(str::to_owned).ok_or_else(|| ParseError::expected("{\"line\": \"...\"}", &answer.to_string()))
}

/// A line of a conversation, by its place among those of its speaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "speaker", content = "number", rename_all = "snake_case")]
pub enum Spot {
    /// A line of the user.
    User(usize),
    /// A message of the assistant.
    Assistant(usize),
}

/// A reworded line.
#[derive(Clone, Debug)]
pub struct Reworded {
    /// Where it stands.
    pub spot: Spot,
    /// What was asked, and the line.
    pub told: Told<String>,
}

/// The lines of a candidate that are to be reworded, the user's first.
#[must_use]
pub fn spots(candidate: &Candidate, user: bool, assistant: bool) -> Vec<Spot> {
    let users = (0..UserLines::of(candidate).iter().count()).map(Spot::User).filter(|_| user);
    let says = (0..says(candidate).len()).map(Spot::Assistant).filter(|_| assistant);
    users.chain(says).collect()
}

/// The candidate with some of its lines reworded.
#[must_use]
pub fn put_into(candidate: &Candidate, lines: &[&Reworded]) -> Candidate {
    let mut users = UserLines::of(candidate);
    let mut said = says(candidate);
    for line in lines {
        let place = match line.spot {
            Spot::User(at) => users.iter_mut().nth(at),
            Spot::Assistant(at) => said.get_mut(at),
        };
        if let Some(place) = place {
            place.clone_from(&line.told.value);
        }
    }
    with_says(&users.put_into(candidate), &said)
}

/// What is asked for one line.
pub struct Job<'a> {
    /// The plan whose line it is.
    pub plan: &'a Plan,
    /// Its world.
    pub world: &'a BatchWorld,
    /// The line.
    pub spot: Spot,
    /// The voice.
    pub persona: &'a str,
    /// Which of the row's requests.
    pub number: u32,
}

impl Job<'_> {
    fn input(&self) -> Input {
        let (speaker, line) = self.line();
        let clock = self.clock();
        let prose = Prose::read(&line, &clock);
        let mut keep: Vec<String> = Vec::new();
        let values = prose.mentions().iter().map(diorama_answers::Mention::span);
        let names = self.world.vocabulary.proper_names(&prose, &self.world.base).into_iter();
        let said =
            self.plan.spoken().into_iter().filter(|words| speaker == Speaker::User && line.contains(words));
        let said: Vec<&str> = said.collect();
        for words in values.chain(names).map(|span| prose.words_at(span)).chain(said) {
            if !keep.iter().any(|known| known.contains(words)) {
                keep.retain(|known| !words.contains(known.as_str()));
                keep.push(words.to_owned());
            }
        }
        Input { speaker: speaker.name(), line, persona: self.persona.to_owned(), keep }
    }

    /// The line that is to be reworded, and who says it.
    pub(super) fn line(&self) -> (Speaker, String) {
        match self.spot {
            Spot::User(at) => {
                let lines = UserLines::of(&self.plan.grounded.candidate);
                (Speaker::User, lines.iter().nth(at).cloned().unwrap_or_default())
            }
            Spot::Assistant(at) => {
                (Speaker::Assistant, says(&self.plan.grounded.candidate).get(at).cloned().unwrap_or_default())
            }
        }
    }

    fn clock(&self) -> Clock {
        Clock::at(self.plan.grounded.clock, &self.world.base.world().zone)
    }

    fn check(&self, told: &Told<String>, prompts: &PromptSet) -> Result<(), fidelity::Unfit> {
        let (speaker, reference) = self.line();
        // A rewording may name nothing that its line does not.
        let clock = self.clock();
        let around = self.around(&told.messages, prompts);
        let deeds = match self.spot {
            Spot::User(at) => Some(self.plan.deeds(self.world, at)),
            Spot::Assistant(_) => None,
        };
        fidelity::check(Line {
            speaker,
            line: &told.value,
            reference: &reference,
            known: "",
            whole: true,
            told: &around.iter().map(String::as_str).collect::<Vec<_>>(),
            near: NEAR_REWORDED,
            subject: Subject { topic: &self.plan.topic(self.world), deeds: deeds.as_ref() },
            clock: &clock,
        })
    }

    /// What the model was told beside the line: how to reword, to mend what was wrong, and in which voice.
    fn around(&self, messages: &[Message], prompts: &PromptSet) -> Vec<String> {
        // A prompt that cannot be made is told of where it is sent.
        let mending = prompts.render("repair", &json!({ "why": "" })).unwrap_or_default();
        let told = messages.iter().take(1).chain(&mending).filter_map(|message| match message {
            Message::System { content } | Message::User { content } => Some(content.clone()),
            _ => None,
        });
        told.chain([self.persona.to_owned()]).collect()
    }

    fn question(&self, messages: Vec<Message>) -> Question<'static> {
        Question { step: STEP, number: self.number, messages, schema: schema() }
    }

    /// Asks for the line in other words; what is wrong with it goes back once. Otherwise the reason why the line stays.
    ///
    /// # Errors
    /// When there is no reply.
    pub async fn ask(&self, asker: &Asker) -> Result<Result<Reworded, (String, String)>, Lost> {
        let messages = match prompt(asker.prompts(), &self.input()) {
            Ok(messages) => messages,
            Err(error) => return Err(Lost::Fatal(error.to_string())),
        };
        let told = asker.ask(self.question(messages), parse).await;
        let told = match told {
            Ok(told) => told,
            Err(Unasked::Lost(lost)) => return Err(lost),
            Err(Unasked::Malformed(what)) => return Ok(Err(("malformed".to_owned(), what))),
        };
        match self.check(&told, asker.prompts()) {
            Ok(()) => Ok(Ok(Reworded { spot: self.spot, told })),
            Err(unfit) => self.again(asker, told, &unfit.to_string()).await,
        }
    }

    /// Says what is wrong with a line, and asks once more.
    ///
    /// # Errors
    /// When there is no reply.
    pub async fn again(
        &self,
        asker: &Asker,
        told: Told<String>,
        why: &str,
    ) -> Result<Result<Reworded, (String, String)>, Lost> {
        let told = match asker.again(self.question(told.messages), why, parse).await {
            Ok(told) => told,
            Err(Unasked::Lost(lost)) => return Err(lost),
            Err(Unasked::Malformed(what)) => return Ok(Err(("malformed".to_owned(), what))),
        };
        Ok(match self.check(&told, asker.prompts()) {
            Ok(()) => Ok(Reworded { spot: self.spot, told }),
            Err(unfit) => Err((unfit.name().to_owned(), unfit.to_string())),
        })
    }
}
