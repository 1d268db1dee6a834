//! Contracts of documents: what a request sends is held to its schema and kept, and what is known becomes a reply that is
//! valid by its own.

use std::collections::HashMap;
use std::rc::Rc;

use diorama_seeds::contract::{
    AS, Contract, Facts, Known, List, Listed, Lookup, Named, Side, key_name, noun, plain,
};
use diorama_seeds::model::{
    Api, FieldId, Method, Parameter, Place, Record, Resource, ResourceId, Setter, Source,
};
use diorama_seeds::naming::{reserved, snake};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::value::{Str, Value, Zone};
use serde_json::{Map, Value as Json};

use super::names::{ResourceNames, is_hidden};
use super::page::Window;
use super::refusal::{Outcome, Refusal};
use super::reply::{Body, Origin};
use super::run::Run;

/// The field of a record that stands for one of another resource: the key of that one.
const OF: &str = "of";
/// Records that stand above one another are followed so far.
const MAX_LEVELS: usize = 8;
/// Objects inside each other that a merge patch goes into.
const MAX_PATCH_DEPTH: u32 = 64;

/// The body of a request as its arguments give it; nothing where there is no contract of it.
///
/// # Errors
/// The part of it that is not valid.
pub(super) fn read_body(api: &Api, given: &Map<String, Json>, zone: &Zone) -> Outcome<Map<String, Json>> {
    let Some(contract) = &api.contract else { return Ok(Map::new()) };
    let Some(schema) = &contract.request else { return Ok(Map::new()) };
    let in_body = |name: &str| {
        let known = api.parameters.iter().find(|parameter| &*parameter.name == name);
        known.is_none_or(|known| known.place == Place::Body)
    };
    if let Some(whole) = contract.whole.and_then(|whole| api.parameters.get(whole.index())) {
        let Some(body) = given.get(&*whole.name) else { return Ok(Map::new()) };
        held(contract, schema, body)?;
        return Ok(match body {
            Json::Object(members) => members.clone(),
            Json::Array(steps) => assigned(steps),
            _ => Map::new(),
        });
    }
    // Members that describe a file beside its content are no members of the schema.
    let of_file = |name: &str| {
        let (file, what) = name.rsplit_once('.').filter(|_| api.parameter_named(name).is_none())?;
        given.contains_key(file).then(|| what.to_owned())
    };
    let members = given.iter().filter(|(name, _)| in_body(name) && of_file(name).is_none());
    let mut body: Map<String, Json> = members.map(|(name, value)| (name.clone(), value.clone())).collect();
    // Callers need not send a member that their path names.
    let required = if body.is_empty() { Vec::new() } else { contract.required_members() };
    for name in required {
        let known = api.parameters.iter().find(|known| *known.name == *name && known.place != Place::Body);
        if let (Some(known), Some(value)) = (known, given.get(&name)) {
            let value = known.schema.parse_json(value, zone).map(|value| value.to_json(zone));
            body.extend(value.ok().map(|value| (name, value)));
        }
    }
    // A body that may be left out is only held to its schema when there is one.
    let is_needed = |parameter: &Parameter| parameter.place == Place::Body && parameter.required;
    let needed = contract.needs_members() || api.parameters.iter().any(is_needed);
    let body = Json::Object(body);
    if needed || body.as_object().is_some_and(|body| !body.is_empty()) {
        held(contract, schema, &body)?;
    }
    let Json::Object(mut members) = body else { return Ok(Map::new()) };
    for (what, value) in given.iter().filter_map(|(name, value)| Some((of_file(name)?, value))) {
        members.entry(what).or_insert_with(|| value.clone());
    }
    Ok(unwrapped(&api.path, members))
}

/// Returns the members of a record in a body: those of a member that is named as the record is (`{"user": {...}}`), or as JSON:API writes
/// it (`{"data": {"attributes": {...}}}`).
fn unwrapped(path: &str, mut members: Map<String, Json>) -> Map<String, Json> {
    let mut texts = path.rsplit('/').filter(|segment| !segment.starts_with('{'));
    let called = texts.next().and_then(|last| last.split('.').next()).map(noun).unwrap_or_default();
    let is_object = |inner: &Json, name: &str| inner.get(name).is_some_and(Json::is_object);
    let wraps = |(name, inner): (&String, &Json)| {
        inner.is_object() && (noun(name) == called || (name == "data" && is_object(inner, "attributes")))
    };
    if members.len() == 1
        && members.iter().next().is_some_and(wraps)
        && let Some((_, Json::Object(inner))) = std::mem::take(&mut members).into_iter().next()
    {
        members = inner;
        if let Some(Json::Object(attributes)) = members.remove("attributes") {
            members.extend(attributes);
        }
    }
    members
}

