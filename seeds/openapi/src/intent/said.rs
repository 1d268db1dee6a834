//! Parses the verb and noun in a path, and the parameter that names the record.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use diorama_seeds::contract::{key_name, plain};
use diorama_seeds::table::pairs;

use crate::document::Operation;
use crate::shape::Shape;
use crate::words::{is_plural, plural, singular, words};

/// The effect of an operation, by its verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperationEffect {
    List,
    Show,
    Make,
    Put,
    Change,
    Remove,
}

/// Verbs with their effects.
pub(super) static VERBS: LazyLock<HashMap<&'static str, OperationEffect>> = LazyLock::new(|| {
    let deeds = pairs(include_str!("../data/verbs.txt")).filter_map(|(done, verbs)| {
        let deed = match done {
            "list" => OperationEffect::List,
            "show" => OperationEffect::Show,
            "make" => OperationEffect::Make,
            "put" => OperationEffect::Put,
            "change" => OperationEffect::Change,
            "remove" => OperationEffect::Remove,
            _ => return None,
        };
        Some(verbs.split_whitespace().map(move |verb| (verb, deed)))
    });
    deeds.flatten().collect()
});

/// Endings of files.
static FILES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let files = pairs(include_str!("../data/verbs.txt")).filter(|(kind, _)| *kind == "files");
    files.flat_map(|(_, endings)| endings.split_whitespace()).collect()
});

/// The fewest operations whose common members belong to all calls: the API key of each body.
const MIN_OPERATIONS: usize = 5;

/// The words that the operations of a document share.
pub(super) struct Common {
    paths: Vec<String>,
    /// Names that each operation takes: they name no record.
    shared: HashSet<String>,
}

impl Common {
    pub(super) fn of(operations: &[Operation]) -> Self {
        let names = |operation: &Operation| -> HashSet<String> {
            given(operation).into_iter().map(|(name, ..)| name.clone()).collect()
        };
        let mut all = operations.iter().map(names);
        let first = all.next().filter(|_| operations.len() >= MIN_OPERATIONS).unwrap_or_default();
        let shared = all.fold(first, |shared, own| shared.intersection(&own).cloned().collect());
        Self { paths: operations.iter().map(|operation| operation.path.clone()).collect(), shared }
    }

    /// Returns true if a path lists records, or has records below it.
    fn is_collection(&self, path: &str) -> bool {
        let holds = |known: &String| {
            known
                .strip_prefix(path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("/{") || rest.starts_with('.'))
        };
        self.paths.iter().any(holds)
    }
}

/// The endings of names of keys, the likeliest first.
pub(super) const KEYS: [&str; 6] = ["id", "arn", "identifier", "name", "key", "uuid"];

/// The verb and noun in the path of an operation.
pub(super) struct PathWords {
    /// None for a verb that only its own noun has: `conversations.archive`.
    pub(super) deed: Option<OperationEffect>,
    pub(super) verb: Vec<String>,
    /// The words of the noun.
    pub(super) noun: Vec<String>,
    /// The words after the noun's last dot: `conversations` of `admin.conversations`.
    pub(super) group: Vec<String>,
    /// The path before the verb.
    pub(super) before: String,
    /// True if the verb stands behind a dot: `users.info`.
    pub(super) is_dotted: bool,
    /// True if the verb is a segment of the path: `/users/info`.
    pub(super) is_segment: bool,
}

impl PathWords {
    /// Returns the path of the noun's collection.
    pub(super) fn collection(&self) -> String {
        format!("{}/{}", self.before, plural_of(&self.noun))
    }
}

/// Returns the parameters that name shown records, by noun.
pub(super) fn keys(
    operations: &[Operation],
    all: &[Option<PathWords>],
    common: &Common,
) -> HashMap<String, String> {
    let shown = operations.iter().zip(all).filter_map(|(operation, said)| {
        let said = said.as_ref().filter(|said| said.deed == Some(OperationEffect::Show))?;
        let noun = one(&said.noun);
        // An optional parameter is a key if other operations of the noun take it, too.
        let uses = |name: &String| {
            let same = |(operation, other): (&Operation, &Option<PathWords>)| {
                other.as_ref().is_some_and(|other| one(&other.noun) == noun) && takes(operation, name)
            };
            operations.iter().zip(all).filter(|both| same(*both)).count() > 1
        };
        let found = key(operation, said, common).or_else(|| shown_key(operation, said).filter(uses))?;
        Some((noun, found))
    });
    // The first operation of a noun wins.
    shown.collect::<Vec<_>>().into_iter().rev().collect()
}

