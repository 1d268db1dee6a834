//! What else an answer says: contradictions, echoes of the user, and chatter.

use super::goal::Goal;
use super::hits::{self, Hit};
use super::{AnswerKey, Top};
use diorama_answers::lexicon::Roles;
use diorama_answers::tokens::{Kind, LineKind, Marks, Text, Token};
use diorama_answers::{self, Clock, Mention, NumberRole, Stance, What};
use diorama_answers::{word, words};

/// What the user said, read when it is first needed.
pub(crate) struct Echo<'a> {
    turns: &'a [String],
    clock: &'a Clock,
    key: &'a AnswerKey,
    read: Option<Vec<(Vec<Mention>, Vec<Hit>)>>,
}

impl<'a> Echo<'a> {
    pub(crate) const fn new(turns: &'a [String], clock: &'a Clock, key: &'a AnswerKey) -> Self {
        Self { turns, clock, key, read: None }
    }

    fn turns(&mut self) -> &[(Vec<Mention>, Vec<Hit>)] {
        let (turns, clock, key) = (self.turns, self.clock, self.key);
        self.read.get_or_insert_with(|| {
            turns
                .iter()
                .map(|turn| {
                    let text = Text::read(turn);
                    let (text, hits) = hits::find(key, &text, turn, &[]);
                    (diorama_answers::read(&text, clock, &hits::taken(&text, &hits)), hits)
                })
                .collect()
        })
    }

    /// Whether the user mentioned the same value.
    pub(crate) fn has(&mut self, mention: &Mention) -> bool {
        let today = self.clock.today;
        self.turns()
            .iter()
            .flat_map(|(mentions, _)| mentions)
            .any(|said| same(&said.what, &mention.what, today))
    }

    /// Whether the user named it.
    pub(crate) fn names(&mut self, identity: u64) -> bool {
        self.turns().iter().flat_map(|(_, hits)| hits).any(|hit| hit.identity == identity)
    }

    /// Whether the user mentioned this expected value.
    pub(crate) fn states(&mut self, goal: &Goal) -> bool {
        let clock = self.clock;
        self.turns().iter().flat_map(|(mentions, _)| mentions).any(|said| goal.covers(said, clock))
    }
}

pub(super) fn same(a: &What, b: &What, today: diorama_seeds::value::Date) -> bool {
    match (a, b) {
        (What::Number(a), What::Number(b)) => {
            a.unit.map(|unit| unit.dimension) == b.unit.map(|unit| unit.dimension)
                && match (a.unit, b.unit) {
                    (Some(from), Some(to)) => {
                        from.convert(a.value, to).is_some_and(|value| (value - b.value).abs() < 1e-6)
                    }
                    _ => a.value == b.value,
                }
        }
        (What::Money(a), What::Money(b)) => a.amount == b.amount,
        (What::Number(a), What::Money(b)) | (What::Money(b), What::Number(a)) => {
            a.unit.is_none() && a.value == b.amount.as_f64()
        }
        (What::Time(a), What::Time(b)) => a.meets(b) || (a.other.is_some() && a.other == b.other),
        (What::Date(a), What::Date(b)) => {
            a.readings
                .iter()
                .flatten()
                .any(|reading| b.readings.iter().flatten().any(|other| reading == other))
                || resolves(a, today).is_some_and(|date| b.means(date, today))
                || resolves(b, today).is_some_and(|date| a.means(date, today))
        }
        _ => false,
    }
}

/// The date of a day said in full, or the next day that a part of a date can mean.
fn resolves(
    day: &diorama_answers::Day,
    today: diorama_seeds::value::Date,
) -> Option<diorama_seeds::value::Date> {
    use diorama_answers::DayReading::{Full, MonthDay, Weekday};
    match day.readings.iter().flatten().next()? {
        Full(date) => Some(*date),
        MonthDay(..) | Weekday(..) => (0..367)
            .map(|ahead| diorama_seeds::value::Date(today.0.saturating_add(ahead)))
            .find(|date| day.means(*date, today)),
        _ => None,
    }
}

/// Whether a number without a unit is about the same thing as an expected one: the same noun is counted, or its
/// label has a word of what is asked, or neither says anything. While the expected one is not stated, any number
/// stands in its place.
pub(crate) fn comparable(
    text: &Text,
    top: &Top,
    mention: &Mention,
    serving: Option<&Mention>,
    stated: bool,
) -> bool {
    let What::Number(number) = &mention.what else { return false };
    if number.unit.is_some() || number.role != NumberRole::Plain {
        return false;
    }
    if !stated {
        return true;
    }
    let noun = |mention: &Mention| match &mention.what {
        What::Number(number) => number.noun,
        _ => [0; 3],
    };
    let own: Vec<u64> = number.noun.iter().copied().filter(|stem| *stem != 0).collect();
    let served: Vec<u64> =
        serving.map(noun).unwrap_or_default().into_iter().filter(|stem| *stem != 0).collect();
    let overlap = |a: &[u64], b: &[u64]| a.iter().any(|stem| b.contains(stem));
    if !own.is_empty() {
        return if served.is_empty() { overlap(&own, &top.words) } else { overlap(&own, &served) };
    }
    let label = label(text, mention.tokens.0);
    if label.is_empty() {
        return served.is_empty();
    }
    if overlap(&label, &top.words) {
        return true;
    }
    serving.is_some_and(|serving| overlap(&label, &self::label(text, serving.tokens.0)))
}

