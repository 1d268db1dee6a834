//! Owns the pages of a console without sessions: `dataset view --web`, `eval show`, `eval export-html`.

use std::sync::Arc;

use diorama_console::Console;
use diorama_sessions::OpenError;
use diorama_simulator::http::{self, App, Settings, StartError};
use serde_json::json;
use tokio::net::TcpListener;

use super::error::CliError;
use super::serve::wait_for_signal;
use super::{CommandEnd, Streams};

/// Address of the pages, which only this machine can reach.
const HOST: &str = "127.0.0.1";

/// Makes an app without worlds for an address. It does not listen yet.
///
/// # Errors
/// Returns an error if the app cannot be made.
pub(super) fn unserved(address: &str) -> Result<Arc<App>, CliError> {
    Ok(App::new(Vec::new(), None, Settings::new(address))?)
}

/// Serves the pages of a console on a port of this machine, until SIGINT or SIGTERM. `first` is the path of
/// the first page.
///
/// # Errors
/// Returns an error if the server cannot listen on the port.
pub(super) fn serve_pages(
    console: Console,
    port: u16,
    first: &str,
    streams: &mut Streams<'_>,
) -> Result<CommandEnd, CliError> {
    let failed = |source| CliError::Listen { host: HOST.to_owned(), port, source };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let listener = runtime.block_on(TcpListener::bind((HOST, port))).map_err(failed)?;
    let address = format!("http://{}", listener.local_addr().map_err(failed)?);
    let app = unserved(&address)?;
    app.show_pages(Arc::new(console));
    let page = format!("{address}{}/{first}", app.pages_url());
    streams.print(&json!({"listening": page}), || format!("open {page} in a browser; Ctrl-C ends it\n"))?;
    let ended = runtime.block_on(http::serve(listener, app, wait_for_signal()));
    ended.map_err(|error| StartError::from(OpenError::from(error)))?;
    Ok(CommandEnd::Met)
}
