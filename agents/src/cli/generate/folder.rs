//! Owns `diorama generate` over a folder of documents: the rows of each document are made in processes of its
//! own.
//!
//! Each document is prepared once, first. Its result is kept under `.progress` for other shards and resumed
//! runs, and determines shares, splits and batches. This process holds no world.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::time::Instant;

use diorama_engine::tools::SearchVersion;
use diorama_output::dataset::{BatchRows, DatasetWriter, Options, Start};
use diorama_output::documents::{self, DocumentReport, DocumentRows, KEPT, RowsByDocument, complete};
use diorama_output::manifest::Identity;
use diorama_output::plan::{Batch, Plan, Shard};
use diorama_output::row::{Dialogue, Split};
use diorama_output::storage::Storage;
use diorama_seeds::task::{Ability, GoldCall};
use rayon::prelude::*;
use serde_json::{Value as Json, json};

use super::Generate;
use super::report::{Outcome, report};
use crate::cli::documents::find::{self, DocumentFile};
use crate::cli::documents::names;
use crate::cli::error::CliError;
use crate::cli::files::open_storage;
use crate::cli::inputs::Inputs;
use crate::cli::openapi::{ImportArgs, ImportMode, read_document};
use crate::cli::{CommandEnd, Streams, terminal};
use crate::draws;
use crate::isolation::bounds::Bounds;
use crate::isolation::prepare::{ImportRequest, Refusal};
use crate::isolation::process::Isolation;
use crate::isolation::worker::{Reply, Request, read_reply, write_request};
use crate::rows::documents::batch::{BatchRequest, MadeBatch};
use crate::rows::documents::layout::{self, DocumentBatch, DocumentSize};
use crate::rows::documents::split::split_by_provider;
use crate::rows::source::{RowSource, write_rows};
use crate::scenarios::Shares;

/// Maximum length of a packed world or a report, in bytes.
const MAX_KEPT_BYTES: u64 = 1 << 30;

/// Runs the command.
///
/// # Errors
/// Returns an error if no document gives rows, or if the dataset cannot be written.
pub(super) fn run(
    command: &Generate,
    inputs: &Inputs,
    started: Instant,
    streams: &mut Streams<'_>,
) -> Result<CommandEnd, CliError> {
    if inputs.import.overlay.is_some() {
        return Err(CliError::Usage("--overlay: found several documents, expected one".to_owned()));
    }
    let shard = command.shard.as_deref().map_or(Ok(Shard::WHOLE), str::parse)?;
    let found = find::documents(&inputs.openapi)?;
    let threads = command.threads.or_else(|| std::thread::available_parallelism().ok());
    let threads = threads.map_or(1, NonZeroUsize::get);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let hashes: Vec<String> = pool.install(|| found.par_iter().map(hash_document).collect());
    let mut abilities = command.abilities()?;
    if abilities.is_empty() {
        abilities = Ability::ALL.to_vec();
    }
    let config = make_config(command, &abilities, &found, &hashes);
    let identity = Identity {
        versions: crate::cli::dataset::verify::versions(SearchVersion::default()),
        seed: command.seed,
        config: config.clone(),
        benchmark: false,
    };
    let storage = open_storage(&command.out)?;
    let start = if command.resume { Start::Resume } else { Start::Fresh };
    let options = Options { shard, start };
    if let Some(summary) = DatasetWriter::finished(&storage, &identity, command.dialogues, options)? {
        let mut reports = documents::read(&storage)?.unwrap_or_default();
        // The counts of a single shard are those of its marker.
        complete(&mut reports, &summary.documents);
        let outcome =
            Outcome { summary: &summary, reports: &reports, seconds: started.elapsed().as_secs_f64() };
        report(command, &outcome, streams)?;
        return Ok(CommandEnd::Met);
    }
    storage.make_folders(&[KEPT])?;
    let run = FolderRun {
        storage,
        isolation: Isolation::of_this_program(),
        bounds: command.sources.inputs.import.bounds,
        streams: draws::Streams::new(command.seed),
        mode: command.sources.inputs.import.mode,
        keys: found.iter().zip(&hashes).map(|(found, hash)| hash_inputs(command, found, hash)).collect(),
        abilities,
        shares: command.shares(),
    };
    let mut reports = run.prepare(&pool, &found, shard)?;
    let mut names: Vec<String> = reports.iter().map(|report| report.name.clone()).collect();
    names::number(&mut names);
    for (report, name) in reports.iter_mut().zip(names) {
        report.name = name;
    }
    let layout = Layout::new(&mut reports, command.dialogues, command.domains_per_world(), &run.streams);
    if layout.batches.is_empty() {
        if shard == Shard::WHOLE {
            run.storage.remove_folder(diorama_output::dataset::PROGRESS)?;
        }
        let outcome = Outcome {
            summary: &Default::default(),
            reports: &reports,
            seconds: started.elapsed().as_secs_f64(),
        };
        report(command, &outcome, streams)?;
        return Err(CliError::Empty(format!(
            "found {} documents, none of which gives rows; the reasons stand above, and with --json under `documents`",
            reports.len()
        )));
    }
    let plan = Plan::of_batches(&layout.sizes(&reports))?;
    // The location already holds prepared documents. The code above has rejected the location of another run.
    let options = Options { shard, start: Start::Resume };
    let writer = DatasetWriter::open(run.storage.clone(), identity, plan, options)?;
    writer.put_reports(&reports)?;
    let bar = terminal::bar(writer.pending().iter().map(|file| file.row_count()).sum(), "dialogues");
    let rows = FolderRows { run: &run, layout: &layout, reports: &reports };
    write_rows(&rows, &writer, threads, |settled| bar.set_position(settled))?;
    bar.finish_and_clear();
    let mut summary = writer.finish()?;
    if shard == Shard::WHOLE {
        reports = documents::read(&run.storage)?.unwrap_or(reports);
    } else {
        complete(&mut reports, &std::mem::take(&mut summary.documents));
    }
    let outcome = Outcome { summary: &summary, reports: &reports, seconds: started.elapsed().as_secs_f64() };
    report(command, &outcome, streams)?;
    Ok(CommandEnd::Met)
}

