//! Values that replies showed, for the arguments of later calls.

use std::collections::{HashMap, HashSet};

use diorama_seeds::contract::{KEYS, key_name, noun, plain};
use diorama_seeds::english::split_identifier;
use diorama_seeds::model::ResourceId;
use serde_json::{Map, Value as Json};

/// Values kept of one name.
const MAX_VALUES: usize = 6;
/// Objects inside objects that are looked into.
const MAX_DEPTH: u32 = 6;
/// Members that may be the key of what a list shows, after those that the parameter names.
const OTHER_KEYS: [&str; 7] = ["slug", "key", "name", "username", "login", "code", "token"];

/// An object of a reply.
pub(crate) type Object = Map<String, Json>;

/// The values that replies showed so far.
#[derive(Default)]
pub(crate) struct Values {
    /// By path with its values, the objects that were listed there.
    listed: HashMap<String, Vec<Object>>,
    /// By normal name of a member, its values.
    by_name: HashMap<String, Vec<Json>>,
    seen: HashSet<(String, String)>,
    /// By normal name of a parameter, what callers are given for it.
    given: HashMap<String, Json>,
    /// Keys of records that lists showed.
    keys: HashMap<ResourceId, Json>,
}

impl Values {
    /// Takes in a reply.
    pub(crate) fn learn(&mut self, path: &str, body: &Json) {
        if let Some(items) = objects(body) {
            self.listed
                .entry(path.to_owned())
                .or_insert_with(|| items.into_iter().take(MAX_VALUES).cloned().collect());
        }
        self.learn_members(body, 0);
    }

    /// Takes in the first record that a list of a resource shows, by the normal name of its key.
    pub(crate) fn learn_key(&mut self, resource: ResourceId, key: &str, body: &Json) {
        let shown =
            objects(body).unwrap_or_default().into_iter().find_map(|item| find_member(item, key).cloned());
        if let Some(value) = shown {
            self.keys.entry(resource).or_insert(value);
        }
    }

    /// The key of a record of a resource.
    pub(crate) fn key_of(&self, resource: ResourceId) -> Option<&Json> {
        self.keys.get(&resource)
    }

    /// Takes in a value that callers are given.
    pub(crate) fn give(&mut self, name: &str, value: Json) {
        self.given.insert(normalise(name), value);
    }

    /// Takes in a value under a name.
    pub(crate) fn tell(&mut self, name: &str, value: &Json) {
        if value.is_string() || value.is_i64() || value.is_u64() {
            let name = normalise(name);
            let known = self.by_name.entry(name.clone()).or_default();
            if known.len() < MAX_VALUES && self.seen.insert((name, value.to_string())) {
                known.push(value.clone());
            }
        }
    }

    fn learn_members(&mut self, body: &Json, depth: u32) {
        match body {
            Json::Object(members) if depth < MAX_DEPTH => {
                for (name, value) in members {
                    self.tell(name, value);
                    // The id inside an owner is the owner's.
                    let id = value.as_object().and_then(|inner| inner.iter().find(|(name, _)| is_id(name)));
                    if let Some((_, id)) = id {
                        self.tell(&format!("{}id", noun(name)), id);
                    }
                    self.learn_members(value, depth + 1);
                }
            }
            Json::Array(items) if depth < MAX_DEPTH => {
                items.iter().take(3).for_each(|item| self.learn_members(item, depth + 1));
            }
            _ => {}
        }
    }

    /// Values for a parameter that follows a path: keys of what is listed there, then values of its name.
    pub(crate) fn candidates(&self, before: &str, parameter: &str) -> Vec<Json> {
        let name = normalise(parameter);
        if let Some(given) = self.given.get(&name) {
            return vec![given.clone()];
        }
        let listed = self.listed.get(before).map(Vec::as_slice).unwrap_or_default();
        let mut found: Vec<Json> = listed
            .iter()
            .take(3)
            .filter_map(|item| keys(item, before, parameter).into_iter().next())
            .collect();
        let own = self.by_name.get(&name).filter(|_| !is_id(parameter) && name != "name");
        found.extend(own.into_iter().flatten().cloned());
        let mut seen = HashSet::new();
        found.retain(|value| seen.insert(value.to_string()));
        found
    }

