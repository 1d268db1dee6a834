//! Plays scenarios one after the other: makes their calls in a session, and fills in their wordings.

use std::sync::Arc;

use diorama_engine::session::{LogEntry, Session};
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_engine::{Body, apply, turning_misreadings};
use diorama_proof::candidate::{AskClaim, CandidateCall, CandidateGoal, End, Turn};
use diorama_seeds::doc::{ScenarioGoalDoc, ScenarioStepDoc};
use diorama_seeds::scenario::Scenario;
use diorama_seeds::task::{Call, Outcome, RefusalClass};
use diorama_seeds::value::Zone;
use indexmap::IndexMap;
use minijinja::Value as Shown;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value as Json};

use super::bridge::bridge;
use super::detour::Detour;
use super::search;
use super::sign_in::only_signs_in;
use super::state::{Calls, Manner, Searches, Talk, User};
use super::steps::{StepCall, join_steps};
use super::unplayed::PlayError;
use super::words::Scene;
use crate::draws::choose;
use crate::worlds::world::BatchWorld;

/// The turns of a goal so far.
#[derive(Default)]
pub(crate) struct GoalTurns {
    pub(crate) turns: Vec<Turn>,
    /// The details that the user told when asked, by name.
    pub(crate) withheld: IndexMap<String, String>,
    /// The wordings of the questions for a detail, by its name.
    pub(crate) questions: IndexMap<String, Vec<String>>,
}

/// The opening of a goal.
#[derive(Clone, Copy)]
pub(crate) struct Words<'w> {
    /// The wordings, of which one is drawn.
    pub(crate) wordings: &'w [String],
    /// The words before the wording.
    pub(crate) before: &'w str,
}

impl<'w> Words<'w> {
    /// Takes wordings without words before them.
    pub(crate) const fn of(wordings: &'w [String]) -> Self {
        Self { wordings, before: "" }
    }
}

/// The state of a conversation.
pub(crate) struct Player<'a, 'r> {
    pub(crate) world: &'a BatchWorld,
    /// The scenario that is played now.
    pub(crate) scenario: &'a Scenario,
    pub(crate) scene: Scene,
    pub(crate) session: Session,
    pub(crate) manner: Manner,
    pub(crate) talk: Talk,
    pub(crate) calls: Calls,
    pub(crate) searches: Searches,
    pub(crate) user: User,
    /// The detours that were played.
    pub(crate) detours: Vec<Detour>,
    pub(crate) rng: &'r mut ChaCha8Rng,
}

