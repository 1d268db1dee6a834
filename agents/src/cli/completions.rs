//! Owns the command `diorama completions`.

use clap::Args;
use clap_complete::Shell;

use super::error::CliError;
use super::{CommandEnd, Streams};

/// Print a script that completes commands and options in a shell.
///
/// bash: `diorama completions bash > ~/.local/share/bash-completion/completions/diorama`. zsh: into a folder of `$fpath`, as
/// `_diorama`. fish: `diorama completions fish > ~/.config/fish/completions/diorama.fish`.
#[derive(Debug, Args)]
pub struct Completions {
    /// Shell that runs the script.
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::command(), "diorama", &mut script);
        streams.out.write_all(&script)?;
        Ok(CommandEnd::Met)
    }
}
