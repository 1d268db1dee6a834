//! Owns the paths of APIs: their segments, and the shapes that distinguish routes.

use indexmap::IndexMap;

/// A piece of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text, which is still percent-encoded.
    Literal(&'a str),
    /// Name of a parameter.
    Parameter(&'a str),
}

/// Returns the segments of a path that begins with `/`. Each has text, parameters, or both. Returns `None` if
/// a segment is empty, has adjacent parameters without text between them, or has invalid characters. The root
/// path has no segments.
pub fn segments(path: &str) -> Option<Vec<Vec<Piece<'_>>>> {
    let rest = path.strip_prefix('/')?;
    if rest.is_empty() {
        return Some(Vec::new());
    }
    rest.split('/').map(pieces).collect()
}

/// Returns the pieces of one segment, or `None` as in [`segments`].
pub fn pieces(segment: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut rest = segment;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('{') {
            let (name, after) = inner.split_once('}')?;
            // Text must separate two parameters.
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

/// Returns true if a segment has only characters that RFC 3986 allows in a path.
pub(super) fn is_literal(segment: &str) -> bool {
    segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@%".contains(&byte))
}

/// Returns the path with each parameter replaced by `{}`. Routes of the same method and shape are ambiguous.
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

/// Returns the selectors of an API among those of one method and shape, in a fixed order. Equal selectors are
/// ambiguous.
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
