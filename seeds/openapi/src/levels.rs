//! Limits how far references are followed. A hundred schemas that each refer to three others unfold to
//! billions of nodes.
//!
//! The module counts nodes before anything is built. Where they are too many, references are followed to
//! fewer levels, below which only required members remain.

use std::collections::HashMap;

use serde_json::Value as Json;

use super::shape::{MAX_DEPTH, lookup};

/// Every reference is followed, until a schema contains itself.
pub(super) const ALL: usize = MAX_DEPTH as usize;
/// The greatest number of schema nodes of one operation: GitHub's largest has 4,400. The engine shows at most
/// forty such records in a list.
pub(super) const NODES_PER_OPERATION: u32 = 5_000;
/// The greatest number of nodes of all operations together: twice what GitHub's 1,200 operations have.
const NODES_PER_DOCUMENT: u64 = 300_000;
/// The greatest and the least limit, in nodes, of an operation that is cut: people can read such replies.
const NODES_OF_CUT_OPERATION: u32 = 1_000;
const LEAST_NODES: u32 = 50;
/// The most levels in a document that is cut. A list in an envelope takes two before its items refer to
/// anything.
const MOST_LEVELS: usize = 8;

/// Returns the levels to which each operation's references are followed, given the schemas of its parameters,
/// request and reply.
pub(super) fn levels<'a>(root: &'a Json, operations: &[Vec<&'a Json>]) -> Vec<usize> {
    let mut sizes = Sizes { root, known: HashMap::new() };
    let mut total = 0_u64;
    let whole = operations.iter().map_while(|schemas| {
        let size = sizes.of(schemas, ALL, NODES_PER_OPERATION);
        total += u64::from(size);
        (total <= NODES_PER_DOCUMENT).then_some(size)
    });
    let whole: Vec<u32> = whole.collect();
    if whole.len() == operations.len() {
        // An operation that is too large alone is cut alone.
        let own = |(schemas, size): (&Vec<&'a Json>, u32)| match size {
            NODES_PER_OPERATION.. => sizes.most_levels(schemas, NODES_OF_CUT_OPERATION),
            _ => ALL,
        };
        return operations.iter().zip(whole).map(own).collect();
    }
    // The greatest limit per operation with which all together fit.
    let mut limit = NODES_OF_CUT_OPERATION;
    loop {
        let chosen: Vec<usize> = operations.iter().map(|schemas| sizes.most_levels(schemas, limit)).collect();
        let size = |(schemas, levels): (&Vec<&'a Json>, &usize)| u64::from(sizes.of(schemas, *levels, limit));
        let total: u64 = operations.iter().zip(&chosen).map(size).sum();
        if total <= NODES_PER_DOCUMENT || limit <= LEAST_NODES {
            return chosen;
        }
        limit = limit / 4 * 3;
    }
}

/// Counts the nodes that schemas unfold to.
struct Sizes<'a> {
    root: &'a Json,
    /// By reference and levels: the size, and the limit up to which it was counted. Operations share schemas.
    known: HashMap<(&'a str, usize), (u32, u32)>,
}

impl<'a> Sizes<'a> {
    /// Returns the most levels with which schemas stay below `limit` nodes; at least one.
    fn most_levels(&mut self, schemas: &[&'a Json], limit: u32) -> usize {
        // Counting upwards skips sizes that are far too large.
        let fits = |levels: &usize| self.of(schemas, *levels, limit) < limit;
        (1..=MOST_LEVELS).take_while(fits).last().unwrap_or(1)
    }

    /// Returns the nodes of all schemas of an operation, at most `limit`.
    fn of(&mut self, schemas: &[&'a Json], levels: usize, limit: u32) -> u32 {
        let sizes = schemas.iter().map(|schema| self.of_one(schema, levels, limit));
        sizes.fold(0, u32::saturating_add).min(limit)
    }

    fn of_one(&mut self, schema: &'a Json, levels: usize, limit: u32) -> u32 {
        if let (Some("array"), Some(items)) = (schema.get("type").and_then(Json::as_str), schema.get("items"))
        {
            return self.of_one(items, levels, limit).saturating_add(1).min(limit);
        }
        let key = schema.get("$ref").and_then(Json::as_str).map(|reference| (reference, levels));
        if let Some((size, counted)) = key.and_then(|key| self.known.get(&key))
            && (size < counted || *counted >= limit)
        {
            return (*size).min(limit);
        }
        let mut count = Count { root: self.root, open: Vec::new(), levels, left: limit };
        count.schema(schema, 0, &[]);
        let size = limit - count.left;
        if let Some(key) = key {
            self.known.insert(key, (size, limit));
        }
        size
    }
}

/// Counts the nodes of one schema, up to a limit.
struct Count<'a> {
    root: &'a Json,
    open: Vec<&'a str>,
    levels: usize,
    left: u32,
}

impl<'a> Count<'a> {
    fn schema(&mut self, schema: &'a Json, depth: u32, demanded: &[&'a str]) {
        if depth > MAX_DEPTH || self.left == 0 {
            return;
        }
        self.left -= 1;
        if let Some(pointer) = schema.get("$ref").and_then(Json::as_str) {
            if let (false, Some(target)) = (self.open.contains(&pointer), lookup(self.root, pointer)) {
                self.open.push(pointer);
                self.schema(target, depth + 1, demanded);
                self.open.pop();
            }
            return;
        }
        if let Some(items) = schema.get("items") {
            self.schema(items, depth + 1, &[]);
        }
        let all = demands(self.root, schema, demanded);
        for (name, part) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
            if all.contains(&name.as_str()) || !beyond(self.root, self.open.len(), self.levels, part) {
                self.schema(part, depth + 1, &[]);
            }
        }
        for key in ["allOf", "oneOf", "anyOf"] {
            for part in schema.get(key).and_then(Json::as_array).into_iter().flatten().take(32) {
                self.schema(part, depth + 1, if key == "allOf" { &all } else { &[] });
            }
        }
    }
}

