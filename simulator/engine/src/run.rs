//! Owns the run of one call: the environment of its expressions, and the order of its steps.

use std::fmt::Display;

use diorama_seeds::expr::{Expr, ExprType, Node, Slot};
use diorama_seeds::model::{
    Api, ApiId, Auth, Behaviour, BehaviourKind, Change, FieldId, Misreading, Parameter, ParameterId, Record,
    Resource, ResourceId,
};
use diorama_seeds::value::{Str, Value, Zone};

use super::base::Base;
use super::consent::{Holder, NeededConsent, StatedValue};
use super::draft::{Draft, key_name};
use super::eval::{Budget, Env, EvalError, SlotContent};
use super::fit::as_key;
use super::names::PathNames;
use super::refusal::{Outcome, Refusal};
use super::reply::Origin;
use super::state::State;

/// A running call.
pub(super) struct Run<'a> {
    pub(super) base: &'a Base,
    pub(super) api: &'a Api,
    pub(super) path: &'a PathNames,
    pub(super) arguments: Vec<Value>,
    /// The members of the request body, if a contract stores them.
    pub(super) sent: serde_json::Map<String, serde_json::Value>,
    /// The signed-in user's key.
    pub(super) me: Option<Value>,
    pub(super) draft: Draft<'a>,
    /// The operations of a JSON Patch body.
    pub(super) steps: &'a [serde_json::Value],
    /// True if an upsert has created a record.
    pub(super) made: bool,
    /// Path and query of the next page, if the reply shows a list.
    pub(super) next: Option<Str>,
    /// Number of items in that list.
    pub(super) total: Option<usize>,
    /// The consent of the user that a policy rule requires.
    pub(super) needs: Option<NeededConsent>,
    /// True if the run collects the misreadings of policy rules that turn the verdict.
    pub(super) collects_misreadings: bool,
    /// These misreadings.
    pub(super) misreadings: Vec<&'a Misreading>,
    bound: Vec<SlotContent>,
    /// The resource of the record bound as `record`.
    acted_on: Option<ResourceId>,
    budget: Budget,
    /// Leaves and bytes that the reply may still use.
    pub(super) shown: Budget,
}

/// Maximum number of leaves in a reply. A larger one is an error of the world.
const MAX_LEAVES: u64 = 250_000;
/// Maximum bytes of a reply's values.
pub(super) const MAX_REPLY_BYTES: u64 = 32 << 20;

impl<'a> Run<'a> {
    pub(super) fn new(base: &'a Base, state: &'a State, id: ApiId, arguments: Vec<Value>) -> Self {
        let api = base.world().api(id);
        Self {
            base,
            api,
            path: &base.path_names[id.index()],
            arguments,
            sent: serde_json::Map::new(),
            me: None,
            draft: Draft::new(base, state),
            made: false,
            next: None,
            total: None,
            needs: None,
            collects_misreadings: false,
            misreadings: Vec::new(),
            steps: &[],
            bound: vec![SlotContent::Empty; usize::from(api.slots.max(Slot::FIRST_FREE))],
            acted_on: None,
            budget: Budget::new(base.budget()),
            shown: Budget::with_bytes(MAX_LEAVES, MAX_REPLY_BYTES),
        }
    }

