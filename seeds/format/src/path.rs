//! Document paths. A path lives on the stack during a walk and is formatted only for a finding.

use std::fmt;

/// A path into a document, as a linked list of segments.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    segment: Segment<'a>,
}

/// One segment of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Segment<'a> {
    /// A member of a mapping.
    Name(&'a str),
    /// A position in a list, from 0.
    Index(usize),
}

impl<'a> Path<'a> {
    /// The path of the document itself.
    pub const ROOT: Path<'static> = Path { parent: None, segment: Segment::Index(0) };

    /// Returns the path of a member of the mapping at this path.
    pub const fn name(&'a self, name: &'a str) -> Self {
        Self { parent: Some(self), segment: Segment::Name(name) }
    }

    /// Returns the path of an item of the list at this path.
    pub const fn index(&'a self, index: usize) -> Self {
        Self { parent: Some(self), segment: Segment::Index(index) }
    }
}

/// Example: `apis[3].behaviour.require[0].that`. Names that are not identifiers are quoted in brackets.
impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parent) = self.parent else { return Ok(()) };
        parent.fmt(f)?;
        match self.segment {
            Segment::Index(index) => write!(f, "[{index}]"),
            Segment::Name(name) if is_plain(name) => {
                let dot = if parent.parent.is_some() { "." } else { "" };
                write!(f, "{dot}{name}")
            }
            Segment::Name(name) => write!(f, "[{}]", serde_json::Value::from(name)),
        }
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// One segment of a parsed path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A member of a mapping.
    Name(String),
    /// A position in a list, from 0.
    Index(usize),
}

/// Parses a path that [`Path`] wrote. Returns `None` for other text.
pub fn parse(text: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            if inside.starts_with('"') {
                let mut strings = serde_json::Deserializer::from_str(inside).into_iter::<String>();
                steps.push(Step::Name(strings.next()?.ok()?));
                rest = inside.get(strings.byte_offset()..)?.strip_prefix(']')?;
            } else {
                let (index, after) = inside.split_once(']')?;
                steps.push(Step::Index(index.parse().ok()?));
                rest = after;
            }
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[']).unwrap_or(name.len());
            if end == 0 {
                return None;
            }
            steps.push(Step::Name(name[..end].to_owned()));
            rest = &name[end..];
        }
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_and_read_back() {
        let apis = Path::ROOT.name("apis");
        let api = apis.index(3);
        let parameters = api.name("parameters");
        let odd = parameters.name("vote\".gte]");
        let path = odd.name("min");
        let text = path.to_string();
        assert_eq!(text, r#"apis[3].parameters["vote\".gte]"].min"#);
        let name = |name: &str| Step::Name(name.to_owned());
        assert_eq!(
            parse(&text),
            Some(vec![name("apis"), Step::Index(3), name("parameters"), name("vote\".gte]"), name("min")])
        );
        assert_eq!(parse(""), Some(vec![]));
        assert_eq!(parse("a..b"), None);
        assert_eq!(parse("a[x]"), None);
    }
}
