//! Operations on places: which records an operation is about, and what it does to them.

mod lists;

use diorama_seeds::contract::{noun, plain};
use diorama_seeds::doc::{
    ApiDoc, BehaviourDoc, EachDoc, EffectDoc, FieldDoc, RecordsDoc, RefusalDoc, ReplyDoc, RequireDoc,
    ResourceDoc,
};
use indexmap::{IndexMap, IndexSet};
use serde_json::Value as Json;

use super::places::{Above, Collection, Part, Places, form, keys, list, parts};
use super::resources::{KEPT, OF, stored};
use crate::document::Operation;
use crate::fakes;
use crate::operations::argument;
use crate::phrases;
use crate::routes::is_generic;
use crate::shape::{Kind, Member, Shape};
use crate::words::label;
use crate::{Remark, Severity};

/// Paths that mean the record of whoever asks.
const ME: [&str; 4] = ["me", "@me", "self", "current"];

/// Members that say when a record was changed, and when it was made.
const UPDATED: [&str; 9] = [
    "updatedat",
    "modifiedat",
    "dateupdated",
    "datemodified",
    "lastmodified",
    "lastupdated",
    "updated",
    "modified",
    "lastmodifiedat",
];
const CREATED: [&str; 4] = ["createdat", "datecreated", "created", "creationdate"];

/// Makes the API of one operation.
pub(super) struct Act<'a> {
    places: &'a Places,
    resources: &'a mut IndexMap<String, ResourceDoc>,
    operation: &'a Operation,
    parts: Vec<Part>,
    api: ApiDoc,
    used: IndexSet<String>,
    /// The parameter that takes the whole body, where there is one.
    whole: Option<String>,
    pub(super) notes: Vec<Remark>,
}

impl<'a> Act<'a> {
    /// Begins with what every operation has: its name, path, parameters and description.
    pub(super) fn new(
        places: &'a Places,
        resources: &'a mut IndexMap<String, ResourceDoc>,
        operation: &'a Operation,
        api: ApiDoc,
    ) -> Self {
        let parts = places.parts(operation);
        Self {
            places,
            resources,
            operation,
            parts,
            api,
            used: IndexSet::new(),
            whole: None,
            notes: Vec::new(),
        }
    }

    /// The API, and the parameter that takes the whole body where there is one.
    pub(super) fn make(mut self) -> (ApiDoc, Option<String>, Vec<Remark>) {
        self.whole = self.body();
        self.behave();
        self.agree();
        self.refer();
        let status = self.operation.status;
        if status != 200 || self.api.behaviour.create.is_some() {
            self.api.reply.status = Some(status);
        }
        for (name, doc) in &mut self.api.parameters {
            let in_body = doc.place.as_deref() == Some("body");
            doc.ignored = !self.used.contains(name) && !in_body;
            if in_body && self.api.behaviour.keep.is_none() {
                doc.ignored = true;
            }
        }
        phrases::complete(&mut self.api.phrases, &self.api.parameters);
        (self.api, self.whole, self.notes)
    }

    /// Parameters for the members of the body. They only say what there is: the contract holds them to their schema.
    fn body(&mut self) -> Option<String> {
        let any = || FieldDoc {
            kind: Some("any".to_owned()),
            place: Some("body".to_owned()),
            optional: true,
            ..FieldDoc::default()
        };
        let body = self.operation.body.as_ref();
        let scalar = body.is_some_and(|body| body.is_scalar() || matches!(body.kind, Kind::Array(_)));
        if self.operation.octets || (scalar && self.operation.request.is_some()) {
            let name = if self.api.parameters.contains_key("body") { "content" } else { "body" };
            self.api.parameters.insert(name.to_owned(), any());
            return Some(name.to_owned());
        }
        for (name, member) in union(body?) {
            if self.api.parameters.contains_key(&name)
                || !diorama_seeds::world::is_member_name(&name)
                || member.shape.read_only
            {
                continue;
            }
            let simple = member.shape.is_scalar();
            let mut doc = if simple { fakes::typed(&name, &member.shape, 0) } else { any() };
            (doc.min, doc.max, doc.min_length, doc.max_length, doc.pattern) = (None, None, None, None, None);
            doc.place = Some("body".to_owned());
            doc.optional = !member.required;
            doc.description = member.shape.description.as_deref().map(crate::words::sentence);
            phrases::name(&name, &mut doc);
            self.api.parameters.insert(name, doc);
        }
        None
    }

