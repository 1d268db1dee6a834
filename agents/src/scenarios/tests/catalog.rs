//! Plays the plots of the catalog: nine of ten plays in four worlds must become rows, and each plot one in twelve.
//!
//! `.ci/played.tsv` records the texts that passed. A test plays the domains whose texts differ from the
//! record, and a sample of the others. The lane `catalog` plays all of them and writes the record.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::*;
use crate::catalog::CatalogDomain;

/// One in this many unchanged domains is played, because the code that plays them may have changed.
const SAMPLE_STRIDE_DOMAINS: usize = 9;

/// The worlds in one of which each plot must become a row.
const MAX_WORLDS: usize = 12;

/// The environment variable that has all domains played and the record written.
const PLAY_ALL: &str = "DIORAMA_PLAY_ALL_DOMAINS";

/// Returns the domains whose texts differ from the record, and a sample of the others, with their positions in
/// the catalog; all if requested.
pub(crate) fn due_domains() -> Vec<(usize, Arc<CatalogDomain>)> {
    let plays_all = plays_all();
    let recorded = std::fs::read_to_string(record()).unwrap_or_default();
    let recorded: BTreeSet<&str> = recorded.lines().collect();
    let is_due = |number: usize, domain: &CatalogDomain| {
        plays_all || !recorded.contains(&*line(domain)) || number.is_multiple_of(SAMPLE_STRIDE_DOMAINS)
    };
    let domains = crate::catalog::domains().into_iter().enumerate();
    domains.filter(|(number, domain)| is_due(*number, domain)).collect()
}

fn plays_all() -> bool {
    std::env::var_os(PLAY_ALL).is_some()
}

fn record() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../.ci/played.tsv")
}

/// Returns the line of the record for a domain.
fn line(domain: &CatalogDomain) -> String {
    format!("{}\t{}", domain.name, domain.hash)
}

#[derive(Default)]
struct Count {
    tries: usize,
    rows: usize,
    /// The plots that never became a row.
    lost: Vec<String>,
}

fn play_domain(domain: &CatalogDomain, count: &mut Count) {
    let doc = domain.doc().unwrap();
    let world_template = WorldTemplate::new(doc, 99, &Shares::new(), &Ability::ALL).unwrap();
    assert!(world_template.scenario_set.scenarios().len() >= 20, "{}", domain.name);
    let worlds: Vec<BatchWorld> = (0..4).map(|seed| make_world(&world_template, seed).unwrap()).collect();
    for scenario in world_template.scenario_set.scenarios() {
        let passes = |seed: usize, world: &BatchWorld| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed as u64);
            // Every other play of a governed plot must end refused.
            let options = PlayOptions { forbids: seed % 2 == 1, ..options(world, seed as u64) };
            let played = play(world, scenario, &[], options, &mut rng).ok()?;
            test(world, played.candidate, &mut rng).ok()
        };
        let passed = worlds.iter().enumerate().filter_map(|(seed, world)| passes(seed, world)).count();
        count.tries += worlds.len();
        count.rows += passed;
        // A plot that needs rare records gets more worlds.
        let mut more = worlds.len()..MAX_WORLDS;
        if passed == 0
            && !more.any(|seed| passes(seed, &make_world(&world_template, seed as u64).unwrap()).is_some())
        {
            count.lost.push(format!("{}.{}", domain.name, scenario.doc.name));
        }
    }
}

#[test]
fn the_catalogs_scenarios_become_rows() {
    let domains = due_domains();
    let mut count = Count::default();
    domains.iter().for_each(|(_, domain)| play_domain(domain, &mut count));
    let Count { tries, rows, lost } = count;
    assert!(lost.is_empty(), "never a row: {lost:?}");
    assert!(tries > 0 && rows * 100 >= tries * 90, "{rows} of {tries}");
    if plays_all() {
        let lines = domains.iter().fold(String::new(), |mut lines, (_, domain)| {
            writeln!(lines, "{}", line(domain)).unwrap();
            lines
        });
        std::fs::write(record(), lines).unwrap();
    }
}
