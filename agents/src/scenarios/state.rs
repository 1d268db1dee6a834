//! Defines the state of a conversation in progress.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_seeds::model::{ApiId, DomainId};
use diorama_seeds::scenario::BoundValue;

use super::hand::Hand;
use super::push::Push;
use super::wish::Wish;
use crate::draws::WordingTurn;

/// The settings that stay the same through a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Manner {
    /// The user's way of writing.
    pub(crate) hand: Hand,
    pub(crate) system: String,
    /// True if the assistant finds tools by searching.
    pub(crate) retrieves: bool,
    /// True if the operator has signed the user in: standing tokens then replace sign-ins.
    pub(crate) is_signed_in: bool,
    /// True if the policy must forbid governed calls, in plots with both ends.
    pub(crate) forbids: bool,
    /// The conditions that the drawn records must meet.
    pub(crate) wish: Wish,
    /// The user's push, until it is said.
    pub(crate) push: Option<Push>,
    /// True if the user wants no needless questions.
    pub(crate) is_impatient: bool,
    /// True if replaced articles must lead to the opposite verdict.
    pub(crate) misleads: bool,
}

/// The messages so far.
#[derive(Default)]
pub(crate) struct Talk {
    /// The user's messages.
    pub(crate) said: Vec<String>,
    /// The assistant's messages.
    pub(crate) answered: Vec<String>,
    /// Index in `said` of the first message of the present goal.
    pub(crate) goal_from: usize,
    /// The turn of the first scenario's wordings.
    pub(crate) turn: Option<WordingTurn>,
    /// The assurances of the present goal.
    pub(crate) assurance: Assurance,
    /// True if the assistant has had a call confirmed by rule.
    pub(crate) has_asked: bool,
    /// True if the assistant has searched the articles of a policy.
    pub(crate) searches_policy: bool,
    /// True if the assistant has made a call that a rule in the text of its tool refuses.
    pub(crate) tries_told_rule: bool,
    /// The tags of the pushes so far.
    pub(crate) pushes: Vec<&'static str>,
}

/// The calls so far.
#[derive(Default)]
pub(crate) struct Calls {
    /// The calls, with their replies.
    pub(crate) made: Vec<Arc<LogEntry>>,
    /// The indices of the calls behind a name.
    pub(crate) named: BTreeMap<String, Vec<usize>>,
}

/// The searches so far.
#[derive(Default)]
pub(crate) struct Searches {
    /// The APIs that may be called.
    pub(crate) shown: BTreeSet<ApiId>,
    /// The keywords that were searched.
    pub(crate) made: BTreeSet<String>,
    /// The number of searches that did not show the wanted tool.
    pub(crate) missed: usize,
}

/// The user's identity in the services.
#[derive(Default)]
pub(crate) struct User {
    /// The users of the domains so far: the bindings of the callers.
    pub(crate) callers: Vec<BoundValue>,
    /// True if the user was signed in before the present scenario began: its sign-in is left out.
    pub(crate) skips_sign_in: bool,
    /// The domains for which a standing token was used, with the token.
    pub(crate) standing: Vec<(DomainId, String)>,
}

/// The assurances of a goal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Assurance {
    /// True if the first call must be announced.
    pub(crate) announces: bool,
    /// True once the user has consented to something in the goal.
    pub(crate) has_consent: bool,
}
