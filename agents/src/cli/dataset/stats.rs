//! Owns the command `diorama dataset stats`.

use clap::Args;
use diorama_output::stats::{ApiFingerprint, Stats, measure};
use diorama_output::storage::Location;
use diorama_seeds::world::{self, Report};

use crate::cli::error::CliError;
use crate::cli::files::open_dataset;
use crate::cli::rows::{self, RowsArgs};
use crate::cli::{CommandEnd, Streams};
use crate::worlds::fingerprint::fingerprint;

/// Measure a dataset: counts, diversity and the funnel of the gates.
#[derive(Debug, Args)]
pub(super) struct StatsArgs {
    /// Dataset: a folder or a URL (s3://, gs://, az://).
    #[arg(value_name = "LOCATION")]
    folder: Location,
    /// Rows to measure.
    #[command(flatten)]
    rows: RowsArgs,
}

impl StatsArgs {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let folder = open_dataset(&self.folder)?;
        let selection = self.rows.selection();
        rows::check(&selection, &folder)?;
        let fingerprints = |id: &str, canonical: &[u8]| -> Result<Vec<ApiFingerprint>, Report> {
            let world = world::compile(&world::read(id, canonical)?)?;
            let of = |api: &diorama_seeds::model::Api| ApiFingerprint {
                domain: world.domains[api.domain.index()].name.to_string(),
                api: api.name.to_string(),
                fingerprint: fingerprint(&world, api),
            };
            Ok(world.apis.iter().map(of).collect())
        };
        let stats = measure(&folder, &selection, fingerprints)?;
        if stats.dialogues == 0 {
            return Err(rows::make_no_rows_error(&folder));
        }
        streams.print(&stats, || table(&stats))?;
        Ok(CommandEnd::Met)
    }
}

fn table(stats: &Stats) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<18} {value}\n"));
    line("dialogues", stats.dialogues.to_string());
    line("domains", stats.domains.to_string());
    line("worlds", stats.worlds.to_string());
    line("apis", stats.apis.to_string());
    line("distinct apis", stats.distinct_apis.to_string());
    line("skeletons", stats.skeletons.to_string());
    line("APIs called", stats.apis_called.to_string());
    line("calls", stats.calls.to_string());
    line("turns", stats.turns.to_string());
    let counts = stats.splits.iter().chain(&stats.abilities).chain(&stats.difficulties).chain(&stats.tags);
    for (name, count) in counts {
        let share = 100.0 * *count as f64 / stats.dialogues.max(1) as f64;
        line(&format!("  {name}"), format!("{count} ({share:.1} %)"));
    }
    line("distinct_2", format!("{:.4}", stats.distinct_2));
    line("distinct_first3", format!("{:.4}", stats.distinct_first3));
    line("duplicate_rate", format!("{:.4}", stats.duplicate_rate));
    line("  at 0.6", format!("{:.4}", stats.duplicate_rate_at_06));
    for (kind, guess) in &stats.guessable {
        let best: String = guess.best.chars().take(40).collect();
        let share = 100.0 * guess.share;
        line(&format!("guess {kind}"), format!("{share:.1} % of {} are `{best}`", guess.checks));
    }
    line("weak checks", stats.weak_checks.to_string());
    if let Some(funnel) = &stats.funnel {
        line("proposed", funnel.proposed.to_string());
        for (gate, count) in funnel.dropped_by_gate() {
            line(&format!("  {gate}"), format!("-{count}"));
        }
    }
    text
}
