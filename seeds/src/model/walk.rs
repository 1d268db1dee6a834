//! Owns the walk over an API's behaviour and reply, which finds its resources, parameters and expressions.

use std::collections::BTreeSet;

use super::Api;
use super::behaviour::{BehaviourKind, Change, Query, Setter, Which};
use super::ids::{FieldId, ParameterId, ResourceId};
use super::reply::{Member, Shape, Source};
use crate::expr::node::{Expr, Node};

/// A part that an API uses.
#[derive(Clone, Copy, Debug)]
pub enum ApiPart<'a> {
    /// A resource whose records a call shows, or on whose records a reply or refusal depends.
    Shown(ResourceId),
    /// A resource whose records a call reads or changes otherwise.
    Touched(ResourceId),
    /// A parameter on which the call depends.
    Parameter(ParameterId),
    /// A condition over the records of a resource. The walk visits its nodes next.
    Condition(ResourceId, &'a Expr),
    /// A node of an expression.
    Node(&'a Node),
}

impl Api {
    /// Returns the resources whose records a call may read or change.
    pub fn resources(&self) -> BTreeSet<ResourceId> {
        let mut found = BTreeSet::new();
        self.walk(&mut |part| {
            if let ApiPart::Shown(resource) | ApiPart::Touched(resource) = part {
                found.insert(resource);
            }
        });
        found
    }

    /// Calls `see` with each part that the API uses. It may repeat a part.
    pub fn walk<'a>(&'a self, see: &mut dyn FnMut(ApiPart<'a>)) {
        let mut walk = Walk(see);
        self.token.iter().for_each(|token| walk.parameter(*token));
        walk.kind(&self.behaviour.kind);
        let bindings = self.behaviour.bindings.iter().map(|(_, expr)| expr);
        let rules = self.behaviour.require.iter().map(|rule| &rule.that);
        let beside = self.reply.with.iter().map(|(_, expr)| expr);
        bindings.chain(rules).chain(beside).for_each(|expr| walk.expr(expr));
        for effect in &self.behaviour.also {
            walk.see(ApiPart::Touched(effect.resource));
            effect.when.iter().for_each(|when| walk.expr(when));
            let (which, set) = match &effect.change {
                Change::Create { set, .. } => (None, set.as_slice()),
                Change::Update { which, set } => (Some(which), set.as_slice()),
                Change::Delete { which } => (Some(which), Default::default()),
            };
            match which {
                Some(Which::Key(key)) => walk.expr(key),
                Some(Which::Where { condition, .. }) => walk.condition(effect.resource, Some(condition)),
                None => {}
            }
            set.iter().for_each(|(_, expr)| walk.expr(expr));
        }
        walk.members(&self.reply.members);
    }
}

struct Walk<'s, 'a>(&'s mut dyn FnMut(ApiPart<'a>));

impl<'a> Walk<'_, 'a> {
    fn see(&mut self, part: ApiPart<'a>) {
        (self.0)(part);
    }

    fn kind(&mut self, kind: &'a BehaviourKind) {
        match kind {
            BehaviourKind::Get { resource, key }
            | BehaviourKind::Delete { resource, key }
            | BehaviourKind::Action { target: Some((resource, key)) } => self.record(*resource, key.as_ref()),
            BehaviourKind::Lookup { resource, by } => {
                self.see(ApiPart::Shown(*resource));
                by.iter().for_each(|(_, parameter)| self.parameter(*parameter));
            }
            BehaviourKind::List(query) | BehaviourKind::Aggregate { query, .. } => self.query(query),
            // A create shows the record that it makes, not the existing ones.
            BehaviourKind::Create { resource, set } => {
                self.see(ApiPart::Touched(*resource));
                self.setters(set);
            }
            BehaviourKind::Replace { resource, key, set } | BehaviourKind::Patch { resource, key, set } => {
                self.record(*resource, key.as_ref());
                self.setters(set);
            }
            BehaviourKind::Members { resource, key, query, .. } => {
                self.see(ApiPart::Touched(*resource));
                key.iter().for_each(|key| self.expr(key));
                self.query(query);
            }
            BehaviourKind::AddMembers { resource, key, member, position, .. } => {
                self.record(*resource, key.as_ref());
                self.parameter(*member);
                position.iter().for_each(|position| self.parameter(*position));
            }
            BehaviourKind::RemoveMembers { resource, key, member, .. } => {
                self.record(*resource, key.as_ref());
                self.parameter(*member);
            }
            BehaviourKind::Compute(computed) => computed.iter().for_each(|(_, expr)| self.expr(expr)),
            BehaviourKind::SignIn { login, secret } => {
                [login, secret].into_iter().for_each(|parameter| self.parameter(*parameter));
            }
            BehaviourKind::Action { target: None } | BehaviourKind::SignOut => {}
        }
    }

    fn record(&mut self, resource: ResourceId, key: Option<&'a Expr>) {
        self.see(ApiPart::Shown(resource));
        key.into_iter().for_each(|key| self.expr(key));
    }

    fn setters(&mut self, set: &'a [(FieldId, Setter)]) {
        for (_, setter) in set {
            match setter {
                Setter::Argument(parameter) => self.parameter(*parameter),
                Setter::Expr(expr) => self.expr(expr),
            }
        }
    }

    fn query(&mut self, query: &'a Query) {
        self.see(ApiPart::Shown(query.resource));
        query.filters.iter().for_each(|filter| self.parameter(filter.parameter));
        self.condition(query.resource, query.condition.as_ref());
        query.sort_parameter.iter().for_each(|(parameter, _)| self.parameter(*parameter));
        if let Some(page) = &query.page {
            self.parameter(page.parameter);
            page.limit.iter().chain(&page.number).for_each(|parameter| self.parameter(*parameter));
        }
    }

    fn members(&mut self, members: &'a [Member]) {
        members.iter().for_each(|member| self.source(&member.source));
    }

    fn source(&mut self, source: &'a Source) {
        match source {
            Source::Field(_) | Source::Value(_) => {}
            Source::Expr(expr) => self.expr(expr),
            Source::Object(members) => self.members(members),
            Source::Follow(_, resource, shape) => {
                self.see(ApiPart::Shown(*resource));
                self.shape(shape);
            }
            Source::Many(many) => {
                self.see(ApiPart::Shown(many.resource));
                self.condition(many.resource, many.condition.as_ref());
                self.shape(&many.shape);
            }
        }
    }

    fn shape(&mut self, shape: &'a Shape) {
        match shape {
            Shape::Object(members) => self.members(members),
            Shape::Bare(source) => self.source(source),
        }
    }

    fn condition(&mut self, resource: ResourceId, condition: Option<&'a Expr>) {
        if let Some(condition) = condition {
            self.see(ApiPart::Condition(resource, condition));
            self.expr(condition);
        }
    }

    fn expr(&mut self, expr: &'a Expr) {
        expr.node.visit(&mut |node| {
            match node {
                Node::Argument(parameter) => self.parameter(*parameter),
                Node::Get(resource, _) | Node::Exists(resource, _) => self.see(ApiPart::Shown(*resource)),
                Node::Fold(fold) => self.see(ApiPart::Shown(fold.resource)),
                _ => {}
            }
            self.see(ApiPart::Node(node));
            true
        });
    }

    fn parameter(&mut self, parameter: ParameterId) {
        self.see(ApiPart::Parameter(parameter));
    }
}
