//! Numbers: figures in either tradition of points and commas, words, units, percentages, and amounts of money.
//!
//! The rule for one separator before exactly three digits (`1,234`, `1.234`): both readings count, the English one
//! first; money reads it as thousands first.

use diorama_seeds::value::Decimal;

use super::lexicon::{Lex, Roles, word};
use super::tokens::{Kind, Marks, Text, Token};
use super::units::{self, Currency, Dimension, Unit};
use super::{Finder, Money, Number, NumberRole, Stance, What, dates, times};

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

/// Digits as written.
#[derive(Clone, Copy, Debug)]
struct Numeral {
    mantissa: i64,
    scale: u8,
    /// The other reading of a single separator.
    other: Option<(i64, u8)>,
    end: usize,
}

impl Numeral {
    fn value(&self) -> f64 {
        self.mantissa as f64 / 10_f64.powi(i32::from(self.scale))
    }

    fn other_value(&self) -> Option<f64> {
        self.other.map(|(mantissa, scale)| mantissa as f64 / 10_f64.powi(i32::from(scale)))
    }

    fn negate(mut self) -> Self {
        self.mantissa = -self.mantissa;
        self.other = self.other.map(|(mantissa, scale)| (-mantissa, scale));
        self
    }
}

/// What a numeral may turn out to be.
enum Figures {
    Number(Numeral),
    /// A version, an address, a telephone number: consumed up to here, and no number.
    Code(usize),
}

