//! A route of the server itself: who may use it, what answers it, and how the OpenAPI document describes it.

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::app::App;
use super::incoming::{Access, Incoming};
use super::problem::Answer;
use super::sessions::Slot;

/// A route of the server itself.
pub(super) struct Route {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) access: Access,
    /// The operation's id in the OpenAPI document.
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) handler: Handler,
    pub(super) request: Option<Described>,
    pub(super) query: Option<Described>,
    pub(super) reply: Option<Described>,
    /// The status of a success.
    pub(super) status: u16,
    /// The media types of its replies.
    pub(super) kinds: &'static [&'static str],
    /// Statuses of problems, beside those that all such routes have.
    pub(super) problems: &'static [u16],
    pub(super) cost: Cost,
    /// True if requests may carry an `Idempotency-Key`.
    pub(super) takes_key: bool,
    /// True if it is answered however much the server holds: it tells of the server, or makes room.
    pub(super) always: bool,
}

/// The schema of a type.
pub(super) type Described = fn(&mut SchemaGenerator) -> Schema;

/// A function that answers requests.
pub(super) enum Handler {
    Server(fn(&App, &Incoming<'_>) -> Answer),
    /// The path names a session.
    Session(fn(&App, &Slot, &Incoming<'_>) -> Answer),
}

/// How much work a route is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cost {
    /// Microseconds.
    Quick,
    /// Microseconds, with a reply that may be large.
    QuickLarge,
    Slow,
    /// The reply may be large.
    SlowLarge,
    /// A message of the Model Context Protocol, which has a service of its own.
    Mcp,
}

impl Cost {
    pub(super) const fn is_quick(self) -> bool {
        matches!(self, Self::Quick | Self::QuickLarge)
    }

    pub(super) const fn is_large(self) -> bool {
        matches!(self, Self::QuickLarge | Self::SlowLarge)
    }
}

impl Route {
    /// A route of the admin API that replies with JSON.
    pub(super) const fn new(
        method: &'static str,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        handler: Handler,
    ) -> Self {
        Self {
            method,
            path,
            access: Access::Admin,
            id,
            summary,
            handler,
            request: None,
            query: None,
            reply: None,
            status: 200,
            kinds: &["application/json"],
            problems: &[],
            cost: Cost::Slow,
            takes_key: false,
            always: false,
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

    pub(super) fn of_kinds(self, kinds: &'static [&'static str]) -> Self {
        Self { kinds, ..self.gives::<serde_json::Value>() }
    }

    pub(super) fn open_to(self, access: Access) -> Self {
        Self { access, ..self }
    }

    pub(super) fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub(super) fn problems(self, problems: &'static [u16]) -> Self {
        Self { problems, ..self }
    }

    pub(super) fn cost(self, cost: Cost) -> Self {
        Self { cost, ..self }
    }

    pub(super) fn takes_key(self) -> Self {
        Self { takes_key: true, ..self }
    }

    pub(super) fn always(self) -> Self {
        Self { always: true, ..self }
    }

    /// Returns true if its path names a session.
    pub(super) const fn has_session(&self) -> bool {
        matches!(self.handler, Handler::Session(_))
    }
}
