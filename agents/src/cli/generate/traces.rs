//! Owns `diorama generate --from-traces`, which makes rows from kept episodes.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::Args;
use diorama_engine::tools::SearchVersion;
use diorama_output::dataset::{DatasetWriter, Options, Start};
use diorama_output::manifest::Identity;
use diorama_output::plan::{Plan, PlanSizes, Shard};
use diorama_output::storage::Location;
use serde_json::json;

use crate::cli::error::CliError;
use crate::cli::files::{open_dataset, open_storage};
use crate::cli::{CommandEnd, Streams};
use crate::episode::Worlds;
use crate::evaluation::batch::Episode;
use crate::rows::source::write_rows;
use crate::traces::{self, Traces};

/// Flags of `generate` that have no effect on rows from episodes.
const IGNORED: [&str; 45] = [
    "dialogues",
    "seed",
    "backend",
    "ability",
    "difficulty",
    "domains_per_world",
    "shard",
    "resume",
    "tags",
    "allow_benchmark",
    "named",
    "world",
    "openapi",
    "entities",
    "base_url",
    "model",
    "record",
    "replay",
    "caller",
    "fallback",
    "caller_protocol",
    "rewrite",
    "attempts",
    "judge_votes",
    "prompts",
    "steps",
    "test_domains",
    "test_share",
    "strict",
    "first_guesses",
    "overlay",
    "document_seconds",
    "document_memory",
    "api_key_env",
    "json_mode",
    "max_reply_tokens",
    "max_tokens_field",
    "retries",
    "reply_seconds",
    "max_run_tokens",
    "max_cost",
    "price_in",
    "price_out",
    "concurrency",
    "temperature",
];

/// Rows of kept episodes, with `--from-traces`.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "With --from-traces")]
pub struct TraceArgs {
    /// Make a row of each solved episode in this file: `episodes.jsonl` of `diorama eval DATASET --out DIR`.
    #[arg(long, value_name = "FILE", requires = "tasks", conflicts_with_all = IGNORED)]
    pub from_traces: Option<PathBuf>,
    /// Dataset that holds the tasks of the episodes.
    #[arg(long, value_name = "LOCATION", requires = "from_traces")]
    pub tasks: Option<Location>,
}

/// Makes the dataset.
///
/// # Errors
/// Returns an error if the file holds no episodes of the tasks, or if the dataset cannot be written.
pub(super) fn run(
    file: &Path,
    tasks: &Location,
    (out, terms, threads): (&Location, &str, usize),
    streams: &mut Streams<'_>,
) -> Result<CommandEnd, CliError> {
    let tasks = open_dataset(tasks)?;
    let rows = tasks.rows_of_split(None).collect::<Result<Vec<_>, _>>()?;
    let (episodes, hash) = read(file)?;
    let count = episodes.len();
    let kept = Traces::new(episodes, rows, Worlds::new(tasks), terms)?;
    let plan = Plan::new(PlanSizes::new(kept.len()), |batch| kept.split_of(batch))?;
    let config = [("backend", json!(traces::BACKEND)), ("traces", json!(hash)), ("terms", json!(terms))];
    let identity = Identity {
        versions: crate::cli::dataset::verify::versions(SearchVersion::default()),
        seed: traces::SEED,
        config: config.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        benchmark: false,
    };
    let options = Options { shard: Shard::WHOLE, start: Start::Fresh };
    let writer = DatasetWriter::open(open_storage(out)?, identity, plan, options)?;
    write_rows(&kept, &writer, threads, |_| {})?;
    let summary = writer.finish()?;
    let dropped = summary.funnel.dropped.clone();
    let data = json!({
        "episodes": count, "dialogues": summary.counts.dialogues, "dropped": dropped, "out": out.to_string(),
    });
    streams.print(&data, || {
        let mut text = format!("{count:>10}  episodes\n");
        for (agent, reasons) in &dropped {
            for (reason, count) in reasons {
                text.push_str(&format!("{:>10}  dropped: {agent}: {reason}\n", format!("-{count}")));
            }
        }
        text + &format!("{:>10}  written\n{out}\n", summary.counts.dialogues)
    })?;
    match summary.counts.dialogues {
        0 => Err(CliError::Empty("no episode became a row; the reasons stand above".to_owned())),
        _ => Ok(CommandEnd::Met),
    }
}

/// Returns the episodes of a file, and its hash.
fn read(file: &Path) -> Result<(Vec<Episode>, String), CliError> {
    let fail = |source| CliError::Read { path: file.to_owned(), source };
    let mut hasher = blake3::Hasher::new();
    let mut episodes = Vec::new();
    for (number, line) in BufReader::new(File::open(file).map_err(fail)?).lines().enumerate() {
        let line = line.map_err(fail)?;
        hasher.update(line.as_bytes());
        let episode = serde_json::from_str(&line).map_err(|error| {
            let place = format!("{}, line {}", file.display(), number + 1);
            CliError::Empty(format!("{place}: {error}; expected an episode as `eval run --out` writes it"))
        })?;
        episodes.push(episode);
    }
    Ok((episodes, hasher.finalize().to_hex().to_string()))
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Parser as _};

    use super::IGNORED;
    use crate::cli::Arguments;
    use crate::cli::generate::Generate;

    /// Flags of `generate` on which rows from traces depend.
    const USED: [&str; 5] = ["out", "threads", "model_license", "from_traces", "tasks"];

    #[test]
    fn each_flag_of_generate_is_used_or_refused() {
        let command = Generate::augment_args(clap::Command::new("generate"));
        let mut flags: Vec<&str> = command.get_arguments().map(|flag| flag.get_id().as_str()).collect();
        let mut expected = [&USED[..], &IGNORED].concat();
        flags.sort_unstable();
        expected.sort_unstable();
        assert_eq!(flags, expected);
    }

    #[test]
    fn a_flag_that_rows_of_traces_would_ignore_is_refused() {
        let is_read = |more: &[&str]| {
            let line = ["diorama", "generate", "--from-traces", "run/episodes.jsonl", "--tasks", "tasks"];
            Arguments::try_parse_from(line.iter().chain(more)).is_ok()
        };
        assert!(is_read(&[]) && is_read(&["--out", "rows", "--threads", "2", "--model-license", "MIT"]));
        for ignored in [
            &["--seed", "1"][..],
            &["-n", "5"],
            &["--resume"],
            &["--shard", "1/2"],
            &["--tags", "digression=.3"],
            &["--first-guesses"],
            &["--temperature", "0"],
            &["world.yaml"],
        ] {
            assert!(!is_read(ignored), "{ignored:?}");
        }
    }
}
