//! Holds the names of a world's records and the units of its tools, built once and shared by all tasks of the
//! world.

use std::sync::{Arc, OnceLock};

use diorama_answers::names::Names;
use diorama_answers::prose::{Prose, Span};
use diorama_answers::units::{Currency, Unit};
use diorama_engine::Base;
use diorama_seeds::model::{ApiId, Resource};

/// The parts of a world that are read once. Each part is built on first use, and all tasks share it.
#[derive(Clone, Debug)]
pub struct Vocabulary(Arc<Words>);

#[derive(Debug)]
struct Words {
    /// The display names of each resource's records.
    names: Vec<OnceLock<Names>>,
    /// The units and currencies of each API's description.
    measures: Vec<OnceLock<(Vec<Unit>, Vec<Currency>)>>,
}

impl Vocabulary {
    /// Creates an empty vocabulary of a base; parts are built on first use.
    #[must_use]
    pub fn new(base: &Base) -> Self {
        let world = base.world();
        Self(Arc::new(Words {
            names: world.resources.iter().map(|_| OnceLock::new()).collect(),
            measures: world.apis.iter().map(|_| OnceLock::new()).collect(),
        }))
    }

    /// Returns the units and currencies of an API's description.
    pub(crate) fn measures(
        &self,
        api: ApiId,
        read: impl FnOnce() -> (Vec<Unit>, Vec<Currency>),
    ) -> (&[Unit], &[Currency]) {
        self.0.measures.get(api.index()).map_or((&[], &[]), |slot| {
            let (units, currencies) = slot.get_or_init(read);
            (units, currencies)
        })
    }

    /// Returns the spans of a text that name records, by display names of two words and more. Shorter names
    /// are ambiguous.
    pub fn proper_names(&self, prose: &Prose, base: &Base) -> Vec<Span> {
        let resources = base.world().resources.iter().zip(&self.0.names);
        resources
            .flat_map(|(resource, names)| prose.names(names.get_or_init(|| names_of(resource))))
            .collect()
    }
}

fn names_of(resource: &Resource) -> Names {
    let display = resource.display;
    let values = resource.records.iter().filter_map(|record| record.get(display?.index())?.as_str());
    Names::of(values)
}
