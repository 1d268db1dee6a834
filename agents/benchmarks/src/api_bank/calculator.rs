//! Owns the calculator of API-Bank: `+`, `-`, `*`, `/` and brackets.

use std::iter::Peekable;
use std::str::Chars;

/// Maximum nesting of brackets.
const MAX_DEPTH: u32 = 32;

/// Returns the result of a formula, or none for an invalid one.
pub(super) fn calculate(formula: &str) -> Option<f64> {
    let plain: String = formula.chars().filter(|c| !c.is_whitespace()).collect();
    let mut rest = plain.chars().peekable();
    let result = sum(&mut rest, 0)?;
    (rest.next().is_none() && result.is_finite()).then_some(result)
}

fn sum(rest: &mut Peekable<Chars<'_>>, depth: u32) -> Option<f64> {
    let mut result = product(rest, depth)?;
    while let Some(sign) = rest.next_if(|c| matches!(c, '+' | '-')) {
        let next = product(rest, depth)?;
        result += if sign == '+' { next } else { -next };
    }
    Some(result)
}

fn product(rest: &mut Peekable<Chars<'_>>, depth: u32) -> Option<f64> {
    let mut result = number(rest, depth)?;
    while let Some(sign) = rest.next_if(|c| matches!(c, '*' | '/')) {
        let next = number(rest, depth)?;
        result = if sign == '*' { result * next } else { result / next };
    }
    Some(result)
}

fn number(rest: &mut Peekable<Chars<'_>>, depth: u32) -> Option<f64> {
    if rest.next_if_eq(&'(').is_some() && depth < MAX_DEPTH {
        let result = sum(rest, depth + 1)?;
        return rest.next_if_eq(&')').map(|_| result);
    }
    let mut digits = String::new();
    while let Some(digit) = rest.next_if(|c| c.is_ascii_digit() || *c == '.') {
        digits.push(digit);
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::calculate;

    #[test]
    fn formulas_are_calculated() {
        assert_eq!(calculate("(5+10) * 3 - 4/2"), Some(43.0));
        assert_eq!(["", "1+", "(1", "1/0", "x"].map(calculate), [None; 5]);
    }
}
