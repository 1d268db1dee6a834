//! Whether the text asserts what it mentions, or denies, contrasts, asks, imagines, bounds or echoes it.
//!
//! Looks at the words around a mention inside its sentence, never at what is expected.

use super::Stance;
use super::lexicon::Roles;
use super::tokens::{Kind, Marks, Text, Token};
use crate::{word, words};

/// How far back cues are looked for.
const REACH: usize = 14;
/// How far a negation reaches.
const NEGATION: usize = 5;

/// The stance of the name at the tokens `start..end`: what is filed under a name is not bounded by it.
pub fn of_name(text: &Text, start: usize, end: usize) -> Stance {
    match of(text, start, end) {
        Stance::Bound if text.before(start).is_some_and(|before| bounds(before.hash)) => Stance::Asserted,
        stance => stance,
    }
}

/// Prepositions that make a number a bound.
fn bounds(hash: u64) -> bool {
    words!("over under above below beyond").contains(&hash)
}

/// The stance of the tokens `start..end`.
pub fn of(text: &Text, start: usize, end: usize) -> Stance {
    let Some(token) = text.get(start) else { return Stance::Asserted };
    if token.has(Marks::STRUCK) {
        return Stance::Contrasted;
    }
    if tells_today(text, start) {
        return Stance::Echoed;
    }
    if text.asks(token) && start >= question_start(text, start) {
        return Stance::Questioned;
    }
    before(text, start, token).or_else(|| after(text, start, end, token)).unwrap_or(Stance::Asserted)
}

/// Where the question of a sentence starts: `It is at 14:30, shall I confirm?` asks in its second part only.
fn question_start(text: &Text, at: usize) -> usize {
    let Some(token) = text.get(at) else { return at };
    let sentence = token.sentence;
    let first = text.tokens[..at].iter().rposition(|t| t.sentence != sentence).map_or(0, |i| i + 1);
    let asks = |token: &Token| {
        token.is(Roles::ASKING)
            || words!(
                "shall would do does did is are can could should will want ok okay right \
                 anything may correct or"
            )
            .contains(&token.hash)
    };
    let mut start = first;
    let mut open = true;
    for (i, token) in
        text.tokens.iter().enumerate().skip(first).take_while(|(_, t)| t.sentence == sentence).take(120)
    {
        match token.kind {
            Kind::Symbol(',' | '—' | ')') => open = true,
            Kind::Digits => open = false,
            Kind::Word => {
                if open && i > first && asks(token) {
                    start = i;
                }
                open = words!("and so but").contains(&token.hash);
            }
            _ => {}
        }
    }
    start
}

/// `Today is 2 March` tells the clock's date.
fn tells_today(text: &Text, start: usize) -> bool {
    let hash =
        |back: usize| start.checked_sub(back).and_then(|at| text.get(at)).map_or(0, |token| token.hash);
    (hash(1) == word!("is") || hash(1) == word!("of")) && hash(2) == word!("today")
        || (hash(1) == word!("todays")
            || (hash(1) == word!("is") && hash(2) == word!("date") && hash(3) == word!("today")))
}

/// Cues in front of a mention.
fn before(text: &Text, start: usize, token: &Token) -> Option<Stance> {
    let mut clause = true;
    let mut came_to = false;
    let directly = text.before(start).map_or(0, |token| token.hash);
    let until = directly == word!("until") || directly == word!("till") || directly == word!("before");
    for (distance, i) in (0..start).rev().take(REACH).enumerate() {
        let cue = text.get(i)?;
        if cue.sentence != token.sentence || cue.cell != token.cell {
            break;
        }
        let next = |ahead: usize| text.get(i + ahead).map_or(0, |token| token.hash);
        let earlier =
            |back: usize| i.checked_sub(back).and_then(|at| text.get(at)).map_or(0, |token| token.hash);
        match cue.kind {
            Kind::Symbol(',' | ':' | ';' | '(' | '—' | '–' | '|' | '→') => {
                clause = false;
                continue;
            }
            Kind::Symbol('~' | '≈') | Kind::Digits => continue,
            Kind::Symbol('<' | '>' | '≥' | '≤') if distance == 0 => return Some(Stance::Bound),
            Kind::Symbol(_) => continue,
            Kind::Word => {}
        }
        let hash = cue.hash;
        if clause {
            if cue.is(Roles::THAN) && distance < 6 {
                return Some(of_than(distance == 0, earlier(1), earlier(2)));
            }
            let comparing = (hash == word!("compared")
                && (next(1) == word!("to") || next(1) == word!("with")))
                || ((hash == word!("up") || hash == word!("down")) && next(1) == word!("from"));
            if comparing && distance < 7 {
                return Some(Stance::Compared);
            }
            if distance < 7 && contrasts(hash, next(1)) {
                return Some(Stance::Contrasted);
            }
            if distance == 0 && bounds(hash) {
                return Some(Stance::Bound);
            }
            if distance < 2 && is_limit(hash, next(1), earlier(1)) {
                return Some(Stance::Limit);
            }
            if cue.is(Roles::NEGATOR) && distance < NEGATION && !until && negates(cue, distance, next(1)) {
                return Some(Stance::Negated);
            }
            if cue.is(Roles::FORMERLY) && distance < 6 {
                return Some(Stance::Contrasted);
            }
            if cue.is(Roles::HYPOTHETICAL) {
                return Some(Stance::Hypothetical);
            }
            let said = words!("said mentioned told stated gave").contains(&hash);
            if said && distance < 4 && (earlier(1) == word!("i") || earlier(2) == word!("i")) {
                return Some(Stance::Contrasted);
            }
            // `The one you want is Ana` tells; `you wanted Ana` repeats.
            let tells = || text.tokens[i + 1..start].iter().any(|token| token.is(Roles::COPULA));
            if cue.is(Roles::WANTING)
                && !tells()
                && (1..=3).any(|back| {
                    i.checked_sub(back).and_then(|at| text.get(at)).is_some_and(|t| {
                        t.is(Roles::SECOND_PERSON) && t.sentence == token.sentence && t.hash != word!("your")
                    })
                })
            {
                return Some(Stance::Echoed);
            }
            if cue.is(Roles::WAS) && distance < 5 && now_follows(text, start, token) {
                return Some(Stance::Contrasted);
            }
            if offers(hash, next(1), next(2)) {
                return Some(Stance::Hypothetical);
            }
        }
        if cue.is(Roles::UNCERTAIN) && uncertain(cue, next(1)) {
            return Some(Stance::Uncertain);
        }
        if (hash == word!("sure") || hash == word!("certain"))
            && [earlier(1), earlier(2)].contains(&word!("not"))
        {
            return Some(Stance::Uncertain);
        }
        if hash == word!("to") {
            came_to = true;
        }
        if hash == word!("from") && !came_to && distance < 7 && changes(text, i, token) {
            return Some(Stance::Contrasted);
        }
        if cue.is(Roles::BUT) {
            clause = false;
        }
    }
    None
}

