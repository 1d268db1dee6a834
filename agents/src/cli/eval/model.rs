//! The chat model of `diorama eval`: where it is, what a run may spend, and where replies are kept.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use diorama_llm::{
    Budget, Cassette, Durability, Format, HttpSettings, Identity, Ledger, Prices, Recorded, Replay,
    RetryPolicy, Sampling, Secret, connect,
};

use crate::cli::error::CliError;
use crate::evaluation::batch::SharedModel;

/// How a model is asked.
#[derive(Clone, Debug, Args)]
pub struct ModelArgs {
    /// Server of the model, with or without /v1.
    #[arg(long, value_name = "URL", help_heading = "Model")]
    pub base_url: Option<String>,
    /// Model, as the server names it.
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub model: Option<String>,
    /// Environment variable that holds the key; local servers need none.
    #[arg(long, value_name = "VAR", default_value = "OPENAI_API_KEY", help_heading = "Model")]
    pub api_key_env: String,
    /// Temperature.
    #[arg(long, value_name = "T", default_value_t = 0.0, help_heading = "Model")]
    pub temperature: f64,
    /// Longest reply, in tokens.
    #[arg(long, value_name = "N", default_value_t = 1024, help_heading = "Model")]
    pub max_tokens: u32,
    /// Tokens that the whole run may take, sent and received.
    #[arg(long, value_name = "N", help_heading = "Model")]
    pub max_tokens_total: Option<u64>,
    /// What the whole run may cost, in the currency of the prices.
    #[arg(long, value_name = "X", requires = "price_in", requires = "price_out", help_heading = "Model")]
    pub max_cost: Option<f64>,
    /// Price of a million tokens that are sent.
    #[arg(long, value_name = "P", default_value_t = 0.0, help_heading = "Model")]
    pub price_in: f64,
    /// Price of a million tokens that come back.
    #[arg(long, value_name = "P", default_value_t = 0.0, help_heading = "Model")]
    pub price_out: f64,
    /// Keep replies in this file; what it holds is not asked again, so that a run can be taken up where it ended.
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub record: Option<PathBuf>,
    /// Answer from this file alone, and ask nobody.
    #[arg(long, value_name = "FILE", conflicts_with = "record", help_heading = "Model")]
    pub replay: Option<PathBuf>,
    /// Episodes at a time.
    #[arg(long, value_name = "N", default_value = "8", help_heading = "Model")]
    pub concurrency: NonZeroUsize,
}

/// A model that is ready to be asked.
pub struct Connected {
    /// The model.
    pub model: SharedModel,
    /// Its name.
    pub name: String,
    /// What it has been asked and spent.
    pub ledger: Arc<Ledger>,
    /// How tokens are drawn.
    pub sampling: Sampling,
    /// What tokens cost.
    pub prices: Prices,
}

impl ModelArgs {
    /// Makes the model.
    ///
    /// # Errors
    /// When something is missing or cannot be used.
    pub fn connect(&self) -> Result<Connected, CliError> {
        let usage = |what: String| CliError::Usage(what);
        let name = self.model.clone().ok_or_else(|| {
            usage("--model: found none, expected the model's name, as its server has it".into())
        })?;
        let sampling = Sampling { temperature: Some(self.temperature), ..Sampling::up_to(self.max_tokens) };
        let cassette = self.record.as_ref().or(self.replay.as_ref());
        let cassette = cassette.map(|path| Cassette::open(path, Durability::Process)).transpose();
        let cassette = cassette.map_err(|error| CliError::Empty(error.to_string()))?.map(Arc::new);
        let budget = Budget { max_tokens: self.max_tokens_total, max_cost: self.max_cost };
        let prices = Prices { input: self.price_in, output: self.price_out };
        let before = match (&cassette, &self.record) {
            (Some(cassette), Some(_)) => cassette.contents().usage,
            _ => diorama_llm::Usage::default(),
        };
        let ledger = Ledger::new(budget, prices, before).map_err(|error| usage(error.to_string()))?;
        let model: SharedModel = match (cassette, &self.replay) {
            (Some(cassette), Some(_)) => {
                let extra = serde_json::Map::new();
                let identity = Identity { model: name.clone(), format: Format::JsonSchema, extra };
                Arc::new(Replay::new(identity, cassette, Arc::clone(&ledger)))
            }
            (cassette, _) => {
                let url = self.base_url.clone().ok_or_else(|| {
                    usage("--base-url: found none, expected a server such as http://127.0.0.1:8000".into())
                })?;
                let settings = HttpSettings::new(url, name.clone());
                let model = connect(settings, self.key(), RetryPolicy::default(), self.concurrency, &ledger);
                let model = model.map_err(|error| usage(error.to_string()))?;
                match cassette {
                    Some(cassette) => Arc::new(Recorded::new(model, cassette, Arc::clone(&ledger))),
                    None => Arc::new(model),
                }
            }
        };
        Ok(Connected { model, name, ledger, sampling, prices })
    }

    #[expect(clippy::disallowed_methods, reason = "the command line is where the environment is read")]
    fn key(&self) -> Option<Secret> {
        std::env::var(&self.api_key_env).ok().filter(|key| !key.trim().is_empty()).map(Secret::new)
    }
}
