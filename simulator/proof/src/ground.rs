//! Grounding: every argument and every statement of a candidate, derived again from what was visible by then.
//!
//! Runs the calls in a session and reads the words with the extractor of typed mentions. Nothing the author thought is
//! taken for granted: a source is a place in a user's turn or in an earlier reply, a documented default, the clock, or a
//! listed derivation. What has none is named.

mod argument;
mod choice;
mod claims;
mod consent;
mod declined;
mod derived;
mod order;
mod script;
mod text;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use diorama_answers::Clock;
use diorama_answers::prose::Prose;
use diorama_engine::State;
use diorama_engine::session::{LogEntry, Session, SessionOptions};
use diorama_engine::tools::{SearchVersion, TOOL_SEARCHER};
use diorama_seeds::model::{ApiId, FieldId, ResourceId};
use diorama_seeds::script::Script;
use diorama_seeds::task::{Checks, GoldCall, Outcome, RefusalClass};
use diorama_seeds::value::Instant;

use crate::answer::Asked;
use crate::candidate::{Candidate, CandidateError};
use crate::measures::Measures;
use crate::reason::{Code, Reason};
use crate::statements::{Kind, Unsupported, Visible, unsupported};
use crate::survey::reads;
use crate::{WorldContext, checks};

pub use self::declined::{Basis, Declined};
pub use self::script::names_of;

/// A candidate that was run, with the source of everything in it.
#[derive(Clone, Debug)]
pub struct Grounded {
    /// What was proposed.
    pub candidate: Candidate,
    /// The system message.
    pub system: String,
    /// APIs visible at the start.
    pub visible: Vec<ApiId>,
    /// The seed of the session.
    pub seed: u64,
    /// The clock at the start.
    pub clock: Instant,
    /// The version of the search for tools.
    pub search: SearchVersion,
    /// The state at the start.
    pub initial: State,
    /// The state at the end.
    pub last: State,
    /// The calls, each argument with its source.
    pub gold: Vec<GoldCall>,
    /// The calls of each message that calls.
    pub messages: Vec<Range<usize>>,
    /// The calls of each question for a yes, to which the user said it.
    pub consents: Vec<Range<usize>>,
    /// What each call gave.
    pub entries: Vec<Arc<LogEntry>>,
    /// What the user says, in order.
    pub user_turns: Vec<String>,
    /// The goals.
    pub goals: Vec<GroundedGoal>,
    /// The same conversation as a script.
    pub script: Script,
    /// What must hold for the task to be solved.
    pub checks: Checks,
    /// What was found wrong.
    pub faults: Vec<Reason>,
}

/// A goal that was run.
#[derive(Clone, Debug)]
pub struct GroundedGoal {
    /// Its calls.
    pub calls: Range<usize>,
    /// How many turns the user had said by its end.
    pub user_turns: usize,
    /// How it ends.
    pub outcome: Outcome,
    /// For refusals: the classes of the reason that are right, the best first.
    pub refusal: Vec<RefusalClass>,
    /// For refusals: the call that gives the reason.
    pub refused_by: Option<usize>,
    /// For refusals: the call that a rule of a policy forbids.
    pub declined: Option<Declined>,
    /// The facts that its last message states.
    pub asked: Vec<Asked>,
    /// The fields that it asks for in vain.
    pub asks: Vec<(ResourceId, FieldId)>,
    /// Its last message.
    pub answer: String,
}

/// What is visible at a point of a conversation.
pub(crate) struct Seen<'a> {
    pub(crate) context: WorldContext<'a>,
    pub(crate) clock: Clock,
    pub(crate) now: Instant,
    pub(crate) system: Prose,
    /// The user's turns so far.
    pub(crate) turns: Vec<Prose>,
    /// For each of them, how many calls had been answered before it.
    pub(crate) calls_before: Vec<usize>,
    /// The calls so far.
    pub(crate) entries: Vec<Arc<LogEntry>>,
    pub(crate) measures: Measures,
}

/// Runs a candidate and derives where everything in it comes from.
///
/// # Errors
/// [`CandidateError`] when it cannot be run at all. What has no source is in [`Grounded::faults`].
pub fn ground(context: WorldContext<'_>, candidate: Candidate) -> Result<Grounded, CandidateError> {
    ground_with(context, candidate, None)
}