/// Parses the verb of a path: `/users.list`, `/users/list.json`, `/ListUsers`, `/?Action=ListUsers`.
pub(super) fn said(operation: &Operation, common: &Common) -> Option<PathWords> {
    let (before, last) = operation.path.rsplit_once('/')?;
    if operation.path.contains('{') && last.contains('{') {
        return None;
    }
    let chosen = operation.chosen_by.values().find(|value| !value.is_empty());
    let (before, last) = match chosen {
        Some(value) => (operation.path.trim_end_matches('/'), value.rsplit('.').next().unwrap_or(value)),
        None => (before, last),
    };
    let last =
        last.rsplit_once('.').filter(|(_, ending)| FILES.contains(ending)).map_or(last, |(stem, _)| stem);
    // A verb behind its noun, at a path without records.
    if let (None, Some(deed), Some((above, noun))) = (chosen, VERBS.get(last), before.rsplit_once('/'))
        && !noun.is_empty()
        && !before.contains('{')
        && !common.is_collection(before)
    {
        let (noun, before) = (words(noun), above.to_owned());
        let verb = vec![last.to_owned()];
        return Some(PathWords {
            deed: Some(*deed),
            verb,
            group: noun.clone(),
            noun,
            before,
            is_dotted: true,
            is_segment: true,
        });
    }
    let before = before.to_owned();
    if let (None, Some((noun, verb))) = (chosen, last.rsplit_once('.')) {
        let group = words(noun.rsplit('.').next().unwrap_or(noun));
        let (verb, noun) = (words(verb), words(noun));
        let deed = match verb.as_slice() {
            [verb] => VERBS.get(verb.as_str()).copied(),
            _ => None,
        };
        let is_said = !noun.is_empty() && !verb.is_empty();
        return is_said.then_some(PathWords {
            deed,
            verb,
            noun,
            group,
            before,
            is_dotted: true,
            is_segment: false,
        });
    }
    let all = words(last);
    let (first, noun) = all.split_first().filter(|(_, noun)| !noun.is_empty())?;
    let deed = Some(*VERBS.get(first.as_str())?);
    let noun = noun.to_vec();
    Some(PathWords {
        deed,
        verb: vec![first.clone()],
        group: noun.clone(),
        noun,
        before,
        is_dotted: false,
        is_segment: false,
    })
}

/// Returns the scalars that an operation takes, and whether each is required.
pub(super) fn given(operation: &Operation) -> Vec<(&String, &Shape, bool)> {
    let members = operation.body.as_ref().and_then(|body| body.first_object().members());
    let of_body = members.into_iter().flatten().map(|(name, member)| (name, &member.shape, member.required));
    let of_query = operation.parameters.iter().map(|known| (&known.name, &known.shape, known.required));
    of_query.chain(of_body).filter(|(_, shape, _)| shape.is_scalar()).collect()
}

pub(super) fn takes(operation: &Operation, name: &str) -> bool {
    given(operation).iter().any(|(known, ..)| *known == name)
}

/// Returns the parameter with the name of the object in the reply: `channel` of `{"ok": true, "channel":
/// {"id": ..}}`.
fn shown_key(operation: &Operation, said: &PathWords) -> Option<String> {
    let reply = operation.reply.as_ref().filter(|_| said.is_dotted)?.first_object().members()?;
    let is_shown = |name: &str| {
        let shown = reply.iter().find(|(shown, _)| plain(shown) == plain(name));
        shown.is_some_and(|(_, member)| member.shape.first_object().members().is_some())
    };
    given(operation).into_iter().map(|(name, ..)| name).find(|name| is_shown(name)).cloned()
}

/// Returns the parameter or body member that names the record: `id`, `appMonitorId`, `Name`.
pub(super) fn key(operation: &Operation, said: &PathWords, common: &Common) -> Option<String> {
    let noun: String = one(&said.noun);
    let last = said.noun.last().map(|last| singular(last)).unwrap_or_default();
    let mut given = given(operation);
    given.retain(|(name, ..)| !common.shared.contains(*name));
    // Documents of such calls seldom say what they require.
    let named = |wanted: &str| {
        given.iter().find(|(name, _, required)| (*required || said.is_segment) && plain(name) == wanted)
    };
    let wanted =
        KEYS.iter().flat_map(|key| [format!("{noun}{key}"), format!("{last}{key}"), (*key).to_owned()]);
    let bare = [noun.clone(), last.clone()];
    let mut wanted = wanted.chain(bare);
    let found = wanted.find_map(|wanted| named(&wanted));
    // A single required scalar with a key's name is the key.
    let only = || {
        let mut required = given.iter().filter(|(.., required)| *required);
        let first = required.next().filter(|(name, ..)| key_name(name).is_some())?;
        required.next().is_none().then_some(first)
    };
    found.or_else(only).map(|(name, ..)| (*name).clone())
}

pub(super) fn many(noun: &[String]) -> bool {
    noun.last().is_some_and(|last| is_plural(last))
}

/// Returns a noun in the singular and in plain letters.
pub(super) fn one(noun: &[String]) -> String {
    let (last, before) = match noun.split_last() {
        Some((last, before)) => (singular(last), before.concat()),
        None => (String::new(), String::new()),
    };
    format!("{before}{last}")
}

/// Returns a noun as the segment of a path.
pub(super) fn plural_of(noun: &[String]) -> String {
    let Some((last, before)) = noun.split_last() else { return String::new() };
    let last = if is_plural(last) { last.clone() } else { plural(last) };
    before.iter().map(String::as_str).chain([last.as_str()]).collect::<Vec<_>>().join("_")
}
