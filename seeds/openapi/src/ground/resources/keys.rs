//! Makes the key fields of records, and the form of their values.

use diorama_seeds::contract::{KEYS, Schemas, Side, key_name, noun, plain};
use diorama_seeds::doc::{FieldDoc, ResourceDoc, TypeName};
use diorama_seeds::materialise::{provider_of_field, provider_of_name};
use diorama_seeds::pattern::matching_text;
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use crate::fakes::{self, Span};
use crate::ground::places::{Collection, Places};
use crate::nouns;
use crate::shape::{Kind, Shape};
use crate::words::{identifier, is_id, label, words};

/// A smaller range of integer keys is ignored, because the records of all owners share one range.
const LEAST_KEYS: i64 = 200;

pub(super) fn key_field(found: &Collection) -> FieldDoc {
    let named = Some(label(&found.key));
    if found.key_shape.kind == Kind::Integer && !found.single && found.uses.is_none() {
        if let Some(first) = find_first_number(found) {
            let fake = Some(json!({"provider": "position", "start": first}));
            return FieldDoc { kind: Some(TypeName::Integer), label: named, fake, ..FieldDoc::default() };
        }
        let bound = |limit: &Option<Json>| limit.clone().filter(Json::is_i64);
        let mut limits = (bound(&found.key_shape.min), bound(&found.key_shape.max));
        let number = |limit: &Option<Json>| limit.as_ref().and_then(Json::as_i64);
        let range = number(&limits.0).unwrap_or(1).saturating_add(LEAST_KEYS);
        if number(&limits.1).is_some_and(|max| max < range) {
            limits = (None, None);
        }
        let (min, max) = limits;
        return FieldDoc { kind: Some(TypeName::Integer), label: named, min, max, ..FieldDoc::default() };
    }
    let code = match found.key_shape.format.as_deref() {
        Some("snowflake") => Some("1#################".to_owned()),
        _ if is_name(found) => Some(NAMES.to_owned()),
        _ => found.key_shape.pattern.as_deref().and_then(code_of),
    };
    // A key that is a kind of name is generated as such names are.
    let by_name = Some(found.key.as_str())
        .filter(|key| !is_id(key) && found.key_shape.format.is_none() && found.key_shape.samples.is_empty())
        .and_then(|key| {
            let of_noun = Some(provider_of_name(&found.noun_words())).filter(|_| key == "name");
            provider_of_field(key, false).into_iter().chain(of_noun).find(|made| WRITTEN.contains(made))
        });
    let fake = match (code, by_name) {
        (Some(code), _) => json!({"provider": "code", "format": code}),
        (None, Some("email")) => json!({"provider": "code", "format": "{w}.{w}@example.com"}),
        (None, Some("domain_name")) => json!({"provider": "code", "format": format!("{NAMES}.example.com")}),
        (None, Some(_)) => json!({"provider": "code", "format": NAMES}),
        (None, None) => made_code(found),
    };
    let is_named =
        fake.get("format").is_some_and(|format| format == NAMES) && is_long_enough(&found.key_shape);
    let fake = of_length(&found.key_shape)
        .filter(|_| found.key_shape.pattern.is_none() && !is_named)
        .unwrap_or(fake);
    FieldDoc { kind: Some(TypeName::String), label: named, fake: Some(fake), ..FieldDoc::default() }
}

/// Adds the field by which paths name a record within its parent. A name that callers choose is taken once.
pub(super) fn add_number(found: &Collection, doc: &mut ResourceDoc) {
    let Some(number) = &found.number else { return };
    doc.fields.insert(number.clone(), number_field(number, found.made));
    if found.made {
        let above = found.above.iter().map(|above| above.field.clone());
        doc.unique_together.push(above.chain([number.clone()]).collect());
    }
}

/// Returns the field with the number of a record within its parent, or with the name that callers choose.
fn number_field(name: &str, is_chosen: bool) -> FieldDoc {
    if is_chosen {
        let of = json!({"provider": "code", "format": NAMES});
        let fake = Some(json!({"provider": "chance", "share": 1.0, "of": of}));
        let (kind, label) = (Some(TypeName::String), Some(label(name)));
        return FieldDoc { kind, label, fake, optional: true, ..FieldDoc::default() };
    }
    let fake = Some(json!({"provider": "position", "start": 1}));
    FieldDoc { kind: Some(TypeName::Integer), fake, ..FieldDoc::default() }
}

