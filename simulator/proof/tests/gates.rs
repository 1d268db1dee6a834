//! Each gate on candidates written by hand over worlds of `tests/worlds`: those that must fail, for the right typed
//! reason, and near ones that must pass all six.
//!
//! A snapshot keeps the whole result beside the verdict, so that a gate that tries less than before, or derives an
//! argument from somewhere else, is seen where the verdict stays.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may end this way")]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use diorama_engine::Base;
use diorama_proof::candidate::{Candidate, CandidateError, FactClaim, MAX_FACTS};

use diorama_proof::verdict::{Verdicts, check};
use diorama_proof::{
    Code, Gate, GateReport, GroundedCandidate, Stop, Survey, Vocabulary, WorldContext, ground, prove,
};
use diorama_seeds::materialise::Source;
use diorama_seeds::task::{ArgumentSource, Derivation};
use diorama_seeds::world;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
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
        let made = Source::new(doc).unwrap().materialise(0).unwrap();
        let base = Base::new(made.world).unwrap();
        Self { vocabulary: Vocabulary::new(&base), survey: Survey::new(base.world()), base }
    }

    const fn context(&self) -> WorldContext<'_> {
        let Self { base, vocabulary, survey } = self;
        WorldContext { base, vocabulary, survey, stop: Stop::NEVER }
    }

    fn check(&self, candidate: Candidate) -> Verdicts {
        check(self.context(), candidate).unwrap()
    }

    /// The result of a candidate: the source of everything in it, and the findings or the tries of the gates.
    fn made_of(&self, candidate: Candidate, verdicts: &Verdicts) -> String {
        let grounded = ground(self.context(), candidate).unwrap();
        let mut text = derived(&grounded);
        for gate in &verdicts.gates {
            for finding in &gate.findings {
                writeln!(text, "  ! {}: {}", gate.gate.name(), finding.message).unwrap();
            }
        }
        if verdicts.passes {
            let mut rng = ChaCha8Rng::seed_from_u64(grounded.seed);
            let report = prove(self.context(), &grounded, &mut rng).unwrap();
            text.push_str(&tried(&report));
        }
        text
    }
}

/// Where the arguments come from, what brings out a held-back detail, and when a goal opens.
fn derived(grounded: &GroundedCandidate) -> String {
    let mut text = String::new();
    for (number, call) in grounded.gold.iter().enumerate() {
        let sources =
            call.sources.iter().map(|(name, source)| format!(" {name}: {}", place(source, grounded)));
        writeln!(text, "  {number} {}{}", call.api, sources.collect::<String>()).unwrap();
    }
    for (goal, script) in grounded.goals.iter().zip(&grounded.script.goals) {
        if let Some(when) = &script.when {
            writeln!(text, "  when {}", serde_json::to_string(when).unwrap()).unwrap();
        }
        for held in &script.withheld {
            writeln!(text, "  knows {}, asked for as {:?}", held.about, held.words).unwrap();
        }
        if !goal.refusal.is_empty() {
            writeln!(text, "  refused as {:?} by {:?}", goal.refusal, goal.refused_by).unwrap();
        }
    }
    text
}

/// A source with the words that it stands for.
fn place(source: &ArgumentSource, grounded: &GroundedCandidate) -> String {
    match source {
        ArgumentSource::User { turn, start, end, by } => {
            let words = &grounded.user_turns[*turn as usize][*start as usize..*end as usize];
            let by = if *by == Derivation::Verbatim { String::new() } else { format!(" by {by:?}") };
            format!("`{words}` of turn {turn}{by}")
        }
        ArgumentSource::Reply { call, path } => format!("{call} {path}"),
        ArgumentSource::Arithmetic { operation, of } => {
            let of: Vec<String> = of.iter().map(|part| place(part, grounded)).collect();
            format!("{operation} ({})", of.join(", "))
        }
        other => serde_json::to_string(other).unwrap(),
    }
}

/// The tries of the gates on a candidate that passes.
fn tried(report: &GateReport) -> String {
    let GateReport { solvable, nontrivial, mutation, alternatives, unambiguous, grounded, traps: _ } = report;
    let mut text = format!("  {solvable} calls, {nontrivial} ways of doing nothing\n");
    for (fault, tally) in mutation {
        writeln!(text, "  {fault}: {} killed, {} equivalent", tally.killed, tally.equivalent).unwrap();
    }
    for (way, passed) in alternatives {
        writeln!(text, "  {way}: {passed}").unwrap();
    }
    writeln!(text, "  {unambiguous} settled, {grounded} derived").unwrap();
    text
}

