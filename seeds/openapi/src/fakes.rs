//! Chooses the providers of a field: by its format, its pattern, the examples of the document, and its name.
//!
//! Examples lend their form (a hexadecimal id, a path to a picture). A few short words that recur become the
//! vocabulary (departments, kinds). Examples never lend ids.

use diorama_seeds::agreement::{Moment, MomentKind};
use diorama_seeds::contract::is_mail_date;
use diorama_seeds::doc::{FieldDoc, TypeName};
use diorama_seeds::materialise::{
    ANY_NAME, code_of_field, provider_of_field, provider_of_member, provider_of_noun, tells_person,
};
use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};

use self::described::described;
pub(super) use self::described::is_every;
pub(super) use self::fillers::{anything, is_anything, is_made_by, is_prose, is_writable, leave_out, title};
use self::ranges::{dated, numeric};
use self::samples::{KINDS, clock, few, sample_code, vocabulary};
pub(super) use self::samples::{kinds_in_description, pattern_code};
use super::shape::{Kind, Shape};
use super::words::words;

mod described;
mod fillers;
mod ranges;
mod samples;

/// The days between which generated dates of a record lie, relative to the clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) from: i32,
    pub(super) to: i32,
}

impl Span {
    /// Ordinary records lie between some years back and some months ahead.
    pub(super) const USUAL: Self = Self { from: -1200, to: 120 };
}

/// Returns type and provider of a field, from every place where the document shows it.
pub(super) fn field(name: &str, shape: &Shape, span: Span, depth: u32) -> FieldDoc {
    let mut doc = typed(name, shape, depth);
    // Generated values look like the samples, though callers may send any string.
    if let (Kind::String, Some(moment)) = (&shape.kind, moment(name, shape)) {
        doc.kind = TypeName::parse(moment);
    }
    if depth > 8 {
        return doc;
    }
    doc.fake = match &shape.kind {
        Kind::Boolean => {
            rarely(name).then(|| json!({"provider": "pick", "of": [false, true], "weights": [9, 1]}))
        }
        Kind::Number if shape.choices.is_empty() && !shape.fractional && degree(name).is_some() => {
            degree(name).map(Json::from)
        }
        Kind::Integer | Kind::Number => Some(numeric(name, shape)),
        Kind::String => text(name, shape, doc.kind.as_deref(), span),
        Kind::Array(item) => {
            let inner = field(&super::words::singular(name), item, span, depth + 1);
            let min = shape.min_length.unwrap_or(0).max(1);
            let max = min.max(3).min(shape.max_length.unwrap_or(3).max(min));
            match &item.kind {
                Kind::Object(_) | Kind::Array(_) | Kind::Union(_) | Kind::Cycle(_) | Kind::Any => None,
                Kind::Enum(values) => Some(
                    json!({"provider": "list", "of": {"provider": "pick", "of": values}, "min": (min as usize).min(values.len()), "max": values.len().min(max as usize)}),
                ),
                // A list of any names or sentences carries no information, so placeholders take its place.
                _ if is_made_by(&inner, ANY_NAME) || is_prose(&inner) => Some(
                    json!({"provider": "list", "of": anything(&super::words::singular(name)), "min": min, "max": max}),
                ),
                _ => inner.fake.map(|of| json!({"provider": "list", "of": of, "min": min, "max": max})),
            }
        }
        _ => None,
    };
    if let Kind::Array(item) = &shape.kind
        && let Some(rows) = pairs(item)
    {
        doc.fake =
            Some(json!({"provider": "list", "of": {"provider": "pick", "of": rows}, "min": 1, "max": 2}));
        return doc;
    }
    if let (Some(inner), Kind::Array(item)) = (&mut doc.items, &shape.kind)
        && matches!(item.kind, Kind::Object(_))
    {
        **inner = field(name, item, span, depth + 1);
        doc.fake = None;
    }
    if let Kind::Object(members) = &shape.kind {
        let is_person = members.keys().any(|member| tells_person(member));
        let owner = &words(name).join(" ");
        doc.fields = members
            .iter()
            .filter(|(_, member)| storable(&member.shape))
            .map(|(member_name, member)| {
                let mut inner = field(member_name, &member.shape, span, depth + 1);
                inner.nullable = false;
                if is_made_by(&inner, ANY_NAME) {
                    inner.fake =
                        Some(if is_person { json!("person_name") } else { title(member_name, owner) });
                } else if is_prose(&inner) {
                    inner.fake = Some(anything(member_name));
                }
                (member_name.clone(), inner, member.required)
            })
            // Optional members with placeholder values are dropped.
            .filter(|(_, inner, required)| *required || !is_anything(inner))
            .map(|(name, inner, _)| (name, inner))
            .collect();
        doc.fake = summed(&doc.fields).or(doc.fake);
    }
    doc
}

