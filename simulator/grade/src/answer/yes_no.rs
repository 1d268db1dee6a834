//! Yes and no: words that state a boolean fact, with their negations.

use diorama_answers::lexicon::{HASH_START, Roles, hash_byte};
use diorama_answers::tokens::{Kind, LineKind, Marks, Text, Token};
use diorama_answers::{Stance, stance};
use diorama_answers::{word, words};

use super::goal::{PhraseWord, Question};

/// What an answer says to a question: whether it says yes, and whether it says no, somewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) yes: bool,
    pub(crate) no: bool,
}

impl Said {
    fn add(&mut self, yes: bool) {
        if yes { self.yes = true } else { self.no = true }
    }

    pub(crate) const fn says(self, value: bool) -> bool {
        if value { self.yes } else { self.no }
    }
}

/// Reads the answer to a question. `about` are stems of the words that say what is asked; `only` whether it is
/// the only question, to which a bare yes must belong.
pub(crate) fn read(text: &Text, question: &Question, about: &[u64], only: bool) -> Said {
    let mut said = Said::default();
    let mut taken = vec![false; text.tokens.len()];
    for (phrase, yes) in &question.phrases {
        for at in 0..text.tokens.len() {
            if let Some((end, opposite)) = phrase_at(text, at, phrase).filter(|_| !taken[at])
                && let Some(positive) = polarity(text, at, end)
            {
                taken[at..end].fill(true);
                said.add((positive != opposite) == *yes);
            }
        }
    }
    for (at, token) in text.tokens.iter().enumerate() {
        let Some(yes) = plain_answer(text, at, token) else { continue };
        if taken[at] {
            continue;
        }
        if only || concerns(text, at, question, about) {
            said.add(yes);
        }
    }
    if said == Said::default() {
        by_topic(text, question, about, &mut said);
    }
    said
}

/// A phrase at a token; also with `un-`, `in-` or `non-` before a single word, which turns it round.
fn phrase_at(text: &Text, at: usize, phrase: &[PhraseWord]) -> Option<(usize, bool)> {
    let token = text.get(at)?;
    if let [one] = phrase {
        if is_same(token, *one) {
            return Some((at + 1, false));
        }
        return (token.is_word() && is_prefixed(token, one.hash)).then_some((at + 1, true));
    }
    let mut end = at;
    for word in phrase {
        let mut token = text.get(end)?;
        while end > at && token.is_symbol('-') {
            end += 1;
            token = text.get(end)?;
        }
        if !is_same(token, *word) {
            return None;
        }
        end += 1;
    }
    text.get(end - 1).filter(|last| last.line == token.line).map(|_| (end, false))
}

fn is_same(token: &Token, word: PhraseWord) -> bool {
    token.hash == word.hash || (token.hash != 0 && token.stem == word.stem)
}

/// Whether the token is `un` and the word: FNV goes on from its state, so this is known only for short words by
/// trying the common adjectives.
fn is_prefixed(token: &Token, word: u64) -> bool {
    PREFIXED.iter().any(|(plain, prefixed)| *plain == word && *prefixed == token.hash)
}

const fn pair(plain: &str, prefix: &str) -> (u64, u64) {
    let mut hash = HASH_START;
    let bytes = prefix.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        hash = hash_byte(hash, bytes[i]);
        i += 1;
    }
    let bytes = plain.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        hash = hash_byte(hash, bytes[i]);
        i += 1;
    }
    (diorama_answers::lexicon::hash_word(plain), hash)
}

const PREFIXED: &[(u64, u64)] = &[
    pair("available", "un"),
    pair("paid", "un"),
    pair("verified", "un"),
    pair("confirmed", "un"),
    pair("limited", "un"),
    pair("locked", "un"),
    pair("refundable", "non"),
    pair("active", "in"),
    pair("furnished", "un"),
    pair("heated", "un"),
    pair("occupied", "un"),
    pair("reserved", "un"),
    pair("published", "un"),
    pair("subscribed", "un"),
    pair("read", "un"),
    pair("complete", "in"),
    pair("valid", "in"),
    pair("assigned", "un"),
    pair("insured", "un"),
    pair("attended", "un"),
    pair("able", "un"),
    pair("accessible", "in"),
    pair("eligible", "in"),
    pair("included", "un"),
    pair("returned", "un"),
];

