//! Owns small grammars for titles, names of things and sentences, from the embedded files under
//! `seeds/data/grammar`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::provider::{Provider, RuleId};
use super::tables::City;
use crate::draw::Draw;
use crate::english::article;
use crate::table::{read_heading, rows};

/// The rules of all files.
pub(super) struct Grammar {
    rules: Vec<Rule>,
    names: BTreeMap<&'static str, RuleId>,
}

struct Rule {
    style: Style,
    alternatives: Vec<Vec<Piece>>,
    /// Running sums of the alternatives' weights.
    bounds: Vec<u64>,
}

/// Capitalisation of a rule's text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    /// Capital first letter.
    First,
    /// Title case.
    Title,
}

enum Piece {
    Text(&'static str),
    Rule(RuleId, Dress),
    Provider(Provider, Dress),
    Number { low: i64, high: i64, width: usize },
}

/// Form of an expansion at its position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dress {
    Bare,
    Capital,
    Article,
    CapitalArticle,
}

/// City of a text, if its record has one.
pub(super) type Setting = Option<&'static City>;

const FILES: [&str; 6] = [
    include_str!("../../data/grammar/titles.txt"),
    include_str!("../../data/grammar/learning.txt"),
    include_str!("../../data/grammar/places.txt"),
    include_str!("../../data/grammar/work.txt"),
    include_str!("../../data/grammar/things.txt"),
    include_str!("../../data/grammar/sentences.txt"),
];

static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| Grammar::parse(&FILES));

/// Maximum depth of expansions. A test checks that the files stay far below it.
const MAX_DEPTH: u32 = 12;

impl RuleId {
    /// Returns the rule with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        GRAMMAR.names.get(name).copied()
    }

    /// Returns the names of all rules.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        GRAMMAR.names.keys().copied()
    }

    /// Appends an expansion of the rule.
    pub(super) fn write(self, draw: &mut Draw, place: Setting, out: &mut String) {
        GRAMMAR.expand(self, draw, place, out, 0);
    }

    /// Returns an upper bound of the number of different texts. Alternatives may coincide.
    pub(super) fn capacity(self) -> u64 {
        GRAMMAR.capacity(self, 0)
    }
}