/// Generates counts as whole objects if one of them is the total of the others, so that they add up.
fn summed(fields: &IndexMap<String, FieldDoc>) -> Option<Json> {
    let is_total = |name: &&String| words(name).iter().any(|word| word == "total");
    let counts = |field: &FieldDoc| {
        field.kind == Some(TypeName::Integer)
            && field.max.is_none()
            && field.min.as_ref().is_none_or(|min| *min == 0)
    };
    let mut totals = fields.keys().filter(is_total);
    let total = totals
        .next()
        .filter(|_| totals.next().is_none() && fields.len() > 2 && fields.values().all(counts))?;
    let whole = |row: usize| {
        let parts = fields.keys().filter(|name| *name != total).enumerate();
        let mut object: Map<String, Json> =
            parts.map(|(place, name)| (name.clone(), json!((row * 17 + (place + 1) * 29) % 97))).collect();
        let sum: u64 = object.values().filter_map(Json::as_u64).sum();
        object.insert(total.clone(), json!(sum));
        Json::Object(object)
    };
    Some(json!({"provider": "pick", "of": (0..24).map(whole).collect::<Vec<Json>>()}))
}

/// Lends examples of small objects whole, because their strings belong together: a country's code and its
/// name.
fn pairs(item: &Shape) -> Option<Vec<Json>> {
    let members = item.members()?;
    let short = |value: &Json| value.as_str().is_some_and(|text| text.len() <= 40 && !text.is_empty());
    let whole = |row: &&Json| {
        members.keys().all(|name| row.get(name).is_some_and(short))
            && row.as_object().is_some_and(|row| row.len() == members.len())
    };
    if !(2..=3).contains(&members.len())
        || members.contains_key("id")
        || members.values().any(|member| member.shape.kind != Kind::String)
    {
        return None;
    }
    let rows: Vec<Json> = item.samples.iter().filter(whole).fold(Vec::new(), |mut rows, row| {
        if !rows.contains(row) {
            rows.push(row.clone());
        }
        rows
    });
    (!rows.is_empty()).then_some(rows)
}

