//! Owns the pages of worlds: the list, the search among their APIs, and one world with its resources and
//! APIs.

use diorama_seeds::model::ResourceId;
use diorama_sessions::{Kind, Problem, ServedWorld, quoted};
use diorama_simulator::search::{ApiHit, ApiQuery, SearchBy};
use maud::{Markup, html};

use crate::answer::{Answer, Page, Section};
use crate::pieces::{Range, crumbs, pager, prose, records, short};
use crate::visit::Visit;

/// Maximum number of hits of a search.
const MAX_HITS: usize = 20;
/// Number of records on a page of a resource.
const RECORDS_PER_PAGE: usize = 50;
/// Number of worlds on a page.
const WORLDS_PER_PAGE: usize = 100;

/// Lists the worlds, or the hits of a search.
pub(crate) fn list(visit: &Visit<'_>) -> Answer {
    let query = visit.query.get("q");
    let by = visit.query.get("by").and_then(SearchBy::named).unwrap_or_default();
    let results = match query {
        Some(text) => hits(visit, text, by)?,
        None => worlds(visit)?,
    };
    let body = html! {
        h1 { "Worlds" }
        form.search role="search" method="get" action=(visit.links.page(&[])) {
            label for="q" { "Find APIs by what they do" }
            input #q type="search" name="q" value=[query] placeholder="book an appointment with a dentist"
                hx-get=(visit.links.page(&[])) hx-trigger="input changed delay:300ms, search" hx-target="#results"
                hx-select="#results" hx-swap="outerHTML" hx-include="closest form" hx-replace-url="true" hx-sync="this:replace";
            label for="by" { "Search by" }
            select #by name="by" {
                @for choice in SearchBy::ALL {
                    option value=(choice.name()) selected[choice == by] { (search_label(choice)) }
                }
            }
            button { "Search" }
        }
        section #results aria-live="polite" { (results) }
    };
    Ok(Page::reply(Section::Worlds, "Worlds", body))
}

const fn search_label(by: SearchBy) -> &'static str {
    match by {
        SearchBy::Words => "words",
        SearchBy::Meaning => "meaning",
        SearchBy::Fused => "words and meaning",
        SearchBy::FusedAndNeeds => "words, meaning and needs",
    }
}

fn worlds(visit: &Visit<'_>) -> Result<Markup, Problem> {
    let all = visit.app.sessions().worlds().all();
    let offset = visit.query.number("offset")?.unwrap_or(0);
    let range = Range { offset, limit: WORLDS_PER_PAGE, total: all.len() };
    Ok(html! {
        @if all.is_empty() { p.hint { "This server serves no world by name." } }
        @else {
            table {
                caption.sr { "Worlds" }
                thead { tr {
                    th scope="col" { "World" } th scope="col" { "Title" }
                    th.number scope="col" { "Resources" } th.number scope="col" { "APIs" } th scope="col" { "Benchmark" }
                } }
                tbody {
                    @for served in all.iter().skip(offset).take(WORLDS_PER_PAGE) {
                        @let world = served.source.source.world();
                        tr {
                            td { a href=(visit.links.page(&["worlds", &served.source.id])) { (short(&served.source.id)) } }
                            td { (short(&world.title)) }
                            td.number { (world.resources.len()) }
                            td.number { (world.apis.len()) }
                            td { @if world.benchmark { span.badge.warn { "benchmark" } } }
                        }
                    }
                }
            }
            (pager(&visit.links, &[], &[], range))
        }
    })
}

/// Reads one component of a hit's score.
type Part = fn(&ApiHit) -> Option<f32>;

fn hits(visit: &Visit<'_>, text: &str, by: SearchBy) -> Result<Markup, Problem> {
    let query = ApiQuery { text, k: MAX_HITS, by, ..ApiQuery::default() };
    let hits = visit.app.search().search(query);
    let hits = hits.map_err(|error| Problem::new(Kind::Failed, error.to_string()))?;
    let most = |part: Part| hits.iter().filter_map(part).fold(0.0_f32, f32::max);
    let parts: [(&str, Part); 4] = [
        ("words", |hit| hit.scores.lexical),
        ("meaning", |hit| hit.scores.embedding),
        ("fed by others", |hit| hit.scores.fed),
        ("needed", |hit| hit.scores.needed),
    ];
    Ok(html! {
        @if hits.is_empty() { p.hint { "No API fits these words." } }
        ol.hits {
            @for hit in &hits {
                li {
                    p { a href=(visit.links.page(&["worlds", &hit.world, "apis", &hit.api])) { strong { (hit.api) } } " "
                        span.hint { (hit.world) } }
                    p { (short(&hit.description)) }
                    dl.bars {
                        @for (name, part) in parts {
                            @if let Some(score) = part(hit) {
                                div {
                                    dt { (name) }
                                    dd { meter min="0" max=(most(part)) value=(score) aria-label=(format!("{name} of {}", hit.api)) {} span { (format!("{score:.3}")) } }
                                }
                            }
                        }
                    }
                    @if let Some(by) = &hit.scores.needed_by { p.hint { "needed by " (by) } }
                }
            }
        }
    })
}

