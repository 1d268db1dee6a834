//! Rewrites dotted operations on children of a record that a parameter names.
//!
//! Examples: `conversations.history` of a channel, `chat.postMessage` into it, `chat.delete` of one of its
//! messages.

use std::collections::HashMap;

use diorama_seeds::contract::plain;
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::said::{KEYS, OperationEffect, PathWords, VERBS, given, one, plural_of, takes};
use crate::document::Operation;
use crate::shape::{Kind, Shape};
use crate::views::{self, View, has_page};
use crate::words::words;

/// The method and path of a rewrite; none for an operation that stays as it is.
type Rewrite = Option<(String, String)>;

/// A list of a record's children.
struct ChildList {
    /// The words of the noun of its items.
    noun: Vec<String>,
    /// The shape of an item.
    item: Shape,
}

/// A record that parameters name.
struct Owner {
    /// The path of one record, with its parameter.
    path: String,
    key: String,
}

/// Rewrites the remaining operations. `keys` holds the parameters that name shown records, by noun.
pub(super) fn read(
    operations: &mut [Operation],
    all: &[Option<PathWords>],
    keys: &HashMap<String, String>,
    read: &mut [Rewrite],
) {
    let owners = owners(all, keys);
    // Reads below a record become lists, and other operations on it become writes to them.
    let mut lists: IndexMap<String, Vec<ChildList>> = IndexMap::new();
    for ((operation, said), read) in operations.iter().zip(all).zip(read.iter_mut()) {
        let Some(said) = said.as_ref().filter(|said| said.is_dotted && read.is_none()) else { continue };
        let Some(owner) = owner_of(operation, said, &owners) else { continue };
        let is_own = *owner.0 == one(&said.noun);
        let path = &owner.1.path;
        if operation.method == "GET" {
            let Some((name, item)) = items(operation) else { continue };
            let noun = if is_own { words(&name) } else { said.noun.clone() };
            *read = Some(("GET".to_owned(), format!("{path}/{}", plural_of(&noun))));
            lists.entry(path.clone()).or_default().push(ChildList { noun, item });
        } else if let (true, None, true) = (is_own, said.deed, is_action(&said.verb)) {
            *read = Some(("POST".to_owned(), format!("{path}/{}", said.verb.join("_"))));
        }
    }
    let groups = groups(operations, all, &owners, &lists);
    let keys = item_keys(operations, all, &owners, &lists, &groups);
    for ((operation, said), read) in operations.iter_mut().zip(all).zip(read.iter_mut()) {
        let Some(said) = said.as_ref().filter(|said| said.is_dotted && read.is_none()) else { continue };
        let Some((owner, listed, deed)) = write_of(operation, said, &owners, &lists, &groups) else {
            continue;
        };
        let collection = format!("{}/{}", owner.path, plural_of(&listed.noun));
        let key = keys.get(&collection).filter(|key| takes(operation, key)).cloned();
        let item = key.as_ref().map(|key| format!("{collection}/{{{key}}}"));
        let method = match deed {
            OperationEffect::Make => "POST",
            OperationEffect::Show => "GET",
            OperationEffect::Change => "PATCH",
            OperationEffect::Remove => "DELETE",
            OperationEffect::List | OperationEffect::Put => continue,
        };
        let path = if deed == OperationEffect::Make { Some(collection) } else { item };
        *read = path.map(|path| (method.to_owned(), path));
        if let Some(key) = key.filter(|_| read.is_some()) {
            take_texts(operation, &key, &listed.item);
        }
    }
}

/// Returns true for a verb, or one that names the member that it sets: `archive`, `setTopic`.
fn is_action(verb: &[String]) -> bool {
    matches!(verb, [_]) || verb.first().is_some_and(|first| first == "set")
}

/// Returns the records that parameters name, by the nouns of the operations that show them.
fn owners(all: &[Option<PathWords>], keys: &HashMap<String, String>) -> IndexMap<String, Owner> {
    let shown =
        all.iter().flatten().filter(|said| said.is_dotted && said.deed == Some(OperationEffect::Show));
    let owner = |said: &PathWords| {
        let noun = one(&said.noun);
        let key = keys.get(&noun)?.clone();
        // A bare key may name any record.
        (!KEYS.contains(&plain(&key).as_str()))
            .then(|| (noun, Owner { path: format!("{}/{{{key}}}", said.collection()), key }))
    };
    shown.filter_map(owner).collect()
}

