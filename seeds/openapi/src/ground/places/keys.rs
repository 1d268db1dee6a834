//! Finds the members that show the keys of collections.

use std::collections::{HashMap, HashSet};

use diorama_seeds::contract::{ANY_KEY, KEYS, key_name, plain};

use super::{Collection, Places, form};
use crate::document::Operation;
use crate::hypotheses::Strength;
use crate::shape::{Kind, Shape};
use crate::words::{identifier, is_id, words};

impl Places {
    /// Chooses a key member for each collection.
    pub(super) fn find_keys(&mut self) {
        let guesses = &self.guesses;
        let nouns: Vec<String> = self.all.values().map(|found| found.noun.clone()).collect();
        for index in 0..self.all.len() {
            let Some((_, found)) = self.all.get_index_mut(index) else { continue };
            let hidden = format!("{}_key", found.name);
            if found.single || found.uses.is_some() {
                found.key = hidden;
                continue;
            }
            if found.number.is_some() {
                let id = found.record.as_ref().and_then(|record| record.member("id")).cloned();
                found.key = if id.is_some() { "id".to_owned() } else { hidden };
                // The key of a record that its path calls by a name has a form of its own.
                if let Some(id) = id.filter(|_| found.key_shape.kind == Kind::String) {
                    found.key_shape = id;
                }
                continue;
            }
            let param = found.item.clone().unwrap_or_else(|| "id".to_owned());
            // A key that no record shows may be one that requests send. The `pool` of a pool is its name.
            let is_its_name = plain(&param) == found.noun
                && found.record.as_ref().is_some_and(|record| record.member("name").is_some());
            let sent = found.sent.iter().filter(|_| !is_its_name);
            let records = found.record.iter().chain(&found.seen).chain(sent);
            let ranked = records.flat_map(|record| {
                key_members(record, &param, &found.key_shape, &found.noun).into_iter().enumerate()
            });
            let mut members: Vec<(usize, (String, Shape))> = ranked.collect();
            // A list may show an id that the record's own path leaves out.
            members.sort_by_key(|(rank, (name, _))| (*rank > 0, !is_sure_key(name, &param, &found.noun)));
            let mut seen = HashSet::new();
            // A full name is no key by itself.
            let is_full = self.full.contains(&form(&found.parts));
            members.retain(|(_, (name, _))| seen.insert(name.clone()) && !(is_full && plain(name) == "name"));
            // The `part_id` of a repair's part names a part of `/parts`.
            let is_named = |stem: &String| {
                !stem.is_empty()
                    && nouns.iter().enumerate().any(|(other, noun)| other != index && noun == stem)
            };
            let is_open = found.item.is_none();
            members.retain(|(_, (name, _))| {
                !(is_open
                    && key_name(name).is_some_and(|(stem, ending)| KEYS.contains(&ending) && is_named(&stem)))
            });
            // A numeric path parameter matches no string member.
            let is_numeric = found.is_numeric;
            members.retain(|(_, (name, shape))| {
                !is_numeric || shape.kind != Kind::String || plain(name) == plain(&param)
            });
            // An id of the same name is certain, and so is the last word of the parameter's name: `gid` of
            // `task_gid`.
            let said = words(&param);
            let is_sure = members.first().is_some_and(|(_, (name, _))| {
                let ends = said.len() > 1 && said.last() == Some(name) && name != "name" && !is_id(name);
                ends || (is_id(&param) && plain(name) == plain(&param))
            });
            let ways = if is_sure { 1 } else { members.len() };
            let take = guesses.guess("key", &form(&found.parts), Strength::Member, ways);
            let member = members.into_iter().nth(take).map(|(_, member)| member);
            if let Some((name, shape)) = member {
                found.key = identifier(&name);
                // A path's parameter may describe keys better than the member that shows them.
                let said = found.key_shape.description.take().or_else(|| shape.description.clone());
                let bounded = shape.min.is_some() || shape.max.is_some();
                let long = shape.min_length.is_some() || shape.max_length.is_some();
                let told = tells(&shape) || bounded || long;
                if told
                    || std::mem::discriminant(&shape.kind) != std::mem::discriminant(&found.key_shape.kind)
                {
                    found.key_shape = shape;
                }
                found.key_shape.description = said;
            } else if found.item.is_none() && !found.made {
                found.key = hidden;
            } else {
                found.key = identifier(&param);
                if is_numeric {
                    found.key_shape.kind = Kind::Integer;
                }
            }
            match found.key_shape.kind {
                Kind::Integer | Kind::String => {}
                Kind::Number => found.key_shape.kind = Kind::Integer,
                _ => found.key_shape.kind = Kind::String,
            }
            let clash = found.above.iter().any(|above| above.field == found.key);
            for above in found.above.iter_mut().filter(|_| clash) {
                above.field = format!("of_{}", above.field);
            }
        }
        let keys = self.all.values().filter(|found| found.key != format!("{}_key", found.name));
        let mut counts: HashMap<String, u32> = HashMap::new();
        for found in keys {
            *counts.entry(plain(&found.key)).or_default() += 1;
        }
        let own = |name: &String| !ANY_KEY.contains(&name.as_str());
        self.keyed =
            counts.into_iter().filter(|(_, count)| *count == 1).map(|(name, _)| name).filter(own).collect();
    }

