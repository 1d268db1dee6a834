//! Numbers in words, and none of something.

use diorama_seeds::value::Decimal;

use super::context::{names_something, subset};
use super::measure::{and_a_part, composite, unit};
use super::money::{currency_after, currency_word, money, prefixed};
use super::numeral::Numeral;
use super::{finish, plain};
use crate::lexicon::Roles;
use crate::tokens::{Kind, Marks, Text, Token};
use crate::units::{Currency, Dimension};
use crate::{Finder, Money, NumberRole, Stance, What, dates, times};
use crate::{word, words};

/// Numbers in words, amounts with the code in front, and none of something.
pub(crate) fn in_words(found: &mut Finder<'_>, at: usize) -> Option<usize> {
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
    if let Some(end) = ordinal(found, at) {
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

/// `third-year`: a number that names.
fn ordinal(found: &mut Finder<'_>, at: usize) -> Option<usize> {
    let text = found.text;
    let lex = text.get(at)?.lex();
    let joined = text.is_glued(at + 1, '-') && text.get(at + 2).is_some_and(Token::is_word);
    if lex.ordinal == 0 || lex.number.is_some() || !joined {
        return None;
    }
    finish(found, at, at + 1, plain(f64::from(lex.ordinal), 0, NumberRole::Identifier));
    Some(at + 1)
}

/// `no dentists`, `none`, `nothing`, and `any` under a negation.
pub(crate) fn none(text: &Text, at: usize) -> Option<usize> {
    let token = text.get(at)?;
    if words!("none nothing nobody").contains(&token.hash) {
        let rest = text.is_word(at + 1, word!("else"))
            || text.is_word(at + 1, word!("more"))
            || text.is_word(at + 1, word!("other"));
        return (!rest).then_some(at + 1);
    }
    let next = text.next(at + 1)?;
    let other = words!(
        "other more further longer later earlier problem worries one doubt need issue \
         problems additional additionally fewer less idea time point"
    );
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
pub(crate) fn cardinal(text: &Text, at: usize) -> Option<(f64, i8, usize, NumberRole)> {
    let token = text.get(at)?;
    let mut at_word = at;
    let article = words!("a an").contains(&token.hash);
    if token.hash == word!("half") {
        return half(text, at);
    }
    if article {
        let next = text.next(at + 1)?;
        let counts =
            next.lex().multiplier.is_some() || words!("single couple pair total").contains(&next.hash);
        if !counts {
            return a_while(text, at, next);
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
        } else if any && joins(text, end, word, last_was_ones, total > 0 || current >= 100) {
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
    let said = text.before(at).is_some_and(|before| words!("only just exactly total").contains(&before.hash));
    let weak = end == at_word + 1
        && words!("one both couple pair once twice single").contains(&first.hash)
        && !(said || first.hash == word!("single"));
    if first.hash == word!("one") && !said && is_pronoun(text, at) {
        return None;
    }
    end += usize::from(text.is_word(end, word!("of")) && words!("couple pair").contains(&first.hash));
    Some((value, decimals, end, if weak { NumberRole::Weak } else { NumberRole::Plain }))
}

/// `half a dozen`, `half a kilo`, `half an hour`.
fn half(text: &Text, at: usize) -> Option<(f64, i8, usize, NumberRole)> {
    let next = text.next(at + 1)?;
    let a = words!("a an").contains(&next.hash);
    let what = text.next(at + 2).filter(|_| a)?;
    if what.hash == word!("dozen") {
        return Some((6.0, 0, at + 3, NumberRole::Plain));
    }
    what.lex().unit.map(|_| (0.5, 1, at + 2, NumberRole::Plain))
}

/// `a week`, `an hour`: one, but not where it is a rate.
fn a_while(text: &Text, at: usize, next: &Token) -> Option<(f64, i8, usize, NumberRole)> {
    let time = next.lex().unit.is_some_and(|unit| unit.dimension == Dimension::Duration) && next.len() > 2;
    // `twice a day`, `80 euros a night`: a rate.
    let rate = text.before(at).is_some_and(|before| {
        !before.is(Roles::FUNCTION)
            && !before.is(Roles::COPULA)
            && before.hash != word!("takes")
            && before.hash != word!("lasts")
    });
    (time && !rate).then_some((1.0, 0, at + 1, NumberRole::Weak))
}

/// `no one`, `one moment`, `the one`, `this one`: no number at all.
fn is_pronoun(text: &Text, at: usize) -> bool {
    let pronoun = text
        .before(at)
        .is_some_and(|before| words!("no the this that which another each every any").contains(&before.hash));
    // `a great one`
    let adjective = text.before(at).is_some_and(|before| before.has_content() && !before.is(Roles::COPULA))
        && !text.next(at + 1).is_some_and(Token::has_content);
    pronoun || adjective || text.is_word(at + 1, word!("moment"))
}

/// Whether a token joins the words of one number: the hyphen of `twenty-five`, the `and` of `hundred and five`.
fn joins(text: &Text, at: usize, token: &Token, after_ones: bool, above_hundred: bool) -> bool {
    let next = text.next(at + 1);
    if token.is_symbol('-') && token.has(Marks::GLUED) {
        return next.is_some_and(|next| next.has(Marks::GLUED) && next.lex().number.is_some_and(|n| n < 10));
    }
    let and = token.hash == word!("and") && !after_ones && above_hundred;
    and && next.is_some_and(|next| next.lex().number.is_some())
}
