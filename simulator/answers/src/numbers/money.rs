//! Amounts of money: signs, codes and words, before or behind the digits.

use diorama_seeds::value::Decimal;

use super::context::range;
use super::multiplier;
use super::numeral::{Figures, Numeral, numeral};
use super::words::cardinal;
use crate::lexicon::Roles;
use crate::tokens::{Kind, Marks, Text, Token};
use crate::units::Currency;
use crate::{Finder, Money, What};
use crate::{word, words};

/// The currency of a sign with the letters glued before it: `US$`, `R$`.
pub(crate) fn signed(text: &Text, at: usize, sign: char) -> Option<Currency> {
    let currency = Currency::sign(sign)?;
    let before = at.checked_sub(1).and_then(|before| text.get(before));
    let glued = text.get(at).is_some_and(|token| token.has(Marks::GLUED));
    let Some(letters) = before.filter(|before| glued && sign == '$' && before.is_word()) else {
        return Some(currency);
    };
    Some(Currency::named(match letters.hash {
        hash if hash == word!("us") => "USD",
        hash if hash == word!("a") || hash == word!("au") => "AUD",
        hash if hash == word!("c") || hash == word!("ca") => "CAD",
        hash if hash == word!("nz") => "NZD",
        hash if hash == word!("hk") => "HKD",
        hash if hash == word!("s") || hash == word!("sg") => "SGD",
        hash if hash == word!("mx") => "MXN",
        hash if hash == word!("r") => "BRL",
        _ => return Some(currency),
    }))
}

/// A currency by word or code; codes only in capitals.
pub(crate) fn currency_word(token: &Token) -> Option<Currency> {
    let lex = token.lex();
    lex.currency.filter(|_| token.is_word() && (!lex.code || token.has(Marks::UPPER)))
}

pub(crate) fn currency_after(text: &Text, at: usize) -> Option<(Currency, usize)> {
    let mut at = at;
    if text.is_glued(at, '-')
        && text.get(at + 1).is_some_and(|token| token.has(Marks::GLUED) && token.is_word())
    {
        at += 1;
    }
    let token = text.next(at)?;
    match token.kind {
        Kind::Symbol(sign) => {
            let currency = Currency::sign(sign)?;
            // `80 $95`: the sign belongs to what follows it.
            let ahead = text.next(at + 1).is_some_and(|next| next.is_digits() && next.has(Marks::GLUED));
            (token.has(Marks::GLUED) || !ahead).then_some((currency, at + 1))
        }
        Kind::Word => currency_word(token).map(|currency| (currency, at + 1)),
        Kind::Digits => None,
    }
    .or_else(|| {
        // `12 US dollars`
        let named = words!("us american").contains(&token.hash);
        let next = text.next(at + 1).filter(|next| named && next.is_word())?;
        currency_word(next).filter(|currency| currency.means("USD")).map(|_| (Currency::named("USD"), at + 2))
    })
}

/// An amount whose currency stands before it.
pub(crate) fn prefixed(
    found: &mut Finder<'_>,
    start: usize,
    at: usize,
    currency: Currency,
    sign: i64,
) -> Option<usize> {
    let text = found.text;
    let mut at = at;
    let mut sign = sign;
    let mut currency = currency;
    // `USD $12`
    if let Some(Kind::Symbol(second)) = text.next(at).map(|token| token.kind)
        && let Some(other) = Currency::sign(second)
        && !matches!(text.get(start).map(|token| token.kind), Some(Kind::Symbol(_)))
    {
        let _ = other;
        at += 1;
    }
    if text.next(at).is_some_and(|token| token.is_symbol('-'))
        && text.get(at + 1).is_some_and(|token| token.has(Marks::GLUED))
    {
        sign = -sign;
        at += 1;
    }
    text.next(at)?;
    let Figures::Number(numeral) = numeral(text, at)? else { return None };
    let numeral = if sign < 0 { numeral.negate() } else { numeral };
    let mut end = numeral.end;
    let mut times = 1_i64;
    if let Some(multiplier) = multiplier(text, end) {
        times = i64::from(multiplier);
        end += 1;
    } else if text.next(end).is_some_and(|token| token.hash == word!("m") && token.has(Marks::GLUED)) {
        times = 1_000_000;
        end += 1;
    }
    // `$12 USD`: the code says which dollar.
    if let Some(code) = text.next(end).filter(|token| token.lex().code || token.has(Marks::UPPER))
        && let Some(named) = currency_word(code)
    {
        currency = named;
        end += 1;
    }
    Some(money(found, start, end, numeral, times, currency))
}

/// Records an amount; the cents may follow (`12 euros 50`).
pub(crate) fn money(
    found: &mut Finder<'_>,
    start: usize,
    end: usize,
    numeral: Numeral,
    times: i64,
    currency: Currency,
) -> usize {
    let text = found.text;
    let mut end = end;
    let (mut mantissa, mut scale) = (numeral.mantissa, numeral.scale);
    let mut other = numeral.other;
    // Three digits behind one separator are thousands of money.
    if let (3, Some(whole)) = (scale, other) {
        other = Some((mantissa, scale));
        (mantissa, scale) = whole;
    }
    let decimal = |mantissa: i64, scale: u8| Decimal { minor: mantissa.saturating_mul(times), scale };
    let mut amount = decimal(mantissa, scale);
    let word = text.get(end - 1).is_some_and(|token| token.is_word() && !token.has(Marks::UPPER));
    let glued =
        text.get(end).is_some_and(|token| token.has(Marks::GLUED) && token.is_digits() && token.len() == 2);
    if scale == 0 && times == 1 && (word || glued) {
        let joined = end + usize::from(text.is_word(end, word!("and")));
        if let Some((coins, after)) = coins(text, joined, joined == end, glued) {
            let signed = if mantissa < 0 { -coins } else { coins };
            amount = Decimal { minor: mantissa.saturating_mul(100).saturating_add(signed), scale: 2 };
            end = after;
        }
    }
    let other = other.map(|(mantissa, scale)| decimal(mantissa, scale));
    let stance = range(found, start, end);
    found.push(start, end, What::Money(Money { amount, other, currency }), stance);
    end
}

/// Hundredths behind an amount, and the token after them: `50`, `50 cents`, `ninety-nine pence`. Without their
/// word only two digits right behind the currency count, with nothing behind that they could count.
pub(crate) fn coins(text: &Text, at: usize, direct: bool, glued: bool) -> Option<(i64, usize)> {
    let token = text.next(at)?;
    let (value, after) = if token.is_digits() {
        (token.value, at + 1)
    } else {
        let (value, decimals, after, _) = cardinal(text, at)?;
        ((decimals == 0 && value < 100.0).then_some(value as u64)?, after)
    };
    if value > 99 {
        return None;
    }
    if text.next(after).is_some_and(|token| token.lex().cents) {
        return Some((value as i64, after + 1));
    }
    let goes_on = text.get(after + 1).is_some_and(|token| token.is_digits() && token.has(Marks::GLUED));
    let free = text.next(after).is_none_or(|token| match token.kind {
        Kind::Symbol(symbol) => matches!(symbol, '.' | ',' | ')' | '!' | '?' | ';') && !goes_on,
        Kind::Word => token.is(Roles::FUNCTION) && token.lex().unit.is_none(),
        Kind::Digits => false,
    });
    // `three dollars fifty`
    let two = if token.is_digits() { token.len() == 2 } else { value >= 10 };
    (direct && two && (free || glued)).then_some((value as i64, after))
}
