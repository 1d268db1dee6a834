//! References in request bodies: reads the keys of other records from members that show these records.

use diorama_seeds::contract::noun;
use diorama_seeds::model::{BehaviourKind, Field, FieldId, ResourceId, Setter};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::value::Value;
use serde_json::Value as Json;

use crate::names::reference_target;
use crate::run::Run;

impl Run<'_> {
    /// Returns the reference field behind a member. Examples: `assignee_id` for `assignee`, `project_ids` for
    /// `projects`.
    pub(super) fn reference_of(&self, id: ResourceId, name: &str) -> Option<(FieldId, &Schema)> {
        let meant = noun(name);
        let (resource, roles) = (self.resource(id), &self.called(id).roles);
        let refers = |field: &Field| reference_target(&field.schema.kind).is_some();
        let mut fields = resource.fields.iter().zip(roles);
        let found = fields.position(|(field, role)| !meant.is_empty() && *role == meant && refers(field))?;
        Some((FieldId(found as u16), &resource.fields.get(found)?.schema))
    }

    /// Returns the value of a reference field for a sent member. Null clears an optional field. Returns none
    /// if the member gives no valid key, or if null is not allowed.
    pub(super) fn keys_sent(&self, field: &Field, sent: &Json) -> Option<Value> {
        let schema = &field.schema;
        if sent.is_null() {
            let cleared = if schema.nullable { Value::Null } else { Value::Absent };
            return (schema.nullable || field.optional).then_some(cleared);
        }
        let (target, _) = reference_target(&schema.kind)?;
        let key_of = |schema: &Schema, sent: &Json| {
            let key = schema.parse_json(sent, self.zone()).ok()?;
            self.draft.record(target, &key).is_some().then_some(key)
        };
        let Type::List(item) = &schema.kind else { return key_of(schema, sent) };
        let sent = sent.as_array()?;
        let keys: Vec<Value> = sent.iter().filter_map(|sent| key_of(item, sent)).collect();
        (sent.is_empty() || !keys.is_empty()).then(|| Value::List(keys.into()))
    }

    /// Returns true if the behaviour sets a field from the call's arguments, directly or through `let` names.
    pub(super) fn sets_from_arguments(&self, field: FieldId) -> bool {
        let set = match &self.behaviour().kind {
            BehaviourKind::Create { set, .. }
            | BehaviourKind::Replace { set, .. }
            | BehaviourKind::Patch { set, .. } => set,
            _ => return false,
        };
        set.iter().filter(|(of, _)| *of == field).any(|(_, setter)| match setter {
            Setter::Expr(expr) => {
                let mut read = Vec::new();
                self.add_arguments_read(&expr.node, &mut read);
                !read.is_empty()
            }
            Setter::Argument(_) => true,
        })
    }
}
