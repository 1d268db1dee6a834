//! Owns imported documents in sessions, and the calls on them.

use std::path::Path;

use diorama_engine::Base;
use diorama_engine::session::{Session, SessionOptions};
use diorama_openapi::{ImportOptions, ImportedWorld, import};
use diorama_seeds::doc::{ApiDoc, FieldDoc};
use diorama_seeds::materialise::materialised;
use diorama_seeds::task::Call;
use diorama_tests::shared_data;
use serde_json::{Map, Value, json};

pub(crate) const CLINIC: &str = "data/openapi/vet_clinic.yaml";
pub(crate) const TUNEHALL: &str = "data/openapi/tunehall.yaml";
pub(crate) const PARCELS: &str = "data/openapi/parcel_post.json";

/// An imported document in a fresh session.
pub(crate) struct Imports {
    pub(crate) document: Value,
    pub(crate) imported: ImportedWorld,
    pub(crate) session: Session,
}

impl Imports {
    pub(crate) fn of(name: &str, text: &[u8], document: Value) -> Self {
        let imported = import(name, text, &ImportOptions::default()).expect("the document imports");
        let made = materialised(&imported.doc, 7)
            .unwrap_or_else(|report| panic!("its records can be made up: {report}"));
        let base = Base::new(made.world.clone()).expect("the world runs");
        Self { document, imported, session: Session::new(base, SessionOptions::default()) }
    }

    /// Imports RestBench's TMDB document, if the shared folder stands beside the workspace.
    pub(crate) fn tmdb() -> Option<Self> {
        let text = std::fs::read(shared_data("restbench/tmdb_oas.json")?).expect("the document is read");
        let document = serde_json::from_slice(&text).expect("the document is JSON");
        Some(Self::of("tmdb_oas.json", &text, document))
    }

    /// Imports a document that a test makes.
    pub(crate) fn made(name: &str, document: Value) -> Self {
        Self::of(name, document.to_string().as_bytes(), document)
    }

    pub(crate) fn clinic() -> Self {
        Self::fixture(CLINIC)
    }

    pub(crate) fn fixture(path: &str) -> Self {
        let text = std::fs::read_to_string(fixture(path)).expect("the fixture is there");
        let document = serde_saphyr::from_str(&text).expect("the fixture is YAML or JSON");
        Self::of(path, text.as_bytes(), document)
    }

    /// Returns the key of the first record of a resource.
    pub(crate) fn key(&self, resource: &str) -> Value {
        let world = self.session.base().world();
        let found = world.resources.iter().find(|known| *known.name == *resource);
        let found = found.unwrap_or_else(|| panic!("there is no {resource}"));
        found.records.first().expect("it has records")[found.key.index()].to_json(&world.zone)
    }

    /// Returns arguments of the right types: keys of existing records, and the first value of each enum.
    pub(crate) fn arguments(&self, api: &ApiDoc, all: bool) -> Value {
        let wanted = api.parameters.iter().filter(|(_, doc)| all || !doc.optional && doc.default.is_none());
        Value::Object(wanted.map(|(name, doc)| (name.clone(), self.argument(doc))).collect())
    }

    pub(crate) fn argument(&self, doc: &FieldDoc) -> Value {
        if let Some(resource) = &doc.reference {
            return self.key(resource);
        }
        if let Some(value) = doc.values.first() {
            return json!(value);
        }
        match doc.kind.as_deref() {
            Some("integer" | "number") => doc.min.clone().unwrap_or(json!(1)),
            Some("boolean") => json!(true),
            Some("date") => json!("2026-04-01"),
            Some("date-time") => json!("2026-04-01T10:00:00Z"),
            Some("list") => json!([self.argument(doc.items.as_deref().expect("lists have items"))]),
            Some("object") => Value::Object(
                doc.fields.iter().map(|(name, doc)| (name.clone(), self.argument(doc))).collect(),
            ),
            _ if doc.format.as_deref() == Some("email") => json!("ada@example.org"),
            _ => json!("ada"),
        }
    }

