//! Marks path parameters that take a value and no key: a day, a word, a code, a place.
//!
//! Such parameters filter or are echoed. No operation looks up a record by them.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use diorama_seeds::contract::{ANY_KEY, Schemas, Side, key_name, noun, plain};
use diorama_seeds::table::rows;
use diorama_seeds::value::Date;
use serde_json::{Value as Json, json};

use super::document::{Operation, Parameter, Place, path_parameters};
use super::shape::{Kind, Shape};
use super::words::{identifier, is_id, words};

/// Kinds of values in paths, one a line.
const VALUES: &str = include_str!("data/values.txt");
/// The greatest number of characters of a description in which a phrase of a kind counts.
const MAX_DESCRIPTION_CHARS: usize = 160;
/// Words after which a description gives an example.
const EXAMPLES: [&str; 5] = ["examples:", "example:", "such as", "for example", "e.g"];
/// The fewest different path prefixes before a key for it to be the key of the caller's only tenant.
const MIN_PREFIXES: usize = 3;
/// Levels of a reply in which names are collected.
const MAX_DEPTH: u32 = 6;
/// The greatest number of characters by which a string is padded.
const MAX_PADDING_CHARS: u32 = 10_000;

/// A kind of values that path parameters take.
struct ValueKind {
    /// True if such a parameter is never a key, even where the path before it lists or creates records.
    always: bool,
    names: Vec<&'static str>,
    phrases: Vec<&'static str>,
    /// The pattern of a whole value; none where any string will do.
    form: Option<&'static str>,
    sample: &'static str,
}

static KINDS: LazyLock<Vec<ValueKind>> = LazyLock::new(|| rows(VALUES).filter_map(ValueKind::read).collect());

impl ValueKind {
    fn read(line: &'static str) -> Option<Self> {
        let always = line.starts_with('=');
        let (words, rest) = line.trim_start_matches(['=', ' ']).split_once(" | ")?;
        let (form, sample) = rest.rsplit_once(" | ")?;
        // Names stand between the phrases, which are in quotation marks.
        let parts: Vec<&str> = words.split('"').collect();
        let names = parts.iter().step_by(2).flat_map(|names| names.split_whitespace()).collect();
        let phrases = parts.iter().skip(1).step_by(2).copied().collect();
        Some(Self {
            always,
            names,
            phrases,
            form: Some(form.trim()).filter(|form| *form != "-"),
            sample: sample.trim(),
        })
    }
}

/// Marks the parameters that take a value, each with an example that callers get.
/// A parameter takes a key where the document lists or creates records at the path before it.
pub(super) fn mark(operations: &mut [Operation]) {
    let collections: HashSet<String> = operations.iter().filter_map(find_collection).collect();
    let tenants = find_tenant_keys(operations);
    for operation in operations {
        let path = operation.path.clone();
        for parameter in operation.parameters.iter_mut().filter(|known| known.place == Place::Path) {
            if is_extension(&path, &parameter.name) && parameter.shape.kind == Kind::String {
                parameter.free = Some(make_extension(&parameter.shape));
                continue;
            }
            if tenants.contains(&plain(&parameter.name)) {
                (parameter.free, parameter.constant) =
                    (Some(make_value(&parameter.name, &parameter.shape)), true);
                continue;
            }
            let Some(kind) = find_kind(parameter) else { continue };
            let Some((before, _)) = path.split_once(&format!("{{{}}}", parameter.name)) else { continue };
            // A parameter after its own noun is a key: `/fields/{field}`.
            let own = before
                .trim_end_matches('/')
                .rsplit('/')
                .next()
                .is_some_and(|last| noun(last) == noun(&parameter.name));
            let is_key = if kind.always {
                own || !kind.names.contains(&plain(&parameter.name).as_str())
            } else {
                collections.contains(&form_of_path(before))
            };
            if is_key {
                continue;
            }
            parameter.free = Some(sample_of_kind(parameter, kind));
            let shape = &mut parameter.shape;
            let is_open = shape.kind == Kind::String && shape.pattern.is_none() && shape.format.is_none();
            if let Some(form) = kind.form.filter(|_| is_open) {
                shape.pattern = Some(format!("^{form}$"));
            }
        }
    }
}

/// Returns true if a parameter is a file extension in a path: `/pages/{page}.{format}`.
/// The second name of a range is no extension: `{old}...{new}`.
pub(super) fn is_extension(path: &str, name: &str) -> bool {
    let Some((before, after)) = path.split_once(&format!(".{{{name}}}")) else { return false };
    key_name(name).is_none() && !before.ends_with('.') && (after.is_empty() || after.starts_with('/'))
}

/// Returns the first extension that the document names, else `json`.
fn make_extension(shape: &Shape) -> Json {
    shape.samples.iter().find(|sample| sample.is_string()).cloned().unwrap_or_else(|| Json::from("json"))
}

