//! The skeleton of a row: the sequence of APIs that its reference calls, searches for tools left out.
//!
//! Rows with the same skeleton differ in values and words only. Skeletons are compared by their hashes, so that parts of a
//! dataset can be joined without reading rows.

use serde::Deserialize;

use crate::row::Dialogue;

/// Hexadecimal digits of a hash: 64 bits, so that two of a million skeletons are confused once in 37 million datasets.
const HASH_DIGITS: usize = 16;

#[derive(Deserialize)]
struct Call {
    api: String,
    /// The API's name before the world's variant renamed it, `domain.Api`, where rows say it.
    #[serde(default)]
    source_api: Option<String>,
}

/// The hash of a row's skeleton.
#[must_use]
pub fn skeleton(row: &Dialogue) -> String {
    // A row that is written or read has calls that are JSON; others are counted as rows without calls.
    let calls: Vec<Call> = serde_json::from_str(&row.gold_calls).unwrap_or_default();
    let mut hasher = blake3::Hasher::new();
    for call in calls.iter().filter(|call| call.api != "ToolSearcher") {
        hasher.update(call.source_api.as_ref().unwrap_or(&call.api).as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex().chars().take(HASH_DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::skeleton;
    use crate::row::Split;
    use crate::rows::samples::sample;

    #[test]
    fn a_skeleton_is_the_sequence_of_apis_without_searches() {
        let with = |calls: &str| {
            let mut row = sample(1, Split::Train);
            row.gold_calls = calls.to_owned();
            skeleton(&row)
        };
        let two = with(r#"[{"api":"GetBook","arguments":{"id":1}},{"api":"HoldBook"}]"#);
        assert_eq!(two, with(r#"[{"api":"ToolSearcher"},{"api":"GetBook"},{"api":"HoldBook"}]"#));
        assert_eq!(two, with(r#"[{"api":"Fetch","source_api":"GetBook"},{"api":"HoldBook"}]"#));
        assert_ne!(two, with(r#"[{"api":"HoldBook"},{"api":"GetBook"}]"#));
        assert_ne!(two, with("[]"));
        assert_eq!(two.len(), 16);
    }
}