/// Returns the members that the steps of a JSON Patch (RFC 6902) set.
fn assigned(steps: &[Json]) -> Map<String, Json> {
    let assigns = |step: &&Json| matches!(step["op"].as_str(), Some("add" | "replace"));
    let member = |step: &Json| {
        let name = step["path"].as_str()?.trim_start_matches('/').replace("~1", "/").replace("~0", "~");
        Some((name, step.get("value")?.clone()))
    };
    steps.iter().filter(assigns).filter_map(member).collect()
}

fn held(contract: &Contract, schema: &Json, body: &Json) -> Outcome<()> {
    contract.schemas.check(schema, body, Side::Request).map_err(|wrong| {
        let name: Str = wrong.at.split(['.', '[']).next().unwrap_or_default().into();
        let shown = if wrong.at.is_empty() { "the body" } else { &wrong.at };
        let detail = format!("`{shown}`: expected {}, found {}", wrong.expected, wrong.found);
        Refusal::new(contract.refusal, detail)
            .about((!name.is_empty()).then_some(&name))
            .expecting(wrong.expected)
    })
}

/// A value with a merge patch (RFC 7396) applied: members of objects are merged, and null takes a member away.
fn merged(target: Json, patch: &Json, depth: u32) -> Json {
    let Json::Object(members) = patch else { return patch.clone() };
    if depth > MAX_PATCH_DEPTH {
        return patch.clone();
    }
    let mut whole = if let Json::Object(known) = target { known } else { Map::new() };
    for (name, part) in members {
        if part.is_null() {
            whole.shift_remove(name);
        } else {
            let known = whole.get(name).cloned().unwrap_or_default();
            whole.insert(name.clone(), merged(known, part, depth + 1));
        }
    }
    Json::Object(whole)
}

/// JSON as a value of any type; nothing for what is nested too deeply.
pub(super) fn any(json: &Json, zone: &Zone) -> Option<Value> {
    let mut schema = Schema::of(Type::Any);
    schema.nullable = true;
    schema.parse_json(json, zone).ok()
}

