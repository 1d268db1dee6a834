//! Owns the mutants of a dataset's rows that do not solve their tasks, for preference pairs.
//!
//! It grounds a row again in its world. The gate `mutation` decides which mutants fail.

use std::collections::HashSet;

use diorama_engine::tools::SearchVersion;
use diorama_output::export::RejectedMutant;
use diorama_output::row::Dialogue;
use diorama_proof::gates::find_rejected;
use diorama_proof::ground_with;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::episode::{Task, Worlds};
use crate::verify::candidate_of;

/// Lister of the mutants of rows in their worlds.
pub struct WorldMutants(Worlds);

impl WorldMutants {
    /// Makes the lister for the worlds of a dataset.
    pub const fn new(worlds: Worlds) -> Self {
        Self(worlds)
    }

    /// Returns the rejected mutants of a row. A row that cannot be grounded has none; `verify` reports the
    /// reason.
    pub fn list(&self, row: &Dialogue) -> Vec<RejectedMutant> {
        self.find_rejected(row).unwrap_or_default()
    }

    fn find_rejected(&self, row: &Dialogue) -> Option<Vec<RejectedMutant>> {
        let task = Task::of(row).ok()?;
        let world = self.0.get(&row.world_id).ok()?;
        let candidate = candidate_of(row, &task).ok()?;
        let search = SearchVersion::named(&task.episode.search);
        let grounded = ground_with(world.context(), candidate, search).ok()?;
        let mut rng = ChaCha8Rng::from_seed(*blake3::hash(row.id.as_bytes()).as_bytes());
        let mutants = find_rejected(world.context(), &grounded, &mut rng).ok()?;
        let zone = &world.base.world().zone;
        let mut effects = HashSet::new();
        let mut found = Vec::new();
        for mutant in mutants {
            let reply = mutant.entry.as_ref().map(|entry| entry.reply.to_json(zone).to_string());
            let reference =
                grounded.entries.get(mutant.call).map(|entry| entry.reply.to_json(zone).to_string());
            let answers_the_same = reply.is_some() && reply == reference;
            // Mutants are equal if the reply to the call and the final state are equal.
            if answers_the_same || !effects.insert((mutant.call, reply, mutant.state.to_string())) {
                continue;
            }
            let instead =
                mutant.entry.as_ref().map(|entry| (entry.call.api.clone(), entry.call.arguments.clone()));
            found.push(RejectedMutant { kind: mutant.kind.name(), call: mutant.call, instead });
        }
        Some(found)
    }
}
