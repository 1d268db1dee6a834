//! What answers where nothing is known: values that satisfy a schema, and operations that say the same to everybody.

use diorama_seeds::doc::{ApiDoc, FieldDoc, TypeName};
use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value as Json};

use super::Severity;
use super::document::{Operation, Place};
use super::entities::Model;
use super::fakes;
use super::operations::Maker;
use super::routes::Route;
use super::shape::{Kind, Shape};

/// An operation that only answers in its reply's shape: with its parameters, or with those of its path alone.
pub(super) fn api(operation: &Operation, name: &str, bare: bool) -> ApiDoc {
    let model = Model::default();
    let mut maker = Maker {
        model: &model,
        operation,
        route: Route::default(),
        api: ApiDoc { name: name.to_owned(), ..ApiDoc::default() },
        notes: Vec::new(),
        used: IndexSet::new(),
        more: IndexMap::new(),
    };
    maker.begin();
    if bare {
        let in_path: Vec<&str> = operation
            .parameters
            .iter()
            .filter(|known| known.place == Place::Path)
            .map(|known| known.name.as_str())
            .collect();
        maker.api.parameters.retain(|name, _| in_path.contains(&name.as_str()));
        for doc in maker.api.parameters.values_mut() {
            *doc = FieldDoc { kind: Some(TypeName::String), ..FieldDoc::default() };
        }
    }
    maker.fallback();
    if bare && maker.api.behaviour.action.is_none() {
        maker.api.behaviour.compute = IndexMap::from([("ok".to_owned(), "true".to_owned())]);
    }
    if bare {
        maker.api.phrases = Default::default();
    }
    maker.api.parameters.values_mut().for_each(|doc| doc.ignored = true);
    maker.api
}

impl Maker<'_> {
    /// Constants in the response's shape, for what no resource gives.
    pub(super) fn fallback(&mut self) {
        let members: IndexMap<String, Json> = self.operation.reply.as_ref().map(body).unwrap_or_default();
        let reason = match (&self.operation.reply, self.operation.status) {
            (None, 204 | 205) => "no resource is known that it is about, so it only answers, without a body",
            _ => "no resource fits its reply, so it answers with constants in the schema's shape",
        };
        self.notes.push(Severity::Less.says(reason));
        self.api.behaviour.compute = IndexMap::from([("ok".to_owned(), "true".to_owned())]);
        if !members.is_empty() {
            self.api.behaviour.compute.clear();
            let mut left_out = Vec::new();
            for (name, value) in members {
                match literal(&value) {
                    Some(expression) => {
                        self.api.behaviour.compute.insert(name, expression);
                    }
                    None => left_out.push(name),
                }
            }
            if !left_out.is_empty() {
                self.notes.push(
                    Severity::LeftOut
                        .says(format!("the reply leaves out the nested members {}", left_out.join(", "))),
                );
            }
            if self.api.behaviour.compute.is_empty() {
                self.api.behaviour.compute.insert("ok".to_owned(), "true".to_owned());
            }
        }
        let required = self.api.parameters.values().any(|doc| !doc.optional && doc.default.is_none());
        if !required {
            self.api.phrases.imperative = vec![self.api.description.trim_end_matches('.').to_lowercase()];
        }
    }
}

/// A constant as an expression.
pub(super) fn literal(value: &Json) -> Option<String> {
    Some(match value {
        Json::Null => "null".to_owned(),
        Json::Bool(value) => value.to_string(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => quoted(text),
        Json::Array(items) => {
            format!("[{}]", items.iter().map(literal).collect::<Option<Vec<_>>>()?.join(", "))
        }
        Json::Object(_) => return None,
    })
}

/// A value that satisfies a schema, for what nothing in the model gives.
pub(super) fn value(shape: &Shape, depth: u32) -> Json {
    if shape.nullable {
        return Json::Null;
    }
    if let Some(default) = &shape.default {
        return default.clone();
    }
    match &shape.kind {
        Kind::Any | Kind::Cycle(_) => Json::Null,
        Kind::Boolean => Json::Bool(false),
        Kind::Integer | Kind::Number => {
            shape.choices.first().or(shape.min.as_ref()).cloned().unwrap_or_else(|| Json::from(0))
        }
        Kind::String => match fakes::moment("", shape) {
            Some("date") => Json::String("2026-01-01".to_owned()),
            Some("date-time") => Json::String("2026-01-01T00:00:00Z".to_owned()),
            _ => Json::String(String::new()),
        },
        Kind::Enum(values) => values.first().cloned().map_or(Json::Null, Json::String),
        Kind::Array(_) => Json::Array(Vec::new()),
        Kind::Union(parts) => parts.first().map_or(Json::Null, |part| value(part, depth + 1)),
        Kind::Object(members) => {
            let kept = members.iter().filter(|(_, member)| depth < 8 && (member.required || depth < 2));
            Json::Object(
                kept.map(|(name, member)| (name.clone(), value(&member.shape, depth + 1)))
                    .collect::<Map<_, _>>(),
            )
        }
    }
}

/// For replies that no resource gives: the whole body as constants.
fn body(shape: &Shape) -> IndexMap<String, Json> {
    shape
        .members()
        .into_iter()
        .flatten()
        .map(|(name, member)| (name.clone(), value(&member.shape, 0)))
        .collect()
}

/// A string literal of the expression language.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}
