//! The query agent: proposes what a user asks, over records that exist.
//!
//! Owns the offline backend's choice of goals, the joining of wishes into turns, and the request that leaves
//! something out. It proposes; whether the task is right is the tester's business.

use diorama_output::row::Split;
use diorama_seeds::model::{ApiId, BehaviourKind};
use diorama_seeds::task::{Ability, Outcome};
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::draft::{AnswerPart, Asked, Draft, Turn};
use super::goal::{self, Goal, Mood, Wanted};
use super::plan::Planner;
use super::text::{Segment, assemble, capitalise, literal};
use super::world::UnitWorld;

/// Proposes a task in a world.
pub trait QueryAgent: Sync {
    /// One proposal, or the reason why this draw leads to none.
    ///
    /// # Errors
    /// A short reason, counted in the funnel.
    fn propose(&self, world: &UnitWorld, wish: &Wish, rng: &mut ChaCha8Rng) -> Result<Draft, &'static str>;
}

/// What a slot wants of a proposal; a function of the slot alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The ability.
    pub ability: Ability,
    /// What kind of task.
    pub shape: Shape,
    /// The seed of the session that the task is solved in.
    pub session_seed: u64,
    /// The split that the task is for: each has its own frames, so that no skeleton is in both.
    pub split: Split,
}

/// Kinds of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One wish that changes records.
    Write,
    /// One question.
    Read,
    /// Two wishes.
    Two,
    /// A request that leaves out what is needed; the assistant asks back.
    AskBack,
    /// A change that the world's rules refuse.
    Refusal,
    /// A question about something that does not exist.
    Missing,
}

/// The query agent without a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfflineQuery;

/// Goals are drawn so often before a proposal is given up.
const DRAWS: u32 = 10;

impl QueryAgent for OfflineQuery {
    fn propose(&self, world: &UnitWorld, wish: &Wish, rng: &mut ChaCha8Rng) -> Result<Draft, &'static str> {
        let mut planner = Planner::new(world, rng, wish.session_seed);
        if wish.ability == Ability::RetrieveCall {
            planner.most_calls = 1;
        }
        let goals = match wish.shape {
            Shape::Write | Shape::AskBack => vec![draw(&mut planner, write_goal)?],
            Shape::Read => vec![draw(&mut planner, read_goal)?],
            Shape::Two => {
                let first = draw(&mut planner, any_goal)?;
                let second = draw(&mut planner, any_goal)?;
                if first.api == second.api && first.words == second.words {
                    return Err("two wishes are one");
                }
                vec![first, second]
            }
            Shape::Refusal => vec![draw(&mut planner, refused_goal)?],
            Shape::Missing => vec![draw(&mut planner, missing_goal)?],
        };
        fits(wish.ability, planner.steps.len())?;
        let twin = match goals.first() {
            Some(Goal { refusal: Some(_), api, .. }) => {
                Some(twin(world, *api, wish, planner.rng).ok_or("no solvable twin")?)
            }
            _ => None,
        };
        compose(planner, goals, wish, twin)
    }
}

/// One API is retrieved, or several are planned and retrieved.
fn fits(ability: Ability, steps: usize) -> Result<(), &'static str> {
    match ability {
        Ability::Call => Ok(()),
        Ability::RetrieveCall if steps == 1 => Ok(()),
        Ability::PlanRetrieveCall if steps >= 2 => Ok(()),
        Ability::RetrieveCall => Err("more than one call"),
        Ability::PlanRetrieveCall => Err("fewer than two calls"),
    }
}

