//! Owns the keys of records: sparse, never sequential, and a pure function of their inputs.
//!
//! It defines the meaning of [`KeyFormat`]. The materialiser and the engine both make keys here, so that
//! initial records and records of a session have keys of one kind. It keeps no state and knows no records. A
//! caller that finds a key taken asks again with the next `attempt`.

use std::sync::LazyLock;

use crate::draw::Draw;
use crate::model::KeyFormat;
use crate::table::rows;
use crate::value::{Value, nfc};

/// Returns the `n`-th key of a resource for a seed.
///
/// `resource` is the qualified name. `n` is the number of the record in the materialiser, and the number of
/// earlier successful creates in the engine. `attempt` starts at 0 and rises while the key is taken. Attempts
/// 0 to [`capacity`]` - 1` of the same `n` give each key of the format once, for formats of less than 2^64
/// keys. A free key is therefore always found.
///
/// ```
/// use diorama_seeds::{keys::key_for, model::KeyFormat, value::Value};
///
/// let format = KeyFormat::Code("APT-####".into());
/// let key = key_for(&format, 7, "appointment", 0, 0);
/// assert_eq!(key, key_for(&format, 7, "appointment", 0, 0));
/// assert!(matches!(&key, Value::String(text) if text.starts_with("APT-") && text.len() == 8));
/// ```
pub fn key_for(format: &KeyFormat, seed: u64, resource: &str, n: u64, attempt: u32) -> Value {
    match format {
        KeyFormat::Integer { min, max } => {
            let places = integers(*min, *max);
            let offset = place(seed, resource, n, attempt, places);
            // The offset is below max - min + 1, so the sum fits.
            Value::Integer((i128::from(*min.min(max)) + offset as i128) as i64)
        }
        KeyFormat::Code(text) => {
            let code = Code::parse(text);
            let written = match code.capacity() {
                Some(places) if places <= u128::from(u64::MAX) => {
                    code.write(&mut DigitSource(place(seed, resource, n, attempt, places)))
                }
                _ => code.write(&mut Bytes(digest(seed, resource, n, Some(attempt)).finalize_xof())),
            };
            Value::String(nfc(&written))
        }
    }
}

/// Returns the number of different keys of a format. It saturates.
pub fn capacity(format: &KeyFormat) -> u128 {
    match format {
        KeyFormat::Integer { min, max } => integers(*min, *max),
        KeyFormat::Code(text) => Code::parse(text).capacity().unwrap_or(u128::MAX),
    }
}

/// A parsed code format. `#` is a digit. Inside braces, `A` is an upper-case letter, `x` a lower-case
/// hexadecimal digit, and `w` a word, different from the other words. All other characters stand for
/// themselves. A code that begins with a digit never begins with zero, so that parsing it as a number loses
/// nothing.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug)]
enum Part {
    Literal(char),
    Choice(&'static [u8]),
    Word,
}

const DIGITS: &[u8] = b"0123456789";
const NON_ZERO: &[u8] = b"123456789";
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const HEXADECIMAL: &[u8] = b"0123456789abcdef";

/// Words for codes that read like names.
static WORDS: LazyLock<Vec<&str>> =
    LazyLock::new(|| rows(include_str!("../data/key_words.txt")).flat_map(str::split_whitespace).collect());

/// Source of the choices in a code.
pub(crate) trait Choices {
    /// Returns a number below `n`, which is 1 to 64.
    fn below(&mut self, n: usize) -> usize;
}

impl Code {
    pub(crate) fn parse(format: &str) -> Self {
        let mut parts = Vec::with_capacity(format.len());
        let mut braces = false;
        for character in format.chars() {
            parts.push(match character {
                '{' => {
                    braces = true;
                    continue;
                }
                '}' => {
                    braces = false;
                    continue;
                }
                '#' if parts.is_empty() => Part::Choice(NON_ZERO),
                '#' => Part::Choice(DIGITS),
                'A' if braces => Part::Choice(LETTERS),
                'x' if braces => Part::Choice(HEXADECIMAL),
                'w' if braces => Part::Word,
                other => Part::Literal(other),
            });
        }
        Self { parts }
    }

    /// Returns the number of different codes, or `None` above 2^128.
    pub(crate) fn capacity(&self) -> Option<u128> {
        let mut words = 0;
        self.parts.iter().try_fold(1_u128, |product, part| match part {
            Part::Literal(_) => Some(product),
            Part::Choice(set) => product.checked_mul(set.len() as u128),
            Part::Word => {
                words += 1;
                product.checked_mul((WORDS.len() + 1).saturating_sub(words).max(1) as u128)
            }
        })
    }

