//! Knows the verbs in names of operations.

use diorama_seeds::english::stem;

use crate::words::words;

/// Returns the verb of an operation on a thing: `leave` of `LeaveGuild`, `revoke` of `InviteRevoke`.
/// A word of the thing itself is no verb: `invite` of `DeleteInvite` or `InviteUpdate`.
pub(crate) fn verb_of(name: &str, noun: &str) -> Option<&'static str> {
    let parts = words(name);
    let of_thing = |word: &String| noun.split(' ').any(|part| part.to_lowercase() == *word);
    let is = |wanted: &String| VERBS.iter().find(|verb| **verb == *wanted && !of_thing(wanted)).copied();
    let (last, before) = parts.split_last()?;
    parts.first().and_then(is).or_else(|| is(last).filter(|_| before.iter().all(of_thing)))
}

/// Returns true if a word is a verb of operations.
pub(crate) fn is_verb(word: &str) -> bool {
    VERBS.contains(&word)
}

/// Returns true if a participle is an action on a record: `archived`, and not `occurred`.
pub(super) fn is_done(participle: &str) -> bool {
    const WRITTEN: [&str; 8] = ["create", "update", "modify", "change", "post", "add", "upload", "edit"];
    WRITTEN.iter().chain(&VERBS).any(|verb| stem(verb) == stem(participle))
}

/// Verbs at the ends of paths.
pub(super) const VERBS: [&str; 106] = [
    "accept",
    "acknowledge",
    "activate",
    "approve",
    "archive",
    "assign",
    "authorize",
    "ban",
    "block",
    "book",
    "buy",
    "cancel",
    "capture",
    "charge",
    "check",
    "clear",
    "clone",
    "close",
    "complete",
    "confirm",
    "copy",
    "deactivate",
    "decline",
    "deliver",
    "deny",
    "deploy",
    "disable",
    "dismiss",
    "duplicate",
    "enable",
    "end",
    "escalate",
    "execute",
    "expire",
    "fail",
    "finish",
    "flag",
    "follow",
    "fork",
    "freeze",
    "hide",
    "hold",
    "ignore",
    "install",
    "invite",
    "join",
    "leave",
    "like",
    "lock",
    "mark",
    "merge",
    "move",
    "mute",
    "open",
    "pause",
    "pay",
    "pin",
    "play",
    "publish",
    "reactivate",
    "redeliver",
    "refund",
    "reject",
    "release",
    "remind",
    "renew",
    "reopen",
    "rerun",
    "resend",
    "reset",
    "resolve",
    "restart",
    "restore",
    "resume",
    "retry",
    "return",
    "revoke",
    "run",
    "schedule",
    "seek",
    "send",
    "set",
    "ship",
    "star",
    "start",
    "stop",
    "submit",
    "suspend",
    "sync",
    "test",
    "transfer",
    "trigger",
    "unarchive",
    "unassign",
    "unban",
    "unblock",
    "undo",
    "unfollow",
    "unhide",
    "unlike",
    "unlock",
    "unmute",
    "unpin",
    "unstar",
    "void",
    "withdraw",
];
