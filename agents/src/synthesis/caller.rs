//! The caller agent: solves a proposed conversation with live calls, and tells it as a candidate.
//!
//! Owns the order of calls, the searches for APIs that are not visible yet, the questions for what the user holds back,
//! and the assistant's words. Everything it says comes from replies that the engine gave, and what the user answers is
//! the user simulator's.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::synthesis::draft::AnswerPart;
use crate::synthesis::render::say_answer;
use diorama_engine::Body;
use diorama_engine::session::{LogEntry, Session, SessionOptions};
use diorama_engine::tools::{SearchVersion, TOOL_SEARCHER, tool_search};
use diorama_grade::measures::Measures;
use diorama_proof::Candidate;
use diorama_proof::answer::Asked;
use diorama_proof::candidate::{
    AskClaim, CANDIDATE_VERSION, CandidateCall, CandidateGoal, End, FactClaim, Opening, Turn,
};
use diorama_seeds::ending::Answers;
use diorama_seeds::model::{ApiId, World};
use diorama_seeds::script::{Goal, Script, WithheldDetail};
use diorama_seeds::task::{Ability, Call};
use diorama_simulator::conversation::{Conversation, Given};
use rand::RngExt;
use rand::seq::{IteratorRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::draft::{Draft, DraftGoal, HeldBack};
use super::plan::call_of;
use super::world::BatchWorld;

/// Solves a proposed conversation.
pub trait CallerAgent: Sync + Send {
    /// The conversation as it went, or the reason why there is none.
    ///
    /// # Errors
    /// Why not, counted in the funnel.
    fn solve(
        &self,
        world: &BatchWorld,
        draft: &Draft,
        session_seed: u64,
        rng: &mut ChaCha8Rng,
    ) -> Result<Candidate, Unsolved>;
}

/// Why a proposed conversation is not solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsolved {
    /// Nothing visible gives words that find an API.
    #[error("no words to search by")]
    NoKeywords,
    /// The search does not show the API.
    #[error("search does not show the API")]
    NotFound,
    /// A planned call was refused, or one that should be was not.
    #[error("a planned call did not work")]
    CallFailed,
    /// A fact that the answer needs is not there.
    #[error("nothing to answer with")]
    NoAnswer,
    /// The user does not understand a question as it is meant.
    #[error("the user does not answer the question")]
    NotUnderstood,
}

/// The caller agent without a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScenarioCaller;

/// Tools that are visible at the start, at most.
const MOST_TOOLS: usize = 128;

impl CallerAgent for ScenarioCaller {
    fn solve(
        &self,
        world: &BatchWorld,
        draft: &Draft,
        session_seed: u64,
        rng: &mut ChaCha8Rng,
    ) -> Result<Candidate, Unsolved> {
        let model = world.base.world();
        let visible = visible_tools(model, draft, rng);
        let options = SessionOptions {
            seed: session_seed,
            visible: Some(visible.clone()),
            ..SessionOptions::default()
        };
        let names = visible.iter().map(|api| model.api(*api).name.to_string());
        let tools = match draft.ability {
            Ability::Call => names.collect(),
            Ability::RetrieveCall | Ability::PlanRetrieveCall => vec![TOOL_SEARCHER.to_owned()],
        };
        let system = system_message(model, draft.ability);
        let mut solving = Solving {
            world,
            draft,
            session: Session::new(world.base.clone(), options),
            shown: visible.iter().copied().collect(),
            measures: Measures::of_tools(&world.base, world.context().vocabulary, &visible),
            calls: Vec::new(),
            call_of_step: Vec::new(),
            said: Vec::new(),
            system: system.clone(),
        };
        let mut goals = Vec::with_capacity(draft.goals.len());
        for goal in &draft.goals {
            goals.push(solving.goal(goal)?);
        }
        Ok(Candidate {
            candidate: CANDIDATE_VERSION,
            world: None,
            clock: None,
            seed: session_seed,
            system: Some(system),
            tools: Some(tools),
            outages: Vec::new(),
            goals,
        })
    }
}

