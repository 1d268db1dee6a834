//! Owns the tests of pages as a browser gets them: escaping, the headers that bound a page, the token, and
//! requests from other sites.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, Response};
use diorama_seeds::materialise::Source;
use diorama_sessions::WorldSource;
use diorama_simulator::http::{App, PAGES_PATH, Pages as _, Settings};

use crate::{
    Console, Count, DatasetSummary, Episode, EpisodeFilter, EpisodePage, EpisodePair, EpisodeSummary,
    ReadError, Row, RowFilter, RowPage, RowSummary, Rows, RunComparison, RunSummary, Runs, ShareInterval,
    Source as Origin, Speaker, Turn,
};

/// Text that would run, or reverse the following text, if it were not escaped.
const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}\"'&";

/// A world whose texts are all hostile.
const WORLD: &str = r#"
world: 1
name: hostile
title: "TEXT"
materialised: 0
clock: 2026-03-02T09:00
domain: {name: hostile, title: "TEXT", description: "TEXT"}
resources:
  note:
    key: note_id
    description: "TEXT"
    fields: {note_id: {type: integer}, text: {type: string, description: "TEXT"}}
    records: [{note_id: 1, text: "TEXT"}, {note_id: 2, text: "LONG"}]
apis:
  - name: GetNote
    method: GET
    path: /notes/{note_id}
    description: "TEXT"
    parameters: {note_id: {ref: note, description: "TEXT"}}
    behaviour: {get: note}
  - name: SetNote
    method: PATCH
    path: /notes/{note_id}
    description: "TEXT"
    parameters: {note_id: {ref: note}, text: {type: string}}
    behaviour: {patch: note}
"#;

/// One row whose texts are all hostile.
struct HostileRows;

impl Rows for HostileRows {
    fn summary(&self) -> DatasetSummary {
        let counts = vec![Count { name: HOSTILE.to_owned(), count: 1 }];
        DatasetSummary {
            name: HOSTILE.to_owned(),
            rows: 1,
            domains: counts.clone(),
            tags: counts.clone(),
            dropped: vec![(HOSTILE.to_owned(), counts)],
            ..DatasetSummary::default()
        }
    }

    fn find(&self, filter: &RowFilter<'_>, _: usize, _: usize) -> Result<RowPage, ReadError> {
        match filter.text {
            Some("broken") => Err(ReadError(HOSTILE.to_owned())),
            _ => Ok(RowPage { total: 1, rows: vec![row().summary] }),
        }
    }

    fn row(&self, id: &str) -> Result<Option<Row>, ReadError> {
        Ok((id == HOSTILE).then(row))
    }
}

/// One run whose texts are all hostile.
struct HostileRuns(Vec<RunSummary>);

impl HostileRuns {
    fn new() -> Self {
        let text = || HOSTILE.to_owned();
        let counts = vec![Count { name: text(), count: 1 }];
        let shares = vec![("Domain".to_owned(), vec![(text(), ShareInterval::default())])];
        let facts = vec![(text(), text())];
        let run = RunSummary {
            name: text(),
            agent: text(),
            shares,
            failures: counts.clone(),
            errors: counts,
            facts,
            ..RunSummary::default()
        };
        Self(vec![run.clone(), run])
    }
}

fn episode_summary() -> EpisodeSummary {
    let text = || HOSTILE.to_owned();
    EpisodeSummary {
        task: text(),
        failure: Some(text()),
        errors: vec![text()],
        domains: vec![text()],
        ..EpisodeSummary::default()
    }
}

impl Runs for HostileRuns {
    fn list(&self) -> &[RunSummary] {
        &self.0
    }

    fn find(&self, _: usize, _: &EpisodeFilter<'_>, offset: usize, limit: usize) -> EpisodePage {
        let shown = 60_usize.saturating_sub(offset).min(limit);
        EpisodePage { total: 60, episodes: vec![episode_summary(); shown] }
    }

    fn episode(&self, _: usize, position: usize) -> Result<Option<Episode>, ReadError> {
        let episode = || Episode {
            summary: episode_summary(),
            grade: serde_json::json!({
                "reward": 0.0,
                "components": {"outcome": "failed"},
                "goals": [{"outcome": HOSTILE}],
                "errors": [{"class": HOSTILE, "message": HOSTILE}],
            }),
            turns: row().turns,
            reference: Some(row().turns),
        };
        Ok((position < 60).then(episode))
    }

