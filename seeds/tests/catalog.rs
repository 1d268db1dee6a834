//! Every catalog world is read and compiled without a finding.

use diorama_seeds::{catalog, world};

#[test]
fn every_world_is_read_and_compiled() {
    let mut problems = String::new();
    for name in catalog::names() {
        let Some(text) = catalog::source(name) else { panic!("{name} has no text") };
        if let Err(report) = world::load(name, text.as_bytes()) {
            problems.push_str(&report.to_string());
            problems.push('\n');
        }
    }
    assert!(problems.is_empty(), "{problems}");
}