/// What stands after `than` and the two words before it, of which the first is the nearer.
fn of_than(directly: bool, first: u64, second: u64) -> Stance {
    let bounds = words!("more less fewer greater later earlier higher lower longer");
    let bounded = directly && bounds.contains(&first);
    if bounded && (second == word!("no") || second == word!("not")) {
        Stance::Limit
    } else if bounded {
        Stance::Bound
    } else if first == word!("rather") || first == word!("other") {
        Stance::Contrasted
    } else {
        Stance::Compared
    }
}

/// Whether a word, with the next, sets what follows aside: `instead of`, `except`.
fn contrasts(hash: u64, next: u64) -> bool {
    (hash == word!("instead") && next == word!("of"))
        || (hash == word!("place") && next == word!("of"))
        || (hash == word!("opposed") && next == word!("to"))
        || ((hash == word!("apart") || hash == word!("aside") || hash == word!("different"))
            && next == word!("from"))
        || (hash == word!("used") && next == word!("to"))
        || words!("except excluding besides contrary").contains(&hash)
}

/// Whether a word, with the next two, offers what follows: `let me know`, `I can also`.
fn offers(hash: u64, next: u64, second: u64) -> bool {
    (hash == word!("let") && next == word!("me") && second == word!("know"))
        || (hash == word!("feel") && next == word!("free"))
        || (hash == word!("happy") && next == word!("to"))
        || ((hash == word!("i") || hash == word!("you"))
            && (next == word!("can") || next == word!("could"))
            && second == word!("also"))
        || (hash == word!("i")
            && next == word!("could")
            && !words!("find see spot locate confirm").contains(&second))
}

/// Cues behind a mention: it is the subject of a denial, or an earlier value.
fn after(text: &Text, start: usize, end: usize, token: &Token) -> Option<Stance> {
    let next = |ahead: usize| {
        text.get(end + ahead).filter(|next| next.sentence == token.sentence && next.cell == token.cell)
    };
    let first = next(0)?;
    let denied = first.is(Roles::COPULA)
        && (first.is(Roles::NEGATOR) || next(1).is_some_and(|second| second.hash == word!("not")));
    let just = next(2).is_some_and(|third| words!("only just").contains(&third.hash));
    if denied && !just {
        return Some(Stance::Negated);
    }
    // `it is 5, not sure though`
    let _ = start;
    let doubt = (0..8).any(|ahead| {
        next(ahead).is_some_and(|cue| {
            (words!("sure certain").contains(&cue.hash))
                && next(ahead.wrapping_sub(1)).is_some_and(|not| not.hash == word!("not"))
                || cue.hash == word!("unsure")
        })
    });
    doubt.then_some(Stance::Uncertain)
}

fn is_limit(hash: u64, next: u64, earlier: u64) -> bool {
    (hash == word!("up") && next == word!("to"))
        || (hash == word!("to") && earlier == word!("up"))
        || ((hash == word!("least") || hash == word!("most")) && earlier == word!("at"))
        || words!("within minimum maximum max min").contains(&hash)
}

fn negates(cue: &Token, distance: usize, next: u64) -> bool {
    if next == word!("only")
        || next == word!("just")
        || next == word!("merely")
        || next == word!("problem")
        || next == word!("worries")
    {
        return false;
    }
    // `No it is at 15:00` answers; it does not negate what follows.
    if cue.hash == word!("no")
        && cue.has(Marks::FIRST)
        && words!("it its the your they there theres").contains(&next)
    {
        return false;
    }
    cue.hash != word!("without") || distance < 2
}

/// `may` and `could` say doubt only before `be` or `have`.
fn uncertain(cue: &Token, next: u64) -> bool {
    let modal = words!("may could might").contains(&cue.hash);
    !modal || next == word!("be") || next == word!("have")
}

fn changes(text: &Text, from: usize, token: &Token) -> bool {
    text.tokens[..from]
        .iter()
        .rev()
        .take(12)
        .take_while(|cue| cue.sentence == token.sentence)
        .any(|cue| cue.is(Roles::CHANGING))
}

fn now_follows(text: &Text, start: usize, token: &Token) -> bool {
    text.tokens[start..]
        .iter()
        .take(14)
        .take_while(|cue| cue.sentence == token.sentence)
        .any(|cue| cue.is(Roles::NOW))
}
