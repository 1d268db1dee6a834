//! Owns the benchmark of materialising a world of 16 resources with 40 records each, from a source that is
//! parsed once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test or bench may end this way"
)]

use diorama_seeds::materialise::Source;
use diorama_seeds::world;

fn main() {
    divan::main();
}

fn source() -> Source {
    let mut text = String::from("world: 1\nname: large\nclock: 2026-03-02T09:00\nresources:\n");
    for i in 0..16 {
        let before = i.max(1) - 1;
        let reference = if i == 0 { String::new() } else { format!("other: {{ref: r{before}}}, ") };
        text.push_str(&format!(
            "  r{i}: {{key: id, records: 40, fields: {{name: {{type: string, unique: true}}, email: {{type: string}}, {reference}\
             city: {{type: string}}, price: {{type: decimal, currency: EUR}}, state: {{enum: [a, b, c]}}, \
             starts_at: {{type: date-time}}, ends_at: {{type: date-time}}, note: {{type: string, optional: true}}}}}}\n"
        ));
    }
    let doc = world::read("large.yaml", text.as_bytes());
    match doc.and_then(Source::new) {
        Ok(source) => source,
        Err(report) => unreachable!("{report}"),
    }
}

#[divan::bench]
fn materialise(bencher: divan::Bencher<'_, '_>) {
    let source = source();
    let mut seed = 0;
    bencher.bench_local(move || {
        seed += 1;
        source.materialise(seed).map(|made| made.hash)
    });
}