    /// Any value of a name.
    pub(crate) fn named(&self, name: &str) -> Option<&Json> {
        let name = normalise(name);
        let shown = || self.by_name.get(&name).and_then(|values| values.first());
        self.given.get(&name).or_else(shown)
    }
}

/// A name as names are compared: the plain one, and the whole where no letter of it is ASCII.
pub(crate) fn normalise(name: &str) -> String {
    let plain = plain(name);
    if plain.is_empty() { name.to_owned() } else { plain }
}

fn is_id(name: &str) -> bool {
    KEYS.contains(&&*plain(name))
}

/// The objects that a reply lists: its own items, or those of the first member that has some.
pub(crate) fn objects(body: &Json) -> Option<Vec<&Object>> {
    let all = |items: &'_ [Json]| items.iter().all(Json::is_object);
    match body {
        Json::Array(items) if all(items) => Some(items.iter().filter_map(Json::as_object).collect()),
        Json::Object(members) => {
            let lists = members.values().filter_map(Json::as_array);
            let list = lists.filter(|items| all(items)).min_by_key(|items| items.is_empty());
            let inner = || members.values().filter(|value| value.is_object()).find_map(objects);
            list.map(|items| items.iter().filter_map(Json::as_object).collect()).or_else(inner)
        }
        _ => None,
    }
}

/// The value of the first member with a normal name that is not null.
pub(crate) fn find_member<'o>(object: &'o Object, wanted: &str) -> Option<&'o Json> {
    let is_wanted = |(name, value): &(&String, &Json)| normalise(name) == wanted && !value.is_null();
    object.iter().find(is_wanted).map(|(_, value)| value)
}

/// The value of an object for another part of its address: its member of that name, or the key of what that member shows.
pub(crate) fn part_of_key(object: &Object, parameter: &str) -> Option<Json> {
    let member = find_member(object, &normalise(parameter))?;
    match member.as_object() {
        Some(inner) => keys(inner, "", parameter).into_iter().next(),
        None => Some(member.clone()).filter(|value| value.is_string() || value.is_i64() || value.is_u64()),
    }
}

/// The values of an object that a path's parameter may take for its key, the likeliest first.
pub(crate) fn keys(item: &Object, before: &str, parameter: &str) -> Vec<Json> {
    let (stem, ending) = key_name(parameter).unwrap_or_else(|| (noun(parameter), "id"));
    let last = before.rsplit('/').next().map(noun).unwrap_or_default();
    // The last word of a name may be what the document calls keys: `gid` of `task_gid`.
    let said = split_identifier(parameter);
    let own = said.last().filter(|_| said.len() > 1).cloned().unwrap_or_default();
    let mut names = vec![normalise(parameter), own, ending.to_owned()];
    names.extend([format!("{stem}{ending}"), format!("{last}{ending}")]);
    names.extend(KEYS.map(str::to_owned));
    names.extend([format!("{stem}id"), format!("{last}id")]);
    names.extend(OTHER_KEYS.map(str::to_owned));
    // A member without a name is no key.
    names.retain(|name| !name.is_empty());
    let is_key = |value: &&Json| {
        value.is_i64() || value.is_u64() || value.as_str().is_some_and(|text| !text.is_empty())
    };
    let of = |object: &Object| -> Vec<Json> {
        let found = names.iter().filter_map(|name| find_member(object, name));
        found.filter(is_key).cloned().collect()
    };
    let mut found = of(item);
    if found.is_empty() {
        let inner =
            item.values().filter_map(Json::as_object).find(|inner| inner.keys().any(|name| is_id(name)));
        found = inner.map(of).unwrap_or_default();
    }
    let mut seen = HashSet::new();
    found.retain(|value| seen.insert(value.to_string()));
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_without_ascii_letters_are_told_apart() {
        let item = json!({"": "none", "名前": "Ada", "番号": 7, "guid": "g-1"});
        let item = item.as_object().unwrap();
        assert_eq!(keys(item, "/users", "user"), [json!("g-1")]);
        assert_eq!(keys(item, "/users", "番号"), [json!(7), json!("g-1")]);
        let mut values = Values::default();
        values.learn("/users", &json!([item]));
        assert_eq!([values.named("名前"), values.named("番号")], [Some(&json!("Ada")), Some(&json!(7))]);
    }
}
