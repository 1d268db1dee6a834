//! Owns the command `diorama search`.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use diorama_seeds::materialise::Source;
use diorama_seeds::model::Method;
use diorama_simulator::search::{ApiHit, ApiIndex, ApiQuery, SearchBy, entries};
use serde_json::json;

use super::embedder::EmbedderArguments;
use super::error::CliError;
use super::inputs::{InputWorlds, Inputs};
use super::{CommandEnd, Streams};

/// Find APIs by what they do, in plain words.
///
/// Searches the catalog's worlds unless --world or --openapi names others. Three parts are joined: words (BM25 over an
/// API's name, description, parameters and domain), meaning (the cosine of an embedding model's vectors), and need (an
/// API that returns what a better hit must be given). --json has the score of each part; scores are comparable within
/// one search only.
#[derive(Debug, Args)]
pub struct Search {
    /// Purpose of the API, in plain words.
    #[arg(value_name = "QUERY", required = true)]
    pub query: Vec<String>,
    /// Maximum hits.
    #[arg(short, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub k: u16,
    /// Domain of the APIs [default: all].
    #[arg(long, value_name = "NAME")]
    pub domain: Option<String>,
    /// HTTP method of the APIs [default: all].
    #[arg(long, value_name = "METHOD", value_parser = method)]
    pub method: Option<Method>,
    /// Measure to rank by.
    #[arg(long, default_value = SearchBy::FusedAndNeeds.name(), value_parser = by())]
    pub by: SearchBy,
    /// Which embedding model is used.
    #[command(flatten)]
    pub embedder: EmbedderArguments,
    /// Where worlds come from.
    #[command(flatten)]
    pub inputs: Inputs,
}

/// Returns the parser of the parts of the search that count.
fn by() -> impl TypedValueParser<Value = SearchBy> {
    let help = ["Words only", "Meaning only", "Both", "Both, and what the hits need"];
    let values = SearchBy::ALL.iter().zip(help).map(|(by, help)| PossibleValue::new(by.name()).help(help));
    PossibleValuesParser::new(values).map(|name| SearchBy::named(&name).unwrap_or_default())
}

fn method(name: &str) -> Result<Method, String> {
    Method::parse(&name.to_ascii_uppercase())
        .ok_or_else(|| "expected GET, POST, PUT, PATCH or DELETE".to_owned())
}

impl Search {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let InputWorlds { docs, refused, files } = self.inputs.read_or_catalog(streams)?;
        let names: Vec<String> = docs.iter().map(|doc| doc.name.clone()).collect();
        let mut apis = Vec::new();
        for (name, doc) in names.iter().zip(docs) {
            let source = Source::new(doc).map_err(|report| InputWorlds::located(&names, &files, report))?;
            apis.extend(entries(name, source.world()));
        }
        let index = ApiIndex::new(apis, self.embedder.embedder()?)?;
        if let Some(domain) = &self.domain {
            let usage =
                |expected| CliError::Usage(format!("--domain: found `{domain}`, expected {expected}"));
            index.check_domain(domain).map_err(usage)?;
        }
        let hits = index.search(ApiQuery {
            text: &self.query.join(" "),
            k: usize::from(self.k),
            world: None,
            domain: self.domain.as_deref(),
            method: self.method,
            by: self.by,
        })?;
        streams.print(&json!({"hits": hits, "refused": refused}), || {
            let widest = |text: fn(&ApiHit) -> &str| {
                hits.iter().map(|hit| text(hit).chars().count()).max().unwrap_or(0)
            };
            let (api, domain) = (widest(|hit| &hit.api), widest(|hit| &hit.domain));
            let line = |hit: &ApiHit| {
                let needed =
                    hit.scores.needed_by.as_ref().map(|by| format!(" (for {by})")).unwrap_or_default();
                let ApiHit { score, description, .. } = hit;
                format!("{score:>6.2}  {:api$}  {:domain$}  {description}{needed}\n", hit.api, hit.domain)
            };
            hits.iter().map(line).collect()
        })?;
        Ok(CommandEnd::Met)
    }
}
