//! Writes requests that create, change, delete or act, with their arguments.

use diorama_seeds::doc::{FieldDoc, PhrasesDoc, TypeName};
use diorama_seeds::materialise::provider_of_name;
use indexmap::IndexMap;

use super::verbs::VERBS;
use super::{MOST_SAID, named, says_when};
use crate::nouns;
use crate::words::{article, enumerate, label, plural, singular, words};

/// Returns the request for an action on a singleton, in the words of its name.
/// `SetVolume` with one argument becomes `set volume to {volume}`.
pub(crate) fn act(
    name: &str,
    summary: &str,
    arguments: &IndexMap<String, FieldDoc>,
    required: &[String],
    optional: &[String],
) -> PhrasesDoc {
    let mut phrase = clause(summary).unwrap_or_else(|| words(name).join(" "));
    let moment = |name: &String| arguments.get(name).is_some_and(is_moment);
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

/// Returns the requests for a change: a verb and its object, the required arguments, and up to two optional
/// ones.
pub(crate) fn change(
    verb: &str,
    noun: &str,
    key: Option<&str>,
    arguments: &IndexMap<String, FieldDoc>,
    said: (&[String], &[String]),
) -> PhrasesDoc {
    let object = match key {
        Some(key) => format!("the {noun} {{{key}}}"),
        None if noun.starts_with("my ") => noun.to_owned(),
        None => format!("the {noun}"),
    };
    ask(verb, (noun, object, key), arguments, said)
}

/// Returns the requests for a new record.
pub(crate) fn make(
    verb: &str,
    noun: &str,
    arguments: &IndexMap<String, FieldDoc>,
    said: (&[String], &[String]),
) -> PhrasesDoc {
    let object = format!("{} {noun}", article(noun));
    ask(verb, (noun, object, None), arguments, said)
}

fn ask(
    verb: &str,
    (noun, object, key): (&str, String, Option<&str>),
    arguments: &IndexMap<String, FieldDoc>,
    (required, optional): (&[String], &[String]),
) -> PhrasesDoc {
    // A key in the body names the object, as one in the path does.
    let others = |all: &[String]| -> Vec<String> {
        all.iter().filter(|name| key != Some(name.as_str())).cloned().collect()
    };
    let (required, optional) = (others(required), others(optional));
    if verb == "change" && required.is_empty() && optional.is_empty() {
        return PhrasesDoc::default();
    }
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
    let moment = |name: &str| arguments.get(name).is_some_and(is_moment);
    for (position, first) in optional.iter().enumerate().take(MOST_SAID) {
        said.push(vec![first]);
        let next = optional.get(position + 1).filter(|next| !moment(next) && !moment(first));
        said.extend(next.map(|second| vec![*first, *second]));
    }
    // A new record gets at least one argument: its name, where it has one.
    if key.is_none() && required.is_empty() && said.len() > 1 {
        said.remove(0);
        if said.iter().flatten().any(|name| is_name(name)) {
            said.retain(|said| said.iter().any(|name| is_name(name)));
        } else if verb != "change" && said.len() > 1 {
            // Without a name only the text of a message identifies the new record.
            let writes = |name: &&&str| {
                let last = words(name).pop().unwrap_or_default();
                ["message", "text", "content", "body", "subject"].contains(&last.as_str())
            };
            let first = said.first().and_then(|said| said.first());
            if first.filter(writes).is_none() {
                return PhrasesDoc::default();
            }
        }
    }
    let mut phrases: Vec<String> = Vec::new();
    if verb == "change" {
        let all =
            said.iter().map(|said| required.iter().map(String::as_str).chain(said.iter().copied()).collect());
        let all = all.filter(|said: &Vec<&str>| !said.is_empty());
        phrases.extend(all.map(|said| set(&object, &said, arguments)));
    } else {
        let of = said.iter().enumerate().filter_map(|(position, said)| {
            let head = heads.get(position % heads.len())?;
            let all: Vec<&str> = required.iter().map(String::as_str).chain(said.iter().copied()).collect();
            Some(format!("{head}{}", told(verb, &all, arguments, noun)))
        });
        phrases.extend(of);
        // Every verb is used if there is one way to say the arguments.
        if let [only] = said.as_slice() {
            let all: Vec<&str> = required.iter().map(String::as_str).chain(only.iter().copied()).collect();
            phrases.extend(
                heads.iter().skip(1).map(|head| format!("{head}{}", told(verb, &all, arguments, noun))),
            );
        }
    }
    if phrases.is_empty() {
        phrases.extend(heads);
    }
    PhrasesDoc { imperative: phrases, ..PhrasesDoc::default() }
}

/// Returns the requests for an action on a record: by its verb, or by the summary where the path ends with a
/// noun.
/// Example of the latter: `DELETE /applications/{id}/token`.
pub(crate) fn action(
    verb: &[String],
    summary: &str,
    noun: &str,
    key: Option<&str>,
    arguments: &IndexMap<String, FieldDoc>,
    (required, optional): (&[String], &[String]),
) -> PhrasesDoc {
    let acts = verb.first().is_some_and(|first| VERBS.contains(&first.as_str()));
    let Some(clause) = clause(summary).filter(|_| !acts) else {
        return change(&verb.join(" "), noun, key, arguments, (required, optional));
    };
    let of = key.map(|key| format!("the {noun} {{{key}}}")).unwrap_or_default();
    let clause = if of.is_empty() { clause } else { about(&clause, noun, &of) };
    let mut said: Vec<Vec<&str>> = vec![required.iter().map(String::as_str).collect()];
    for name in optional.iter().take(MOST_SAID) {
        said.push(required.iter().chain([name]).map(String::as_str).collect());
    }
    let verb = clause.split(' ').next().unwrap_or_default();
    let imperative =
        said.iter().map(|said| format!("{clause}{}", told(verb, said, arguments, noun))).collect();
    PhrasesDoc { imperative, ..PhrasesDoc::default() }
}

/// Returns a summary as a clause: `Cancels a pick-up.` becomes `cancel a pick-up`. Longer summaries are
/// skipped.
fn clause(summary: &str) -> Option<String> {
    let sentence = summary.trim().trim_end_matches('.');
    let plain = |c: char| !matches!(c, '{' | '}' | '[' | ']' | '`' | '.' | ':' | ';' | '/' | '\n');
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
    // The document addresses the user, and users speak of themselves.
    let rest = format!(" {rest} ").replace(" your ", " my ").replace(" the authenticated user ", " me ");
    Some(format!("{verb} {}", rest.trim()))
}

/// Puts an object into a clause: `set a limit for an enterprise` becomes `set a limit for the enterprise X`.
fn about(clause: &str, noun: &str, object: &str) -> String {
    let whole = |article: &str| format!(" {article}{noun}");
    match ["a ", "an ", "the ", ""].iter().find_map(|article| clause.strip_suffix(&whole(article))) {
        Some(before) => format!("{before} {object}"),
        None => format!("{clause} for {object}"),
    }
}

/// Returns true if users give a value unasked: no boolean and no bare number.
pub(crate) fn is_said(name: &str, doc: &FieldDoc) -> bool {
    match doc.kind.as_deref() {
        Some("any" | "list" | "object" | "boolean") => false,
        _ if is_command(name, doc) => false,
        // The version of an API belongs to the protocol.
        _ if words(name) == ["api", "version"] => false,
        // Users do not say PT10M.
        _ if doc.description.as_deref().is_some_and(is_duration)
            || doc.format.as_deref() == Some("duration") =>
        {
            false
        }
        // A timestamp whose name is a clause has no noun.
        Some("date-time" | "date") => !words(name)
            .last()
            .is_some_and(|last| ["at", "on", "until", "timestamp"].contains(&last.as_str())),
        Some("integer" | "number") => {
            // A quantity counts the thing itself.
            let quantity = words(name).last().is_some_and(|last| last == "quantity");
            quantity || doc.unit.is_some() || counted(name).is_some()
        }
        // A single possible value goes without saying, and `created_by` is no noun.
        _ => doc.values.len() != 1 && words(name).last().is_none_or(|last| last != "by"),
    }
}

/// Returns true if a value is a command, which users give by its verb: an `action`, or one of `start` and
/// `stop`.
pub(crate) fn is_command(name: &str, doc: &FieldDoc) -> bool {
    let is_verb = |value: &&String| words(value).first().is_some_and(|first| VERBS.contains(&first.as_str()));
    let verbs = doc.values.iter().filter(is_verb).count();
    let is_named = words(name).last().is_some_and(|last| names_command(last));
    verbs > 1 && verbs * 2 > doc.values.len() || is_named
}

/// Returns true if a noun names commands.
pub(crate) fn names_command(noun: &str) -> bool {
    noun.rsplit(' ').next().is_some_and(|last| nouns::is("commands", last))
}

/// Returns true if a member is an address that the record is made for: a web hook's `url`, a signature's
/// `from_email`.
pub(crate) fn is_address(name: &str, doc: &FieldDoc, noun: &str) -> bool {
    let said = words(name);
    let said: Vec<&String> = said.iter().filter(|word| *word != "address").collect();
    let Some((last, before)) = said.split_last() else { return false };
    let of_noun = |word: &str| noun.split(' ').any(|part| part.to_lowercase() == word);
    doc.kind == Some(TypeName::String)
        && nouns::is("addresses", last)
        && before.iter().all(|word| of_noun(word) || nouns::is("addressees", word))
}

/// Returns true if a description says that a string is an ISO 8601 duration.
pub(super) fn is_duration(description: &str) -> bool {
    let lower = description.to_lowercase();
    lower.contains("duration") && lower.contains("iso")
}

/// Returns true if users say a value first: a name or a text.
pub(crate) fn comes_first(name: &str, doc: &FieldDoc) -> bool {
    is_prose(name, doc) || is_name(name)
}

/// Returns true if a member is the name of the record itself.
fn is_name(name: &str) -> bool {
    let parts = words(name);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    matches!(parts.as_slice(), ["name" | "title"] | ["friendly" | "display", "name"])
}

/// Returns the verbs that users have for a method.
fn verbs(verb: &str) -> Vec<&str> {
    match verb {
        "add" => vec!["add", "create a new"],
        "delete" => vec!["delete", "remove"],
        "replace" => vec!["update", "overwrite"],
        verb => vec![verb],
    }
}

/// Returns `change the recipient of the parcel {code} to {recipient} and the service to {service}`.
fn set(object: &str, said: &[&str], arguments: &IndexMap<String, FieldDoc>) -> String {
    let moment = |name: &&&str| arguments.get(**name).is_some_and(is_moment);
    let (moments, others): (Vec<&&str>, Vec<&&str>) = said.iter().partition(moment);
    let named = |name: &str| named(name, arguments.get(name));
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
        // A timestamp brings its own preposition: "on Friday", "tomorrow at nine".
        let joint = if position == 0 { " so that" } else { " and" };
        phrase.push_str(&format!("{joint} its {} is {{{name}}}", named(name)));
    }
    phrase
}

