//! A scenario played in a session: its calls made, its words filled in.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use diorama_engine::session::{LogEntry, Session, SessionOptions};
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_engine::{Body, Origin, Reading};
use diorama_proof::Candidate;
use diorama_proof::candidate::{
    AskClaim, CANDIDATE_VERSION, CandidateCall, CandidateGoal, End, FactClaim, Opening, Turn,
};
use diorama_seeds::doc::{ScenarioGoalDoc, ScenarioStepDoc, ScenarioWhenDoc};
use diorama_seeds::model::{ApiId, BehaviourKind, DomainId};
use diorama_seeds::scenario::{BoundValue, RecordSource, Scenario};
use diorama_seeds::task::{Ability, Call, Outcome, RefusalClass};
use diorama_seeds::value::Value;
use minijinja::Value as Shown;
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value as Json};

use super::search;
use super::words::Scene;
use crate::synthesis::world::BatchWorld;
use crate::synthesis::{caller, system};

/// A scenario that was played.
#[derive(Clone, Debug)]
pub struct Played {
    /// The conversation.
    pub candidate: Candidate,
    /// Searches that did not show what was looked for.
    pub missed: usize,
}

/// Why a scenario could not be played. The first word is its class.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unplayed {
    /// No records take its places.
    #[error("no records make it true")]
    NoBindings,
    /// Words that name what is not there.
    #[error("the words `{words}` cannot be filled in: {why}")]
    Words {
        /// The template.
        words: String,
        /// What is wrong.
        why: String,
    },
    /// A call that should have worked was refused.
    #[error("{api} was refused: {reply}")]
    Refused {
        /// The API.
        api: String,
        /// What it said.
        reply: String,
    },
    /// A call that should have been refused worked.
    #[error("{0} worked, and should have been refused")]
    Worked(String),
    /// No search shows an API.
    #[error("no search shows {0}: add words under `search`")]
    NotFound(String),
    /// A fact that no reply shows.
    #[error("no reply shows the fact `{0}`")]
    NoFact(String),
    /// A user would have to sign in first.
    #[error("{0} needs a signed-in user, and nobody has signed in")]
    NotSignedIn(String),
    /// What a step is made for is no list, or empty.
    #[error("`{0}` is not `name in list`, or the list is empty")]
    Each(String),
    /// What `when` or `asks` names is not there.
    #[error("`{0}` names no reply and no field")]
    Unknown(String),
}

impl Unplayed {
    /// A name for its class, for the funnel.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NoBindings => "no records make the scenario true",
            Self::Words { .. } => "words that cannot be filled in",
            Self::Refused { .. } => "a planned call was refused",
            Self::Worked(_) => "a call that should be refused worked",
            Self::NotFound(_) => "search does not show the API",
            Self::NoFact(_) => "no reply shows a fact",
            Self::NotSignedIn(_) => "nobody has signed in",
            Self::Each(_) => "nothing to make a step for",
            Self::Unknown(_) => "a name that nothing has",
        }
    }
}

/// Plays a scenario: a function of the world, the part and the stream of choices.
///
/// # Errors
/// Why it could not be played.
pub fn play(
    world: &BatchWorld,
    scenario: &Scenario,
    ability: Ability,
    seed: u64,
    rng: &mut ChaCha8Rng,
) -> Result<Played, Unplayed> {
    Prepared::new(world, scenario, ability, seed, rng)?.perform(rng)
}

/// A scenario whose places are taken: what it speaks of is settled, what is said is not.
pub(super) struct Prepared<'a> {
    world: &'a BatchWorld,
    scenario: &'a Scenario,
    ability: Ability,
    seed: u64,
    visible: Vec<ApiId>,
    session: Session,
    scene: Scene,
}

impl<'a> Prepared<'a> {
    /// Chooses what is visible, and the records.
    ///
    /// # Errors
    /// When no records take its places.
    pub(super) fn new(
        world: &'a BatchWorld,
        scenario: &'a Scenario,
        ability: Ability,
        seed: u64,
        rng: &mut ChaCha8Rng,
    ) -> Result<Self, Unplayed> {
        let model = world.base.world();
        let visible = match ability {
            Ability::Call => caller::tools_among(model, needed(scenario, world), rng),
            Ability::RetrieveCall | Ability::PlanRetrieveCall => Vec::new(),
        };
        let options = SessionOptions { seed, visible: Some(visible.clone()), ..SessionOptions::default() };
        let session = Session::new(world.base.clone(), options);
        let reading = Reading::new(&world.base, session.state());
        let record_source = RecordSource {
            world: model,
            records: &reading,
            alternates: &world.alternates,
            clock: model.clock,
        };
        let bindings = scenario.bind(record_source, rng).ok_or(Unplayed::NoBindings)?;
        let casing = model.domains[scenario.domain.index()].casing;
        let scene = Scene::new(world.base.clone(), casing, bindings, session.state().clone());
        Ok(Self { world, scenario, ability, seed, visible, session, scene })
    }

