//! Plans the calls that find the key of a named record: a look-up of its name, or a list below its owner.

use diorama_proof::survey::Finder;
use diorama_seeds::doc::PlaceDoc;
use diorama_seeds::model::{ParameterId, ResourceId};

use super::sketch::{MAX_NESTING, NamedRecord, Sketch, is_reference_to, member};
use super::writer::KeyForm;
use diorama_seeds::schema::refers_to;

impl Sketch<'_> {
    /// Finds a record by a look-up of its name, or through a list below its owner; else the user says its
    /// key. Returns its position.
    pub(super) fn find(&mut self, at: usize, nesting: u32) -> Option<usize> {
        let NamedRecord { resource, found, .. } = self.records[at];
        let described = self.world().resource(resource);
        if found || self.records[at].by_key {
            return Some(at);
        }
        let is_key = described.display.is_none_or(|display| display == described.key);
        if !is_key && !self.keys_at_hand && nesting < MAX_NESTING {
            let mut finders = self.writer.survey().finders[resource.index()].clone();
            // A look-up by name comes before reading a whole list.
            finders.sort_by_key(|finder| finder.by.is_none());
            let ways = finders.iter().find_map(|finder| Some((*finder, self.ways(*finder, at)?)));
            if let Some((finder, with)) = ways {
                return Some(self.add_look_up(finder, with, at));
            }
            let owned = finders.iter().find_map(|finder| Some((*finder, self.owner(*finder, at)?)));
            if let Some((finder, (of, field))) = owned {
                let owner = self.above(at, of, &field);
                let owner = self.find(owner, nesting + 1)?;
                let at = owner + 1;
                self.records[at].below = format!(" of {}", self.name_with_noun(owner));
                let with = self.ways(finder, at)?;
                return Some(self.add_look_up(finder, with, at));
            }
        }
        // A record whose key nobody says is the latest of a list, or has no request.
        let is_said = match self.writer.key_form(resource) {
            KeyForm::Unsayable => false,
            // Of documents, the codes of orders and invoices stand on papers, and those of webhooks nowhere.
            KeyForm::Code => !self.is_of_document || self.writer.goes_by_number(resource),
            // Users do not say the slug of a record with a name: `saffron-harbor` for the page "Opening hours".
            KeyForm::Name => !self.is_of_document || is_key || !self.writer.has_slugs(resource),
        };
        if !is_said {
            return self.find_latest(at);
        }
        self.records[at].by_key = !is_key;
        Some(at)
    }

    pub(crate) fn add_look_up(
        &mut self,
        finder: Finder,
        with: Vec<(ParameterId, String)>,
        at: usize,
    ) -> usize {
        let api = self.world().api(finder.api);
        if api.token.is_some() {
            self.sign_in(api);
        }
        self.step(api, with, "");
        self.records[at].found = true;
        at
    }

    /// Returns the arguments of a look-up, if the request names all of them.
    pub(crate) fn ways(&self, finder: Finder, at: usize) -> Option<Vec<(ParameterId, String)>> {
        let world = self.world();
        let api = world.api(finder.api);
        let mut with = Vec::new();
        for (index, parameter) in api.parameters.iter().enumerate() {
            let id = ParameterId(index as u16);
            if Some(id) == finder.by {
                let described = world.resource(self.records[at].resource);
                let display = &described.field(described.display?).name;
                with.push((id, member(&self.records[at].place, display)));
            } else if parameter.required && !api.is_filled(id) {
                if let Some((first, field)) = self.first_part(api, id).filter(|(first, _)| *first != at) {
                    with.push((id, member(&self.records[first].place, &field)));
                    continue;
                }
                let of = refers_to(&parameter.schema.kind)?;
                let named = self
                    .records
                    .iter()
                    .enumerate()
                    .find(|(other, named)| *other != at && named.resource == of);
                with.push((id, named?.1.place.clone()));
            }
        }
        Some(with)
    }

    /// Returns the owner that a nested list needs besides the name, with the referring field.
    fn owner(&self, finder: Finder, at: usize) -> Option<(ResourceId, String)> {
        let world = self.world();
        let api = world.api(finder.api);
        let mut needed = finder.needs(api);
        let only = needed.next().filter(|_| needed.next().is_none())?;
        let of = refers_to(&only.schema.kind).filter(|of| *of != self.records[at].resource)?;
        world.resource(of).display?;
        let described = world.resource(self.records[at].resource);
        let field = described.fields.iter().find(|field| is_reference_to(&field.schema.kind, of))?;
        Some((of, field.name.to_string()))
    }

    /// Adds the binding of a record's owner, before the record's.
    fn above(&mut self, at: usize, of: ResourceId, field: &str) -> usize {
        let owner = self.world().resource(of);
        let place = self.fresh(&owner.name);
        let below = self.records[at].place.clone();
        let position = self.doc.bind.get_index_of(&below).unwrap_or(0);
        let doc = PlaceDoc { a: Some(owner.name.to_string()), ..PlaceDoc::default() };
        self.doc.bind.shift_insert(position, place.clone(), doc);
        self.only_where(&below, format!("item.{field} == {place}.{}", owner.field(owner.key).name));
        self.records.insert(at, NamedRecord::new(of, place));
        at
    }
}
