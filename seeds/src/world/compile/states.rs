//! Owns states, and behaviours that move a record from one state to another.

use super::super::findings::Findings;
use super::api::Builder;
use super::expressions::plain;
use super::{Part, listed};
use crate::english;
use crate::expr::{Expr, ExprType, Node, quote};
use crate::model::{BehaviourKind, Change, Effect, FieldId, Require, Resource, ResourceId, Setter, Which};
use crate::schema::Type;
use crate::task::RefusalClass;
use crate::value::{Value, nfc};
use diorama_format::path::Path;

/// HTTP status of a refused move, because the record is in the wrong state.
const CONFLICT: u16 = 409;

/// A change of state of the call's record.
pub(super) struct Move {
    field: FieldId,
    to: Expr,
    check: Require,
}

impl Move {
    /// Adds the check before the others, and the new state to the changes of the behaviour. An action gets an
    /// effect for it.
    pub(super) fn apply(
        self,
        kind: Option<&mut BehaviourKind>,
        resource: ResourceId,
        key: Option<Expr>,
        require: &mut Vec<Require>,
    ) -> Option<Effect> {
        require.insert(0, self.check);
        match kind {
            Some(BehaviourKind::Patch { set, .. }) => {
                set.push((self.field, Setter::Expr(self.to)));
                set.sort_by_key(|(field, _)| *field);
                None
            }
            Some(BehaviourKind::Action { .. }) => {
                let change = Change::Update { which: Which::Key(key?), set: vec![(self.field, self.to)] };
                Some(Effect { when: None, resource, change })
            }
            _ => None,
        }
    }

    /// Returns true if an effect always sets the field of the record with this key.
    fn is_undone(&self, effect: &Effect, resource: ResourceId, key: &Expr) -> bool {
        let Change::Update { which: Which::Key(other), set } = &effect.change else { return false };
        effect.when.is_none()
            && effect.resource == resource
            && other.source == key.source
            && set.iter().any(|(field, _)| *field == self.field)
    }
}

impl Builder<'_> {
    /// Returns the change of state that `moves` names.
    pub(super) fn moves(&mut self, resource: ResourceId, here: &Path<'_>) -> Option<Move> {
        let to = self.doc.behaviour.moves.as_ref()?;
        let path = here.name("moves");
        let of = self.resource(resource);
        let Some(states) = self.shared.states.get(resource.index()).and_then(|states| *states) else {
            error!(self.findings, path => "found a move of `{}`, which has no `states`", of.name;
                "add `states` to the resource, or write the check and the change yourself");
            return None;
        };
        if of.singleton {
            error!(self.findings, path => "found a move of `{}`, of which there is one record", of.name;
                "write the check and the change yourself");
            return None;
        }
        let Some(doc) = states.to.get(to) else {
            let known = listed(states.to.keys().map(String::as_str));
            error!(self.findings, path => "found the state `{to}`, expected one that a record comes to: {known}";
                "name one of them, or add it to `states.to`");
            return None;
        };
        let field = of.field_named(&states.field)?;
        let states = doc.from.iter().map(|state| quote(state)).collect::<Vec<_>>();
        let name = &of.field(field).name;
        let that = match states.as_slice() {
            [one] => format!("record.{name} == {one}"),
            several => format!("record.{name} in [{}]", several.join(", ")),
        };
        let that = self.condition(&that, &path);
        let message = doc.otherwise.clone().unwrap_or_else(|| {
            let from: Vec<String> = doc.from.iter().map(|state| state.replace('_', " ")).collect();
            format!(
                "only a {} that is {} can become {}",
                of.label,
                english::enumerate(&from),
                to.replace('_', " ")
            )
        });
        let reasons = RefusalClass::of_status(CONFLICT).into_iter().collect();
        let check = Require { that, status: CONFLICT, reasons, message: nfc(&message) };
        let to = plain(Node::Literal(Value::String(nfc(to))), ExprType::String, &quote(to));
        Some(Move { field, to, check })
    }

    /// Rejects a move if the behaviour also sets the field to another value.
    pub(super) fn check_move(
        &mut self,
        moves: &Move,
        kind: Option<&BehaviourKind>,
        also: &[Effect],
        here: &Path<'_>,
    ) {
        let (resource, sets_again) = match kind {
            Some(BehaviourKind::Patch { resource, set, .. }) => {
                (*resource, set.iter().any(|(field, _)| *field == moves.field))
            }
            Some(BehaviourKind::Action { target: Some((resource, Some(key))) }) => {
                (*resource, also.iter().any(|effect| moves.is_undone(effect, *resource, key)))
            }
            _ => return,
        };
        if sets_again {
            let of = self.resource(resource);
            error!(self.findings, here.name("moves") =>
                "found a move and another new value of `{}.{}`", of.name, of.field(moves.field).name;
                "remove the move, or the other value, which a parameter, `set` or `also` gives");
        }
    }
}

/// Checks the states of a resource against the field that holds them.
pub(super) fn check(parts: &[Part<'_>], resources: &[Resource], findings: &mut Findings) {
    for resource in resources {
        let Some(part) = parts.get(resource.domain.index()) else { continue };
        let Some(states) = part.resources.get(&*resource.name).and_then(|doc| doc.states.as_ref()) else {
            continue;
        };
        let here = part.path();
        let section = here.name("resources");
        let path = section.name(&resource.name);
        let path = path.name("states");
        let field = resource.field_named(&states.field).map(|field| &resource.field(field).schema.kind);
        let Some(Type::Enum(values)) = field else {
            error!(findings, path.name("field") => "found `{}`, expected an enum of `{}`", states.field, resource.name;
                "name the field that holds the state");
            continue;
        };
        let is_known = |state: &str| values.iter().any(|value| **value == *state);
        let moves = path.name("to");
        for (to, doc) in &states.to {
            let at = moves.name(to);
            let from = at.name("from");
            if doc.from.is_empty() {
                error!(findings, &from => "found no state that the move starts from"; "name at least one");
            }
            let named = std::iter::once((to, &at)).chain(doc.from.iter().map(|state| (state, &from)));
            for (state, place) in named.filter(|(state, _)| !is_known(state)) {
                error!(findings, place => "found the state `{state}`, expected one of {}", listed(values.iter().map(|value| &**value));
                    "name a value of `{}`", states.field);
            }
        }
    }
}
