//! Numbers: figures in either tradition of points and commas, words, units, percentages, and amounts of money.
//!
//! The rule for one separator before exactly three digits (`1,234`, `1.234`): both readings count, the English one
//! first; money reads it as thousands first.

mod context;
mod measure;
mod money;
mod numeral;
mod words;

use self::context::{glued_word, names_something, noun, range, subset};
use self::measure::{and_a_part, composite, unit};
use self::money::{currency_after, money, prefixed, signed};
use self::numeral::{Figures, Numeral, code, numeral, part_of_one};
use self::words::in_words;
use diorama_seeds::value::Decimal;

use super::lexicon::{Lex, Roles};
use super::tokens::{Kind, Marks, Text, Token};
use super::units::Currency;
use super::{Finder, Money, Number, NumberRole, What, dates, times};
use crate::{word, words};

/// Words after a number that say what it counts.
const NOUN_WORDS: usize = 3;

pub(crate) fn may_start(lex: &Lex) -> bool {
    lex.number.is_some()
        || lex.multiplier.is_some()
        || lex.currency.is_some()
        || lex.roles.any(Roles::ZERO.and(Roles::QUANTITY))
}

pub(crate) fn symbol_may_start(symbol: char) -> bool {
    matches!(symbol, '-' | '.' | '#' | '½' | '¼' | '¾') || Currency::sign(symbol).is_some()
}

/// A number or an amount at this token; gives the token after it.
pub(crate) fn recognise(found: &mut Finder<'_>, at: usize) -> Option<usize> {
    let text = found.text;
    let token = text.get(at)?;
    match token.kind {
        Kind::Digits => {
            // `minus 2.5`
            let minus = at.checked_sub(1).and_then(|before| text.get(before)).is_some_and(|before| {
                (words!("minus negative").contains(&before.hash)) && before.sentence == token.sentence
            });
            measured(found, at, at, if minus { -1 } else { 1 })
        }
        Kind::Symbol('-') => {
            let free = !token.has(Marks::GLUED)
                || at
                    .checked_sub(1)
                    .and_then(|before| text.get(before))
                    .is_some_and(|before| matches!(before.kind, Kind::Symbol('(' | ':' | '=' | ',')));
            let next = text.next(at + 1).filter(|next| next.has(Marks::GLUED) && free)?;
            match next.kind {
                Kind::Digits => measured(found, at, at + 1, -1),
                Kind::Symbol(sign) => prefixed(found, at, at + 2, Currency::sign(sign)?, -1),
                Kind::Word => None,
            }
        }
        Kind::Symbol('.') => {
            // `.5`
            let next = text.get(at + 1).filter(|next| next.is_digits() && next.has(Marks::GLUED))?;
            if token.has(Marks::GLUED) || next.len() > 9 {
                return None;
            }
            let numeral =
                Numeral { mantissa: next.value as i64, scale: next.len() as u8, other: None, end: at + 2 };
            Some(with_unit(found, at, numeral))
        }
        Kind::Symbol('#') => {
            let next = text.get(at + 1).filter(|next| next.is_digits() && next.has(Marks::GLUED))?;
            let number = plain(next.value as f64, 0, NumberRole::Identifier);
            found.push(at, at + 2, What::Number(number), None);
            Some(at + 2)
        }
        Kind::Symbol(symbol @ ('½' | '¼' | '¾')) => {
            let numeral = Numeral { mantissa: part_of_one(symbol), scale: 2, other: None, end: at + 1 };
            Some(with_unit(found, at, numeral))
        }
        Kind::Symbol(sign) => prefixed(found, at, at + 1, signed(text, at, sign)?, 1),
        Kind::Word => in_words(found, at),
    }
}

/// A numeral that starts with digits.
fn measured(found: &mut Finder<'_>, start: usize, at: usize, sign: i64) -> Option<usize> {
    let text = found.text;
    let numeral = match numeral(text, at)? {
        Figures::Code(end) => return Some(end),
        Figures::Number(numeral) if sign < 0 => numeral.negate(),
        Figures::Number(numeral) => numeral,
    };
    if let Some(end) = code(text, at, numeral.end) {
        return Some(end);
    }
    Some(with_unit(found, start, numeral))
}

fn plain(value: f64, decimals: i8, role: NumberRole) -> Number {
    Number { value, other: None, decimals, unit: None, role, noun: [0; NOUN_WORDS] }
}