/// The result of a case that differs from the expected one.
fn wrong(case: &Case, verdicts: &Verdicts) -> Option<String> {
    let found: Vec<String> = verdicts
        .gates
        .iter()
        .flat_map(|gate| {
            gate.findings.iter().map(move |finding| format!("{}: {}", gate.gate.name(), finding.message))
        })
        .collect();
    let right = match case.expect["code"].as_str() {
        None => verdicts.passes,
        Some(code) => verdicts.gates.iter().any(|gate| {
            gate.gate == case.gate && gate.findings.iter().any(|finding| finding.reason.code.name() == code)
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
    let mut made = String::new();
    let count = cases.len();
    for case in cases {
        let name = case.candidate.world.clone().unwrap();
        let world = worlds.entry(name.clone()).or_insert_with(|| World::named(&name));
        let verdicts = world.check(case.candidate.clone());
        misjudged.extend(wrong(&case, &verdicts));
        writeln!(made, "{}\n{}", case.name, world.made_of(case.candidate, &verdicts)).unwrap();
    }
    assert!(misjudged.is_empty(), "{} of {count} misjudged:\n{}", misjudged.len(), misjudged.join("\n"));
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!(file.trim_end_matches(".json"), made);
    });
}

/// A candidate that passes, with so many claims of its first fact.
fn with_facts(count: usize) -> (World, Candidate) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/check.json");
    let cases: Vec<Case> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut candidates = cases.into_iter().map(|case| case.candidate);
    let claimed = |candidate: &Candidate| -> Option<FactClaim> {
        candidate.goals.iter().find_map(|goal| goal.end().facts.first().cloned())
    };
    let (mut candidate, fact) =
        candidates.find_map(|candidate| claimed(&candidate).map(|fact| (candidate, fact))).unwrap();
    let mut left = count;
    for ends in candidate.goals.iter_mut().filter_map(|goal| goal.turns.last_mut()?.ends.as_mut()) {
        let here = if ends.facts.is_empty() { 0 } else { std::mem::take(&mut left) };
        ends.facts = vec![fact.clone(); here];
    }
    (World::named(candidate.world.as_deref().unwrap()), candidate)
}

#[test]
fn a_candidate_may_have_so_many_facts() {
    let (world, candidate) = with_facts(MAX_FACTS);
    // It is judged, whatever comes of it.
    assert_eq!(world.check(candidate).gates.len(), Gate::ALL.len());
    let (world, candidate) = with_facts(MAX_FACTS + 1);
    let refused = check(world.context(), candidate).unwrap_err().to_string();
    assert!(refused.contains("facts: found 201, expected at most 200"), "{refused}");
}

#[test]
fn a_check_ends_once_nobody_waits_for_it() {
    let (world, candidate) = with_facts(1);
    let gone = AtomicBool::new(true);
    let context = WorldContext { stop: Stop::on_flag(&gone), ..world.context() };
    assert!(matches!(check(context, candidate), Err(CandidateError::Stopped)));
}

#[test]
fn a_proof_is_whole_whoever_waits_for_it() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/check.json");
    let cases: Vec<Case> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let gone = AtomicBool::new(true);
    let mut worlds: HashMap<String, World> = HashMap::new();
    let mut proven = 0;
    for Case { name, candidate, .. } in cases {
        let world = candidate.world.clone().unwrap();
        let world = worlds.entry(world.clone()).or_insert_with(|| World::named(&world));
        let Ok(grounded) = ground(world.context(), candidate) else { continue };
        let prove = |stop| {
            let mut rng = ChaCha8Rng::seed_from_u64(grounded.seed);
            prove(WorldContext { stop, ..world.context() }, &grounded, &mut rng)
        };
        let whole = prove(Stop::NEVER);
        assert_eq!(prove(Stop::on_flag(&gone)), whole, "{name}");
        proven += usize::from(whole.is_ok());
    }
    assert!(proven > 0);
}

#[test]
fn the_page_lists_every_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reason-codes.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- codes -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of codes -->").unwrap();
    let mut table = "| gate | code | meaning |\n| --- | --- | --- |\n".to_owned();
    for code in Code::ALL {
        writeln!(table, "| `{}` | `{}` | {} |", code.gate().name(), code.name(), code.meaning()).unwrap();
    }
    let expected = format!("{before}<!-- codes -->\n{table}<!-- end of codes -->{after}");
    if std::env::var_os("DIORAMA_UPDATE_DOCS").is_some() {
        std::fs::write(&path, expected).unwrap();
    } else {
        assert!(page == expected, "docs/reason-codes.md is stale: run this test with DIORAMA_UPDATE_DOCS=1");
    }
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
    solvable: "solvable.json";
    nontrivial: "nontrivial.json";
    mutation: "mutation.json";
    alternatives: "alternatives.json";
    unambiguous: "unambiguous.json";
    grounded: "grounded.json";
    policy: "policy.json";
    consent: "consent.json";
    candidates_of_every_kind: "check.json";
}
