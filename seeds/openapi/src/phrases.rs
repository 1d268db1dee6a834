//! Words for people: questions about fields, requests for operations. Generic English, by names and kinds.

mod apart;
mod changes;
mod command;
mod verbs;

use diorama_seeds::doc::{ApiDoc, FieldDoc, PhrasesDoc, Place, TypeName};
use diorama_seeds::materialise::provider_of_name;
use serde_json::json;

pub(super) use self::apart::tell_apart;
pub(super) use self::changes::{act, action, change, comes_first, is_prose, is_said, make, part, tells};
pub(super) use self::command::{Command, command, names};
pub(super) use self::verbs::{is_verb, verb_of};
use super::fakes::{is_anything, is_made_by, is_telling, moment};
use super::nouns;
use super::shape::{Kind, Shape};
use super::words::{described_unit, is_plural, label, measured, words};

/// Gives a value its name for people, and a number its unit where the name says it.
pub(super) fn name(name: &str, doc: &mut FieldDoc) {
    let number = doc.kind.as_deref().is_some_and(|kind| ["integer", "number", "decimal"].contains(&kind));
    match measured(name).filter(|_| number) {
        Some((what, unit)) => (doc.label, doc.unit) = (Some(what), Some(unit.to_owned())),
        None => doc.label = Some(label(name)),
    }
}

/// The name for people that a value was given, or one made from its name.
fn named(name: &str, doc: Option<&FieldDoc>) -> String {
    doc.and_then(|doc| doc.label.clone()).unwrap_or_else(|| label(name))
}

/// What people say for a key that a record of its own is behind: what the record is.
pub(super) fn without_id(noun: &str) -> &str {
    [" ID", " SID"].iter().find_map(|key| noun.strip_suffix(key)).unwrap_or(noun)
}

/// Has people say a record where a phrase says its key: `the customer {customerId}`, not `the customer ID {customerId}`.
pub(super) fn name_records(api: &mut ApiDoc) {
    for (name, _) in api.parameters.iter().filter(|(_, doc)| doc.reference.is_some()) {
        let key = label(name);
        let said = |noun: &str| format!("the {noun} {{{name}}}");
        for phrase in &mut api.phrases.imperative {
            *phrase = phrase.replace(&said(&key), &said(without_id(&key)));
        }
    }
}

/// Whether a number means something by itself: it has a unit, or counts, or has no dimension.
fn says_all(name: &str, doc: &FieldDoc) -> bool {
    const DIMENSIONS: [&str; 22] = [
        "kind", "mode", "state", "type", "color", "colour", "age", "amount", "balance", "delay", "depth",
        "duration", "height", "interval", "length", "limit", "period", "size", "timeout", "total", "ttl",
        "width",
    ];
    let parts = words(name);
    let last = parts.last().map(String::as_str).unwrap_or_default();
    doc.unit.is_some()
        || changes::counted(name).is_some()
        || !(DIMENSIONS.contains(&last) || is_plural(last) || doc.label.as_deref() == Some("value"))
}