/// Returns the first of the consecutive numbers that a document enumerates as keys: 1 of `enum: [1, 2, 3]`.
pub(super) fn find_first_number(found: &Collection) -> Option<i64> {
    let mut numbers = found.counted.iter().map(Json::as_i64);
    let first = numbers.next()??;
    let is_counted = (first + 1..).zip(numbers).all(|(next, number)| number == Some(next));
    (is_counted && found.above.is_empty()).then_some(first)
}

/// The form of names that callers choose: `amber-canyon`.
const NAMES: &str = "{w}-{w}";
/// The lengths of the shortest and the longest such name, in characters.
const NAME_CHARS: (u32, u32) = (9, 15);

/// Returns true if callers choose the key as a name, and its form allows words.
fn is_name(found: &Collection) -> bool {
    let shape = &found.key_shape;
    let is_called = words(&found.key).last().is_some_and(|last| last == "name");
    let fits = |pattern: &String| {
        let schema = json!({"type": "string", "pattern": pattern});
        ["amber-atlas", "juniper-kestrel"]
            .iter()
            .all(|name| Schemas::default().check(&schema, &json!(name), Side::Reply).is_ok())
    };
    is_called
        && shape.format.is_none()
        && shape.samples.is_empty()
        && provider_of_field(&found.key, true).is_none()
        && is_long_enough(shape)
        && shape.pattern.as_ref().is_none_or(fits)
}

/// Returns true if a key may be as short and as long as names are.
fn is_long_enough(shape: &Shape) -> bool {
    shape.min_length.unwrap_or(0) <= NAME_CHARS.0 && shape.max_length.unwrap_or(u32::MAX) >= NAME_CHARS.1
}

