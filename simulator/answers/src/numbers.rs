//! Numbers: recognises numbers in digits and words, with units, and amounts of money.

use diorama_seeds::value::Decimal;

use super::figures::{Figure, Numeral};
use super::lexicon::Role;
use super::spelt::{spelt, with_decimals};
use super::text::{Kind, Text};
use super::units::{self, Currency, Dimension, Unit};
use super::{FoundValue, Money, Number, NumberRole, What};

/// Recognises a number or an amount of money that starts at a token.
pub(crate) fn recognise(text: &Text, at: usize) -> Option<FoundValue> {
    let token = text.tokens.get(at)?;
    let before = at.checked_sub(1).and_then(|before| text.tokens.get(before));
    match token.kind {
        Kind::Figure(Some(figure)) => {
            let numeral = match figure {
                Figure::Number(numeral) => numeral,
                Figure::Slash(part, whole) => return Some(fraction(at, part, whole)),
                _ => return None,
            };
            let minus = matches!(text.word_before(at), "minus" | "negative");
            Some(figured(text, at, at, numeral, minus))
        }
        Kind::Sign('-' | '−') => {
            // A minus sign, not a hyphen: `-5`, `(-5)`.
            let free = !token.glued
                || before.is_some_and(|before| matches!(before.kind, Kind::Sign('(' | ':' | '=' | ',')));
            let next = text.tokens.get(at + 1).filter(|next| next.glued && free)?;
            match next.kind {
                Kind::Figure(Some(Figure::Number(numeral))) => Some(figured(text, at, at + 1, numeral, true)),
                Kind::Sign(sign) => signed(text, at, at + 1, Currency::sign(sign)?, true),
                _ => None,
            }
        }
        Kind::Sign('#') => {
            let numeral = text.tokens.get(at + 1).filter(|next| next.glued).and_then(|next| next.figure());
            let Some(Figure::Number(numeral)) = numeral else { return None };
            let number = plain(numeral.value(), NumberRole::Identifier);
            Some(FoundValue::new(at, at + 2, What::Number(number)))
        }
        Kind::Sign(sign @ ('½' | '¼' | '¾')) => {
            let number = Number { decimals: 2, ..plain(part_of_one(sign), NumberRole::Plain) };
            Some(with_unit(text, at, at + 1, number))
        }
        Kind::Sign(sign) => {
            let currency = Currency::sign(sign)?;
            // `US$ 12`, `A$12`: the letters before the sign narrow its currency.
            let prefix = before.filter(|before| token.glued && before.is_word() && before.upper);
            let narrowed = prefix.and_then(|prefix| Currency::prefixed(text.word(prefix), currency));
            signed(text, at - usize::from(narrowed.is_some()), at, narrowed.unwrap_or(currency), false)
        }
        Kind::Word if token.lex.code && token.upper => {
            // `EUR 12`
            let numeral = text.next(at + 1).and_then(|next| next.figure());
            let Some(Figure::Number(numeral)) = numeral else { return None };
            Some(money(text, at, at + 2, numeral, false, token.lex.currency?))
        }
        Kind::Word => in_words(text, at),
        Kind::Figure(None) => None,
    }
}

const fn plain(value: f64, role: NumberRole) -> Number {
    Number { value, other: None, decimals: 0, unit: None, role }
}

fn fraction(at: usize, part: u32, whole: u32) -> FoundValue {
    let other = (whole > 0 && part < whole).then(|| f64::from(part) / f64::from(whole));
    FoundValue::new(at, at + 1, What::Number(Number { other, ..plain(f64::from(part), NumberRole::Plain) }))
}