    /// Gives the parameters of the path the resources that they are keys of.
    fn refer(&mut self) {
        let names: Vec<String> = keys(&self.parts).into_iter().map(str::to_owned).collect();
        let mut above = self.places.above(&self.parts, usize::MAX);
        if let Some(Part::Key(_)) = self.parts.last()
            && let Some(own) = self.own()
            && above.iter().all(|known| known.at + 1 != names.len())
        {
            let at = names.len() - 1;
            above.push(Above { at, of: Some(own), exact: true, ..Above::default() });
        }
        for known in all_above(self.places, &above) {
            let Some(doc) = names.get(known.at).and_then(|name| self.api.parameters.get_mut(name)) else {
                continue;
            };
            let Some((_, other)) = known.of.and_then(|of| self.places.all.get_index(of)) else { continue };
            let named = match other.uses.and_then(|uses| self.places.all.get_index(uses)) {
                Some((_, used)) => used,
                None => other,
            };
            if !self.resources.contains_key(&named.name) {
                continue;
            }
            if known.by.is_some() {
                doc.label = Some(named.label.clone());
                continue;
            }
            *doc = FieldDoc {
                reference: Some(named.name.clone()),
                place: Some("path".to_owned()),
                description: doc.description.clone(),
                label: Some(named.label.clone()),
                ..FieldDoc::default()
            };
        }
    }

    /// A key right after another tells nothing more of which record is meant, but must be as that record shows it.
    fn agree(&mut self) {
        let all = parts(self.operation);
        for (at, pair) in all.windows(2).enumerate() {
            let [Part::Key(first), Part::Key(second)] = pair else { continue };
            let known = keys(&self.parts);
            let place = known.iter().position(|name| name == first);
            let (Some(place), false) = (place, known.contains(&second.as_str())) else { continue };
            let before = all.get(..at).unwrap_or_default();
            let own = self.places.all.get_index_of(&form(before)).filter(|own| self.is_stored(*own));
            let Some(own) = own else { continue };
            let found = self.collection(own);
            let Some(field) = found.named_by(second) else { continue };
            let text = |doc: &FieldDoc| doc.kind.as_deref() == Some("string");
            if !self.resources.get(&found.name).and_then(|known| known.fields.get(&field)).is_some_and(text) {
                continue;
            }
            let above = Above { at: place, of: Some(own), exact: true, ..Above::default() };
            let key = self.locate(own, &above, 0);
            self.used.insert(second.clone());
            let given = argument(second);
            self.api.behaviour.require.push(RequireDoc {
                that: format!("coalesce({}.get({key}).{field}, {given}) == {given}", found.name),
                otherwise: RefusalDoc {
                    status: 404,
                    message: format!("no {} has this {}", found.label, label(&field)),
                },
            });
        }
    }

    /// The collection whose record the path ends with.
    fn own(&self) -> Option<usize> {
        let before = self.parts.get(..self.parts.len().checked_sub(1)?)?;
        let own = self.places.all.get_index_of(&form(before)).or_else(|| self.places.same_elsewhere(before));
        own.filter(|own| self.is_stored(*own))
    }

    fn is_stored(&self, index: usize) -> bool {
        self.places
            .all
            .get_index(index)
            .is_some_and(|(_, found)| stored(found) && self.resources.contains_key(&found.name))
    }

