//! Handlers of routes. The types of their arguments and replies read requests, write responses, and describe both in
//! the OpenAPI document.
//!
//! The traits do what axum's extractors do, without futures: a handler is one synchronous function, so that a request can
//! be answered on its connection's thread.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Response};
use schemars::transform::RestrictFormats;
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};

use super::after::{After, Saved};
use super::app::App;
use super::incoming::{Format, Incoming};
use super::negotiate::{add_links, preferred_format};
use super::problem::{Problem, reply, text};
use super::request_types::{CandidateHead, CandidateRequest, MAX_OFFSET, MAX_PAGE_ITEMS, PageQuery};
use super::sessions::Slot;

/// Items on a page of a list, unless the request says otherwise.
const DEFAULT_PAGE_ITEMS: usize = 100;

/// The requests and replies of a route, as the document describes them.
#[derive(Default)]
pub(super) struct Operation {
    pub(super) parameters: Vec<Json>,
    pub(super) body: Option<Json>,
    pub(super) status: u16,
    /// The schema of a reply of JSON; a reply without content has none.
    pub(super) reply: Option<Json>,
    pub(super) headers: BTreeMap<&'static str, &'static str>,
}

/// The schemas that operations refer to.
pub(super) struct Schemas {
    requests: SchemaGenerator,
    replies: SchemaGenerator,
}

impl Schemas {
    pub(super) fn new() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = "/components/schemas".into();
                settings.meta_schema = None;
            })
        };
        Self {
            requests: settings().for_deserialize().into_generator(),
            replies: settings().for_serialize().into_generator(),
        }
    }

    /// All schemas that were referred to, by name.
    pub(super) fn finish(mut self) -> Map<String, Json> {
        let mut all = self.replies.take_definitions(false);
        all.extend(self.requests.take_definitions(false));
        // `uint64` and the like are no formats of JSON Schema.
        let mut formats = RestrictFormats::default();
        formats.infer_from_meta_schema = false;
        for schema in all.values_mut() {
            if let Ok(schema) = schema.try_into() {
                schemars::transform::Transform::transform(&mut formats, schema);
            }
        }
        all
    }
}

/// A part of a request.
pub(super) trait Extract: Sized {
    fn extract(request: &Incoming<'_>, slot: Option<&Arc<Slot>>) -> Result<Self, Problem>;

    fn describe(_operation: &mut Operation, _schemas: &mut Schemas) {}
}

/// A reply.
pub(super) trait Answer {
    fn into_response(self, request: &Incoming<'_>) -> Response<Body>;

    fn describe(operation: &mut Operation, schemas: &mut Schemas);
}

/// A function that answers the requests of a route. `A` holds the types of its arguments and its reply.
pub(super) trait Handle<A>: Send + Sync + 'static {
    fn handle(
        &self,
        app: &App,
        request: &Incoming<'_>,
        slot: Option<&Arc<Slot>>,
    ) -> Result<Response<Body>, Problem>;

    fn describe(schemas: &mut Schemas) -> Operation;
}

macro_rules! handle {
    ($($part:ident)*) => {
        impl<F, R, $($part),*> Handle<(R, $($part),*)> for F
        where
            F: Fn(&App, $($part),*) -> Result<R, Problem> + Send + Sync + 'static,
            R: Answer,
            $($part: Extract),*
        {
            fn handle(
                &self,
                app: &App,
                request: &Incoming<'_>,
                _slot: Option<&Arc<Slot>>,
            ) -> Result<Response<Body>, Problem> {
                Ok(self(app, $($part::extract(request, _slot)?),*)?.into_response(request))
            }

            fn describe(schemas: &mut Schemas) -> Operation {
                let mut operation = Operation::default();
                $($part::describe(&mut operation, schemas);)*
                R::describe(&mut operation, schemas);
                operation
            }
        }
    };
}

handle!();
handle!(A);
handle!(A B);

/// The session that the path names.
impl Extract for Arc<Slot> {
    fn extract(_request: &Incoming<'_>, slot: Option<&Arc<Slot>>) -> Result<Self, Problem> {
        slot.cloned().ok_or_else(|| Problem::new(500, "the route has no session"))
    }
}

/// The id in the path, decoded.
pub(super) struct PathId(pub(super) String);

impl Extract for PathId {
    fn extract(request: &Incoming<'_>, _slot: Option<&Arc<Slot>>) -> Result<Self, Problem> {
        Ok(Self(request.id.to_owned()))
    }
}

/// The body as JSON.
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned + JsonSchema> Extract for JsonBody<T> {
    fn extract(request: &Incoming<'_>, _slot: Option<&Arc<Slot>>) -> Result<Self, Problem> {
        request.json().map(Self)
    }

    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let schema = schemas.requests.subschema_for::<T>();
        let needed = schemas.requests.definitions().get(&*T::schema_name());
        let required = needed.is_some_and(|schema| schema.get("required").is_some());
        operation.body =
            Some(json!({"required": required, "content": {"application/json": {"schema": schema}}}));
    }
}

impl Extract for CandidateRequest {
    fn extract(request: &Incoming<'_>, _slot: Option<&Arc<Slot>>) -> Result<Self, Problem> {
        let CandidateHead { world, .. } = request.json()?;
        Ok(Self { world, text: request.body.to_vec(), gone: Arc::clone(request.gone) })
    }

    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        JsonBody::<CandidateHead>::describe(operation, schemas);
    }
}

/// A message of the Model Context Protocol, which the connection answers.
pub(super) struct McpMessage;

