//! Errors of commands, and what they exit with.

use std::path::PathBuf;

use diorama_benchmarks::material::BenchmarkError;
use diorama_output::dataset::{DatasetError, DriveError};
use diorama_output::manifest::MetadataError;
use diorama_output::merge::MergeError;
use diorama_output::plan::PlanError;
use diorama_output::rows::ReadError;
use diorama_output::storage::{Cause, StorageError};
use diorama_seeds::world::Report;
use diorama_sessions::OpenError;
use diorama_simulator::http::StartError;
use diorama_simulator::search::SearchError;

use crate::episode::EpisodeError;
use crate::evaluation::run_error::RunError;
use crate::evaluation::stored::StoredError;
use crate::traces::TraceError;
use crate::worlds::error::PipelineError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// Arguments that do not go together.
    #[error("{0}")]
    Usage(String),
    /// A file that cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Output that cannot be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] std::io::Error),
    /// A document that is wrong.
    #[error("{0}")]
    Document(#[from] Report),
    /// A benchmark world asked for as training material.
    #[error(
        "{0} stands for a public benchmark: rows made in it would leak into training; give --allow-benchmark to make them all the same"
    )]
    Benchmark(String),
    /// A dataset that cannot be written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// Metadata that cannot be used.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// A place that cannot be opened.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// Shards that do not make a dataset.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// A layout that cannot be made.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A file that holds no candidate, or one that cannot be held against a world.
    #[error("{}: {what}", file.display())]
    Candidate {
        /// The file.
        file: PathBuf,
        /// A message that names the value found and the value expected.
        what: String,
    },
    /// Rows that cannot be read.
    #[error(transparent)]
    Rows(#[from] ReadError),
    /// A dataset that cannot be measured.
    #[error(transparent)]
    Stats(#[from] diorama_output::stats::StatsError<Report>),
    /// Rows that cannot be exported.
    #[error(transparent)]
    Export(#[from] diorama_output::export::ExportError),
    /// A row that cannot be used.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    /// Traces that no rows can be made of.
    #[error(transparent)]
    Traces(#[from] TraceError),
    /// A batch that cannot be made.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// A run with a model that ended before its time.
    #[error(transparent)]
    Model(#[from] crate::models::run::RunError),
    /// A server that cannot start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// An address that cannot be listened on.
    #[error("{}", describe_listen_error(host, *port, source))]
    Listen {
        /// The host.
        host: String,
        /// The port.
        port: u16,
        /// Why.
        source: std::io::Error,
    },
    /// APIs that cannot be searched.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A benchmark that others made, and that cannot be used.
    #[error(transparent)]
    Others(#[from] BenchmarkError),
    /// A run that cannot be stored, or gone on with.
    #[error(transparent)]
    Stored(#[from] StoredError),
    /// A server of sessions that cannot be used.
    #[error("--server: {0}")]
    Server(crate::evaluation::environment::EnvironmentError),
    /// Threads that cannot be started.
    #[error("cannot start so many threads: {0}; give fewer with --threads")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// A thread that ended before its time.
    #[error("a thread ended before its work was done")]
    Worker,
    /// A process of a document that somebody ended.
    #[error(
        "the process of {document} was ended from outside: {reason}; run the same command again with --resume"
    )]
    Ended {
        /// The document.
        document: String,
        /// What ended it.
        reason: String,
    },
    /// A dataset whose tasks may not be those that were proven.
    #[error(
        "{file} is not the file that the manifest names ({what}); restore it from a copy, or generate the dataset again"
    )]
    Changed {
        /// The file.
        file: String,
        /// The difference.
        what: String,
    },
    /// Anything that has no rows to work on.
    #[error("{0}")]
    Empty(String),
}

impl From<RunError> for CliError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Episode(error) => error.into(),
            RunError::Stored(error) => error.into(),
            RunError::Runtime(error) => error.into(),
            RunError::Worker => Self::Worker,
        }
    }
}

impl CliError {
    /// The exit code: 2 for what the user can mend on the command line, 1 for the rest.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Start(StartError::Sessions(OpenError::State(_))) => 1,
            Self::Stored(StoredError::There { .. } | StoredError::Differs { .. }) => 2,
            Self::Dataset(error) | Self::Merge(MergeError::Dataset(error)) if error.is_usage() => 2,
            Self::Storage(StorageError { cause: Cause::Setting(_), .. }) => 2,
            Self::Merge(MergeError::NoRun(_) | MergeError::NotSharded(_)) => 2,
            Self::Usage(_) | Self::Plan(_) | Self::Benchmark(_) | Self::Start(_) => 2,
            Self::Read { .. }
            | Self::Output(_)
            | Self::Document(_)
            | Self::Candidate { .. }
            | Self::Dataset(_)
            | Self::Metadata(_)
            | Self::Storage(_)
            | Self::Merge(_)
            | Self::Rows(_)
            | Self::Stats(_)
            | Self::Export(_)
            | Self::Episode(_)
            | Self::Traces(_)
            | Self::Pipeline(_)
            | Self::Model(_)
            | Self::Listen { .. }
            | Self::Search(_)
            | Self::Others(_)
            | Self::Threads(_)
            | Self::Changed { .. }
            | Self::Stored(_)
            | Self::Server(_)
            | Self::Worker
            | Self::Ended { .. }
            | Self::Empty(_) => 1,
        }
    }
}

impl<E: Into<Self>> From<DriveError<E>> for CliError {
    fn from(error: DriveError<E>) -> Self {
        match error {
            DriveError::Batch(error) => error.into(),
            DriveError::Dataset(error) => Self::Dataset(error),
            DriveError::Threads(error) => Self::Threads(error),
            DriveError::Worker => Self::Worker,
        }
    }
}

fn describe_listen_error(host: &str, port: u16, source: &std::io::Error) -> String {
    match source.kind() {
        std::io::ErrorKind::AddrInUse => {
            format!(
                "port {port} of {host} is in use; end what uses it, or give another --port (0 picks a free one)"
            )
        }
        std::io::ErrorKind::PermissionDenied => {
            format!("port {port} of {host} may not be listened on; give a --port above 1023")
        }
        _ => format!("cannot listen on {host}, port {port}: {source}; give another --host or --port"),
    }
}
