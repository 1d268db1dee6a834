//! Sessions begin, part, go back to their start, and end.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Response;
use diorama_seeds::ending::Answers;
use diorama_seeds::value::Instant;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::App;
use super::after::{After, Saved};
use super::problem::{Problem, reply, text};
use super::sessions::{Live, Places, Slot, held, lock};
use super::step::unwritten;
use super::store::Event;
use super::surface::Incoming;
use super::tasks::TaskSpec;
use super::text::quoted;
use super::view;
use super::weight::Weight;
use super::worlds::Ready;
use crate::conversation::Conversation;
use crate::engine::tools::SearchVersion;
use crate::fault::{Faults, Rule};
use crate::session::{Session, SessionOptions};

/// Sessions that one request makes, at most.
pub(super) const MAX_COPIES: u32 = 10_000;
/// The longest lease: 400 days.
pub(super) const MAX_LEASE_S: u64 = 34_560_000;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Create {
    world: Option<String>,
    seed: Option<u64>,
    clock: Option<String>,
    faults: Option<Vec<Json>>,
    task: Option<String>,
    n: Option<u32>,
    lease_seconds: Option<u64>,
    search: Option<String>,
    answers: Answers,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Fork {
    n: Option<u32>,
    at: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Clock {
    clock: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Heartbeat {
    lease_seconds: Option<u64>,
}

impl App {
    pub(super) fn create(&self, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let asked: Create = request.json()?;
        let copies = copies(asked.n)?;
        let places = self.sessions.reserve(copies as usize)?;
        let faults = faults(asked.faults.unwrap_or_default())?;
        let search = asked.search.as_deref().map(search_version).transpose()?;
        let usual = self.settings.lease.map_or(0, |lease| lease.as_millis().try_into().unwrap_or(u64::MAX));
        let lease_ms = lease_ms(asked.lease_seconds)?.unwrap_or(usual);
        let (world, task) = self.setting(asked.task.as_deref(), asked.world.as_deref())?;
        known_apis(&faults, &world)?;
        let clock = match &asked.clock {
            Some(text) => Some(moment(&world, text)?),
            None => task.as_ref().map(|task| task.clock),
        };
        let options = SessionOptions {
            seed: asked.seed.or_else(|| task.as_ref().map(|task| task.seed)).unwrap_or(0),
            clock,
            visible: task.as_ref().map(|task| task.visible.clone()),
            search: search.or_else(|| task.as_ref().map(|task| task.search)),
        };
        let session = Session::new(Arc::clone(&world.base), options).with_faults(faults).with_brief_log();
        let new = (0..copies).map(|_| {
            let weight = Weight::new(Arc::clone(&self.scale));
            let mut live = Live::new(Arc::clone(&world), session.fork(), task.clone(), lease_ms, weight)?;
            live.said = Conversation::new(asked.answers);
            Ok(live)
        });
        let new = new.collect::<Result<Vec<_>, Problem>>()?;
        let saved = match &self.store {
            Some(store) => store.create(&new).map_err(|error| unwritten(&error))?,
            None => None,
        };
        self.add(places, new, saved)
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
        let unknown = || Problem::about("task", expected, quoted(id, 60));
        let tasks = self.tasks.as_ref().ok_or_else(unknown)?;
        let found = tasks.task(id).map_err(|error| Problem::new(500, format!("task {id}: {error}")))?;
        let task = found.ok_or_else(unknown)?;
        if let Some(world) = world
            && world != task.world
        {
            return Err(Problem::about(
                "world",
                &format!("`{}`, the task's, or nothing", task.world),
                quoted(world, 60),
            ));
        }
        Ok((self.worlds.of_task(&task), Some(Arc::new(task))))
    }

    /// Adds sessions, and says how to reach them.
    fn add(
        &self,
        places: Places<'_>,
        new: Vec<Live>,
        saved: Option<Saved>,
    ) -> Result<Response<Body>, Problem> {
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
        places.take(new, self.now_ms());
        self.metrics.created(made);
        Ok(After::saving(saved).on(reply(201, &shown)))
    }

    pub(super) fn fork(&self, slot: &Slot, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let asked: Fork = request.json()?;
        let copies = copies(asked.n)?;
        let places = self.sessions.reserve(copies as usize)?;
        let (forks, saved) = {
            let mut live = held(slot)?;
            if asked.at.is_some() {
                self.recall(&mut live)?;
            }
            let mut first = live.fork(asked.at)?;
            let more = (1..copies).map(|_| first.fork(None)).collect::<Result<Vec<_>, _>>()?;
            let mut forks: Vec<Live> = std::iter::once(first).chain(more).collect();
            let saved = match &self.store {
                Some(store) => {
                    store.fork(&mut live, asked.at, &mut forks).map_err(|error| unwritten(&error))?
                }
                None => None,
            };
            (forks, saved)
        };
        self.add(places, forks, saved)
    }

    pub(super) fn show_session(&self, slot: &Slot) -> Response<Body> {
        let live = lock(slot);
        reply(200, &view::session(&live, &self.base_url(&live.id)))
    }

    pub(super) fn delete(&self, slot: &Slot) -> Result<Response<Body>, Problem> {
        let saved = self.close(slot)?;
        Ok(After::saving(saved).on(text(204, "application/json", String::new())))
    }

    /// Ends a session. A request that is at it is let finish, and those that wait for it find it gone: nothing is
    /// written down of it any more.
    pub(super) fn close(&self, slot: &Slot) -> Result<Option<Saved>, Problem> {
        let mut live = held(slot)?;
        let saved = match &self.store {
            Some(store) => store.forget(&live).map_err(|error| unwritten(&error))?,
            None => None,
        };
        live.gone = true;
        self.sessions.remove(&live.id)?;
        Ok(saved)
    }

    pub(super) fn reset(&self, slot: &Slot) -> Result<Response<Body>, Problem> {
        let mut live = held(slot)?;
        let saved = match &self.store {
            Some(store) => store.reset(&live).map_err(|error| unwritten(&error))?,
            None => None,
        };
        live.reset();
        Ok(After::saving(saved).on(reply(200, &view::session(&live, &self.base_url(&live.id)))))
    }

    pub(super) fn set_clock(&self, slot: &Slot, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let asked: Clock = request.json()?;
        let mut live = lock(slot);
        live.takes_calls(&self.settings, &self.scale)?;
        let clock = moment(&live.world, &asked.clock)?;
        let saved = self.note(&mut live, &Event::Clock(clock.0))?;
        live.session.set_clock(clock);
        Ok(After::saving(saved).on(reply(200, &view::session(&live, &self.base_url(&live.id)))))
    }

    /// The lease begins anew with every request; this one can also change how long it is.
    pub(super) fn heartbeat(&self, slot: &Slot, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let asked: Heartbeat = request.json()?;
        let mut live = held(slot)?;
        let mut saved = None;
        if let Some(lease_ms) = lease_ms(asked.lease_seconds)? {
            let before = std::mem::replace(&mut live.lease_ms, lease_ms);
            if let Some(store) = &self.store {
                saved = store.renew(&live).map_err(|error| {
                    live.lease_ms = before;
                    unwritten(&error)
                })?;
            }
            slot.set_lease(lease_ms);
        }
        Ok(After::saving(saved).on(reply(200, &view::session(&live, &self.base_url(&live.id)))))
    }
}

fn copies(asked: Option<u32>) -> Result<u32, Problem> {
    let copies = asked.unwrap_or(1);
    if (1..=MAX_COPIES).contains(&copies) {
        return Ok(copies);
    }
    Err(Problem::about("n", &format!("a number from 1 to {MAX_COPIES}"), copies))
}

fn search_version(name: &str) -> Result<SearchVersion, Problem> {
    let expected = format!("one of {}", SearchVersion::ALL.map(SearchVersion::name).join(", "));
    SearchVersion::named(name).ok_or_else(|| Problem::about("search", &expected, quoted(name, 60)))
}

fn lease_ms(asked: Option<u64>) -> Result<Option<u64>, Problem> {
    match asked {
        Some(seconds) if seconds > MAX_LEASE_S => {
            let expected = format!("seconds, 0 (for ever) to {MAX_LEASE_S}");
            Err(Problem::about("lease_seconds", &expected, seconds))
        }
        asked => Ok(asked.map(|seconds| seconds * 1_000)),
    }
}

/// Rules one by one, so that an error says which is wrong.
fn faults(rules: Vec<Json>) -> Result<Faults, Problem> {
    let mut read: Vec<Rule> = Vec::with_capacity(rules.len());
    for (position, rule) in rules.into_iter().enumerate() {
        let rule = serde_json::from_value(rule);
        read.push(rule.map_err(|error| {
            Problem::new(422, format!("`faults[{position}]`: {error}")).with("parameter", "faults")
        })?);
    }
    Faults::new(read).map_err(|error| Problem::new(422, error.to_string()).with("parameter", "faults"))
}

fn known_apis(faults: &Faults, world: &Ready) -> Result<(), Problem> {
    for (position, rule) in faults.rules().iter().enumerate() {
        for name in rule.apis.iter().flatten() {
            if world.base.api_named(name).is_none() {
                let shown: String = name.chars().take(60).collect();
                let expected = "names of the world's APIs; see GET /v1/worlds/{id}";
                return Err(Problem::about(
                    &format!("faults[{position}].apis"),
                    expected,
                    format!("`{shown}`"),
                ));
            }
        }
    }
    Ok(())
}

fn moment(world: &Ready, text: &str) -> Result<Instant, Problem> {
    let found = world.world().zone.parse_instant(text);
    let shown: String = text.chars().take(60).collect();
    found.ok_or_else(|| Problem::about("clock", "a date-time such as 2026-03-02T09:00", format!("`{shown}`")))
}