/// A run over a folder of documents.
struct FolderRun {
    storage: Storage,
    isolation: Isolation,
    bounds: Bounds,
    streams: draws::Streams,
    mode: ImportMode,
    /// Names of the files with each document's result.
    keys: Vec<String>,
    abilities: Vec<Ability>,
    shares: Shares,
}

/// Document of each batch, and the other documents in its world.
struct Layout {
    batches: Vec<DocumentBatch>,
    partners: Vec<Vec<usize>>,
}

impl Layout {
    /// Distributes the rows, and writes the share and the split of each document into its report.
    fn new(
        reports: &mut [DocumentReport],
        rows: u64,
        domains_per_world: usize,
        streams: &draws::Streams,
    ) -> Self {
        let giving: Vec<usize> = (0..reports.len()).filter(|at| reports[*at].askable > 0).collect();
        let providers: Vec<&str> = giving.iter().map(|at| &*reports[*at].provider).collect();
        let splits: BTreeMap<usize, Split> =
            giving.iter().copied().zip(split_by_provider(&providers)).collect();
        let sizes: Vec<DocumentSize<'_>> = reports
            .iter()
            .enumerate()
            .map(|(at, report)| DocumentSize {
                name: &report.name,
                split: splits.get(&at).copied().unwrap_or(Split::Train),
                license: &report.license,
                askable: report.askable,
                operations: report.operations,
            })
            .collect();
        let shares = layout::shares(&sizes, rows, streams);
        let partners = layout::partners(&sizes, domains_per_world.saturating_sub(1), streams);
        for (at, report) in reports.iter_mut().enumerate() {
            report.share = shares[at];
            report.split = splits.get(&at).copied().filter(|_| shares[at] > 0);
        }
        Self { batches: layout::batches(&shares, streams), partners }
    }

    /// Returns the split and the number of rows of each batch.
    fn sizes(&self, reports: &[DocumentReport]) -> Vec<(Split, u32)> {
        let size =
            |batch: &DocumentBatch| (reports[batch.document].split.unwrap_or(Split::Train), batch.rows);
        self.batches.iter().map(size).collect()
    }
}

