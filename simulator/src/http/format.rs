//! Formats of strings in requests: `email`, `uuid`, `uri` and addresses are what they say.
//!
//! A world's own calls take any text where a format only describes it; a request is held to the served document.

use diorama_seeds::model::Api;
use diorama_seeds::schema::{Schema, Type};
use serde_json::{Map, Value as Json};

use super::problem::Problem;

/// Refuses arguments that are not of their declared format.
pub(super) fn check(api: &Api, arguments: &Map<String, Json>) -> Result<(), Problem> {
    for parameter in &api.parameters {
        let Some(value) = arguments.get(&*parameter.name) else { continue };
        if let Some((at, format)) = wrong(&parameter.schema, value, String::new()) {
            let name = &*parameter.name;
            let expected = format!("a string of the format {format}");
            return Err(Problem::new(400, format!("`{name}{at}`: expected {expected}, found another text"))
                .with("parameter", name)
                .with("expected", expected));
        }
    }
    Ok(())
}

/// Where a value is not of its format, and which.
fn wrong<'s>(schema: &'s Schema, value: &Json, at: String) -> Option<(String, &'s str)> {
    match (&schema.kind, value) {
        (Type::String, Json::String(text)) => {
            let format = schema.format.as_deref()?;
            (!fits(format, text)).then_some((at, format))
        }
        (Type::List(item), Json::Array(items)) => {
            items.iter().enumerate().find_map(|(place, value)| wrong(item, value, format!("{at}[{place}]")))
        }
        (Type::Object(fields), Json::Object(members)) => fields.iter().find_map(|field| {
            wrong(&field.schema, members.get(&*field.name)?, format!("{at}.{}", field.name))
        }),
        _ => None,
    }
}

/// Whether a text is of a format; formats that are not known take any.
fn fits(format: &str, text: &str) -> bool {
    match format {
        "email" => text.rsplit_once('@').is_some_and(|(local, domain)| is_local(local) && is_host(domain)),
        "uuid" => {
            let groups: Vec<&str> = text.split('-').collect();
            let lengths = groups.iter().map(|group| group.len());
            lengths.eq([8, 4, 4, 4, 12]) && groups.concat().bytes().all(|byte| byte.is_ascii_hexdigit())
        }
        "uri" | "url" => {
            text.parse::<axum::http::Uri>().is_ok_and(|uri| uri.scheme().is_some()) || is_opaque(text)
        }
        "hostname" => is_host(text),
        "ipv4" => text.parse::<std::net::Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<std::net::Ipv6Addr>().is_ok(),
        _ => true,
    }
}

/// What stands before the `@` (RFC 5321, without quotes).
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

/// A URI without an authority: `mailto:ada@example.org`, `urn:isbn:1`.
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
        check("anything", &[""], &[]);
    }
}
