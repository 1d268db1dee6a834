//! Owns the flags of every command that asks a chat model, and makes the model from them.

use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use diorama_llm::{
    BudgetLimits, ChatError, HttpSettings, Identity, JsonMode, MaxTokensField, Prices, RecordedModel,
    Recording, ReplayModel, RetrySettings, RunBudget, Sampling, Secret, Usage, connect,
};

use crate::cli::error::CliError;
use crate::evaluation::batch::SharedModel;
use crate::evaluation::transcribed::{Answers, Transcriber};

/// Server of a model, limits of a run, and the file of its replies.
#[derive(Clone, Debug, Args)]
pub struct ConnectionArgs {
    /// URL of an OpenAI-compatible server, with or without /v1.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Model name, as the server knows it.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Environment variable that holds the API key. Local servers need none.
    #[arg(long, value_name = "VAR", default_value = "OPENAI_API_KEY")]
    pub api_key_env: String,
    /// How to ask the server for JSON.
    #[arg(long, value_enum, value_name = "MODE", default_value_t = JsonMode::JsonSchema)]
    pub json_mode: JsonMode,
    /// Maximum tokens per reply.
    #[arg(long, value_name = "N", default_value_t = 1024)]
    pub max_reply_tokens: u32,
    /// Field of a request that holds --max-reply-tokens [default: max_tokens, or max_completion_tokens where the server refuses
    /// that and takes this].
    #[arg(long, value_enum, value_name = "FIELD")]
    pub max_tokens_field: Option<MaxTokensField>,
    /// How often a request is sent again after failures that may pass.
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub retries: u32,
    /// Maximum seconds per reply. After that the request is sent again.
    #[arg(long, value_name = "S", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub reply_seconds: u64,
    /// Maximum tokens of the whole run, sent and received [default: no limit].
    #[arg(long, value_name = "N")]
    pub max_run_tokens: Option<u64>,
    /// Maximum cost of the whole run, in the currency of the prices [default: no limit].
    #[arg(long, value_name = "X", requires = "price_in", requires = "price_out")]
    pub max_cost: Option<f64>,
    /// Price per million tokens sent.
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    pub price_in: f64,
    /// Price per million tokens received.
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    pub price_out: f64,
    /// File that records replies. Recorded requests are not sent again, so that an interrupted run can go on [default: for
    /// `generate`, steps/replies.jsonl in the dataset's folder; else none].
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Answer from the replies in this file alone, without a server.
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    pub replay: Option<PathBuf>,
}

/// How agents ask a model.
#[derive(Clone, Debug, Args)]
pub struct ModelArgs {
    /// Server, limits and replies.
    #[command(flatten, next_help_heading = "Model")]
    pub connection: ConnectionArgs,
    /// Sampling temperature [default: the server's].
    #[arg(long, value_name = "T", help_heading = "Model")]
    pub temperature: Option<f64>,
    /// Maximum episodes at the same time.
    #[arg(long, value_name = "N", default_value = "8", help_heading = "Model")]
    pub concurrency: NonZeroUsize,
}

/// How an agent's final answers are taken.
#[derive(Clone, Debug, Args)]
pub struct AnswersArgs {
    /// How the agent ends goals: with `finish`, or with a message that --transcriber-model reads into `finish`. The report
    /// says so: such figures are of both models, and no reward.
    #[arg(long, value_enum, default_value_t = Answers::Structured)]
    pub answers: Answers,
    /// Model that fills `finish` in from the agent's messages, with --answers transcribed.
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub transcriber_model: Option<String>,
    /// URL of that model's server [default: --base-url].
    #[arg(long, value_name = "URL", requires = "transcriber_model", help_heading = "Model")]
    pub transcriber_base_url: Option<String>,
}

/// A chat model that is ready for requests.
pub struct ModelConnection {
    /// The model itself.
    pub model: SharedModel,
    /// Name of the model.
    pub name: String,
    /// Counter of its requests and tokens.
    pub budget: Arc<RunBudget>,
    /// Sampling of tokens, with the maximum length of a reply.
    pub sampling: Sampling,
    /// Prices of tokens.
    pub prices: Prices,
}

impl ModelArgs {
    /// Makes the model.
    ///
    /// # Errors
    /// Returns an error if a required flag is missing or a value cannot be used.
    pub fn connect(&self) -> Result<ModelConnection, CliError> {
        self.connection.connect(self.temperature, self.concurrency)
    }
}

