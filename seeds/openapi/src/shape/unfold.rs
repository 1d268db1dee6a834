//! Converts the schemas of a document into shapes: follows references and merges parts.

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::{Kind, MAX_DEPTH, Member, Shape, lookup, union};
use crate::bundle::shown;
use crate::levels;
use crate::{Remark, Severity};

/// Unfolds schemas of one document.
pub(crate) struct Unfolder<'a> {
    root: &'a Json,
    open: Vec<&'a str>,
    budget: u32,
    /// The levels of references to optional members that are followed.
    levels: usize,
    /// True if an optional member beyond those levels was dropped.
    pub(crate) cut: bool,
    /// Notes on schemas that could not be read.
    pub(crate) problems: Vec<Remark>,
}

impl<'a> Unfolder<'a> {
    pub(crate) fn new(root: &'a Json, levels: usize) -> Self {
        let budget = levels::NODES_PER_OPERATION;
        Self { root, open: Vec::new(), budget, levels, cut: false, problems: Vec::new() }
    }

    /// Returns the whole document.
    pub(crate) const fn root(&self) -> &'a Json {
        self.root
    }

    /// Follows `$ref`s of anything that is not a schema (parameters, responses), at most 16 in a row.
    pub(crate) fn resolve(&mut self, mut node: &'a Json) -> Option<&'a Json> {
        for _ in 0..16 {
            let Some(pointer) = node.get("$ref").and_then(Json::as_str) else { return Some(node) };
            let Some(target) = lookup(self.root, pointer) else {
                self.problem(
                    Severity::LeftOut,
                    format!("the reference `{}` does not resolve", shown(pointer)),
                );
                return None;
            };
            node = target;
        }
        self.problem(Severity::LeftOut, "a chain of references never ends");
        None
    }

    fn problem(&mut self, severity: Severity, message: impl Into<String>) {
        let remark = severity.says(message);
        if self.problems.len() < 50 && !self.problems.contains(&remark) {
            self.problems.push(remark);
        }
    }

    /// Returns the shape of a schema.
    pub(crate) fn shape(&mut self, schema: &'a Json) -> Shape {
        self.shape_at(schema, 0, &[])
    }

    fn shape_at(&mut self, schema: &'a Json, depth: u32, demanded: &[&'a str]) -> Shape {
        if depth > MAX_DEPTH || self.budget == 0 {
            let reason = "a schema is nested too deeply or too large; its inner part is read as any value";
            self.problem(Severity::Less, reason);
            return Shape::default();
        }
        self.budget -= 1;
        if let Some(pointer) = schema.get("$ref").and_then(Json::as_str) {
            let name = pointer.rsplit('/').next().unwrap_or(pointer).to_owned();
            if self.open.contains(&pointer) {
                return Shape { kind: Kind::Cycle(name.clone()), title: Some(name), ..Shape::default() };
            }
            let Some(target) = lookup(self.root, pointer) else {
                self.problem(
                    Severity::LeftOut,
                    format!("the reference `{}` does not resolve", shown(pointer)),
                );
                // An unresolved reference becomes a plain object.
                return Shape::of(Kind::Object(IndexMap::new()));
            };
            self.open.push(pointer);
            let mut shape = self.shape_at(target, depth + 1, demanded);
            self.open.pop();
            shape.title = Some(name);
            if let Some(text) = schema.get("description").and_then(Json::as_str) {
                shape.description = Some(text.to_owned());
            }
            shape.nullable |= schema.get("nullable") == Some(&Json::Bool(true));
            if let Some(default) = schema.get("default") {
                shape.default = Some(default.clone());
            }
            return shape;
        }
        let demanded = levels::demands(self.root, schema, demanded);
        let mut shape = self.plain(schema, depth, &demanded);
        let chooser = schema.pointer("/discriminator/propertyName").and_then(Json::as_str);
        for (key, merge) in [("allOf", true), ("oneOf", false), ("anyOf", false)] {
            let Some(parts) = schema.get(key).and_then(Json::as_array) else { continue };
            let demanded = if merge { demanded.as_slice() } else { &[] };
            let mut parts: Vec<Shape> =
                parts.iter().take(32).map(|part| self.shape_at(part, depth + 1, demanded)).collect();
            if merge {
                for part in parts {
                    shape.merge(part);
                }
            } else {
                let kinds = |kind: &Kind| parts.iter().any(|part| part.kind == *kind);
                shape.fractional |= key == "oneOf" && kinds(&Kind::Integer) && kinds(&Kind::Number);
                if let Some(chooser) = chooser {
                    let names = schema.get(key).and_then(Json::as_array).into_iter().flatten();
                    for (part, node) in parts.iter_mut().zip(names) {
                        part.discriminate(chooser, vec![discriminator_value(schema, node, part)]);
                    }
                }
                let before = parts.len();
                parts.retain(|part| !(part.kind == Kind::Any && part.nullable));
                shape.nullable |= parts.len() < before;
                shape.merge(union(parts));
            }
        }
        if let (Some(chooser), Some(mapping)) =
            (chooser, schema.pointer("/discriminator/mapping").and_then(Json::as_object))
            && shape.members().is_some_and(|members| !members.is_empty())
        {
            shape.discriminate(chooser, mapping.keys().cloned().collect());
        }
        shape
    }

    fn plain(&mut self, schema: &'a Json, depth: u32, demanded: &[&str]) -> Shape {
        let text = |key: &str| schema.get(key).and_then(Json::as_str).map(str::to_owned);
        let flag = |key: &str| schema.get(key) == Some(&Json::Bool(true));
        let length =
            |key: &str| schema.get(key).and_then(Json::as_u64).and_then(|value| u32::try_from(value).ok());
        let mut shape = Shape {
            nullable: flag("nullable") || flag("x-nullable"),
            title: text("title"),
            description: text("description"),
            format: text("format"),
            pattern: text("pattern"),
            min: limit(schema, "minimum", "exclusiveMinimum", 1.0),
            max: limit(schema, "maximum", "exclusiveMaximum", -1.0),
            step: schema.get("multipleOf").and_then(Json::as_f64).filter(|step| *step > 0.0),
            map: is_map(schema),
            min_length: length("minLength").or_else(|| length("minItems")),
            max_length: length("maxLength").or_else(|| length("maxItems")),
            default: schema.get("default").cloned(),
            read_only: flag("readOnly"),
            write_only: flag("writeOnly"),
            ..Shape::default()
        };
        let mut kind = schema.get("type").and_then(Json::as_str);
        if let Some(kinds) = schema.get("type").and_then(Json::as_array) {
            shape.nullable |= kinds.iter().any(|kind| kind == "null");
            kind = kinds.iter().filter_map(Json::as_str).find(|kind| *kind != "null");
        }
        let mut values = schema.get("enum").and_then(Json::as_array).cloned().unwrap_or_default();
        if let Some(only) = schema.get("const") {
            values = vec![only.clone()];
        }
        if values.contains(&Json::Null) {
            shape.nullable = true;
            values.retain(|value| !value.is_null());
        }
        shape.kind = match kind {
            Some("null") => {
                shape.nullable = true;
                Kind::Any
            }
            Some("boolean") => Kind::Boolean,
            Some("integer") => Kind::Integer,
            Some("number") => Kind::Number,
            Some("string" | "file") => Kind::String,
            Some("array") => Kind::Array(Box::new(
                schema.get("items").map_or_else(Shape::default, |items| self.shape_at(items, depth + 1, &[])),
            )),
            Some("object") => self.object(schema, depth, demanded),
            _ if schema.get("properties").is_some() => self.object(schema, depth, demanded),
            _ if shape.map => Kind::Object(IndexMap::new()),
            _ if schema.get("items").is_some() => Kind::Array(Box::new(
                schema.get("items").map_or_else(Shape::default, |items| self.shape_at(items, depth + 1, &[])),
            )),
            _ if !values.is_empty() && values.iter().all(Json::is_string) => Kind::String,
            _ if !values.is_empty() && values.iter().all(Json::is_i64) => Kind::Integer,
            _ => Kind::Any,
        };
        if !values.is_empty() {
            match shape.kind {
                Kind::String => {
                    let texts = values.iter().take(500).map(scalar_text).collect::<indexmap::IndexSet<_>>();
                    shape.kind = Kind::Enum(texts.into_iter().collect());
                }
                Kind::Integer | Kind::Number => shape.choices = values.into_iter().take(500).collect(),
                _ => {}
            }
        }
        if shape.kind == Kind::String
            && shape.format.is_none()
            && let Some(said) = &shape.description
        {
            shape.choices = said_values(said).into_iter().map(Json::String).collect();
        }
        for key in ["example", "x-example"] {
            if let Some(example) = schema.get(key) {
                shape.learn(example, false, 0);
            }
        }
        if let Some(examples) = schema.get("examples").and_then(Json::as_array) {
            examples.iter().for_each(|example| shape.learn(example, false, 0));
        }
        shape
    }

    fn object(&mut self, schema: &'a Json, depth: u32, demanded: &[&str]) -> Kind {
        let mut members = IndexMap::new();
        for (name, part) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
            let required = demanded.contains(&name.as_str());
            if !required && levels::beyond(self.root, self.open.len(), self.levels, part) {
                self.cut = true;
                continue;
            }
            let shape = self.shape_at(part, depth + 1, &[]);
            members.insert(name.clone(), Member { shape, required });
        }
        Kind::Object(members)
    }
}

