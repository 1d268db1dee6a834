//! The plan of a row: a scenario that was played over sampled records, whose calls the engine has run and the gates have passed. No
//! model has a part in it, so that gold and checks come from what happened.

use diorama_output::plan::Batch;
use rand_chacha::ChaCha8Rng;

use crate::draws::RowKey;
use crate::rows::attempt::{Proven, RowMaker, Start};
use crate::rows::turns::Turn;
use crate::worlds::recipe::Recipe;
use crate::worlds::world::BatchWorld;

/// Its name in files.
pub const STEP: &str = "query";

/// Plans a conversation for an attempt at a row: a function of the world and of the numbers. It takes the turn of its row, as rows
/// without a model do; later attempts take other scenarios of the same ability and domain.
pub fn plan(recipe: &Recipe, world: &BatchWorld, batch: &Batch, place: (u64, u32)) -> Option<Proven> {
    let (row_index, attempt) = place;
    let stream = stream(recipe, "plan", batch, place);
    let turn = recipe.turn(batch, row_index);
    let turn = turn.map(|turn| if attempt == 0 { turn } else { Turn { number: None, ..turn } });
    let mut maker = RowMaker::new(world, recipe.streams(), &recipe.abilities, batch.split);
    maker.prove(recipe.row_key(batch, row_index), stream, turn.map(Start::of))
}

/// The choices of one use at a place: a row and an attempt.
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
