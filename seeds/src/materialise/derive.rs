//! Owns values that derive from others: expressions over fields made earlier, and over finished records.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use hashbrown::HashMap;

use super::moment::Clock;
use crate::expr::eval::{Budget, DEFAULT_BYTES, Env, EvalError, Records, SlotContent};
use crate::expr::{Expr, Node, Slot};
use crate::model::{FieldId, Record, ResourceId};
use crate::value::Value;

/// Maximum number of steps of one expression. A record takes microseconds.
const BUDGET: u64 = 50_000;
/// Maximum number of bytes of the texts that all expressions of a world make.
pub(super) const MOST_BYTES: u64 = 256 << 20;

/// The records of finished resources, sorted by key.
pub(super) struct FinishedRecords<'a> {
    pub(super) records: &'a [Vec<Record>],
    pub(super) keys: &'a [usize],
    /// Number of bytes that expressions may still make, of [`MOST_BYTES`].
    pub(super) bytes: &'a Cell<u64>,
    pub(super) indexes: &'a Indexes,
}

/// Positions of finished records by their values, for each resource and field that was queried.
#[derive(Default)]
pub(super) struct Indexes(RefCell<HashMap<(ResourceId, FieldId), Index>>);

/// Positions of records by the value of a field, and the number of records at that time.
struct Index {
    of: usize,
    positions: HashMap<Value, Rc<[usize]>>,
}

impl Index {
    fn new(records: &[Record], field: FieldId) -> Self {
        let mut positions: HashMap<Value, Vec<usize>> = HashMap::new();
        for (position, record) in records.iter().enumerate() {
            if let Some(value) = record.get(field.index()) {
                positions.entry_ref(value).or_default().push(position);
            }
        }
        let shared = positions.into_iter().map(|(value, positions)| (value, positions.into()));
        Self { of: records.len(), positions: shared.collect() }
    }
}

impl Indexes {
    /// Discards all positions after a change of a record.
    pub(super) fn forget(&self) {
        self.0.borrow_mut().clear();
    }

    /// Returns the positions of the records with a value in a field.
    pub(super) fn positions(
        &self,
        (resource, field): (ResourceId, FieldId),
        value: &Value,
        records: &[Record],
    ) -> Option<Rc<[usize]>> {
        let mut known = self.0.borrow_mut();
        let index = known.entry((resource, field)).or_insert_with(|| Index::new(records, field));
        if index.of != records.len() {
            *index = Index::new(records, field);
        }
        index.positions.get(value).cloned()
    }
}

impl FinishedRecords<'_> {
    /// Takes the bytes of a value that becomes a part of another.
    pub(super) fn takes(&self, value: &Value) -> Result<(), EvalError> {
        let budget = Budget::with_bytes(0, self.bytes.get());
        let taken = budget.take_bytes_of(value);
        self.bytes.set(budget.bytes_left());
        taken
    }
}

impl Records for FinishedRecords<'_> {
    fn get(&self, resource: ResourceId, key: &Value) -> Option<&Record> {
        let (records, at) = (self.records.get(resource.index())?, *self.keys.get(resource.index())?);
        records.binary_search_by(|record| record[at].cmp(key)).ok().and_then(|index| records.get(index))
    }

    fn scan<'r>(&'r self, resource: ResourceId, visit: &mut dyn FnMut(&'r Record) -> ControlFlow<()>) {
        for record in self.records.get(resource.index()).into_iter().flatten() {
            if visit(record).is_break() {
                return;
            }
        }
    }

    fn find<'r>(
        &'r self,
        resource: ResourceId,
        field: FieldId,
        value: &Value,
        visit: &mut dyn FnMut(&'r Record) -> ControlFlow<()>,
    ) -> bool {
        // Equal numbers of two kinds may differ as values.
        if !matches!(value, Value::String(_) | Value::Integer(_) | Value::Bool(_)) {
            return false;
        }
        let records = self.records.get(resource.index()).map_or(&[][..], Vec::as_slice);
        let positions = self.indexes.positions((resource, field), value, records);
        let _ = positions
            .iter()
            .flat_map(|found| found.iter())
            .filter_map(|at| records.get(*at))
            .try_for_each(visit);
        true
    }
}

/// Returns the value of an expression for a record whose fields are partly made.
pub(super) fn evaluate(
    expr: &Expr,
    values: &[Value],
    clock: Clock<'_>,
    done: &FinishedRecords<'_>,
) -> Result<Value, EvalError> {
    let record: Record = Arc::from(values);
    let bound = [SlotContent::Record(record)];
    let given = done.bytes.get().min(DEFAULT_BYTES);
    let budget = Budget::with_bytes(BUDGET, given);
    let env = Env {
        arguments: &[],
        bound: &bound,
        clock: clock.now,
        zone: clock.zone,
        records: done,
        budget: &budget,
    };
    let made = env.evaluate(expr);
    done.bytes.set(done.bytes.get() - (given - budget.bytes_left()));
    match made? {
        SlotContent::Value(value) => Ok(value),
        SlotContent::Record(_) | SlotContent::Empty => Ok(Value::Null),
    }
}

/// Appends the fields of `record` that an expression reads. `record` alone reads its key.
pub(super) fn fields(node: &Node, key: usize, into: &mut Vec<usize>) {
    node.visit(&mut |node| {
        match node {
            Node::Field(of, field) if matches!(**of, Node::Variable(Slot::RECORD)) => {
                into.push(field.index())
            }
            Node::Variable(Slot::RECORD) => into.push(key),
            _ => return true,
        }
        false
    });
}

/// Appends the resources whose records an expression reads.
pub(super) fn resources(node: &Node, into: &mut Vec<ResourceId>) {
    node.visit(&mut |node| {
        match node {
            Node::Get(resource, _) | Node::Exists(resource, _) => into.push(*resource),
            Node::Fold(fold) => into.push(fold.resource),
            _ => {}
        }
        true
    });
}