    /// Makes the calls and fills in the words.
    ///
    /// # Errors
    /// Why it could not be played.
    pub(super) fn perform(self, rng: &mut ChaCha8Rng) -> Result<Played, Unplayed> {
        let Self { world, scenario, ability, seed, visible, session, scene } = self;
        let model = world.base.world();
        let rules = wording(&scene, &scenario.doc.policy, rng)?;
        let personas = world.world_template.scenario_set.personas(scenario.domain);
        let system = system::message(model, scenario.domain, personas, &rules, ability, rng);
        let hand = Hand::of(scenario, rng);
        let mut goal = Goal {
            world,
            scenario,
            scene,
            shown: visible.iter().copied().collect(),
            session,
            calls: Vec::new(),
            named: BTreeMap::new(),
            said: Vec::new(),
            goal_from: 0,
            hand,
            retrieves: ability != Ability::Call,
            system: system.clone(),
            searched: BTreeSet::new(),
            missed: 0,
            rng,
        };
        let ends_there = ability == Ability::Call
            && scenario.doc.goals.first().is_some_and(declines_at_once)
            && goal.rng.random_bool(LEAVES);
        let goals = scenario.doc.goals.iter().take(if ends_there { 1 } else { usize::MAX });
        let goals: Result<Vec<CandidateGoal>, Unplayed> = goals.map(|doc| goal.play(doc)).collect();
        let tools = match ability {
            Ability::Call => visible.iter().map(|api| model.api(*api).name.to_string()).collect(),
            Ability::RetrieveCall | Ability::PlanRetrieveCall => vec![TOOL_SEARCHER.to_owned()],
        };
        let missed = goal.missed;
        let candidate = Candidate {
            candidate: CANDIDATE_VERSION,
            world: None,
            clock: None,
            seed,
            system: Some(system),
            tools: Some(tools),
            goals: goals?,
        };
        Ok(Played { candidate, missed })
    }
}

/// Share of the conversations whose first request is declined without a call that end with that.
const LEAVES: f64 = 0.8;

/// Returns true if a goal is a refusal that needs no call.
fn declines_at_once(goal: &ScenarioGoalDoc) -> bool {
    let calls = |step: &ScenarioStepDoc| step.call.is_some() || !step.together.is_empty();
    goal.refused.is_some() && !goal.does.iter().any(calls)
}

/// How a user writes, from the first message to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hand {
    /// Sentences that begin with a capital.
    Careful,
    /// Without.
    Hasty,
}

/// Share of the conversations in which the user writes hastily, of those that have the words for it.
const HASTY: f64 = 0.35;

impl Hand {
    /// The hand of a scenario's user: hasty only where each of their messages has a wording for it.
    fn of(scenario: &Scenario, rng: &mut ChaCha8Rng) -> Self {
        let can =
            scenario.doc.said_by_user().all(|wordings| wordings.iter().any(|words| Self::Hasty.fits(words)));
        if rng.random_bool(HASTY) && can { Self::Hasty } else { Self::Careful }
    }

    /// Whether a wording may be in this hand: by its first letter; where it begins with a place by the letter after its
    /// first full stop, else by whether it has one. A wording of places alone fits both.
    fn fits(self, words: &str) -> bool {
        let hasty = |is: bool| is == (self == Self::Hasty);
        let first =
            |text: &str| text.chars().find(|c| *c == '{' || c.is_alphabetic()).filter(|c| c.is_alphabetic());
        if let Some(letter) = first(words) {
            return hasty(letter.is_lowercase());
        }
        if let Some(letter) = words.split_once(". ").and_then(|(_, rest)| first(rest)) {
            return hasty(letter.is_lowercase());
        }
        let last = words.trim_end();
        last.ends_with(['}', '?']) || hasty(!last.ends_with(['.', '!']))
    }
}

/// One of several wordings, filled in; nothing where there is none.
fn wording(scene: &Scene, wordings: &[String], rng: &mut ChaCha8Rng) -> Result<String, Unplayed> {
    let Some(wording) = wordings.choose(rng) else { return Ok(String::new()) };
    scene.say(wording).map_err(|error| Unplayed::Words { words: wording.clone(), why: told(&error) })
}