type Draw = fn(&mut Planner<'_>) -> Result<Goal, goal::NoGoal>;

fn draw(planner: &mut Planner<'_>, draw: Draw) -> Result<Goal, &'static str> {
    for _ in 0..DRAWS {
        let point = planner.checkpoint();
        match draw(planner) {
            Ok(goal) => return Ok(goal),
            Err(goal::NoGoal) => planner.back_to(&point),
        }
    }
    Err("no goal found")
}

fn any_goal(planner: &mut Planner<'_>) -> Result<Goal, goal::NoGoal> {
    let writes = !planner.world.family.survey.writers.is_empty();
    if writes && planner.rng.random_bool(0.55) { write_goal(planner) } else { read_goal(planner) }
}

fn choose(
    planner: &mut Planner<'_>,
    from: impl Fn(&super::world::Survey) -> Vec<ApiId>,
) -> Result<ApiId, goal::NoGoal> {
    let apis = from(&planner.world.family.survey);
    apis.choose(planner.rng).copied().ok_or(goal::NoGoal)
}

fn write_goal(planner: &mut Planner<'_>) -> Result<Goal, goal::NoGoal> {
    let api = choose(planner, |survey| survey.writers.clone())?;
    goal::write(planner, api, Wanted::Success)
}

fn refused_goal(planner: &mut Planner<'_>) -> Result<Goal, goal::NoGoal> {
    let api = choose(planner, |survey| survey.writers.clone())?;
    goal::write(planner, api, Wanted::Refusal)
}

fn missing_goal(planner: &mut Planner<'_>) -> Result<Goal, goal::NoGoal> {
    let api = choose(planner, |survey| survey.readers.concat())?;
    goal::ask_missing(planner, api)
}

fn read_goal(planner: &mut Planner<'_>) -> Result<Goal, goal::NoGoal> {
    let kind = planner.rng.random_range(0..100);
    if kind < 45 {
        let api = choose(planner, |survey| survey.readers.concat())?;
        goal::ask(planner, api)
    } else if kind < 75 {
        let api = choose(planner, |survey| survey.lists.clone())?;
        goal::list(planner, api)
    } else {
        let api = choose(planner, |survey| survey.computers.clone())?;
        goal::compute(planner, api)
    }
}

/// The same kind of request where it works: proof that refusing is not always right.
fn twin(
    world: &UnitWorld,
    api: ApiId,
    wish: &Wish,
    rng: &mut ChaCha8Rng,
) -> Option<(Vec<super::draft::Step>, Vec<super::draft::Slot>)> {
    let reads = matches!(world.base.world().api(api).behaviour.kind, BehaviourKind::Lookup { .. });
    for _ in 0..DRAWS {
        let mut planner = Planner::new(world, rng, wish.session_seed);
        let goal = if reads {
            goal::ask(&mut planner, api)
        } else {
            goal::write(&mut planner, api, Wanted::Success)
        };
        if goal.is_ok() {
            return Some((planner.steps, planner.slots));
        }
    }
    None
}

type Twin = (Vec<super::draft::Step>, Vec<super::draft::Slot>);

fn compose(
    mut planner: Planner<'_>,
    goals: Vec<Goal>,
    wish: &Wish,
    twin: Option<Twin>,
) -> Result<Draft, &'static str> {
    let mut asked: Vec<Asked> = Vec::new();
    let mut answer: Vec<AnswerPart> = Vec::new();
    let mut segments: Vec<Segment> = Vec::new();
    let refusal = goals.iter().find_map(|goal| goal.refusal);
    let mut vague = None;
    for (index, goal) in goals.iter().enumerate() {
        asked.extend(goal.asked.iter().cloned());
        let own = goal.answer.clone();
        answer = if index == 0 { own } else { goal::join_answers(answer, own, planner.rng) };
        segments.extend(wish_in_words(goal, index, goals.len(), wish.split, planner.rng));
    }
    if wish.shape == Shape::AskBack {
        let goal = goals.first().ok_or("no goal found")?;
        vague = Some(vague_turn(&planner, goal).ok_or("nothing to leave out")?);
        planner.phenomena.push("ask_back");
    }
    if let Some(credentials) = planner.credentials() {
        let last_ends =
            matches!(segments.last(), Some(Segment::Text(text)) if text.ends_with(['.', '?', '!']));
        segments.push(literal(if last_ends { " " } else { ". " }));
        segments.extend(credentials);
    }
    let (text, spans) = assemble(&segments);
    let skeleton = skeleton(&segments);
    let mut turns = Vec::new();
    let mut question = None;
    if let Some((first, asks)) = vague {
        turns.push(Turn { text: first, spans: Vec::new() });
        question = Some(asks);
    }
    turns.push(Turn { text, spans });
    match wish.shape {
        Shape::Refusal => planner.phenomena.push("refusal"),
        Shape::Missing => planner.phenomena.push("not_found"),
        Shape::Two => planner.phenomena.push("two_goals"),
        _ => {}
    }
    planner.phenomena.sort_unstable();
    planner.phenomena.dedup();
    let (twin, twin_slots) = twin.map_or((None, Vec::new()), |(steps, slots)| (Some(steps), slots));
    let outcome = if refusal.is_some() { Outcome::Refused } else { Outcome::Done };
    Ok(Draft {
        ability: wish.ability,
        turns,
        steps: planner.steps,
        slots: planner.slots,
        asked,
        answer,
        outcome,
        refusal,
        twin,
        twin_slots,
        phenomena: planner.phenomena,
        question,
        described: planner.described,
        keywords: planner.keywords,
        skeleton,
    })
}

/// Ways to ask for a clause that starts with a verb: before it, and after it.
const FRAMES: [(&str, &str); 44] = [
    ("Please ", "."),
    ("Could you ", "?"),
    ("Can you ", "?"),
    ("Can you please ", "?"),
    ("I'd like you to ", "."),
    ("I need you to ", "."),
    ("Would you ", ", please?"),
    ("Would you be able to ", "?"),
    ("I'd like to ", "."),
    ("I want to ", "."),
    ("I need to ", "."),
    ("Help me ", ", please."),
    ("Hi, can you ", "?"),
    ("Hello! Please ", "."),
    ("Hey, ", "."),
    ("Good morning. I'd like to ", "."),
    ("Quick one: ", "."),
    ("When you have a moment, ", "."),
    ("Do me a favour and ", "."),
    ("Go ahead and ", "."),
    ("It's time to ", "."),
    ("I was wondering if you could ", "."),
    ("Is it possible to ", "? If so, please do it."),
    ("My plan is to ", ". Please take care of it."),
    ("One thing for today: ", "."),
    ("Next on my list: ", "."),
    ("For me, ", ", please."),
    ("Let's ", "."),
    ("We have to ", ". Can you do that?"),
    ("I'm supposed to ", ". Please do it for me."),
    ("Before I forget: ", "."),
    ("Sorry to bother you, but please ", "."),
    ("I forgot to ", ". Can you do it now?"),
    ("Mind helping me out? Please ", "."),
    ("Right, ", "."),
    ("Okay, now ", "."),
    ("As discussed, ", "."),
    ("I've decided to ", ". Please sort it out."),
    ("My colleague asked me to ", ". Please do."),
    ("You'd help me a lot if you could ", "."),
    ("Are you able to ", "?"),
    ("Urgent: ", "."),
    ("Kindly ", "."),
    ("", "."),
];

/// What may stand before a whole request or a question.
const LEADS: [&str; 22] = [
    "",
    "",
    "",
    "",
    "",
    "",
    "Hi! ",
    "Hello. ",
    "Hey there. ",
    "Quick question: ",
    "I'm curious. ",
    "Good afternoon. ",
    "One more thing. ",
    "Sorry, small question. ",
    "Help me out here. ",
    "Morning! ",
    "For my notes: ",
    "Just checking. ",
    "Thanks in advance. ",
    "Could you check something for me? ",
    "Need some information. ",
    "Hi there. ",
];

/// Openings that need no greeting before them.
const GREETINGS: [&str; 7] = ["Hi", "Hello", "Hey", "Good ", "Excuse", "Sorry", "Morning"];

/// Frames of the test split.
const TEST_FRAMES: [(&str, &str); 6] = [
    ("Be so kind and ", "."),
    ("Here is a task for you: ", "."),
    ("I'd appreciate it if you would ", "."),
    ("To do: ", "."),
    ("What I want you to do is ", "."),
    ("Would you kindly ", "."),
];

/// What stands before a whole request or a question in the test split.
const TEST_LEADS: [&str; 6] = [
    "Excuse me. ",
    "Let me ask you something. ",
    "Good evening. ",
    "A request: ",
    "I could use your help. ",
    "Listen. ",
];

const JOINTS: [&str; 8] = [
    " After that, ",
    " Then ",
    " Also, ",
    " And ",
    " Once that is done, ",
    " In addition, ",
    " Besides that, ",
    " Next, ",
];

fn wish_in_words(goal: &Goal, index: usize, of: usize, split: Split, rng: &mut ChaCha8Rng) -> Vec<Segment> {
    let mut words = goal.words.clone();
    let ends =
        matches!(words.last(), Some(Segment::Text(text)) if text.trim_end().ends_with(['.', '?', '!']));
    if index > 0 {
        // The second wish follows on from the first.
        let joint = *JOINTS.choose(rng).unwrap_or(&" Then ");
        if goal.mood == Mood::Imperative {
            let please = if rng.random_bool(0.4) { "please " } else { "" };
            words.insert(0, literal(format!("{joint}{please}")));
        } else {
            capitalise(&mut words);
            words.insert(0, literal(if rng.random_bool(0.5) { " " } else { " One more thing: " }));
        }
        if !ends {
            words.push(literal("."));
        }
        return words;
    }
    match goal.mood {
        Mood::Imperative => {
            let (before, after) = if split == Split::Test {
                *TEST_FRAMES.choose(rng).unwrap_or(&TEST_FRAMES[0])
            } else if ends || of > 1 {
                // What follows the clause already ends a sentence, so the frame may not be a question.
                *[
                    ("Please ", "."),
                    ("I'd like you to ", "."),
                    ("I need you to ", "."),
                    ("First, ", "."),
                    ("Hi, please ", "."),
                    ("", "."),
                ]
                .choose(rng)
                .unwrap_or(&("Please ", "."))
            } else {
                *FRAMES.choose(rng).unwrap_or(&("Please ", "."))
            };
            words.insert(0, literal(before));
            if before.is_empty() {
                words.remove(0);
                capitalise(&mut words);
            }
            if !ends {
                words.push(literal(after));
            }
        }
        Mood::Sentence | Mood::Question => {
            capitalise(&mut words);
            let leads: &[&str] = if split == Split::Test { &TEST_LEADS } else { &LEADS };
            let mut lead = *leads.choose(rng).unwrap_or(&"");
            let greets = matches!(words.first(), Some(Segment::Text(text)) if GREETINGS.iter().any(|greeting| text.starts_with(greeting)));
            if greets && split == Split::Train {
                lead = "";
            }
            if !lead.is_empty() {
                words.insert(0, literal(lead));
            }
            if !ends {
                words.push(literal("."));
            }
        }
    }
    words
}

/// A first turn that says what is wanted and leaves out everything needed for it; and the assistant's question.
fn vague_turn(planner: &Planner<'_>, goal: &Goal) -> Option<(String, String)> {
    let api = planner.world.base.world().api(goal.api);
    let clause = goal::infinitive(&api.description)?;
    let labels: Vec<String> = api
        .parameters
        .iter()
        .enumerate()
        .filter(|(index, parameter)| {
            parameter.required && api.token.map(diorama_seeds::model::ParameterId::index) != Some(*index)
        })
        .map(|(_, parameter)| match super::world::refers_to(&parameter.schema.kind) {
            Some(resource) => format!("the {}", planner.world.base.world().resource(resource).label),
            None => format!("the {}", parameter.label),
        })
        .collect();
    if labels.is_empty() {
        return None;
    }
    // Which words are used follows from the plan, not from a further draw.
    let pick = planner.steps.len() + labels.len() + clause.len();
    let wants = [
        "I'd like to ",
        "I need to ",
        "Can you help me? I want to ",
        "Hi, I would like to ",
        "I have to ",
        "I'm trying to ",
    ];
    let asks = [
        "Sure. Could you tell me ",
        "Of course. Please give me ",
        "I can do that. I still need ",
        "Happy to help. What I need from you: ",
    ];
    let first = format!("{}{clause}.", wants[pick % wants.len()]);
    let lead = asks[pick % asks.len()];
    let mark = if lead.contains("Could") { "?" } else { "." };
    Some((first, format!("{lead}{}{mark}", super::say::enumerate(&labels))))
}

fn skeleton(segments: &[Segment]) -> String {
    let mut text = String::new();
    for segment in segments {
        match segment {
            Segment::Text(literal) => text.push_str(&literal.to_lowercase()),
            Segment::Slot { .. } => text.push_str("{}"),
        }
    }
    text
}
