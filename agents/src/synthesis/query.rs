//! The query agent: proposes what a user asks, over records that exist.
//!
//! Owns the offline backend's choice of goals, the goals of a conversation, and what is held back. It proposes; whether
//! the task is right is the tester's business.

use diorama_output::row::Split;
use diorama_seeds::model::{ApiId, BehaviourKind};
use diorama_seeds::task::Ability;
use diorama_seeds::value::Instant;
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::draft::{Draft, DraftGoal, HeldBack, Shown};
use super::goal::{self, Goal, Mood, Wanted};
use super::plan::Planner;
use super::scenario::{Detour, Joins};
use super::text::{Segment, assemble, capitalise, literal};
use super::world::{BatchWorld, refers_to};
use diorama_proof::Survey;

/// Proposes a conversation in a world.
pub trait QueryAgent: Sync + Send {
    /// One proposal, or the reason why this draw leads to none.
    ///
    /// # Errors
    /// Why not, counted in the funnel.
    fn propose(&self, world: &BatchWorld, spec: &TaskSpec, rng: &mut ChaCha8Rng) -> Result<Draft, NoDraft>;
}

/// Why a draw leads to no proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDraft {
    /// No values lead to a goal of the kind.
    #[error("no goal found")]
    NoGoal,
    /// Two goals came out the same.
    #[error("two drawn_goals are one")]
    OneGoal,
    /// More calls than the ability has.
    #[error("more than one call")]
    ManyCalls,
    /// Fewer calls than the ability needs.
    #[error("fewer than two calls")]
    FewCalls,
    /// A request that needs nothing has nothing to leave out.
    #[error("nothing to leave out")]
    NothingToLeaveOut,
}

/// The task that a row asks its author for; a function of the row alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskSpec {
    /// The ability.
    pub ability: Ability,
    /// What kind of task.
    pub shape: Shape,
    /// Which API the first request is for, as a share of those there are; any where it is none.
    pub share: Option<f64>,
    /// The seed of the session that the task is solved in.
    pub session_seed: u64,
    /// The start of that session, where a scenario is played.
    pub clock: Instant,
    /// What happens on the way, where a scenario is played.
    pub detour: Option<Detour>,
    /// The domains of the scenarios that one is joined with.
    pub joins: Joins,
    /// The split that the task is for: each has its own frames, so that no skeleton is in both.
    pub split: Split,
}

/// Kinds of conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One goal that changes records.
    Write,
    /// One question.
    Read,
    /// Two goals, one after the other.
    Two,
    /// A question, and a change of the same record once the answer is there.
    Branch,
    /// A question, and the same one about another record: the wrong one was named.
    Correction,
    /// A request that leaves out what is needed; the assistant asks back.
    AskBack,
    /// A change that the world's rules refuse.
    Refusal,
    /// A question about something that does not exist.
    Missing,
}

/// The query agent without a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScenarioQuery;

/// Goals are drawn so often before a proposal is given up.
const DRAWS: u32 = 10;
/// Share of conversations in which the user gives credentials before they are asked for.
const CREDENTIALS_FIRST: f64 = 0.15;

