//! Owns the typing of records: it sorts them by key, and checks keys, uniqueness and references.
//!
//! Verification loads hundreds of worlds, so this code makes paths and messages only for errors.

use std::collections::HashSet;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::super::findings::Findings;
use super::{Part, listed};
use crate::doc::{EachDoc, RecordsDoc, ResourceDoc, WorldDoc};
use crate::english::enumerate;
use crate::model::{FieldId, Record, Resource, ResourceId};
use crate::schema::{Schema, Type};
use crate::value::{Value, Zone};
use diorama_format::path::Path;

/// Maximum number of records of one resource that a document may request.
const MAX_RECORDS: u32 = 1_000_000;

type Row = IndexMap<String, Json>;

/// Adds the records of a materialised world to its resources, or checks the given records of a source world.
pub(super) fn compile(
    doc: &WorldDoc,
    parts: &[Part<'_>],
    zone: &Zone,
    resources: &mut [Resource],
    findings: &mut Findings,
) {
    let docs: Vec<(usize, &str, &ResourceDoc)> = parts
        .iter()
        .enumerate()
        .flat_map(|(part, domain)| domain.resources.iter().map(move |(name, doc)| (part, name.as_str(), doc)))
        .collect();
    let mut rows: Vec<Vec<usize>> = Vec::with_capacity(docs.len());
    for (resource, (part, name, resource_doc)) in resources.iter_mut().zip(&docs) {
        let here = parts[*part].path();
        let section = here.name("resources");
        let path = section.name(name);
        if doc.materialised.is_some() {
            let order = fill(resource, resource_doc, zone, &path, findings);
            rows.push(order);
        } else {
            check_source(resource, resource_doc, zone, &path, findings);
        }
    }
    if doc.materialised.is_none() {
        for (index, (part, name, resource_doc)) in docs.iter().enumerate() {
            let here = parts[*part].path();
            let section = here.name("resources");
            check_each(
                &parts[*part],
                resources,
                ResourceId(index as u16),
                resource_doc,
                zone,
                &section.name(name),
                findings,
            );
        }
        return;
    }
    for (index, (part, name, _)) in docs.iter().enumerate() {
        let here = parts[*part].path();
        let section = here.name("resources");
        check_promises(resources, ResourceId(index as u16), &rows[index], &section.name(name), findings);
    }
}

/// Types and sorts the records of one resource. Returns their positions in the document.
fn fill(
    resource: &mut Resource,
    doc: &ResourceDoc,
    zone: &Zone,
    path: &Path<'_>,
    findings: &mut Findings,
) -> Vec<usize> {
    let records_path = path.name("records");
    let given = match &doc.records {
        RecordsDoc::Given(given) => given.as_slice(),
        RecordsDoc::Count(count) => {
            error!(findings, records_path =>
                "found the count {count} in a materialised world, expected the records";
                "remove `materialised`, so that the records are made up");
            &[]
        }
    };
    for (key, _) in [("examples", !doc.examples.is_empty()), ("each", !doc.each.is_empty())]
        .into_iter()
        .filter(|(_, given)| *given)
    {
        error!(findings, path.name(key) =>
            "found `{key}` in a materialised world, whose records are all written out";
            "remove `{key}`, or `materialised`");
    }
    let mut typed: Vec<(Record, usize)> = Vec::with_capacity(given.len());
    for (i, row) in given.iter().enumerate() {
        if findings.is_full() {
            break;
        }
        let here = records_path.index(i);
        if let Some(record) = record(resource, row, zone, &here, findings) {
            typed.push((record, i));
        }
    }
    let key = resource.key.index();
    typed.sort_by(|(a, _), (b, _)| a[key].cmp(&b[key]));
    for pair in typed.windows(2) {
        if let [(first, at), (second, again)] = pair
            && first[key] == second[key]
        {
            let (at, again) = (at.min(again), at.max(again));
            let shown = first[key].to_text(zone);
            error!(findings, records_path.index(*again) =>
                "found the key {shown} a second time, after records[{at}]";
                "give every record its own key");
        }
    }
    if resource.singleton && typed.len() != 1 {
        error!(findings, records_path => "found {} records of a singleton, expected 1", typed.len();
            "write exactly one record");
    }
    let (records, order) = typed.into_iter().unzip();
    resource.records = records;
    order
}

/// Types one record. A missing field takes its default, or is absent.
fn record(
    resource: &Resource,
    row: &Row,
    zone: &Zone,
    path: &Path<'_>,
    findings: &mut Findings,
) -> Option<Record> {
    let mut found = 0;
    let mut whole = true;
    // Generated documents have fields in the declared order, so the next member is usually the right one.
    let mut next = 0;
    let mut values: Vec<Value> = Vec::with_capacity(resource.fields.len());
    for field in &resource.fields {
        let json = match row.get_index(next) {
            Some((name, json)) if **name == *field.name => Some(json),
            _ => row.get(&*field.name),
        };
        next += 1;
        let Some(json) = json else {
            next -= 1;
            match (&field.default, field.optional) {
                (Some(default), false) => values.push(default.clone()),
                (_, true) => values.push(Value::Absent),
                (None, false) if field.schema.nullable => values.push(Value::Null),
                (None, false) => {
                    whole = false;
                    error!(findings, path =>
                        "found no `{}`, expected {}", field.name, field.schema.expected();
                        "add it, or make the field optional");
                }
            }
            continue;
        };
        found += 1;
        match field.schema.parse_json(json, zone) {
            Ok(value) => values.push(value),
            Err(error) => {
                whole = false;
                let here = path.name(&field.name);
                findings.error(
                    format!("{here}{}", error.at),
                    error.to_string(),
                    "write a value of the field's type",
                );
            }
        }
    }
    if found < row.len() {
        unknown_fields(resource, row, path, findings);
    }
    whole.then(|| Arc::from(values))
}

fn unknown_fields(resource: &Resource, row: &Row, path: &Path<'_>, findings: &mut Findings) {
    for name in row.keys().filter(|name| resource.field_named(name).is_none()) {
        error!(findings, path.name(name) =>
            "found the field `{name}`, expected one of {}", listed(resource.fields.iter().map(|field| &*field.name));
            "remove it, or add it to `fields`");
    }
}

/// Checks uniqueness and references of the records of one resource.
fn check_promises(
    resources: &[Resource],
    id: ResourceId,
    rows: &[usize],
    path: &Path<'_>,
    findings: &mut Findings,
) {
    let resource = &resources[id.index()];
    let records_path = path.name("records");
    let place = |position: usize| rows.get(position).copied().unwrap_or(position);
    for (index, field) in resource.fields.iter().enumerate() {
        let position = FieldId(index as u16);
        if field.unique && position != resource.key {
            let mut seen = HashSet::with_capacity(resource.records.len());
            for (i, record) in resource.records.iter().enumerate() {
                let value = &record[index];
                if !value.is_missing() && !seen.insert(value) {
                    error!(findings, records_path.index(place(i)).name(&field.name) =>
                        "found {} a second time in a unique field", shown(value);
                        "change one, or remove `unique`");
                }
            }
        }
        if refers(&field.schema) {
            for (i, record) in resource.records.iter().enumerate() {
                if let Some((target, missing)) = broken(resources, &field.schema, &record[index]) {
                    error!(findings, records_path.index(place(i)).name(&field.name) =>
                        "found a reference to {}, which no `{}` has as its key", shown(missing), resources[target.index()].name;
                        "refer to a record that exists");
                }
            }
        }
    }
    for group in &resource.unique_together {
        let mut seen = HashSet::with_capacity(resource.records.len());
        for (i, record) in resource.records.iter().enumerate() {
            let values: Vec<&Value> = group.iter().map(|field| &record[field.index()]).collect();
            if values.iter().all(|value| !value.is_missing()) && !seen.insert(values) {
                let names: Vec<&str> = group.iter().map(|field| &*resource.field(*field).name).collect();
                error!(findings, records_path.index(place(i)) =>
                    "found the same {} a second time", enumerate(&names);
                    "change one, or remove the group from `unique_together`");
            }
        }
    }
}

fn shown(value: &Value) -> String {
    value.to_text(&Zone::utc())
}

/// Returns true if values of a schema can hold references.
fn refers(schema: &Schema) -> bool {
    match &schema.kind {
        Type::Reference { .. } => true,
        Type::List(items) => refers(items),
        Type::Object(fields) => fields.iter().any(|field| refers(&field.schema)),
        _ => false,
    }
}

/// Returns the first reference in a value to a record that does not exist.
fn broken<'v>(resources: &[Resource], schema: &Schema, value: &'v Value) -> Option<(ResourceId, &'v Value)> {
    match (&schema.kind, value) {
        (_, Value::Null | Value::Absent) => None,
        (Type::Reference { resource, .. }, key) => {
            let target = resources.get(resource.index())?;
            let position = target.key.index();
            let found = target.records.binary_search_by(|record| record[position].cmp(key));
            found.is_err().then_some((*resource, key))
        }
        (Type::List(items), Value::List(values)) => {
            values.iter().find_map(|value| broken(resources, items, value))
        }
        (Type::Object(fields), Value::Object(values)) => fields.iter().find_map(|field| {
            let (_, value) = values.iter().find(|(name, _)| *name == field.name)?;
            broken(resources, &field.schema, value)
        }),
        _ => None,
    }
}

