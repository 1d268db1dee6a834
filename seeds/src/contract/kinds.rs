//! Media types that documents declare.

/// Returns true if a media type that a document declares is JSON; `*/*` is.
pub fn is_json_kind(kind: &str) -> bool {
    (kind.contains("json") && !is_lines_kind(kind)) || kind == "*/*"
}

/// Returns true if a media type is lines of JSON, each of them a value.
pub fn is_lines_kind(kind: &str) -> bool {
    ["jsonl", "ndjson"].iter().any(|lines| kind.contains(lines))
}
