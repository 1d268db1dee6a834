//! Collects the collections that operations show, and facts that several paths give together.

use diorama_seeds::contract::{noun, plain};
use diorama_seeds::english::stem;

use super::paths::{described, find_shown, parts, spelt, take_out_attributes, take_out_named};
use super::{Collection, Part, Places, form, list};
use crate::document::{Operation, Place};
use crate::shape::{Kind, Shape};
use crate::views;
use crate::words::{is_version, label, singular, words};

impl Places {
    /// Reads which path keys open a record, and which open a list.
    pub(super) fn read_forms(&mut self, operations: &[Operation]) {
        self.forms = operations.iter().map(|operation| form(&parts(operation))).collect();
        let changes =
            operations.iter().filter(|operation| ["PUT", "PATCH"].contains(&operation.method.as_str()));
        self.changed.extend(changes.map(|operation| form(&parts(operation))));
        for operation in operations.iter().filter(|operation| operation.method == "GET") {
            let parts = parts(operation);
            let listed = list(operation, &parts).is_some();
            match parts.last() {
                Some(Part::Key(_)) => {
                    let path = form(&parts);
                    let whole = operation.reply.as_ref().is_some_and(|reply| reply.items().is_some());
                    let below = self.forms.contains(&format!("{path}/{{}}"));
                    if listed && (below || whole) {
                        self.lists.insert(path)
                    } else {
                        self.opened.insert(path)
                    };
                }
                Some(Part::Text(text)) if listed && text.starts_with('{') => {
                    self.chosen.insert(operation.path.clone());
                }
                _ => {}
            }
        }
        for operation in operations.iter().filter(|operation| operation.method != "GET") {
            let said = operation.id.as_deref().and_then(|id| words(id).into_iter().next());
            match parts(operation).as_slice() {
                [.., Part::Key(_), Part::Text(verb)] => {
                    self.verbs.insert(stem(verb));
                }
                [.., Part::Key(_)] => self.verbs.extend(said.as_deref().map(stem)),
                _ => {}
            }
            if operation.method == "DELETE" {
                self.verbs.insert(stem("delete"));
            }
        }
        let bodies =
            operations.iter().filter_map(|operation| operation.body.as_ref()?.first_object().members());
        self.sent = bodies.flat_map(|members| members.keys().map(|name| plain(name))).collect();
        for parameter in operations.iter().flat_map(|operation| &operation.parameters) {
            if parameter.place == Place::Query {
                self.asked.insert(plain(&parameter.name));
            }
            if let (Place::Path, Kind::Enum(values)) = (parameter.place, &parameter.shape.kind) {
                self.choices.entry(plain(&parameter.name)).or_insert_with(|| values.clone());
            }
        }
    }

    /// Returns true if a key is the first part of a key of two: `{owner}/{repo}`, where no path ends with the
    /// first.
    pub(super) fn is_first_part(&self, parts: &[Part], at: usize) -> bool {
        let pair = matches!((parts.get(at), parts.get(at + 1)), (Some(Part::Key(_)), Some(Part::Key(_))));
        pair && !self.forms.contains(&form(parts.get(..=at).unwrap_or_default()))
    }

    /// Returns true if a path ends with a key and lists its children.
    pub(in crate::ground) fn is_list(&self, parts: &[Part]) -> bool {
        self.lists.contains(&form(parts))
    }

    /// Returns the member (empty for the body) in which a reply lists only the keys of the path's records.
    pub(in crate::ground) fn keys_listed(&self, operation: &Operation, parts: &[Part]) -> Option<String> {
        let opens = self.opened.contains(&format!("{}/{{}}", form(parts)));
        let reply = operation.reply.as_ref().filter(|_| opens)?;
        let of_keys = |shape: &Shape| {
            shape.items().is_some_and(|item| matches!(item.kind, Kind::String | Kind::Integer))
        };
        if of_keys(reply) {
            return Some(String::new());
        }
        let members = reply.members()?;
        let mut arrays = members.iter().filter(|(_, member)| of_keys(&member.shape));
        let (name, _) = arrays.next()?;
        let others = members.keys().filter(|other| *other != name);
        let only = arrays.next().is_none() && others.into_iter().all(|other| views::is_paging(other));
        only.then(|| name.clone())
    }

    /// Returns the collection at a path: of this form, or the only one whose form ends with it.
    /// `/organization/projects/{}` answers for `/projects/{}`.
    pub(in crate::ground) fn exact(&self, path: &str) -> Option<usize> {
        self.all.get_index_of(path).or_else(|| {
            let ends = |(_, known): &(usize, &String)| known.len() > path.len() && known.ends_with(path);
            let mut found = self.all.keys().enumerate().filter(ends);
            let first = found.next()?.0;
            found.next().is_none().then_some(first)
        })
    }

    /// Returns the parts of an operation's path. The second of two adjacent keys is dropped if the first
    /// alone opens the record.
    pub(in crate::ground) fn parts(&self, operation: &Operation) -> Vec<Part> {
        let mut kept: Vec<Part> = Vec::new();
        let all = parts(operation);
        let last = all.len().saturating_sub(1);
        for (at, part) in all.into_iter().enumerate() {
            let known = matches!((&part, kept.last()), (Part::Key(_), Some(Part::Key(_))))
                && self.opened.contains(&form(&kept));
            // A segment with a few values chooses among the records of the collection before it.
            let chooses = matches!(&part, Part::Text(text) if text.starts_with('{'))
                && (at < last || self.chosen.contains(&operation.path));
            if !known && !chooses {
                kept.push(part);
            }
        }
        kept
    }