    pub(super) fn behaviour(&self) -> &'a Behaviour {
        &self.api.behaviour
    }

    pub(super) fn resource(&self, id: ResourceId) -> &'a Resource {
        self.base.world().resource(id)
    }

    pub(super) fn zone(&self) -> &'a Zone {
        &self.base.world().zone
    }

    /// Returns the current environment of expressions: the draft's records, the clock, the arguments and the
    /// bound names.
    pub(super) fn env(&self) -> Env<'_> {
        Env {
            arguments: &self.arguments,
            bound: &self.bound,
            clock: self.draft.state.clock(),
            zone: self.zone(),
            records: &self.draft,
            budget: &self.budget,
        }
    }

    pub(super) fn argument(&self, parameter: ParameterId) -> &Value {
        self.arguments.get(parameter.index()).unwrap_or(&Value::Absent)
    }

    pub(super) fn parameter_name(&self, parameter: ParameterId) -> Option<&'a Str> {
        self.api.parameters.get(parameter.index()).map(|parameter| &parameter.name)
    }

    pub(super) fn value(&self, expr: &Expr) -> Outcome<Value> {
        self.value_of(&expr.node)
    }

    pub(super) fn value_of(&self, node: &Node) -> Outcome<Value> {
        self.env().value(node).map_err(|error| self.uncomputed(error, node))
    }

    pub(super) fn holds(&self, condition: &Expr) -> Outcome<bool> {
        self.env().holds(&condition.node).map_err(|error| self.uncomputed(error, &condition.node))
    }

    /// Returns the refusal of a call for which an expression has no result.
    pub(super) fn uncomputed(&self, error: EvalError, node: &Node) -> Refusal {
        let mut read = Vec::new();
        self.add_arguments_read(node, &mut read);
        self.blaming(error, |parameter| read.contains(&parameter))
    }

    /// Returns the refusal of an uncomputable call. The status is 422 if it read a given argument, 409 if it
    /// read records that the session changed, and else 500.
    pub(super) fn blaming(&self, error: impl Display, reads: impl Fn(ParameterId) -> bool) -> Refusal {
        // After a write, any given argument may be the cause.
        let written = self.draft.has_changes();
        let caused = |(position, parameter): &(usize, &'a Parameter)| {
            let id = ParameterId(*position as u16);
            let given = self.argument(id);
            let is_default = parameter.default.as_ref() == Some(given);
            (written || reads(id)) && self.api.token != Some(id) && !given.is_missing() && !is_default
        };
        let caused: Vec<&Str> = self
            .api
            .parameters
            .iter()
            .enumerate()
            .filter(caused)
            .map(|(_, parameter)| &parameter.name)
            .collect();
        let refusal = match caused.as_slice() {
            [] if self.draft.state.is_initial() => {
                Refusal::new(500, format!("the world cannot compute this: {error}"))
            }
            [] => Refusal::new(
                409,
                format!("the call cannot be answered with the records as they are now: {error}"),
            ),
            &[one] => {
                let detail = format!("`{one}`: the call cannot be answered with this value: {error}");
                Refusal::new(422, detail).about(Some(one))
            }
            _ => {
                let names: Vec<String> = caused.iter().map(|name| format!("`{name}`")).collect();
                let names = names.join(", ");
                Refusal::new(422, format!("{names}: the call cannot be answered with these values: {error}"))
            }
        };
        Refusal { is_uncomputed: true, ..refusal }
    }

    /// Adds the arguments that a node reads, directly or through `let` names.
    pub(super) fn add_arguments_read(&self, node: &Node, read: &mut Vec<ParameterId>) {
        node.visit(&mut |node| {
            match node {
                Node::Argument(parameter) => read.push(*parameter),
                // An expression can refer only to earlier names, so the recursion ends.
                Node::Variable(slot) => {
                    let bound = self.behaviour().bindings.iter().find(|(of, _)| of == slot);
                    bound.into_iter().for_each(|(_, expr)| self.add_arguments_read(&expr.node, read));
                }
                _ => {}
            }
            true
        });
    }

    /// Binds a slot and returns its previous binding.
    pub(super) fn bind(&mut self, slot: Slot, bound: SlotContent) -> SlotContent {
        let index = usize::from(slot.0);
        if index >= self.bound.len() {
            self.bound.resize(index + 1, SlotContent::Empty);
        }
        std::mem::replace(&mut self.bound[index], bound)
    }

    /// Binds `record` and returns its previous binding.
    pub(super) fn bind_record(
        &mut self,
        resource: ResourceId,
        record: &Record,
    ) -> (Option<ResourceId>, SlotContent) {
        let bound = self.bind(Slot::RECORD, SlotContent::Record(record.clone()));
        (self.acted_on.replace(resource), bound)
    }

    /// Restores the binding that [`Run::bind_record`] returned.
    pub(super) fn unbind_record(&mut self, (resource, bound): (Option<ResourceId>, SlotContent)) {
        self.acted_on = resource;
        self.bind(Slot::RECORD, bound);
    }

    /// Returns the resource of the record in a slot, if known.
    pub(super) fn resource_in(&self, slot: Slot) -> Option<ResourceId> {
        match slot {
            Slot::RECORD => self.acted_on,
            Slot::ME => self.auth().map(|auth| auth.user),
            slot => {
                let bound = self.behaviour().bindings.iter().find(|(of, _)| *of == slot);
                let made = self.behaviour().also.iter().find(
                    |effect| matches!(effect.change, Change::Create { name: Some(name), .. } if name == slot),
                );
                match bound.map(|(_, expr)| &expr.kind) {
                    Some(ExprType::Record(resource)) => Some(*resource),
                    _ => made.map(|effect| effect.resource),
                }
            }
        }
    }

    /// Returns the sign-in settings of the API's domain.
    pub(super) fn auth(&self) -> Option<&'a Auth> {
        self.base.world().domains.get(self.api.domain.index())?.auth.as_ref()
    }

    pub(super) fn bound(&self, slot: Slot) -> &SlotContent {
        self.bound.get(usize::from(slot.0)).unwrap_or(&SlotContent::Empty)
    }

    /// Evaluates `let`, then checks `require`. Runs after the record is found and before any change.
    pub(super) fn prepare(&mut self) -> Outcome<()> {
        let behaviour = self.behaviour();
        for (slot, expr) in &behaviour.bindings {
            let bound = self.env().bind(expr).map_err(|error| self.uncomputed(error, &expr.node))?;
            self.bind(*slot, bound);
        }
        for require in &behaviour.require {
            if !self.holds(&require.that)? {
                let refusal = Refusal::new(require.status, &*require.message);
                return Err(self.refers_to_nothing().filter(|_| refusal.status != 404).unwrap_or(refusal));
            }
        }
        self.needs = self.needed_consent();
        if self.collects_misreadings {
            self.misreadings = self.turning_misreadings();
        }
        Ok(())
    }

    /// Returns the misreadings of policy rules that turn the verdict on the call. A rule that cannot be
    /// evaluated forbids.
    fn turning_misreadings(&self) -> Vec<&'a Misreading> {
        let holds = |condition: &Expr| self.env().holds(&condition.node).unwrap_or(false);
        let behaviour = self.behaviour();
        let verdicts: Vec<bool> = behaviour.rules.iter().map(|rule| holds(&rule.that)).collect();
        let turns = |misreading: &&Misreading| {
            let mut others = verdicts.iter().enumerate().filter(|(position, _)| *position != misreading.rule);
            others.all(|(_, holds)| *holds)
                && verdicts.get(misreading.rule).is_some_and(|own| *own != holds(&misreading.that))
        };
        behaviour.misreadings.iter().filter(turns).collect()
    }

    /// Returns the consent that the first policy rule without an exemption requires. An exemption that cannot
    /// be evaluated does not exempt. A stated value that cannot be evaluated is left out.
    fn needed_consent(&self) -> Option<NeededConsent> {
        let mut confirms = self.behaviour().confirms.iter();
        let confirm = confirms.find(|confirm| !self.env().holds(&confirm.exempt.node).unwrap_or(false))?;
        let stated = |(noun, expr): &(Str, Expr)| {
            let value = self.env().value(&expr.node).ok()?;
            Some(StatedValue { noun: noun.clone(), value, holder: self.holder_of(&expr.node) })
        };
        let state = confirm.state.iter().filter_map(stated).collect();
        Some(NeededConsent { rule: confirm.rule.clone(), state })
    }

    /// Returns the parameter or the field that an expression reads.
    fn holder_of(&self, node: &Node) -> Holder {
        match (node, self.expr_origin(node)) {
            (Node::Argument(parameter), _) => Holder::Parameter(*parameter),
            (_, Ok(Origin::Field { resource, field, .. })) => Holder::Field(resource, field),
            _ => Holder::Nothing,
        }
    }

    /// Returns the refusal of the first argument that refers to no record. A failed check on a missing record
    /// is no useful reason, unless the check itself reports that it is missing.
    fn refers_to_nothing(&self) -> Option<Refusal> {
        let given = self.api.parameters.iter().zip(&self.arguments);
        given.into_iter().find_map(|(parameter, value)| {
            let refusal = self.draft.leads_nowhere(&parameter.name, &parameter.schema, value)?;
            Some(refusal.about(Some(&parameter.name)))
        })
    }

    /// Finds the target record by key, checks that the signed-in user may see it, and binds it as `record`.
    pub(super) fn target(&mut self, resource: ResourceId, key: Option<&Expr>) -> Outcome<Record> {
        let declared = self.resource(resource);
        let found = match key {
            Some(expr) => {
                let key = as_key(&self.value(expr)?);
                self.draft
                    .record(resource, &key)
                    .filter(|record| self.sees(declared, record))
                    .cloned()
                    .ok_or_else(|| self.not_found(declared, &key))?
            }
            None => self
                .draft
                .state
                .iter(self.base, resource)
                .find(|record| self.sees(declared, record))
                .cloned()
                .ok_or_else(|| Refusal::new(404, format!("there is no {}", declared.label)))?,
        };
        self.bind_record(resource, &found);
        Ok(found)
    }

    /// Returns true if the caller may see a record. APIs with a token show users only their own records.
    pub(super) fn sees(&self, resource: &Resource, record: &Record) -> bool {
        match self.owner(resource) {
            Some((field, me)) => record.get(field.index()) == Some(me),
            None => true,
        }
    }

    /// Returns the owner field and the required user, if ownership applies to this call.
    pub(super) fn owner(&self, resource: &Resource) -> Option<(FieldId, &Value)> {
        resource.owner.zip(self.me.as_ref())
    }

    /// Returns the parameter that sets a field, for messages.
    pub(super) fn parameter_of(&self, resource: ResourceId, field: FieldId) -> Option<Str> {
        parameter_of(self.base, self.api, resource, field)
    }

    fn not_found(&self, resource: &Resource, key: &Value) -> Refusal {
        let name = key_name(resource);
        // If no record matches the whole path, the last path parameter is reported as missing.
        let last = self.api.path.rsplit_once('{').and_then(|(_, rest)| rest.split_once('}'));
        let last = last.map(|(name, _)| name).filter(|_| key.is_missing());
        let named = last.and_then(|name| self.api.parameter_named(name));
        let key = named.map_or(key, |parameter| self.argument(parameter));
        let detail = format!("no {} has the {name} {}", resource.label, key.to_text(self.zone()));
        let is_key = |value: &&Parameter| {
            self.api
                .parameter_named(&value.name)
                .is_some_and(|parameter| self.argument(parameter) == key && !key.is_missing())
        };
        let parameter = self.api.parameters.iter().find(is_key).map(|parameter| &parameter.name);
        Refusal::new(404, detail).about(parameter)
    }
}

/// Returns the parameter of an API that sets a field, for messages.
pub(super) fn parameter_of(base: &Base, api: &Api, resource: ResourceId, field: FieldId) -> Option<Str> {
    if let BehaviourKind::AddMembers { resource: of, field: list, member, .. } = &api.behaviour.kind
        && (*of, *list) == (resource, field)
    {
        return api.parameters.get(member.index()).map(|parameter| parameter.name.clone());
    }
    let name = &base.world().resource(resource).field(field).name;
    let about = api.parameters.iter().find(|parameter| parameter.field == Some((resource, field)));
    about
        .or_else(|| api.parameters.iter().find(|parameter| parameter.name == *name))
        .map(|found| found.name.clone())
}