/// Returns a limit that is itself an allowed value. An excluded limit becomes the next number.
/// OpenAPI 3.0 marks it by a flag beside the limit, and 3.1 by a number in its place.
fn limit(schema: &Json, key: &str, exclusive: &str, towards: f64) -> Option<Json> {
    let number = |key: &str| schema.get(key).filter(|value| value.is_number());
    let excluded = match schema.get(exclusive) {
        Some(Json::Bool(true)) => number(key),
        _ => number(exclusive),
    };
    let Some(excluded) = excluded else { return number(key).cloned() };
    let whole = schema.get("type").is_some_and(|kind| kind.to_string().contains("integer"));
    match excluded.as_i64() {
        Some(value) if whole => Some(Json::from(value.saturating_add(towards as i64))),
        _ => serde_json::Number::from_f64(excluded.as_f64()? + towards * 1e-6).map(Json::Number),
    }
}

/// Returns the values that a description lists: ``can be either `open` or `closed` ``, `One of: open, closed
/// or all`.
pub(crate) fn said_values(description: &str) -> Vec<String> {
    const LEADS: [&str; 5] = ["one of", "either", "can be", "values are", "values:"];
    let lower = description.to_ascii_lowercase();
    let Some(at) = LEADS.iter().filter_map(|lead| Some(lower.find(lead)? + lead.len())).min() else {
        return Vec::new();
    };
    let rest = description.get(at..).unwrap_or_default();
    let end = rest.match_indices(['.', '\n']).map(|(end, _)| end).find(|end| {
        rest.get(end + 1..).is_none_or(|after| after.is_empty() || after.starts_with(char::is_whitespace))
    });
    let sentence = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
    if let Some(list) = sentence.trim_start().strip_prefix(':').filter(|list| !list.contains(['`', '"'])) {
        return listed_words(list);
    }
    // Quoted words are values; only commas and one conjunction stand between them.
    let mut values = Vec::new();
    for (place, part) in sentence.split(['`', '"']).enumerate() {
        let part = part.trim();
        if place % 2 == 1 {
            let is_word = |c: char| c.is_ascii_alphanumeric() || ['_', '-', '/'].contains(&c);
            if part.is_empty() || part.len() > 30 || !part.chars().all(is_word) || part == "null" {
                return Vec::new();
            }
            values.push(part.to_owned());
        } else if place > 0 && !part.is_empty() && ![",", "or", ", or", "and", ", and"].contains(&part) {
            break;
        }
    }
    if values.len() < 2 { Vec::new() } else { values }
}

