//! Owns the page of the data flow in a world: for each resource, the APIs that show its keys, and those that
//! need one.

use diorama_seeds::model::{Api, ResourceId, World};
use diorama_seeds::schema::refers_to;
use maud::{Markup, html};

use crate::answer::{Answer, Page, Section};
use crate::pieces::{crumbs, short};
use crate::visit::Visit;
use crate::worlds_page::find_world;

/// Maximum number of drawn lines of a world.
const MAX_LINES: usize = 400;
/// Maximum length of a name in the picture, in characters.
const MAX_LABEL_CHARS: usize = 36;
/// Height of a line in the picture, in pixels.
const LINE_HEIGHT: usize = 22;
/// Horizontal positions in the picture, in pixels: the end of the names on the left, the name of the
/// resource, and the start of the names on the right.
const LEFT: usize = 300;
const MIDDLE: usize = 450;
const RIGHT: usize = 600;
/// Width of the picture, in pixels.
const WIDTH: usize = 900;
/// Distance of an edge from the name of the resource, in pixels.
const GAP: usize = 90;

/// A resource with the APIs around it.
struct Flow<'w> {
    resource: &'w str,
    producers: Vec<&'w Api>,
    consumers: Vec<&'w Api>,
}

impl Flow<'_> {
    fn lines(&self) -> usize {
        self.producers.len().max(self.consumers.len()).max(1)
    }
}

/// Shows the data flow of a world.
pub(crate) fn show(visit: &Visit<'_>, id: &str) -> Answer {
    let ready = find_world(visit, id)?.ready()?;
    let flows = flows(ready.world());
    let title = format!("Data flow in {id}");
    let mut lines = 0;
    let mut drawn: Vec<&Flow<'_>> = Vec::new();
    for flow in flows.iter().filter(|flow| flow.lines() <= MAX_LINES) {
        if lines + flow.lines() <= MAX_LINES {
            lines += flow.lines();
            drawn.push(flow);
        }
    }
    let link = |api: &Api| visit.links.page(&["worlds", id, "apis", &api.name]);
    let body = html! {
        (crumbs(&[(visit.links.page(&[]), "Worlds"), (visit.links.page(&["worlds", id]), id)]))
        h1 { "Data flow" }
        p { "APIs on the left show records of the resource in the middle. Those on the right take its key as an argument." }
        @if drawn.len() < flows.len() { p.hint { (flows.len() - drawn.len()) " resources are left out of the picture." } }
        div.scroll tabindex="0" role="region" aria-label="Picture" { (picture(&drawn, link)) }
        details { summary { "As a table" }
            table {
                thead { tr { th scope="col" { "Resource" } th scope="col" { "Shown by" } th scope="col" { "Taken by" } } }
                tbody { @for flow in &flows {
                    tr {
                        th scope="row" { (short(flow.resource)) }
                        @for apis in [&flow.producers, &flow.consumers] {
                            td { @for api in apis.iter() { a href=(link(api)) { (short(&api.name)) } " " } }
                        }
                    }
                } }
            }
        }
    };
    Ok(Page::reply(Section::Worlds, title, body))
}

/// Returns the resources of which some API takes a key.
fn flows(world: &World) -> Vec<Flow<'_>> {
    let ids = (0..world.resources.len()).map(|at| ResourceId(at as u16));
    let flow = |id: ResourceId| {
        let takes = |api: &&Api| api.parameters.iter().any(|given| refers_to(&given.schema.kind) == Some(id));
        let gives = |api: &&Api| api.behaviour.kind.shown() == Some(id) && !takes(api);
        Flow {
            resource: &world.resource(id).qualified,
            producers: world.apis.iter().filter(gives).collect(),
            consumers: world.apis.iter().filter(takes).collect(),
        }
    };
    ids.map(flow).filter(|flow| !flow.consumers.is_empty()).collect()
}

fn picture(flows: &[&Flow<'_>], link: impl Fn(&Api) -> String) -> Markup {
    let height = |flow: &Flow<'_>| (flow.lines() + 1) * LINE_HEIGHT;
    let tops = flows.iter().scan(0, |top, flow| {
        let own = *top;
        *top += height(flow);
        Some(own)
    });
    let tops: Vec<usize> = tops.collect();
    let whole: usize = flows.iter().map(|flow| height(flow)).sum();
    let at = |top: usize, line: usize| top + LINE_HEIGHT * (line + 1);
    html! {
        svg.flow width=(WIDTH) height=(whole.max(LINE_HEIGHT)) role="group" aria-label="Data flow; the table below says the same" {
            @for (flow, top) in flows.iter().zip(tops) {
                @let centre = top + height(flow) / 2;
                text.resource x=(MIDDLE) y=(centre) text-anchor="middle" { (label(flow.resource)) }
                @for (line, api) in flow.producers.iter().enumerate() {
                    a href=(link(api)) { text x=(LEFT) y=(at(top, line)) text-anchor="end" { (label(&api.name)) } }
                    line x1=(LEFT + 6) y1=(at(top, line) - 5) x2=(MIDDLE - GAP) y2=(centre - 5) {}
                }
                @for (line, api) in flow.consumers.iter().enumerate() {
                    a href=(link(api)) { text x=(RIGHT) y=(at(top, line)) { (label(&api.name)) } }
                    line x1=(MIDDLE + GAP) y1=(centre - 5) x2=(RIGHT - 6) y2=(at(top, line) - 5) {}
                }
            }
        }
    }
}

/// Returns a name that fits beside the picture's edges.
fn label(name: &str) -> String {
    match name.char_indices().nth(MAX_LABEL_CHARS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}