/// Whether words at a place are affirmed (`Some(true)`), denied, or neither: asked, imagined, unsure.
fn polarity(text: &Text, at: usize, end: usize) -> Option<bool> {
    let token = text.get(at)?;
    match stance::of(text, at, end) {
        Stance::Questioned | Stance::Hypothetical | Stance::Uncertain | Stance::Echoed => return None,
        Stance::Contrasted | Stance::Compared => return None,
        _ => {}
    }
    // `Pool: no`, `| Pool | ✗ |`: the label is not the answer.
    let follows = text.get(end).filter(|next| next.line == token.line);
    let labels = follows.is_some_and(|next| next.is_symbol(':') || next.is_symbol('='));
    let heads = text.lines.get(token.line as usize) == Some(&LineKind::Row)
        && follows.is_some_and(|next| next.cell != token.cell)
        && text.tokens[..at].last().is_none_or(|before| before.line != token.line);
    if labels || heads {
        return labelled(text, if labels { end + 1 } else { end });
    }
    let mut negated = false;
    for (distance, before) in text.tokens[..at].iter().rev().take(7).enumerate() {
        if before.sentence != token.sentence
            || before.is(Roles::BUT)
            || matches!(before.kind, Kind::Symbol(',' | ';' | ':' | '—' | '–'))
        {
            break;
        }
        let only = text.get(at - distance).is_some_and(|next| words!("only just").contains(&next.hash));
        if before.is(Roles::NEGATOR) && !only {
            negated = !negated;
        }
        if words!("unable lacks lack lacking missing").contains(&before.hash) {
            negated = !negated;
        }
    }
    // `a pool is not there`, `parking isn't`
    let behind = |ahead: usize| {
        text.get(end + ahead).filter(|next| next.sentence == token.sentence && next.cell == token.cell)
    };
    if behind(0).is_some_and(|next| next.is(Roles::COPULA) && !next.is(Roles::NEGATOR))
        && behind(1).is_some_and(|next| next.hash == word!("not"))
    {
        negated = !negated;
    }
    if behind(0).is_some_and(|next| next.is(Roles::COPULA) && next.is(Roles::NEGATOR)) {
        negated = !negated;
    }
    Some(!negated)
}

/// What stands behind a label, where it is not a bare yes or no: `Parking: available`.
fn labelled(text: &Text, at: usize) -> Option<bool> {
    let hash = |at: usize| text.get(at).map_or(0, |token| token.hash);
    let good = words!(
        "available included offered provided free possible allowed permitted welcome \
         accepted"
    );
    let bad = words!("unavailable none impossible forbidden prohibited");
    let negated = text.get(at).is_some_and(|token| token.hash == word!("not"));
    if negated && good.contains(&hash(at + 1)) || bad.contains(&hash(at)) {
        return Some(false);
    }
    good.contains(&hash(at)).then_some(true)
}

/// A bare yes or no: at the start of a sentence, after a colon, or alone in a cell.
fn plain_answer(text: &Text, at: usize, token: &Token) -> Option<bool> {
    let yes = match token.kind {
        Kind::Symbol('✓' | '✔' | '✅' | '☑') => true,
        Kind::Symbol('✗' | '✘' | '❌' | '✖' | '☐') => false,
        Kind::Word if token.is(Roles::YES) => true,
        Kind::Word if token.is(Roles::NO) => false,
        // `It is.`, `They don't.`
        Kind::Word if token.has(Marks::FIRST) && token.is(Roles::PRONOUN) => {
            return short_answer(text, at, token);
        }
        // `I'm afraid not`, `unfortunately not`
        Kind::Word if token.hash == word!("not") => {
            let before = text.before(at)?;
            let closes = text.get(at + 1).is_none_or(|next| matches!(next.kind, Kind::Symbol(_)));
            let sorry = words!("afraid unfortunately sorry probably").contains(&before.hash);
            return (closes && sorry && before.hash != word!("probably")).then_some(false);
        }
        _ => return None,
    };
    if text.asks(token) {
        return None;
    }
    let before = at
        .checked_sub(1)
        .and_then(|i| text.get(i))
        .filter(|before| before.sentence == token.sentence && before.cell == token.cell);
    let next = text.get(at + 1).filter(|next| next.line == token.line && next.cell == token.cell);
    let after_label = before.is_some_and(|before| {
        matches!(before.kind, Kind::Symbol(':' | '=' | '—' | '–' | ','))
            || words!("is and answer but so").contains(&before.hash)
    });
    let opens = token.has(Marks::FIRST) || before.is_none();
    if matches!(token.kind, Kind::Symbol(_)) {
        // A tick may only decorate a line (`✅ Booked`); alone in its cell or behind a label it answers.
        return (next.is_none() && (after_label || before.is_none() || before.is_some_and(Token::is_word)))
            .then_some(yes);
    }
    let closed = next.is_none_or(|next| matches!(next.kind, Kind::Symbol(_)));
    let statement = next.is_some_and(|next| {
        next.is(Roles::PRONOUN) || words!("the your dr that").contains(&next.hash) || next.has(Marks::CAPITAL)
    });
    if words!("no yes").contains(&token.hash) {
        if opens && (closed || statement) {
            return Some(yes);
        }
        return (after_label && closed).then_some(yes);
    }
    // `true`, `correct`, `confirmed`: only where they are the answer, not part of a sentence.
    let value = words!("true false").contains(&token.hash);
    let is = before.is_some_and(|before| words!("is thats").contains(&before.hash));
    ((opens && closed) || (after_label && closed && (value || is))).then_some(yes)
}

