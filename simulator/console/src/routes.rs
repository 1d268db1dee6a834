//! Owns the choice of the page for a request.

use axum::body::{Body, Bytes};
use axum::http::{Method, Request, Response};
use diorama_sessions::{Kind, PendingSteps, Problem};
use diorama_simulator::http::App;
use maud::html;

use crate::answer::{Answer, Page, Reply, Section, html as respond, redirect, wait};
use crate::assets::Asset;
use crate::console::Console;
use crate::layout::frame;
use crate::visit::Visit;
use crate::{
    access, call_form, compare_page, flow_page, rows_page, run_comparison_page, runs_page, session_page,
    sessions_page, state_page, worlds_page,
};

/// Answers a request with a page, the form that asks for the token, or a problem as a page.
pub(crate) fn answer(console: &Console, app: &App, request: &Request<Bytes>) -> Response<Body> {
    let visit = Visit::new(console, app, request);
    let path: Vec<&str> = visit.path.iter().map(String::as_str).collect();
    let changes = visit.method == Method::POST;
    if let (["assets", name], false) = (path.as_slice(), changes) {
        return Asset::named(name).map_or_else(|| refuse(&visit, &no_page()), |asset| asset.response());
    }
    if !changes && !matches!(*visit.method, Method::GET | Method::HEAD) {
        let detail = "found another method, expected GET, HEAD or POST";
        return refuse(&visit, &Problem::new(Kind::MethodNotAllowed, detail));
    }
    if changes && let Err(problem) = access::check_origin(visit.headers) {
        return refuse(&visit, &problem);
    }
    match path.as_slice() {
        ["sign-in"] if changes && access::has_token(&visit) => return access::sign_in(&visit),
        ["sign-in"] if changes => return ask_for_token(&visit, true),
        ["sign-out"] if changes => return access::sign_out(&visit),
        _ if !access::is_admitted(app, visit.headers) => return ask_for_token(&visit, false),
        _ => {}
    }
    let answered = if changes { change(&visit, &path) } else { show(&visit, &path) };
    match answered {
        Ok(Reply::Page(page)) => wait(write(&visit, 200, &page), page.after),
        Ok(Reply::Redirect(to, after)) => redirect(&to, after),
        Err(problem) => refuse(&visit, &problem),
    }
}

pub(crate) fn show(visit: &Visit<'_>, path: &[&str]) -> Answer {
    match path {
        [] if visit.has_sessions() => worlds_page::list(visit),
        [] if visit.console.runs().is_some() => runs_page::list(visit),
        [] => rows_page::list(visit),
        ["worlds", world] => worlds_page::world(visit, world),
        ["worlds", world, "flow"] => flow_page::show(visit, world),
        ["worlds", world, "resources", resource] => worlds_page::resource(visit, world, resource),
        ["worlds", world, "apis", api] => call_form::show(visit, world, api),
        ["sessions"] => sessions_page::list(visit),
        ["sessions", id] => session_page::show(visit, id),
        ["sessions", id, "state"] => state_page::show(visit, id),
        ["compare"] => compare_page::show(visit),
        ["rows"] => rows_page::list(visit),
        ["rows", id] => rows_page::row(visit, id),
        ["runs"] => runs_page::list(visit),
        ["runs", "compare"] => run_comparison_page::show(visit),
        ["runs", run] => runs_page::one(visit, run),
        ["runs", run, episode] => runs_page::episode(visit, run, episode),
        ["dataset"] => rows_page::dataset(visit),
        _ => Err(no_page()),
    }
}

fn change(visit: &Visit<'_>, path: &[&str]) -> Answer {
    match path {
        ["worlds", world, "apis", api] => call_form::call(visit, world, api),
        ["sessions"] => sessions_page::create(visit),
        ["sessions", id, "fork"] => session_page::fork(visit, id),
        ["sessions", id, "reset"] => session_page::reset(visit, id),
        ["sessions", id, "delete"] => session_page::delete(visit, id),
        ["sessions", id, "grade"] => session_page::grade(visit, id),
        ["sessions", id, "messages"] => session_page::say(visit, id),
        _ => Err(no_page()),
    }
}

fn no_page() -> Problem {
    Problem::new(Kind::NotFound, "no page has this address; the links above lead to those that there are")
}

fn ask_for_token(visit: &Visit<'_>, is_wrong: bool) -> Response<Body> {
    let body = access::sign_in_form(visit, is_wrong);
    write(
        visit,
        401,
        &Page { title: "Sign in".to_owned(), section: Section::None, body, after: PendingSteps::default() },
    )
}

fn refuse(visit: &Visit<'_>, problem: &Problem) -> Response<Body> {
    let body = html! {
        h1 { "That did not work" }
        p.problem role="alert" { bdi { (problem.detail()) } }
    };
    let page =
        Page { title: "Problem".to_owned(), section: Section::None, body, after: PendingSteps::default() };
    write(visit, problem.status(), &page)
}

fn write(visit: &Visit<'_>, status: u16, page: &Page) -> Response<Body> {
    let signed_in = visit.app.control_token().is_some() && access::is_admitted(visit.app, visit.headers);
    respond(status, frame(visit, page, signed_in).into_string())
}
