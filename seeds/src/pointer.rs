//! Owns the segments of JSON pointers (RFC 6901).

/// Returns a name as a segment of a pointer. Example: `a/b` gives `a~1b`.
pub fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Returns the name for a segment of a pointer.
pub fn unescape(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

/// Returns the pointer for a path in a reply. Example: `items[0].name` gives `/items/0/name`.
pub fn from_path(path: &str) -> String {
    let names = path.split(['.', '[', ']']).filter(|name| !name.is_empty());
    names.map(|name| format!("/{}", escape(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_from_their_segments() {
        for (name, segment) in [("a/b", "a~1b"), ("a~b", "a~0b"), ("~1", "~01"), ("plain", "plain")] {
            assert_eq!(escape(name), segment);
            assert_eq!(unescape(segment), name);
        }
    }

    #[test]
    fn places_in_replies_become_pointers() {
        let check = |path: &str, expect: &str| assert_eq!(from_path(path), expect);
        check("", "");
        check("starts_at", "/starts_at");
        check("items[0].name", "/items/0/name");
        check("[2][1]", "/2/1");
        check("a/b", "/a~1b");
    }
}
