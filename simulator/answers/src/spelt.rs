//! Spelt numbers: reads number words. Examples: `two hundred and five`, `twelve point four`.

use super::text::Text;

/// Reads the decimals of `twelve point four`. Returns the value, the number of decimals, and the token after
/// them.
pub(crate) fn with_decimals(text: &Text, value: f64, at: usize) -> (f64, i8, usize) {
    let (mut value, mut decimals, mut end) = (value, 0, at + 1);
    while text.next_word(at) == "point"
        && let Some(digit) = text.next(end).and_then(|token| token.lex.number).filter(|digit| *digit < 10)
    {
        decimals += 1;
        value += f64::from(digit) / 10_f64.powi(i32::from(decimals));
        end += 1;
    }
    if decimals > 0 { (value, decimals, end) } else { (value, 0, at) }
}

/// Returns the value of number words, and the token after the last.
pub(crate) fn spelt(text: &Text, at: usize) -> Option<(f64, usize)> {
    let first = text.tokens.get(at).filter(|token| token.is_word())?;
    let (mut total, mut current) = (0_u64, u64::from(first.lex.number?));
    let mut end = at + 1;
    while let Some(token) = text.next(end) {
        let hyphen = token.is_sign('-') && token.glued;
        let joint = hyphen || text.word(token) == "and";
        let word = if joint { text.next(end + 1) } else { Some(token) };
        let Some(lex) = word.filter(|word| word.is_word()).map(|word| word.lex) else { break };
        match (lex.number, lex.multiplier) {
            // `twenty-five`; `hundred and thirty-four`
            (Some(more), _)
                if follows(current, more) && (hyphen || !joint || current.is_multiple_of(100)) =>
            {
                current += u64::from(more);
            }
            (None, Some(times)) if !joint && times == 100 => current *= 100,
            (None, Some(times)) if !joint && times >= 1000 => {
                total += current.saturating_mul(u64::from(times));
                current = 0;
            }
            (None, Some(12)) if !joint => current *= 12,
            (Some(more), _) if total > 0 && current == 0 => current = u64::from(more),
            _ => break,
        }
        end += if joint { 2 } else { 1 };
    }
    Some(((total + current) as f64, end))
}

/// Returns true if a number word adds to the number before it.
const fn follows(current: u64, more: u8) -> bool {
    let tens = current % 100;
    (current >= 100 && tens == 0) || (tens >= 20 && tens.is_multiple_of(10) && more > 0 && more < 10)
}
