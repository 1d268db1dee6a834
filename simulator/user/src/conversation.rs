//! Owns the conversation of an episode: the assistant's messages, the user's answers, and the outcome of each
//! goal.
//!
//! This module defines how an exchange changes a conversation, in process and over HTTP. The user simulator
//! computes the answers, and [`diorama_grade`] grades them.

use std::sync::Arc;

use diorama_seeds::agent_tools::Confirmation;
use diorama_seeds::ending::Finish;
use diorama_seeds::english::{fold, has_words};
use diorama_seeds::finish::{self, FinishError};
use diorama_seeds::script::Script;
use diorama_seeds::task::{Call, Checks, Outcome, RefusalClass};
use diorama_seeds::value::Zone;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::answer::answer;
use super::confirm::confirm;
use super::progress::{AssistantTurn, Progress, Scene};
use diorama_engine::Base;
use diorama_engine::session::LogEntry;
use diorama_grade::{Consent, GoalEnd};

/// The exchanges of an episode so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Conversation {
    exchanges: Vec<Arc<Exchange>>,
}

/// A message of the assistant with its effects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// The text of the message.
    pub said: String,
    /// The structured data given with the words.
    #[serde(default)]
    pub given: FinishData,
    /// The user's answer; none when they have nothing more to say.
    pub answer: Option<String>,
    /// The user's progress after the message.
    pub progress: Progress,
    /// True if the message ended a goal.
    pub ends: bool,
    /// The number of calls of the episode before the message.
    pub calls: usize,
    /// The calls that the user was asked to confirm and agreed to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consented: Vec<Call>,
}

impl Exchange {
    /// Returns true if an outcome has not ended the goal, because the user keeps asking.
    #[must_use]
    pub const fn keeps_open(&self) -> bool {
        self.given.outcome.is_some() && !self.ends
    }
}

/// The structured data that an assistant gives beside its words when it ends a goal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishData {
    /// The outcome of the goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// For refusals: the class of the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<RefusalClass>,
    /// For refusals: the id or name of the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The facts asked for, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub facts: Map<String, Json>,
}

impl Exchange {
    fn bytes(&self) -> u64 {
        let given = &self.given;
        let facts: usize = given.facts.iter().map(|(name, fact)| name.len() + fact.to_string().len()).sum();
        let texts = [Some(&self.said), self.answer.as_ref(), given.about.as_ref()];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        let arguments = |call: &Call| {
            call.arguments.iter().map(|(name, value)| name.len() + value.to_string().len()).sum::<usize>()
        };
        let consented: usize = self.consented.iter().map(|call| call.api.len() + arguments(call)).sum();
        (2 * size_of::<Self>() + texts + facts + consented) as u64
    }
}

impl FinishData {
    /// Splits a final answer into its message and its structured data.
    #[must_use]
    pub fn split(end: Finish) -> (String, Self) {
        let Finish { outcome, reason, about, facts, message } = end;
        (message, Self { outcome: Some(outcome), reason, about, facts })
    }
}

impl Conversation {
    /// Returns the exchanges, in order.
    #[must_use]
    pub fn exchanges(&self) -> &[Arc<Exchange>] {
        &self.exchanges
    }

