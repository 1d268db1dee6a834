//! Plays detours: goals and turns that no scenario has.

use diorama_engine::session::LogEntry;
use diorama_proof::candidate::{CandidateCall, CandidateGoal, End, Opening, Turn};
use diorama_seeds::doc::{ScenarioDoc, ScenarioGoalDoc, ScenarioStepDoc};
use diorama_seeds::model::{BehaviourKind, World};
use diorama_seeds::scenario::Scenario;
use diorama_seeds::task::{Call, Outage, OutageKind, Outcome, RefusalClass};
use rand::seq::IteratorRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::Value as Json;

use super::detour::{Detour, Exchange, WORDS, mistype};
use super::player::Player;
use super::set::Further;
use super::sign_in::{is_sign_in, only_signs_in};
use super::unplayed::PlayError;
use crate::draws::choose;

/// Chooses the call of an outage: the first call of an API, alone in its message.
/// Only a read is unavailable for a moment, because a write without a reply may have happened. A token
/// expires after its first use.
pub(crate) fn outage(
    world: &World,
    doc: &ScenarioDoc,
    kind: OutageKind,
    rng: &mut ChaCha8Rng,
) -> Option<Outage> {
    let all: Vec<&ScenarioStepDoc> = doc.calls().collect();
    let alone: Vec<&ScenarioStepDoc> = doc.goals.iter().flat_map(|goal| &goal.does).collect();
    let api_of = |step: &ScenarioStepDoc| step.call.as_deref().and_then(|name| world.api_named(name));
    let takes_token = |step: &ScenarioStepDoc| api_of(step).is_some_and(|id| world.api(id).token.is_some());
    let suits = |step: &&&ScenarioStepDoc| {
        let Some(api) = api_of(step).map(|id| world.api(id)) else { return false };
        let first = all.iter().position(|other| other.call == step.call);
        let is_first = first.is_some_and(|at| std::ptr::eq(all[at], **step));
        let may_fail = match kind {
            OutageKind::ExpiredToken => {
                api.token.is_some()
                    && !matches!(api.behaviour.kind, BehaviourKind::SignOut)
                    && all.iter().take(first.unwrap_or_default()).any(|other| takes_token(other))
            }
            OutageKind::TooManyRequests | OutageKind::Unavailable => !api.writes(),
        };
        may_fail
            && is_first
            && !step.fails
            && step.each.is_none()
            && step.together.is_empty()
            && !is_sign_in(world, step)
    };
    let step = alone.iter().filter(suits).choose(rng)?;
    Some(Outage { api: step.call.clone()?, kind })
}

/// Returns true if the first request of a scenario changes something.
pub(crate) fn changes_at_once(world: &World, scenario: &Scenario) -> bool {
    let first = scenario.doc.goals.first();
    let mut steps = first.into_iter().flat_map(|goal| &goal.does);
    steps.any(|step| {
        let api = step.call.as_deref().and_then(|name| world.api_named(name));
        api.is_some_and(|api| world.api(api).writes()) && !step.fails
    })
}

