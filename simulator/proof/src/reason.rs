//! Defines the reasons of a gate to reject a candidate: a code with its gate, the position in the
//! conversation, and details.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::gate::Gate;

/// Why a candidate does not pass a gate. Calls, goals and turns count from 0 over the whole conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// The kind of reason.
    pub code: Code,
    /// The gate that gives it.
    pub gate: Gate,
    /// The goal it is about, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<usize>,
    /// The call it is about, where it is about one; the number of calls for the end of the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<usize>,
    /// The values that the code's message names.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Json>,
}

impl Reason {
    /// Returns a reason about the conversation as a whole.
    #[must_use]
    pub fn new(code: Code) -> Self {
        Self { code, gate: code.gate(), goal: None, call: None, details: Map::new() }
    }

    /// Returns a reason about a goal.
    #[must_use]
    pub fn of_goal(code: Code, goal: usize) -> Self {
        Self { goal: Some(goal), ..Self::new(code) }
    }

    /// Returns a reason about a call.
    #[must_use]
    pub fn of_call(code: Code, call: usize) -> Self {
        Self { call: Some(call), ..Self::new(code) }
    }

    /// Returns the same reason, also about a call.
    #[must_use]
    pub const fn at_call(mut self, call: usize) -> Self {
        self.call = Some(call);
        self
    }

    /// Returns the same reason with one detail more.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Json>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.goal, self.call) {
            (Some(goal), Some(call)) => write!(formatter, "goal {goal}, call {call}: ")?,
            (Some(goal), None) => write!(formatter, "goal {goal}: ")?,
            (None, Some(call)) => write!(formatter, "call {call}: ")?,
            (None, None) => {}
        }
        let mut parts = self.code.message().split(['{', '}']);
        while let Some(words) = parts.next() {
            formatter.write_str(words)?;
            match parts.next().map(|name| self.details.get(name).unwrap_or(&Json::Null)) {
                Some(Json::String(text)) => formatter.write_str(text)?,
                Some(value) => write!(formatter, "{value}")?,
                None => {}
            }
        }
        Ok(())
    }
}

/// Defines the codes: each with its meaning, its name in JSON, its gate, and its message with places for details.
macro_rules! codes {
    ($($(#[doc = $meaning:literal])+ $code:ident, $name:literal, $gate:ident, $message:literal;)+) => {
        /// The kinds of reasons.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum Code {
            $($(#[doc = $meaning])+ #[serde(rename = $name)] $code,)+
        }

        impl Code {
            /// All codes, ordered by gate.
            pub const ALL: &[Self] = &[$(Self::$code),+];

            /// Its name in JSON.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$code => $name,)+ }
            }

            /// The gate that gives it.
            #[must_use]
            pub const fn gate(self) -> Gate {
                match self { $(Self::$code => Gate::$gate,)+ }
            }

            /// Its meaning, in one sentence.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$code => concat!($($meaning),+).trim(),)+ }
            }

            /// Its message, with the names of details in braces.
            const fn message(self) -> &'static str {
                match self { $(Self::$code => $message,)+ }
            }
        }
    };
}