/// Returns the words after the object of a verb. A thing is called by its first name, and renamed to another.
fn told(verb: &str, said: &[&str], arguments: &IndexMap<String, FieldDoc>, noun: &str) -> String {
    let words = with(said, arguments, noun);
    match words.strip_prefix(" called ").filter(|_| verb == "rename") {
        Some(rest) => format!(" to {rest}"),
        None => words,
    }
}

/// Returns the words after the object: the name, the person, the time and the other arguments.
fn with(said: &[&str], arguments: &IndexMap<String, FieldDoc>, noun: &str) -> String {
    let doc = |name: &str| arguments.get(name);
    let mut phrase = String::new();
    let called = said.iter().find(|name| is_name(name) || doc(name).is_some_and(|doc| names_it(doc, noun)));
    if let Some(called) = called {
        phrase.push_str(&format!(" called {{{called}}}"));
    }
    let whom = said.iter().find(|name| doc(name).is_some_and(|doc| doc.reference.is_some()));
    if let Some(whom) = whom {
        phrase.push_str(&format!(" for {{{whom}}}"));
    }
    let moments: Vec<&&str> = said.iter().filter(|name| doc(name).is_some_and(is_moment)).collect();
    let lone = match moments.as_slice() {
        [only] if says_when(only) => Some(**only),
        _ => None,
    };
    if let Some(moment) = lone {
        phrase.push_str(&format!(" {{{moment}}}"));
    }
    let rest =
        said.iter().filter(|name| whom != Some(*name) && called != Some(*name) && lone != Some(**name));
    let parts: Vec<String> = rest.map(|name| part(name, doc(name))).collect();
    match parts.as_slice() {
        [] => {}
        all => phrase.push_str(&format!(" with {}", enumerate(all))),
    }
    phrase
}

