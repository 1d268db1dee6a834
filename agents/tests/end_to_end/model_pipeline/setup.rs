//! Recipes, writers and models that the tests of the pipeline with a model share.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use diorama_agents::models::prompts::PromptSet;
use diorama_agents::models::run::{RunEnd, RunError, run};
use diorama_agents::models::run_context::RunContext;
use diorama_agents::models::{AssistantWords, Protocol, Settings, UserWords};
use diorama_agents::worlds::recipe::{Ingredients, Recipe};
use diorama_llm::{
    ChatModel, HttpModel, HttpSettings, JsonMode, RetrySettings, RetryingModel, RunBudget, Sampling,
};
use diorama_model_server::{Answer, Fault, ModelServer, Script};
use diorama_output::dataset::{DatasetWriter, Options, Start, Summary};
use diorama_output::manifest::{Identity, Versions};
use diorama_output::plan::{Plan, PlanSizes, Shard};
use diorama_output::storage::Storage;
use diorama_seeds::task::Ability;
use serde_json::{Value as Json, json};

/// Settings that tests change in part.
pub(super) fn settings(user: UserWords, assistant: AssistantWords) -> Settings {
    Settings {
        model: "scripted".to_owned(),
        terms: "made up".to_owned(),
        user,
        assistant,
        falls_back: false,
        protocol: Protocol::Tools,
        attempts: 12,
        votes: 0,
        sampling: Sampling::up_to(400),
    }
}

/// The recipe of a few domains of the catalog.
pub(super) fn recipe(settings: &Settings, dialogues: u64, abilities: Vec<Ability>) -> Arc<Recipe> {
    let names = ["dental_clinic", "city_library"];
    let worlds = diorama_agents::catalog::worlds().unwrap();
    let domains = worlds.into_iter().filter(|world| names.contains(&&*world.name));
    let recipe = Recipe::new(Ingredients {
        seed: 3,
        abilities,
        domains: Vec::new(),
        worlds: domains.collect(),
        difficulty: None,
        test_split: Default::default(),
        domains_per_world: 1,
        dialogues,
        shares: BTreeMap::new(),
        model: Some(settings.config("test")),
    });
    Arc::new(recipe.unwrap())
}

pub(super) fn run_context(
    recipe: &Arc<Recipe>,
    settings: &Settings,
    model: Arc<dyn ChatModel>,
) -> Arc<RunContext> {
    Arc::new(RunContext {
        recipe: Arc::clone(recipe),
        settings: settings.clone(),
        prompts: Arc::new(PromptSet::new(&BTreeMap::new()).unwrap()),
        model,
        threads: rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap(),
        stopping: AtomicBool::new(false),
        abort: tokio::sync::watch::channel(false).0,
    })
}

pub(super) fn writer(recipe: &Recipe, folder: &Path, sizes: PlanSizes, start: Start) -> DatasetWriter {
    let text = |text: &str| text.to_owned();
    let versions = Versions { engine: text("e"), grader: text("g"), search: text("s"), generator: text("p") };
    let identity =
        Identity { versions, seed: recipe.seed, config: recipe.config().clone(), benchmark: false };
    let plan = Plan::new(sizes, |batch| recipe.split_of(batch)).unwrap();
    DatasetWriter::open(Storage::local(folder), identity, plan, Options { shard: Shard::WHOLE, start })
        .unwrap()
}

/// Runs to the end.
pub(super) async fn make(
    run_context: &Arc<RunContext>,
    folder: &Path,
    dialogues: u64,
    start: Start,
) -> Result<(RunEnd, Summary), RunError> {
    let sizes = PlanSizes { rows: dialogues, rows_per_batch: 20, batches_per_file: 2 };
    let writer = writer(&run_context.recipe, folder, sizes, start);
    let steps = folder.join("steps");
    std::fs::create_dir_all(&steps).unwrap();
    let runtime = tokio::runtime::Handle::current();
    let rows = || run(run_context, &runtime, &writer, 64, Some(&steps), &|_| {});
    let ended = tokio::task::block_in_place(rows)?;
    Ok((ended, writer.finish()?))
}

/// The files of a folder that make the dataset, with their bytes.
pub(super) fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for name in ["manifest.json", "README.md"] {
        found.insert(PathBuf::from(name), std::fs::read(folder.join(name)).unwrap());
    }
    for part in ["data", "worlds", "steps"] {
        for entry in std::fs::read_dir(folder.join(part)).unwrap().map(Result::unwrap) {
            found.insert(Path::new(part).join(entry.file_name()), std::fs::read(entry.path()).unwrap());
        }
    }
    found
}

fn text_of(message: &Json) -> &str {
    message["content"].as_str().unwrap_or_default()
}

/// A model that does what each prompt asks for in the plainest way.
pub(super) fn plain(body: &Json) -> Json {
    let messages = body["messages"].as_array().unwrap();
    let system = text_of(&messages[0]);
    let users: Vec<&str> = messages.iter().filter(|message| message["role"] == "user").map(text_of).collect();
    if system.starts_with("You write a chat") {
        let shown = users.iter().rev().find(|text| text.contains("[1] ")).unwrap();
        return json!({ "lines": reworded(shown) });
    }
    if system.starts_with("You check chats") {
        let is_odd = users[0].contains("EXECUTE");
        let quote = if is_odd { "EXECUTE" } else { "" };
        return json!({ "reason": "so it is", "quote": quote, "natural": !is_odd, "answerable": true, "answers": true });
    }
    json!({ "unknown": true })
}

/// The numbered lines of a shown chat, each with a word before it.
fn reworded(shown: &str) -> Vec<Json> {
    let mut lines = Vec::new();
    for part in shown.split("\n[").map(|part| part.strip_prefix('[').unwrap_or(part)) {
        let Some((number, rest)) = part.split_once("] ") else { continue };
        let Ok(number) = number.parse::<u64>() else { continue };
        let (speaker, words) = rest.split_once(": ").unwrap();
        let words = words.split("\nCall: ").next().unwrap().split("\nReply (").next().unwrap();
        let words = words.split("\nUser: ").next().unwrap().split("\nAssistant: ").next().unwrap();
        let words = words.split(" [keep: ").next().unwrap().trim();
        let lead = if speaker == "User" { "So, " } else { "" };
        lines.push(json!({ "number": number, "line": format!("{lead}{words}") }));
    }
    lines
}

pub(super) fn script(faults: Vec<(Fault, f64)>) -> Script {
    Script { faults, seed: 11, ..Script::new(|body: &Json| Answer::text(plain(body).to_string())) }
}

/// A model behind a server, without waiting between attempts.
pub(super) fn connected(server: &ModelServer, budget: &Arc<RunBudget>) -> impl ChatModel + 'static {
    let timeout = Duration::from_millis(1500);
    let json_mode = JsonMode::JsonObject;
    let settings = HttpSettings { timeout, json_mode, ..HttpSettings::new(server.url(), "scripted") };
    let (min_delay, max_delay) = (Duration::ZERO, Duration::ZERO);
    let retries = RetrySettings { attempts: 20, min_delay, max_delay, ..RetrySettings::default() };
    let max_in_flight = NonZeroUsize::new(64).unwrap();
    let model = HttpModel::new(settings, None).unwrap();
    RetryingModel::new(model, retries, max_in_flight, Arc::clone(budget))
}
