//! Owns the numbers of a domain's policy: each materialised world draws one value for each number.
//! The other values stand behind the drawn one, so that a reader of the world knows how near a record is to a limit.

use crate::doc::{HouseDoc, WorldDoc};
use crate::draw::Streams;

/// Returns the document with the drawn value of each number of its policies in front, by the names of domain
/// and number. A policy in articles keeps its numbers, which their texts state. Returns none if no number is
/// left to draw.
pub(super) fn with_numbers(doc: &WorldDoc, seed: u64) -> Option<WorldDoc> {
    let is_drawn = |house: &&HouseDoc| house.articles.is_none();
    let heads = doc.domain.iter().chain(doc.domains.iter().map(|domain| &domain.domain));
    let houses = heads.flat_map(|head| &head.house).filter(is_drawn);
    let mut numbers = houses.flat_map(|house| house.numbers.values());
    if doc.materialised.is_some() || !numbers.any(|values| values.len() > 1) {
        return None;
    }
    let mut doc = doc.clone();
    let heads = doc.domain.iter_mut().chain(doc.domains.iter_mut().map(|domain| &mut domain.domain));
    for head in heads {
        let houses = head.house.iter_mut().filter(|house| is_drawn(&&**house));
        for (name, values) in houses.flat_map(|house| &mut house.numbers) {
            let drawn = Streams::new(seed, &head.name, name, "house").draw(0, 0).pick(values).copied();
            let others: Vec<i64> = values.iter().copied().filter(|value| Some(*value) != drawn).collect();
            *values = drawn.into_iter().chain(others).collect();
        }
    }
    Some(doc)
}
