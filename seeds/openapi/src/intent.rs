//! What operations do that are called by a verb, whatever their method and path: `POST /ListAppMonitors` lists, `/users.info?user=`
//! shows one record.
//!
//! Such an operation is read as the one of REST that does the same: `GET /app_monitors`, `GET /users/{user}`. Callers send
//! what the document says.

use diorama_seeds::contract::{key_name, plain};

use super::document::{Operation, Place};
use super::words::{is_plural, plural, singular, words};

/// What is done, by the verbs that name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    List,
    Show,
    Make,
    Put,
    Change,
    Remove,
}

const VERBS: [(&str, Deed); 31] = [
    ("list", Deed::List),
    ("describe", Deed::Show),
    ("get", Deed::Show),
    ("fetch", Deed::Show),
    ("read", Deed::Show),
    ("retrieve", Deed::Show),
    ("show", Deed::Show),
    ("info", Deed::Show),
    ("view", Deed::Show),
    ("create", Deed::Make),
    ("add", Deed::Make),
    ("new", Deed::Make),
    ("insert", Deed::Make),
    ("register", Deed::Make),
    ("put", Deed::Put),
    ("store", Deed::Put),
    ("save", Deed::Put),
    ("upsert", Deed::Put),
    ("update", Deed::Change),
    ("modify", Deed::Change),
    ("edit", Deed::Change),
    ("change", Deed::Change),
    ("patch", Deed::Change),
    ("delete", Deed::Remove),
    ("remove", Deed::Remove),
    ("destroy", Deed::Remove),
    ("deregister", Deed::Remove),
    ("terminate", Deed::Remove),
    ("index", Deed::List),
    ("all", Deed::List),
    ("details", Deed::Show),
];

/// The endings of names of keys, the likeliest first.
const KEYS: [&str; 6] = ["id", "arn", "identifier", "name", "key", "uuid"];

/// A verb and what it is done to, in the path of an operation.
struct Said {
    deed: Deed,
    /// Words of the noun.
    noun: Vec<String>,
    /// The path before it.
    before: String,
}

/// Reads operations that are called by a verb as those of REST. Of a noun that is never shown nothing is.
pub(super) fn read(operations: &mut [Operation]) {
    let found: Vec<Option<(Said, Option<String>)>> = operations
        .iter()
        .map(|operation| {
            let said = said(operation)?;
            let key = key(operation, &said);
            Some((said, key))
        })
        .collect();
    let shows = |noun: &[String]| {
        found.iter().flatten().any(|(said, key)| {
            let shows =
                said.deed == Deed::List || (said.deed == Deed::Show && (key.is_some() || many(&said.noun)));
            shows && one(&said.noun) == one(noun)
        })
    };
    let read: Vec<Option<(&'static str, String)>> = found
        .iter()
        .map(|found| {
            let (said, key) = found.as_ref()?;
            let collection = format!("{}/{}", said.before, plural_of(&said.noun));
            let item = key.as_ref().map(|key| format!("{collection}/{{{key}}}"));
            let read = match said.deed {
                Deed::List => ("GET", collection),
                Deed::Show if many(&said.noun) => ("GET", collection),
                Deed::Show => ("GET", item?),
                Deed::Make => ("POST", collection),
                Deed::Put => ("PUT", item?),
                Deed::Change => ("PATCH", item?),
                Deed::Remove => ("DELETE", item?),
            };
            shows(&said.noun).then_some(read)
        })
        .collect();
    for (operation, read) in operations.iter_mut().zip(read) {
        if let Some((method, path)) = read {
            let makes = method == "PUT";
            let written = (method.to_owned(), path);
            let written = (
                std::mem::replace(&mut operation.method, written.0),
                std::mem::replace(&mut operation.path, written.1),
            );
            // A method that was read as another before is the one that callers send.
            operation.written.get_or_insert(written);
            operation.makes |= makes;
            // What the body says, too, is said once.
            let body = operation.body.as_ref().and_then(|body| body.first_object().members());
            let in_body: Vec<String> = body.into_iter().flatten().map(|(name, _)| name.clone()).collect();
            operation
                .parameters
                .retain(|known| known.place != Place::Query || !in_body.contains(&known.name));
        }
    }
}

/// The verb by which a path calls its operation: `/users.list`, `/ListUsers`, `/?Action=ListUsers`.
fn said(operation: &Operation) -> Option<Said> {
    let (before, last) = operation.path.rsplit_once('/')?;
    if operation.path.contains('{') && last.contains('{') {
        return None;
    }
    let chosen = operation.chosen_by.values().find(|value| !value.is_empty());
    let (before, last) = match chosen {
        Some(value) => (operation.path.trim_end_matches('/'), value.rsplit('.').next().unwrap_or(value)),
        None => (before, last),
    };
    let deed = |word: &str| VERBS.iter().find(|(verb, _)| *verb == word).map(|(_, deed)| *deed);
    let before = before.to_owned();
    if let (None, Some((noun, verb))) = (chosen, last.rsplit_once('.')) {
        let (verb, noun) = (words(verb), words(noun));
        let [verb] = verb.as_slice() else { return None };
        return (!noun.is_empty()).then_some(Said { deed: deed(verb)?, noun, before });
    }
    let all = words(last);
    let (first, noun) = all.split_first().filter(|(_, noun)| !noun.is_empty())?;
    Some(Said { deed: deed(first)?, noun: noun.to_vec(), before })
}

/// The parameter or member of the body that names the record: `id`, `appMonitorId`, `Name`.
fn key(operation: &Operation, said: &Said) -> Option<String> {
    let noun: String = one(&said.noun);
    let last = said.noun.last().map(|last| singular(last)).unwrap_or_default();
    let members = operation.body.as_ref().and_then(|body| body.first_object().members());
    let of_body = members.into_iter().flatten().map(|(name, member)| (name, &member.shape, member.required));
    let of_query = operation.parameters.iter().map(|known| (&known.name, &known.shape, known.required));
    let given: Vec<(&String, bool)> = of_query
        .chain(of_body)
        .filter(|(_, shape, _)| shape.is_scalar())
        .map(|(name, _, required)| (name, required))
        .collect();
    let named = |wanted: &str| given.iter().find(|(name, required)| *required && plain(name) == wanted);
    let wanted =
        KEYS.iter().flat_map(|key| [format!("{noun}{key}"), format!("{last}{key}"), (*key).to_owned()]);
    let bare = [noun.clone(), last.clone()];
    let mut wanted = wanted.chain(bare);
    let found = wanted.find_map(|wanted| named(&wanted));
    // All that must be said is a key.
    let only = || {
        let mut required = given.iter().filter(|(_, required)| *required);
        let first = required.next().filter(|(name, _)| key_name(name).is_some())?;
        required.next().is_none().then_some(first)
    };
    found.or_else(only).map(|(name, _)| (*name).clone())
}

fn many(noun: &[String]) -> bool {
    noun.last().is_some_and(|last| is_plural(last))
}

/// A noun in the singular and in plain letters.
fn one(noun: &[String]) -> String {
    let (last, before) = match noun.split_last() {
        Some((last, before)) => (singular(last), before.concat()),
        None => (String::new(), String::new()),
    };
    format!("{before}{last}")
}

/// A noun as the segment of a path.
fn plural_of(noun: &[String]) -> String {
    let Some((last, before)) = noun.split_last() else { return String::new() };
    let last = if is_plural(last) { last.clone() } else { plural(last) };
    before.iter().map(String::as_str).chain([last.as_str()]).collect::<Vec<_>>().join("_")
}
