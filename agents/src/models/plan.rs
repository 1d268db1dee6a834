//! Owns the plan of a row: a scenario over sampled records, whose calls the engine ran and the gates
//! passed. No model takes part, so that gold and checks come from real calls.

use diorama_output::plan::Batch;
use rand_chacha::ChaCha8Rng;

use crate::draws::RowKey;
use crate::rows::attempt::{ProvenDialogue, RowMaker, Start};
use crate::rows::turns::Turn;
use crate::worlds::recipe::Recipe;
use crate::worlds::world::BatchWorld;

/// Name of the step in files.
pub const STEP: &str = "query";

/// Plans a conversation for an attempt at a row. The result depends on the world and the numbers alone.
/// The first attempt takes the turn of its row, as rows without a model do. Later attempts take other
/// scenarios of the same ability and domain.
pub fn plan(recipe: &Recipe, world: &BatchWorld, batch: &Batch, place: (u64, u32)) -> Option<ProvenDialogue> {
    let (row_index, attempt) = place;
    let stream = stream(recipe, "plan", batch, place);
    let turn = recipe.turn(batch, row_index);
    let turn = turn.map(|turn| if attempt == 0 { turn } else { Turn { number: None, ..turn } });
    let mut maker = RowMaker::new(world, recipe.streams(), &recipe.abilities, batch.split);
    maker.prove(recipe.row_key(batch, row_index), stream, turn.map(Start::of))
}

/// Returns the random stream of a purpose for a row and an attempt.
pub(crate) fn stream(
    recipe: &Recipe,
    purpose: &str,
    batch: &Batch,
    (row_index, attempt): (u64, u32),
) -> ChaCha8Rng {
    let RowKey { subject, number } = recipe.row_key(batch, row_index);
    let number = number.wrapping_mul(1 << 10).wrapping_add(u64::from(attempt));
    recipe.streams().make_row_stream(purpose, RowKey { subject, number })
}
