//! Parses and fills templates: texts with slots.
//!
//! Owns the template language of `docs/world-format.md`, section Phrases. Knows no worlds.

/// A template: literal text, slots, and optional parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The parts in order.
    pub parts: Vec<Part>,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Literal text.
    Text(String),
    /// A slot: `{name}`.
    Slot(String),
    /// An optional part, `[ ... ]`: it appears only if all of its slots are filled.
    Optional(Vec<Part>),
}

/// A piece of text under construction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Literal text.
    Text(String),
    /// The words for a value.
    Value(String),
}

impl Template {
    /// Parses a template. Unbalanced braces or brackets are literal text, so every string is a template.
    pub fn parse(source: &str) -> Self {
        let mut chars = source;
        Self { parts: parse_parts(&mut chars, false) }
    }

    /// Returns the names of the slots outside optional parts.
    pub fn required(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Slot(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Returns the optional parts, each with the names of its slots.
    pub fn optional(&self) -> impl Iterator<Item = Vec<&str>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Optional(parts) => Some(slot_names(parts)),
            _ => None,
        })
    }

    /// Fills the template. `fill` returns a slot's segments, or `None` for an unknown value.
    /// An optional part is left out if one of its slots has no value. Returns `None` if a required slot has
    /// no value.
    pub fn fill(&self, fill: &mut dyn FnMut(&str) -> Option<Vec<Segment>>) -> Option<Vec<Segment>> {
        fill_parts(&self.parts, fill)
    }
}

/// Joins segments into a text.
pub fn assemble(segments: &[Segment]) -> String {
    let mut text = String::new();
    for segment in segments {
        match segment {
            Segment::Text(literal) => push_literal(&mut text, literal),
            Segment::Value(words) => text.push_str(words),
        }
    }
    text
}

/// Removes double spaces, and spaces before a stop, which a missing optional part leaves.
fn push_literal(text: &mut String, literal: &str) {
    let mut rest = literal;
    if (text.is_empty() || text.ends_with(' ')) && rest.starts_with(' ') {
        rest = rest.trim_start_matches(' ');
    }
    if text.ends_with(' ') && rest.starts_with(['.', ',', '?', '!', ';']) {
        text.truncate(text.trim_end().len());
    }
    text.push_str(rest);
}

fn parse_parts(rest: &mut &str, inside: bool) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let flush = |text: &mut String, parts: &mut Vec<Part>| {
        if !text.is_empty() {
            parts.push(Part::Text(std::mem::take(text)));
        }
    };
    while let Some(c) = rest.chars().next() {
        *rest = &rest[c.len_utf8()..];
        match c {
            '{' => match rest.split_once('}') {
                Some((name, after)) if !name.is_empty() && !name.contains(['{', '[', ']']) => {
                    flush(&mut text, &mut parts);
                    parts.push(Part::Slot(name.to_owned()));
                    *rest = after;
                }
                _ => text.push(c),
            },
            '[' if !inside && rest.contains(']') => {
                flush(&mut text, &mut parts);
                parts.push(Part::Optional(parse_parts(rest, true)));
            }
            ']' if inside => break,
            _ => text.push(c),
        }
    }
    flush(&mut text, &mut parts);
    parts
}

fn slot_names(parts: &[Part]) -> Vec<&str> {
    parts
        .iter()
        .filter_map(|part| match part {
            Part::Slot(name) => Some(name.as_str()),
            _ => None,
        })
        .collect()
}

fn fill_parts(parts: &[Part], fill: &mut dyn FnMut(&str) -> Option<Vec<Segment>>) -> Option<Vec<Segment>> {
    let mut segments = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => segments.push(Segment::Text(text.clone())),
            Part::Slot(name) => segments.extend(fill(name)?),
            Part::Optional(inner) => segments.extend(fill_parts(inner, fill).unwrap_or_default()),
        }
    }
    Some(segments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fill(source: &str, given: &[(&str, &str)]) -> Option<String> {
        let template = Template::parse(source);
        let segments = template.fill(&mut |name| {
            let (_, words) = given.iter().find(|(given, _)| *given == name)?;
            Some(vec![Segment::Value((*words).to_owned())])
        })?;
        Some(assemble(&segments))
    }

    #[test]
    fn optional_parts_vanish_without_a_value_for_their_slot() {
        let source = "book {who} for {name}[ at {time}] please.";
        let short = fill(source, &[("who", "Dr. Ana"), ("name", "Jo")]);
        assert_eq!(short.as_deref(), Some("book Dr. Ana for Jo please."));
        let long = fill(source, &[("who", "Dr. Ana"), ("name", "Jo"), ("time", "9:00")]);
        assert_eq!(long.as_deref(), Some("book Dr. Ana for Jo at 9:00 please."));
        assert_eq!(fill(source, &[("who", "Dr. Ana")]), None);
    }

    proptest! {
        #[test]
        fn every_string_is_a_template(source in ".*") {
            let template = Template::parse(&source);
            let _ = template.fill(&mut |_| Some(vec![Segment::Text("x".to_owned())]));
        }
    }
}
