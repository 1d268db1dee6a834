//! The `diorama` command.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    diorama_agents::cli::main(std::env::args_os(), &mut std::io::stdout(), &mut std::io::stderr())
}
