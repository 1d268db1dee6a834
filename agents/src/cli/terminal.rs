//! Owns the terminal output beside data: notes and a progress bar.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Streams;

/// True after `--quiet`. It is global because a process has one terminal.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Disables notes and bars from now on.
pub fn hide_notes_and_bars() {
    IS_QUIET.store(true, Relaxed);
}

/// Writes a note to stderr.
pub fn note(streams: &mut Streams<'_>, text: &str) {
    if IS_QUIET.load(Relaxed) {
        return;
    }
    // A closed stderr must not end the work.
    let _ = writeln!(streams.err, "note: {text}");
}

/// Makes a progress bar, which is visible only on a terminal and after one second of work.
pub fn bar(total: u64, unit: &str) -> ProgressBar {
    if IS_QUIET.load(Relaxed) {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(5));
    let template = format!("{{bar:32}} {{human_pos}}/{{human_len}} {unit} {{per_sec}} {{eta}} {{msg}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}
