//! Owns the searches of a reworded conversation: reworded messages of the user support other keywords.

use diorama_baselines::trace::names_found;
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_proof::{Candidate, Code, GroundedCandidate, ground};
use diorama_seeds::model::ApiId;
use serde_json::Value as Json;

use crate::scenarios::keywords;
use crate::worlds::world::BatchWorld;

/// Returns the candidate with keywords that the reworded messages of the user support.
pub fn searched_again(world: &BatchWorld, candidate: Candidate) -> Candidate {
    if !candidate.calls().any(|call| call.api == TOOL_SEARCHER) {
        return candidate;
    }
    let Ok(grounded) = ground(world.context(), candidate.clone()) else { return candidate };
    let mut again = candidate;
    for fault in &grounded.faults {
        let (Code::KeywordsUnsupported, Some(call)) = (fault.code, fault.call) else { continue };
        let Some(api) = find_sought_api(world, &grounded, call) else { continue };
        let turn = grounded.gold.get(call).map_or(0, |gold| gold.turn as usize);
        let said = grounded.user_turns.get(..=turn).unwrap_or(&grounded.user_turns);
        let Some(words) = keywords(world, said, api, &grounded.system) else { continue };
        let mut calls =
            again.goals.iter_mut().flat_map(|goal| &mut goal.turns).flat_map(|turn| &mut turn.calls);
        if let Some(search) = calls.nth(call) {
            search.arguments.insert("keywords".to_owned(), Json::from(words));
        }
    }
    again
}

/// Finds the API for which a search was made. The first later call to a result of the search decides,
/// else the next call.
fn find_sought_api(world: &BatchWorld, grounded: &GroundedCandidate, search: usize) -> Option<ApiId> {
    let model = world.base.world();
    let reply = grounded.entries.get(search)?.reply.json_tree(&model.zone);
    let shown = names_found(&reply);
    let later: Vec<&str> = grounded
        .gold
        .iter()
        .skip(search + 1)
        .map(|gold| &*gold.api)
        .filter(|api| *api != TOOL_SEARCHER)
        .collect();
    let wanted = later.iter().find(|api| shown.iter().any(|name| name == *api)).or(later.first())?;
    model.api_named(wanted)
}
