//! Server-sent events, as ORS clients read them: by lines, each value without the white space at its start.

use axum::body::Body;
use axum::http::Response;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};

/// Bytes of a chunk, about: clients read lines of bounded length.
const CHUNK_BYTES: usize = 4_096;

/// A response of these events, whose data have no line ends.
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

/// A response of a call's result: the name that it can be asked for by, and the result in chunks.
pub(super) fn result_events(task_id: &str, result: &str) -> Response<Body> {
    let chunks = chunks(result);
    let (last, first) = chunks.split_last().map_or(("", &[][..]), |(last, first)| (*last, first));
    let mut all = vec![("task_id", task_id)];
    all.extend(first.iter().map(|chunk| ("chunk", *chunk)));
    all.push(("end", last));
    events(&all)
}

/// A text in parts of some 4,096 bytes. None begins with white space, which a reader would take off.
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
