//! Owns the responses to a browser, and the headers that bound a page's permissions.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{Response, StatusCode};
use diorama_sessions::{PendingSteps, Problem};
use maud::Markup;

/// Sources that a page may use: this server alone. Unescaped text in a page could therefore run no script.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Reply to a request for a page, or the problem in its place.
pub(crate) type Answer = Result<Reply, Problem>;

/// Reply to a browser.
pub(crate) enum Reply {
    /// A page.
    Page(Page),
    /// A redirect to another page, sent after these steps.
    Redirect(String, PendingSteps),
}

/// Page without its frame.
pub(crate) struct Page {
    pub(crate) title: String,
    pub(crate) section: Section,
    pub(crate) body: Markup,
    /// Steps before the page is sent.
    pub(crate) after: PendingSteps,
}

/// Section of the console to which a page belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Worlds,
    Sessions,
    Rows,
    Runs,
    None,
}

impl Page {
    /// Returns a page.
    pub(crate) fn reply(section: Section, title: impl Into<String>, body: Markup) -> Reply {
        Self::after(section, title, body, PendingSteps::default())
    }

    /// Returns a page that is sent after these steps.
    pub(crate) fn after(
        section: Section,
        title: impl Into<String>,
        body: Markup,
        after: PendingSteps,
    ) -> Reply {
        Reply::Page(Self { title: title.into(), section, body, after })
    }
}

/// Makes a response with the text of a page.
pub(crate) fn html(status: u16, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers: [(HeaderName, &'static str); 6] = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        // Addresses hold the ids of sessions, which give access to them. `no-referrer` would also remove
        // `Origin` from forms.
        (REFERRER_POLICY, "same-origin"),
        (CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Makes a response that redirects a browser to another page.
pub(crate) fn redirect(to: &str, after: PendingSteps) -> Response<Body> {
    let mut response = html(StatusCode::SEE_OTHER.as_u16(), String::new());
    if let Ok(to) = HeaderValue::from_str(to) {
        response.headers_mut().insert(LOCATION, to);
    }
    wait(response, after)
}

/// Returns the response, with steps for which the transport waits before it sends it.
pub(crate) fn wait(mut response: Response<Body>, after: PendingSteps) -> Response<Body> {
    if !after.is_done() {
        response.extensions_mut().insert(after);
    }
    response
}
