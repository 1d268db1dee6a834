//! Owns the compilation of behaviours: the kind, its options, bindings and checks.

use std::collections::{HashMap, HashSet};

use super::api::{Builder, key_kind, nothing};
use super::expressions::plain;
use super::field::assignable;
use super::options::{self, Kind};
use crate::expr::{Expr, ExprType, Node, Slot};
use crate::model::{Behaviour, BehaviourKind, Each, FieldId, ParameterId, Require, ResourceId, Setter};
use crate::schema::{KeyKind, Type};
use crate::task::RefusalClass;
use crate::value::{Str, nfc};
use diorama_format::path::Path;

/// The records that a reply shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyRecords {
    /// One record, which is `record` in the reply's expressions.
    One(ResourceId),
    /// Records in a list. If they are members of a holder, `record` in `with` is the holder.
    Many(ResourceId, Option<ResourceId>),
    /// Groups of an aggregate.
    Groups,
    /// No record.
    Nothing,
    /// Unknown, because the behaviour has errors. The reply is then not checked further.
    Unknown,
}

impl Builder<'_> {
    /// Returns the behaviour, and the records that its reply can show.
    pub(super) fn behaviour(&mut self) -> (Behaviour, ReplyRecords) {
        let path = self.path;
        let here = path.name("behaviour");
        let doc = &self.doc.behaviour;
        let Some((kind, name)) = options::kind_of(doc, &here, self.findings) else {
            return (nothing(), ReplyRecords::Unknown);
        };
        options::check(doc, kind, &here, self.findings);
        let at = here.name(kind.name());
        let target = match kind {
            Kind::Compute | Kind::SignIn | Kind::SignOut => None,
            Kind::Action if name == "none" => None,
            Kind::Members | Kind::AddMembers | Kind::RemoveMembers => {
                let (holder, list) = name.split_once('.').unwrap_or((name, ""));
                let Some(holder) = self.find_resource(holder, &at) else {
                    return (nothing(), ReplyRecords::Unknown);
                };
                let Some(list) = self.find_field(holder, list, &at) else {
                    return (nothing(), ReplyRecords::Unknown);
                };
                Some((holder, Some(list)))
            }
            _ => match self.find_resource(name, &at) {
                Some(resource) => Some((resource, None)),
                None => return (nothing(), ReplyRecords::Unknown),
            },
        };
        let resource = target.map(|(resource, _)| resource);
        // The key is evaluated before the record is known, so `record` is not in scope.
        let key = match (kind, resource) {
            (Kind::Get | Kind::Replace | Kind::Patch | Kind::Delete | Kind::Action, Some(resource))
            | (Kind::Members | Kind::AddMembers | Kind::RemoveMembers, Some(resource)) => {
                self.key(resource, doc.key.as_deref(), &here)
            }
            _ => {
                if doc.key.is_some() && kind == Kind::Action {
                    error!(self.findings, here.name("key") => "found a key for `action: none`";
                        "name the resource acted on");
                }
                None
            }
        };
        let acted_on = match kind {
            Kind::List | Kind::Create | Kind::Aggregate => None,
            _ => resource,
        };
        self.scope.set_record(acted_on);
        let bindings = self.bindings(&here);
        let moves = resource.and_then(|resource| self.moves(resource, &here));
        let mut require = self.require(&here);
        let (rules, replaced, misreadings) = (self.rules(), self.replaced_rules(), self.misreadings());
        let confirms = self.confirms();
        let shown = match (kind, resource) {
            (Kind::List, Some(resource)) => ReplyRecords::Many(resource, None),
            (Kind::Create, Some(resource)) if doc.each.is_some() => ReplyRecords::Many(resource, None),
            (Kind::Aggregate, _) => ReplyRecords::Groups,
            (Kind::Members, Some(holder)) => {
                let member = target.and_then(|(_, list)| self.member_of(holder, list?, &at));
                member.map_or(ReplyRecords::Unknown, |member| ReplyRecords::Many(member, Some(holder)))
            }
            (_, Some(resource)) => ReplyRecords::One(resource),
            (_, None) => ReplyRecords::Nothing,
        };
        let keep = match (&doc.keep, resource) {
            (Some(name), Some(resource)) => self.find_field(resource, name, &here.name("keep")),
            _ => None,
        };
        let acted_on_key = key.clone();
        let mut made = self.kind(kind, target, key, &here);
        if kind == Kind::Create {
            self.scope.set_record(resource);
        }
        let mut also = self.effects(&here);
        if let (Some(moves), Some(resource)) = (moves, resource) {
            self.check_move(&moves, made.as_ref(), &also, &here);
            let effect = moves.apply(made.as_mut(), resource, acted_on_key, &mut require);
            effect.into_iter().for_each(|effect| also.insert(0, effect));
        }
        let each = resource.and_then(|resource| self.each(resource, &here));
        let Some(kind) = made else { return (nothing(), ReplyRecords::Unknown) };
        let upsert = doc.upsert;
        let behaviour = Behaviour {
            kind,
            bindings,
            require,
            rules,
            replaced,
            misreadings,
            confirms,
            also,
            keep,
            upsert,
            each,
        };
        (behaviour, shown)
    }

    /// Returns the list from which several records are made, and the records that it replaces.
    fn each(&mut self, resource: ResourceId, here: &Path<'_>) -> Option<Each> {
        let doc = &self.doc.behaviour;
        let parameter = self.find_parameter(doc.each.as_ref()?, &here.name("each"))?;
        self.scope.set_item(Some(resource));
        let instead_of = doc.condition.as_ref().map(|source| self.condition(source, &here.name("where")));
        self.scope.set_item(None);
        Some(Each { parameter, instead_of })
    }

    fn kind(
        &mut self,
        kind: Kind,
        target: Option<(ResourceId, Option<FieldId>)>,
        key: Option<Expr>,
        here: &Path<'_>,
    ) -> Option<BehaviourKind> {
        let at = here.name(kind.name());
        let Some((resource, list)) = target else {
            return match kind {
                Kind::Compute => Some(BehaviourKind::Compute(self.computed(&at))),
                Kind::SignIn => self.sign_in(here),
                Kind::SignOut => Some(BehaviourKind::SignOut),
                _ => Some(BehaviourKind::Action { target: None }),
            };
        };
        Some(match kind {
            Kind::Get => BehaviourKind::Get { resource, key },
            Kind::Lookup => BehaviourKind::Lookup { resource, by: self.by(resource, here) },
            Kind::List => BehaviourKind::List(self.query(resource, here)),
            Kind::Create => {
                let set = self.setters(kind, resource, None, here);
                self.check_complete(resource, &set, here);
                BehaviourKind::Create { resource, set }
            }
            Kind::Replace => BehaviourKind::Replace {
                resource,
                set: self.setters(kind, resource, key.as_ref(), here),
                key,
            },
            Kind::Patch => {
                BehaviourKind::Patch { resource, set: self.setters(kind, resource, key.as_ref(), here), key }
            }
            Kind::Delete => BehaviourKind::Delete { resource, key },
            Kind::Action => BehaviourKind::Action { target: Some((resource, key)) },
            Kind::Members => {
                let member = self.member_of(resource, list?, &at)?;
                BehaviourKind::Members { resource, field: list?, key, query: self.query(member, here) }
            }
            Kind::AddMembers | Kind::RemoveMembers => {
                let of = self.member_of(resource, list?, &at)?;
                let member = self.member(of, key.as_ref(), here)?;
                let position = self.position(here);
                let field = list?;
                if kind == Kind::AddMembers {
                    BehaviourKind::AddMembers { resource, field, key, member, position }
                } else {
                    BehaviourKind::RemoveMembers { resource, field, key, member }
                }
            }
            Kind::Aggregate => self.aggregate(resource, here),
            Kind::Compute | Kind::SignIn | Kind::SignOut => return None,
        })
    }

    /// Returns the key expression: the written one, or the parameter that references the resource or has the
    /// name of its key.
    fn key(&mut self, id: ResourceId, written: Option<&str>, here: &Path<'_>) -> Option<Expr> {
        let resource = self.resource(id);
        if let Some(source) = written {
            let path = here.name("key");
            let key = self.expression(source, &path);
            self.check_key(id, &key, &path);
            return Some(key);
        }
        if resource.singleton {
            return None;
        }
        let key_name = &resource.field(resource.key).name;
        let refers = |kind: &Type| matches!(kind, Type::Reference { resource, .. } if *resource == id);
        let references: Vec<usize> =
            (0..self.parameters.len()).filter(|index| refers(&self.parameters[*index].schema.kind)).collect();
        let named = self.parameters.iter().position(|parameter| parameter.name == *key_name);
        let in_path = references
            .iter()
            .copied()
            .find(|index| self.parameters[*index].place == crate::model::Place::Path);
        let found = match references.as_slice() {
            [one] => Some(*one),
            [] => named,
            _ => named.or(in_path),
        };
        let Some(index) = found else {
            let problem = if references.is_empty() { "no parameter" } else { "several parameters" };
            error!(self.findings, here => "found {problem} with the key of a `{}`", resource.name;
                "add the parameter `{key_name}: {{ref: {}}}`, or say which record with `key`", resource.name);
            return None;
        };
        let parameter = &self.parameters[index];
        let source = format!("args.{}", parameter.name);
        let key = plain(Node::Argument(ParameterId(index as u16)), ExprType::Key(id), &source);
        if refers(&parameter.schema.kind) || matches!(parameter.schema.kind, Type::Any) {
            return Some(key);
        }
        let fits = match parameter.schema.kind {
            Type::Integer => key_kind(resource) == KeyKind::Integer,
            Type::String | Type::Enum(_) => key_kind(resource) == KeyKind::String,
            _ => false,
        };
        if !fits {
            error!(self.findings, self.path.name("parameters").name(&parameter.name) =>
                "found a parameter whose type is not that of the keys of `{}`", resource.name;
                "write `{{ref: {}}}`", resource.name);
        }
        Some(key)
    }

    /// Returns the `let` names, each after those that it uses, so that the order of keys in the document has
    /// no meaning.
    fn bindings(&mut self, here: &Path<'_>) -> Vec<(Slot, Expr)> {
        let doc = &self.doc.behaviour.bindings;
        let section = here.name("let");
        let names: HashSet<&str> = doc.keys().map(String::as_str).collect();
        let mut uses: HashMap<&str, Vec<&str>> = HashMap::new();
        for (name, source) in doc {
            let words = source.split(|character: char| !(character.is_alphanumeric() || character == '_'));
            uses.insert(name, words.filter(|word| *word != name && names.contains(word)).collect());
        }
        let mut order: Vec<&str> = Vec::with_capacity(doc.len());
        while order.len() < doc.len() {
            let mut waiting: Vec<&str> =
                doc.keys().map(String::as_str).filter(|name| !order.contains(name)).collect();
            waiting.sort_unstable();
            let ready = |name: &&&str| {
                uses.get(**name).is_none_or(|used| used.iter().all(|name| order.contains(name)))
            };
            // In a cycle, the first name is taken. The expression that uses the other name causes a finding.
            let Some(next) = waiting.iter().find(ready).or(waiting.first()) else { break };
            order.push(next);
        }
        let mut bindings = Vec::with_capacity(doc.len());
        for name in order {
            let path = section.name(name);
            let expr = self.expression(&doc[name], &path);
            match self.scope.bind(name, expr.kind.clone()) {
                Ok(slot) => bindings.push((slot, expr)),
                Err(error) => self.findings.error(path, error.message, "rename it"),
            }
        }
        bindings
    }

    fn require(&mut self, here: &Path<'_>) -> Vec<Require> {
        let section = here.name("require");
        let mut checks = Vec::with_capacity(self.doc.behaviour.require.len());
        for (i, check) in self.doc.behaviour.require.iter().enumerate() {
            let path = section.index(i);
            let that = self.condition(&check.that, &path.name("that"));
            let refusal = path.name("else");
            if !(400..=499).contains(&check.otherwise.status) {
                error!(self.findings, refusal.name("status") =>
                    "found {}, expected a status from 400 to 499", check.otherwise.status;
                    "use 404 for what is not there, 409 for a conflict, 422 for a bad value, 403 for what is not allowed");
            }
            if check.otherwise.message.trim().is_empty() {
                error!(self.findings, refusal.name("message") => "found an empty message";
                    "say why the call is refused");
            }
            let mut reasons = check.otherwise.reason.clone();
            let by_status = RefusalClass::of_status(check.otherwise.status);
            reasons.extend(by_status.filter(|class| !check.otherwise.reason.contains(class)));
            if check.otherwise.reason.is_empty() {
                reasons.extend(RefusalClass::of_rule(check.otherwise.status));
                if that.node.reads_clock() {
                    reasons.extend(RefusalClass::of_deadline(check.otherwise.status));
                }
            }
            checks.push(Require {
                that,
                status: check.otherwise.status,
                reasons,
                message: nfc(&check.otherwise.message),
            });
        }
        checks
    }

    /// Returns the field values of create, replace and patch: parameters with the names of fields, then
    /// `set`.
    fn setters(
        &mut self,
        kind: Kind,
        id: ResourceId,
        key: Option<&Expr>,
        here: &Path<'_>,
    ) -> Vec<(FieldId, Setter)> {
        let resource = self.resource(id);
        let doc = &self.doc.behaviour.set;
        let section = here.name("set");
        let mut set: Vec<(FieldId, Setter)> = Vec::new();
        let key_parameter = match key.map(|key| &key.node) {
            Some(Node::Argument(parameter)) => Some(*parameter),
            _ => None,
        };
        let parameters_path = self.path;
        let parameters_path = parameters_path.name("parameters");
        // A behaviour that stores the body assigns the fitting members to fields at each call.
        let by_name = if self.doc.behaviour.keep.is_some() { &[] } else { self.parameters };
        for (index, parameter) in by_name.iter().enumerate() {
            let position = ParameterId(index as u16);
            let Some(field) = resource.field_named(&parameter.name) else { continue };
            let names_the_record =
                key_parameter == Some(position) || (kind != Kind::Create && field == resource.key);
            if names_the_record || doc.contains_key(&*parameter.name) {
                continue;
            }
            if !assignable(&parameter.schema, &resource.field(field).schema) {
                error!(self.findings, parameters_path.name(&parameter.name) =>
                    "found a parameter whose type does not fit the field `{}.{}`", resource.name, parameter.name;
                    "write `like: {}.{}`", resource.name, parameter.name);
            }
            set.push((field, Setter::Argument(position)));
        }
        for (name, source) in doc {
            let path = section.name(name);
            let Some(field) = self.find_field(id, name, &path) else { continue };
            if kind != Kind::Create && field == resource.key && !self.doc.behaviour.upsert {
                error!(self.findings, path => "found a new value for the key";
                    "keys never change; make a new record");
                continue;
            }
            let expr = self.value(source, &resource.field(field).schema, &path);
            set.push((field, Setter::Expr(expr)));
        }
        // The order of fields replaces that of keys in the document, which has no meaning.
        set.sort_by_key(|(field, _)| *field);
        set
    }

    fn computed(&mut self, at: &Path<'_>) -> Vec<(Str, Expr)> {
        let doc = &self.doc.behaviour.compute;
        doc.iter()
            .map(|(name, source)| {
                let path = at.name(name);
                let expr = self.expression(source, &path);
                self.check_output(&expr, &path);
                (nfc(name), expr)
            })
            .collect()
    }

    /// Checks that a reply holds values, not records or durations.
    pub(super) fn check_output(&mut self, expr: &Expr, path: &Path<'_>) {
        let problem = match &expr.kind {
            ExprType::Record(_) => {
                Some(("a record", "name one of its fields, or embed it with `follow` or `many`"))
            }
            ExprType::Duration => Some(("a duration", "use `minutes_between` or `days_between`")),
            ExprType::List(items) if matches!(**items, ExprType::Record(_)) => {
                Some(("a list of records", "embed it with `follow` or `many`"))
            }
            _ => None,
        };
        if let Some((what, fix)) = problem {
            self.findings.error(path, format!("found {what}, expected a value that a reply can show"), fix);
        }
    }

    fn sign_in(&mut self, here: &Path<'_>) -> Option<BehaviourKind> {
        let auth = self.shared.auth?;
        let users = self.resource(auth.user);
        let at = here.name("sign_in");
        let login = self.find_parameter(&users.field(auth.login).name, &at);
        let secret = self.find_parameter(&users.field(auth.secret).name, &at);
        Some(BehaviourKind::SignIn { login: login?, secret: secret? })
    }
}
