//! Why a gate does not let a candidate pass: typed, with what was found.

use diorama_seeds::task::RefusalClass;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::gates::Gate;

/// Why a candidate does not pass a gate. Calls, goals and turns count from 0 over the whole conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Reason {
    // Grounded.
    /// An argument that nothing visible gives.
    #[error("call {call}, {api}: nothing visible before the call gives `{argument}` = {value}")]
    ArgumentFromNowhere {
        /// The call.
        call: usize,
        /// Its API.
        api: String,
        /// The argument.
        argument: String,
        /// Its value.
        value: Json,
    },
    /// An argument that only a later turn or reply gives.
    #[error("call {call}, {api}: `{argument}` = {value} is only told later, in turn {turn} of the user")]
    ArgumentTooEarly {
        /// The call.
        call: usize,
        /// Its API.
        api: String,
        /// The argument.
        argument: String,
        /// Its value.
        value: Json,
        /// The user's turn that gives it.
        turn: u32,
    },
    /// Search keywords of which nothing visible has a word.
    #[error("call {call}: none of the keywords `{keywords}` stands in what was visible")]
    KeywordsFromNowhere {
        /// The call.
        call: usize,
        /// The keywords.
        keywords: String,
    },
    /// A number, amount, day or time in the assistant's words that is in no reply and follows from none.
    #[error("goal {goal}: nothing visible gives `{words}`, and it follows from nothing")]
    StatedFromNowhere {
        /// The goal.
        goal: usize,
        /// The words.
        words: String,
    },
    /// A unit that nothing visible gives.
    #[error("goal {goal}: nothing visible gives the unit of `{words}`")]
    UnitFromNowhere {
        /// The goal.
        goal: usize,
        /// The words.
        words: String,
    },
    /// A currency that nothing visible gives.
    #[error("goal {goal}: nothing visible gives the currency of `{words}`")]
    CurrencyFromNowhere {
        /// The goal.
        goal: usize,
        /// The words.
        words: String,
    },
    /// The name of a record that no reply has shown and no user has said.
    #[error("goal {goal}: nothing visible has the name `{words}`")]
    NameFromNowhere {
        /// The goal.
        goal: usize,
        /// The name.
        words: String,
    },

    // Gold.
    /// A field that is asked for is none of the world's.
    #[error("goal {goal} asks for `{resource}.{field}`, which the world does not have")]
    AskNotThere {
        /// The goal.
        goal: usize,
        /// The resource.
        resource: String,
        /// The field.
        field: String,
    },
    /// A fact whose place is not in the reply, or has no typed form.
    #[error("goal {goal}: call {call} shows nothing at `{path}` that can be stated")]
    FactNotThere {
        /// The goal.
        goal: usize,
        /// The call.
        call: usize,
        /// The place.
        path: String,
    },
    /// A fact whose reply comes after the words that state it.
    #[error("goal {goal}: call {call} is made after the goal that states its fact `{path}`")]
    FactTooEarly {
        /// The goal.
        goal: usize,
        /// The call.
        call: usize,
        /// The place.
        path: String,
    },
    /// The world has no API of that name, or it was not visible.
    #[error("call {call}: `{api}` is not a tool that was visible by then")]
    NotATool {
        /// The call.
        call: usize,
        /// The name.
        api: String,
    },
    /// A replay gave another reply or another state.
    #[error("a replay differs at call {call}")]
    ReplayDiffers {
        /// The call; the number of calls for the final state.
        call: usize,
    },
    /// Nothing is changed, stated or refused, so that nothing can be proven.
    #[error("nothing is changed, asked for or refused: there is nothing to prove")]
    ProvesNothing,
    /// The reference solution fails its own checks.
    #[error("goal {goal:?}: the reference solution fails its checks: {message}")]
    GoldFails {
        /// The goal, where it is one goal's fault.
        goal: Option<usize>,
        /// What the grader said.
        message: String,
    },
    /// The goal claims to be done, but its last attempt to change something was refused.
    #[error("goal {goal} ends done, but call {call}, {api}, was answered with {status}")]
    DoneThoughRefused {
        /// The goal.
        goal: usize,
        /// The call.
        call: usize,
        /// Its API.
        api: String,
        /// The status.
        status: u16,
    },
    /// The goal claims to be done, but the reply of a change says otherwise.
    #[error("goal {goal} ends done, but call {call}, {api}, shows `{member}` = {shown}{}", sent.as_ref().map(|sent| format!(" where {sent} was sent")).unwrap_or_default())]
    ReplySaysOtherwise {
        /// The goal.
        goal: usize,
        /// The call.
        call: usize,
        /// Its API.
        api: String,
        /// The member of the reply.
        member: String,
        /// What it shows.
        shown: Json,
        /// What was sent under that name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sent: Option<Json>,
    },
    /// The words claim another state than the reply shows.
    #[error("goal {goal}: the words say `{words}`, but `{member}` of call {call} is {shown}")]
    WordsSayOtherwise {
        /// The goal.
        goal: usize,
        /// The words.
        words: String,
        /// The call.
        call: usize,
        /// The member of its reply.
        member: String,
        /// What it shows.
        shown: Json,
    },
    /// A value of a list is told and not claimed, although others of the list are claimed as all that fit.
    #[error("goal {goal}: the words tell `{path}` of call {call}, which is not among the facts claimed")]
    FactLeftOut {
        /// The goal.
        goal: usize,
        /// The call.
        call: usize,
        /// The place.
        path: String,
    },
    /// The same write is made again, although it was asked for once.
    #[error("call {call}, {api}: the same change was made before, and the user asks for one")]
    RepeatedWrite {
        /// The call.
        call: usize,
        /// Its API.
        api: String,
    },
    /// The goal ends refused, but no reply refuses or comes back empty.
    #[error("goal {goal} ends refused, but no reply says why")]
    RefusedWithoutReason {
        /// The goal.
        goal: usize,
    },
    /// The goal ends refused for another reason than the reply gives.
    #[error("goal {goal} ends refused as {given:?}, but call {call} was answered with {status}")]
    RefusedForAnother {
        /// The goal.
        goal: usize,
        /// The class given.
        given: RefusalClass,
        /// The call.
        call: usize,
        /// Its status.
        status: u16,
    },
    /// A goal that would not have opened.
    #[error("goal {goal} would not open: {what}")]
    NotOpened {
        /// The goal.
        goal: usize,
        /// What does not hold.
        what: String,
    },
    /// The user would have answered something else.
    #[error("goal {goal}: asked `{asked}`, the user would say `{would}`, not `{says}`")]
    UserWouldNotSay {
        /// The goal.
        goal: usize,
        /// The assistant's words.
        asked: String,
        /// What the script gives.
        would: String,
        /// What the candidate has.
        says: String,
    },

    // No-op.
    /// Doing nothing passes.
    #[error("doing nothing and ending with `{words}` passes")]
    IdlePasses {
        /// What was said.
        words: String,
    },
    /// The right words without a call pass.
    #[error("the right facts pass without a call")]
    WordsAlonePass,
    /// A refusal without a request of the same kind that works.
    #[error("goal {goal}: no other values make {api} work, so refusing would always be right")]
    NoSolvableVariant {
        /// The goal.
        goal: usize,
        /// The API that refused.
        api: String,
    },

    // Mutation.
    /// A mutant of the calls passes the checks.
    #[error("call {call}: the mutant {mutant} passes")]
    MutantPasses {
        /// The call, or the number of calls for one added at the end.
        call: usize,
        /// The kind of mutation.
        mutant: Mutation,
    },
    /// No mutant of a call counts.
    #[error("call {call}, {api}: no mutant of it makes a difference, so the call proves nothing")]
    Unprovable {
        /// The call.
        call: usize,
        /// Its API.
        api: String,
    },

    // Alternatives.
    /// Another right way does not pass.
    #[error("another right way fails: {way}: {message}")]
    RightWayFails {
        /// Which.
        way: Way,
        /// What the grader says of it, or why it cannot be made.
        message: String,
    },

    // Determined.
    /// Words that can mean several values, of which more than one works.
    #[error("call {call}: `{words}` may mean {values:?} for `{argument}`, and more than one works")]
    SeveralReadings {
        /// The call.
        call: usize,
        /// The argument.
        argument: String,
        /// The words.
        words: String,
        /// The values that work.
        values: Vec<Json>,
    },
    /// A name that several records bear.
    #[error("call {call}: `{name}` fits {records} records")]
    SeveralRecords {
        /// The call.
        call: usize,
        /// The name.
        name: String,
        /// How many.
        records: usize,
    },
    /// A choice from a list that the words do not settle.
    #[error("call {call}: the words fit {items} of the items that call {of} shows equally well")]
    SeveralItems {
        /// The call that takes one.
        call: usize,
        /// The call that shows them.
        of: usize,
        /// How many.
        items: usize,
    },
    /// The first place of an order is shared, or what it is ordered by is not there.
    #[error("call {call}: the first two items are equal by {by}")]
    Tie {
        /// The call.
        call: usize,
        /// What it is ordered by.
        by: String,
    },
    /// The words ask for the other end of the order.
    #[error("call {call}: the order `{order}` is not the one that was asked for")]
    OtherOrder {
        /// The call.
        call: usize,
        /// The order sent.
        order: String,
    },
}

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mutation {
    /// A call is left out.
    DropCall,
    /// An argument is changed.
    ChangeArgument,
    /// Another API is called.
    OtherApi,
    /// A change that nobody asked for is added.
    AddWrite,
}