impl<'a> Player<'a, '_> {
    /// Plays the turns after an outage: the assistant reports it, signs the user in again if needed, and goes
    /// on.
    /// Returns the message for the repeated call.
    pub(crate) fn meet_outage(
        &mut self,
        said: String,
        call: CandidateCall,
        entry: std::sync::Arc<LogEntry>,
        turns: &mut Vec<Turn>,
    ) -> Result<String, PlayError> {
        self.detours.push(if entry.reply.status == 401 {
            Detour::ExpiredToken
        } else {
            Detour::TransientError
        });
        self.calls.made.push(entry);
        turns.push(Turn { say: (!said.is_empty()).then_some(said), calls: vec![call], ..Turn::default() });
        if self.detours.last() != Some(&Detour::ExpiredToken) {
            return Ok(choose(&WORDS.again, self.rng).cloned().unwrap_or_default());
        }
        let model = self.world.base.world();
        let signed_in = self.calls.made.iter().rev().find(|entry| {
            let api = entry.api.map(|api| model.api(api));
            entry.reply.is_success()
                && api.is_some_and(|api| matches!(api.behaviour.kind, BehaviourKind::SignIn { .. }))
        });
        let Call { api, arguments } = signed_in.map(|entry| entry.call.clone()).ok_or(PlayError::NoDetour)?;
        let again = CandidateCall { api, arguments, ..CandidateCall::default() };
        let entry = self.session.call(&(&again).into());
        self.calls.made.push(entry);
        let say = choose(&WORDS.expired, self.rng).cloned().filter(|words| !words.is_empty());
        turns.push(Turn { say, calls: vec![again], ..Turn::default() });
        Ok(String::new())
    }

    /// Returns a goal in which the user mistypes a code that finds no record, and the user's next opening of
    /// the goal.
    pub(crate) fn misspell(
        &mut self,
        doc: &ScenarioGoalDoc,
        wording: &str,
    ) -> Result<(CandidateGoal, String), PlayError> {
        let model = self.world.base.world();
        let skips =
            |step: &&ScenarioStepDoc| self.user.skips_sign_in && only_signs_in(model, self.scenario, step);
        let step = doc.does.iter().find(|step| !skips(step)).ok_or(PlayError::NoDetour)?;
        let name =
            step.call.clone().filter(|_| step.each.is_none() && !step.fails).ok_or(PlayError::NoDetour)?;
        let opening = self.scene.say(wording).map_err(|_| PlayError::NoDetour)?;
        let mut call = self.make_call(step)?;
        let told = call.arguments.iter().find_map(|(argument, value)| {
            let right = value.as_str().filter(|right| opening.matches(right).count() == 1)?;
            Some((argument.clone(), right.to_owned(), mistype(right, self.rng)?))
        });
        let (argument, right, wrong) = told.ok_or(PlayError::NoDetour)?;
        let user = opening.replacen(&right, &wrong, 1);
        self.talk.goal_from = self.talk.said.len();
        self.talk.said.push(user.clone());
        let mut turns = Vec::new();
        if !self.find(&name, &mut turns) {
            return Err(PlayError::NotFound(name));
        }
        call.arguments.insert(argument, Json::from(wrong.clone()));
        // The end of the goal rests on this reply.
        call.care = false;
        let entry = self.session.call(&(&call).into());
        // The reply must contain the wrong code, as the assistant's message does.
        if entry.reply.status != 404 || !entry.reply.to_json(&model.zone).contains(&wrong) {
            return Err(PlayError::NoDetour);
        }
        self.calls.made.push(entry);
        turns.push(Turn { calls: vec![call], ..Turn::default() });
        let say = choose(&WORDS.misspelt.assistant, self.rng)
            .ok_or(PlayError::NoDetour)?
            .replace("{wrong}", &wrong);
        self.talk.answered.push(say.clone());
        let ends = End {
            outcome: Outcome::Refused,
            reason: vec![RefusalClass::NotFound],
            facts: Vec::new(),
            asks: Vec::new(),
            declines: None,
        };
        turns.push(Turn { say: Some(say), ends: Some(ends), ..Turn::default() });
        let again = self.manner.hand.choose(&WORDS.misspelt.user, self.rng).ok_or(PlayError::NoDetour)?;
        self.detours.push(Detour::Misspelt);
        let goal = CandidateGoal { user, turns, ..CandidateGoal::default() };
        Ok((goal, again.replace("{right}", &right)))
    }

    /// Returns the opening condition of a goal after a refused one.
    pub(crate) fn after_refusal() -> Opening {
        Opening { outcome: Some(Outcome::Refused), ..Opening::default() }
    }

    /// Returns a goal in which the user asks for something and takes it back.
    pub(crate) fn change_mind(&mut self, alternatives: &[&'a Scenario]) -> Result<CandidateGoal, PlayError> {
        let (scenario, bindings) = self.find_next(alternatives, Further::Any)?.ok_or(PlayError::NoDetour)?;
        self.go_on(scenario, bindings);
        let wordings: Vec<String> =
            scenario.doc.later.iter().filter(|words| self.manner.hand.fits(words)).cloned().collect();
        let asked = self.users(&wordings)?;
        let exchange = &WORDS.changed_mind;
        let taken_back = self.manner.hand.choose(&exchange.user, self.rng).ok_or(PlayError::NoDetour)?;
        let stop = if asked.ends_with(['.', '?', '!']) { "" } else { "..." };
        let user = format!("{asked}{stop} {taken_back}");
        self.detours.push(Detour::ChangedMind);
        self.answer(user, exchange)
    }

    /// Returns a goal in which the user says something that needs no call, at the end or before another goal.
    pub(crate) fn digress(&mut self, is_last: bool) -> Result<CandidateGoal, PlayError> {
        let remarks = WORDS.remarks.iter().chain(WORDS.interruptions.iter().filter(|_| !is_last));
        let exchange = choose(remarks, self.rng).ok_or(PlayError::NoDetour)?;
        let user = self.manner.hand.choose(&exchange.user, self.rng).ok_or(PlayError::NoDetour)?.to_owned();
        self.detours.push(Detour::Digression);
        self.answer(user, exchange)
    }

    /// Returns a goal that is answered without a call.
    fn answer(&mut self, user: String, exchange: &Exchange) -> Result<CandidateGoal, PlayError> {
        let say = choose(&exchange.assistant, self.rng).cloned().ok_or(PlayError::NoDetour)?;
        self.talk.said.push(user.clone());
        self.talk.answered.push(say.clone());
        let ends = End {
            outcome: Outcome::Done,
            reason: Vec::new(),
            facts: Vec::new(),
            asks: Vec::new(),
            declines: None,
        };
        let turns = vec![Turn { say: Some(say), ends: Some(ends), ..Turn::default() }];
        Ok(CandidateGoal { user, turns, ..CandidateGoal::default() })
    }
}
