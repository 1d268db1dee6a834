//! Owns the command `diorama dataset verify`.

use std::num::NonZeroUsize;

use clap::Args;
use diorama_engine::tools::SearchVersion;
use diorama_output::folder::{Failure, Folder, Part, Tally};
use diorama_output::manifest::Versions;
use diorama_output::storage::Location;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use serde_json::json;

use crate::cli::error::CliError;
use crate::cli::files::open_dataset;
use crate::cli::{CommandEnd, Streams, terminal};
use crate::episode::Worlds;
use crate::verify::{OF_OLDER_ROWS, replay};

/// Verify a dataset: replay every row from its files alone.
///
/// Checks the checksum of each file, then runs the reference calls of each row in its world and compares every reply,
/// both state hashes and the messages. Makes each row again from its messages, calls and claims, compares checks, script and
/// answers with what it stores, and grades the reference answer. Says what nothing in the files proves (`unproven`). Exits
/// with 0 only when all rows hold, with 3 when something does not.
#[derive(Debug, Args)]
pub struct Verify {
    /// Dataset: a folder or a URL (s3://, gs://, az://).
    #[arg(value_name = "LOCATION")]
    pub folder: Location,
    /// Maximum threads [default: one per core].
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
}

/// Maximum number of listed failures. Further ones are counted only.
const LISTED: usize = 100;

/// Properties that the rows and worlds alone cannot prove. Only generation with the same seed and settings
/// proves them.
const UNPROVEN: [&str; 13] = [
    "gold_answer.claims: which facts a request asks for, and what opens a goal",
    "the words of the system message and of the assistant beyond episode.system_hash and episode.dialogue_hash",
    "the seed, config and plan of the manifest beyond what rows repeat of them",
    "funnel.dropped, funnel.exhausted and funnel.mutants",
    "tags",
    "license, beyond that it opens with that of the world",
    "domains of rows that call no API, beyond that it is one of the world's",
    "gates: how many mutants, alternatives and readings were tried",
    "provenance: model, prompt_hash, attempt and difficulty.traps",
    "user_facts that the user never says in the row",
    "the versions of generator and grader",
    "benchmark",
    "the words of README.md",
];

#[derive(Default)]
struct VerifyResult {
    failures: Vec<Failure>,
    tally: Tally,
    rows: u64,
    replayed: u64,
    failed_rows: u64,
    /// Rows of an older version, which lack the claims for some columns.
    older: u64,
}

impl Verify {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let folder = open_dataset(&self.folder)?;
        // A dataset of an older search version is replayed with that version.
        let recorded = SearchVersion::named(&folder.manifest().search_version).unwrap_or_default();
        let mut failures = folder.check_versions(&versions(recorded));
        if failures.is_empty() {
            failures = folder.check_files();
        }
        let parts = folder.parts().unwrap_or_else(|error| {
            let what = error.to_string();
            if failures.is_empty() {
                failures.push(Failure { file: "data".to_owned(), row: None, what });
            }
            Vec::new()
        });
        let found = self.rows(&folder, &parts)?;
        let VerifyResult { failures: of_rows, tally, rows, replayed, failed_rows, older } = found;
        failures.extend(of_rows);
        if !parts.is_empty() {
            failures.extend(folder.check_tally(&tally));
            failures.extend(folder.check_making(&tally));
        }
        failures.sort();
        failures.dedup();
        let held = failures.is_empty();
        let unproven: Vec<&str> = UNPROVEN.into_iter().chain((older > 0).then_some(OF_OLDER_ROWS)).collect();
        let data = json!({
            "rows": rows,
            "replayed": replayed,
            "failed": failed_rows,
            "failures": failures.iter().take(LISTED).collect::<Vec<_>>(),
            "failures_in_all": failures.len(),
            "unproven": unproven,
        });
        streams.print(&data, || {
            let mut text = String::new();
            for failure in failures.iter().take(LISTED) {
                let row = failure.row.as_ref().map(|row| format!(", row {row}")).unwrap_or_default();
                text.push_str(&format!("{}{row}: {}\n", failure.file, failure.what));
            }
            if failures.len() > LISTED {
                text.push_str(&format!("and {} more\n", failures.len() - LISTED));
            }
            let verdict = if held { "all hold" } else { "not all hold" };
            text.push_str(&format!("{rows} rows, {replayed} replayed, {failed_rows} failed: {verdict}\n"));
            text.push_str(&format!("unproven, as no row bears them out: {}\n", unproven.join("; ")));
            text
        })?;
        Ok(if held { CommandEnd::Met } else { CommandEnd::NotMet })
    }

    fn rows(&self, folder: &Folder, parts: &[Part]) -> Result<VerifyResult, CliError> {
        let worlds = Worlds::new(folder.clone());
        let bar = terminal::bar(folder.manifest().counts.dialogues, "rows");
        let threads = self.threads.map_or(0, NonZeroUsize::get);
        let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
        let found = pool.install(|| {
            let found = parts.par_iter().map(|part| one_part(folder, part, &worlds, &bar));
            let mut found = found.reduce(VerifyResult::default, VerifyResult::with);
            let files = folder.row_files();
            found.failures.par_extend(files.par_iter().flat_map_iter(|file| folder.check_structured(file)));
            found
        });
        bar.finish_and_clear();
        Ok(found)
    }
}

impl VerifyResult {
    fn with(mut self, other: Self) -> Self {
        self.failures.extend(other.failures);
        self.tally.add(other.tally);
        self.rows += other.rows;
        self.replayed += other.replayed;
        self.failed_rows += other.failed_rows;
        self.older += other.older;
        self
    }
}

fn one_part(folder: &Folder, part: &Part, worlds: &Worlds, bar: &indicatif::ProgressBar) -> VerifyResult {
    let mut found = VerifyResult::default();
    let fail = |found: &mut VerifyResult, row: Option<String>, what: String| {
        found.failures.push(Failure { file: part.file.clone(), row, what });
    };
    let rows = match folder.read(part) {
        Ok(rows) => rows,
        Err(error) => {
            fail(&mut found, None, error.to_string());
            return found;
        }
    };
    for (number, row) in rows.enumerate() {
        let row = match row {
            Ok(row) => row,
            Err(error) => {
                fail(&mut found, None, error.to_string());
                break;
            }
        };
        found.rows += 1;
        found.tally.count(&part.file, &row);
        found.tally.place(part, number, &row);
        let of_row = folder.check_row(&part.file, &row);
        let mut holds = of_row.is_empty();
        found.failures.extend(of_row);
        for what in folder.check_provenance(&row) {
            holds = false;
            fail(&mut found, Some(row.id.clone()), what);
        }
        match replay(&row, worlds) {
            Ok(derived) => {
                found.replayed += 1;
                found.older += u64::from(!derived);
            }
            Err(what) => {
                holds = false;
                fail(&mut found, Some(row.id.clone()), what.to_string());
            }
        }
        found.failed_rows += u64::from(!holds);
        bar.inc(1);
    }
    found
}

/// Returns the versions of this program, with a version of its tool search.
pub fn versions(search: SearchVersion) -> Versions {
    Versions {
        engine: diorama_engine::ENGINE_VERSION.to_owned(),
        grader: diorama_grade::GRADER_VERSION.to_owned(),
        search: search.name().to_owned(),
        generator: crate::GENERATOR_VERSION.to_owned(),
    }
}