/// Returns the members that an object requires: its own, those of its parts, and those that the object around
/// it requires.
pub(super) fn demands<'a>(root: &'a Json, schema: &'a Json, demanded: &[&'a str]) -> Vec<&'a str> {
    let mut names = demanded.to_vec();
    let mut take = |schema: &'a Json| {
        let own = schema.get("required").and_then(Json::as_array).into_iter().flatten();
        names.extend(own.filter_map(Json::as_str));
    };
    take(schema);
    for part in schema.get("allOf").and_then(Json::as_array).into_iter().flatten().take(32) {
        let target = part.get("$ref").and_then(Json::as_str).and_then(|pointer| lookup(root, pointer));
        take(target.unwrap_or(part));
    }
    names
}

/// Returns true if a member embeds an object beyond the levels that are followed. `open` levels have been
/// followed.
pub(super) fn beyond(root: &Json, open: usize, levels: usize, part: &Json) -> bool {
    open >= levels && embeds(root, part, 0, false, &mut { MAX_PARTS_LOOKED_AT })
}

/// Parts of one schema that are searched for an object; a larger schema is taken to hold one.
const MAX_PARTS_LOOKED_AT: u32 = 2_000;

/// Returns true if a schema embeds an object by reference, or a list of such objects.
fn embeds(root: &Json, schema: &Json, depth: u32, referred: bool, left: &mut u32) -> bool {
    if depth > MAX_DEPTH || *left == 0 {
        return true;
    }
    *left -= 1;
    if let Some(pointer) = schema.get("$ref").and_then(Json::as_str) {
        return lookup(root, pointer).is_some_and(|target| embeds(root, target, depth + 1, true, left));
    }
    let parts =
        ["allOf", "oneOf", "anyOf"].into_iter().filter_map(|key| schema.get(key).and_then(Json::as_array));
    (referred && schema.get("properties").is_some())
        || schema.get("items").is_some_and(|items| embeds(root, items, depth + 1, referred, left))
        || parts.flatten().take(32).any(|part| embeds(root, part, depth + 1, referred, left))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    /// Returns schemas that refer to three others each.
    fn web(schemas: usize) -> Json {
        let name = |place: usize| format!("s{}", place % schemas);
        let schema = |place: usize| {
            let other = |by: usize| json!({"$ref": format!("#/{}", name(place + by))});
            (
                name(place),
                json!({"properties": {"id": {"type": "integer"}, "a": other(1), "b": other(2), "c": other(3)}}),
            )
        };
        Json::Object((0..schemas).map(schema).collect::<Map<_, _>>())
    }

    fn lists(count: usize) -> Vec<Json> {
        let list = |place| json!({"type": "array", "items": {"$ref": format!("#/s{place}")}});
        (0..count).map(list).collect()
    }

    fn levels_of(root: &Json, schemas: &[Json]) -> Vec<usize> {
        let operations: Vec<Vec<&Json>> = schemas.iter().map(|schema| vec![schema]).collect();
        levels(root, &operations)
    }

    #[test]
    fn small_documents_are_followed_to_the_end_and_large_ones_up_to_the_limit() {
        let small = web(4);
        assert_eq!(levels_of(&small, &lists(4)), [ALL; 4]);
        // One operation is cut alone, though the document is small.
        let web = web(900);
        let one = levels_of(&web, &lists(1));
        assert!((4..=MOST_LEVELS).contains(&one[0]), "{one:?}");
        let many = levels_of(&web, &lists(900));
        assert!(many.iter().all(|levels| (3..one[0]).contains(levels)), "{many:?}");
        let mut sizes = Sizes { root: &web, known: HashMap::new() };
        let all = lists(900);
        let total: u64 =
            all.iter().zip(&many).map(|(list, levels)| u64::from(sizes.of(&[list], *levels, 20_000))).sum();
        assert!(total <= NODES_PER_DOCUMENT, "{total}");
        let deeper: u64 = all
            .iter()
            .zip(&many)
            .map(|(list, levels)| u64::from(sizes.of(&[list], levels + 1, 20_000)))
            .sum();
        assert!(deeper > NODES_PER_DOCUMENT, "{deeper} would have fitted");
    }

    #[test]
    fn members_that_another_part_requires_are_never_cut() {
        let root = json!({"base": {"properties": {"owner": {"$ref": "#/user"}, "team": {"$ref": "#/user"}}},
            "user": {"properties": {"id": {}}}, "rule": {"required": ["owner"]}});
        let whole = json!({"allOf": [{"$ref": "#/base"}, {"$ref": "#/rule"}]});
        assert_eq!(demands(&root, &whole, &["id"]), ["id", "owner"]);
        let mut sizes = Sizes { root: &root, known: HashMap::new() };
        // The whole schema, two parts and their targets; then `owner`, the user and its id.
        assert_eq!(sizes.of(&[&whole], 1, 100), 1 + 4 + 3);
        assert_eq!(sizes.of(&[&whole], 2, 100), 1 + 4 + 6);
    }

    #[test]
    fn only_references_to_objects_are_beyond() {
        let root = json!({"id": {"type": "string"}, "user": {"properties": {"id": {}}}});
        assert!(!beyond(&root, 1, 1, &json!({"$ref": "#/id"})));
        assert!(!beyond(&root, 1, 1, &json!({"properties": {"id": {}}})));
        assert!(!beyond(&root, 0, 1, &json!({"$ref": "#/user"})));
        for schema in [
            json!({"$ref": "#/user"}),
            json!({"type": "array", "items": {"$ref": "#/user"}}),
            json!({"anyOf": [{"type": "null"}, {"$ref": "#/user"}]}),
        ] {
            assert!(beyond(&root, 1, 1, &schema), "{schema}");
        }
    }
}
