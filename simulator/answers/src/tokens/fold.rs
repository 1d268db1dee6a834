//! Words without case, accents and endings, as hashes.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::lexicon::{HASH_START, hash_byte};

/// The folded letters of a word; hashes only what is pushed.
#[derive(Default)]
pub(crate) struct Fold {
    letters: [u8; 32],
    length: usize,
    /// Hash over all letters, however many.
    hash: Option<u64>,
}

impl Fold {
    pub(crate) fn push(&mut self, byte: u8) {
        if let Some(slot) = self.letters.get_mut(self.length) {
            *slot = byte;
        }
        self.length += 1;
        self.hash = Some(hash_byte(self.hash.unwrap_or(HASH_START), byte));
    }

    pub(crate) fn char(&mut self, c: char) {
        let plain = match c {
            'ß' => "ss",
            'ø' | 'Ø' => "o",
            'æ' | 'Æ' => "ae",
            'œ' | 'Œ' => "oe",
            'ł' | 'Ł' => "l",
            'đ' | 'Đ' | 'ð' | 'Ð' => "d",
            'ı' => "i",
            'þ' | 'Þ' => "th",
            _ => "",
        };
        if !plain.is_empty() {
            plain.bytes().for_each(|byte| self.push(byte));
            return;
        }
        for part in
            c.to_lowercase().flat_map(|c| std::iter::once(c).nfd()).filter(|part| !is_combining_mark(*part))
        {
            let mut buffer = [0; 4];
            part.encode_utf8(&mut buffer).bytes().for_each(|byte| self.push(byte));
        }
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash.unwrap_or(HASH_START)
    }

    /// The hash without endings, so that `closes` and `closing`, `price` and `prices` meet.
    pub(crate) fn stem(&self) -> u64 {
        let Some(word) = self.letters.get(..self.length).filter(|word| word.len() > 3) else {
            return self.hash();
        };
        let singular = match word {
            [start @ .., b'i', b'e', b's'] => return over(start, Some(b'y')),
            [.., b's' | b'u' | b'i', b's'] => word,
            [start @ .., b'e', b's']
                if matches!(start, [.., b'x' | b'z' | b's'] | [.., b'c' | b's', b'h']) =>
            {
                start
            }
            [start @ .., b's'] => start,
            _ => word,
        };
        let vowel = |letters: &[u8]| letters.len() > 2 && letters.iter().any(|byte| b"aeiouy".contains(byte));
        match singular {
            [start @ .., b'i', b'n', b'g'] | [start @ .., b'e', b'd'] if vowel(start) => match start {
                // `booked`, but `stopped`: the doubled letter goes.
                [.., a, b] if a == b && !b"ls".contains(a) => over(&start[..start.len() - 1], None),
                _ => over(start, None),
            },
            [start @ .., b'e'] if vowel(start) => over(start, None),
            _ => over(singular, None),
        }
    }
}

pub(crate) fn over(letters: &[u8], last: Option<u8>) -> u64 {
    letters.iter().copied().chain(last).fold(HASH_START, hash_byte)
}