/// A conversation on its way.
struct Solving<'a> {
    world: &'a BatchWorld,
    draft: &'a Draft,
    session: Session,
    /// The APIs that may be called.
    shown: BTreeSet<ApiId>,
    measures: Measures,
    calls: Vec<Arc<LogEntry>>,
    /// For each step, its call.
    call_of_step: Vec<usize>,
    /// What the user has said.
    said: Vec<String>,
    system: String,
}

impl Solving<'_> {
    fn goal(&mut self, goal: &DraftGoal) -> Result<CandidateGoal, Unsolved> {
        self.said.push(goal.user.clone());
        self.measure_words(&goal.user);
        let mut turns = Vec::new();
        let mut conversation = Conversation::new(Answers::Prose);
        for step in goal.steps.clone() {
            for held in goal.held.iter().filter(|held| held.before == step) {
                turns.extend(self.ask(goal, held, &mut conversation)?);
            }
            turns.extend(self.step(step, goal)?);
        }
        let replies: Vec<Option<Arc<LogEntry>>> = self.calls.iter().cloned().map(Some).collect();
        let parts: Vec<AnswerPart> = goal.answer.iter().map(|part| self.placed(part)).collect();
        let say = say_answer(&parts, &replies, self.world.base.world()).ok_or(Unsolved::NoAnswer)?;
        let facts = goal.asked.iter().map(|asked| self.claim(asked)).collect();
        let world = self.world.base.world();
        let asks = goal.asks.iter().map(|(resource, field)| {
            let described = world.resource(*resource);
            let (resource, field) =
                (described.qualified.to_string(), described.field(*field).name.to_string());
            AskClaim { resource, field }
        });
        let ends = End { outcome: goal.outcome(), reason: goal.refusal, facts, asks: asks.collect() };
        turns.push(Turn { say: Some(say), ends: Some(ends), ..Turn::default() });
        let when = goal.when.as_ref().map(|shown| Opening {
            call: self.call_of_step.get(shown.step).copied(),
            path: Some(shown.path.clone()),
            ..Opening::default()
        });
        let details = goal.held.iter().flat_map(|held| &held.details);
        let withheld = details.map(|detail| (detail.about.clone(), detail.say.clone())).collect();
        Ok(CandidateGoal { when, user: goal.user.clone(), withheld, turns, ..CandidateGoal::default() })
    }

    /// Asks for what is held back; the user simulator answers.
    fn ask(
        &mut self,
        goal: &DraftGoal,
        held: &HeldBack,
        conversation: &mut Conversation,
    ) -> Result<[Turn; 2], Unsolved> {
        let details = goal.held.iter().flat_map(|held| &held.details).map(|detail| WithheldDetail {
            about: detail.about.clone(),
            words: detail.words.clone(),
            say: detail.say.clone(),
            ..WithheldDetail::default()
        });
        let script = Script { goals: vec![Goal { withheld: details.collect(), ..Goal::default() }] };
        let exchange = conversation.hear(&script, &held.question, Given::default(), &[], &self.world.base);
        let told = exchange.answer.clone().ok_or(Unsolved::NotUnderstood)?;
        let right = held.details.iter().all(|detail| told.contains(detail.say.trim_end_matches('.')));
        if !right || exchange.progress.revealed.is_empty() {
            return Err(Unsolved::NotUnderstood);
        }
        conversation.push(exchange);
        self.said.push(told.clone());
        self.measure_words(&told);
        let question = Turn { say: Some(held.question.clone()), ..Turn::default() };
        Ok([question, Turn { user: Some(told), ..Turn::default() }])
    }

    /// Makes a step's call, after a search where its API was not shown yet.
    fn step(&mut self, number: usize, goal: &DraftGoal) -> Result<Vec<Turn>, Unsolved> {
        let Some(step) = self.draft.steps.get(number) else { return Err(Unsolved::CallFailed) };
        let mut turns = Vec::new();
        if !self.shown.contains(&step.api) {
            let keywords = keywords(self.world, &self.said, step.api, &self.system, &self.calls)
                .ok_or(Unsolved::NoKeywords)?;
            let arguments =
                [("keywords".to_owned(), serde_json::Value::from(keywords))].into_iter().collect();
            turns.push(self.call(&Call { api: TOOL_SEARCHER.to_owned(), arguments }).0);
            self.shown.extend(self.session.visible());
            if !self.shown.contains(&step.api) {
                return Err(Unsolved::NotFound);
            }
        }
        let (turn, works) = self.call(&call_of(self.world.base.world(), step));
        self.call_of_step.push(self.calls.len() - 1);
        let last = number + 1 == goal.steps.end;
        if works == (last && goal.refusal.is_some()) {
            return Err(Unsolved::CallFailed);
        }
        turns.push(turn);
        Ok(turns)
    }

    fn call(&mut self, call: &Call) -> (Turn, bool) {
        let entry = self.session.call(call);
        let works = entry.reply.is_success();
        self.measures.add_reply(&self.world.base, self.world.context().vocabulary, &entry);
        self.calls.push(entry);
        let made = CandidateCall { api: call.api.clone(), arguments: call.arguments.clone() };
        (Turn { calls: vec![made], ..Turn::default() }, works)
    }

    fn measure_words(&mut self, words: &str) {
        let model = self.world.base.world();
        let clock = diorama_answers::Clock::at(model.clock, &model.zone);
        self.measures.add_prose(&diorama_answers::prose::Prose::read(words, &clock));
    }

    fn call_of(&self, step: usize) -> usize {
        self.call_of_step.get(step).copied().unwrap_or(step)
    }

    /// A part of an answer over calls instead of steps; what nothing visible is measured in is told as it stands.
    fn placed(&self, part: &AnswerPart) -> AnswerPart {
        let mut part = part.clone();
        match &mut part {
            AnswerPart::Text(_) => {}
            AnswerPart::Leaf { call, path, bare, .. } => {
                *call = self.call_of(*call);
                let leaf = self.calls.get(*call).and_then(|entry| entry.reply.body.at(path));
                if let Some(Body::Leaf(_, origin)) = leaf {
                    let schema = diorama_grade::measures::leaf_schema(origin, self.world.base.world());
                    *bare = !self.measures.shows(&schema);
                }
            }
            AnswerPart::Truth { call, .. } | AnswerPart::Each { call, .. } => *call = self.call_of(*call),
        }
        part
    }

    fn claim(&self, asked: &Asked) -> FactClaim {
        let call = self.call_of(asked.call());
        let mut all = false;
        let (path, count, about) = match asked {
            Asked::Leaf { path, about, several, .. } => {
                all = *several;
                (path.clone(), false, about)
            }
            Asked::Count { path, about, .. } => (path.clone(), true, about),
            Asked::Each { array, member, about, .. } => {
                let dot = if member.is_empty() { "" } else { "." };
                (format!("{array}[*]{dot}{member}"), false, about)
            }
        };
        FactClaim { call, path, count, about: Some(about.clone()), several: all }
    }
}

