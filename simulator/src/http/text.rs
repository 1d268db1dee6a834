//! Percent-encoding, query strings and form bodies, read strictly: what is not UTF-8 is refused, not replaced.

use std::borrow::Cow;

use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use diorama_sessions::{Kind, Problem};
use form_urlencoded::Parse;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str};

/// The media type of JSON.
pub(super) const JSON: &str = "application/json";

/// Bytes of a line of text that refuses a request.
pub(super) const MAX_LINE_BYTES: usize = 4_096;

/// Characters that are not escaped in a segment of a path.
pub(super) const SEGMENT: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A text with its percent-encoded bytes decoded; none when they are not UTF-8. A `%` that begins no escape stands
/// for itself.
pub(super) fn decode(text: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(text).decode_utf8().ok()
}

/// The pairs of a query string or form body, in order; none when one is not UTF-8.
pub(super) fn pairs(text: &str) -> Option<Parse<'_>> {
    // Separators of names and values are ASCII, so the text is UTF-8 when each of them is.
    decode(text)?;
    Some(form_urlencoded::parse(text.as_bytes()))
}

/// The pairs of a request's query string.
///
/// # Errors
/// [`Kind::Malformed`] when one is not UTF-8.
pub(super) fn query_pairs(query: &str) -> Result<Parse<'_>, Problem> {
    let detail = "the query string: expected percent-encoded UTF-8, found other bytes";
    pairs(query).ok_or_else(|| Problem::new(Kind::Malformed, detail))
}

/// The problem of a body that is not JSON but of this kind.
pub(super) fn refuse_kind(found: &str) -> Problem {
    let detail = format!("the body: expected {JSON}, found {found}");
    Problem::new(Kind::UnsupportedMediaType, detail).with("expected", JSON)
}

/// The media type of a request's body, in lower case and without parameters.
pub(super) fn media_type(headers: &HeaderMap) -> Option<String> {
    let kind = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    Some(kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}

/// Returns true if a media type is JSON.
pub(super) fn is_json(kind: &str) -> bool {
    kind == JSON || kind.ends_with("+json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_and_stray_percent_signs_stay() {
        let check = |text: &str, expect: Option<&str>| assert_eq!(decode(text).as_deref(), expect);
        check("a%20b", Some("a b"));
        check("%c3%A9", Some("é"));
        check("100%", Some("100%"));
        check("%zz%4", Some("%zz%4"));
        check("%ff", None);
        check("é%", Some("é%"));
    }

    #[test]
    fn pairs_keep_order_repeats_and_plus_signs() {
        let check = |text: &str, expect: Option<&[(&str, &str)]>| {
            let found = pairs(text).map(|pairs| pairs.into_owned().collect::<Vec<_>>());
            let expect = expect.map(|pairs| {
                pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
            });
            assert_eq!(found, expect, "{text}");
        };
        check(
            "q=two+words&id=1&&id=2&flag&x=a%2Bb%3D",
            Some(&[("q", "two words"), ("id", "1"), ("id", "2"), ("flag", ""), ("x", "a+b=")]),
        );
        check("a=%ff", None);
        check("a=%C3&b=%A9", None);
    }
}
