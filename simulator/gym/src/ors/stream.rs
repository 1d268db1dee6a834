//! Server-sent events for ORS clients, which read them line by line and strip white space at the start of
//! each value.

use axum::body::Body;
use axum::http::Response;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};

/// Approximate bytes of a chunk. Clients limit the length of a line.
const CHUNK_BYTES: usize = 4_096;

/// Returns a response with these events. Their data must not contain line ends.
pub(super) fn events(events: &[(&str, &str)]) -> Response<Body> {
    let mut text = String::new();
    for (event, data) in events {
        text.extend(["event: ", event, "\ndata: ", data, "\n\n"]);
    }
    let mut response = Response::new(Body::from(text));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// Returns a response with a call's result in chunks, and the id by which a client can ask for it again.
pub(super) fn result_events(task_id: &str, result: &str) -> Response<Body> {
    let chunks = chunks(result);
    let (last, first) = chunks.split_last().map_or(("", &[][..]), |(last, first)| (*last, first));
    let mut all = vec![("task_id", task_id)];
    all.extend(first.iter().map(|chunk| ("chunk", *chunk)));
    all.push(("end", last));
    events(&all)
}

/// Splits a text into parts of some 4,096 bytes. No later part begins with white space, because clients would
/// strip it.
fn chunks(text: &str) -> Vec<&str> {
    let mut chunks = Vec::with_capacity(text.len() / CHUNK_BYTES + 1);
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().find(|(place, char)| *place >= CHUNK_BYTES && !char.is_whitespace());
        let (chunk, more) = rest.split_at(end.map_or(rest.len(), |(place, _)| place));
        chunks.push(chunk);
        rest = more;
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_join_to_the_text_and_begin_with_no_white_space() {
        let check = |text: &str, count: usize| {
            let chunks = chunks(text);
            assert_eq!((chunks.concat(), chunks.len()), (text.to_owned(), count));
            assert!(chunks.iter().all(|chunk| !chunk.starts_with(char::is_whitespace)));
        };
        check("", 0);
        check("{\"ok\":true}", 1);
        check(&"é".repeat(4_096), 2);
        check(&format!("{}{}x", "a".repeat(4_090), " ".repeat(5_000)), 2);
        check(&format!("{}\u{a0}\u{2003}b", "a".repeat(4_096)), 2);
    }
}