/// As [`ground`], with this search for tools instead of the world's.
///
/// # Errors
/// As [`ground`].
pub fn ground_with(
    context: WorldContext<'_>,
    candidate: Candidate,
    search: Option<SearchVersion>,
) -> Result<Grounded, CandidateError> {
    candidate.check()?;
    let world = context.base.world();
    let visible = visible(context, candidate.tools.as_deref())?;
    let clock = match &candidate.clock {
        Some(text) => world.zone.parse_instant(text).ok_or_else(|| CandidateError::Clock(text.clone()))?,
        None => world.clock,
    };
    let outages = candidate.outages.clone();
    if let Some(unknown) = outages.iter().find(|outage| world.api_named(&outage.api).is_none()) {
        return Err(CandidateError::Outage(unknown.api.clone()));
    }
    let visible_at_start = Some(visible.clone());
    let options = SessionOptions {
        seed: candidate.seed,
        clock: Some(clock),
        visible: visible_at_start,
        search,
        outages,
    };
    let mut session = Session::new(context.base.clone(), options);
    let initial = session.state().clone();
    let system =
        candidate.system.clone().unwrap_or_else(|| text::system_message(world, clock, visible.is_empty()));
    let reading = Clock::at(clock, &world.zone);
    let mut seen = Seen {
        context,
        now: clock,
        system: Prose::read(&system, &reading),
        clock: reading,
        turns: Vec::new(),
        calls_before: Vec::new(),
        entries: Vec::new(),
        measures: Measures::of_tools(context.base, context.vocabulary, &visible),
    };
    let policies = declined::told_policies(world, &system);
    let mut run = Walk { policies, ..Walk::default() };
    for (number, goal) in candidate.goals.iter().enumerate() {
        run.goal(number, goal, &mut session, &mut seen)?;
    }
    let Walk { mut gold, messages, consents, goals, mut faults, unsourced, policies } = run;
    let all_user_turns: Vec<String> = seen.turns.iter().map(|turn| turn.source().to_owned()).collect();
    argument::settle(&unsourced, &mut gold, &goals, &seen, &initial, &mut faults);
    if context.stop.is_set() {
        return Err(CandidateError::Stopped);
    }
    let confirms = world.asks_confirmation(&policies);
    let mut script = script::of(&candidate, &gold, &seen, &goals, &mut faults);
    if confirms {
        consent::add_wants(&mut script, &goals, &gold, &seen);
    }
    let mut checks =
        checks::build(context, &seen.measures, &session, &goals, &gold, &seen.entries, &seen.turns);
    checks.policy = policies;
    checks.confirms = confirms;
    claims::unstated(&checks, &goals, &session.diff(), &seen, &mut faults);
    Ok(Grounded {
        search: initial.search(),
        last: session.state().clone(),
        entries: seen.entries,
        user_turns: all_user_turns,
        seed: candidate.seed,
        candidate,
        system,
        visible,
        clock,
        initial,
        gold,
        messages,
        consents,
        goals,
        script,
        checks,
        faults,
    })
}

/// The APIs that are visible at the start: those named, all where none is named, none with `ToolSearcher` alone.
fn visible(context: WorldContext<'_>, tools: Option<&[String]>) -> Result<Vec<ApiId>, CandidateError> {
    let Some(tools) = tools else { return Ok(context.apis().collect()) };
    let named = tools
        .iter()
        .filter(|name| *name != TOOL_SEARCHER)
        .map(|name| context.base.world().api_named(name).ok_or_else(|| CandidateError::Tool(name.clone())));
    named.collect()
}

/// A candidate on its way through its calls.
#[derive(Default)]
struct Walk {
    gold: Vec<GoldCall>,
    messages: Vec<Range<usize>>,
    consents: Vec<Range<usize>>,
    goals: Vec<GroundedGoal>,
    faults: Vec<Reason>,
    /// Arguments that nothing visible gives, which may still be a choice: call and name.
    unsourced: Vec<argument::Unsourced>,
    /// The domains whose policy is told.
    policies: Vec<String>,
}