/// Adds questions and statements to a field that has something to tell.
pub(super) fn field(name: &str, shape: &Shape, doc: &mut FieldDoc) {
    if is_anything(doc) {
        return;
    }
    if shape.format.as_deref() == Some("duration")
        || shape.description.as_deref().is_some_and(changes::is_duration)
    {
        return;
    }
    let number = matches!(shape.kind, Kind::Integer | Kind::Number);
    // Seconds since 1970 are a moment, and nobody says it so.
    if number && shape.description.as_deref().is_some_and(|text| text.to_lowercase().contains("timestamp")) {
        return;
    }
    if number && doc.unit.is_none() {
        doc.unit = shape.description.as_deref().and_then(described_unit).map(str::to_owned);
    }
    // A number of a moment is a timestamp, and one of no quantity is a code.
    let is_moment = words(name).iter().any(|word| ["date", "time", "timestamp"].contains(&word.as_str()));
    let is_amount = || {
        let counts = doc.unit.is_some() || changes::counted(name).is_some();
        counts || words(name).last().is_some_and(|last| nouns::is("amounts", last))
    };
    if number && (is_moment || !is_amount()) {
        return;
    }
    // A number that stands for a kind is a code.
    if number && (!shape.choices.is_empty() || !says_all(name, doc)) {
        return;
    }
    let noun = named(name, Some(doc));
    let parts = words(name);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let (Some(first), Some(last)) = (parts.first().copied(), parts.last().copied()) else { return };
    let is = if noun.split(' ').next_back().is_some_and(is_plural) { "are" } else { "is" };
    // People quote what somebody wrote.
    let quote = if changes::is_prose(name, doc) { "\"" } else { "" };
    let plainly = || {
        let say = format!("The {noun} of {{it}} {is} {quote}{{value}}{quote}.");
        (vec![format!("What {is} the {noun} of {{it}}?")], vec![say])
    };
    let on = if doc.kind == Some(TypeName::Time) { "at" } else { "on" };
    let one = |ask: &str, say: &str| (vec![ask.to_owned()], vec![say.to_owned()]);
    let (ask, say) = match &shape.kind {
        _ if parts.iter().any(|part| nouns::is("secrets", part)) || is_untold(name) => return,
        // What is always the same tells nothing, and a participle is no noun.
        Kind::Enum(values) if values.len() < 2 => return,
        _ if last == "by" || (last.ends_with("ed") && moment(name, shape).is_none()) => return,
        _ if parts.contains(&"error") => return,
        // Nor does anybody read out an address.
        _ if is_made_by(doc, "image_url") || doc.fake == Some(json!("url")) => return,
        Kind::String | Kind::Enum(_) if moment(name, shape).is_some() => match (first, last) {
            (_, "birthday" | "birthdate") => one("When was {it} born?", "{it} was born on {value}."),
            (_, "deathday") => one("When did {it} die?", "{it} died on {value}."),
            ("release" | "released", _) => one("When was {it} released?", "{it} was released on {value}."),
            ("first", "date") if parts.contains(&"air") => {
                one("When did {it} first air?", "{it} first aired on {value}.")
            }
            ("air", _) => one("When did {it} air?", "{it} aired on {value}."),
            ("due", _) => one("When is {it} due?", "{it} is due on {value}."),
            // What happens of itself is not done by anybody.
            (verb, "at") | ("date", verb) if parts.len() == 2 && verb.ends_with("ed") => {
                if !verbs::is_done(verb) {
                    return;
                }
                one(&format!("When was {{it}} {verb}?"), &format!("{{it}} was {verb} on {{value}}."))
            }
            ("from" | "to" | "since" | "before" | "after", _) if parts.len() == 1 => return,
            (verb, last) if (last == "at" && parts.len() == 2 || parts.len() == 1) && verb.ends_with('s') => {
                one(
                    &format!("When does {{it}} {}?", verb.trim_end_matches('s')),
                    &format!("{{it}} {verb} {on} {{value}}."),
                )
            }
            // A moment that is only a participle is when that was done.
            (verb, _) if parts.len() == 1 && verb.ends_with("ed") => {
                if !verbs::is_done(verb) {
                    return;
                }
                one(&format!("When was {{it}} {verb}?"), &format!("{{it}} was {verb} on {{value}}."))
            }
            // A moment whose name is a clause has no noun.
            (_, "at" | "on" | "timestamp" | "until" | "from" | "to" | "since") => return,
            _ => plainly(),
        },
        Kind::Integer | Kind::Number => match last {
            "runtime" | "duration" => (
                vec!["How long is {it}?".to_owned(), format!("What is the {noun} of {{it}}?")],
                vec!["{it} takes {value}.".to_owned()],
            ),
            "price" | "cost" | "fee" => (
                vec!["How much does {it} cost?".to_owned(), format!("What is the {noun} of {{it}}?")],
                vec!["{it} costs {value}.".to_owned()],
            ),
            // Whether it has them, or they have it, the name does not say.
            "count" => plainly(),
            _ => match changes::counted(name) {
                Some(counted) => one(
                    &format!("How many {counted} does {{it}} have?"),
                    &format!("{{it}} has {{value}} {counted}."),
                ),
                None => {
                    let (mut ask, say) = plainly();
                    ask.push(format!("What {noun} does {{it}} have?"));
                    (ask, say)
                }
            },
        },
        Kind::String => match last {
            "homepage" | "website" => {
                one("What is the homepage of {it}?", "The homepage of {it} is {value}.")
            }
            "headquarters" => (
                vec!["Where is {it} based?".to_owned(), "Where are the headquarters of {it}?".to_owned()],
                vec!["{it} is based in {value}.".to_owned()],
            ),
            "birth" if parts.contains(&"place") => one("Where was {it} born?", "{it} was born in {value}."),
            // A code or a text of which nothing but its name is known tells nobody anything.
            _ if !is_telling(doc) => return,
            _ => plainly(),
        },
        Kind::Enum(_) => plainly(),
        _ => return,
    };
    doc.ask = ask;
    doc.say = say;
}

