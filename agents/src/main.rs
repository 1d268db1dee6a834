//! Owns the `diorama` program.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Workers for the documents of folders are processes of this program.
    if let Ok(program) = std::env::current_exe() {
        diorama_agents::isolation::process::start_workers_by(program);
    }
    diorama_agents::cli::main(std::env::args_os(), &mut std::io::stdout(), &mut std::io::stderr())
}
