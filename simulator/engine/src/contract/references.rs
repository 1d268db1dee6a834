//! References that the body of a request gives to a record: the keys of others, under the name of the member that shows them.

use diorama_seeds::contract::noun;
use diorama_seeds::expr::Node;
use diorama_seeds::model::{BehaviourKind, FieldId, ResourceId, Setter};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::value::Value;
use serde_json::Value as Json;

use crate::run::Run;

impl Run<'_> {
    /// The field with the references that a member shows: `assignee_id` of `assignee`, `project_ids` of `projects`.
    pub(super) fn reference_of(&self, id: ResourceId, name: &str) -> Option<(FieldId, &Schema)> {
        let meant = noun(name);
        let (resource, roles) = (self.resource(id), &self.called(id).roles);
        let found = resource.fields.iter().zip(roles).position(|(field, role)| match &field.schema.kind {
            Type::Reference { .. } => *role == meant,
            Type::List(item) if matches!(item.kind, Type::Reference { .. }) => {
                field.name.strip_suffix("_ids").is_some_and(|stem| noun(stem) == meant)
            }
            _ => false,
        })?;
        Some((FieldId(found as u16), &resource.fields.get(found)?.schema))
    }

    /// The keys that a sent value gives to a field of references: those of records that there are. None for another field; nothing where
    /// no record has the key.
    pub(super) fn keys_sent(&self, declared: &Schema, sent: &Json) -> Option<Value> {
        let key_of = |schema: &Schema, target: ResourceId, sent: &Json| {
            let key = schema.parse_json(sent, self.zone()).ok()?;
            self.draft.record(target, &key).is_some().then_some(key)
        };
        match &declared.kind {
            Type::Reference { resource, .. } => {
                Some(key_of(declared, *resource, sent).unwrap_or(Value::Absent))
            }
            Type::List(item) => {
                let Type::Reference { resource, .. } = item.kind else { return None };
                let keys = sent.as_array().into_iter().flatten();
                Some(Value::List(keys.filter_map(|sent| key_of(item, resource, sent)).collect()))
            }
            _ => None,
        }
    }

    /// Returns true if the behaviour gives a field what the call's arguments say.
    pub(super) fn sets_from_arguments(&self, field: FieldId) -> bool {
        let set = match &self.behaviour().kind {
            BehaviourKind::Create { set, .. }
            | BehaviourKind::Replace { set, .. }
            | BehaviourKind::Patch { set, .. } => set,
            _ => return false,
        };
        let reads_argument = |node: &Node| {
            let mut reads = false;
            node.visit(&mut |node| {
                reads |= matches!(node, Node::Argument(_));
                true
            });
            reads
        };
        set.iter().filter(|(of, _)| *of == field).any(|(_, setter)| match setter {
            Setter::Expr(expr) => reads_argument(&expr.node),
            Setter::Argument(_) => true,
        })
    }
}