/// Returns a provider of string keys where the schema gives no form.
fn made_code(found: &Collection) -> Json {
    let code = |form: &str| json!({"provider": "code", "format": form});
    let says_number = |text: &str| words(text).iter().any(|word| word == "number");
    if says_number(&found.key) || found.key_shape.description.as_deref().is_some_and(says_number) {
        return code("#####");
    }
    let last = words(&found.key).pop().unwrap_or_default();
    let is_free = found.key_shape.format.is_none();
    let is_code = ["code", "token", "key", "arn"].contains(&last.as_str()) || last.ends_with("hash");
    if is_free && is_code {
        return code("{A}{xx}#{A}#{xx}{A}#");
    }
    if is_free && nouns::is("references", &last) {
        return code("{AA}####");
    }
    if is_free && ["version", "revision"].contains(&last.as_str()) {
        return code("#.##");
    }
    // `txid` is an id, too.
    let ends_as_id = key_name(&found.key).is_some_and(|(_, ending)| KEYS.contains(&ending));
    let is_called = nouns::is("called", &last) || noun(&found.key) == found.noun;
    if is_free && !is_id(&found.key) && !ends_as_id && is_called {
        // A login or a slug is made of words.
        return code(NAMES);
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

/// Returns a code for keys whose length limits exclude the usual codes.
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
const WRITTEN: [&str; 6] = ["username", "email", "domain_name", "repository_name", "server_name", "slug"];

/// Converts a pattern into a code: directly, or from a matching string whose digits vary.
fn code_of(pattern: &str) -> Option<String> {
    let short = fakes::pattern_code(pattern);
    if let Some(code) = short.clone().filter(|code| count_drawn(code) >= 3) {
        return Some(code);
    }
    let schema = json!({"type": "string", "pattern": pattern});
    let fits = |text: &str| Schemas::default().check(&schema, &json!(text), Side::Reply).is_ok();
    // Numbers as strings, of any or of many digits, and as many digits or letters as the pattern counts.
    let uuid = "{xxxxxxxx}-{xxxx}-4{xxx}-8{xxx}-{xxxxxxxxxxxx}";
    let some = ["a{xxxxxxx}", "1#################", "########", "1#######", "{xxxxxxxx}", "{AAAAAA}", uuid];
    let some = some.map(str::to_owned);
    let counts = pattern.split(['{', '}', ',']).filter_map(|count| count.parse::<usize>().ok());
    let counted = counts.filter(|count| (4..=64).contains(count)).flat_map(|count| {
        ["#".repeat(count), format!("{{{}}}", "x".repeat(count)), format!("{{{}}}", "A".repeat(count))]
    });
    // Strings that match the pattern, with more digits where they have few.
    let texts = (1..5).filter_map(|seed| matching_text(pattern, seed));
    let written = texts.flat_map(|text| {
        let digits = |c: char| if c.is_ascii_digit() { '#' } else { c };
        let plain = !text.contains(['#', '{', '}']);
        let code: String = text.chars().map(digits).collect();
        let longer = code.replacen('#', "####", 1);
        [code, longer].into_iter().filter(move |code| plain && code.matches('#').count() >= 3)
    });
    let long = some.into_iter().chain(counted).chain(written).find(|code| {
        let (low, high) = if code.contains("{A") { ('B', 'Y') } else { ('0', 'f') };
        fits(&spell(code, '0', low)) && fits(&spell(code, '9', high))
    });
    // Few different keys are better than keys of a wrong form.
    long.or_else(|| short.filter(|code| count_drawn(code) == 2))
}

/// Writes a code with one digit and one letter in all drawn positions.
fn spell(code: &str, digit: char, letter: char) -> String {
    let mut is_inside = false;
    let drawn = code.chars().filter_map(|c| match c {
        '{' | '}' => {
            is_inside = c == '{';
            None
        }
        '#' => Some(digit),
        'x' | 'A' if is_inside => Some(letter),
        c => Some(c),
    });
    drawn.collect()
}

/// Returns the number of drawn characters of a code.
fn count_drawn(code: &str) -> usize {
    spell(code, '\0', '\0').matches('\0').count()
}

/// Stores ids that refer to no record of the document, so that filters by them find records.
pub(super) fn keep_ids(places: &Places, all: &mut IndexMap<String, ResourceDoc>) {
    for found in places.all.values() {
        let (Some(doc), Some(record)) = (all.get_mut(&found.name), &found.record) else { continue };
        for (name, member) in record.members().into_iter().flatten() {
            let field = identifier(name);
            let is_known = doc.fields.keys().any(|known| plain(known) == plain(name));
            // The id beside another key is stored already, and the path gives the parents.
            let is_bare = key_name(name).is_some_and(|(stem, _)| stem.is_empty());
            let is_above = found.above.iter().any(|above| plain(&above.field) == plain(name));
            if is_known || is_bare || is_above || !is_id(name) || !places.asked.contains(&plain(name)) {
                continue;
            }
            let fake = match member.shape.kind {
                Kind::Integer => json!({"provider": "integer", "min": 1_000, "max": 1_005}),
                Kind::String if member.shape.pattern.is_none() && member.shape.format.is_none() => {
                    json!({"provider": "pick", "of": (1..6).map(|at| format!("{}-{}", words(name).join("-"), at * 137)).collect::<Vec<_>>()})
                }
                _ => continue,
            };
            let kind = if member.shape.kind == Kind::Integer { TypeName::Integer } else { TypeName::String };
            let kept = FieldDoc { kind: Some(kind), optional: true, fake: Some(fake), ..FieldDoc::default() };
            doc.fields.insert(field, kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_callers_choose_are_made_of_words() {
        let check = |parameter: &str, schema: Json, expect: bool| {
            let parameters = json!([{"name": parameter, "in": "path", "required": true, "schema": schema}]);
            let game =
                json!({"type": "object", "properties": {parameter: schema, "genre": {"type": "string"}}});
            let reply =
                json!({"200": {"description": "ok", "content": {"application/json": {"schema": game}}}});
            let get = json!({"operationId": "GetGame", "parameters": parameters, "responses": reply});
            let paths = json!({format!("/games/{{{parameter}}}"): {"get": get}});
            let info = json!({"title": "Games", "version": "1"});
            let root = json!({"openapi": "3.0.0", "info": info, "paths": paths}).to_string();
            let read = crate::import("games.json", root.as_bytes(), &Default::default()).unwrap();
            let resource = &read.doc.resources["game"];
            let fake = resource.fields[&resource.key].fake.clone().unwrap_or_default();
            assert_eq!(fake["format"] == NAMES, expect, "{parameter}: {fake}");
        };
        check("GameName", json!({"type": "string", "pattern": "^[a-zA-Z0-9-]+$"}), true);
        check("GameName", json!({"type": "string"}), true);
        check("GameName", json!({"type": "string", "pattern": "^[0-9]{4}$"}), false);
        check("GameName", json!({"type": "string", "maxLength": 8}), false);
        check("game_id", json!({"type": "string"}), false);
        check("gameid", json!({"type": "string"}), false);
        check("gamehash", json!({"type": "string"}), false);
    }
}
