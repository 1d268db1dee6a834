//! Labels: the words that say what a value is, in an answer and of a field, and whether they agree.

use std::rc::Rc;

use diorama_seeds::english;

use super::Known;
use super::leaves::Leaf;
use super::measured::is_measured;
use crate::measures::Measures;
use diorama_answers::lexicon::Roles;
use diorama_answers::prose::Span;
use diorama_answers::remembered::Remembered;
use diorama_answers::tokens::{Kind as TokenKind, LineKind, Token};
use diorama_answers::{Mention, NumberRole, What};
use diorama_answers::{word, words};
use diorama_engine::Origin;

/// So many words before a value, and behind it, say what it is.
const BEFORE: usize = 4;
const BEHIND: usize = 2;

/// What a field, a member, an argument or a fact asked for is called.
pub(super) struct Label<'a> {
    pub(super) name: &'a str,
    /// Its other name.
    also: &'a str,
    words: Rc<Words>,
    more: Rc<Words>,
    /// Whether it is a fact asked for.
    asked: bool,
}

/// The words of a name, as stems.
#[derive(Default)]
struct Words {
    all: Vec<String>,
    /// Those that are no unit.
    plain: Vec<String>,
}

thread_local! {
    static WORDS: Remembered<Words> = Remembered::default();
}

impl Words {
    fn of(name: &str) -> Rc<Self> {
        WORDS.with(|known| known.get(name, Self::read))
    }

    fn read(name: &str) -> Self {
        const SMALL: [&str; 14] =
            ["of", "the", "a", "an", "in", "at", "on", "by", "for", "to", "and", "or", "is", "id"];
        let mut words = english::split_identifier(name);
        // `min_age` is no number of minutes.
        if words.len() > 1 && matches!(words.first().map(String::as_str), Some("min" | "max")) {
            words.remove(0);
        }
        words.retain(|word| !SMALL.contains(&word.as_str()));
        let all: Vec<String> = words.iter().map(|word| english::stem(word)).collect();
        let is_plain = |word: &&String| Measures::of_name(word).units().next().is_none();
        Self { plain: all.iter().filter(is_plain).cloned().collect(), all }
    }
}

impl<'a> Label<'a> {
    pub(super) fn new(name: &'a str, also: &'a str, asked: bool) -> Self {
        Self { name, also, words: Words::of(name), more: Words::of(also), asked }
    }

    pub(super) fn is(&self, name: &str, also: &str, asked: bool) -> bool {
        self.name == name && self.also == also && self.asked == asked
    }

    /// Whether a word, as a stem, is one of it.
    fn has(&self, word: &String) -> bool {
        self.words.all.contains(word) || self.more.all.contains(word)
    }

    /// Whether a word of a field's name or label is one of it.
    pub(super) fn shares(&self, name: &str, label: &str) -> bool {
        let (name, label) = (Words::of(name), Words::of(label));
        name.all.iter().chain(&label.all).any(|word| self.has(word))
    }
}

