//! Words for people: questions about fields, requests for operations. Generic English, by names and kinds.

use indexmap::IndexMap;

use super::entities::Entity;
use super::fakes::moment;
use super::shape::{Kind, Shape};
use super::words::{label, measured, plural, singular, words};
use crate::doc::{FieldDoc, PhrasesDoc};

/// Gives a value its name for people, and a number its unit where the name says it.
pub(super) fn name(name: &str, doc: &mut FieldDoc) {
    let number = doc.kind.as_deref().is_some_and(|kind| ["integer", "number", "decimal"].contains(&kind));
    match measured(name).filter(|_| number) {
        Some((what, unit)) => (doc.label, doc.unit) = (Some(what), Some(unit.to_owned())),
        None => doc.label = Some(label(name)),
    }
}

/// Adds questions and statements to a field.
pub(super) fn field(name: &str, shape: &Shape, doc: &mut FieldDoc) {
    let noun = doc.label.clone().unwrap_or_else(|| label(name));
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
                    (Some(verb), "at") if parts.len() == 2 && verb.ends_with('s') => (
                        format!("When does {{it}} {}?", verb.trim_end_matches('s')),
                        format!("{{it}} {verb} {{value}}."),
                    ),
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
            if outside.contains(&said) {
                continue;
            }
            let doc = parameters.get(*name);
            let noun = doc.and_then(|doc| doc.label.clone()).unwrap_or_else(|| label(name));
            phrase.push_str(&match doc {
                // What stands in the path is whose it is.
                Some(FieldDoc { place: Some(place), reference: Some(_), .. }) if place == "path" => {
                    format!(" of the {noun} {said}")
                }
                Some(FieldDoc { place: Some(place), .. }) if place == "path" => format!(" of {noun} {said}"),
                doc => format!(" with {}", part(name, doc)),
            });
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

/// How people ask for an action on the only thing of its kind, in the words of its name: `SetVolume` with one
/// argument is `set volume to {volume}`.
pub(super) fn act(
    name: &str,
    summary: &str,
    arguments: &IndexMap<String, FieldDoc>,
    required: &[String],
    optional: &[String],
) -> PhrasesDoc {
    let mut phrase = clause(summary).unwrap_or_else(|| words(name).join(" "));
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

/// How people ask for a change: a verb and its object, what is required, and up to two things that need not be said.
pub(super) fn change(
    verb: &str,
    noun: &str,
    key: Option<&str>,
    arguments: &IndexMap<String, FieldDoc>,
    (required, optional): (&[String], &[String]),
) -> PhrasesDoc {
    let object = match key {
        Some(key) => format!("the {noun} {{{key}}}"),
        None if noun.starts_with("my ") => noun.to_owned(),
        None => format!("the {noun}"),
    };
    let mut heads = Vec::new();
    for verb in verbs(verb) {
        heads.push(match key {
            Some(_) => format!("{verb} {object}"),
            None if verb.ends_with(" new") => format!("{verb} {noun}"),
            None if verb == "add" => format!("{verb} {} {noun}", article(noun)),
            None => format!("{verb} {object}"),
        });
    }
    let optional: Vec<&str> = optional.iter().map(String::as_str).collect();
    let mut said: Vec<Vec<&str>> = vec![Vec::new()];
    for (position, first) in optional.iter().enumerate().take(MOST_SAID) {
        said.push(vec![first]);
        said.extend(optional.get(position + 1).map(|second| vec![*first, *second]));
    }
    let mut phrases: Vec<String> = Vec::new();
    if let ("change", []) = (verb, required) {
        phrases.extend(said.iter().filter(|said| !said.is_empty()).map(|said| set(&object, said, arguments)));
    } else {
        let of = said.iter().enumerate().filter_map(|(position, said)| {
            let head = heads.get(position % heads.len())?;
            let all: Vec<&str> = required.iter().map(String::as_str).chain(said.iter().copied()).collect();
            Some(format!("{head}{}", with(&all, arguments)))
        });
        phrases.extend(of);
        // Where there is one way to say it, each verb says it.
        if said.len() == 1 {
            let all: Vec<&str> = required.iter().map(String::as_str).collect();
            phrases.extend(heads.iter().skip(1).map(|head| format!("{head}{}", with(&all, arguments))));
        }
    }
    if phrases.is_empty() {
        phrases.extend(heads);
    }
    PhrasesDoc { imperative: phrases, ..PhrasesDoc::default() }
}

/// How people ask for an action on a record: by its verb, or in the words of the operation where its path names a thing
/// (`DELETE /applications/{id}/token`).
pub(super) fn action(
    verb: &[String],
    summary: &str,
    noun: &str,
    key: Option<&str>,
    arguments: &IndexMap<String, FieldDoc>,
    (required, optional): (&[String], &[String]),
) -> PhrasesDoc {
    let acts = verb
        .first()
        .is_some_and(|first| VERBS.contains(&first.as_str()) || UNDOING.contains(&first.as_str()));
    let Some(clause) = clause(summary).filter(|_| !acts) else {
        return change(&verb.join(" "), noun, key, arguments, (required, optional));
    };
    let of = key.map(|key| format!("the {noun} {{{key}}}")).unwrap_or_default();
    let clause = if of.is_empty() { clause } else { about(&clause, noun, &of) };
    let mut said: Vec<Vec<&str>> = vec![required.iter().map(String::as_str).collect()];
    for name in optional.iter().take(MOST_SAID) {
        said.push(required.iter().chain([name]).map(String::as_str).collect());
    }
    let imperative = said.iter().map(|said| format!("{clause}{}", with(said, arguments))).collect();
    PhrasesDoc { imperative, ..PhrasesDoc::default() }
}

/// A summary as a clause: `Cancels a pick-up.` and `Cancel a pick-up` are `cancel a pick-up`. Long ones are no clauses.
fn clause(summary: &str) -> Option<String> {
    let sentence = summary.trim().trim_end_matches('.');
    let plain = |c: char| !matches!(c, '{' | '}' | '[' | ']' | '`' | '.' | ':' | ';' | '\n');
    let (verb, rest) = sentence.split_once(' ')?;
    if !sentence.chars().all(plain)
        || sentence.split(' ').count() > 10
        || !verb.chars().all(char::is_alphabetic)
    {
        return None;
    }
    let verb = verb.to_lowercase();
    let verb = match verb.strip_suffix('s') {
        Some(stem) if !stem.ends_with('s') => stem,
        _ => &verb,
    };
    // The document speaks to the user, the user of itself.
    let rest = format!(" {rest} ").replace(" your ", " my ").replace(" the authenticated user ", " me ");
    Some(format!("{verb} {}", rest.trim()))
}

/// `set a limit for an enterprise` about `the enterprise X` is `set a limit for the enterprise X`.
fn about(clause: &str, noun: &str, object: &str) -> String {
    let whole = |article: &str| format!(" {article} {noun}");
    match ["a", "an", "the"].iter().find_map(|article| clause.strip_suffix(&whole(article))) {
        Some(before) => format!("{before} {object}"),
        None => format!("{clause} for {object}"),
    }
}

/// Last words of paths that are verbs.
const VERBS: [&str; 88] = [
    "accept",
    "acknowledge",
    "activate",
    "approve",
    "archive",
    "assign",
    "authorize",
    "ban",
    "block",
    "book",
    "buy",
    "cancel",
    "capture",
    "charge",
    "check",
    "clear",
    "clone",
    "close",
    "complete",
    "confirm",
    "copy",
    "deactivate",
    "decline",
    "deliver",
    "deny",
    "deploy",
    "disable",
    "dismiss",
    "duplicate",
    "enable",
    "end",
    "escalate",
    "execute",
    "expire",
    "fail",
    "finish",
    "flag",
    "follow",
    "fork",
    "freeze",
    "hide",
    "hold",
    "ignore",
    "install",
    "invite",
    "join",
    "leave",
    "like",
    "lock",
    "mark",
    "merge",
    "move",
    "mute",
    "open",
    "pause",
    "pay",
    "pin",
    "play",
    "publish",
    "reactivate",
    "redeliver",
    "refund",
    "reject",
    "release",
    "remind",
    "renew",
    "reopen",
    "rerun",
    "resend",
    "reset",
    "resolve",
    "restart",
    "restore",
    "resume",
    "retry",
    "return",
    "revoke",
    "run",
    "schedule",
    "seek",
    "send",
    "set",
    "ship",
    "star",
    "start",
    "stop",
    "submit",
    "suspend",
];
/// More of them, most of which take something back.
const UNDOING: [&str; 18] = [
    "sync",
    "test",
    "transfer",
    "trigger",
    "unarchive",
    "unassign",
    "unban",
    "unblock",
    "undo",
    "unfollow",
    "unhide",
    "unlike",
    "unlock",
    "unmute",
    "unpin",
    "unstar",
    "void",
    "withdraw",
];

/// Of so many optional arguments a request speaks, each alone and with the next.
const MOST_SAID: usize = 3;

/// The verb that the method stands for, in other words.
fn verbs(verb: &str) -> Vec<&str> {
    match verb {
        "add" => vec!["add", "create a new"],
        "delete" => vec!["delete", "remove"],
        "replace" => vec!["update", "overwrite"],
        verb => vec![verb],
    }
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) { "an" } else { "a" }
}

/// `change the recipient of the parcel {code} to {recipient} and the service to {service}`.
fn set(object: &str, said: &[&str], arguments: &IndexMap<String, FieldDoc>) -> String {
    let is_moment = |name: &&&str| arguments.get(**name).is_some_and(moment_of);
    let (moments, others): (Vec<&&str>, Vec<&&str>) = said.iter().partition(is_moment);
    let named = |name: &str| match arguments.get(name).and_then(|doc| doc.label.clone()) {
        Some(label) => label,
        None => label(name),
    };
    let mut phrase = "change ".to_owned();
    for (position, name) in others.iter().enumerate() {
        let of = if position == 0 { format!(" of {object}") } else { String::new() };
        let and = if position == 0 { "" } else { " and " };
        let quote = if arguments.get(**name).is_some_and(|doc| is_prose(name, doc)) { "\"" } else { "" };
        phrase.push_str(&format!("{and}the {}{of} to {quote}{{{name}}}{quote}", named(name)));
    }
    if others.is_empty() {
        phrase.push_str(object);
    }
    for (position, name) in moments.iter().enumerate() {
        // A moment brings its own preposition: "on Friday", "tomorrow at nine".
        let joint = if position == 0 { " so that" } else { " and" };
        phrase.push_str(&format!("{joint} its {} is {{{name}}}", named(name)));
    }
    phrase
}

/// What follows the object: whom it is for, when, and what it is to be like.
fn with(said: &[&str], arguments: &IndexMap<String, FieldDoc>) -> String {
    let doc = |name: &str| arguments.get(name);
    let mut phrase = String::new();
    let whom = said.iter().find(|name| doc(name).is_some_and(|doc| doc.reference.is_some()));
    if let Some(whom) = whom {
        phrase.push_str(&format!(" for {{{whom}}}"));
    }
    let moments: Vec<&&str> = said.iter().filter(|name| doc(name).is_some_and(moment_of)).collect();
    let lone = match moments.as_slice() {
        [only] if says_when(only) => Some(**only),
        _ => None,
    };
    if let Some(moment) = lone {
        phrase.push_str(&format!(" {{{moment}}}"));
    }
    let rest = said.iter().filter(|name| whom != Some(*name) && lone != Some(**name));
    let parts: Vec<String> = rest.map(|name| part(name, doc(name))).collect();
    match parts.as_slice() {
        [] => {}
        [only] => phrase.push_str(&format!(" with {only}")),
        [all @ .., last] => phrase.push_str(&format!(" with {} and {last}", all.join(", "))),
    }
    phrase
}

/// An argument as it stands behind "with".
fn part(name: &str, doc: Option<&FieldDoc>) -> String {
    let noun = doc.and_then(|doc| doc.label.clone()).unwrap_or_else(|| label(name));
    let Some(doc) = doc else { return format!("the {noun} {{{name}}}") };
    let kind = doc.kind.as_deref().unwrap_or(if doc.values.is_empty() { "string" } else { "enum" });
    match kind {
        _ if doc.reference.is_some() => format!("the {noun} {{{name}}}"),
        "integer" | "number" | "decimal" => match counted(name) {
            Some(things) => format!("{{{name}}} {things}"),
            None => format!("{} {noun} of {{{name}}}", article(&noun)),
        },
        "boolean" => format!("{noun} set to {{{name}}}"),
        "enum" => format!("the {noun} set to {{{name}}}"),
        _ if moment_of(doc) => {
            let noun = noun.trim_end_matches(" at").trim_end_matches(" on");
            format!("{} {noun} {{{name}}}", article(noun))
        }
        _ if is_prose(name, doc) => format!("the {noun} \"{{{name}}}\""),
        _ => format!("the {noun} {{{name}}}"),
    }
}

/// Whether a moment is when the whole takes place, so that it needs no name: "book a visit tomorrow at nine".
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

/// What a number counts: `parcels_count` and `num_parcels` count parcels.
fn counted(name: &str) -> Option<String> {
    let parts = words(name);
    let things = match parts.as_slice() {
        [things @ .., last] if last == "count" && !things.is_empty() => things,
        [first, things @ ..] if ["num", "no"].contains(&first.as_str()) && !things.is_empty() => things,
        [first, of, things @ ..] if first == "number" && of == "of" && !things.is_empty() => things,
        _ => return None,
    };
    let (last, before) = things.split_last()?;
    Some(before.iter().cloned().chain([plural(&singular(last))]).collect::<Vec<_>>().join(" "))
}

/// Whether a text is one that people quote.
fn is_prose(name: &str, doc: &FieldDoc) -> bool {
    const PROSE: [&str; 14] = [
        "note",
        "notes",
        "remark",
        "remarks",
        "comment",
        "description",
        "title",
        "message",
        "text",
        "content",
        "subject",
        "summary",
        "reason",
        "body",
    ];
    let text = doc.kind.as_deref().is_none_or(|kind| kind == "string") && doc.values.is_empty();
    text && words(name).last().is_some_and(|last| PROSE.contains(&last.as_str()))
}

fn moment_of(doc: &FieldDoc) -> bool {
    doc.kind.as_deref().is_some_and(|kind| ["date", "time", "date-time"].contains(&kind))
}
