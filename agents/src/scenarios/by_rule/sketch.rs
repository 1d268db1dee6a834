//! A scenario under construction: its places, and the calls that lead to a call of one API.
//!
//! As in Reverse Chain, the final API comes first, and its arguments are completed from records and values of the request, or by
//! calls that find the keys of those records.

use std::collections::BTreeSet;

use diorama_proof::survey::Finder;
use diorama_seeds::casing::Casing;
use diorama_seeds::doc::{PlaceDoc, ScenarioDoc, ScenarioStepDoc};
use diorama_seeds::model::{Api, ApiId, BehaviourKind, Field, Parameter, ParameterId, ResourceId, World};
use diorama_seeds::naming::is_identifier;
use diorama_seeds::schema::Type;
use serde_json::Value as Json;

use super::writer::Writer;
use crate::worlds::world::refers_to;

/// Look-ups nest at most so deep.
const MAX_NESTING: u32 = 3;

/// A scenario under construction.
#[derive(Clone)]
pub(crate) struct Sketch<'a> {
    pub(crate) writer: &'a Writer<'a>,
    pub(crate) casing: Casing,
    /// Places so far.
    pub(crate) doc: ScenarioDoc,
    pub(crate) steps: Vec<ScenarioStepDoc>,
    /// Places of records that the request names, in the order of their choice.
    pub(crate) records: Vec<Named>,
    /// The place of a record that does not exist yet, by resource.
    pub(crate) new: Vec<(ResourceId, String)>,
    /// The place of the record whose fields filters take.
    pub(crate) example: Option<(ResourceId, String)>,
    /// The words for each parameter of the goal's call, in several wordings.
    pub(crate) said: Vec<(ParameterId, Vec<String>)>,
    /// True where people say the keys of records, not their names.
    keys_at_hand: bool,
}

/// A record that the request names.
#[derive(Clone)]
pub(crate) struct Named {
    pub(crate) resource: ResourceId,
    pub(crate) place: String,
    /// True once a reply shows its key.
    found: bool,
    /// True where people say its key, because nothing finds its name.
    by_key: bool,
    /// Words for the first part of its key, where it has two: `{the_repo.owner}/`.
    first: String,
    /// Words for what stands above it: ` of {the_guild|called('guild')}`.
    below: String,
    /// Words for it where it has no name: `the latest job`.
    pub(crate) phrase: Option<String>,
}

impl Named {
    pub(crate) fn new(resource: ResourceId, place: String) -> Self {
        Self {
            resource,
            place,
            found: false,
            by_key: false,
            first: String::new(),
            below: String::new(),
            phrase: None,
        }
    }
}

impl Named {
    /// Takes a record for one whose key a list has shown.
    pub(crate) fn found_by_list(&mut self) {
        self.found = true;
    }
}

impl<'a> Sketch<'a> {
    pub(crate) fn new(writer: &'a Writer<'a>, api: &Api, keys_at_hand: bool) -> Self {
        let casing = writer.world().domains[api.domain.index()].casing;
        Self {
            writer,
            casing,
            doc: ScenarioDoc::default(),
            steps: Vec::new(),
            records: Vec::new(),
            new: Vec::new(),
            example: None,
            said: Vec::new(),
            keys_at_hand,
        }
    }

