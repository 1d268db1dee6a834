//! The experimenter's surface: worlds, sessions, what happened in them.

use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::Response;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::App;
use super::problem::{Problem, reply, text};
use super::sessions::{Live, lock};
use super::surface::Incoming;
use super::tasks::TaskSpec;
use super::view;
use super::worlds::{Ready, Served};
use crate::search::ApiQuery;
use crate::session::{Session, SessionOptions};

/// Sessions that one request makes, at most.
const MAX_COPIES: u32 = 1_000;
/// Items on a page of a list, at most.
const MAX_PAGE: usize = 1_000;
/// Items on a page of a list, unless told otherwise.
const PAGE: usize = 100;
/// Hits of a search, unless told otherwise.
const HITS: usize = 5;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Create {
    world: Option<String>,
    seed: Option<u64>,
    clock: Option<String>,
    faults: Option<Json>,
    task: Option<String>,
    n: Option<u32>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Fork {
    n: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Clock {
    clock: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
    #[serde(default)]
    k: Option<usize>,
    #[serde(default)]
    world: Option<String>,
}

impl App {
    pub(super) fn create(&self, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let asked: Create = request.json()?;
        let copies = copies(asked.n)?;
        if asked.faults.as_ref().is_some_and(|faults| !is_empty(faults)) {
            return Err(Problem::about("faults", "nothing: this version injects no faults", "some"));
        }
        let (world, task) = self.setting(asked.task.as_deref(), asked.world.as_deref())?;
        let clock = match &asked.clock {
            Some(text) => Some(moment(&world, text)?),
            None => task.as_ref().map(|task| task.clock),
        };
        let options = SessionOptions {
            seed: asked.seed.or_else(|| task.as_ref().map(|task| task.seed)).unwrap_or(0),
            clock,
            visible: task.as_ref().map(|task| task.visible.clone()),
        };
        let session = Session::new(Arc::clone(&world.base), options);
        let new = (0..copies).map(|_| Live::new(Arc::clone(&world), session.fork(), task.clone()));
        self.add(new.collect::<Result<_, _>>()?)
    }

    /// The world and the task of a new session.
    fn setting(
        &self,
        task: Option<&str>,
        world: Option<&str>,
    ) -> Result<(Arc<Ready>, Option<Arc<TaskSpec>>), Problem> {
        let Some(id) = task else {
            let served = world.map_or_else(|| self.worlds.only(), |name| self.worlds.named(name))?;
            return Ok((served.ready()?, None));
        };
        let expected = "the id of a task that GET /v1/tasks lists";
        let unknown =
            || Problem::about("task", expected, format!("`{}`", id.chars().take(60).collect::<String>()));
        let tasks = self.tasks.as_ref().ok_or_else(unknown)?;
        let found = tasks.task(id).map_err(|error| Problem::new(500, format!("task {id}: {error}")))?;
        let task = found.ok_or_else(unknown)?;
        if let Some(world) = world
            && world != task.world
        {
            return Err(Problem::about(
                "world",
                &format!("`{}`, the task's, or nothing", task.world),
                format!("`{world}`"),
            ));
        }
        Ok((self.worlds.of_task(&task), Some(Arc::new(task))))
    }

    /// Adds sessions, and says how to reach them.
    fn add(&self, new: Vec<Live>) -> Result<Response<Body>, Problem> {
        let access =
            |live: &Live| json!({"id": live.id, "base_url": self.base_url(&live.id), "token": live.token});
        let all: Vec<Json> = new.iter().map(access).collect();
        let first = new.first().ok_or_else(|| Problem::new(500, "no session was made"))?;
        let mut shown = view::session(first, &self.base_url(&first.id));
        if let Json::Object(shown) = &mut shown {
            shown.insert("token".to_owned(), json!(first.token));
            shown.insert("sessions".to_owned(), Json::Array(all));
        }
        let made = new.len();
        self.sessions.add(new)?;
        self.metrics.created(made);
        Ok(reply(201, &shown))
    }

    pub(super) fn fork(&self, live: &Mutex<Live>, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let copies = copies(request.json::<Fork>()?.n)?;
        let forks = {
            let live = lock(live);
            (0..copies).map(|_| live.fork()).collect::<Result<_, _>>()?
        };
        self.add(forks)
    }

    pub(super) fn show_session(&self, live: &Mutex<Live>) -> Response<Body> {
        let live = lock(live);
        reply(200, &view::session(&live, &self.base_url(&live.id)))
    }

    pub(super) fn delete(&self, id: &str) -> Result<Response<Body>, Problem> {
        self.sessions.remove(id)?;
        Ok(text(204, "application/json", String::new()))
    }

    pub(super) fn reset(&self, live: &Mutex<Live>) -> Response<Body> {
        lock(live).reset();
        self.show_session(live)
    }

    pub(super) fn set_clock(
        &self,
        live: &Mutex<Live>,
        request: &Incoming<'_>,
    ) -> Result<Response<Body>, Problem> {
        let asked: Clock = request.json()?;
        {
            let mut live = lock(live);
            live.takes_calls()?;
            let clock = moment(&live.world, &asked.clock)?;
            live.session.set_clock(clock);
        }
        Ok(self.show_session(live))
    }

    pub(super) fn list_worlds(&self) -> Response<Body> {
        let worlds: Vec<Json> = self.worlds.all().iter().map(in_short).collect();
        reply(200, &json!({"worlds": worlds}))
    }

    pub(super) fn show_world(&self, id: &str) -> Result<Response<Body>, Problem> {
        let missing = |_| {
            Problem::new(
                404,
                format!(
                    "no world has the name `{}`; see /v1/worlds",
                    id.chars().take(60).collect::<String>()
                ),
            )
        };
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
        let offset = request.number("offset", 0, usize::MAX)?;
        let limit = request.number("limit", PAGE, MAX_PAGE)?;
        let (total, tasks) = match &self.tasks {
            Some(tasks) => (tasks.count(), tasks.list(offset, limit)),
            None => (0, Vec::new()),
        };
        Ok(reply(200, &json!({"total": total, "offset": offset, "tasks": tasks})))
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
        let query = ApiQuery { text: &asked.query, k, world: asked.world.as_deref() };
        let hits = self.search.search(query).map_err(|error| Problem::new(500, error.to_string()))?;
        Ok(reply(200, &json!({"hits": hits})))
    }
}

/// Records of a session.
pub(super) fn state(live: &Mutex<Live>, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
    let live = lock(live);
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
pub(super) fn diff(live: &Mutex<Live>) -> Response<Body> {
    let live = lock(live);
    reply(200, &json!({"changes": view::changes(live.world.world(), &live.session.diff())}))
}

/// A page of a session's calls.
pub(super) fn log(live: &Mutex<Live>, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
    let offset = request.number("offset", 0, usize::MAX)?;
    let limit = request.number("limit", PAGE, MAX_PAGE)?;
    let live = lock(live);
    let world = live.world.world();
    let entries = live.session.log().enumerate().skip(offset).take(limit);
    let calls: Vec<Json> = entries.map(|(position, entry)| view::entry(world, position, entry)).collect();
    Ok(reply(200, &json!({"total": live.session.log().len(), "offset": offset, "calls": calls})))
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

fn copies(asked: Option<u32>) -> Result<u32, Problem> {
    let copies = asked.unwrap_or(1);
    if (1..=MAX_COPIES).contains(&copies) {
        return Ok(copies);
    }
    Err(Problem::about("n", &format!("a number from 1 to {MAX_COPIES}"), copies))
}

fn moment(world: &Ready, text: &str) -> Result<diorama_seeds::value::Instant, Problem> {
    let found = world.world().zone.parse_instant(text);
    let shown: String = text.chars().take(60).collect();
    found.ok_or_else(|| Problem::about("clock", "a date-time such as 2026-03-02T09:00", format!("`{shown}`")))
}

fn is_empty(json: &Json) -> bool {
    match json {
        Json::Null => true,
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    }
}
