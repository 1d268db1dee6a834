//! The admin API's lists and views: worlds, tasks, sessions, and what happened in them; the search for APIs.

use std::sync::atomic::Ordering::Relaxed;

use diorama_seeds::model::Method;
use serde_json::json;

use super::app::App;
use super::check::Prover;
use super::incoming::{Incoming, Page};
use super::negotiate::add_links;
use super::problem::{Answer, Problem, reply, text};
use super::reply_types::{
    ApiSummary, Diff, Health, ResourceSummary, SearchReply, SessionList, TaskList, WorldDetail, WorldList,
    WorldSummary,
};
use super::request_types::{CandidateHead, MAX_PAGE_ITEMS, SearchRequest, StateQuery};
use super::sessions::{Slot, lock};
use super::step::unwritten;
use super::store::Store;
use super::text::quoted;
use super::view;
use super::worlds::Served;
use crate::search::{ApiQuery, SearchBy};

/// Hits of a search, unless the request says otherwise.
const DEFAULT_HITS: usize = 5;

impl App {
    /// Has candidates held against worlds by this prover.
    pub fn prove_with(&self, prover: Box<dyn Prover>) {
        let _ = self.prover.set(prover);
    }

    /// Each gate's verdict on a candidate.
    pub(super) fn check(&self, request: &Incoming<'_>) -> Answer {
        let candidate: CandidateHead = request.json()?;
        let none = || Problem::new(404, "this server checks no candidates; use `diorama serve`");
        let prover = self.prover.get().ok_or_else(none)?;
        let served = match &candidate.world {
            Some(name) => self.worlds.named(name)?,
            None => self.worlds.only()?,
        };
        let ready = served.ready()?;
        let verdicts = prover.check(&ready.base, request.body, request.gone);
        let verdicts = verdicts.map_err(|error| Problem::new(422, error.to_string()))?;
        Ok(reply(200, &verdicts))
    }

    /// Says that the server answers.
    pub(super) fn health(&self, _: &Incoming<'_>) -> Answer {
        Ok(reply(200, &Health { status: "ok" }))
    }

    /// Says that the server takes requests.
    pub(super) fn readiness(&self, _: &Incoming<'_>) -> Answer {
        if self.ending.load(Relaxed) {
            return Err(Problem::new(503, "the server is ending; ask another").retry_after(1));
        }
        match self.store.as_ref().and_then(Store::ailing) {
            Some(error) => Err(unwritten(&error)),
            None => Ok(reply(200, &Health { status: "ready" })),
        }
    }

    /// The counts, as Prometheus reads them.
    pub(super) fn show_metrics(&self, _: &Incoming<'_>) -> Answer {
        let metrics = self.metrics.text(self.sessions.count(), &self.scale);
        Ok(text(200, "text/plain; version=0.0.4", metrics))
    }

    pub(super) fn list_worlds(&self, _: &Incoming<'_>) -> Answer {
        Ok(reply(200, &WorldList { worlds: self.worlds.all().iter().map(summary).collect() }))
    }

    pub(super) fn show_world(&self, request: &Incoming<'_>) -> Answer {
        let id = request.id;
        let missing =
            |_| Problem::new(404, format!("no world has the name {}; see /v1/worlds", quoted(id, 60)));
        let served = self.worlds.named(id).map_err(missing)?;
        let ready = served.ready()?;
        let world = ready.world();
        let resources = world.resources.iter().map(|resource| ResourceSummary {
            name: resource.qualified.to_string(),
            description: resource.description.to_string(),
            key: resource.field(resource.key).name.to_string(),
            fields: resource.fields.iter().map(|field| field.name.to_string()).collect(),
            records: resource.records.len(),
        });
        let apis = world.apis.iter().map(|api| {
            let domain = world.domains.get(api.domain.index());
            ApiSummary {
                name: api.name.to_string(),
                domain: domain.map(|domain| domain.name.to_string()),
                method: api.method.as_str(),
                path: format!("{}{}", domain.map_or("", |domain| &*domain.base_path), api.path),
                description: api.description.to_string(),
            }
        });
        let WorldSummary { id, title, domains, seed, benchmark, .. } = summary(served);
        let (resources, apis, hash) = (resources.collect(), apis.collect(), ready.hash.clone());
        Ok(reply(200, &WorldDetail { id, title, domains, resources, apis, seed, benchmark, hash }))
    }