/// Reads a number from the figure at `at`, with its multiplier, currency or unit.
fn figured(text: &Text, start: usize, at: usize, numeral: Numeral, minus: bool) -> FoundValue {
    let mut end = at + 1;
    let (times, after) = multiplier(text, end);
    let sign = if minus { -1.0 } else { 1.0 };
    if let Some((_, behind)) = currency_after(text, after) {
        return money_behind(text, start, after, behind, numeral, minus, times);
    }
    end = after;
    let mut number = Number {
        value: sign * numeral.value() * times as f64,
        other: numeral.other_value().filter(|_| times == 1).map(|other| sign * other),
        decimals: numeral.scale as i8 - times.ilog10() as i8,
        ..plain(0.0, NumberRole::Plain)
    };
    if let Some(Kind::Sign(sign @ ('½' | '¼' | '¾'))) = text.next(end).map(|token| token.kind) {
        (number.value, number.decimals, end) = (number.value + part_of_one(sign), 2, end + 1);
    }
    if let Some(part) = and_a_part(text, end) {
        (number.value, number.decimals, end) = (number.value + part, 2, end + 3);
    }
    end = whole(text, end);
    with_unit(text, start, end, number)
}

/// Returns the token after a total: `out of 5`, `/5`, `of 4`.
fn whole(text: &Text, at: usize) -> usize {
    let slash = text.next(at).is_some_and(|next| next.is_sign('/'));
    let of = match (text.next_word(at), text.next_word(at + 1)) {
        ("out", "of") => at + 2,
        ("of", _) => at + 1,
        _ if slash => at + 1,
        _ => return at,
    };
    let token = text.next(of);
    let figure = token.is_some_and(|token| matches!(token.figure(), Some(Figure::Number(_))));
    let in_words = of == at + 2 && token.is_some_and(|token| token.lex.number.is_some());
    if figure || in_words { of + 1 } else { at }
}

/// Adds the unit of a number, or its role from the words around it.
fn with_unit(text: &Text, start: usize, mut end: usize, mut number: Number) -> FoundValue {
    if let Some((unit, after)) = unit(text, end) {
        number.unit = Some(unit);
        end = further_parts(text, after, &mut number, unit);
    } else if text.next(end).is_some_and(|next| next.glued && next.is_word() && text.word(next) != "x") {
        // `3rd`, `12A`
        number.role = NumberRole::Identifier;
        end += 1;
    } else if names_something(text, start) {
        number.role = NumberRole::Identifier;
    }
    number.role = match number.role {
        NumberRole::Plain if is_limit(text, start) => NumberRole::Limit,
        NumberRole::Plain if is_subset(text, end) => NumberRole::Subset,
        role => role,
    };
    FoundValue::new(start, end, What::Number(number))
}

/// Returns true if a number identifies something: letters touch it, or a word such as `room` precedes it.
fn names_something(text: &Text, at: usize) -> bool {
    let Some((token, before)) = text.tokens.get(at).zip(text.before(at)) else { return false };
    let back = |steps: usize| at.checked_sub(steps).and_then(|at| text.tokens.get(at));
    if token.glued
        && (before.is_word()
            || (before.is_sign('-') && back(2).is_some_and(|letters| letters.is_word() && before.glued)))
    {
        return true;
    }
    let marked = before.is_sign('.') || before.is_sign(':');
    let label = if marked {
        back(2).filter(|label| {
            !before.is_sign(':') || matches!(text.word(label), "id" | "number" | "reference" | "code")
        })
    } else {
        Some(before)
    };
    label.is_some_and(|label| label.is(Role::Identifier))
}

fn is_limit(text: &Text, at: usize) -> bool {
    let near = |back: usize| {
        at.checked_sub(back).and_then(|at| text.tokens.get(at)).map_or("", |token| text.word(token))
    };
    matches!(
        (near(2), near(1)),
        ("up", "to") | ("at", "least" | "most") | (_, "within" | "minimum" | "maximum")
    )
}

/// Returns true for a part of a total: `2 of them`.
fn is_subset(text: &Text, end: usize) -> bool {
    text.next_word(end) == "of"
        && matches!(
            text.next_word(end + 1),
            "them" | "these" | "those" | "which" | "whom" | "the" | "your" | "our"
        )
}

/// Returns the factor of a multiplier and the token after it: `k`, `M`, `million`.
fn multiplier(text: &Text, at: usize) -> (i64, usize) {
    let Some(token) = text.next(at).filter(|token| token.is_word()) else { return (1, at) };
    match text.word(token) {
        "k" if token.glued => (1000, at + 1),
        "m" if token.glued && token.upper => (1_000_000, at + 1),
        _ => token.lex.multiplier.map_or((1, at), |times| (i64::from(times), at + 1)),
    }
}

