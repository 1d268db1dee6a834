//! Yes and no: words that state a boolean fact, with their negations.

use crate::grade::extract::lexicon::{HASH_START, Roles, hash_byte, word};
use crate::grade::extract::tokens::{Kind, LineKind, Marks, Text, Token};
use crate::grade::extract::{Stance, stance};

use super::goal::Question;

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
    if question.derived && said == Said::default() {
        derived(text, about, &mut said);
    }
    said
}

/// A phrase at a token; also with `un-`, `in-` or `non-` before a single word, which turns it round.
fn phrase_at(text: &Text, at: usize, phrase: &[u64]) -> Option<(usize, bool)> {
    let token = text.get(at)?;
    if let [one] = phrase {
        if token.hash == *one || token.stem == *one {
            return Some((at + 1, false));
        }
        return (token.is_word() && is_prefixed(token, *one)).then_some((at + 1, true));
    }
    let mut end = at;
    for word in phrase {
        let mut token = text.get(end)?;
        while end > at && token.is_symbol('-') {
            end += 1;
            token = text.get(end)?;
        }
        if token.hash != *word && token.stem != *word {
            return None;
        }
        end += 1;
    }
    text.get(end - 1).filter(|last| last.line == token.line).map(|_| (end, false))
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
    (crate::grade::extract::lexicon::hash_word(plain), hash)
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
        Stance::Contrasted => return None,
        _ => {}
    }
    // `Pool: no`, `| Pool | ✗ |`: the label is not the answer.
    let follows = text.get(end).filter(|next| next.line == token.line);
    if follows.is_some_and(|next| next.is_symbol(':') || next.is_symbol('=')) {
        return None;
    }
    if text.lines.get(token.line as usize) == Some(&LineKind::Row)
        && follows.is_some_and(|next| next.cell != token.cell)
        && text.tokens[..at].last().is_none_or(|before| before.line != token.line)
    {
        return None;
    }
    let mut negated = false;
    for (distance, before) in text.tokens[..at].iter().rev().take(7).enumerate() {
        if before.sentence != token.sentence
            || before.is(Roles::BUT)
            || matches!(before.kind, Kind::Symbol(',' | ';' | ':' | '—' | '–'))
        {
            break;
        }
        let only = text
            .get(at - distance)
            .is_some_and(|next| next.hash == word!("only") || next.hash == word!("just"));
        if before.is(Roles::NEGATOR) && !only {
            negated = !negated;
        }
        if before.hash == word!("unable") || before.hash == word!("lacks") || before.hash == word!("lack") {
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

/// A bare yes or no: at the start of a sentence, after a colon, or alone in a cell.
fn plain_answer(text: &Text, at: usize, token: &Token) -> Option<bool> {
    let yes = match token.kind {
        Kind::Symbol('✓' | '✔' | '✅' | '☑') => true,
        Kind::Symbol('✗' | '✘' | '❌' | '✖' | '☐') => false,
        Kind::Word if token.is(Roles::YES) => true,
        Kind::Word if token.is(Roles::NO) => false,
        // `I'm afraid not`, `unfortunately not`
        Kind::Word if token.hash == word!("not") => {
            let before = text.before(at)?;
            let closes = text.get(at + 1).is_none_or(|next| matches!(next.kind, Kind::Symbol(_)));
            let sorry = [word!("afraid"), word!("unfortunately"), word!("sorry"), word!("probably")]
                .contains(&before.hash);
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
            || [word!("is"), word!("and"), word!("answer"), word!("but"), word!("so")].contains(&before.hash)
    });
    let opens = token.has(Marks::FIRST) || before.is_none();
    if matches!(token.kind, Kind::Symbol(_)) {
        // A tick may only decorate a line (`✅ Booked`); alone in its cell or behind a label it answers.
        return (next.is_none() && (after_label || before.is_none() || before.is_some_and(Token::is_word)))
            .then_some(yes);
    }
    let closed = next.is_none_or(|next| matches!(next.kind, Kind::Symbol(_)));
    let statement = next.is_some_and(|next| {
        next.is(Roles::PRONOUN)
            || [word!("the"), word!("your"), word!("dr"), word!("that")].contains(&next.hash)
            || next.has(Marks::CAPITAL)
    });
    if token.hash == word!("no") || token.hash == word!("yes") {
        if opens && (closed || statement) {
            return Some(yes);
        }
        return (after_label && closed).then_some(yes);
    }
    // `true`, `correct`, `confirmed`: only where they are the answer, not part of a sentence.
    let value = token.hash == word!("true") || token.hash == word!("false");
    let is = before.is_some_and(|before| before.hash == word!("is") || before.hash == word!("thats"));
    ((opens && closed) || (after_label && closed && (value || is))).then_some(yes)
}

/// Whether a bare yes or no is about a question: its line or sentence has a word of it.
fn concerns(text: &Text, at: usize, question: &Question, about: &[u64]) -> bool {
    let Some(token) = text.get(at) else { return false };
    let line = text.lines.get(token.line as usize).copied().unwrap_or(LineKind::Plain);
    let near = text.tokens.iter().filter(|other| match line {
        LineKind::Row | LineKind::Item => other.line == token.line,
        _ => {
            other.sentence == token.sentence
                || (other.line == token.line
                    && token.has(Marks::FIRST)
                    && other.sentence == token.sentence + 1)
        }
    });
    near.filter(|other| other.hash != 0 && !other.is(Roles::FUNCTION)).any(|other| {
        about.contains(&other.stem)
            || question
                .phrases
                .iter()
                .any(|(words, _)| words.contains(&other.hash) || words.contains(&other.stem))
    })
}

/// Without given words: sentences that speak of what is asked say it or deny it.
fn derived(text: &Text, about: &[u64], said: &mut Said) {
    let Some(key) = about.last() else { return };
    for (at, token) in text.tokens.iter().enumerate() {
        if token.stem == *key
            && let Some(positive) = polarity(text, at, at + 1)
        {
            said.add(positive);
        }
    }
}
