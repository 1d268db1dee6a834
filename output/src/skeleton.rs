//! Skeletons: the sequence of APIs in a row's reference calls, without tool searches.
//!
//! Rows with the same skeleton differ only in values and wording. Skeletons are compared by hash, so parts of
//! a dataset can be merged without reading rows.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::row::Dialogue;

/// Hexadecimal digits of a hash: 64 bits. A collision among a million skeletons occurs once in 37 million
/// datasets.
const HASH_DIGITS: usize = 16;

#[derive(Deserialize)]
struct Call {
    api: String,
    /// The API's name before the world's variant renamed it (`domain.Api`), if the row has it.
    #[serde(default)]
    source_api: Option<String>,
}

/// Returns the hash of a row's skeleton.
pub fn skeleton(row: &Dialogue) -> String {
    // Valid rows have JSON calls. Others count as rows without calls.
    let calls: Vec<Call> = serde_json::from_str(&row.gold_calls).unwrap_or_default();
    let mut hasher = blake3::Hasher::new();
    for call in calls.iter().filter(|call| call.api != "ToolSearcher") {
        hasher.update(call.source_api.as_ref().unwrap_or(&call.api).as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex().chars().take(HASH_DIGITS).collect()
}

/// Returns the sources (`domain.Api`) of the APIs that a row's reference calls, each once. Two domains may
/// have an API with the same name.
pub fn sources_called(row: &Dialogue) -> BTreeSet<String> {
    let calls: Vec<Call> = serde_json::from_str(&row.gold_calls).unwrap_or_default();
    let source = |call: Call| match (call.source_api, row.domains.as_slice()) {
        (Some(source), _) if source.contains('.') => source,
        (_, [domain]) => format!("{domain}.{}", call.api),
        _ => call.api,
    };
    calls.into_iter().filter(|call| call.api != "ToolSearcher").map(source).collect()
}

#[cfg(test)]
mod tests {
    use super::{skeleton, sources_called};
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

    #[test]
    fn an_api_of_one_domain_is_told_from_its_namesake_in_another() {
        let with = |domains: &[&str], calls: &str| {
            let mut row = sample(1, Split::Train);
            row.domains = domains.iter().map(|domain| (*domain).to_owned()).collect();
            row.gold_calls = calls.to_owned();
            sources_called(&row).into_iter().collect::<Vec<_>>().join(" ")
        };
        let both = r#"[{"api":"ToolSearcher"},{"api":"InnListRooms","source_api":"inn.ListRooms"},
            {"api":"SpaListRooms","source_api":"spa.ListRooms"},{"api":"SpaListRooms","source_api":"spa.ListRooms"}]"#;
        assert_eq!(with(&["inn", "spa"], both), "inn.ListRooms spa.ListRooms");
        assert_eq!(with(&["inn"], r#"[{"api":"ListRooms"}]"#), "inn.ListRooms");
    }
}
