//! Owns shapes: schemas with references resolved, `allOf` merged and examples read.
//!
//! A shape is a finite tree. Cycles end in [`Kind::Cycle`], and a budget bounds how far shared schemas are
//! unfolded.

mod unfold;

use indexmap::IndexMap;
use serde_json::Value as Json;

pub(super) use self::unfold::{Unfolder, said_values};

/// Greatest nesting of a shape, in levels.
pub(super) const MAX_DEPTH: u32 = 24;
/// The greatest number of samples in one shape; `MAX_REPEATS` bounds the repeats of one value.
const MAX_SAMPLES: usize = 80;
const MAX_REPEATS: usize = 3;

/// The form of a value in a document.
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
    /// The only values of a number, and the values that a document names for a string.
    pub(super) choices: Vec<Json>,
    /// True for `oneOf` an integer and a number: a whole number matches both, and so is invalid.
    pub(super) fractional: bool,
    /// `multipleOf` of a number.
    pub(super) step: Option<f64>,
    /// True for an object whose members have names that callers choose.
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
    /// The name of a schema that contains itself.
    Cycle(String),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Member {
    pub(super) shape: Shape,
    pub(super) required: bool,
}

impl Shape {
    pub(super) fn of(kind: Kind) -> Self {
        Self { kind, ..Self::default() }
    }

    pub(super) fn members(&self) -> Option<&IndexMap<String, Member>> {
        match &self.kind {
            Kind::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(super) fn member(&self, name: &str) -> Option<&Shape> {
        self.members()?.get(name).map(|member| &member.shape)
    }

    pub(super) fn items(&self) -> Option<&Shape> {
        match &self.kind {
            Kind::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Restricts the discriminator of an object to the object's own names.
    fn discriminate(&mut self, chooser: &str, names: Vec<String>) {
        if let Kind::Object(members) = &mut self.kind
            && let Some(member) = members.get_mut(chooser)
            && matches!(member.shape.kind, Kind::String)
        {
            member.shape.kind = Kind::Enum(names);
        }
    }

    /// Returns the first object of a union, else the shape itself.
    pub(super) fn first_object(&self) -> &Shape {
        match &self.kind {
            Kind::Union(parts) => parts.iter().find(|part| part.members().is_some()).unwrap_or(self),
            _ => self,
        }
    }

    /// Returns the first object of a union, or one that has all of its members and more; else the shape
    /// itself.
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

    /// Returns true for a string or an enum.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, Kind::String | Kind::Enum(_))
    }

    /// Returns true for a single value that is neither a list nor an object.
    pub(super) fn is_scalar(&self) -> bool {
        matches!(self.kind, Kind::Boolean | Kind::Integer | Kind::Number | Kind::String | Kind::Enum(_))
    }

    /// Adds what another schema of the same value says (`allOf`, a second use of a field).
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
        if is_placeholder(&sample) {
            return;
        }
        if self.samples.len() < MAX_SAMPLES && self.samples.iter().filter(seen).count() < MAX_REPEATS {
            self.samples.push(sample);
        }
    }

    /// Adds an example: samples of scalars, and members that the schema leaves open.
    /// At the `root` of a reply it also adds members that the schema lacks.
    pub(super) fn learn(&mut self, example: &Json, root: bool, depth: u32) {
        if depth > MAX_DEPTH {
            return;
        }
        match (&mut self.kind, example) {
            (Kind::Object(members), Json::Object(values)) => {
                let open = members.is_empty() || root;
                for (name, value) in values.iter().take(200) {
                    match members.get_mut(name) {
                        Some(member) => member.shape.learn(value, false, depth + 1),
                        None if open => {
                            let shape = infer(value, depth + 1);
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
                // The example belongs to the alternative with most of its members.
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

/// Infers the shape of an example.
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
    if !example.is_null() && !example.is_array() && !is_placeholder(example) {
        shape.samples.push(example.clone());
    }
    shape
}

/// Returns true if an example only names its type, as generators of documents leave it: `<string>`, `string`.
pub(super) fn is_placeholder(example: &Json) -> bool {
    example.as_str().is_some_and(|text| {
        let inner = text.strip_prefix('<').and_then(|text| text.strip_suffix('>'));
        text == "string" || inner.is_some_and(|name| name.chars().all(char::is_alphanumeric))
    })
}

/// Merges alternatives: numbers become the wider one, and a single schema stays.
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
        // A string takes any value, and these are its examples.
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

/// Finds `#/components/schemas/Pet`; never looks outside the document.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_that_only_name_their_type_are_ignored() {
        let of = |example: &str| infer(&Json::from(example), 0).samples.len();
        assert_eq!((of("<string>"), of("string"), of("<dateTime>")), (0, 0, 0));
        assert_eq!((of("<b>bold</b>"), of("open")), (1, 1));
    }
}
