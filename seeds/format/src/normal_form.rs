//! Strings in one Unicode form.

use std::sync::Arc;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The text in Unicode's normal form C.
pub fn nfc(text: &str) -> Arc<str> {
    if is_nfc_quick(text.chars()) == IsNormalized::Yes {
        Arc::from(text)
    } else {
        text.nfc().collect::<String>().into()
    }
}