codes! {
    /// A claimed fact names a place that its reply does not have, or that has no typed value.
    FactMissing, "fact_missing", Solvable, "the reply shows nothing at `{path}` that can be stated";
    /// A field that is asked for in vain is none of the world's.
    UnknownField, "unknown_field", Solvable, "`{resource}.{field}` is asked for, and the world does not have it";
    /// The call that shows a fact comes after the goal that states it.
    FactTooEarly, "fact_too_early", Solvable, "the call is made after the goal that states its fact `{path}`";
    /// A value of a list is stated and not claimed, while other values of the list are.
    FactUnclaimed, "fact_unclaimed", Solvable, "the message states `{path}`, which is not among the claimed facts";
    /// The last message of a goal does not state a fact that the goal claims.
    FactUnstated, "fact_unstated", Solvable, "the last message does not state the {about}";
    /// The world has no API of that name, or it was not visible.
    UnknownTool, "unknown_tool", Solvable, "`{api}` is not a tool that was visible by then";
    /// A call is marked as a mistake, and its API does not refuse its arguments.
    NoMistake, "no_mistake", Solvable, "{api} is marked as a mistake, and was answered with {status}, not with 400";
    /// A replay in a fresh session gives another reply or another state.
    ReplayDiffers, "replay_differs", Solvable, "a replay gives another reply or state";
    /// A fact is claimed as a magnitude, and is no number that can be below zero.
    FactUnsigned, "fact_unsigned", Solvable, "`{path}` is claimed as a magnitude, and cannot be below zero";
    /// The message states a value below zero without its sign, and the fact is not claimed as a magnitude.
    SignDropped, "sign_dropped", Solvable,
        "`{path}` is {value}, and the message gives it without the sign; claim it as a magnitude";
    /// No goal changes, states or refuses anything.
    NoChecks, "no_checks", Solvable, "nothing is changed, asked for or refused: there is nothing to prove";
    /// The reference solution fails its own checks.
    ReferenceFails, "reference_fails", Solvable, "the reference solution fails its checks: {message}";
    /// The goal ends done, but its last attempt to change something was refused.
    DoneThoughRefused, "done_though_refused", Solvable, "the goal ends done, but {api} was answered with {status}";
    /// The goal ends done, but the reply of a write shows another value than was sent.
    ReplyContradicts, "reply_contradicts", Solvable,
        "the goal ends done, but {api} shows `{member}` = {shown} (sent: {sent})";
    /// The message states another state than the reply shows.
    MessageContradicts, "message_contradicts", Solvable, "the message says `{words}`, but `{member}` is {shown}";
    /// The goal ends refused, but no reply refuses or is empty.
    RefusedWithoutReason, "refused_without_reason", Solvable, "the goal ends refused, but no reply gives a reason";
    /// The goal ends refused for another reason than the reply gives.
    WrongRefusalReason, "wrong_refusal_reason", Solvable,
        "the goal ends refused as {given}, but the call was answered with {status}";
    /// A declined call is refused for another reason than a rule of a policy.
    DeclinedOtherwise, "declined_otherwise", Solvable, "a rule of the policy is to forbid {api}, and the reason given is another one";
    /// The API itself refuses a declined call, so that no rule of a policy is the reason.
    DeclinedFails, "declined_fails", Solvable, "{api} refuses the declined call itself, so it is no matter of the policy";
    /// No rule of the policy forbids a declined call.
    NoRuleForbids, "no_rule_forbids", Solvable, "no rule of the policy forbids the declined call of {api}";
    /// The system message lacks a rule of the policy that forbids a declined call.
    PolicyUntold, "policy_untold", Solvable, "the system message does not tell all rules of the policy that governs {api}";
    /// A question for a yes to a call leaves out a value that the policy wants stated.
    ConsentUnstated, "consent_unstated", Solvable, "the question for a yes to {api} does not state {noun}";
    /// The user's answer to a question for a yes to a call is no yes.
    NoConsent, "no_consent", Solvable, "the user answers a question for a yes with `{words}`";
    /// A call is marked as care, and does more than read.
    CareChanges, "care_changes", Solvable, "{api} is marked as care, and does more than read";
    /// A goal's opening condition does not hold.
    NotOpened, "not_opened", Solvable, "the goal would not open: {what}";
    /// The user simulator answers a question otherwise than the candidate's user.
    UserAnswersOtherwise, "user_answers_otherwise", Solvable,
        "asked `{asked}`, the user would say `{would}`, not `{says}`";
    /// Doing nothing passes the checks.
    IdlePasses, "idle_passes", Nontrivial, "doing nothing and ending with `{words}` passes";
    /// The right facts pass without a call.
    FactsAlonePass, "facts_alone_pass", Nontrivial, "the right facts pass without a call";
    /// No other values make a refused call work, so refusing would always be right.
    NoSolvableVariant, "no_solvable_variant", Nontrivial, "no other values make {api} work";
    /// A mutant of the reference calls passes the checks.
    MutantPasses, "mutant_passes", Mutation, "the mutant {mutant} passes";
    /// No mutant of a reference call makes a difference.
    NoMutantFails, "no_mutant_fails", Mutation, "no mutant of {api} makes a difference, so the call proves nothing";
    /// Another right way fails the checks.
    RightWayFails, "right_way_fails", Alternatives, "another right way fails: {way}: {message}";
    /// Words mean several values, of which more than one works.
    SeveralReadings, "several_readings", Unambiguous,
        "`{words}` may mean {values} for `{argument}`, and more than one works";
    /// Several records have the name that was used.
    SeveralRecords, "several_records", Unambiguous, "`{name}` fits {records} records";
    /// Words fit several items of a list equally well.
    SeveralItems, "several_items", Unambiguous, "the words fit {items} of the items that call {of} shows equally well";
    /// The first two items of an ordered list are equal in what orders them.
    Tie, "tie", Unambiguous, "the first two items are equal by {by}";
    /// The call orders a list otherwise than the words ask.
    WrongOrder, "wrong_order", Unambiguous, "the order `{order}` is not the one that was asked for";
    /// The opening gives a value that a later line of the user takes back, and acting on it does damage.
    Literal, "literal", Unambiguous,
        "the opening says {value} for `{argument}`, the user later {taken}: who does what is said and asks nothing does damage";
    /// No message, reply, default or clock gives an argument.
    ArgumentUnsupported, "argument_unsupported", Grounded,
        "{api}: nothing visible before the call gives `{argument}` = {value}";
    /// Only a later message or reply gives an argument.
    ArgumentTooEarly, "argument_too_early", Grounded,
        "{api}: `{argument}` = {value} is given only later, in turn {turn} of the user";
    /// No keyword of a search occurs in anything visible.
    KeywordsUnsupported, "keywords_unsupported", Grounded, "none of the keywords `{keywords}` occurs in what was visible";
    /// The same write is made twice, although it was asked for once.
    RepeatedWrite, "repeated_write", Grounded, "{api}: the same write was made before, and the user asks for one";
    /// No reply gives a number, amount, day or time that the assistant states, and it follows from none.
    StatementUnsupported, "statement_unsupported", Grounded, "nothing visible gives `{words}`, and it follows from nothing";
    /// No message and no reply gives the unit of a stated value.
    UnitUnsupported, "unit_unsupported", Grounded, "nothing visible gives the unit of `{words}`";
    /// No message and no reply gives the currency of a stated value.
    CurrencyUnsupported, "currency_unsupported", Grounded, "nothing visible gives the currency of `{words}`";
    /// No reply or user message has the name of a record that the assistant names.
    NameUnsupported, "name_unsupported", Grounded, "nothing visible has the name `{words}`";
}

