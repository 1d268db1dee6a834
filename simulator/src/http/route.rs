//! Owns a route of the server itself: its admission, its handler, and its description for the OpenAPI
//! document.

pub(super) mod document;

use std::sync::Arc;

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::app::App;
use super::text::JSON;

/// Prefix under which the server's own routes always answer. A world at the root cannot replace them by paths
/// of its own.
pub(super) const RESERVED_PREFIX: &str = "/__diorama";

/// Callers that may use a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Any caller.
    Open,
    /// The agent under test, with the session's id: the agent API.
    Agent,
    /// The holder of the control token: the admin API.
    Admin,
}

/// Conditions on the requests of a route.
#[derive(Clone, Copy)]
pub(super) struct Admission {
    pub(super) access: Access,
    /// Media types of its replies.
    pub(super) kinds: &'static [&'static str],
    /// True if its path names a session.
    pub(super) has_session: bool,
    /// True if it answers even if memory is full, because it reports on the server or frees memory.
    pub(super) always: bool,
}

/// Route of the server itself.
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) admission: Admission,
    /// Operation id in the OpenAPI document.
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) handler: MethodRouter<Arc<App>>,
    pub(super) request: Option<SchemaOf>,
    pub(super) query: Option<SchemaOf>,
    pub(super) reply: Option<SchemaOf>,
    /// Status of a success.
    pub(super) status: u16,
    /// Statuses of problems, beside those of all such routes.
    pub(super) problems: &'static [u16],
    /// True if requests may carry an `Idempotency-Key`.
    pub(super) takes_key: bool,
}

/// Function that makes the schema of a type.
pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

impl Route {
    /// Makes a route of the admin API that replies with JSON.
    pub(super) fn new<T: 'static>(
        filter: MethodFilter,
        method: Method,
        path: &'static str,
        (id, summary): (&'static str, &'static str),
        handler: impl Handler<T, Arc<App>>,
    ) -> Self {
        let admission = Admission {
            access: Access::Admin,
            kinds: &[JSON],
            has_session: path.starts_with("/v1/sessions/{id}"),
            always: false,
        };
        Self {
            method,
            path,
            admission,
            id,
            summary,
            handler: on(filter, handler),
            request: None,
            query: None,
            reply: None,
            status: 200,
            problems: &[],
            takes_key: false,
        }
    }

    pub(super) fn takes<T: JsonSchema>(self) -> Self {
        Self { request: Some(SchemaGenerator::subschema_for::<T>), ..self }
    }

    pub(super) fn queried_by<T: JsonSchema>(self) -> Self {
        Self { query: Some(T::json_schema), ..self }
    }

    pub(super) fn gives<T: JsonSchema>(self) -> Self {
        Self { reply: Some(SchemaGenerator::subschema_for::<T>), ..self }
    }

    pub(super) fn of_kinds(mut self, kinds: &'static [&'static str]) -> Self {
        self.admission.kinds = kinds;
        self.gives::<serde_json::Value>()
    }

    pub(super) fn open_to(mut self, access: Access) -> Self {
        self.admission.access = access;
        self
    }

    pub(super) fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub(super) fn problems(self, problems: &'static [u16]) -> Self {
        Self { problems, ..self }
    }

    pub(super) fn takes_key(self) -> Self {
        Self { takes_key: true, ..self }
    }

    pub(super) fn always(mut self) -> Self {
        self.admission.always = true;
        self
    }
}