/// The system message: what the assistant is for, the date, time and zone, and how APIs are found.
#[must_use]
pub fn system_message(world: &World, ability: Ability) -> String {
    let date = world.zone.date_of(world.clock);
    let time = world.zone.time_of(world.clock);
    let services: Vec<String> = world
        .domains
        .iter()
        .map(|domain| {
            let description = domain.description.trim_end_matches('.');
            if description.is_empty() {
                domain.title.to_string()
            } else {
                format!("{} ({description})", domain.title)
            }
        })
        .collect();
    let tools = match ability {
        Ability::Call => "Use the tools you are given.",
        Ability::RetrieveCall | Ability::PlanRetrieveCall => {
            "Tools are found with ToolSearcher: a tool can be called once a search has shown it."
        }
    };
    format!(
        "You are an assistant for these services: {}. It is {}, {date}, {time}, time zone {}. {tools} Ask the user when \
         something needed is missing, and say so when a request cannot be carried out.",
        services.join("; "),
        super::say::weekday(date),
        world.zone.name(),
    )
}

/// The tools at the start: the needed ones among others, or none where they must be found.
fn visible_tools(world: &World, draft: &Draft, rng: &mut ChaCha8Rng) -> Vec<ApiId> {
    if draft.ability != Ability::Call {
        return Vec::new();
    }
    let mut tools: Vec<ApiId> = draft.steps.iter().map(|step| step.api).collect();
    tools.sort_unstable();
    tools.dedup();
    tools_among(world, tools, rng)
}