/// Stems of up to four words that say what a number in front of nothing is: words before it in the clause, or the
/// first cell of its row.
pub(crate) fn label(text: &Text, at: usize) -> Vec<u64> {
    let Some(token) = text.get(at) else { return Vec::new() };
    if text.lines.get(token.line as usize) == Some(&LineKind::Row) {
        let row = text
            .tokens
            .iter()
            .filter(|other| other.line == token.line && other.cell < token.cell && other.has_content());
        return row.map(|other| other.stem).take(6).collect();
    }
    let mut label = Vec::new();
    for before in
        text.tokens[..at].iter().rev().take(12).take_while(|before| before.sentence == token.sentence)
    {
        if matches!(before.kind, Kind::Symbol(',' | ';' | '—' | '–')) || before.is(Roles::BUT) {
            break;
        }
        if before.has_content() {
            label.push(before.stem);
        }
        if label.len() == 4 {
            break;
        }
    }
    label
}

/// Whether something in the sentence lets one mention speak for several facts.
pub(crate) fn speaks_for_all(text: &Text, at: usize) -> bool {
    let Some(token) = text.get(at) else { return false };
    text.tokens
        .iter()
        .any(|other| other.sentence == token.sentence && other.is(Roles::EVERY) && other.line == token.line)
}

/// Whether a name that the user gave is put forward as the answer: the subject of a comparison, or what a copula
/// behind one assigns.
pub(crate) fn is_picked(text: &Text, hits: &[Hit], position: usize) -> bool {
    let Some(hit) = hits.get(position) else { return false };
    let Some(token) = text.get(hit.start) else { return false };
    let in_sentence = |hit: &Hit| text.get(hit.start).is_some_and(|other| other.sentence == token.sentence);
    let Some(comparison) = text
        .tokens
        .iter()
        .position(|other| {
            other.sentence == token.sentence
                && other.is(Roles::COMPARATIVE)
                && other.hash != word!("more")
                && other.hash != word!("less")
        })
        .or_else(|| {
            text.tokens
                .iter()
                .position(|other| other.sentence == token.sentence && other.is(Roles::COMPARATIVE))
        })
    else {
        return false;
    };
    let stated = |hit: &Hit| hit.stance == Stance::Asserted;
    let assigned = |hit: &&Hit| {
        let mut at = hit.start;
        while at > 0
            && text.get(at - 1).is_some_and(|before| before.is(Roles::HONORIFIC) || before.is_symbol('.'))
        {
            at -= 1;
        }
        at.checked_sub(1)
            .and_then(|before| text.get(before))
            .is_some_and(|before| before.is(Roles::COPULA) || before.is_symbol(':'))
    };
    let behind = hits
        .iter()
        .filter(|other| in_sentence(other) && other.start > comparison && stated(other))
        .find(assigned);
    let picked = behind.or_else(|| {
        hits.iter().rev().find(|other| in_sentence(other) && other.end <= comparison && stated(other))
    });
    picked.is_some_and(|picked| picked.start == hit.start)
}

/// Whether a name stands among the items of a list: first in its line or cell, or beside another by comma or
/// `and`.
pub(crate) fn is_listed(text: &Text, hits: &[Hit], position: usize) -> bool {
    let Some(hit) = hits.get(position) else { return false };
    let Some(token) = text.get(hit.start) else { return false };
    let line = text.lines.get(token.line as usize).copied().unwrap_or(LineKind::Plain);
    if token.has(Marks::FIRST) && matches!(line, LineKind::Item | LineKind::Row) {
        return true;
    }
    let joined = |left: &Hit, right: &Hit| {
        left.end <= right.start
            && text.tokens[left.end..right.start].len() <= 3
            && text.tokens[left.end..right.start].iter().all(is_joint)
    };
    let before =
        position.checked_sub(1).and_then(|before| hits.get(before)).is_some_and(|before| joined(before, hit));
    before || hits.get(position + 1).is_some_and(|after| joined(hit, after))
}

fn is_joint(token: &Token) -> bool {
    matches!(token.kind, Kind::Symbol(',' | ';' | '.'))
        || token.is(Roles::HONORIFIC)
        || words!("and or plus").contains(&token.hash)
}
