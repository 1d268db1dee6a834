//! Handles operations that create records: their parents, the records that come with them, and several at
//! once.

use diorama_seeds::contract::{ME, plain};
use diorama_seeds::doc::{EffectDoc, FieldDoc, PhrasesDoc, Place, ReplyDoc, TypeName};
use indexmap::IndexMap;

use super::Act;
use super::located::all_hold;
use crate::constants::{literal, quote};
use crate::ground::places::{Collection, ParentKey, Part, list};
use crate::ground::resources::{CREATED, KEPT, OF, UPDATED};
use crate::operations::argument;
use crate::phrases;
use crate::words::{is_identifier, is_plural, singular, words};

/// Plain names of members that hold the kind of an action.
const KINDS: [&str; 3] = ["type", "action", "kind"];

/// Returns the plain name of the member that a kind of action changes: `name` for `rename`, `kernel` for
/// `change_kernel`.
fn changed_member(kind: &[String]) -> Option<String> {
    match kind {
        [only] => (only == "rename").then(|| "name".to_owned()),
        [verb, member @ ..] if ["set", "change", "update"].contains(&verb.as_str()) => Some(member.concat()),
        _ => None,
    }
}

impl Act<'_> {
    pub(super) fn create(&mut self, index: usize, elsewhere: bool) {
        let found = self.collection(index);
        let above = self.scope(index, elsewhere);
        self.require_values(index, &above);
        self.create_each(index, &above);
        self.api.behaviour.create = Some(found.name.clone());
        self.api.behaviour.keep = Some(KEPT.to_owned());
        self.touch(&found.name, &[&UPDATED[..], &CREATED[..]].concat());
        self.come_with(index);
        self.carry_out(found, &above);
        self.set_above(&above);
        self.name_by_item(found);
        self.require_named();
        if self.api.behaviour.each.is_none() && found.uses.is_none() {
            self.require_free(found, &above);
        }
        // A new record belongs to the first record of each parent collection that the path does not name.
        for known in found.above.iter().filter(|known| !above.iter().any(|other| other.field == known.field))
        {
            let value = match known.of.filter(|of| self.is_stored(*of)) {
                Some(of) => self.collection(of).first("x", "true"),
                None => known.picks.first().and_then(literal).unwrap_or_else(|| "''".to_owned()),
            };
            self.api.behaviour.set.insert(known.field.clone(), value);
        }
        self.refer_first(found);
        self.name_first_part(found);
        if let Some(other) = found.uses.filter(|uses| self.is_stored(*uses)) {
            let other = self.collection(other);
            let value = self.api.parameters.keys().find(|name| {
                let wanted = plain(name);
                wanted == format!("{}id", other.noun)
                    || wanted == plain(found.item.as_deref().unwrap_or_default())
            });
            let first = other.first("x", "true");
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
        let (mut required, mut optional) = self.said(found);
        // A new record gets a name or a text even if the members for them are optional.
        let parameters = &self.api.parameters;
        let named = |name: &String| parameters.get(name).is_some_and(|doc| phrases::comes_first(name, doc));
        if !required.iter().any(named) && optional.first().is_some_and(named) {
            required.insert(0, optional.remove(0));
        }
        // Phrases of a record with an address of its own name the address.
        let addresses: Vec<&String> = parameters
            .iter()
            .filter(|(name, doc)| {
                doc.place == Some(Place::Body) && phrases::is_address(name, doc, &found.label)
            })
            .map(|(name, _)| name)
            .collect();
        let is_addressed = addresses.iter().any(|name| required.contains(name));
        if !is_addressed && let Some(at) = optional.iter().position(|name| addresses.contains(&name)) {
            required.push(optional.remove(at));
        }
        let is_unaddressed = !addresses.is_empty() && !addresses.iter().any(|name| required.contains(name));
        // A record made of parts gets no phrases unless they name the parts: a `task with steps`.
        let parts: Vec<&str> = found.label.split(' ').collect();
        let unnamed = parameters.keys().any(|name| {
            let is_part = parts.contains(&"with") && parts.contains(&singular(name).to_lowercase().as_str());
            is_part && !required.contains(name)
        });
        // A record gets no phrases if they would name none of the body's members.
        let mut body = parameters.values().filter(|doc| doc.place == Some(Place::Body));
        let of_nothing = required.is_empty() && optional.is_empty() && body.next().is_some();
        if !unnamed && !is_unaddressed && !of_nothing && self.api.behaviour.each.is_none() {
            self.api.phrases = self.making(found, (&required, &optional));
        }
    }

    /// Returns the phrases for a new record: in the words of the operation if its object is the record or its
    /// parent (`fork the gist`).
    /// Returns none if the object is another.
    fn making(&self, found: &Collection, said: (&[String], &[String])) -> PhrasesDoc {
        let parameters = &self.api.parameters;
        let Some(command) = self.command_on(found) else {
            if phrases::names(&self.api.name, &found.label) == Some(false) {
                return PhrasesDoc::default();
            }
            let verb = phrases::verb_of(&self.api.name, &found.label).unwrap_or("add");
            let above = self.parts.iter().rev().skip(1);
            let mine = |part: &Part| matches!(part, Part::Text(text) if ME.contains(&text.as_str()));
            let whose = if above.into_iter().any(mine) { " for me" } else { "" };
            return phrases::make(verb, &format!("{}{whose}", found.label), parameters, said);
        };
        // A command on several records creates none.
        if command.object.rsplit(' ').next().is_some_and(is_plural) {
            return PhrasesDoc::default();
        }
        if command.is_about(&found.label) {
            return phrases::make(&command.verb, &found.label, parameters, said);
        }
        let owner = self.named_key().map(|name| (name.to_owned(), self.key_label(name)));
        match owner.filter(|(_, label)| command.is_about(label)) {
            Some((name, label)) => {
                phrases::change(&command.verb, &label, Some(&name), parameters, (said.0, &[]))
            }
            None => PhrasesDoc::default(),
        }
    }

    /// Gives a new record the key that the body sends under the name of the path's key: the `pool` of
    /// `/pools/{pool}`, whose records show it as `name`.
    fn name_by_item(&mut self, found: &Collection) {
        let item = found.item.as_deref().filter(|item| *item != found.key && found.uses.is_none());
        let Some(item) = item.filter(|item| plain(item) == found.noun) else { return };
        let is_sent = |(name, doc): (&String, &FieldDoc)| {
            name == item
                && doc.place == Some(Place::Body)
                && doc.kind == Some(TypeName::String)
                && !doc.optional
        };
        if self.api.parameters.iter().any(is_sent) {
            self.api.behaviour.set.insert(found.key.clone(), argument(item));
        }
    }

    /// References that each record has, and that the body lacks, go to the first record. Lists of others are
    /// empty.
    fn refer_first(&mut self, found: &Collection) {
        let Some(known) = self.resources.get(&found.name) else { return };
        for (field, doc) in &known.fields {
            let many = doc.items.as_ref().is_some_and(|item| item.reference.is_some());
            let always = doc.on_delete.as_deref() != Some("clear");
            let value = match &doc.reference {
                Some(target) if always && *target != found.name => {
                    let Some(key) = self.resources.get(target).map(|target| &target.key) else { continue };
                    format!("{target}.first(x, true).{key}")
                }
                _ if many => "[]".to_owned(),
                _ => continue,
            };
            self.api.behaviour.set.entry(field.clone()).or_insert(value);
        }
    }

    /// Refers to the record that the first part of a new record's key names.
    fn name_first_part(&mut self, found: &Collection) {
        for known in found.above.iter().filter(|known| known.of.is_none() && known.picks.is_empty()) {
            let by = format!("{}_id", known.field);
            let Some(target) =
                self.resources.get(&found.name).and_then(|own| own.fields.get(&by)?.reference.clone())
            else {
                continue;
            };
            let Some(key) = self.resources.get(&target).map(|target| &target.key) else { continue };
            if !self.used.contains(&known.field) {
                let first = format!("{target}.first(x, true).{key}");
                let set = &mut self.api.behaviour.set;
                let shown = set.entry(by).or_insert(first).clone();
                set.insert(known.field.clone(), shown);
            }
        }
    }

    /// A repeated membership changes the existing one by the new body.
    fn join(&mut self, found: &Collection, above: &[ParentKey], given: &str) {
        if self.api.behaviour.each.is_some() {
            return;
        }
        let mut conditions = vec![format!("a.{OF} == {given}")];
        conditions.extend(self.conditions("a", above, 1));
        let behaviour = &mut self.api.behaviour;
        behaviour.key = Some(found.first("a", &conditions.join(" && ")));
        behaviour.patch = behaviour.create.take();
        behaviour.upsert = true;
    }

    /// Creates several records if the body is or contains a list of them. PUT replaces the whole collection.
    fn create_each(&mut self, index: usize, above: &[ParentKey]) {
        let Some(parameter) = self.many(self.collection(index)) else { return };
        if self.operation.method == "PUT" {
            let conditions = self.conditions("item", above, 0);
            let condition = all_hold(&conditions);
            self.api.behaviour.condition = Some(condition);
        }
        self.api.behaviour.each = Some(parameter);
        let items = list(self.operation, &self.parts).map(|(name, _)| name).unwrap_or_default();
        self.api.reply = ReplyDoc { items: Some(items), total: Some(String::new()), ..ReplyDoc::default() };
    }

    /// Creates the singletons below a new record along with it.
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

    /// Changes the record that a new action is about, where its kind names the change: `{type: rename, name: web}`.
    fn carry_out(&mut self, found: &Collection, above: &[ParentKey]) {
        let parent = above.last().and_then(|known| Some((known, known.of.filter(|of| self.is_stored(*of))?)));
        let Some((known, of)) = parent.filter(|_| found.noun == "action") else { return };
        let name = &self.collection(of).name;
        let body = || self.api.parameters.iter().filter(|(_, doc)| doc.place == Some(Place::Body));
        let chooser =
            body().find(|(name, doc)| KINDS.contains(&plain(name).as_str()) && !doc.values.is_empty());
        let (Some((chooser, kinds)), Some(own)) = (chooser, self.resources.get(name)) else { return };
        let mut effects = Vec::new();
        for kind in &kinds.values {
            let Some(member) = changed_member(&words(kind)) else { continue };
            let field = own.fields.iter().find(|(field, _)| plain(field) == member && **field != own.key);
            let given = body().find(|(name, _)| plain(name) == member && is_identifier(name));
            let (Some((field, own)), Some((given, doc))) = (field, given) else { continue };
            if own.kind == doc.kind {
                let given = argument(given);
                let when = format!("{} == {} && given({given})", argument(chooser), quote(kind));
                effects.push((when, field.clone(), given));
            }
        }
        let (name, key) = (name.clone(), self.key_above(known));
        self.api.behaviour.also.extend(effects.into_iter().map(|(when, field, given)| EffectDoc {
            update: Some(name.clone()),
            key: Some(key.clone()),
            when: Some(when),
            set: IndexMap::from_iter([(field, given)]),
            ..EffectDoc::default()
        }));
    }

    fn set_above(&mut self, above: &[ParentKey]) {
        for known in above {
            let key = self.key_above(known);
            let value = if known.among { format!("[{key}]") } else { key };
            self.api.behaviour.set.insert(known.field.clone(), value);
        }
        self.require(above);
    }

    /// Creates the record that the path names, where it is missing.
    pub(super) fn make_missing(&mut self, found: &Collection, at: usize) {
        self.api.behaviour.upsert = true;
        // An operation that is rewritten from a verb has one success status.
        self.api.reply.made = (self.operation.makes && self.operation.written.is_none()).then_some(201);
        let given = self.argument(at);
        self.api.behaviour.set.insert(found.key.clone(), given);
        self.set_above(&found.above);
    }

    /// Adds the record that the path names to a membership collection.
    pub(super) fn upsert(&mut self, found: &Collection, at: usize) {
        self.api.behaviour.upsert = true;
        let given = self.argument(at);
        self.api.behaviour.set.insert(OF.to_owned(), given.clone());
        self.set_above(&found.above);
        if let Some(other) = found.uses.filter(|uses| self.is_stored(*uses)) {
            self.require_one(other, &given);
        }
    }
}