    pub(super) fn list_tasks(&self, request: &Incoming<'_>) -> Answer {
        let page = request.page()?;
        let (total, tasks) = match &self.tasks {
            Some(tasks) => (tasks.count(), tasks.list(page.offset, page.limit)),
            None => (0, Vec::new()),
        };
        let list = reply(200, &TaskList { total, offset: page.offset, tasks });
        Ok(add_links(list, request, page, total))
    }

    pub(super) fn list_sessions(&self, request: &Incoming<'_>) -> Answer {
        let page = request.page()?;
        let all = self.sessions.all();
        let shown = all.iter().skip(page.offset).take(page.limit).map(|slot| {
            let live = lock(slot);
            view::session(&live, self.base_url(&live.id))
        });
        let total = all.len();
        let list = SessionList { total, offset: page.offset, sessions: shown.collect() };
        Ok(add_links(reply(200, &list), request, page, total))
    }

    /// A page of a session's calls.
    pub(super) fn show_log(&self, slot: &Slot, request: &Incoming<'_>) -> Answer {
        let page = request.page()?;
        let Page { offset, limit } = page;
        let mut live = lock(slot);
        self.recall(&mut live)?;
        let world = live.world.world();
        let total = live.session.calls();
        let mut room = self.room("the calls of this page");
        let mut shown = format!("{{\"total\":{total},\"offset\":{offset},\"calls\":[");
        // One at a time: as trees, a page takes many times the memory of its text.
        for (entry, position) in live.session.log_from(offset).take(limit).zip(offset..) {
            let entry = serde_json::to_string(&view::entry(world, position, &entry))
                .map_err(|error| Problem::new(500, format!("the call cannot be written: {error}")))?;
            room.take(entry.len() as u64)?;
            if position > offset {
                shown.push(',');
            }
            shown.push_str(&entry);
        }
        shown.push_str("]}");
        Ok(add_links(text(200, "application/json", shown), request, page, total))
    }

    pub(super) fn find_apis(&self, request: &Incoming<'_>) -> Answer {
        let request: SearchRequest = request.json()?;
        if let Some(world) = &request.world {
            self.worlds.named(world)?;
        }
        let k = request.k.unwrap_or(DEFAULT_HITS);
        if !(1..=MAX_PAGE_ITEMS).contains(&k) {
            return Err(Problem::about("k", &format!("a number from 1 to {MAX_PAGE_ITEMS}"), k));
        }
        let query = ApiQuery {
            text: &request.query,
            k,
            world: request.world.as_deref(),
            domain: request.domain.as_deref(),
            method: request.method.as_deref().map(method).transpose()?,
            by: request.by.as_deref().map(search_by).transpose()?.unwrap_or_default(),
        };
        let hits = self.search.search(query).map_err(|error| Problem::new(500, error.to_string()))?;
        Ok(reply(200, &SearchReply { hits: json!(hits) }))
    }

    /// Records of a session.
    pub(super) fn show_state(&self, slot: &Slot, request: &Incoming<'_>) -> Answer {
        let query: StateQuery = request.query()?;
        let live = lock(slot);
        let world = live.world.world();
        if let Some(name) = &query.resource
            && world.resource_named(name).is_none()
        {
            let names: Vec<&str> = world.resources.iter().map(|resource| &*resource.qualified).collect();
            let expected = format!("one of {}", names.join(", "));
            return Err(Problem::about("resource", &expected, format!("`{name}`")));
        }
        Ok(reply(200, &view::state(&live, query.resource.as_deref())))
    }

    /// The differences from a session's start.
    pub(super) fn show_diff(&self, slot: &Slot, _: &Incoming<'_>) -> Answer {
        let live = lock(slot);
        Ok(reply(200, &Diff { changes: view::changes(live.world.world(), &live.session.diff()) }))
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

fn summary(served: &Served) -> WorldSummary {
    let world = served.source.source.world();
    WorldSummary {
        id: served.source.id.clone(),
        title: world.title.to_string(),
        domains: world.domains.iter().map(|domain| domain.name.to_string()).collect(),
        resources: world.resources.len(),
        apis: world.apis.len(),
        seed: served.source.seed,
        benchmark: world.benchmark,
    }
}
