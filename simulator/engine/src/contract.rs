//! Contracts of documents: check request bodies by their schemas, store them, and build replies that are
//! valid by the reply schema.

mod facts;
mod references;
mod steps;
mod traced;

use std::rc::Rc;

use diorama_seeds::contract::{Contract, Facts, KnownValues, List, ME, Side, key_name, plain};
use diorama_seeds::materialise::provider_of_name;
use diorama_seeds::model::{
    Api, BehaviourKind, FieldId, Method, Parameter, Place, Record, ResourceId, Setter, Source,
};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::value::{Str, Value, Zone};
use serde_json::{Map, Value as Json};

use self::facts::{seed_of, tell};
use super::names::{is_hidden, reference_target};
use super::page::Window;
use super::refusal::{Outcome, Refusal};
use super::reply::Body;
use super::run::Run;

/// Maximum depth of objects that a merge patch is applied to.
const MAX_PATCH_DEPTH: u32 = 64;

/// A page of a list, for a contract's reply.
struct ListPage<'a> {
    id: ResourceId,
    records: &'a [Record],
    /// The facts about each of its records.
    known: Vec<KnownValues>,
    /// Number of records in the whole list.
    total: usize,
    window: &'a Window,
    /// The value that requests the next page. Null after the last page.
    next: Value,
    /// Path and query of the next page.
    address: Option<Str>,
}

/// Returns the request body that the arguments form. Returns an empty body if the API has no contract for it.
///
/// # Errors
/// A refusal that names the invalid part of the body.
pub(super) fn read_body(api: &Api, given: &Map<String, Json>, zone: &Zone) -> Outcome<Map<String, Json>> {
    let Some(contract) = &api.contract else { return Ok(Map::new()) };
    let Some(schema) = &contract.request else { return Ok(Map::new()) };
    let in_body = |name: &str| {
        let known = api.parameters.iter().find(|parameter| &*parameter.name == name);
        known.is_none_or(|known| known.place == Place::Body)
    };
    if let Some(whole) = api.whole_body() {
        let Some(body) = given.get(&*whole.name) else { return Ok(Map::new()) };
        held(contract, schema, body)?;
        return Ok(match body {
            Json::Object(members) => members.clone(),
            _ => Map::new(),
        });
    }
    // Members that describe a file beside its content are not in the schema.
    let of_file = |name: &str| {
        let (file, what) = name.rsplit_once('.').filter(|_| api.parameter_named(name).is_none())?;
        given.contains_key(file).then(|| what.to_owned())
    };
    let members = given.iter().filter(|(name, _)| in_body(name) && of_file(name).is_none());
    let mut body: Map<String, Json> = members.map(|(name, value)| (name.clone(), value.clone())).collect();
    // Callers need not repeat a value of the path in the body.
    let required = if body.is_empty() { Vec::new() } else { contract.required_members() };
    for name in required {
        let known = api.parameters.iter().find(|known| *known.name == *name && known.place != Place::Body);
        if let (Some(known), Some(value)) = (known, given.get(&name)) {
            let value = known.schema.parse_json(value, zone).map(|value| value.to_json(zone));
            body.extend(value.ok().map(|value| (name, value)));
        }
    }
    // An optional body is checked only if it is not empty.
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
    Ok(unwrapped(&contract.inside, members))
}

/// Returns the operations of a body that is a JSON Patch (RFC 6902).
pub(super) fn read_steps<'c>(api: &Api, given: &'c Map<String, Json>) -> &'c [Json] {
    let body = api.whole_body().and_then(|whole| given.get(&*whole.name));
    body.map(|body| steps::of_body(api, body)).unwrap_or_default()
}

