//! Owns a server in a thread of the test, on a port of its own.

use std::io::Write;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use clap::Parser;
use diorama_agents::cli::error::CliError;
use diorama_agents::cli::{Arguments, Command, CommandEnd, Streams};
use reqwest::blocking::{Client, Response};
use serde_json::Value as Json;
use tokio::sync::oneshot;

/// A running `diorama serve`. Dropping it stops the server.
pub struct Server {
    /// Its address.
    pub url: String,
    /// Output of the command with `--json` when it starts to listen.
    pub said: Json,
    pub(crate) client: Client,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<CommandEnd, CliError>>>,
}

/// Sends each write to a channel.
struct Lines(Sender<Vec<u8>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let _ = self.0.send(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Server {
    /// Starts `diorama serve --port 0` with further arguments, and waits until it listens.
    ///
    /// # Errors
    /// Returns the command's message if it ends instead.
    pub fn start(arguments: &[&str]) -> Result<Self, String> {
        let line = ["diorama", "serve", "--port", "0"].iter().chain(arguments);
        let parsed = Arguments::try_parse_from(line).map_err(|error| error.to_string())?;
        let json = parsed.json;
        let Command::Serve(command) = parsed.command else { return Err("not `serve`".to_owned()) };
        let (stop, stopped) = oneshot::channel();
        let (out, written) = channel();
        let thread = std::thread::spawn(move || {
            let (mut out, mut err) = (Lines(out), std::io::sink());
            let mut streams = Streams { out: &mut out, err: &mut err, json };
            command.run_until(&mut streams, async move {
                let _ = stopped.await;
            })
        });
        let mut text = String::new();
        while !(text.ends_with("\n}\n") || text.ends_with('\n') && !json) {
            match written.recv() {
                Ok(bytes) => text.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => return Err(format!("the server ended: {:?}", thread.join())),
            }
        }
        let said: Json = serde_json::from_str(&text).unwrap_or_default();
        let url =
            said["listening"].as_str().unwrap_or_else(|| text.trim().trim_start_matches("listening on "));
        let url = url.to_owned();
        let client = Client::builder().no_proxy().build().map_err(|error| error.to_string())?;
        Ok(Self { url, said, client, stop: Some(stop), thread: Some(thread) })
    }

    /// Starts a session, and returns the server's description of it.
    ///
    /// # Errors
    /// Returns an error if the server refuses the request.
    pub fn session(&self) -> Result<Json, String> {
        let made = self.client.post(format!("{}/v1/sessions", self.url)).json(&serde_json::json!({}));
        let made = made.send().and_then(Response::error_for_status).and_then(Response::json);
        made.map_err(|error| error.to_string())
    }
}

impl Server {
    /// Stops the server, and returns the result of the command. Returns none if the server has stopped
    /// before.
    pub(crate) fn end(&mut self) -> Option<Result<CommandEnd, CliError>> {
        let _ = self.stop.take()?.send(());
        self.thread.take()?.join().ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