    /// Returns the user's progress.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.exchanges.last().map(|last| last.progress.clone()).unwrap_or_default()
    }

    /// Returns true if the user has nothing more to say.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.exchanges.last().is_some_and(|last| last.progress.over)
    }

    /// Returns the exchange that follows from a message of the assistant. The conversation changes only when
    /// the exchange is added.
    #[must_use]
    pub fn hear(&self, script: &Script, said: &str, given: FinishData, scene: Scene<'_>) -> Exchange {
        let turn = AssistantTurn { message: said, outcome: given.outcome, scene };
        let answered = answer(script, &self.progress(), &turn);
        Exchange {
            said: said.to_owned(),
            given,
            answer: answered.content,
            ends: answered.ended.is_some(),
            progress: answered.progress,
            calls: scene.log.len(),
            consented: Vec::new(),
        }
    }

    /// Returns the exchange for calls that the user is asked to confirm. The conversation changes only when
    /// the exchange is added.
    #[must_use]
    pub fn confirm(&self, script: &Script, asked: &Confirmation, scene: Scene<'_>) -> Exchange {
        let progress = self.progress();
        let goal = script.goals.get(progress.goal as usize);
        let consented = goal.map(|goal| confirm(goal, &asked.calls, scene.base.world()));
        let agrees = consented.as_ref().is_some_and(|consented| consented.agrees);
        Exchange {
            said: asked.message.clone(),
            given: FinishData::default(),
            answer: consented.map(|consented| consented.words),
            progress,
            ends: false,
            calls: scene.log.len(),
            consented: if agrees { asked.calls.clone() } else { Vec::new() },
        }
    }

    /// Checks that a final answer of the open goal is complete and readable, and that something visible names
    /// its items.
    ///
    /// # Errors
    /// Returns the first invalid member. The same goal may be ended again.
    pub fn check_finish(
        &self,
        end: &Finish,
        checks: &Checks,
        script: &Script,
        log: &[Arc<LogEntry>],
        base: &Base,
    ) -> Result<(), FinishError> {
        let (goal, zone) = (self.progress().goal as usize, &base.world().zone);
        finish::check(end, checks, goal, zone)?;
        let mut visible: Option<Vec<String>> = None;
        for (name, item) in finish::items(end, checks, goal) {
            let texts = visible.get_or_insert_with(|| visible_texts(self.user_turns(script), log, zone));
            let item_name = fold(item.trim());
            if !texts.iter().any(|text| has_words(text, &item_name) || has_words(&item_name, text)) {
                let found = item.chars().take(60).collect();
                return Err(FinishError::Item { name: name.clone(), found });
            }
        }
        Ok(())
    }

    /// Appends an exchange, which becomes the latest.
    pub fn push(&mut self, exchange: Exchange) {
        self.exchanges.push(Arc::new(exchange));
    }

    /// Returns about the number of bytes of memory. Forks each count the exchanges that they share.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.exchanges.iter().map(|exchange| exchange.bytes()).sum()
    }

    /// Removes the exchanges after so many calls.
    pub fn truncate(&mut self, calls: usize) {
        self.exchanges.retain(|exchange| exchange.calls <= calls);
    }

    /// Removes all exchanges.
    pub fn clear(&mut self) {
        self.exchanges.clear();
    }

    /// Returns the user's messages, oldest first.
    pub fn user_turns<'a>(&'a self, script: &'a Script) -> impl Iterator<Item = &'a str> {
        std::iter::once(script.opening()).chain(self.exchanges.iter().filter_map(|one| one.answer.as_deref()))
    }

    /// Returns the outcomes of the goals, for the grader. An open goal has ended with no data, after so many
    /// calls.
    #[must_use]
    pub fn endings(&self, calls: usize) -> Vec<GoalEnd<'_>> {
        let mut ended = Vec::new();
        let mut consents = Vec::new();
        for exchange in &self.exchanges {
            if !exchange.consented.is_empty() {
                consents.push(Consent { calls: &exchange.consented, at: exchange.calls });
            }
            if exchange.ends {
                ended.push(GoalEnd {
                    outcome: exchange.given.outcome,
                    reason: exchange.given.reason,
                    about: exchange.given.about.as_deref(),
                    facts: Some(&exchange.given.facts),
                    calls: exchange.calls,
                    consents: std::mem::take(&mut consents),
                });
            }
        }
        ended.extend((!self.is_over()).then(|| GoalEnd { calls, consents, ..GoalEnd::default() }));
        ended
    }
}

/// Returns the texts of the user, the calls and the replies, folded.
fn visible_texts<'a>(
    turns: impl Iterator<Item = &'a str>,
    log: &[Arc<LogEntry>],
    zone: &Zone,
) -> Vec<String> {
    let mut found: Vec<String> = turns.map(fold).collect();
    for entry in log {
        let arguments = entry.call.arguments.values().map(|given| match given {
            Json::String(text) => fold(text),
            other => other.to_string(),
        });
        let shown = entry.reply.body.values().map(|(value, _)| fold(&value.to_text(zone)));
        found.extend(arguments.chain(shown).filter(|text| !text.is_empty()));
    }
    found
}