/// Other right ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// The same calls on another session seed.
    OtherSeed,
    /// A read that nobody needs.
    RedundantRead,
    /// Another spelling of a value.
    Spelling,
    /// A default written out.
    Default,
    /// Independent calls in another order.
    Reordered,
    /// Another look-up of the same key.
    OtherRoute,
}

impl Mutation {
    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DropCall => "drop_call",
            Self::ChangeArgument => "change_argument",
            Self::OtherApi => "other_api",
            Self::AddWrite => "add_write",
        }
    }
}

impl std::fmt::Display for Mutation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Way {
    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OtherSeed => "other_seed",
            Self::RedundantRead => "redundant_read",
            Self::Spelling => "spelling",
            Self::Default => "default",
            Self::Reordered => "reordered",
            Self::OtherRoute => "other_route",
        }
    }
}

impl std::fmt::Display for Way {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Reason {
    /// Its name: the tag of its JSON form.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.kind().0
    }

    /// The gate that gives this reason.
    #[must_use]
    pub const fn gate(&self) -> Gate {
        self.kind().1
    }

    const fn kind(&self) -> (&'static str, Gate) {
        match self {
            Self::ArgumentFromNowhere { .. } => ("argument_from_nowhere", Gate::Grounded),
            Self::ArgumentTooEarly { .. } => ("argument_too_early", Gate::Grounded),
            Self::KeywordsFromNowhere { .. } => ("keywords_from_nowhere", Gate::Grounded),
            Self::StatedFromNowhere { .. } => ("stated_from_nowhere", Gate::Grounded),
            Self::UnitFromNowhere { .. } => ("unit_from_nowhere", Gate::Grounded),
            Self::CurrencyFromNowhere { .. } => ("currency_from_nowhere", Gate::Grounded),
            Self::NameFromNowhere { .. } => ("name_from_nowhere", Gate::Grounded),
            Self::FactNotThere { .. } => ("fact_not_there", Gate::Solvable),
            Self::AskNotThere { .. } => ("ask_not_there", Gate::Solvable),
            Self::FactTooEarly { .. } => ("fact_too_early", Gate::Solvable),
            Self::FactLeftOut { .. } => ("fact_left_out", Gate::Solvable),
            Self::RepeatedWrite { .. } => ("repeated_write", Gate::Grounded),
            Self::NotATool { .. } => ("not_a_tool", Gate::Solvable),
            Self::ReplayDiffers { .. } => ("replay_differs", Gate::Solvable),
            Self::ProvesNothing => ("proves_nothing", Gate::Solvable),
            Self::GoldFails { .. } => ("gold_fails", Gate::Solvable),
            Self::DoneThoughRefused { .. } => ("done_though_refused", Gate::Solvable),
            Self::ReplySaysOtherwise { .. } => ("reply_says_otherwise", Gate::Solvable),
            Self::WordsSayOtherwise { .. } => ("words_say_otherwise", Gate::Solvable),
            Self::RefusedWithoutReason { .. } => ("refused_without_reason", Gate::Solvable),
            Self::RefusedForAnother { .. } => ("refused_for_another", Gate::Solvable),
            Self::NotOpened { .. } => ("not_opened", Gate::Solvable),
            Self::UserWouldNotSay { .. } => ("user_would_not_say", Gate::Solvable),
            Self::IdlePasses { .. } => ("idle_passes", Gate::Nontrivial),
            Self::WordsAlonePass => ("words_alone_pass", Gate::Nontrivial),
            Self::NoSolvableVariant { .. } => ("no_solvable_variant", Gate::Nontrivial),
            Self::MutantPasses { .. } => ("mutant_passes", Gate::Mutation),
            Self::Unprovable { .. } => ("unprovable", Gate::Mutation),
            Self::RightWayFails { .. } => ("right_way_fails", Gate::Alternatives),
            Self::SeveralReadings { .. } => ("several_readings", Gate::Unambiguous),
            Self::SeveralRecords { .. } => ("several_records", Gate::Unambiguous),
            Self::SeveralItems { .. } => ("several_items", Gate::Unambiguous),
            Self::Tie { .. } => ("tie", Gate::Unambiguous),
            Self::OtherOrder { .. } => ("other_order", Gate::Unambiguous),
        }
    }

