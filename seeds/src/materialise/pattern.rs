//! Text that matches a pattern, for fields that have a pattern and no provider.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::draw::Draw;

/// A pattern, ready to make texts.
#[derive(Clone, Debug)]
pub(super) struct Generator(Hir);

/// An unbounded repetition goes this far beyond its least number.
const MORE: u32 = 5;
/// A text of a pattern grows no longer.
const MAX_LENGTH: usize = 512;
/// Groups nest no deeper.
const MAX_DEPTH: u32 = 24;

impl Generator {
    /// Reads a pattern; `None` when it is not one that texts can be made from.
    pub(super) fn new(pattern: &str) -> Option<Self> {
        regex_syntax::ParserBuilder::new().nest_limit(MAX_DEPTH).build().parse(pattern).ok().map(Self)
    }

    /// Appends a text. The caller checks that it matches, because look-arounds are passed over.
    pub(super) fn write(&self, draw: &mut Draw, out: &mut String) {
        write(&self.0, draw, out, &mut 4_096);
    }
}

/// `steps` bounds the work whatever the pattern asks for; the depth is bounded by the parser.
fn write(hir: &Hir, draw: &mut Draw, out: &mut String, steps: &mut u32) {
    if *steps == 0 || out.len() > MAX_LENGTH {
        return;
    }
    *steps -= 1;
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(Class::Unicode(class)) => {
            let ranges: Vec<(char, char)> =
                class.ranges().iter().map(|range| (range.start(), range.end())).collect();
            out.extend(character(&ranges, draw));
        }
        HirKind::Class(Class::Bytes(class)) => {
            let ranges: Vec<(char, char)> =
                class.ranges().iter().map(|range| (range.start().into(), range.end().into())).collect();
            out.extend(character(&ranges, draw));
        }
        HirKind::Repetition(repetition) => {
            let most =
                repetition.max.unwrap_or_else(|| repetition.min.saturating_add(MORE)).min(MAX_LENGTH as u32);
            for _ in 0..draw.between(i64::from(repetition.min), i64::from(most)) {
                if *steps == 0 {
                    break;
                }
                write(&repetition.sub, draw, out, steps);
            }
        }
        HirKind::Capture(capture) => write(&capture.sub, draw, out, steps),
        HirKind::Concat(parts) => parts.iter().for_each(|part| write(part, draw, out, steps)),
        HirKind::Alternation(ways) => {
            if let Some(way) = draw.pick(ways) {
                write(way, draw, out, steps);
            }
        }
    }
}

/// A character of a class: a letter, digit or sign that people can type, where the class has one.
fn character(ranges: &[(char, char)], draw: &mut Draw) -> Option<char> {
    let typed: Vec<char> =
        ('!'..='~').filter(|c| ranges.iter().any(|(low, high)| low <= c && c <= high)).collect();
    let plain: Vec<char> = typed.iter().copied().filter(char::is_ascii_alphanumeric).collect();
    if let Some(character) = draw.pick(if plain.is_empty() { &typed } else { &plain }) {
        return Some(*character);
    }
    let (low, high) = *draw.pick(ranges)?;
    char::from_u32(draw.between(low as i64, high as i64) as u32).or(Some(low))
}

#[cfg(test)]
mod tests {
    use super::super::draw::Streams;
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
        // A text stays short whatever the pattern asks for.
        let mut out = String::new();
        let greedy = Generator::new("((a{200}){200}){200}").unwrap();
        greedy.write(&mut Streams::new(1, "r", "f", "").draw(0, 0), &mut out);
        assert!(out.len() < 2 * MAX_LENGTH, "{}", out.len());
    }
}
