//! Calls that a gold path leaves out: from what is known to the key that it asks for next.
//!
//! Reverse Chain completes an argument that nobody gave "from other APIs", and RestBench counts a path as correct when
//! the gold path is a subsequence of the calls made. So a missing key is looked for in other operations of the same
//! world, breadth first, whose own required parameters earlier replies fill, or the names of the query.

use super::names::Named;
use super::operation::{Operation, Operations, Takes};

/// Calls in a row, at most.
const MAX_CALLS: usize = 2;
/// Rows of calls for one key, at most.
const MAX_ROWS: usize = 8;

/// Facts that are known when a key is missing.
pub(super) struct Known<'a> {
    /// Resources of which a reply showed a record.
    pub(super) seen: Vec<&'a str>,
    /// Names of the query that nothing has searched for.
    pub(super) named: Vec<&'a Named>,
}

/// Returns rows of calls that may show a record of a resource, the shortest first, then in the document's order.
pub(super) fn rows<'a>(
    operations: &'a Operations,
    wanted: &str,
    known: &Known<'_>,
) -> Vec<Vec<&'a Operation>> {
    let mut found = Vec::new();
    let mut open: Vec<(Vec<&Operation>, Vec<&str>)> = vec![(Vec::new(), known.seen.clone())];
    for _ in 0..MAX_CALLS {
        let mut longer = Vec::new();
        for (row, seen) in &open {
            for operation in operations.iter().filter(|operation| operation.method == "GET") {
                // A call that needs nothing of what the one before it found does not follow from it.
                let follows = row
                    .last()
                    .is_none_or(|last| operation.keys().any(|key| last.shows().any(|shown| shown == key)));
                if !follows || !can_be_filled(operation, seen, &known.named, wanted) {
                    continue;
                }
                let row = [&row[..], &[operation]].concat();
                if operation.shows().any(|shown| shown == wanted) {
                    found.push(row);
                } else {
                    longer.push((row, seen.iter().copied().chain(operation.shows()).collect()));
                }
            }
        }
        open = longer;
    }
    found.truncate(MAX_ROWS);
    found
}

/// Returns the name that an operation looks up: by its words, or in the whole list of what is wanted.
pub(super) fn looked_up<'n>(operation: &Operation, named: &[&'n Named]) -> Option<&'n Named> {
    let resource = match operation.searched() {
        None if operation.parameters.is_empty() => operation.lists.as_deref(),
        searched => searched,
    };
    named.iter().copied().find(|named| Some(&*named.resource) == resource)
}

/// Returns true where every required parameter has a source, and one of them is the query or an earlier reply: a list that takes
/// nothing shows records that have nothing to do with the query, unless it is searched for a name.
fn can_be_filled(operation: &Operation, seen: &[&str], named: &[&Named], wanted: &str) -> bool {
    let name = looked_up(operation, named);
    let is_bound = name.is_some_and(|named| operation.searched().is_some() || named.resource == wanted)
        || operation.keys().next().is_some();
    let has_source = |takes: &Takes| match takes {
        Takes::Key(resource) => seen.contains(&&**resource),
        Takes::Name(_) => name.is_some(),
        Takes::Listed(_) | Takes::Number => true,
        Takes::Other => false,
    };
    is_bound
        && operation.parameters.iter().filter(|given| given.is_required).all(|given| has_source(&given.takes))
}