/// A number or an amount at this token; gives the token after it.
pub(crate) fn recognise(found: &mut Finder<'_>, at: usize) -> Option<usize> {
    let text = found.text;
    let token = text.get(at)?;
    match token.kind {
        Kind::Digits => {
            // `minus 2.5`
            let minus = at.checked_sub(1).and_then(|before| text.get(before)).is_some_and(|before| {
                (before.hash == word!("minus") || before.hash == word!("negative"))
                    && before.sentence == token.sentence
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

fn part_of_one(symbol: char) -> i64 {
    match symbol {
        '½' => 50,
        '¼' => 25,
        _ => 75,
    }
}

/// The currency of a sign with the letters glued before it: `US$`, `R$`.
fn signed(text: &Text, at: usize, sign: char) -> Option<Currency> {
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

/// Digits with their separators.
fn numeral(text: &Text, at: usize) -> Option<Figures> {
    const GROUPS: usize = 8;
    let first = text.get(at).filter(|token| token.is_digits())?;
    let mut groups: [(u64, usize); GROUPS] = [(0, 0); GROUPS];
    let mut separators = ['\0'; GROUPS];
    groups[0] = (first.value, first.len());
    let mut count = 1;
    let mut end = at + 1;
    while count < GROUPS {
        let Some(token) = text.next(end) else { break };
        let glued = token.has(Marks::GLUED);
        let (separator, next) = match token.kind {
            Kind::Symbol(separator @ ('.' | ',' | '\u{a0}')) if glued => (separator, end + 1),
            // The apostrophe of `1'234` is no token.
            Kind::Digits if glued => ('\'', end),
            // `12 500 EUR`
            Kind::Digits
                if separators[1..count].iter().all(|mark| *mark == ' ') && blank_group(text, at, end) =>
            {
                (' ', end)
            }
            _ => break,
        };
        let Some(group) =
            text.get(next).filter(|token| token.is_digits() && (separator == ' ' || token.has(Marks::GLUED)))
        else {
            break;
        };
        separators[count] = separator;
        groups[count] = (group.value, group.len());
        count += 1;
        end = next + 1;
    }
    let used = &groups[..count];
    let marks = &separators[1..count];
    let length: usize = used.iter().map(|(_, length)| length).sum();
    if length > 17 {
        return Some(Figures::Code(end));
    }
    let whole = |groups: &[(u64, usize)]| {
        groups.iter().fold(0_i64, |sum, (value, length)| {
            sum.saturating_mul(10_i64.saturating_pow(*length as u32)).saturating_add(*value as i64)
        })
    };
    let all = whole(used);
    let threes = |groups: &[(u64, usize)]| groups.iter().all(|(_, length)| *length == 3);
    let number = |mantissa, scale: usize, other| {
        if scale > 9 {
            None
        } else {
            Some(Figures::Number(Numeral { mantissa, scale: scale as u8, other, end }))
        }
    };
    let Some(last) = marks.last().copied() else { return number(all, 0, None) };
    let tail = used[count - 1].1;
    let repeated = marks.iter().filter(|mark| **mark == last).count() > 1;
    let mixed = marks.iter().any(|mark| *mark != last);
    if mixed {
        // The last separator starts the decimals, the others group.
        let grouped = threes(&used[1..count - 1]) && used[0].1 <= 3 && !repeated && matches!(last, '.' | ',');
        return if grouped { number(all, tail, None) } else { Some(Figures::Code(end)) };
    }
    if repeated {
        let indian = last == ',' && tail == 3 && used[1..count - 1].iter().all(|(_, length)| *length == 2);
        if used[0].1 <= 3 && (threes(&used[1..]) || indian) {
            return number(all, 0, None);
        }
        // `3,5,7` is a list; `1.2.3` a version.
        return if last == ',' {
            Some(Figures::Number(Numeral { mantissa: used[0].0 as i64, scale: 0, other: None, end: at + 1 }))
        } else {
            Some(Figures::Code(end))
        };
    }
    let group = tail == 3 && used[0].1 <= 3 && used[0].0 > 0;
    match last {
        ',' if group => number(all, 0, Some((all, 3))),
        ',' => number(all, tail, None),
        '.' if group => number(all, tail, Some((all, 0))),
        '.' => number(all, tail, None),
        _ if group => number(all, 0, None),
        _ => Some(Figures::Code(end)),
    }
}

/// Whether a blank groups the digits: groups of three follow, then money or a noun, or a currency stood before;
/// and no word that numbers something stands in front.
fn blank_group(text: &Text, at: usize, next: usize) -> bool {
    let is_three = |token: &Token| token.is_digits() && token.len() == 3 && !token.has(Marks::GLUED);
    let three = text.next(next).is_some_and(is_three);
    let short =
        text.get(at).is_some_and(|token| token.len() <= 3 && token.value > 0 && !token.has(Marks::GLUED));
    let before = text.before(at);
    let money = |token: &Token| match token.kind {
        Kind::Symbol(sign) => Currency::sign(sign).is_some(),
        Kind::Word => currency_word(token).is_some(),
        Kind::Digits => false,
    };
    if !three
        || before
            .is_some_and(|before| before.is(Roles::IDENTIFIER) || before.is_digits() || before.is_symbol('+'))
    {
        return before.is_some_and(money) && three && short;
    }
    let mut end = next + 1;
    while text.next(end).is_some_and(is_three) {
        end += 1;
    }
    let counted = text.next(end).is_some_and(|token| {
        (token.has_content() && !token.has(Marks::GLUED)) || money(token) || token.is_symbol('%')
    });
    let short = short || text.get(at).is_some_and(|token| token.len() <= 3 && before.is_some_and(money));
    short && (counted || before.is_some_and(money))
}

/// A currency by word or code; codes only in capitals.
fn currency_word(token: &Token) -> Option<Currency> {
    let lex = token.lex();
    lex.currency.filter(|_| token.is_word() && (!lex.code || token.has(Marks::UPPER)))
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

/// Digits that belong to a code, a ratio or a telephone number, and where that ends.
fn code(text: &Text, at: usize, end: usize) -> Option<usize> {
    let glued_digits = |at: usize| text.get(at).filter(|token| token.is_digits() && token.has(Marks::GLUED));
    if text.is_glued(end, ':') && glued_digits(end + 1).is_some() {
        return Some(end + 2);
    }
    // `555-0123`, `12-34-56`: more than one hyphen, or a part that no number starts with.
    let mut hyphens = 0;
    let mut odd = text.get(at).is_some_and(|token| token.len() > 1 && leads_with_zero(token));
    let mut last = end;
    while text.is_glued(last, '-')
        && let Some(part) = glued_digits(last + 1)
    {
        hyphens += 1;
        odd |= part.len() > 1 && leads_with_zero(part);
        last += 2;
    }
    if hyphens > 1 || (hyphens == 1 && odd) {
        return Some(last);
    }
    // `+351 912 345 678`
    let plus =
        at.checked_sub(1).and_then(|before| text.get(before)).is_some_and(|before| before.is_symbol('+'));
    if plus {
        let mut last = end;
        while text.next(last).is_some_and(Token::is_digits) {
            last += 1;
        }
        return (last > end).then_some(last);
    }
    None
}

fn leads_with_zero(token: &Token) -> bool {
    // Digits beyond the value's own are leading zeros.
    let digits = token.value.checked_ilog10().map_or(1, |log| log as usize + 1);
    digits < token.len()
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

/// Both ends of `3–5`, `3 to 5` and `between 3 and 5` are bounds.
fn range(found: &Finder<'_>, start: usize, end: usize) -> Option<Stance> {
    let text = found.text;
    let joins =
        |token: &Token| matches!(token.kind, Kind::Symbol('-' | '–' | '~')) || token.hash == word!("to");
    let numeric = |token: &Token| match token.kind {
        Kind::Digits => true,
        Kind::Symbol(sign) => Currency::sign(sign).is_some(),
        Kind::Word => token.lex().number.is_some(),
    };
    let changing = || {
        text.tokens[..start]
            .iter()
            .rev()
            .take(12)
            .any(|token| token.is(Roles::CHANGING) && token.sentence == text.tokens[start].sentence)
    };
    if let Some(before) = text.before(start) {
        let ended = found
            .mentions
            .last()
            .is_some_and(|last| last.tokens.1 + 1 == start && last.stance == Stance::Bound);
        if ended && (joins(before) || before.hash == word!("and")) {
            return Some(Stance::Bound);
        }
        if before.hash == word!("between") {
            return Some(Stance::Bound);
        }
    }
    let next = text.next(end).filter(|token| joins(token))?;
    let second = text.next(end + 1).filter(|token| numeric(token))?;
    // `3 - 5 = ..` and a time or date behind it are something else.
    let clock = text.is_glued(end + 2, ':') || second.lex().month > 0;
    let dash = matches!(next.kind, Kind::Symbol(_)) && next.has(Marks::GLUED) != second.has(Marks::GLUED);
    (!clock && !dash && !changing()).then_some(Stance::Bound)
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

fn currency_after(text: &Text, at: usize) -> Option<(Currency, usize)> {
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
        Kind::Word => {
            let currency = currency_word(token)?;
            let us = (token.hash == word!("us") || token.hash == word!("canadian"), currency);
            Some((us.1, at + 1))
        }
        Kind::Digits => None,
    }
    .or_else(|| {
        // `12 US dollars`
        let named = token.hash == word!("us") || token.hash == word!("american");
        let next = text.next(at + 1).filter(|next| named && next.is_word())?;
        currency_word(next).filter(|currency| currency.means("USD")).map(|_| (Currency::named("USD"), at + 2))
    })
}

/// An amount whose currency stands before it.
fn prefixed(found: &mut Finder<'_>, start: usize, at: usize, currency: Currency, sign: i64) -> Option<usize> {
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
fn money(
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
fn coins(text: &Text, at: usize, direct: bool, glued: bool) -> Option<(i64, usize)> {
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

/// A unit at this token, and the token after it.
fn unit(text: &Text, at: usize) -> Option<(Unit, usize)> {
    let token = text.next(at)?;
    match token.kind {
        Kind::Symbol('%') => return Some((units::PERCENT, at + 1)),
        Kind::Symbol('°') => {
            let scale = text.next(at + 1).filter(|token| token.has(Marks::GLUED) && token.is_word());
            let fahrenheit = scale.is_some_and(|token| token.hash == word!("f"));
            let unit = if fahrenheit { Unit::named("fahrenheit")? } else { units::CELSIUS };
            return Some((unit, at + 1 + usize::from(scale.is_some())));
        }
        Kind::Symbol('-') => {
            // `30-minute`
            let next = text
                .get(at + 1)
                .filter(|next| token.has(Marks::GLUED) && next.has(Marks::GLUED) && next.is_word())?;
            return next.lex().unit.map(|unit| (unit, at + 2));
        }
        Kind::Word => {}
        _ => return None,
    }
    if token.hash == word!("per") && text.is_word(at + 1, word!("cent")) {
        return Some((units::PERCENT, at + 2));
    }
    if token.hash == word!("degrees") || token.hash == word!("degree") {
        let scale = text.next(at + 1).filter(|token| token.is_word()).and_then(|token| token.lex().unit);
        let scale = scale.filter(|unit| unit.dimension == Dimension::Temperature);
        return Some((scale.unwrap_or(units::CELSIUS), at + 1 + usize::from(scale.is_some())));
    }
    if token.hash == word!("square") || token.hash == word!("sq") {
        let at = at + 1 + usize::from(text.is_glued(at + 1, '.'));
        let base = text.next(at)?.lex().unit.filter(|unit| unit.dimension == Dimension::Length)?;
        let area = Unit { dimension: Dimension::Area, factor: base.factor * base.factor, offset: 0.0 };
        return Some((area, at + 1));
    }
    let base = token.lex().unit?;
    if base.dimension == Dimension::Length {
        let squared = text.get(at + 1).is_some_and(|token| {
            token.has(Marks::GLUED) && (token.is_symbol('²') || (token.is_digits() && token.value == 2))
        });
        if squared {
            return Some((
                Unit { dimension: Dimension::Area, factor: base.factor * base.factor, offset: 0.0 },
                at + 2,
            ));
        }
        // `km/h`, `km per hour`, `m/s`
        let per = text.is_glued(at + 1, '/')
            || text.is_word(at + 1, word!("per"))
            || text.is_word(at + 1, word!("an"));
        let time = text.next(at + 2).filter(|_| per).and_then(|token| token.lex().unit);
        if let Some(time) = time.filter(|unit| unit.dimension == Dimension::Duration && unit.factor <= 3600.0)
        {
            let factor = base.factor / 1000.0 * 3600.0 / time.factor;
            return Some((Unit { dimension: Dimension::Speed, factor, offset: 0.0 }, at + 3));
        }
    }
    Some((base, at + 1))
}

/// `1 hour 30 minutes`, `1h30`, `5 ft 10 in`, `an hour and a half`: the smaller parts are added.
fn composite(text: &Text, at: usize, number: &mut Number, first: Unit) -> usize {
    let mut end = at;
    let mut last = first;
    for _ in 0..3 {
        if last == first
            && number.value.fract() == 0.0
            && let Some(part) = and_a_part(text, end)
        {
            number.value += part;
            number.decimals = number.decimals.max(2);
            return end + 3;
        }
        let mut next = end + usize::from(text.next(end).is_some_and(|token| token.is_symbol(',')));
        next += usize::from(text.is_word(next, word!("and")));
        let Some(token) = text.next(next) else { return end };
        let value = if token.is_digits() && token.len() <= 2 {
            token.value
        } else if let Some(value) = token.lex().number.filter(|_| token.is_word()) {
            u64::from(value)
        } else {
            return end;
        };
        let after = next + 1;
        let smaller = text.next(after).filter(|token| token.is_word()).and_then(|token| token.lex().unit);
        let (unit, after) = match smaller {
            Some(unit) if unit.dimension == first.dimension && unit.factor < last.factor => (unit, after + 1),
            // `1h30`
            None if first == units::HOUR && token.has(Marks::GLUED) && token.len() == 2 => {
                (units::MINUTE, after)
            }
            _ => return end,
        };
        if text.get(after).is_some_and(|token| token.has(Marks::GLUED) && token.is_digits()) {
            return end;
        }
        let Some(part) = unit.convert(value as f64, first) else { return end };
        number.value += part;
        number.decimals = 6;
        number.other = None;
        last = unit;
        end = after;
    }
    end
}

/// `and a half`, `and a quarter`.
fn and_a_part(text: &Text, at: usize) -> Option<f64> {
    let article = text.is_word(at + 1, word!("a")) || text.is_word(at + 1, word!("an"));
    if !text.is_word(at, word!("and")) || !article {
        return None;
    }
    match text.next(at + 2)?.hash {
        hash if hash == word!("half") => Some(0.5),
        hash if hash == word!("quarter") => Some(0.25),
        _ => None,
    }
}

/// `2 of them`, `3 of the dentists`.
fn subset(text: &Text, at: usize) -> bool {
    text.next(at).is_some_and(|token| {
        [
            word!("them"),
            word!("these"),
            word!("those"),
            word!("which"),
            word!("whom"),
            word!("the"),
            word!("your"),
            word!("our"),
            word!("its"),
        ]
        .contains(&token.hash)
    })
}

fn glued_word(text: &Text, at: usize) -> bool {
    text.get(at).is_some_and(|token| {
        token.is_word() && token.has(Marks::GLUED) && token.hash != word!("x") && token.hash != word!("and")
    })
}

/// Whether a number names a thing: it is glued to letters, or a word such as `room` stands before it.
fn names_something(text: &Text, at: usize, end: usize) -> bool {
    let Some(token) = text.get(at) else { return false };
    let Some(before) = text.before(at) else { return false };
    let back = |steps: usize| {
        at.checked_sub(steps).and_then(|i| text.get(i)).filter(|t| t.sentence == token.sentence)
    };
    if token.has(Marks::GLUED) && before.is_word() {
        return true;
    }
    if token.has(Marks::GLUED)
        && before.is_symbol('-')
        && before.has(Marks::GLUED)
        && back(2).is_some_and(Token::is_word)
    {
        return true;
    }
    // `4.3 (out of 5)`
    if before.hash == word!("of") && back(2).is_some_and(|token| token.hash == word!("out")) {
        return true;
    }
    // `No. 5`, `ID: 4512`.
    let label = if before.is_symbol('.') || before.is_symbol(':') || before.is_symbol('#') {
        back(2)
    } else {
        Some(before)
    };
    let Some(label) = label else { return false };
    if before.is_symbol(':')
        && label.hash != word!("id")
        && label.hash != word!("number")
        && label.hash != word!("reference")
    {
        return false;
    }
    let verb = [word!("order"), word!("no"), word!("question"), word!("record"), word!("form")]
        .contains(&label.hash)
        && text.next(end).is_some_and(Token::has_content);
    label.is_word() && label.is(Roles::IDENTIFIER) && !verb
}

/// Stems of up to three words that say what is counted.
fn noun(text: &Text, end: usize) -> [u64; NOUN_WORDS] {
    let mut noun = [0; NOUN_WORDS];
    let mut at = end;
    at += usize::from(text.is_glued(at, '-') && text.get(at + 1).is_some_and(Token::is_word));
    let sentence = at.checked_sub(1).and_then(|at| text.get(at)).map(|token| token.sentence);
    for slot in &mut noun {
        let Some(token) =
            text.next(at).filter(|token| token.has_content() && Some(token.sentence) == sentence)
        else {
            break;
        };
        *slot = token.stem;
        at += 1;
    }
    noun
}

/// Numbers in words, amounts with the code in front, and none of something.
fn in_words(found: &mut Finder<'_>, at: usize) -> Option<usize> {
    let text = found.text;
    let token = text.get(at)?;
    if let Some(currency) = currency_word(token)
        && text
            .next(at + 1)
            .is_some_and(|next| !next.is_word() && !matches!(next.kind, Kind::Symbol('.' | ',')))
        && let Some(end) = prefixed(found, at, at + 1, currency, 1)
    {
        return Some(end);
    }
    if let Some(end) = none(text, at) {
        let asked = text.asks(token);
        let stance = if asked { Stance::Questioned } else { Stance::Asserted };
        found.push(at, end, What::None, Some(stance));
        return Some(end);
    }
    let (value, decimals, end, role) = cardinal(text, at)?;
    if let Some((currency, after)) = currency_after(text, end) {
        let numeral = Numeral { mantissa: value as i64, scale: 0, other: None, end };
        return Some(money(found, at, after, numeral, 1, currency));
    }
    if text.next(end).is_some_and(|token| token.lex().cents) {
        let amount = Decimal { minor: value as i64, scale: 2 };
        found.push(at, end + 1, What::Money(Money { amount, other: None, currency: Currency::ANY }), None);
        return Some(end + 1);
    }
    let minus = text.before(at).is_some_and(|before| before.hash == word!("minus"));
    let mut number = plain(if minus { -value } else { value }, decimals, role);
    let mut end = end;
    if text.is_word(end, word!("of")) && subset(text, end + 1) {
        number.role = NumberRole::Subset;
    } else if text.is_word(end, word!("out")) && text.is_word(end + 1, word!("of")) {
        let whole = text.next(end + 2).is_some_and(|token| token.is_digits() || token.lex().number.is_some());
        end += if whole { 3 } else { 0 };
    }
    if let Some((unit, after)) = unit(text, end) {
        number.unit = Some(unit);
        end = composite(text, after, &mut number, unit);
        if let Some(days) = times::days_of(unit) {
            dates::shifted(found, at, end, number.value, days);
        }
    } else if role == NumberRole::Weak && token.hash == word!("an") {
        return None;
    }
    if number.role == NumberRole::Plain && names_something(text, at, end) {
        number.role = NumberRole::Identifier;
    }
    finish(found, at, end, number);
    Some(end)
}

/// `no dentists`, `none`, `nothing`, and `any` under a negation.
fn none(text: &Text, at: usize) -> Option<usize> {
    let token = text.get(at)?;
    if token.hash == word!("none") || token.hash == word!("nothing") || token.hash == word!("nobody") {
        let rest = text.is_word(at + 1, word!("else"))
            || text.is_word(at + 1, word!("more"))
            || text.is_word(at + 1, word!("other"));
        return (!rest).then_some(at + 1);
    }
    let next = text.next(at + 1)?;
    let other = [
        word!("other"),
        word!("more"),
        word!("further"),
        word!("longer"),
        word!("later"),
        word!("earlier"),
        word!("problem"),
        word!("worries"),
        word!("one"),
        word!("doubt"),
        word!("need"),
        word!("issue"),
        word!("problems"),
        word!("additional"),
        word!("additionally"),
        word!("fewer"),
        word!("less"),
        word!("idea"),
        word!("time"),
        word!("point"),
    ];
    if !next.is_word() || other.contains(&next.hash) {
        return None;
    }
    if token.hash == word!("no") {
        return (next.has_content() && next.lex().number.is_none()).then_some(at + 1);
    }
    if token.hash == word!("any") && next.has_content() {
        let negated = text.tokens[..at]
            .iter()
            .rev()
            .take(6)
            .take_while(|before| before.sentence == token.sentence)
            .any(|before| before.is(Roles::NEGATOR) || before.hash == word!("unable"));
        return negated.then_some(at + 1);
    }
    None
}

/// A number in words: value, decimals, the token after it, and how surely it is a number.
#[expect(clippy::if_same_then_else, reason = "a hyphen and an `and` join for different reasons")]
fn cardinal(text: &Text, at: usize) -> Option<(f64, i8, usize, NumberRole)> {
    let token = text.get(at)?;
    let mut at_word = at;
    let article = token.hash == word!("a") || token.hash == word!("an");
    if token.hash == word!("half") {
        let next = text.next(at + 1)?;
        let a = next.hash == word!("a") || next.hash == word!("an");
        let what = text.next(at + 2).filter(|_| a)?;
        if what.hash == word!("dozen") {
            return Some((6.0, 0, at + 3, NumberRole::Plain));
        }
        return what.lex().unit.map(|_| (0.5, 1, at + 2, NumberRole::Plain));
    }
    if article {
        let next = text.next(at + 1)?;
        let counts = next.lex().multiplier.is_some()
            || [word!("single"), word!("couple"), word!("pair"), word!("total")].contains(&next.hash);
        if !counts {
            let time =
                next.lex().unit.is_some_and(|unit| unit.dimension == Dimension::Duration) && next.len() > 2;
            // `twice a day`, `80 euros a night`: a rate.
            let rate = text.before(at).is_some_and(|before| {
                !before.is(Roles::FUNCTION)
                    && !before.is(Roles::COPULA)
                    && before.hash != word!("takes")
                    && before.hash != word!("lasts")
            });
            return (time && !rate).then_some((1.0, 0, at + 1, NumberRole::Weak));
        }
        if next.hash == word!("total") {
            return None;
        }
        at_word = at + 1;
    }
    let mut total = 0_u64;
    let mut current = if article && text.get(at_word)?.lex().multiplier.is_some() { 1 } else { 0 };
    let mut any = false;
    let mut end = at_word;
    let mut last_was_ones = false;
    while let Some(word) = if end == at_word { text.get(end) } else { text.next(end) } {
        let lex = word.lex();
        if let Some(number) = lex.number.filter(|_| word.is_word()) {
            let number = u64::from(number);
            if last_was_ones {
                break;
            }
            // `twenty five`, but not `five twenty`.
            if any && current % 100 != 0 && !(current % 10 == 0 && number < 10 && current % 100 >= 20) {
                break;
            }
            current += number;
            last_was_ones = number % 10 != 0 || number < 20;
            any = true;
            end += 1;
        } else if let Some(multiplier) = lex.multiplier.filter(|_| word.is_word() && (any || article)) {
            let multiplier = u64::from(multiplier);
            if multiplier == 12 && any && end > at_word + 1 && !article {
                break;
            }
            current = current.max(1).saturating_mul(multiplier);
            if multiplier >= 1000 {
                total = total.saturating_add(current);
                current = 0;
            }
            any = true;
            last_was_ones = false;
            end += 1;
        } else if any
            && word.is_symbol('-')
            && word.has(Marks::GLUED)
            && text
                .get(end + 1)
                .is_some_and(|next| next.has(Marks::GLUED) && next.lex().number.is_some_and(|n| n < 10))
        {
            end += 1;
        } else if any
            && word.hash == word!("and")
            && !last_was_ones
            && (total > 0 || current >= 100)
            && text.next(end + 1).is_some_and(|next| next.lex().number.is_some())
        {
            end += 1;
        } else {
            break;
        }
        if end - at > 16 {
            break;
        }
    }
    if !any {
        return None;
    }
    let mut value = total.saturating_add(current) as f64;
    let mut decimals = 0_i8;
    if text.is_word(end, word!("point")) {
        let mut place = 0.1;
        let mut after = end + 1;
        while let Some(digit) =
            text.next(after).and_then(|token| token.lex().number).filter(|digit| *digit < 10)
        {
            value += f64::from(digit) * place;
            place /= 10.0;
            decimals = decimals.saturating_add(1).min(9);
            after += 1;
            end = after;
            if decimals == 9 {
                break;
            }
        }
        let unit = 10_f64.powi(i32::from(decimals));
        value = (value * unit).round() / unit;
    }
    if let Some(part) = and_a_part(text, end) {
        value += part;
        decimals = 2;
        end += 3;
    }
    let first = text.get(at_word)?;
    let said = text.before(at).is_some_and(|before| {
        [word!("only"), word!("just"), word!("exactly"), word!("total")].contains(&before.hash)
    });
    let weak = end == at_word + 1
        && [
            word!("one"),
            word!("both"),
            word!("couple"),
            word!("pair"),
            word!("once"),
            word!("twice"),
            word!("single"),
        ]
        .contains(&first.hash)
        && !(said || first.hash == word!("single"));
    // `no one`, `one moment`, `the one`, `this one`: no number at all.
    if first.hash == word!("one") && !said {
        let pronoun = text.before(at).is_some_and(|before| {
            [
                word!("no"),
                word!("the"),
                word!("this"),
                word!("that"),
                word!("which"),
                word!("another"),
                word!("each"),
                word!("every"),
                word!("any"),
            ]
            .contains(&before.hash)
        });
        // `a great one`
        let adjective =
            text.before(at).is_some_and(|before| before.has_content() && !before.is(Roles::COPULA))
                && !text.next(at + 1).is_some_and(Token::has_content);
        if pronoun || adjective || text.is_word(at + 1, word!("moment")) {
            return None;
        }
    }
    end +=
        usize::from(text.is_word(end, word!("of")) && [word!("couple"), word!("pair")].contains(&first.hash));
    Some((value, decimals, end, if weak { NumberRole::Weak } else { NumberRole::Plain }))
}
