//! The names of a world's records, made once and shared by all tasks of the world.

use std::sync::{Arc, OnceLock};

use diorama_answers::names::{Builder, Names};
use diorama_answers::prose::{Prose, Span};
use diorama_answers::units::{Currency, Unit};
use diorama_engine::Base;
use diorama_seeds::model::{ApiId, DomainId, FieldId, ResourceId};
use diorama_seeds::schema::Type;
use diorama_seeds::value::Value;

use super::measures::Measures;

/// The names of all text fields of a world, each made when it is first asked for. Share one between all tasks of
/// a world: building a field's names costs more than grading an answer.
#[derive(Clone, Debug)]
pub struct Vocabulary(Arc<Words>);

#[derive(Debug)]
struct Words {
    fields: Vec<Vec<OnceLock<Arc<Names>>>>,
    /// The units and currencies of each API's description.
    measures: Vec<OnceLock<(Vec<Unit>, Vec<Currency>)>>,
    /// What each domain's tools and fields are measured in.
    domains: Vec<OnceLock<Measures>>,
}

impl Vocabulary {
    /// The names of the records of a base. Nothing is built yet.
    #[must_use]
    pub fn new(base: &Base) -> Self {
        let resources = &base.world().resources;
        let fields =
            resources.iter().map(|resource| resource.fields.iter().map(|_| OnceLock::new()).collect());
        let measures = base.world().apis.iter().map(|_| OnceLock::new()).collect();
        let domains = base.world().domains.iter().map(|_| OnceLock::new()).collect();
        Self(Arc::new(Words { fields: fields.collect(), measures, domains }))
    }

    /// The units and currencies of an API's description.
    pub(crate) fn measures(
        &self,
        api: ApiId,
        read: impl FnOnce() -> (Vec<Unit>, Vec<Currency>),
    ) -> (&[Unit], &[Currency]) {
        match self.0.measures.get(api.index()) {
            Some(slot) => {
                let (units, currencies) = slot.get_or_init(read);
                (units, currencies)
            }
            None => (&[], &[]),
        }
    }

    /// What a domain's tools and fields are measured in.
    pub(crate) fn domain(&self, id: DomainId, read: impl FnOnce() -> Measures) -> Option<&Measures> {
        self.0.domains.get(id.index()).map(|slot| slot.get_or_init(read))
    }

    /// The names of a field.
    pub(crate) fn field(&self, base: &Base, resource: ResourceId, field: FieldId) -> Arc<Names> {
        let slot = self.0.fields.get(resource.index()).and_then(|fields| fields.get(field.index()));
        match slot {
            Some(slot) => Arc::clone(slot.get_or_init(|| Arc::new(of_field(base, resource, field)))),
            None => Arc::default(),
        }
    }
}

impl Vocabulary {
    /// The names of records of a world in a text: display names of two words and more, which are hardly anything else.
    pub fn proper_names(&self, prose: &Prose, base: &Base) -> Vec<(Span, ResourceId)> {
        let mut found = Vec::new();
        for (index, resource) in base.world().resources.iter().enumerate() {
            let Some(display) = resource.display else { continue };
            let id = ResourceId(index as u16);
            let names = self.field(base, id, display);
            found.extend(prose.names(&names).map(|span| (span, id)));
        }
        found
    }
}

fn of_field(base: &Base, resource: ResourceId, field: FieldId) -> Names {
    let world = base.world();
    let Some(resource) = world.resources.get(resource.index()) else { return Names::default() };
    let Some(declared) = resource.fields.get(field.index()) else { return Names::default() };
    let mut builder = Builder::default();
    if let Type::Enum(values) = &declared.schema.kind {
        for value in values.iter() {
            builder.add(value);
            for synonym in declared.synonyms.get(value).into_iter().flatten() {
                builder.add_as(synonym, value);
            }
        }
        return builder.finish();
    }
    for record in &resource.records {
        if let Some(value) = record.get(field.index()) {
            add_value(&mut builder, value, base);
        }
    }
    builder.finish()
}

/// Adds the names that a field holds.
pub(crate) fn add_value(builder: &mut Builder, value: &Value, base: &Base) {
    match value {
        Value::String(text) => builder.add(text),
        Value::List(items) => items.iter().for_each(|item| add_value(builder, item, base)),
        Value::Integer(_) => builder.add(&value.to_text(&base.world().zone)),
        _ => {}
    }
}