    pub(crate) fn world(&self) -> &'a World {
        self.writer.world()
    }

    /// The place of the signed-in user, before all others.
    fn sign_in(&mut self, api: &Api) {
        let world = self.world();
        let Some(auth) = world.domains[api.domain.index()].auth.as_ref() else { return };
        if !self.doc.bind.contains_key("me") {
            let user = world.resource(auth.user).name.to_string();
            self.doc.bind.shift_insert(0, "me".to_owned(), PlaceDoc { a: Some(user), ..PlaceDoc::default() });
        }
    }

    /// A name for a place that nothing else has.
    pub(crate) fn fresh(&self, base: &str) -> String {
        let plain: String = base
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
            .collect();
        let first = format!("the_{}", plain.trim_matches('_'));
        let mut name = first.clone();
        let mut number = 2;
        while self.doc.bind.contains_key(&name) {
            name = format!("{first}_{number}");
            number += 1;
        }
        name
    }

    /// The name of a parameter as scenarios write it.
    pub(crate) fn name_of(&self, parameter: &Parameter) -> String {
        self.casing.read(&parameter.name).into_owned()
    }

    /// Adds the place of a record that the request names: of the user's own, and one that belongs to those before.
    pub(crate) fn record(&mut self, resource: ResourceId) -> usize {
        let world = self.world();
        let described = world.resource(resource);
        let mut conditions = Vec::new();
        if let Some(owner) = described.owner.filter(|_| self.doc.bind.contains_key("me"))
            && let Some(auth) = &world.domains[described.domain.index()].auth
        {
            let key = &world.resource(auth.user).field(world.resource(auth.user).key).name;
            conditions.push(format!("item.{} == me.{key}", described.field(owner).name));
        }
        for named in &self.records {
            let above = world.resource(named.resource);
            let refers = |field: &&Field| is_reference_to(&field.schema.kind, named.resource);
            if let Some(field) = described.fields.iter().find(refers).filter(|_| named.resource != resource) {
                conditions.push(format!(
                    "item.{} == {}.{}",
                    field.name,
                    named.place,
                    above.field(above.key).name
                ));
            }
        }
        let place = self.fresh(&described.name);
        let condition = (!conditions.is_empty()).then(|| conditions.join(" && "));
        let doc = PlaceDoc { a: Some(described.name.to_string()), condition, ..PlaceDoc::default() };
        self.doc.bind.insert(place.clone(), doc);
        self.records.push(Named::new(resource, place));
        self.records.len() - 1
    }

    /// Finds where the record of a resource is named.
    pub(crate) fn named(&self, resource: ResourceId) -> Option<usize> {
        self.records.iter().rposition(|named| named.resource == resource)
    }

    /// Adds a condition to a place.
    pub(crate) fn only_where(&mut self, place: &str, condition: String) {
        let Some(doc) = self.doc.bind.get_mut(place) else { return };
        doc.condition = Some(match doc.condition.take() {
            Some(before) if before.contains(&condition) => before,
            Some(before) => format!("{before} && {condition}"),
            None => condition,
        });
    }

    /// The words for a record that the request names.
    pub(crate) fn words(&self, at: usize) -> String {
        let named = &self.records[at];
        match &named.phrase {
            Some(phrase) => phrase.clone(),
            None => format!("{}{{{}}}{}", named.first, self.name(at), named.below),
        }
    }

    /// As [`Sketch::words`], with what the record is before it.
    pub(crate) fn name_with_noun(&self, at: usize) -> String {
        let named = &self.records[at];
        let described = self.world().resource(named.resource);
        let is_person = described.display.is_some_and(|field| self.writer.is_person(named.resource, field));
        if named.phrase.is_some() || is_person && !named.by_key {
            self.words(at)
        } else if named.first.is_empty() {
            format!("{{{}|called(\"{}\")}}{}", self.name(at), described.label, named.below)
        } else {
            format!("the {} {}", described.label, self.words(at))
        }
    }

    /// The field that the request calls a record by.
    pub(crate) fn called_by(&self, at: usize) -> String {
        let named = &self.records[at];
        let described = self.world().resource(named.resource);
        let field = described.display.filter(|_| !named.by_key).unwrap_or(described.key);
        described.field(field).name.to_string()
    }

    /// The expression for what people call a record: its name, or its key.
    fn name(&self, at: usize) -> String {
        let named = &self.records[at];
        let described = self.world().resource(named.resource);
        match named.by_key {
            true => member(&named.place, &described.field(described.key).name),
            false => named.place.clone(),
        }
    }

    /// The call of an API: places for its arguments, the calls that find keys, and the call itself under a name. `chosen` are the
    /// optional parameters that are given.
    pub(crate) fn call(&mut self, id: ApiId, chosen: &BTreeSet<ParameterId>, name: &str) -> Option<()> {
        let api = self.world().api(id);
        if api.token.is_some() {
            self.sign_in(api);
        }
        let given = |index: usize| {
            let id = ParameterId(index as u16);
            !api.is_filled(id) && (api.parameters[index].required || chosen.contains(&id))
        };
        if let BehaviourKind::List(query) | BehaviourKind::Aggregate { query, .. } = &api.behaviour.kind
            && query.filters.iter().any(|filter| given(filter.parameter.index()))
        {
            let resource = query.resource;
            let at = self.record(resource);
            let place = self.records.remove(at).place;
            self.example = Some((resource, place));
        }
        let mut with = Vec::new();
        // References first, in the order of the path, so that what stands above is there before what stands below.
        for (index, parameter) in sort_by_path(api).filter(|(index, _)| given(*index)) {
            let Type::Reference { resource, .. } = parameter.schema.kind else { continue };
            let id = ParameterId(index as u16);
            let at = match self.find_filtered_field(api, id) {
                Some((resource, field)) => self.add_referred(resource, &field)?,
                None => match self
                    .records
                    .iter()
                    .position(|named| named.resource == resource && self.steps.is_empty())
                {
                    Some(known)
                        if api
                            .parameters
                            .iter()
                            .filter(|other| refers_to(&other.schema.kind) == Some(resource))
                            .count()
                            == 1 =>
                    {
                        known
                    }
                    _ => self.topic_or_record(resource),
                },
            };
            let at = self.find(at, 0)?;
            self.said.push((id, vec![self.words(at)]));
            with.push((id, self.records[at].place.clone()));
        }
        for (index, parameter) in api.parameters.iter().enumerate().filter(|(index, _)| given(*index)) {
            let id = ParameterId(index as u16);
            if matches!(parameter.schema.kind, Type::Reference { .. }) {
                continue;
            }
            if let Some(given) = self.take_for_look_up(api, id) {
                self.said.push((id, given.1));
                with.push((id, given.0));
                continue;
            }
            if let Some((at, field)) = self.first_part(api, id) {
                let expression = member(&self.records[at].place, &field);
                self.records[at].first = format!("{{{expression}}}/");
                self.said.push((id, vec![format!("{{{expression}}}")]));
                with.push((id, expression));
                continue;
            }
            let (expression, words) = self.value(api, id)?;
            self.said.push((id, words));
            with.push((id, expression));
        }
        with.sort_by_key(|(id, _)| *id);
        self.step(api, with, name);
        Some(())
    }

    /// The argument of a look-up: a field of the record that it is about.
    fn take_for_look_up(&mut self, api: &Api, id: ParameterId) -> Option<(String, Vec<String>)> {
        let BehaviourKind::Lookup { resource, by } = &api.behaviour.kind else { return None };
        let (field, _) = by.iter().find(|(_, parameter)| *parameter == id)?;
        let at = self.topic_or_record(*resource);
        self.records[at].found = true;
        let described = self.world().resource(*resource);
        let expression = member(&self.records[at].place, &described.field(*field).name);
        let words =
            if described.display == Some(*field) { self.words(at) } else { format!("{{{expression}}}") };
        Some((expression, vec![words]))
    }

    fn topic_or_record(&mut self, resource: ResourceId) -> usize {
        // The request means the record that it named before.
        let known = self.records.iter().position(|named| named.resource == resource);
        known.unwrap_or_else(|| self.record(resource))
    }

    pub(crate) fn step(&mut self, api: &Api, with: Vec<(ParameterId, String)>, name: &str) {
        let with = with
            .into_iter()
            .map(|(id, expression)| (self.name_of(&api.parameters[id.index()]), Json::from(expression)));
        let step = ScenarioStepDoc {
            call: Some(api.name.to_string()),
            name: (!name.is_empty()).then(|| name.to_owned()),
            with: with.collect(),
            ..ScenarioStepDoc::default()
        };
        self.steps.push(step);
    }

    /// The field of the example that a filter takes.
    pub(crate) fn find_filtered_field(&self, api: &Api, id: ParameterId) -> Option<(ResourceId, String)> {
        use diorama_seeds::model::FilterTest;
        let (BehaviourKind::List(query) | BehaviourKind::Aggregate { query, .. }) = &api.behaviour.kind
        else {
            return None;
        };
        let filter = query.filters.iter().find(|filter| filter.parameter == id)?;
        let FilterTest::Compare(field, _) = &filter.test else { return None };
        Some((query.resource, self.world().resource(query.resource).field(*field).name.to_string()))
    }

    /// The place of the record that a field of the example refers to.
    fn add_referred(&mut self, of: ResourceId, field: &str) -> Option<usize> {
        let world = self.world();
        let resource = world.resource(of);
        let id = resource.field_named(field)?;
        let to = refers_to(&resource.field(id).schema.kind)?;
        let example = self.example.as_ref().filter(|(example, _)| *example == of)?.1.clone();
        let name = world.resource(to).name.to_string();
        let place = self.fresh(&name);
        let value = Some(format!("{name}.get({example}.{field})"));
        self.doc.bind.insert(place.clone(), PlaceDoc { value, ..PlaceDoc::default() });
        self.records.push(Named::new(to, place));
        Some(self.records.len() - 1)
    }

    /// The record and its field whose value is the first part of a key of two: `{owner}/{repo}`.
    fn first_part(&self, api: &Api, id: ParameterId) -> Option<(usize, String)> {
        let parameter = &api.parameters[id.index()];
        matches!(parameter.schema.kind, Type::String).then_some(())?;
        let (_, after) = api.path.split_once(&format!("{{{}}}/{{", parameter.name))?;
        let second = api.parameter_named(after.split('}').next()?)?;
        let resource = refers_to(&api.parameters[second.index()].schema.kind)?;
        let at = self.records.iter().position(|named| named.resource == resource)?;
        let described = self.world().resource(resource);
        let field = described.field_named(&parameter.name)?;
        Some((at, described.field(field).name.to_string()))
    }

    /// Returns true if a parameter is told with another one, as the first part of a key of two.
    pub(crate) fn is_first_part(&self, api: &Api, id: ParameterId) -> bool {
        self.first_part(api, id).is_some()
    }

    /// Has the key of a record shown, and returns where the record is now: by a look-up of its name, through a list below what it belongs to, or else its key is said.
    fn find(&mut self, at: usize, nesting: u32) -> Option<usize> {
        let Named { resource, found, .. } = self.records[at];
        let described = self.world().resource(resource);
        if found || self.records[at].by_key {
            return Some(at);
        }
        let is_key = described.display.is_none_or(|display| display == described.key);
        if !is_key && !self.keys_at_hand && nesting < MAX_NESTING {
            let mut finders = self.writer.survey().finders[resource.index()].clone();
            // Reading a whole list for a name comes after asking for the name.
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
        // Nobody has a long number in mind, but may copy it where no list tells which is the latest.
        if !self.writer.has_sayable_keys(resource) && self.find_latest(at).is_some() {
            return Some(at);
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

    /// The arguments of a look-up, where the request names all that it needs.
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

    /// The resource that a list below another record needs besides the name, and the field that refers to it.
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

    /// Adds the place of what a record belongs to, before it.
    fn above(&mut self, at: usize, of: ResourceId, field: &str) -> usize {
        let owner = self.world().resource(of);
        let place = self.fresh(&owner.name);
        let below = self.records[at].place.clone();
        let position = self.doc.bind.get_index_of(&below).unwrap_or(0);
        let doc = PlaceDoc { a: Some(owner.name.to_string()), ..PlaceDoc::default() };
        self.doc.bind.shift_insert(position, place.clone(), doc);
        self.only_where(&below, format!("item.{field} == {place}.{}", owner.field(owner.key).name));
        self.records.insert(at, Named::new(of, place));
        at
    }
}

fn is_reference_to(kind: &Type, to: ResourceId) -> bool {
    matches!(kind, Type::Reference { resource, .. } if *resource == to)
}

/// A member of a place or reply in words: `the_guild.name`, `the_guild["x-name"]`.
pub(crate) fn member(of: &str, name: &str) -> String {
    if is_identifier(name) { format!("{of}.{name}") } else { format!("{of}[{}]", Json::from(name)) }
}

/// Sorts the parameters of an API: those of its path first, in its order.
fn sort_by_path(api: &Api) -> impl Iterator<Item = (usize, &Parameter)> {
    let mut all: Vec<(usize, &Parameter)> = api.parameters.iter().enumerate().collect();
    all.sort_by_key(|(_, parameter)| api.path.find(&format!("{{{}}}", parameter.name)).unwrap_or(usize::MAX));
    all.into_iter()
}
