//! Decides which records an operation is about, and what it does to them.

mod bodies;
mod created;
mod filters;
mod flags;
mod joins;
pub(super) mod lists;
mod located;
mod mixed;
mod orders;
mod permitted;
mod removed;
mod scope;
mod several;
mod taken;
mod unsayable;
mod verbs;

use diorama_seeds::contract::{ME, key_name, plain};
use diorama_seeds::doc::{ApiDoc, BehaviourDoc, EffectDoc, PhrasesDoc, Place, ResourceDoc, TypeName};
use diorama_seeds::materialise::provider_of_name;
use indexmap::{IndexMap, IndexSet};

use super::places::{Collection, ParentKey, Part, Places, find_shown, form, keys, list, noun_said};
use super::resources::{KEPT, UPDATED};
use crate::document::Operation;
use crate::operations::argument;
use crate::phrases;
use crate::shape::Shape;
use crate::{Remark, Severity};

/// A command on a record, in words.
struct CommandWords {
    /// The verb, where it differs from the method's.
    verb: Option<String>,
    /// The noun of the object.
    noun: String,
    /// The resulting state, as ` as done`.
    end: String,
}

/// An imported API.
pub(super) struct ApiDraft {
    pub(super) api: ApiDoc,
    /// The parameter that takes the whole body, where there is one.
    pub(super) whole: Option<String>,
    /// The nested members of the body, outermost first, that hold the members of the record.
    pub(super) inside: Vec<String>,
    pub(super) notes: Vec<Remark>,
}

/// Builds the API of one operation.
pub(super) struct Act<'a> {
    places: &'a Places,
    resources: &'a mut IndexMap<String, ResourceDoc>,
    operation: &'a Operation,
    parts: Vec<Part>,
    api: ApiDoc,
    used: IndexSet<String>,
    /// The parameter that takes the whole body, where there is one.
    whole: Option<String>,
    notes: Vec<Remark>,
}

impl<'a> Act<'a> {
    /// Starts an API with the name, path, parameters and description of its operation.
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

    /// Finishes the API.
    pub(super) fn make(mut self) -> ApiDraft {
        self.whole = self.body();
        self.behave();
        self.require_given();
        self.require_permission();
        self.relate();
        self.require_related();
        self.agree();
        self.refer();
        self.take_over();
        let status = self.operation.status;
        if status != 200 || self.api.behaviour.create.is_some() {
            self.api.reply.status = Some(status);
        }
        for (name, doc) in &mut self.api.parameters {
            let in_body = doc.place == Some(Place::Body);
            doc.ignored = !self.used.contains(name) && !in_body;
            if in_body && self.api.behaviour.keep.is_none() {
                doc.ignored = true;
            }
        }
        phrases::name_records(&mut self.api);
        if self.has_no_words() {
            self.api.phrases.imperative.clear();
        }
        if self.operation.deprecated {
            self.api.phrases = PhrasesDoc { unasked: true, ..PhrasesDoc::default() };
        }
        let refers = |one: &str, other: &str| {
            let fields = self.resources.get(one).into_iter().flat_map(|known| known.fields.values());
            fields.into_iter().any(|field| field.reference.as_deref() == Some(other))
        };
        let is_given = |name: &str| self.places.is_constant(name);
        phrases::complete(&mut self.api, &refers, &is_given);
        let inside = self.envelope();
        ApiDraft { api: self.api, whole: self.whole, inside, notes: self.notes }
    }

