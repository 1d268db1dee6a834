//! The key fields of records, and what their values look like.

use diorama_seeds::contract::{Schemas, Side};
use diorama_seeds::doc::{FieldDoc, TypeName};
use diorama_seeds::materialise::{provider_of_field, provider_of_name};
use serde_json::{Value as Json, json};

use crate::fakes::{self, Span};
use crate::ground::places::Collection;
use crate::shape::{Kind, Shape};
use crate::words::{is_id, label, words};

pub(super) fn key_field(found: &Collection) -> FieldDoc {
    let named = Some(label(&found.key));
    if found.key_shape.kind == Kind::Integer && !found.single && found.uses.is_none() {
        return FieldDoc { kind: Some(TypeName::Integer), label: named, ..FieldDoc::default() };
    }
    let code = match found.key_shape.format.as_deref() {
        Some("snowflake") => Some("1#################".to_owned()),
        _ => found.key_shape.pattern.as_deref().and_then(code_of),
    };
    // A key that is a name of its own kind is made as such names are.
    let by_name = Some(found.key.as_str())
        .filter(|key| !is_id(key) && found.key_shape.format.is_none() && found.key_shape.samples.is_empty())
        .and_then(|key| {
            let of_noun = Some(provider_of_name(&found.noun_words())).filter(|_| key == "name");
            provider_of_field(key, false).into_iter().chain(of_noun).find(|made| WRITTEN.contains(made))
        });
    let fake = match (code, by_name) {
        (Some(code), _) => json!({"provider": "code", "format": code}),
        (None, Some(made)) => json!(made),
        (None, None) => made_code(found),
    };
    let fake = of_length(&found.key_shape).filter(|_| found.key_shape.pattern.is_none()).unwrap_or(fake);
    FieldDoc { kind: Some(TypeName::String), label: named, fake: Some(fake), ..FieldDoc::default() }
}

/// How keys that are text are written where nothing says more.
fn made_code(found: &Collection) -> Json {
    let code = |form: &str| json!({"provider": "code", "format": form});
    let says_number = |text: &str| words(text).iter().any(|word| word == "number");
    if says_number(&found.key) || found.key_shape.description.as_deref().is_some_and(says_number) {
        return code("#####");
    }
    let last = words(&found.key).pop().unwrap_or_default();
    let is_free = found.key_shape.format.is_none();
    if is_free && ["code", "token", "key", "hash"].contains(&last.as_str()) {
        return code("{A}{xx}#{A}#{xx}{A}#");
    }
    if is_free && !is_id(&found.key) {
        // A login or a slug is made of words.
        return code(&format!("{}-####", label(&found.name).to_lowercase().replace(' ', "-")));
    }
    let plain = Shape { kind: Kind::String, nullable: false, pattern: None, ..found.key_shape.clone() };
    match fakes::field("id", &plain, Span::USUAL, 0).fake {
        Some(fake) if fake.get("provider") == Some(&json!("code")) => fake,
        Some(fake) if fake == json!("uuid") => code("{xxxxxxxx}-{xxxx}-4{xxx}-a{xxx}-{xxxxxxxxxxxx}"),
        _ => {
            let prefix: String = found.name.chars().filter(char::is_ascii_alphabetic).take(3).collect();
            code(&format!("{}-######", prefix.to_lowercase()))
        }
    }
}

/// A code for keys that are longer or shorter than usual.
fn of_length(shape: &Shape) -> Option<Json> {
    let (least, most) = (shape.min_length.unwrap_or(0), shape.max_length.unwrap_or(u32::MAX));
    let code = match (least, most) {
        (..=10, 14..) => return None,
        (least, most) if (least..=most).contains(&36) && least > 10 => {
            "{xxxxxxxx}-{xxxx}-4{xxx}-8{xxx}-{xxxxxxxxxxxx}".to_owned()
        }
        (least, most) => format!("a{{{}}}", "x".repeat(least.max(8).min(most).clamp(2, 200) as usize - 1)),
    };
    Some(json!({"provider": "code", "format": code}))
}

/// Providers of names that are written without blanks.
const WRITTEN: [&str; 5] = ["username", "domain_name", "repository_name", "server_name", "slug"];

/// A pattern as a code: as it is written, or by a text that matches it, in which digits may change.
fn code_of(pattern: &str) -> Option<String> {
    if let Some(code) = fakes::pattern_code(pattern) {
        return Some(code).filter(|code| code.matches(['#', 'A', 'x']).count() >= 3);
    }
    let schema = json!({"type": "string", "pattern": pattern});
    let fits = |text: &str| Schemas::default().check(&schema, &json!(text), Side::Reply).is_ok();
    // Numbers as text, with any or with many digits, and as many digits or letters as the pattern counts.
    let uuid = "{xxxxxxxx}-{xxxx}-4{xxx}-8{xxx}-{xxxxxxxxxxxx}";
    let some = ["a{xxxxxxx}", "1#################", "########", "1#######", "{xxxxxxxx}", "{AAAAAA}", uuid];
    let some = some.map(str::to_owned);
    let counts = pattern.split(['{', '}', ',']).filter_map(|count| count.parse::<usize>().ok());
    let counted = counts.filter(|count| (4..=64).contains(count)).flat_map(|count| {
        ["#".repeat(count), format!("{{{}}}", "x".repeat(count)), format!("{{{}}}", "A".repeat(count))]
    });
    some.into_iter().chain(counted).find(|code| {
        let with = |digit: char, letter: char| -> String {
            let spelt = code.replace('#', &digit.to_string()).replace(['{', '}'], "");
            spelt.replace(['x', 'A'], &letter.to_string())
        };
        let upper = code.contains('A');
        let (low, high) = if upper { ('B', 'Y') } else { ('0', 'f') };
        fits(&with('0', low)) && fits(&with('9', high))
    })
}
