//! The admin's surface: worlds, sessions, what happened in them.

use axum::body::Body;
use axum::http::Response;
use diorama_seeds::model::Method;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::App;
use super::negotiate::pages;
use super::problem::{Problem, reply, text};
use super::sessions::{Slot, lock};
use super::surface::Incoming;
use super::text::quoted;
use super::view;
use super::worlds::Served;
use crate::search::{ApiQuery, SearchBy};

/// Items on a page of a list, at most.
const MAX_PAGE: usize = 1_000;
/// The first item of a page, at most: what JSON readers can count to.
const MAX_OFFSET: usize = i64::MAX as usize;
/// Items on a page of a list, unless told otherwise.
const PAGE: usize = 100;
/// Hits of a search, unless told otherwise.
const HITS: usize = 5;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
    #[serde(default)]
    k: Option<usize>,
    #[serde(default)]
    world: Option<String>,
    #[serde(default)]
    domain: Option<String>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    by: Option<String>,
}

impl App {
    pub(super) fn list_worlds(&self) -> Response<Body> {
        let worlds: Vec<Json> = self.worlds.all().iter().map(in_short).collect();
        reply(200, &json!({"worlds": worlds}))
    }

    pub(super) fn show_world(&self, id: &str) -> Result<Response<Body>, Problem> {
        let missing =
            |_| Problem::new(404, format!("no world has the name {}; see /v1/worlds", quoted(id, 60)));
        let served = self.worlds.named(id).map_err(missing)?;
        let ready = served.ready()?;
        let world = ready.world();
        let resources: Vec<Json> = world
            .resources
            .iter()
            .map(|resource| {
                json!({
                    "name": &*resource.qualified,
                    "description": &*resource.description,
                    "key": &*resource.field(resource.key).name,
                    "fields": resource.fields.iter().map(|field| &*field.name).collect::<Vec<_>>(),
                    "records": resource.records.len(),
                })
            })
            .collect();
        let apis: Vec<Json> = world
            .apis
            .iter()
            .map(|api| {
                let domain = world.domains.get(api.domain.index());
                json!({
                    "name": &*api.name,
                    "domain": domain.map(|domain| &*domain.name),
                    "method": api.method.as_str(),
                    "path": format!("{}{}", domain.map_or("", |domain| &*domain.base_path), api.path),
                    "description": &*api.description,
                })
            })
            .collect();
        let mut shown = in_short(served);
        if let Json::Object(shown) = &mut shown {
            shown.insert("hash".to_owned(), json!(ready.hash));
            shown.insert("resources".to_owned(), json!(resources));
            shown.insert("apis".to_owned(), json!(apis));
        }
        Ok(reply(200, &shown))
    }

    pub(super) fn list_tasks(&self, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let offset = request.number("offset", 0, MAX_OFFSET)?;
        let limit = request.number("limit", PAGE, MAX_PAGE)?;
        let (total, tasks) = match &self.tasks {
            Some(tasks) => (tasks.count(), tasks.list(offset, limit)),
            None => (0, Vec::new()),
        };
        let shown = reply(200, &json!({"total": total, "offset": offset, "tasks": tasks}));
        Ok(pages(shown, request, offset, limit, total))
    }

    pub(super) fn list_sessions(&self, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let offset = request.number("offset", 0, MAX_OFFSET)?;
        let limit = request.number("limit", PAGE, MAX_PAGE)?;
        let all = self.sessions.all();
        let shown: Vec<Json> = all
            .iter()
            .skip(offset)
            .take(limit)
            .map(|slot| {
                let live = lock(slot);
                view::session(&live, &self.base_url(&live.id))
            })
            .collect();
        let total = all.len();
        let shown = reply(200, &json!({"total": total, "offset": offset, "sessions": shown}));
        Ok(pages(shown, request, offset, limit, total))
    }

    /// A page of a session's calls.
    pub(super) fn log(&self, slot: &Slot, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let offset = request.number("offset", 0, MAX_OFFSET)?;
        let limit = request.number("limit", PAGE, MAX_PAGE)?;
        let mut live = lock(slot);
        self.recall(&mut live)?;
        let world = live.world.world();
        let total = live.session.calls();
        let mut room = self.room("the calls of this page");
        let mut page = format!("{{\"total\":{total},\"offset\":{offset},\"calls\":[");
        // One at a time: as trees, a page takes many times the memory of its text.
        for (entry, position) in live.session.log_from(offset).take(limit).zip(offset..) {
            let entry = view::entry(world, position, &entry).to_string();
            room.take(entry.len() as u64)?;
            if position > offset {
                page.push(',');
            }
            page.push_str(&entry);
        }
        page.push_str("]}");
        let shown = text(200, "application/json", page);
        Ok(pages(shown, request, offset, limit, total))
    }

    pub(super) fn find_apis(&self, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let asked: Search = request.json()?;
        if let Some(world) = &asked.world {
            self.worlds.named(world)?;
        }
        let k = asked.k.unwrap_or(HITS);
        if !(1..=MAX_PAGE).contains(&k) {
            return Err(Problem::about("k", &format!("a number from 1 to {MAX_PAGE}"), k));
        }
        let query = ApiQuery {
            text: &asked.query,
            k,
            world: asked.world.as_deref(),
            domain: asked.domain.as_deref(),
            method: asked.method.as_deref().map(method).transpose()?,
            by: asked.by.as_deref().map(search_by).transpose()?.unwrap_or_default(),
        };
        let hits = self.search.search(query).map_err(|error| Problem::new(500, error.to_string()))?;
        Ok(reply(200, &json!({"hits": hits})))
    }
}

fn method(name: &str) -> Result<Method, Problem> {
    let expected = "GET, POST, PUT, PATCH or DELETE";
    Method::parse(name).ok_or_else(|| Problem::about("method", expected, quoted(name, 20)))
}

fn search_by(name: &str) -> Result<SearchBy, Problem> {
    let names = SearchBy::ALL.map(SearchBy::name).join(", ");
    SearchBy::named(name).ok_or_else(|| Problem::about("by", &format!("one of {names}"), quoted(name, 20)))
}

/// Records of a session.
pub(super) fn state(slot: &Slot, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
    let live = lock(slot);
    let only = request.query("resource");
    if let Some(name) = &only
        && live.world.world().resource_named(name).is_none()
    {
        let names: Vec<&str> =
            live.world.world().resources.iter().map(|resource| &*resource.qualified).collect();
        return Err(Problem::about("resource", &format!("one of {}", names.join(", ")), format!("`{name}`")));
    }
    Ok(reply(200, &view::state(&live, only.as_deref())))
}

/// What differs from a session's start.
pub(super) fn diff(slot: &Slot) -> Response<Body> {
    let live = lock(slot);
    reply(200, &json!({"changes": view::changes(live.world.world(), &live.session.diff())}))
}

fn in_short(served: &Served) -> Json {
    let world = served.source.source.world();
    json!({
        "id": served.source.id,
        "title": &*world.title,
        "domains": world.domains.iter().map(|domain| &*domain.name).collect::<Vec<_>>(),
        "resources": world.resources.len(),
        "apis": world.apis.len(),
        "seed": served.source.seed,
        "benchmark": world.benchmark,
    })
}