    fn entry(&mut self, parts: &[Part]) -> &mut Collection {
        let last = parts.iter().rev().find_map(|part| match part {
            Part::Text(text) if !text.starts_with('{') && !is_version(text) => Some(text.as_str()),
            _ => None,
        });
        let word = last.unwrap_or("record");
        self.all.entry(form(parts)).or_insert_with(|| Collection {
            name: String::new(),
            noun: noun(word),
            label: label(&singular(&spelt(word))),
            parts: parts.to_vec(),
            single: false,
            item: None,
            key: String::new(),
            key_shape: Shape::of(Kind::String),
            ..Collection::default()
        })
    }

    pub(super) fn see(&mut self, operation: &Operation) {
        let parts = self.parts(operation);
        let get = operation.method == "GET";
        let lists = self.is_list(&parts);
        match parts.split_last() {
            Some((Part::Key(name), before)) if !before.is_empty() && !lists => {
                let key_shape = operation.key_shape(name).cloned();
                let found = self.entry(before);
                let record = find_shown(operation);
                let record = record.map(|reply| take_out_attributes(take_out_named(reply, &found.noun)));
                found.item.get_or_insert_with(|| name.clone());
                if let Some(shape) = key_shape.as_ref().filter(|shape| shape.kind == Kind::Integer) {
                    found.is_numeric = true;
                    found.counted.clone_from(&shape.choices);
                }
                // A collection's path may be read before the paths of its records.
                found.single = false;
                found.opened |= get;
                // A PUT without a body adds the named record to this collection.
                found.joined |=
                    operation.method == "PUT" && operation.request.is_none() && operation.written.is_none();
                if let Some(shape) = key_shape.filter(|_| found.record.is_none()) {
                    found.key_shape = shape;
                }
                // The record's own path shows more members than the reply to a change.
                if record.is_some() && (get || found.record.is_none()) {
                    found.record = record;
                }
            }
            Some(_) if get => {
                let items = list(operation, &parts).map(|(name, item)| (name, take_out_attributes(item)));
                let keys = self.keys_listed(operation, &parts);
                let record = find_shown(operation).cloned();
                let found = self.entry(&parts);
                match items {
                    _ if keys.is_some() => found.listed = true,
                    Some((name, item)) => {
                        found.listed = true;
                        if let Some(label) = described(&parts) {
                            found.label = label;
                        }
                        // `address_configurations` at `/addresses` are configurations of addresses.
                        let words = words(&name);
                        if words.len() > 1 && words.iter().any(|word| noun(word) == found.noun) {
                            found.label = label(&singular(&words.join("_")));
                        }
                        found.seen.push(item.clone());
                        found.record.get_or_insert(item);
                    }
                    None if found.item.is_none() && !found.listed => {
                        found.single = true;
                        if let Some(label) = described(&parts) {
                            found.label = label;
                        }
                        found.record = record;
                    }
                    None => {}
                }
            }
            _ => {}
        }
    }

    pub(super) fn see_made(&mut self, operation: &Operation) {
        let parts = self.parts(operation);
        let Some(Part::Text(last)) = parts.last() else { return };
        let key = |shape: &&Shape| ["id", "sid", "uuid"].iter().any(|key| shape.member(key).is_some());
        let record = find_shown(operation).map(|reply| take_out_named(reply, &noun(last)));
        // The reply may show the record above instead of its new part.
        let part = self.part_shown(&parts).filter(|_| operation.body.is_some());
        let record = match &part {
            Some(part) => record.filter(|record| is_mostly(record, part)).or(Some(part)),
            None => record,
        };
        let sent = operation.body.as_ref().map(Shape::first_object).and_then(Shape::members);
        if let Some(found) = self.all.get_mut(&form(&parts)) {
            found.sent = operation.body.as_ref().map(|body| body.first_object().clone());
            let key = found.item.as_deref().map(plain);
            found.joined = sent.is_some_and(|sent| sent.keys().any(|name| Some(plain(name)) == key));
        }
        let own = self.made_in(&parts).is_none();
        let kept =
            own && record.filter(|record| part.is_some() || key(record)).is_some() && !views::is_verb(last);
        match self.all.get_mut(&form(&parts)) {
            Some(found) if !found.single => {
                found.made |= own;
                found.seen.extend(record.filter(|_| own).cloned());
                if found.record.is_none() {
                    found.record = record.cloned();
                }
            }
            None if kept => {
                let record = record.cloned();
                let found = self.entry(&parts);
                found.made = true;
                found.record = record;
            }
            _ => {}
        }
    }

    /// Returns the shape of a part that the record above a path lists under the path's last word: the items of
    /// `parts` in a repair, for `/repairs/{id}/parts`.
    fn part_shown(&self, parts: &[Part]) -> Option<Shape> {
        let [before @ .., Part::Key(_), Part::Text(last)] = parts else { return None };
        let owner = self.all.get(&form(before)).filter(|owner| !owner.single)?;
        let mut members = owner.record.as_ref()?.members()?.iter();
        let (_, listed) = members.find(|(name, _)| noun(name) == noun(last))?;
        let item = listed.shape.items()?.fullest_object();
        item.members().filter(|members| !members.is_empty()).map(|_| item.clone())
    }
}

/// Returns true if a record has most members of another, and few besides.
fn is_mostly(record: &Shape, part: &Shape) -> bool {
    let (Some(shown), Some(own)) = (record.members(), part.members()) else { return false };
    let shared = own.keys().filter(|name| shown.contains_key(*name)).count();
    shared * 2 > own.len() && shared * 2 >= shown.len()
}
