//! Owns the errors of commands, and their exit codes.

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

/// Reasons for which a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The arguments do not fit together.
    #[error("{0}")]
    Usage(String),
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] std::io::Error),
    /// A document has findings.
    #[error("{0}")]
    Document(#[from] Report),
    /// The user asked for a benchmark's world as training material.
    #[error(
        "{0} stands for a public benchmark: rows made in it would leak into training; give --allow-benchmark to make them all the same"
    )]
    Benchmark(String),
    /// A dataset cannot be written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// The metadata cannot be used.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// A location cannot be opened.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The shards do not form a dataset.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// The layout of a dataset is invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A file holds no candidate, or one that does not fit its world.
    #[error("{}: {what}", file.display())]
    Candidate {
        /// Path of the file.
        file: PathBuf,
        /// Message with the value found and the value expected.
        what: String,
    },
    /// Rows cannot be read.
    #[error(transparent)]
    Rows(#[from] ReadError),
    /// A dataset cannot be measured.
    #[error(transparent)]
    Stats(#[from] diorama_output::stats::StatsError<Report>),
    /// Rows cannot be exported.
    #[error(transparent)]
    Export(#[from] diorama_output::export::ExportError),
    /// A row cannot be used.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    /// Traces give no rows.
    #[error(transparent)]
    Traces(#[from] TraceError),
    /// A batch cannot be made.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// A run with a model ended early.
    #[error(transparent)]
    Model(#[from] crate::models::run::RunError),
    /// A server cannot start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The server cannot listen on an address.
    #[error("{}", describe_listen_error(host, *port, source))]
    Listen {
        /// Host of the address.
        host: String,
        /// Port of the address.
        port: u16,
        /// Error of the system.
        source: std::io::Error,
    },
    /// APIs cannot be searched.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A public benchmark cannot be used.
    #[error(transparent)]
    Others(#[from] BenchmarkError),
    /// A run cannot be stored or resumed.
    #[error(transparent)]
    Stored(#[from] StoredError),
    /// A session server cannot be used.
    #[error("--server: {0}")]
    Server(crate::evaluation::environment::EnvironmentError),
    /// Threads cannot be started.
    #[error("cannot start so many threads: {0}; give fewer with --threads")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// A thread panicked.
    #[error("a thread ended before its work was done")]
    Worker,
    /// A signal from outside ended the process of a document.
    #[error(
        "the process of {document} was ended from outside: {reason}; run the same command again with --resume"
    )]
    Ended {
        /// Label of the document.
        document: String,
        /// Reason of the end.
        reason: String,
    },
    /// A file of the dataset changed, so that its tasks may differ from the proven ones.
    #[error(
        "{file} is not the file that the manifest names ({what}); restore it from a copy, or generate the dataset again"
    )]
    Changed {
        /// Path of the file.
        file: String,
        /// Difference to the manifest.
        what: String,
    },
    /// The command found no rows or nothing else to work on.
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
    /// Returns the exit code: 2 if the user can correct the command line, else 1.
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
