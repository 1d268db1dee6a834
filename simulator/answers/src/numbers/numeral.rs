//! Digits with their separators, in either tradition.

use super::money::currency_word;
use crate::lexicon::Roles;
use crate::tokens::{Kind, Marks, Text, Token};
use crate::units::Currency;

/// Digits as written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numeral {
    pub(crate) mantissa: i64,
    pub(crate) scale: u8,
    /// The other reading of a single separator.
    pub(crate) other: Option<(i64, u8)>,
    pub(crate) end: usize,
}

impl Numeral {
    pub(crate) fn value(&self) -> f64 {
        self.mantissa as f64 / 10_f64.powi(i32::from(self.scale))
    }

    pub(crate) fn other_value(&self) -> Option<f64> {
        self.other.map(|(mantissa, scale)| mantissa as f64 / 10_f64.powi(i32::from(scale)))
    }

    pub(crate) fn negate(mut self) -> Self {
        self.mantissa = -self.mantissa;
        self.other = self.other.map(|(mantissa, scale)| (-mantissa, scale));
        self
    }
}

/// What a numeral may turn out to be.
pub(crate) enum Figures {
    Number(Numeral),
    /// A version, an address, a telephone number: consumed up to here, and no number.
    Code(usize),
}

pub(crate) fn part_of_one(symbol: char) -> i64 {
    match symbol {
        '½' => 50,
        '¼' => 25,
        _ => 75,
    }
}

/// Digits with their separators.
pub(crate) fn numeral(text: &Text, at: usize) -> Option<Figures> {
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
    if let ([(whole, before), (fraction, after @ 10..=19)], ['.']) = (used, marks)
        && *before <= 8
    {
        // `73.83333333333333`, as programs write a quotient: nine decimals of it tell all there is to tell.
        let decimals = (fraction / 10_u64.pow((*after - 9) as u32)) as i64;
        let mantissa = *whole as i64 * 1_000_000_000 + decimals;
        return Some(Figures::Number(Numeral { mantissa, scale: 9, other: None, end }));
    }
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
pub(crate) fn blank_group(text: &Text, at: usize, next: usize) -> bool {
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

/// Digits that belong to a code, a ratio or a telephone number, and where that ends.
pub(crate) fn code(text: &Text, at: usize, end: usize) -> Option<usize> {
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

pub(crate) fn leads_with_zero(token: &Token) -> bool {
    // Digits beyond the value's own are leading zeros.
    let digits = token.value.checked_ilog10().map_or(1, |log| log as usize + 1);
    digits < token.len()
}