/// Returns the type without a provider, for parameters.
pub(super) fn typed(name: &str, shape: &Shape, depth: u32) -> FieldDoc {
    let mut doc = FieldDoc { nullable: shape.nullable, ..FieldDoc::default() };
    let kind = match &shape.kind {
        Kind::Boolean => "boolean",
        Kind::Integer => "integer",
        Kind::Number => "number",
        Kind::Enum(values) => {
            doc.values = values.iter().filter(|value| !value.trim().is_empty()).cloned().collect();
            if doc.values.is_empty() { "string" } else { "" }
        }
        Kind::String => declared_moment(shape).unwrap_or("string"),
        Kind::Array(item) if depth < 8 => {
            doc.items = Some(Box::new(typed(&super::words::singular(name), item, depth + 1)));
            "list"
        }
        Kind::Object(members) if depth < 8 && !members.is_empty() => {
            for (name, member) in members {
                let mut inner = typed(name, &member.shape, depth + 1);
                inner.optional = !member.required;
                doc.fields.insert(name.clone(), inner);
            }
            "object"
        }
        _ => "any",
    };
    doc.kind = TypeName::parse(kind);
    if matches!(kind, "integer" | "number") {
        doc.min.clone_from(&shape.min);
        doc.max.clone_from(&shape.max);
        if kind == "integer" {
            // A limit with a fraction or beyond 64 bits does not bound an integer.
            doc.min = doc.min.filter(Json::is_i64);
            doc.max = doc.max.filter(Json::is_i64);
        }
        let bound = |limit: &Option<Json>| limit.as_ref().and_then(Json::as_f64);
        // Contradictory limits are dropped.
        if bound(&doc.min).zip(bound(&doc.max)).is_some_and(|(min, max)| min > max) {
            (doc.min, doc.max) = (None, None);
        }
    }
    if matches!(kind, "string" | "list") {
        (doc.min_length, doc.max_length) = (shape.min_length, shape.max_length);
        if doc.min_length.zip(doc.max_length).is_some_and(|(min, max)| min > max) {
            (doc.min_length, doc.max_length) = (None, None);
        }
    }
    if kind == "string" {
        doc.format =
            shape.format.clone().filter(|format| !["byte", "binary", "password"].contains(&format.as_str()));
    }
    doc.unit = match (kind, name) {
        ("integer" | "number", "runtime" | "episode_run_time" | "duration_minutes") => Some("min".to_owned()),
        _ => None,
    };
    doc
}

/// Returns `date`, `date-time` or `time` if the format of a string declares it.
fn declared_moment(shape: &Shape) -> Option<&'static str> {
    match shape.format.as_deref()? {
        "date" => Some("date"),
        "date-time" | "datetime" => Some("date-time"),
        "time" => Some("time"),
        _ => None,
    }
}

/// Returns `date`, `date-time` or `time` if the format, the samples or the name of a string say so.
pub(super) fn moment(name: &str, shape: &Shape) -> Option<&'static str> {
    if let Some(format) = &shape.format {
        return declared_moment(shape).or_else(|| is_mail_date(format).then_some("date-time"));
    }
    let samples: Vec<&str> =
        shape.samples.iter().filter_map(Json::as_str).filter(|sample| !sample.is_empty()).collect();
    if !samples.is_empty() && samples.iter().all(|sample| is_date(sample)) {
        return Some("date");
    }
    if !samples.is_empty()
        && samples.iter().all(|sample| {
            sample.get(..10).is_some_and(is_date)
                && sample.get(10..).is_some_and(|rest| rest.starts_with(['T', ' ']))
        })
    {
        return Some("date-time");
    }
    match Moment::kind_by_name(name).filter(|_| samples.is_empty())? {
        MomentKind::Date => Some("date"),
        MomentKind::DateTime => Some("date-time"),
    }
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && diorama_seeds::value::Date::parse(text).is_some()
}

/// Returns the provider of latitudes or longitudes, by the last word of the name.
fn degree(name: &str) -> Option<&'static str> {
    match words(name).pop()?.as_str() {
        "latitude" | "lat" => Some("latitude"),
        "longitude" | "lon" | "lng" | "long" => Some("longitude"),
        _ => None,
    }
}

/// Returns true if a string is a timestamp in seconds since 1970. A code of random digits would be any
/// timestamp.
pub(super) fn is_seconds(name: &str, shape: &Shape) -> bool {
    let is_count = |sample: &Json| {
        sample.as_str().is_some_and(|text| text.len() >= 10 && text.bytes().all(|byte| byte.is_ascii_digit()))
    };
    shape.kind == Kind::String
        && Moment::kind_by_name(name).is_some()
        && !shape.samples.is_empty()
        && shape.samples.iter().all(is_count)
}

/// Returns true for booleans that are seldom true.
fn rarely(name: &str) -> bool {
    words(name).iter().any(|word| {
        ["adult", "deleted", "archived", "banned", "hidden", "locked", "video", "disabled", "private"]
            .contains(&word.as_str())
    })
}