/// A whole sentence of a pronoun and an auxiliary: `It is.`, `They don't.`, `It is not.`
fn short_answer(text: &Text, at: usize, token: &Token) -> Option<bool> {
    if text.asks(token) {
        return None;
    }
    let words: Vec<&Token> = text.tokens[at + 1..]
        .iter()
        .take_while(|next| next.sentence == token.sentence && next.is_word())
        .take(4)
        .collect();
    let behind = text.get(at + 1 + words.len()).filter(|next| next.sentence == token.sentence);
    if behind.is_some_and(Token::is_digits) {
        return None;
    }
    let auxiliary = |token: &Token| {
        token.is(Roles::COPULA)
            || words!("does do did has have can will doesnt dont didnt hasnt havent cant cannot wont")
                .contains(&token.hash)
    };
    match words.as_slice() {
        [only] if auxiliary(only) => Some(!only.is(Roles::NEGATOR)),
        [first, not] if auxiliary(first) && not.hash == word!("not") => Some(false),
        [first, indeed] if auxiliary(first) && indeed.hash == word!("indeed") => Some(true),
        _ => None,
    }
}

/// Whether a bare yes or no is about a question: its line or sentence has a word of it.
fn concerns(text: &Text, at: usize, question: &Question, about: &[u64]) -> bool {
    let Some(token) = text.get(at) else { return false };
    let line = text.lines.get(token.line as usize).copied().unwrap_or(LineKind::Plain);
    let labelled = at
        .checked_sub(1)
        .and_then(|i| text.get(i))
        .is_some_and(|before| before.is_symbol(':') || before.is_symbol('='));
    let bounds = |token: &Token| {
        matches!(token.kind, Kind::Symbol(',' | ';' | '{' | '—' | '–')) || token.is(Roles::BUT)
    };
    // Behind a label its words; at the start of a sentence the words up to the next clause; else the line.
    let (start, end) = if labelled {
        let start = text.tokens[..at]
            .iter()
            .rposition(|other| other.line != token.line || bounds(other) || other.hash == word!("and"));
        (start.map_or(0, |start| start + 1), at)
    } else if line == LineKind::Plain && token.has(Marks::FIRST) {
        let start = at + 1 + usize::from(text.get(at + 1).is_some_and(bounds));
        let end = text.tokens[start.min(text.tokens.len())..].iter().position(|other| {
            other.line != token.line || other.sentence > token.sentence + 1 || bounds(other)
        });
        (start, end.map_or(text.tokens.len(), |end| start + end))
    } else if line == LineKind::Plain {
        // `.. and no, pets are not allowed`
        let end = text.tokens[at..]
            .iter()
            .skip(2)
            .position(|other| other.sentence != token.sentence || bounds(other));
        (at, end.map_or(text.tokens.len(), |end| at + 2 + end))
    } else {
        let first = text.tokens.iter().position(|other| other.line == token.line).unwrap_or(at);
        let end = text.tokens[at..].iter().position(|other| other.line != token.line);
        (first, end.map_or(text.tokens.len(), |end| at + end))
    };
    let near = text.tokens.get(start..end).unwrap_or(&[]).iter();
    near.filter(|other| other.hash != 0 && !other.is(Roles::FUNCTION)).any(|other| {
        about.contains(&other.stem)
            || question.phrases.iter().any(|(words, _)| words.iter().any(|word| is_same(other, *word)))
    })
}

/// When none of the given words is there: sentences that speak of what is asked say it or deny it. What is asked
/// are the words that yes and no have in common, or the last one of the question.
fn by_topic(text: &Text, question: &Question, about: &[u64], said: &mut Said) {
    let stems = |yes: bool| {
        question
            .phrases
            .iter()
            .filter(move |(_, says)| *says == yes)
            .flat_map(|(words, _)| words)
            .map(|word| word.stem)
    };
    let mut topics: Vec<u64> = stems(true).filter(|stem| stems(false).any(|other| other == *stem)).collect();
    if question.derived {
        topics.extend(about.last());
    }
    for (at, token) in text.tokens.iter().enumerate() {
        let speaks = token.has_content() && topics.contains(&token.stem);
        if speaks && let Some(positive) = polarity(text, at, at + 1) {
            said.add(positive);
        }
    }
}
