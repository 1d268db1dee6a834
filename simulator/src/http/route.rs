//! A route of the server itself: who may use it, what answers it, and how the OpenAPI document describes it.

pub(super) mod document;

use std::sync::Arc;

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::app::App;
use super::text::JSON;

/// The prefix under which the server's own routes always answer, also where a world at the root has paths of the same names.
pub(super) const RESERVED_PREFIX: &str = "/__diorama";

/// The callers that may use a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Anyone.
    Open,
    /// The agent under test, by the session's id: the agent API.
    Agent,
    /// The holder of the control token: the admin API.
    Admin,
}

/// The conditions of a route's requests.
#[derive(Clone, Copy)]
pub(super) struct Admission {
    pub(super) access: Access,
    /// The media types of its replies.
    pub(super) kinds: &'static [&'static str],
    /// True if its path names a session.
    pub(super) has_session: bool,
    /// True if it is answered however much the server holds: it tells of the server, or makes room.
    pub(super) always: bool,
}

/// A route of the server itself.
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) admission: Admission,
    /// The operation's id in the OpenAPI document.
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) handler: MethodRouter<Arc<App>>,
    pub(super) request: Option<SchemaOf>,
    pub(super) query: Option<SchemaOf>,
    pub(super) reply: Option<SchemaOf>,
    /// The status of a success.
    pub(super) status: u16,
    /// Statuses of problems, beside those that all such routes have.
    pub(super) problems: &'static [u16],
    /// True if requests may carry an `Idempotency-Key`.
    pub(super) takes_key: bool,
}

/// Makes the schema of a type.
pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

impl Route {
    /// Returns a route of the admin API that replies with JSON.
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
