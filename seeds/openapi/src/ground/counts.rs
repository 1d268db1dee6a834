//! Computes members that count other records instead of storing them: `total_tracks`, `number_of_seasons`.

use diorama_seeds::contract::noun;
use diorama_seeds::doc::{ApiDoc, ReplyFieldDoc, ReplyMemberDoc, ResourceDoc, TypeName};
use indexmap::IndexMap;

use crate::words::words;

/// Makes replies count records, in place of stored numbers.
pub(super) fn add(resources: &mut IndexMap<String, ResourceDoc>, apis: &mut [ApiDoc]) {
    let mut counted: IndexMap<String, Vec<ReplyFieldDoc>> = IndexMap::new();
    for (name, doc) in resources.iter() {
        let whole = doc.fields.iter().filter(|(_, field)| field.kind == Some(TypeName::Integer));
        let count = whole.filter_map(|(field, _)| Some((field.clone(), count(resources, name, field)?)));
        for (field, expr) in count {
            let member = ReplyMemberDoc { name: field, expr: Some(expr), ..ReplyMemberDoc::default() };
            counted.entry(name.clone()).or_default().push(ReplyFieldDoc::Member(Box::new(member)));
        }
    }
    for (name, members) in &counted {
        let Some(doc) = resources.get_mut(name) else { continue };
        for member in members {
            if let Some(name) = names(member) {
                doc.fields.shift_remove(name);
            }
        }
    }
    for api in apis {
        let counts = api.behaviour.resource().and_then(|name| counted.get(name));
        let is_count =
            |field: &String| counts.is_some_and(|all| all.iter().any(|member| names(member) == Some(field)));
        api.behaviour.set.retain(|field, _| !is_count(field));
        let shown = shown_of(api, resources);
        if let Some(members) = shown.and_then(|name| counted.get(&name)) {
            api.reply.fields.get_or_insert_with(Vec::new).extend(members.iter().cloned());
        }
    }
}

fn names(member: &ReplyFieldDoc) -> Option<&String> {
    match member {
        ReplyFieldDoc::Member(member) => Some(&member.name),
        ReplyFieldDoc::Field(_) => None,
    }
}

/// Returns the resource whose records an API shows.
fn shown_of(api: &ApiDoc, resources: &IndexMap<String, ResourceDoc>) -> Option<String> {
    let behaviour = &api.behaviour;
    if let Some(list) = &behaviour.members {
        let (owner, field) = list.split_once('.')?;
        return resources.get(owner)?.fields.get(field)?.items.as_ref()?.reference.clone();
    }
    let changed = behaviour.add_members.as_ref().or(behaviour.remove_members.as_ref());
    changed
        .and_then(|list| list.split_once('.'))
        .map(|(owner, _)| owner.to_owned())
        .or_else(|| behaviour.resource().cloned())
}

/// Returns the expression for the number of a record's children of the noun in the member's name.
fn count(resources: &IndexMap<String, ResourceDoc>, name: &str, member: &str) -> Option<String> {
    let parts = words(member);
    let texts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let things = match texts.as_slice() {
        ["number" | "num", "of", things @ ..] | ["num" | "total", things @ ..] => things,
        [things @ .., "count"] => things,
        _ => return None,
    };
    let wanted = noun(&things.join(""));
    let own = resources.get(name)?;
    let holds = |(field, doc): &(&String, &diorama_seeds::doc::FieldDoc)| {
        let target = doc.items.as_ref().and_then(|item| item.reference.as_ref());
        target.is_some_and(|target| {
            field.strip_suffix("_ids").is_some_and(|field| noun(field) == wanted) || noun(target) == wanted
        })
    };
    if wanted.is_empty() {
        return None;
    }
    if let Some((list, _)) = own.fields.iter().find(holds) {
        return Some(format!("size(record.{list})"));
    }
    let (part, doc) = resources.iter().find(|(part, doc)| noun(part) == wanted && !doc.singleton)?;
    let mut refers = doc.fields.iter().filter(|(_, field)| field.reference.as_deref() == Some(name));
    let (by, _) = refers.next().filter(|_| part != name && refers.next().is_none())?;
    Some(format!("{part}.count(x, x.{by} == record.{})", own.key))
}
