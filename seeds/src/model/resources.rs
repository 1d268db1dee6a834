//! The resources that an API reads or changes.

use std::collections::BTreeSet;

use super::Api;
use super::behaviour::{BehaviourKind, Change, Query, Setter, Which};
use super::ids::ResourceId;
use super::reply::{Member, Shape, Source};
use crate::expr::node::{Expr, Node};

/// Resources that are being gathered.
#[derive(Default)]
struct Resources(BTreeSet<ResourceId>);

impl Api {
    /// The resources whose records a call may read or change.
    #[must_use]
    pub fn resources(&self) -> BTreeSet<ResourceId> {
        let mut found = Resources::default();
        found.kind(&self.behaviour.kind);
        let bindings = self.behaviour.bindings.iter().map(|(_, expr)| expr);
        let rules = self.behaviour.require.iter().map(|rule| &rule.that);
        let beside = self.reply.with.iter().map(|(_, expr)| expr);
        bindings.chain(rules).chain(beside).for_each(|expr| found.node(&expr.node));
        for effect in &self.behaviour.also {
            found.0.insert(effect.resource);
            effect.when.iter().for_each(|when| found.node(&when.node));
            match &effect.change {
                Change::Create { set, .. } => set.iter().for_each(|(_, expr)| found.node(&expr.node)),
                Change::Update { which, set } => {
                    found.which(which);
                    set.iter().for_each(|(_, expr)| found.node(&expr.node));
                }
                Change::Delete { which } => found.which(which),
            }
        }
        found.members(&self.reply.members);
        found.0
    }
}

impl Resources {
    fn kind(&mut self, kind: &BehaviourKind) {
        match kind {
            BehaviourKind::Get { resource, key } | BehaviourKind::Delete { resource, key } => {
                self.record(*resource, key.as_ref());
            }
            BehaviourKind::Action { target: Some((resource, key)) } => self.record(*resource, key.as_ref()),
            BehaviourKind::Lookup { resource, .. } => self.record(*resource, None),
            BehaviourKind::List(query) | BehaviourKind::Aggregate { query, .. } => self.query(query),
            BehaviourKind::Create { resource, set } => self.set(*resource, None, set),
            BehaviourKind::Replace { resource, key, set } | BehaviourKind::Patch { resource, key, set } => {
                self.set(*resource, key.as_ref(), set);
            }
            BehaviourKind::Members { resource, key, query, .. } => {
                self.record(*resource, key.as_ref());
                self.query(query);
            }
            BehaviourKind::AddMembers { resource, key, .. }
            | BehaviourKind::RemoveMembers { resource, key, .. } => self.record(*resource, key.as_ref()),
            BehaviourKind::Compute(members) => members.iter().for_each(|(_, expr)| self.node(&expr.node)),
            BehaviourKind::Action { target: None }
            | BehaviourKind::SignIn { .. }
            | BehaviourKind::SignOut => {}
        }
    }

    fn record(&mut self, resource: ResourceId, key: Option<&Expr>) {
        self.0.insert(resource);
        key.into_iter().for_each(|key| self.node(&key.node));
    }

    fn set(&mut self, resource: ResourceId, key: Option<&Expr>, set: &[(super::FieldId, Setter)]) {
        self.record(resource, key);
        for (_, setter) in set {
            if let Setter::Expr(expr) = setter {
                self.node(&expr.node);
            }
        }
    }

    fn query(&mut self, query: &Query) {
        self.record(query.resource, query.condition.as_ref());
    }

    fn which(&mut self, which: &Which) {
        match which {
            Which::Key(key) => self.node(&key.node),
            Which::Where { condition, .. } => self.node(&condition.node),
        }
    }

    fn members(&mut self, members: &[Member]) {
        members.iter().for_each(|member| self.source(&member.source));
    }

    fn source(&mut self, source: &Source) {
        match source {
            Source::Field(_) | Source::Value(_) => {}
            Source::Expr(expr) => self.node(&expr.node),
            Source::Object(members) => self.members(members),
            Source::Follow(_, resource, shape) => {
                self.0.insert(*resource);
                self.shape(shape);
            }
            Source::Many(many) => {
                self.record(many.resource, many.condition.as_ref());
                self.shape(&many.shape);
            }
        }
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Object(members) => self.members(members),
            Shape::Bare(source) => self.source(source),
        }
    }

    fn node(&mut self, node: &Node) {
        node.visit(&mut |node| {
            match node {
                Node::Get(resource, _) | Node::Exists(resource, _) => {
                    self.0.insert(*resource);
                }
                Node::Fold(fold) => {
                    self.0.insert(fold.resource);
                }
                _ => {}
            }
            true
        });
    }
}
