//! Unicode normalisation of strings.

use std::sync::Arc;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Returns the string in Unicode normal form C.
pub fn nfc(text: &str) -> Arc<str> {
    if is_nfc_quick(text.chars()) == IsNormalized::Yes {
        Arc::from(text)
    } else {
        text.nfc().collect::<String>().into()
    }
}
