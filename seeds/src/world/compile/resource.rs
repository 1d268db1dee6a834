//! Owns the compilation of resources: fields, keys, display names, owners.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::super::findings::Findings;
use super::defines;
use super::field::{Types, synonyms};
use super::{Names, Part, is_member_name, listed};
use crate::doc::{FieldDoc, ResourceDoc, TypeName, WorldDoc};
use crate::model::{Domain, DomainId, Field, FieldId, KeyFormat, OnDelete, Resource, ResourceId};
use crate::schema::{KeyKind, Schema, Type};
use crate::value::{Str, Value, Zone, nfc};
use crate::{english, keys, naming};
use diorama_format::path::Path;

/// Default range of integer keys: sparse integers of 5 to 7 digits.
const INTEGER_KEYS: (i64, i64) = (10_000, 9_999_999);

/// Compiles the resources of all domains, without records.
pub(super) fn compile(
    _doc: &WorldDoc,
    parts: &[Part<'_>],
    names: &Names<'_>,
    zone: &Zone,
    findings: &mut Findings,
) -> Vec<Resource> {
    let all: Vec<(DomainId, &str, &ResourceDoc)> = parts
        .iter()
        .enumerate()
        .flat_map(|(position, part)| {
            part.resources.iter().map(move |(name, doc)| (DomainId(position as u16), name.as_str(), doc))
        })
        .collect();
    let keys: Vec<KeyKind> =
        all.iter().map(|(domain, _, doc)| key_kind(*domain, doc, names, &all, 0)).collect();
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for (_, name, _) in &all {
        *uses.entry(name).or_default() += 1;
    }
    let domain_name = |domain: DomainId| parts[domain.index()].head.map_or("", |head| head.name.as_str());
    let mut resources = Vec::with_capacity(all.len());
    for (domain, name, doc) in &all {
        let here = parts[domain.index()].path();
        let section = here.name("resources");
        let path = section.name(name);
        let types = Types { names, domain: *domain, zone, keys: &keys, resources: None };
        let qualified = if uses.get(name).is_some_and(|uses| *uses > 1) {
            nfc(&format!("{}.{name}", domain_name(*domain)))
        } else {
            nfc(name)
        };
        resources.push(resource(doc, name, qualified, &types, &path, findings));
    }
    resources
}

/// Returns the type of a resource's key. The key may itself be a reference, with one record for each of
/// another resource. A cycle of such keys counts as integers, and is reported later.
fn key_kind(
    domain: DomainId,
    doc: &ResourceDoc,
    names: &Names<'_>,
    all: &[(DomainId, &str, &ResourceDoc)],
    depth: usize,
) -> KeyKind {
    let Some(key) = doc.fields.get(&doc.key) else { return KeyKind::Integer };
    if let Some(target) = &key.reference {
        let target = names.resource(domain, target).and_then(|id| all.get(id.index()));
        return match target {
            Some((_, _, target)) if depth < all.len() => key_kind(domain, target, names, all, depth + 1),
            _ => KeyKind::Integer,
        };
    }
    if key.kind == Some(TypeName::String) || !key.values.is_empty() {
        KeyKind::String
    } else {
        KeyKind::Integer
    }
}

fn resource(
    doc: &ResourceDoc,
    name: &str,
    qualified: Str,
    types: &Types<'_>,
    path: &Path<'_>,
    findings: &mut Findings,
) -> Resource {
    let label = doc.label.clone().unwrap_or_else(|| naming::label(name));
    let plural = doc.plural.clone().unwrap_or_else(|| english::plural(&label));
    let fields_path = path.name("fields");
    let mut fields = Vec::with_capacity(doc.fields.len() + 1);
    if doc.key.is_empty() || !is_member_name(&doc.key) {
        error!(findings, path.name("key") => "found the key `{}`", doc.key;
            "name the field that identifies a record");
    }
    if !doc.fields.contains_key(&doc.key) {
        fields.push(undeclared_key(&doc.key, &label));
    }
    for (field_name, field_doc) in &doc.fields {
        let here = fields_path.name(field_name);
        fields.push(field(field_doc, field_name, &doc.key, types, &here, findings));
    }
    let position =
        |name: &str| fields.iter().position(|field| *field.name == *name).map(|index| FieldId(index as u16));
    let mut named = |key: &Path<'_>, name: &str, what: &str| {
        let found = position(name);
        if found.is_none() {
            error!(findings, key => "found `{name}`, expected a field";
                "name {what}: one of {}", listed(fields.iter().map(|field| &*field.name)));
        }
        found
    };
    let key = position(&doc.key).unwrap_or(FieldId(0));
    let display = doc
        .display
        .as_ref()
        .and_then(|name| named(&path.name("display"), name, "the field people call a record by"));
    let owner = doc
        .owner
        .as_ref()
        .and_then(|name| named(&path.name("owner"), name, "the field with the owner's key"));
    let groups_path = path.name("unique_together");
    let mut unique_together = Vec::with_capacity(doc.unique_together.len());
    for (i, group) in doc.unique_together.iter().enumerate() {
        let here = groups_path.index(i);
        let ids: Vec<FieldId> = group
            .iter()
            .enumerate()
            .filter_map(|(k, name)| named(&here.index(k), name, "a field of the group"))
            .collect();
        unique_together.push((ids, group.len()));
    }
    for (i, (ids, _)) in
        unique_together.iter().enumerate().filter(|(_, (ids, length))| ids.len() < 2 && *length < 2)
    {
        let _ = ids;
        error!(findings, groups_path.index(i) => "found a group of fewer than two fields";
            "write `unique: true` at the field instead");
    }
    let key_format = key_format(doc, &fields[key.index()].schema, &fields_path.name(&doc.key), findings);
    let display = display.or_else(|| {
        let unique_text = |field: &&Field| {
            field.unique && matches!(field.schema.kind, Type::String) && *field.name != *doc.key
        };
        fields.iter().find(unique_text).and_then(|field| position(&field.name))
    });
    Resource {
        name: nfc(name),
        qualified,
        domain: types.domain,
        label: nfc(&label),
        plural: nfc(&plural),
        description: nfc(doc.description.as_deref().unwrap_or("")),
        key,
        key_format,
        display,
        owner,
        singleton: doc.singleton,
        unique_together: unique_together.into_iter().map(|(ids, _)| ids).collect(),
        defines: defines::read(doc, &fields, path, findings),
        fields,
        records: Vec::new(),
    }
}

