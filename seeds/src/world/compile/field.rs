//! Owns the compilation of a field's description into its schema.

use std::collections::HashSet;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use serde_json::Value as Json;

use super::super::findings::Findings;
use super::{Names, is_member_name, listed};
use crate::doc::{FieldDoc, TypeName};
use crate::model::{DomainId, FieldId, Resource, ResourceId};
use crate::schema::{KeyKind, ObjectField, Pattern, Schema, Type};
use crate::value::{Str, Value, Zone, nfc};
use diorama_format::path::Path;

/// Maximum nesting of types.
const MAX_DEPTH: u32 = 16;

/// Names, keys and resources to which types may refer.
pub(super) struct Types<'a> {
    pub(super) names: &'a Names<'a>,
    pub(super) domain: DomainId,
    pub(super) zone: &'a Zone,
    /// Key type of each resource.
    pub(super) keys: &'a [KeyKind],
    /// Resources with their fields, for `like`. `None` while they are being compiled.
    pub(super) resources: Option<&'a [Resource]>,
}

impl Types<'_> {
    /// Returns the schema of a field or parameter. After a finding it accepts any value.
    pub(super) fn schema(&self, doc: &FieldDoc, path: &Path<'_>, findings: &mut Findings) -> Schema {
        self.schema_at(doc, path, findings, 0)
    }

    /// Returns the field that `like` names.
    pub(super) fn like(
        &self,
        like: &str,
        path: &Path<'_>,
        findings: &mut Findings,
    ) -> Option<(ResourceId, FieldId)> {
        let Some(resources) = self.resources else {
            error!(findings, path.name("like") => "found `like` in a field, expected it only in parameters";
                "write the type out, or refer to a record with `ref`");
            return None;
        };
        let (name, field) = like.split_once('.').unwrap_or((like, ""));
        let Some(id) = self.names.resource(self.domain, name) else {
            error!(findings, path.name("like") =>
                "found the resource `{name}`, expected one of {}", self.names.known(self.domain);
                "write `like: resource.field`");
            return None;
        };
        let resource = resources.get(id.index())?;
        let found = resource.field_named(field);
        if found.is_none() {
            error!(findings, path.name("like") =>
                "found the field `{field}` of `{name}`, expected one of {}", listed(resource.fields.iter().map(|field| &*field.name));
                "write `like: resource.field`");
        }
        Some((id, found?))
    }

    fn schema_at(&self, doc: &FieldDoc, path: &Path<'_>, findings: &mut Findings, depth: u32) -> Schema {
        if depth > MAX_DEPTH {
            error!(findings, path => "found types nested deeper than {MAX_DEPTH}"; "use `type: any` here");
            return Schema::of(Type::Any);
        }
        if doc.private && depth > 0 {
            error!(findings, path.name("private") => "found `private` inside a field, where it has no effect";
                "remove it, or make the whole field private");
        }
        let before = findings.errors();
        let mut schema = match &doc.like {
            Some(like) => self.base_of_like(doc, like, path, findings),
            None => Schema::of(self.kind(doc, path, findings, depth)),
        };
        if matches!(schema.kind, Type::Any) && findings.errors() > before {
            // Findings about the limits of an invalid type would only repeat the first.
            return schema;
        }
        self.limit(doc, &mut schema, path, findings);
        schema.nullable = doc.nullable;
        if let Some(unit) = &doc.unit {
            let numeric =
                matches!(schema.kind, Type::Integer | Type::Number | Type::Decimal { .. } | Type::Any);
            if !numeric {
                error!(findings, path.name("unit") => "found a unit on a type that is not a number";
                    "remove `unit`");
            }
            schema.unit = Some(nfc(unit));
        }
        if let Some(format) = &doc.format {
            schema.format = Some(nfc(format));
        }
        schema
    }

    /// Returns the type of the field that `like` names. The key of a resource becomes a reference to it.
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
            error!(findings, path.name(key) => "found `{key}` beside `like`, which takes the type over";
                "remove `{key}` or `like`");
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
                    let known: HashSet<&str> = all.iter().map(|value| &**value).collect();
                    if let Some(other) = doc.values.iter().find(|value| !known.contains(value.as_str())) {
                        error!(findings, path.name("enum") =>
                            "found `{other}`, expected some of {}", all.join(", ");
                            "narrow the enum of the field, or leave `like` out");
                    }
                    schema.kind = self.enumeration(&doc.values, path, findings);
                }
                Type::String => schema.kind = self.enumeration(&doc.values, path, findings),
                _ => error!(findings, path.name("enum") =>
                    "found `enum` beside `like` of a field that is no string";
                    "remove `enum` or `like`"),
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
            error!(findings, path.name(second) => "found both `{first}` and `{second}`, expected one";
                "keep the one that says the type");
            return Type::Any;
        }
        let expected = match says {
            Some("enum") => Some(TypeName::String),
            Some("items") => Some(TypeName::List),
            Some("fields") => Some(TypeName::Object),
            _ => None,
        };
        if let (Some(kind), Some(says), Some(expected)) = (doc.kind, says, expected)
            && expected != kind
        {
            error!(findings, path.name("type") =>
                "found the type `{kind}` beside `{says}`, expected `{expected}`";
                "remove `type`, or what does not fit it");
        }
        if says == Some("ref") {
            return self.reference(doc, path, findings);
        }
        let Some(kind) = expected.or(doc.kind) else {
            let or_like =
                if self.resources.is_some() { ", `enum`, `ref` or `like`" } else { ", `enum` or `ref`" };
            findings.error(path, "found no type", format!("add `type`{or_like}"));
            return Type::Any;
        };
        match kind {
            TypeName::String if says.is_some() => self.enumeration(&doc.values, path, findings),
            TypeName::String => Type::String,
            TypeName::List => {
                let Some(items) = &doc.items else {
                    error!(findings, path => "found a list without the type of its items";
                        "add `items: {{type: ...}}`");
                    return Type::Any;
                };
                let items_path = path.name("items");
                Type::List(Arc::new(self.schema_at(items, &items_path, findings, depth + 1)))
            }
            TypeName::Object if says.is_some() => self.object(doc, path, findings, depth),
            TypeName::Object => {
                error!(findings, path => "found an object without fields";
                    "list its `fields`, or write `type: any`");
                Type::Any
            }
            TypeName::Integer => Type::Integer,
            TypeName::Number => Type::Number,
            TypeName::Decimal => self.decimal(doc, path, findings),
            TypeName::Date => Type::Date,
            TypeName::Time => Type::Time,
            TypeName::DateTime => Type::DateTime,
            TypeName::Boolean => Type::Boolean,
            TypeName::Any => Type::Any,
        }
    }

    fn reference(&self, doc: &FieldDoc, path: &Path<'_>, findings: &mut Findings) -> Type {
        let target = doc.reference.as_deref().unwrap_or("");
        let Some(resource) = self.names.resource(self.domain, target) else {
            error!(findings, path.name("ref") =>
                "found the resource `{target}`, expected one of {}", self.names.known(self.domain);
                "name a resource of this domain");
            return Type::Any;
        };
        let key = self.keys.get(resource.index()).copied().unwrap_or(KeyKind::Integer);
        let expected = if key == KeyKind::Integer { TypeName::Integer } else { TypeName::String };
        if let Some(kind) = doc.kind.filter(|kind| *kind != expected) {
            error!(findings, path.name("type") =>
                "found the type `{kind}` beside `ref: {target}`, whose keys are of type {expected}";
                "remove `type`");
        }
        Type::Reference { resource, key }
    }

    fn enumeration(&self, values: &[String], path: &Path<'_>, findings: &mut Findings) -> Type {
        let mut normal: IndexSet<Str> = IndexSet::with_capacity(values.len());
        for (i, value) in values.iter().enumerate() {
            let value = nfc(value);
            if normal.contains(&value) {
                let here = path.name("enum");
                findings.error(here.index(i), format!("found `{value}` twice"), "remove one");
            } else {
                normal.insert(value);
            }
        }
        Type::Enum(normal.into_iter().collect())
    }

    fn decimal(&self, doc: &FieldDoc, path: &Path<'_>, findings: &mut Findings) -> Type {
        let scale = doc.scale.unwrap_or(2);
        if scale > 9 {
            error!(findings, path.name("scale") => "found {scale}, expected 0 to 9";
                "use fewer decimal places");
        }
        if let Some(currency) = &doc.currency
            && !(currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_uppercase()))
        {
            error!(findings, path.name("currency") => "found `{currency}`, expected an ISO 4217 code";
                "write it like `EUR`");
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
            error!(findings, path.name(key) => "found `{key}` on a type that is not decimal";
                "write `type: decimal`, or remove it");
        }
        let ordered = matches!(
            schema.kind,
            Type::Integer | Type::Number | Type::Decimal { .. } | Type::Date | Type::Time | Type::DateTime
        );
        let bare = Schema::of(schema.kind.clone());
        let mut bound = |key: &str, json: &Option<Json>| -> Option<Value> {
            let json = json.as_ref()?;
            if !ordered {
                error!(findings, path.name(key) => "found `{key}` on a type without an order";
                    "bound numbers, dates and times; for lengths use `min_length` and `max_length`");
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
            error!(findings, path.name("min") => "found {min}, which is more than the maximum {max}";
                "swap them");
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
            error!(findings, path.name("min_length") => "found {min}, which is more than {max}"; "swap them");
        }
        if let Some(pattern) = &doc.pattern {
            if !matches!(schema.kind, Type::String | Type::Reference { key: KeyKind::String, .. } | Type::Any)
            {
                error!(findings, path.name("pattern") => "found a pattern on a type that is not a string";
                    "remove it");
            }
            match Pattern::new(pattern) {
                Ok(pattern) => schema.limits.pattern = Some(pattern),
                Err(error) => findings.error(path.name("pattern"), error, "write a regular expression"),
            }
        }
    }

    /// Returns the typed default of a field or parameter.
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
                error!(findings, path.name("default") => "{error}{}", error.at;
                    "write a default that the type allows");
                None
            }
        }
    }
}

