//! Owns the meanings of states: their progress, and the events that they imply.

use super::moments::stage_of;
use super::table::{has, key_of};
use crate::english::{split_identifier, stem};

/// Progress of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stand {
    /// The object has not begun.
    Waiting,
    /// The object has begun, or is in force.
    Running,
    /// The object ended as intended.
    Done,
    /// The object failed, or is no longer in force.
    Off,
}

/// Words that turn a state into an earlier one.
const NOT: [&str; 2] = ["not", "never"];
/// Words of flags and timestamps that carry no meaning of their own.
const BESIDE: [&str; 6] = ["is", "has", "was", "been", "are", "if"];

/// Returns true if a member of this name holds a state.
pub fn holds_state(name: &str) -> bool {
    split_identifier(name).last().is_some_and(|last| has("holds a state", last))
}

/// Returns the progress that a state, or the name of a flag or timestamp, expresses.
///
/// ```
/// use diorama_seeds::agreement::{Stand, stand};
///
/// assert_eq!(stand("in_progress"), Some(Stand::Running));
/// assert_eq!(stand("purple"), None);
/// ```
pub fn stand(value: &str) -> Option<Stand> {
    let words = split_identifier(value);
    if words.iter().any(|word| NOT.contains(&word.as_str())) {
        return Some(Stand::Waiting);
    }
    words.iter().rev().find_map(|word| {
        Some(match key_of("states", word)? {
            "waiting" => Stand::Waiting,
            "running" => Stand::Running,
            "done" => Stand::Done,
            _ => Stand::Off,
        })
    })
}

/// Returns true if nothing more happens in this state. Examples: `failed`, `expired`.
pub fn is_over(value: &str) -> bool {
    matches!(stand(value), Some(Stand::Done | Stand::Off))
}

/// Returns the stems of the words of a flag, timestamp or reason. Example: `isCancelled` and `cancelled_at`
/// have the stem of `cancelled`.
fn told(name: &str) -> Vec<String> {
    let words = split_identifier(name).into_iter();
    let words = words.filter(|word| !has("times", word) && !BESIDE.contains(&word.as_str()));
    words.map(|word| stem(&word)).collect()
}

/// Returns true if a flag and a timestamp express the same event. Example: `paid` and `paid_at`.
pub fn tells_same(one: &str, other: &str) -> bool {
    let own = told(one);
    !own.is_empty() && own == told(other)
}

/// Returns those of the states in which the event of a flag or timestamp has happened. Returns none if the
/// states do not show it.
///
/// ```
/// use diorama_seeds::agreement::reached;
///
/// let states = ["queued", "in_progress", "completed", "failed"];
/// assert_eq!(reached("in_progress_at", &states), Some(vec!["in_progress", "completed"]));
/// assert_eq!(reached("finished_at", &states), Some(vec!["completed", "failed"]));
/// assert_eq!(reached("is_cancelled", &states), Some(vec![]));
/// assert_eq!(reached("size", &states), None);
/// ```
pub fn reached<'v>(name: &str, states: &[&'v str]) -> Option<Vec<&'v str>> {
    let told = told(name);
    if told.is_empty() || !states.iter().any(|state| stand(state).is_some()) {
        return None;
    }
    let is_own =
        |state: &&&str| split_identifier(state).iter().map(|word| stem(word)).eq(told.iter().cloned());
    if let Some(own) = states.iter().find(is_own) {
        return Some(states.iter().copied().filter(|state| state == own || is_after(own, state)).collect());
    }
    let [_] = told.as_slice() else { return None };
    let in_stands = |stands: &[Stand]| {
        let there = |state: &&str| stand(state).is_some_and(|stand| stands.contains(&stand));
        Some(states.iter().copied().filter(there).collect())
    };
    match stand(name)? {
        Stand::Waiting => None,
        Stand::Running => in_stands(&[Stand::Running, Stand::Done]),
        // An end is reached whether it was a success or not.
        Stand::Done if has("ends", split_identifier(name).first()?) => in_stands(&[Stand::Done, Stand::Off]),
        Stand::Done => in_stands(&[Stand::Done]),
        Stand::Off => Some(Vec::new()),
    }
}

/// Returns true if an object in the second state has been in the first.
fn is_after(first: &str, second: &str) -> bool {
    let (Some(from), Some(to)) = (stand(first), stand(second)) else { return false };
    if from == Stand::Off || to == Stand::Off {
        return false;
    }
    let stage = |state: &str| split_identifier(state).iter().rev().find_map(|word| stage_of(word));
    from < to
        || (from == to && matches!((stage(first), stage(second)), (Some(own), Some(theirs)) if own < theirs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_tells_what_has_come_about() {
        let orders = ["pending", "confirmed", "shipped", "delivered", "cancelled"];
        let check = |name: &str, states: &[&str], expect: Option<&[&str]>| {
            assert_eq!(reached(name, states).as_deref(), expect, "{name}");
        };
        check("shipped_at", &orders, Some(&["shipped", "delivered"]));
        check("confirmedAt", &orders, Some(&["confirmed", "shipped", "delivered"]));
        check("cancelled_at", &orders, Some(&["cancelled"]));
        check("canceled", &["active", "past_due"], Some(&[]));
        check("is_active", &["active", "suspended"], Some(&["active"]));
        check("paid", &["open", "paid", "void"], Some(&["paid"]));
        check("ended_at", &["running", "stopped", "done"], Some(&["stopped", "done"]));
        check("created_at", &orders, None);
        check("paid_at", &["red", "blue"], None);
        assert_eq!(stand("not_started"), Some(Stand::Waiting));
        assert!(is_over("timed out or failed") && !is_over("in_progress"));
    }
}
