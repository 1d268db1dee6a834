//! Owns the word lists that give mentions their roles and sentences their kinds. Words are in lower case,
//! without apostrophes.

use std::collections::HashMap;
use std::sync::LazyLock;

use diorama_seeds::english::stem;

use super::phrases::{AUXILIARIES, FILLERS, OPENERS, PREPOSITIONS, PRONOUNS, QUESTION_WORDS};

/// The link of a mention to the words before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// No preposition: it is the object of the verb.
    Object,
    /// A start: `from`, `out of`.
    From,
    /// An end: `until`.
    Until,
    /// An upper bound: `under`, `before`, `by`.
    AtMost,
    /// A lower bound: `over`, `after`, `since`.
    AtLeast,
    /// `to`, `into`.
    To,
    /// `for`.
    For,
    /// `at`, `on`, `in`.
    Place,
    /// `with`.
    With,
    /// `of`.
    Of,
    /// A comparison or an exclusion: `than`, `like`, `instead of`.
    Aside,
}

/// Prepositions with their links.
pub(super) const LINKS: [(&str, Link); 16] = [
    ("from", Link::From),
    ("off", Link::From),
    ("starting", Link::From),
    ("between", Link::From),
    ("until", Link::Until),
    ("till", Link::Until),
    ("through", Link::Until),
    ("to", Link::To),
    ("into", Link::To),
    ("onto", Link::To),
    ("for", Link::For),
    ("at", Link::Place),
    ("on", Link::Place),
    ("in", Link::Place),
    ("with", Link::With),
    ("of", Link::Of),
];

/// Words before an upper bound; an empty first word stands for any.
pub(super) const BOUNDS_BELOW: [(&str, &str); 9] = [
    ("", "under"),
    ("", "below"),
    ("", "before"),
    ("", "by"),
    ("less", "than"),
    ("fewer", "than"),
    ("earlier", "than"),
    ("cheaper", "than"),
    ("at", "most"),
];

/// Words before a lower bound; an empty first word stands for any.
pub(super) const BOUNDS_ABOVE: [(&str, &str); 7] = [
    ("", "over"),
    ("", "above"),
    ("", "after"),
    ("", "since"),
    ("more", "than"),
    ("later", "than"),
    ("at", "least"),
];

/// Words before a comparison or an exclusion.
pub(super) const SET_ASIDE: [(&str, &str); 7] = [
    ("instead", "of"),
    ("rather", "than"),
    ("", "except"),
    ("", "like"),
    ("", "versus"),
    ("", "not"),
    ("", "without"),
];

/// Words between a preposition and its noun.
pub(super) const DETERMINERS: [&str; 22] = [
    "the", "a", "an", "my", "your", "our", "his", "her", "their", "this", "that", "about", "just", "only",
    "exactly", "around", "coming", "new", "dr", "mr", "mrs", "ms",
];

/// Titles of persons, which are no part of a name.
pub(super) const TITLES: [&str; 6] = ["dr", "mr", "mrs", "ms", "prof", "st"];

/// Stems of words for people in counts.
pub(super) const PERSONS: [&str; 16] = [
    "people",
    "person",
    "guest",
    "adult",
    "traveller",
    "passenger",
    "diner",
    "visitor",
    "participant",
    "player",
    "attendee",
    "head",
    "cover",
    "eater",
    "seat",
    "ticket",
];

/// The effect of a verb on records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// It only reads.
    Read,
    /// It creates or acquires something.
    Add,
    /// It removes something.
    Remove,
    /// It alters something.
    Change,
    /// It pays.
    Pay,
}

/// Stems of verbs by their effect.
pub(super) const ACTIONS: [(Action, &[&str]); 5] = [
    (Action::Read, &["look", "check", "see", "find", "search", "show", "compare", "read", "verify", "sign"]),
    (
        Action::Add,
        &[
            "add", "book", "reserve", "order", "buy", "create", "register", "enter", "open", "apply", "rent",
            "enrol",
        ],
    ),
    (Action::Remove, &["cancel", "delete", "remove", "drop", "erase", "terminate", "end", "close", "stop"]),
    (
        Action::Change,
        &[
            "change",
            "move",
            "raise",
            "lower",
            "increase",
            "reduce",
            "reschedule",
            "rename",
            "update",
            "postpone",
            "extend",
            "reopen",
            "switch",
            "swap",
            "replace",
        ],
    ),
    (Action::Pay, &["pay", "transfer", "refund", "charge"]),
];

/// Phrases of removal without a verb of [`ACTIONS`]: a stem, and a word that follows within its clause.
pub(super) const REMOVAL_PHRASES: [(&str, &str); 10] = [
    ("take", "off"),
    ("take", "out"),
    ("call", "off"),
    ("no", "longer"),
    ("any", "more"),
    ("give", "notice"),
    ("has", "go"),
    ("can", "go"),
    ("needs", "go"),
    ("needs", "gone"),
];

