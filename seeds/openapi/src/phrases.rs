//! Writes phrases for users: questions about fields and requests for operations. The English is generic, by
//! names and kinds.

mod apart;
mod changes;
mod command;
mod filters;
mod meanings;
mod verbs;

use diorama_seeds::doc::{ApiDoc, FieldDoc, PhrasesDoc, Place, TypeName};
use diorama_seeds::materialise::{ANY_NAME, provider_of_name};
use diorama_seeds::naming::is_identifier;
use indexmap::IndexMap;
use serde_json::Value as Json;

pub(super) use self::apart::tell_apart;
pub(super) use self::changes::{
    act, action, change, comes_first, is_address, is_command, is_said, make, names_command, part, tells,
};
pub(super) use self::command::{Command, command, names};
pub(super) use self::filters::{bounded, having};
use self::meanings::Values;
pub(super) use self::verbs::{is_verb, verb_of};
use super::fakes::is_anything;
use super::nouns;
use super::shape::{Kind, Shape};
use super::words::{described_unit, is_id, label, measured, words};

/// Gives a value its label, and a number its unit where the name says it.
pub(super) fn name(name: &str, doc: &mut FieldDoc) {
    let number = doc.kind.as_deref().is_some_and(|kind| ["integer", "number", "decimal"].contains(&kind));
    match measured(name).filter(|_| number) {
        Some((what, unit)) => (doc.label, doc.unit) = (Some(what), Some(unit.to_owned())),
        None => doc.label = Some(label(name)),
    }
    let spoken = doc.values.iter().filter_map(|value| Some((value.clone(), vec![in_words(value)?])));
    doc.synonyms.extend(spoken.collect::<Vec<_>>());
}

/// Splits a value of several joined words: `InProgress` becomes `in progress`.
fn in_words(value: &str) -> Option<String> {
    let parts = words(value);
    let is_joined = parts.len() > 1
        && value.starts_with(char::is_uppercase)
        && value.chars().all(char::is_alphabetic)
        && parts.iter().all(|part| part.len() > 1);
    is_joined.then(|| parts.join(" "))
}

/// Returns the label of a value, or one made from its name.
fn named(name: &str, doc: Option<&FieldDoc>) -> String {
    doc.and_then(|doc| doc.label.clone()).unwrap_or_else(|| label(name))
}

/// Returns the noun without "ID", because users name the record and not its key.
pub(super) fn without_id(noun: &str) -> &str {
    [" ID", " SID"].iter().find_map(|key| noun.strip_suffix(key)).unwrap_or(noun)
}

/// Names records in phrases: `the customer {customerId}`, not `the customer ID {customerId}`.
/// Drops phrases with a body key that refers to no record, because users do not know one.
pub(super) fn name_records(api: &mut ApiDoc) {
    let is_loose = |(name, doc): &(&String, &FieldDoc)| {
        is_id(name) && doc.reference.is_none() && doc.place == Some(Place::Body)
    };
    let loose: Vec<String> =
        api.parameters.iter().filter(is_loose).map(|(name, _)| format!("{{{name}}}")).collect();
    api.phrases.imperative.retain(|phrase| !loose.iter().any(|key| phrase.contains(key.as_str())));
    for (name, _) in api.parameters.iter().filter(|(_, doc)| doc.reference.is_some()) {
        let key = label(name);
        let said = |noun: &str| format!("the {noun} {{{name}}}");
        let changed = |noun: &str| format!("the {noun} of ");
        for phrase in &mut api.phrases.imperative {
            *phrase = phrase.replace(&said(&key), &said(without_id(&key)));
            if phrase.ends_with(&format!(" to {{{name}}}")) {
                *phrase = phrase.replace(&changed(&key), &changed(without_id(&key)));
            }
        }
    }
}

/// Adds questions and statements to a field that users ask about.
pub(super) fn field(name: &str, shape: &Shape, doc: &mut FieldDoc) {
    let description = shape.description.as_deref();
    let is_duration =
        shape.format.as_deref() == Some("duration") || description.is_some_and(changes::is_duration);
    let is_number = matches!(shape.kind, Kind::Integer | Kind::Number);
    // Seconds since 1970 are a timestamp, and users do not speak in them.
    let is_seconds = is_number && description.is_some_and(|text| text.to_lowercase().contains("timestamp"));
    let is_secret = words(name).iter().any(|part| nouns::is("secrets", part) || part == "error");
    if is_duration || is_seconds || is_secret || is_untold(name) {
        return;
    }
    // A number that is a timestamp is stored as one, and has no unit.
    if matches!(doc.kind, Some(TypeName::Integer | TypeName::Number)) && doc.unit.is_none() {
        doc.unit = description.and_then(described_unit).map(str::to_owned);
    }
    let Some(values) = values_of(doc) else { return };
    let noun = match values {
        Values::Flag => meanings::without_is(&words(name)).join(" "),
        _ => named(name, Some(doc)),
    };
    if let Some(meaning) = meanings::of(name, values) {
        let at_a_time = doc.kind == Some(TypeName::Time);
        let put = |words: &&str| {
            let words = words.replace("{noun}", &noun);
            if at_a_time { words.replace(" on {value}", " at {value}") } else { words }
        };
        doc.ask = meaning.asks.iter().map(put).collect();
        doc.say = meaning.says.iter().map(put).collect();
        if values == Values::Flag {
            doc.label = Some(noun);
        }
        return;
    }
    let told = match values {
        Values::Moment => when_done(name),
        Values::Number | Values::Measure => changes::counted(name).map(|counted| {
            let ask = format!("How many {counted} does {{it}} have?");
            (ask, format!("{{it}} has {{value}} {counted}."))
        }),
        _ => None,
    };
    if let Some((ask, say)) = told {
        (doc.ask, doc.say) = (vec![ask], vec![say]);
    }
}

