//! Membership: which records stand in a list of another, and the operations that put them there and take them out.
//!
//! `PUT /me/following/artists/{artist_id}` puts the record that the path ends with into a list of the record before
//! it; `POST /playlists/{id}/tracks` puts those there that its body or query names by key.

use diorama_seeds::doc::{FieldDoc, PhrasesDoc};
use indexmap::IndexSet;
use serde_json::json;

use super::document::{Operation, Place};
use super::entities::Model;
use super::operations::Maker;
use super::routes::{StepKind, entity_name};
use super::shape::{Kind, Shape};
use super::words::{identifier, label, plural, sentence, words};
use super::writes;

/// What an operation puts into which list, or takes out.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Membership {
    /// The resource with the list.
    pub(super) owner: String,
    /// Its step in the path.
    depth: usize,
    /// The list.
    pub(super) field: String,
    /// The resource of the members.
    pub(super) member: String,
    /// The parameter that names them.
    parameter: String,
}

/// The membership that an operation changes, if that is what it does.
pub(super) fn of(model: &Model, operation: &Operation) -> Option<Membership> {
    if !["POST", "PUT", "DELETE"].contains(&operation.method.as_str()) {
        return None;
    }
    let chain = &operation.route.chain;
    let last = chain.last()?;
    let depth = chain.len().checked_sub(1)?;
    if operation.route.tail.is_empty() {
        return by_path(model, operation, depth);
    }
    let (parameter, member) = named(model, operation)?;
    let fits = member != last.entity && model.reference_to(&member, &last.entity).is_none();
    let field = field(&operation.route.tail);
    fits.then(|| Membership { owner: last.entity.clone(), depth, field, member, parameter })
}

/// Paths below a record's key that end with another's key, where PUT takes no body, DELETE takes it back, and GET shows
/// nothing: `/teams/{team_id}/members/{username}`.
pub(super) fn paths(operations: &[Operation]) -> IndexSet<String> {
    let with = |method: &str, path: &str| {
        operations.iter().find(|known| known.method == method && known.path == path)
    };
    let of = |operation: &&Operation| {
        let path = operation.path.as_str();
        operation.method == "DELETE"
            && operation.route.tail.is_empty()
            && operation.route.chain.len() > 1
            && with("PUT", path).is_some_and(|put| put.body.is_none())
            && with("GET", path).is_none_or(|get| get.reply.is_none())
    };
    operations.iter().filter(of).map(|operation| operation.path.clone()).collect()
}

/// The record that the path ends with, in a list of the record before it.
fn by_path(model: &Model, operation: &Operation, depth: usize) -> Option<Membership> {
    let chain = &operation.route.chain;
    let (owner, last) = (chain.get(depth.checked_sub(1)?)?, chain.get(depth)?);
    let whole = model.entity(&last.entity).filter(|entity| entity.nest.is_none())?;
    let members = operation.body.as_ref().and_then(|body| body.first_object().members());
    let empty = members.is_none_or(|members| !members.values().any(|part| part.required));
    // A noun that is not the record's own is a role: whoever is no longer followed is still a user.
    let role = last.path.last().is_some_and(|noun| entity_name(noun) != last.entity);
    let put = model.member_paths.contains(&operation.path);
    let part = owner.entity == last.entity || model.reference_to(&last.entity, &owner.entity).is_some();
    let fits = last.kind == StepKind::Key && empty && (role || put || (whole.top && !part));
    fits.then(|| Membership {
        owner: owner.entity.clone(),
        depth: depth - 1,
        field: field(&last.path),
        member: last.entity.clone(),
        parameter: last.parameter.clone(),
    })
}

/// The list's field, by the static segments before it.
fn field(path: &[String]) -> String {
    identifier(&format!("{}_ids", entity_name(&path.join("_"))))
}

/// The only thing that an operation must be told besides its path: keys of records.
fn named(model: &Model, operation: &Operation) -> Option<(String, String)> {
    let of_body = operation.body.as_ref().and_then(|body| body.first_object().members());
    let of_body = of_body.into_iter().flatten().map(|(name, part)| (name, &part.shape, part.required));
    let of_query = operation.parameters.iter().filter(|known| known.place == Place::Query);
    let given: Vec<(&String, &Shape, bool)> =
        of_query.map(|known| (&known.name, &known.shape, known.required)).chain(of_body).collect();
    let noun = operation.route.tail.last().map(|last| entity_name(last))?;
    let mut found = given.iter().filter_map(|(name, shape, _)| {
        let one = match &shape.kind {
            Kind::Array(item) => item.is_scalar(),
            _ => shape.is_scalar(),
        };
        let member = model.entity(&noun_of(name, &noun)?).filter(|entity| !entity.singleton)?;
        let fits = one && (member.name == noun || model.entity(&noun).is_none());
        fits.then(|| ((*name).clone(), member.name.clone()))
    });
    let (name, member) = found.next().filter(|_| found.next().is_none())?;
    // Anything else that is required makes a record, not a membership.
    let alone = given.iter().all(|(other, _, required)| **other == name || !required || is_position(other));
    // Where the path's noun is no resource, a list is one when it can be read: `/queue`, not `/assign`.
    let listed = member == noun || model.listed_paths.contains(&operation.path);
    (alone && listed).then_some((name, member))
}