    /// The goal it is about, where it is about one.
    #[must_use]
    pub const fn goal(&self) -> Option<usize> {
        match self {
            Self::StatedFromNowhere { goal, .. }
            | Self::UnitFromNowhere { goal, .. }
            | Self::CurrencyFromNowhere { goal, .. }
            | Self::NameFromNowhere { goal, .. }
            | Self::FactNotThere { goal, .. }
            | Self::AskNotThere { goal, .. }
            | Self::FactTooEarly { goal, .. }
            | Self::FactLeftOut { goal, .. }
            | Self::DoneThoughRefused { goal, .. }
            | Self::ReplySaysOtherwise { goal, .. }
            | Self::WordsSayOtherwise { goal, .. }
            | Self::RefusedWithoutReason { goal }
            | Self::RefusedForAnother { goal, .. }
            | Self::NotOpened { goal, .. }
            | Self::UserWouldNotSay { goal, .. }
            | Self::NoSolvableVariant { goal, .. } => Some(*goal),
            Self::GoldFails { goal, .. } => *goal,
            _ => None,
        }
    }

    /// The call it is about, where it is about one.
    #[must_use]
    pub const fn call(&self) -> Option<usize> {
        match self {
            Self::ArgumentFromNowhere { call, .. }
            | Self::ArgumentTooEarly { call, .. }
            | Self::KeywordsFromNowhere { call, .. }
            | Self::NotATool { call, .. }
            | Self::RepeatedWrite { call, .. }
            | Self::MutantPasses { call, .. }
            | Self::Unprovable { call, .. }
            | Self::SeveralReadings { call, .. }
            | Self::SeveralRecords { call, .. }
            | Self::SeveralItems { call, .. }
            | Self::Tie { call, .. }
            | Self::OtherOrder { call, .. } => Some(*call),
            _ => None,
        }
    }
}