/// Whether only programs read a member of this name: `key1`, `eTag`.
fn is_untold(name: &str) -> bool {
    let parts = words(name);
    let last = parts.last().map_or("", |last| last.trim_end_matches(|c: char| c.is_ascii_digit()));
    nouns::is("untold", last) || nouns::is("untold", &parts.concat())
}

/// Adds what a request must say: required parameters that no words stand for yet. `refers` tells whether records of one
/// resource belong to those of another.
pub(super) fn complete(
    api: &mut ApiDoc,
    refers: &dyn Fn(&str, &str) -> bool,
    is_given: &dyn Fn(&str) -> bool,
) {
    let first_parts: Vec<(String, String)> = first_parts(api);
    let (phrases, parameters) = (&mut api.phrases, &api.parameters);
    let is_path = |doc: &FieldDoc| doc.place == Some(Place::Path);
    // What chooses in the middle of a path has no noun.
    let chooses = |(name, doc): (&String, &FieldDoc)| {
        is_path(doc) && !doc.values.is_empty() && !api.path.ends_with(&format!("{{{name}}}"))
    };
    if parameters.iter().any(chooses) {
        phrases.imperative.clear();
    }
    let required: Vec<&String> = parameters
        .iter()
        .filter(|(_, doc)| !doc.optional && doc.default.is_none())
        .map(|(name, _)| name)
        .filter(|name| !first_parts.iter().any(|(first, _)| first == *name) && !is_given(name))
        .collect();
    let deletes = phrases.imperative.iter().any(|phrase| phrase.starts_with("delete "));
    for phrase in phrases.imperative.iter_mut().chain(&mut phrases.noun) {
        // Brackets hold what may be left out.
        let mut depth = 0_u32;
        let count = |c: &char| {
            match c {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        };
        let outside: String = phrase.chars().filter(count).collect();
        let left = required.iter().filter(|name| !outside.contains(&format!("{{{name}}}")));
        let (mut path, rest): (Vec<&String>, Vec<&String>) =
            left.partition(|name| parameters.get(**name).is_some_and(is_path));
        path.sort_by_key(|name| api.path.find(&format!("{{{name}}}")));
        // What is removed from something need not be gone, and what is deleted is.
        if deletes && !path.is_empty() && phrase.starts_with("remove ") {
            *phrase = phrase.replacen("remove ", "delete ", 1);
        }
        let mut whose = String::new();
        // What stands in the path is whose it is, the nearest first.
        let said = parameters
            .iter()
            .rev()
            .find(|(name, doc)| is_path(doc) && outside.contains(&format!("{{{name}}}")));
        let mut nearer: Option<&str> = said.and_then(|(_, doc)| doc.reference.as_deref());
        for (position, name) in path.into_iter().rev().enumerate() {
            let doc = parameters.get(name);
            let noun = named(name, doc);
            let of = doc.and_then(|doc| doc.reference.as_deref());
            let joint = match phrase.split(' ').next() {
                Some("add") if position == 0 && is_person(&noun) && said.is_none() => "for",
                Some("add") if position == 0 => "to",
                Some("create" | "post" | "send") if position == 0 && is_person(&noun) => "for",
                Some("create" | "post" | "send") if position == 0 => "in",
                Some("remove" | "unassign" | "revoke") if position == 0 => "from",
                // A guild is not the application's.
                _ if is_person(&noun) => "of",
                _ if nearer.zip(of).is_some_and(|(nearer, of)| !refers(nearer, of)) => "in",
                _ => "of",
            };
            whose.push_str(&match of {
                Some(_) => format!(" {joint} the {} {{{name}}}", without_id(&noun)),
                None => format!(" of {noun} {{{name}}}"),
            });
            nearer = of;
        }
        let joints: &[&str] = match phrase.starts_with("change ") {
            true => &[" to {", " to \"{", " so that "],
            false => &[" with "],
        };
        let plain = |at: &usize| phrase.get(..*at).is_some_and(|before| !before.contains('['));
        let new = joints.iter().filter_map(|to| phrase.find(to)).min().filter(plain);
        phrase.insert_str(new.unwrap_or(phrase.len()), &whose);
        for name in rest {
            phrase.push_str(&format!(" with {}", part(name, parameters.get(name))));
        }
        for (first, second) in &first_parts {
            *phrase = phrase.replacen(&format!("{{{second}}}"), &format!("{{{first}}}/{{{second}}}"), 1);
        }
    }
}

/// The parameters in a row that are parts of one key: `{owner}/{repo}`.
fn first_parts(api: &ApiDoc) -> Vec<(String, String)> {
    let text = |doc: &FieldDoc| doc.reference.is_none() && doc.kind == Some(TypeName::String);
    let known = api.parameters.iter().filter(|(_, doc)| text(doc) && doc.values.is_empty());
    let pair = |name: &String| {
        let (_, after) = api.path.split_once(&format!("{{{name}}}/{{"))?;
        Some((name.clone(), after.split('}').next()?.to_owned()))
    };
    known.filter_map(|(name, _)| pair(name)).collect()
}

/// Whether a noun is that of people, in whom nothing is.
fn is_person(noun: &str) -> bool {
    provider_of_name(noun) == "person_name"
}

/// Noun phrases for a list: with its arguments in brackets where they are optional, and with one or two of them said.
pub(super) fn list(adjective: &str, nouns: &str, arguments: &[(String, String, bool)]) -> PhrasesDoc {
    let mut head = if adjective.is_empty() { nouns.to_owned() } else { format!("{adjective} {nouns}") };
    let said = |(name, text, _): &(String, String, bool)| text.replace("{}", &format!("{{{name}}}"));
    for argument in arguments.iter().filter(|(_, _, required)| *required) {
        head.push_str(&format!(" {}", said(argument)));
    }
    let mut optional: Vec<String> = arguments.iter().filter(|(_, _, required)| !required).map(said).collect();
    // Whose something is comes before what it is like.
    optional.sort_by_key(|text| !text.starts_with("of "));
    let bracketed: String = optional.iter().map(|text| format!("[ {text}]")).collect();
    let mut noun = vec![format!("{head}{bracketed}")];
    for (position, first) in optional.iter().enumerate().filter(|_| optional.len() > 1).take(MOST_SAID) {
        noun.push(format!("{head} {first}"));
        let second = optional.iter().skip(position + 1).find(|text| !text.starts_with("of "));
        noun.extend(second.map(|second| {
            let joint = if first.starts_with("of ") { "" } else { "and " };
            format!("{head} {first} {joint}{second}")
        }));
    }
    PhrasesDoc { noun, ..PhrasesDoc::default() }
}

/// Of so many optional arguments a request speaks, each alone and with the next.
const MOST_SAID: usize = 3;
