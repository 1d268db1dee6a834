//! Owns the formats of strings in requests: each parameter must have its declared format.
//!
//! Calls by name accept any text if a format only describes it. A request over HTTP must fit the served
//! document.

use diorama_seeds::contract::fits_format;
use diorama_seeds::model::{Api, Place};
use diorama_seeds::schema::{Schema, Type};
use serde_json::{Map, Value as Json};

use diorama_sessions::{Kind, Problem};

/// Refuses arguments without their declared format. The engine validates the body of a contract against its
/// schema.
pub(super) fn check(api: &Api, arguments: &Map<String, Json>) -> Result<(), Problem> {
    let is_held = |place| api.contract.is_none() || place != Place::Body;
    for parameter in api.parameters.iter().filter(|parameter| is_held(parameter.place)) {
        let Some(value) = arguments.get(&*parameter.name) else { continue };
        if let Some((at, format)) = wrong(&parameter.schema, value, String::new()) {
            let name = &*parameter.name;
            let expected = format!("a string of the format {format}");
            return Err(Problem::new(
                Kind::Malformed,
                format!("`{name}{at}`: expected {expected}, found another text"),
            )
            .with("parameter", name)
            .with("expected", expected));
        }
    }
    Ok(())
}

/// Returns the path of a value without its format, and the format.
fn wrong<'s>(schema: &'s Schema, value: &Json, at: String) -> Option<(String, &'s str)> {
    match (&schema.kind, value) {
        (Type::String, Json::String(text)) => {
            let format = schema.format.as_deref()?;
            (!fits_format(format, text)).then_some((at, format))
        }
        (Type::List(item), Json::Array(items)) => {
            items.iter().enumerate().find_map(|(place, value)| wrong(item, value, format!("{at}[{place}]")))
        }
        (Type::Object(fields), Json::Object(members)) => fields.iter().find_map(|field| {
            wrong(&field.schema, members.get(&*field.name)?, format!("{at}.{}", field.name))
        }),
        _ => None,
    }
}