/// Checks the given parts of a source world's records and examples. Each given value must have its type.
fn check_source(
    resource: &Resource,
    doc: &ResourceDoc,
    zone: &Zone,
    path: &Path<'_>,
    findings: &mut Findings,
) {
    let given: &[Row] = match &doc.records {
        RecordsDoc::Given(given) => given,
        RecordsDoc::Count(count) => {
            if *count > MAX_RECORDS || resource.singleton && *count != 1 {
                let most = if resource.singleton { 1 } else { MAX_RECORDS };
                findings.error(
                    path.name("records"),
                    format!("found {count} records, expected at most {most}"),
                    if resource.singleton { "a singleton has exactly one record" } else { "ask for fewer" },
                );
            }
            &[]
        }
    };
    let sections = [("records", given), ("examples", doc.examples.as_slice())];
    for (name, rows) in sections {
        let section = path.name(name);
        for (i, row) in rows.iter().enumerate().take(MAX_RECORDS as usize) {
            check_partial(resource, row, zone, &section.index(i), findings);
        }
    }
    if let RecordsDoc::Count(count) = doc.records
        && doc.examples.len() > count as usize
    {
        error!(findings, path.name("examples") => "found {} examples for {count} records", doc.examples.len();
            "ask for more records, or give fewer examples");
    }
    let mut keys = HashSet::new();
    let key = resource.field(resource.key);
    let keyed = given.iter().enumerate().filter_map(|(i, row)| Some((i, row.get(&*key.name)?)));
    let section = path.name("records");
    for (i, json) in keyed {
        if let Ok(value) = key.schema.parse_json(json, zone)
            && !keys.insert(value)
        {
            error!(findings, section.index(i) => "found the key {json} twice";
                "give every record its own key");
        }
    }
}

