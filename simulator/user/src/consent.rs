//! Recognises the lines by which a user agrees to an offer.

use super::phrases::CONSENTS;
use super::vocabulary::{AGREEMENTS, CORRECTIONS, is_common};
use super::words::words;

/// The greatest number of words of a line such as `please do`.
const MAX_CONSENT_WORDS: usize = 3;

/// Returns true if a line agrees, without a correction or a choice.
#[must_use]
pub fn is_consent(line: &str) -> bool {
    let words = words(line);
    let Some(first) = words.first() else { return false };
    if words.iter().any(|word| word.is_one_of(&CORRECTIONS)) || first.is_one_of(&["no", "not"]) {
        return false;
    }
    let begins = first.is_one_of(&CONSENTS) && (first.text != "please" || words.len() <= MAX_CONSENT_WORDS);
    begins
        || words.iter().any(|word| word.is_one_of(&AGREEMENTS))
        || words.iter().all(|word| is_common(&word.text))
}
