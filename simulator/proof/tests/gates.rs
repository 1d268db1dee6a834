//! Each gate on candidates written by hand over worlds of `tests/worlds`: those that must fail, for the right typed
//! reason, and near ones that must pass all six.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may end this way")]

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use diorama_proof::candidate::Candidate;
use diorama_proof::verdict::{Verdicts, check};
use diorama_proof::{Gate, Premises, Survey};
use diorama_seeds::materialise::Source;
use diorama_seeds::world;
use diorama_simulator::engine::Base;
use diorama_simulator::grade::Vocabulary;
use serde::Deserialize;
use serde_json::Value as Json;

/// A candidate with the verdict that it must get.
#[derive(Deserialize)]
struct Case {
    name: String,
    why: String,
    gate: Gate,
    expect: Json,
    candidate: Candidate,
    /// A case that the gates get wrong so far. It is named, not left out; one that is right again must lose the mark.
    #[serde(default)]
    missed: bool,
}

/// A world, as `diorama serve` serves it.
struct World {
    base: Arc<Base>,
    vocabulary: Vocabulary,
    survey: Survey,
}

impl World {
    fn named(name: &str) -> Self {
        // Copies, so that the catalog's records may change without the cases.
        let file = format!("{}/tests/worlds/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read(file).unwrap_or_else(|error| panic!("no world {name}: {error}"));
        let doc = world::read(name, &text).unwrap();
        let made = Source::new(doc).unwrap().run(0).unwrap();
        let base = Base::new(made.world).unwrap();
        Self { vocabulary: Vocabulary::new(&base), survey: Survey::new(base.world()), base }
    }

    fn check(&self, candidate: Candidate) -> Verdicts {
        let Self { base, vocabulary, survey } = self;
        check(Premises { base, vocabulary, survey }, candidate).unwrap()
    }
}

/// What a case came to, where it is not what was expected.
fn wrong(case: &Case, verdicts: &Verdicts) -> Option<String> {
    let found: Vec<String> = verdicts
        .gates
        .iter()
        .flat_map(|gate| {
            gate.findings.iter().map(move |finding| format!("{}: {}", gate.gate.name(), finding.message))
        })
        .collect();
    let right = match case.expect["reason"].as_str() {
        None => verdicts.passes,
        Some(reason) => verdicts.gates.iter().any(|gate| {
            gate.gate == case.gate && gate.findings.iter().any(|finding| finding.reason.name() == reason)
        }),
    };
    (right == case.missed)
        .then(|| format!("{} expects {} ({})\n    found {found:#?}", case.name, case.expect, case.why))
}

fn run(file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(file);
    let cases: Vec<Case> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut worlds: HashMap<String, World> = HashMap::new();
    let mut misjudged = Vec::new();
    let count = cases.len();
    for case in cases {
        let name = case.candidate.world.clone().unwrap();
        let world = worlds.entry(name.clone()).or_insert_with(|| World::named(&name));
        let verdicts = world.check(case.candidate.clone());
        misjudged.extend(wrong(&case, &verdicts));
    }
    assert!(misjudged.is_empty(), "{} of {count} misjudged:\n{}", misjudged.len(), misjudged.join("\n"));
}

macro_rules! gates {
    ($($name:ident: $file:literal;)*) => {
        $(#[test]
        fn $name() {
            run($file);
        })*
    };
}

gates! {
    gold: "gold.json";
    no_op: "no_op.json";
    damage: "damage.json";
    alternatives: "alternatives.json";
    determined: "determined.json";
    grounded: "grounded.json";
    candidates_of_every_kind: "check.json";
}
