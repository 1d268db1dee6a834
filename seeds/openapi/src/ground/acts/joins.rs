//! Handles lists into which callers put records of another collection: the tracks of a playlist.

use diorama_seeds::contract::{noun, plain};
use diorama_seeds::doc::{FieldDoc, OnDelete, PhrasesDoc, ReplyDoc, TypeName};
use serde_json::json;

use super::Act;
use crate::ground::places::{Join, Part, keys};
use crate::ground::refers::some_of;
use crate::phrases;
use crate::words::{identifier, label, plural, words};

impl Act<'_> {
    /// Shows or changes a list of members. Returns true if the path is one.
    pub(super) fn join_list(&mut self) -> bool {
        let Some(Join { member, .. }) = self.places.join(&self.parts) else { return false };
        let named = self.places.joined_by(self.operation);
        if !self.is_stored(member) || (self.operation.method != "GET" && named.is_none()) {
            return false;
        }
        let Some((owner, key)) = self.subject().filter(|(owner, _)| self.collection(*owner).uses.is_none())
        else {
            return false;
        };
        let (owner, members) = (self.collection(owner), self.collection(member));
        let Some(Part::Text(word)) = self.parts.last() else { return false };
        let field = identifier(&format!("{}_ids", noun(word)));
        let Some(resource) = self.resources.get_mut(&owner.name) else { return false };
        resource.fields.entry(field.clone()).or_insert_with(|| members_field(&members.name));
        self.require(&owner.above);
        let list = Some(format!("{}.{field}", owner.name));
        let behaviour = &mut self.api.behaviour;
        behaviour.key = (!owner.single).then_some(key);
        match self.operation.method.as_str() {
            "GET" => behaviour.members = list,
            "DELETE" => behaviour.remove_members = list,
            _ => behaviour.add_members = list,
        }
        match named {
            Some(name) => self.change_members(&name, member),
            None => self.show_members(member),
        }
        true
    }

    fn show_members(&mut self, member: usize) {
        let found = self.collection(member);
        let items = crate::ground::places::list(self.operation, &self.parts).map(|(name, _)| name);
        self.api.reply = ReplyDoc { items, total: Some(String::new()), ..ReplyDoc::default() };
        self.page();
        let whose = Vec::from_iter(self.say_whose());
        let (adjective, nouns) = match self.parts.last() {
            Some(Part::Text(word)) if noun(word) != found.noun => {
                ("", format!("{} in my {}", plural(&found.label), label(word)))
            }
            _ if whose.is_empty() => ("my", plural(&found.label)),
            _ => ("", plural(&found.label)),
        };
        self.api.phrases = phrases::list(adjective, &nouns, &whose);
    }

    /// Makes the parameter of the members take keys, and that of the position count from 0.
    fn change_members(&mut self, name: &str, member: usize) {
        let found = self.collection(member);
        let key = FieldDoc { reference: Some(found.name.clone()), ..FieldDoc::default() };
        self.api.behaviour.member = Some(name.to_owned());
        self.used.insert(name.to_owned());
        let position = self.api.parameters.iter().find(|(name, doc)| {
            ["position", "index", "insertbefore"].contains(&plain(name).as_str())
                && doc.kind == Some(TypeName::Integer)
        });
        let position = position.map(|(name, _)| name.clone()).filter(|_| self.operation.method != "DELETE");
        if let Some(position) = &position
            && let Some(doc) = self.api.parameters.get_mut(position)
        {
            doc.min = Some(json!(0));
            self.used.insert(position.clone());
        }
        let Some(known) = self.api.parameters.get_mut(name) else { return };
        let in_query = self.operation.parameters.iter().find(|known| known.name == name);
        let in_body = || self.operation.body.as_ref()?.first_object().member(name);
        let shape = in_query.map(|known| &known.shape).or_else(in_body);
        let many = shape.is_some_and(|shape| shape.items().is_some());
        let doc = FieldDoc {
            place: known.place.take(),
            optional: known.optional,
            description: known.description.take(),
            label: Some(found.label.clone()),
            ..FieldDoc::default()
        };
        *known = if many {
            FieldDoc { kind: Some(TypeName::List), items: Some(Box::new(key)), ..doc }
        } else {
            FieldDoc { reference: key.reference, ..doc }
        };
        let adds = self.operation.method != "DELETE";
        let list = match self.parts.last() {
            Some(Part::Text(word)) if noun(word) != found.noun => label(word),
            _ => plural(&found.label),
        };
        let whose = match keys(&self.parts).last() {
            Some(key) => format!("the {} {{{key}}}", self.key_label(key)),
            None => format!("my {list}"),
        };
        let thing = if many { plural(&found.label) } else { found.label.clone() };
        let (verb, link) = if adds { ("add", "to") } else { ("remove", "from") };
        let mut phrase = format!("{verb} the {thing} {{{name}}} {link} {whose}");
        if let Some(position) = &position {
            phrase.push_str(&format!("[ at position {{{position}}}]"));
        }
        self.api.behaviour.position = position;
        self.api.phrases = PhrasesDoc { imperative: vec![phrase], ..PhrasesDoc::default() };
        let said = words(&self.api.name);
        if let Some(verb) =
            said.first().filter(|verb| !["add", "remove"].contains(&verb.as_str()) && phrases::is_verb(verb))
        {
            self.api.phrases.imperative.push(format!("{verb} the {thing} {{{name}}}"));
        }
    }
}

fn members_field(member: &str) -> FieldDoc {
    FieldDoc {
        kind: Some(TypeName::List),
        items: Some(Box::new(FieldDoc { reference: Some(member.to_owned()), ..FieldDoc::default() })),
        fake: Some(some_of(2, 4)),
        on_delete: Some(OnDelete::Clear),
        optional: true,
        ..FieldDoc::default()
    }
}
