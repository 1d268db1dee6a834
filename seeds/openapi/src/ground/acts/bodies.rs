//! Reads the bodies of operations: parameters for their members, and the number of records that they hold.

use std::collections::HashSet;

use diorama_seeds::contract::{noun, plain};
use diorama_seeds::doc::{FieldDoc, Place, TypeName};
use diorama_seeds::materialise::provider_of_name;
use indexmap::IndexMap;

use super::Act;
use crate::fakes;
use crate::ground::places::{Collection, Part};
use crate::ground::resources::{CREATED, UPDATED, is_plain_object};
use crate::phrases;
use crate::shape::{Kind, Member, Shape};
use crate::views::is_generic;
use crate::words::words;

/// Levels of members around a record in a body.
const MAX_ENVELOPES: usize = 2;
/// Providers of personal names.
const PERSONAL: [&str; 4] = ["person_name", "first_name", "last_name", "username"];

impl Act<'_> {
    /// Adds a parameter for each member of the body. The parameters only list members: the contract checks
    /// their schemas.
    pub(super) fn body(&mut self) -> Option<String> {
        let any = || FieldDoc {
            kind: Some(TypeName::Any),
            place: Some(Place::Body),
            optional: true,
            ..FieldDoc::default()
        };
        let body = self.operation.body.as_ref();
        let scalar = body.is_some_and(|body| body.is_scalar() || matches!(body.kind, Kind::Array(_)));
        let members = body.map(union).unwrap_or_default();
        // A member and a query parameter share a name: the body becomes one parameter.
        let in_query =
            |name: &String| self.api.parameters.get(name).is_some_and(|doc| doc.place == Some(Place::Query));
        let twice = members.keys().any(in_query);
        if self.operation.octets || ((scalar || twice) && self.operation.request.is_some()) {
            let name = if self.api.parameters.contains_key("body") { "content" } else { "body" };
            let optional = !self.operation.needs_body || self.operation.octets;
            self.api.parameters.insert(name.to_owned(), FieldDoc { optional, ..any() });
            return Some(name.to_owned());
        }
        for (name, member) in members {
            if self.api.parameters.contains_key(&name)
                || !diorama_seeds::world::is_member_name(&name)
                || member.shape.read_only
            {
                continue;
            }
            // Users say the parts of an object that must be sent.
            let simple = member.shape.is_scalar()
                || is_plain_object(&member.shape)
                || member.required && is_made_of_scalars(&member.shape, 0);
            let mut doc = if simple { fakes::typed(&name, &member.shape, 0) } else { any() };
            (doc.min, doc.max, doc.min_length, doc.max_length, doc.pattern) = (None, None, None, None, None);
            doc.place = Some(Place::Body);
            doc.optional = !member.required;
            doc.description = member.shape.description.as_deref().map(crate::words::sentence);
            phrases::name(&name, &mut doc);
            self.api.parameters.insert(name, doc);
        }
        None
    }

    /// Returns the nested members of the body that hold the record, outermost first: `data` of `{"data":
    /// {"name": "Ada"}}`.
    /// The record shows the contents of such a member and not the member itself.
    pub(super) fn envelope(&self) -> Vec<String> {
        let behaviour = &self.api.behaviour;
        let changed = [&behaviour.create, &behaviour.replace, &behaviour.patch].into_iter().flatten().next();
        let found = changed.and_then(|name| self.places.all.values().find(|found| found.name == *name));
        let Some(found) =
            found.filter(|_| self.whole.is_none() && behaviour.keep.is_some() && behaviour.each.is_none())
        else {
            return Vec::new();
        };
        let record = found.record.as_ref().and_then(Shape::members);
        let shown: HashSet<String> = record.into_iter().flatten().map(|(name, _)| plain(name)).collect();
        let said = self.parts.iter().rev().find_map(|part| match part {
            Part::Text(text) => Some(noun(text)),
            Part::Key(_) => None,
        });
        let is_called = |name: &str| noun(name) == found.noun || said.as_ref() == Some(&noun(name));
        let count = |members: &IndexMap<String, Member>| {
            members.keys().filter(|name| shown.contains(&plain(name))).count()
        };
        let mut inside: Vec<String> = Vec::new();
        let mut members = self.operation.body.as_ref().map(union).unwrap_or_default();
        while inside.len() < MAX_ENVELOPES {
            let outside = count(&members);
            let holds = |(name, member): (&String, &Member)| {
                let own = member.shape.first_object().members().filter(|own| !own.is_empty())?;
                let known = count(own);
                let is_shown = shown.contains(&plain(name));
                let alone = members.len() == 1 && shown.is_empty() && is_generic(name);
                let most = known > outside && known * 2 >= own.len().min(shown.len());
                // Records in JSON:API lose `data` and `attributes`, too.
                let attributes = name == "attributes" && inside.last().is_some_and(|last| last == "data");
                (attributes || (!is_shown && (is_called(name) || alone || most)))
                    .then(|| (name.clone(), own.clone()))
            };
            let Some((name, own)) = members.iter().find_map(holds) else { break };
            inside.push(name);
            members = own;
        }
        inside
    }

    /// Returns the members of the body that users say of a record, required and optional ones, names first.
    pub(super) fn said(&self, found: &Collection) -> (Vec<String>, Vec<String>) {
        let resource = self.resources.get(&found.name);
        let display = resource.and_then(|known| known.fields.get(known.display.as_ref()?));
        let is_person = provider_of_name(&found.noun_words()) == "person_name"
            || display.is_some_and(|display| fakes::is_made_by(display, "person_name"));
        let changes = self.operation.path.ends_with('}') || self.operation.method != "POST";
        let is_kept = |name: &str| {
            // Users say no timestamps that the server writes, and no placeholders.
            let plain = plain(name);
            let moment = UPDATED.contains(&plain.as_str()) || CREATED.contains(&plain.as_str());
            let is_made_by = |field: &FieldDoc, providers: &[&str]| {
                providers.iter().any(|provider| fakes::is_made_by(field, provider))
            };
            let known = |field: &FieldDoc| {
                // A change never renames a person.
                let own = changes && is_person && is_made_by(field, &PERSONAL);
                let tells = !fakes::is_anything(field) && !phrases::says_nothing(name, field);
                !own && tells && !is_made_by(field, &["image_url"])
            };
            !moment && self.field(&found.name, name).is_none_or(known)
        };
        let body = self.api.parameters.iter().filter(|(name, doc)| {
            let said = !doc.optional || is_kept(name) && phrases::is_said(name, doc);
            doc.place == Some(Place::Body) && said
        });
        let (mut optional, required): (Vec<_>, Vec<_>) = body.partition(|(_, doc)| doc.optional);
        // Users say the kind of a record only when it is created.
        if self.operation.path.ends_with('}') {
            let is_kind =
                |name: &str| words(name).last().is_some_and(|last| ["type", "kind"].contains(&last.as_str()));
            optional.retain(|(name, _)| !is_kind(name));
        }
        let names = |mut all: Vec<(&String, &FieldDoc)>| -> Vec<String> {
            all.sort_by_key(|(name, doc)| !phrases::comes_first(name, doc));
            all.into_iter().map(|(name, _)| name.clone()).collect()
        };
        (names(required), names(optional))
    }

    /// Returns the field of a resource that a member is stored in, in any spelling.
    pub(super) fn field(&self, resource: &str, member: &str) -> Option<&FieldDoc> {
        let fields = &self.resources.get(resource)?.fields;
        fields.iter().find(|(field, _)| plain(field) == plain(member)).map(|(_, field)| field)
    }

    /// Returns the parameter whose list holds the bodies of several records.
    pub(super) fn many(&self, found: &Collection) -> Option<String> {
        let body = self.operation.body.as_ref()?;
        let ways: &[Shape] = match &body.kind {
            Kind::Union(ways) => ways,
            _ => std::slice::from_ref(body),
        };
        let of_objects = |shape: &Shape| matches!(&shape.kind, Kind::Array(item) if item.fullest_object().members().is_some());
        if ways.iter().any(of_objects) {
            return self.whole.clone();
        }
        let mut members = body.members()?.iter().filter(|(_, member)| member.required);
        let (name, member) = members.next()?;
        let meant = noun(name) == found.noun || is_generic(name);
        (members.next().is_none() && meant && of_objects(&member.shape)).then(|| name.clone())
    }
}

