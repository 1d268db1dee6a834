//! Terminal output beside data: notes and a progress bar.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Streams;

/// Writes a note to stderr.
pub fn note(streams: &mut Streams<'_>, text: &str) {
    // A closed stderr must not end the work.
    let _ = writeln!(streams.err, "note: {text}");
}

/// A bar on a terminal, nothing elsewhere; it appears when the work takes longer than a second.
pub fn bar(total: u64, unit: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(5));
    let template = format!("{{bar:32}} {{human_pos}}/{{human_len}} {unit} {{per_sec}} {{eta}} {{msg}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}
