//! The words of an episode: what the assistant said, what the user answered, and how each goal ended.
//!
//! Owns how an exchange moves a conversation on, in process and over HTTP alike. What the user answers is
//! [`crate::user`]'s, and whether it was right is [`diorama_grade`]'s.

use std::sync::Arc;

use diorama_seeds::ending::{Answers, Finish};
use diorama_seeds::script::Script;
use diorama_seeds::task::{Outcome, RefusalClass};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::user::{AssistantTurn, Progress, answer};
use diorama_engine::Base;
use diorama_engine::session::LogEntry;
use diorama_grade::Ended;

/// The exchanges of an episode so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Conversation {
    exchanges: Vec<Arc<Exchange>>,
    /// How its goals end.
    #[serde(skip)]
    answers: Answers,
}

/// A message of the assistant, and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// The assistant's words.
    pub said: String,
    /// The structured data given with the words.
    #[serde(default)]
    pub given: Given,
    /// The user's answer; none when they have nothing more to say.
    pub answer: Option<String>,
    /// Where the user stands then.
    pub progress: Progress,
    /// True if the message ended a goal.
    pub ends: bool,
    /// How many calls the episode had before it.
    pub calls: usize,
}

/// How an episode ended, for the grader to read.
#[derive(Clone, Debug, Default)]
pub struct Endings {
    goals: Vec<Ending>,
    user_turns: Vec<String>,
    answers: Answers,
}

/// How one goal ended.
#[derive(Clone, Debug, Default)]
struct Ending {
    given: Given,
    answer: String,
    /// How many turns the user had said.
    said: usize,
    calls: usize,
}

/// The structured data that an assistant gives beside its words when it ends a goal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// The outcome; read from the words when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// For refusals: the class of the reason; read from the words when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<RefusalClass>,
    /// For refusals: the id or name of what they are about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The facts asked for, by name; read from the words when not given.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub facts: Map<String, Json>,
}

impl Exchange {
    fn bytes(&self) -> u64 {
        let given = &self.given;
        let facts: usize = given.facts.iter().map(|(name, fact)| name.len() + fact.to_string().len()).sum();
        let texts = [Some(&self.said), self.answer.as_ref(), given.about.as_ref()];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        (2 * size_of::<Self>() + texts + facts) as u64
    }
}

impl Given {
    /// An ending, as its message and what is given with it.
    #[must_use]
    pub fn of(end: Finish) -> (String, Self) {
        let Finish { outcome, reason, about, facts, message } = end;
        (message, Self { outcome: Some(outcome), reason, about, facts })
    }
}

impl Conversation {
    /// A conversation in which nothing was said yet.
    #[must_use]
    pub const fn new(answers: Answers) -> Self {
        Self { exchanges: Vec::new(), answers }
    }

    /// The same conversation, whose goals end in this way.
    #[must_use]
    pub fn with_answers(self, answers: Answers) -> Self {
        Self { answers, ..self }
    }

    /// How its goals end.
    #[must_use]
    pub const fn answers(&self) -> Answers {
        self.answers
    }

    /// Returns the exchanges, in order.
    #[must_use]
    pub fn exchanges(&self) -> &[Arc<Exchange>] {
        &self.exchanges
    }

    /// Where the user stands.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.exchanges.last().map(|last| last.progress.clone()).unwrap_or_default()
    }

    /// Returns true if the user has nothing more to say.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.exchanges.last().is_some_and(|last| last.progress.over)
    }

    /// Returns the exchange that follows from a message of the assistant. The conversation stays as it is until the
    /// exchange is added.
    #[must_use]
    pub fn hear(
        &self,
        script: &Script,
        said: &str,
        given: Given,
        log: &[Arc<LogEntry>],
        base: &Base,
    ) -> Exchange {
        let turn = AssistantTurn { message: said, outcome: given.outcome, answers: self.answers, log, base };
        let answered = answer(script, &self.progress(), &turn);
        Exchange {
            said: said.to_owned(),
            given,
            answer: answered.content,
            ends: answered.ended.is_some(),
            progress: answered.progress,
            calls: log.len(),
        }
    }

    /// Adds an exchange.
    pub fn push(&mut self, exchange: Exchange) {
        self.exchanges.push(Arc::new(exchange));
    }

    /// About how many bytes of memory it takes. What forks share is counted for each.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.exchanges.iter().map(|exchange| exchange.bytes()).sum()
    }

    /// Forgets what was said after so many calls.
    pub fn cut(&mut self, calls: usize) {
        self.exchanges.retain(|exchange| exchange.calls <= calls);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.exchanges.clear();
    }

    /// Returns the user's messages, oldest first.
    pub fn user_turns<'a>(&'a self, script: &'a Script) -> impl Iterator<Item = &'a str> {
        std::iter::once(script.opening()).chain(self.exchanges.iter().filter_map(|one| one.answer.as_deref()))
    }

    /// How the goals ended. A last message and outcome, where they are given, end the goal that is open, or stand
    /// for the last message of the goal that ended last. They are to be graded as `answers` says.
    #[must_use]
    pub fn endings(
        &self,
        script: &Script,
        last: Option<(&str, Given)>,
        calls: usize,
        answers: Answers,
    ) -> Endings {
        let user_turns: Vec<String> = self.user_turns(script).map(str::to_owned).collect();
        let mut goals: Vec<Ending> = Vec::new();
        let ending = |words: &str, given: Given, said: usize, calls: usize| Ending {
            given,
            answer: words.to_owned(),
            said,
            calls,
        };
        let mut said = 1;
        for exchange in &self.exchanges {
            if exchange.ends {
                goals.push(ending(&exchange.said, exchange.given.clone(), said, exchange.calls));
            }
            said += usize::from(exchange.answer.is_some());
        }
        if let Some((words, given)) = last {
            if self.is_over() {
                goals.pop();
            }
            goals.push(ending(words, given, said, calls));
        }
        Endings { goals, user_turns, answers }
    }
}

impl Endings {
    /// As the grader takes them.
    #[must_use]
    pub fn goals(&self) -> Vec<Ended<'_>> {
        let ended = self.goals.iter().map(|Ending { given, answer, said, calls }| Ended {
            answers: self.answers,
            outcome: given.outcome,
            reason: given.reason,
            about: given.about.as_deref(),
            facts: Some(&given.facts),
            answer,
            user_turns: self.user_turns.get(..*said).unwrap_or(&self.user_turns),
            calls: *calls,
        });
        ended.collect()
    }
}
