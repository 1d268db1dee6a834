//! Adds subclasses as alternatives to a schema with a discriminator: the schemas that include it by `allOf`.
//!
//! OpenAPI 3.0, section 4.7.25, defines this for a schema that lists no alternatives itself.

use std::collections::HashMap;

use serde_json::{Map, Value as Json, json};

const SCHEMAS: &str = "#/components/schemas/";

/// Gives schemas with a discriminator their subclasses as alternatives.
pub(super) fn write_out(root: &mut Json) {
    let Some(schemas) = root.pointer_mut("/components/schemas").and_then(Json::as_object_mut) else { return };
    let bases: Vec<(String, String)> = schemas
        .iter()
        .filter(|(_, schema)| ["oneOf", "anyOf"].iter().all(|word| schema.get(*word).is_none()))
        .filter_map(|(name, schema)| {
            let member = schema.get("discriminator")?.get("propertyName")?.as_str()?;
            Some((name.clone(), member.to_owned()))
        })
        .collect();
    let mut known = Subclasses::of(schemas);
    for (name, member) in bases {
        divide(schemas, &mut known, &name, &member);
    }
}

/// The schemas that include another by `allOf`, by the reference to that one, and their own discriminator
/// values.
struct Subclasses {
    by_base: HashMap<String, Vec<String>>,
    own_values: Map<String, Json>,
}

impl Subclasses {
    fn of(schemas: &Map<String, Json>) -> Self {
        // Azure's documents put the value beside the subclass.
        let own_value = |schema: &Json| schema.get("x-ms-discriminator-value").cloned();
        let own_values =
            schemas.iter().filter_map(|(name, schema)| Some((name.clone(), own_value(schema)?))).collect();
        let mut known = Self { by_base: HashMap::new(), own_values };
        schemas.iter().for_each(|(name, schema)| known.add(name, schema));
        known
    }

    fn add(&mut self, name: &str, schema: &Json) {
        for part in schema.get("allOf").and_then(Json::as_array).into_iter().flatten() {
            if let Some(reference) = part.get("$ref").and_then(Json::as_str) {
                let all = self.by_base.entry(reference.to_owned()).or_default();
                if all.last().is_none_or(|last| last != name) {
                    all.push(name.to_owned());
                }
            }
        }
    }

    /// Moves the schema's `allOf` entries to its base, because the schema itself is a choice from now on.
    fn rename(&mut self, name: &str, schema: &Json, base: &str) {
        for part in schema.get("allOf").and_then(Json::as_array).into_iter().flatten() {
            let reference = part.get("$ref").and_then(Json::as_str);
            if let Some(all) = reference.and_then(|reference| self.by_base.get_mut(reference)) {
                all.retain(|known| known != name);
            }
        }
        self.add(base, schema);
    }
}

/// Makes a schema the choice between its subclasses; its own content becomes a separate schema.
fn divide(schemas: &mut Map<String, Json>, known: &mut Subclasses, name: &str, member: &str) {
    let reference = format!("{SCHEMAS}{name}");
    let subclasses = known.by_base.get(&reference).cloned().unwrap_or_default();
    let Some(schema) = schemas.get(name).cloned().filter(|_| !subclasses.is_empty()) else { return };
    let discriminator = schema.get("discriminator").cloned().unwrap_or_default();
    let own_values = &known.own_values;
    let values = |of: &str| -> Vec<Json> {
        let mapping = discriminator.get("mapping").and_then(Json::as_object).into_iter().flatten();
        let leads = |target: &str| target == of || target.strip_prefix(SCHEMAS) == Some(of);
        let named = mapping.filter(|(_, target)| target.as_str().is_some_and(leads));
        let found: Vec<Json> = named.map(|(value, _)| Json::from(value.as_str())).collect();
        let own = || own_values.get(of).cloned().unwrap_or_else(|| Json::from(of));
        if found.is_empty() { vec![own()] } else { found }
    };
    let is_mapped = discriminator.get("mapping").is_some();
    let base = (1..).map(|count| format!("{name}_base_{count}")).find(|base| !schemas.contains_key(base));
    let Some(base) = base else { return };
    let only = |of: &str| json!({"type": "object", "required": [member], "properties": {member: {"type": "string", "enum": values(of)}}});
    for subclass in &subclasses {
        let parts = schemas.get_mut(subclass).and_then(|schema| schema.get_mut("allOf")?.as_array_mut());
        let Some(parts) = parts else { continue };
        for part in parts.iter_mut() {
            if part.get("$ref").and_then(Json::as_str) == Some(&reference) {
                *part = json!({"$ref": format!("{SCHEMAS}{base}")});
            }
        }
        parts.push(only(subclass));
    }
    let mut ways: Vec<Json> =
        subclasses.iter().map(|subclass| json!({"$ref": format!("{SCHEMAS}{subclass}")})).collect();
    let own = discriminator.get("mapping").and_then(Json::as_object).into_iter().flatten();
    if is_mapped && own.into_iter().any(|(_, target)| target.as_str() == Some(&reference)) {
        ways.push(json!({"allOf": [{"$ref": format!("{SCHEMAS}{base}")}, only(name)]}));
    }
    let mut plain = schema.clone();
    if let Some(members) = plain.as_object_mut() {
        members.remove("discriminator");
    }
    let mut choice = json!({"oneOf": ways, "discriminator": discriminator});
    if let (Some(words), Some(choice)) = (schema.as_object(), choice.as_object_mut()) {
        let said = ["title", "description", "nullable"].iter().filter_map(|word| words.get_key_value(*word));
        choice.extend(said.map(|(word, value)| (word.clone(), value.clone())));
    }
    known.rename(name, &plain, &base);
    schemas.insert(base, plain);
    schemas.insert(name.to_owned(), choice);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_with_a_discriminator_is_one_of_its_subclasses() {
        let mut root = json!({"components": {"schemas": {
            "Vehicle": {"type": "object", "discriminator": {"propertyName": "kind", "mapping": {"lorry": "#/components/schemas/Lorry"}}},
            "Lorry": {"allOf": [{"$ref": "#/components/schemas/Vehicle"}, {"properties": {"axles": {}}}]},
            "Bike": {"allOf": [{"$ref": "#/components/schemas/Vehicle"}]},
            "Alone": {"discriminator": {"propertyName": "kind"}}}}});
        write_out(&mut root);
        let schemas = &root["components"]["schemas"];
        assert_eq!(
            schemas["Vehicle"]["oneOf"],
            json!([{"$ref": "#/components/schemas/Lorry"}, {"$ref": "#/components/schemas/Bike"}])
        );
        assert_eq!(schemas["Lorry"]["allOf"][0]["$ref"], "#/components/schemas/Vehicle_base_1");
        assert_eq!(schemas["Lorry"]["allOf"][2]["properties"]["kind"]["enum"], json!(["lorry"]));
        assert_eq!(schemas["Bike"]["allOf"][1]["properties"]["kind"]["enum"], json!(["Bike"]));
        assert_eq!(schemas["Alone"], json!({"discriminator": {"propertyName": "kind"}}));
    }
}
