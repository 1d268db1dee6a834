//! A route of the server itself: who may use it, what answers it, how.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Response;

use super::app::App;
use super::handler::{Handle, Operation, Schemas};
use super::incoming::{Access, Incoming};
use super::problem::Problem;
use super::sessions::Slot;

type Handler =
    dyn Fn(&App, &Incoming<'_>, Option<&Arc<Slot>>) -> Result<Response<Body>, Problem> + Send + Sync;

/// A route of the server itself.
pub(super) struct Route {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) access: Access,
    /// The operation's id in the OpenAPI document.
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) handler: Box<Handler>,
    pub(super) describe: fn(&mut Schemas) -> Operation,
    /// The media types of its replies.
    pub(super) kinds: &'static [&'static str],
    /// Statuses of problems, beside those that follow from the types of its handler.
    pub(super) problems: &'static [u16],
    pub(super) cost: Cost,
    /// True if it is answered however much the server holds: it tells of the server, or makes room.
    pub(super) always: bool,
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
    pub(super) fn new<A, H: Handle<A>>(
        method: &'static str,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        handler: H,
    ) -> Self {
        Self {
            method,
            path,
            access: Access::Admin,
            id,
            summary,
            handler: Box::new(move |app, request, slot| handler.handle(app, request, slot)),
            describe: H::describe,
            kinds: &["application/json"],
            problems: &[],
            cost: Cost::Slow,
            always: false,
        }
    }

    pub(super) fn open_to(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    pub(super) fn kinds(mut self, kinds: &'static [&'static str]) -> Self {
        self.kinds = kinds;
        self
    }

    pub(super) fn problems(mut self, problems: &'static [u16]) -> Self {
        self.problems = problems;
        self
    }

    pub(super) fn cost(mut self, cost: Cost) -> Self {
        self.cost = cost;
        self
    }

    pub(super) fn always(mut self) -> Self {
        self.always = true;
        self
    }

    /// Returns true if its path names a session.
    pub(super) fn has_session(&self) -> bool {
        self.path.starts_with("/v1/sessions/{id}")
    }
}
