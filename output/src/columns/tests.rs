//! The documentation of the columns, and their schemas.

use std::fs;
use std::path::Path;

use super::{COLUMNS, json_schema, markdown};
use crate::row::{Dialogue, Split};
use crate::rows::samples::sample;

/// `docs/dataset-columns.md` is written here. The test fails once when it was out of date, so that nobody forgets to
/// commit it.
#[test]
fn the_column_documentation_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/dataset-columns.md");
    let text = format!(
        "# The columns of a dataset\n\n<!-- Written by a test of the output crate from output/src/columns.rs. Do not \
         edit. -->\n\nOne row is one dialogue. Columns of type `string (JSON)` hold JSON text, because their shape varies \
         from row to row. A column that can be null says so.\n\n{}",
        markdown()
    );
    if fs::read_to_string(&path).unwrap_or_default() != text {
        fs::write(&path, text).unwrap();
        panic!("docs/dataset-columns.md was out of date and has been written anew; commit it");
    }
}

#[test]
fn the_json_schema_has_the_members_of_a_row() {
    let schema = json_schema();
    let row = serde_json::to_value(sample(6, Split::Train)).unwrap();
    let names: Vec<&String> = row.as_object().unwrap().keys().collect();
    assert_eq!(names, COLUMNS.map(|column| column.field.name));
    assert_eq!(schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), names);
    assert_eq!(schema["properties"]["rc_level"]["type"], serde_json::json!(["integer", "null"]));
    let message = &schema["properties"]["messages"]["items"]["properties"];
    let all =
        row["messages"].as_array().unwrap().iter().flat_map(|message| message.as_object().unwrap().keys());
    for name in all {
        assert!(message.get(name).is_some(), "the schema lacks `{name}`");
    }
    // Members that rows leave out when they are null may be left out by the schema too.
    let required = schema["properties"]["messages"]["items"]["required"].clone();
    assert_eq!(required, serde_json::json!(["role", "train"]));
    assert!(serde_json::from_value::<Dialogue>(row).is_ok());
}