/// Returns the world with a name, or the problem for the page.
pub(crate) fn find_world<'a>(visit: &Visit<'a>, id: &str) -> Result<&'a ServedWorld, Problem> {
    let missing = |_| Problem::new(Kind::NotFound, format!("no world has the name {}", quoted(id, 60)));
    visit.app.sessions().worlds().named(id).map_err(missing)
}

/// Shows a world's resources and APIs.
pub(crate) fn world(visit: &Visit<'_>, id: &str) -> Answer {
    let ready = find_world(visit, id)?.ready()?;
    let world = ready.world();
    let many = world.domains.len() > 1;
    let body = html! {
        (crumbs(&[(visit.links.page(&[]), "Worlds")]))
        h1 { (short(&world.title)) }
        p.hint { "World " code { (id) } ", hash " code { (ready.hash.get(..12).unwrap_or(&ready.hash)) } }
        @for domain in world.domains.iter().filter(|domain| !domain.description.is_empty()) { (prose(&domain.description)) }
        form.inline method="post" action=(visit.links.page(&["sessions"])) {
            input type="hidden" name="world" value=(id);
            button { "New session" }
        }
        h2 { "Resources" }
        table {
            caption.sr { "Resources" }
            thead { tr { th scope="col" { "Resource" } th scope="col" { "Description" } th scope="col" { "Key" } th.number scope="col" { "Fields" } th.number scope="col" { "Records" } } }
            tbody {
                @for resource in &world.resources {
                    tr {
                        td { a href=(visit.links.page(&["worlds", id, "resources", &resource.qualified])) { (resource.qualified) } }
                        td { (short(&resource.description)) }
                        td { code { (resource.field(resource.key).name) } }
                        td.number { (resource.fields.len()) }
                        td.number { (resource.records.len()) }
                    }
                }
            }
        }
        h2 { "APIs" }
        p { a href=(visit.links.page(&["worlds", id, "flow"])) { "Data flow" } }
        table {
            caption.sr { "APIs" }
            thead { tr { th scope="col" { "API" } th scope="col" { "Request" } @if many { th scope="col" { "Domain" } } th scope="col" { "Description" } } }
            tbody {
                @for api in &world.apis {
                    @let domain = world.domains.get(api.domain.index());
                    tr {
                        td { a href=(visit.links.page(&["worlds", id, "apis", &api.name])) { (api.name) } }
                        td { code.path { (api.method.as_str()) " " (domain.map_or("", |domain| &*domain.base_path)) (api.path) } }
                        @if many { td { (domain.map_or("", |domain| &*domain.name)) } }
                        td { (short(&api.description)) }
                    }
                }
            }
        }
    };
    Ok(Page::reply(Section::Worlds, &*world.title, body))
}

/// Shows the initial records of a resource.
pub(crate) fn resource(visit: &Visit<'_>, id: &str, name: &str) -> Answer {
    let ready = find_world(visit, id)?.ready()?;
    let world = ready.world();
    let declared = world.resource(resource_id(world, name)?);
    let offset = visit.query.number("offset")?.unwrap_or(0);
    let range = Range { offset, limit: RECORDS_PER_PAGE, total: declared.records.len() };
    let shown = declared.records.iter().skip(offset).take(RECORDS_PER_PAGE).map(|record| (record, None));
    let body = html! {
        (crumbs(&[(visit.links.page(&[]), "Worlds"), (visit.links.page(&["worlds", id]), id)]))
        h1 { (declared.qualified) }
        @if !declared.description.is_empty() { (prose(&declared.description)) }
        (records(declared, &world.zone, &format!("Records of {}", declared.qualified), shown))
        (pager(&visit.links, &["worlds", id, "resources", name], &[], range))
    };
    Ok(Page::reply(Section::Worlds, &*declared.qualified, body))
}

/// Returns the resource with a name.
pub(crate) fn resource_id(world: &diorama_seeds::model::World, name: &str) -> Result<ResourceId, Problem> {
    let missing = || Problem::new(Kind::NotFound, format!("the world has no resource {}", quoted(name, 60)));
    world.resource_named(name).ok_or_else(missing)
}
