//! The `diorama` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    diorama_agents::cli::main(std::env::args_os(), &mut std::io::stdout(), &mut std::io::stderr())
}
