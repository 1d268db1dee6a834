//! Owns the tables of a resource: values that several fields of a record take from one row.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::maker::Maker;
use crate::doc::{FieldDoc, ResourceDoc, RowsDoc};
use crate::model::{FieldId, Resource};
use crate::value::{Value, Zone};
use diorama_format::Finding;

/// The tables of a resource.
#[derive(Default)]
pub(super) struct Tables {
    /// Makers of the fields that the first field of a table determines.
    followers: HashMap<usize, Maker>,
    /// Descriptions of the first fields that are drawn from a table.
    drawn: HashMap<usize, FieldDoc>,
}

impl Tables {
    /// Parses the tables of a resource.
    pub(super) fn read(
        doc: &ResourceDoc,
        resource: &Resource,
        zone: &Zone,
        path: &str,
        findings: &mut Vec<Finding>,
    ) -> Self {
        let mut tables = Self::default();
        for (number, rows) in doc.rows.iter().enumerate() {
            let mut reader = Reader {
                doc,
                resource,
                zone,
                path: format!("{path}.rows[{number}]"),
                findings: &mut *findings,
            };
            reader.read(rows, &mut tables);
        }
        tables
    }

    /// Returns the maker of a field that a table determines.
    pub(super) fn maker(&mut self, field: usize) -> Option<Maker> {
        self.followers.remove(&field)
    }

    /// Returns the description of a field that is drawn from a table.
    pub(super) fn drawn(&self, field: usize) -> Option<&FieldDoc> {
        self.drawn.get(&field)
    }
}

/// A table during its parsing.
struct Reader<'a> {
    doc: &'a ResourceDoc,
    resource: &'a Resource,
    zone: &'a Zone,
    path: String,
    findings: &'a mut Vec<Finding>,
}

impl Reader<'_> {
    fn error(&mut self, place: &str, message: String, fix: &str) {
        self.findings.push(Finding::error(format!("{}{place}", self.path), message, fix));
    }

    fn read(&mut self, rows: &RowsDoc, tables: &mut Tables) {
        let before = self.findings.len();
        let fields: Vec<usize> = rows
            .fields
            .iter()
            .enumerate()
            .filter_map(|(place, name)| self.field(name, place, tables))
            .map(FieldId::index)
            .collect();
        let Some((first, others)) = fields.split_first() else {
            return self.error(
                ".fields",
                "found a table without fields".to_owned(),
                "name the fields that it has values of",
            );
        };
        // Stops if a field is invalid, because its column cannot be checked.
        if self.findings.len() > before {
            return;
        }
        let columns = self.columns(rows, &fields);
        if self.findings.len() > before {
            return;
        }
        let Some((keys, columns)) = columns.split_first() else { return };
        for (field, column) in others.iter().zip(columns) {
            let of: HashMap<Value, Value> = keys.iter().cloned().zip(column.iter().cloned()).collect();
            tables.followers.insert(*field, Maker::Row { by: *first, of: Arc::new(of) });
        }
        // A text without another maker is drawn from the table.
        let name = rows.fields.first().map_or("", String::as_str);
        if let Some(first_doc) =
            self.doc.fields.get(name).filter(|doc| doc.fake.is_none() && doc.values.is_empty())
        {
            let of: Vec<&Json> = rows.of.iter().filter_map(|row| row.first()).collect();
            let fake = Some(json!({ "provider": "pick", "of": of }));
            tables.drawn.insert(*first, FieldDoc { fake, ..first_doc.clone() });
        }
    }

    /// Returns the field of a column. It must exist, and have no other maker unless it is the first.
    fn field(&mut self, name: &str, place: usize, tables: &Tables) -> Option<FieldId> {
        let at = format!(".fields[{place}]");
        let Some(field) = self.resource.field_named(name) else {
            let known: Vec<&str> = self.resource.fields.iter().map(|field| &*field.name).collect();
            self.error(
                &at,
                format!("found `{name}`, expected a field of `{}`: {}", self.resource.name, known.join(", ")),
                "name one of these fields",
            );
            return None;
        };
        let makes_itself = self.doc.fields.get(name).is_some_and(|doc: &FieldDoc| doc.fake.is_some());
        if place > 0
            && (makes_itself || field == self.resource.key || tables.followers.contains_key(&field.index()))
        {
            self.error(
                &at,
                format!("found `{name}`, which is made in another way already"),
                "take it out of the table, or remove its `fake`",
            );
        }
        Some(field)
    }

    /// Returns the values by column.
    fn columns(&mut self, rows: &RowsDoc, fields: &[usize]) -> Vec<Vec<Value>> {
        let mut columns = vec![Vec::with_capacity(rows.of.len()); fields.len()];
        let mut seen: IndexMap<Value, usize> = IndexMap::new();
        for (number, row) in rows.of.iter().enumerate() {
            let at = format!(".of[{number}]");
            if row.len() != rows.fields.len() {
                self.error(
                    &at,
                    format!("found {} values for {} fields", row.len(), rows.fields.len()),
                    "write one value for each field, null for none",
                );
                continue;
            }
            let mut key = None;
            for (place, ((json, field), column)) in row.iter().zip(fields).zip(&mut columns).enumerate() {
                match self.value(json, *field) {
                    Ok(value) => {
                        if place == 0 {
                            key = Some(value.clone());
                        }
                        column.push(value);
                    }
                    Err(message) => {
                        self.error(&format!("{at}[{place}]"), message, "write a value of the field's type")
                    }
                }
            }
            if let Some(key) = key
                && let Some(other) = seen.insert(key, number)
            {
                self.error(
                    &at,
                    format!("found the first value of row {other} a second time"),
                    "give each row a first value of its own",
                );
            }
        }
        columns
    }

    fn value(&self, json: &Json, field: usize) -> Result<Value, String> {
        let Some(field) = self.resource.fields.get(field) else { return Ok(Value::Null) };
        if json.is_null() {
            return Ok(Value::Null);
        }
        field.schema.parse_json(json, self.zone).map_err(|error| format!("{error}{}", error.at))
    }
}