impl Run<'_> {
    /// The record whose key a body names, if it has what a new one would be given.
    pub(super) fn named_in(
        &self,
        id: ResourceId,
        body: &Map<String, Json>,
        set: &[(FieldId, Setter)],
    ) -> Outcome<Option<Record>> {
        let resource = self.resource(id);
        let is_key = |name: &str| self.field_of(id, name).is_some_and(|(field, _)| field == resource.key);
        let named = body.iter().find(|(name, _)| is_key(name)).map(|(_, key)| key);
        let schema = &resource.field(resource.key).schema;
        let key = named.and_then(|key| schema.parse_json(key, self.zone()).ok());
        let Some(record) = key.and_then(|key| self.draft.record(id, &key).cloned()) else { return Ok(None) };
        for (field, setter) in set {
            let Setter::Expr(expr) = setter else { continue };
            let refers = matches!(resource.field(*field).schema.kind, Type::Reference { .. });
            if refers && record.get(field.index()) != Some(&self.value(expr)?) {
                return Ok(None);
            }
        }
        Ok(Some(record))
    }

    /// Takes what a new record's body leaves out as its schema says.
    pub(super) fn default_body(&mut self) {
        let Some((contract, schema)) =
            self.api.contract.as_ref().and_then(|contract| Some((contract, contract.request.as_ref()?)))
        else {
            return;
        };
        if self.behaviour().keep.is_some() && self.behaviour().each.is_none() {
            let defaults = contract.schemas.defaults(schema, &self.sent);
            self.sent.extend(defaults);
        }
    }

    /// Puts the body into a record: whole into the field that keeps it, and its members into fields of the same name.
    pub(super) fn keep_body(&self, id: ResourceId, values: &mut [Value], merge: bool) {
        let Some(keep) = self.behaviour().keep else { return };
        let resource = self.resource(id);
        let mut kept = match values.get(keep.index()).map(|value| value.to_json(self.zone())) {
            Some(Json::Object(members)) if merge => members,
            _ => Map::new(),
        };
        let merges = merge && self.api.contract.as_ref().is_some_and(|contract| contract.merge);
        for (name, sent) in &self.sent {
            let patched = merges.then(|| merged(kept.get(name).cloned().unwrap_or_default(), sent, 0));
            let json = patched.as_ref().unwrap_or(sent);
            if merges && json.is_null() {
                kept.shift_remove(name);
            } else {
                kept.insert(name.clone(), json.clone());
            }
            let Some((field, declared)) = self.field_of(id, name).filter(|(field, _)| *field != keep) else {
                continue;
            };
            // The behaviour sets the references of a record.
            let item = match &declared.kind {
                Type::List(item) => &item.kind,
                kind => kind,
            };
            if matches!(item, Type::Reference { .. }) {
                continue;
            }
            let parsed = declared.parse_json(json, self.zone()).ok().filter(|value| declared.allows(value));
            if field == resource.key {
                let free = parsed.filter(|key| self.draft.record(id, key).is_none() && !key.is_missing());
                if let (Some(key), Some(place)) = (free, values.get_mut(field.index())) {
                    *place = key;
                }
            } else if let Some(place) = values.get_mut(field.index()) {
                *place = parsed.unwrap_or(Value::Absent);
            }
        }
        if let (Some(kept), Some(place)) =
            (any(&Json::Object(kept), self.zone()), values.get_mut(keep.index()))
        {
            *place = kept;
        }
    }

    /// The body that shows one record, or none, by the API's contract.
    ///
    /// # Errors
    /// The refusals of its computed members.
    pub(super) fn promised_one(
        &mut self,
        contract: &Contract,
        record: Option<(ResourceId, &Record)>,
    ) -> Outcome<Body> {
        let Some(schema) = &contract.reply else { return Ok(Body::Object(Vec::new())) };
        let mut known = match record {
            Some((id, record)) => self.known_of(id, record),
            None => Known { seed: seed_of(&self.api.name, ""), ..Known::default() },
        };
        tell(&mut known.members, self.sent.clone());
        if self.api.method == Method::Delete {
            known.members.insert("deleted".to_owned(), Json::Bool(true));
        }
        if let Some((id, record)) = record {
            let resource = self.resource(id);
            let name = self.called(id).fields[resource.key.index()].clone();
            known.members.insert(name, self.key_json(resource, record));
            self.tell_computed(id, record, &mut known)?;
        }
        self.name_path(&mut known);
        let json = self.reply_of(contract, schema, Rc::new(known), None);
        Ok(match record {
            Some((id, record)) => self.traced(&json, "", &self.leaves_of(id, record)),
            None => Body::from_json(&json),
        })
    }

    /// Adds what the API's reply computes of a record, or gathers around it.
    fn tell_computed(&mut self, id: ResourceId, record: &Record, known: &mut Known) -> Outcome<()> {
        let api = self.api;
        for member in api.reply.members.iter().filter(|member| !matches!(member.source, Source::Field(_))) {
            if let Some(body) = self.show_source(&member.source, id, record)? {
                known.members.insert(plain(&member.name), body.json_tree(self.zone()));
            }
        }
        Ok(())
    }

    /// The body that shows a page of records by the API's contract.
    ///
    /// # Errors
    /// The refusals of the computed members of its items.
    pub(super) fn promised_list(
        &mut self,
        contract: &Contract,
        id: ResourceId,
        page: &[Record],
        total: usize,
        window: &Window,
    ) -> Outcome<Body> {
        let Some(schema) = &contract.reply else { return Ok(Body::Object(Vec::new())) };
        let mut items = Vec::with_capacity(page.len());
        for record in page {
            let mut known = self.known_of(id, record);
            self.tell_computed(id, record, &mut known)?;
            items.push(known);
        }
        let json = self.list_json(contract, schema, (id, page, items), total, window);
        let records: Vec<_> = page.iter().map(|record| self.leaves_of(id, record)).collect();
        Ok(self.traced_list(&json, &self.api.reply.items, "", &records))
    }

    fn list_json(
        &self,
        contract: &Contract,
        schema: &Json,
        (id, page, known): (ResourceId, &[Record], Vec<Known>),
        total: usize,
        window: &Window,
    ) -> Json {
        let mut around = Known { seed: seed_of(&self.api.name, ""), ..Known::default() };
        let resource = self.resource(id);
        let keys: Vec<Json> = page.iter().map(|record| self.key_json(resource, record)).collect();
        let given = self.api.parameters.iter().zip(&self.arguments);
        let path = given.fold(self.api.path.to_string(), |path, (parameter, value)| {
            path.replace(&format!("{{{}}}", parameter.name), &value.to_text(self.zone()))
        });
        around.members = window.told(&self.api.name, &path, total, &keys, self.page_parameter());
        self.name_path(&mut around);
        let items = known.into_iter().map(|mut known| {
            self.name_path(&mut known);
            Rc::new(known)
        });
        let name = &*self.api.reply.items;
        let list = List { name: name.to_owned(), items: items.collect() };
        self.reply_of(contract, schema, Rc::new(around), Some(list))
    }

    /// The place of the record that a cursor names: by its key, else by any value that its row shows, as a member shows
    /// its user; behind all of them where there is none.
    pub(super) fn named_by_cursor(
        &self,
        id: ResourceId,
        found: &[&Record],
        cursor: &Value,
        window: &Window,
    ) -> usize {
        let key = self.resource(id).key.index();
        let wanted = cursor.to_text(self.zone());
        let by_key = found.iter().position(|record| record[key].to_text(self.zone()) == wanted);
        let shows = |record: &&Record| {
            let row = self.api.contract.as_ref().and_then(|contract| {
                let page = [(**record).clone()];
                let of = (id, &page[..], vec![self.known_of(id, record)]);
                Some(self.list_json(contract, contract.reply.as_ref()?, of, found.len(), window))
            });
            row.is_some_and(|row| has_leaf(&row, &wanted))
        };
        by_key.or_else(|| found.iter().rposition(shows)).unwrap_or(found.len())
    }

    fn reply_of(&self, contract: &Contract, schema: &Json, known: Rc<Known>, list: Option<List>) -> Json {
        let now = self.draft.state.clock().0;
        contract.schemas.reply(schema, &Facts { known, list, now, lookup: self })
    }

    fn page_parameter(&self) -> Option<&str> {
        let page = self.api.query()?.page.as_ref()?;
        self.parameter_name(page.parameter).map(|name| &**name)
    }

    /// Returns the facts about a record.
    fn known_of(&self, id: ResourceId, record: &Record) -> Known {
        self.known_from(id, record, None)
    }

    /// Returns the facts about a record as another shows it. Of an association it is the other end that stands there.
    fn known_from(&self, id: ResourceId, record: &Record, from: Option<ResourceId>) -> Known {
        let resource = self.resource(id);
        let key = self.key_json(resource, record);
        let called = self.called(id);
        let own = called.noun.clone();
        let mut members = HashMap::new();
        let mut kept = None;
        for ((field, name), value) in resource.fields.iter().zip(&called.fields).zip(record.iter()) {
            if matches!(value, Value::Absent) {
                continue;
            }
            match value.to_json(self.zone()) {
                Json::Object(body) if field.generated && matches!(field.schema.kind, Type::Any) => {
                    kept = Some(body);
                }
                json => {
                    members.insert(name.clone(), json);
                }
            }
        }
        // Sent members are shown as they were sent, until something else changes them.
        let mut kept = kept.unwrap_or_default();
        kept.retain(|name, sent| self.is_so_still(id, record, name, sent));
        tell(&mut members, kept);
        // A membership record shows the record that it stands for.
        if let Some(of) = self.stands_for(resource, record, from) {
            for (name, value) in of.members {
                members.entry(name).or_insert(value);
            }
        }
        members.insert(called.fields[resource.key.index()].clone(), key.clone());
        // A membership record is named by the key of the record that it stands for.
        let (mut named, mut key_name) = (Vec::new(), String::new());
        if !is_hidden(resource) {
            let (noun, role) = (own.clone(), own.clone());
            let name = String::new();
            named.push(Named { noun, role, of: Some(id.index()), name, key: key.clone(), sure: false });
            let name = &resource.field(resource.key).name;
            key_name = reserved(name).unwrap_or(name).to_owned();
        } else if let Some(of) = resource.fields.iter().position(|field| &*field.name == OF)
            && let Some(key) = record.get(of).map(|key| key.to_json(self.zone()))
        {
            let (noun, role) = (own.clone(), own.clone());
            named.push(Named { noun, role, of: None, name: String::new(), key, sure: false });
        }
        self.name_above(id, record, &mut named, 0);
        Known {
            seed: seed_of(&resource.qualified, &key.to_string()),
            key,
            key_name,
            noun: own,
            of: Some(id.index()),
            is_new: record.get(resource.key.index()).is_some_and(|key| self.base.find(id, key).is_none()),
            members,
            named,
            lists: self.lists_of(resource, record),
        }
    }

    /// Returns true if the field that took a sent value still has it.
    fn is_so_still(&self, id: ResourceId, record: &Record, name: &str, sent: &Json) -> bool {
        let Some((field, declared)) = self.field_of(id, name) else { return true };
        let value = record.get(field.index()).filter(|value| !matches!(value, Value::Absent));
        // Moments are written by the server, and shown as they were sent.
        let refers = matches!(declared.kind, Type::Reference { .. } | Type::List(_) | Type::DateTime);
        match (value, declared.parse_json(sent, self.zone())) {
            (Some(value), Ok(sent)) if !refers => *value == sent || !declared.allows(&sent),
            _ => true,
        }
    }

    /// Returns the record that a membership record stands for (example: the user that a member is). A membership record has
    /// a hidden key, and the record it stands for does not.
    fn stands_for(&self, resource: &Resource, record: &Record, from: Option<ResourceId>) -> Option<Known> {
        let stands = |name: &str| name == OF || name.starts_with(AS);
        let fields = resource.fields.iter().enumerate().filter(|(_, field)| stands(&field.name));
        let mut references = fields.filter_map(|(at, field)| match field.schema.kind {
            Type::Reference { resource: target, .. } if Some(target) != from => Some((at, target)),
            _ => None,
        });
        let is_set =
            |at: usize| record.get(at).is_some_and(|key| !matches!(key, Value::Absent | Value::Null));
        let (of, target) = references.find(|(at, _)| is_hidden(resource) && is_set(*at))?;
        // Looking at the target first bounds the depth to one: a resource that shows its keys stands for nothing itself.
        if is_hidden(self.resource(target)) {
            return None;
        }
        let shown = self.draft.record(target, record.get(of)?)?;
        let mut known = self.known_of(target, shown);
        // Entries show what their records are called by whichever name their list has for it.
        if let Some(name) = self.resource(target).display.and_then(|name| shown.get(name.index()))
            && resource.fields.get(of).is_some_and(|field| field.name.starts_with(AS))
        {
            for member in ["name", "title"] {
                known.members.entry(member.to_owned()).or_insert_with(|| name.to_json(self.zone()));
            }
        }
        Some(known)
    }

    /// The lists of records that a record refers to.
    fn lists_of(&self, resource: &Resource, record: &Record) -> Vec<Listed> {
        let lists = resource.fields.iter().zip(record.iter()).filter_map(|(field, value)| {
            let (Type::List(item), Value::List(keys)) = (&field.schema.kind, value) else { return None };
            let Type::Reference { resource: target, .. } = &item.kind else { return None };
            let role = field.name.strip_suffix("_ids").map_or_else(|| noun(&field.name), noun);
            let keys = keys.iter().map(|key| key.to_json(self.zone())).collect();
            let of = Some(target.index());
            Some(Listed { role, noun: self.called(*target).noun.clone(), of, keys })
        });
        lists.collect()
    }

    /// The records that a record stands below.
    fn name_above(&self, id: ResourceId, record: &Record, named: &mut Vec<Named>, level: usize) {
        let (resource, called) = (self.resource(id), self.called(id));
        for (index, (field, value)) in resource.fields.iter().zip(record.iter()).enumerate() {
            let Type::Reference { resource: target, .. } = &field.schema.kind else { continue };
            let Some(above) = self.draft.record(*target, value).filter(|_| level < MAX_LEVELS) else {
                continue;
            };
            let noun = &self.called(*target).noun;
            // Nearer records, and records with a role of their own, are kept apart from those above.
            let role = called.roles.get(index).filter(|role| level == 0 && !role.is_empty()).unwrap_or(noun);
            if named.iter().any(|known| known.role == *role || (level > 0 && known.noun == *noun)) {
                continue;
            }
            let (of, key) = (Some(target.index()), value.to_json(self.zone()));
            let name = called.fields[index].clone();
            named.push(Named { noun: noun.clone(), role: role.clone(), of, name, key, sure: false });
            self.name_above(*target, above, named, level + 1);
        }
    }

    /// Adds what the path names.
    fn name_path(&self, known: &mut Known) {
        let mut before = String::new();
        for segment in self.api.path.split('/').filter(|segment| !segment.is_empty()) {
            let Some(name) =
                segment.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map(|(name, _)| name)
            else {
                before = noun(segment.split('.').next().unwrap_or(segment));
                continue;
            };
            let Some(parameter) = self.api.parameter_named(name) else { continue };
            let key = self.argument(parameter).to_json(self.zone());
            let stem = key_name(name).map(|(stem, _)| stem).filter(|stem| !stem.is_empty());
            let noun = stem.unwrap_or_else(|| before.clone());
            let own = noun == known.noun && known.key != key;
            if !own && !known.named.iter().any(|known| known.noun == noun && known.name == plain(name)) {
                let role = noun.clone();
                known.named.insert(0, Named { noun, role, of: None, name: plain(name), key, sure: true });
            }
        }
    }

    /// The names by which members of replies call a resource and its fields.
    fn called(&self, id: ResourceId) -> &ResourceNames {
        &self.base.resource_names[id.index()]
    }

    /// The field that a member of a body goes to.
    fn field_of(&self, id: ResourceId, name: &str) -> Option<(FieldId, &Schema)> {
        let wanted = plain(name);
        let found = self.called(id).fields.iter().position(|field| *field == wanted)?;
        Some((FieldId(found as u16), &self.resource(id).fields.get(found)?.schema))
    }

    fn key_json(&self, resource: &Resource, record: &Record) -> Json {
        record.get(resource.key.index()).map_or(Json::Null, |key| key.to_json(self.zone()))
    }

    /// The fields of a record by plain name, as leaves of replies.
    fn leaves_of(&self, id: ResourceId, record: &Record) -> Leaves {
        let key = record.get(self.resource(id).key.index()).cloned().unwrap_or(Value::Null);
        let fields = self.called(id).fields.iter().zip(record.iter()).enumerate();
        let present = fields.filter(|(_, (_, value))| !matches!(value, Value::Absent));
        present
            .map(|(index, (name, value))| {
                let origin = Origin::Field { resource: id, key: key.clone(), field: FieldId(index as u16) };
                (name.clone(), (value.clone(), value.to_json(self.zone()), origin))
            })
            .collect()
    }

    /// A reply as a body: leaves that show a field of the record come from it.
    fn traced(&self, json: &Json, name: &str, leaves: &Leaves) -> Body {
        match json {
            Json::Object(members) => Body::Object(
                members
                    .iter()
                    .map(|(name, json)| (Str::from(name.as_str()), self.traced(json, name, leaves)))
                    .collect(),
            ),
            Json::Array(items) => {
                Body::List(items.iter().map(|item| self.traced(item, name, leaves)).collect())
            }
            leaf => match leaves.get(&plain(name)) {
                Some((value, spelt, origin)) if spelt == leaf => Body::Leaf(value.clone(), origin.clone()),
                _ => Body::from_json(leaf),
            },
        }
    }

    fn traced_list(&self, json: &Json, list: &str, name: &str, records: &[Leaves]) -> Body {
        match json {
            Json::Array(items) if name == list && items.len() <= records.len() => {
                let items = items.iter().zip(records).map(|(item, leaves)| self.traced(item, "", leaves));
                Body::List(items.collect())
            }
            Json::Object(members) => Body::Object(
                members
                    .iter()
                    .map(|(name, json)| {
                        (Str::from(name.as_str()), self.traced_list(json, list, name, records))
                    })
                    .collect(),
            ),
            other => Body::from_json(other),
        }
    }
}

