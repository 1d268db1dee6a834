//! Collects the names of records that replies showed.

use diorama_engine::Origin;
use diorama_seeds::english::fold;
use diorama_seeds::model::{FieldId, ResourceId};
use diorama_seeds::value::Value as Shown;

use super::progress::Scene;

/// The greatest number of values that are kept.
const MAX_SHOWN: usize = 4_000;

/// Returns the names of records that replies showed.
pub(super) fn shown_names(scene: &Scene<'_>) -> Vec<(ResourceId, FieldId, String)> {
    let world = scene.base.world();
    let mut found: Vec<(ResourceId, FieldId, String)> = Vec::new();
    for entry in scene.log.iter().filter(|entry| entry.reply.is_success()) {
        for (value, origin) in entry.reply.body.values() {
            let (Shown::String(text), Origin::Field { resource, field, .. }) = (value, origin) else {
                continue;
            };
            if world.resource(*resource).display != Some(*field) || found.len() >= MAX_SHOWN {
                continue;
            }
            let name = (*resource, *field, fold(text));
            if !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
}
