//! Whole records from the document's examples: what an object example says of itself, a record of the world says too.
//!
//! Keys and references are never taken over: the world has its own, so that nobody can call from memory.

use diorama_seeds::value::{Date, Zone};

use super::*;

/// Most records of a resource that examples give.
const MOST: usize = 12;
/// A longer text is no value of a record.
const LONGEST: usize = 2_000;

/// A record in part for each thing that the examples of a resource show; several examples of one thing are one record.
pub(super) fn rows(entity: &Entity, doc: &ResourceDoc) -> Vec<IndexMap<String, Json>> {
    let display = display(entity);
    let mut rows: IndexMap<String, IndexMap<String, Json>> = IndexMap::new();
    for example in &entity.examples {
        let name = match display {
            Some(display) => {
                let named = doc.fields.get(&identifier(display)).zip(example.get(display));
                named
                    .filter(|(field, value)| taken(field, display, value))
                    .map(|(_, value)| value.to_string())
            }
            // Without names, records are told apart by all that they say.
            None => Some(example.to_string()),
        };
        let Some(name) = name else { continue };
        let row = rows.entry(name.to_lowercase()).or_default();
        for (member, value) in example.as_object().into_iter().flatten() {
            let field = identifier(member);
            if entity.fields.contains_key(member)
                && !entity.references.contains_key(&field)
                && doc.fields.get(&field).is_some_and(|known| taken(known, member, value))
            {
                row.entry(field).or_insert_with(|| value.clone());
            }
        }
    }
    let most = match doc.records {
        RecordsDoc::Count(count) => MOST.min(count as usize / 2),
        RecordsDoc::Given(_) => 0,
    };
    rows.into_values().filter(|row| row.len() >= 2).take(most).collect()
}

/// Whether an example's value is one for the field: of its type and limits, no placeholder, and not one that follows
/// from other values.
fn taken(field: &FieldDoc, name: &str, value: &Json) -> bool {
    let provider = field.fake.as_ref().and_then(|fake| fake.get("provider")).and_then(Json::as_str);
    !matches!(provider, Some("expr" | "position" | "through"))
        && field.reference.is_none()
        && fits(field, name, value)
}

fn fits(field: &FieldDoc, name: &str, value: &Json) -> bool {
    if !field.values.is_empty() {
        return value.as_str().is_some_and(|text| field.values.iter().any(|known| known == text));
    }
    let bound = |limit: &Option<Json>| limit.as_ref().and_then(Json::as_f64);
    let within = |number: f64| {
        bound(&field.min).is_none_or(|min| number >= min) && bound(&field.max).is_none_or(|max| number <= max)
    };
    let long = |length: usize| {
        let length = length as u32;
        field.min_length.is_none_or(|min| length >= min) && field.max_length.is_none_or(|max| length <= max)
    };
    match (field.kind.as_deref(), value) {
        (Some("boolean"), Json::Bool(_)) => true,
        (Some("integer"), Json::Number(number)) => {
            number.as_i64().is_some_and(|number| within(number as f64))
        }
        (Some("number"), Json::Number(number)) => number.as_f64().is_some_and(within),
        (Some("date"), Json::String(text)) => Date::parse(text).is_some(),
        (Some("date-time"), Json::String(text)) => Zone::utc().parse_instant(text).is_some(),
        (Some("string"), Json::String(text)) => {
            let plain = text.trim().to_lowercase();
            let placeholder = plain.is_empty()
                || ["string", "text", "example"].contains(&&*plain)
                || plain == name.to_lowercase();
            !placeholder && text.len() <= LONGEST && long(text.chars().count())
        }
        (Some("list"), Json::Array(items)) => {
            let item = field.items.as_deref();
            long(items.len())
                && !items.is_empty()
                && items
                    .iter()
                    .all(|value| item.is_some_and(|item| item.reference.is_none() && fits(item, name, value)))
        }
        (Some("object"), Json::Object(members)) => {
            let known = |(name, value): (&String, &Json)| {
                field.fields.get(name).is_some_and(|field| taken(field, name, value))
            };
            let needed = field.fields.iter().filter(|(_, field)| !field.optional && !field.nullable);
            !members.is_empty()
                && members.iter().all(known)
                && needed.into_iter().all(|(name, _)| members.contains_key(name))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ImportOptions, import};
    use diorama_seeds::materialise::materialised;

    const DOCUMENT: &str = r##"
openapi: 3.0.3
info: {title: Zoo, version: "1"}
paths:
  /keepers: {get: {responses: {"200": {description: All, content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Keeper"}}, example: [{id: 5, name: string, town: Porto}, {id: 6, name: Rui Reis, town: Faro}]}}}}}}
  /animals: {get: {responses: {"200": {description: All, content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Animal"}}, examples: {one: {value: [{id: 12, name: Zulu, legs: 4, diet: grass, keeper_id: 5}]}}}}}}}}
  /animals/{id}: {get: {parameters: [{name: id, in: path, required: true, schema: {type: integer}}], responses: {"200": {description: One, content: {application/json: {schema: {$ref: "#/components/schemas/Animal"}, example: {id: 12, name: Zulu, legs: 900, diet: bricks, born: "2020-02-30", since: "2021-05-06", keeper_id: 5}}}}}}}
components:
  schemas:
    Keeper: {type: object, required: [id, name, town], properties: {id: {type: integer}, name: {type: string}, town: {type: string}}}
    Animal:
      type: object
      required: [id, name, legs, diet, born, since, keeper_id]
      example: {id: 77, name: Kiki, legs: 2, diet: seeds, born: "2019-01-02", since: "2019-06-01", keeper_id: 6}
      properties: {id: {type: integer}, name: {type: string}, legs: {type: integer, maximum: 8}, diet: {type: string, enum: [grass, seeds]}, born: {type: string, format: date}, since: {type: string, format: date}, keeper_id: {type: integer}}
"##;

    #[test]
    fn object_examples_become_records_with_keys_of_the_world() {
        let doc = import("zoo", DOCUMENT.as_bytes(), &ImportOptions::default()).unwrap().doc;
        let examples = |resource: &str| serde_json::to_value(&doc.resources[resource].examples).unwrap();
        assert_eq!(
            examples("animal"),
            json!([
                {"name": "Kiki", "legs": 2, "diet": "seeds", "born": "2019-01-02", "since": "2019-06-01"},
                // What does not fit is left to be made up; what one example lacks, another has.
                {"name": "Zulu", "legs": 4, "diet": "grass", "since": "2021-05-06"},
            ])
        );
        assert_eq!(examples("keeper"), json!([{"name": "Rui Reis", "town": "Faro"}]));
        let made = materialised(&doc, 0).unwrap();
        let made = diorama_seeds::world::read("made.json", made.canonical.as_bytes()).unwrap();
        let RecordsDoc::Given(animals) = &made.domains[0].resources["animal"].records else { panic!() };
        let zulu = animals.iter().find(|animal| animal["name"] == "Zulu").unwrap();
        assert_eq!((&zulu["legs"], &zulu["since"]), (&json!(4), &json!("2021-05-06")));
        assert!(
            zulu["animal_id"].as_i64().unwrap() > 1000 && zulu["keeper_id"].as_i64().unwrap() > 1000,
            "{zulu:?}"
        );
    }
}