/// Returns true if an argument holds the name of the object alone: `folder: {name: Archive}`.
fn names_it(doc: &FieldDoc, noun: &str) -> bool {
    let mut required = doc.fields.iter().filter(|(_, member)| !member.optional);
    let only = required.next().filter(|_| required.next().is_none());
    doc.label.as_deref() == Some(noun) && only.is_some_and(|(name, _)| is_name(name))
}

/// Returns an argument as it stands after "with".
pub(crate) fn part(name: &str, doc: Option<&FieldDoc>) -> String {
    let noun = named(name, doc);
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
        _ if is_moment(doc) => {
            let noun = noun.trim_end_matches(" at").trim_end_matches(" on");
            format!("{} {noun} {{{name}}}", article(noun))
        }
        _ if is_prose(name, doc) => format!("the {noun} \"{{{name}}}\""),
        _ => format!("the {noun} {{{name}}}"),
    }
}

/// Returns the plural that a number counts: `parcels_count` and `num_parcels` count parcels.
pub(super) fn counted(name: &str) -> Option<String> {
    let parts = words(name);
    let things = match parts.as_slice() {
        [things @ .., last] if last == "count" && !things.is_empty() => things,
        [first, things @ ..] if ["num", "no", "total"].contains(&first.as_str()) && !things.is_empty() => {
            things
        }
        [first, of, things @ ..] if first == "number" && of == "of" && !things.is_empty() => things,
        _ => return None,
    };
    // A limit is no count.
    if things.iter().any(|word| nouns::is("limits", word)) {
        return None;
    }
    // Totals and items count nothing nameable, and money is not counted.
    let is_thing = |last: &str| !nouns::is("containers", last) && !super::meanings::is_money(last);
    let (last, before) = things.split_last().filter(|(last, _)| is_thing(last))?;
    Some(before.iter().cloned().chain([plural(&singular(last))]).collect::<Vec<_>>().join(" "))
}

