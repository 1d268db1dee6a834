//! Refuses changes that a field of the record forbids: `canDelete: false`.

use diorama_seeds::doc::{RefusalDoc, RequireDoc, TypeName};

use super::Act;
use crate::ground::places::Part;
use crate::nouns::permits;
use crate::words::is_identifier;

/// Statuses of such a refusal, likeliest first; a declared one takes precedence.
const STATUSES: [u16; 4] = [409, 403, 422, 400];

impl Act<'_> {
    /// Refuses a change where a boolean field of the record forbids it.
    pub(super) fn require_permission(&mut self) {
        let behaviour = &self.api.behaviour;
        let Some(key) = behaviour.key.clone() else { return };
        let changed = [&behaviour.delete, &behaviour.patch, &behaviour.replace];
        let Some(name) = changed.into_iter().flatten().next().cloned() else { return };
        let verb = match self.parts.last() {
            _ if behaviour.delete.is_some() => "delete",
            Some(Part::Text(verb)) => verb.as_str(),
            _ => "edit",
        };
        let Some(resource) = self.resources.get(&name) else { return };
        let label = resource.label.as_deref().unwrap_or(&name);
        let is_asked = |field: &&String| is_identifier(field) && permits(field, verb, label);
        let yes_or_no = resource.fields.iter().filter(|(_, doc)| doc.kind == Some(TypeName::Boolean));
        let Some(field) = yes_or_no.map(|(field, _)| field).find(is_asked) else { return };
        let declared = STATUSES.iter().find(|status| self.operation.errors.contains_key(&status.to_string()));
        let refusal = RequireDoc {
            that: format!("{name}.get({key}).{field} != false"),
            otherwise: RefusalDoc {
                status: *declared.unwrap_or(&STATUSES[0]),
                reason: Vec::new(),
                message: format!("`{field}` of this {label} is false"),
            },
        };
        self.api.behaviour.require.push(refusal);
    }
}