impl AnswersArgs {
    /// Makes the model that transcribes answers, if the flags ask for one. Every run asks it again, because
    /// `--record` and `--replay` apply to the agent alone.
    ///
    /// # Errors
    /// Returns an error if only one of its two flags is set, or if a value cannot be used.
    pub fn connect(&self, agent: &ModelArgs) -> Result<Option<Arc<Transcriber>>, CliError> {
        let model = match (self.answers, &self.transcriber_model) {
            (Answers::Structured, None) => return Ok(None),
            (Answers::Transcribed, Some(model)) => model.clone(),
            (Answers::Structured, Some(_)) => {
                let what = "--transcriber-model: found --answers structured, expected transcribed";
                return Err(CliError::Usage(what.to_owned()));
            }
            (Answers::Transcribed, None) => {
                let what = "--answers transcribed: found no model, expected --transcriber-model";
                return Err(CliError::Usage(what.to_owned()));
            }
        };
        let base_url = self.transcriber_base_url.clone().or_else(|| agent.connection.base_url.clone());
        let connection = agent.connection.clone();
        let connection =
            ConnectionArgs { model: Some(model), base_url, record: None, replay: None, ..connection };
        let ModelConnection { model, sampling, .. } =
            connection.connect(agent.temperature, agent.concurrency)?;
        Ok(Some(Arc::new(Transcriber { model, sampling })))
    }
}

impl ConnectionArgs {
    /// Returns the maximum length of replies and the temperature.
    pub fn sampling(&self, temperature: Option<f64>) -> Sampling {
        Sampling { temperature, ..Sampling::up_to(self.max_reply_tokens) }
    }

    /// Returns the prices of tokens.
    pub const fn prices(&self) -> Prices {
        Prices { input: self.price_in, output: self.price_out }
    }

    /// Makes the model, with at most `concurrency` requests in flight.
    ///
    /// # Errors
    /// Returns an error if a required flag is missing or a value cannot be used.
    pub fn connect(
        &self,
        temperature: Option<f64>,
        concurrency: NonZeroUsize,
    ) -> Result<ModelConnection, CliError> {
        let usage = |what: String| CliError::Usage(what);
        let name = self.model.clone().ok_or_else(|| {
            usage("--model: found none, expected the model's name, as its server has it".into())
        })?;
        let open = |path: &PathBuf| Recording::open(path).map_err(|error| CliError::Empty(error.to_string()));
        let recording = self.record.as_ref().or(self.replay.as_ref()).map(open).transpose()?.map(Arc::new);
        let limits = BudgetLimits { max_tokens: self.max_run_tokens, max_cost: self.max_cost };
        let before = match (&recording, &self.replay) {
            (Some(recording), None) => recording.usage(),
            _ => Usage::default(),
        };
        let budget =
            RunBudget::new(limits, self.prices(), before).map_err(|error| usage(error.to_string()))?;
        let json_mode = self.json_mode;
        let model: SharedModel = match (recording, &self.replay) {
            (Some(recording), Some(_)) => {
                let identity = Identity { model: name.clone(), json_mode };
                Arc::new(ReplayModel::new(identity, recording, Arc::clone(&budget)))
            }
            (recording, _) => {
                let url = self.base_url.clone().ok_or_else(|| {
                    usage("--base-url: found none, expected a server such as http://127.0.0.1:8000".into())
                })?;
                let timeout = Duration::from_secs(self.reply_seconds);
                let max_tokens_field = self.max_tokens_field;
                let settings = HttpSettings::new(url, name.clone());
                let settings = HttpSettings { json_mode, timeout, max_tokens_field, ..settings };
                let (attempts, on_first_failure) = (self.retries + 1, Some(note_failure as fn(&ChatError)));
                let retries = RetrySettings { attempts, on_first_failure, ..RetrySettings::default() };
                let model = connect(settings, retries, self.key(), concurrency, &budget);
                let model = model.map_err(|error| usage(error.to_string()))?;
                match recording {
                    Some(recording) => Arc::new(RecordedModel::new(model, recording, Arc::clone(&budget))),
                    None => Arc::new(model),
                }
            }
        };
        Ok(ModelConnection {
            model,
            name,
            budget,
            sampling: self.sampling(temperature),
            prices: self.prices(),
        })
    }

    #[expect(clippy::disallowed_methods, reason = "the command line is where the environment is read")]
    fn key(&self) -> Option<Secret> {
        std::env::var(&self.api_key_env).ok().filter(|key| !key.trim().is_empty()).map(Secret::new)
    }
}

/// Reports the first failure of a request on stderr, long before its last retry.
fn note_failure(error: &ChatError) {
    // A closed stderr must not end the work.
    let _ = writeln!(std::io::stderr(), "note: {error}; such requests are sent again up to --retries times");
}
