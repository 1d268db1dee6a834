//! Owns the numbers of a domain's policy: each materialised world draws one value for each number.

use crate::doc::WorldDoc;
use crate::draw::Streams;

/// Returns the document with one value for each number of its policies, drawn by the names of domain and
/// number. Returns none if no number is left to draw.
pub(super) fn with_numbers(doc: &WorldDoc, seed: u64) -> Option<WorldDoc> {
    let heads = doc.domain.iter().chain(doc.domains.iter().map(|domain| &domain.domain));
    let mut numbers = heads.flat_map(|head| &head.house).flat_map(|house| house.numbers.values());
    if doc.materialised.is_some() || !numbers.any(|values| values.len() > 1) {
        return None;
    }
    let mut doc = doc.clone();
    let heads = doc.domain.iter_mut().chain(doc.domains.iter_mut().map(|domain| &mut domain.domain));
    for head in heads {
        for (name, values) in head.house.iter_mut().flat_map(|house| &mut house.numbers) {
            let drawn = Streams::new(seed, &head.name, name, "house").draw(0, 0).pick(values).copied();
            *values = drawn.into_iter().collect();
        }
    }
    Some(doc)
}