const fn part_of_one(sign: char) -> f64 {
    match sign {
        '¼' => 0.25,
        '¾' => 0.75,
        _ => 0.5,
    }
}

/// Returns the fraction in `and a half`.
fn and_a_part(text: &Text, at: usize) -> Option<f64> {
    let (and, a) = (text.next_word(at), text.next_word(at + 1));
    (and == "and" && a == "a").then(|| part(text.next_word(at + 2))).flatten()
}

fn part(word: &str) -> Option<f64> {
    match word {
        "half" => Some(0.5),
        "quarter" => Some(0.25),
        _ => None,
    }
}

/// Returns the unit that follows in the same line, and the token after it.
fn unit(text: &Text, at: usize) -> Option<(Unit, usize)> {
    text.next(at).and_then(|_| unit_at(text, at))
}

/// Returns the unit at a token, and the token after it.
pub(crate) fn unit_at(text: &Text, at: usize) -> Option<(Unit, usize)> {
    let token = text.tokens.get(at)?;
    match token.kind {
        Kind::Sign('%') => Some((units::PERCENT, at + 1)),
        Kind::Sign('°') => {
            let scale = text.next(at + 1).filter(|scale| scale.glued).and_then(|scale| scale.lex.unit);
            let scale = scale.filter(|unit| unit.dimension == Dimension::Temperature);
            Some((scale.unwrap_or(units::CELSIUS), at + 1 + usize::from(scale.is_some())))
        }
        // `30-minute`
        Kind::Sign('-') if token.glued => {
            let unit = text.tokens.get(at + 1).filter(|next| next.glued).and_then(|next| next.lex.unit)?;
            Some((unit, at + 2))
        }
        Kind::Word => match (text.word(token), text.next_word(at + 1)) {
            ("per", "cent") => Some((units::PERCENT, at + 2)),
            ("degree" | "degrees", scale) => {
                let unit = Unit::named(scale).filter(|unit| unit.dimension == Dimension::Temperature);
                Some((unit.unwrap_or(units::CELSIUS), at + 1 + usize::from(unit.is_some())))
            }
            ("square" | "sq", base) => Some((Unit::named(base)?.squared()?, at + 2)),
            _ => {
                let base = token.lex.unit?;
                let is_per = matches!(text.next_word(at + 1), "per" | "an" | "a");
                match text.next(at + 1).map(|next| next.kind) {
                    Some(Kind::Sign('²')) => Some((base.squared()?, at + 2)),
                    next if next == Some(Kind::Sign('/')) || is_per => {
                        let speed = base.in_one(text.next_word(at + 2));
                        Some(speed.map_or((base, at + 1), |speed| (speed, at + 3)))
                    }
                    _ => Some((base, at + 1)),
                }
            }
        },
        _ => None,
    }
}

/// Adds the smaller parts of a duration: `2 h 15 min`, `1 hour and 30 minutes`. Returns the token after them.
fn further_parts(text: &Text, at: usize, number: &mut Number, of: Unit) -> usize {
    if of.dimension != Dimension::Duration || of.factor < 60.0 {
        return at;
    }
    let figure = at + usize::from(text.next_word(at) == "and");
    let more = match text.next(figure).and_then(|token| token.figure()) {
        Some(Figure::Number(numeral)) => Some((numeral.value(), figure + 1)),
        _ => spelt(text, figure).filter(|_| text.next(figure).is_some()),
    };
    let Some((more, behind)) = more else {
        return and_a_part(text, at).map_or(at, |part| {
            number.value += part;
            at + 3
        });
    };
    match unit(text, behind) {
        // `2h14`
        None if of == units::HOUR && figure == at && text.next(at).is_some_and(|next| next.glued) => {
            number.value += more / 60.0;
            number.decimals = 2;
            behind
        }
        Some((smaller, after)) if smaller.dimension == Dimension::Duration && smaller.factor < of.factor => {
            number.value += more * smaller.factor / of.factor;
            number.decimals = 2;
            further_parts(text, after, number, smaller)
        }
        _ => at,
    }
}

