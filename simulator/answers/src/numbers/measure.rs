//! Units behind numbers, and measures of several parts (`2 h 15 min`).

use crate::Number;
use crate::tokens::{Kind, Marks, Text};
use crate::units::{self, Dimension, Unit};
use crate::{word, words};

/// A unit at this token, and the token after it.
pub(crate) fn unit(text: &Text, at: usize) -> Option<(Unit, usize)> {
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
    if words!("degrees degree").contains(&token.hash) {
        let scale = text.next(at + 1).filter(|token| token.is_word()).and_then(|token| token.lex().unit);
        let scale = scale.filter(|unit| unit.dimension == Dimension::Temperature);
        return Some((scale.unwrap_or(units::CELSIUS), at + 1 + usize::from(scale.is_some())));
    }
    if words!("square sq").contains(&token.hash) {
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
pub(crate) fn composite(text: &Text, at: usize, number: &mut Number, first: Unit) -> usize {
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
pub(crate) fn and_a_part(text: &Text, at: usize) -> Option<f64> {
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