fn text(name: &str, shape: &Shape, kind: Option<&str>, span: Span) -> Option<Json> {
    match kind {
        Some("date") => return Some(dated(name, span, "date")),
        Some("date-time") => return Some(dated(name, span, "date_time")),
        Some("time") => return None,
        _ => {}
    }
    match shape.format.as_deref() {
        Some("email") => return Some(json!("email")),
        Some("uuid") => return Some(json!("uuid")),
        Some("uri" | "url") => return Some(json!("url")),
        Some("ipv4") => return Some(json!("ip")),
        Some("phone") => return Some(json!("phone")),
        Some("byte" | "base64" | "binary") => {
            return Some(json!({"provider": "code", "format": "{xxxxxxxxxxxxxxxx}"}));
        }
        _ => {}
    }
    if !shape.choices.is_empty() {
        return Some(json!({"provider": "pick", "of": shape.choices}));
    }
    if let Some(code) = shape.pattern.as_deref().and_then(pattern_code) {
        return Some(clock(&code).unwrap_or_else(|| json!({"provider": "code", "format": code})));
    }
    let samples: Vec<&str> =
        shape.samples.iter().filter_map(Json::as_str).filter(|sample| !sample.is_empty()).collect();
    let joined = words(name).join("_");
    let all = |test: &dyn Fn(&str) -> bool| !samples.is_empty() && samples.iter().all(|sample| test(sample));
    for ending in [".jpg", ".png", ".svg"] {
        if all(&|sample| sample.starts_with('/') && sample.contains('.'))
            && samples.iter().any(|sample| sample.ends_with(ending))
            || (samples.is_empty() && joined.ends_with("_path") && ending == ".jpg")
        {
            return Some(
                json!({"provider": "code", "format": format!("/{{xxxxxxxxxxxxxxxxxxxxxxxxxxx}}{ending}")}),
            );
        }
    }
    if all(&|sample| {
        sample.len() >= 12 && sample.len() <= 64 && sample.bytes().all(|byte| byte.is_ascii_hexdigit())
    }) {
        let length = samples.first().map_or(24, |sample| sample.len());
        return Some(json!({"provider": "code", "format": format!("{{{}}}", "x".repeat(length))}));
    }
    if joined.ends_with("language")
        || joined == "iso_639_1"
        || joined == "languages"
        || joined.ends_with("language_code")
    {
        return Some(few(&samples).unwrap_or_else(|| json!("language_of_country")));
    }
    if all(&|sample| sample.len() == 2 && sample.bytes().all(|byte| byte.is_ascii_uppercase())) {
        return Some(json!("country_code"));
    }
    if all(&|sample| sample.starts_with("http://") || sample.starts_with("https://")) {
        return Some(json!("url"));
    }
    if ["headquarters", "place_of_birth", "birthplace", "location", "hometown"].contains(&joined.as_str()) {
        return Some(json!({"provider": "template", "text": "{city}, {country}"}));
    }
    let tail = words(name).pop().unwrap_or_default();
    if KINDS.contains(&tail.as_str())
        && let Some(pick) = few(&samples)
    {
        return Some(pick);
    }
    // An example that only repeats the name carries no information.
    let repeats = |sample: &str| {
        let said = words(sample.trim_end_matches(|c: char| c.is_ascii_digit()));
        said.len() > 1 && said == words(name)
    };
    if all(&repeats) {
        return Some(anything(name));
    }
    if let Some(code) = sample_code(&samples) {
        return Some(json!({"provider": "code", "format": code}));
    }
    if let Some(prose) = PROSE.iter().find(|(names, _)| names.contains(&tail.as_str())) {
        return Some(json!(prose.1));
    }
    if let Some(provider) = provider_of_field(name, true).and_then(|_| provider_of_member(name)) {
        return Some(json!(provider));
    }
    let named = ["name", "title", "subject"].contains(&tail.as_str());
    if named && let Some(made) = name_of(name) {
        return Some(json!(made));
    }
    if let Some(pick) = vocabulary(&samples).filter(|_| !named) {
        return Some(pick);
    }
    if let Some(provider) = provider_of_member(name) {
        return Some(json!(provider));
    }
    if ["id", "code", "key", "token", "hash", "number"].contains(&tail.as_str()) {
        return Some(json!({"provider": "code", "format": "{AAA}-####"}));
    }
    if let Some(code) = code_of_field(name) {
        return Some(json!({"provider": "code", "format": code}));
    }
    if named {
        let mut of = words(name);
        of.pop();
        of.pop_if(|last| last == "display");
        let made = provider_of_noun(&of.join("_"));
        // The title of a person is a job title and no name.
        return Some(json!(if made == "person_name" && tail == "title" { "job_title" } else { made }));
    }
    Some(few(&samples).or_else(|| described(shape)).unwrap_or_else(|| anything(name)))
}

