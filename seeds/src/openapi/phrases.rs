//! Words for people: questions about fields, requests for operations. Generic English, by names and kinds.

use indexmap::IndexMap;

use super::entities::Entity;
use super::fakes::moment;
use super::shape::{Kind, Shape};
use super::words::{label, plural, singular, words};
use crate::doc::{FieldDoc, PhrasesDoc};

/// Adds questions and statements to a field.
pub(super) fn field(name: &str, shape: &Shape, doc: &mut FieldDoc) {
    let noun = label(name);
    let parts = words(name);
    let last = parts.last().map(String::as_str).unwrap_or_default();
    let has = |word: &str| parts.iter().any(|part| part == word);
    let (ask, say): (Vec<String>, Vec<String>) = match &shape.kind {
        _ if ["id", "path", "key", "token", "url", "hash"].contains(&last) => return,
        Kind::String | Kind::Enum(_) if moment(name, shape).is_some() => {
            let (question, statement) = match last {
                "birthday" | "birthdate" => {
                    ("When was {it} born?".to_owned(), "{it} was born {value}.".to_owned())
                }
                "deathday" => ("When did {it} die?".to_owned(), "{it} died {value}.".to_owned()),
                _ => match (parts.first().map(String::as_str), last) {
                    (Some("release" | "released"), _) => {
                        ("When was {it} released?".to_owned(), "{it} was released {value}.".to_owned())
                    }
                    (Some("air"), _) => ("When did {it} air?".to_owned(), "{it} aired {value}.".to_owned()),
                    (Some("first"), "date") if has("air") => {
                        ("When did {it} first air?".to_owned(), "{it} first aired {value}.".to_owned())
                    }
                    (Some("due"), _) => ("When is {it} due?".to_owned(), "{it} is due {value}.".to_owned()),
                    (Some(verb), "at") if verb.ends_with("ed") => {
                        (format!("When was {{it}} {verb}?"), format!("{{it}} was {verb} {{value}}."))
                    }
                    _ => (
                        format!("What is the {noun} of {{it}}?"),
                        format!("The {noun} of {{it}} is {{value}}."),
                    ),
                },
            };
            (vec![question], vec![statement])
        }
        Kind::Integer | Kind::Number => match last {
            "runtime" | "duration" => (
                vec!["How long is {it}?".to_owned(), format!("What is the {noun} of {{it}}?")],
                vec!["{it} takes {value}.".to_owned()],
            ),
            "price" | "cost" | "fee" => (
                vec!["How much does {it} cost?".to_owned(), format!("What is the {noun} of {{it}}?")],
                vec!["{it} costs {value}.".to_owned()],
            ),
            "count" => {
                let mut counted = parts.get(..parts.len() - 1).unwrap_or_default().to_vec();
                if let Some(last) = counted.last_mut() {
                    *last = singular(last);
                }
                let counted = plural(&counted.join(" "));
                (
                    vec![format!("How many {counted} does {{it}} have?")],
                    vec![format!("{{it}} has {{value}} {counted}.")],
                )
            }
            _ => (
                vec![format!("What is the {noun} of {{it}}?"), format!("What {noun} does {{it}} have?")],
                vec![format!("The {noun} of {{it}} is {{value}}.")],
            ),
        },
        Kind::String => match last {
            "homepage" | "website" => (
                vec!["What is the homepage of {it}?".to_owned()],
                vec!["The homepage of {it} is {value}.".to_owned()],
            ),
            "headquarters" => (
                vec!["Where is {it} based?".to_owned(), "Where are the headquarters of {it}?".to_owned()],
                vec!["{it} is based in {value}.".to_owned()],
            ),
            "birth" if has("place") => {
                (vec!["Where was {it} born?".to_owned()], vec!["{it} was born in {value}.".to_owned()])
            }
            _ => (
                vec![format!("What is the {noun} of {{it}}?")],
                vec![format!("The {noun} of {{it}} is {{value}}.")],
            ),
        },
        Kind::Enum(_) => (
            vec![format!("What is the {noun} of {{it}}?")],
            vec![format!("The {noun} of {{it}} is {{value}}.")],
        ),
        _ => return,
    };
    doc.ask = ask;
    doc.say = say;
}

/// How people ask for a record.
pub(super) fn details(entity: &Entity, key: &str) -> PhrasesDoc {
    let noun = label(&entity.name);
    let it = format!("{{{key}}}");
    PhrasesDoc {
        imperative: vec![
            format!("tell me about the {noun} {it}"),
            format!("show the details of the {noun} {it}"),
            format!("look up the {noun} {it}"),
        ],
        ..PhrasesDoc::default()
    }
}