/// Makes the field of a key that `fields` does not declare.
fn undeclared_key(name: &str, label: &str) -> Field {
    Field {
        name: nfc(name),
        schema: Schema::of(Type::Integer),
        optional: false,
        default: None,
        generated: true,
        unique: true,
        free_text: false,
        on_delete: OnDelete::Restrict,
        description: nfc(&format!("Id of the {label}")),
        label: nfc(&naming::label(name)),
        synonyms: IndexMap::new(),
    }
}

fn field(
    doc: &FieldDoc,
    name: &str,
    key: &str,
    types: &Types<'_>,
    path: &Path<'_>,
    findings: &mut Findings,
) -> Field {
    if !is_member_name(name) {
        error!(findings, path => "found the field name `{name}`"; "use letters, digits, `_`, `-` and `.`");
    }
    let schema = types.schema(doc, path, findings);
    if doc.place.is_some() {
        findings.error(path.name("in"), "found `in` in a field, expected it only in parameters", "remove it");
    }
    if doc.hidden {
        error!(findings, path.name("hidden") => "found `hidden` in a field, expected it only in parameters";
            "remove it");
    }
    if doc.ignored {
        error!(findings, path.name("ignored") => "found `ignored` in a field, expected it only in parameters";
            "remove it");
    }
    let is_key = name == key;
    if is_key {
        let good =
            matches!(schema.kind, Type::Integer | Type::String | Type::Enum(_) | Type::Reference { .. });
        if !good {
            error!(findings, path => "found a key that is neither integer nor string";
                "use `type: integer` or `type: string`");
        }
        if doc.private {
            error!(findings, path.name("private") => "found a private key, which the world would lack"; "remove it");
        }
        if doc.optional || doc.nullable || doc.default.is_some() {
            error!(findings, path => "found a key that is optional, nullable or has a default";
                "remove that: every record has a key");
        }
    }
    let points = |kind: &Type| matches!(kind, Type::Reference { .. });
    let reference = points(&schema.kind) || matches!(&schema.kind, Type::List(items) if points(&items.kind));
    let on_delete = doc.on_delete.unwrap_or_default();
    if doc.on_delete.is_some() && !reference && doc.reference.is_none() {
        error!(findings, path.name("on_delete") => "found `on_delete` on a field that is no reference";
            "remove it");
    }
    if on_delete == OnDelete::Clear && points(&schema.kind) && !doc.nullable && !doc.optional {
        error!(findings, path.name("on_delete") =>
            "found `clear` on a reference that may neither be null nor absent";
            "add `nullable: true`, or use `cascade`");
    }
    let label = doc.label.clone().unwrap_or_else(|| default_label(name, &schema));
    Field {
        name: nfc(name),
        default: types.default(doc, &schema, path, findings),
        synonyms: synonyms(doc, &schema, path, findings),
        schema,
        optional: doc.optional,
        generated: doc.generated || is_key,
        unique: doc.unique || is_key,
        free_text: doc.free_text,
        on_delete,
        description: nfc(doc.description.as_deref().unwrap_or("")),
        label: nfc(&label),
    }
}

