//! Finds records without a sayable name: the latest of a list whose items show their creation times.

use diorama_engine::Origin;
use diorama_proof::survey::Finder;
use diorama_seeds::model::{BehaviourKind, Field, FieldId, ParameterId, ResourceId};
use diorama_seeds::naming::is_identifier;
use diorama_seeds::schema::{Type, refers_to};

use super::sketch::Sketch;
use super::spoken::SPOKEN;

impl Sketch<'_> {
    /// Makes the request mean the latest record of a list, and reads the list. Returns none if no list shows
    /// creation times.
    pub(crate) fn find_latest(&mut self, at: usize) -> Option<usize> {
        let resource = self.records[at].resource;
        let field = self.made_field(resource)?;
        let finders = self.writer.survey().finders[resource.index()].clone();
        let is_list = |finder: &Finder| {
            matches!(self.world().api(finder.api).behaviour.kind, BehaviourKind::List(_))
                && finder.by.is_none()
        };
        let (finder, with) = finders.into_iter().filter(is_list).find_map(|finder| {
            let with = self.ways(finder, at)?;
            self.shows_all(finder, &with, resource, field).then_some((finder, with))
        })?;
        let place = self.records[at].place.clone();
        let api = self.world().api(finder.api);
        let above: Vec<ResourceId> =
            with.iter().filter_map(|(id, _)| refers_to(&api.parameters[id.index()].schema.kind)).collect();
        self.only_extreme(&place, resource, field, &above, true);
        self.records[at].phrase = Some(format!("the latest {}", self.world().resource(resource).label));
        Some(self.add_look_up(finder, with, at))
    }

    /// Returns the field with the creation time of a record.
    pub(crate) fn made_field(&self, resource: ResourceId) -> Option<FieldId> {
        let described = self.world().resource(resource);
        (0..described.fields.len()).map(|index| FieldId(index as u16)).find(|id| {
            let field = described.field(*id);
            matches!(field.schema.kind, Type::Date | Type::DateTime)
                && is_identifier(&field.name)
                && SPOKEN.is_made(&field.label, &described.label)
        })
    }

    /// Restricts a binding to the record with the greatest or least value of a field, among those of the same
    /// owners.
    pub(crate) fn only_extreme(
        &mut self,
        place: &str,
        resource: ResourceId,
        field: FieldId,
        above: &[ResourceId],
        greatest: bool,
    ) {
        let described = self.world().resource(resource);
        let (name, key) = (&described.field(field).name, &described.field(described.key).name);
        let mut scope = String::new();
        for of in above {
            let refers = |field: &&Field| refers_to(&field.schema.kind) == Some(*of);
            if let Some(field) = described.fields.iter().find(refers) {
                scope.push_str(&format!(" && x.{0} == item.{0}", field.name));
            }
        }
        let test = if greatest { ">=" } else { "<=" };
        let beaten = format!(
            "!{}.any(x, x.{key} != item.{key}{scope} && x.{name} {test} item.{name})",
            described.name
        );
        self.only_where(place, format!("item.{name} != null"));
        self.only_where(place, beaten);
    }

    /// Returns true if a list shows a field of all its records, and has no more pages.
    fn shows_all(
        &self,
        finder: Finder,
        with: &[(ParameterId, String)],
        resource: ResourceId,
        field: FieldId,
    ) -> bool {
        let api = self.world().api(finder.api);
        let mut trial = self.clone();
        trial.step(api, with.to_vec(), "");
        let Ok(calls) = self.writer.calls(&trial.make_trial(), api.domain) else { return false };
        let Some(last) = calls.last() else { return false };
        let shown = last.reply.body.values().filter(|(_, origin)| {
            matches!(origin, Origin::Field { resource: of, field: own, .. } if *of == resource && *own == field)
        });
        let size = match &api.behaviour.kind {
            BehaviourKind::List(query) => query.page.as_ref().map(|page| page.size as usize),
            _ => None,
        };
        let count = shown.count();
        count > 0 && size.is_none_or(|size| count < size)
    }
}