/// Finds the keys of the caller's one tenant, system or project.
/// Such a key follows many prefixes, none of which lists or creates what it names. Replies do not show it.
fn find_tenant_keys(operations: &[Operation]) -> HashSet<String> {
    let mut prefixes: HashMap<String, HashSet<String>> = HashMap::new();
    let mut reply_names = HashSet::new();
    let mut collections = HashSet::new();
    for operation in operations {
        operation.reply.iter().for_each(|reply| collect_names(reply, &mut reply_names, 0));
        let makes = operation.method == "POST" && operation.body.is_some();
        let lists = operation.method == "GET" && operation.reply.as_ref().is_some_and(is_list);
        if makes || lists {
            collections.insert(form_of_path(&format!("{}/", operation.path)));
        }
        for name in
            path_parameters(&operation.path).iter().filter(|name| !is_extension(&operation.path, name))
        {
            let before = operation.path.split_once(&format!("{{{name}}}")).map(|(before, _)| before);
            if let Some(before) = before.filter(|before| !before.contains('{')) {
                prefixes.entry(plain(name)).or_default().insert(form_of_path(before));
            }
        }
    }
    let is_tenant = |(name, before): &(&String, &HashSet<String>)| {
        before.len() >= MIN_PREFIXES
            && !ANY_KEY.contains(&name.as_str())
            && !reply_names.contains(*name)
            && before.is_disjoint(&collections)
    };
    prefixes.iter().filter(is_tenant).map(|(name, _)| name.clone()).collect()
}

/// Collects the plain names of the members of a reply.
fn collect_names(shape: &Shape, found: &mut HashSet<String>, depth: u32) {
    match &shape.kind {
        Kind::Object(members) if depth < MAX_DEPTH => {
            for (name, member) in members {
                found.insert(plain(name));
                collect_names(&member.shape, found, depth + 1);
            }
        }
        Kind::Array(item) => collect_names(item, found, depth + 1),
        Kind::Union(ways) => ways.iter().for_each(|way| collect_names(way, found, depth + 1)),
        _ => {}
    }
}

/// Returns the path before the keys of the records that an operation lists, creates or changes.
fn find_collection(operation: &Operation) -> Option<String> {
    let (before, last) = operation.path.rsplit_once('/').unwrap_or_default();
    let is_item = last.starts_with('{');
    let lists = operation.reply.as_ref().is_some_and(is_list);
    let before = match operation.method.as_str() {
        "GET" if lists && !is_item => &operation.path,
        "GET" => return None,
        "POST" if !is_item && operation.body.is_some() => &operation.path,
        _ if is_item => before,
        _ => return None,
    };
    Some(form_of_path(&format!("{before}/")))
}

fn is_list(reply: &Shape) -> bool {
    let inner = || reply.first_object().members().into_iter().flatten();
    reply.items().is_some() || inner().any(|(_, member)| member.shape.items().is_some())
}

/// Returns a path without the names of its parameters.
fn form_of_path(path: &str) -> String {
    let segment = |segment: &str| if segment.contains('{') { "{}".to_owned() } else { segment.to_owned() };
    path.split('/').map(segment).collect::<Vec<_>>().join("/")
}

/// Returns the kind of values that a parameter takes, by its type, its name or its description.
fn find_kind(parameter: &Parameter) -> Option<&'static ValueKind> {
    let shape = &parameter.shape;
    let by_name = |name: &str| KINDS.iter().find(|kind| kind.names.contains(&name));
    match (&shape.kind, shape.format.as_deref()) {
        (Kind::String, Some("date" | "date-time" | "datetime" | "time")) => return by_name("date"),
        (Kind::String | Kind::Integer, None | Some("int32" | "int64")) | (Kind::Number, _) => {}
        _ => return None,
    }
    let last = words(&parameter.name).pop().unwrap_or_default();
    let named = by_name(&plain(&parameter.name)).or_else(|| by_name(&last));
    match shape.kind {
        Kind::Integer => return named,
        // A number that is an id is a key, even if its description names a kind of value.
        Kind::Number => return named.or_else(|| by_name("q").filter(|_| !is_id(&parameter.name))),
        _ if named.is_some() => return named,
        _ => {}
    }
    let description: String =
        parameter.description.to_lowercase().chars().take(MAX_DESCRIPTION_CHARS).collect();
    let is_key = ["id", "identifier", "key", "name", "uuid", "slug"].iter().any(|word| {
        words(&parameter.name).last().is_some_and(|last| last == word)
            || description.split_whitespace().any(|own| own == *word)
    });
    KINDS.iter().find(|kind| !is_key && kind.phrases.iter().any(|phrase| description.contains(phrase)))
}

/// Returns an example value of any parameter.
pub(super) fn sample(parameter: &Parameter) -> Json {
    match (&parameter.shape.kind, find_kind(parameter)) {
        (Kind::Enum(values), _) => values.first().map_or(Json::Null, |first| Json::from(first.as_str())),
        (_, Some(kind)) => sample_of_kind(parameter, kind),
        (Kind::Number, None) => Json::from(1),
        _ => make_value(&parameter.name, &parameter.shape),
    }
}

