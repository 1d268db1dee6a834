//! Owns the bodies of forms. Names with brackets denote members, items and objects (`address[city]`,
//! `items[0][price]`, `locales[]`). Each text is parsed as the first type that fits its schema.

use std::borrow::Cow;
use std::collections::HashSet;

use indexmap::IndexMap;
use serde_json::{Map, Value as Json};

use super::body::Contract;
use super::check::Side;

/// Maximum number of brackets in one name.
const MAX_BRACKETS: usize = 16;

/// The texts of a name, and the nodes of the brackets after it.
#[derive(Default)]
struct Node {
    texts: Vec<String>,
    inside: IndexMap<String, Node>,
}

impl Contract {
    /// Returns the members of a form.
    pub fn form(&self, pairs: IndexMap<String, Vec<String>>) -> Map<String, Json> {
        let schema = self.request.as_ref();
        let mut root = Node::default();
        for (name, texts) in pairs {
            let declared = schema.is_some_and(|schema| self.member(schema, &name).is_some());
            let path = if declared { vec![name.as_str()] } else { bracketed(&name) };
            let node = path
                .into_iter()
                .fold(&mut root, |node, part| node.inside.entry(part.to_owned()).or_default());
            node.texts.extend(texts);
        }
        self.object(schema, root.inside)
    }

    fn object(&self, schema: Option<&Json>, inside: IndexMap<String, Node>) -> Map<String, Json> {
        let members = inside.into_iter().map(|(name, node)| {
            let schema = schema.and_then(|schema| self.member(schema, &name));
            let value = self.read(schema, node);
            (name, value)
        });
        members.collect()
    }

    /// Returns the keywords of a schema, of its alternatives, and of their alternatives, each once.
    fn alternatives<'s>(&'s self, schema: &'s Json) -> impl Iterator<Item = Cow<'s, Map<String, Json>>> {
        let (mut open, mut seen) = (vec![schema], HashSet::new());
        std::iter::from_fn(move || {
            let flat = self.schemas.flat(open.pop()?);
            open.extend(flat.ways.iter().rev().filter(|way| seen.insert(std::ptr::from_ref(*way))));
            Some(flat.members)
        })
    }

    /// Returns the schema of a member in any of the alternatives.
    fn member(&self, schema: &Json, name: &str) -> Option<Json> {
        let named = |words: &Map<String, Json>| words.get("properties")?.get(name).cloned();
        let other = |words: &Map<String, Json>| {
            words.get("additionalProperties").filter(|more| more.is_object()).cloned()
        };
        let own = self.alternatives(schema).find_map(|words| named(&words));
        own.or_else(|| self.alternatives(schema).find_map(|words| other(&words)))
    }

    /// Returns the schema of list items in any of the alternatives.
    fn items(&self, schema: &Json) -> Option<Json> {
        self.alternatives(schema).find_map(|words| words.get("items").cloned())
    }

    fn read(&self, schema: Option<Json>, node: Node) -> Json {
        if node.inside.is_empty() {
            return self.spelt(schema.as_ref(), &node.texts);
        }
        let is_place = |name: &String| name.is_empty() || name.bytes().all(|byte| byte.is_ascii_digit());
        if !node.inside.keys().all(is_place) {
            return Json::Object(self.object(schema.as_ref(), node.inside));
        }
        let items = schema.as_ref().and_then(|schema| self.items(schema));
        let mut places: Vec<(String, Node)> = node.inside.into_iter().collect();
        places.sort_by_key(|(place, _)| place.parse::<u64>().unwrap_or(u64::MAX));
        let read = places.into_iter().flat_map(|(place, node)| match place.is_empty() {
            true if node.inside.is_empty() => {
                let one = |text: &String| self.spelt(items.as_ref(), std::slice::from_ref(text));
                node.texts.iter().map(one).collect()
            }
            _ => vec![self.read(items.clone(), node)],
        });
        Json::Array(read.collect())
    }

