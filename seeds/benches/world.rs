//! Owns the benchmark of parsing materialised worlds: `cargo bench -p diorama-seeds --bench world`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test or bench may end this way"
)]

use diorama_seeds::world;
use divan::Bencher;
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

/// Returns the text of a materialised world of about `megabytes` MB of JSON: customers, and orders that refer
/// to them.
fn text(megabytes: usize) -> String {
    let mut text = String::from(
        r#"{"world": 1, "name": "shop", "clock": "2026-03-02T09:00", "zone": "Europe/Lisbon", "materialised": 1, "resources": {
        "customer": {"key": "customer_id", "fields": {"name": {"type": "string", "unique": true}, "email": {"type": "string"}}, "records": ["#,
    );
    for i in 0..1_000 {
        let comma = if i == 0 { "" } else { "," };
        text.push_str(&format!(
            r#"{comma}{{"customer_id": {}, "name": "Customer Number {i}", "email": "c{i}@example.com"}}"#,
            10_000 + i
        ));
    }
    text.push_str(
        r#"]}, "order": {"key": "order_id", "fields": {"customer_id": {"ref": "customer"}, "placed_at": {"type": "date-time"}, "total": {"type": "decimal", "currency": "EUR"}, "status": {"enum": ["open", "paid", "sent"]}, "note": {"type": "string", "optional": true}, "lines": {"type": "list", "items": {"type": "string"}}}, "records": ["#,
    );
    let mut i = 0;
    while text.len() < megabytes << 20 {
        let comma = if i == 0 { "" } else { "," };
        text.push_str(&format!(
            r#"{comma}{{"order_id": {}, "customer_id": {}, "placed_at": "2026-02-{:02}T{:02}:30:00+00:00", "total": {}.{:02}, "status": "{}", "note": "Please leave it at the door number {i}.", "lines": ["item {i}", "another item"]}}"#,
            1_000_000 + i,
            10_000 + i % 1_000,
            1 + i % 28,
            i % 24,
            i % 500,
            i % 100,
            ["open", "paid", "sent"][i % 3],
        ));
        i += 1;
    }
    text.push_str("]}}, \"apis\": []}");
    text
}

#[divan::bench(sample_count = 5)]
fn read(bencher: Bencher<'_, '_>) {
    let text = text(8);
    bencher.counter(BytesCount::of_str(&text)).bench(|| world::read("shop.json", text.as_bytes()).unwrap());
}

/// Types, sorts and checks the records, and hashes the canonical form.
#[divan::bench(sample_count = 5)]
fn compile(bencher: Bencher<'_, '_>) {
    let text = text(8);
    let doc = world::read("shop.json", text.as_bytes()).unwrap();
    bencher.counter(BytesCount::of_str(&text)).bench(|| world::compile(&doc).unwrap());
}

#[divan::bench(sample_count = 5)]
fn read_and_compile(bencher: Bencher<'_, '_>) {
    let text = text(8);
    bencher.counter(BytesCount::of_str(&text)).bench(|| world::load("shop.json", text.as_bytes()).unwrap());
}
