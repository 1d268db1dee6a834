//! Shapes: schemas with references resolved, `allOf` merged and examples taken in. A finite tree, whatever the
//! document says: cycles end in [`Kind::Cycle`], and a budget bounds how far shared schemas are unfolded.

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::levels;
use super::{Remark, Severity};

/// Deepest nesting of a shape.
pub(super) const MAX_DEPTH: u32 = 24;
/// Most samples kept of one place, and of one value among them.
const MAX_SAMPLES: usize = 80;
const MAX_REPEATS: usize = 3;

/// What a value at one place of a document looks like.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Shape {
    pub(super) kind: Kind,
    pub(super) nullable: bool,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) format: Option<String>,
    pub(super) pattern: Option<String>,
    pub(super) min: Option<Json>,
    pub(super) max: Option<Json>,
    pub(super) min_length: Option<u32>,
    pub(super) max_length: Option<u32>,
    pub(super) default: Option<Json>,
    pub(super) read_only: bool,
    pub(super) write_only: bool,
    /// Values seen in examples: scalars, or whole objects for items of arrays.
    pub(super) samples: Vec<Json>,
    /// The only values of a number, and those of a text that its document names.
    pub(super) choices: Vec<Json>,
    /// `oneOf` an integer and a number: a whole number is both, and so neither, of them.
    pub(super) fractional: bool,
    /// `multipleOf` of a number.
    pub(super) step: Option<f64>,
    /// An object whose members have names that callers choose.
    pub(super) map: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Kind {
    #[default]
    Any,
    Boolean,
    Integer,
    Number,
    String,
    Enum(Vec<String>),
    Array(Box<Shape>),
    Object(IndexMap<String, Member>),
    Union(Vec<Shape>),
    /// A schema inside itself; its name.
    Cycle(String),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Member {
    pub(super) shape: Shape,
    pub(super) required: bool,
}

/// Unfolds schemas of one document.
pub(super) struct Unfolder<'a> {
    root: &'a Json,
    open: Vec<&'a str>,
    budget: u32,
    /// How many references are followed to members that are not required.
    levels: usize,
    /// Whether a member was left out because it lies beyond those.
    pub(super) cut: bool,
    /// What could not be read, for notes.
    pub(super) problems: Vec<Remark>,
}

impl<'a> Unfolder<'a> {
    pub(super) fn new(root: &'a Json, levels: usize) -> Self {
        let budget = levels::NODES_PER_OPERATION;
        Self { root, open: Vec::new(), budget, levels, cut: false, problems: Vec::new() }
    }