/// Returns the record that an operation is about: of its own noun, or another that a parameter names.
fn owner_of<'o>(
    operation: &Operation,
    said: &PathWords,
    owners: &'o IndexMap<String, Owner>,
) -> Option<(&'o String, &'o Owner)> {
    let own = owners.get_key_value(&one(&said.noun)).filter(|(_, owner)| takes(operation, &owner.key));
    own.or_else(|| owners.iter().find(|(_, owner)| takes(operation, &owner.key)))
}

/// Returns the list that a read shows: the name of its member, and an item.
fn items(operation: &Operation) -> Option<(String, Shape)> {
    match views::view(operation.reply.as_ref()?, false, has_page(operation)) {
        View::List(list) if !list.items.is_empty() => Some((list.items.to_owned(), list.item.clone())),
        _ => None,
    }
}

/// Returns the owner, the list and the kind of a write. `chat.delete` removes the messages that
/// `chat.postMessage` creates.
fn write_of<'l>(
    operation: &Operation,
    said: &PathWords,
    owners: &'l IndexMap<String, Owner>,
    lists: &'l IndexMap<String, Vec<ChildList>>,
    groups: &HashMap<String, String>,
) -> Option<(&'l Owner, &'l ChildList, OperationEffect)> {
    let (_, owner) = owner_of(operation, said, owners)?;
    let (deed, noun) = match (said.deed, said.verb.as_slice()) {
        (Some(deed), _) => {
            let own = one(&said.noun);
            (deed, groups.get(&own).cloned().unwrap_or(own))
        }
        (None, [verb, noun @ ..]) => (*VERBS.get(verb.as_str())?, one(noun)),
        _ => return None,
    };
    let listed = lists.get(&owner.path)?.iter().find(|listed| one(&listed.noun) == noun)?;
    Some((owner, listed, deed))
}

/// Returns the noun that a group of operations creates, by the group's noun: `message` for `chat`.
fn groups(
    operations: &[Operation],
    all: &[Option<PathWords>],
    owners: &IndexMap<String, Owner>,
    lists: &IndexMap<String, Vec<ChildList>>,
) -> HashMap<String, String> {
    let none = HashMap::new();
    let made = operations.iter().zip(all).filter_map(|(operation, said)| {
        let said = said.as_ref().filter(|said| said.is_dotted && said.deed.is_none())?;
        let (_, listed, deed) = write_of(operation, said, owners, lists, &none)?;
        (deed == OperationEffect::Make).then(|| (one(&said.noun), one(&listed.noun)))
    });
    made.collect()
}

/// Returns the parameter that names a list's items, by path: a removal takes it beside the owner, and items
/// show it.
fn item_keys(
    operations: &[Operation],
    all: &[Option<PathWords>],
    owners: &IndexMap<String, Owner>,
    lists: &IndexMap<String, Vec<ChildList>>,
    groups: &HashMap<String, String>,
) -> HashMap<String, String> {
    let keys = operations.iter().zip(all).filter_map(|(operation, said)| {
        let said = said.as_ref().filter(|said| said.is_dotted)?;
        let (owner, listed, deed) = write_of(operation, said, owners, lists, groups)?;
        let is_shown = |name: &str| listed.item.first_object().member(name).is_some();
        let mut named = given(operation)
            .into_iter()
            .filter(|(name, shape, _)| **name != owner.key && shape.kind != Kind::Boolean && is_shown(name));
        let (key, ..) = named.next().filter(|_| deed == OperationEffect::Remove && named.next().is_none())?;
        Some((format!("{}/{}", owner.path, plural_of(&listed.noun)), key.clone()))
    });
    keys.collect()
}

/// Reads a key as a string if records show it as one, whatever an operation declares.
fn take_texts(operation: &mut Operation, key: &str, item: &Shape) {
    let is_text = item.first_object().member(key).is_some_and(Shape::is_text);
    let is_number = |shape: &Shape| matches!(shape.kind, Kind::Number | Kind::Integer);
    if !is_text {
        return;
    }
    for known in operation.parameters.iter_mut().filter(|known| known.name == key && is_number(&known.shape))
    {
        known.shape.kind = Kind::String;
    }
    if let Some(Kind::Object(members)) = operation.body.as_mut().map(|body| &mut body.kind)
        && let Some(member) = members.get_mut(key).filter(|member| is_number(&member.shape))
    {
        member.shape.kind = Kind::String;
        let said = operation.request.as_mut().and_then(|request| request.pointer_mut("/properties"));
        if let Some(Json::Object(members)) = said {
            members.insert(key.to_owned(), json!({"type": "string"}));
        }
    }
}