/// Adds the currency beside an amount to statements of it.
/// Without a currency or a unit, no question asks for the amount.
pub(super) fn tell_currencies(fields: &mut IndexMap<String, FieldDoc>) {
    let currency = fields.keys().find(|name| is_currency(name) && is_identifier(name)).cloned();
    for (_, doc) in fields.iter_mut().filter(|(name, doc)| is_bare_amount(name, doc)) {
        let Some(currency) = &currency else {
            doc.ask.clear();
            doc.say.clear();
            continue;
        };
        for words in &mut doc.say {
            *words = words.replace("{value}", &format!("{{value}} {{{currency}}}"));
        }
    }
}

/// Returns true if a number is an amount of money without a unit of its own.
pub(super) fn is_bare_amount(name: &str, doc: &FieldDoc) -> bool {
    let is_number = matches!(doc.kind, Some(TypeName::Integer | TypeName::Number));
    is_number && doc.unit.is_none() && meanings::is_money(doc.label.as_deref().unwrap_or(name))
}

/// Returns true if a member holds the currency of amounts beside it.
pub(super) fn is_currency(name: &str) -> bool {
    let said = words(name);
    let said = said.strip_suffix(&["code".to_owned()]).unwrap_or(&said);
    said.last().is_some_and(|last| last == "currency")
}

/// Returns a question and an answer for the timestamp of an action: `approved_at`, `date_paid`, `delivered`.
fn when_done(name: &str) -> Option<(String, String)> {
    let parts = words(name);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let verb = match parts.as_slice() {
        [verb, "at" | "on" | "date" | "time"] | ["date" | "time", verb] | [verb] => verb,
        _ => return None,
    };
    // Only verbs of an agent fit the passive.
    (verb.ends_with("ed") || *verb == "sent" || *verb == "paid").then_some(())?;
    verbs::is_done(verb)
        .then(|| (format!("When was {{it}} {verb}?"), format!("{{it}} was {verb} on {{value}}.")))
}

/// Returns the kind of a field's values; none for placeholders, constants and codes.
fn values_of(doc: &FieldDoc) -> Option<Values> {
    if is_anything(doc) {
        return None;
    }
    let maker = maker(doc);
    let picked = maker.filter(|made| made.get("provider").is_some_and(|provider| provider == "pick"));
    let picked = picked.and_then(|made| made.get("of")?.as_array());
    match doc.kind {
        Some(TypeName::Date | TypeName::DateTime | TypeName::Time) => Some(Values::Moment),
        Some(TypeName::Boolean) => Some(Values::Flag),
        // A number that stands for a kind is a code.
        Some(TypeName::Integer | TypeName::Number) if picked.is_some() => None,
        Some(TypeName::Integer | TypeName::Number) if doc.unit.is_some() => Some(Values::Measure),
        Some(TypeName::Integer | TypeName::Number) => Some(Values::Number),
        _ if !doc.values.is_empty() => read_as_words(&doc.values).then_some(Values::Word),
        Some(TypeName::String) => match (picked, maker?) {
            (Some(picked), _) => {
                let values: Option<Vec<&str>> = picked.iter().map(Json::as_str).collect();
                read_as_words(&values?).then_some(Values::Word)
            }
            (None, Json::String(made)) if made == "person_name" => Some(Values::Person),
            (None, Json::String(made)) => {
                (!is_filler(made) && !nouns::is("programs", made)).then_some(Values::Text)
            }
            (None, made) => made.get("provider").is_some_and(|own| own == "template").then_some(Values::Text),
        },
        _ => None,
    }
}

/// Returns the provider of a field's values, where it has one.
fn maker(doc: &FieldDoc) -> Option<&Json> {
    let fake = doc.fake.as_ref()?;
    let is_chance = fake.get("provider").is_some_and(|made| made == "chance");
    if is_chance { fake.get("of") } else { Some(fake) }
}

