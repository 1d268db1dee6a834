//! Scenarios on their way, one after the other: their calls made in a session, their words filled in.

use diorama_engine::session::Session;
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_engine::{Body, Reading};
use diorama_proof::candidate::{AskClaim, CandidateCall, CandidateGoal, End, Turn};
use diorama_seeds::doc::{ScenarioGoalDoc, ScenarioStepDoc};
use diorama_seeds::model::ResourceId;
use diorama_seeds::scenario::{Bindings, BoundValue, Prior, RecordSource, Scenario};
use diorama_seeds::task::{Call, Outcome, RefusalClass};
use diorama_seeds::value::Value;
use indexmap::IndexMap;
use minijinja::Value as Shown;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value as Json};

use super::bridge::bridge;
use super::detour::Detour;
use super::play::Further;
use super::search;
use super::sign_in::{may_be_signed_in, only_signs_in};
use super::state::{Calls, Manner, Searches, Talk, User};
use super::unplayed::Unplayed;
use super::words::Scene;
use crate::draws::{choose, fork};
use crate::worlds::world::BatchWorld;

/// A call to be made, and the item that it is made for, with its name.
pub(crate) type Made<'a> = (&'a ScenarioStepDoc, Option<(String, Shown)>);

/// The turns of a goal so far.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) turns: Vec<Turn>,
    /// The details that the user told when asked, by name.
    pub(crate) withheld: IndexMap<String, String>,
    /// Wordings of the questions for it, by its name.
    pub(crate) questions: IndexMap<String, Vec<String>>,
}

/// The words that open a goal.
#[derive(Clone, Copy)]
pub(crate) struct Words<'w> {
    /// The wordings, of which one is drawn.
    pub(crate) wordings: &'w [String],
    /// What is said before.
    pub(crate) before: &'w str,
}

impl<'w> Words<'w> {
    /// Wordings with nothing before them.
    pub(crate) const fn of(wordings: &'w [String]) -> Self {
        Self { wordings, before: "" }
    }
}

/// A conversation on its way.
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
    /// The detours that were made.
    pub(crate) detours: Vec<Detour>,
    pub(crate) rng: &'r mut ChaCha8Rng,
}

impl<'a, 'r> Player<'a, 'r> {
    /// A conversation that begins with a scenario.
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

    /// Draws from the stream of choices.
    pub(crate) fn chance(&mut self, share: f64) -> bool {
        self.rng.random_bool(share)
    }

