//! Handles verbs at the end of paths. `POST /orders/{id}/cancel` sets a state, and `PUT /me/player/pause`
//! turns a flag off.
//!
//! Arguments go to the fields of their names.

use diorama_seeds::contract::{is_passing, plain};
use diorama_seeds::doc::{FieldDoc, Place, RefusalDoc, RequireDoc, TypeName};
use diorama_seeds::english::stem;
use indexmap::IndexMap;

use super::Act;
use super::located::all_hold;
use crate::constants::quote;
use crate::fakes;
use crate::ground::places::{Collection, ParentKey, Part, form, keys};
use crate::ground::resources::KEPT;
use crate::operations::argument;
use crate::phrases;
use crate::shape::Shape;
use crate::views::is_outcome;
use crate::words::{is_id, is_identifier, words};

/// The status of a call that conflicts with what is stored.
pub(super) const CONFLICT: u16 = 409;

/// Returns the value of a changed field: the argument if it is given, otherwise the stored one.
fn given_or_kept(given: &str, field: &str) -> String {
    format!("given({given}) ? {given} : record.{field}")
}

impl Act<'_> {
    /// Returns the record that a path ending with a word acts on.
    /// It is the record of the key before the word, the only one there, or the caller's.
    pub(super) fn subject(&mut self) -> Option<(usize, String)> {
        let before = self.parts.get(..self.parts.len().checked_sub(1)?)?.to_vec();
        if let Some(Part::Key(_)) = before.last() {
            let above = self.places.above(&self.parts, usize::MAX);
            let known = above.last().filter(|known| known.at + 1 == keys(&before).len())?.clone();
            let of = known.of.filter(|of| self.is_stored(*of))?;
            let key = self.locate(of, &known);
            return Some((of, key));
        }
        let own = self.places.all.get_index_of(&form(&before));
        if let Some(own) = own.filter(|own| self.is_stored(*own) && self.collection(*own).single) {
            let found = self.collection(own);
            let conditions = self.conditions("a", &found.above, 1);
            let condition = all_hold(&conditions);
            return Some((own, found.first("a", &condition)));
        }
        let of = self.places.mine(&before).filter(|of| before.len() == 1 && self.is_stored(*of))?;
        let known = ParentKey { of: Some(of), mine: true, ..ParentKey::default() };
        Some((of, self.key_above(&known)))
    }

    /// Applies the path's last word to the record before it. Returns true if the word has a known effect.
    pub(super) fn act(&mut self) -> bool {
        let Some(Part::Text(verb)) = self.parts.last().cloned() else { return false };
        if self.operation.method == "DELETE" || self.operation.method == "GET" {
            return false;
        }
        let Some((of, key)) = self.subject() else { return false };
        let found = self.collection(of);
        // A reply that only reports success shows no record.
        let reply = self.operation.reply.as_ref().filter(|reply| {
            let members = reply.members().filter(|members| !members.is_empty());
            !members.is_some_and(|members| members.keys().all(|name| is_outcome(name)))
        });
        let shown = reply.is_some();
        if found.uses.is_some() || (shown && !self.shows(found)) {
            return false;
        }
        // A call that shows no record takes its effect from the verb alone.
        let in_path = |doc: &FieldDoc| doc.place == Some(Place::Path);
        let mut set = if shown { self.given_to(&found.name, |doc| !in_path(doc)) } else { IndexMap::new() };
        let said: Vec<String> = set.keys().cloned().collect();
        let named = self.set_by_name(&found.name, &verb);
        let is_named = named.is_some();
        match named {
            Some(named) => set.extend([named]),
            None => set.extend(self.changed_by(&found.name, &words(&verb))),
        }
        let keeps = set.is_empty() && shown && self.sets_member(found, &words(&verb));
        if set.is_empty() && !keeps {
            return false;
        }
        self.require(&found.above);
        self.require_undone(&found.label, &set);
        let behaviour = &mut self.api.behaviour;
        (behaviour.patch, behaviour.key) = (Some(found.name.clone()), (!found.single).then_some(key));
        behaviour.set = set;
        behaviour.keep = keeps.then(|| KEPT.to_owned());
        self.touch(&found.name, &crate::ground::resources::UPDATED);
        if !is_named && !keeps {
            self.phrase_act(of, &verb, &said);
        }
        true
    }

    /// Refuses an action that would change no state, where the document declares 409. Timestamps count where the
    /// action sets no state.
    fn require_undone(&mut self, label: &str, set: &IndexMap<String, String>) {
        if !self.operation.conflicts {
            return;
        }
        let fixed = || set.iter().filter(|(_, value)| !value.contains("args."));
        let states = fixed().filter(|(_, value)| *value != "now");
        let mut open: Vec<String> =
            states.map(|(field, value)| format!("record.{field} != {value}")).collect();
        if open.is_empty() {
            open = fixed().map(|(field, _)| format!("record.{field} == null")).collect();
        }
        if open.is_empty() {
            return;
        }
        let done: Vec<&str> = fixed().map(|(field, _)| field.as_str()).collect();
        self.api.behaviour.require.push(RequireDoc {
            that: open.join(" || "),
            otherwise: RefusalDoc {
                status: CONFLICT,
                reason: Vec::new(),
                message: format!("the {} of this {label} would not change", done.join(" and the ")),
            },
        });
    }

    /// Returns the field that the path's last word names, and the argument that it takes: `PUT
    /// /cards/{id}/name` with a `value`.
    fn set_by_name(&mut self, resource: &str, word: &str) -> Option<(String, String)> {
        let known = self.resources.get(resource)?;
        let (field, own) =
            known.fields.iter().find(|(field, _)| plain(field) == plain(word) && **field != known.key)?;
        let body = self.api.parameters.iter_mut().filter(|(_, doc)| doc.place == Some(Place::Body));
        let body: Vec<(&String, &mut FieldDoc)> = body.collect();
        let [(name, doc)] = <[_; 1]>::try_from(body).ok()?;
        let is_value = plain(name) == "value" || plain(name) == plain(field);
        if !is_value || !is_identifier(name) || (own.kind != doc.kind && own.reference.is_none()) {
            return None;
        }
        if own.reference.is_some() {
            refer(doc, own.reference.clone());
        }
        let given = argument(name);
        Some((field.clone(), given_or_kept(&given, field)))
    }

    /// Stores the new values that a change names so: `new_name` replaces `name`.
    pub(super) fn rename(&mut self, resource: &str) {
        let Some(known) = self.resources.get(resource) else { return };
        let field = |name: &str| known.fields.iter().find(|(field, _)| plain(field) == *name);
        for (name, doc) in self.api.parameters.iter().filter(|(_, doc)| doc.place == Some(Place::Body)) {
            let member = plain(name);
            let old = member.strip_prefix("new").and_then(field).filter(|_| field(&member).is_none());
            let Some((old, own)) = old.filter(|(old, _)| **old != known.key && is_identifier(name)) else {
                continue;
            };
            if own.kind == doc.kind {
                let given = argument(name);
                self.api.behaviour.set.insert(old.clone(), given_or_kept(&given, old));
            }
        }
    }

    /// Returns true if a verb sets a member of the shown record that the body sends: `set_topic` with a
    /// `topic`.
    fn sets_member(&self, found: &Collection, verb: &[String]) -> bool {
        let Some(member) = verb.strip_prefix(&["set".to_owned()]).map(|rest| plain(&rest.concat())) else {
            return false;
        };
        let is_shown = found.record.as_ref().and_then(Shape::members).into_iter().flatten();
        let is_sent = self.api.parameters.iter().filter(|(_, doc)| doc.place == Some(Place::Body));
        is_shown.into_iter().any(|(name, _)| plain(name) == member)
            && is_sent.into_iter().any(|(name, _)| plain(name) == member)
    }

    /// Stores the query parameters of a write in the fields of their names.
    pub(super) fn take_over(&mut self) {
        let behaviour = &self.api.behaviour;
        let is_new = behaviour.create.is_some();
        let changed = [&behaviour.create, &behaviour.replace, &behaviour.patch].into_iter().flatten().next();
        let Some(changed) = changed.cloned() else { return };
        let told = |doc: &FieldDoc| doc.place == Some(Place::Query) && !(is_new && doc.optional);
        for (field, value) in self.given_to(&changed, told) {
            self.api.behaviour.set.entry(field).or_insert(value);
        }
    }

    /// Returns the fields of a resource that parameters of the same name set, as expressions.
    fn given_to(&mut self, resource: &str, which: impl Fn(&FieldDoc) -> bool) -> IndexMap<String, String> {
        let Some(known) = self.resources.get(resource) else { return IndexMap::new() };
        let mut set = IndexMap::new();
        for (name, doc) in self.api.parameters.iter_mut().filter(|(_, doc)| which(doc)) {
            let field = known.fields.iter().find(|(field, _)| plain(field) == plain(name));
            let Some((field, own)) = field.filter(|(field, _)| **field != known.key && is_identifier(name))
            else {
                continue;
            };
            if own.kind != doc.kind && own.reference.is_none() {
                continue;
            }
            if own.reference.is_some() {
                refer(doc, own.reference.clone());
            }
            let given = argument(name);
            let value = match doc.optional || doc.default.is_some() {
                true => given_or_kept(&given, field),
                false => given,
            };
            set.insert(field.clone(), value);
            self.used.insert(name.clone());
        }
        set
    }

    /// Returns the flag, timestamp or state of a resource that a verb sets.
    fn changed_by(&self, resource: &str, verb: &[String]) -> IndexMap<String, String> {
        let fields = self.resources.get(resource).into_iter().flat_map(|known| &known.fields);
        let done = |word: &str| verb.iter().any(|spoken| stem(spoken) == stem(word));
        let value = |(name, doc): (&String, &FieldDoc)| -> Option<String> {
            if !doc.values.is_empty() {
                let fits = |value: &&String| words(value).first().is_some_and(|first| done(first));
                let state = doc.values.iter().filter(|value| !is_passing(value)).find(fits)?;
                return Some(quote(state));
            }
            match doc.kind.as_deref()? {
                "boolean" => Some(switched(verb, name)?.to_string()),
                "date-time" if words(name).first().is_some_and(|first| done(first)) => Some("now".to_owned()),
                _ => None,
            }
        };
        fields.into_iter().filter_map(|field| Some((field.0.clone(), value(field)?))).collect()
    }

    fn phrase_act(&mut self, of: usize, verb: &str, said: &[String]) {
        let found = self.collection(of);
        let parameters = &self.api.parameters;
        let tells =
            |name: &str, own: &FieldDoc| !fakes::is_anything(own) && !phrases::says_nothing(name, own);
        let named = |optional: bool| -> Vec<String> {
            let sent = parameters.iter().filter(|(name, doc)| {
                doc.place != Some(Place::Path)
                    && doc.optional == optional
                    && (!optional || self.field(&found.name, name).is_none_or(|own| tells(name, own)))
                    && said.iter().any(|field| plain(field) == plain(name))
            });
            sent.map(|(name, _)| name.clone()).collect()
        };
        let (required, optional) = (named(false), named(true));
        let place = keys(&self.parts).last().map(|name| (*name).to_owned());
        let summary = &self.operation.summary;
        self.api.phrases = match place {
            None if found.single => phrases::act(&self.api.name, summary, parameters, &required, &optional),
            place => phrases::action(
                &words(verb),
                summary,
                &found.label,
                place.as_deref(),
                parameters,
                (&required, &optional),
            ),
        };
    }

    /// Sets the references that a body gives to a record.
    pub(super) fn relate(&mut self) {
        let behaviour = &self.api.behaviour;
        let changed = [&behaviour.create, &behaviour.replace, &behaviour.patch].into_iter().flatten().next();
        let resource = changed.and_then(|name| self.resources.get(name)).filter(|_| behaviour.each.is_none());
        let new = behaviour.create.is_some();
        let mut set = IndexMap::new();
        for (name, field) in resource.into_iter().flat_map(|known| &known.fields) {
            let many = field.items.as_ref().and_then(|item| item.reference.clone());
            let known = behaviour.set.get(name);
            if (field.reference.is_none() && many.is_none()) || known.is_some_and(|set| set.contains("args."))
            {
                continue;
            }
            let same = |(given, doc): &(&String, &mut FieldDoc)| {
                plain(given) == plain(name)
                    && doc.place == Some(Place::Body)
                    && is_identifier(given)
                    && (doc.kind == Some(TypeName::List)) == many.is_some()
            };
            let Some((given, doc)) = self.api.parameters.iter_mut().find(same) else { continue };
            let own = argument(given);
            let otherwise = known.cloned().or_else(|| (!new).then(|| format!("record.{name}")));
            let value = match (many, &field.reference) {
                // An optional list of references may name any record.
                (Some(_), _) if doc.optional => continue,
                (Some(many), _) => {
                    let item = FieldDoc { reference: Some(many), ..FieldDoc::default() };
                    doc.items = Some(Box::new(item));
                    own
                }
                (None, Some(target)) if doc.optional => {
                    let Some(key) = self.resources.get(target).map(|target| &target.key) else { continue };
                    let named = format!("{target}.get({own}).{key}");
                    match otherwise {
                        Some(otherwise) => format!("coalesce({named}, {otherwise})"),
                        None => named,
                    }
                }
                (None, _) => {
                    refer(doc, field.reference.clone());
                    own
                }
            };
            set.insert(name.clone(), value);
        }
        self.api.behaviour.set.extend(set);
    }

    /// Requires that records exist which a body names by a key parameter's own name.
    pub(super) fn require_related(&mut self) {
        let behaviour = &self.api.behaviour;
        let changed = [&behaviour.create, &behaviour.replace, &behaviour.patch].into_iter().flatten().next();
        let resource = changed.and_then(|name| self.resources.get(name)).filter(|_| behaviour.each.is_none());
        let mut required = Vec::new();
        for field in resource.into_iter().flat_map(|known| known.fields.values()) {
            let Some(target) = &field.reference else { continue };
            let Some(other) = self.places.all.values().find(|found| found.name == *target) else { continue };
            let Some(item) = other.item.as_deref().filter(|item| is_id(item) && plain(item) != plain("id"))
            else {
                continue;
            };
            let given = self.api.parameters.iter().find(|(name, doc)| {
                plain(name) == plain(item)
                    && doc.place == Some(Place::Body)
                    && doc.optional
                    && is_identifier(name)
            });
            let Some((name, _)) = given else { continue };
            let given = argument(name);
            required.push(RequireDoc {
                that: format!("!given({given}) || {target}.exists({given})"),
                otherwise: RefusalDoc {
                    status: self.operation.refusal,
                    reason: Vec::new(),
                    message: format!("there is no such {}", other.label),
                },
            });
        }
        self.api.behaviour.require.extend(required);
    }
}

