//! Sessions begin, part, go back to their start, and end.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Response;
use diorama_seeds::value::Instant;
use serde_json::Value as Json;

use super::after::{After, Saved};
use super::app::App;
use super::creation::Creation;
use super::incoming::Incoming;
use super::problem::{Answer, Problem, reply, text};
use super::reply_types::{NewSessions, SessionAccess};
use super::request_types::{
    ClockRequest, CreateRequest, ForkRequest, HeartbeatRequest, MAX_COPIES, MAX_LEASE_SECONDS,
};
use super::sessions::{Live, Places, Reserved, Slot, held, lock};
use super::step::unwritten;
use super::store::{Event, Store};
use super::tasks::TaskSpec;
use super::text::quoted;
use super::view;
use super::weight::Weight;
use super::worlds::Ready;
use diorama_engine::fault::{Faults, Rule};
use diorama_engine::session::{Session, SessionOptions};
use diorama_engine::tools::SearchVersion;

impl App {
    pub(super) fn create(&self, request: &Incoming<'_>) -> Answer {
        let creation = Creation::from_request(request, None)?;
        let (made, after) = self.make_sessions(request.json()?, creation.as_ref())?;
        self.show_made(&made, after)
    }

    /// Makes the sessions that are asked for, or finds those that an earlier request of the same key made.
    pub(super) fn make_sessions(
        &self,
        request: CreateRequest,
        creation: Option<&Creation>,
    ) -> Result<(Vec<Arc<Slot>>, After), Problem> {
        let copies = copies(request.n)?;
        let places = match self.sessions.reserve(copies as usize, creation)? {
            Reserved::Free(places) => places,
            Reserved::Made(made) => return self.made_before(made),
        };
        let faults = faults(request.faults.unwrap_or_default())?;
        let search = request.search.as_deref().map(search_version).transpose()?;
        let usual = self.settings.lease.map_or(0, |lease| lease.as_millis().try_into().unwrap_or(u64::MAX));
        let lease_ms = lease_ms(request.lease_seconds)?.unwrap_or(usual);
        let (world, task) = self.setting(request.task.as_deref(), request.world.as_deref())?;
        known_apis(&faults, &world)?;
        let clock = match &request.clock {
            Some(text) => Some(clock_of(&world, text)?),
            None => task.as_ref().map(|task| task.clock),
        };
        let options = SessionOptions {
            seed: request.seed.or_else(|| task.as_ref().map(|task| task.seed)).unwrap_or(0),
            clock,
            visible: task.as_ref().map(|task| task.visible.clone()),
            search: search.or_else(|| task.as_ref().map(|task| task.search)),
            outages: task.as_ref().map(|task| task.outages.clone()).unwrap_or_default(),
        };
        let session = Session::new(Arc::clone(&world.base), options).with_faults(faults).with_brief_log();
        let new = (0..copies).map(|_| {
            let weight = Weight::new(Arc::clone(&self.scale));
            let live = Live::new(Arc::clone(&world), session.fork(), task.clone(), lease_ms, weight)?;
            live.on_node(self.settings.node())
        });
        let mut new = new.collect::<Result<Vec<_>, Problem>>()?;
        note_creation(&mut new, creation);
        let saved = match &self.store {
            Some(store) => store.create(&new).map_err(|error| unwritten(&error))?,
            None => None,
        };
        Ok((self.add(places, new), After::saving(saved)))
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

    fn add(&self, places: Places<'_>, new: Vec<Live>) -> Vec<Arc<Slot>> {
        self.metrics.created(new.len());
        places.take(new, self.now_ms())
    }

    /// The sessions that an earlier request of the same key made. That request may still wait for the disk.
    fn made_before(&self, made: Vec<Arc<Slot>>) -> Result<(Vec<Arc<Slot>>, After), Problem> {
        made.iter().for_each(|slot| slot.touch(self.now_ms()));
        let saved = self.store.as_ref().map(Store::saved).transpose().map_err(|error| unwritten(&error))?;
        Ok((made, After::saving(saved.flatten())))
    }

    /// Says how to reach sessions.
    fn show_made(&self, made: &[Arc<Slot>], after: After) -> Answer {
        let sessions = made.iter().map(|slot| self.access(&lock(slot))).collect();
        let first = made.first().ok_or_else(|| Problem::new(500, "no session was made"))?;
        let first = lock(first);
        let (token, first) = (first.token.clone(), view::session(&first, self.base_url(&first.id)));
        Ok(after.on(reply(201, &NewSessions { first, token, sessions })))
    }

    fn access(&self, live: &Live) -> SessionAccess {
        SessionAccess { id: live.id.clone(), base_url: self.base_url(&live.id), token: live.token.clone() }
    }

    pub(super) fn fork(&self, slot: &Slot, request: &Incoming<'_>) -> Answer {
        let creation = Creation::from_request(request, Some(request.id))?;
        let (made, after) = self.fork_sessions(slot, &request.json()?, creation.as_ref())?;
        self.show_made(&made, after)
    }

    /// Makes sessions that start where one is, or finds those that an earlier request of the same key made.
    pub(super) fn fork_sessions(
        &self,
        slot: &Slot,
        request: &ForkRequest,
        creation: Option<&Creation>,
    ) -> Result<(Vec<Arc<Slot>>, After), Problem> {
        let copies = copies(request.n)?;
        let places = match self.sessions.reserve(copies as usize, creation)? {
            Reserved::Free(places) => places,
            Reserved::Made(made) => return self.made_before(made),
        };
        let (forks, saved) = {
            let mut live = held(slot)?;
            if request.at.is_some() {
                self.recall(&mut live)?;
            }
            let mut first = live.fork(request.at)?;
            let more = (1..copies).map(|_| first.fork(None)).collect::<Result<Vec<_>, _>>()?;
            let mut forks: Vec<Live> = std::iter::once(first).chain(more).collect();
            note_creation(&mut forks, creation);
            let saved = match &self.store {
                Some(store) => {
                    store.fork(&mut live, request.at, &mut forks).map_err(|error| unwritten(&error))?
                }
                None => None,
            };
            (forks, saved)
        };
        Ok((self.add(places, forks), After::saving(saved)))
    }

    pub(super) fn show_session(&self, slot: &Slot, _: &Incoming<'_>) -> Answer {
        Ok(self.shown(&lock(slot), None))
    }

    /// The response that shows a session, once its event is on the disk.
    fn shown(&self, live: &Live, saved: Option<Saved>) -> Response<Body> {
        After::saving(saved).on(reply(200, &view::session(live, self.base_url(&live.id))))
    }

    pub(super) fn delete(&self, slot: &Slot, _: &Incoming<'_>) -> Answer {
        Ok(After::saving(self.close(slot)?).on(text(204, "application/json", String::new())))
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

    pub(super) fn reset(&self, slot: &Slot, _: &Incoming<'_>) -> Answer {
        let mut live = held(slot)?;
        let saved = match &self.store {
            Some(store) => store.reset(&live).map_err(|error| unwritten(&error))?,
            None => None,
        };
        live.reset();
        Ok(self.shown(&live, saved))
    }

    pub(super) fn set_clock(&self, slot: &Slot, request: &Incoming<'_>) -> Answer {
        let request: ClockRequest = request.json()?;
        let mut live = lock(slot);
        live.takes_calls(&self.settings, &self.scale)?;
        let clock = clock_of(&live.world, &request.clock)?;
        let saved = self.note(&mut live, &Event::Clock(clock.0))?;
        live.session.set_clock(clock);
        Ok(self.shown(&live, saved))
    }

    /// The lease begins anew with every request; this one can also change how long it is.
    pub(super) fn heartbeat(&self, slot: &Slot, request: &Incoming<'_>) -> Answer {
        let request: HeartbeatRequest = request.json()?;
        let mut live = held(slot)?;
        let mut saved = None;
        if let Some(lease_ms) = lease_ms(request.lease_seconds)? {
            let before = std::mem::replace(&mut live.lease_ms, lease_ms);
            if let Some(store) = &self.store {
                saved = store.renew(&live).map_err(|error| {
                    live.lease_ms = before;
                    unwritten(&error)
                })?;
            }
            slot.set_lease(lease_ms);
        }
        Ok(self.shown(&live, saved))
    }
}

/// Notes which request made these sessions, where it had a key.
fn note_creation(new: &mut [Live], creation: Option<&Creation>) {
    let Some(creation) = creation else { return };
    for (live, position) in new.iter_mut().zip(0..) {
        live.creation = Some(Arc::new(creation.with_position(position)));
    }
}

fn copies(given: Option<u32>) -> Result<u32, Problem> {
    let copies = given.unwrap_or(1);
    if (1..=MAX_COPIES).contains(&copies) {
        return Ok(copies);
    }
    Err(Problem::about("n", &format!("a number from 1 to {MAX_COPIES}"), copies))
}

fn search_version(name: &str) -> Result<SearchVersion, Problem> {
    let expected = format!("one of {}", SearchVersion::ALL.map(SearchVersion::name).join(", "));
    SearchVersion::named(name).ok_or_else(|| Problem::about("search", &expected, quoted(name, 60)))
}

fn lease_ms(given: Option<u64>) -> Result<Option<u64>, Problem> {
    match given {
        Some(seconds) if seconds > MAX_LEASE_SECONDS => {
            let expected = format!("seconds, 0 (for ever) to {MAX_LEASE_SECONDS}");
            Err(Problem::about("lease_seconds", &expected, seconds))
        }
        given => Ok(given.map(|seconds| seconds * 1_000)),
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

fn clock_of(world: &Ready, text: &str) -> Result<Instant, Problem> {
    let found = world.world().zone.parse_instant(text);
    let shown: String = text.chars().take(60).collect();
    found.ok_or_else(|| Problem::about("clock", "a date-time such as 2026-03-02T09:00", format!("`{shown}`")))
}
