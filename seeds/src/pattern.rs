//! Owns the generation of text that matches a pattern, for fields and members that have a pattern and no
//! provider.

use std::cell::RefCell;
use std::collections::HashMap;

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::draw::{Draw, Streams};

/// A parsed pattern that can generate texts.
#[derive(Clone, Debug)]
pub(crate) struct Generator(Node);

#[derive(Clone, Debug)]
enum Node {
    Literal(String),
    /// Characters to choose from. If the class has none that people type, its ranges.
    Class(Vec<char>, Vec<(char, char)>),
    Repeat(Box<Node>, u32, u32),
    All(Vec<Node>),
    One(Vec<Node>),
}

/// Maximum number of repetitions beyond the minimum, if the pattern sets no bound.
const MORE: u32 = 5;
/// Length in bytes after which a text stops growing.
const MAX_LENGTH: usize = 512;
/// Maximum nesting of groups.
const MAX_DEPTH: u32 = 24;
/// Maximum number of parsed patterns that a thread caches.
const MAX_PARSED_PATTERNS: usize = 1_000;

/// Returns a text that matches a pattern, except for look-arounds. Returns none for an invalid pattern.
pub fn matching_text(pattern: &str, seed: u64) -> Option<String> {
    thread_local! {
        static READ: RefCell<HashMap<String, Option<Generator>>> = RefCell::new(HashMap::new());
    }
    READ.with_borrow_mut(|read| {
        if read.len() > MAX_PARSED_PATTERNS {
            read.clear();
        }
        let known = read.entry(pattern.to_owned()).or_insert_with(|| Generator::new(pattern));
        let mut out = String::new();
        let mut draw = Streams::new(seed, "", "", "pattern").draw(0, 0);
        known.as_ref()?.write(&mut draw, &mut out);
        Some(out)
    })
}

impl Generator {
    /// Parses a pattern. Returns `None` if it is invalid.
    pub(crate) fn new(pattern: &str) -> Option<Self> {
        let hir = regex_syntax::ParserBuilder::new().nest_limit(MAX_DEPTH).build().parse(pattern).ok()?;
        Some(Self(node(&hir)))
    }

    /// Appends a text. It ignores look-arounds, so the caller must check that the text matches.
    pub(crate) fn write(&self, draw: &mut Draw, out: &mut String) {
        write(&self.0, draw, out, &mut 4_096);
    }
}

/// The parser bounds the depth of this recursion.
fn node(hir: &Hir) -> Node {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Node::Literal(String::new()),
        HirKind::Literal(literal) => Node::Literal(String::from_utf8_lossy(&literal.0).into_owned()),
        HirKind::Class(Class::Unicode(class)) => {
            of_class(class.ranges().iter().map(|range| (range.start(), range.end())).collect())
        }
        HirKind::Class(Class::Bytes(class)) => {
            of_class(class.ranges().iter().map(|range| (range.start().into(), range.end().into())).collect())
        }
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or_else(|| repetition.min.saturating_add(MORE));
            Node::Repeat(Box::new(node(&repetition.sub)), repetition.min, most.min(MAX_LENGTH as u32))
        }
        HirKind::Capture(capture) => node(&capture.sub),
        HirKind::Concat(parts) => Node::All(parts.iter().map(node).collect()),
        HirKind::Alternation(ways) => Node::One(ways.iter().map(node).collect()),
    }
}

/// Makes a class of letters, digits and signs that people type, if there are any.
fn of_class(ranges: Vec<(char, char)>) -> Node {
    let typed = ('!'..='~').filter(|c| ranges.iter().any(|(low, high)| low <= c && c <= high));
    let typed: Vec<char> = typed.collect();
    let plain: Vec<char> = typed.iter().copied().filter(char::is_ascii_alphanumeric).collect();
    Node::Class(if plain.is_empty() { typed } else { plain }, ranges)
}

/// Appends the text of a node. `steps` bounds the work for any pattern.
fn write(node: &Node, draw: &mut Draw, out: &mut String, steps: &mut u32) {
    if *steps == 0 || out.len() > MAX_LENGTH {
        return;
    }
    *steps -= 1;
    match node {
        Node::Literal(text) => out.push_str(text),
        Node::Class(typed, ranges) => {
            let other = |draw: &mut Draw| {
                let (low, high) = *draw.pick(ranges)?;
                char::from_u32(draw.between(low as i64, high as i64) as u32).or(Some(low))
            };
            out.extend(draw.pick(typed).copied().or_else(|| other(draw)));
        }
        Node::Repeat(part, least, most) => {
            for _ in 0..draw.between(i64::from(*least), i64::from(*most)) {
                if *steps == 0 {
                    break;
                }
                write(part, draw, out, steps);
            }
        }
        Node::All(parts) => parts.iter().for_each(|part| write(part, draw, out, steps)),
        Node::One(ways) => {
            if let Some(way) = draw.pick(ways) {
                write(way, draw, out, steps);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_match_their_pattern() {
        let patterns = [
            "[0-9]{4}",
            "(A|BC)-\\d{2,3}[a-f]?",
            "\\w+@[a-z]{3}\\.com",
            "[^a-z]{2}",
            "^x*$",
            "[é-ü]{2}",
            "\\p{Greek}+",
        ];
        for pattern in patterns {
            let generator = Generator::new(pattern).unwrap();
            let regex = crate::schema::Pattern::new(pattern).unwrap();
            for n in 0..50 {
                let mut out = String::new();
                generator.write(&mut Streams::new(1, "r", "f", "").draw(n, 0), &mut out);
                assert!(regex.matches(&out), "{pattern}: {out}");
            }
        }
        assert!(Generator::new("(((").is_none());
        // A text stays short for any pattern.
        let mut out = String::new();
        let greedy = Generator::new("((a{200}){200}){200}").unwrap();
        greedy.write(&mut Streams::new(1, "r", "f", "").draw(0, 0), &mut out);
        assert!(out.len() < 2 * MAX_LENGTH, "{}", out.len());
    }
}