    fn compare(&self, _: usize, _: usize) -> Option<RunComparison> {
        let pair = EpisodePair { first: episode_summary(), second: episode_summary() };
        Some(RunComparison { first_only: 60, differing: vec![pair; 60], ..RunComparison::default() })
    }
}

fn row() -> Row {
    let text = || HOSTILE.to_owned();
    let source = Origin { origin: text(), quote: Some(text()), turn: Some(0) };
    let argument = crate::Argument { name: text(), value: Some(HOSTILE.into()), source: Some(source) };
    Row {
        summary: RowSummary {
            id: text(),
            split: "train",
            ability: "call",
            domains: vec![text()],
            tags: vec![text()],
            opening: text(),
        },
        facts: vec![(text(), text())],
        turns: vec![
            Turn::Message { speaker: Speaker::System, text: text(), remark: Some(text()) },
            Turn::Call(crate::CallTurn {
                api: text(),
                arguments: vec![argument.clone()],
                status: Some(200),
                reply: text(),
                remark: Some(text()),
            }),
            Turn::Facts(vec![argument]),
            Turn::Note { title: text(), text: text() },
        ],
        documents: vec![(text(), text())],
    }
}

fn app(change: impl FnOnce(&mut Settings)) -> Arc<App> {
    let escaped = HOSTILE.replace('"', "\\\"");
    let text = WORLD.replace("TEXT", &escaped).replace("LONG", &"x".repeat(1 << 20));
    let doc = diorama_seeds::world::read("hostile.yaml", text.as_bytes()).unwrap();
    let source = Source::new(doc).unwrap();
    let world = WorldSource { id: "hostile".to_owned(), source, seed: 0, server_path: String::new() };
    let mut settings = Settings::new("http://test");
    change(&mut settings);
    App::new(vec![world], None, settings).unwrap()
}

fn console() -> Console {
    Console::default().with_rows(Box::new(HostileRows)).with_runs(Box::new(HostileRuns::new()))
}