/// Returns the provider for the name of another thing: `timezone_name` is generated as a time zone.
/// Returns none where the thing has an ordinary name.
fn name_of(name: &str) -> Option<&'static str> {
    let mut of = words(name);
    of.pop();
    let thing = of.last()?;
    match provider_of_noun(&of.join("_")) {
        // The noun may or may not name a file, so its name is a placeholder.
        "file_name" if !["file", "attachment", "upload"].contains(&thing.as_str()) => Some(ANY_NAME),
        ANY_NAME => {
            let made = provider_of_member(&of.join("_"))?;
            (!made.ends_with("url")).then_some(made)
        }
        _ => None,
    }
}

/// Last words of names whose values are prose, with their providers.
const PROSE: [(&[&str], &str); 4] = [
    (&["instruction", "instructions"], "guidance"),
    (&["prompt"], "scene"),
    (
        &[
            "overview",
            "description",
            "content",
            "summary",
            "body",
            "text",
            "plot",
            "synopsis",
            "details",
            "abstract",
        ],
        "paragraph",
    ),
    (&["subtitle", "comment", "message", "note", "notes", "caption", "headline"], "sentence"),
];

/// Returns true if a record can hold a value of this shape.
fn storable(shape: &Shape) -> bool {
    match &shape.kind {
        Kind::Any | Kind::Cycle(_) | Kind::Union(_) => false,
        Kind::Object(members) => members.values().any(|member| storable(&member.shape)),
        Kind::Array(item) => storable(item),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_patterns_become_codes() {
        assert_eq!(pattern_code("^tt[0-9]{7}").as_deref(), Some("tt#######"));
        assert_eq!(pattern_code("^[A-Z]{3}-\\d{2}$").as_deref(), Some("{AAA}-##"));
        assert_eq!(pattern_code("^(a|b)+$"), None);
        let mut shape = Shape::of(Kind::String);
        shape.pattern = Some("^[0-9]{2}:[0-9]{2}$".to_owned());
        let fake = field("opens", &shape, Span::USUAL, 0).fake.unwrap_or_default();
        assert_eq!(fake["of"][0], "07:00", "generated times of day stay below 24:00");
    }

    #[test]
    fn names_and_examples_choose_the_values() {
        let check = |name: &str, samples: &[&str], expect: Json| {
            let mut shape = Shape::of(Kind::String);
            shape.samples = samples.iter().map(|sample| json!(sample)).collect();
            assert_eq!(field(name, &shape, Span::USUAL, 0).fake, Some(expect));
        };
        check(
            "poster_path",
            &["/a1.jpg"],
            json!({"provider": "code", "format": "/{xxxxxxxxxxxxxxxxxxxxxxxxxxx}.jpg"}),
        );
        check(
            "credit_id",
            &["52fe4250c3a36847f8014a11"],
            json!({"provider": "code", "format": "{xxxxxxxxxxxxxxxxxxxxxxxx}"}),
        );
        check(
            "department",
            &["Art", "Sound", "Art", "Sound"],
            json!({"provider": "pick", "of": ["Art", "Sound"]}),
        );
        check("birthday", &["1963-12-18"], json!({"provider": "date", "from": "-31000d", "to": "-8000d"}));
        check("overview", &["Long ago."], json!("paragraph"));
    }
}