impl QueryAgent for ScenarioQuery {
    fn propose(&self, world: &BatchWorld, spec: &TaskSpec, rng: &mut ChaCha8Rng) -> Result<Draft, NoDraft> {
        let mut planner = Planner::new(world, rng, spec.session_seed);
        planner.share = spec.share;
        if spec.ability == Ability::RetrieveCall {
            planner.most_calls = 1;
        }
        let mut drawn_goals = DrawnGoals::default();
        match spec.shape {
            Shape::Write => drawn_goals.add(&mut planner, write_goal)?,
            Shape::AskBack => {
                // Nobody is asked for what may be left out.
                planner.optional = 0.0;
                drawn_goals.add(&mut planner, write_goal)?;
            }
            Shape::Read => drawn_goals.add(&mut planner, read_goal)?,
            Shape::Refusal => {
                // Few are refused.
                planner.share = None;
                drawn_goals.add(&mut planner, refused_goal)?;
            }
            Shape::Missing => drawn_goals.add(&mut planner, missing_goal)?,
            Shape::Two => {
                drawn_goals.add(&mut planner, any_goal)?;
                drawn_goals.add(&mut planner, any_goal)?;
            }
            Shape::Branch => {
                planner.keys_at_hand = 0.0;
                drawn_goals.add(&mut planner, record_goal)?;
                let about = drawn_goals.first()?.again.clone().ok_or(NoDraft::NoGoal)?;
                planner.topic = Some((about.resource, about.key));
                drawn_goals.add(&mut planner, topic_goal)?;
            }
            Shape::Correction => {
                planner.keys_at_hand = 0.0;
                drawn_goals.add(&mut planner, record_goal)?;
                let first = drawn_goals.first()?.clone();
                drawn_goals.add(&mut planner, |planner| goal::ask_again(planner, &first))?;
            }
        }
        if let [first, second] = drawn_goals.goals.as_slice()
            && first.api == second.api
            && first.words == second.words
        {
            return Err(NoDraft::OneGoal);
        }
        fits(spec.ability, planner.steps.len())?;
        compose(planner, &drawn_goals, spec)
    }
}

/// What the user wants, one thing after the other.
#[derive(Default)]
struct DrawnGoals {
    goals: Vec<Goal>,
    /// For each, how many steps the plan has behind it.
    ends: Vec<usize>,
}