fn check_partial(resource: &Resource, row: &Row, zone: &Zone, path: &Path<'_>, findings: &mut Findings) {
    unknown_fields(resource, row, path, findings);
    for field in &resource.fields {
        let Some(json) = row.get(&*field.name) else { continue };
        // A null that the type does not allow stands for the absence of an optional field.
        if json.is_null() && field.optional || is_for_the_plan(&field.schema, json) {
            continue;
        }
        if let Err(error) = field.schema.parse_json(json, zone) {
            let here = path.name(&field.name);
            findings.error(
                format!("{here}{}", error.at),
                error.to_string(),
                "write a value of the field's type",
            );
        }
    }
}

/// Returns true for a value that is parsed when records are made: a reference by name, or a date relative to
/// the clock.
fn is_for_the_plan(schema: &Schema, json: &Json) -> bool {
    match (&schema.kind, json) {
        (Type::Reference { .. }, Json::String(_)) => true,
        (Type::List(items), Json::Array(values)) => values.iter().all(|value| is_for_the_plan(items, value)),
        (Type::Date | Type::DateTime, Json::String(text)) => {
            text.starts_with(['+', '-']) || text.starts_with("today") || text.starts_with("now")
        }
        _ => false,
    }
}

/// Checks `each`, which makes records for each record of a parent.
fn check_each(
    part: &Part<'_>,
    resources: &[Resource],
    id: ResourceId,
    doc: &ResourceDoc,
    zone: &Zone,
    path: &Path<'_>,
    findings: &mut Findings,
) {
    let resource = &resources[id.index()];
    let section = path.name("each");
    for (i, each) in doc.each.iter().enumerate() {
        let here = section.index(i);
        let EachDoc { of, by, min, max, set } = each;
        let parent =
            resources.iter().position(|other| *other.name == **of && other.domain == resource.domain);
        let Some(parent) = parent else {
            error!(findings, here.name("of") =>
                "found the resource `{of}`, expected one of {}", listed(part.resources.keys().map(String::as_str));
                "name the parent resource");
            continue;
        };
        let field = resource.field_named(by).map(|field| &resource.field(field).schema.kind);
        if !matches!(field, Some(Type::Reference { resource, .. }) if resource.index() == parent) {
            error!(findings, here.name("by") =>
                "found `{by}`, expected a field of `{}` that refers to `{of}`", resource.name;
                "name a field with `ref: {of}`");
        }
        if min > max {
            error!(findings, here.name("min") => "found {min}, which is more than the maximum {max}";
                "swap them");
        }
        let set_path = here.name("set");
        unknown_fields(resource, set, &set_path, findings);
        for (name, json) in set.iter().filter(|(_, json)| !json.is_null()) {
            let Some(field) = resource.field_named(name) else { continue };
            let schema = &resource.field(field).schema;
            if is_for_the_plan(schema, json) {
                continue;
            }
            if let Err(error) = schema.parse_json(json, zone) {
                findings.error(set_path.name(name), error.to_string(), "write a value of the field's type");
            }
        }
    }
}
