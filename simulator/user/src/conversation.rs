//! The words of an episode: what the assistant said, what the user answered, and how each goal ended.
//!
//! Owns how an exchange moves a conversation on, in process and over HTTP alike. What the user answers is
//! the user simulator's, and whether it was right is [`diorama_grade`]'s.

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
use diorama_grade::{Consent, Ended};

/// The exchanges of an episode so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Conversation {
    exchanges: Vec<Arc<Exchange>>,
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
    /// The calls that the user was asked to confirm, and said yes to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consented: Vec<Call>,
}

/// The structured data that an assistant gives beside its words when it ends a goal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// The outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// For refusals: the class of the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<RefusalClass>,
    /// For refusals: the id or name of what they are about.
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

impl Given {
    /// An ending, as its message and what is given with it.
    #[must_use]
    pub fn of(end: Finish) -> (String, Self) {
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
    pub fn hear(&self, script: &Script, said: &str, given: Given, scene: Scene<'_>) -> Exchange {
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

    /// Returns the exchange that follows from calls that the user is asked to confirm. The conversation stays as it is until the exchange
    /// is added.
    #[must_use]
    pub fn confirm(&self, script: &Script, asked: &Confirmation, scene: Scene<'_>) -> Exchange {
        let progress = self.progress();
        let goal = script.goals.get(progress.goal as usize);
        let consented = goal.map(|goal| confirm(goal, &asked.calls, scene.base.world()));
        let agrees = consented.as_ref().is_some_and(|consented| consented.agrees);
        Exchange {
            said: asked.message.clone(),
            given: Given::default(),
            answer: consented.map(|consented| consented.words),
            progress,
            ends: false,
            calls: scene.log.len(),
            consented: if agrees { asked.calls.clone() } else { Vec::new() },
        }
    }

    /// Checks that an ending of the open goal is complete, can be read, and names items that something visible names.
    ///
    /// # Errors
    /// The first member that is wrong. The same goal may be ended again.
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

    /// How the goals ended, as the grader takes it. A goal that is open ends with nothing given, after so many calls.
    #[must_use]
    pub fn endings(&self, calls: usize) -> Vec<Ended<'_>> {
        let mut ended = Vec::new();
        let mut consents = Vec::new();
        for exchange in &self.exchanges {
            if !exchange.consented.is_empty() {
                consents.push(Consent { calls: &exchange.consented, at: exchange.calls });
            }
            if exchange.ends {
                ended.push(Ended {
                    outcome: exchange.given.outcome,
                    reason: exchange.given.reason,
                    about: exchange.given.about.as_deref(),
                    facts: Some(&exchange.given.facts),
                    calls: exchange.calls,
                    consents: std::mem::take(&mut consents),
                });
            }
        }
        ended.extend((!self.is_over()).then(|| Ended { calls, consents, ..Ended::default() }));
        ended
    }
}

/// The texts that user, calls and replies show, folded.
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