/// Returns an example value: from the schema's examples, the description, or the sample of the kind.
fn sample_of_kind(parameter: &Parameter, kind: &ValueKind) -> Json {
    let shape = &parameter.shape;
    if let Some(known) =
        shape.samples.iter().chain(&shape.default).find(|known| known.is_string() || known.is_i64())
    {
        return known.clone();
    }
    let form = kind.form.map(|form| json!({"type": "string", "pattern": format!("^{form}$")}));
    let schemas = Schemas::default();
    let is_of = |form: &Json, text: &str| schemas.check(form, &Json::from(text), Side::Request).is_ok();
    let fits = |text: &str| form.as_ref().is_none_or(|form| is_of(form, text));
    match shape.kind {
        Kind::Integer => Json::from(kind.sample.parse::<i64>().unwrap_or(2026)),
        // Given values are strings or whole numbers.
        Kind::Number => Json::from(kind.sample.parse::<f64>().unwrap_or(1.0) as i64),
        _ if shape.format.as_deref() == Some("date-time") => Json::from("2026-03-02T09:00:00Z"),
        _ if kind.names.contains(&"date")
            && first_example(&parameter.description).is_none_or(|text| Date::parse(&text).is_some()) =>
        {
            kind.sample.into()
        }
        _ => first_example(&parameter.description)
            .filter(|text| fits(text))
            .map_or_else(|| kind.sample.into(), Json::from),
    }
}

/// Returns the first example that a description gives: `2026-03-01` of `The day, such as 2026-03-01.`
fn first_example(description: &str) -> Option<String> {
    // Positions in the lower-case copy hold in the description.
    let lower = description.to_ascii_lowercase();
    let (at, word) = EXAMPLES.iter().filter_map(|word| Some((lower.find(word)?, *word))).min()?;
    let after = description.get(at + word.len()..)?;
    let plain = after.replace("<code>", " ").replace("</code>", " ");
    let first = plain.split_whitespace().find(|word| word.chars().any(char::is_alphanumeric))?;
    let text = first.trim_matches(|c: char| !c.is_alphanumeric());
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns a value of the form that a parameter's schema has.
pub(super) fn make_value(name: &str, shape: &Shape) -> Json {
    let hash = blake3::hash(plain(name).as_bytes()).to_hex();
    if let Some(sample) = shape.samples.iter().find(|sample| sample.is_string() || sample.is_i64()) {
        return sample.clone();
    }
    match (&shape.kind, shape.format.as_deref()) {
        (Kind::Integer, _) => {
            let number = i64::from(u16::from_str_radix(&hash[..4], 16).unwrap_or(1)) + 1_000;
            let least = shape.min.as_ref().and_then(Json::as_i64).unwrap_or(0);
            let most = shape.max.as_ref().and_then(Json::as_i64).unwrap_or(i64::MAX);
            json!(number.max(least).min(most))
        }
        (_, Some("uuid")) => {
            json!(format!(
                "{}-{}-4{}-9{}-{}",
                &hash[..8],
                &hash[8..12],
                &hash[13..16],
                &hash[17..20],
                &hash[20..32]
            ))
        }
        _ => {
            let pattern = shape.pattern.as_deref().and_then(|pattern| {
                diorama_seeds::pattern::matching_text(
                    pattern,
                    u64::from_str_radix(&hash[..8], 16).unwrap_or(7),
                )
            });
            let plain = || {
                format!(
                    "{}-{}",
                    key_name(name)
                        .map(|(stem, _)| stem)
                        .filter(|stem| !stem.is_empty())
                        .unwrap_or_else(|| identifier(name)),
                    &hash[..6]
                )
            };
            let mut text = pattern.unwrap_or_else(plain);
            if let Some(most) = shape.max_length {
                text = text.chars().take(most as usize).collect();
            }
            let least = shape.min_length.unwrap_or(0).min(MAX_PADDING_CHARS) as usize;
            let missing = least.saturating_sub(text.chars().count());
            text.extend(std::iter::repeat_n('0', missing));
            json!(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_words_and_codes_are_values() {
        let check = |name: &str, description: &str, expect: Option<&str>| {
            let parameter = Parameter {
                name: name.to_owned(),
                sent_as: None,
                separator: None,
                place: Place::Path,
                required: true,
                description: description.to_owned(),
                shape: Shape::of(Kind::String),
                free: None,
                constant: false,
            };
            let found = find_kind(&parameter).map(|kind| sample_of_kind(&parameter, kind));
            assert_eq!(found, expect.map(Json::from), "{name}: {description}");
        };
        check(
            "date",
            "The date of the games. Examples: <code>2017-JUL-31</code>, 2017-SEP-01.",
            Some("2017-JUL-31"),
        );
        check("season", "Year of the season.", Some("2026"));
        check("origin", "3-letter IATA airport code, e.g. OSL", Some("OSL"));
        check("word", "Word to return definitions for", Some("garden"));
        check("word", "İ: a word, E.g. 'house'", Some("house"));
        check("to", "ISO 4217 currency code", Some("EUR"));
        check("gameid", "The id of the game on the date of it", None);
        check("owner", "The account that owns it", None);
    }
}
