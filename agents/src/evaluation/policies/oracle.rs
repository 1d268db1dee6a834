//! Owns the reference solution on a live session. Arguments from replies take the values of the live
//! replies.

use std::sync::Arc;

use diorama_baselines::environment::{
    Answer, ConversationEntry, Environment, EnvironmentError, Finish, Reply,
};
use diorama_engine::session::{LogEntry, Session};
use diorama_proof::binding::bind;
use diorama_seeds::agent_tools::CONFIRM;
use diorama_seeds::ending::{self, ItemValue};
use diorama_seeds::script::WithheldDetail;
use diorama_seeds::task::{Call, GoalCheck, Outcome, RefusalClass};
use diorama_user::conversation::FinishData;
use serde_json::{Map, Value as Json, json};

use crate::episode::{GoldConsent, GoldGoal};
use crate::evaluation::judge::PrivilegedTask;
use crate::scenarios::Push;

/// Form of the facts in final answers. Both forms must solve every task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Facts {
    /// The form of the checks.
    AsChecked,
    /// Reversed lists, and items of maps under another of their names.
    Reordered,
}

/// Fixed verdict on every call that a stated policy governs, regardless of its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FixedVerdict {
    /// The call is made.
    Allowed,
    /// The call is refused.
    Forbidden,
}

/// Variant of the reference solution.
#[derive(Clone, Copy, Debug)]
struct Solution {
    how: Facts,
    /// Verdict on governed calls, regardless of the rules.
    verdict: Option<FixedVerdict>,
    /// True if the policy asks the user for the consent that rules require.
    asks: bool,
    /// True if what a rule forbids is done for a user who presses.
    gives_in: bool,
}

impl Solution {
    const REFERENCE: Self = Self { how: Facts::AsChecked, verdict: None, asks: true, gives_in: false };
}

/// Runs the reference solution without requests for the consent that a rule requires. It skips tasks
/// without such a rule.
pub(super) async fn solve_without_asking(
    privileged: PrivilegedTask<'_>,
    environment: &mut dyn Environment,
) -> Result<(), EnvironmentError> {
    if !privileged.task.checks.confirms {
        return Ok(());
    }
    let way = Solution { asks: false, ..Solution::REFERENCE };
    run(privileged, environment, way, false).await.map(|_| ())
}

/// Runs the reference solution, and does what a rule forbids for a user who presses. Where the task tells no policy, nothing is done.
pub(super) async fn solve_and_give_in(
    privileged: PrivilegedTask<'_>,
    environment: &mut dyn Environment,
) -> Result<(), EnvironmentError> {
    if privileged.task.checks.policy.is_empty() {
        return Ok(());
    }
    let way = Solution { gives_in: true, ..Solution::REFERENCE };
    run(privileged, environment, way, false).await.map(|_| ())
}

/// Runs the reference solution with the same verdict on every governed call. It skips tasks that state no
/// policy.
pub(super) async fn solve_with_verdict(
    privileged: PrivilegedTask<'_>,
    environment: &mut dyn Environment,
    verdict: FixedVerdict,
) -> Result<(), EnvironmentError> {
    if privileged.task.checks.policy.is_empty() {
        return Ok(());
    }
    let way = Solution { verdict: Some(verdict), ..Solution::REFERENCE };
    run(privileged, environment, way, false).await.map(|_| ())
}

/// Runs the reference solution to its end, or until a call cannot be bound to the live replies. The
/// mirror session repeats the calls so far.
pub(super) async fn solve(
    privileged: PrivilegedTask<'_>,
    environment: &mut dyn Environment,
    how: Facts,
) -> Result<(), EnvironmentError> {
    replay(privileged, environment, how, false).await.map(|_| ())
}

/// Runs [`solve`], optionally without writes. Returns the omitted writes in order.
pub(super) async fn replay(
    privileged: PrivilegedTask<'_>,
    environment: &mut dyn Environment,
    how: Facts,
    leaves_out_writes: bool,
) -> Result<Vec<Call>, EnvironmentError> {
    run(privileged, environment, Solution { how, ..Solution::REFERENCE }, leaves_out_writes).await
}

async fn run(
    privileged: PrivilegedTask<'_>,
    environment: &mut dyn Environment,
    way: Solution,
    leaves_out_writes: bool,
) -> Result<Vec<Call>, EnvironmentError> {
    let left_out = Vec::new();
    let Ok(mut mirror) = privileged.task.session(privileged.world, privileged.seed) else {
        return Ok(left_out);
    };
    for said in &environment.view().conversation {
        if let ConversationEntry::Call(call, _) = said {
            mirror.call(call);
        }
    }
    let mut solving = Solving { privileged, way, mirror, replies: Vec::new(), leaves_out_writes, left_out };
    for (number, goal) in privileged.task.goals.iter().enumerate() {
        if solving.goal(number, goal, environment).await?.is_none_or(|answer| answer.over) {
            break;
        }
    }
    Ok(solving.left_out)
}

