//! Facts about records, from which contract replies are filled.

use std::collections::HashMap;

use diorama_seeds::contract::{AS, KnownValues, ListedRecords, Lookup, NameableRecord, plain};
use diorama_seeds::model::{FieldId, Record, Resource, ResourceId};
use diorama_seeds::naming::{reserved, snake};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::value::Value;
use serde_json::{Map, Value as Json};

use crate::names::{PathName, ResourceNames, is_hidden, reference_target};
use crate::run::Run;

/// The field by which a membership record refers to the record it stands for.
pub(super) const OF: &str = "of";
/// Maximum number of ancestor levels that are followed.
const MAX_LEVELS: usize = 8;

impl Run<'_> {
    /// Returns the facts about a record.
    pub(super) fn known_of(&self, id: ResourceId, record: &Record) -> KnownValues {
        self.known_from(id, record, None)
    }

    /// Returns the facts about a record embedded in one of resource `from`. An association then stands for
    /// its other end.
    pub(super) fn known_from(
        &self,
        id: ResourceId,
        record: &Record,
        from: Option<ResourceId>,
    ) -> KnownValues {
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
        // A sent member is returned as it was sent, until another call changes its field.
        let mut kept = kept.unwrap_or_default();
        kept.retain(|name, sent| self.is_so_still(id, record, name, sent));
        let sent = kept.clone();
        tell(&mut members, kept);
        // A membership record includes the members of the record that it stands for.
        if let Some(of) = self.stands_for(resource, record, from) {
            for (name, value) in of.members {
                members.entry(name).or_insert(value);
            }
        }
        members.insert(called.fields[resource.key.index()].clone(), key.clone());
        // A membership record has the key of the record that it stands for.
        let (mut named, mut key_name) = (Vec::new(), String::new());
        if !is_hidden(resource) {
            let (noun, role) = (own.clone(), own.clone());
            let name = String::new();
            named.push(NameableRecord {
                noun,
                role,
                of: Some(id.index()),
                name,
                key: key.clone(),
                sure: false,
            });
            let name = &resource.field(resource.key).name;
            key_name = reserved(name).unwrap_or(name).to_owned();
        } else if let Some(of) = resource.fields.iter().position(|field| &*field.name == OF)
            && let Some(key) = record.get(of).map(|key| key.to_json(self.zone()))
        {
            let (noun, role) = (own.clone(), own.clone());
            named.push(NameableRecord { noun, role, of: None, name: String::new(), key, sure: false });
        }
        self.name_above(id, record, &mut named, 0);
        KnownValues {
            seed: seed_of(&resource.qualified, &key.to_string()),
            key,
            key_name,
            noun: own,
            of: Some(id.index()),
            sent,
            is_new: record.get(resource.key.index()).is_some_and(|key| self.base.find(id, key).is_none()),
            members,
            named,
            lists: self.lists_of(id, record),
        }
    }

    /// Returns true if the field that stored a sent value still has that value.
    pub(super) fn is_so_still(&self, id: ResourceId, record: &[Value], name: &str, sent: &Json) -> bool {
        let Some((field, declared)) = self.field_of(id, name) else { return true };
        let value = record.get(field.index()).filter(|value| !matches!(value, Value::Absent));
        // The server normalises timestamps and references, but returns them as they were sent.
        let refers = matches!(declared.kind, Type::Reference { .. } | Type::List(_) | Type::DateTime);
        match (value, declared.parse_json(sent, self.zone())) {
            (Some(value), Ok(sent)) if !refers => *value == sent || !declared.allows(&sent),
            _ => true,
        }
    }

    /// Returns the record that a membership record stands for. Example: the user of a member. A membership
    /// record has a hidden key, and its target has a visible one.
    pub(super) fn stands_for(
        &self,
        resource: &Resource,
        record: &Record,
        from: Option<ResourceId>,
    ) -> Option<KnownValues> {
        let stands = |name: &str| name == OF || name.starts_with(AS);
        let fields = resource.fields.iter().enumerate().filter(|(_, field)| stands(&field.name));
        let mut references = fields.filter_map(|(at, field)| match field.schema.kind {
            Type::Reference { resource: target, .. } if Some(target) != from => Some((at, target)),
            _ => None,
        });
        let is_set =
            |at: usize| record.get(at).is_some_and(|key| !matches!(key, Value::Absent | Value::Null));
        let (of, target) = references.find(|(at, _)| is_hidden(resource) && is_set(*at))?;
        // The target must have visible keys, so it stands for no other record, and the recursion depth is
        // one.
        if is_hidden(self.resource(target)) {
            return None;
        }
        let shown = self.draft.record(target, record.get(of)?)?;
        let mut known = self.known_of(target, shown);
        // An association entry also shows its target's display name as `name` and `title`.
        if let Some(name) = self.resource(target).display.and_then(|name| shown.get(name.index()))
            && resource.fields.get(of).is_some_and(|field| field.name.starts_with(AS))
        {
            for member in ["name", "title"] {
                known.members.entry(member.to_owned()).or_insert_with(|| name.to_json(self.zone()));
            }
        }
        Some(known)
    }

    /// Returns the lists of records that a record refers to.
    fn lists_of(&self, id: ResourceId, record: &Record) -> Vec<ListedRecords> {
        let fields = self.resource(id).fields.iter().zip(&self.called(id).roles).zip(record.iter());
        let lists = fields.filter_map(|((field, role), value)| {
            let (Some((target, true)), Value::List(keys)) = (reference_target(&field.schema.kind), value)
            else {
                return None;
            };
            let keys = keys.iter().map(|key| key.to_json(self.zone())).collect();
            let noun = self.called(target).noun.clone();
            Some(ListedRecords { role: role.clone(), noun, of: Some(target.index()), keys })
        });
        lists.collect()
    }

    /// Adds the ancestors of a record to `named`, the nearest first.
    pub(super) fn name_above(
        &self,
        id: ResourceId,
        record: &Record,
        named: &mut Vec<NameableRecord>,
        level: usize,
    ) {
        let (resource, called) = (self.resource(id), self.called(id));
        let mut found = Vec::new();
        for (index, (field, value)) in resource.fields.iter().zip(record.iter()).enumerate() {
            let Type::Reference { resource: target, .. } = &field.schema.kind else { continue };
            let Some(above) = self.draft.record(*target, value).filter(|_| level < MAX_LEVELS) else {
                continue;
            };
            let noun = &self.called(*target).noun;
            // Nearer records, and records with their own role, take precedence over farther ones.
            let role = called.roles.get(index).filter(|role| level == 0 && !role.is_empty()).unwrap_or(noun);
            if named.iter().any(|known| known.role == *role || (level > 0 && known.noun == *noun)) {
                continue;
            }
            let (of, key) = (Some(target.index()), value.to_json(self.zone()));
            let name = called.fields[index].clone();
            named.push(NameableRecord { noun: noun.clone(), role: role.clone(), of, name, key, sure: false });
            found.push((*target, above));
        }
        // The user that a member is comes before the owner of the server above it.
        for (target, above) in found {
            self.name_above(target, above, named, level + 1);
        }
    }

    /// Adds the records that the path names.
    pub(super) fn name_path(&self, known: &mut KnownValues) {
        for PathName { parameter, noun, name } in &self.path.names {
            let key = self.argument(*parameter).to_json(self.zone());
            // A name in the path may have been changed by this call.
            let is_shown = noun.is_empty() && known.of.is_some() && known.members.contains_key(name);
            let own = is_shown || *noun == known.noun && known.key != key;
            if !own && !known.named.iter().any(|known| known.noun == *noun && known.name == *name) {
                let (noun, role, name) = (noun.clone(), noun.clone(), name.clone());
                // Several resources may have the noun.
                let of = reference_target(&self.api.parameters[parameter.index()].schema.kind);
                let of = of.filter(|(_, several)| !several).map(|(target, _)| target.index());
                known.named.insert(0, NameableRecord { noun, role, of, name, key, sure: true });
            }
        }
    }

    /// Adds the id of the record that the path ends below. Example: the film's id for
    /// `/movies/{movie_id}/credits`.
    pub(super) fn name_owner(&self, known: &mut KnownValues) {
        let Some(parameter) = self.path.owner else { return };
        let key = self.argument(parameter).to_json(self.zone());
        known.members.entry("id".to_owned()).or_insert(key);
    }

    /// Returns the reply names of a resource and its fields.
    pub(super) fn called(&self, id: ResourceId) -> &ResourceNames {
        &self.base.resource_names[id.index()]
    }

    /// Returns the field that stores a body member.
    pub(super) fn field_of(&self, id: ResourceId, name: &str) -> Option<(FieldId, &Schema)> {
        let wanted = plain(name);
        let found = self.called(id).fields.iter().position(|field| *field == wanted)?;
        Some((FieldId(found as u16), &self.resource(id).fields.get(found)?.schema))
    }

    pub(super) fn key_json(&self, resource: &Resource, record: &Record) -> Json {
        record.get(resource.key.index()).map_or(Json::Null, |key| key.to_json(self.zone()))
    }
}

