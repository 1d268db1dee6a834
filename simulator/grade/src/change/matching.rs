//! Matching: assigns actual changes to expected ones. New records match whatever keys the episode gave them.

use std::collections::BTreeMap;

use diorama_seeds::model::World;
use diorama_seeds::task::ChangeKind;
use diorama_seeds::value::Value;

use super::{Check, ExpectedChanges, Key, Window, kind};
use diorama_engine::RecordChange;

/// The search stops after this many steps and takes the best assignment so far.
const MAX_STEPS: usize = 20_000;
/// The cost of an unmatched check, in wrong fields. It exceeds the cost of a record with wrong fields.
const MISSING: usize = 100;

/// Returns, for each check, the position of its change among the net changes of its goal. New records are
/// assigned so that as few fields as possible differ. References between new records and changes of later
/// goals count, too.
pub(super) fn assign(
    expected: &ExpectedChanges,
    windows: &[Window<'_>],
    world: &World,
) -> Vec<Option<usize>> {
    let mut assigned: Vec<Option<usize>> = vec![None; expected.checks.len()];
    let mut open: Vec<usize> = Vec::new();
    for (position, check) in expected.checks.iter().enumerate() {
        match (&check.key, check.kind) {
            (Key::Is(key), _) => assigned[position] = place(check, key, windows),
            (Key::New(_), ChangeKind::Created) => open.push(position),
            // Assigned below, when the key of the new record is known.
            (Key::New(_), _) => {}
        }
    }
    if !open.is_empty() {
        let candidates: Vec<Vec<(usize, usize)>> =
            open.iter().map(|position| candidates(expected, *position, windows, world)).collect();
        let mut search =
            Search { expected, windows, open: &open, candidates: &candidates, best: None, steps: 0 };
        search.go(&mut assigned.clone(), 0, 0);
        assigned = search.best.map_or(assigned, |(_, best)| best);
        let keys = keys(expected, windows, &assigned);
        for (position, check) in expected.checks.iter().enumerate() {
            if let (Key::New(number), true) = (&check.key, check.kind != ChangeKind::Created) {
                assigned[position] = keys.get(number).and_then(|key| place(check, key, windows));
            }
        }
    }
    assigned
}

/// Returns the keys of the assigned new records, by number.
pub(super) fn keys(
    expected: &ExpectedChanges,
    windows: &[Window<'_>],
    assigned: &[Option<usize>],
) -> BTreeMap<u32, Value> {
    let created = expected.checks.iter().zip(assigned).filter(|(check, _)| check.kind == ChangeKind::Created);
    let key = |(check, at): (&Check, &Option<usize>)| {
        let Key::New(number) = &check.key else { return None };
        Some((*number, change_of(check, *at, windows)?.key.clone()))
    };
    created.filter_map(key).collect()
}

/// Returns the change that is assigned to a check.
pub(super) fn change_of<'a>(
    check: &Check,
    at: Option<usize>,
    windows: &'a [Window<'_>],
) -> Option<&'a RecordChange> {
    windows.get(check.goal as usize)?.net.get(at?)
}

/// Returns the position of the net change that has the resource, key and kind of a check.
fn place(check: &Check, key: &Value, windows: &[Window<'_>]) -> Option<usize> {
    let fits = |change: &RecordChange| {
        change.resource == check.resource && change.key == *key && kind(change) == check.kind
    };
    windows.get(check.goal as usize)?.net.iter().position(fits)
}

/// Returns the positions of the new records that a check may expect, each with its number of wrong fields.
fn candidates(
    expected: &ExpectedChanges,
    position: usize,
    windows: &[Window<'_>],
    world: &World,
) -> Vec<(usize, usize)> {
    let check = &expected.checks[position];
    let later =
        expected.checks.iter().filter(|other| other.key == check.key && other.kind != ChangeKind::Created);
    let later: Vec<&Check> = later.collect();
    let new = windows.get(check.goal as usize).into_iter().flat_map(|window| window.net.iter().enumerate());
    let new = new.filter(|(_, change)| change.resource == check.resource && change.before.is_none());
    let cost = |change: &RecordChange| {
        let changed_later = later.iter().map(|other| match place(other, &change.key, windows) {
            Some(at) => change_of(other, Some(at), windows)
                .map_or(MISSING, |change| wrong_fields(other, change, world)),
            None => MISSING,
        });
        wrong_fields(check, change, world) + changed_later.sum::<usize>()
    };
    let mut found: Vec<(usize, usize)> = new.map(|(at, change)| (cost(change), at)).collect();
    found.sort_unstable();
    found
}

struct Search<'a> {
    expected: &'a ExpectedChanges,
    windows: &'a [Window<'a>],
    open: &'a [usize],
    candidates: &'a [Vec<(usize, usize)>],
    best: Option<(usize, Vec<Option<usize>>)>,
    steps: usize,
}

impl Search<'_> {
    /// Assigns the open checks from `depth` on. `cost` counts the wrong fields so far.
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
        let goal = self.expected.checks[position].goal;
        let is_taken = |assigned: &[Option<usize>], at: usize| {
            let of_goal = self.expected.checks.iter().zip(assigned).filter(|(check, _)| check.goal == goal);
            of_goal.into_iter().any(|(_, known)| *known == Some(at))
        };
        for (wrong, at) in &self.candidates[depth] {
            if is_taken(assigned, *at) {
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
        let left = self.candidates[depth].iter().filter(|(_, at)| !is_taken(assigned, *at)).count();
        if !free || open.len() > left {
            self.go(assigned, depth + 1, cost + MISSING);
        }
    }

    /// Counts the references to new records that are wrong under an assignment.
    fn broken_references(&self, assigned: &[Option<usize>]) -> usize {
        let keys = keys(self.expected, self.windows, assigned);
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
            .filter_map(|(check, at)| change_of(check, *at, self.windows).map(|change| broken(check, change)))
            .sum()
    }
}

/// Counts the fields of a new record that differ from a check. References to other new records are not
/// compared.
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
