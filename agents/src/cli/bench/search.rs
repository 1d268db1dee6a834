//! Owns the command `diorama bench search`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use diorama_benchmarks::retrieval::{CUTS, Interval, MEASURES, Material, Request, SearchMeasures};
use diorama_engine::embed::{Embedder, embedded};
use diorama_engine::search::{ToolFinder, entries};
use diorama_engine::tools::{SearchVersion, TOOL_SEARCHER};
use diorama_output::row::Dialogue;
use diorama_output::storage::Location;
use diorama_seeds::materialise::Source;
use diorama_seeds::task::GoldCall;
use diorama_simulator::search::{ApiIndex, ApiQuery, SearchBy, SearchError};
use serde_json::{Map, Value as Json, json};

use crate::cli::embedder::EmbedderArguments;
use crate::cli::error::CliError;
use crate::cli::files::open_dataset;
use crate::cli::inputs::Inputs;
use crate::cli::{CommandEnd, Streams, terminal};

/// Maximum number of hits per search.
const MOST_HITS: usize = CUTS[CUTS.len() - 1];

/// Measure how well APIs are found.
///
/// Prints recall at 1, 5 and 10 and the share of requests whose APIs are all among the first 10, for each way of
/// searching, with 95 % bootstrap intervals, and what each has over the baseline (the full-size model alone where
/// --model names one, else words alone), drawn in pairs. An interval that holds 0 tells nothing apart.
#[derive(Debug, Args)]
pub struct SearchCommand {
    /// Requests with the APIs that answer them: lines of {"query", "apis": [name, ...]} (with --pool), Reverse Chain's
    /// compositional multi-tool JSON, or a dataset's folder (over the catalog, or --world and --openapi).
    #[arg(value_name = "FILE|DIR")]
    pub queries: Location,
    /// File of the APIs, one JSON object per line: {"name", "description", "inputs": [name, ...], "outputs": [name, ...],
    /// "domain"?}.
    #[arg(long, value_name = "FILE")]
    pub pool: Option<PathBuf>,
    /// Full-size model to measure beside the built-in one.
    #[command(flatten)]
    pub embedder: EmbedderArguments,
    /// The worlds of a dataset's pool.
    #[command(flatten)]
    pub inputs: Inputs,
}

/// Search method with its measures.
struct Method {
    name: String,
    measured: SearchMeasures,
    micros: f64,
}

impl SearchCommand {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let material = self.material(streams)?;
        let own: Arc<dyn Embedder> = embedded().map_err(SearchError::from)?;
        let mut methods = run(&material, own, "", &SearchBy::ALL)?;
        methods.push(session(&material)?);
        if let Some(full) = self.embedder.full()? {
            let ways = [SearchBy::Meaning, SearchBy::Fused, SearchBy::FusedAndNeeds];
            methods.extend(run(&material, full, "model ", &ways)?);
        }
        let baseline = methods.iter().position(|method| method.name == "model embedding").unwrap_or(0);
        let data = report(&material, &methods, baseline);
        streams.print(&data, || table(&material, &methods, baseline))?;
        Ok(CommandEnd::Met)
    }

    fn material(&self, streams: &mut Streams<'_>) -> Result<Material, CliError> {
        // A file holds instances. A folder, or a location in an object store, is a dataset.
        if let Some(path) = self.queries.as_local().filter(|path| !path.is_dir()) {
            if !self.inputs.is_empty() {
                return Err(CliError::Usage(format!(
                    "--world, --openapi: found beside the file `{}`, expected beside a dataset's folder; the APIs of a file are its own, or those of --pool",
                    path.display()
                )));
            }
            return Ok(Material::read(path, self.pool.as_deref())?);
        }
        if let Some(pool) = &self.pool {
            return Err(CliError::Usage(format!(
                "--pool: found `{}` beside a dataset, expected beside a file of requests; a dataset is searched in worlds, which --world names",
                pool.display()
            )));
        }
        let mut pool = Vec::new();
        for doc in self.inputs.read_or_catalog(streams)?.docs {
            let name = doc.name.clone();
            pool.extend(entries(&name, Source::new(doc)?.world()));
        }
        let rows: Vec<_> = open_dataset(&self.queries)?.rows().collect::<Result<_, _>>()?;
        let requests: Result<Vec<Request>, CliError> = rows.into_iter().map(request).collect();
        Ok(Material::of_requests(Path::new(&self.queries.to_string()), pool, requests?)?)
    }
}