    fn collection(&self, index: usize) -> &'a Collection {
        &self.places.all[index]
    }

    fn argument(&mut self, at: usize) -> String {
        let name = keys(&self.parts).get(at).copied().unwrap_or_default().to_owned();
        self.used.insert(name.clone());
        argument(&name)
    }

    /// The expression for the key of the record that a key in the path names.
    fn locate(&mut self, index: usize, known: &Above, depth: usize) -> String {
        let found = self.collection(index);
        let given = self.argument(known.at);
        let field = match &known.by {
            Some(field) if self.has_field(&found.name, field) => field,
            _ if found.uses.is_some() => OF,
            _ => &found.key,
        };
        if *field == found.key && (found.above.is_empty() || !known.exact) {
            return given;
        }
        let variable = ["a", "b", "c", "d", "e", "f", "g", "h"].get(depth).copied().unwrap_or("z");
        let mut conditions = vec![format!("{variable}.{field} == {given}")];
        if known.exact {
            conditions.extend(self.conditions(variable, &found.above, depth + 1));
        }
        format!("{}.first({variable}, {}).{}", found.name, conditions.join(" && "), found.key)
    }

    fn has_field(&self, resource: &str, field: &str) -> bool {
        self.resources.get(resource).is_some_and(|known| known.fields.contains_key(field))
    }

    fn key_above(&mut self, above: &Above, depth: usize) -> String {
        match above.of {
            Some(of) => self.locate(of, above, depth),
            None => self.argument(above.at),
        }
    }

    /// The records above must be there.
    fn require(&mut self, above: &[Above]) {
        for known in above {
            let Some(of) = known.of.filter(|of| self.is_stored(*of)) else {
                self.argument(known.at);
                continue;
            };
            let key = self.locate(of, known, 0);
            self.require_one(of, &key);
        }
    }

    /// A record must have the values that the path names.
    fn require_values(&mut self, index: usize, above: &[Above]) {
        let found = self.collection(index);
        for known in above.iter().filter(|known| known.of.is_none()) {
            let given = self.argument(known.at);
            let holder = format!("{}.first(a, a.{} == {given}).{}", found.name, known.field, found.key);
            self.require_one(index, &holder);
        }
    }

    /// A record must be there.
    fn require_one(&mut self, of: usize, key: &str) {
        let other = self.collection(of);
        self.api.behaviour.require.push(RequireDoc {
            that: format!("{}.exists({key})", other.name),
            otherwise: RefusalDoc { status: 404, message: format!("no {} has this key", other.label) },
        });
    }

    /// What a variable has in the fields that hold what it stands below.
    fn conditions(&mut self, variable: &str, above: &[Above], depth: usize) -> Vec<String> {
        let condition = |known: &Above| {
            let key = self.key_above(known, depth);
            format!("{variable}.{} == {key}", known.field)
        };
        above.iter().map(condition).collect()
    }

    fn behave(&mut self) {
        let method = self.operation.method.as_str();
        let last = self.parts.last().cloned();
        match (method, last) {
            ("GET", _) if self.places.is_list(&self.parts) => self.place(method),
            (_, Some(Part::Key(_))) if self.own().is_some() => self.record(method),
            ("GET" | "PUT" | "PATCH", Some(Part::Text(word)))
                if ME.contains(&word.as_str()) && self.own().is_some() =>
            {
                self.mine()
            }
            (_, Some(Part::Text(_))) => self.place(method),
            _ => self.only_answer(),
        }
    }

    /// What is done to one record by its key.
    fn record(&mut self, method: &str) {
        let Some(index) = self.own() else { return };
        let found = self.collection(index);
        let at = keys(&self.parts).len() - 1;
        if !found.opened && !found.listed && !found.made && found.uses.is_none() {
            return self.only_answer();
        }
        let hidden = found.uses.is_some() && !found.opened;
        if hidden && method != "PUT" {
            return self.leave(index, at);
        }
        // The records of another path are in this place, too: what this one stands below must be there.
        let before = self.parts.get(..self.parts.len().saturating_sub(1)).unwrap_or_default();
        let exact = form(before) == form(&found.parts);
        if !exact {
            let above = self.places.above(before, index);
            self.require(&above);
        }
        let known = Above { at, of: Some(index), exact, ..Above::default() };
        let key = self.locate(index, &known, 0);
        self.api.behaviour.key = Some(key);
        let name = Some(found.name.clone());
        let parameter = keys(&self.parts).last().map(|name| (*name).to_owned());
        let behaviour = &mut self.api.behaviour;
        match method {
            "GET" => behaviour.get = name,
            "DELETE" => behaviour.delete = name,
            // Steps of a change leave the rest.
            "PUT" if self.whole.is_none() || self.operation.octets => behaviour.replace = name,
            _ => behaviour.patch = name,
        }
        if method != "GET" && method != "DELETE" {
            behaviour.keep = Some(KEPT.to_owned());
            self.touch(&found.name, &UPDATED);
        }
        if method == "PUT" && found.uses.is_some() {
            self.upsert(found, at);
        }
        let (noun, place) = (found.label.as_str(), parameter.as_deref());
        let (required, optional) = self.said();
        self.api.phrases = match method {
            "GET" => phrases::change("show", noun, place, &self.api.parameters, (&[], &[])),
            "DELETE" => phrases::change("delete", noun, place, &self.api.parameters, (&[], &[])),
            _ => phrases::change("change", noun, place, &self.api.parameters, (&required, &optional)),
        };
    }

    /// What the path names is made a member where it is none yet.
    fn upsert(&mut self, found: &Collection, at: usize) {
        self.api.behaviour.upsert = true;
        let given = self.argument(at);
        self.api.behaviour.set.insert(OF.to_owned(), given.clone());
        self.set_above(&found.above);
        if let Some(other) = found.uses.filter(|uses| self.is_stored(*uses)) {
            self.require_one(other, &given);
        }
    }

    /// A change is seen in the members that say when it was.
    fn touch(&mut self, resource: &str, names: &[&str]) {
        let fields = self.resources.get(resource).into_iter().flat_map(|known| &known.fields);
        let moments = fields.filter(|(name, doc)| {
            doc.kind.as_deref() == Some("date-time") && names.contains(&plain(name).as_str())
        });
        self.api.behaviour.set.extend(moments.map(|(name, _)| (name.clone(), "now".to_owned())));
    }

    /// What there is one of below each record comes with it.
    fn come_with(&mut self, index: usize) {
        for (at, single) in self.places.all.values().enumerate() {
            let below = single.single && matches!(single.above.as_slice(), [only] if only.of == Some(index));
            if below && self.is_stored(at) {
                let field = single.above.first().map(|above| above.field.clone()).unwrap_or_default();
                let key = format!("record.{}", self.collection(index).key);
                self.api.behaviour.also.push(EffectDoc {
                    create: Some(single.name.clone()),
                    set: IndexMap::from_iter([(field, key)]),
                    ..EffectDoc::default()
                });
            }
        }
    }

    fn set_above(&mut self, above: &[Above]) {
        for known in above {
            let key = self.key_above(known, 0);
            self.api.behaviour.set.insert(known.field.clone(), key);
        }
        self.require(above);
    }

    /// Takes away what puts something somewhere without ever showing it.
    fn leave(&mut self, index: usize, at: usize) {
        let found = self.collection(index);
        let given = self.argument(at);
        self.require(&found.above);
        let mut conditions = vec![format!("item.{OF} == {given}")];
        conditions.extend(self.conditions("item", &found.above, 0));
        if let Some(other) = found.uses.filter(|uses| self.is_stored(*uses)) {
            self.require_one(other, &given);
        }
        self.api.behaviour.action = Some("none".to_owned());
        if self.operation.method == "DELETE" {
            self.api.behaviour.also.push(EffectDoc {
                delete: Some(found.name.clone()),
                condition: Some(conditions.join(" && ")),
                ..EffectDoc::default()
            });
        }
    }

    /// The record of whoever asks.
    fn mine(&mut self) {
        let Some(index) = self.own() else { return };
        let found = self.collection(index);
        self.require(&found.above);
        let (name, behaviour) = (Some(found.name.clone()), &mut self.api.behaviour);
        behaviour.key = Some(format!("{}.first(a, true).{}", found.name, found.key));
        if self.operation.method == "GET" {
            behaviour.get = name;
            self.api.phrases.imperative = vec![format!("show me my {}", found.label)];
        } else {
            (behaviour.patch, behaviour.keep) = (name, Some(KEPT.to_owned()));
        }
    }

    /// What is done at a path that ends with a word.
    fn place(&mut self, method: &str) {
        let own = self.places.all.get_index_of(&form(&self.parts)).filter(|own| self.is_stored(*own));
        let made = self.places.made_in(&self.parts).filter(|made| self.is_stored(*made));
        let shows_key = |found: &Collection| {
            let reply = self.operation.reply.as_ref().map(Shape::first_object).and_then(Shape::members);
            reply.is_some_and(|members| members.keys().any(|name| plain(name) == plain(&found.key)))
        };
        let joins = method == "PUT" && own.is_some_and(|own| shows_key(self.collection(own)));
        let listed = list(self.operation, &self.parts);
        let same = listed.as_ref().and_then(|(_, item)| self.places.listed_of(&self.parts, item));
        let same = same.filter(|same| self.is_stored(*same));
        match (method, own.map(|own| (own, self.collection(own)))) {
            ("GET", _) if listed.is_some() && same.is_some() => {
                let name = listed.map(|(name, _)| name).unwrap_or_default();
                self.list(same.unwrap_or_default(), name, true);
            }
            ("GET", Some((own, found))) if !found.single && listed.is_some() => {
                let name = listed.map(|(name, _)| name).unwrap_or_default();
                self.list(own, name, false);
            }
            (_, Some((_, found))) if found.single && self.above_shown(found).is_some() => {
                let (of, known) = self.above_shown(found).unwrap_or_default();
                self.same_record(method, of, &known);
            }
            ("GET" | "PUT" | "PATCH" | "POST", Some((_, found))) if found.single => {
                self.single(method, found)
            }
            ("POST", Some((own, _))) if made.is_none() => self.create(own, false),
            ("PUT" | "PATCH", Some((own, found)))
                if !found.single && (joins || self.many(found).is_some()) =>
            {
                self.create(own, false)
            }
            ("POST", _) if made.is_some() => self.create(made.unwrap_or_default(), true),
            _ => self.only_answer(),
        }
    }

    /// The record above a path that ends with a word and shows just that record (`/templates/{key}/schema`).
    fn above_shown(&self, found: &Collection) -> Option<(usize, Above)> {
        let [known] = found.above.as_slice() else { return None };
        let of = known.of.filter(|of| known.exact && self.is_stored(*of))?;
        let title = |found: &Collection| found.record.as_ref().and_then(|record| record.title.clone());
        (title(found).is_some() && title(found) == title(self.collection(of))).then(|| (of, known.clone()))
    }

    fn same_record(&mut self, method: &str, of: usize, known: &Above) {
        let name = Some(self.collection(of).name.clone());
        let key = self.locate(of, known, 0);
        self.require_one(of, &key);
        let behaviour = &mut self.api.behaviour;
        behaviour.key = Some(key);
        match method {
            "GET" => behaviour.get = name,
            "DELETE" => behaviour.delete = name,
            _ => (behaviour.patch, behaviour.keep) = (name, Some(KEPT.to_owned())),
        }
    }

    /// What a list or a new record stands below. Where the collection's own path is another, a field is added that says it.
    fn scope(&mut self, index: usize, elsewhere: bool) -> Vec<Above> {
        let found = self.collection(index);
        if !elsewhere {
            return found.above.clone();
        }
        let above = all_above(self.places, &self.places.above(&self.parts, index));
        let mut scope: Vec<Above> = Vec::new();
        for known in above.clone() {
            let Some(of) = known.of.filter(|of| self.is_stored(*of)) else { continue };
            let other = self.collection(of).name.clone();
            let Some(resource) = self.resources.get(&found.name) else { continue };
            let refers = |doc: &FieldDoc| doc.reference.as_deref() == Some(other.as_str());
            if let Some((field, _)) = resource.fields.iter().find(|(_, doc)| refers(doc)) {
                let again = scope.iter().any(|other| other.field == *field);
                scope.extend((!again).then(|| Above { field: field.clone(), ..known }));
                continue;
            }
            // Records that come before others cannot stand below them, and the nearest says what is above it.
            let nearest = above.iter().rposition(|other| other.of == Some(of)) == above.len().checked_sub(1);
            if !nearest || self.stands_below(&other, &found.name, 0) {
                continue;
            }
            let field = format!("in_{other}");
            self.put_below(&found.name, &field, &other);
            scope.push(Above { field, ..known });
        }
        scope
    }

    /// Gives a resource a field that says below which record of another it stands, and each of those some of them.
    fn put_below(&mut self, name: &str, field: &str, other: &str) {
        let owners = size(self.resources, other, 0);
        let doc = FieldDoc {
            reference: Some(other.to_owned()),
            optional: true,
            on_delete: Some("clear".to_owned()),
            ..FieldDoc::default()
        };
        let Some(resource) = self.resources.get_mut(name) else { return };
        resource.fields.insert(field.to_owned(), doc);
        if resource.each.is_empty() && !resource.singleton {
            resource.records = RecordsDoc::default();
            resource.each.push(EachDoc {
                of: other.to_owned(),
                by: field.to_owned(),
                min: if owners <= 40 { 3 } else { 1 },
                max: if owners <= 40 { 4 } else { 1 },
                set: IndexMap::new(),
            });
        }
    }

    fn stands_below(&self, name: &str, above: &str, depth: u32) -> bool {
        name == above
            || depth > 12
            || self.resources.get(name).into_iter().flat_map(|known| known.fields.values()).any(|doc| {
                doc.reference
                    .as_deref()
                    .is_some_and(|next| next != name && self.stands_below(next, above, depth + 1))
            })
    }

    fn create(&mut self, index: usize, elsewhere: bool) {
        let found = self.collection(index);
        let above = self.scope(index, elsewhere);
        self.require_values(index, &above);
        self.create_each(index, &above);
        self.api.behaviour.create = Some(found.name.clone());
        self.api.behaviour.keep = Some(KEPT.to_owned());
        self.touch(&found.name, &[&UPDATED[..], &CREATED[..]].concat());
        self.come_with(index);
        self.set_above(&above);
        // What a record must stand below, and the path does not say, is the first.
        for known in found.above.iter().filter(|known| !above.iter().any(|other| other.field == known.field))
        {
            let value = match known.of.filter(|of| self.is_stored(*of)) {
                Some(of) => {
                    let other = self.collection(of);
                    format!("{}.first(x, true).{}", other.name, other.key)
                }
                None => known.picks.first().map_or_else(|| "''".to_owned(), literal),
            };
            self.api.behaviour.set.insert(known.field.clone(), value);
        }
        if let Some(other) = found.uses.filter(|uses| self.is_stored(*uses)) {
            let other = self.collection(other);
            let value = self.api.parameters.keys().find(|name| {
                let wanted = plain(name);
                wanted == format!("{}id", other.noun)
                    || wanted == plain(found.item.as_deref().unwrap_or_default())
            });
            let first = format!("{}.first(x, true).{}", other.name, other.key);
            let value = match value.cloned() {
                Some(name) => {
                    let given = argument(&name);
                    self.join(found, &above, &format!("string({given})"));
                    format!("coalesce({}.get(string({given})).{}, {first})", other.name, other.key)
                }
                None => first,
            };
            self.api.behaviour.set.insert(OF.to_owned(), value);
        }
        let (required, optional) = self.said();
        self.api.phrases =
            phrases::change("add", &found.label, None, &self.api.parameters, (&required, &optional));
    }

    /// Who is a member already stays one, as the new body says.
    fn join(&mut self, found: &Collection, above: &[Above], given: &str) {
        if self.api.behaviour.each.is_some() {
            return;
        }
        let mut conditions = vec![format!("a.{OF} == {given}")];
        conditions.extend(self.conditions("a", above, 1));
        let behaviour = &mut self.api.behaviour;
        behaviour.key = Some(format!("{}.first(a, {}).{}", found.name, conditions.join(" && "), found.key));
        behaviour.patch = behaviour.create.take();
        behaviour.upsert = true;
    }

    /// A body that is a list, or has one of what is made, makes several. Put in a place, they are all that is there.
    fn create_each(&mut self, index: usize, above: &[Above]) {
        let Some(parameter) = self.many(self.collection(index)) else { return };
        if self.operation.method == "PUT" {
            let conditions = self.conditions("item", above, 0);
            let condition = if conditions.is_empty() { "true".to_owned() } else { conditions.join(" && ") };
            self.api.behaviour.condition = Some(condition);
        }
        self.api.behaviour.each = Some(parameter);
        let items = list(self.operation, &self.parts).map(|(name, _)| name).unwrap_or_default();
        self.api.reply = ReplyDoc { items: Some(items), total: Some(String::new()), ..ReplyDoc::default() };
    }

    /// The parameter whose list holds the bodies of several records.
    fn many(&self, found: &Collection) -> Option<String> {
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

    /// The only record at a place.
    fn single(&mut self, method: &str, found: &Collection) {
        let name = Some(found.name.clone());
        if !found.above.is_empty() {
            self.require(&found.above);
            let conditions = self.conditions("a", &found.above, 1);
            let key = format!("{}.first(a, {}).{}", found.name, conditions.join(" && "), found.key);
            self.api.behaviour.key = Some(key);
        }
        match method {
            "GET" => self.api.behaviour.get = name,
            "PUT" => self.api.behaviour.replace = name,
            _ => self.api.behaviour.patch = name,
        }
        if method != "GET" {
            self.api.behaviour.keep = Some(KEPT.to_owned());
        }
        let (required, optional) = self.said();
        let verb = if method == "GET" { "show" } else { "change" };
        let said = if method == "GET" { (&[][..], &[][..]) } else { (&required[..], &optional[..]) };
        self.api.phrases = phrases::change(verb, &found.label, None, &self.api.parameters, said);
    }

    /// An operation that changes nothing that is known: what its path names must be there, and it answers.
    fn only_answer(&mut self) {
        let above = self.places.above(&self.parts, usize::MAX);
        self.require(&above);
        self.api.behaviour.action = Some("none".to_owned());
        let nearest =
            above.iter().rev().find_map(|known| Some((known, known.of.filter(|of| self.is_stored(*of))?)));
        // A verb of a record answers with the record.
        if let Some((known, of)) = nearest {
            let found = self.collection(of);
            let reply = self.operation.reply.as_ref();
            let shows = found.uses.is_none()
                && reply.is_some_and(|reply| {
                    let names = |shape: &Shape| -> IndexSet<String> {
                        shape
                            .first_object()
                            .members()
                            .into_iter()
                            .flatten()
                            .map(|(name, _)| plain(name))
                            .collect()
                    };
                    let (own, shown) = (found.record.as_ref().map(names).unwrap_or_default(), names(reply));
                    shown.contains(&plain(&found.key)) && shown.intersection(&own).count() * 2 > own.len()
                });
            if shows && self.operation.method != "GET" {
                let key = self.locate(of, known, 0);
                self.api.behaviour.action = Some(found.name.clone());
                self.api.behaviour.key = Some(key);
            }
        }
        let what = self.operation.summary.trim_end_matches('.');
        if !what.is_empty() && self.api.parameters.values().all(|doc| doc.optional) {
            self.notes.push(
                Severity::Less.says("nothing says what it changes: it answers as the document promises"),
            );
        }
    }

    /// The members of the body that words are found for: required and optional ones.
    fn said(&self) -> (Vec<String>, Vec<String>) {
        let simple = |doc: &FieldDoc| !matches!(doc.kind.as_deref(), Some("any" | "list" | "object"));
        let body =
            self.api.parameters.iter().filter(|(_, doc)| doc.place.as_deref() == Some("body") && simple(doc));
        let (optional, required): (Vec<_>, Vec<_>) = body.partition(|(_, doc)| doc.optional);
        let names = |all: Vec<(&String, &FieldDoc)>| all.into_iter().map(|(name, _)| name.clone()).collect();
        (names(required), names(optional))
    }
}

/// A value as an expression.
fn literal(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| format!("'{text}'"))
}

/// How many records a resource has, at most.
fn size(resources: &IndexMap<String, ResourceDoc>, name: &str, depth: u32) -> u32 {
    let Some(resource) = resources.get(name).filter(|_| depth < 12) else { return 1 };
    match (resource.each.first(), &resource.records) {
        (Some(each), _) => size(resources, &each.of, depth + 1).saturating_mul(each.max),
        (None, RecordsDoc::Count(count)) => *count,
        _ => 1,
    }
}

/// What is above, with what stands above that.
fn all_above(places: &Places, above: &[Above]) -> Vec<Above> {
    let mut all = above.to_vec();
    for known in above.iter().filter(|known| known.exact) {
        if let Some((_, other)) = known.of.and_then(|of| places.all.get_index(of)) {
            all.extend(all_above(places, &other.above));
        }
    }
    all
}

/// The members of a body: of one of several alternatives those of all, required where each requires them.
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

/// Whether a behaviour keeps what it is sent, or shows what is kept.
pub(super) fn is_kept(behaviour: &BehaviourDoc) -> bool {
    behaviour.action.as_deref() != Some("none")
}
