//! Owns the formats of strings: `email`, `uuid`, `uri`, addresses, dates and times.

use jiff::{Timestamp, civil};

/// Names of the format of RFC 2822: `Tue, 17 Feb 2026 08:00:45 +0000`.
const MAIL_DATES: [&str; 4] = ["date-time-rfc-2822", "date-time-rfc2822", "rfc-2822", "rfc2822"];

/// Returns true if a format writes timestamps as RFC 2822 does.
pub fn is_mail_date(format: &str) -> bool {
    MAIL_DATES.contains(&format)
}

/// Returns a Unix time in seconds as RFC 2822 writes it, in UTC.
pub(super) fn mail_date(seconds: i64) -> Option<String> {
    let at = Timestamp::from_second(seconds).ok()?.to_zoned(jiff::tz::TimeZone::UTC);
    jiff::fmt::rfc2822::to_string(&at).ok()
}

/// Returns true if a text has the format. Unknown formats accept any text.
pub fn fits(format: &str, text: &str) -> bool {
    match format {
        "email" => text.rsplit_once('@').is_some_and(|(local, domain)| is_local(local) && is_host(domain)),
        "uuid" => {
            let groups: Vec<&str> = text.split('-').collect();
            let lengths = groups.iter().map(|group| group.len());
            lengths.eq([8, 4, 4, 4, 12]) && groups.concat().bytes().all(|byte| byte.is_ascii_hexdigit())
        }
        "uri" | "url" => text.parse::<http::Uri>().is_ok_and(|uri| uri.scheme().is_some()) || is_opaque(text),
        "hostname" => is_host(text),
        "ipv4" => text.parse::<std::net::Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<std::net::Ipv6Addr>().is_ok(),
        "date" => text.len() == 10 && text.parse::<civil::Date>().is_ok(),
        "date-time" => {
            // RFC 3339: a date, `T` or a space, a time and its offset.
            text.get(10..11).is_some_and(|between| "Tt ".contains(between))
                && text.parse::<Timestamp>().is_ok()
        }
        format if is_mail_date(format) => jiff::fmt::rfc2822::parse(text).is_ok(),
        _ => true,
    }
}

/// Returns true if a text is the local part of an e-mail address, before the `@` (RFC 5321, without quotes).
fn is_local(text: &str) -> bool {
    let atom = |part: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
        !part.is_empty() && part.bytes().all(plain)
    };
    text.len() <= 64 && text.split('.').all(atom)
}

fn is_host(text: &str) -> bool {
    let label = |part: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !part.is_empty()
            && part.len() <= 63
            && part.bytes().all(plain)
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(label)
}

/// Returns true if a text is a URI without an authority: `mailto:ada@example.org`, `urn:isbn:1`.
fn is_opaque(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let named = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    named
        && !rest.is_empty()
        && rest.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"{}|\\^`".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_of_their_format() {
        let check = |format: &str, good: &[&str], bad: &[&str]| {
            good.iter().for_each(|text| assert!(fits(format, text), "{format}: {text}"));
            bad.iter().for_each(|text| assert!(!fits(format, text), "{format}: {text}"));
        };
        check(
            "email",
            &["ada@example.org", "a.b+c@x-y.example"],
            &["", "ada", "@x", "a@", "a..b@x", "a@-x", "ä@x"],
        );
        check(
            "uuid",
            &["00000000-0000-4000-8000-00000000000a"],
            &["", "00000000-0000-4000-8000-00000000000", "x"],
        );
        check(
            "uri",
            &["https://example.org/a?b=c", "mailto:a@example.org"],
            &["", "a b", "/a", "http://a b"],
        );
        check("ipv4", &["10.0.0.1"], &["10.0.0", ""]);
        check("date", &["2026-11-23"], &["", "2026-11-31", "20261123", "2026-11-23T10:00:00Z"]);
        check(
            "date-time",
            &["2026-11-23T10:00:00Z", "2026-11-23T10:00:00.5+01:00"],
            &["", "2026-11-23", "2026-11-23T10:00:00", "2026-11-23T25:00:00Z"],
        );
        check("rfc2822", &["Tue, 17 Feb 2026 08:00:45 +0000"], &["", "2026-02-17T08:00:45Z"]);
        assert_eq!(mail_date(1_771_315_245).as_deref(), Some("Tue, 17 Feb 2026 08:00:45 +0000"));
        check("anything", &[""], &[]);
    }
}
