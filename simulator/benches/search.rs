//! How long a search takes, and an index: `cargo bench --workspace --bench search`.
//!
//! Targets with the model in the program: under 1 ms at the median over 10,000 APIs and an index in under 10 s; under
//! 10 ms over 100,000.

#![expect(clippy::expect_used, reason = "a bench that cannot make its index has nothing to measure")]

use std::sync::LazyLock;

use diorama_engine::embed::embedded;
use diorama_simulator::search::{ApiEntry, ApiIndex, ApiQuery, Port, SearchBy};
use divan::{Bencher, black_box};

const VERBS: [&str; 20] = [
    "Book", "Cancel", "List", "Find", "Update", "Delete", "Create", "Pay", "Track", "Rate", "Share",
    "Export", "Import", "Approve", "Reject", "Assign", "Close", "Open", "Move", "Copy",
];
const NOUNS: [&str; 50] = [
    "Appointment",
    "Invoice",
    "Parcel",
    "Room",
    "Table",
    "Flight",
    "Course",
    "Ticket",
    "Playlist",
    "Recipe",
    "Device",
    "Account",
    "Loan",
    "Book",
    "Order",
    "Basket",
    "Repair",
    "Vacancy",
    "Workout",
    "Member",
    "Contract",
    "Claim",
    "Policy",
    "Vehicle",
    "Route",
    "Station",
    "Menu",
    "Review",
    "Photo",
    "Album",
    "Message",
    "Channel",
    "Meeting",
    "Calendar",
    "Task",
    "Project",
    "Report",
    "Dataset",
    "Server",
    "Domain",
    "Certificate",
    "Payment",
    "Refund",
    "Coupon",
    "Shelf",
    "Patient",
    "Doctor",
    "Prescription",
    "Sample",
    "Sensor",
];
const QUERIES: [&str; 4] = [
    "I need to see a physician on Tuesday morning",
    "how much do I still owe for the parcel sent to my brother",
    "cancel the ticket that I bought for tonight's show and refund it",
    "add the song to my playlist",
];

/// Names and descriptions that differ, with one key that half of them ask for and one in fifty tells.
fn pool(count: usize) -> Vec<ApiEntry> {
    let entry = |at: usize| {
        let (verb, noun) = (VERBS[at % VERBS.len()], NOUNS[at / VERBS.len() % NOUNS.len()]);
        let series = at / (VERBS.len() * NOUNS.len());
        let other = NOUNS[(at * 7 + series) % NOUNS.len()].to_lowercase();
        let key = Port::named(&format!("{noun}_id"));
        ApiEntry {
            world: format!("world{}", series % 40),
            api: format!("{verb}{noun}For{other}{series}"),
            domain: format!("domain{series}"),
            description: format!(
                "{verb}s the {} of a {other} in series {series}, if its owner agrees.",
                noun.to_lowercase()
            ),
            parameters: format!("{noun}_id {other}_name date note"),
            inputs: if at.is_multiple_of(2) { vec![key.clone()] } else { Vec::new() },
            outputs: if (at % 50) == 1 { vec![key] } else { Vec::new() },
            ..ApiEntry::default()
        }
    };
    (0..count).map(entry).collect()
}

fn index(count: usize) -> ApiIndex {
    ApiIndex::new(pool(count), embedded().expect("the model is in the program")).expect("the index is made")
}

static TEN_THOUSAND: LazyLock<ApiIndex> = LazyLock::new(|| index(10_000));
static HUNDRED_THOUSAND: LazyLock<ApiIndex> = LazyLock::new(|| index(100_000));

fn main() {
    divan::main();
}

fn searched(bencher: Bencher<'_, '_>, index: &ApiIndex, by: SearchBy) {
    let mut at = 0;
    bencher.bench_local(|| {
        at += 1;
        let query =
            ApiQuery { text: black_box(QUERIES[at % QUERIES.len()]), k: 10, by, ..ApiQuery::default() };
        index.search(query).expect("the index answers")
    });
}

#[divan::bench(args = SearchBy::ALL, sample_count = 200)]
fn over_10_000(bencher: Bencher<'_, '_>, by: SearchBy) {
    searched(bencher, &TEN_THOUSAND, by);
}

#[divan::bench(args = SearchBy::ALL, sample_count = 100)]
fn over_100_000(bencher: Bencher<'_, '_>, by: SearchBy) {
    searched(bencher, &HUNDRED_THOUSAND, by);
}

#[divan::bench(args = [10_000, 100_000], sample_count = 2, sample_size = 1)]
fn index_made(count: usize) -> usize {
    index(count).len()
}

/// A full-size model, where the build has the feature and `benches/minilm.sh` has told where the model is: under 8 ms
/// a search over 10,000 APIs. Its vectors are kept in `DIORAMA_VECTORS`; the index's time is printed.
#[cfg(feature = "fastembed")]
mod full {
    #![expect(clippy::disallowed_methods, reason = "where the model is, is told by the environment")]

    use std::path::PathBuf;
    use std::sync::{Arc, LazyLock};
    use std::time::Instant;

    use diorama_engine::embed::cache::CachedEmbedder;
    use diorama_engine::embed::full::FullEmbedder;
    use diorama_simulator::search::{ApiIndex, SearchBy};
    use divan::Bencher;

    static TEN_THOUSAND: LazyLock<Option<ApiIndex>> = LazyLock::new(|| {
        let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let (folder, runtime) = named("DIORAMA_MINILM").zip(named("ORT_DYLIB_PATH"))?;
        let vectors = named("DIORAMA_VECTORS").unwrap_or_else(|| folder.clone());
        let model = FullEmbedder::from_folder(&folder, &runtime).expect("the model is read");
        let started = Instant::now();
        let embedder = Arc::new(CachedEmbedder::new(model, &vectors));
        let index = ApiIndex::new(super::pool(10_000), embedder).expect("the index is made");
        eprintln!("index of 10,000 APIs with the full-size model: {:.1} s", started.elapsed().as_secs_f64());
        Some(index)
    });

    #[divan::bench(args = [SearchBy::Meaning, SearchBy::FusedAndNeeds], sample_count = 100)]
    fn over_10_000(bencher: Bencher<'_, '_>, by: SearchBy) {
        match &*TEN_THOUSAND {
            Some(index) => super::searched(bencher, index, by),
            None => {
                eprintln!("skipped: DIORAMA_MINILM and ORT_DYLIB_PATH are not set; run benches/minilm.sh")
            }
        }
    }
}