impl FolderRun {
    /// Prepares all documents without a stored result. Each shard begins at another document, so that
    /// concurrent shards do not prepare the same ones.
    fn prepare(
        &self,
        pool: &rayon::ThreadPool,
        found: &[DocumentFile],
        shard: Shard,
    ) -> Result<Vec<DocumentReport>, CliError> {
        let bar = terminal::bar(found.len() as u64, "documents");
        let first = (u64::from(shard.number() - 1) * found.len() as u64 / u64::from(shard.count())) as usize;
        let order: Vec<usize> = (first..found.len()).chain(0..first).collect();
        // Documents differ in size by a factor of a thousand, so that threads take them one by one.
        let next = Mutex::new(order.into_iter());
        let reports: Vec<Mutex<Option<DocumentReport>>> = found.iter().map(|_| Mutex::new(None)).collect();
        let take = || next.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
        let work = || -> Result<(), CliError> {
            while let Some(at) = take() {
                let report = self.prepare_one(&found[at], &self.keys[at])?;
                *reports[at].lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(report);
                bar.inc(1);
            }
            Ok(())
        };
        pool.broadcast(|_| work()).into_iter().collect::<Result<(), CliError>>()?;
        bar.finish_and_clear();
        let report = |slot: Mutex<Option<DocumentReport>>| {
            slot.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).ok_or(CliError::Worker)
        };
        reports.into_iter().map(report).collect()
    }

    /// Returns the stored report of a document. Without one, a worker prepares the document and its report is
    /// stored.
    fn prepare_one(&self, found: &DocumentFile, key: &str) -> Result<DocumentReport, CliError> {
        let kept = || -> Result<Option<DocumentReport>, CliError> {
            let bytes = self.storage.read(&report_file(key), MAX_KEPT_BYTES)?;
            Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
        };
        if let Some(report) = kept()? {
            return Ok(report);
        }
        let document =
            ImportRequest { path: found.path.clone(), label: found.label.clone(), mode: self.mode };
        let request = write_request(&Request::Prepare { document, seed: self.streams.seed() }, &[]);
        let failed = |reason: String| DocumentReport {
            document: found.label.clone(),
            failed: Some(reason),
            ..DocumentReport::default()
        };
        let report = match self.isolation.ask(request, self.bounds) {
            Err(ended) if ended.is_from_outside => {
                return Err(CliError::Ended { document: found.label.clone(), reason: ended.reason });
            }
            Err(ended) => failed(ended.reason),
            Ok(reply) => match read_reply(&reply) {
                Ok((Reply::Prepared(report), world)) => {
                    self.storage.write(&world_file(key), world)?;
                    *report
                }
                Ok((Reply::Refused(Refusal { reason, .. }), _)) => failed(reason),
                Ok(_) => failed("its process answered another request".to_owned()),
                Err(reason) => failed(reason),
            },
        };
        let bytes = serde_json::to_vec(&report).unwrap_or_default();
        if self.storage.write_new(&report_file(key), &bytes)? {
            return Ok(report);
        }
        // If another shard was first, its report applies.
        Ok(kept()?.unwrap_or(report))
    }
}

/// Source of rows from prepared documents.
struct FolderRows<'a> {
    run: &'a FolderRun,
    layout: &'a Layout,
    reports: &'a [DocumentReport],
}

