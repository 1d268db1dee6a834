//! Reads datasets of schema version 1: translates their columns and JSON to the present names.
//!
//! Only readers call it; nothing is written in the old form. Version 1 had the columns `phenomena`, `archetype` and
//! `domain`, called goals stages, and named the gates `gold`, `no_op`, `damage` and `determined`.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, new_null_array};
use arrow_schema::{ArrowError, DataType};
use serde_json::Value as Json;

use crate::columns::{COLUMNS, Table, element};

/// The schema version that is translated.
pub(crate) const OLDER_VERSION: u32 = 1;

/// A path to objects (`*` stands for every item of a list), and the renamed members there.
type Renaming = (&'static [&'static str], &'static [(&'static str, &'static str)]);

const STAGES: (&str, &str) = ("stages", "goals");
const STAGE: (&str, &str) = ("stage", "goal");

/// Returns the renamed members of a JSON column.
fn renamings(column: &str) -> &'static [Renaming] {
    match column {
        "gold_answer" => &[(&[], &[STAGES]), (&["claims", "*", "when"], &[STAGE])],
        "checks" => &[(&["variants", "*"], &[STAGES]), (&["variants", "*", "changes", "*"], &[STAGE])],
        "user_facts" => &[
            (&[], &[STAGES]),
            (&["goals", "*"], &[("knows", "withheld")]),
            (&["goals", "*", "when", "ended"], &[STAGE]),
        ],
        "gates" => &[(
            &[],
            &[
                ("gold_calls", "solvable"),
                ("no_op", "nontrivial"),
                ("damage", "mutation"),
                ("determined", "unambiguous"),
            ],
        )],
        "provenance" => &[(&[], &[("slot", "row")])],
        _ => &[],
    }
}

/// Translates the rows of a file of version 1.
pub(crate) fn batch(old: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let column = |name: &str| {
        old.column_by_name(name)
            .cloned()
            .ok_or_else(|| ArrowError::SchemaError(format!("column `{name}` is missing")))
    };
    let columns: Result<Vec<ArrayRef>, ArrowError> = COLUMNS
        .iter()
        .map(|new| match new.field.name {
            "tags" => column("phenomena"),
            "domains" => Ok(singletons(texts(&column("domain")?)?)),
            // The file is older than this column.
            "source" if old.column_by_name("source").is_none() => {
                let unstated = std::iter::repeat_n(diorama_seeds::doc::UNSTATED, old.num_rows());
                Ok(Arc::new(StringArray::from_iter_values(unstated)) as ArrayRef)
            }
            "difficulty" => Ok(new_null_array(&DataType::Utf8, old.num_rows())),
            name => match renamings(name) {
                [] => column(name),
                renamings => renamed(texts(&column(name)?)?, renamings),
            },
        })
        .collect();
    RecordBatch::try_new(Table::Dialogues.schema(), columns?)
}

/// Translates the manifest of a dataset of version 1.
pub(crate) fn manifest(json: &mut Json) {
    let all: [Renaming; 3] = [
        (
            &["plan"],
            &[
                ("slots", "rows"),
                ("slots_per_unit", "rows_per_batch"),
                ("units_per_file", "batches_per_file"),
            ],
        ),
        (&["counts"], &[("phenomena", "tags")]),
        (&["funnel"], &[("faults", "mutants")]),
    ];
    all.iter().for_each(|(path, names)| rename(json, path, names));
    if let Some(counts) = json.pointer_mut("/counts").and_then(Json::as_object_mut) {
        counts.remove("archetypes");
    }
}

fn texts(column: &ArrayRef) -> Result<&StringArray, ArrowError> {
    let other = || ArrowError::SchemaError(format!("found {}, expected text", column.data_type()));
    column.as_any().downcast_ref().ok_or_else(other)
}

fn singletons(texts: &StringArray) -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new()).with_field(element(DataType::Utf8));
    for text in texts {
        text.into_iter().for_each(|text| lists.values().append_value(text));
        lists.append(true);
    }
    Arc::new(lists.finish())
}

fn renamed(texts: &StringArray, renamings: &[Renaming]) -> Result<ArrayRef, ArrowError> {
    let new: Result<Vec<Option<String>>, ArrowError> = texts
        .iter()
        .map(|text| {
            let Some(text) = text else { return Ok(None) };
            let mut json: Json =
                serde_json::from_str(text).map_err(|error| ArrowError::JsonError(error.to_string()))?;
            renamings.iter().for_each(|(path, names)| rename(&mut json, path, names));
            Ok(Some(json.to_string()))
        })
        .collect();
    Ok(Arc::new(StringArray::from(new?)))
}

/// Renames members of the objects at a path, and keeps their positions. The recursion ends with the path.
fn rename(json: &mut Json, path: &[&str], names: &[(&str, &str)]) {
    match (path, json) {
        ([], Json::Object(members)) => {
            let renamed = std::mem::take(members).into_iter().map(|(name, value)| {
                let new = names.iter().find(|(old, _)| *old == name).map(|(_, new)| (*new).to_owned());
                (new.unwrap_or(name), value)
            });
            *members = renamed.collect();
        }
        (["*", rest @ ..], Json::Array(items)) => items.iter_mut().for_each(|item| rename(item, rest, names)),
        ([name, rest @ ..], Json::Object(members)) => {
            members.get_mut(*name).into_iter().for_each(|member| rename(member, rest, names));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_are_renamed_at_their_places_alone() {
        let checks = json!({"version": 1, "variants": [{
            "stages": [{"outcome": "done"}],
            "changes": [{"resource": "application", "stage": 0, "fields": {"stage": {"equals": "sent"}, "stages": 1}}],
        }]});
        let texts = StringArray::from(vec![Some(checks.to_string()), None]);
        let new = renamed(&texts, renamings("checks")).unwrap();
        let new = super::texts(&new).unwrap();
        let expected = json!({"version": 1, "variants": [{
            "goals": [{"outcome": "done"}],
            "changes": [{"resource": "application", "goal": 0, "fields": {"stage": {"equals": "sent"}, "stages": 1}}],
        }]});
        assert_eq!(serde_json::from_str::<Json>(new.value(0)).unwrap(), expected);
        assert!(new.is_null(1));
    }

    #[test]
    fn a_manifest_has_the_names_of_today() {
        let mut old = json!({"plan": {"slots": 3, "slots_per_unit": 2, "units_per_file": 1},
            "counts": {"phenomena": {"refusal": 1}, "archetypes": {"lending": 3}}, "funnel": {"faults": {}}});
        manifest(&mut old);
        assert_eq!(
            old,
            json!({"plan": {"rows": 3, "rows_per_batch": 2, "batches_per_file": 1},
                "counts": {"tags": {"refusal": 1}}, "funnel": {"mutants": {}}})
        );
    }
}