/// Adds sent members by their plain names. `auto.kind` also becomes `kind` of an object `auto`.
pub(super) fn tell(members: &mut HashMap<String, Json>, sent: Map<String, Json>) {
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

/// Looks up records of the session for reply members that refer to one.
impl Lookup for Run<'_> {
    fn record(&self, noun: &str, seed: u64) -> Option<KnownValues> {
        self.any_of(*self.base.by_noun.get(noun)?, seed)
    }

    fn record_of(&self, resource: &str, seed: u64) -> Option<KnownValues> {
        self.any_of(*self.base.by_name.get(&self.api.domain)?.get(resource)?, seed)
    }

    fn at(&self, of: Option<usize>, noun: &str, key: &Json) -> Option<KnownValues> {
        let id = match of {
            Some(of) => ResourceId(u16::try_from(of).ok()?),
            None => *self.base.by_noun.get(noun)?,
        };
        let resource = self.resource(id);
        let key = resource.field(resource.key).schema.parse_json(key, self.zone()).ok()?;
        Some(self.known_of(id, self.draft.record(id, &key)?))
    }

    fn keyed(&self, name: &str, seed: u64) -> Option<KnownValues> {
        self.any_of(*self.base.by_key_name.get(name)?, seed)
    }

    fn parts(&self, noun: &str, whole: &KnownValues, like: Option<&str>) -> Option<Vec<KnownValues>> {
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
        // Numbered parts are sorted by their numbers.
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

    fn caller(&self) -> Option<KnownValues> {
        let (base, caller) = (self.base, self.base.caller?);
        let record = self.draft.state.iter(base, caller).next()?;
        Some(self.known_of(caller, record))
    }
}

impl Run<'_> {
    /// Returns a record of a resource. The same seed selects the same record.
    pub(super) fn any_of(&self, id: ResourceId, seed: u64) -> Option<KnownValues> {
        let state = &self.draft.state;
        let place = seed % state.count(self.base, id).max(1) as u64;
        let record = state.iter(self.base, id).nth(usize::try_from(place).ok()?)?;
        Some(self.known_of(id, record))
    }
}

pub(super) fn seed_of(name: &str, key: &str) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"diorama contract/1");
    hasher.update(name.as_bytes());
    hasher.update(&[0]);
    hasher.update(key.as_bytes());
    let bytes = hasher.finalize();
    bytes.as_bytes().iter().take(8).fold(0, |seed, byte| (seed << 8) | u64::from(*byte))
}
