//! Which actual change meets which expected one; new records match up to renaming of their keys.

use std::collections::BTreeMap;

use diorama_seeds::model::World;
use diorama_seeds::value::Value;

use super::{Check, Expected, Key, kind};
use diorama_engine::RecordChange;

/// Assignments tried before the best so far is taken.
const MAX_STEPS: usize = 20_000;

/// For each check the position of its change, if there is one. New records are assigned so that as few fields as
/// possible differ, references between new records included.
pub(super) fn assign(expected: &Expected, changes: &[RecordChange], world: &World) -> Vec<Option<usize>> {
    let mut assigned: Vec<Option<usize>> = vec![None; expected.checks.len()];
    let mut open: Vec<usize> = Vec::new();
    for (position, check) in expected.checks.iter().enumerate() {
        match &check.key {
            Key::Is(key) => {
                assigned[position] = changes.iter().position(|change| {
                    change.resource == check.resource && change.key == *key && kind(change) == check.kind
                });
            }
            Key::New(_) => open.push(position),
        }
    }
    if open.is_empty() {
        return assigned;
    }
    let candidates: Vec<Vec<(usize, usize)>> = open
        .iter()
        .map(|position| {
            let check = &expected.checks[*position];
            let mut found: Vec<(usize, usize)> = changes
                .iter()
                .enumerate()
                .filter(|(at, change)| {
                    change.resource == check.resource
                        && change.before.is_none()
                        && !assigned.contains(&Some(*at))
                })
                .map(|(at, change)| (wrong_fields(check, change, world), at))
                .collect();
            found.sort_unstable();
            found
        })
        .collect();
    let mut search = Search { expected, changes, open: &open, candidates: &candidates, best: None, steps: 0 };
    search.go(&mut assigned.clone(), 0, 0);
    search.best.map_or(assigned, |(_, best)| best)
}

struct Search<'a> {
    expected: &'a Expected,
    changes: &'a [RecordChange],
    open: &'a [usize],
    candidates: &'a [Vec<(usize, usize)>],
    best: Option<(usize, Vec<Option<usize>>)>,
    steps: usize,
}

impl Search<'_> {
    /// Assigns the open checks from `depth` on; `cost` counts wrong fields so far.
    fn go(&mut self, assigned: &mut Vec<Option<usize>>, depth: usize, cost: usize) {
        self.steps += 1;
        let known = self.best.as_ref().map_or(usize::MAX, |(cost, _)| *cost);
        if self.steps > MAX_STEPS || cost >= known {
            return;
        }
        let Some(position) = self.open.get(depth).copied() else {
            let total = cost + self.broken_references(assigned);
            if total < known {
                self.best = Some((total, assigned.clone()));
            }
            return;
        };
        let mut free = false;
        for (wrong, at) in &self.candidates[depth] {
            if assigned.contains(&Some(*at)) {
                continue;
            }
            free = true;
            assigned[position] = Some(*at);
            self.go(assigned, depth + 1, cost + wrong);
            assigned[position] = None;
            if self.best.as_ref().is_some_and(|(cost, _)| *cost == 0) {
                return;
            }
        }
        let open = &self.open[depth..];
        let scarce = open.len()
            > self.candidates[depth].iter().filter(|(_, at)| !assigned.contains(&Some(*at))).count();
        if !free || scarce {
            // It is missing, which weighs more than a record with wrong fields.
            self.go(assigned, depth + 1, cost + 100);
        }
    }

    /// References to new records that do not hold under an assignment.
    fn broken_references(&self, assigned: &[Option<usize>]) -> usize {
        let mut keys: BTreeMap<u32, Value> = BTreeMap::new();
        for (check, at) in self.expected.checks.iter().zip(assigned) {
            if let (Key::New(number), Some(change)) = (&check.key, at.and_then(|at| self.changes.get(at))) {
                keys.insert(*number, change.key.clone());
            }
        }
        let broken = |check: &Check, change: &RecordChange| {
            let Some(after) = &change.after else { return 0 };
            check
                .fields
                .iter()
                .filter(|(_, test)| !test.references().is_empty())
                .filter(|(field, test)| {
                    !test.holds(after.get(field.index()).unwrap_or(&Value::Absent), &keys)
                })
                .count()
        };
        self.expected
            .checks
            .iter()
            .zip(assigned)
            .filter_map(|(check, at)| {
                at.and_then(|at| self.changes.get(at)).map(|change| broken(check, change))
            })
            .sum()
    }
}

/// How many fields of a new record differ from a check, references to other new records aside.
fn wrong_fields(check: &Check, change: &RecordChange, world: &World) -> usize {
    let Some(after) = &change.after else { return usize::MAX / 4 };
    let wrong = check
        .fields
        .iter()
        .filter(|(field, test)| !test.may_hold(after.get(field.index()).unwrap_or(&Value::Absent)))
        .count();
    let unasked = world.resources.get(check.resource.index()).map_or(0, |resource| {
        resource
            .fields
            .iter()
            .zip(after.iter())
            .enumerate()
            .filter(|(position, (field, value))| {
                !field.generated
                    && *position != resource.key.index()
                    && !value.is_missing()
                    && Some(*value) != field.default.as_ref()
                    && !check.fields.iter().any(|(of, _)| of.index() == *position)
            })
            .count()
    });
    wrong + unasked
}
