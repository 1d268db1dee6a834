//! Nodes: the names of servers in a cluster, and session ids that contain them: `NODE_RANDOM`, or `RANDOM`
//! without a name.

use std::fmt;
use std::str::FromStr;

use super::random::unguessable;

/// Maximum number of characters in a node's name.
pub const MAX_NODE_CHARS: usize = 32;
/// Number of characters in the random part of an id.
pub(crate) const RANDOM_CHARS: usize = 32;
/// Number of characters of the random part that messages and logs show. The whole id would grant access.
const SHOWN_CHARS: usize = 8;
/// Separates a node's name from the random part of an id. Names cannot contain it.
const BETWEEN: char = '_';

/// The name of a server in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node(String);

/// A string that is not a valid node name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 1 to {MAX_NODE_CHARS} letters (a to z), digits and `-`, found {0}")]
pub struct NoNode(String);

impl FromStr for Node {
    type Err = NoNode;

    fn from_str(text: &str) -> Result<Self, NoNode> {
        let count = text.chars().count();
        if !(1..=MAX_NODE_CHARS).contains(&count) {
            return Err(NoNode(format!("{count} characters")));
        }
        match text.chars().find(|found| !found.is_ascii_alphanumeric() && *found != '-') {
            Some(other) => Err(NoNode(format!("{other:?}"))),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Node {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns a new session id of a node.
///
/// # Errors
/// Returns an I/O error if the system provides no random bytes.
pub(crate) fn new_id(node: Option<&str>) -> std::io::Result<String> {
    let random = unguessable()?;
    Ok(format!("{}{random}", prefix(node)))
}

/// Returns the start of all ids of a node.
pub(crate) fn prefix(node: Option<&str>) -> String {
    node.map(|node| format!("{node}{BETWEEN}")).unwrap_or_default()
}

/// Returns the node's name in an id. Returns none for an id without a name, and for a string that is not an
/// id.
pub(crate) fn node_of(id: &str) -> Option<&str> {
    let (node, random) = id.split_once(BETWEEN)?;
    (is_random(random) && Node::from_str(node).is_ok()).then_some(node)
}

/// Returns an id in the short form for messages and logs. Returns none for a string that is not an id.
#[must_use]
pub fn shortened(id: &str) -> Option<String> {
    let start = node_of(id).map_or(0, |node| node.len() + BETWEEN.len_utf8());
    is_random(id.get(start..)?).then(|| id.chars().take(start + SHOWN_CHARS).collect())
}

fn is_random(text: &str) -> bool {
    text.len() == RANDOM_CHARS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_nodes_are_letters_digits_and_hyphens() {
        let check = |text: &str, expect: Result<(), &str>| {
            let found = text.parse::<Node>().map(|node| assert_eq!(node.to_string(), text));
            let expect = expect
                .map_err(|found| format!("expected 1 to 32 letters (a to z), digits and `-`, found {found}"));
            assert_eq!(found.map_err(|error| error.to_string()), expect, "{text}");
        };
        check("a", Ok(()));
        check("Node-7", Ok(()));
        check(&"a".repeat(32), Ok(()));
        check("", Err("0 characters"));
        check(&"a".repeat(33), Err("33 characters"));
        check("a_b", Err("'_'"));
        check("a b", Err("' '"));
        check("knöten", Err("'ö'"));
        check("a/b", Err("'/'"));
        check("a\nb", Err("'\\n'"));
    }

    #[test]
    fn ids_carry_their_node() {
        let random = "0123456789abcdef0123456789abcdef";
        let check = |id: &str, node: Option<&str>, short: Option<&str>| {
            assert_eq!((node_of(id), shortened(id).as_deref()), (node, short), "{id}");
        };
        check(random, None, Some("01234567"));
        check(&format!("a-1_{random}"), Some("a-1"), Some("a-1_01234567"));
        check(&format!("_{random}"), None, None);
        check(&format!("a_b_{random}"), None, None);
        check(&format!("a_{random}0"), None, None);
        check("a_b", None, None);
        check("ä", None, None);
        let made = new_id(Some("n-1")).unwrap();
        assert_eq!((node_of(&made), made.len()), (Some("n-1"), 36));
        assert_eq!((node_of(&new_id(None).unwrap()), new_id(None).unwrap().len()), (None, 32));
    }
}