impl DrawnGoals {
    fn add(
        &mut self,
        planner: &mut Planner<'_>,
        kind: impl Fn(&mut Planner<'_>) -> Result<Goal, goal::NoGoal>,
    ) -> Result<(), NoDraft> {
        self.goals.push(draw(planner, kind)?);
        planner.share = None;
        self.ends.push(planner.steps.len());
        Ok(())
    }

    fn first(&self) -> Result<&Goal, NoDraft> {
        self.goals.first().ok_or(NoDraft::NoGoal)
    }
}

/// One API is retrieved, or several are planned and retrieved.
const fn fits(ability: Ability, steps: usize) -> Result<(), NoDraft> {
    match ability {
        Ability::Call => Ok(()),
        Ability::RetrieveCall if steps == 1 => Ok(()),
        Ability::PlanRetrieveCall if steps >= 2 => Ok(()),
        Ability::RetrieveCall => Err(NoDraft::ManyCalls),
        Ability::PlanRetrieveCall => Err(NoDraft::FewCalls),
    }
}

fn draw(
    planner: &mut Planner<'_>,
    draw: impl Fn(&mut Planner<'_>) -> Result<Goal, goal::NoGoal>,
) -> Result<Goal, NoDraft> {
    for _ in 0..DRAWS {
        let point = planner.checkpoint();
        match draw(planner) {
            Ok(goal) => return Ok(goal),
            Err(goal::NoGoal) => planner.back_to(&point),
        }
    }
    Err(NoDraft::NoGoal)
}

fn any_goal(planner: &mut Planner<'_>) -> Result<Goal, goal::NoGoal> {
    let writes = !planner.world.world_template.survey.writers.is_empty();
    if writes && planner.rng.random_bool(0.55) { write_goal(planner) } else { read_goal(planner) }
}

fn choose(planner: &mut Planner<'_>, from: impl Fn(&Survey) -> Vec<ApiId>) -> Result<ApiId, goal::NoGoal> {
    let apis = from(&planner.world.world_template.survey);
    let share = planner.share.unwrap_or_else(|| planner.rng.random());
    at_share(&apis, share).ok_or(goal::NoGoal)
}

/// What stands at a share of a list.
fn at_share(apis: &[ApiId], share: f64) -> Option<ApiId> {
    apis.get((share * apis.len() as f64) as usize).copied()
}

/// A change, of one kind as often as of another, but for removals: of those half as many.
fn write_goal(planner: &mut Planner<'_>) -> Result<Goal, goal::NoGoal> {
    let world = planner.world.base.world();
    let kinds = |kind: &BehaviourKind| match kind {
        BehaviourKind::Create { .. } | BehaviourKind::AddMembers { .. } => 0,
        BehaviourKind::Replace { .. } | BehaviourKind::Patch { .. } => 1,
        BehaviourKind::Delete { .. } | BehaviourKind::RemoveMembers { .. } => 3,
        _ => 2,
    };
    let mut of_kind: [Vec<ApiId>; 4] = Default::default();
    for api in &planner.world.world_template.survey.writers {
        of_kind[kinds(&world.api(*api).behaviour.kind)].push(*api);
    }
    let weights = [2.0, 2.0, 2.0, 1.0];
    let weight = |kind: usize| if of_kind[kind].is_empty() { 0.0 } else { weights[kind] };
    let mut left = planner.share.unwrap_or_else(|| planner.rng.random()) * (0..4).map(weight).sum::<f64>();
    for (kind, apis) in of_kind.iter().enumerate() {
        if left < weight(kind) {
            let api = at_share(apis, left / weight(kind)).ok_or(goal::NoGoal)?;
            return goal::write(planner, api, Wanted::Success);
        }
        left -= weight(kind);
    }
    Err(goal::NoGoal)
}

/// A question about one record.
fn record_goal(planner: &mut Planner<'_>) -> Result<Goal, goal::NoGoal> {
    let api = choose(planner, |survey| survey.readers.concat())?;
    goal::ask(planner, api)
}

/// A change of the record that the conversation is about.
fn topic_goal(planner: &mut Planner<'_>) -> Result<Goal, goal::NoGoal> {
    let (resource, _) = planner.topic.clone().ok_or(goal::NoGoal)?;
    let world = planner.world.base.world();
    let api = choose(planner, |survey| {
        let takes = |id: &ApiId| {
            let mut parameters = world.api(*id).parameters.iter();
            parameters
                .any(|parameter| parameter.required && refers_to(&parameter.schema.kind) == Some(resource))
        };
        survey.writers.iter().copied().filter(takes).collect()
    })?;
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

/// The goals of a conversation, one for each goal.
fn compose(mut planner: Planner<'_>, drawn_goals: &DrawnGoals, spec: &TaskSpec) -> Result<Draft, NoDraft> {
    let mut goals: Vec<DraftGoal> = Vec::new();
    for (index, (goal, end)) in drawn_goals.goals.iter().zip(&drawn_goals.ends).enumerate() {
        let words = goal_in_words(goal, index, spec.shape, spec.split, planner.rng);
        goals.push(DraftGoal {
            user: assemble(&words),
            when: None,
            held: Vec::new(),
            steps: goals.last().map_or(0, |before: &DraftGoal| before.steps.end)..*end,
            asked: goal.asked.clone(),
            answer: goal.answer.clone(),
            refusal: goal.refusal,
            asks: goal.asks.clone(),
        });
    }
    if spec.shape == Shape::AskBack {
        hold_back(&planner, drawn_goals.first()?, &mut goals)?;
    }
    if let (Shape::Branch, Some(goal), [_, second]) =
        (spec.shape, drawn_goals.goals.first(), goals.as_mut_slice())
        && let Some(asked) = goal.asked.first()
        && let diorama_proof::answer::Asked::Leaf { call, path, .. } = asked
    {
        second.when = Some(Shown { step: *call, path: path.clone() });
    }
    ask_for_credentials(&mut planner, &mut goals);
    let kind = match spec.shape {
        Shape::Refusal => Some("refusal"),
        Shape::Missing => Some("not_found"),
        Shape::Two => Some("two_goals"),
        Shape::Branch => Some("branch"),
        Shape::Correction => Some("correction"),
        Shape::AskBack => Some("ask_back"),
        Shape::Write | Shape::Read => None,
    };
    planner.tags.extend(kind);
    planner.tags.sort_unstable();
    planner.tags.dedup();
    Ok(Draft { ability: spec.ability, goals, steps: planner.steps, tags: planner.tags })
}

/// The first goal says what is wanted; all that is needed for it comes when the assistant asks.
fn hold_back(planner: &Planner<'_>, goal: &Goal, goals: &mut [DraftGoal]) -> Result<(), NoDraft> {
    let Some(draft_goal) = goals.first_mut() else { return Err(NoDraft::NoGoal) };
    let (user, question) = vague_turn(planner, goal).ok_or(NoDraft::NothingToLeaveOut)?;
    if goal.details.is_empty() {
        return Err(NoDraft::NothingToLeaveOut);
    }
    draft_goal.user = user;
    // A sign-in needs credentials before anything else is asked.
    let before = planner.credentials().map_or(draft_goal.steps.start, |(step, _)| step);
    draft_goal.held.push(HeldBack { before, question, details: goal.details.clone() });
    Ok(())
}

/// Credentials come when they are needed: the assistant asks for them, but for a few users who put them first.
fn ask_for_credentials(planner: &mut Planner<'_>, goals: &mut [DraftGoal]) {
    let Some((step, details)) = planner.credentials() else { return };
    let Some(draft_goal) = goals.iter_mut().find(|draft_goal| draft_goal.steps.contains(&step)) else {
        return;
    };
    if planner.rng.random_bool(CREDENTIALS_FIRST) {
        let told: Vec<&str> = details.iter().map(|detail| &*detail.say).collect();
        draft_goal.user = format!("{} {}", draft_goal.user, told.join(" "));
        planner.tags.push("credentials_first");
        return;
    }
    let labels: Vec<String> = details.iter().map(|detail| format!("your {}", detail.about)).collect();
    let what = super::say::enumerate(&labels);
    let question = match planner.rng.random_range(0..4) {
        0 => format!("To sign you in I need {what}."),
        1 => format!("Could you give me {what}, please?"),
        2 => format!("Please tell me {what} so that I can sign you in."),
        _ => format!("I'll need {what} for that."),
    };
    planner.tags.push("credentials_asked");
    draft_goal.held.push(HeldBack { before: step, question, details });
}

/// Ways to ask for a clause that starts with a verb: before it, and after it.
const FRAMES: [(&str, &str); 27] = [
    ("Please ", "."),
    ("Could you ", "?"),
    ("Could you please ", "?"),
    ("Can you ", "?"),
    ("Can you please ", "?"),
    ("I'd like you to ", "."),
    ("I need you to ", "."),
    ("Would you ", ", please?"),
    ("I'd like to ", "."),
    ("I want to ", "."),
    ("I need to ", "."),
    ("Help me ", ", please."),
    ("Hi, can you ", "?"),
    ("Hi, please ", "."),
    ("Hello! Please ", "."),
    ("Hey, could you ", "?"),
    ("Good morning. I'd like to ", "."),
    ("Quick one: ", "."),
    ("When you have a moment, ", "."),
    ("Go ahead and ", "."),
    ("Let's ", "."),
    ("Before I forget: ", "."),
    ("Sorry to bother you, but please ", "."),
    ("I forgot to ", ". Can you do it now?"),
    ("I've been asked to ", ". Can you do that?"),
    ("It's time to ", "."),
    ("", "."),
];

/// What may stand before a whole request or a question.
const LEADS: [&str; 14] = [
    "",
    "",
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
    "Good afternoon. ",
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

/// Words that may stand before a second goal.
const JOINTS: [&str; 10] = [
    "Thanks. Then please ",
    "Great. Next, please ",
    "Good. Please also ",
    "And please ",
    "Okay, now ",
    "Perfect. Could you also ",
    "Alright. Then ",
    "Thank you. After that, ",
    "Fine. Now ",
    "Also, please ",
];

/// What may stand before a second question.
const FURTHER: [&str; 6] =
    ["Thanks. ", "And ", "Okay. ", "Great, thank you. ", "One more thing: ", "Good to know. "];

/// Words that may stand before a goal that the answer leads to.
const THEREUPON: [&str; 4] =
    ["Thanks. Then please ", "Okay, now please ", "Good to know. Please ", "Alright, then please "];

fn goal_in_words(
    goal: &Goal,
    index: usize,
    shape: Shape,
    split: Split,
    rng: &mut ChaCha8Rng,
) -> Vec<Segment> {
    let mut words = goal.words.clone();
    let ends =
        matches!(words.last(), Some(Segment::Text(text)) if text.trim_end().ends_with(['.', '?', '!']));
    if index > 0 {
        // The second goal follows on from the first; a correction speaks for itself.
        if shape == Shape::Correction {
            return words;
        }
        if goal.mood == Mood::Imperative {
            let joints: &[&str] = if shape == Shape::Branch { &THEREUPON } else { &JOINTS };
            words.insert(0, literal(*joints.choose(rng).unwrap_or(&"Then ")));
        } else {
            capitalise(&mut words);
            let lead = *FURTHER.choose(rng).unwrap_or(&"");
            if lead == "And " {
                super::text::lower(&mut words);
            }
            words.insert(0, literal(lead));
        }
        if !ends {
            let asks = matches!(words.first(), Some(Segment::Text(text)) if text.contains("Could you"));
            words.push(literal(if asks { "?" } else { "." }));
        }
        return words;
    }
    match goal.mood {
        Mood::Imperative => {
            let (before, after) = if split == Split::Test {
                *TEST_FRAMES.choose(rng).unwrap_or(&TEST_FRAMES[0])
            } else if ends {
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
            let asks = matches!(words.first(), Some(Segment::Text(text)) if ["Wh", "How", "Can", "Could"].iter().any(|asking| text.starts_with(asking)));
            if split == Split::Train && (greets || !asks && lead.ends_with(": ")) {
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

/// A first turn that says what is wanted and leaves out everything needed for it, and the assistant's question.
fn vague_turn(planner: &Planner<'_>, goal: &Goal) -> Option<(String, String)> {
    let world = planner.world.base.world();
    let api = world.api(goal.api);
    let said = planner.world.world_template.guide.api(goal.api).imperative.first();
    let clause = said.and_then(goal::opening).or_else(|| goal::infinitive(&api.description))?;
    // All that the answer will tell is asked for.
    let refers = |about: &str| {
        let mut kinds = api.parameters.iter().filter_map(|parameter| refers_to(&parameter.schema.kind));
        kinds.any(|resource| *world.resource(resource).label == *about)
    };
    let nouns: Vec<(&str, bool)> =
        goal.details.iter().map(|detail| (&*detail.about, refers(&detail.about))).collect();
    let labels: Vec<String> = nouns.iter().map(|(noun, _)| format!("the {noun}")).collect();
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
        "Happy to help. Please tell me ",
    ];
    let first = format!("{}{clause}.", wants[pick % wants.len()]);
    match nouns.as_slice() {
        [] => return None,
        [(noun, true)] => return Some((first, format!("Which {noun} do you mean?"))),
        [(noun, false)] => return Some((first, format!("What should the {noun} be?"))),
        [(noun, true), (value, false)] => {
            return Some((first, format!("Which {noun} do you mean, and what should the {value} be?")));
        }
        _ => {}
    }
    let lead = asks[pick % asks.len()];
    let mark = if lead.contains("Could") { "?" } else { "." };
    Some((first, format!("{lead}{}{mark}", super::say::enumerate(&labels))))
}