/// The resource whose keys a name says it holds: `ids`, `track_ids`, `track`.
fn noun_of(name: &str, noun: &str) -> Option<String> {
    match words(name).as_slice() {
        [only] if ["ids", "id"].contains(&only.as_str()) => Some(noun.to_owned()),
        [stem @ .., last] if ["ids", "id"].contains(&last.as_str()) => Some(entity_name(&stem.join("_"))),
        [only] => Some(entity_name(only)),
        _ => None,
    }
}

fn is_position(name: &str) -> bool {
    ["position", "index", "order", "offset", "insert_before"].contains(&words(name).join("_").as_str())
}

/// Makes the behaviour.
pub(super) fn write(maker: &mut Maker<'_>, membership: &Membership) {
    let (Some(owner), Some(member)) =
        (maker.model.entity(&membership.owner), maker.model.entity(&membership.member))
    else {
        return;
    };
    let Some(key) = maker.key_expression(membership.depth) else { return };
    let adds = maker.operation.method != "DELETE";
    let list = Some(format!("{}.{}", owner.name, membership.field));
    if adds {
        maker.api.behaviour.add_members = list;
    } else {
        maker.api.behaviour.remove_members = list;
    }
    maker.act_on(owner, key);
    parameters(maker, membership);
    maker.api.behaviour.member = Some(membership.parameter.clone());
    maker.used.insert(membership.parameter.clone());
    writes::reply(maker, owner);
    let many = maker.api.parameters.get(&membership.parameter).is_some_and(|doc| doc.items.is_some());
    let noun = if many { plural(&label(&member.name)) } else { label(&member.name) };
    maker.api.phrases = said(maker, membership, &noun, adds);
}

/// The members' parameter takes keys; a position and what else the body has are parameters too.
fn parameters(maker: &mut Maker<'_>, membership: &Membership) {
    let operation = maker.operation;
    let of_body = operation.body.as_ref().and_then(|body| body.first_object().members());
    for (name, part) in of_body.into_iter().flatten() {
        if maker.api.parameters.contains_key(name) {
            continue;
        }
        let mut doc = super::fakes::typed(name, &part.shape, 0);
        doc.nullable = false;
        doc.place = Some("body".to_owned());
        doc.optional = !part.required;
        doc.description = part.shape.description.as_deref().map(sentence).filter(|text| !text.is_empty());
        super::phrases::name(name, &mut doc);
        if is_position(name) && part.shape.kind == Kind::Integer && operation.method != "DELETE" {
            doc.min = Some(json!(0));
            maker.api.behaviour.position = Some(name.clone());
            maker.used.insert(name.clone());
        }
        maker.api.parameters.insert(name.clone(), doc);
    }
    let Some(known) = maker.api.parameters.get_mut(&membership.parameter) else { return };
    let key = FieldDoc { reference: Some(membership.member.clone()), ..FieldDoc::default() };
    let described = known.description.as_deref().unwrap_or_default().to_lowercase();
    let list = known.items.is_some() || described.contains("comma") || described.contains("list of");
    let doc = if list {
        FieldDoc {
            kind: Some("list".to_owned()),
            items: Some(Box::new(key)),
            min_length: known.min_length,
            max_length: known.max_length,
            ..FieldDoc::default()
        }
    } else {
        key
    };
    *known = FieldDoc {
        place: known.place.take(),
        description: known.description.take(),
        label: Some(label(&membership.member)),
        ..doc
    };
}

/// How people ask for it.
fn said(maker: &Maker<'_>, membership: &Membership, noun: &str, adds: bool) -> PhrasesDoc {
    let member = format!("{{{}}}", membership.parameter);
    let step = maker.route.chain.get(membership.depth);
    let list = membership.field.trim_end_matches("_ids");
    let list = if list.ends_with(&membership.member) { plural(&label(list)) } else { label(list) };
    let whose = match step.map(|step| (step.kind, &step.parameter)) {
        Some((StepKind::Key, parameter)) => format!("the {} {{{parameter}}}", label(&membership.owner)),
        Some((StepKind::Single, _)) => format!("the {list}"),
        _ => format!("my {list}"),
    };
    let (verb, link) = if adds { ("add", "to") } else { ("remove", "from") };
    let mut phrase = format!("{verb} the {noun} {member} {link} {whose}");
    if let Some(position) = &maker.api.behaviour.position {
        phrase.push_str(&format!("[ at position {{{position}}}]"));
    }
    let mut phrases = PhrasesDoc { imperative: vec![phrase], ..PhrasesDoc::default() };
    let spoken = ["follow", "unfollow", "save", "like", "unlike", "star", "unstar", "watch", "unwatch"];
    if let Some(verb) = words(&maker.api.name).first().filter(|verb| spoken.contains(&verb.as_str())) {
        phrases.imperative.push(format!("{verb} the {noun} {member}"));
    }
    phrases
}
