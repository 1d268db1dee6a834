//! Handles removals without a path of their own: of a membership, and of all records of a list.

use diorama_seeds::doc::{EffectDoc, Place};

use super::{Act, CommandWords, located};
use crate::ground::places::{form, keys};
use crate::ground::resources::OF;
use crate::phrases;

impl Act<'_> {
    /// Removes a membership that no path shows.
    pub(super) fn leave(&mut self, index: usize, at: usize) {
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
            if let Some(CommandWords { verb, noun, .. }) = self.deed(found) {
                let verb = verb.as_deref().unwrap_or("remove");
                let place = keys(&self.parts).last().map(|name| (*name).to_owned());
                let parameters = &self.api.parameters;
                self.api.phrases = phrases::change(verb, &noun, place.as_deref(), parameters, (&[], &[]));
            }
        }
    }

    /// Returns true if the path of a removal names a list, and no argument chooses among its records.
    pub(super) fn clears(&self) -> bool {
        let own = self.places.all.get_index_of(&form(&self.parts)).filter(|own| self.is_stored(*own));
        let chooses = self.operation.request.is_some()
            || self.api.parameters.values().any(|doc| doc.place == Some(Place::Query));
        let chooses = chooses || self.operation.path.ends_with('}');
        own.is_some_and(|own| !self.collection(own).single && self.collection(own).listed) && !chooses
    }

    /// Removes all records of a collection.
    pub(super) fn clear(&mut self) {
        let Some(found) = self.places.all.get(&form(&self.parts)) else { return };
        self.require(&found.above);
        let conditions = self.conditions("item", &found.above, 0);
        self.api.behaviour.action = Some("none".to_owned());
        self.api.behaviour.also.push(EffectDoc {
            delete: Some(found.name.clone()),
            condition: Some(located::all_hold(&conditions)),
            ..EffectDoc::default()
        });
    }
}