/// Reads an amount after a currency sign.
fn signed(text: &Text, start: usize, sign: usize, currency: Currency, minus: bool) -> Option<FoundValue> {
    let numeral = text.next(sign + 1).and_then(|next| next.figure());
    let Some(Figure::Number(numeral)) = numeral else { return None };
    Some(money(text, start, sign + 2, numeral, minus, currency))
}

/// Reads an amount after its currency. `end` is the token after the figure.
fn money(
    text: &Text,
    start: usize,
    end: usize,
    numeral: Numeral,
    minus: bool,
    currency: Currency,
) -> FoundValue {
    let (times, mut after) = multiplier(text, end);
    // `$12 AUD` names the currency twice.
    let mut currency = currency;
    if let Some((narrower, behind)) =
        currency_after(text, after).filter(|(other, _)| other.overlaps(currency))
    {
        (currency, after) = (if narrower.is_one() { narrower } else { currency }, behind);
    }
    let (amount, other) = amounts(numeral, minus, times);
    FoundValue::new(start, after, What::Money(Money { amount, other, currency }))
}

fn money_behind(
    text: &Text,
    start: usize,
    at: usize,
    end: usize,
    numeral: Numeral,
    minus: bool,
    times: i64,
) -> FoundValue {
    let currency = currency_after(text, at).map_or(Currency::ANY, |(currency, _)| currency);
    let (mut amount, mut other) = amounts(numeral, minus, times);
    let mut end = end;
    if matches!(text.word(&text.tokens[end - 1]), "cents" | "cent" | "pence" | "penny") && numeral.scale == 0
    {
        (amount, other) = (Decimal { minor: amount.minor, scale: 2 }, None);
    } else if let Some((cents, after)) = cents(text, end).filter(|_| numeral.scale == 0) {
        amount = Decimal { minor: amount.minor * 100 + cents, scale: 2 };
        end = after;
    }
    FoundValue::new(start, end, What::Money(Money { amount, other, currency }))
}

/// Returns the cents and the token after them: `and 56 cents`, or the `50` of `12 euros 50`.
fn cents(text: &Text, at: usize) -> Option<(i64, usize)> {
    let from = at + usize::from(text.next_word(at) == "and");
    let (value, end) = match text.next(from)?.figure() {
        Some(Figure::Number(cents)) if cents.digits == 2 => (cents.small()?, from + 1),
        Some(_) => return None,
        None => spelt(text, from).map(|(value, end)| (value as u32, end))?,
    };
    if matches!(text.next_word(end), "cents" | "cent" | "pence" | "penny") {
        return Some((i64::from(value), end + 1));
    }
    let worded = text.tokens.get(at.checked_sub(1)?).is_some_and(|word| word.is_word() && !word.upper);
    let free = text
        .next(end)
        .is_none_or(|next| next.lex.unit.is_none() && next.lex.month == 0 && !next.has_content());
    (from == at && worded && free && value < 100).then_some((i64::from(value), end))
}

/// Returns the amount and its second reading, in which one mark before three digits groups thousands.
fn amounts(numeral: Numeral, minus: bool, times: i64) -> (Decimal, Option<Decimal>) {
    let sign = if minus { -1 } else { 1 };
    let decimal = |(minor, scale): (i64, u8)| {
        let minor = minor.saturating_mul(times).saturating_mul(sign);
        Decimal { minor, scale: scale.min(9) }.reduced()
    };
    let own = (numeral.mantissa, numeral.scale);
    match numeral.other {
        Some(other) if numeral.scale == 3 => (decimal(other), Some(decimal(own))),
        other => (decimal(own), other.map(decimal)),
    }
}

/// Returns the currency after a number: a sign, a code, or a word with an optional country.
fn currency_after(text: &Text, at: usize) -> Option<(Currency, usize)> {
    let token = text.next(at)?;
    match token.kind {
        Kind::Sign(sign) => Currency::sign(sign).map(|currency| (currency, at + 1)),
        Kind::Word if matches!(text.word(token), "cents" | "cent" | "pence" | "penny") => {
            Some((Currency::ANY, at + 1))
        }
        Kind::Word => {
            let named = |at: usize| {
                let token = text.next(at)?;
                let currency =
                    token.lex.currency.filter(|_| token.is_word() && (!token.lex.code || token.upper))?;
                Some((currency, at + 1))
            };
            let country = token.capital && token.lex.currency.is_none();
            let of_country = || {
                let (currency, end) = named(at + 1).filter(|_| country)?;
                Some((Currency::prefixed(text.word(token), currency).unwrap_or(currency), end))
            };
            named(at).or_else(of_country)
        }
        Kind::Figure(_) => None,
    }
}

