//! Which index narrows a condition.

use crate::expr::{Node, Scope, Slot};
use crate::model::FieldId;

/// From the conjuncts of a condition: a field of the slot's record and what it must equal, so that an index can
/// find the candidates. The condition must still be tested on each.
#[must_use]
pub fn index_of(condition: &Node, slot: Slot, scope: &Scope<'_>) -> Option<(FieldId, Node)> {
    let _ = (condition, slot, scope);
    None
}