/// Runs the reference calls in a session of their own with the same seed, until one cannot be bound.
pub(super) fn play_reference(privileged: PrivilegedTask<'_>) -> Vec<Arc<LogEntry>> {
    let world = privileged.world.base.world();
    let mut replies = Vec::new();
    if let Ok(mut mirror) = privileged.task.session(privileged.world, privileged.seed) {
        for gold in &privileged.task.gold {
            let Some(call) = bind(gold, &replies, world) else { break };
            replies.push(Some(mirror.call(&call)));
        }
    }
    replies.into_iter().flatten().collect()
}

/// Run of the reference solution. A mirror session with the same seed makes the same calls, and shows the
/// expected replies. A transient failure is retried. If a live reply still differs, a fault has occurred and
/// the policy gives up.
struct Solving<'a> {
    privileged: PrivilegedTask<'a>,
    way: Solution,
    mirror: Session,
    replies: Vec<Option<Arc<LogEntry>>>,
    /// True if writes are omitted live. Later replies may then differ.
    leaves_out_writes: bool,
    left_out: Vec<Call>,
}

/// Maximum number of retries after a fault. If two calls in five fail, one call in 10^9 is lost.
const MAX_RETRIES: u32 = 24;

/// Makes a call, and repeats it after an unexpected status that may be transient: 401, 429, 5xx.
async fn persistently(
    environment: &mut dyn Environment,
    call: &Call,
    expected: u16,
) -> Result<Reply, EnvironmentError> {
    let mut left = MAX_RETRIES;
    loop {
        let reply = environment.call(call).await?;
        let passes = matches!(reply.status, 401 | 429 | 500..);
        if reply.status == expected || !passes || left == 0 {
            return Ok(reply);
        }
        left -= 1;
    }
}