impl RowSource for FolderRows<'_> {
    type Error = CliError;

    /// Lets a worker make the rows of a batch.
    fn make_batch(&self, batch: &Batch) -> Result<BatchRows, CliError> {
        let Self { run, layout, reports } = self;
        let Some(planned) = layout.batches.get(batch.index as usize) else { return Err(CliError::Worker) };
        let report = &reports[planned.document];
        let (mut documents, mut worlds) = (Vec::new(), Vec::new());
        for at in std::iter::once(&planned.document).chain(&layout.partners[planned.document]) {
            let packed = run.storage.read(&world_file(&run.keys[*at]), MAX_KEPT_BYTES)?.unwrap_or_default();
            documents.push((reports[*at].name.clone(), packed.len()));
            worlds.push(packed);
        }
        let request = BatchRequest {
            streams: run.streams,
            abilities: run.abilities.clone(),
            shares: run.shares.clone(),
            split: batch.split,
            row_indexes: batch.row_indexes.clone(),
            first: planned.first,
        };
        let request = write_request(&Request::Batch { request, documents }, &worlds);
        drop(worlds);
        let failed = |reason: String| {
            let mut rows = BatchRows { batch: batch.index, ..BatchRows::default() };
            rows.funnel.propose();
            rows.funnel.drop_at("document", "its world cannot be made, or its process ended");
            let failures = [reason].into();
            rows.documents.insert(report.name.clone(), DocumentRows { failures, ..DocumentRows::default() });
            rows
        };
        let reply = match run.isolation.ask(request, run.bounds) {
            Ok(reply) => reply,
            Err(ended) if ended.is_from_outside => {
                return Err(CliError::Ended { document: report.document.clone(), reason: ended.reason });
            }
            Err(ended) => return Ok(failed(ended.reason)),
        };
        let made = match read_reply(&reply) {
            Ok((Reply::Made(made), _)) => made,
            Ok((Reply::Refused(refusal), _)) => return Ok(failed(refusal.reason)),
            Ok(_) => return Ok(failed("its process answered another request".to_owned())),
            Err(reason) => return Ok(failed(reason)),
        };
        let MadeBatch { world_id, world, rows, funnel } = *made;
        let documents = count_by_document(&report.name, &rows);
        let worlds = [(world_id, world.into())].into();
        Ok(BatchRows { batch: batch.index, rows, worlds, funnel, documents })
    }
}

/// Counts the rows of a batch by document. The rows belong to one document, and call its operations and those
/// of others.
fn count_by_document(name: &str, rows: &[Dialogue]) -> RowsByDocument {
    let mut documents = RowsByDocument::new();
    documents.entry(name.to_owned()).or_default().rows = rows.len() as u64;
    for row in rows {
        let calls: Vec<GoldCall> = serde_json::from_str(&row.gold_calls).unwrap_or_default();
        let mut sources: Vec<&str> = calls.iter().filter_map(|call| call.source_api.as_deref()).collect();
        sources.sort_unstable();
        sources.dedup();
        for (document, operation) in sources.into_iter().filter_map(|source| source.split_once('.')) {
            let of_document = documents.entry(document.to_owned()).or_default();
            *of_document.operations.entry(operation.to_owned()).or_default() += 1;
        }
    }
    documents
}

/// Collects all inputs on which the rows depend, except the seed.
fn make_config(
    command: &Generate,
    abilities: &[Ability],
    found: &[DocumentFile],
    hashes: &[String],
) -> BTreeMap<String, Json> {
    let sources: Vec<Json> =
        found.iter().zip(hashes).map(|(found, hash)| json!({"name": found.label, "blake3": hash})).collect();
    let ImportArgs { mode, bounds, .. } = &command.sources.inputs.import;
    let mut documents =
        json!({"seconds": bounds.document_seconds, "memory": bounds.document_memory, "strict": mode.strict});
    if mode.first_guesses {
        documents["first_guesses"] = json!(true);
    }
    let mut config = BTreeMap::from([
        ("abilities".to_owned(), json!(abilities)),
        ("backend".to_owned(), json!("scenarios")),
        ("dialogues".to_owned(), json!(command.dialogues)),
        ("domains_per_world".to_owned(), json!(command.domains_per_world())),
        ("sources".to_owned(), Json::Array(sources)),
        ("documents".to_owned(), documents),
    ]);
    if !command.tags.is_empty() {
        config.insert("tags".to_owned(), json!(command.shares()));
    }
    config
}

/// Hashes a document. An unreadable document has the hash of the empty text, and its worker reports the
/// reason.
fn hash_document(found: &DocumentFile) -> String {
    let text = read_document(&found.path).unwrap_or_default();
    blake3::hash(&text).to_hex().to_string()
}

/// Hashes all inputs of a document's preparation. The hash names the files with its result.
fn hash_inputs(command: &Generate, found: &DocumentFile, hash: &str) -> String {
    let ImportArgs { mode, bounds, .. } = &command.sources.inputs.import;
    let whole = json!([
        crate::GENERATOR_VERSION,
        command.seed,
        mode,
        bounds.document_seconds,
        bounds.document_memory,
        found.label,
        hash,
    ]);
    blake3::hash(whole.to_string().as_bytes()).to_hex().chars().take(32).collect()
}

fn report_file(key: &str) -> String {
    format!("{KEPT}/{key}.json")
}

fn world_file(key: &str) -> String {
    format!("{KEPT}/{key}.zst")
}
