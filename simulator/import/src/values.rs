//! Values from replies, for the arguments of later calls.

use std::collections::{HashMap, HashSet};

use diorama_seeds::contract::{KEYS, key_name, noun, plain};
use diorama_seeds::english::split_identifier;
use diorama_seeds::model::ResourceId;
use serde_json::{Map, Value as Json};

/// Maximum number of values per name.
const MAX_VALUES: usize = 6;
/// Maximum nesting of objects that are searched for values.
const MAX_DEPTH: u32 = 6;
/// Members that may be the key of a list item, after those that the parameter names.
const OTHER_KEYS: [&str; 7] = ["slug", "key", "name", "username", "login", "code", "token"];

/// An object of a reply.
pub(crate) type Object = Map<String, Json>;

/// The values that replies have shown so far.
#[derive(Default)]
pub(crate) struct Values {
    /// The listed objects, by path with its values.
    listed: HashMap<String, Vec<Object>>,
    /// The values of members, by normalised name.
    by_name: HashMap<String, Vec<Json>>,
    seen: HashSet<(String, String)>,
    /// The values that callers know from the start, by normalised parameter name.
    given: HashMap<String, Json>,
    /// One key per resource, from lists.
    keys: HashMap<ResourceId, Json>,
}

impl Values {
    /// Records the values of a reply.
    pub(crate) fn learn(&mut self, path: &str, body: &Json) {
        if let Some(items) = objects(body) {
            self.listed
                .entry(path.to_owned())
                .or_insert_with(|| items.into_iter().take(MAX_VALUES).cloned().collect());
        }
        self.learn_members(body, 0);
    }

    /// Records the key of the first record in a list of a resource. `key` is its normalised name.
    pub(crate) fn learn_key(&mut self, resource: ResourceId, key: &str, body: &Json) {
        let shown =
            objects(body).unwrap_or_default().into_iter().find_map(|item| find_member(item, key).cloned());
        if let Some(value) = shown {
            self.keys.entry(resource).or_insert(value);
        }
    }

    /// Returns a key of a resource.
    pub(crate) fn key_of(&self, resource: ResourceId) -> Option<&Json> {
        self.keys.get(&resource)
    }

    /// Records a value that callers know from the start.
    pub(crate) fn give(&mut self, name: &str, value: Json) {
        self.given.insert(normalise(name), value);
    }

    /// Records a value under a name.
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
                    // An id inside an owner object is the owner's id.
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

    /// Returns values for a parameter after a path: keys of the objects listed there, then values of its
    /// name.
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

    /// Returns any value of a name.
    pub(crate) fn named(&self, name: &str) -> Option<&Json> {
        let name = normalise(name);
        let shown = || self.by_name.get(&name).and_then(|values| values.first());
        self.given.get(&name).or_else(shown)
    }
}

/// Returns a name in the form for comparisons: the plain one, or the whole name if it has no ASCII letter.
pub(crate) fn normalise(name: &str) -> String {
    let plain = plain(name);
    if plain.is_empty() { name.to_owned() } else { plain }
}

fn is_id(name: &str) -> bool {
    KEYS.contains(&&*plain(name))
}

/// Returns the objects that a reply lists: its own items, or those of its first non-empty list member.
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

/// Returns the first non-null member with a normalised name.
pub(crate) fn find_member<'o>(object: &'o Object, wanted: &str) -> Option<&'o Json> {
    let is_wanted = |(name, value): &(&String, &Json)| normalise(name) == wanted && !value.is_null();
    object.iter().find(is_wanted).map(|(_, value)| value)
}

/// Returns the value of an object for another part of its address: the member with that name, or that
/// member's key.
pub(crate) fn part_of_key(object: &Object, parameter: &str) -> Option<Json> {
    let member = find_member(object, &normalise(parameter))?;
    match member.as_object() {
        Some(inner) => keys(inner, "", parameter).into_iter().next(),
        None => Some(member.clone()).filter(|value| value.is_string() || value.is_i64() || value.is_u64()),
    }
}

/// Returns the values of an object that a path parameter may use as its key, the likeliest first.
pub(crate) fn keys(item: &Object, before: &str, parameter: &str) -> Vec<Json> {
    let (stem, ending) = key_name(parameter).unwrap_or_else(|| (noun(parameter), "id"));
    let last = before.rsplit('/').next().map(noun).unwrap_or_default();
    // The last word of the parameter may be the document's word for keys. Example: `gid` of `task_gid`.
    let said = split_identifier(parameter);
    let own = said.last().filter(|_| said.len() > 1).cloned().unwrap_or_default();
    let mut names = vec![normalise(parameter), own, ending.to_owned()];
    names.extend([format!("{stem}{ending}"), format!("{last}{ending}")]);
    names.extend(KEYS.map(str::to_owned));
    names.extend([format!("{stem}id"), format!("{last}id")]);
    names.extend(OTHER_KEYS.map(str::to_owned));
    // An empty name matches no member.
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
