//! Extreme values of types: values at the limits that a parser accepts, and some beyond them.

use diorama_seeds::schema::{KeyKind, MAX_DEPTH, Schema, Type};
use diorama_seeds::value::Decimal;
use serde_json::{Map, Value as Json, json};

/// Days at the limits of the calendar.
const DAYS: [&str; 4] = ["0000-01-01", "0001-03-01", "9999-12-30", "9999-12-31"];

/// Returns the extreme values of a type. `long` is the length of strings in characters, and of lists in
/// items.
#[must_use]
pub fn extremes(schema: &Schema, long: usize) -> Vec<Json> {
    let integers = || [i64::MIN, i64::MIN + 1, -1, 0, i64::MAX - 1, i64::MAX].map(Json::from).to_vec();
    let texts = || vec![json!(""), json!("x".repeat(long)), json!("\u{0}\u{202e}é😀"), json!("-")];
    let mut found = match &schema.kind {
        Type::Integer | Type::Reference { key: KeyKind::Integer, .. } => integers(),
        Type::Number => [f64::MAX, f64::MIN, f64::MIN_POSITIVE, 0.0, -1e18, 1e18].map(Json::from).to_vec(),
        Type::Decimal { scale, .. } => {
            let text = |minor| Json::from(Decimal { minor, scale: *scale }.to_string());
            [i64::MIN + 1, -1, 0, 1, i64::MAX].map(text).to_vec()
        }
        Type::Date => DAYS.map(Json::from).to_vec(),
        Type::Time => ["00:00", "23:59:59"].map(Json::from).to_vec(),
        Type::DateTime => {
            let times = ["T00:00", "T23:59:59", "T23:59:59Z", "T00:00:00+14:00", "T23:59:59-12:00"];
            DAYS.iter().flat_map(|day| times.map(|time| Json::from(format!("{day}{time}")))).collect()
        }
        Type::Boolean => vec![json!(true), json!(false)],
        Type::String | Type::Reference { key: KeyKind::String, .. } => texts(),
        Type::Enum(values) => {
            let ends = [values.first(), values.last()];
            ends.into_iter().flatten().map(|text| json!(**text)).collect()
        }
        Type::List(item) => {
            let items = extremes(item, long);
            let mut lists: Vec<Json> = items.iter().map(|item| json!([item])).collect();
            lists.extend(items.first().map(|item| Json::from(vec![item.clone(); long])));
            lists.push(json!([]));
            lists
        }
        Type::Object(fields) => {
            let all = || fields.iter().map(|field| (field.name.to_string(), extremes(&field.schema, long)));
            let plain: Map<String, Json> =
                all().filter_map(|(name, values)| Some((name, values.into_iter().next()?))).collect();
            let with = |name: &str, value: Json| {
                let mut members = plain.clone();
                members.insert(name.to_owned(), value);
                Json::from(members)
            };
            let each = all().flat_map(|(name, values)| {
                values.into_iter().map(|value| with(&name, value)).collect::<Vec<_>>()
            });
            each.chain([json!({})]).collect()
        }
        Type::Any => {
            let deep = |depth| (0..depth).fold(json!(i64::MAX), |inner, _| json!([inner]));
            [integers(), texts(), vec![deep(MAX_DEPTH - 1), deep(MAX_DEPTH + 1), deep(100)]].concat()
        }
    };
    found.push(Json::Null);
    found
}