/// Stems of choices that exclude each other.
pub(super) const CONTRASTS: [&[&str]; 14] = [
    &["breakfast", "lunch", "dinner"],
    &["electricity", "gas"],
    &["daily", "weekly", "monthly", "yearly"],
    &["first class", "second class", "third class"],
    &["debit", "credit"],
    &["single", "double", "twin", "suite"],
    &["economy", "express", "priority"],
    &["easy", "moderate", "hard"],
    &["low", "normal", "high", "urgent"],
    &["cheapest", "dearest", "most expensive"],
    &["earliest", "latest"],
    &["up", "down"],
    &["louder", "quieter"],
    &["morning", "afternoon", "evening"],
];

/// Words of a sentence that requests an action.
pub(super) const REQUESTING: [&str; 6] = ["please", "pls", "plz", "could", "can", "would"];

/// Verbs of users that change a setting.
pub(super) const SETTINGS: [&str; 5] = ["set", "put", "make", "turn", "want"];

/// Words of a request that refer to the sentences beside it.
pub(super) const REFERRING: [&str; 7] = ["it", "them", "then", "those", "these", "this", "there"];

/// Verbs by which a thing stays as it is.
pub(super) const REMAINING: [&str; 3] = ["stay", "remain", "keep"];

/// Particles by which two choices differ: `turn on`, `turn off`.
pub(super) const PARTICLES: [&str; 6] = ["on", "off", "up", "down", "in", "out"];

/// Words of a statement about a cost.
pub(super) const COSTS: [&str; 10] =
    ["cost", "costs", "pay", "price", "fee", "total", "charge", "comes", "come", "worth"];

/// Words after which a text corrects itself.
pub(super) const RETRACTIONS: [&str; 5] = ["wait", "meant", "mean", "actually", "hang"];

/// Words of a line that corrects an earlier one.
pub(super) const CORRECTIONS: [&str; 10] =
    ["sorry", "meant", "actually", "wrong", "instead", "rather", "only", "hang", "wait", "oops"];

/// Words of a line that agrees, in any position.
pub(super) const AGREEMENTS: [&str; 7] = ["yes", "yep", "yeah", "agreed", "fine", "ahead", "right"];

/// Words for all of something.
pub(super) const ALL: [&str; 8] =
    ["all", "every", "everything", "everyone", "everybody", "both", "each", "entire"];

/// Words for no more than something.
pub(super) const ONLY: [&str; 3] = ["only", "just", "solely"];

/// Verbs of purchase, which include payment.
pub(super) const PURCHASES: [&str; 6] = ["buy", "order", "book", "rent", "reserve", "send"];

/// Verbs of offers that change nothing, beside those of [`Action::Read`].
pub(super) const LOOKS: [&str; 17] = [
    "list",
    "tell",
    "go",
    "try",
    "start",
    "count",
    "include",
    "sort",
    "explain",
    "give",
    "work",
    "calculate",
    "log",
    "help",
    "filter",
    "narrow",
    "limit",
];

/// Words of an offer that say nothing about its subject.
pub(super) const GENERIC: [&str; 25] = [
    "ahead", "proceed", "continue", "now", "save", "submit", "confirm", "set", "take", "use", "do", "way",
    "right", "then", "really", "first", "instead", "still", "today", "done", "correct", "again", "anyway",
    "too", "name",
];

/// Stems of nouns for two ends of one thing: a question for one does not get the other.
pub(super) const CONVERSES: [(&str, &str); 7] = [
    ("sender", "recipient"),
    ("start", "end"),
    ("first", "last"),
    ("arrival", "departure"),
    ("buyer", "seller"),
    ("pickup", "return"),
    ("old", "new"),
];

/// Stems of words for secrets.
pub(super) const SECRETS: [&str; 7] =
    ["pin", "password", "passcode", "passphrase", "passwort", "secret", "credential"];

/// Words of a request for proof of identity.
pub(super) const PROVING: [&str; 6] =
    ["credentials", "login", "verify", "identity", "authenticate", "identify"];

/// Words of a request to sign in or to prove an identity.
pub(super) const SIGNING_IN: [&str; 9] =
    ["sign", "log", "login", "credential", "verify", "identity", "authenticate", "identify", "account"];

/// Returns true if a word carries no content of its own.
pub(super) fn is_common(word: &str) -> bool {
    FILLERS.contains(&word)
        || AUXILIARIES.contains(&word)
        || PRONOUNS.contains(&word)
        || QUESTION_WORDS.contains(&word)
        || OPENERS.contains(&word)
        || PREPOSITIONS.contains(&word)
}

/// Returns true if a stem is that of one of these words.
pub(super) fn is_one_of(word_stem: &str, words: &[&str]) -> bool {
    words.iter().any(|word| stem(word) == word_stem)
}

/// Returns the effect of the verb with a stem, if it is listed.
pub(super) fn action(verb_stem: &str) -> Option<Action> {
    static BY_STEM: LazyLock<HashMap<String, Action>> = LazyLock::new(|| {
        let verbs =
            ACTIONS.iter().flat_map(|(action, verbs)| verbs.iter().map(move |verb| (stem(verb), *action)));
        verbs.collect()
    });
    BY_STEM.get(verb_stem).copied()
}