/// Adds what a request must say: required parameters that no words stand for yet.
pub(super) fn complete(phrases: &mut PhrasesDoc, parameters: &IndexMap<String, FieldDoc>) {
    let required: Vec<&String> = parameters
        .iter()
        .filter(|(_, doc)| !doc.optional && doc.default.is_none())
        .map(|(name, _)| name)
        .collect();
    for phrase in phrases.imperative.iter_mut().chain(&mut phrases.noun) {
        for name in &required {
            let said = format!("{{{name}}}");
            // Brackets hold what may be left out.
            let mut depth = 0_u32;
            let outside: String = phrase
                .chars()
                .filter(|c| {
                    match c {
                        '[' => depth += 1,
                        ']' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    depth == 0
                })
                .collect();
            if !outside.contains(&said) {
                phrase.push_str(&format!(" with {} {said}", label(name)));
            }
        }
    }
}

/// How people ask for what is theirs, or the only one of its kind.
pub(super) fn own(entity: &Entity, route: &super::routes::Route) -> PhrasesDoc {
    use super::routes::StepKind;
    let mine = route.chain.iter().any(|step| step.kind == StepKind::Me);
    let me = route.subject().is_some_and(|step| step.kind == StepKind::Me);
    let noun = if me { "profile".to_owned() } else { label(&entity.name) };
    let noun = match route.tail.last() {
        Some(what) => format!("{} of {} {noun}", label(what), if mine { "my" } else { "the" }),
        None => noun,
    };
    let article = if mine && route.tail.is_empty() { "my" } else { "the" };
    PhrasesDoc {
        imperative: vec![format!("show me {article} {noun}"), format!("look up {article} {noun}")],
        ..PhrasesDoc::default()
    }
}

/// How people ask for a view of a record: its credits, its pictures.
pub(super) fn view(entity: &Entity, keys: &[String], what: &str) -> PhrasesDoc {
    let noun = label(&entity.name);
    let what = label(what);
    let it = keys.iter().map(|key| format!("{{{key}}}")).collect::<Vec<_>>();
    let it = match it.as_slice() {
        [only] => format!("the {noun} {only}"),
        [first, rest @ ..] => {
            let places: Vec<String> = rest
                .iter()
                .zip(keys.iter().skip(1))
                .map(|(place, key)| format!("{} {place}", label(key).replace(" number", "")))
                .collect();
            format!("{}, {first}", places.join(", "))
        }
        [] => format!("the {noun}"),
    };
    PhrasesDoc {
        imperative: vec![
            format!("show me the {what} of {it}"),
            format!("get the {what} of {it}"),
            format!("find out the {what} of {it}"),
        ],
        ..PhrasesDoc::default()
    }
}

/// A noun phrase for a list, with its arguments in brackets where they are optional.
pub(super) fn list(adjective: &str, nouns: &str, arguments: &[(String, String, bool)]) -> PhrasesDoc {
    let mut phrase = if adjective.is_empty() { nouns.to_owned() } else { format!("{adjective} {nouns}") };
    for (name, text, required) in arguments {
        let text = text.replace("{}", &format!("{{{name}}}"));
        phrase.push_str(&if *required { format!(" {text}") } else { format!("[ {text}]") });
    }
    PhrasesDoc { noun: vec![phrase], ..PhrasesDoc::default() }
}

/// How people ask for an action on the only thing of its kind, in the words of its name: `SetVolume` with one
/// argument is `set volume to {volume}`.
pub(super) fn act(
    name: &str,
    arguments: &IndexMap<String, FieldDoc>,
    required: &[String],
    optional: &[String],
) -> PhrasesDoc {
    let mut phrase = words(name).join(" ");
    let moment = |name: &String| {
        let kind = arguments.get(name).and_then(|doc| doc.kind.as_deref());
        kind.is_some_and(|kind| ["date", "time", "date-time"].contains(&kind))
    };
    match required {
        [only] if !moment(only) => phrase.push_str(&format!(" to {{{only}}}")),
        _ => {
            for name in required {
                let text = if moment(name) { String::new() } else { format!("with {} ", label(name)) };
                phrase.push_str(&format!(" {text}{{{name}}}"));
            }
        }
    }
    for name in optional {
        let of = arguments.get(name).is_some_and(|doc| doc.reference.is_some());
        let text = match (moment(name), of) {
            (true, _) => String::new(),
            (false, true) => "of ".to_owned(),
            (false, false) => format!("with {} ", label(name)),
        };
        phrase.push_str(&format!("[ {text}{{{name}}}]"));
    }
    PhrasesDoc { imperative: vec![phrase], ..PhrasesDoc::default() }
}

/// How people ask for a change: the operation's own words, its required arguments behind them.
pub(super) fn change(
    verb: &str,
    noun: &str,
    key: Option<&str>,
    arguments: &IndexMap<String, FieldDoc>,
    (required, optional): (&[String], &[String]),
) -> PhrasesDoc {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) { "an" } else { "a" };
    let mut phrase = match key {
        Some(key) => format!("{verb} the {noun} {{{key}}}"),
        None => format!("{verb} {article} {noun}"),
    };
    // Moments bring their own words ("tomorrow at nine"), records stand for themselves.
    let part = |name: &String| {
        let doc = arguments.get(name);
        if doc.is_some_and(|doc| doc.reference.is_some()) {
            format!(" for {{{name}}}")
        } else if doc
            .and_then(|doc| doc.kind.as_deref())
            .is_some_and(|kind| ["date", "time", "date-time"].contains(&kind))
        {
            format!(" {{{name}}}")
        } else {
            format!(" with {} {{{name}}}", label(name))
        }
    };
    for name in required {
        phrase.push_str(&part(name));
    }
    for name in optional {
        phrase.push_str(&format!("[{}]", part(name)));
    }
    PhrasesDoc { imperative: vec![phrase], ..PhrasesDoc::default() }
}