impl Known<'_> {
    /// The label that the words of a value give it, where what bears it has another value.
    pub(super) fn mislabelled(&self, mention: &Mention) -> Option<&str> {
        // `a single room`, `one of them`: seldom meant as a number.
        let spelt = !self.prose.words_at(mention.span()).contains(|c: char| c.is_ascii_digit());
        if matches!(&mention.what, What::Number(number) if number.role != NumberRole::Plain || (spelt && number.value == 1.0))
        {
            return None;
        }
        let Labelled { words, heads } = self.label_words(mention);
        if words.is_empty() || self.is_said(mention) {
            return None;
        }
        let label = self.misattributed(mention, &words).or_else(|| self.rival(mention, &words, &heads));
        label.filter(|_| !self.is_in_text(mention))
    }

    /// The label that fits the words of a value better than those that bear it. `heads` are the words next to it.
    fn rival(&self, mention: &Mention, words: &[String], heads: &[String]) -> Option<&str> {
        let alike: Vec<&Leaf<'_>> = self.leaves.iter().filter(|leaf| leaf.is_alike(mention)).collect();
        let mut labels: Vec<usize> = alike.iter().map(|leaf| leaf.label).collect();
        labels.sort_unstable();
        labels.dedup();
        let telling = |word: &&String| {
            let with = labels.iter().filter(|label| self.labels[**label].has(word)).count();
            with > 0 && (with < labels.len() || labels.len() == 1)
        };
        let telling: Vec<&String> = words.iter().filter(telling).collect();
        let score = |label: usize| telling.iter().filter(|word| self.labels[label].has(word)).count();
        let bears = |leaf: &&&Leaf<'_>| leaf.is_value(mention, self.shown.clock);
        let own: Vec<usize> = alike.iter().filter(bears).map(|leaf| leaf.label).collect();
        let best = own.iter().map(|label| score(*label)).max();
        let rival = labels
            .iter()
            .copied()
            .filter(|label| !own.contains(label))
            // What follows from several replies has no label of its own: only the facts asked for speak against it.
            .filter(|label| best.is_some() || self.labels[*label].asked)
            .filter(|label| self.labels[*label].asked || self.is_covered(*label, words, &own))
            .filter(|label| !self.labels[*label].name.ends_with("id"))
            .filter(|label| self.is_measured_like(*label, mention))
            .filter(|label| heads.iter().any(|head| self.labels[*label].has(head)))
            .max_by_key(|label| score(*label))?;
        let lies = score(rival) > best.unwrap_or(0);
        lies.then(|| self.labels[rival].name)
    }

    /// The label that the words of a value give it, where its sentence names one record, of which replies show another
    /// value there.
    fn misattributed(&self, mention: &Mention, words: &[String]) -> Option<&str> {
        let world = self.shown.base.world();
        let record = self.subjects().alone(self.prose, mention.span())?;
        let about: Vec<(&str, Leaf<'_>)> = self
            .subjects()
            .about(record)
            .map(|(member, value, origin)| {
                let schema = match origin {
                    Origin::Field { resource, field, .. } => {
                        Some(&world.resource(*resource).field(*field).schema)
                    }
                    _ => None,
                };
                (member_of(member), Leaf::of(value, schema))
            })
            .filter(|(member, leaf)| leaf.is_alike(mention) && !member.ends_with("id"))
            .filter(|(_, leaf)| leaf.schema.is_some() || !is_measured(mention))
            .collect();
        let said = |name: &str| {
            let name = Words::of(name);
            let name = if name.plain.is_empty() { &name.all } else { &name.plain };
            !name.is_empty() && name.iter().all(|word| words.contains(word))
        };
        let (label, _) =
            about.iter().find(|(member, leaf)| said(member) && leaf.is_measured_like(mention))?;
        let computed = self.leaves.iter().filter(|leaf| leaf.is_free && leaf.is_alike(mention));
        let known = |leaf: &Leaf<'_>| leaf.is_value(mention, self.shown.clock);
        // What was changed is told as it is now.
        let changes = self.shown.entries.iter().flat_map(|entry| &entry.changes);
        let mut now = changes.filter_map(|change| change.after.as_ref()).flat_map(|record| record.iter());
        let is_new = now.any(|value| Leaf::of(value, None).is(mention, self.shown.clock));
        (!is_new && !about.iter().map(|(_, leaf)| leaf).chain(computed).any(known)).then_some(*label)
    }

    /// Whether all of a label's name is said, units aside; or its unit, where the value's own label has another.
    fn is_covered(&self, label: usize, said: &[String], own: &[usize]) -> bool {
        let plain = |label: usize| &self.labels[label].words.plain;
        let name = plain(label);
        let whole = !name.is_empty() && name.iter().all(|word| said.contains(word));
        whole || own.iter().any(|own| plain(*own) == name)
    }

    /// The stems of the words that say what a value is: those before it in its clause, and the noun behind it.
    fn label_words(&self, mention: &Mention) -> Labelled {
        let prose = self.prose;
        let text = prose.text();
        let (start, end) = mention.tokens;
        let mut labelled = Labelled::default();
        let Some(token) = text.get(start) else { return labelled };
        if text.lines.get(token.line as usize) == Some(&LineKind::Row) {
            return labelled;
        }
        // `no other visits`
        let more = words!("other more further else additional");
        let none = matches!(mention.what, What::None);
        if none && text.tokens.iter().skip(start).take(3).any(|token| more.contains(&token.hash)) {
            return labelled;
        }
        let taken = |at: usize| {
            prose
                .mentions()
                .iter()
                .any(|other| other.tokens != mention.tokens && other.tokens.0 <= at && at < other.tokens.1)
        };
        let Labelled { words, heads } = &mut labelled;
        let stem = |at: usize| Some(english::stem(prose.word(text.get(at)?)));
        let small = |range: std::ops::Range<usize>| {
            let words = text.tokens.get(range).unwrap_or_default();
            !words.is_empty() && words.iter().all(|token| words!("just only namely").contains(&token.hash))
        };
        let mut before: Vec<usize> = Vec::new();
        for at in (0..start).rev().filter(|_| !none) {
            let Some(other) = text.get(at) else { break };
            // `the fewest plays, just 178`
            let goes_on = other.is_symbol(',') && small(at + 1..start);
            let apart =
                !goes_on && matches!(other.kind, TokenKind::Symbol(',' | ';' | '(' | ')' | '—' | '–' | '.'));
            let turns = other.is(Roles::BUT) && other.hash != word!("is");
            if other.sentence != token.sentence || other.line != token.line || apart || turns {
                break;
            }
            if taken(at) {
                // `33 packs for 232.9`: the noun right behind a value is its own.
                let nouns =
                    (at + 1..start).take_while(|at| text.get(*at).is_some_and(Token::has_content)).last();
                before.retain(|at| nouns.is_none_or(|last| *at > last));
                break;
            }
            // The name of a record says of what it is, not what.
            let span = Span { start: other.start as usize, end: other.end as usize };
            if other.has_content() && !self.subjects().names(span) {
                before.push(at);
            }
            if before.len() == BEFORE {
                break;
            }
        }
        heads.extend(before.first().and_then(|at| stem(*at)));
        words.extend(before.iter().filter_map(|at| stem(*at)));
        let mut behind = 0;
        for at in end..text.tokens.len() {
            let Some(other) = text.get(at) else { break };
            // `for a fan oven`, but `a year` is a unit.
            let article = words!("a an").contains(&other.hash)
                && text.before(at).is_some_and(|before| before.hash == word!("for"));
            let joins = other.kind == TokenKind::Word
                && !other.has_content()
                && !article
                && !words!("of your the my their for").contains(&other.hash);
            let apart = matches!(other.kind, TokenKind::Symbol(_));
            if other.sentence != token.sentence || other.line != token.line || apart || joins || taken(at) {
                break;
            }
            if other.has_content() {
                heads.extend(stem(at));
                words.extend(stem(at));
                behind += 1;
            }
            if behind == BEHIND {
                break;
            }
        }
        // A unit labels its value as much as a noun does.
        if let What::Number(number) = &mention.what
            && number.unit.is_some()
        {
            let last = end.saturating_sub(1);
            let unit = text.get(last).filter(|token| token.is_word()).and_then(|_| stem(last));
            heads.extend(unit.clone());
            words.extend(unit);
        }
        words.sort_unstable();
        words.dedup();
        labelled
    }

    /// Whether what bears a label may have a unit, where the value has one.
    fn is_measured_like(&self, label: usize, mention: &Mention) -> bool {
        let mut bearing = self.leaves.iter().filter(|leaf| leaf.label == label);
        !is_measured(mention) || bearing.any(|leaf| leaf.is_measured_like(mention))
    }
}

/// The words that say what a value is.
#[derive(Default)]
struct Labelled {
    /// Their stems.
    words: Vec<String>,
    /// Those next to it.
    heads: Vec<String>,
}

/// What a user counts: the words behind `how many` and `number of`.
pub(crate) fn counted(turn: &str) -> String {
    let lower = turn.to_lowercase();
    let behind = ["how many ", "number of ", "count the ", "count of "]
        .iter()
        .filter_map(|lead| Some(lower.rfind(lead)? + lead.len()))
        .max();
    let Some(rest) = behind.and_then(|at| lower.get(at..)) else { return String::new() };
    let words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2);
    words.take(2).collect::<Vec<_>>().join(" ")
}

/// A place's last member: `starts_at` of `items[0].starts_at`.
pub(super) fn member_of(path: &str) -> &str {
    if !path.bytes().any(|byte| matches!(byte, b'.' | b'[')) {
        return path;
    }
    let last = path.rsplit('.').next().unwrap_or(path);
    last.split('[').next().unwrap_or(last)
}
