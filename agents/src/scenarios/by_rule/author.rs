//! Writes the scenarios of one API, tries them, and keeps those that become rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_seeds::doc::{ScenarioDoc, ScenarioGoalDoc, ScenarioStepDoc, Tag};
use diorama_seeds::model::{Api, ApiId, BehaviourKind, ParameterId};
use diorama_seeds::naming::snake;

use super::shape::Shape;
use super::sketch::Sketch;
use super::wording;
use super::writer::{RuleScenario, Writer};

/// The `who` of scenarios in which the user says a code that people rarely remember. Such scenarios come
/// last.
pub(crate) const SAYS_CODE: &str = "somebody who has a code before them";
/// The name of the reply to the goal's own call.
pub(crate) const REPLY: &str = "found";

/// Returns the scenarios of one API.
///
/// # Errors
/// Returns the reason why it has none.
pub(crate) fn write(writer: &Writer<'_>, id: ApiId) -> Result<Vec<RuleScenario>, String> {
    let api = writer.world().api(id);
    let words = writer.guide().api(id);
    if let Some(reason) = &words.no_request {
        return Err(reason.clone());
    }
    if words.unasked {
        return Err("it is not asked for: its `phrases` say so".to_owned());
    }
    let reason = "no scenario is written by rule for what it does".to_owned();
    let mut author = Author { writer, id, api, written: Vec::new(), reason, keys_at_hand: false };
    author.write();
    if author.written.is_empty() {
        // Users say keys if names do not distinguish records, or a look-up shows all fields that users ask
        // for.
        author.keys_at_hand = true;
        author.write();
    }
    if author.written.is_empty() { Err(author.reason) } else { Ok(author.written) }
}
pub(crate) struct Author<'a> {
    pub(crate) writer: &'a Writer<'a>,
    pub(crate) id: ApiId,
    pub(crate) api: &'a Api,
    pub(crate) written: Vec<RuleScenario>,
    /// The reason for dropping the last scenario.
    pub(crate) reason: String,
    /// True where users say the keys of records.
    pub(crate) keys_at_hand: bool,
}

impl<'a> Author<'a> {
    fn write(&mut self) {
        match &self.api.behaviour.kind {
            BehaviourKind::SignIn { .. } | BehaviourKind::SignOut | BehaviourKind::Members { .. } => {}
            BehaviourKind::Get { resource, .. } | BehaviourKind::Lookup { resource, .. } => {
                self.read(*resource)
            }
            BehaviourKind::List(_) => self.list(),
            BehaviourKind::Compute(_) | BehaviourKind::Aggregate { .. } => self.compute(),
            _ => self.change(),
        }
    }

    /// Returns true if questions need phrases for fields: a document's fields have phrases or are not asked
    /// for.
    pub(crate) fn has_asks(&self) -> bool {
        self.api.contract.is_some() || self.writer.guide().has_asks()
    }

    /// Keeps a scenario that becomes rows.
    pub(crate) fn keep(&mut self, shape: Shape, mut doc: ScenarioDoc) -> bool {
        let number = self.written.iter().filter(|one| one.shape == shape).count();
        doc.name = format!("{}_{}_{}", snake(&self.api.name), shape.name(), number + 1);
        let codes = self.writer.count_codes(&doc);
        if codes > 1 && self.api.contract.is_some() {
            self.reason = "people do not say several codes in one request".to_owned();
            return false;
        }
        doc.who = if codes > 0 { SAYS_CODE } else { "somebody who uses the service" }.to_owned();
        // A user who is asked before a call consents to it.
        let asks = |step: &ScenarioStepDoc| !step.user.is_empty();
        if doc.goals.iter().flat_map(|goal| &goal.does).any(asks) && !doc.shows.contains(&Tag::Confirmation) {
            doc.shows.push(Tag::Confirmation);
        }
        let domain = self.api.domain;
        match self.writer.rehearse(&doc, self.api) {
            Ok(()) => self.written.push(RuleScenario { doc, domain, weight: 1.0, shape, api: self.id }),
            Err(reason) => {
                self.reason = format!("{} lost every try: {reason}", shape.name());
                return false;
            }
        }
        true
    }

    /// Keeps a question with its further goals, if they become rows.
    pub(crate) fn keep_goals(
        &mut self,
        shape: Shape,
        sketch: &Sketch<'a>,
        goals: Vec<ScenarioGoalDoc>,
    ) -> bool {
        let later = goals.first().map(|goal| wording::further(&goal.user)).unwrap_or_default();
        self.keep(shape, ScenarioDoc { later, goals, ..sketch.doc.clone() })
    }

    /// Keeps the longest beginning of a conversation that becomes rows.
    pub(crate) fn keep_longest(
        &mut self,
        shape: Shape,
        sketch: &Sketch<'a>,
        mut goals: Vec<ScenarioGoalDoc>,
    ) -> bool {
        while !goals.is_empty() {
            if self.keep_goals(shape, sketch, goals.clone()) {
                return true;
            }
            goals.pop();
        }
        false
    }

    pub(crate) fn sketch(&mut self, chosen: &BTreeSet<ParameterId>) -> Option<Sketch<'a>> {
        let mut sketch = Sketch::new(self.writer, self.api, self.keys_at_hand);
        sketch.call(self.id, chosen, REPLY).map_err(|reason| self.reason = reason).ok()?;
        Some(sketch)
    }

    /// Makes the calls of a sketch in the trial world.
    pub(crate) fn try_calls(&mut self, sketch: &Sketch<'a>) -> Option<Vec<Arc<LogEntry>>> {
        let calls = self.writer.calls(&sketch.make_trial(), self.api.domain);
        calls.map_err(|reason| self.reason = format!("no call of it worked: {reason}")).ok()
    }
}