    pub(crate) fn write(&self, choices: &mut impl Choices) -> String {
        let mut code = String::with_capacity(self.parts.len());
        // Positions of the words in the code so far, in order.
        let mut written: Vec<usize> = Vec::new();
        for part in &self.parts {
            match part {
                Part::Literal(character) => code.push(*character),
                Part::Choice(set) => {
                    code.push(set.get(choices.below(set.len())).map_or('0', |byte| char::from(*byte)));
                }
                Part::Word => {
                    let mut at = choices.below(WORDS.len().saturating_sub(written.len()).max(1));
                    for before in &written {
                        at += usize::from(*before <= at);
                    }
                    written.insert(written.partition_point(|before| *before < at), at);
                    code.push_str(WORDS.get(at).unwrap_or(&""));
                }
            }
        }
        code
    }
}

/// The digits of one number in the code's mixed radix.
struct DigitSource(u128);

impl Choices for Draw {
    fn below(&mut self, n: usize) -> usize {
        self.index(n)
    }
}

impl Choices for DigitSource {
    fn below(&mut self, n: usize) -> usize {
        let digit = self.0 % n as u128;
        self.0 /= n as u128;
        digit as usize
    }
}

/// Two bytes of hash output for each choice, for codes whose number exceeds 2^128.
struct Bytes(blake3::OutputReader);

impl Choices for Bytes {
    fn below(&mut self, n: usize) -> usize {
        let mut bytes = [0; 2];
        self.0.fill(&mut bytes);
        usize::from(u16::from_le_bytes(bytes)) % n
    }
}

fn integers(min: i64, max: i64) -> u128 {
    u128::from(min.abs_diff(max)) + 1
}

/// Returns the position among `places` for an attempt. It starts at a pseudo-random position, and its stride
/// is coprime to `places`. The attempts therefore visit each position once before any twice.
fn place(seed: u64, resource: &str, n: u64, attempt: u32, places: u128) -> u128 {
    let hash = digest(seed, resource, n, None).finalize();
    let [start, stride] = [0, 8].map(|at| {
        let mut word = [0; 8];
        word.copy_from_slice(&hash.as_bytes()[at..at + 8]);
        u128::from(u64::from_le_bytes(word))
    });
    let mut stride = stride % places;
    if attempt > 0 {
        while greatest_common_divisor(stride, places) != 1 {
            stride = (stride + 1) % places.max(2);
        }
    }
    // Both factors are at most 2^64, so neither the product nor the sum overflows.
    (start % places + u128::from(attempt) * stride) % places
}

const fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn digest(seed: u64, resource: &str, n: u64, attempt: Option<u32>) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"diorama key/1");
    hasher.update(&seed.to_le_bytes());
    hasher.update(&n.to_le_bytes());
    hasher.update(&attempt.map_or(u64::MAX, u64::from).to_le_bytes());
    hasher.update(resource.as_bytes());
    hasher
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn keys(format: &KeyFormat, count: u64) -> Vec<String> {
        let utc = crate::value::Zone::utc();
        (0..count).map(|n| key_for(format, 3, "shop.order", n, 0).to_text(&utc)).collect()
    }

    #[test]
    fn keys_are_of_their_format_and_stay_what_they_are() {
        // Recorded sessions replay only while these keys stay the same. A change here requires a new engine
        // version.
        let check = |format: KeyFormat, expect: &str| assert_eq!(keys(&format, 3).join(" "), expect);
        check(KeyFormat::Integer { min: 10_000, max: 9_999_999 }, "6899256 33296 8544950");
        check(KeyFormat::Code("APT-####".into()), "APT-6529 APT-6923 APT-0594");
        check(KeyFormat::Code("{AA#-xx}-x".into()), "UE7-60-x UU1-69-x EF6-71-x");
        check(
            KeyFormat::Code("{xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx}".into()),
            "6b3ecdae4cc4e8a8158440a8c57e870eaa85 bdf282b43bdceffe565085f5665f8b133dd8 25be9d821ca04e6de3da31f7e48026cfcbdf",
        );
        check(KeyFormat::Code("fixed".into()), "fixed fixed fixed");
    }

    #[test]
    fn a_code_of_words_says_none_twice() {
        let named = keys(&KeyFormat::Code("{w}-{w}-{w}".into()), 2_000);
        for key in &named {
            let words: BTreeSet<&str> = key.split('-').filter(|word| WORDS.contains(word)).collect();
            assert_eq!(words.len(), 3, "{key}");
        }
    }

    #[test]
    fn a_code_that_begins_with_a_digit_does_not_begin_with_zero() {
        assert!(keys(&KeyFormat::Code("####".into()), 500).iter().all(|key| !key.starts_with('0')));
    }

    #[test]
    fn attempts_reach_every_key_of_a_small_format() {
        for format in [
            KeyFormat::Integer { min: 1, max: 30 },
            KeyFormat::Integer { min: 5, max: 5 },
            KeyFormat::Code("R#".into()),
        ] {
            let places = capacity(&format) as u32;
            let reached: BTreeSet<Value> =
                (0..places).map(|attempt| key_for(&format, 1, "room", 9, attempt)).collect();
            assert_eq!(reached.len(), places as usize, "{format:?}");
        }
    }

    #[test]
    fn extreme_ranges_do_not_overflow() {
        for (min, max) in [(i64::MIN, i64::MAX), (i64::MAX, i64::MAX), (7, 3)] {
            for attempt in [0, 1, u32::MAX] {
                let key = key_for(&KeyFormat::Integer { min, max }, 1, "r", u64::MAX, attempt);
                let Value::Integer(key) = key else { unreachable!("integer formats give integers") };
                assert!((min.min(max)..=max.max(min)).contains(&key));
            }
        }
    }
}
