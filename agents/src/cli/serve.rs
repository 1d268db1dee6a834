//! Owns the command `diorama serve`.

mod gym;
mod memory;
mod state;

use std::collections::HashMap;
use std::future::{Future, pending};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use diorama_console::Console;
use diorama_openapi as openapi;
use diorama_output::storage::Location;
use diorama_seeds::compose::compose;
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::materialise::Source;
use diorama_sessions::{self as sessions, Node, OpenError, TaskSource, WorldSource, unguessable};
use diorama_simulator::http::{self, App, Auth, Settings, StartError, check_exposure};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

pub use self::gym::GymPort;
use self::gym::GymPorts;
use super::error::CliError;
use super::files::open_dataset;
use super::inputs::{RefusedDocument, Sources, located, read_world};
use super::openapi::read_document;
use super::task::check::Gates;
use super::{CommandEnd, Streams, terminal};
use crate::catalog;
use crate::tasks::DatasetTasks;

/// Serve worlds over HTTP: a stateful mock API per session, with tasks and grades.
///
/// Prints its address once it listens. `POST /v1/sessions` creates a session and returns the base URL of its REST API;
/// `GET /openapi.json` describes all routes. Without arguments it serves the worlds of the catalog.
///
/// Admin requests send the control token as the header Diorama-Token. With --tasks a token is made and printed, unless one is
/// given or --open is. Without a token everyone who reaches the port can read, reset and grade every session, so that only
/// loopback addresses are allowed. Ends on SIGINT and SIGTERM, after the requests under way.
#[derive(Debug, Args)]
pub struct Serve {
    /// Where worlds come from.
    #[command(flatten)]
    pub sources: Sources,
    /// Join all worlds into one, each under its own base path.
    #[arg(long)]
    pub compose: bool,
    /// Dataset whose tasks sessions can be made of: a folder or a URL (s3://, gs://, az://).
    #[arg(long, value_name = "LOCATION")]
    pub tasks: Option<Location>,
    /// Seed of the generated records.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Address to listen on.
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
    pub host: String,
    /// Port to listen on. 0 picks a free one.
    #[arg(long, value_name = "PORT", default_value_t = 8080)]
    pub port: u16,
    /// URL under which clients reach the server [default: its address].
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    /// Name of this server among several behind one proxy: letters, digits and `-`. Session ids begin with it, so that the proxy
    /// finds the server of a session.
    #[arg(long, value_name = "NAME")]
    pub node: Option<Node>,
    /// Port for HAProxy's agent checks. 0 picks a free one. Servers with fewer sessions get more of the new ones.
    #[arg(long, value_name = "PORT")]
    pub agent_check: Option<u16>,
    /// Trainers' protocol to serve the tasks by, on a port of its own: nemo-gym, openenv or ors. Repeatable. Without a port a free
    /// one is picked and printed. The protocols have no token: whoever reaches the port can begin episodes and see rewards.
    #[arg(long, value_name = "NAME[:PORT]", requires = "tasks")]
    pub gym: Vec<GymPort>,
    /// Seconds without a request after which an episode of --gym ends. 0 means never.
    #[arg(long, value_name = "SECONDS", default_value_t = 3_600)]
    pub gym_lease: u64,
    /// Control token, which admin requests send as the header Diorama-Token. Prefer the environment variable: every user of the
    /// machine can read command lines.
    #[arg(long, value_name = "TOKEN", env = "DIORAMA_CONTROL_TOKEN", hide_env_values = true)]
    pub control_token: Option<String>,
    /// Serve the admin API without a control token, with --tasks.
    #[arg(long)]
    pub open: bool,
    /// Maximum sessions at the same time.
    #[arg(long, value_name = "N", default_value_t = sessions::MAX_SESSIONS)]
    pub max_sessions: usize,
    /// Maximum calls per session between resets.
    #[arg(long, value_name = "N", default_value_t = sessions::MAX_CALLS)]
    pub max_calls: usize,
    /// Maximum bytes per session beside its world: changed records, calls, messages.
    #[arg(long, value_name = "BYTES", default_value_t = sessions::MAX_SESSION_BYTES)]
    pub max_session_bytes: u64,
    /// Maximum bytes of all sessions and of the replies that clients have not read yet [default: a quarter of the memory that the machine
    /// or its control group has, at most 4 GiB].
    #[arg(long, value_name = "BYTES")]
    pub max_bytes: Option<u64>,
    /// Maximum bytes per reply to a batch, per page of a log, per export, and of the replies that a grade reads.
    #[arg(long, value_name = "BYTES", default_value_t = sessions::MAX_REPLY_BYTES)]
    pub max_reply_bytes: u64,
    /// Maximum connections at the same time.
    #[arg(long, value_name = "N", default_value_t = http::MAX_CONNECTIONS)]
    pub max_connections: usize,
    /// Maximum connections per address at the same time [default: half of --max-connections].
    #[arg(long, value_name = "N")]
    pub max_connections_per_address: Option<usize>,
    /// Maximum calls per second and session [default: no limit].
    #[arg(long, value_name = "N")]
    pub max_calls_per_second: Option<u32>,
    /// Maximum bytes per request body.
    #[arg(long, value_name = "BYTES", default_value_t = http::MAX_BODY_BYTES)]
    pub max_body: usize,
    /// Seconds without a request after which a session ends. 0 means never.
    #[arg(long, value_name = "SECONDS", default_value_t = 86_400)]
    pub lease: u64,
    /// Folder that keeps sessions over restarts: every answered write survives the end of the process.
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// With --state: write to disk before every answer, so that answered writes survive a power failure.
    #[arg(long, requires = "state")]
    pub fsync: bool,
    /// With --state: accept a damaged folder and use what is left of it.
    #[arg(long, requires = "state")]
    pub accept_loss: bool,
    /// With --state: say which sessions of the folder can be continued with these worlds and tasks, and end. Exits 3 if some cannot;
    /// --accept-loss takes those out.
    #[arg(long, requires = "state")]
    pub check: bool,
    /// Answer the API of the one world that is served at the root of the URL too, in a session of its own, so that clients need nothing
    /// but the URL. Paths of that API go before the server's own, which then answer below /__diorama [default: on where one WORLD or
    /// DOCUMENT is given].
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub default_session: Option<bool>,
    /// Credentials that APIs with `security` in their document ask for [default: any key, password or token; a token that
    /// a session issued must still hold].
    #[arg(long, value_name = "HOW", value_enum)]
    pub auth: Option<AuthChoice>,
    /// Log requests to stderr.
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Log::Off)]
    pub log: Log,
}