/// Returns the synonyms of an enum's values, checked against the enum.
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
    let known: HashSet<&str> =
        values.into_iter().flat_map(|values| values.iter()).map(|value| &**value).collect();
    for value in doc.synonyms.keys() {
        match values {
            None => findings.error(here, "found synonyms of a type that is not an enum", "remove them"),
            Some(values) if !known.contains(value.as_str()) => {
                error!(findings, here.name(value) =>
                "found `{value}`, expected a value of the enum: {}", listed(values.iter().map(|value| &**value));
                "remove it, or add the value to the enum")
            }
            Some(_) => {}
        }
    }
    doc.synonyms
        .iter()
        .map(|(value, words)| (nfc(value), words.iter().map(|word| nfc(word)).collect()))
        .collect()
}

/// Returns true if a field with one schema can store an argument with another. The call checks the limits.
pub(super) fn assignable(from: &Schema, to: &Schema) -> bool {
    match (&from.kind, &to.kind) {
        (_, Type::Any)
        | (Type::Any, _)
        | (Type::Integer, Type::Integer | Type::Number | Type::Decimal { .. })
        | (Type::Decimal { .. }, Type::Decimal { .. } | Type::Number)
        | (Type::Number, Type::Number | Type::Decimal { .. })
        | (Type::Date, Type::Date)
        | (Type::Time, Type::Time)
        | (Type::DateTime, Type::DateTime)
        | (Type::Boolean, Type::Boolean)
        | (Type::String | Type::Enum(_), Type::String) => true,
        (Type::Enum(from), Type::Enum(to)) => {
            let to: HashSet<&Str> = to.iter().collect();
            from.iter().all(|value| to.contains(value))
        }
        (Type::Reference { resource: from, .. }, Type::Reference { resource: to, .. }) => from == to,
        (Type::Reference { key, .. }, Type::Integer) | (Type::Integer, Type::Reference { key, .. }) => {
            *key == KeyKind::Integer
        }
        (Type::Reference { key, .. }, Type::String) | (Type::String, Type::Reference { key, .. }) => {
            *key == KeyKind::String
        }
        (Type::List(from), Type::List(to)) => assignable(from, to),
        (Type::Object(from), Type::Object(to)) => {
            from.iter().all(|member| {
                to.iter().any(|other| other.name == member.name && assignable(&member.schema, &other.schema))
            }) && to
                .iter()
                .all(|member| member.optional || from.iter().any(|other| other.name == member.name))
        }
        _ => false,
    }
}