    /// Finds the first of several scenarios of the same user that takes up what was stated, else, where no link is needed, the first
    /// whose places are taken, with what takes them. Records are taken as they are now.
    ///
    /// # Errors
    /// When one is needed whatever its link, and no records take the places of any.
    pub(crate) fn find_next(
        &mut self,
        alternatives: &[&'a Scenario],
        further: Further,
    ) -> Result<Option<(&'a Scenario, Bindings)>, Unplayed> {
        if alternatives.is_empty() {
            return Ok(None);
        }
        let (stated, key) = (self.stated(), self.rng.random());
        let (mut other, mut missing) = (None, String::new());
        for scenario in alternatives {
            let prior = self.prior(scenario, &stated);
            match self.bind(scenario, &prior, key) {
                Ok(bindings) if self.takes_up(scenario, &bindings, &prior) => {
                    return Ok(Some((scenario, bindings)));
                }
                Ok(bindings) if other.is_none() => other = Some((*scenario, bindings)),
                Ok(_) => {}
                Err(Unplayed::NoBindings(place)) => missing = place,
                Err(other) => return Err(other),
            }
        }
        match further {
            Further::Linked => Ok(None),
            Further::Any => other.map(Some).ok_or(Unplayed::NoBindings(missing)),
        }
    }

    /// The records of a scenario's places, where the user of the conversation may be its user.
    fn bind(&self, scenario: &'a Scenario, prior: &Prior, key: u64) -> Result<Bindings, Unplayed> {
        let (world, state) = (self.world, self.session.state());
        let is_signed_in = self.manner.is_signed_in || self.token(scenario.domain).is_some();
        if is_signed_in && !may_be_signed_in(world.base.world(), scenario) {
            return Err(Unplayed::NoBindings(scenario.caller().to_owned()));
        }
        let reading = Reading::new(&world.base, state);
        let source = RecordSource { prior, ..world.record_source(&reading, state.clock()) };
        let bound = scenario.bind(source, &mut fork(key, &scenario.doc.name));
        bound.map_err(|place| Unplayed::NoBindings(place.to_owned()))
    }

    /// Returns true if a scenario's places take up what was stated: somebody, something or an amount.
    fn takes_up(&self, scenario: &Scenario, bindings: &Bindings, prior: &Prior) -> bool {
        let (world, state) = (self.world, self.session.state());
        let name_of = |resource: ResourceId, key: &Value| {
            let record = state.get(&world.base, resource, key)?;
            record.get(world.base.world().resource(resource).display?.index()).cloned()
        };
        let is_other = |(place, _): &&(String, BoundValue)| place != scenario.caller();
        bindings.iter().filter(is_other).any(|bound| prior.is_taken_up(bound, name_of))
    }

    /// Goes on to another scenario of the same user.
    pub(crate) fn go_on(&mut self, scenario: &'a Scenario, bindings: Bindings) {
        let casing = self.world.base.world().domains[scenario.domain.index()].casing;
        self.scene = Scene::new(self.world, casing, bindings, self.session.state().clone());
        self.user.callers.extend(self.scene.held(scenario.caller()).cloned());
        self.calls.named.clear();
        self.scenario = scenario;
        self.talk.turn = None;
        self.user.skips_sign_in = self.token(scenario.domain).is_some();
    }

    /// Draws what the user says before the next matter, of the one that ended so.
    pub(crate) fn bridge(&mut self, before: &Scenario, outcome: Outcome, next: &Scenario) -> String {
        let reactions = self.world.world_template.scenario_set.reactions(before.domain);
        bridge((before, reactions), outcome, next, (self.manner.hand, &self.talk.said), self.rng)
    }

    /// Plays a goal. `opening` are the words that open it, where not its own, and what is said before them.
    ///
    /// # Errors
    /// Why it could not be played.
    pub(crate) fn play(
        &mut self,
        doc: &ScenarioGoalDoc,
        opening: Option<Words<'_>>,
    ) -> Result<CandidateGoal, Unplayed> {
        let when = doc.when.as_ref().map(|when| self.opening(when)).transpose()?;
        let Words { wordings, before } = opening.unwrap_or(Words::of(&doc.user));
        let mut user = self.users(wordings)?;
        if !before.is_empty() {
            user = format!("{before} {user}");
        }
        if self.talk.said.is_empty() {
            let state = self.session.state();
            let time = self.world.base.world().zone.time_of(state.clock());
            user = self.manner.hand.dress(user, time, self.rng);
        }
        self.talk.goal_from = self.talk.said.len();
        self.begin_assurance(doc);
        self.talk.said.push(user.clone());
        let mut told = Told::default();
        self.search_first(doc, &user, &mut told)?;
        let mut steps = doc.does.as_slice();
        while let Some((first, rest)) = steps.split_first() {
            let alike = self.count_alike(first, rest);
            let (more, rest) = rest.split_at(alike);
            match more {
                [] => self.step(first, &mut told)?,
                _ => self.step(&join_steps(first, more), &mut told)?,
            }
            steps = rest;
        }
        for condition in &doc.only_if {
            if !self.scene.value(condition).is_ok_and(|holds| holds.is_true()) {
                return Err(Unplayed::Unfit(condition.clone()));
            }
        }
        let say = self.words(&doc.end)?;
        let mut facts = Vec::new();
        for fact in &doc.facts {
            facts.append(&mut self.facts(fact)?);
        }
        let asks: Result<Vec<AskClaim>, Unplayed> = doc.asks.iter().map(|ask| self.ask(ask)).collect();
        let outcome = if doc.refused.is_empty() { Outcome::Done } else { Outcome::Refused };
        let ends = End { outcome, reason: doc.refused.clone(), facts, asks: asks? };
        let Told { mut turns, withheld, questions } = told;
        turns.push(Turn { say: Some(say), ends: Some(ends), ..Turn::default() });
        Ok(CandidateGoal { when, user, withheld, questions, turns })
    }

    /// The searches before anything is asked: the API of the last call first; then, call by call, the others.
    fn search_first(&mut self, doc: &ScenarioGoalDoc, user: &str, told: &mut Told) -> Result<(), Unplayed> {
        let goal =
            doc.does.iter().rev().find_map(|step| step.together.first().unwrap_or(step).call.as_deref());
        match goal {
            Some(goal) => _ = self.find(goal, &mut told.turns),
            None if self.manner.retrieves && doc.refused.contains(&RefusalClass::NoTool) => {
                // That there is no tool is only known after a search.
                let goals = &self.scenario.doc.goals;
                let is_first = goals.first().is_some_and(|first| std::ptr::eq(first, doc));
                let later = if is_first { self.scenario.doc.later.as_slice() } else { &[] };
                let wordings = doc.user.iter().chain(later).chain(&doc.end);
                let keywords = search::make_vain_keywords(self.world, self.scenario.domain, wordings, user);
                let keywords = keywords.ok_or_else(|| Unplayed::NotFound("what no tool does".to_owned()))?;
                self.search(keywords, &mut told.turns);
            }
            None => {}
        }
        Ok(())
    }

    /// The turns of a step: a question for a detail, an exchange of words, or calls.
    fn step(&mut self, step: &ScenarioStepDoc, told: &mut Told) -> Result<(), Unplayed> {
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
                self.sign_in(step, told)?;
                self.look_up(step, told)?;
                self.calls(step, &mut told.turns)
            }
        }
    }

    /// Counts the steps after a first one that call the same API, with the same parameters, and need no reply to the calls before.
    fn count_alike(&self, first: &ScenarioStepDoc, rest: &[ScenarioStepDoc]) -> usize {
        let is_plain = |step: &ScenarioStepDoc| {
            step.call.is_some()
                && step.each.is_none()
                && step.together.is_empty()
                && step.ask.is_none()
                && !step.fails
        };
        let skips = |step: &ScenarioStepDoc| {
            self.user.skips_sign_in && only_signs_in(self.world.base.world(), self.scenario, step)
        };
        if !is_plain(first) || skips(first) {
            return 0;
        }
        let mut names: Vec<&str> = first.name.iter().map(String::as_str).collect();
        let alike = rest.iter().take_while(|step| {
            let is_alike = is_plain(step)
                && step.call == first.call
                && step.say.iter().all(String::is_empty)
                && step.with.len() == first.with.len()
                && step.with.keys().all(|key| first.with.contains_key(key))
                && !step.with.values().any(|given| names.iter().any(|name| mentions(given, name)));
            names.extend(step.name.as_deref());
            is_alike
        });
        alike.count()
    }

    /// The assistant says something, and the user answers.
    fn exchange(&mut self, step: &ScenarioStepDoc, told: &mut Told) -> Result<(), Unplayed> {
        let say = self.words(&step.say)?;
        let answer = self.users(&step.user)?;
        self.talk.said.push(answer.clone());
        self.talk.assurance.has_consent = true;
        told.turns.push(Turn { say: Some(say), ..Turn::default() });
        told.turns.push(Turn { user: Some(answer), ..Turn::default() });
        Ok(())
    }

    /// The assistant asks for something, and the user tells it.
    pub(crate) fn ask_for(
        &mut self,
        about: &str,
        asks: &[String],
        tells: &[String],
        told: &mut Told,
    ) -> Result<(), Unplayed> {
        let question = self.words(asks)?;
        let answer = self.users(tells)?;
        self.talk.said.push(answer.clone());
        told.turns.push(Turn { say: Some(question), ..Turn::default() });
        told.turns.push(Turn { user: Some(answer.clone()), ..Turn::default() });
        // The other wordings, as far as they can be filled in by now, are examples too.
        let others = asks.iter().filter_map(|wording| self.scene.say(wording).ok());
        let about = about.replace('_', " ");
        told.questions.entry(about.clone()).or_default().extend(others);
        told.withheld.insert(about, answer);
        Ok(())
    }

    /// Words of the assistant.
    fn words(&mut self, wordings: &[String]) -> Result<String, Unplayed> {
        let words = self.fill_one(wordings)?;
        self.talk.answered.push(words.clone());
        Ok(words)
    }

    /// One of several wordings, of those in the user's hand where there are any.
    pub(crate) fn users(&mut self, wordings: &[String]) -> Result<String, Unplayed> {
        let of_hand: Vec<String> =
            wordings.iter().filter(|words| self.manner.hand.fits(words)).cloned().collect();
        self.fill_one(if of_hand.is_empty() { wordings } else { &of_hand })
    }

    /// One of several wordings, filled in: the one whose turn it is, else one that is drawn.
    fn fill_one(&mut self, wordings: &[String]) -> Result<String, Unplayed> {
        match self.talk.turn {
            Some(turn) => {
                wording(&self.scene, turn.choose(wordings).map_or(&[], std::slice::from_ref), self.rng)
            }
            None => wording(&self.scene, wordings, self.rng),
        }
    }

    /// A step of calls, in one message.
    pub(crate) fn calls(&mut self, step: &ScenarioStepDoc, turns: &mut Vec<Turn>) -> Result<(), Unplayed> {
        let mut message: Vec<Made<'_>> = Vec::new();
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
                return Err(Unplayed::NotFound(name.to_owned()));
            }
        }
        self.assure(&message, turns)?;
        let words = self.words(&step.say)?;
        let mut say = self.announce(words);
        let first = self.calls.made.len();
        let (mut made, mut replies) = (Vec::new(), Vec::new());
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
                    true => Unplayed::Worked(proposed.api),
                    false => Unplayed::Refused {
                        api: proposed.api,
                        reply: entry.reply.to_json(&self.world.base.world().zone),
                    },
                });
            }
            if call.fails && self.is_foreseeable(&entry) {
                return Err(Unplayed::Foreseeable(proposed.api));
            }
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
        turns.push(Turn { say: (!say.is_empty()).then_some(say), calls: made, ..Turn::default() });
        if let (Some(_), Some(name)) = (&step.each, &step.name) {
            self.calls.named.insert(name.clone(), (first..self.calls.made.len()).collect());
            let bodies: Vec<&Body> = self.calls.made[first..].iter().map(|entry| &entry.reply.body).collect();
            self.scene.name_replies(name, &bodies);
        }
        self.scene.set_state(self.session.state().clone());
        Ok(())
    }

    fn items(&self, each: &str) -> Result<Vec<(String, Shown)>, Unplayed> {
        let wrong = || Unplayed::Each(each.to_owned());
        let (name, list) = each.split_once(" in ").ok_or_else(wrong)?;
        let list = self.scene.value(list.trim()).map_err(|_| wrong())?;
        let items: Vec<(String, Shown)> =
            list.try_iter().map_err(|_| wrong())?.map(|item| (name.trim().to_owned(), item)).collect();
        if items.is_empty() { Err(wrong()) } else { Ok(items) }
    }

    pub(crate) fn make_call(&mut self, step: &ScenarioStepDoc) -> Result<CandidateCall, Unplayed> {
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
                let value = value.ok_or_else(|| Unplayed::NotSignedIn(name.clone()))?;
                used = standing.map(|token| (api.domain, token));
                arguments.insert(token.to_string(), value);
            }
        }
        for (argument, given) in &step.with {
            let value = self.scene.argument(given).map_err(|error| Unplayed::Words {
                words: format!("{name}, {argument}: {given}"),
                why: describe(&error),
            })?;
            arguments.insert(self.scene.casing().write(argument).into_owned(), value);
        }
        self.user.standing.extend(used.filter(|used| !self.user.standing.contains(used)));
        Ok(CandidateCall { api: name, arguments, mistake: false })
    }

    /// Searches for an API that no search has shown. Whether one shows it.
    pub(crate) fn find(&mut self, name: &str, turns: &mut Vec<Turn>) -> bool {
        let Some(api) = self.world.base.world().api_named(name) else { return true };
        if self.searches.shown.contains(&api) || !self.manner.retrieves {
            return self.searches.shown.contains(&api);
        }
        let said = self.talk.said.iter().rev().map(String::as_str).collect();
        let known = search::Known {
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

    /// Makes a search that was not made before.
    fn search(&mut self, keywords: String, turns: &mut Vec<Turn>) {
        if !self.searches.made.insert(keywords.clone()) {
            return;
        }
        let arguments: Map<String, Json> =
            [("keywords".to_owned(), Json::from(keywords))].into_iter().collect();
        let call = Call { api: TOOL_SEARCHER.to_owned(), arguments: arguments.clone() };
        let before = self.searches.shown.len();
        self.calls.made.push(self.session.call(&call));
        let call = CandidateCall { api: TOOL_SEARCHER.to_owned(), arguments, mistake: false };
        turns.push(Turn { calls: vec![call], ..Turn::default() });
        self.searches.shown.extend(self.session.visible());
        self.searches.missed += usize::from(self.searches.shown.len() == before);
    }
}

/// Several steps of one call each as one step.
fn join_steps(first: &ScenarioStepDoc, more: &[ScenarioStepDoc]) -> ScenarioStepDoc {
    let silent = |step: &ScenarioStepDoc| ScenarioStepDoc { say: Vec::new(), ..step.clone() };
    let together = std::iter::once(first).chain(more).map(silent).collect();
    ScenarioStepDoc { say: first.say.clone(), together, ..ScenarioStepDoc::default() }
}

/// Returns true if an argument names a reply.
fn mentions(given: &Json, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    given.as_str().is_some_and(|given| given.split(|letter| !is_part(letter)).any(|word| word == name))
}

/// One of several wordings, filled in; nothing where there is none.
pub(crate) fn wording(scene: &Scene, wordings: &[String], rng: &mut ChaCha8Rng) -> Result<String, Unplayed> {
    let Some(wording) = choose(wordings, rng) else { return Ok(String::new()) };
    scene.say(wording).map_err(|error| Unplayed::Words { words: wording.clone(), why: describe(&error) })
}

/// An error of a template in a line.
pub(crate) fn describe(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}
