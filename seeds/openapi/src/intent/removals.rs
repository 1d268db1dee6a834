//! Rewrites removals of records that another group of operations shows: `admin.users.remove` removes what
//! `users.info` shows.

use std::collections::HashMap;

use diorama_seeds::contract::{KEYS, key_name, plain};

use super::said::{OperationEffect, PathWords, given, one, plural_of};
use crate::document::Operation;

/// Rewrites the remaining removals, unless the shown group has one of its own. `keys` holds the parameters that
/// name shown records, by noun.
pub(super) fn read(
    operations: &[Operation],
    all: &[Option<PathWords>],
    keys: &HashMap<String, String>,
    read: &mut [Option<(String, String)>],
) {
    for (at, (operation, said)) in operations.iter().zip(all).enumerate() {
        let Some(said) = said.as_ref().filter(|said| said.deed == Some(OperationEffect::Remove)) else {
            continue;
        };
        let own = read.get(at).is_some_and(Option::is_some) || one(&said.group) == one(&said.noun);
        let Some(shown) = keys.get(&one(&said.group)).filter(|_| !own) else { continue };
        let Some(key) = key_of(operation, shown) else { continue };
        let collection = format!("{}/{}/{{", said.before, plural_of(&said.group));
        // The path of a record ends with its key.
        let removes = |(method, path): &(String, String)| {
            method == "DELETE" && path.strip_prefix(&collection).is_some_and(|key| !key.contains('/'))
        };
        if read.iter().flatten().any(removes) {
            continue;
        }
        if let Some(place) = read.get_mut(at) {
            *place = Some(("DELETE".to_owned(), format!("{collection}{key}}}")));
        }
    }
}

/// Returns the required parameter with the name of a key, or with that name and the ending of a key:
/// `channel_id` for `channel`.
fn key_of<'o>(operation: &'o Operation, shown: &str) -> Option<&'o String> {
    let is_key = |name: &str| {
        let id = key_name(name).filter(|(_, ending)| KEYS.contains(ending));
        plain(name) == plain(shown) || id.is_some_and(|(stem, _)| stem == plain(shown))
    };
    given(operation).into_iter().find(|(name, _, required)| *required && is_key(name)).map(|(name, ..)| name)
}
