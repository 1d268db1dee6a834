//! The pipeline and the command from end to end.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may end this way"
)]

mod exports;
mod folders;
mod model_pipeline;
mod pages;
mod readme;
mod worlds;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
