//! Reply shapes: select the shown fields of a record, name them, and embed other records.

use diorama_seeds::expr::{Expr, Node};
use diorama_seeds::model::{FieldId, Member, Record, ResourceId, Shape, Source};
use diorama_seeds::value::{Str, Value};

use super::eval::SlotContent;
use super::page::Window;
use super::refusal::{Outcome, Refusal};
use super::reply::{Body, Origin};
use super::run::{MAX_REPLY_BYTES, Run};

type Members = Vec<(Str, Body)>;

impl Run<'_> {
    /// Returns the body for one record.
    pub(super) fn show_one(&mut self, resource: ResourceId, record: &Record) -> Outcome<Body> {
        if let Some(contract) = &self.api.contract {
            let body = self.promised_one(contract, Some((resource, record)))?;
            return self.counted(body);
        }
        let shown = self.show(&self.api.reply.members, resource, record)?;
        let outer = self.bind_record(resource, record);
        let body = self.show_members(shown);
        self.unbind_record(outer);
        body
    }

    /// Returns the body for a page of records.
    pub(super) fn show_list(
        &mut self,
        resource: ResourceId,
        page: &[Record],
        total: usize,
        window: &Window,
    ) -> Outcome<Body> {
        if let Some(contract) = &self.api.contract {
            let body = self.promised_list(contract, resource, page, total, window)?;
            return self.counted(body);
        }
        self.total = Some(total);
        let mut items = Vec::with_capacity(page.len());
        for record in page {
            items.push(Body::Object(self.show(&self.api.reply.members, resource, record)?));
        }
        self.show_items(items, total, window)
    }

    /// Returns the body for list items, with total and paging members.
    pub(super) fn show_items(&mut self, items: Vec<Body>, total: usize, window: &Window) -> Outcome<Body> {
        let reply = &self.api.reply;
        if reply.items.is_empty() {
            return Ok(self.enveloped(Body::List(items)));
        }
        let mut members: Members = Vec::with_capacity(2 + reply.paging.len() + reply.with.len());
        members.push((reply.items.clone(), Body::List(items)));
        if !reply.total.is_empty() {
            let total = Value::Integer(i64::try_from(total).unwrap_or(i64::MAX));
            members.push((reply.total.clone(), Body::computed(total)));
        }
        for (member, name) in &reply.paging {
            members.push((name.clone(), window.member(*member, &self.api.name, total)));
        }
        self.show_members(members)
    }

    /// Returns a calculated reply.
    pub(super) fn computed(&mut self, computed: &[(Str, Expr)]) -> Outcome<Body> {
        let mut members = Vec::with_capacity(computed.len());
        for (name, expr) in computed {
            members.push((name.clone(), self.show_expr(expr)?));
        }
        self.show_members(members)
    }

    /// Returns an object with the reply's `with` members, in its envelope.
    pub(super) fn show_members(&mut self, mut members: Members) -> Outcome<Body> {
        if let Some(contract) = &self.api.contract {
            let body = self.promised_one(contract, None)?;
            return self.counted(body);
        }
        for (name, expr) in &self.api.reply.with {
            let body = self.show_expr(expr)?;
            members.push((name.clone(), body));
        }
        Ok(self.enveloped(Body::Object(members)))
    }

    fn enveloped(&self, body: Body) -> Body {
        match &self.api.reply.envelope {
            Some(name) => Body::Object(vec![(name.clone(), body)]),
            None => body,
        }
    }

    fn show(&mut self, members: &[Member], resource: ResourceId, record: &Record) -> Outcome<Members> {
        let mut shown = Vec::with_capacity(members.len());
        for member in members {
            if let Some(body) = self.show_source(&member.source, resource, record)? {
                shown.push((member.name.clone(), body));
            }
        }
        Ok(shown)
    }

    /// Returns the body of a member, or none if its field is absent.
    pub(super) fn show_source(
        &mut self,
        source: &Source,
        resource: ResourceId,
        record: &Record,
    ) -> Outcome<Option<Body>> {
        Ok(Some(match source {
            Source::Field(field) => return self.show_field(resource, record, *field),
            Source::Value(value) => Body::of(value, Origin::Constant),
            Source::Object(members) => Body::Object(self.show(members, resource, record)?),
            Source::Expr(expr) => {
                let outer = self.bind_record(resource, record);
                let body = self.show_expr(expr);
                self.unbind_record(outer);
                body?
            }
            Source::Follow(field, target, shape) => match record.get(field.index()) {
                None | Some(Value::Absent) => return Ok(None),
                Some(Value::List(keys)) => {
                    let mut items = Vec::with_capacity(keys.len());
                    for key in keys.iter() {
                        if let Some(found) = self.draft.record(*target, key).cloned()
                            && let Some(body) = self.shaped(shape, *target, &found)?
                        {
                            items.push(body);
                        }
                    }
                    Body::List(items)
                }
                Some(key) => match self.draft.record(*target, key).cloned() {
                    Some(found) => return self.shaped(shape, *target, &found),
                    None => Body::Leaf(Value::Null, self.origin(resource, record, *field)),
                },
            },
            Source::Many(many) => {
                let mut items = Vec::new();
                for found in self.referring(many, record, resource)? {
                    if let Some(body) = self.shaped(&many.shape, many.resource, &found)? {
                        items.push(body);
                    }
                }
                Body::List(items)
            }
        }))
    }

    fn shaped(&mut self, shape: &Shape, resource: ResourceId, record: &Record) -> Outcome<Option<Body>> {
        match shape {
            Shape::Object(members) => Ok(Some(Body::Object(self.show(members, resource, record)?))),
            Shape::Bare(source) => self.show_source(source, resource, record),
        }
    }

    fn show_field(&mut self, resource: ResourceId, record: &Record, field: FieldId) -> Outcome<Option<Body>> {
        let value = record.get(field.index()).filter(|value| !matches!(value, Value::Absent));
        self.count(value.unwrap_or(&Value::Absent))?;
        match value {
            None => Ok(None),
            Some(value) => Ok(Some(Body::of(value, self.origin(resource, record, field)))),
        }
    }

    /// Counts the size of a contract's reply, including constants of its schemas.
    fn counted(&self, body: Body) -> Outcome<Body> {
        self.count_bytes(&body)?;
        Ok(body)
    }

    fn count_bytes(&self, body: &Body) -> Outcome<()> {
        match body {
            Body::Leaf(value, _) => self.take_bytes_of(value),
            Body::List(items) => items.iter().try_for_each(|item| self.count_bytes(item)),
            Body::Object(members) => members.iter().try_for_each(|(name, part)| {
                self.take_bytes_of(&Value::String(name.clone()))?;
                self.count_bytes(part)
            }),
        }
    }

    fn take_bytes_of(&self, value: &Value) -> Outcome<()> {
        self.shown.take_bytes_of(value).map_err(|_| {
            Refusal::new(
                422,
                format!("the reply has more than {MAX_REPLY_BYTES} bytes; ask for fewer records"),
            )
        })
    }

    /// Counts a value of the reply.
    fn count(&self, value: &Value) -> Outcome<()> {
        self.shown
            .take(1)
            .map_err(|_| self.blaming("the reply is too large; ask for fewer records", |_| true))?;
        self.take_bytes_of(value)
    }

    fn origin(&self, resource: ResourceId, record: &Record, field: FieldId) -> Origin {
        let key = record[self.resource(resource).key.index()].clone();
        Origin::Field { resource, key, field }
    }

    /// Returns an expression's value with its origin. A plain record field keeps its origin. A literal or an
    /// argument is constant, and everything else is calculated.
    fn show_expr(&mut self, expr: &Expr) -> Outcome<Body> {
        let value = match self.value(expr)? {
            Value::Absent => Value::Null,
            value => value,
        };
        self.count(&value)?;
        let origin = self.expr_origin(&expr.node)?;
        Ok(Body::of(&value, origin))
    }

    pub(super) fn expr_origin(&self, node: &Node) -> Outcome<Origin> {
        Ok(match node {
            Node::Literal(_) | Node::Argument(_) => Origin::Constant,
            Node::Cast(inner, _) => self.expr_origin(inner)?,
            Node::Field(inner, field) => match self.record_behind(inner)? {
                Some((resource, record)) => self.origin(resource, &record, *field),
                None => Origin::Computed,
            },
            // A `let` name has the origin of its expression. It can refer only to earlier names, so the
            // recursion ends.
            Node::Variable(slot) => match self.behaviour().bindings.iter().find(|(of, _)| of == slot) {
                Some((_, expr)) => self.expr_origin(&expr.node)?,
                None => Origin::Computed,
            },
            _ => Origin::Computed,
        })
    }

    /// Returns the record that `record`, `me`, a `let` name or `r.get(key)` refers to.
    fn record_behind(&self, node: &Node) -> Outcome<Option<(ResourceId, Record)>> {
        Ok(match node {
            Node::Get(resource, key) => {
                let key = super::fit::as_key(&self.value_of(key)?);
                self.draft.record(*resource, &key).map(|record| (*resource, record.clone()))
            }
            Node::Variable(slot) => match self.bound(*slot) {
                SlotContent::Record(record) => {
                    self.resource_in(*slot).map(|resource| (resource, record.clone()))
                }
                _ => None,
            },
            _ => None,
        })
    }
}
