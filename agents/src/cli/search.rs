//! `diorama search`

use clap::Args;
use diorama_seeds::materialise::Source;
use diorama_simulator::search::{ApiQuery, ApiSearch, LexicalSearch, entries};
use serde_json::json;

use super::error::CliError;
use super::inputs::{Inputs, catalog_worlds};
use super::{Done, Streams};

/// Find APIs by what they do.
///
/// Searches the catalog's worlds unless --world or --openapi names others. The score is BM25 over an API's name,
/// description, parameters and domain; it is comparable within one search only.
#[derive(Debug, Args)]
pub struct Search {
    /// What the API should do, in plain words.
    #[arg(value_name = "QUERY", required = true)]
    pub query: Vec<String>,
    /// At most so many hits.
    #[arg(short, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub k: u16,
    /// Where worlds come from.
    #[command(flatten)]
    pub inputs: Inputs,
}

impl Search {
    /// Runs the command.
    ///
    /// # Errors
    /// When worlds cannot be read.
    pub fn run(self, streams: &mut Streams<'_>) -> Result<Done, CliError> {
        let docs = if self.inputs.is_empty() { catalog_worlds()? } else { self.inputs.read(streams)? };
        let mut apis = Vec::new();
        for doc in docs {
            let name = doc.name.clone();
            apis.extend(entries(&name, Source::new(doc)?.world()));
        }
        let search = LexicalSearch::new(apis)?;
        let hits =
            search.search(ApiQuery { text: &self.query.join(" "), k: usize::from(self.k), world: None })?;
        streams.print(&json!({"hits": hits}), || {
            let widest = |text: fn(&diorama_simulator::search::ApiHit) -> &str| {
                hits.iter().map(|hit| text(hit).chars().count()).max().unwrap_or(0)
            };
            let (api, domain) = (widest(|hit| &hit.api), widest(|hit| &hit.domain));
            hits.iter()
                .map(|hit| {
                    format!(
                        "{:>6.2}  {:api$}  {:domain$}  {}\n",
                        hit.score, hit.api, hit.domain, hit.description
                    )
                })
                .collect()
        })?;
        Ok(Done::Met)
    }
}