impl Walk {
    fn goal(
        &mut self,
        number: usize,
        goal: &crate::candidate::CandidateGoal,
        session: &mut Session,
        seen: &mut Seen<'_>,
    ) -> Result<(), CandidateError> {
        let first = self.gold.len();
        let mut questions = Vec::new();
        let last = Prose::read(goal.last_words(), &seen.clock);
        seen.hear(&goal.user);
        for turn in &goal.turns {
            if seen.context.stop.is_set() {
                return Err(CandidateError::Stopped);
            }
            if let Some(text) = &turn.user {
                seen.hear(text);
            }
            if let Some(said) = &turn.say {
                let other = (said != last.source()).then(|| Prose::read(said, &seen.clock));
                seen.check_stated(number, other.as_ref().unwrap_or(&last), &mut self.faults);
            }
            let of_message = self.gold.len();
            if turn.confirms > 0 {
                questions
                    .push((of_message..of_message + turn.confirms, turn.say.as_deref().unwrap_or_default()));
            }
            let mut made = Vec::new();
            for call in &turn.calls {
                let index = of_message + made.len();
                let id = seen.context.base.world().api_named(&call.api);
                let callable = match id {
                    Some(id) => session.is_visible(id),
                    None => call.api == TOOL_SEARCHER,
                };
                if !callable {
                    self.faults.push(Reason::of_call(Code::UnknownTool, index).with("api", &*call.api));
                }
                // Where a mistake has its arguments from is shown, and held against nobody.
                let (mut faults, mut unsourced) = (Vec::new(), Vec::new());
                let sources = argument::sources(index, call, id, seen, &mut faults, &mut unsourced);
                if !call.mistake {
                    self.faults.append(&mut faults);
                    self.unsourced.append(&mut unsourced);
                }
                let turn = seen.turns.len().saturating_sub(1) as u32;
                self.gold.push(GoldCall {
                    api: call.api.clone(),
                    source_api: id.and_then(|id| {
                        seen.context.base.world().api(id).source_api.as_deref().map(str::to_owned)
                    }),
                    arguments: call.arguments.clone(),
                    sources,
                    turn,
                    mistake: call.mistake,
                    care: call.care,
                });
                if call.care && !id.is_some_and(|id| reads(seen.context.base.world().api(id))) {
                    self.faults.push(Reason::of_call(Code::CareChanges, index).with("api", &*call.api));
                }
                let entry = session.call(&call.into());
                if call.mistake && entry.reply.status != 400 {
                    let status = entry.reply.status;
                    let reason = Reason::of_call(Code::NoMistake, index);
                    self.faults.push(reason.with("api", &*call.api).with("status", status));
                }
                made.push(entry);
            }
            if !made.is_empty() {
                self.messages.push(of_message..self.gold.len());
            }
            // Calls of one message do not see each other's replies.
            made.into_iter().for_each(|entry| seen.add(entry));
        }
        let end = goal.end();
        let calls = first..self.gold.len();
        for (asked, words) in questions {
            consent::check(number, goal, (asked.clone(), words), seen, &mut self.faults);
            self.consents.push(asked);
        }
        let declined = declined::check(number, &end, (session, &self.policies), seen, &mut self.faults);
        let (refusal, refused_by) = match &end.declines {
            Some(_) => (vec![RefusalClass::Forbidden], None),
            None => claims::refusal(number, &end, &calls, seen, &mut self.faults),
        };
        let asked = claims::facts(number, &end, &last, seen, &mut self.faults);
        claims::left_out(number, &asked, &last, seen, &mut self.faults);
        claims::repeated(&calls, seen, &mut self.faults);
        let asks = claims::asks(number, &end, seen, &mut self.faults);
        claims::done(number, &end, &calls, &last, seen, &mut self.faults);
        self.goals.push(GroundedGoal {
            calls,
            user_turns: seen.turns.len(),
            outcome: end.outcome,
            refusal,
            refused_by,
            declined,
            asked,
            asks,
            answer: goal.last_words().to_owned(),
        });
        Ok(())
    }
}

impl Seen<'_> {
    /// What nothing visible gives of what an assistant says.
    fn check_stated(&self, goal: usize, prose: &Prose, faults: &mut Vec<Reason>) {
        let world = (&**self.context.base, self.context.vocabulary);
        let mut visible = Visible::new(&self.clock, self.now, &self.turns, &self.entries, world);
        (visible.system, visible.measures) = (Some(&self.system), Some(&self.measures));
        faults.extend(unsupported(prose, &visible).into_iter().map(|Unsupported { kind, span }| {
            let words = prose.words_at(span).to_owned();
            let code = match kind {
                Kind::Currency => Code::CurrencyUnsupported,
                Kind::Unit => Code::UnitUnsupported,
                Kind::Value => Code::StatementUnsupported,
                Kind::Name => Code::NameUnsupported,
            };
            Reason::of_goal(code, goal).with("words", words)
        }));
    }

    /// The user says something.
    fn hear(&mut self, text: &str) {
        let prose = Prose::read(text, &self.clock);
        self.measures.add_prose(&prose);
        self.turns.push(prose);
        self.calls_before.push(self.entries.len());
    }

    /// A call was answered.
    fn add(&mut self, entry: Arc<LogEntry>) {
        self.measures.add_reply(self.context.base, self.context.vocabulary, &entry);
        self.entries.push(entry);
    }
}

/// The user's turns up to a call.
pub(crate) fn turns_before<'a>(turns: &'a [Prose], gold: &GoldCall) -> &'a [Prose] {
    turns.get(..=gold.turn as usize).unwrap_or(turns)
}

/// Sources by argument.
pub(crate) type Sources = BTreeMap<String, diorama_seeds::task::ArgumentSource>;

pub(crate) use self::argument::folded;
pub(crate) use self::order::{Sought, extremes};
pub(crate) use self::text::{count_stated, days_of, hours_of, readings};
