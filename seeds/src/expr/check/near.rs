//! Owns the suggestions for unknown names.

use crate::english::near;

/// Returns `did you mean a, b?`, or lists all names if none is near and they are few.
pub(super) fn suggest(wrong: &str, mut known: Vec<&str>) -> String {
    known.sort_unstable();
    known.dedup();
    let meant = near(wrong, known.iter().copied());
    if !meant.is_empty() {
        return format!("did you mean {}?", meant.join(", "));
    }
    match known.len() {
        0 => "there are none here".to_owned(),
        1..=12 => format!("expected one of {}", known.join(", ")),
        more => format!("expected one of {}, and {} more", known[..12].join(", "), more - 12),
    }
}