    fn behave(&mut self) {
        let method = self.operation.method.as_str();
        let last = self.parts.last().cloned();
        if self.join_list() || self.several() || (method == "GET" && self.list_mixed()) {
            return;
        }
        match (method, last) {
            ("GET", _) if self.places.is_list(&self.parts) => self.place(method),
            ("DELETE", _) if self.clears() => self.clear(),
            (_, Some(Part::Key(_))) if self.places.all.contains_key(&form(&self.parts)) => self.view(method),
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

    /// Reads, changes or deletes one record by its key.
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
        // The collection also holds records of other paths, so the parents that this path names must exist.
        let before = self.parts.get(..self.parts.len().saturating_sub(1)).unwrap_or_default();
        let exact = form(before) == form(&found.parts);
        if !exact {
            let above = self.places.above(before, index);
            self.require(&above);
        }
        let known = ParentKey { at, of: Some(index), exact, ..ParentKey::default() };
        let key = self.locate(index, &known);
        self.api.behaviour.key = Some(key);
        let name = Some(found.name.clone());
        let parameter = keys(&self.parts).last().map(|name| (*name).to_owned());
        let requires =
            self.api.parameters.values().any(|doc| doc.place == Some(Place::Body) && !doc.optional);
        let behaviour = &mut self.api.behaviour;
        match method {
            "GET" => behaviour.get = name,
            // A removal that is rewritten from a verb, and declares no reply to a missing record, deletes the
            // record if it exists.
            "DELETE" if self.operation.written.is_some() && !self.operation.misses => {
                behaviour.key = None;
                behaviour.action = Some("none".to_owned());
                let given = argument(parameter.as_deref().unwrap_or_default());
                behaviour.also.push(EffectDoc {
                    delete: name,
                    condition: Some(format!("item.{} == {given}", found.key)),
                    ..EffectDoc::default()
                });
            }
            "DELETE" => behaviour.delete = name,
            // A list of steps, or a body without required members, leaves the other fields unchanged.
            "PUT" if self.operation.octets || (self.whole.is_none() && requires) => behaviour.replace = name,
            _ => behaviour.patch = name,
        }
        if method != "GET" && method != "DELETE" {
            behaviour.keep = Some(KEPT.to_owned());
            self.touch(&found.name, &UPDATED);
            self.rename(&found.name);
            self.require_free_name(found);
        }
        if method == "PUT" && found.uses.is_some() {
            self.upsert(found, at);
        } else if (self.operation.makes || (self.operation.puts && !found.made && method == "PUT"))
            && exact
            && !found.single
        {
            self.make_missing(found, at);
        }
        // A reply that shows a status implies that the record still exists, so no phrase says "delete".
        let shown = self.operation.reply.as_ref().map(Shape::first_object);
        let is_state = |shape: &Shape| ["status", "state"].iter().any(|name| shape.member(name).is_some());
        if method == "DELETE" && shown.is_some_and(is_state) {
            return;
        }
        let Some(CommandWords { verb: named, noun, end }) = self.deed(found) else { return };
        let (noun, place) = (noun.as_str(), parameter.as_deref());
        let (required, optional) = self.said(found);
        let said = (&required[..], &optional[..]);
        let parameters = &self.api.parameters;
        self.api.phrases = match (method, named.as_deref()) {
            ("GET", _) => phrases::change("show", noun, place, parameters, (&[], &[])),
            // A record that is removed from somewhere still exists.
            ("DELETE", None) if self.api.name.starts_with("Remove") || found.uses.is_some() => {
                phrases::change("remove", noun, place, parameters, (&[], &[]))
            }
            ("DELETE", verb) => {
                phrases::change(verb.unwrap_or("delete"), noun, place, parameters, (&[], &[]))
            }
            (_, Some(verb)) => phrases::change(verb, noun, place, parameters, (&required, &[])),
            // PUT adds the record that the path names to a collection.
            ("PUT", None) if found.uses.is_some() => {
                let all = required
                    .iter()
                    .map(|name| format!(" with {}", phrases::part(name, parameters.get(name))));
                let it = place.map(|place| format!("add the {noun} {{{place}}}{}", all.collect::<String>()));
                PhrasesDoc { imperative: it.into_iter().collect(), ..PhrasesDoc::default() }
            }
            // Beside PUT or PATCH of the same path, POST does something that only prose describes.
            ("POST", None) if self.places.changed.contains(&form(&self.parts)) => PhrasesDoc::default(),
            _ => phrases::change("change", noun, place, parameters, said),
        };
        if let Some(place) = place.filter(|_| !end.is_empty()) {
            let slot = format!("{{{place}}}");
            for phrase in &mut self.api.phrases.imperative {
                *phrase = phrase.replacen(&slot, &format!("{slot}{end}"), 1);
            }
        }
    }

    /// Returns the command that the operation's name gives, where it says more than the method.
    fn command(&self) -> Option<phrases::Command> {
        let command = phrases::command(&self.api.name, &self.operation.summary);
        command.filter(|command| command.is_own() && self.operation.method != "GET")
    }

    /// Returns the command of the operation's name, unless it paraphrases the method.
    /// Unassigning a task deletes a task assignment, and `RemoveProjectGroup` revokes a group's access.
    fn command_on(&self, found: &Collection) -> Option<phrases::Command> {
        let label = &found.label;
        let plainly = phrases::names(&self.api.name, label) == Some(true);
        self.command().filter(|command| command.is_about(label) || !(plainly || command.is_within(label)))
    }

    /// Returns the command on the record that the path's last key names; none where its object is not in the
    /// path.
    fn deed(&self, found: &Collection) -> Option<CommandWords> {
        // A ban keyed by its user is the ban of the user; a member keyed by its user is the person.
        let last = |label: &str| label.rsplit(' ').next().map(str::to_owned);
        let whose = found.uses.map(|uses| self.collection(uses));
        let whose = whose.filter(|whose| last(&whose.label) != last(&found.label));
        let is_person = || provider_of_name(&found.noun_words()) == "person_name";
        let noun = match whose.filter(|_| !is_person()) {
            Some(whose) => format!("{} of the {}", found.label, whose.label),
            None => found.label.clone(),
        };
        if let Some(command) = self.command_on(found) {
            let named = keys(&self.parts).last().and_then(|name| key_name(name)).map(|(stem, _)| stem);
            let labels = [Some(&found.label), whose.map(|whose| &whose.label), named.as_ref()];
            let about = labels.into_iter().flatten().find(|label| command.is_about(label))?;
            return Some(CommandWords { verb: Some(command.verb), noun: about.clone(), end: command.end });
        }
        let verb = phrases::verb_of(&self.api.name, &found.label).map(str::to_owned);
        // A collection that is named by a verb is an action on the records that its keys name.
        let called = found.label.rsplit(' ').next().unwrap_or_default();
        let done = whose.filter(|_| phrases::is_verb(called)).and_then(|whose| {
            let undone = format!("un{called}");
            let own = match self.operation.method.as_str() {
                "PUT" => Some(called.to_owned()),
                "DELETE" => verb.clone().or_else(|| Some(undone).filter(|undone| phrases::is_verb(undone))),
                _ => None,
            };
            Some(CommandWords { verb: Some(own?), noun: whose.label.clone(), end: String::new() })
        });
        Some(done.unwrap_or(CommandWords { verb, noun, end: String::new() }))
    }

    /// Sets the timestamps that say when a record changed.
    fn touch(&mut self, resource: &str, names: &[&str]) {
        let fields = self.resources.get(resource).into_iter().flat_map(|known| &known.fields);
        let moments = fields.filter(|(name, doc)| {
            doc.kind == Some(TypeName::DateTime) && names.contains(&plain(name).as_str())
        });
        self.api.behaviour.set.extend(moments.map(|(name, _)| (name.clone(), "now".to_owned())));
    }

    /// Handles the record of the caller.
    fn mine(&mut self) {
        let Some(index) = self.own() else { return };
        let found = self.collection(index);
        self.require(&found.above);
        let (name, behaviour) = (Some(found.name.clone()), &mut self.api.behaviour);
        behaviour.key = Some(found.first("a", "true"));
        if self.operation.method == "GET" {
            behaviour.get = name;
            self.api.phrases.imperative = vec![format!("show me my {}", found.label)];
        } else {
            (behaviour.patch, behaviour.keep) = (name, Some(KEPT.to_owned()));
            let (required, optional) = self.said(found);
            let noun = format!("my {}", found.label);
            let said = (&required[..], &optional[..]);
            self.api.phrases = phrases::change("change", &noun, None, &self.api.parameters, said);
        }
    }

    /// Handles a path that shows part of a record of another collection: only DELETE changes that record.
    fn view(&mut self, method: &str) {
        let above = self.places.all.get(&form(&self.parts)).and_then(|found| found.above.last()).cloned();
        match above.and_then(|above| Some((above.of?, above))) {
            Some((of, above)) if method == "DELETE" && self.is_stored(of) => {
                self.same_record(method, of, &above)
            }
            _ => self.place(method),
        }
    }

    /// Handles a path that ends with a word.
    fn place(&mut self, method: &str) {
        let own = self.places.all.get_index_of(&form(&self.parts)).filter(|own| self.is_stored(*own));
        let made = self.places.made_in(&self.parts).filter(|made| self.is_stored(*made));
        let shows_key = |found: &Collection| {
            let reply = self.operation.reply.as_ref().map(Shape::first_object).and_then(Shape::members);
            reply.is_some_and(|members| members.keys().any(|name| plain(name) == plain(&found.key)))
        };
        let joins = method == "PUT" && own.is_some_and(|own| shows_key(self.collection(own)));
        let listed = list(self.operation, &self.parts);
        let keys = self.places.keys_listed(self.operation, &self.parts);
        let same = listed.as_ref().and_then(|(_, item)| self.places.listed_of(&self.parts, item));
        let same = same.filter(|same| self.is_stored(*same));
        if method == "GET" && own.is_none() && self.one_of_many() {
            return;
        }
        match (method, own.map(|own| (own, self.collection(own)))) {
            ("GET", _) if listed.is_some() && same.is_some() => {
                let name = listed.map(|(name, _)| name).unwrap_or_default();
                self.list(same.unwrap_or_default(), name, true);
            }
            ("GET", Some((own, found))) if !found.single && listed.is_some() => {
                let name = listed.map(|(name, _)| name).unwrap_or_default();
                self.list(own, name, false);
            }
            ("GET", Some((own, _))) if keys.is_some() => self.list(own, keys.unwrap_or_default(), false),
            ("GET", Some((_, found))) if found.item.is_some() && !found.single && self.shows(found) => {
                self.show_first(found);
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

    /// Returns the record above a path that ends with a word and shows that record
    /// (`/templates/{key}/schema`).
    fn above_shown(&self, found: &Collection) -> Option<(usize, ParentKey)> {
        let [known] = found.above.as_slice() else { return None };
        let of = known.of.filter(|of| known.exact && self.is_stored(*of))?;
        let title = |found: &Collection| found.record.as_ref().and_then(|record| record.title.clone());
        // A reply that calls itself a file is the file: `/files/{id}/trash`.
        let said = |found: &Collection| found.record.as_ref().and_then(noun_said);
        let above = self.collection(of);
        let same = (title(found).is_some() && title(found) == title(above))
            || (said(found).is_some() && said(found) == said(above))
            || shows_key_of(found, above);
        same.then(|| (of, known.clone()))
    }

    fn same_record(&mut self, method: &str, of: usize, known: &ParentKey) {
        let name = Some(self.collection(of).name.clone());
        let key = self.locate(of, known);
        self.require_one(of, &key);
        let behaviour = &mut self.api.behaviour;
        behaviour.key = Some(key);
        match method {
            "GET" => behaviour.get = name,
            "DELETE" => behaviour.delete = name,
            _ => (behaviour.patch, behaviour.keep) = (name, Some(KEPT.to_owned())),
        }
        // Users ask for the record by its own path.
        self.api.phrases.unasked = method == "GET";
    }

    /// Handles the only record of a collection.
    fn single(&mut self, method: &str, found: &Collection) {
        let name = Some(found.name.clone());
        if !found.above.is_empty() {
            self.api.behaviour.key = Some(self.locate_first(found));
        }
        match method {
            "GET" => self.api.behaviour.get = name,
            "PUT" => self.api.behaviour.replace = name,
            _ => self.api.behaviour.patch = name,
        }
        if method != "GET" {
            self.api.behaviour.keep = Some(KEPT.to_owned());
        }
        let (required, optional) = self.said(found);
        let (noun, parameters) = (found.label.as_str(), &self.api.parameters);
        self.api.phrases = match method {
            _ if self.command().is_some_and(|command| !command.is_about(noun)) => PhrasesDoc::default(),
            "GET" => phrases::change("show", noun, None, parameters, (&[], &[])),
            "POST" if self.places.changed.contains(&form(&self.parts)) => {
                phrases::change("add", noun, None, parameters, (&required, &[]))
            }
            _ => phrases::change("change", noun, None, parameters, (&required, &optional)),
        };
    }

    /// Returns true if an operation answers with a record of a collection.
    pub(super) fn shows(&self, found: &Collection) -> bool {
        let names = |shape: &Shape| -> IndexSet<String> {
            shape.first_object().members().into_iter().flatten().map(|(name, _)| plain(name)).collect()
        };
        let own = found.record.as_ref().map(names).unwrap_or_default();
        let shown = find_shown(self.operation).or(self.operation.reply.as_ref());
        let shown = shown.map(names).unwrap_or_default();
        (found.single || shown.contains(&plain(&found.key)))
            && shown.intersection(&own).count() * 2 > own.len()
    }

    /// Handles an operation without a known effect: the records in its path must exist, and it answers.
    fn only_answer(&mut self) {
        if self.act() {
            return;
        }
        let above = self.places.above(&self.parts, usize::MAX);
        self.require(&above);
        self.api.behaviour.action = Some("none".to_owned());
        let nearest =
            above.iter().rev().find_map(|known| Some((known, known.of.filter(|of| self.is_stored(*of))?)));
        // A verb of a record answers with the record.
        if let Some((known, of)) = nearest {
            let found = self.collection(of);
            let shows = found.uses.is_none() && self.shows(found);
            if shows && self.operation.method != "GET" {
                let key = self.locate(of, known);
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
}

/// Returns true if a behaviour stores its request or shows stored records.
pub(super) fn is_kept(behaviour: &BehaviourDoc) -> bool {
    behaviour.action.as_deref() != Some("none")
}

/// Returns true if a singleton below a record shows that record's key, and so is the record itself in full.
fn shows_key_of(found: &Collection, above: &Collection) -> bool {
    let members = |found: &Collection| -> IndexSet<String> {
        let record = found.record.as_ref().and_then(Shape::members);
        record.into_iter().flatten().map(|(name, _)| plain(name)).collect()
    };
    let (shown, own) = (members(found), members(above));
    let shared = shown.intersection(&own).count();
    shown.contains(&plain(&above.key))
        && own.contains(&plain(&above.key))
        && shared * 2 > own.len()
        && shared > 2
}