/// Returns the words of a list without quotes: `all, open or closed`; none if an item has several words.
fn listed_words(list: &str) -> Vec<String> {
    let (before, last) = list.rsplit_once(" or ").unwrap_or((list, ""));
    let words = before.split(',').chain([last]).map(str::trim).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_owned).collect();
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "_-/:.".contains(c);
    let are_words = words.iter().all(|word| word.len() <= 30 && word.chars().all(is_letter));
    if are_words && words.len() > 1 { words } else { Vec::new() }
}

/// Returns true if all members of an object have names that callers choose.
fn is_map(schema: &Json) -> bool {
    let open = schema.get("additionalProperties").is_some_and(|extra| extra != &Json::Bool(false));
    open && schema.get("properties").and_then(Json::as_object).is_none_or(serde_json::Map::is_empty)
}

/// Returns the name that a discriminator's mapping has for a schema; else the schema's own.
fn discriminator_value(schema: &Json, node: &Json, part: &Shape) -> String {
    let reference = node.get("$ref").and_then(Json::as_str).unwrap_or_default();
    let own = part.title.clone().unwrap_or_default();
    let mapping = schema.pointer("/discriminator/mapping").and_then(Json::as_object);
    let known = mapping.into_iter().flatten().find(|(_, target)| {
        target.as_str().is_some_and(|target| target == reference || target.rsplit('/').next() == Some(&own))
    });
    known.map_or(own, |(name, _)| name.clone())
}

fn scalar_text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}
