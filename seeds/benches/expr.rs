//! Owns the benchmark of compiling and evaluating expressions: `cargo bench -p diorama-seeds`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test or bench may end this way"
)]
#![expect(clippy::panic, reason = "a benchmark that cannot be set up has nothing to measure")]

use std::ops::ControlFlow;

use diorama_seeds::expr::eval::{Budget, Env, Records, SlotContent};
use diorama_seeds::expr::{Expr, Scope, Slot, compile};
use diorama_seeds::model::{DomainId, FieldId, Record, ResourceId, World};
use diorama_seeds::value::{Value, Zone};
use diorama_seeds::world;

fn main() {
    divan::main();
}

const RECORDS: u32 = 1_000;
const VISIT: ResourceId = ResourceId(0);

/// A world with 1,000 visits to ten doctors.
struct Clinic {
    world: World,
    records: Vec<Record>,
}

impl Clinic {
    fn new() -> Self {
        let text = "
world: 1
name: clinic
clock: 2026-03-02T09:00
domain: {name: clinic}
resources:
  visit:
    key: visit_id
    fields:
      visit_id: {type: integer}
      doctor_id: {type: integer}
      paid: {type: decimal}
      status: {enum: [booked, cancelled]}
apis:
  - name: GetVisit
    method: GET
    path: /visits/{visit_id}
    parameters: {visit_id: {ref: visit}, doctor_id: {like: visit.doctor_id, in: query}}
    behaviour: {get: visit, require: [{that: args.doctor_id > 0, else: {status: 422, message: no}}]}
";
        let doc = world::read("clinic.yaml", text.as_bytes()).unwrap_or_else(|report| panic!("{report}"));
        let world = world::compile(&doc).unwrap_or_else(|report| panic!("{report}"));
        let record = |id: u32| -> Record {
            let status = if id.is_multiple_of(3) { "cancelled" } else { "booked" };
            let paid = diorama_seeds::value::Decimal { minor: i64::from(id), scale: 2 };
            [
                Value::Integer(id.into()),
                Value::Integer((id % 10).into()),
                Value::Decimal(paid),
                Value::string(status),
            ]
            .into()
        };
        Self { world, records: (0..RECORDS).map(record).collect() }
    }

    fn compile(&self, source: &str) -> Expr {
        let zone = Zone::utc();
        let mut scope = Scope::new(&self.world.resources, DomainId(0), &zone)
            .with_parameters(&self.world.apis[0].parameters);
        scope.set_record(Some(VISIT));
        compile(source, &mut scope).unwrap_or_else(|error| panic!("{source}: {error}"))
    }
}

impl Records for Clinic {
    fn get(&self, _: ResourceId, key: &Value) -> Option<&Record> {
        match key {
            Value::Integer(id) => self.records.get(usize::try_from(*id).ok()?),
            _ => None,
        }
    }

    fn scan<'r>(&'r self, _: ResourceId, visit: &mut dyn FnMut(&'r Record) -> ControlFlow<()>) {
        let _ = self.records.iter().try_for_each(visit);
    }

    fn find<'r>(
        &'r self,
        _: ResourceId,
        field: FieldId,
        value: &Value,
        visit: &mut dyn FnMut(&'r Record) -> ControlFlow<()>,
    ) -> bool {
        // Visits every tenth record, as an index on the doctor would.
        let (FieldId(1), Value::Integer(first)) = (field, value) else { return false };
        let _ =
            self.records.iter().skip(usize::try_from(*first).unwrap_or(0)).step_by(10).try_for_each(visit);
        true
    }
}

#[divan::bench(args = [
    "args.doctor_id > 0",
    "visit.get(args.visit_id).status == 'booked'",
    "!visit.any(v, v.doctor_id == args.doctor_id && v.paid == record.paid && v.status == 'booked')",
])]
fn compiled(bencher: divan::Bencher<'_, '_>, source: &str) {
    let clinic = Clinic::new();
    bencher.bench(|| clinic.compile(source));
}

#[divan::bench(args = [
    "record.status",
    "record.doctor_id == args.doctor_id",
    "record.doctor_id == args.doctor_id && record.paid > 1 && record.status == 'booked'",
    "visit.get(args.visit_id).status == 'booked'",
    "record.paid * 3 + 1",
    "visit.any(v, v.doctor_id == args.doctor_id && v.paid > 1000)",
    "visit.count(v, v.status == 'booked')",
    "visit.sum(v, v.status == 'booked', v.paid)",
])]
fn evaluated(bencher: divan::Bencher<'_, '_>, source: &str) {
    let clinic = Clinic::new();
    let expr = clinic.compile(source);
    let arguments = [Value::Integer(7), Value::Integer(3)];
    let bound = [SlotContent::Record(clinic.records[13].clone())];
    let zone = Zone::utc();
    bencher.bench(|| {
        let budget = Budget::default();
        let env = Env {
            arguments: &arguments,
            bound: &bound,
            clock: clinic.world.clock,
            zone: &zone,
            records: &clinic,
            budget: &budget,
        };
        env.evaluate(divan::black_box(&expr)).is_ok()
    });
}

/// Evaluates a condition on each of 1,000 records.
#[divan::bench]
fn filtered(bencher: divan::Bencher<'_, '_>) {
    let clinic = Clinic::new();
    let expr = clinic.compile("record.status == 'booked' && record.paid > args.doctor_id");
    let arguments = [Value::Integer(7), Value::Integer(3)];
    let zone = Zone::utc();
    bencher.bench(|| {
        let budget = Budget::default();
        let env = Env {
            arguments: &arguments,
            bound: &[],
            clock: clinic.world.clock,
            zone: &zone,
            records: &clinic,
            budget: &budget,
        };
        clinic
            .records
            .iter()
            .filter(|record| env.holds_for(&expr.node, Slot::RECORD, record) == Ok(true))
            .count()
    });
}
