//! Owns the routes of the worlds and tasks that the server serves.

use std::sync::Arc;

use axum::extract::{OriginalUri, State};
use axum::response::IntoResponse as _;
use diorama_sessions::{Kind, Problem, ServedWorld, quoted};

use crate::http::answer::{Answer, Reply};
use crate::http::app::{App, run_blocking};
use crate::http::extract::{Name, Page};
use crate::http::negotiate::add_links;
use crate::http::reply_types::{ApiSummary, ResourceSummary, TaskList, WorldDetail, WorldList, WorldSummary};

/// Lists the worlds.
pub(in crate::http) async fn list(State(app): State<Arc<App>>) -> Reply<WorldList> {
    Reply::ok(WorldList { worlds: app.sessions.worlds().all().iter().map(summary).collect() })
}

/// Shows a world's APIs and resources.
pub(in crate::http) async fn show(State(app): State<Arc<App>>, Name(id): Name) -> Answer<Reply<WorldDetail>> {
    run_blocking(move || {
        let missing = |_| {
            let detail = format!("no world has the name {}; see /v1/worlds", quoted(&id, 60));
            Problem::new(Kind::NotFound, detail)
        };
        detail(app.sessions.worlds().named(&id).map_err(missing)?).map(Reply::ok)
    })
    .await
}

fn detail(served: &ServedWorld) -> Result<WorldDetail, Problem> {
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
    Ok(WorldDetail { id, title, domains, resources, apis, seed, benchmark, hash })
}

/// Lists the tasks, in pages.
pub(in crate::http) async fn list_tasks(
    State(app): State<Arc<App>>,
    page: Page,
    OriginalUri(uri): OriginalUri,
) -> Answer {
    run_blocking(move || {
        let (total, tasks) = match app.sessions.tasks() {
            Some(tasks) => (tasks.count(), tasks.list(page.offset, page.limit)),
            None => (0, Vec::new()),
        };
        let list = Reply::ok(TaskList { total, offset: page.offset, tasks });
        Ok(add_links(list.into_response(), uri.path(), page, total))
    })
    .await
}

fn summary(served: &ServedWorld) -> WorldSummary {
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
