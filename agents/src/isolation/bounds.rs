//! Owns the bounds of the processes for documents.

/// How much a process may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
pub struct Bounds {
    /// Maximum processor time per document when several are read, in seconds: for its import, and for each batch of its rows.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub document_seconds: u64,
    /// Maximum memory per document when several are read, in MiB.
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(64..))]
    pub document_memory: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { document_seconds: 60, document_memory: 4096 }
    }
}
