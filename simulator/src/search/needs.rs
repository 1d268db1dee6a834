//! What needs what: an input of one API that is an output of another.

use rustc_hash::FxHashMap;

use super::ApiEntry;

/// Who can fill which input, by the positions of entries.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// For each entry the inputs that others can fill.
    of: Vec<Vec<Need>>,
}

/// An input that other APIs can fill.
#[derive(Debug)]
pub(super) struct Need {
    /// Whether users do not say such a thing.
    pub(super) hidden: bool,
    /// Entries that return it.
    pub(super) sources: Vec<u32>,
}

/// Entries that return one thing, at most; what everything returns tells nothing apart.
const MAX_SOURCES: usize = 64;

impl Needs {
    /// An entry can fill an input of its own world that it does not ask for itself. Where entries that only read can,
    /// those that change records are left out: a key is looked up, not made.
    pub(super) fn new(entries: &[ApiEntry]) -> Self {
        let mut sources: FxHashMap<(&str, &str), Vec<u32>> = FxHashMap::default();
        for (position, entry) in entries.iter().enumerate() {
            for output in &entry.outputs {
                if !entry.inputs.iter().any(|input| input.thing == output.thing) {
                    sources.entry((&entry.world, &output.thing)).or_default().push(position as u32);
                }
            }
        }
        for found in sources.values_mut() {
            let writes = |position: &u32| entries.get(*position as usize).is_some_and(|entry| entry.writes);
            if !found.iter().all(writes) {
                found.retain(|position| !writes(position));
            }
            found.dedup();
            found.truncate(MAX_SOURCES);
        }
        let needs = |(position, entry): (usize, &ApiEntry)| {
            let need = |input: &super::Port| {
                let found = sources.get(&(entry.world.as_str(), input.thing.as_str()))?;
                let others: Vec<u32> =
                    found.iter().copied().filter(|source| *source as usize != position).collect();
                (!others.is_empty()).then_some(Need { hidden: input.hidden, sources: others })
            };
            entry.inputs.iter().filter_map(need).collect()
        };
        Self { of: entries.iter().enumerate().map(needs).collect() }
    }

    /// The inputs of an entry that others can fill.
    pub(super) fn of(&self, position: usize) -> &[Need] {
        self.of.get(position).map_or(&[], Vec::as_slice)
    }
}
