//! Executes the effects of each kind of behaviour.

use diorama_seeds::expr::{Expr, Slot};
use diorama_seeds::model::{BehaviourKind, Change, Each, Effect, FieldId, Record, ResourceId, Setter, Which};
use diorama_seeds::value::Value;
use serde_json::{Map, Value as Json};

use super::eval::SlotContent;
use super::fit::as_key;
use super::page::Window;
use super::refusal::{Outcome, Refusal};
use super::reply::Body;
use super::run::Run;

impl Run<'_> {
    /// Executes the call, and returns the body of the reply. The draft has the changes afterwards.
    pub(super) fn perform(&mut self) -> Outcome<Body> {
        match &self.behaviour().kind {
            BehaviourKind::Get { resource, key } => {
                let record = self.target(*resource, key.as_ref())?;
                self.prepare()?;
                self.effects()?;
                let record = self.current(*resource, record);
                self.show_one(*resource, &record)
            }
            BehaviourKind::Lookup { resource, by } => {
                let record = self.look_up(*resource, by)?;
                self.bind_record(*resource, &record);
                self.prepare()?;
                self.effects()?;
                let record = self.current(*resource, record);
                self.show_one(*resource, &record)
            }
            BehaviourKind::List(query) => {
                self.prepare()?;
                self.effects()?;
                self.list(query)
            }
            BehaviourKind::Create { resource, set } => {
                self.prepare()?;
                if let Some(each) = &self.behaviour().each
                    && let Value::List(items) = self.argument(each.parameter).clone()
                {
                    return self.create_each(*resource, set, each, &items);
                }
                let record = self.new_record(*resource, set)?;
                self.create(*resource, record)
            }
            kind @ (BehaviourKind::Replace { resource, key, set }
            | BehaviourKind::Patch { resource, key, set }) => {
                let record = match self.target(*resource, key.as_ref()) {
                    Err(refusal) if refusal.status == 404 && self.behaviour().upsert => {
                        self.made = true;
                        self.prepare()?;
                        let record = self.new_record(*resource, set)?;
                        return self.create(*resource, record);
                    }
                    found => found?,
                };
                self.prepare()?;
                let changed = match kind {
                    BehaviourKind::Replace { .. } => self.replaced(*resource, &record, set)?,
                    _ => self.patched(*resource, &record, set)?,
                };
                self.change(*resource, changed)
            }
            BehaviourKind::Delete { resource, key } => {
                let record = self.target(*resource, key.as_ref())?;
                self.prepare()?;
                // The reply shows the record and its embedded records before the deletion.
                let body = self.show_one(*resource, &record)?;
                let key = record[self.resource(*resource).key.index()].clone();
                self.draft.delete(*resource, &key);
                self.effects()?;
                Ok(body)
            }
            BehaviourKind::Action { target: Some((resource, key)) } => {
                let record = self.target(*resource, key.as_ref())?;
                self.prepare()?;
                self.effects()?;
                let record = self.current(*resource, record);
                self.show_one(*resource, &record)
            }
            BehaviourKind::Action { target: None } => {
                self.prepare()?;
                self.effects()?;
                self.show_members(vec![("ok".into(), Body::constant(Value::Bool(true)))])
            }
            BehaviourKind::Members { resource, field, key, query } => {
                let record = self.target(*resource, key.as_ref())?;
                self.prepare()?;
                self.effects()?;
                let record = self.current(*resource, record);
                self.bind_record(*resource, &record);
                self.list_members(*field, &record, query)
            }
            BehaviourKind::AddMembers { resource, field, key, member, position } => {
                let record = self.target(*resource, key.as_ref())?;
                self.prepare()?;
                let changed = self.with_members(*resource, &record, *field, *member, *position)?;
                self.change(*resource, changed)
            }
            BehaviourKind::RemoveMembers { resource, field, key, member } => {
                let record = self.target(*resource, key.as_ref())?;
                self.prepare()?;
                let changed = self.without_members(*resource, &record, *field, *member)?;
                self.change(*resource, changed)
            }
            BehaviourKind::Compute(members) => {
                self.prepare()?;
                self.effects()?;
                self.computed(members)
            }
            BehaviourKind::Aggregate { query, group_by, measures } => {
                self.prepare()?;
                self.effects()?;
                self.aggregate(query, *group_by, measures)
            }
            BehaviourKind::SignIn { login, secret } => self.sign_in(*login, *secret),
            BehaviourKind::SignOut => self.sign_out(),
        }
    }

    /// Adds a record, executes the further effects, and returns the body for the record after them.
    fn create(&mut self, resource: ResourceId, record: Record) -> Outcome<Body> {
        let key = self.resource(resource).key;
        let about = self.parameter_of(resource, key);
        self.draft.create(resource, record.clone()).map_err(|refusal| refusal.about(about.as_ref()))?;
        self.bind_record(resource, &record);
        self.effects()?;
        let record = self.current(resource, record);
        self.show_one(resource, &record)
    }

    /// Creates or changes a record for each item of a list, and returns the body for them.
    fn create_each(
        &mut self,
        resource: ResourceId,
        set: &[(FieldId, Setter)],
        each: &Each,
        items: &[Value],
    ) -> Outcome<Body> {
        let mut named = Vec::with_capacity(items.len());
        for item in items {
            let sent = match item.to_json(self.zone()) {
                Json::Object(members) => members,
                _ => Map::new(),
            };
            let known = self.named_in(resource, &sent, set)?;
            named.push((sent, known));
        }
        let key = self.resource(resource).key;
        if let Some(condition) = &each.instead_of {
            for record in self.holding(resource, condition, None)? {
                let stays = |known: &Record| known[key.index()] == record[key.index()];
                if !named.iter().filter_map(|(_, known)| known.as_ref()).any(stays) {
                    self.draft.delete(resource, &record[key.index()]);
                }
            }
        }
        let mut records = Vec::with_capacity(named.len());
        for (sent, known) in named {
            self.sent = sent;
            let record = if let Some(known) = known {
                let changed = self.patched(resource, &known, set)?;
                self.draft.update(resource, changed.clone());
                changed
            } else {
                let made = self.new_record(resource, set)?;
                self.draft.create(resource, made.clone())?;
                made
            };
            self.bind_record(resource, &record);
            self.effects()?;
            records.push(self.current(resource, record));
        }
        self.show_list(resource, &records, records.len(), &Window::whole())
    }

    /// Replaces a record, executes the further effects, and returns the body for the record after them.
    fn change(&mut self, resource: ResourceId, changed: Record) -> Outcome<Body> {
        self.draft.update(resource, changed.clone());
        self.effects()?;
        let record = self.current(resource, changed);
        self.show_one(resource, &record)
    }

    /// Returns the current record, or the last known one if an effect deleted it.
    fn current(&self, resource: ResourceId, known: Record) -> Record {
        let key = &known[self.resource(resource).key.index()];
        self.draft.record(resource, key).cloned().unwrap_or(known)
    }

    /// Executes the further effects in order. Each sees the changes of the ones before it.
    pub(super) fn effects(&mut self) -> Outcome<()> {
        for effect in &self.behaviour().also {
            let wanted = match &effect.when {
                Some(when) => self.holds(when)?,
                None => true,
            };
            if wanted {
                self.effect(effect)?;
            }
        }
        Ok(())
    }

    fn effect(&mut self, effect: &Effect) -> Outcome<()> {
        let resource = effect.resource;
        match &effect.change {
            Change::Create { set, name } => {
                let record = self.new_effect_record(resource, set)?;
                self.draft.create(resource, record.clone())?;
                if let Some(slot) = name {
                    self.bind(*slot, SlotContent::Record(record));
                }
            }
            Change::Update { which, set } => {
                for record in self.which(resource, which)? {
                    let changed = self.updated(resource, &record, set)?;
                    self.draft.update(resource, changed);
                }
            }
            Change::Delete { which } => {
                let key = self.resource(resource).key.index();
                for record in self.which(resource, which)? {
                    self.draft.delete(resource, &record[key]);
                }
            }
        }
        Ok(())
    }

    /// Returns the records that an effect changes, in key order, before the change.
    fn which(&self, resource: ResourceId, which: &Which) -> Outcome<Vec<Record>> {
        match which {
            Which::Key(expr) => {
                let key = as_key(&self.value(expr)?);
                let declared = self.resource(resource);
                let missing = || {
                    let key = key.to_text(self.zone());
                    let name = super::draft::key_name(declared);
                    Refusal::new(404, format!("no {} has the {name} {key}", declared.label))
                };
                Ok(vec![self.draft.record(resource, &key).cloned().ok_or_else(missing)?])
            }
            Which::Where { condition, index } => {
                // If this value has no result, the condition may still hold without it, so all records are
                // tested.
                let known = |(field, expr): &(FieldId, Expr)| Some((*field, self.value(expr).ok()?));
                let index = index.as_ref().and_then(known);
                self.holding(resource, condition, index.as_ref())
            }
        }
    }

    /// Returns the records for which a condition over `item` holds.
    fn holding(
        &self,
        resource: ResourceId,
        condition: &Expr,
        index: Option<&(FieldId, Value)>,
    ) -> Outcome<Vec<Record>> {
        let env = self.env();
        let mut found = Vec::new();
        self.visit(resource, index, |record| {
            let holds = env.holds_for(&condition.node, Slot::ITEM, record);
            if holds.map_err(|error| self.uncomputed(error, &condition.node))? {
                found.push(record.clone());
            }
            Ok(())
        })?;
        Ok(found)
    }
}
