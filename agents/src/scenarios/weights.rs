//! Draws by weight.

use diorama_seeds::task::Ability;

/// The fractional part of the golden ratio: the multiples of it, modulo 1, fill `0..1` evenly.
pub(crate) const GOLDEN: f64 = 0.618_033_988_749_895;

/// Returns the weight of an ability: retrieving a single API weighs half, because few conversations need one
/// alone.
pub(crate) const fn ability_weight(ability: Ability) -> u32 {
    match ability {
        Ability::RetrieveCall => 1,
        Ability::Call | Ability::PlanRetrieveCall => 2,
    }
}

/// Returns the sum of the weights of items.
pub(crate) fn sum<T>(items: &[T], weight: impl Fn(&T) -> u32) -> u32 {
    items.iter().map(weight).sum()
}

/// Returns the item at a number below the sum of all weights, with the weights side by side.
pub(crate) fn pick<T: Copy>(items: &[T], weight: impl Fn(&T) -> u32, number: u32) -> Option<T> {
    let mut until = 0;
    let found = items.iter().find(|item| {
        until += weight(item);
        number < until
    });
    found.copied()
}