impl Solving<'_> {
    async fn goal(
        &mut self,
        number: usize,
        goal: &GoldGoal,
        environment: &mut dyn Environment,
    ) -> Result<Option<Answer>, EnvironmentError> {
        let world = self.privileged.world.base.world();
        let held = self.privileged.task.script.goals.get(number).map_or(&[][..], |goal| &goal.withheld);
        for detail in held {
            environment.say(&question(detail)).await?;
        }
        // The last governed call that this policy refuses, although the reference makes it.
        let mut refused = None;
        let lines = self.privileged.task.script.goals.get(number).map_or(0, |goal| goal.lines.len());
        for index in goal.calls.clone() {
            let Some(gold) = self.privileged.task.gold.get(index) else { return Ok(None) };
            let Some(call) = bind(gold, &self.replies, world) else { return Ok(None) };
            if let Some(asked) = goal.consents.iter().find(|asked| asked.at == index && self.way.asks) {
                self.confirm(asked, environment).await?;
            }
            if self.way.verdict == Some(FixedVerdict::Forbidden) && self.is_governed(&call) {
                self.replies.push(None);
                refused = Some(call);
                continue;
            }
            let entry = self.mirror.call(&call);
            if self.leaves_out_writes && !entry.changes.is_empty() {
                self.left_out.push(call);
                self.replies.push(Some(entry));
                continue;
            }
            let reply = persistently(environment, &call, entry.reply.status).await?;
            let is_same =
                entry.reply.status == reply.status && entry.reply.json_tree(&world.zone) == reply.body;
            // A fault during an avoidable error of the reference does no harm.
            if !is_same && !self.leaves_out_writes && !gold.mistake {
                return Ok(None);
            }
            self.replies.push(Some(entry));
        }
        // The user adds unprompted lines before the end.
        for _ in 0..lines {
            environment.say("Shall I go on?").await?;
        }
        let Some(mut end) = self.finish(number) else { return Ok(None) };
        let claims = self.privileged.task.gold_answer.claims.get(number);
        let declined = claims.and_then(|claims| claims.ends.declines.as_ref());
        let does_anyway = match declined {
            Some(_) if self.way.gives_in => self.is_pressed(number, &end.message, environment).await?,
            _ => self.way.verdict == Some(FixedVerdict::Allowed),
        };
        if let Some(call) = declined.filter(|_| does_anyway) {
            environment.call(call).await?;
            end = Finish { outcome: Outcome::Done, reason: None, about: None, ..end };
        }
        if let Some(call) = refused {
            let named = call.arguments.values().find_map(|value| value.as_str().map(str::to_owned));
            let reason = Some(RefusalClass::Forbidden);
            end = Finish { outcome: Outcome::Refused, reason, about: named, facts: Map::new(), ..end };
        }
        self.end(&end, environment).await.map(Some)
    }

    /// Ends a goal. A user who pleads keeps it open, so it is ended again.
    async fn end(&self, end: &Finish, environment: &mut dyn Environment) -> Result<Answer, EnvironmentError> {
        loop {
            let answer = environment.finish(end).await?;
            if !answer.keeps_open {
                return Ok(answer);
            }
        }
    }

    /// Refuses in words. Returns true if the user presses: with the request, or now.
    async fn is_pressed(
        &self,
        goal: usize,
        refusal: &str,
        environment: &mut dyn Environment,
    ) -> Result<bool, EnvironmentError> {
        let task = self.privileged.task;
        let with_request = task.tags.iter().any(|tag| *tag == Push::Pressure.label());
        let answer = environment.say(refusal).await?.words.unwrap_or_default();
        let pleads = task.script.goals.get(goal).is_some_and(|goal| goal.pleas.contains(&answer));
        Ok(with_request || pleads)
    }

    /// Asks the user to consent to calls, as far as they can be bound.
    async fn confirm(
        &self,
        asked: &GoldConsent,
        environment: &mut dyn Environment,
    ) -> Result<(), EnvironmentError> {
        let world = self.privileged.world.base.world();
        let gold = self.privileged.task.gold.iter().skip(asked.at).take(asked.calls.len());
        let calls: Vec<Call> = gold.filter_map(|gold| bind(gold, &self.replies, world)).collect();
        let arguments = json!({"calls": calls, "message": self.restate(&asked.question)});
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        environment.call(&Call { api: CONFIRM.to_owned(), arguments }).await.map(|_| ())
    }

    /// Returns true if a rule of a stated policy governs a call.
    fn is_governed(&self, call: &Call) -> bool {
        let world = self.privileged.world.base.world();
        let told = &self.privileged.task.checks.policy;
        world.api_named(&call.api).is_some_and(|api| world.is_governed(api, told))
    }

    /// Returns the final answer of a goal with the values of this session.
    fn finish(&self, number: usize) -> Option<Finish> {
        let PrivilegedTask { task, world, .. } = self.privileged;
        let calls: Vec<Arc<LogEntry>> = self.replies.iter().flatten().cloned().collect();
        let given = task.final_answers(world, &calls).into_iter().nth(number)?;
        let FinishData { outcome, reason, about, mut facts } = given;
        if self.way.how == Facts::Reordered {
            let zone = &world.base.world().zone;
            let mut shown = Vec::new();
            calls.iter().for_each(|entry| add_leaves(&entry.reply.json_tree(zone), &mut shown));
            reorder(task.checks.goals.get(number)?, &shown, &mut facts);
        }
        let message = self.restate(&task.goals.get(number)?.answer);
        Some(Finish { outcome: outcome?, reason, about, facts, message })
    }

    /// Replaces the reference's keys and tokens in a text by those of this session.
    fn restate(&self, words: &str) -> String {
        let zone = &self.privileged.world.base.world().zone;
        let mut words = words.to_owned();
        for (entry, recorded) in self.replies.iter().zip(&self.privileged.task.replies) {
            let Some(entry) = entry else { continue };
            let Ok(recorded) = serde_json::from_str::<Json>(recorded) else { continue };
            let (mut own, mut theirs) = (Vec::new(), Vec::new());
            add_leaves(&entry.reply.json_tree(zone), &mut own);
            add_leaves(&recorded, &mut theirs);
            for (own, theirs) in own.iter().zip(&theirs).filter(|(own, theirs)| own != theirs) {
                words = words.replace(theirs.as_str(), own);
            }
        }
        words
    }
}

/// Appends the values of a reply as text, in document order.
fn add_leaves(reply: &Json, found: &mut Vec<String>) {
    match reply {
        Json::Array(items) => items.iter().for_each(|item| add_leaves(item, found)),
        Json::Object(members) => members.values().for_each(|member| add_leaves(member, found)),
        Json::String(text) => found.push(text.clone()),
        other => found.push(other.to_string()),
    }
}

/// Reverses the lists of facts, and renames the items of maps to another name that a reply shows.
fn reorder(goal: &GoalCheck, shown: &[String], facts: &mut Map<String, Json>) {
    for fact in ending::named(goal) {
        let checks = fact.checks.iter().filter_map(|at| goal.answer.get(*at));
        let items: Vec<ItemValue<'_>> = checks.flat_map(ending::item_values).collect();
        match facts.get_mut(&fact.name) {
            Some(Json::Array(values)) => values.reverse(),
            Some(Json::Object(values)) => {
                let named = std::mem::take(values);
                let other = |(key, value)| {
                    let item = items.iter().find(|item| item.names.first() == Some(&key));
                    let mut names = item.into_iter().flat_map(|item| item.names.iter().rev());
                    (names.find(|name| shown.contains(name)).cloned().unwrap_or(key), value)
                };
                *values = named.into_iter().rev().map(other).collect();
            }
            _ => {}
        }
    }
}

/// Returns a question for a withheld detail, by its name.
fn question(held: &WithheldDetail) -> String {
    format!("Could you tell me the {}?", held.about.replace('_', " "))
}