/// Returns the name with spaces. A reference loses its `_id`, because people name its target.
pub(super) fn default_label(name: &str, schema: &Schema) -> String {
    let label = naming::label(name);
    match (&schema.kind, label.strip_suffix(" id")) {
        (Type::Reference { .. }, Some(short)) => short.to_owned(),
        _ => label,
    }
}

fn key_format(doc: &ResourceDoc, schema: &Schema, path: &Path<'_>, findings: &mut Findings) -> KeyFormat {
    let key = doc.fields.get(&doc.key);
    let string = match &schema.kind {
        Type::String | Type::Enum(_) => true,
        Type::Reference { key, .. } => *key == KeyKind::String,
        _ => false,
    };
    if !string {
        let whole = |value: &Option<Value>| match value {
            Some(Value::Integer(value)) => Some(*value),
            _ => None,
        };
        let (min, max) = (whole(&schema.limits.min), whole(&schema.limits.max));
        let (min, max) = match (min, max) {
            (None, None) => INTEGER_KEYS,
            (Some(min), None) => (min, min.saturating_add(INTEGER_KEYS.1).max(INTEGER_KEYS.1)),
            (None, Some(max)) => (1.min(max), max),
            (Some(min), Some(max)) => (min, max),
        };
        return KeyFormat::Integer { min, max };
    }
    let provider = key.and_then(FieldDoc::provider);
    let written = key.and_then(|key| key.fake.as_ref()?.get("format")?.as_str());
    if provider == Some("code") {
        let Some(format) = written else {
            error!(findings, path.name("fake") => "found a code without its format";
                "write `{{provider: code, format: \"APT-####\"}}`");
            return KeyFormat::Code(Str::from("########"));
        };
        let format = KeyFormat::Code(nfc(format));
        if keys::capacity(&format) < 2 {
            error!(findings, path.name("fake") => "found a key format with nothing that varies";
                "use `#` for a digit and, inside braces, `A` for a letter, `x` for a hexadecimal digit or `w` for a word");
        }
        return format;
    }
    let uuid = provider == Some("uuid") || key.and_then(|key| key.format.as_deref()) == Some("uuid");
    KeyFormat::Code(Str::from(if uuid {
        "{xxxxxxxx}-{xxxx}-4{xxx}-a{xxx}-{xxxxxxxxxxxx}"
    } else {
        "{xxxxxxxx}"
    }))
}

/// Checks that an owner field refers to the users of its domain.
pub(super) fn check_owners(
    parts: &[Part<'_>],
    domains: &[Domain],
    resources: &[Resource],
    findings: &mut Findings,
) {
    for resource in resources {
        let Some(owner) = resource.owner else { continue };
        let here = parts[resource.domain.index()].path();
        let section = here.name("resources");
        let path = section.name(&resource.name);
        let path = path.name("owner");
        let Some(auth) = &domains[resource.domain.index()].auth else {
            findings.error(path, "found an owner in a domain without sign-in", "add `auth` to the domain");
            continue;
        };
        let refers = |target: ResourceId| target == auth.user;
        if !matches!(resource.field(owner).schema.kind, Type::Reference { resource, .. } if refers(resource))
        {
            let users = &resources[auth.user.index()].name;
            error!(findings, path => "found an owner field that does not refer to `{users}`";
                "give the field `ref: {users}`");
        }
    }
}