/// Takes in what was sent, by plain names; `auto.kind` is the `kind` of an object `auto`, too.
fn tell(members: &mut HashMap<String, Json>, sent: Map<String, Json>) {
    for (name, value) in sent {
        if let Some((object, inner)) = name.split_once('.') {
            let object = members.entry(plain(object)).or_insert_with(|| Json::Object(Map::new()));
            if let Json::Object(object) = object {
                object.insert(snake(inner), value.clone());
            }
        }
        members.insert(plain(&name), value);
    }
}

/// Returns true if a value is anywhere in a reply, as text.
fn has_leaf(json: &Json, wanted: &str) -> bool {
    match json {
        Json::Object(members) => members.values().any(|inner| has_leaf(inner, wanted)),
        Json::Array(items) => items.iter().any(|inner| has_leaf(inner, wanted)),
        Json::String(text) => text == wanted,
        other => serde_json::to_string(other).is_ok_and(|text| text == wanted),
    }
}

/// The leaves of a record: value, spelling, origin.
type Leaves = HashMap<String, (Value, Json, Origin)>;

/// The records of a session, for members that refer to one.
impl Lookup for Run<'_> {
    fn record(&self, noun: &str, seed: u64) -> Option<Known> {
        self.any_of(*self.base.by_noun.get(noun)?, seed)
    }

    fn record_of(&self, resource: &str, seed: u64) -> Option<Known> {
        self.any_of(*self.base.by_name.get(&self.api.domain)?.get(resource)?, seed)
    }

    fn at(&self, of: Option<usize>, noun: &str, key: &Json) -> Option<Known> {
        let id = match of {
            Some(of) => ResourceId(u16::try_from(of).ok()?),
            None => *self.base.by_noun.get(noun)?,
        };
        let resource = self.resource(id);
        let key = resource.field(resource.key).schema.parse_json(key, self.zone()).ok()?;
        Some(self.known_of(id, self.draft.record(id, &key)?))
    }

    fn keyed(&self, name: &str, seed: u64) -> Option<Known> {
        self.any_of(*self.base.by_key_name.get(name)?, seed)
    }

    fn parts(&self, noun: &str, whole: &Known, like: Option<&str>) -> Option<Vec<Known>> {
        let whole_id = ResourceId(u16::try_from(whole.of?).ok()?);
        let stands_for_like = |(part, field): &&(ResourceId, FieldId)| {
            let fields = self.resource(*part).fields.iter().enumerate();
            fields.into_iter().any(|(at, declared)| match declared.schema.kind {
                Type::Reference { resource, .. } => {
                    at != field.index() && like == Some(&*self.resource(resource).name)
                }
                _ => false,
            })
        };
        let (part, field) = match self.base.parts.get(noun)?.get(&whole_id)?.as_slice() {
            [only] => *only,
            several => *several.iter().find(stands_for_like)?,
        };
        let above = self.resource(whole_id);
        let key = above.field(above.key).schema.parse_json(&whole.key, self.zone()).ok()?;
        let all =
            self.draft.state.iter(self.base, part).filter(|record| record.get(field.index()) == Some(&key));
        let mut all: Vec<&Record> = all.collect();
        // Parts that are numbered stand in the order of their numbers.
        let is_number =
            |name: &String| ["number", "order", "position", "index"].iter().any(|end| name.ends_with(end));
        if let Some(number) = self.called(part).fields.iter().position(is_number) {
            all.sort_by_key(|record| match record.get(number) {
                Some(Value::Integer(number)) => *number,
                _ => i64::MAX,
            });
        }
        Some(all.into_iter().map(|record| self.known_from(part, record, Some(whole_id))).collect())
    }

    fn caller(&self) -> Option<Known> {
        let (base, caller) = (self.base, self.base.caller?);
        let record = self.draft.state.iter(base, caller).next()?;
        Some(self.known_of(caller, record))
    }
}

impl Run<'_> {
    /// A record of a resource, always the same one for a seed.
    fn any_of(&self, id: ResourceId, seed: u64) -> Option<Known> {
        let state = &self.draft.state;
        let place = seed % state.count(self.base, id).max(1) as u64;
        let record = state.iter(self.base, id).nth(usize::try_from(place).ok()?)?;
        Some(self.known_of(id, record))
    }
}

fn seed_of(name: &str, key: &str) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"diorama contract/1");
    hasher.update(name.as_bytes());
    hasher.update(&[0]);
    hasher.update(key.as_bytes());
    let bytes = hasher.finalize();
    bytes.as_bytes().iter().take(8).fold(0, |seed, byte| (seed << 8) | u64::from(*byte))
}