    /// The whole document.
    pub(super) const fn root(&self) -> &'a Json {
        self.root
    }

    /// Follows `$ref`s of anything that is not a schema (parameters, responses), at most 16 in a row.
    pub(super) fn resolve(&mut self, mut node: &'a Json) -> Option<&'a Json> {
        for _ in 0..16 {
            let Some(pointer) = node.get("$ref").and_then(Json::as_str) else { return Some(node) };
            let Some(target) = lookup(self.root, pointer) else {
                self.problem(
                    Severity::LeftOut,
                    format!("the reference `{}` does not resolve", super::bundle::shown(pointer)),
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

    /// The shape of a schema.
    pub(super) fn shape(&mut self, schema: &'a Json) -> Shape {
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
                    format!("the reference `{}` does not resolve", super::bundle::shown(pointer)),
                );
                // A plain object, whatever it should have been.
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

impl Shape {
    pub(super) fn of(kind: Kind) -> Self {
        Self { kind, ..Self::default() }
    }

    /// The members of an object.
    pub(super) fn members(&self) -> Option<&IndexMap<String, Member>> {
        match &self.kind {
            Kind::Object(members) => Some(members),
            _ => None,
        }
    }

    /// A member of an object.
    pub(super) fn member(&self, name: &str) -> Option<&Shape> {
        self.members()?.get(name).map(|member| &member.shape)
    }

    /// The items of an array.
    pub(super) fn items(&self) -> Option<&Shape> {
        match &self.kind {
            Kind::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Lets a member take only the names of what its object is.
    fn discriminate(&mut self, chooser: &str, names: Vec<String>) {
        if let Kind::Object(members) = &mut self.kind
            && let Some(member) = members.get_mut(chooser)
            && matches!(member.shape.kind, Kind::String)
        {
            member.shape.kind = Kind::Enum(names);
        }
    }

    /// For a union of objects the first of them, else the shape itself.
    pub(super) fn first_object(&self) -> &Shape {
        match &self.kind {
            Kind::Union(parts) => parts.iter().find(|part| part.members().is_some()).unwrap_or(self),
            _ => self,
        }
    }

    /// For a union of objects the first of them, or one that has all of its members and more; else the shape itself.
    pub(super) fn fullest_object(&self) -> &Shape {
        let Kind::Union(parts) = &self.kind else { return self };
        let more = |one: &Shape, other: &Shape| match (one.members(), other.members()) {
            (Some(one), Some(other)) => {
                other.len() > one.len() && one.keys().all(|name| other.contains_key(name))
            }
            _ => false,
        };
        let objects = parts.iter().filter(|part| part.members().is_some());
        objects.reduce(|best, part| if more(best, part) { part } else { best }).unwrap_or(self)
    }

    /// Whether it is text, free or one of a few.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, Kind::String | Kind::Enum(_))
    }

    /// Whether it is a single value, not a list or an object.
    pub(super) fn is_scalar(&self) -> bool {
        matches!(self.kind, Kind::Boolean | Kind::Integer | Kind::Number | Kind::String | Kind::Enum(_))
    }

    /// Takes over what another schema for the same value adds (`allOf`, a second sight of a field).
    pub(super) fn merge(&mut self, other: Shape) {
        self.nullable |= other.nullable;
        match (&mut self.kind, other.kind) {
            (mine @ Kind::Any, theirs) => *mine = theirs,
            (Kind::Object(mine), theirs @ Kind::Union(_)) if mine.is_empty() => self.kind = theirs,
            (Kind::Object(mine), Kind::Object(theirs)) => {
                for (name, member) in theirs {
                    match mine.get_mut(&name) {
                        Some(known) => {
                            known.required |= member.required;
                            known.shape.merge(member.shape);
                        }
                        None => {
                            mine.insert(name, member);
                        }
                    }
                }
            }
            (Kind::Array(mine), Kind::Array(theirs)) => mine.merge(*theirs),
            (mine @ Kind::Integer, Kind::Number) => *mine = Kind::Number,
            (mine @ Kind::String, Kind::Enum(values)) => *mine = Kind::Enum(values),
            (Kind::Enum(mine), Kind::Enum(theirs)) => {
                for value in theirs {
                    if !mine.contains(&value) {
                        mine.push(value);
                    }
                }
            }
            _ => {}
        }
        macro_rules! adopt {
            ($($field:ident),*) => { $( if self.$field.is_none() { self.$field = other.$field; } )* };
        }
        adopt!(title, description, format, pattern, min, max, min_length, max_length, default, step);
        self.map |= other.map;
        self.read_only |= other.read_only;
        self.fractional |= other.fractional;
        self.write_only |= other.write_only;
        for sample in other.samples {
            self.sample(sample);
        }
        for choice in other.choices {
            if !self.choices.contains(&choice) {
                self.choices.push(choice);
            }
        }
    }

    fn sample(&mut self, sample: Json) {
        let seen = |known: &&Json| **known == sample;
        if self.samples.len() < MAX_SAMPLES && self.samples.iter().filter(seen).count() < MAX_REPEATS {
            self.samples.push(sample);
        }
    }

    /// Takes an example in: samples of scalars, and members that the schema leaves open. At the `root` of a
    /// reply, members that only the example has are added too.
    pub(super) fn learn(&mut self, example: &Json, root: bool, depth: u32) {
        if depth > MAX_DEPTH {
            return;
        }
        match (&mut self.kind, example) {
            (Kind::Object(members), Json::Object(values)) => {
                let open = members.is_empty() || root;
                // A member without a name is a slip for the one that only the example has.
                let nameless = if open { members.shift_remove("") } else { None };
                for (name, value) in values.iter().take(200) {
                    match members.get_mut(name) {
                        Some(member) => member.shape.learn(value, false, depth + 1),
                        None if open => {
                            let mut shape = infer(value, depth + 1);
                            if let (Kind::Array(items), Some(meant)) = (&mut shape.kind, &nameless)
                                && items.members().is_some()
                                && meant.shape.members().is_some()
                            {
                                let samples = std::mem::take(&mut items.samples);
                                **items = meant.shape.clone();
                                samples.iter().for_each(|sample| items.learn(sample, false, depth + 1));
                            }
                            members.insert(name.clone(), Member { shape, required: false });
                        }
                        None => {}
                    }
                }
                self.sample(example.clone());
            }
            (Kind::Array(items), Json::Array(values)) => {
                if items.kind == Kind::Any
                    && let Some(first) = values.first()
                {
                    items.kind = infer(first, depth + 1).kind;
                }
                values.iter().take(40).for_each(|value| items.learn(value, false, depth + 1));
            }
            (Kind::Union(parts), Json::Object(_)) => {
                // The part with most of the example's members is the one it is an example of.
                let fit = |part: &Shape| {
                    part.members().map_or(0, |members| {
                        members.keys().filter(|name| example.get(name).is_some()).count()
                    })
                };
                if let Some(best) = parts.iter_mut().max_by_key(|part| fit(part)) {
                    best.learn(example, false, depth + 1);
                }
            }
            (Kind::Array(_) | Kind::Object(_), _) => {}
            (_, Json::Null | Json::Array(_) | Json::Object(_)) => {}
            (_, scalar) => self.sample(scalar.clone()),
        }
    }
}

/// The shape of an example.
pub(super) fn infer(example: &Json, depth: u32) -> Shape {
    let mut shape = Shape::default();
    if depth > MAX_DEPTH {
        return shape;
    }
    shape.kind = match example {
        Json::Null => {
            shape.nullable = true;
            Kind::Any
        }
        Json::Bool(_) => Kind::Boolean,
        Json::Number(number) if number.is_i64() => Kind::Integer,
        Json::Number(_) => Kind::Number,
        Json::String(_) => Kind::String,
        Json::Array(items) => {
            let mut item = items.first().map(|first| infer(first, depth + 1)).unwrap_or_default();
            items.iter().take(40).skip(1).for_each(|example| item.learn(example, false, depth + 1));
            Kind::Array(Box::new(item))
        }
        Json::Object(members) => Kind::Object(
            members
                .iter()
                .take(200)
                .map(|(name, value)| {
                    (name.clone(), Member { shape: infer(value, depth + 1), required: false })
                })
                .collect(),
        ),
    };
    if !example.is_null() && !example.is_array() {
        shape.samples.push(example.clone());
    }
    shape
}

/// A choice between schemas: numbers become the wider one, one schema stays itself.
fn union(mut parts: Vec<Shape>) -> Shape {
    let nullable = parts.iter().any(|part| part.nullable);
    if parts.iter().all(|part| matches!(part.kind, Kind::Integer | Kind::Number)) && !parts.is_empty() {
        let mut shape = parts.remove(0);
        parts.into_iter().for_each(|part| shape.merge(part));
        return shape;
    }
    if parts.len() == 1 {
        return parts.remove(0);
    }
    if let Some(first) = parts.iter().find(|part| part.is_scalar()) {
        let mut first = Shape { nullable, ..first.clone() };
        // Any text, but these above all.
        if first.kind == Kind::String {
            let values = parts.iter().filter_map(|part| match &part.kind {
                Kind::Enum(values) => Some(values),
                _ => None,
            });
            first.choices.extend(values.flatten().take(100).map(|value| Json::String(value.clone())));
            first.choices.dedup();
        }
        return first;
    }
    if parts.is_empty() {
        return Shape::default();
    }
    Shape { kind: Kind::Union(parts), nullable, ..Shape::default() }
}

/// A limit with its own value among those allowed. An excluded limit is the next number: of 3.0, a flag beside the
/// limit; of 3.1, a number in its stead.
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

/// The values that a description says a text has: ``can be either `open` or `closed` ``.
fn said_values(description: &str) -> Vec<String> {
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
    // What is quoted is a value; between two of them stand only commas and the last joint.
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

/// Whether an object has no members of its own, only ones that callers name.
fn is_map(schema: &Json) -> bool {
    let open = schema.get("additionalProperties").is_some_and(|extra| extra != &Json::Bool(false));
    open && schema.get("properties").and_then(Json::as_object).is_none_or(serde_json::Map::is_empty)
}

/// The name under which a discriminator's mapping knows a schema; else the schema's own.
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

/// Finds `#/components/schemas/Pet`; nothing outside the document is ever looked at.
pub(super) fn lookup<'a>(root: &'a Json, pointer: &str) -> Option<&'a Json> {
    let path = pointer.strip_prefix('#')?;
    if path.is_empty() {
        return Some(root);
    }
    root.pointer(path).or_else(|| root.pointer(&percent_decode(path)))
}

pub(super) fn percent_decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}