/// Gives the refusal of an argument the status that the document declares for it. A path value that is no
/// valid key becomes 404.
pub(super) fn refused(api: &Api, refusal: Refusal) -> Refusal {
    let wrong = api.parameters.iter().find(|known| Some(&known.name) == refusal.parameter.as_ref());
    let is_key = wrong.is_some_and(|known| {
        known.place == Place::Path && matches!(known.schema.kind, Type::Reference { .. })
    });
    match &api.contract {
        Some(_) if is_key && refusal.status == 400 => Refusal { status: 404, ..refusal },
        Some(contract) if refusal.status == 400 => Refusal { status: contract.refusal, ..refusal },
        _ => refusal,
    }
}

/// Returns the members of a record in a body: those inside of its envelope, and those beside it.
fn unwrapped(inside: &[String], mut members: Map<String, Json>) -> Map<String, Json> {
    for name in inside {
        match members.shift_remove(name) {
            Some(Json::Object(inner)) => members.extend(inner),
            Some(other) => {
                members.insert(name.clone(), other);
                break;
            }
            None => break,
        }
    }
    members
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

/// Applies a merge patch (RFC 7396) to a value: merges members of objects, and removes members that are null.
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

/// Parses JSON as a value of any type. Returns none if it nests too deeply.
pub(super) fn any(json: &Json, zone: &Zone) -> Option<Value> {
    let mut schema = Schema::of(Type::Any);
    schema.nullable = true;
    schema.parse_json(json, zone).ok()
}

impl Run<'_> {
    /// Replaces `me` in a path by a key of the parameter's resource: the caller's own if known, else that of
    /// the first record.
    pub(super) fn name_caller(&mut self) {
        let api = self.api;
        for (at, parameter) in api.parameters.iter().enumerate() {
            let Type::Reference { resource: id, .. } = parameter.schema.kind else { continue };
            let is_me = matches!(self.arguments.get(at), Some(Value::String(text)) if ME.contains(&&**text));
            if !is_me || parameter.place != Place::Path || api.contract.is_none() {
                continue;
            }
            let stem = key_name(&parameter.name).map(|(stem, _)| stem).unwrap_or_default();
            let is_person = self.base.caller == Some(id)
                || [stem.as_str(), &self.resource(id).label]
                    .into_iter()
                    .any(|noun| provider_of_name(noun) == "person_name");
            let key = self.resource(id).key.index();
            let is_free = self.draft.record(id, &self.arguments[at]).is_none();
            let first = self.draft.state.iter(self.base, id).next().filter(|_| is_person && is_free);
            if let Some(known) = first.and_then(|first| first.get(key)).cloned() {
                self.arguments[at] = known;
            }
        }
    }

    /// Returns the existing record whose key a body gives, if it belongs to the same `set` as a new one
    /// would.
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

    /// Fills in the defaults of the body's schema for a new record.
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

    /// Stores the body in a created or changed record. A JSON Patch is applied operation by operation.
    ///
    /// # Errors
    /// Returns a refusal if an operation of the patch cannot be applied.
    pub(super) fn keep_change(&mut self, id: ResourceId, values: &mut [Value], merge: bool) -> Outcome<()> {
        self.follow_steps(id, values)?;
        self.keep_body(id, values, merge);
        Ok(())
    }

    /// Stores the body in a record: as a whole in the field that keeps it, and member by member in fields of
    /// the same name.
    fn keep_body(&self, id: ResourceId, values: &mut [Value], merge: bool) {
        let Some(keep) = self.behaviour().keep else { return };
        let resource = self.resource(id);
        // A JSON Patch leaves other members as they are, and its values replace whole members.
        let patches = !self.steps.is_empty();
        let mut kept = match values.get(keep.index()).map(|value| value.to_json(self.zone())) {
            Some(Json::Object(members)) if merge || patches => members,
            _ => Map::new(),
        };
        // A form sends its members one by one, including those of nested objects.
        let is_merged = |contract: &Contract| contract.merge || contract.form;
        let merges = merge && !patches && self.api.contract.as_deref().is_some_and(is_merged);
        for (name, sent) in &self.sent {
            let patched = merges.then(|| merged(kept.get(name).cloned().unwrap_or_default(), sent, 0));
            let json = patched.as_ref().unwrap_or(sent);
            if (merges || patches) && json.is_null() {
                kept.shift_remove(name);
            } else {
                kept.insert(name.clone(), json.clone());
            }
            let found = self.field_of(id, name).or_else(|| self.reference_of(id, name));
            let Some((field, declared)) = found.filter(|(field, _)| *field != keep) else { continue };
            if reference_target(&declared.kind).is_some() {
                // The behaviour itself sets fields from the call's arguments.
                let keys = self.keys_sent(resource.field(field), json);
                let keys = keys.filter(|_| !self.sets_from_arguments(field));
                if let (Some(keys), Some(place)) = (keys, values.get_mut(field.index())) {
                    *place = keys;
                }
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

    /// Returns the body for one record, or for none, by the API's contract.
    ///
    /// # Errors
    /// The refusals of its calculated members.
    pub(super) fn promised_one(
        &mut self,
        contract: &Contract,
        record: Option<(ResourceId, &Record)>,
    ) -> Outcome<Body> {
        let Some(schema) = &contract.reply else { return Ok(Body::Object(Vec::new())) };
        let above = record.and_then(|(id, record)| self.record_shown(contract, schema, id, record));
        let (record, is_above) = (above.as_ref().map(|(id, above)| (*id, above)).or(record), above.is_some());
        let mut known = match record {
            Some((id, record)) => self.known_of(id, record),
            None => KnownValues { seed: seed_of(&self.api.name, ""), ..KnownValues::default() },
        };
        if !is_above {
            tell(&mut known.members, self.sent.clone());
        }
        if self.api.method == Method::Delete {
            known.members.insert("deleted".to_owned(), Json::Bool(true));
        }
        if let Some((id, record)) = record {
            let resource = self.resource(id);
            let name = self.called(id).fields[resource.key.index()].clone();
            known.members.insert(name, self.key_json(resource, record));
            self.tell_computed(id, record, &mut known)?;
        }
        if known.key_name.is_empty() && (record.is_none() || self.api.method == Method::Get) {
            self.name_owner(&mut known);
        }
        self.name_path(&mut known);
        let json = self.reply_of(contract, schema, Rc::new(known), None);
        Ok(match record {
            Some((id, record)) => self.traced(&json, "", &self.leaves_of(id, record)),
            None => Body::from_json(&json),
        })
    }

    /// Returns the record above a new one, where the reply's schema is that of the record above: a repair, for a
    /// part that is added to it.
    fn record_shown(
        &self,
        contract: &Contract,
        schema: &Json,
        id: ResourceId,
        record: &Record,
    ) -> Option<(ResourceId, Record)> {
        matches!(self.behaviour().kind, BehaviourKind::Create { .. }).then_some(())?;
        let shown = contract.schemas.resource_said(schema)?;
        let own = self.resource(id);
        if is_hidden(own) || shown == &*own.name {
            return None;
        }
        own.fields.iter().zip(record.iter()).find_map(|(field, key)| {
            let Type::Reference { resource: target, .. } = field.schema.kind else { return None };
            let above = self.draft.record(target, key)?;
            (&*self.resource(target).name == shown).then(|| (target, above.clone()))
        })
    }

    /// Adds the calculated and embedded reply members of a record to the known facts.
    fn tell_computed(&mut self, id: ResourceId, record: &Record, known: &mut KnownValues) -> Outcome<()> {
        let api = self.api;
        for member in api.reply.members.iter().filter(|member| !matches!(member.source, Source::Field(_))) {
            if let Some(body) = self.show_source(&member.source, id, record)? {
                known.members.insert(plain(&member.name), body.json_tree(self.zone()));
            }
        }
        Ok(())
    }

    /// Returns the body for a page of records, by the API's contract.
    ///
    /// # Errors
    /// The refusals of the calculated members of its items.
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
        let next = window.next(&self.api.name, total);
        (self.next, self.total) = (self.next_page(&next), Some(total));
        let shown =
            ListPage { id, records: page, known: items, total, window, next, address: self.next.clone() };
        let json = self.list_json(contract, schema, shown);
        let records: Vec<_> = page.iter().map(|record| self.leaves_of(id, record)).collect();
        Ok(self.traced_list(&json, &self.api.reply.items, "", &records))
    }

    fn list_json(&self, contract: &Contract, schema: &Json, page: ListPage<'_>) -> Json {
        let mut around = KnownValues { seed: seed_of(&self.api.name, ""), ..KnownValues::default() };
        let resource = self.resource(page.id);
        let keys: Vec<Json> = page.records.iter().map(|record| self.key_json(resource, record)).collect();
        let next = page.next.to_json(self.zone());
        around.members = page.window.told(page.total, &keys, next, page.address.as_deref());
        self.name_owner(&mut around);
        self.name_path(&mut around);
        let items = page.known.into_iter().map(|mut known| {
            self.name_path(&mut known);
            Rc::new(known)
        });
        let name = &*self.api.reply.items;
        let list = List { name: name.to_owned(), items: items.collect() };
        self.reply_of(contract, schema, Rc::new(around), Some(list))
    }

    /// Returns the position of the record that a cursor names, by its key or by any value in its row.
    /// Example: a membership row is found by its user's id. Returns the end of the list if no record fits.
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
                let (records, known) = ([(**record).clone()], vec![self.known_of(id, record)]);
                // A single row has no next page.
                let (next, address) = (Value::Null, None);
                let page =
                    ListPage { id, records: &records, known, total: found.len(), window, next, address };
                Some(self.list_json(contract, contract.reply.as_ref()?, page))
            });
            row.is_some_and(|row| has_leaf(&row, &wanted))
        };
        by_key.or_else(|| found.iter().rposition(shows)).unwrap_or(found.len())
    }

    fn reply_of(
        &self,
        contract: &Contract,
        schema: &Json,
        known: Rc<KnownValues>,
        list: Option<List>,
    ) -> Json {
        let now = self.draft.state.clock().0;
        contract.schemas.reply(schema, &Facts { known, list, now, lookup: self })
    }

    /// Returns path and query of the next page: those of this request with the value for the next page.
    fn next_page(&self, next: &Value) -> Option<Str> {
        let page = self.api.query()?.page.as_ref()?.parameter;
        let asks = self
            .api
            .parameters
            .get(page.index())
            .filter(|asks| asks.place == Place::Query && !next.is_missing())?;
        let mut path = self.api.path.to_string();
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (parameter, value) in self.api.parameters.iter().zip(&self.arguments) {
            let text = match value {
                Value::Absent | Value::Null => continue,
                Value::List(items) => {
                    items.iter().map(|item| item.to_text(self.zone())).collect::<Vec<_>>().join(",")
                }
                value => value.to_text(self.zone()),
            };
            if parameter.place == Place::Path {
                let text: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
                path = path.replace(&format!("{{{}}}", parameter.name), &text.replace('+', "%20"));
            } else if parameter.place == Place::Query
                && parameter.name != asks.name
                && parameter.default.as_ref() != Some(value)
            {
                query.append_pair(parameter.wire_name(), &text);
            }
        }
        for (name, value) in &self.api.chosen_by {
            query.append_pair(name, value);
        }
        query.append_pair(asks.wire_name(), &next.to_text(self.zone()));
        Some(format!("{path}?{}", query.finish()).into())
    }
}

/// Returns true if a JSON value contains a leaf with this text.
fn has_leaf(json: &Json, wanted: &str) -> bool {
    match json {
        Json::Object(members) => members.values().any(|inner| has_leaf(inner, wanted)),
        Json::Array(items) => items.iter().any(|inner| has_leaf(inner, wanted)),
        Json::String(text) => text == wanted,
        other => serde_json::to_string(other).is_ok_and(|text| text == wanted),
    }
}