/// Needed tools among others, in any order: none, a few, many, or all that the world has.
pub fn tools_among(world: &World, needed: Vec<ApiId>, rng: &mut ChaCha8Rng) -> Vec<ApiId> {
    let others: Vec<ApiId> = world.api_ids().filter(|id| !needed.contains(id)).collect();
    let count = match rng.random_range(0..100) {
        0..10 => 0,
        10..60 => rng.random_range(1..=8),
        60..90 => rng.random_range(8..=24),
        _ => others.len(),
    };
    let count = count.min(MOST_TOOLS.saturating_sub(needed.len()));
    let mut tools: Vec<ApiId> = others.into_iter().sample(rng, count);
    tools.extend(needed);
    tools.shuffle(rng);
    tools
}

/// Search words for an API: words of its name and description that stand in what the agent has seen.
pub(super) fn keywords(
    world: &BatchWorld,
    said: &[String],
    api: ApiId,
    system: &str,
    entries: &[Arc<LogEntry>],
) -> Option<String> {
    const IDLE: &[&str] = &[
        "the", "a", "an", "of", "for", "with", "and", "or", "to", "in", "on", "by", "its", "it", "is", "are",
        "from", "at", "all", "one", "as", "if", "that", "this", "has", "have", "had", "was", "were", "be",
        "been", "up", "out", "not", "no", "than", "then", "there", "who", "which", "when", "how", "many",
        "much", "may", "can", "any", "other", "another", "only", "so", "do", "does", "what", "where", "into",
        "about", "over", "under",
    ];
    let model = world.base.world();
    let described = model.api(api);
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for turn in said {
        seen.extend(words(turn));
    }
    let mut wanted: Vec<String> = Vec::new();
    for word in words(&spaced(&described.name)).into_iter().chain(words(&described.description)) {
        if !wanted.contains(&word) && !IDLE.contains(&word.as_str()) {
            wanted.push(word);
        }
    }
    let attempt = |seen: &BTreeSet<String>| {
        let stems: BTreeSet<&str> = seen.iter().map(|word| stem(word)).collect();
        // One word for `cancel` and `cancels`.
        let mut taken: Vec<&str> = Vec::new();
        let mut chosen: Vec<String> = Vec::new();
        for word in wanted.iter().filter(|word| stems.contains(stem(word))) {
            if !taken.contains(&stem(word)) && chosen.len() < 6 {
                taken.push(stem(word));
                chosen.push(word.clone());
            }
        }
        let text = chosen.join(" ");
        let found = !chosen.is_empty()
            && tool_search(&world.base, SearchVersion::default(), &text).iter().any(|hit| hit.api == api);
        found.then_some(text)
    };
    if let Some(text) = attempt(&seen) {
        return Some(text);
    }
    seen.extend(words(system));
    if let Some(text) = attempt(&seen) {
        return Some(text);
    }
    for entry in entries {
        seen.extend(words(&entry.reply.to_json(&model.zone)));
    }
    attempt(&seen)
}

/// The stem by which words are compared: the word without a plural ending.
#[must_use]
pub fn stem(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem.strip_suffix("ie").unwrap_or(stem),
        _ => word.strip_suffix('y').filter(|stem| stem.len() > 2).unwrap_or(word),
    }
}

/// Lower-case words of a text.
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1).map(str::to_lowercase).collect()
}

fn spaced(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() {
            out.push(' ');
        }
        out.push(c);
    }
    out
}
