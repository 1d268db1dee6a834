//! Refuses names that another record of the same parent has, where callers choose the names and paths use them.

use diorama_seeds::contract::plain;
use diorama_seeds::doc::{FieldDoc, Place, RefusalDoc, RequireDoc, TypeName};

use super::Act;
use super::verbs::CONFLICT;
use crate::ground::places::{Collection, ParentKey};
use crate::operations::argument;
use crate::words::{is_id, is_identifier, label};

impl Act<'_> {
    /// Refuses a new record whose name is taken below its parent.
    pub(super) fn require_free(&mut self, found: &Collection, above: &[ParentKey]) {
        let field = found.number.as_ref().unwrap_or(&found.key).clone();
        // Paths name records by the member; one that calls merely send may be the caller's own key.
        let is_in_path = found.item.as_deref().is_some_and(|item| plain(item) == plain(&field));
        if !is_in_path && found.number.is_none() {
            return;
        }
        self.refuse_taken(found, above, &field, |name| plain(name) == plain(&field), "");
    }

    /// Refuses a new name of a record that is taken below its parent.
    pub(super) fn require_free_name(&mut self, found: &Collection) {
        let Some(field) = found.number.clone() else { return };
        let is_name = |name: &str| {
            let name = plain(name);
            name.strip_prefix("new").unwrap_or(&name) == plain(&field)
        };
        let own = format!(" == record.{field} || ");
        self.refuse_taken(found, &found.above, &field, is_name, &own);
    }

    /// Adds the rule that no record has the value that the body sends for a field. `own` excepts the record's own.
    fn refuse_taken(
        &mut self,
        found: &Collection,
        above: &[ParentKey],
        field: &str,
        is_name: impl Fn(&str) -> bool,
        own: &str,
    ) {
        // Servers replace an id that is sent by one of their own, unless they declare that it may be taken.
        let status = match self.operation.conflicts {
            true => CONFLICT,
            false if is_id(field) => return,
            false => self.operation.refusal,
        };
        let is_sent = |doc: &FieldDoc| {
            doc.place == Some(Place::Body) && doc.kind == Some(TypeName::String) && doc.values.is_empty()
        };
        let sent = self.api.parameters.iter().find(|(name, doc)| is_sent(doc) && is_name(name));
        let Some((name, doc)) = sent.filter(|(name, _)| is_identifier(name)) else { return };
        let (given, optional) = (argument(name), doc.optional);
        let mut same = vec![format!("a.{field} == {given}")];
        same.extend(self.conditions("a", above, 1));
        let except = if own.is_empty() { String::new() } else { format!("{given}{own}") };
        let except = if optional { format!("!given({given}) || {except}") } else { except };
        self.api.behaviour.require.push(RequireDoc {
            that: format!("{except}!{}.any(a, {})", found.name, same.join(" && ")),
            otherwise: RefusalDoc {
                status,
                reason: Vec::new(),
                message: format!("another {} has this {} already", found.label, label(field)),
            },
        });
    }
}
