//! Owns the part of the world format that describes scenarios: complete conversations with placeholders for
//! values.

use std::collections::HashMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::wire::{self, is_false};
use crate::task::{Outcome, RefusalClass, refusal};

/// A conversation written whole by a person of the trade, with places for values. Strings marked *words* are
/// templates over the places and the named replies, each with several wordings; strings marked *expression* are in the
/// expression language of `docs/world-format.md`. `docs/scenarios.md` is the guide.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioDoc {
    /// Its name, unique in the domain: `hold_when_all_out`.
    pub name: String,
    /// The user and their situation: `a reader on the phone in the evening, in a hurry`.
    pub who: String,
    /// The role of the user who speaks.
    #[serde(default, skip_serializing_if = "Speaker::is_customer")]
    pub speaker: Speaker,
    /// The place that holds the speaker's own record or name; `me` where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// Reasons that a matter of this kind has in common with others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub occasions: Vec<Occasion>,
    /// Words: what the user says in place of the first goal's `user`, where other matters of theirs came before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<String>,
    /// The places: records and values that make the scenario true, chosen in this order.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub bind: IndexMap<String, PlaceDoc>,
    /// Expressions over the places that must hold besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<String>,
    /// Details that the user gives only when asked, by name: words, in several wordings.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub withheld: IndexMap<String, Vec<String>>,
    /// Properties that do not follow from the scenario's form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shows: Vec<Tag>,
    /// The system message tells the policy of the domain, and its rules must be kept.
    #[serde(default, skip_serializing_if = "is_false")]
    pub policy: bool,
    /// The goals: one thing after the other that the user wants.
    pub goals: Vec<ScenarioGoalDoc>,
}

/// The role of a scenario's user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// Somebody whom the service serves.
    #[default]
    Customer,
    /// Somebody who works for the service.
    Staff,
}

impl Speaker {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    const fn is_customer(&self) -> bool {
        matches!(self, Self::Customer)
    }
}

/// A reason that several matters of one person may have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Occasion {
    /// Going away for some days.
    Trip,
    /// Going out in the evening.
    EveningOut,
    /// People come to stay or to eat.
    Visitors,
    /// Settling in a new home.
    Moving,
    /// Running the home.
    Household,
    /// Getting one's finances in order.
    Money,
    /// Health, exercise, rest.
    Wellbeing,
    /// A course, learning, reading for it.
    Study,
    /// Job, business, colleagues.
    Work,
    /// Something for somebody else.
    Gift,
    /// Going through what is to be settled.
    Planning,
}

/// A property of a scenario that does not follow from its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tag {
    /// The user takes something back or changes their mind after a call.
    Correction,
    /// The assistant asks for consent before something that costs or cannot be undone.
    Confirmation,
    /// A question that no API of the world answers.
    NoTool,
    /// A reply that takes several pages to read.
    NextPage,
    /// A result that had to be worked out from several replies.
    Calculation,
}

/// A place: exactly one of `a`, `some`, `value`, `pick`, `from`, `like`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PlaceDoc {
    /// A record of this resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<String>,
    /// Several records of this resource, `min` to `max` of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub some: Option<String>,
    /// Expression that must hold. The record is `item`; a value goes by the place's own name.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// With `some`: least number. Default 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<usize>,
    /// With `some`: greatest number; when more records fit, so many of them are drawn. Left out, all that fit are
    /// taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<usize>,
    /// With `some`: the field that they are in the order of; a minus sign means descending. By key when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// Expression: what follows from the places before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// One of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pick: Vec<Json>,
    /// A number from here,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// up to here,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<f64>,
    /// in steps of this. Default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// A value such as `resource.field` holds, that no record of this world has; of `resource` alone, a record such as the
    /// world might have, for what is made or changed: its fields go together, and references are not among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
}

/// One thing that the user wants, and how it goes. Its words may stand in a file of words instead.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["user", "end"]))]
pub struct ScenarioGoalDoc {
    /// When it opens; always, once the goal before it has ended, when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<ScenarioWhenDoc>,
    /// Words: what the user says to open it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub user: Vec<String>,
    /// The steps, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub does: Vec<ScenarioStepDoc>,
    /// Expressions over places and replies, as in words without the braces, that must hold once the steps were taken; where
    /// one does not, other records are drawn: `list.total <= 12`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_if: Vec<String>,
    /// Words: the assistant's last message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub end: Vec<String>,
    /// Words: the assistant's last message where the policy forbids the governed call. The same plot is then played to both ends, the
    /// other of which `end` tells; with `declined` alone, to this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub declined: Vec<String>,
    /// The facts that the last message states because the user asked for them: `found.available` for a place of a named
    /// reply, `found.books[*].title` for one member of all items, `count(found.books)` for how many, `magnitude(spent.amount)`
    /// for how much, whatever the sign, `wanted.available` for the field of a place's record, or of each of its records, as
    /// the latest reply shows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
    /// The goal ends with a refusal of this class, or of one of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "refusal")]
    #[schemars(with = "refusal::OneOrSeveral")]
    pub refused: Vec<RefusalClass>,
    /// With `refused`: the fields asked for in vain, `resource.field`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<String>,
}

