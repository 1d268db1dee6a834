//! Paths of APIs: segments, and the shapes by which routes are told apart.

use indexmap::IndexMap;

/// A piece of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text, still percent-encoded.
    Literal(&'a str),
    /// A parameter's name.
    Parameter(&'a str),
}

/// The segments of a path that begins with `/`, each text, a parameter, or both; `None` when one is empty, has two
/// parameters with no text between them, or characters that do not stand in a path. The root path has none.
pub fn segments(path: &str) -> Option<Vec<Vec<Piece<'_>>>> {
    let rest = path.strip_prefix('/')?;
    if rest.is_empty() {
        return Some(Vec::new());
    }
    rest.split('/').map(pieces).collect()
}

/// The pieces of one segment; `None` as in [`segments`].
pub fn pieces(segment: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut rest = segment;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('{') {
            let (name, after) = inner.split_once('}')?;
            // Where one parameter ends and the next begins must be seen.
            if name.is_empty() || name.contains('{') || after.starts_with('{') {
                return None;
            }
            pieces.push(Piece::Parameter(name));
            rest = after;
        } else {
            let (text, after) = rest.split_at(rest.find('{').unwrap_or(rest.len()));
            if !is_literal(text) {
                return None;
            }
            pieces.push(Piece::Literal(text));
            rest = after;
        }
    }
    (!pieces.is_empty()).then_some(pieces)
}

/// True when a segment has only characters that RFC 3986 allows in a path.
pub(super) fn is_literal(segment: &str) -> bool {
    segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@%".contains(&byte))
}

/// The path with every parameter replaced by `{}`: two routes of one method and shape cannot be told apart.
pub fn shape(base_path: &str, path: &str) -> String {
    let mut shape = base_path.to_owned();
    for segment in segments(path).unwrap_or_default() {
        shape.push('/');
        for piece in segment {
            shape.push_str(match piece {
                Piece::Literal(text) => text,
                Piece::Parameter(_) => "{}",
            });
        }
    }
    shape
}

/// What chooses an API among those of one method and shape, in one order: two that are chosen by the same cannot be told apart.
pub fn choice(chosen_by: &IndexMap<String, String>) -> String {
    let mut pairs: Vec<String> = chosen_by.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.sort_unstable();
    pairs.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_text_parameters_or_both() {
        let check = |path: &str, expect: Option<&str>| {
            let found = segments(path).map(|_| shape("", path));
            assert_eq!(found.as_deref(), expect, "{path}");
        };
        check("/", Some(""));
        check("/rooms/{room_id}/beds", Some("/rooms/{}/beds"));
        check("/reports/{id}.json", Some("/reports/{}.json"));
        check("/repos/{owner}:{name}", Some("/repos/{}:{}"));
        check("/compare/{base}...{head}", Some("/compare/{}...{}"));
        check("/v{version}/x", Some("/v{}/x"));
        check("/{a}{b}", None);
        check("/x//y", None);
        check("/{}", None);
        check("/{a", None);
        check("/a}b", None);
        check("/{a{b}}", None);
        check("/a b", None);
        check("rooms", None);
    }
}
