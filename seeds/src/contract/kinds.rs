//! Owns the classification of media types.

/// Returns true if a declared media type is JSON. `*/*` counts as JSON.
pub fn is_json_kind(kind: &str) -> bool {
    (kind.contains("json") && !is_lines_kind(kind)) || kind == "*/*"
}

/// Returns true if a media type is JSON Lines, with one value in each line.
pub fn is_lines_kind(kind: &str) -> bool {
    ["jsonl", "ndjson"].iter().any(|lines| kind.contains(lines))
}
