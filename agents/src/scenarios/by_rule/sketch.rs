//! Builds a scenario: its bindings, and the calls that lead to a call of one API.
//!
//! As in Reverse Chain, the final API comes first. Its arguments come from records and values of the request,
//! or from calls that find the keys of those records.

use std::collections::BTreeSet;

use diorama_seeds::casing::Casing;
use diorama_seeds::doc::{PlaceDoc, ScenarioDoc, ScenarioGoalDoc, ScenarioStepDoc};
use diorama_seeds::model::{
    Api, ApiId, BehaviourKind, Field, FieldId, Parameter, ParameterId, ResourceId, World,
};
use diorama_seeds::naming::is_identifier;
use diorama_seeds::schema::{Type, refers_to};
use serde_json::Value as Json;

use super::writer::Writer;

/// The greatest nesting of look-ups, in levels.
pub(super) const MAX_NESTING: u32 = 3;
/// The greatest number of values that one request gives, besides the records that it names.
const MAX_VALUES: usize = 4;

/// A scenario under construction.
#[derive(Clone)]
pub(crate) struct Sketch<'a> {
    pub(crate) writer: &'a Writer<'a>,
    pub(crate) casing: Casing,
    /// The bindings so far.
    pub(crate) doc: ScenarioDoc,
    pub(crate) steps: Vec<ScenarioStepDoc>,
    /// The bindings of records that the request names, in the order of their choice.
    pub(crate) records: Vec<NamedRecord>,
    /// The bindings of records that do not exist yet, by resource.
    pub(crate) new: Vec<(ResourceId, String)>,
    /// The binding of the record whose fields filters take.
    pub(crate) example: Option<(ResourceId, String)>,
    /// The words for each parameter of the goal's call, in several wordings.
    pub(crate) said: Vec<(ParameterId, Vec<String>)>,
    /// True where users say the keys of records, not their names.
    pub(super) keys_at_hand: bool,
    /// True where a document describes the API.
    pub(super) is_of_document: bool,
}

/// A record that the request names.
#[derive(Clone)]
pub(crate) struct NamedRecord {
    pub(crate) resource: ResourceId,
    pub(crate) place: String,
    /// True once a reply shows its key.
    pub(super) found: bool,
    /// True where users say its key, because no call finds its name.
    pub(super) by_key: bool,
    /// The words for the first part of its key, if it has two: `{the_repo.owner}/`.
    pub(super) first: String,
    /// The words for its owner: ` of {the_guild|called('guild')}`.
    pub(super) below: String,
    /// The words for it, if it has no name: `the latest job`.
    pub(crate) phrase: Option<String>,
    /// True if a call has just created it: its binding is a path in a reply.
    pub(super) is_new: bool,
}

impl NamedRecord {
    pub(crate) fn new(resource: ResourceId, place: String) -> Self {
        Self {
            resource,
            place,
            found: false,
            by_key: false,
            first: String::new(),
            below: String::new(),
            phrase: None,
            is_new: false,
        }
    }

    /// Names a record that a call has just created, by the path of its key in the reply.
    pub(crate) fn made(resource: ResourceId, key: String) -> Self {
        Self { found: true, phrase: Some("it".to_owned()), is_new: true, ..Self::new(resource, key) }
    }
}