/// The kinds of mutants of a reference solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// A call is left out.
    DropCall,
    /// An argument is changed.
    ChangeArgument,
    /// Another API is called.
    OtherApi,
    /// A write is added that the user did not ask for.
    AddWrite,
    /// A write is made only after its goal has ended.
    Late,
    /// A call is made that a policy forbids.
    DoAnyway,
    /// A call is refused that a policy allows.
    RefuseAnyway,
    /// The verdict is the opposite one of a replaced article.
    Replaced,
    /// The user is not asked for the consent that a rule of a policy requires.
    DropConsent,
    /// The user agrees to another call than the one that is made.
    AlterConsent,
}

impl Mutation {
    /// Returns its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DropCall => "drop_call",
            Self::ChangeArgument => "change_argument",
            Self::OtherApi => "other_api",
            Self::AddWrite => "add_write",
            Self::Late => "late",
            Self::DoAnyway => "do_anyway",
            Self::RefuseAnyway => "refuse_anyway",
            Self::Replaced => "replaced_article",
            Self::DropConsent => "drop_consent",
            Self::AlterConsent => "alter_consent",
        }
    }
}

/// The kinds of other right solutions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The same calls in a session of another seed.
    OtherSeed,
    /// An unneeded read is added.
    RedundantRead,
    /// Another spelling of a value.
    Spelling,
    /// A free text in other words.
    Paraphrase,
    /// A default written out.
    Default,
    /// Independent calls in another order.
    Reordered,
    /// Another look-up of the same key.
    OtherRoute,
    /// One early question for a yes to all calls of a goal that need one.
    JoinedConsent,
    /// A question of its own for each call that needs a yes.
    SplitConsent,
}

impl Way {
    /// Returns its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OtherSeed => "other_seed",
            Self::RedundantRead => "redundant_read",
            Self::Spelling => "spelling",
            Self::Paraphrase => "paraphrase",
            Self::Default => "default",
            Self::Reordered => "reordered",
            Self::OtherRoute => "other_route",
            Self::JoinedConsent => "joined_consent",
            Self::SplitConsent => "split_consent",
        }
    }
}
