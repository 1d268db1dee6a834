//! Sessions in the worlds of small documents, and builders for the parts of such documents.

use std::sync::Arc;

use diorama_engine::{Base, Reply, State, apply};
use diorama_import::choose_guesses;
use diorama_openapi::{Draft, ImportOptions, NoFiles};
use diorama_seeds::materialise::Source;
use diorama_seeds::task::Call;
use serde_json::{Value as Json, json};

/// A session in a document's world.
pub(crate) struct Session {
    pub(crate) base: Arc<Base>,
    pub(crate) state: State,
    pub(crate) given: Json,
}

impl Session {
    pub(crate) fn new(paths: &str, schemas: &str) -> Self {
        let text = format!(
            "openapi: 3.2.0\ninfo: {{title: Desk, version: '1'}}\nservers: [{{url: 'https://desk.example'}}]\npaths:\n{paths}\ncomponents: {{schemas: {{{schemas}}}}}\n"
        );
        Self::of(&text)
    }

    pub(crate) fn of(text: &str) -> Self {
        let draft = Draft::read("desk.yaml", text.as_bytes(), &ImportOptions::default(), &NoFiles)
            .expect("a document");
        let imported = choose_guesses(&draft).expect("a world");
        let given =
            serde_json::to_value(&imported.doc.domain.as_ref().expect("a domain").given).expect("JSON");
        let made = Source::new(imported.doc).expect("a source").materialise(0).expect("a world");
        let base = Base::new(made.world).expect("a base");
        let state = State::initial(&base, 7);
        Self { base, state, given }
    }

    pub(crate) fn reply(&mut self, api: &str, arguments: Json) -> Reply {
        let arguments = arguments.as_object().cloned().expect("an object");
        let applied = apply(&self.base, &self.state, &Call { api: api.to_owned(), arguments });
        self.state = applied.state;
        applied.reply
    }

    pub(crate) fn call(&mut self, api: &str, arguments: Json) -> (u16, Json) {
        let reply = self.reply(api, arguments);
        (reply.status, reply.json_tree(&self.base.world().zone))
    }
}

/// Returns a document with paths and schemas.
pub(crate) fn document(paths: Json, schemas: Json) -> String {
    json!({"openapi": "3.0.3", "info": {"title": "Desk", "version": "1"}, "paths": paths, "components": {"schemas": schemas}}).to_string()
}

pub(crate) fn answers(status: &str, schema: Json) -> Json {
    json!({status: {"description": "ok", "content": {"application/json": {"schema": schema}}}})
}

pub(crate) fn named(name: &str) -> Json {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

pub(crate) fn object(properties: Json) -> Json {
    json!({"type": "object", "properties": properties})
}

pub(crate) fn array(items: Json) -> Json {
    json!({"type": "array", "items": items})
}

pub(crate) fn sends(schema: Json) -> Json {
    json!({"required": true, "content": {"application/json": {"schema": schema}}})
}

pub(crate) fn parameter(name: &str, place: &str, schema: Json) -> Json {
    json!({"name": name, "in": place, "required": place == "path", "schema": schema})
}
