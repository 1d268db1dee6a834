//! The state of a conversation on its way, as data.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_seeds::model::{ApiId, DomainId};
use diorama_seeds::scenario::BoundValue;

use super::hand::Hand;
use super::push::Push;
use crate::draws::WordingTurn;

/// What stays the same through a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Manner {
    /// How the user writes.
    pub(crate) hand: Hand,
    pub(crate) system: String,
    /// True where tools are found by searching.
    pub(crate) retrieves: bool,
    /// True where the operator has signed the user in: then standing tokens take the place of sign-ins.
    pub(crate) is_signed_in: bool,
    /// True where the policy is to forbid governed calls, of plots with both ends.
    pub(crate) forbids: bool,
    /// What the user says to have the policy bent, until it is said.
    pub(crate) push: Option<Push>,
    /// True where the user asks for no needless questions.
    pub(crate) is_impatient: bool,
    /// True where articles that were replaced are to lead to the other verdict.
    pub(crate) misleads: bool,
}

/// What was said so far.
#[derive(Default)]
pub(crate) struct Talk {
    /// The user's messages.
    pub(crate) said: Vec<String>,
    /// The assistant's messages.
    pub(crate) answered: Vec<String>,
    /// Position in `said` of the first message of the present goal.
    pub(crate) goal_from: usize,
    /// The turn of the first scenario's wordings.
    pub(crate) turn: Option<WordingTurn>,
    /// What is assured in the present goal.
    pub(crate) assurance: Assurance,
    /// True where the assistant has had a call confirmed by rule.
    pub(crate) has_asked: bool,
    /// True where the assistant has searched the articles of a policy.
    pub(crate) searches_policy: bool,
    /// True where the assistant has made a call that a rule in the text of its tool refuses.
    pub(crate) tries_told_rule: bool,
    /// Tags of the pushes that were made.
    pub(crate) pushes: Vec<&'static str>,
}

/// What was called so far.
#[derive(Default)]
pub(crate) struct Calls {
    /// The calls, with their replies.
    pub(crate) made: Vec<Arc<LogEntry>>,
    /// The calls behind a name.
    pub(crate) named: BTreeMap<String, Vec<usize>>,
}

/// What was searched for so far.
#[derive(Default)]
pub(crate) struct Searches {
    /// The APIs that may be called.
    pub(crate) shown: BTreeSet<ApiId>,
    /// The keywords.
    pub(crate) made: BTreeSet<String>,
    /// Searches that did not show what was looked for.
    pub(crate) missed: usize,
}

/// Who the user is to the services.
#[derive(Default)]
pub(crate) struct User {
    /// The users of the domains so far: the places of the callers.
    pub(crate) callers: Vec<BoundValue>,
    /// True where the user was signed in before the present scenario began: its sign-in is left out.
    pub(crate) skips_sign_in: bool,
    /// The domains of which a standing token was used, with the token.
    pub(crate) standing: Vec<(DomainId, String)>,
}

/// The assurances of a goal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Assurance {
    /// True where the first call is to be announced.
    pub(crate) announces: bool,
    /// True once the user has said yes to something of the goal.
    pub(crate) has_consent: bool,
}