fn respond(app: &Arc<App>, line: &str, headers: &[(&str, &str)], body: &str) -> Response<Body> {
    let (method, path) = line.split_once(' ').unwrap();
    let mut request = Request::builder().method(method).uri(format!("{PAGES_PATH}{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Bytes::from(body.to_owned())).unwrap();
    console().answer(app, &request)
}

fn ask(app: &Arc<App>, line: &str, headers: &[(&str, &str)], body: &str) -> (u16, HeaderMap, String) {
    let (parts, body) = respond(app, line, headers, body).into_parts();
    let bytes = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(axum::body::to_bytes(body, usize::MAX))
        .unwrap();
    (parts.status.as_u16(), parts.headers, String::from_utf8(bytes.to_vec()).unwrap())
}

/// Header that browsers send with a form of a page of this server.
const OWN: (&str, &str) = ("sec-fetch-site", "same-origin");

fn change(app: &Arc<App>, path: &str, form: &str) -> String {
    let (status, headers, body) = ask(app, &format!("POST {path}"), &[OWN], form);
    assert!(status < 400, "{path}: {status} {body}");
    match headers.get("location") {
        Some(to) => to.to_str().unwrap().strip_prefix(PAGES_PATH).unwrap().to_owned(),
        None => body,
    }
}

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

#[test]
fn hostile_text_is_shown_as_text_on_every_page() {
    let app = app(|_| ());
    let session = change(&app, "/sessions", "world=hostile");
    let text = encoded(HOSTILE);
    let called = change(
        &app,
        "/worlds/hostile/apis/SetNote",
        &format!("session={}&argument:note_id=1&argument:text={text}", session.rsplit('/').next().unwrap()),
    );
    let other = change(&app, &format!("{session}/fork"), "at=0");
    let compared = format!(
        "/compare?left={}&right={}",
        session.rsplit('/').next().unwrap(),
        other.rsplit('/').next().unwrap()
    );
    let pages = [
        String::new(),
        format!("?q={text}"),
        "/worlds/hostile".to_owned(),
        "/worlds/hostile/resources/note".to_owned(),
        "/worlds/hostile/flow".to_owned(),
        "/worlds/hostile/apis/SetNote".to_owned(),
        "/worlds/hostile/apis/GetNote".to_owned(),
        "/sessions".to_owned(),
        session.clone(),
        format!("{session}/state"),
        format!("{session}/state?at=0"),
        compared,
        "/rows".to_owned(),
        format!("/rows?tag={text}&text={text}"),
        format!("/rows/{text}"),
        "/dataset".to_owned(),
        "/runs".to_owned(),
        format!("/runs/0?failure={text}&domain={text}"),
        "/runs/0/1".to_owned(),
        "/runs/compare?first=0&second=1".to_owned(),
    ];
    let mut checked = vec![("the outcome of a call".to_owned(), called)];
    for page in pages {
        let (status, headers, body) = ask(&app, &format!("GET {page}"), &[], "");
        assert_eq!(status, 200, "{page}: {body}");
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(headers["referrer-policy"], "same-origin");
        checked.push((page, body));
    }
    for wrong in [
        format!("/worlds/{text}"),
        format!("/sessions/{text}"),
        "/rows?text=broken".to_owned(),
        format!("/{text}"),
    ] {
        let (status, _, body) = ask(&app, &format!("GET {wrong}"), &[], "");
        assert!(status >= 400, "{wrong}");
        checked.push((wrong, body));
    }
    for (page, body) in checked {
        assert!(!body.contains("<script>alert"), "{page} has a script");
        assert!(!body.contains("<img"), "{page} has a picture");
        assert!(!body.contains(" style="), "{page} has an inline style");
        assert!(body.len() < 100 << 10, "{page} has {} bytes", body.len());
    }
}

#[test]
fn pages_ask_for_the_control_token_once() {
    let app = app(|settings| settings.control_token = Some("secret".to_owned()));
    for line in ["GET ", "GET /sessions", "GET /rows", "GET /none"] {
        let (status, _, body) = ask(&app, line, &[], "");
        assert_eq!(status, 401, "{line}");
        assert!(body.contains("Control token") && !body.contains("hostile"), "{line}: {body}");
    }
    let (status, _, _) = ask(&app, "POST /sessions", &[OWN], "world=hostile");
    assert_eq!((status, app.sessions().count()), (401, 0));
    assert_eq!(ask(&app, "POST /sign-in", &[OWN], "token=wrong").0, 401);
    let (status, headers, _) = ask(&app, "POST /sign-in", &[OWN], "token=secret");
    let cookie = headers["set-cookie"].to_str().unwrap();
    assert_eq!((status, headers["location"].to_str().unwrap()), (303, PAGES_PATH));
    for part in ["HttpOnly", "SameSite=Strict", "Path=/__diorama/console"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("secret"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(ask(&app, "GET ", &[("cookie", &format!("a=b; {pair}"))], "").0, 200);
    assert_eq!(ask(&app, "GET ", &[("cookie", &format!("{pair}0"))], "").0, 401);
    let (_, headers, _) = ask(&app, "POST /sign-out", &[OWN, ("cookie", pair)], "");
    assert!(headers["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
}

#[test]
fn changes_from_other_sites_are_refused() {
    let app = app(|_| ());
    let check = |headers: &[(&str, &str)], expect: u16| {
        assert_eq!(ask(&app, "POST /sessions", headers, "world=hostile").0, expect, "{headers:?}");
    };
    check(&[], 403);
    check(&[("sec-fetch-site", "cross-site")], 403);
    check(&[("sec-fetch-site", "same-site"), ("origin", "http://test"), ("host", "test")], 403);
    check(&[("origin", "http://evil.example"), ("host", "test")], 403);
    check(&[("origin", "null"), ("host", "test")], 403);
    assert_eq!(app.sessions().count(), 0);
    check(&[("origin", "http://test"), ("host", "test")], 303);
    check(&[OWN], 303);
    assert_eq!(app.sessions().count(), 2);
    assert_eq!(ask(&app, "PUT /sessions", &[OWN], "").0, 405);
}

#[test]
fn a_call_shows_its_reply_and_what_it_changed() {
    let app = app(|_| ());
    let body = change(&app, "/worlds/hostile/apis/SetNote", "argument:note_id=1&argument:text=new");
    assert!(body.contains("<span class=\"badge updated\">updated</span>"), "{body}");
    let id = app.sessions().all()[0].id().to_owned();
    assert!(
        body.contains(&format!("name=\"session\" value=\"{id}\"")),
        "the next call goes on with the session"
    );
    let (status, _, refused) =
        ask(&app, "POST /worlds/hostile/apis/SetNote", &[OWN], "argument:note_id=9&session=x");
    assert_eq!(status, 404, "{refused}");
    // The requests show the records before and after the call, and fork the session before it.
    let state = |at: usize| ask(&app, &format!("GET /sessions/{id}/state?at={at}&resource=note"), &[], "").2;
    assert!(!state(0).contains("<bdi>new</bdi>") && state(1).contains("<bdi>new</bdi>"));
    let fork = change(&app, &format!("/sessions/{id}/fork"), "at=0");
    let (_, _, compared) =
        ask(&app, &format!("GET /compare?left={id}&right={}", fork.rsplit('/').next().unwrap()), &[], "");
    assert!(
        compared.contains("They part at <strong>call 1</strong>: one of them has no more calls."),
        "{compared}"
    );
    change(&app, &format!("/sessions/{id}/reset"), "");
    assert!(!ask(&app, &format!("GET /sessions/{id}/state"), &[], "").2.contains("<bdi>new</bdi>"));
    change(&app, &format!("/sessions/{id}/delete"), "");
    assert_eq!(ask(&app, &format!("GET /sessions/{id}"), &[], "").0, 404);
}

#[test]
fn the_list_of_sessions_shows_a_page() {
    let app = app(|_| ());
    for _ in 0..120 {
        change(&app, "/sessions", "world=hostile");
    }
    let rows = |offset: usize| {
        ask(&app, &format!("GET /sessions?offset={offset}"), &[], "").2.matches("<tr><td>").count()
    };
    assert_eq!((rows(0), rows(50), rows(100), rows(200)), (50, 50, 20, 0));
}

#[test]
fn assets_are_embedded_and_kept_by_browsers() {
    let app = app(|settings| settings.control_token = Some("secret".to_owned()));
    for (name, kind) in [
        ("style.css", "text/css; charset=utf-8"),
        ("htmx.js", "text/javascript; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
    ] {
        let (status, headers, body) = ask(&app, &format!("GET /assets/{name}"), &[], "");
        assert_eq!((status, headers["content-type"].to_str().unwrap()), (200, kind));
        assert!(headers["cache-control"].to_str().unwrap().contains("immutable") && !body.is_empty());
    }
    assert_eq!(ask(&app, "GET /assets/../Cargo.toml", &[], "").0, 401);
    assert_eq!(ask(&app, "GET /assets/none", &[], "").0, 404);
}

#[test]
fn two_datasets_stand_side_by_side() {
    let count = |name: &str, count| Count { name: name.to_owned(), count };
    let second = DatasetSummary {
        name: HOSTILE.to_owned(),
        rows: 4,
        tags: vec![count("recovery", 1)],
        ..DatasetSummary::default()
    };
    let console = Console::default().with_rows(Box::new(HostileRows)).with_second_dataset(second);
    let request = Request::builder().uri(format!("{PAGES_PATH}/dataset")).body(Bytes::new()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let body = console.answer(&app(|_| ()), &request).into_body();
    let body = runtime.block_on(axum::body::to_bytes(body, usize::MAX)).unwrap();
    let text = String::from_utf8(body.to_vec()).unwrap();
    assert!(text.contains("0 (0.0 %)") && text.contains("1 (25.0 %)"), "{text}");
    assert!(!text.contains("<script>alert"), "{text}");
}

#[test]
fn runs_are_written_as_files_that_link_to_each_other() {
    let mut files = std::collections::BTreeMap::new();
    let mut write = |name: &str, text: &str| {
        files.insert(name.to_owned(), text.to_owned());
        Ok(())
    };
    console().write_runs(&app(|_| ()), &mut write).unwrap();
    assert!(files.contains_key("style.css") && files.contains_key("runs-0.offset-50.html"));
    assert!(files.contains_key("runs-compare.first-0.second-1.offset-50.html"));
    assert_eq!(files["index.html"], files["runs.html"]);
    for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".html")) {
        assert!(
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')),
            "{name}"
        );
        assert!(
            text.contains("http-equiv=\"Content-Security-Policy\"") && !text.contains("<script"),
            "{name}"
        );
        assert!(!text.contains(PAGES_PATH), "{name} needs a server");
        for link in text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let file = link.split('#').next().unwrap();
            assert!(file.is_empty() || files.contains_key(file), "{name} links to {link}");
        }
    }
}