/// When a goal opens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScenarioWhenDoc {
    /// The goal before must have ended so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The fact that a reply must have shown: `found.available`, or `found` for a refusal or for an empty result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
}

/// A step: calls, a question, or words of the user; `say` may stand before any of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScenarioStepDoc {
    /// Words: what the assistant says with it. An empty wording says nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub say: Vec<String>,
    /// The API to call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// A name for its reply.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its arguments: places, replies and literals, as in words without the braces. A record stands for its key. The
    /// token of a signed-in user is filled in.
    #[serde(skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub with: IndexMap<String, Json>,
    /// Places of records: the list is read page by page until replies have shown them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub until: Vec<String>,
    /// The call must be refused.
    #[serde(skip_serializing_if = "is_false")]
    pub fails: bool,
    /// The policy's verdict on the call decides how the goal ends: forbidden, the call is not made and the goal ends with `declined`.
    #[serde(skip_serializing_if = "is_false")]
    pub governed: bool,
    /// With `governed`: what the user may claim, rightly or wrongly, to have the call made, as a clause: `I'm gold`. By the rule that makes
    /// a difference of it.
    #[serde(skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub claims: IndexMap<String, String>,
    /// A read that only makes sure: the solution does without it.
    #[serde(skip_serializing_if = "is_false")]
    pub care: bool,
    /// One call for each of these: `l in late`, where `late` is a place of several records or a list in a reply. In
    /// `with` the item goes by the name; the replies are a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
    /// Several calls in one message, that don't need each other's replies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<ScenarioStepDoc>,
    /// The assistant asks (in `say`) for these names under `withheld`, and is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<String>,
    /// Words: what the user says after `say` of their own accord: a choice, a consent, a correction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub user: Vec<String>,
    /// A name for such a step, by which a file of words has its `say` and `user`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub talk: Option<String>,
}

/// A file of scenarios that stands beside a world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenariosDoc {
    /// The scenarios.
    pub scenarios: Vec<ScenarioDoc>,
    /// Phrases that people use for each API, for searches: by API, words that do not come from its description.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty", deserialize_with = "wire::unique")]
    pub search: IndexMap<String, Vec<String>>,
    /// Texts by which operators tell their assistants who they are: `You are the night porter of a small hotel.`
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "wire::wordings")]
    pub system: Vec<String>,
    /// Messages of users who come to another matter after one of the domain is settled.
    #[serde(default, skip_serializing_if = "ReactionsDoc::is_empty")]
    pub reactions: ReactionsDoc,
    /// How users sign in when a call needs it.
    #[serde(default, skip_serializing_if = "SignInDoc::is_empty")]
    pub sign_in: SignInDoc,
}

/// Words for signing in, where a call needs a signed-in user, in several wordings each; the user is the place `me`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SignInDoc {
    /// The assistant asks for what signs users in: `I'd need your card number and PIN for that.`
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "wire::wordings")]
    pub ask: Vec<String>,
    /// The user tells it: `{me.card_number}, pin {me.pin}`
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "wire::wordings")]
    pub tell: Vec<String>,
}

impl SignInDoc {
    /// Returns true if there are no words for signing in.
    pub fn is_empty(&self) -> bool {
        self.ask.is_empty() && self.tell.is_empty()
    }
}

/// Messages of users before they come to another matter. Plain text, in several wordings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReactionsDoc {
    /// It was done or answered: `Good, that's the hotel seen to.`
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "wire::wordings")]
    pub done: Vec<String>,
    /// It could not be done: `Pity. I'll ask the hotel another time.`
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "wire::wordings")]
    pub refused: Vec<String>,
}

impl ReactionsDoc {
    /// Returns true if there are no reactions.
    pub fn is_empty(&self) -> bool {
        self.done.is_empty() && self.refused.is_empty()
    }
}

impl ScenarioDoc {
    /// Returns the steps that call an API, including those inside `together`.
    pub fn calls(&self) -> impl Iterator<Item = &ScenarioStepDoc> {
        let steps = self.goals.iter().flat_map(|goal| &goal.does);
        steps.flat_map(|step| std::iter::once(step).chain(&step.together)).filter(|step| step.call.is_some())
    }

    /// Returns the wordings of each line that the user says.
    pub fn said_by_user(&self) -> impl Iterator<Item = &[String]> {
        let goals = self.goals.iter();
        let lines =
            goals.flat_map(|goal| std::iter::once(&goal.user).chain(goal.does.iter().map(|step| &step.user)));
        lines
            .chain([&self.later])
            .chain(self.withheld.values())
            .map(Vec::as_slice)
            .filter(|wordings| !wordings.is_empty())
    }

    /// Replaces the names of called APIs. `names` maps old names to new ones.
    pub fn rename_apis(&mut self, names: &HashMap<String, String>) {
        let steps = self.goals.iter_mut().flat_map(|goal| &mut goal.does);
        for step in steps {
            for call in
                std::iter::once(&mut step.call).chain(step.together.iter_mut().map(|step| &mut step.call))
            {
                if let Some(new) = call.as_ref().and_then(|call| names.get(call)) {
                    *call = Some(new.clone());
                }
            }
        }
    }
}