    pub(crate) fn name(&self, method: &str, path: &str) -> String {
        let api = self.imported.doc.apis.iter().find(|api| api.method.as_str() == method && api.path == path);
        api.unwrap_or_else(|| panic!("{method} {path} is an API")).name.clone()
    }

    pub(crate) fn call(&mut self, method: &str, path: &str, arguments: Value) -> (u16, Value) {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let entry = self.session.call(&Call { api: self.name(method, path), arguments });
        let zone = &self.session.base().world().zone;
        (entry.reply.status, serde_json::from_str(&entry.reply.to_json(zone)).expect("replies are JSON"))
    }

    pub(crate) fn get(&mut self, path: &str, arguments: Value) -> Value {
        let (status, body) = self.call("GET", path, arguments.clone());
        assert_eq!(status, 200, "GET {path} {arguments}: {body}");
        body
    }

    /// Returns the errors of a body against the response schema of a success.
    pub(crate) fn refused(&self, method: &str, path: &str, body: &Value) -> Vec<String> {
        let responses = &self.document["paths"][path][method.to_lowercase()]["responses"];
        let response = ["200", "201", "204"].iter().find_map(|status| responses.get(status));
        let response = closed(&self.document, response.expect("a success is described"), 0);
        let schema = match (response.get("schema"), response.pointer("/content/application~1json/schema")) {
            (Some(schema), _) | (None, Some(schema)) => schema.clone(),
            (None, None) => return Vec::new(),
        };
        let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
        validator
            .iter_errors(body)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .take(5)
            .collect()
    }
}

/// Returns the schema with references resolved and `nullable` written as in JSON Schema.
pub(crate) fn closed(document: &Value, schema: &Value, depth: u32) -> Value {
    match schema {
        Value::Object(members) => {
            if let Some(pointer) = members.get("$ref").and_then(Value::as_str) {
                if depth > 6 {
                    // A recursive schema ends here. The depth suffices for all replies.
                    return json!({});
                }
                let target = document.pointer(pointer.trim_start_matches('#')).expect("references resolve");
                return closed(document, target, depth + 1);
            }
            let nullable =
                ["nullable", "x-nullable"].iter().any(|key| members.get(*key) == Some(&json!(true)));
            let kept = members
                .iter()
                .filter(|(name, _)| !["example", "examples", "nullable"].contains(&name.as_str()));
            let mut out: Map<String, Value> =
                kept.map(|(name, part)| (name.clone(), closed(document, part, depth))).collect();
            if nullable {
                if let Some(kind) = out.get("type").cloned() {
                    out.insert("type".to_owned(), json!([kind, "null"]));
                }
                if let Some(Value::Array(values)) = out.get_mut("enum") {
                    values.push(Value::Null);
                }
            }
            Value::Object(out)
        }
        Value::Array(parts) => Value::Array(parts.iter().map(|part| closed(document, part, depth)).collect()),
        other => other.clone(),
    }
}

pub(crate) fn array<'a>(body: &'a Value, name: &str) -> &'a Vec<Value> {
    body[name].as_array().unwrap_or_else(|| panic!("`{name}` is a list in {body}"))
}

pub(crate) fn first_id(body: &Value, name: &str, key: &str) -> Value {
    array(body, name).first().unwrap_or_else(|| panic!("`{name}` is empty in {body}"))[key].clone()
}

pub(crate) fn fixture(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns a reference to a schema in a document's components.
pub(crate) fn component(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// Returns the schema of a list of such values.
pub(crate) fn list_of(name: &str) -> Value {
    json!({"type": "array", "items": component(name)})
}

/// Returns the responses of an operation that succeeds with this schema.
pub(crate) fn answers(schema: Value) -> Value {
    json!({"200": {"description": "ok", "content": {"application/json": {"schema": schema}}}})
}
