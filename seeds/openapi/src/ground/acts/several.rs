//! Handles operations on several records by a list of keys: `GET /books/{ids}`, `DELETE /photos?ids=`.

use diorama_seeds::contract::{key_name, noun, plain};
use diorama_seeds::doc::{EffectDoc, FieldDoc, Place, TypeName};

use super::Act;
use super::located::all_hold;
use crate::ground::places::{Collection, Part, form, list};
use crate::operations::argument;
use crate::shape::{Kind, Member};
use crate::words::{singular, words};

/// Verbs at the end of a path that delete the records in the body.
const REMOVALS: [&str; 4] = ["delete", "remove", "destroy", "purge"];

impl Act<'_> {
    /// Shows or deletes the records of a list of keys. Returns true if the operation takes such a list.
    pub(super) fn several(&mut self) -> bool {
        let removes = self.operation.method == "DELETE" || self.is_removal();
        let place = if self.is_removal() { self.parts.len() - 1 } else { self.parts.len() };
        let before = self.parts.get(..place).unwrap_or_default();
        let Some(index) = self.places.all.get_index_of(&form(before)).filter(|own| self.is_stored(*own))
        else {
            return false;
        };
        let found = self.collection(index);
        let Some(name) = self.key_list(found).filter(|_| found.listed && !found.single) else { return false };
        if !removes && (self.operation.method != "GET" || !self.operation.path.ends_with('}')) {
            return false;
        }
        let given = argument(&name);
        self.used.insert(name);
        self.require(&found.above);
        let mut conditions = vec![format!("item.{} in {given}", found.key)];
        conditions.extend(self.conditions("item", &found.above, 0));
        if removes {
            self.api.behaviour.action = Some("none".to_owned());
            self.api.behaviour.also.push(EffectDoc {
                delete: Some(found.name.clone()),
                condition: Some(all_hold(&conditions)),
                ..EffectDoc::default()
            });
            return true;
        }
        let items = list(self.operation, &self.parts).map(|(name, _)| name).unwrap_or_default();
        self.list(index, items, false);
        self.api.behaviour.condition = Some(all_hold(&conditions));
        self.api.phrases = Default::default();
        true
    }

    /// Returns true if the path ends with a verb that deletes the records in the body.
    fn is_removal(&self) -> bool {
        let Some(Part::Text(last)) = self.parts.last() else { return false };
        let said = words(last);
        self.operation.method == "POST"
            && self.parts.len() > 1
            && said.iter().any(|word| REMOVALS.contains(&word.as_str()))
    }

    /// Returns the parameter for a list of a collection's keys: that of the path, or one named after the
    /// collection.
    fn key_list(&self, found: &Collection) -> Option<String> {
        let text = |kind: Option<TypeName>| kind != Some(TypeName::Integer);
        let key = self.resources.get(&found.name).and_then(|known| known.fields.get(&found.key));
        let is_text = key.is_none_or(|key| text(key.kind));
        let named = |name: &str| {
            let single = singular(name);
            let stem = key_name(&single).map_or_else(|| noun(&single), |(stem, _)| stem);
            stem.is_empty() || stem == found.noun || plain(&single) == plain(&found.key)
        };
        let fits = |(name, doc): &(&String, &FieldDoc)| {
            let item = doc.items.as_ref().filter(|_| doc.kind == Some(TypeName::List));
            let alike = item.is_some_and(|item| item.values.is_empty() && text(item.kind) == is_text);
            alike && (doc.place == Some(Place::Path) || named(name))
        };
        let members = self.operation.body.as_ref().and_then(|body| body.first_object().members());
        let is_list = |(name, member): &(&String, &Member)| {
            let item = member.shape.items();
            let alike = item.is_some_and(|item| item.is_scalar() && (item.kind != Kind::Integer) == is_text);
            alike && named(name) && self.api.parameters.contains_key(*name)
        };
        let given = self.api.parameters.iter().find(fits).map(|(name, _)| name);
        given.or_else(|| members.into_iter().flatten().find(is_list).map(|(name, _)| name)).cloned()
    }
}
