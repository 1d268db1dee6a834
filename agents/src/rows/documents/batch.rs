//! Makes the rows of one batch of a document, in a world that a few other documents share.

use std::ops::Range;
use std::sync::Arc;

use diorama_output::funnel::Funnel;
use diorama_output::row::{Dialogue, Split};
use diorama_seeds::compose::compose;
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::model::{ApiId, World};
use diorama_seeds::task::Ability;
use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::echoes::{DISAGREES, agrees};
use super::prepared::{PreparedWorld, domain_at};
use crate::draws::{RowKey, Streams};
use crate::rows::attempt::{RowMaker, Start};
use crate::rows::turns::Turn;
use crate::scenarios::by_rule::SAYS_CODE;
use crate::scenarios::weights::{self, ability_weight};
use crate::scenarios::{Joins, ScenarioSet, Shares};
use crate::worlds::domain::draw_clock;
use crate::worlds::error::PipelineError;
use crate::worlds::make::make_world_at;
use crate::worlds::recipe::{alternate_seed, family_name};
use crate::worlds::world::{BatchWorld, WorldTemplate};

/// The reason for a document's absence from the world of a batch.
pub const UNJOINED: &str = "its world cannot be joined with that of the batch's document";
/// The number of rows of a document that share a world: the worlds of large documents take megabytes.
const ROWS_PER_WORLD: u64 = 500;
/// Attempts at a row before it is given up.
const ATTEMPTS: u32 = 40;
/// Attempts at a row after an earlier one was given up: the document has few requests left.
const LATER_ATTEMPTS: u32 = 12;
/// The greatest number of scenarios that a row tries.
const MAX_SCENARIOS: usize = 10;
/// No conversation joins goals that were written by rule, because no fact links them.
const JOINED: [(Joins, u32); 1] = [(Joins::Nothing, 1)];

/// The inputs of a batch besides the prepared worlds of its documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchRequest {
    /// The random streams of the run.
    pub streams: Streams,
    /// The abilities, at least one.
    pub abilities: Vec<Ability>,
    /// The shares of tags that conversations must show, by label.
    pub shares: Shares,
    /// The split of the batch.
    pub split: Split,
    /// The indices of its rows.
    pub row_indexes: Range<u64>,
    /// The number of the document's rows in earlier batches.
    pub first: u64,
}

/// The rows of a batch, with their world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MadeBatch {
    /// The identifier of the world.
    pub world_id: String,
    /// The canonical JSON of the world.
    pub world: String,
    /// The rows that passed the gates.
    pub rows: Vec<Dialogue>,
    /// The counts of proposed tasks by result.
    pub funnel: Funnel,
}

/// Makes the rows of a batch about the first document. Documents whose worlds cannot be joined with it are
/// left out.
///
/// # Errors
/// Returns an error if the world of the first document cannot be made.
pub fn make(request: &BatchRequest, documents: Vec<PreparedWorld>) -> Result<MadeBatch, PipelineError> {
    let alone = documents.first().cloned();
    let partners = documents.len().saturating_sub(1);
    let (world, unjoined) = match (make_world(request, documents), alone) {
        (Err(_), Some(alone)) if partners > 0 => (make_world(request, vec![alone])?, partners),
        (made, _) => (made?, 0),
    };
    let mut maker = RowMaker::new(&world, request.streams, &request.abilities, request.split);
    (maker.attempts, maker.joined) = (ATTEMPTS, &JOINED);
    let order = draw_order(&world, &request.streams);
    let document = name_document(world.world_template.world());
    let mut rows = Vec::new();
    for (row_index, number) in request.row_indexes.clone().zip(request.first..) {
        let Some(start) = plan_start(&world.world_template.scenario_set, request, &order, number) else {
            break;
        };
        let key = RowKey { subject: document, number };
        match maker.row((row_index, key), Some(start)) {
            Some(row) if agrees(&row, world.world_template.world()) => rows.push(row),
            Some(_) => maker.funnel.drop_at("document", DISAGREES),
            None => maker.attempts = LATER_ATTEMPTS,
        }
    }
    let mut funnel = maker.funnel;
    for _ in 0..unjoined {
        funnel.propose();
        funnel.drop_at("document", UNJOINED);
    }
    Ok(MadeBatch { world_id: world.id.clone(), world: world.canonical.to_string(), rows, funnel })
}

/// Makes the world of a batch: the joined documents. Batches of a document share it, up to a number of rows.
fn make_world(request: &BatchRequest, documents: Vec<PreparedWorld>) -> Result<BatchWorld, PipelineError> {
    let template = join_documents(request, documents)?;
    let document = name_document(template.world());
    let number = request.first / ROWS_PER_WORLD;
    let mut stream = request.streams.stream(&format!("documents/world/{document}"), number);
    let seed = stream.random();
    let clock = draw_clock(template.world(), &mut stream);
    make_world_at(&template, seed, clock)
}