/// Credentials that a session lets in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AuthChoice {
    /// Only the session's own credentials are let in; the reply that makes a session lists them.
    Enforce,
    /// No credentials are required.
    Off,
}

/// How requests are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Log {
    /// Only what goes wrong in the server itself.
    Off,
    /// A line for each request.
    Text,
    /// A JSON object for each request.
    Json,
}

/// Warning about an open admin API.
const NO_TOKEN: &str = "the admin API is open to every program on this machine, so that an agent with HTTP could grade its own session; \
                        to close it, start with DIORAMA_CONTROL_TOKEN=$(openssl rand -hex 16)";
/// Text before a generated control token.
const MADE_TOKEN: &str =
    "the admin API asks for a control token, to be sent in the header Diorama-Token (--open leaves it out):";

/// Maximum time for open requests after the server has been told to end.
const GRACE: Duration = Duration::from_secs(10);

impl Serve {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        self.run_until(streams, wait_for_signal())
    }

    /// Runs the command until `shutdown` completes.
    ///
    /// # Errors
    /// Returns an error if worlds or tasks cannot be read, or if the server cannot listen on the address.
    pub fn run_until(
        self,
        streams: &mut Streams<'_>,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<CommandEnd, CliError> {
        if self.check {
            return self.check_state(streams);
        }
        let given = self.control_token.clone().filter(|token| !token.is_empty());
        let address = self.address()?;
        check_exposure(address.ip(), given.as_deref())?;
        // Tasks are graded, so that the agent under test must not reach the admin API.
        let made = given.is_none() && self.tasks.is_some() && !self.open;
        let token = if made { Some(unguessable()?) } else { given };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        // The server listens before it reads worlds, so that a used port is reported at once.
        let failed = |source| CliError::Listen { host: self.host.clone(), port: self.port, source };
        let listener = runtime.block_on(TcpListener::bind(address)).map_err(failed)?;
        let checked = self.agent_check.map(|port| {
            let failed = |source| CliError::Listen { host: self.host.clone(), port, source };
            let listener = runtime.block_on(TcpListener::bind((address.ip(), port))).map_err(failed)?;
            let bound = listener.local_addr().map_err(failed)?;
            Ok::<_, CliError>((listener, bound))
        });
        let checked = checked.transpose()?;
        let gyms = runtime.block_on(GymPorts::listen(&self.gym, &self.host, address.ip()))?;
        let bound = format!("http://{}", listener.local_addr().map_err(failed)?);
        let mut settings = Settings::new(self.public_url.as_deref().unwrap_or(&bound));
        settings.sessions.node.clone_from(&self.node);
        settings.control_token.clone_from(&token);
        settings.sessions.max_sessions = self.max_sessions;
        settings.sessions.max_calls = self.max_calls;
        settings.sessions.max_calls_per_s = self.max_calls_per_second;
        settings.max_body_bytes = self.max_body;
        settings.sessions.max_session_bytes = self.max_session_bytes;
        settings.sessions.max_bytes = self.max_bytes.unwrap_or_else(memory::max_bytes);
        settings.sessions.max_reply_bytes = self.max_reply_bytes;
        settings.max_connections = self.max_connections;
        settings.max_connections_per_address = self.max_connections_per_address;
        settings.sessions.lease = (self.lease > 0).then(|| Duration::from_secs(self.lease));
        settings.sessions.state = self.state_folder();
        settings.auth = match self.auth {
            None => Auth::Shown,
            Some(AuthChoice::Enforce) => Auth::Enforced,
            Some(AuthChoice::Off) => Auth::Off,
        };
        start_log(self.log);
        let tasks = self.open_tasks()?;
        let (worlds, refused) = self.worlds(streams)?;
        settings.default_session = self.has_default_session(worlds.len())?;
        let mut listening = json!({
            "listening": bound,
            "worlds": worlds.iter().map(|world| &world.id).collect::<Vec<_>>(),
            "tasks": tasks.as_ref().map_or(0, |tasks| tasks.count()),
            "refused": refused,
        });
        let app = App::new(worlds, tasks, settings)?;
        app.prove_with(Box::new(Gates));
        app.show_pages(Arc::new(Console::default()));
        if let Some(listening) = listening.as_object_mut() {
            listening.insert("sessions".to_owned(), json!(app.sessions().count()));
            listening.insert("left_out".to_owned(), json!(app.sessions().left_out()));
            if let Some(node) = &self.node {
                listening.insert("node".to_owned(), json!(node.to_string()));
            }
            if let Some((_, bound)) = &checked {
                listening.insert("agent_check".to_owned(), json!(bound.to_string()));
            }
            if !self.gym.is_empty() {
                listening.insert("gym".to_owned(), gyms.addresses());
            }
            if made {
                listening.insert("control_token".to_owned(), json!(token));
            }
        }
        match &token {
            Some(token) if made => terminal::note(streams, &format!("{MADE_TOKEN} {token}")),
            Some(_) => {}
            None => terminal::note(streams, NO_TOKEN),
        }
        if let Some((_, bound)) = &checked {
            terminal::note(streams, &format!("agent checks are answered on {bound}"));
        }
        for note in gyms.notes().into_iter().chain(state::notes(app.sessions().left_out())) {
            terminal::note(streams, &note);
        }
        streams.print(&listening, || format!("listening on {bound}\n"))?;
        let ended = runtime.block_on(async move {
            let (tell, told) = watch::channel(());
            let shutdown = async move {
                shutdown.await;
                drop(tell);
            };
            let ended = |mut told: watch::Receiver<()>| async move { while told.changed().await.is_ok() {} };
            let overdue = {
                let ended = ended(told.clone());
                async move {
                    ended.await;
                    tokio::time::sleep(GRACE).await;
                }
            };
            let checks = {
                let app = Arc::clone(&app);
                async move {
                    match checked {
                        Some((listener, _)) => http::agent_check(listener, app).await,
                        None => pending().await,
                    }
                }
            };
            let served = async {
                let gyms = gyms.serve(&app, self.gym_lease, || ended(told.clone()));
                let gyms = async {
                    gyms.await;
                    Ok(())
                };
                tokio::try_join!(http::serve(listener, Arc::clone(&app), shutdown), gyms).map(|_| ())
            };
            tokio::select! {
                ended = served => ended,
                never = checks => match never {},
                never = memory::return_unused() => match never {},
                () = overdue => Ok(()),
            }
        });
        runtime.shutdown_timeout(Duration::from_secs(1));
        ended.map_err(|error| StartError::from(OpenError::from(error)))?;
        Ok(CommandEnd::Met)
    }

    /// Returns true if the world has a session at the root. `worlds` is the number of worlds.
    fn has_default_session(&self, worlds: usize) -> Result<bool, CliError> {
        match self.default_session {
            Some(true) if worlds != 1 => Err(CliError::Usage(format!(
                "--default-session: expected one world, found {worlds}; name one, or join them with --compose"
            ))),
            Some(chosen) => Ok(chosen),
            None => Ok(worlds == 1 && self.tasks.is_none()),
        }
    }

    fn open_tasks(&self) -> Result<Option<Box<dyn TaskSource>>, CliError> {
        let open = |place| Ok(Box::new(DatasetTasks::open(open_dataset(place)?)?) as Box<dyn TaskSource>);
        self.tasks.as_ref().map(open).transpose()
    }

    fn address(&self) -> Result<SocketAddr, CliError> {
        let failed = |source| CliError::Listen { host: self.host.clone(), port: self.port, source };
        let mut found = (self.host.as_str(), self.port).to_socket_addrs().map_err(failed)?;
        found.next().ok_or_else(|| {
            CliError::Usage(format!("--host: found {}, expected an address or a name", self.host))
        })
    }

    fn worlds(
        &self,
        streams: &mut Streams<'_>,
    ) -> Result<(Vec<WorldSource>, Vec<RefusedDocument>), CliError> {
        let inputs = self.sources.inputs()?;
        let mut docs: Vec<(WorldDoc, String)> = Vec::new();
        // Several files may hold worlds of one name, as those of a dataset do. Such worlds take the names of
        // their files.
        let mut files = inputs.world_files()?;
        for file in &files {
            docs.push((read_world(file)?, String::new()));
        }
        let (imported, refused) = inputs.documents(streams)?;
        for (path, doc) in imported {
            docs.push((doc, openapi::server_path(&read_document(&path)?).unwrap_or_default()));
        }
        let (mut named, paths): (Vec<WorldDoc>, Vec<String>) = docs.into_iter().unzip();
        inputs.name(&mut named, streams)?;
        let mut docs: Vec<(WorldDoc, String)> = named.into_iter().zip(paths).collect();
        if inputs.is_empty() && self.tasks.is_none() {
            docs.extend(catalog::worlds()?.into_iter().map(|doc| (doc, String::new())));
        }
        if self.compose && docs.len() > 1 {
            let all: Vec<WorldDoc> = docs.into_iter().map(|(doc, _)| doc).collect();
            docs = vec![(compose("composed", &all)?, String::new())];
            files.clear();
        }
        let mut names: HashMap<String, usize> = HashMap::new();
        for (doc, _) in &docs {
            *names.entry(doc.name.clone()).or_default() += 1;
        }
        let sources: Result<Vec<WorldSource>, CliError> = docs
            .into_iter()
            .enumerate()
            .map(|(place, (doc, server_path))| {
                let repeated = names.get(&doc.name).is_some_and(|times| *times > 1);
                let file = files.get(place);
                let stem = file.filter(|_| repeated).and_then(|file| file.file_stem());
                let id = stem.map_or_else(|| doc.name.clone(), |stem| stem.to_string_lossy().into_owned());
                let source = Source::new(doc).map_err(|report| match file {
                    Some(file) => located(file, report),
                    None => report,
                })?;
                Ok(WorldSource { id, source, seed: self.seed, server_path })
            })
            .collect();
        Ok((sources?, refused))
    }
}

