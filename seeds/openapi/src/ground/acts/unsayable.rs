//! Finds operations that no user asks for, because users have no words for their arguments or effects.

use diorama_seeds::contract::plain;
use diorama_seeds::doc::{FieldDoc, Place, TypeName};

use super::Act;
use crate::fakes;
use crate::phrases;
use crate::words::{sentence, words};

/// Letters of a word; a longer one is several words written as one.
const LONGEST_WORD: usize = 18;

impl Act<'_> {
    /// Returns true if users have no words for the operation.
    pub(super) fn has_no_words(&self) -> bool {
        self.is_unsayable() || self.needs_more() || self.is_undoing() || self.is_nameless()
    }

    /// Returns true if a required query or header parameter is a command (`?action=subscribe`), a boolean, a
    /// timestamp of the record, or repeats the path.
    fn needs_more(&self) -> bool {
        let parameters = self.api.parameters.iter();
        let in_path = parameters.clone().filter(|(_, doc)| doc.place == Some(Place::Path));
        let in_path: Vec<String> = in_path.map(|(name, _)| plain(name)).collect();
        let is_stamp = |name: &str, doc: &FieldDoc| {
            doc.kind == Some(TypeName::String) && words(name).last().is_some_and(|last| last == "timestamp")
        };
        let is_unsaid = |name: &str, doc: &FieldDoc| {
            doc.kind == Some(TypeName::Boolean)
                || doc.values.len() != 1 && phrases::is_command(name, doc)
                || is_stamp(name, doc)
                || in_path.contains(&plain(name))
        };
        parameters.into_iter().any(|(name, doc)| {
            let is_beside = !matches!(doc.place, Some(Place::Body | Place::Path));
            is_beside && !doc.optional && doc.default.is_none() && is_unsaid(name, doc)
        })
    }

    /// Returns true if a required member has placeholder values, which no user could say.
    fn is_unsayable(&self) -> bool {
        let behaviour = &self.api.behaviour;
        let changed = [&behaviour.create, &behaviour.replace, &behaviour.patch].into_iter().flatten().next();
        let Some(changed) = changed else { return false };
        let says_nothing =
            |name: &str, field: &FieldDoc| fakes::is_anything(field) || phrases::says_nothing(name, field);
        let is_anything =
            |name: &str| self.field(changed, name).is_some_and(|field| says_nothing(name, field));
        let body = self.api.parameters.iter().filter(|(_, doc)| doc.place == Some(Place::Body));
        // Users name no single possible value and no boolean.
        let is_mute = |doc: &FieldDoc| doc.values.len() == 1 || doc.kind == Some(TypeName::Boolean);
        let unsaid = |doc: &FieldDoc| !doc.optional && doc.default.is_none();
        // Users give no amount without a currency.
        let parameters = self.api.parameters.iter();
        let tells_currency = parameters.clone().any(|(name, doc)| unsaid(doc) && phrases::is_currency(name));
        let is_bare = |name: &str, doc: &FieldDoc| !tells_currency && phrases::is_bare_amount(name, doc);
        // A command is no value of a record. A new rule may have one.
        let makes = behaviour.create.is_some();
        let is_command = |name: &str, doc: &FieldDoc| !makes && phrases::is_command(name, doc);
        let label = self.resources.get(changed).and_then(|known| known.label.as_deref());
        let is_below = self.operation.path.contains('{');
        if makes && is_below && label.is_some_and(phrases::names_command) {
            return true;
        }
        body.into_iter().any(|(name, doc)| {
            unsaid(doc) && (is_anything(name) || is_mute(doc) || is_bare(name, doc) || is_command(name, doc))
        })
    }

    /// Returns true if the operation needs a record in a changed state: `Restores a file that has been moved
    /// to the trash`.
    /// Generated records start unchanged.
    fn is_undoing(&self) -> bool {
        let own = phrases::command(&self.api.name, &self.operation.summary).is_some_and(|own| own.is_own());
        let said = sentence(&self.operation.description).to_lowercase();
        let done = |was: &&str| {
            let after = said.split_once(*was).and_then(|(_, after)| after.split(' ').next());
            after.is_some_and(|word| word.ends_with("ed"))
        };
        own && [" has been ", " have been ", " was ", " were "].iter().any(done)
    }

    /// Returns true if the path has two keys with one label, a key that is a path, or a label of joined
    /// words.
    fn is_nameless(&self) -> bool {
        let needed = self.api.parameters.values();
        let needed =
            needed.filter(|doc| !doc.optional && doc.default.is_none() && doc.place == Some(Place::Path));
        let labels: Vec<&String> = needed.filter_map(|doc| doc.label.as_ref()).collect();
        let twice =
            labels.iter().enumerate().any(|(at, label)| labels.iter().take(at).any(|other| other == label));
        let behaviour = &self.api.behaviour;
        let about =
            [&behaviour.get, &behaviour.list, &behaviour.create, &behaviour.patch, &behaviour.replace];
        let label = about.into_iter().flatten().find_map(|name| self.resources.get(name)?.label.clone());
        let is_long = |word: &str| word.len() > LONGEST_WORD;
        // A trailing path belongs to something behind it.
        let goes_on = labels.iter().any(|label| *label == "path");
        twice || goes_on || labels.iter().copied().chain(&label).any(|label| label.split(' ').any(is_long))
    }
}
