//! Owns the strict parsers of percent-encoding, query strings and form bodies. They refuse bytes that are not
//! UTF-8 instead of replacing them.

use std::borrow::Cow;

use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use diorama_sessions::{Kind, Problem};
use form_urlencoded::Parse;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str};

/// Media type of JSON.
pub(super) const JSON: &str = "application/json";

/// Maximum length of a line of text that refuses a request, in bytes.
pub(super) const MAX_LINE_BYTES: usize = 4_096;

/// Characters that need no escape in a segment of a path.
pub(super) const SEGMENT: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Decodes the percent-encoded bytes of a text, or returns none if they are not UTF-8. A `%` that begins no
/// escape stays.
pub(super) fn decode(text: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(text).decode_utf8().ok()
}

/// Returns the pairs of a query string or form body, in order, or none if one is not UTF-8.
pub(super) fn pairs(text: &str) -> Option<Parse<'_>> {
    // Separators are ASCII, so that the text is UTF-8 exactly if each name and value is.
    decode(text)?;
    Some(form_urlencoded::parse(text.as_bytes()))
}

/// Returns the pairs of a request's query string.
///
/// # Errors
/// Returns [`Kind::Malformed`] if one is not UTF-8.
pub(super) fn query_pairs(query: &str) -> Result<Parse<'_>, Problem> {
    let detail = "the query string: expected percent-encoded UTF-8, found other bytes";
    pairs(query).ok_or_else(|| Problem::new(Kind::Malformed, detail))
}

/// Returns the problem of a body with another media type than JSON.
pub(super) fn refuse_kind(found: &str) -> Problem {
    let detail = format!("the body: expected {JSON}, found {found}");
    Problem::new(Kind::UnsupportedMediaType, detail).with("expected", JSON)
}

/// Returns the media type of a request's body, in lower case and without parameters.
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
