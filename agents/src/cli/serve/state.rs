//! Owns `--state`: the folder of sessions, and the report on those that cannot be continued.

use diorama_sessions::{LeftOut, OpenError, StateFolder};
use diorama_simulator::http::{App, Settings, StartError};
use serde_json::json;

use super::Serve;
use crate::cli::error::CliError;
use crate::cli::{CommandEnd, Streams};

/// Maximum number of skipped sessions whose reasons are noted.
const NAMED: usize = 5;

impl Serve {
    /// Returns the folder that keeps sessions.
    pub(super) fn state_folder(&self) -> Option<StateFolder> {
        let (fsync, accept_loss) = (self.fsync, self.accept_loss);
        self.state.clone().map(|path| StateFolder { fsync, accept_loss, ..StateFolder::new(path) })
    }

    /// Reports the sessions of the state folder that can be continued with these worlds and tasks. With
    /// --accept-loss it removes the others.
    pub(super) fn check_state(&self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let mut settings = Settings::new("http://127.0.0.1");
        settings.sessions.node.clone_from(&self.node);
        settings.sessions.state = self.state_folder();
        let (tasks, (worlds, _)) = (self.open_tasks()?, self.worlds(streams)?);
        let app = App::new(worlds, tasks, settings)?;
        let sessions = app.sessions();
        let (left_out, removed) = (sessions.left_out(), self.accept_loss);
        if removed {
            sessions.remove_left_out().map_err(OpenError::from).map_err(StartError::from)?;
        }
        let report = json!({"sessions": sessions.count(), "left_out": left_out, "removed": removed});
        streams.print(&report, || {
            let mut text = format!("{} sessions go on\n", sessions.count());
            for session in left_out {
                let what = if removed { "taken out" } else { "left out" };
                text.push_str(&format!("{what}: session {}: {}\n", session.id, session.why));
            }
            text
        })?;
        Ok(if left_out.is_empty() || removed { CommandEnd::Met } else { CommandEnd::NotMet })
    }
}

/// Returns the notes on skipped sessions.
pub(super) fn notes(left_out: &[LeftOut]) -> Vec<String> {
    let mut notes: Vec<String> = left_out
        .iter()
        .take(NAMED)
        .map(|session| format!("session {} of the state folder is left out: {}", session.id, session.why))
        .collect();
    if !left_out.is_empty() {
        notes.push(format!(
            "{} sessions of the state folder are left out and stay in it; --check lists them, and takes them out with --accept-loss",
            left_out.len()
        ));
    }
    notes
}
