//! The uses of an API: its parameters, and the resources whose records it can show or reveal something about.

use std::collections::HashSet;

use crate::expr::{Expr, Node};
use crate::model::{
    Api, BehaviourKind, Change, FilterTest, Member, ParameterId, Query, ResourceId, Setter, Shape, Source,
    Which,
};

/// The parameters and resources that one API uses.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// Positions of the parameters that something depends on.
    pub(super) parameters: HashSet<usize>,
    /// Resources of which a call shows records, or from whose records a reply or refusal follows.
    pub(super) shown: HashSet<ResourceId>,
    /// The parameter with the page size.
    pub(super) limit: Option<usize>,
}

impl Uses {
    pub(super) fn of(api: &Api) -> Self {
        let mut uses = Self::default();
        uses.parameters.extend(api.token.map(ParameterId::index));
        uses.kind(&api.behaviour.kind);
        for (_, expr) in &api.behaviour.bindings {
            uses.expr(expr);
        }
        for require in &api.behaviour.require {
            uses.expr(&require.that);
        }
        for effect in &api.behaviour.also {
            effect.when.iter().for_each(|when| uses.expr(when));
            match &effect.change {
                Change::Create { set, .. } => set.iter().for_each(|(_, expr)| uses.expr(expr)),
                Change::Update { which, set } => {
                    uses.which(which);
                    set.iter().for_each(|(_, expr)| uses.expr(expr));
                }
                Change::Delete { which } => uses.which(which),
            }
        }
        uses.members(&api.reply.members);
        api.reply.with.iter().for_each(|(_, expr)| uses.expr(expr));
        uses
    }

    fn kind(&mut self, kind: &BehaviourKind) {
        match kind {
            BehaviourKind::Get { resource, key } | BehaviourKind::Delete { resource, key } => {
                self.one(*resource, key.as_ref());
            }
            BehaviourKind::Lookup { resource, by } => {
                self.shown.insert(*resource);
                by.iter().for_each(|(_, parameter)| self.parameter(*parameter));
            }
            BehaviourKind::List(query) => {
                self.shown.insert(query.resource);
                self.query(query);
            }
            // A create shows the record it makes, not those there are.
            BehaviourKind::Create { set, .. } => self.setters(set),
            BehaviourKind::Replace { resource, key, set } | BehaviourKind::Patch { resource, key, set } => {
                self.one(*resource, key.as_ref());
                self.setters(set);
            }
            BehaviourKind::Action { target } => {
                if let Some((resource, key)) = target {
                    self.one(*resource, key.as_ref());
                }
            }
            BehaviourKind::Members { key, query, .. } => {
                key.iter().for_each(|key| self.expr(key));
                self.shown.insert(query.resource);
                self.query(query);
            }
            BehaviourKind::AddMembers { resource, key, member, position, .. } => {
                self.one(*resource, key.as_ref());
                self.parameter(*member);
                position.iter().for_each(|position| self.parameter(*position));
            }
            BehaviourKind::RemoveMembers { resource, key, member, .. } => {
                self.one(*resource, key.as_ref());
                self.parameter(*member);
            }
            BehaviourKind::Compute(computed) => computed.iter().for_each(|(_, expr)| self.expr(expr)),
            BehaviourKind::Aggregate { query, .. } => {
                self.shown.insert(query.resource);
                self.query(query);
            }
            BehaviourKind::SignIn { login, secret } => {
                self.parameter(*login);
                self.parameter(*secret);
            }
            BehaviourKind::SignOut => {}
        }
    }

    fn one(&mut self, resource: ResourceId, key: Option<&Expr>) {
        self.shown.insert(resource);
        key.iter().for_each(|key| self.expr(key));
    }

    fn parameter(&mut self, parameter: ParameterId) {
        self.parameters.insert(parameter.index());
    }

    fn setters(&mut self, set: &[(crate::model::FieldId, Setter)]) {
        for (_, setter) in set {
            match setter {
                Setter::Argument(parameter) => self.parameter(*parameter),
                Setter::Expr(expr) => self.expr(expr),
            }
        }
    }

    fn query(&mut self, query: &Query) {
        for filter in &query.filters {
            match &filter.test {
                FilterTest::Compare(..) | FilterTest::Text(_) => self.parameter(filter.parameter),
            }
        }
        query.condition.iter().for_each(|condition| self.expr(condition));
        if let Some((parameter, _)) = &query.sort_parameter {
            self.parameter(*parameter);
        }
        if let Some(page) = &query.page {
            self.parameter(page.parameter);
            self.limit = page.limit.map(ParameterId::index);
            page.limit.iter().for_each(|limit| self.parameter(*limit));
        }
    }

    fn which(&mut self, which: &Which) {
        match which {
            Which::Key(key) => self.expr(key),
            Which::Where { condition, .. } => self.expr(condition),
        }
    }

    fn members(&mut self, members: &[Member]) {
        members.iter().for_each(|member| self.source(&member.source));
    }

    fn source(&mut self, source: &Source) {
        match source {
            Source::Field(_) | Source::Value(_) => {}
            Source::Follow(_, resource, shape) => {
                self.shown.insert(*resource);
                self.shape(shape);
            }
            Source::Many(many) => {
                self.shown.insert(many.resource);
                many.condition.iter().for_each(|condition| self.expr(condition));
                self.shape(&many.shape);
            }
            Source::Expr(expr) => self.expr(expr),
            Source::Object(members) => self.members(members),
        }
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Object(members) => self.members(members),
            Shape::Bare(source) => self.source(source),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        expr.node.visit(&mut |node| {
            match node {
                Node::Argument(parameter) => self.parameter(*parameter),
                Node::Get(resource, _) | Node::Exists(resource, _) => {
                    self.shown.insert(*resource);
                }
                Node::Fold(fold) => {
                    self.shown.insert(fold.resource);
                }
                _ => {}
            }
            true
        });
    }
}