/// Makes a parameter the key of a record.
fn refer(doc: &mut FieldDoc, target: Option<String>) {
    *doc = FieldDoc {
        reference: target,
        place: doc.place.take(),
        description: doc.description.take(),
        optional: doc.optional,
        label: doc.label.take().map(|label| phrases::without_id(&label).to_owned()),
        ..FieldDoc::default()
    };
}

/// Returns true or false if a verb turns a flag on or off: `pause` clears `is_playing`, `archive` sets
/// `archived`.
fn switched(verb: &[String], flag: &str) -> Option<bool> {
    const OFF: [(&str, &str); 12] = [
        ("pause", "play"),
        ("stop", "play"),
        ("stop", "run"),
        ("pause", "run"),
        ("disable", "enable"),
        ("deactivate", "active"),
        ("disable", "active"),
        ("close", "open"),
        ("hide", "visible"),
        ("disconnect", "connect"),
        ("reopen", "close"),
        ("restore", "delete"),
    ];
    const ON: [(&str, &str); 4] =
        [("resume", "play"), ("start", "play"), ("start", "run"), ("activate", "active")];
    let parts = words(flag);
    let has = |state: &str| parts.iter().any(|part| part.starts_with(state));
    let said = |word: &str| verb.iter().any(|spoken| spoken == word);
    if OFF.iter().any(|(word, state)| said(word) && has(state)) {
        return Some(false);
    }
    if ON.iter().any(|(word, state)| said(word) && has(state)) {
        return Some(true);
    }
    verb.iter().find_map(|word| {
        let of = |word: &str| parts.iter().any(|part| stem(part) == stem(word));
        match word.strip_prefix("un").filter(|rest| rest.len() > 2 && of(rest)) {
            Some(_) => Some(false),
            None => (word.len() > 2 && of(word)).then_some(true),
        }
    })
}
