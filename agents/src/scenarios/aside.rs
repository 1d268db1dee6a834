//! How a player makes a detour: goals and turns that no scenario has.

use diorama_engine::Reading;
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
use super::sign_in::{is_sign_in, only_signs_in};
use super::unplayed::Unplayed;
use super::words::Scene;
use crate::draws::choose;

/// Words of a value that is named by mistake, at most.
const MOST_SLIP_WORDS: usize = 5;

/// The place of an outage in a scenario: the first call of an API, alone in its message.
pub(crate) fn outage(
    world: &World,
    doc: &ScenarioDoc,
    kind: OutageKind,
    rng: &mut ChaCha8Rng,
) -> Option<Outage> {
    let all: Vec<&ScenarioStepDoc> = doc.calls().collect();
    let alone: Vec<&ScenarioStepDoc> = doc.goals.iter().flat_map(|goal| &goal.does).collect();
    let suits = |step: &&&ScenarioStepDoc| {
        let api = step.call.as_deref().and_then(|name| world.api_named(name)).map(|id| world.api(id));
        let is_first = all
            .iter()
            .find(|other| other.call == step.call)
            .is_some_and(|first| std::ptr::eq(*first, **step));
        let may_expire = |api: &diorama_seeds::model::Api| {
            kind != OutageKind::ExpiredToken
                || (api.token.is_some() && !matches!(api.behaviour.kind, BehaviourKind::SignOut))
        };
        api.is_some_and(may_expire)
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

/// A place in braces of a wording: the whole expression, and the name that it begins with.
fn places(wording: &str) -> Vec<(&str, &str)> {
    let parts = wording.split('{').skip(1).filter_map(|part| part.split_once('}'));
    let expressions =
        parts.map(|(expression, _)| expression).filter(|expression| !expression.starts_with('%'));
    let root = |expression: &str| expression.find(['.', '|', '[']).unwrap_or(expression.len());
    expressions.map(|expression| (expression, &expression[..root(expression)])).collect()
}

impl<'a> Player<'a, '_> {
    /// The turns of a call that met an outage: it is told, the user is signed in again where that is needed, and the assistant goes
    /// on. Returns what it says with the same call.
    pub(crate) fn meet_outage(
        &mut self,
        said: String,
        call: CandidateCall,
        entry: std::sync::Arc<LogEntry>,
        turns: &mut Vec<Turn>,
    ) -> Result<String, Unplayed> {
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
        let Call { api, arguments } = signed_in.map(|entry| entry.call.clone()).ok_or(Unplayed::NoDetour)?;
        let again = CandidateCall { api, arguments, mistake: false };
        let entry = self.session.call(&(&again).into());
        self.calls.made.push(entry);
        let say = choose(&WORDS.expired, self.rng).cloned().filter(|words| !words.is_empty());
        turns.push(Turn { say, calls: vec![again], ..Turn::default() });
        Ok(String::new())
    }

    /// An opening with a wrong value that the user corrects at once. `wording` is the template of the opening.
    pub(crate) fn slip(&mut self, wording: &str, opening: &str) -> Result<String, Unplayed> {
        if wording.contains("{%") {
            return Err(Unplayed::NoDetour);
        }
        let places = places(wording);
        let state = self.session.state().clone();
        let reading = Reading::new(&self.world.base, &state);
        let bindings = self.scenario.bind(self.world.record_source(&reading, state.clock()), self.rng);
        let bindings = bindings.map_err(|_| Unplayed::NoDetour)?;
        let other = Scene::new(self.world, self.scene.casing(), bindings, state.clone());
        let is_single = |root: &str| places.iter().filter(|(_, other)| *other == root).count() == 1;
        let pairs = places.iter().filter(|(_, root)| *root != "me" && is_single(root)).filter_map(
            |(expression, _)| {
                let place = format!("{{{expression}}}");
                let (right, wrong) = (self.scene.say(&place).ok()?, other.say(&place).ok()?);
                let differ = right.to_lowercase() != wrong.to_lowercase()
                    && !right.contains(&wrong)
                    && !wrong.contains(&right);
                let is_told_once =
                    opening.matches(right.as_str()).count() == 1 && !opening.contains(wrong.as_str());
                let is_short =
                    [&right, &wrong].iter().all(|words| words.split(' ').count() <= MOST_SLIP_WORDS);
                (differ && is_told_once && is_short && right.len() >= 2).then_some((right, wrong))
            },
        );
        let (right, wrong) = pairs.choose(self.rng).ok_or(Unplayed::NoDetour)?;
        let correction = self.manner.hand.choose(&WORDS.slip, self.rng).ok_or(Unplayed::NoDetour)?;
        let correction = correction.replace("{right}", &right).replace("{wrong}", &wrong);
        self.detours.push(Detour::Slip);
        let opening = opening.replacen(&right, &wrong, 1);
        let ends = opening.ends_with(['.', '?', '!']);
        let stop = if ends { "" } else { "," };
        Ok(format!("{opening}{stop} {correction}"))
    }

    /// A goal in which the user mistypes a code and nothing is found, and the words that open the goal again.
    pub(crate) fn misspell(
        &mut self,
        doc: &ScenarioGoalDoc,
        wording: &str,
    ) -> Result<(CandidateGoal, String), Unplayed> {
        let model = self.world.base.world();
        let skips =
            |step: &&ScenarioStepDoc| self.user.skips_sign_in && only_signs_in(model, self.scenario, step);
        let step = doc.does.iter().find(|step| !skips(step)).ok_or(Unplayed::NoDetour)?;
        let name =
            step.call.clone().filter(|_| step.each.is_none() && !step.fails).ok_or(Unplayed::NoDetour)?;
        let opening = self.scene.say(wording).map_err(|_| Unplayed::NoDetour)?;
        let mut call = self.make_call(step)?;
        let told = call.arguments.iter().find_map(|(argument, value)| {
            let right = value.as_str().filter(|right| opening.matches(right).count() == 1)?;
            Some((argument.clone(), right.to_owned(), mistype(right, self.rng)?))
        });
        let (argument, right, wrong) = told.ok_or(Unplayed::NoDetour)?;
        let user = opening.replacen(&right, &wrong, 1);
        self.talk.goal_from = self.talk.said.len();
        self.talk.said.push(user.clone());
        let mut turns = Vec::new();
        if !self.find(&name, &mut turns) {
            return Err(Unplayed::NotFound(name));
        }
        call.arguments.insert(argument, Json::from(wrong.clone()));
        let entry = self.session.call(&(&call).into());
        // The assistant says that this is what is not found, and so must the reply.
        if entry.reply.status != 404 || !entry.reply.to_json(&model.zone).contains(&wrong) {
            return Err(Unplayed::NoDetour);
        }
        self.calls.made.push(entry);
        turns.push(Turn { calls: vec![call], ..Turn::default() });
        let say =
            choose(&WORDS.misspelt.assistant, self.rng).ok_or(Unplayed::NoDetour)?.replace("{wrong}", &wrong);
        self.talk.answered.push(say.clone());
        let ends = End {
            outcome: Outcome::Refused,
            reason: vec![RefusalClass::NotFound],
            facts: Vec::new(),
            asks: Vec::new(),
        };
        turns.push(Turn { say: Some(say), ends: Some(ends), ..Turn::default() });
        let again = self.manner.hand.choose(&WORDS.misspelt.user, self.rng).ok_or(Unplayed::NoDetour)?;
        self.detours.push(Detour::Misspelt);
        let goal = CandidateGoal { user, turns, ..CandidateGoal::default() };
        Ok((goal, again.replace("{right}", &right)))
    }

    /// When the goal after one that was refused opens.
    pub(crate) fn after_refusal() -> Opening {
        Opening { outcome: Some(Outcome::Refused), ..Opening::default() }
    }

    /// A goal in which the user asks for something and takes it back.
    pub(crate) fn change_mind(&mut self, alternatives: &[&'a Scenario]) -> Result<CandidateGoal, Unplayed> {
        let scenario = self.go_on(alternatives)?;
        let wordings: Vec<String> =
            scenario.doc.later.iter().filter(|words| self.manner.hand.fits(words)).cloned().collect();
        let asked = self.users(&wordings)?;
        let exchange = &WORDS.changed_mind;
        let taken_back = self.manner.hand.choose(&exchange.user, self.rng).ok_or(Unplayed::NoDetour)?;
        let stop = if asked.ends_with(['.', '?', '!']) { "" } else { "..." };
        let user = format!("{asked}{stop} {taken_back}");
        self.detours.push(Detour::ChangedMind);
        self.answer(user, exchange)
    }

    /// A goal in which the user says something that needs no call, at the end or before another matter.
    pub(crate) fn digress(&mut self, is_last: bool) -> Result<CandidateGoal, Unplayed> {
        let remarks = WORDS.remarks.iter().chain(WORDS.interruptions.iter().filter(|_| !is_last));
        let exchange = choose(remarks, self.rng).ok_or(Unplayed::NoDetour)?;
        let user = self.manner.hand.choose(&exchange.user, self.rng).ok_or(Unplayed::NoDetour)?.to_owned();
        self.detours.push(Detour::Digression);
        self.answer(user, exchange)
    }

    /// A goal that is answered without a call.
    fn answer(&mut self, user: String, exchange: &Exchange) -> Result<CandidateGoal, Unplayed> {
        let say = choose(&exchange.assistant, self.rng).cloned().ok_or(Unplayed::NoDetour)?;
        self.talk.said.push(user.clone());
        self.talk.answered.push(say.clone());
        let ends = End { outcome: Outcome::Done, reason: Vec::new(), facts: Vec::new(), asks: Vec::new() };
        let turns = vec![Turn { say: Some(say), ends: Some(ends), ..Turn::default() }];
        Ok(CandidateGoal { user, turns, ..CandidateGoal::default() })
    }
}