impl Grammar {
    fn parse(files: &[&'static str]) -> Self {
        let mut sections: Vec<(&'static str, Style, Vec<&'static str>)> = Vec::new();
        for line in files.iter().copied().flat_map(rows) {
            if let Some(head) = read_heading(line) {
                let (name, style) = match head.split_once(": ") {
                    Some((name, "title")) => (name, Style::Title),
                    Some((name, _)) => (name, Style::First),
                    None => (head, Style::Plain),
                };
                sections.push((name, style, Vec::new()));
            } else if let Some((_, _, alternatives)) = sections.last_mut() {
                // A line that ends like a sentence is one alternative. In other lines, semicolons separate
                // alternatives.
                if line.ends_with(['.', '!', '?']) {
                    alternatives.push(line);
                } else {
                    alternatives.extend(line.split(';').map(str::trim).filter(|text| !text.is_empty()));
                }
            }
        }
        let names: BTreeMap<&'static str, RuleId> =
            sections.iter().enumerate().map(|(i, (name, ..))| (*name, RuleId(i as u16))).collect();
        let rules = sections
            .into_iter()
            .map(|(_, style, texts)| Rule {
                style,
                alternatives: texts.into_iter().map(|text| pieces(text, &names)).collect(),
                bounds: Vec::new(),
            })
            .collect();
        let mut grammar = Self { rules, names };
        for index in 0..grammar.rules.len() {
            let mut sum = 0;
            let alternatives = grammar.rules.get(index).map_or(&[][..], |rule| rule.alternatives.as_slice());
            // An alternative with few texts is drawn less often, because its texts would repeat.
            let bounds = alternatives.iter().map(|alternative| {
                sum += grammar.ways(alternative, 0).clamp(1, 400).isqrt();
                sum
            });
            let bounds: Vec<u64> = bounds.collect();
            if let Some(rule) = grammar.rules.get_mut(index) {
                rule.bounds = bounds;
            }
        }
        grammar
    }

    fn expand(&self, id: RuleId, draw: &mut Draw, place: Setting, out: &mut String, depth: u32) {
        let Some(rule) = self.rules.get(usize::from(id.0)).filter(|_| depth < MAX_DEPTH) else { return };
        let point = draw.below(rule.bounds.last().copied().unwrap_or(0));
        let chosen = rule.bounds.partition_point(|bound| *bound <= point);
        let Some(alternative) = rule.alternatives.get(chosen) else { return };
        let start = out.len();
        let mut used: Vec<(&Piece, std::ops::Range<usize>)> = Vec::new();
        for piece in alternative {
            let at = out.len();
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Number { low, high, width } => {
                    let number = draw.between(*low, *high);
                    out.push_str(&format!("{number:0width$}"));
                }
                Piece::Rule(_, dress) | Piece::Provider(_, dress) => {
                    // Draws again after a repetition such as "Oslo to Oslo" or "quick and quick".
                    for turn in 0..6 {
                        out.truncate(at);
                        let known = used.iter().any(|(other, _)| other.same_source(piece));
                        match piece {
                            Piece::Rule(rule, _) => self.expand(*rule, draw, place, out, depth + 1),
                            Piece::Provider(provider, _) if known || turn > 0 => {
                                provider.write_alone(draw, out)
                            }
                            Piece::Provider(provider, _) => provider.write_at(place, draw, out),
                            _ => {}
                        }
                        let again = used.iter().any(|(other, range)| {
                            let earlier = out.get(range.clone()).unwrap_or_default();
                            other.same_source(piece) && earlier.to_lowercase() == out[at..].to_lowercase()
                        });
                        if !again {
                            break;
                        }
                    }
                    match dress {
                        Dress::Bare => {}
                        Dress::Capital => capitalise(out, at),
                        Dress::Article => insert_article(out, at),
                        Dress::CapitalArticle => {
                            insert_article(out, at);
                            capitalise(out, at);
                        }
                    }
                    used.push((piece, at..out.len()));
                }
            }
        }
        match rule.style {
            Style::Plain => {}
            Style::First => capitalise(out, start),
            Style::Title => {
                let title = title_case(&out[start..]);
                out.truncate(start);
                out.push_str(&title);
            }
        }
    }

    fn capacity(&self, id: RuleId, depth: u32) -> u64 {
        let Some(rule) = self.rules.get(usize::from(id.0)).filter(|_| depth < MAX_DEPTH) else { return 0 };
        rule.alternatives
            .iter()
            .fold(0, |sum: u64, alternative| sum.saturating_add(self.ways(alternative, depth)))
    }

    fn ways(&self, alternative: &[Piece], depth: u32) -> u64 {
        alternative.iter().fold(1, |product: u64, piece| {
            product.saturating_mul(match piece {
                Piece::Text(_) => 1,
                Piece::Number { low, high, .. } => high.abs_diff(*low) + 1,
                Piece::Rule(rule, _) => self.capacity(*rule, depth + 1),
                Piece::Provider(provider, _) => provider.capacity(),
            })
        })
    }
}

impl Piece {
    fn same_source(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Rule(a, _), Self::Rule(b, _)) => a == b,
            (Self::Provider(a, _), Self::Provider(b, _)) => a == b,
            _ => false,
        }
    }
}

/// Splits an alternative into pieces. A symbol that is neither rule nor provider stays as text, and a test
/// finds it.
fn pieces(text: &'static str, names: &BTreeMap<&'static str, RuleId>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((symbol, after)) = after.split_once('}') else { break };
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        let dresses = [("^", Dress::Capital), ("a ", Dress::Article), ("A ", Dress::CapitalArticle)];
        let dressed = dresses.into_iter().find_map(|(mark, dress)| Some((symbol.strip_prefix(mark)?, dress)));
        let (symbol_name, dress) = dressed.unwrap_or((symbol, Dress::Bare));
        pieces.push(match (names.get(symbol_name), Provider::built_in(symbol_name), number(symbol)) {
            (Some(rule), ..) => Piece::Rule(*rule, dress),
            (_, Some(provider), _) => Piece::Provider(provider, dress),
            (_, _, Some(number)) => number,
            _ => Piece::Text(symbol),
        });
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    pieces
}

