//! Owns the check of record changes: keys, the required fields of new records, and the effects of actions.

use super::api::{Builder, key_kind};
use crate::doc::EffectDoc;
use crate::expr::{Expr, ExprType};
use crate::model::{Change, Effect, FieldId, ResourceId, Setter, Which};
use crate::schema::KeyKind;
use diorama_format::path::Path;

impl Builder<'_> {
    /// Checks that a key expression gives a key of this resource.
    pub(super) fn check_key(&mut self, id: ResourceId, key: &Expr, path: &Path<'_>) {
        let resource = self.resource(id);
        let fits = match &key.kind {
            ExprType::Any | ExprType::Null => true,
            ExprType::Key(other) => *other == id,
            ExprType::Integer => key_kind(resource) == KeyKind::Integer,
            ExprType::String => key_kind(resource) == KeyKind::String,
            _ => false,
        };
        if !fits {
            let name = &resource.name;
            error!(self.findings, path => "found an expression that is not a key of `{name}`";
                "give the `{}` of the record", resource.field(resource.key).name);
        }
    }

    /// Checks that a create sets all required fields.
    pub(super) fn check_complete(&mut self, id: ResourceId, set: &[(FieldId, Setter)], here: &Path<'_>) {
        let resource = self.resource(id);
        // In APIs of signed-in users, the world sets the owner field.
        let owner = resource.owner.filter(|_| self.doc.auth);
        for (index, field) in resource.fields.iter().enumerate() {
            let position = FieldId(index as u16);
            let by_itself = position == resource.key
                || Some(position) == owner
                || field.optional
                || field.default.is_some()
                || field.schema.nullable;
            if by_itself {
                continue;
            }
            match set.iter().find(|(set, _)| *set == position) {
                None => error!(self.findings, here =>
                    "found no value for `{}.{}`, which must have one", resource.name, field.name;
                    "add a parameter `{0}: {{like: {1}.{0}}}`, or give it in `set`, or make the field optional", field.name, resource.name),
                Some((_, Setter::Argument(parameter))) => {
                    let parameter = self.parameter(*parameter);
                    if !parameter.required && parameter.default.is_none() {
                        error!(self.findings, self.path.name("parameters").name(&parameter.name) =>
                            "found an optional parameter for `{}.{}`, which must have a value", resource.name, field.name;
                            "make it required, or give it or the field a default");
                    }
                }
                Some((_, Setter::Expr(_))) => {}
            }
        }
    }

    pub(super) fn effects(&mut self, here: &Path<'_>) -> Vec<Effect> {
        let section = here.name("also");
        let doc = &self.doc.behaviour.also;
        doc.iter().enumerate().filter_map(|(i, effect)| self.effect(effect, &section.index(i))).collect()
    }

    fn effect(&mut self, doc: &EffectDoc, path: &Path<'_>) -> Option<Effect> {
        let kinds = [("create", &doc.create), ("update", &doc.update), ("delete", &doc.delete)];
        let mut given = kinds.into_iter().filter_map(|(kind, name)| Some((kind, name.as_deref()?)));
        let (Some((kind, name)), None) = (given.next(), given.next()) else {
            error!(self.findings, path => "found no or several changes";
                "write exactly one of create, update, delete");
            return None;
        };
        let resource = self.find_resource(name, &path.name(kind))?;
        let when = doc.when.as_ref().map(|source| self.condition(source, &path.name("when")));
        let allowed: &[&str] = match kind {
            "create" => &["set", "as"],
            "update" => &["key", "where", "set"],
            _ => &["key", "where"],
        };
        let options = [
            ("key", doc.key.is_some()),
            ("where", doc.condition.is_some()),
            ("set", !doc.set.is_empty()),
            ("as", doc.name.is_some()),
        ];
        for (option, _) in options.into_iter().filter(|(option, given)| *given && !allowed.contains(option)) {
            error!(self.findings, path.name(option) => "found `{option}`, which does nothing for `{kind}`";
                "remove it");
        }
        let change = match kind {
            "create" => {
                let set = self.effect_set(resource, doc, None, path);
                let setters: Vec<_> =
                    set.iter().map(|(field, expr)| (*field, Setter::Expr(expr.clone()))).collect();
                self.check_complete(resource, &setters, path);
                let name = doc.name.as_ref().and_then(|name| {
                    let bound = self.scope.bind(name, ExprType::Record(resource));
                    bound
                        .map_err(|error| self.findings.error(path.name("as"), error.message, "rename it"))
                        .ok()
                });
                Change::Create { set, name }
            }
            "update" => {
                let which = self.which(resource, doc, path)?;
                let set = self.effect_set(resource, doc, Some(resource), path);
                if set.is_empty() && doc.set.is_empty() {
                    self.findings.error(path, "found an update without `set`", "say which fields change");
                }
                Change::Update { which, set }
            }
            _ => Change::Delete { which: self.which(resource, doc, path)? },
        };
        Some(Effect { when, resource, change })
    }

    fn effect_set(
        &mut self,
        id: ResourceId,
        doc: &EffectDoc,
        item: Option<ResourceId>,
        path: &Path<'_>,
    ) -> Vec<(FieldId, Expr)> {
        let section = path.name("set");
        let resource = self.resource(id);
        self.scope.set_item(item);
        let mut set = Vec::with_capacity(doc.set.len());
        for (name, source) in &doc.set {
            let here = section.name(name);
            let Some(field) = self.find_field(id, name, &here) else { continue };
            if item.is_some() && field == resource.key {
                error!(self.findings, here => "found a new value for the key";
                    "keys never change; make a new record");
                continue;
            }
            set.push((field, self.value(source, &resource.field(field).schema, &here)));
        }
        self.scope.set_item(None);
        set.sort_by_key(|(field, _)| *field);
        set
    }

    fn which(&mut self, id: ResourceId, doc: &EffectDoc, path: &Path<'_>) -> Option<Which> {
        match (&doc.key, &doc.condition) {
            (Some(key), None) => {
                let here = path.name("key");
                let key = self.expression(key, &here);
                self.check_key(id, &key, &here);
                Some(Which::Key(key))
            }
            (None, Some(condition)) => {
                self.scope.set_item(Some(id));
                let condition = self.condition(condition, &path.name("where"));
                self.scope.set_item(None);
                let index = condition.item_index();
                Some(Which::Where { condition, index })
            }
            _ => {
                error!(self.findings, path => "found no or both of `key` and `where`";
                    "say which records change with one of them");
                None
            }
        }
    }
}