/// Returns true if a provider writes generic sentences or names.
fn is_filler(maker: &str) -> bool {
    nouns::is("fillers", maker)
}

/// Returns true if a field's values carry no information for users: generic prose, any name, a long code.
pub(super) fn says_nothing(name: &str, doc: &FieldDoc) -> bool {
    let Some(maker) = maker(doc) else { return false };
    let made = maker.as_str().unwrap_or_default();
    let describes = words(name).last().is_some_and(|last| nouns::is("descriptions", last));
    let is_long = maker.get("format").and_then(Json::as_str).is_some_and(|format| format.contains("xxxxx"));
    made == ANY_NAME || is_long || nouns::is("opaque", made) || describes && is_filler(made)
}

/// Returns true if there are several values and all are ordinary words: `IN_PROGRESS`, and not `INT64`.
fn read_as_words(values: &[impl AsRef<str>]) -> bool {
    const MAX_CHARS: usize = 24;
    let is_word = |value: &str| {
        value.len() > 1
            && value.len() <= MAX_CHARS
            && value.chars().all(|letter| letter.is_alphabetic() || " _-".contains(letter))
            // Users do not pronounce `BYOS`. Words such as `OPEN` have vowels.
            && words(value).iter().all(|word| word.len() > 1 && word.contains(is_vowel))
    };
    values.len() > 1 && values.iter().all(|value| is_word(value.as_ref()))
}

fn is_vowel(letter: char) -> bool {
    "aeiouyäöüáéíóúàèìòùâêîôûãõå".contains(letter)
}

/// Returns true if only programs read a member of this name: `key1`, `eTag`.
fn is_untold(name: &str) -> bool {
    let parts = words(name);
    let last = parts.last().map_or("", |last| last.trim_end_matches(|c: char| c.is_ascii_digit()));
    nouns::is("untold", last) || nouns::is("untold", &parts.concat())
}

/// Adds required parameters that a phrase lacks. `refers` tells whether records of one resource belong to
/// those of another.
pub(super) fn complete(
    api: &mut ApiDoc,
    refers: &dyn Fn(&str, &str) -> bool,
    is_given: &dyn Fn(&str) -> bool,
) {
    let first_parts: Vec<(String, String)> = first_parts(api);
    let (phrases, parameters) = (&mut api.phrases, &api.parameters);
    let is_path = |doc: &FieldDoc| doc.place == Some(Place::Path);
    // A choice in the middle of a path has no noun.
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
        // Brackets hold optional parts.
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
        // "Remove" may leave a record in existence, and "delete" does not.
        if deletes && !path.is_empty() && phrase.starts_with("remove ") {
            *phrase = phrase.replacen("remove ", "delete ", 1);
        }
        let mut whose = String::new();
        // Parameters of the path name the owners, the nearest first.
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
                // A guild does not belong to the application.
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

/// Returns adjacent parameters that are parts of one key: `{owner}/{repo}`.
fn first_parts(api: &ApiDoc) -> Vec<(String, String)> {
    let text = |doc: &FieldDoc| doc.reference.is_none() && doc.kind == Some(TypeName::String);
    let known = api.parameters.iter().filter(|(_, doc)| text(doc) && doc.values.is_empty());
    let pair = |name: &String| {
        let (_, after) = api.path.split_once(&format!("{{{name}}}/{{"))?;
        Some((name.clone(), after.split('}').next()?.to_owned()))
    };
    known.filter_map(|(name, _)| pair(name)).collect()
}

/// Returns true if a noun names people. English says "of" a person and not "in" one.
fn is_person(noun: &str) -> bool {
    provider_of_name(noun) == "person_name"
}

/// Returns noun phrases for a list: with optional arguments in brackets, and with one or two of them said.
pub(super) fn list(adjective: &str, nouns: &str, arguments: &[(String, String, bool)]) -> PhrasesDoc {
    let mut head = if adjective.is_empty() { nouns.to_owned() } else { format!("{adjective} {nouns}") };
    let said = |(name, text, _): &(String, String, bool)| text.replace("{}", &format!("{{{name}}}"));
    for argument in arguments.iter().filter(|(_, _, required)| *required) {
        head.push_str(&format!(" {}", said(argument)));
    }
    let mut optional: Vec<String> = arguments.iter().filter(|(_, _, required)| !required).map(said).collect();
    // Owners come before other filters.
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

/// The greatest number of optional arguments that phrases say, each alone and with the next.
const MOST_SAID: usize = 3;

/// Returns true if a timestamp is the time of the event and needs no name: "book a visit tomorrow at nine".
fn says_when(name: &str) -> bool {
    let parts = words(name);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    matches!(
        parts.as_slice(),
        ["date" | "day" | "time" | "when" | "at" | "on" | "start" | "moment"]
            | [
                "start" | "starts" | "scheduled" | "appointment" | "booking",
                "at" | "on" | "time" | "date" | "for"
            ]
    )
}

#[cfg(test)]
mod tests;
