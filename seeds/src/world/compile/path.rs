//! Paths of APIs: segments, and the shapes by which routes are told apart.

/// One segment of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Segment<'a> {
    Literal(&'a str),
    Parameter(&'a str),
}

/// The segments of a path that begins with `/`; `None` when one is empty, mixes text and parameter, or has
/// characters that do not stand in a path. The root path has none.
pub(super) fn segments(path: &str) -> Option<Vec<Segment<'_>>> {
    let rest = path.strip_prefix('/')?;
    if rest.is_empty() {
        return Some(Vec::new());
    }
    rest.split('/')
        .map(|segment| match segment.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) {
            Some(name) if !name.is_empty() && !name.contains(['{', '}']) => Some(Segment::Parameter(name)),
            None if is_literal(segment) && !segment.is_empty() => Some(Segment::Literal(segment)),
            _ => None,
        })
        .collect()
}

/// Whether a segment is plain text as RFC 3986 lets it stand in a path.
pub(super) fn is_literal(segment: &str) -> bool {
    segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@%".contains(&byte))
}

/// The path with every parameter replaced by `{}`: two routes of one method and shape cannot be told apart.
pub(super) fn shape(base_path: &str, path: &str) -> String {
    let mut shape = base_path.to_owned();
    for segment in segments(path).unwrap_or_default() {
        shape.push('/');
        shape.push_str(match segment {
            Segment::Literal(text) => text,
            Segment::Parameter(_) => "{}",
        });
    }
    shape
}