/// Returns true if a value is an object of scalars, of such objects, or a list of them.
fn is_made_of_scalars(shape: &Shape, depth: u32) -> bool {
    const MAX_DEPTH: u32 = 3;
    let is_value = |shape: &Shape| match &shape.kind {
        Kind::Enum(values) => !values.is_empty(),
        _ => shape.is_scalar(),
    };
    match &shape.kind {
        Kind::Array(item) => depth == 0 && !is_value(item) && is_made_of_scalars(item, 1),
        Kind::Object(members) => {
            depth < MAX_DEPTH
                && !shape.map
                && !members.is_empty()
                && members.iter().all(|(name, member)| {
                    diorama_seeds::world::is_member_name(name)
                        && !member.shape.nullable
                        && (is_value(&member.shape)
                            || matches!(member.shape.kind, Kind::Object(_))
                                && is_made_of_scalars(&member.shape, depth + 1))
                })
        }
        _ => false,
    }
}

/// Returns the members of a body. Alternatives are merged; a member is required if each alternative requires
/// it.
fn union(body: &Shape) -> IndexMap<String, Member> {
    match &body.kind {
        Kind::Object(members) => members.clone(),
        Kind::Union(ways) => {
            let ways: Vec<IndexMap<String, Member>> = ways.iter().map(union).collect();
            let mut all: IndexMap<String, Member> = IndexMap::new();
            for (name, member) in ways.iter().flatten() {
                all.entry(name.clone()).or_insert_with(|| member.clone());
            }
            for (name, member) in &mut all {
                member.required = ways.iter().all(|way| way.get(name).is_some_and(|member| member.required));
            }
            all
        }
        _ => IndexMap::new(),
    }
}