impl Extract for McpMessage {
    fn extract(_request: &Incoming<'_>, _slot: Option<&Arc<Slot>>) -> Result<Self, Problem> {
        Ok(Self)
    }

    fn describe(operation: &mut Operation, _schemas: &mut Schemas) {
        operation.body = Some(json!({"required": true, "content": {"application/json": {"schema": {}}}}));
    }
}

/// The query string. Of a name that is given twice the first value counts; unknown names are ignored.
pub(super) struct Query<T>(pub(super) T);

impl<T: DeserializeOwned + JsonSchema> Extract for Query<T> {
    fn extract(request: &Incoming<'_>, _slot: Option<&Arc<Slot>>) -> Result<Self, Problem> {
        let mut members = Map::new();
        for (name, value) in request.query()? {
            members.entry(name).or_insert_with(|| Json::from(value));
        }
        let read = serde_json::from_value(Json::Object(members));
        read.map(Self).map_err(|error| Problem::new(422, format!("the query string: {error}")))
    }

    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let schema = T::json_schema(&mut schemas.requests);
        for (name, schema) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
            operation.parameters.push(json!({"name": name, "in": "query", "schema": schema}));
        }
    }
}

/// A page of a list.
#[derive(Clone, Copy)]
pub(super) struct Page {
    pub(super) offset: usize,
    pub(super) limit: usize,
}

impl Extract for Page {
    fn extract(request: &Incoming<'_>, slot: Option<&Arc<Slot>>) -> Result<Self, Problem> {
        let Query(PageQuery { offset, limit }) = Query::extract(request, slot)?;
        let number = |name: &str, given: Option<String>, default: usize, most: usize| {
            let Some(text) = given else { return Ok(default) };
            let number = text.parse().ok().filter(|number| *number <= most);
            number.ok_or_else(|| {
                Problem::about(name, &format!("a whole number up to {most}"), format!("`{text}`"))
            })
        };
        let offset = number("offset", offset, 0, MAX_OFFSET)?;
        Ok(Self { offset, limit: number("limit", limit, DEFAULT_PAGE_ITEMS, MAX_PAGE_ITEMS)? })
    }

    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        Query::<PageQuery>::describe(operation, schemas);
    }
}

/// The format of a document that a request prefers, and the headers that say what its sender has.
pub(super) struct DocumentRequest {
    pub(super) format: Format,
    pub(super) headers: HeaderMap,
}

impl Extract for DocumentRequest {
    fn extract(request: &Incoming<'_>, _slot: Option<&Arc<Slot>>) -> Result<Self, Problem> {
        Ok(Self { format: preferred_format(request), headers: request.headers.clone() })
    }
}

/// A reply of JSON.
pub(super) struct Reply<T, const STATUS: u16 = 200> {
    body: T,
    after: After,
}

impl<T, const STATUS: u16> Reply<T, STATUS> {
    pub(super) fn new(body: T) -> Self {
        Self { body, after: After::default() }
    }

    pub(super) fn into_parts(self) -> (T, After) {
        (self.body, self.after)
    }

    /// A reply that waits until its event is on the disk.
    pub(super) fn saving(body: T, saved: Option<Saved>) -> Self {
        Self { body, after: After::saving(saved) }
    }
}

impl<T: Serialize + JsonSchema, const STATUS: u16> Answer for Reply<T, STATUS> {
    fn into_response(self, _request: &Incoming<'_>) -> Response<Body> {
        self.after.on(reply(STATUS, &self.body))
    }

    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        operation.status = STATUS;
        operation.reply = Some(schemas.replies.subschema_for::<T>().into());
    }
}

/// A reply without content.
pub(super) struct NoContent(pub(super) After);

impl Answer for NoContent {
    fn into_response(self, _request: &Incoming<'_>) -> Response<Body> {
        self.0.on(text(204, "application/json", String::new()))
    }

    fn describe(operation: &mut Operation, _schemas: &mut Schemas) {
        operation.status = 204;
    }
}

/// A response that was written as text, and that holds a `T`.
pub(super) struct Written<T>(Response<Body>, PhantomData<T>);

impl<T> Written<T> {
    pub(super) const fn new(response: Response<Body>) -> Self {
        Self(response, PhantomData)
    }
}

impl<T: JsonSchema> Answer for Written<T> {
    fn into_response(self, _request: &Incoming<'_>) -> Response<Body> {
        self.0
    }

    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        operation.status = 200;
        operation.reply = Some(schemas.replies.subschema_for::<T>().into());
    }
}

/// A page of a list of `total` items, with links to the pages beside it.
pub(super) struct Paged<A> {
    pub(super) answer: A,
    pub(super) page: Page,
    pub(super) total: usize,
}

impl<A: Answer> Answer for Paged<A> {
    fn into_response(self, request: &Incoming<'_>) -> Response<Body> {
        let Page { offset, limit } = self.page;
        add_links(self.answer.into_response(request), request.uri.path(), offset, limit, self.total)
    }

    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        A::describe(operation, schemas);
        operation.headers.insert("Link", "The pages beside this one, by rel next and prev.");
    }
}

/// A document, a file or text: its route says of which media types.
impl Answer for Response<Body> {
    fn into_response(self, _request: &Incoming<'_>) -> Response<Body> {
        self
    }

    fn describe(operation: &mut Operation, _schemas: &mut Schemas) {
        operation.status = 200;
        operation.reply = Some(json!({}));
    }
}
