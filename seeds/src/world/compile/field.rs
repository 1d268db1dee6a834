//! Types: from a field's description to its schema.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::super::findings::Findings;
use super::super::path::Path;
use super::{Names, is_member_name, listed};
use crate::doc::FieldDoc;
use crate::model::{DomainId, FieldId, Resource, ResourceId};
use crate::schema::{KeyKind, ObjectField, Pattern, Schema, Type};
use crate::value::{Str, Value, Zone, nfc};

/// Types inside each other above this depth are refused.
const MAX_DEPTH: u32 = 16;

/// The type names that the format has.
const TYPES: [&str; 11] = [
    "integer",
    "number",
    "decimal",
    "date",
    "time",
    "date-time",
    "boolean",
    "string",
    "list",
    "object",
    "any",
];

/// What types may refer to.
pub(super) struct Types<'a> {
    pub(super) names: &'a Names<'a>,
    pub(super) domain: DomainId,
    pub(super) zone: &'a Zone,
    /// The key type of every resource.
    pub(super) keys: &'a [KeyKind],
    /// For `like`: the resources with their fields. `None` while they are being made.
    pub(super) resources: Option<&'a [Resource]>,
}

impl Types<'_> {
    /// The schema that a field or parameter describes. After a finding it is one that accepts anything.
    pub(super) fn schema(&self, doc: &FieldDoc, path: &Path<'_>, findings: &mut Findings) -> Schema {
        self.schema_at(doc, path, findings, 0)
    }

    /// The field that `like` names.
    pub(super) fn like(
        &self,
        like: &str,
        path: &Path<'_>,
        findings: &mut Findings,
    ) -> Option<(ResourceId, FieldId)> {
        let Some(resources) = self.resources else {
            findings.error(
                path.name("like"),
                "found `like` in a field, expected it only in parameters",
                "write the type out, or refer to a record with `ref`",
            );
            return None;
        };
        let (name, field) = like.split_once('.').unwrap_or((like, ""));
        let Some(id) = self.names.resource(self.domain, name) else {
            findings.error(
                path.name("like"),
                format!("found the resource `{name}`, expected one of {}", self.names.known(self.domain)),
                "write `like: resource.field`",
            );
            return None;
        };
        let resource = resources.get(id.index())?;
        let found = resource.field_named(field);
        if found.is_none() {
            findings.error(
                path.name("like"),
                format!(
                    "found the field `{field}` of `{name}`, expected one of {}",
                    listed(resource.fields.iter().map(|field| &*field.name))
                ),
                "write `like: resource.field`",
            );
        }
        Some((id, found?))
    }

    fn schema_at(&self, doc: &FieldDoc, path: &Path<'_>, findings: &mut Findings, depth: u32) -> Schema {
        if depth > MAX_DEPTH {
            findings.error(
                path,
                format!("found types nested deeper than {MAX_DEPTH}"),
                "use `type: any` here",
            );
            return Schema::of(Type::Any);
        }
        let before = findings.errors();
        let mut schema = match &doc.like {
            Some(like) => self.base_of_like(doc, like, path, findings),
            None => Schema::of(self.kind(doc, path, findings, depth)),
        };
        if matches!(schema.kind, Type::Any) && findings.errors() > before {
            // The limits of a type that could not be read would only be findings that follow from the first.
            return schema;
        }
        self.limit(doc, &mut schema, path, findings);
        schema.nullable = doc.nullable;
        if let Some(unit) = &doc.unit {
            let numeric =
                matches!(schema.kind, Type::Integer | Type::Number | Type::Decimal { .. } | Type::Any);
            if !numeric {
                findings.error(
                    path.name("unit"),
                    "found a unit on a type that is not a number",
                    "remove `unit`",
                );
            }
            schema.unit = Some(nfc(unit));
        }
        if let Some(format) = &doc.format {
            schema.format = Some(nfc(format));
        }
        schema
    }

    /// The type of the field that `like` names. The key of a resource becomes a reference to it.
    fn base_of_like(&self, doc: &FieldDoc, like: &str, path: &Path<'_>, findings: &mut Findings) -> Schema {
        let given = [
            ("type", doc.kind.is_some()),
            ("ref", doc.reference.is_some()),
            ("items", doc.items.is_some()),
            ("fields", !doc.fields.is_empty()),
            ("scale", doc.scale.is_some()),
            ("currency", doc.currency.is_some()),
        ];
        for (key, _) in given.into_iter().filter(|(_, given)| *given) {
            findings.error(
                path.name(key),
                format!("found `{key}` beside `like`, which takes the type over"),
                format!("remove `{key}` or `like`"),
            );
        }
        let Some((resource, field)) = self.like(like, path, findings) else { return Schema::of(Type::Any) };
        let Some(target) = self.resources.and_then(|resources| resources.get(resource.index())) else {
            return Schema::of(Type::Any);
        };
        let mut schema = target.field(field).schema.clone();
        if target.key == field {
            let key = self.keys.get(resource.index()).copied().unwrap_or(KeyKind::Integer);
            schema = Schema::of(Type::Reference { resource, key });
        }
        if !doc.values.is_empty() {
            match &schema.kind {
                Type::Enum(all) => {
                    if let Some(other) =
                        doc.values.iter().find(|value| !all.iter().any(|known| **known == ***value))
                    {
                        findings.error(
                            path.name("enum"),
                            format!("found `{other}`, expected some of {}", all.join(", ")),
                            "narrow the enum of the field, or leave `like` out",
                        );
                    }
                    schema.kind = self.enumeration(&doc.values, path, findings);
                }
                Type::String => schema.kind = self.enumeration(&doc.values, path, findings),
                _ => findings.error(
                    path.name("enum"),
                    "found `enum` beside `like` of a field that is no string",
                    "remove `enum` or `like`",
                ),
            }
        }
        schema
    }

    fn kind(&self, doc: &FieldDoc, path: &Path<'_>, findings: &mut Findings, depth: u32) -> Type {
        let implied = [
            ("ref", doc.reference.is_some()),
            ("enum", !doc.values.is_empty()),
            ("items", doc.items.is_some()),
            ("fields", !doc.fields.is_empty()),
        ];
        let mut given = implied.into_iter().filter(|(_, given)| *given).map(|(key, _)| key);
        let says = given.next();
        if let (Some(first), Some(second)) = (says, given.next()) {
            findings.error(
                path.name(second),
                format!("found both `{first}` and `{second}`, expected one"),
                "keep the one that says the type",
            );
            return Type::Any;
        }
        let kind = doc.kind.as_deref();
        let expected = match says {
            Some("enum") => Some("string"),
            Some("items") => Some("list"),
            Some("fields") => Some("object"),
            _ => None,
        };
        if let (Some(kind), Some(says)) = (kind, says)
            && expected.is_some_and(|expected| expected != kind)
        {
            findings.error(
                path.name("type"),
                format!("found the type `{kind}` beside `{says}`, expected `{}`", expected.unwrap_or("")),
                "remove `type`, or what does not fit it",
            );
        }
        match (says, kind) {
            (Some("ref"), _) => self.reference(doc, path, findings),
            (Some("enum"), _) => self.enumeration(&doc.values, path, findings),
            (Some("items"), _) | (None, Some("list")) => {
                let Some(items) = &doc.items else {
                    findings.error(
                        path,
                        "found a list without the type of its items",
                        "add `items: {type: ...}`",
                    );
                    return Type::Any;
                };
                let items_path = path.name("items");
                Type::List(Arc::new(self.schema_at(items, &items_path, findings, depth + 1)))
            }
            (Some("fields"), _) => self.object(doc, path, findings, depth),
            (_, Some("object")) => {
                findings.error(
                    path,
                    "found an object without fields",
                    "list its `fields`, or write `type: any`",
                );
                Type::Any
            }
            (_, Some("integer")) => Type::Integer,
            (_, Some("number")) => Type::Number,
            (_, Some("decimal")) => self.decimal(doc, path, findings),
            (_, Some("date")) => Type::Date,
            (_, Some("time")) => Type::Time,
            (_, Some("date-time")) => Type::DateTime,
            (_, Some("boolean")) => Type::Boolean,
            (_, Some("string")) => Type::String,
            (_, Some("any")) => Type::Any,
            (_, Some(other)) => {
                findings.error(
                    path.name("type"),
                    format!("found the type `{other}`, expected one of {}", TYPES.join(", ")),
                    "write one of them",
                );
                Type::Any
            }
            (_, None) => {
                let or_like =
                    if self.resources.is_some() { ", `enum`, `ref` or `like`" } else { ", `enum` or `ref`" };
                findings.error(path, "found no type", format!("add `type`{or_like}"));
                Type::Any
            }
        }
    }

    fn reference(&self, doc: &FieldDoc, path: &Path<'_>, findings: &mut Findings) -> Type {
        let target = doc.reference.as_deref().unwrap_or("");
        let Some(resource) = self.names.resource(self.domain, target) else {
            findings.error(
                path.name("ref"),
                format!("found the resource `{target}`, expected one of {}", self.names.known(self.domain)),
                "name a resource of this domain",
            );
            return Type::Any;
        };
        let key = self.keys.get(resource.index()).copied().unwrap_or(KeyKind::Integer);
        let expected = if key == KeyKind::Integer { "integer" } else { "string" };
        if let Some(kind) = doc.kind.as_deref().filter(|kind| *kind != expected) {
            findings.error(
                path.name("type"),
                format!("found the type `{kind}` beside `ref: {target}`, whose keys are of type {expected}"),
                "remove `type`",
            );
        }
        Type::Reference { resource, key }
    }

    fn enumeration(&self, values: &[String], path: &Path<'_>, findings: &mut Findings) -> Type {
        let mut normal: Vec<Str> = Vec::with_capacity(values.len());
        for (i, value) in values.iter().enumerate() {
            let value = nfc(value);
            if normal.contains(&value) {
                let here = path.name("enum");
                findings.error(here.index(i), format!("found `{value}` twice"), "remove one");
            } else {
                normal.push(value);
            }
        }
        Type::Enum(normal.into())
    }

    fn decimal(&self, doc: &FieldDoc, path: &Path<'_>, findings: &mut Findings) -> Type {
        let scale = doc.scale.unwrap_or(2);
        if scale > 9 {
            findings.error(
                path.name("scale"),
                format!("found {scale}, expected 0 to 9"),
                "use fewer decimal places",
            );
        }
        if let Some(currency) = &doc.currency
            && !(currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_uppercase()))
        {
            findings.error(
                path.name("currency"),
                format!("found `{currency}`, expected an ISO 4217 code"),
                "write it like `EUR`",
            );
        }
        Type::Decimal { scale: scale.min(9), currency: doc.currency.as_deref().map(nfc) }
    }

    fn object(&self, doc: &FieldDoc, path: &Path<'_>, findings: &mut Findings, depth: u32) -> Type {
        let fields_path = path.name("fields");
        let fields = doc.fields.iter().map(|(name, field)| {
            let here = fields_path.name(name);
            if !is_member_name(name) {
                findings.error(here, format!("found the name `{name}`"), "use letters, digits and `_`");
            }
            ObjectField {
                name: nfc(name),
                schema: self.schema_at(field, &here, findings, depth + 1),
                optional: field.optional,
            }
        });
        Type::Object(fields.collect())
    }

    fn limit(&self, doc: &FieldDoc, schema: &mut Schema, path: &Path<'_>, findings: &mut Findings) {
        let decimal = matches!(schema.kind, Type::Decimal { .. } | Type::Any);
        for (key, _) in [("scale", doc.scale.is_some()), ("currency", doc.currency.is_some())]
            .into_iter()
            .filter(|(_, given)| *given && !decimal && doc.like.is_none())
        {
            findings.error(
                path.name(key),
                format!("found `{key}` on a type that is not decimal"),
                "write `type: decimal`, or remove it",
            );
        }
        let ordered = matches!(
            schema.kind,
            Type::Integer | Type::Number | Type::Decimal { .. } | Type::Date | Type::Time | Type::DateTime
        );
        let bare = Schema::of(schema.kind.clone());
        let mut bound = |key: &str, json: &Option<Json>| -> Option<Value> {
            let json = json.as_ref()?;
            if !ordered {
                findings.error(
                    path.name(key),
                    format!("found `{key}` on a type without an order"),
                    "bound numbers, dates and times; for lengths use `min_length` and `max_length`",
                );
                return None;
            }
            match bare.parse_json(json, self.zone) {
                Ok(value) => Some(value),
                Err(error) => {
                    findings.error(
                        path.name(key),
                        error.to_string(),
                        "write the bound in the field's own type",
                    );
                    None
                }
            }
        };
        let (min, max) = (bound("min", &doc.min), bound("max", &doc.max));
        schema.limits.min = min.or_else(|| schema.limits.min.take());
        schema.limits.max = max.or_else(|| schema.limits.max.take());
        if let (Some(min), Some(max)) = (&schema.limits.min, &schema.limits.max)
            && min > max
        {
            let (min, max) = (min.to_text(self.zone), max.to_text(self.zone));
            findings.error(
                path.name("min"),
                format!("found {min}, which is more than the maximum {max}"),
                "swap them",
            );
        }
        let has_length = matches!(schema.kind, Type::String | Type::List(_) | Type::Any);
        for (key, given) in [("min_length", doc.min_length), ("max_length", doc.max_length)] {
            if given.is_some() && !has_length {
                findings.error(path.name(key), "found a length on a type without one", "remove it");
            }
        }
        schema.limits.min_length = doc.min_length.or(schema.limits.min_length);
        schema.limits.max_length = doc.max_length.or(schema.limits.max_length);
        if let (Some(min), Some(max)) = (schema.limits.min_length, schema.limits.max_length)
            && min > max
        {
            findings.error(
                path.name("min_length"),
                format!("found {min}, which is more than {max}"),
                "swap them",
            );
        }
        if let Some(pattern) = &doc.pattern {
            if !matches!(schema.kind, Type::String | Type::Reference { key: KeyKind::String, .. } | Type::Any)
            {
                findings.error(
                    path.name("pattern"),
                    "found a pattern on a type that is not a string",
                    "remove it",
                );
            }
            match Pattern::new(pattern) {
                Ok(pattern) => schema.limits.pattern = Some(pattern),
                Err(error) => findings.error(path.name("pattern"), error, "write a regular expression"),
            }
        }
    }

    /// The typed default of a field or parameter.
    pub(super) fn default(
        &self,
        doc: &FieldDoc,
        schema: &Schema,
        path: &Path<'_>,
        findings: &mut Findings,
    ) -> Option<Value> {
        match schema.parse_json(doc.default.as_ref()?, self.zone) {
            Ok(value) => Some(value),
            Err(error) => {
                findings.error(
                    path.name("default"),
                    format!("{error}{}", error.at),
                    "write a default that the type allows",
                );
                None
            }
        }
    }
}

/// What people say for an enum's values, checked against the enum.
pub(super) fn synonyms(
    doc: &FieldDoc,
    schema: &Schema,
    path: &Path<'_>,
    findings: &mut Findings,
) -> IndexMap<Str, Vec<Str>> {
    let values = match &schema.kind {
        Type::Enum(values) => Some(values),
        Type::List(items) => match &items.kind {
            Type::Enum(values) => Some(values),
            _ => None,
        },
        _ => None,
    };
    let here = path.name("synonyms");
    for value in doc.synonyms.keys() {
        match values {
            None => findings.error(here, "found synonyms of a type that is not an enum", "remove them"),
            Some(values) if !values.iter().any(|known| **known == **value) => findings.error(
                here.name(value),
                format!(
                    "found `{value}`, expected a value of the enum: {}",
                    listed(values.iter().map(|value| &**value))
                ),
                "remove it, or add the value to the enum",
            ),
            Some(_) => {}
        }
    }
    doc.synonyms
        .iter()
        .map(|(value, words)| (nfc(value), words.iter().map(|word| nfc(word)).collect()))
        .collect()
}