/// The number with what stands behind it: multiplier, currency, percent, unit, noun.
fn with_unit(found: &mut Finder<'_>, start: usize, numeral: Numeral) -> usize {
    let text = found.text;
    let digits = start + usize::from(text.get(start).is_some_and(|token| token.is_symbol('-')));
    let mut end = numeral.end;
    let mut number = plain(numeral.value(), numeral.scale as i8, NumberRole::Plain);
    number.other = numeral.other_value();
    // `3 ½`
    if let Some(Kind::Symbol(symbol @ ('½' | '¼' | '¾'))) = text.next(end).map(|token| token.kind) {
        number.value += part_of_one(symbol) as f64 / 100.0;
        number.decimals = 2;
        end += 1;
    }
    if let Some(part) = and_a_part(text, end).filter(|_| numeral.scale == 0) {
        number.value += part;
        number.decimals = 2;
        end += 3;
    }
    let mut times = 1_i64;
    if let Some(multiplier) = multiplier(text, end) {
        times = i64::from(multiplier);
        end += 1;
    }
    if times > 1 {
        number.value *= times as f64;
        number.other = None;
        number.decimals -= times.ilog10() as i8;
    }
    if let Some((currency, after)) = currency_after(text, end) {
        return money(found, start, after, numeral, times, currency);
    }
    if text
        .next(end)
        .is_some_and(|token| token.lex().cents || (token.has(Marks::GLUED) && token.hash == word!("p")))
        && numeral.scale == 0
    {
        let amount = Decimal { minor: numeral.mantissa, scale: 2 };
        let what = What::Money(Money { amount, other: None, currency: Currency::ANY });
        found.push(start, end + 1, what, None);
        return end + 1;
    }
    let spaced = text.next(end).is_some_and(|token| token.is_symbol('/') && !token.has(Marks::GLUED))
        && text.next(end + 1).is_some_and(|token| matches!(token.value, 5 | 10 | 20 | 100));
    if (text.is_glued(end, '/') || spaced)
        && let Some(of) =
            text.get(end + 1).filter(|token| token.is_digits() && (spaced || token.has(Marks::GLUED)))
    {
        // Around the clock.
        if number.value == 24.0 && of.value == 7 {
            return end + 2;
        }
        // `4.5/5`, `1/2`: the whole is told too. More slashes make it a code.
        if text.is_glued(end + 2, '/') {
            return end + 3;
        }
        if of.value > 0 && number.value < of.value as f64 {
            number.other = Some(number.value / of.value as f64);
        }
        if let Some(Figures::Number(whole)) = self::numeral(text, end + 1) {
            end = whole.end;
        }
    } else {
        let out = text.is_word(end, word!("out")) && text.is_word(end + 1, word!("of"));
        let of = end + if out { 2 } else { 1 };
        let part = out || text.is_word(end, word!("of"));
        if part && text.next(of).is_some_and(Token::is_digits) {
            if let Some(Figures::Number(whole)) = self::numeral(text, of) {
                end = whole.end;
            }
        } else if part && subset(text, of) {
            number.role = NumberRole::Subset;
        }
    }
    if let Some((unit, after)) = unit(text, end) {
        number.unit = Some(unit);
        end = composite(text, after, &mut number, unit);
        if let Some(days) = times::days_of(unit) {
            dates::shifted(found, start, end, number.value, days);
        }
    } else if glued_word(text, end) {
        // `3rd`, `12A`, `4x4`: no number of things.
        number.role = NumberRole::Identifier;
        end += 1;
    }
    if number.role == NumberRole::Plain && names_something(text, digits, end) {
        number.role = NumberRole::Identifier;
    }
    finish(found, start, end, number);
    end
}

/// Sets the noun and records the number.
fn finish(found: &mut Finder<'_>, start: usize, end: usize, mut number: Number) {
    number.noun = noun(found.text, end);
    let stance = range(found, start, end);
    found.push(start, end, What::Number(number), stance);
}

/// `k`, `M`, `million`.
fn multiplier(text: &Text, at: usize) -> Option<u32> {
    let token = text.next(at).filter(|token| token.is_word())?;
    if token.has(Marks::GLUED) {
        if token.hash == word!("k") {
            return Some(1000);
        }
        if token.hash == word!("m") && token.has(Marks::CAPITAL) {
            return Some(1_000_000);
        }
    }
    token.lex().multiplier
}