/// Parses `3-9`, or `01-12` for numbers of fixed width.
fn number(symbol: &str) -> Option<Piece> {
    let (low, high) = symbol.split_once('-')?;
    let width = if low.starts_with('0') && low.len() == high.len() { low.len() } else { 0 };
    Some(Piece::Number { low: low.parse().ok()?, high: high.parse().ok()?, width })
}

/// Capitalises the first letter from `at`.
pub(super) fn capitalise(text: &mut String, at: usize) {
    let Some(first) = text.get(at..).and_then(|rest| rest.chars().next()) else { return };
    if first.is_lowercase() {
        let upper: String = first.to_uppercase().collect();
        text.replace_range(at..at + first.len_utf8(), &upper);
    }
}

fn insert_article(text: &mut String, at: usize) {
    let article = article(&text[at..]);
    text.insert(at, ' ');
    text.insert_str(at, article);
}

/// Words in lower case inside a title.
const SMALL_WORDS: [&str; 17] = [
    "a", "an", "the", "and", "of", "in", "on", "at", "to", "for", "with", "from", "by", "or", "as", "than",
    "but",
];

fn title_case(text: &str) -> String {
    let mut title = String::with_capacity(text.len());
    let mut begins = true;
    for word in text.split(' ') {
        if !title.is_empty() {
            title.push(' ');
        }
        let at = title.len();
        title.push_str(word);
        if begins || !SMALL_WORDS.contains(&word) {
            // An opening bracket or quotation mark is skipped.
            let skip = word.find(char::is_alphanumeric).unwrap_or(0);
            capitalise(&mut title, at + skip);
        }
        begins = word.ends_with([':', '.', '?', '!']);
    }
    title
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Streams;

    #[test]
    fn every_symbol_of_the_files_means_something() {
        let grammar = Grammar::parse(&FILES);
        let mut unknown = Vec::new();
        for text in FILES.iter().copied().flat_map(rows) {
            for symbol in
                text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(symbol, _)| symbol)
            {
                let name =
                    ["^", "a ", "A "].iter().find_map(|mark| symbol.strip_prefix(mark)).unwrap_or(symbol);
                let known = grammar.names.contains_key(name)
                    || Provider::built_in(name).is_some()
                    || number(symbol).is_some();
                if !known {
                    unknown.push(symbol);
                }
            }
        }
        assert_eq!(unknown, Vec::<&str>::new());
    }

    #[test]
    fn no_rule_is_defined_twice_or_is_empty_or_goes_too_deep() {
        let heads = FILES.iter().flat_map(|file| file.lines()).filter(|line| line.starts_with('[')).count();
        let grammar = Grammar::parse(&FILES);
        assert_eq!(grammar.names.len(), heads);
        for (name, id) in &grammar.names {
            assert!(!grammar.rules[usize::from(id.0)].alternatives.is_empty(), "{name}");
            assert!(depth(&grammar, *id, 0) < MAX_DEPTH, "{name}");
        }
    }

    fn depth(grammar: &Grammar, id: RuleId, above: u32) -> u32 {
        if above >= MAX_DEPTH {
            return MAX_DEPTH;
        }
        let pieces = grammar.rules[usize::from(id.0)].alternatives.iter().flatten();
        let below = pieces.filter_map(|piece| match piece {
            Piece::Rule(rule, _) => Some(depth(grammar, *rule, above + 1)),
            _ => None,
        });
        1 + below.max().unwrap_or(0)
    }

    #[test]
    fn titles_are_many_and_set_as_titles() {
        for name in
            ["book_title", "movie_title", "song_title", "product_name", "course_title", "dish", "band_name"]
        {
            assert!(RuleId::named(name).unwrap().capacity() > 2_000, "{name}");
        }
        assert_eq!(
            title_case("the art of waiting: a life in \"salt\""),
            "The Art of Waiting: A Life in \"Salt\""
        );
        let streams = Streams::new(1, "book", "title", "");
        let mut seen = std::collections::BTreeSet::new();
        for n in 0..1_000 {
            let mut out = String::new();
            RuleId::named("book_title").unwrap().write(&mut streams.draw(n, 0), None, &mut out);
            seen.insert(out);
        }
        assert!(seen.len() > 900, "{}", seen.len());
    }
}