/// Returns the request of a row: its first user turn, with the APIs of the reference calls.
fn request(row: Dialogue) -> Result<Request, CliError> {
    let calls: Result<Vec<GoldCall>, _> = serde_json::from_str(&row.gold_calls);
    let calls = calls.map_err(|error| {
        CliError::Empty(format!("row {}: {error}; expected the reference calls of a row", row.id))
    })?;
    let apis = calls.into_iter().map(|call| call.api).filter(|api| api != TOOL_SEARCHER).collect();
    Ok(Request { query: row.query, apis, domain: row.domains.join(", ") })
}

fn run(
    material: &Material,
    embedder: Arc<dyn Embedder>,
    prefix: &str,
    ways: &[SearchBy],
) -> Result<Vec<Method>, CliError> {
    let index = ApiIndex::new(material.pool.clone(), embedder)?;
    let method = |by: &SearchBy| {
        let query = ApiQuery { k: MOST_HITS, by: *by, ..ApiQuery::default() };
        method(material, format!("{prefix}{}", by.name()), |text| index.positions(ApiQuery { text, ..query }))
    };
    ways.iter().map(method).collect()
}

/// Measures `ToolSearcher` over one world that has all APIs of the pool.
fn session(material: &Material) -> Result<Method, CliError> {
    let finder = ToolFinder::new(material.pool.clone()).map_err(SearchError::from)?;
    let found =
        |text: &str| finder.found(text, MOST_HITS).into_iter().map(|(position, _)| position).collect();
    method(material, SearchVersion::default().name().to_owned(), |text| Ok(found(text)))
}

fn method(
    material: &Material,
    name: String,
    search: impl Fn(&str) -> Result<Vec<usize>, SearchError>,
) -> Result<Method, CliError> {
    let bar = terminal::bar(material.cases.len() as u64, "searches");
    let mut measured = SearchMeasures::default();
    let mut micros = Vec::new();
    for case in &material.cases {
        let started = Instant::now();
        let found = search(&case.query)?;
        micros.push(started.elapsed().as_secs_f64() * 1e6);
        measured.add(&case.gold, &found);
        bar.inc(1);
    }
    bar.finish_and_clear();
    micros.sort_by(f64::total_cmp);
    Ok(Method { name, measured, micros: micros.get(micros.len() / 2).copied().unwrap_or(0.0) })
}

fn report(material: &Material, methods: &[Method], baseline: usize) -> Json {
    let named = |intervals: [Interval; MEASURES.len()]| -> Map<String, Json> {
        MEASURES.iter().zip(intervals).map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
    };
    let over = |method: &Method| {
        let mut found = named(method.measured.intervals(None));
        found.insert("median_us".to_owned(), json!(method.micros));
        if let Some(base) = methods.get(baseline) {
            let lead = named(method.measured.intervals(Some(&base.measured)));
            found.insert("over_baseline".to_owned(), json!(lead));
        }
        (method.name.clone(), Json::Object(found))
    };
    json!({
        "requests": material.cases.len(),
        "apis": material.pool.len(),
        "baseline": methods.get(baseline).map(|method| &method.name),
        "methods": methods.iter().map(over).collect::<Map<_, _>>(),
    })
}

fn table(material: &Material, methods: &[Method], baseline: usize) -> String {
    let mut out = format!("{} requests over {} APIs\n\n", material.cases.len(), material.pool.len());
    let _ = writeln!(out, "{:18}  recall@1  recall@5  recall@10  complete@10  median", "");
    for Method { name, measured, micros } in methods {
        let [one, five, ten, whole] = measured.intervals(None).map(|interval| interval.mean);
        let _ = writeln!(out, "{name:18}  {one:8.3}  {five:8.3}  {ten:9.3}  {whole:11.3}  {micros:.0} µs");
    }
    let Some(base) = methods.get(baseline) else { return out };
    let _ = writeln!(out, "\nOver `{}`, with 95 % intervals\n", base.name);
    for (_, method) in methods.iter().enumerate().filter(|(at, _)| *at != baseline) {
        let lead = method.measured.intervals(Some(&base.measured));
        let cells = lead.map(|Interval { mean, low, high }| format!("{mean:+.3} ({low:+.3} to {high:+.3})"));
        let _ = writeln!(out, "{:18}  {}", method.name, cells.join("  "));
    }
    out
}