    /// Lends key shapes to paths that declare none: to paths below, and to members that hold the key in
    /// bodies and replies.
    pub(super) fn lend_key_shapes(&mut self, operations: &[Operation]) {
        let mut said: HashMap<String, Shape> = HashMap::new();
        for operation in operations {
            let parts = self.parts(operation);
            let of_path = parts.iter().enumerate().filter_map(|(place, part)| {
                let shape = operation.key_shape(part.key()?)?;
                Some((form(&parts[..place]), shape))
            });
            let bodies = operation.body.iter().chain(operation.reply.as_ref());
            let members =
                bodies.flat_map(Shape::members).flatten().map(|(name, member)| (name, &member.shape));
            let of_members = members
                .map(|(name, shape)| (plain(name), shape))
                .filter(|(name, _)| self.keyed.contains(name));
            for (key, shape) in of_path.chain(of_members).filter(|(_, shape)| tells(shape)) {
                said.entry(key).or_insert_with(|| shape.clone());
            }
        }
        for (path, found) in self.all.iter_mut().filter(|(_, found)| !tells(&found.key_shape)) {
            let shape = said.get(path).or_else(|| said.get(&plain(&found.key)));
            if let Some(shape) = shape.filter(|shape| shape.kind == found.key_shape.kind) {
                (found.key_shape.format, found.key_shape.pattern) =
                    (shape.format.clone(), shape.pattern.clone());
            }
        }
    }
}

/// Returns true if a member is certainly a path parameter's key, and not just a name or code beside an id.
fn is_sure_key(member: &str, param: &str, noun: &str) -> bool {
    let own = key_name(param).map(|(_, ending)| ending).filter(|ending| !KEYS.contains(ending));
    let endings = own.as_ref().map_or(&KEYS[..], std::slice::from_ref);
    let (member, param) = (plain(member), plain(param));
    member == param || endings.iter().any(|ending| member == *ending || member == format!("{noun}{ending}"))
}

/// Returns true if a shape describes the form of a key.
fn tells(shape: &Shape) -> bool {
    shape.format.is_some() || shape.pattern.is_some() || !shape.samples.is_empty()
}

impl Collection {
    /// Returns the member by which a path names records that have another key: the `template_key` of
    /// `/templates/{id}`.
    pub(in crate::ground) fn named_by(&self, parameter: &str) -> Option<String> {
        if self.number.is_some() && self.item.as_deref() == Some(parameter) {
            return self.number.clone();
        }
        let item = self.item.as_deref().filter(|item| plain(item) != plain(parameter))?;
        let (_, ending) = key_name(parameter)?;
        if self.uses.is_some() || key_name(item).is_some_and(|(_, own)| own == ending) {
            return None;
        }
        let members = self.record.as_ref()?.members()?;
        let scalar = |shape: &Shape| matches!(shape.kind, Kind::String | Kind::Integer);
        let named = |wanted: &str| {
            members
                .iter()
                .find(|(name, member)| plain(name) == wanted && scalar(&member.shape))
                .map(|(name, _)| name)
        };
        let found = named(&plain(parameter)).or_else(|| named(ending))?;
        Some(identifier(found)).filter(|field| *field != self.key)
    }
}

/// Returns the members of a record that its path's parameter may mean, the likeliest first.
fn key_members(record: &Shape, param: &str, given: &Shape, noun: &str) -> Vec<(String, Shape)> {
    let Some(members) = record.members() else { return Vec::new() };
    let (stem, ending) = key_name(param).unwrap_or_else(|| (String::new(), "id"));
    let scalar = |shape: &Shape| matches!(shape.kind, Kind::String | Kind::Integer | Kind::Number);
    let member = |wanted: &String, fits: &dyn Fn(&Shape) -> bool| {
        let found = members.iter().find(|(name, member)| plain(name) == *wanted && fits(&member.shape));
        found.map(|(name, member)| (name.clone(), member.shape.clone()))
    };
    // A member of the same name wins, number or string; under other names one of the same type is likelier.
    let exact = member(&plain(param), &scalar);
    // A user name is a login, and no display name.
    let login = (plain(param) == "username").then(|| "login".to_owned());
    // The last word of a name may be the document's word for keys: `gid` of `task_gid`.
    let last = words(param).pop().filter(|last| words(param).len() > 1 && *last != noun && *last != stem);
    let mut names: Vec<String> = login.into_iter().chain(last).chain([ending.to_owned()]).collect();
    for noun in [stem.as_str(), noun] {
        names.push(format!("{noun}{ending}"));
    }
    names.extend(KEYS.map(str::to_owned));
    names.push(format!("{noun}id"));
    let is_id = key_name(param).is_some_and(|(_, ending)| KEYS.contains(&ending));
    // A record with an id is not opened by its name.
    let others = ["slug", "key", "name", "username", "login", "code", "token", "number"];
    names.extend(others.into_iter().filter(|name| !is_id || *name != "name").map(str::to_owned));
    // `/repos/{repo}` takes a string, so the numeric id of a repository does not fit.
    let alike = |shape: &Shape| shape.kind == given.kind;
    let named = names.iter().filter(|_| !is_id).find_map(|wanted| member(wanted, &alike));
    let others = names.iter().filter_map(|wanted| member(wanted, &scalar));
    exact.into_iter().chain(named).chain(others).collect()
}
