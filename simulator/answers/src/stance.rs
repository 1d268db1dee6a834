//! Stance: decides if a clause asserts, denies, asks or imagines the values in it.
//!
//! Reads only the words of the clause around a mention. It does not know the expected value.

use super::lexicon::Role;
use super::text::{Kind, Text, Token};

/// Maximum distance of a denial from the mention, in tokens.
const MAX_DENIED: usize = 7;
/// Maximum distance of words that compare or set aside, in tokens.
const MAX_REACH: usize = 6;

/// The stance of a text towards a mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stance {
    /// The text asserts the value.
    Asserted,
    /// The text says that the value is wrong, or no longer true: `not 80`, `instead of 80`, `from 80 to 90`.
    Denied,
    /// The text asks about the value.
    Asked,
    /// The text imagines, offers, doubts or bounds the value, or repeats the user's wish: `if`, `more than`,
    /// `you asked for`.
    Hypothetical,
}

/// Returns the stance towards the tokens `start..end`.
pub(crate) fn stance(text: &Text, start: usize, end: usize) -> Stance {
    let Some(token) = text.tokens.get(start) else { return Stance::Asserted };
    if text.asks(token) && start >= question_start(text, start) {
        return Stance::Asked;
    }
    before(text, start, token).or_else(|| after(text, end, token)).unwrap_or(Stance::Asserted)
}

/// Returns the first token of the asking part of a sentence. Example: in `It is at 14:30, shall I confirm?`
/// the second part asks.
fn question_start(text: &Text, at: usize) -> usize {
    let sentence = text.tokens[at].sentence;
    let first =
        text.tokens[..at].iter().rposition(|token| token.sentence != sentence).map_or(0, |before| before + 1);
    let tokens =
        text.tokens.iter().enumerate().skip(first).take_while(|(_, token)| token.sentence == sentence);
    let starts = tokens.filter(|(at, token)| {
        let opens =
            *at == first || text.tokens[at - 1].clause != token.clause || text.tokens[at - 1].is(Role::Joint);
        opens && token.is(Role::Asking)
    });
    starts.last().map_or(first, |(at, _)| at)
}

/// Returns the stance by the words before a mention in its clause.
fn before(text: &Text, start: usize, token: &Token) -> Option<Stance> {
    let word = |back: usize| {
        let at = start.checked_sub(back)?;
        text.tokens
            .get(at)
            .filter(|other| other.sentence == token.sentence && other.is_word())
            .map(|other| text.word(other))
    };
    let near = |back: usize| word(back).unwrap_or("");
    // `until 9 pm`: the denied state ends at the mention.
    let ends = matches!(near(1), "until" | "till" | "before" | "by" | "after");
    let is_amount = !token.is_word() || token.lex.number.is_some();
    let bounds = matches!(near(1), "over" | "under" | "above" | "below" | "beyond" | "between")
        || (near(1) == "than" && matches!(near(2), "more" | "less" | "fewer" | "later" | "earlier"));
    if bounds && is_amount {
        return Some(Stance::Hypothetical);
    }
    let clause = text.tokens[..start]
        .iter()
        .rev()
        .take_while(|other| other.clause == token.clause && other.cell == token.cell);
    for (at, cue) in clause.enumerate().map(|(at, cue)| (at + 1, cue)).filter(|(_, cue)| cue.is_word()) {
        let own = text.word(cue);
        let next = if at > 1 { near(at - 1) } else { "" };
        let named = cue.capital && text.before(start - at).is_some_and(Token::is_word);
        let stance = match own {
            // A negator inside a name denies nothing. `nothing else` does not deny the mention either.
            "without" if at > 2 => None,
            _ if cue.is(Role::Negator) && !named && at <= MAX_DENIED => {
                let mild =
                    matches!(next, "only" | "just" | "more" | "else" | "other" | "problem" | "longer than");
                (!mild && !ends).then_some(Stance::Denied)
            }
            "instead" | "place" if next == "of" => Some(Stance::Denied),
            "opposed" if next == "to" => Some(Stance::Denied),
            "rather" if next == "than" => Some(Stance::Denied),
            "used" if next == "to" => Some(Stance::Denied),
            "except" | "excluding" | "besides" | "previously" | "formerly" | "originally"
                if at <= MAX_REACH =>
            {
                Some(Stance::Denied)
            }
            "from" if at <= MAX_REACH && changes(text, start, token) && follows_to(text, start, token) => {
                Some(Stance::Denied)
            }
            "asked" | "wanted" | "requested" | "mentioned" | "said" | "meant" if near(at + 1) == "you" => {
                Some(Stance::Hypothetical)
            }
            // `was 14:00 and is now 16:15`: the first value is no longer true.
            "was" | "were" if at <= MAX_REACH && is_now_other(text, start, token) => Some(Stance::Denied),
            "could" if near(at + 1) == "i" => Some(Stance::Hypothetical),
            "can" if near(at + 1) == "i" && next == "also" => Some(Stance::Hypothetical),
            _ if cue.is(Role::Hypothetical) => Some(Stance::Hypothetical),
            _ => None,
        };
        if stance.is_some() {
            return stance;
        }
    }
    None
}

/// Returns true if the sentence has a word of change before a position.
fn changes(text: &Text, start: usize, token: &Token) -> bool {
    const CHANGES: [&str; 12] = [
        "change",
        "move",
        "moved",
        "reschedul",
        "updat",
        "increas",
        "rais",
        "lower",
        "reduc",
        "went",
        "switch",
        "renam",
    ];
    let before = text.tokens[..start].iter().rev().take_while(|other| other.sentence == token.sentence);
    before
        .filter(|other| other.is_word())
        .any(|other| CHANGES.iter().any(|stem| text.word(other).starts_with(stem)))
}

/// Returns true if the sentence has the word `now` after a position.
fn is_now_other(text: &Text, start: usize, token: &Token) -> bool {
    let after = text.tokens[start..].iter().take_while(|other| other.sentence == token.sentence);
    after.into_iter().any(|other| text.word(other) == "now")
}

fn follows_to(text: &Text, start: usize, token: &Token) -> bool {
    let after = text.tokens[start..].iter().take(8).take_while(|other| other.sentence == token.sentence);
    after.into_iter().any(|other| text.word(other) == "to")
}

/// Returns the stance by the words after a mention: it may be the subject of a denial or of a doubt.
fn after(text: &Text, end: usize, token: &Token) -> Option<Stance> {
    let next = |ahead: usize| {
        text.tokens.get(end + ahead).filter(|next| next.sentence == token.sentence && next.cell == token.cell)
    };
    let first = next(0)?;
    let denies = |token: Option<&Token>| token.is_some_and(|token| token.is(Role::Negator));
    let mild = next(2).is_some_and(|third| matches!(text.word(third), "only" | "just"));
    if first.is(Role::Copula) && (denies(Some(first)) || denies(next(1))) && !mild {
        return Some(Stance::Denied);
    }
    let doubted = (0..6).any(|ahead| {
        let doubt = next(ahead).filter(|cue| !matches!(cue.kind, Kind::Sign(_)));
        doubt.is_some_and(|cue| matches!(text.word(cue), "sure" | "certain"))
            && denies(ahead.checked_sub(1).and_then(next))
    });
    doubted.then_some(Stance::Hypothetical)
}
