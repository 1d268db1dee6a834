//! One spelling for each materialised world, and its hash.

use crate::doc::WorldDoc;
use crate::model::World;

/// The canonical form of a materialised world.
#[must_use]
pub fn canonical_json(_doc: &WorldDoc, _world: &World) -> String {
    String::new()
}

/// BLAKE3 of a canonical form, in lower-case hexadecimal.
#[must_use]
pub fn hash(canonical: &str) -> String {
    blake3::hash(canonical.as_bytes()).to_hex().to_string()
}