/// Returns true if generated prose fits a member of such a resource: messages, and notes on work, goods and
/// shows.
pub(crate) fn tells(name: &str, of: &str) -> bool {
    const SPOKEN: [&str; 14] = [
        "message",
        "comment",
        "note",
        "post",
        "reply",
        "email",
        "mail",
        "chat",
        "review",
        "thread",
        "feedback",
        "answer",
        "question",
        "annotation",
    ];
    let last = |text: &str| words(text).pop().map(|last| singular(&last)).unwrap_or_default();
    let (what, of) = (last(name), last(of));
    match what.as_str() {
        "content" | "body" | "text" | "message" => SPOKEN.contains(&of.as_str()) || what == of,
        "description" | "summary" | "overview" => {
            !["command_name", "emoji_name", "role_name", "file_name"].contains(&provider_of_name(&of))
        }
        _ => true,
    }
}

/// Returns true if users quote a string.
fn is_prose(name: &str, doc: &FieldDoc) -> bool {
    const PROSE: [&str; 16] = [
        "instructions",
        "prompt",
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

fn is_moment(doc: &FieldDoc) -> bool {
    doc.kind.as_deref().is_some_and(|kind| ["date", "time", "date-time"].contains(&kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_recognized_by_their_verbs() {
        let check = |name: &str, values: &[&str], expect: bool| {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            let doc = FieldDoc { values, ..FieldDoc::default() };
            assert_eq!(is_command(name, &doc), expect, "{name}");
        };
        check("state", &["start", "stop", "restart"], true);
        check("action", &[], true);
        check("status", &["open", "closed"], false);
        check("priority", &["low", "high"], false);
    }

    #[test]
    fn things_are_counted_and_money_is_not() {
        assert_eq!(counted("total_parcels").as_deref(), Some("parcels"));
        assert_eq!(counted("totalDiscountAmount"), None);
        assert_eq!(counted("maxArtifactLabelsCount"), None);
    }

    #[test]
    fn addresses_are_recognized_by_their_purpose() {
        let check = |name: &str, noun: &str, expect: bool| {
            let doc = FieldDoc { kind: Some(TypeName::String), ..FieldDoc::default() };
            assert_eq!(is_address(name, &doc, noun), expect, "{name}");
        };
        check("url", "web hook", true);
        check("webhookUrl", "webhook", true);
        check("FromEmail", "sender signature", true);
        check("callback_url", "subscription", true);
        check("email_address", "customer", true);
        check("avatar_url", "user", false);
        check("name", "web hook", false);
    }
}