/// The APIs that a scenario calls.
fn needed(scenario: &Scenario, world: &BatchWorld) -> Vec<ApiId> {
    let names = scenario.doc.calls().filter_map(|call| call.call.as_deref());
    let mut apis: Vec<ApiId> = names.filter_map(|name| world.base.world().api_named(name)).collect();
    apis.sort_unstable();
    apis.dedup();
    apis
}

/// A call to be made, and the item that it is made for, with its name.
type Made<'a> = (&'a ScenarioStepDoc, Option<(String, Shown)>);

/// A play on its way.
struct Goal<'a> {
    world: &'a BatchWorld,
    scenario: &'a Scenario,
    scene: Scene,
    session: Session,
    shown: BTreeSet<ApiId>,
    calls: Vec<Arc<LogEntry>>,
    /// The calls behind a name.
    named: BTreeMap<String, Vec<usize>>,
    said: Vec<String>,
    /// Where what was said of the present goal begins.
    goal_from: usize,
    hand: Hand,
    /// Whether tools are found by searching.
    retrieves: bool,
    system: String,
    /// The keywords of searches so far.
    searched: BTreeSet<String>,
    missed: usize,
    rng: &'a mut ChaCha8Rng,
}

impl Goal<'_> {
    fn play(&mut self, doc: &ScenarioGoalDoc) -> Result<CandidateGoal, Unplayed> {
        let when = doc.when.as_ref().map(|when| self.opening(when)).transpose()?;
        let user = self.users(&doc.user)?;
        self.goal_from = self.said.len();
        self.said.push(user.clone());
        let mut turns = Vec::new();
        let mut withheld = indexmap::IndexMap::new();
        let mut questions: indexmap::IndexMap<String, Vec<String>> = indexmap::IndexMap::new();
        let goal =
            doc.does.iter().rev().find_map(|step| step.together.first().unwrap_or(step).call.as_deref());
        // What the user wants is looked for first, before anything is asked; then, call by call, what it needs.
        match goal {
            Some(goal) => _ = self.find(goal, &mut turns),
            None if self.retrieves && doc.refused == Some(RefusalClass::NoTool) => {
                let keywords = search::in_vain(self.world, self.scenario.domain, &user);
                keywords.into_iter().for_each(|keywords| self.search(keywords, &mut turns));
            }
            None => {}
        }
        for step in &doc.does {
            if let Some(about) = &step.ask {
                let question = self.words(&step.say)?;
                let wordings = self.scenario.doc.withheld.get(about).cloned().unwrap_or_default();
                let told = self.users(&wordings)?;
                self.said.push(told.clone());
                turns.push(Turn { say: Some(question), ..Turn::default() });
                turns.push(Turn { user: Some(told.clone()), ..Turn::default() });
                // What this moment can tell of other wordings is an example of them too.
                let others = step.say.iter().filter_map(|wording| self.scene.say(wording).ok());
                questions.entry(about.replace('_', " ")).or_default().extend(others);
                withheld.insert(about.replace('_', " "), told);
            } else if !step.user.is_empty() {
                let say = self.words(&step.say)?;
                let answer = self.users(&step.user)?;
                self.said.push(answer.clone());
                turns.push(Turn { say: Some(say), ..Turn::default() });
                turns.push(Turn { user: Some(answer), ..Turn::default() });
            } else {
                self.calls(step, &mut turns)?;
            }
        }
        let say = self.words(&doc.end)?;
        let mut facts = Vec::new();
        for fact in &doc.facts {
            facts.append(&mut self.facts(fact)?);
        }
        let asks: Result<Vec<AskClaim>, Unplayed> = doc.asks.iter().map(|ask| self.ask(ask)).collect();
        let outcome = if doc.refused.is_some() { Outcome::Refused } else { Outcome::Done };
        let ends = End { outcome, reason: doc.refused, facts, asks: asks? };
        turns.push(Turn { say: Some(say), ends: Some(ends), ..Turn::default() });
        Ok(CandidateGoal { when, user, withheld, questions, turns })
    }

    fn words(&mut self, wordings: &[String]) -> Result<String, Unplayed> {
        wording(&self.scene, wordings, self.rng)
    }

    /// One of several wordings, of those in the user's hand where there are any.
    fn users(&mut self, wordings: &[String]) -> Result<String, Unplayed> {
        let of_hand: Vec<String> = wordings.iter().filter(|words| self.hand.fits(words)).cloned().collect();
        self.words(if of_hand.is_empty() { wordings } else { &of_hand })
    }

    /// A step of calls: one message for all of them, or one for each.
    fn calls(&mut self, step: &ScenarioStepDoc, turns: &mut Vec<Turn>) -> Result<(), Unplayed> {
        let mut messages: Vec<Vec<Made<'_>>> = Vec::new();
        match &step.each {
            None if step.together.is_empty() => messages.push(vec![(step, None)]),
            None => messages.push(step.together.iter().map(|call| (call, None)).collect()),
            Some(each) => {
                let items = self.items(each)?;
                let made = items.into_iter().map(|item| (step, Some(item)));
                match step.at_once {
                    true => messages.push(made.collect()),
                    false => messages.extend(made.map(|call| vec![call])),
                }
            }
        }
        for name in messages.iter().flatten().filter_map(|(call, _)| call.call.as_deref()) {
            if !self.find(name, turns) {
                return Err(Unplayed::NotFound(name.to_owned()));
            }
        }
        let mut say = self.words(&step.say)?;
        let first = self.calls.len();
        for message in messages {
            let mut made = Vec::new();
            let mut replies = Vec::new();
            for (call, item) in message {
                if let Some((name, item)) = item {
                    self.scene.name_item(&name, item);
                }
                let proposed = self.proposed(call)?;
                let entry = self.session.call(&(&proposed).into());
                if entry.reply.is_success() == call.fails {
                    return Err(match call.fails {
                        true => Unplayed::Worked(proposed.api),
                        false => Unplayed::Refused {
                            api: proposed.api,
                            reply: entry.reply.to_json(&self.world.base.world().zone),
                        },
                    });
                }
                if let Some(name) = &call.name {
                    self.named.entry(name.clone()).or_default().push(self.calls.len());
                    if step.each.is_none() {
                        self.named.insert(name.clone(), vec![self.calls.len()]);
                    }
                }
                self.calls.push(entry.clone());
                replies.push((call.name.clone(), entry));
                made.push(proposed);
            }
            for (name, entry) in replies {
                if let Some(name) = name.filter(|_| step.each.is_none()) {
                    self.scene.name_reply(&name, &entry.reply.body);
                }
            }
            let said = std::mem::take(&mut say);
            turns.push(Turn { say: (!said.is_empty()).then_some(said), calls: made, ..Turn::default() });
        }
        if let (Some(_), Some(name)) = (&step.each, &step.name) {
            self.named.insert(name.clone(), (first..self.calls.len()).collect());
            let bodies: Vec<&Body> = self.calls[first..].iter().map(|entry| &entry.reply.body).collect();
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

    fn proposed(&self, step: &ScenarioStepDoc) -> Result<CandidateCall, Unplayed> {
        let name = step.call.clone().unwrap_or_default();
        let model = self.world.base.world();
        let mut arguments = Map::new();
        if let Some(id) = model.api_named(&name) {
            let api = model.api(id);
            if let Some(token) = api.token {
                let token = &api.parameters[token.index()].name;
                let value = self.token(api.domain).ok_or_else(|| Unplayed::NotSignedIn(name.clone()))?;
                arguments.insert(token.to_string(), value);
            }
        }
        for (argument, given) in &step.with {
            let value = self.scene.argument(given).map_err(|error| Unplayed::Words {
                words: format!("{name}, {argument}: {given}"),
                why: told(&error),
            })?;
            arguments.insert(self.scene.casing().write(argument).into_owned(), value);
        }
        Ok(CandidateCall { api: name, arguments })
    }

    /// The token that the latest sign-in of a domain gave.
    fn token(&self, domain: DomainId) -> Option<Json> {
        let model = self.world.base.world();
        self.calls.iter().rev().filter(|entry| entry.reply.is_success()).find_map(|entry| {
            let api = model.api(entry.api?);
            if api.domain != domain || !matches!(api.behaviour.kind, BehaviourKind::SignIn { .. }) {
                return None;
            }
            let (_, value, _) = entry.reply.body.leaves().find(|(path, ..)| path.ends_with("token"))?;
            Some(value.to_json(&model.zone))
        })
    }

    /// Searches for an API that no search has shown. Whether one shows it.
    fn find(&mut self, name: &str, turns: &mut Vec<Turn>) -> bool {
        let Some(api) = self.world.base.world().api_named(name) else { return true };
        if self.shown.contains(&api) {
            return true;
        }
        let said = self.said.iter().rev().map(String::as_str).collect();
        let known = search::Known { said, of_goal: self.said.len() - self.goal_from, system: &self.system };
        for keywords in search::attempts(self.world, api, &known, self.rng) {
            if self.shown.contains(&api) {
                break;
            }
            self.search(keywords, turns);
        }
        self.shown.contains(&api)
    }

    /// Makes a search that was not made before.
    fn search(&mut self, keywords: String, turns: &mut Vec<Turn>) {
        if !self.searched.insert(keywords.clone()) {
            return;
        }
        let arguments: Map<String, Json> =
            [("keywords".to_owned(), Json::from(keywords))].into_iter().collect();
        let call = Call { api: TOOL_SEARCHER.to_owned(), arguments: arguments.clone() };
        let before = self.shown.len();
        self.calls.push(self.session.call(&call));
        let call = CandidateCall { api: TOOL_SEARCHER.to_owned(), arguments };
        turns.push(Turn { calls: vec![call], ..Turn::default() });
        self.shown.extend(self.session.visible());
        self.missed += usize::from(self.shown.len() == before);
    }

    fn opening(&self, when: &ScenarioWhenDoc) -> Result<Opening, Unplayed> {
        let mut opening = Opening { outcome: when.outcome, ..Opening::default() };
        if let Some(shown) = &when.shown {
            let end = shown.find(['.', '[']).unwrap_or(shown.len());
            let (name, path) = shown.split_at(end);
            let call = self.named.get(name).and_then(|calls| calls.last());
            opening.call = Some(*call.ok_or_else(|| Unplayed::Unknown(shown.clone()))?);
            let path = path.trim_start_matches('.');
            opening.path = (!path.is_empty()).then(|| self.scene.casing().write_path(path));
        }
        Ok(opening)
    }

    /// Facts by their name: a place of a named reply, or a field of a place's records as the latest reply shows them.
    fn facts(&self, fact: &str) -> Result<Vec<FactClaim>, Unplayed> {
        let (path, count) = match fact.strip_prefix("count(").and_then(|rest| rest.strip_suffix(')')) {
            Some(path) => (path, true),
            None => (fact, false),
        };
        let missing = || Unplayed::NoFact(fact.to_owned());
        let end = path.find(['.', '[']).unwrap_or(path.len());
        let (name, rest) = path.split_at(end);
        if let Some(calls) = self.named.get(name) {
            // Of a step made for each item, the number behind the name says which.
            let (call, rest) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                Some((number, rest)) if calls.len() > 1 => {
                    (number.parse::<usize>().ok().and_then(|number| calls.get(number)), rest)
                }
                _ => (calls.last(), rest),
            };
            let call = *call.ok_or_else(missing)?;
            let path = self.scene.casing().write_path(rest.trim_start_matches('.'));
            return Ok(vec![FactClaim { call, path, count, ..FactClaim::default() }]);
        }
        let field = rest.strip_prefix('.').ok_or_else(missing)?;
        let (resource, keys, several) = match self.scene.held(name) {
            Some(BoundValue::Record(resource, key)) => (*resource, std::slice::from_ref(key), false),
            Some(BoundValue::Records(resource, keys)) => (*resource, keys.as_slice(), true),
            _ => return Err(missing()),
        };
        let field = self.world.base.world().resource(resource).field_named(field).ok_or_else(missing)?;
        let shown = |key: &Value| {
            let wanted = Origin::Field { resource, key: key.clone(), field };
            self.calls.iter().enumerate().rev().find_map(|(call, entry)| {
                let (path, ..) = entry.reply.body.leaves().find(|(_, _, origin)| **origin == wanted)?;
                Some(FactClaim { call, path, count, several, ..FactClaim::default() })
            })
        };
        keys.iter().map(|key| shown(key).ok_or_else(missing)).collect()
    }

    fn ask(&self, ask: &str) -> Result<AskClaim, Unplayed> {
        let (resource, field) = ask.split_once('.').ok_or_else(|| Unplayed::Unknown(ask.to_owned()))?;
        let model = self.world.base.world();
        let own =
            model.resources.iter().find(|own| own.domain == self.scenario.domain && *own.name == *resource);
        let resource = own.ok_or_else(|| Unplayed::Unknown(ask.to_owned()))?.qualified.to_string();
        Ok(AskClaim { resource, field: field.to_owned() })
    }
}

/// An error of a template in a line.
fn told(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}
