//! Measures the time of calls, forks and digests: `cargo bench -p diorama-engine`.
//!
//! Targets, in process: get by key with its body under 2 µs, create under 10 µs, and fork under 10 µs for any
//! number of records.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test or bench may end this way"
)]
#![expect(clippy::expect_used, reason = "a bench that cannot make its world has nothing to measure")]

use std::sync::{Arc, LazyLock};

use diorama_engine::session::{Session, SessionOptions};
use diorama_engine::{Base, State, apply};
use diorama_seeds::task::Call;
use diorama_seeds::value::{Decimal, Value};
use divan::{Bencher, black_box};

const WORLD: &str = r"
world: 1
name: depot
materialised: 0
clock: 2026-03-02T09:00
domain: {name: depot, title: Depot}
resources:
  shelf:
    key: shelf_id
    fields: {shelf_id: {type: integer}, hall: {type: string}}
    records: []
  good:
    key: good_id
    fields:
      good_id: {type: integer, min: 1, max: 999999999}
      name: {type: string, unique: true}
      kind: {enum: [a, b, c, d]}
      price: {type: decimal}
      stock: {type: integer}
      shelf_id: {ref: shelf}
      note: {type: string, optional: true}
    records: []
apis:
  - {name: GetItem, method: GET, path: '/items/{good_id}', description: Gets., parameters: {good_id: {ref: good}}, behaviour: {get: good}}
  - name: ListItems
    method: GET
    path: /items
    description: Lists.
    parameters: {kind: {like: good.kind}, max_price: {like: good.price}, page: {type: integer, default: 1}}
    behaviour: {list: good, filters: {kind: kind, max_price: {field: price, op: le}}, sort: {by: -price}, page: {style: page, size: 20}}
  - name: AddItem
    method: POST
    path: /items
    description: Adds.
    parameters: {name: {like: good.name}, kind: {like: good.kind}, price: {like: good.price}, stock: {like: good.stock}, shelf_id: {ref: shelf}}
    behaviour:
      create: good
      require: [{that: 'shelf.exists(args.shelf_id)', else: {status: 404, message: no such shelf}}]
";

/// Makes a depot with `items` items.
fn depot(items: i64) -> Arc<Base> {
    let (_, mut world) =
        diorama_seeds::world::load("depot.yaml", WORLD.as_bytes()).expect("the world is well-formed");
    let shelf = |n: i64| [Value::Integer(n), Value::string("north")].into();
    world.resources[0].records = (0..100).map(shelf).collect();
    let kinds = ["a", "b", "c", "d"].map(Value::string);
    let item = |n: i64| {
        [
            Value::Integer(n * 7 + 1),
            Value::string(&format!("item number {n}")),
            kinds[n as usize % 4].clone(),
            Value::Decimal(Decimal { minor: n * 7_919 % 10_000, scale: 2 }),
            Value::Integer(n % 50),
            Value::Integer(n % 100),
            Value::Absent,
        ]
        .into()
    };
    world.resources[1].records = (0..items).map(item).collect();
    Base::new(world).expect("the world has the right shape")
}

static SMALL: LazyLock<Arc<Base>> = LazyLock::new(|| depot(1_000));
static LARGE: LazyLock<Arc<Base>> = LazyLock::new(|| depot(100_000));

fn call(api: &str, arguments: serde_json::Value) -> Call {
    let serde_json::Value::Object(arguments) = arguments else { unreachable!("arguments are an object") };
    Call { api: api.to_owned(), arguments }
}

/// Makes a state after some creates.
fn used(base: &Base, creates: usize) -> State {
    let mut state = State::initial(base, 7);
    for n in 0..creates {
        let added = serde_json::json!({"name": format!("new {n}"), "kind": "a", "price": 1, "stock": 1, "shelf_id": 3});
        let applied = apply(base, &state, &call("AddItem", added));
        assert_eq!(applied.reply.status, 201);
        state = applied.state;
    }
    state
}

#[divan::bench(args = [0, 100])]
fn get_by_key(bencher: Bencher<'_, '_>, creates: usize) {
    let state = used(&LARGE, creates);
    let call = call("GetItem", serde_json::json!({"good_id": 350_001}));
    bencher.bench_local(|| apply(&LARGE, black_box(&state), black_box(&call)));
}

#[divan::bench]
fn get_by_key_as_json(bencher: Bencher<'_, '_>) {
    let state = State::initial(&LARGE, 7);
    let call = call("GetItem", serde_json::json!({"good_id": 350_001}));
    let zone = &LARGE.world().zone;
    bencher.bench_local(|| apply(&LARGE, black_box(&state), black_box(&call)).reply.to_json(zone));
}

#[divan::bench]
fn list_filtered_page_of_20_out_of_1000(bencher: Bencher<'_, '_>) {
    let state = State::initial(&SMALL, 7);
    let call = call("ListItems", serde_json::json!({"kind": "b", "max_price": 80, "page": 2}));
    bencher.bench_local(|| apply(&SMALL, black_box(&state), black_box(&call)));
}

#[divan::bench(args = [0, 100, 1_000])]
fn create(bencher: Bencher<'_, '_>, creates: usize) {
    let state = used(&LARGE, creates);
    let added =
        serde_json::json!({"name": "another", "kind": "c", "price": 12.5, "stock": 4, "shelf_id": 42});
    let call = call("AddItem", added);
    bencher.bench_local(|| apply(&LARGE, black_box(&state), black_box(&call)));
}

#[divan::bench]
fn session_call_with_log(bencher: Bencher<'_, '_>) {
    let mut session = Session::new(Arc::clone(&LARGE), SessionOptions::default());
    let call = call("GetItem", serde_json::json!({"good_id": 350_001}));
    bencher.bench_local(|| session.call(black_box(&call)));
}

#[divan::bench]
fn fork_at_100k(bencher: Bencher<'_, '_>) {
    let mut session = Session::new(Arc::clone(&LARGE), SessionOptions::default());
    let added =
        serde_json::json!({"name": "another", "kind": "c", "price": 12.5, "stock": 4, "shelf_id": 42});
    session.call(&call("AddItem", added));
    bencher.bench_local(|| black_box(&session).fork());
}

#[divan::bench]
fn new_session_at_100k(bencher: Bencher<'_, '_>) {
    bencher.bench_local(|| Session::new(Arc::clone(black_box(&LARGE)), SessionOptions::default()));
}

#[divan::bench]
fn digest_at_100k(bencher: Bencher<'_, '_>) {
    let state = used(&LARGE, 10);
    bencher.bench_local(|| black_box(&state).digest());
}

#[divan::bench(sample_count = 5)]
fn base_of_100k(bencher: Bencher<'_, '_>) {
    let world = LARGE.world().clone();
    bencher.with_inputs(|| world.clone()).bench_local_values(Base::new);
}

fn main() {
    divan::main();
}