impl<'a, 'r> Player<'a, 'r> {
    /// Starts a conversation with a scenario.
    pub(crate) fn new(
        world: &'a BatchWorld,
        (scenario, scene): (&'a Scenario, Scene),
        session: Session,
        manner: Manner,
        rng: &'r mut ChaCha8Rng,
    ) -> Self {
        let callers = scene.held(scenario.caller()).cloned().into_iter().collect();
        let mut player = Self {
            world,
            scenario,
            scene,
            manner,
            talk: Talk::default(),
            calls: Calls::default(),
            searches: Searches { shown: session.visible().collect(), ..Searches::default() },
            user: User { callers, ..User::default() },
            session,
            detours: Vec::new(),
            rng,
        };
        player.user.skips_sign_in = player.token(scenario.domain).is_some();
        player
    }

    /// Draws from the random stream.
    pub(crate) fn chance(&mut self, share: f64) -> bool {
        self.rng.random_bool(share)
    }

    /// Draws the user's remark between a goal with this outcome and the next one.
    pub(crate) fn bridge(&mut self, before: &Scenario, outcome: Outcome, next: &Scenario) -> String {
        let reactions = self.world.world_template.scenario_set.reactions(before.domain);
        bridge((before, reactions), outcome, next, (self.manner.hand, &self.talk.said), self.rng)
    }

    /// Plays a goal. `opening` replaces its own opening.
    ///
    /// # Errors
    /// Returns the reason why it could not be played.
    pub(crate) fn play(
        &mut self,
        doc: &ScenarioGoalDoc,
        opening: Option<Words<'_>>,
    ) -> Result<CandidateGoal, PlayError> {
        let when = doc.when.as_ref().map(|when| self.opening(when)).transpose()?;
        let Words { wordings, before } = opening.unwrap_or(Words::of(&doc.user));
        let mut user = self.users(wordings)?;
        if !before.is_empty() {
            user = format!("{before} {user}");
        }
        let pushed = self.push(doc)?;
        user = pushed.join(user, self.manner.hand);
        if self.talk.said.is_empty() {
            user = self.hurry(user)?;
            let state = self.session.state();
            let time = self.world.base.world().zone.time_of(state.clock());
            user = self.manner.hand.dress(user, time, self.rng);
        }
        self.talk.goal_from = self.talk.said.len();
        self.begin_assurance(doc);
        self.talk.said.push(user.clone());
        let mut told = GoalTurns::default();
        self.search_first(doc, &user, &mut told)?;
        let mut declined = None;
        for step in join_steps(&doc.does) {
            if step.governed {
                declined = self.decide(doc, &step, &mut told)?;
                if declined.is_some() {
                    break;
                }
            }
            self.step(&step, &mut told)?;
        }
        for condition in &doc.only_if {
            if !self.scene.value(condition).is_ok_and(|holds| holds.is_true()) {
                return Err(PlayError::Unfit(condition.clone()));
            }
        }
        let mut say = self.words(if declined.is_some() { &doc.declined } else { &doc.end })?;
        if let Some(entry) = &declined {
            self.add_limit(entry, &mut say);
            say = self.plead(&pushed, entry, say, &mut told.turns)?;
        }
        let declines = declined.map(|entry| entry.call.clone());
        let mut facts = Vec::new();
        for fact in doc.facts.iter().filter(|_| declines.is_none()) {
            facts.append(&mut self.facts(fact)?);
        }
        let asks: Result<Vec<AskClaim>, PlayError> = doc.asks.iter().map(|ask| self.ask(ask)).collect();
        let reason = if declines.is_some() { vec![RefusalClass::Forbidden] } else { doc.refused.clone() };
        let outcome = if reason.is_empty() { Outcome::Done } else { Outcome::Refused };
        let ends = End { outcome, reason, facts, asks: asks?, declines };
        let GoalTurns { mut turns, withheld, questions } = told;
        turns.push(Turn { say: Some(say), ends: Some(ends), ..Turn::default() });
        Ok(CandidateGoal { when, user, withheld, questions, pleas: pushed.pleas, turns })
    }

    /// Makes the searches before any question: for the API of the last call first, then for the others in
    /// order.
    fn search_first(
        &mut self,
        doc: &ScenarioGoalDoc,
        user: &str,
        told: &mut GoalTurns,
    ) -> Result<(), PlayError> {
        let goal =
            doc.does.iter().rev().find_map(|step| step.together.first().unwrap_or(step).call.as_deref());
        match goal {
            Some(goal) => _ = self.find(goal, &mut told.turns),
            None if self.manner.retrieves && doc.refused.contains(&RefusalClass::NoTool) => {
                // Only a search shows that no tool exists.
                let goals = &self.scenario.doc.goals;
                let is_first = goals.first().is_some_and(|first| std::ptr::eq(first, doc));
                let later = if is_first { self.scenario.doc.later.as_slice() } else { &[] };
                let wordings = doc.user.iter().chain(later).chain(&doc.end);
                let keywords = search::make_vain_keywords(self.world, self.scenario.domain, wordings, user);
                let keywords = keywords.ok_or_else(|| PlayError::NotFound("what no tool does".to_owned()))?;
                self.search(keywords, &mut told.turns);
            }
            None => {}
        }
        Ok(())
    }

    /// Checks the policy's verdict on a governed call. Returns the entry of the call on a fork, if the policy
    /// forbids it.
    ///
    /// # Errors
    /// Returns an error if the conversation must show the other verdict.
    fn decide(
        &mut self,
        doc: &ScenarioGoalDoc,
        step: &ScenarioStepDoc,
        told: &mut GoalTurns,
    ) -> Result<Option<Arc<LogEntry>>, PlayError> {
        self.read_policy(step, told)?;
        self.sign_in(step, told)?;
        self.look_up(step, told)?;
        if let Some(name) = step.call.as_deref().filter(|name| !self.find(name, &mut told.turns)) {
            return Err(PlayError::NotFound(name.to_owned()));
        }
        let call = Call::from(&self.make_call(step)?);
        let entry = self.session.fork().call(&call);
        let forbids = entry.broken.is_some();
        if !entry.reply.is_success() {
            let reply = entry.reply.to_json(&self.world.base.world().zone);
            return Err(PlayError::Refused { api: call.api, reply });
        }
        let forbade = || {
            let before = self.world.base.replaced_shadow()?;
            Some(!apply(before, self.session.state(), &call).reply.is_success())
        };
        let is_wanted = !self.manner.misleads || forbade() == Some(!forbids);
        if !is_wanted || forbids != (self.manner.forbids || doc.end.is_empty()) {
            return Err(PlayError::OtherVerdict { api: call.api, forbids });
        }
        let turns_by = self.manner.wish.turns_by;
        let found = turning_misreadings(&self.world.base, self.session.state(), &call);
        if !turns_by.is_empty() && !found.iter().any(|found| turns_by.contains(&found.error)) {
            return Err(PlayError::ClearVerdict);
        }
        if let Some(rule) = &entry.broken {
            self.scene.name_item("broken", Shown::from(&**rule));
        }
        Ok(forbids.then_some(entry))
    }

    /// Plays a step: a question for a detail, an exchange of messages, or calls.
    fn step(&mut self, step: &ScenarioStepDoc, told: &mut GoalTurns) -> Result<(), PlayError> {
        if self.user.skips_sign_in && only_signs_in(self.world.base.world(), self.scenario, step) {
            return Ok(());
        }
        match &step.ask {
            Some(about) => {
                let wordings = self.scenario.doc.withheld.get(about).cloned().unwrap_or_default();
                self.ask_for(about, &step.say, &wordings, told)
            }
            None if !step.user.is_empty() => self.exchange(step, told),
            None => {
                self.read_policy(step, told)?;
                self.sign_in(step, told)?;
                self.look_up(step, told)?;
                match step.until.is_empty() {
                    true => self.calls(step, &mut told.turns),
                    false => self.read_pages(step, &mut told.turns),
                }
            }
        }
    }

    /// Plays a message of the assistant and the user's answer.
    fn exchange(&mut self, step: &ScenarioStepDoc, told: &mut GoalTurns) -> Result<(), PlayError> {
        let say = self.words(&step.say)?;
        let answer = self.users(&step.user)?;
        self.talk.said.push(answer.clone());
        self.talk.assurance.has_consent = true;
        told.turns.push(Turn { say: Some(say), ..Turn::default() });
        told.turns.push(Turn { user: Some(answer), ..Turn::default() });
        Ok(())
    }

    /// Plays the assistant's question for a detail and the user's answer.
    pub(crate) fn ask_for(
        &mut self,
        about: &str,
        asks: &[String],
        tells: &[String],
        told: &mut GoalTurns,
    ) -> Result<(), PlayError> {
        let question = self.words(asks)?;
        let answer = self.users(tells)?;
        self.talk.said.push(answer.clone());
        told.turns.push(Turn { say: Some(question), ..Turn::default() });
        told.turns.push(Turn { user: Some(answer.clone()), ..Turn::default() });
        // Other wordings that can be filled in now are examples, too.
        let others = asks.iter().filter_map(|wording| self.scene.say(wording).ok());
        let about = about.replace('_', " ");
        told.questions.entry(about.clone()).or_default().extend(others);
        told.withheld.insert(about, answer);
        Ok(())
    }

    /// Returns a message of the assistant.
    pub(crate) fn words(&mut self, wordings: &[String]) -> Result<String, PlayError> {
        let words = self.fill_one(wordings)?;
        self.talk.answered.push(words.clone());
        Ok(words)
    }

    /// Returns one of several wordings, in the user's hand if possible.
    pub(crate) fn users(&mut self, wordings: &[String]) -> Result<String, PlayError> {
        let of_hand: Vec<String> =
            wordings.iter().filter(|words| self.manner.hand.fits(words)).cloned().collect();
        self.fill_one(if of_hand.is_empty() { wordings } else { &of_hand })
    }

    /// Returns one of several wordings, filled in: the one whose turn it is, else a drawn one.
    fn fill_one(&mut self, wordings: &[String]) -> Result<String, PlayError> {
        match self.talk.turn {
            Some(turn) => {
                wording(&self.scene, turn.choose(wordings).map_or(&[], std::slice::from_ref), self.rng)
            }
            None => wording(&self.scene, wordings, self.rng),
        }
    }

    /// Makes the calls of a step, in one message.
    pub(crate) fn calls(&mut self, step: &ScenarioStepDoc, turns: &mut Vec<Turn>) -> Result<(), PlayError> {
        let mut message: Vec<StepCall<'_>> = Vec::new();
        match &step.each {
            None if step.together.is_empty() => message.push((step, None)),
            None => message.extend(step.together.iter().map(|call| (call, None))),
            Some(each) => {
                let items = self.items(each)?;
                message.extend(items.into_iter().map(|item| (step, Some(item))));
            }
        }
        for name in message.iter().filter_map(|(call, _)| call.call.as_deref()) {
            if !self.find(name, turns) {
                return Err(PlayError::NotFound(name.to_owned()));
            }
        }
        self.assure(&message, turns)?;
        let words = self.words(&step.say)?;
        let mut say = self.announce(words);
        let first = self.calls.made.len();
        let before = (message.len() > 1).then(|| self.session.fork());
        let (mut made, mut replies): (Vec<CandidateCall>, _) = (Vec::new(), Vec::new());
        for (call, item) in message {
            if let Some((name, item)) = item {
                self.scene.name_item(&name, item);
            }
            let mut proposed = self.make_call(call)?;
            let outages = self.session.state().outages_to_come();
            let mut entry = self.session.call(&(&proposed).into());
            if self.session.state().outages_to_come() < outages {
                say = self.meet_outage(std::mem::take(&mut say), proposed, entry, turns)?;
                proposed = self.make_call(call)?;
                entry = self.session.call(&(&proposed).into());
            }
            if entry.reply.is_success() == call.fails {
                return Err(match call.fails {
                    true => PlayError::Worked(proposed.api),
                    false => PlayError::Refused {
                        api: proposed.api,
                        reply: entry.reply.to_json(&self.world.base.world().zone),
                    },
                });
            }
            self.talk.tries_told_rule |= call.fails && self.is_foreseeable(&entry);
            if let Some(name) = &call.name {
                self.calls.named.entry(name.clone()).or_default().push(self.calls.made.len());
                if step.each.is_none() {
                    self.calls.named.insert(name.clone(), vec![self.calls.made.len()]);
                }
            }
            self.calls.made.push(entry.clone());
            replies.push((call.name.clone(), entry));
            made.push(proposed);
        }
        for (name, entry) in replies {
            if let Some(name) = name.filter(|_| step.each.is_none()) {
                self.scene.name_reply(&name, &entry.reply.body);
            }
        }
        let zone = &self.world.base.world().zone;
        let are_ordered =
            before.is_some_and(|before| !commute(before, &made, &self.calls.made[first..], zone));
        // Calls whose order matters get messages of their own.
        let rest = if are_ordered { made.split_off(1) } else { Vec::new() };
        turns.push(Turn { say: (!say.is_empty()).then_some(say), calls: made, ..Turn::default() });
        turns.extend(rest.into_iter().map(|call| Turn { calls: vec![call], ..Turn::default() }));
        if let (Some(_), Some(name)) = (&step.each, &step.name) {
            self.calls.named.insert(name.clone(), (first..self.calls.made.len()).collect());
            let bodies: Vec<&Body> = self.calls.made[first..].iter().map(|entry| &entry.reply.body).collect();
            self.scene.name_replies(name, &bodies);
        }
        self.scene.set_state(self.session.state().clone());
        Ok(())
    }

    fn items(&self, each: &str) -> Result<Vec<(String, Shown)>, PlayError> {
        let wrong = || PlayError::Each(each.to_owned());
        let (name, list) = each.split_once(" in ").ok_or_else(wrong)?;
        let list = self.scene.value(list.trim()).map_err(|_| wrong())?;
        let items: Vec<(String, Shown)> =
            list.try_iter().map_err(|_| wrong())?.map(|item| (name.trim().to_owned(), item)).collect();
        if items.is_empty() { Err(wrong()) } else { Ok(items) }
    }

    pub(crate) fn make_call(&mut self, step: &ScenarioStepDoc) -> Result<CandidateCall, PlayError> {
        let mut used = None;
        let name = step.call.clone().unwrap_or_default();
        let model = self.world.base.world();
        let mut arguments = Map::new();
        if let Some(id) = model.api_named(&name) {
            let api = model.api(id);
            for parameter in &api.parameters {
                if let Some(value) = model.told_for(api, parameter) {
                    let value = value.to_json(&model.zone);
                    arguments.entry(parameter.name.to_string()).or_insert(value);
                }
            }
            if let Some(token) = api.token {
                let token = &api.parameters[token.index()].name;
                let standing = self.standing_token(api.domain).map(str::to_owned);
                let value = standing.clone().map(Json::from).or_else(|| self.issued_token(api.domain));
                let value = value.ok_or_else(|| PlayError::NotSignedIn(name.clone()))?;
                used = standing.map(|token| (api.domain, token));
                arguments.insert(token.to_string(), value);
            }
        }
        for (argument, given) in &step.with {
            let value = self.scene.argument(given).map_err(|error| PlayError::Words {
                words: format!("{name}, {argument}: {given}"),
                why: describe(&error),
            })?;
            arguments.insert(self.scene.casing().write(argument).into_owned(), value);
        }
        self.user.standing.extend(used.filter(|used| !self.user.standing.contains(used)));
        Ok(CandidateCall { api: name, arguments, care: step.care, ..CandidateCall::default() })
    }

    /// Searches for an API that no search has shown. Returns true if a search shows it.
    pub(crate) fn find(&mut self, name: &str, turns: &mut Vec<Turn>) -> bool {
        let Some(api) = self.world.base.world().api_named(name) else { return true };
        if self.searches.shown.contains(&api) || !self.manner.retrieves {
            return self.searches.shown.contains(&api);
        }
        let said = self.talk.said.iter().rev().map(String::as_str).collect();
        let known = search::SearchFacts {
            said,
            of_goal: self.talk.said.len() - self.talk.goal_from,
            system: &self.manner.system,
        };
        for keywords in search::attempts(self.world, api, &known, self.rng) {
            if self.searches.shown.contains(&api) {
                break;
            }
            self.search(keywords, turns);
        }
        self.searches.shown.contains(&api)
    }

    /// Makes a search, unless it was made before.
    fn search(&mut self, keywords: String, turns: &mut Vec<Turn>) {
        if !self.searches.made.insert(keywords.clone()) {
            return;
        }
        let arguments: Map<String, Json> =
            [("keywords".to_owned(), Json::from(keywords))].into_iter().collect();
        let call = Call { api: TOOL_SEARCHER.to_owned(), arguments: arguments.clone() };
        let before = self.searches.shown.len();
        self.calls.made.push(self.session.call(&call));
        let call = CandidateCall { api: TOOL_SEARCHER.to_owned(), arguments, ..CandidateCall::default() };
        turns.push(Turn { calls: vec![call], ..Turn::default() });
        self.searches.shown.extend(self.session.visible());
        self.searches.missed += usize::from(self.searches.shown.len() == before);
    }
}

/// Returns true if the calls get the same replies in the opposite order.
fn commute(mut session: Session, calls: &[CandidateCall], entries: &[Arc<LogEntry>], zone: &Zone) -> bool {
    calls
        .iter()
        .zip(entries)
        .rev()
        .all(|(call, entry)| session.call(&call.into()).reply.to_json(zone) == entry.reply.to_json(zone))
}

/// Returns one of several wordings, filled in; empty without wordings.
pub(crate) fn wording(scene: &Scene, wordings: &[String], rng: &mut ChaCha8Rng) -> Result<String, PlayError> {
    let Some(wording) = choose(wordings, rng) else { return Ok(String::new()) };
    scene.say(wording).map_err(|error| PlayError::Words { words: wording.clone(), why: describe(&error) })
}

/// Returns an error of a template as one line.
pub(crate) fn describe(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}