    /// Returns the first parse of a form's texts that fits the schema.
    fn spelt(&self, schema: Option<&Json>, texts: &[String]) -> Json {
        let read = |text: &str| serde_json::from_str::<Json>(text).ok();
        let only = texts.first().filter(|_| texts.len() == 1);
        let plain = only.map(|text| Json::from(text.as_str()));
        let whole = only.and_then(|text| read(text));
        let list = || Json::Array(texts.iter().map(|text| Json::from(text.as_str())).collect());
        let items = texts.iter().map(|text| read(text).unwrap_or_else(|| Json::from(text.as_str())));
        let readings = [plain.clone(), whole, Some(list()), Some(Json::Array(items.collect()))];
        let fits = |value: &Json| {
            schema.is_none_or(|schema| self.schemas.check(schema, value, Side::Request).is_ok())
        };
        readings.into_iter().flatten().find(fits).or(plain).unwrap_or_else(list)
    }
}

/// Splits a name at its brackets: `items[0][price]` gives `items`, `0` and `price`. Unpaired brackets leave
/// the name whole.
fn bracketed(name: &str) -> Vec<&str> {
    let parts = || {
        let (first, rest) = name.split_once('[').filter(|(first, _)| !first.is_empty())?;
        let inner = rest.strip_suffix(']')?;
        let inner: Vec<&str> = inner.split("][").collect();
        let plain = inner.len() <= MAX_BRACKETS && inner.iter().all(|part| !part.contains(['[', ']']));
        plain.then(|| std::iter::once(first).chain(inner).collect())
    };
    parts().unwrap_or_else(|| vec![name])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::contract::Schemas;

    /// Checks the body that a form gives with a schema and its references.
    fn check(schemas: &Json, request: &Json, pairs: &[(&str, &str)], expect: &Json) {
        let contract = Contract {
            schemas: Arc::new(Schemas::new(schemas.as_object().unwrap().clone())),
            request: Some(request.clone()),
            whole: None,
            reply: None,
            kinds: Vec::new(),
            headers: Vec::new(),
            form: true,
            merge: false,
            inside: Vec::new(),
            needs_body: false,
            refusal: 400,
        };
        let mut all: IndexMap<String, Vec<String>> = IndexMap::new();
        for (name, text) in pairs {
            all.entry((*name).to_owned()).or_default().push((*text).to_owned());
        }
        assert_eq!(Json::Object(contract.form(all)), *expect, "{pairs:?}");
    }

    #[test]
    fn names_with_brackets_are_members_and_items() {
        let request = json!({"type": "object", "properties": {
            "address": {"anyOf": [{"type": "object", "properties": {"zip": {"type": "string"}}}, {"enum": [""]}]},
            "items": {"type": "array", "items": {"type": "object", "properties": {"quantity": {"type": "integer"}}}},
            "locales": {"type": "array", "items": {"type": "string"}},
            "page[size]": {"type": "integer"},
        }});
        let check = |pairs: &[(&str, &str)], expect: Json| check(&json!({}), &request, pairs, &expect);
        check(
            &[("address[zip]", "0150"), ("page[size]", "5")],
            json!({"address": {"zip": "0150"}, "page[size]": 5}),
        );
        check(
            &[("items[1][quantity]", "2"), ("items[0][quantity]", "1")],
            json!({"items": [{"quantity": 1}, {"quantity": 2}]}),
        );
        check(&[("locales[]", "nb"), ("locales[]", "en")], json!({"locales": ["nb", "en"]}));
        check(&[("metadata[7a]", "x"), ("odd[", "y")], json!({"metadata": {"7a": "x"}, "odd[": "y"}));
    }

    #[test]
    fn alternatives_that_contain_themselves_are_read_once() {
        let tree = json!({"$ref": "#/schemas/Tree"});
        let schemas = json!({"Tree": {"anyOf": [tree, {"type": "object", "properties": {
            "size": {"type": "integer"}, "leaves": {"anyOf": [tree, {"type": "array", "items": tree}]}}}]}});
        let pairs = [("size", "1"), ("leaves[0][size]", "2"), ("other[size]", "3")];
        let expect = json!({"size": 1, "leaves": [{"size": 2}], "other": {"size": "3"}});
        check(&schemas, &tree, &pairs, &expect);
    }
}
