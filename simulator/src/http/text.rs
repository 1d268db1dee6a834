//! Percent-encoding, query strings and form bodies, read as their standards say.

/// A text with its percent-encoded bytes decoded; none when they are not UTF-8. A `%` that begins no escape stands
/// for itself.
pub(super) fn decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let digit = |offset: usize| bytes.get(at + offset).and_then(|byte| (*byte as char).to_digit(16));
        match (byte, digit(1), digit(2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).ok()
}

/// A text of a request as messages show it: in backquotes, and not longer than so many characters.
pub(super) fn quoted(text: &str, most: usize) -> String {
    format!("`{}`", text.chars().take(most).collect::<String>())
}

/// The pairs of a query string or form body, in order; none when one is not UTF-8.
pub(super) fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let parts = text.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            Some((decode(&name.replace('+', " "))?, decode(&value.replace('+', " "))?))
        })
        .collect()
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
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            pairs("q=two+words&id=1&&id=2&flag&x=a%2Bb%3D"),
            Some(vec![
                pair("q", "two words"),
                pair("id", "1"),
                pair("id", "2"),
                pair("flag", ""),
                pair("x", "a+b=")
            ])
        );
        assert_eq!(pairs("a=%ff"), None);
    }
}