impl NamedRecord {
    /// Marks a record whose key a list has shown.
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
            is_of_document: api.contract.is_some(),
        }
    }

    pub(crate) fn world(&self) -> &'a World {
        self.writer.world()
    }

    /// Returns a scenario of the calls alone, without wordings.
    pub(crate) fn make_trial(&self) -> ScenarioDoc {
        let words = || vec!["-".to_owned()];
        let does = self.steps.clone();
        let goal = ScenarioGoalDoc { user: words(), does, end: words(), ..ScenarioGoalDoc::default() };
        ScenarioDoc { name: "trial".to_owned(), goals: vec![goal], ..self.doc.clone() }
    }

    /// Adds the binding of the signed-in user, before all others.
    pub(super) fn sign_in(&mut self, api: &Api) {
        let world = self.world();
        let Some(auth) = world.domains[api.domain.index()].auth.as_ref() else { return };
        if !self.doc.bind.contains_key("me") {
            let user = world.resource(auth.user).name.to_string();
            self.doc.bind.shift_insert(0, "me".to_owned(), PlaceDoc { a: Some(user), ..PlaceDoc::default() });
        }
    }

    /// Returns a free name for a binding.
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

    /// Returns the name of a parameter as scenarios write it.
    pub(crate) fn name_of(&self, parameter: &Parameter) -> String {
        self.casing.read(&parameter.name).into_owned()
    }

    /// Adds the binding of a record that the request names: the user's own, and related to the earlier ones.
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
        // A new record has no children yet.
        for named in self.records.iter().filter(|named| !named.is_new) {
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
        self.records.push(NamedRecord::new(resource, place));
        self.records.len() - 1
    }

    /// Returns the position of the named record of a resource.
    pub(crate) fn named(&self, resource: ResourceId) -> Option<usize> {
        self.records.iter().rposition(|named| named.resource == resource)
    }

    /// Adds a condition to a binding.
    pub(crate) fn only_where(&mut self, place: &str, condition: String) {
        let Some(doc) = self.doc.bind.get_mut(place) else { return };
        doc.condition = Some(match doc.condition.take() {
            Some(before) if before.contains(&condition) => before,
            Some(before) => format!("{before} && {condition}"),
            None => condition,
        });
    }

    /// Restricts a binding to records whose name does not contain the requested value: a user does not ask
    /// for the city of the Oslo shop.
    pub(crate) fn only_telling(&mut self, place: &str, resource: ResourceId, field: FieldId) {
        let described = self.world().resource(resource);
        let Some(display) = described.display else { return };
        let texts = [display, field].map(|id| described.field(id)).map(|field| {
            (matches!(field.schema.kind, Type::String) && is_identifier(&field.name)).then_some(&field.name)
        });
        if let [Some(name), Some(text)] = texts {
            let known = format!("item.{name} == null || item.{text} == null");
            self.only_where(place, format!("({known} || !item.{name}.contains(item.{text}))"));
        }
    }

    /// Returns the words for a record that the request names.
    pub(crate) fn words(&self, at: usize) -> String {
        let named = &self.records[at];
        match &named.phrase {
            Some(phrase) => phrase.clone(),
            None => format!("{}{{{}}}{}", named.first, self.name(at), named.below),
        }
    }

    /// Does the same as [`Sketch::words`], with the noun of the record before it.
    pub(crate) fn name_with_noun(&self, at: usize) -> String {
        let named = &self.records[at];
        let described = self.world().resource(named.resource);
        let is_bare = self.is_person(named.resource) && !named.by_key;
        if named.phrase.is_some() || is_bare {
            self.words(at)
        } else if named.first.is_empty() {
            format!("{{{}|called(\"{}\")}}{}", self.name(at), described.label, named.below)
        } else {
            format!("the {} {}", described.label, self.words(at))
        }
    }

    /// Returns the field by which the request names a record.
    pub(crate) fn called_by(&self, at: usize) -> String {
        let named = &self.records[at];
        let described = self.world().resource(named.resource);
        let field = described.display.filter(|_| !named.by_key).unwrap_or(described.key);
        described.field(field).name.to_string()
    }

    /// Returns the expression for the display name of a record, or for its key.
    fn name(&self, at: usize) -> String {
        let named = &self.records[at];
        let described = self.world().resource(named.resource);
        match named.by_key {
            true => member(&named.place, &described.field(described.key).name),
            false => named.place.clone(),
        }
    }

    /// Adds the call of an API: bindings for its arguments, the calls that find keys, and the call itself
    /// under a name.
    /// `chosen` are the optional parameters that are given.
    ///
    /// # Errors
    /// Returns the reason why no user asks for the call.
    pub(crate) fn call(
        &mut self,
        id: ApiId,
        chosen: &BTreeSet<ParameterId>,
        name: &str,
    ) -> Result<(), String> {
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
        let no_words = |parameter: &Parameter| {
            format!("people have no words for a parameter that it requires: {}", parameter.name)
        };
        let mut with = Vec::new();
        // References come first, in the order of the path, so that owners are bound before their records.
        for (index, parameter) in sort_by_path(api).filter(|(index, _)| given(*index)) {
            let Type::Reference { resource, .. } = parameter.schema.kind else { continue };
            let id = ParameterId(index as u16);
            let at = match self.find_filtered_field(api, id) {
                Some((resource, field)) => {
                    self.add_referred(resource, &field).ok_or_else(|| no_words(parameter))?
                }
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
            let at = self.find(at, 0).ok_or_else(|| no_words(parameter))?;
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
            let (expression, words) = self.value(api, id).ok_or_else(|| no_words(parameter))?;
            self.said.push((id, words));
            with.push((id, expression));
        }
        let is_value = |(id, _): &&(ParameterId, Vec<String>)| {
            refers_to(&api.parameters[id.index()].schema.kind).is_none()
        };
        // A user does not dictate a form.
        if self.said.iter().filter(is_value).count() > MAX_VALUES {
            return Err(format!("its request gives more than {MAX_VALUES} values"));
        }
        with.sort_by_key(|(id, _)| *id);
        self.step(api, with, name);
        Ok(())
    }

    /// Returns the argument of a look-up: a field of the record that it is about.
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

    /// Returns the field of the example that a filter takes.
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

    /// Adds the binding of the record that a field of the example refers to.
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
        self.records.push(NamedRecord::new(to, place));
        Some(self.records.len() - 1)
    }

    /// Returns the record and field whose value is the first part of a key of two: `{owner}/{repo}`.
    pub(super) fn first_part(&self, api: &Api, id: ParameterId) -> Option<(usize, String)> {
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

    /// Returns true if a parameter is said with another one, as the first part of a key of two.
    pub(crate) fn is_first_part(&self, api: &Api, id: ParameterId) -> bool {
        self.first_part(api, id).is_some()
    }
}

/// Returns a member of a binding or reply in words: `the_guild.name`, `the_guild["x-name"]`.
pub(crate) fn member(of: &str, name: &str) -> String {
    if is_identifier(name) { format!("{of}.{name}") } else { format!("{of}[{}]", Json::from(name)) }
}

/// Sorts the parameters of an API: those of its path first, in its order.
fn sort_by_path(api: &Api) -> impl Iterator<Item = (usize, &Parameter)> {
    let mut all: Vec<(usize, &Parameter)> = api.parameters.iter().enumerate().collect();
    all.sort_by_key(|(_, parameter)| api.path.find(&format!("{{{}}}", parameter.name)).unwrap_or(usize::MAX));
    all.into_iter()
}

pub(super) fn is_reference_to(kind: &Type, to: ResourceId) -> bool {
    matches!(kind, Type::Reference { resource, .. } if *resource == to)
}