/// Starts the log. An existing log stays, as in tests.
fn start_log(log: Log) {
    let targets = targets(log);
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    let registry = tracing_subscriber::registry();
    let _ = match log {
        Log::Json => registry.with(layer.json().flatten_event(true).with_filter(targets)).try_init(),
        Log::Off | Log::Text => registry.with(layer.with_filter(targets)).try_init(),
    };
}

/// Returns the log filter. Libraries log warnings and errors, and only if the user requests a log.
fn targets(log: Log) -> Targets {
    let (ours, theirs) = match log {
        Log::Off => (LevelFilter::WARN, LevelFilter::OFF),
        Log::Text | Log::Json => (LevelFilter::INFO, LevelFilter::WARN),
    };
    Targets::new().with_default(theirs).with_target("diorama", ours)
}

/// Waits for SIGINT or SIGTERM.
pub(super) async fn wait_for_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

#[cfg(test)]
mod tests {
    use super::{LevelFilter, Log, targets};

    #[test]
    fn libraries_are_silent_unless_a_log_is_asked_for() {
        let heard =
            |log, of: &str, level: LevelFilter| targets(log).would_enable(of, &level.into_level().unwrap());
        assert!(!heard(Log::Off, "rmcp::service", LevelFilter::ERROR));
        assert!(heard(Log::Off, "diorama_simulator::http", LevelFilter::WARN));
        assert!(!heard(Log::Off, "diorama_simulator::http", LevelFilter::INFO));
        assert!(heard(Log::Text, "rmcp::service", LevelFilter::WARN));
    }
}
