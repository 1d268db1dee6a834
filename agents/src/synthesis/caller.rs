//! The caller agent: solves a proposed task with live calls, and tells the dialogue.
//!
//! Owns the order of calls, the searches for APIs that are not visible yet, and the messages. Everything it says
//! comes from replies that the engine gave.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use diorama_seeds::model::{ApiId, World};
use diorama_seeds::task::{Ability, ArgumentSource, Call, Checks, Derivation, GoldCall};
use diorama_simulator::engine::State;
use diorama_simulator::engine::tools::{TOOL_SEARCHER, tool_search};
use diorama_simulator::session::{LogEntry, Session, SessionOptions};
use rand::RngExt;
use rand::seq::{IteratorRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::binding::say_answer;
use super::checks;
use super::draft::{AnswerPart, Asked, Draft, Source};
use super::world::UnitWorld;

/// Solves a proposed task.
pub trait CallerAgent: Sync {
    /// The solution, or the reason why there is none.
    ///
    /// # Errors
    /// A short reason, counted in the funnel.
    fn solve(
        &self,
        world: &UnitWorld,
        draft: &Draft,
        session_seed: u64,
        rng: &mut ChaCha8Rng,
    ) -> Result<Solution, &'static str>;
}

/// A solved task.
#[derive(Clone)]
pub struct Solution {
    /// The reference calls, searches included.
    pub gold: Vec<GoldCall>,
    /// What each call gave.
    pub entries: Vec<Arc<LogEntry>>,
    /// APIs visible at the start.
    pub visible: Vec<ApiId>,
    /// The seed of the session.
    pub session_seed: u64,
    /// The state at the start.
    pub initial: State,
    /// The state at the end.
    pub last: State,
    /// The answer's parts over gold calls.
    pub answer_parts: Vec<AnswerPart>,
    /// The answer.
    pub answer: String,
    /// The checks.
    pub checks: Checks,
    /// The system message.
    pub system: String,
    /// Fact places over gold calls.
    pub asked: Vec<Asked>,
    /// For each planned step, its gold call.
    pub call_of_step: Vec<usize>,
}

/// The caller agent without a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfflineCaller;

/// Tools that are visible beside the needed ones.
const DISTRACTORS: std::ops::RangeInclusive<usize> = 3..=7;

impl CallerAgent for OfflineCaller {
    fn solve(
        &self,
        world: &UnitWorld,
        draft: &Draft,
        session_seed: u64,
        rng: &mut ChaCha8Rng,
    ) -> Result<Solution, &'static str> {
        let model = world.base.world();
        let visible = visible_tools(model, draft, rng);
        let options = SessionOptions {
            seed: session_seed,
            visible: Some(visible.clone()),
            ..SessionOptions::default()
        };
        let mut session = Session::new(world.base.clone(), options);
        let initial = session.state().clone();
        let system = system_message(model, draft.ability);
        let mut shown: BTreeSet<ApiId> = visible.iter().copied().collect();
        let mut gold: Vec<GoldCall> = Vec::new();
        let mut entries: Vec<Arc<LogEntry>> = Vec::new();
        let mut call_of_step = Vec::new();
        let turn = draft.turns.len() as u32 - 1;
        for (index, step) in draft.steps.iter().enumerate() {
            if !shown.contains(&step.api) {
                let keywords =
                    keywords(world, draft, step.api, &system, &entries).ok_or("no words to search by")?;
                let call = Call {
                    api: TOOL_SEARCHER.to_owned(),
                    arguments: [("keywords".to_owned(), serde_json::Value::from(keywords))]
                        .into_iter()
                        .collect(),
                };
                let turns = (0..draft.turns.len() as u32).collect();
                let calls = (0..gold.len() as u32).collect();
                let sources =
                    BTreeMap::from([("keywords".to_owned(), ArgumentSource::Keywords { turns, calls })]);
                entries.push(session.call(&call));
                gold.push(GoldCall { api: call.api, arguments: call.arguments, sources, turn });
                shown.extend(session.visible());
                if !shown.contains(&step.api) {
                    return Err("search does not show the API");
                }
            }
            let call = super::plan::call_of(model, step);
            let sources = step
                .arguments
                .iter()
                .map(|argument| {
                    let name = model.api(step.api).parameters[argument.parameter.index()].name.to_string();
                    Some((name, source(draft, &argument.source, &call_of_step)?))
                })
                .collect::<Option<BTreeMap<_, _>>>()
                .ok_or("an argument has no source")?;
            let entry = session.call(&call);
            call_of_step.push(gold.len());
            gold.push(GoldCall { api: call.api, arguments: call.arguments, sources, turn });
            let refused = !entry.reply.is_success();
            entries.push(entry);
            let last = index + 1 == draft.steps.len();
            if refused != (last && draft.refusal.is_some()) {
                return Err("a planned call did not work");
            }
        }
        let asked: Vec<Asked> = draft.asked.iter().map(|asked| moved(asked, &call_of_step)).collect();
        let answer_parts: Vec<AnswerPart> =
            draft.answer.iter().map(|part| moved_part(part, &call_of_step)).collect();
        let replies: Vec<Option<Arc<LogEntry>>> = entries.iter().cloned().map(Some).collect();
        let answer = say_answer(&answer_parts, &replies, model, 0).ok_or("nothing to answer with")?;
        let checks = checks::build(model, &session.diff(), &asked, &entries, draft.outcome, draft.refusal)
            .ok_or("a fact has no typed form")?;
        Ok(Solution {
            gold,
            entries,
            visible,
            session_seed,
            initial,
            last: session.state().clone(),
            answer_parts,
            answer,
            checks,
            system,
            asked,
            call_of_step,
        })
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
    if let Some(twin) = &draft.twin {
        tools.extend(twin.iter().map(|step| step.api));
    }
    tools.sort_unstable();
    tools.dedup();
    let others = (0..world.apis.len()).map(|index| ApiId(index as u16)).filter(|id| !tools.contains(id));
    let count = rng.random_range(DISTRACTORS);
    let mut distractors: Vec<ApiId> = others.sample(rng, count);
    distractors.append(&mut tools);
    distractors.shuffle(rng);
    distractors
}

/// Search words for an API: words of its name and description that stand in what the agent has seen.
fn keywords(
    world: &UnitWorld,
    draft: &Draft,
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
    for turn in &draft.turns {
        seen.extend(words(&turn.text));
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
            && tool_search(&world.base, world.base.search(), &text).iter().any(|hit| hit.api == api);
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

fn source(draft: &Draft, source: &Source, call_of_step: &[usize]) -> Option<ArgumentSource> {
    let place = |step: usize| call_of_step.get(step).map(|call| *call as u32);
    Some(match source {
        Source::Slot(slot) => {
            let (turn, span, said) = draft.placed().find(|(_, span, _)| span.slot == *slot)?;
            ArgumentSource::User { turn, start: span.start, end: span.end, by: said.by }
        }
        Source::Slots(slots) => {
            let first = slots.first()?;
            let (turn, span, _) = draft.placed().find(|(_, span, _)| span.slot == *first)?;
            ArgumentSource::User { turn, start: span.start, end: span.end, by: Derivation::Verbatim }
        }
        Source::Reply { step, path } => ArgumentSource::Reply { call: place(*step)?, path: path.clone() },
        Source::Replies(places) => ArgumentSource::Replies {
            places: places
                .iter()
                .map(|(step, path)| Some((place(*step)?, path.clone())))
                .collect::<Option<_>>()?,
        },
        Source::Default => ArgumentSource::Default,
    })
}

fn moved(asked: &Asked, call_of_step: &[usize]) -> Asked {
    let mut asked = asked.clone();
    match &mut asked {
        Asked::Leaf { step, .. } | Asked::Each { step, .. } | Asked::Count { step, .. } => {
            *step = call_of_step.get(*step).copied().unwrap_or(*step);
        }
    }
    asked
}

fn moved_part(part: &AnswerPart, call_of_step: &[usize]) -> AnswerPart {
    let mut part = part.clone();
    match &mut part {
        AnswerPart::Text(_) => {}
        AnswerPart::Leaf { call, .. } | AnswerPart::Truth { call, .. } | AnswerPart::Each { call, .. } => {
            *call = call_of_step.get(*call).copied().unwrap_or(*call);
        }
    }
    part
}