/// Reads a number in words: `two hundred and five`, `half a dozen`, `no rooms`, `half an hour`.
fn in_words(text: &Text, at: usize) -> Option<FoundValue> {
    let token = text.tokens.get(at)?;
    let word = text.word(token);
    let next = text.next_word(at + 1);
    match word {
        "none" | "nothing" | "nobody" => return Some(FoundValue::new(at, at + 1, What::None)),
        // `No rooms` counts. `No, ...` and a `no` in a name do not.
        "no" => {
            let content = text
                .next(at + 1)
                .is_some_and(|next| next.has_content() && !next.capital && text.word(next) != "longer");
            return content.then(|| FoundValue::new(at, at + 1, What::None));
        }
        "half" | "quarter" | "three" => {
            let quarters = if word == "three" && matches!(next, "quarters") { 3.0 } else { 1.0 };
            let from = at + 1 + usize::from(quarters > 1.0);
            let from = from + usize::from(text.next_word(from) == "of");
            let factor = if word == "half" { 0.5 } else { 0.25 * quarters };
            let is_part = word != "three" || quarters > 1.0;
            if is_part && matches!(text.next_word(from), "a" | "an") {
                if let Some(unit) = text.next(from + 1).and_then(|token| token.lex.unit) {
                    let number = Number {
                        value: factor,
                        decimals: 2,
                        unit: Some(unit),
                        ..plain(0.0, NumberRole::Plain)
                    };
                    return Some(FoundValue::new(at, from + 2, What::Number(number)));
                }
                if text.next_word(from + 1) == "dozen" {
                    return Some(with_unit(text, at, from + 2, plain(12.0 * factor, NumberRole::Plain)));
                }
            }
            if word != "three" {
                return None;
            }
        }
        "a" | "an" => {
            // `a dozen`, `a hundred`, `an hour and a half`, `an hour`
            if let Some(times) = text.next(at + 1).and_then(|next| next.lex.multiplier) {
                return Some(with_unit(text, at, at + 2, plain(f64::from(times), NumberRole::Plain)));
            }
            let unit = text
                .next(at + 1)
                .and_then(|next| next.lex.unit)
                .filter(|unit| unit.dimension == Dimension::Duration && unit.factor <= 3600.0)?;
            let part = and_a_part(text, at + 2)?;
            let number =
                Number { value: 1.0 + part, decimals: 2, unit: Some(unit), ..plain(0.0, NumberRole::Plain) };
            return Some(FoundValue::new(at, at + 5, What::Number(number)));
        }
        _ => {}
    }
    let (value, end) = spelt(text, at)?;
    let (value, decimals, end) = with_decimals(text, value, end);
    let minus = matches!(text.word_before(at), "minus" | "negative");
    let value = if minus { -value } else { value };
    if let Some((currency, after)) = currency_after(text, end) {
        let scale =
            if matches!(text.word(&text.tokens[after - 1]), "cents" | "cent" | "pence") { 2 } else { 0 };
        let amount = Decimal { minor: value as i64, scale };
        return Some(FoundValue::new(at, after, What::Money(Money { amount, other: None, currency })));
    }
    let weak = matches!(word, "one" | "once" | "single" | "both") && end == at + 1;
    let role = if weak { NumberRole::Weak } else { NumberRole::Plain };
    let mut number = Number { decimals, ..plain(value, role) };
    let mut end = end;
    if let Some(part) = and_a_part(text, end) {
        (number.value, number.decimals, end) = (number.value + part, 2, end + 3);
    }
    end = whole(text, end);
    let mut found = with_unit(text, at, end, number);
    if let What::Number(number) = &mut found.what
        && number.unit.is_some()
        && number.role == NumberRole::Weak
        && word != "both"
    {
        number.role = NumberRole::Plain;
    }
    Some(found)
}