/// Returns the name of the batch's document.
fn name_document(world: &World) -> &str {
    world.domains.first().map(|domain| &*domain.name).unwrap_or_default()
}

/// Joins documents into one world template, with their scenarios.
fn join_documents(
    request: &BatchRequest,
    documents: Vec<PreparedWorld>,
) -> Result<Arc<WorldTemplate>, PipelineError> {
    let (docs, scenarios): (Vec<WorldDoc>, Vec<_>) =
        documents.into_iter().map(PreparedWorld::into_doc).unzip();
    let names: Vec<String> = docs.iter().map(|doc| doc.name.clone()).collect();
    let mut doc = compose(&family_name(&names), &docs)?;
    let mut written = Vec::new();
    for ((position, domain), scenarios) in doc.domains.iter_mut().enumerate().zip(scenarios) {
        // Joining renames APIs that occur in several documents, in scenarios too.
        let renamed = std::mem::take(&mut domain.scenarios);
        let sources =
            domain.apis.iter().map(|api| (api.source_api.as_deref().unwrap_or_default(), &api.name));
        let names: std::collections::HashMap<&str, &String> = sources
            .map(|(source, name)| (source.split_once('.').map_or(source, |(_, own)| own), name))
            .collect();
        for (scenario, prepared) in renamed.into_iter().zip(scenarios) {
            let about = names.get(&*prepared.about).map_or(prepared.about.clone(), |name| (*name).clone());
            written.push((scenario, domain_at(position), prepared.weight, about));
        }
    }
    let seed = alternate_seed(request.streams.seed());
    let mut template = WorldTemplate::of_read(doc, seed, &request.shares, &request.abilities)?;
    if let Some(template) = Arc::get_mut(&mut template) {
        let world = template.source.world();
        let found = written
            .into_iter()
            .filter_map(|(doc, domain, weight, about)| Some((doc, domain, weight, world.api_named(&about)?)));
        template.scenario_set.add_written(found, Default::default(), world);
        template.scenario_set.weigh(&request.shares, &request.abilities);
    }
    Ok(template)
}

/// Shuffles the APIs of the first document that users ask for. The order follows from the document's name and
/// is the same for all batches.
fn draw_order(world: &BatchWorld, streams: &Streams) -> Vec<ApiId> {
    let template = &world.world_template;
    let mut order: Vec<ApiId> = template.scenario_set.askable(domain_at(0)).into_iter().collect();
    let document = name_document(template.world());
    order.shuffle(&mut streams.stream(&format!("documents/order/{document}"), 0));
    // Conversations of several turns come first, and the least informative ones last.
    order.sort_by_cached_key(|api| rank_plainness(&template.scenario_set, *api));
    order
}

/// Ranks the first conversation about an API: 0 with several turns of the user, 1 with one, 2 if the user
/// names a code.
fn rank_plainness(scenario_set: &ScenarioSet, api: ApiId) -> u8 {
    let first = scenario_set.about(api, Ability::Call).first().map(|at| &scenario_set.scenarios()[*at].doc);
    let Some(doc) = first else { return 1 };
    let answers = doc.goals.iter().flat_map(|goal| &goal.does);
    let answers = answers.filter(|step| !step.user.is_empty() || step.ask.is_some()).count();
    match doc.goals.len() + answers {
        _ if doc.who == SAYS_CODE => 2,
        0 | 1 => 1,
        _ => 0,
    }
}

/// Plans the start of a row: operations, abilities and scenarios take turns. Returns none if the document has
/// no operation that users ask for.
fn plan_start(
    scenario_set: &ScenarioSet,
    request: &BatchRequest,
    order: &[ApiId],
    number: u64,
) -> Option<Start> {
    let count = order.len().max(1) as u64;
    let (position, round) = ((number % count) as usize, number / count);
    let weight = |ability: &Ability| ability_weight(*ability);
    let cycle = u64::from(weights::sum(&request.abilities, weight).max(1));
    let wanted = weights::pick(&request.abilities, weight, ((number + round) % cycle) as u32)?;
    let api = *order.get(position)?;
    // An operation without scenarios for the ability may have some for another.
    let others = request.abilities.iter().rev().copied().filter(|ability| *ability != wanted);
    let ability = std::iter::once(wanted)
        .chain(others)
        .find(|ability| !scenario_set.about(api, *ability).is_empty())
        .unwrap_or(wanted);
    let mut scenarios = scenario_set.about(api, ability);
    if !scenarios.is_empty() {
        let first = round as usize % scenarios.len();
        scenarios.rotate_left(first);
    }
    // The next operations follow one whose attempts all fail.
    let next = (1..order.len()).map(|step| order[(position + step) % order.len()]);
    scenarios.extend(next.flat_map(|api| scenario_set.about(api, ability)).take(MAX_SCENARIOS));
    scenarios.truncate(MAX_SCENARIOS);
    let turn = Turn { ability, domain: domain_at(0), number: Some(round) };
    Some(Start { turn, scenarios: if request.shares.is_empty() { scenarios } else { Vec::new() } })
}
