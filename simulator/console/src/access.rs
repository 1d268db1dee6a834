//! Owns the access to pages: only the holder of the control token may see them. A form asks for the token
//! once and stores a cookie.
//!
//! The cookie holds a hash of the token. It gives access to these pages and not to the admin API.

use axum::body::Body;
use axum::http::header::{COOKIE, HOST, HeaderValue, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, Response};
use diorama_sessions::{Kind, PendingSteps, Problem};
use diorama_simulator::http::{App, is_same_secret};
use maud::{Markup, html};

use crate::answer::redirect;
use crate::visit::Visit;

/// Header in which a browser names the site of a request (W3C Fetch Metadata).
const FETCH_SITE: &str = "sec-fetch-site";
/// Lifetime of the cookie in a browser, in seconds.
const COOKIE_SECONDS: u32 = 30 * 24 * 3_600;

/// Returns true if a request may see pages.
pub(crate) fn is_admitted(app: &App, headers: &HeaderMap) -> bool {
    let Some(token) = app.control_token() else { return true };
    let name = cookie_name(app);
    let lines = headers.get_all(COOKIE).into_iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let given = pairs.find(|(own, _)| *own == name);
    given.is_some_and(|(_, value)| is_same_secret(value, &cookie_value(token)))
}

/// Refuses a request that changes something unless it comes from a page of this server. Browsers send at
/// least one of the headers with such requests. Programs use the HTTP API.
pub(crate) fn check_origin(headers: &HeaderMap) -> Result<(), Problem> {
    let header = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let is_own = match (header(FETCH_SITE), header(ORIGIN.as_str())) {
        (Some(site), _) => matches!(site, "same-origin" | "none"),
        (None, Some(origin)) => {
            let host = origin.split_once("://").map(|(_, host)| host);
            host.is_some() && host == header(HOST.as_str())
        }
        (None, None) => false,
    };
    if is_own {
        return Ok(());
    }
    let detail = "found a request from elsewhere, expected one of a page of this server; programs send changes to the HTTP API";
    Err(Problem::new(Kind::Forbidden, detail))
}

/// Returns the form that asks for the token.
pub(crate) fn sign_in_form(visit: &Visit<'_>, is_wrong: bool) -> Markup {
    html! {
        h1 { "Sign in" }
        p { "This server has a control token. It was printed when the server started, or given to it in DIORAMA_CONTROL_TOKEN." }
        @if is_wrong { p.problem role="alert" { "That is not the control token of this server." } }
        form method="post" action=(visit.links.page(&["sign-in"])) {
            label for="token" { "Control token" }
            input #token name="token" type="password" required autocomplete="current-password" autofocus;
            button { "Sign in" }
        }
    }
}

/// Returns true if the form holds the token.
pub(crate) fn has_token(visit: &Visit<'_>) -> bool {
    let given = visit.form.get("token").unwrap_or_default();
    visit.app.control_token().is_some_and(|token| is_same_secret(given, token))
}

/// Stores the token as a cookie.
pub(crate) fn sign_in(visit: &Visit<'_>) -> Response<Body> {
    let value = visit.app.control_token().map(cookie_value).unwrap_or_default();
    with_cookie(visit, &value, COOKIE_SECONDS)
}

/// Removes the cookie.
pub(crate) fn sign_out(visit: &Visit<'_>) -> Response<Body> {
    with_cookie(visit, "", 0)
}

fn with_cookie(visit: &Visit<'_>, value: &str, seconds: u32) -> Response<Body> {
    let (name, root) = (cookie_name(visit.app), &visit.links.root());
    let secure = if visit.app.public_url().starts_with("https://") { "; Secure" } else { "" };
    let cookie = format!("{name}={value}; Path={root}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    let mut response = redirect(root, PendingSteps::default());
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

/// Returns the name of the cookie. Servers on several ports of one machine share its cookies, so each has a
/// name of its own.
fn cookie_name(app: &App) -> String {
    let hash = blake3::hash(app.public_url().as_bytes()).to_hex();
    format!("diorama_console_{}", &hash[..8])
}

fn cookie_value(token: &str) -> String {
    let key = blake3::derive_key("diorama console cookie 1", token.as_bytes());
    blake3::Hash::from_bytes(key).to_hex().to_string()
}
