//! Owns the export of stored runs as files that open without a server.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;

use axum::http::{HeaderMap, Method};
use diorama_simulator::http::App;

use crate::answer::Reply;
use crate::assets::STYLE;
use crate::console::Console;
use crate::layout::frame;
use crate::links::{Address, Links};
use crate::routes::show;
use crate::visit::{Pairs, Visit};

/// Maximum number of written pages.
const MAX_PAGES: usize = 1_000_000;

/// Address of the first page.
pub(crate) const FIRST_PAGE: &str = "runs";

/// Writes the pages of runs as files: the first one, and all pages that a chain of links reaches. `write`
/// gets the name and the text of each.
///
/// # Errors
/// Returns an error if a page cannot be made, or if `write` fails.
pub(crate) fn write_runs(
    console: &Console,
    app: &App,
    write: &mut dyn FnMut(&str, &str) -> io::Result<()>,
) -> io::Result<usize> {
    let first = Address::new(&[FIRST_PAGE], &[]);
    let (mut seen, mut waiting) = (BTreeSet::from([first.clone()]), vec![first]);
    let mut pages = 0;
    while let Some(address) = waiting.pop() {
        let links = Links::Files(RefCell::default());
        let visit = Visit {
            app,
            console,
            links,
            method: &Method::GET,
            headers: &HeaderMap::new(),
            path: address.segments.clone(),
            query: Pairs::new(address.pairs.clone()),
            form: Pairs::new(Vec::new()),
        };
        let path: Vec<&str> = visit.path.iter().map(String::as_str).collect();
        let reply = show(&visit, &path).map_err(|problem| io::Error::other(problem.detail().to_owned()))?;
        let Reply::Page(page) = reply else { continue };
        let text = frame(&visit, &page, false).into_string();
        write(&address.file(), &text)?;
        if address.segments.len() == 1 && address.pairs.is_empty() {
            write("index.html", &text)?;
        }
        pages += 1;
        if let Links::Files(noted) = visit.links {
            let of_runs = noted
                .into_inner()
                .into_iter()
                .filter(|address| address.segments.first().is_some_and(|segment| segment == FIRST_PAGE));
            waiting.extend(of_runs.filter(|address| seen.len() < MAX_PAGES && seen.insert(address.clone())));
        }
    }
    write(STYLE.name, STYLE.text)?;
    Ok(pages)
}
