//! Fills the wordings of scenarios: templates over bindings and replies.
//!
//! Templates are Jinja's with one brace: `{found.available}`, `{due|weekday}`, `{% if .. %}`. They see only
//! the bindings and the replies of one play, and a bound limits their instructions.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::leaf::{Leaf, Setting, show};
use super::templates::TEMPLATES;
use diorama_engine::{Body, State};
use diorama_proof::measures::leaf_schema;
use diorama_seeds::casing::Casing;
use diorama_seeds::model::{Record, Resource, ResourceId};
use diorama_seeds::scenario::{Bindings, BoundValue};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::value::Value;
use minijinja::value::{DynObject, Enumerator, Object, Value as Shown, ValueKind};
use minijinja::{Error, ErrorKind};
use serde_json::{Map, Value as Json};

use crate::worlds::world::BatchWorld;

/// The names that the wordings and arguments of a play can use.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    setting: Arc<Setting>,
    bindings: Arc<Bindings>,
    state: State,
    /// Named replies, and the item of a repeated step.
    named: BTreeMap<String, Shown>,
}

impl Scene {
    /// Creates the scene of a play that begins.
    #[must_use]
    pub(crate) fn new(world: &BatchWorld, casing: Casing, bindings: Bindings, state: State) -> Self {
        let (base, alternates, now) = (world.base.clone(), world.alternates.clone(), state.clock());
        Self {
            setting: Arc::new(Setting { base, alternates, casing, now }),
            bindings: Arc::new(bindings),
            state,
            named: BTreeMap::new(),
        }
    }

    /// Returns the casing in which callers see the names of the scenario's domain.
    pub(crate) fn casing(&self) -> Casing {
        self.setting.casing
    }

    /// Replaces the records.
    pub(crate) fn set_state(&mut self, state: State) {
        self.state = state;
    }

    /// Gives a name to a reply.
    pub(crate) fn name_reply(&mut self, name: &str, body: &Body) {
        let shown = self.body(body);
        self.named.insert(name.to_owned(), shown);
    }

    /// Gives a name to several replies.
    pub(crate) fn name_replies(&mut self, name: &str, bodies: &[&Body]) {
        let shown: Vec<Shown> = bodies.iter().map(|body| self.body(body)).collect();
        self.named.insert(name.to_owned(), Shown::from(shown));
    }

    /// Gives a name to an item.
    pub(crate) fn name_item(&mut self, name: &str, item: Shown) {
        self.named.insert(name.to_owned(), item);
    }

    /// Returns the value of a binding.
    #[must_use]
    pub(crate) fn held(&self, name: &str) -> Option<&BoundValue> {
        self.bindings.iter().find(|(own, _)| own == name).map(|(_, held)| held)
    }

    /// Fills in a wording.
    ///
    /// # Errors
    /// Returns an error if it names something that does not exist.
    pub(crate) fn say(&self, wording: &str) -> Result<String, Error> {
        let text = TEMPLATES.render_str(wording, Shown::from_object(self.clone()))?;
        let mut said = String::with_capacity(text.len());
        // A condition without text must not leave its blanks.
        for character in text.trim().chars() {
            let is_second = match character {
                ' ' => said.ends_with([' ', '\n']),
                // A value may end a sentence of its own.
                '.' => ["?", "!", ".\"", "?\"", "!\""].iter().any(|end| said.ends_with(end)),
                _ => false,
            };
            if !is_second {
                said.push(character);
            }
        }
        Ok(said)
    }

    /// Returns a value as wordings see it.
    pub(crate) fn shown(&self, value: &Value, schema: Schema) -> Shown {
        show(&self.setting, value, &Arc::new(schema))
    }

    /// Returns a value in words.
    pub(crate) fn spell(&self, value: &Value, schema: Schema) -> String {
        let is_choice = matches!(schema.kind, Type::Enum(_));
        let spelt = self.shown(value, schema).to_string();
        if is_choice { spelt.replace('_', " ") } else { spelt }
    }

    /// Returns the value of an expression.
    ///
    /// # Errors
    /// Returns an error if it has none, or names something that does not exist.
    pub(crate) fn value(&self, expression: &str) -> Result<Shown, Error> {
        TEMPLATES.compile_expression(expression)?.eval(Shown::from_object(self.clone()))
    }

    /// Returns the value of an argument: a string is an expression, and any other JSON is itself.
    ///
    /// # Errors
    /// Returns an error if the expression has no value that a call could take.
    pub(crate) fn argument(&self, given: &Json) -> Result<Json, Error> {
        match given {
            Json::String(expression) => self.json(&self.value(expression)?),
            other => Ok(other.clone()),
        }
    }

    fn json(&self, value: &Shown) -> Result<Json, Error> {
        let zone = &self.setting.base.world().zone;
        if let Some(leaf) = value.downcast_object_ref::<Leaf>() {
            return Ok(leaf.value.to_json(zone));
        }
        if let Some(row) = value.downcast_object_ref::<Row>() {
            return Ok(row.key.to_json(zone));
        }
        match value.kind() {
            ValueKind::Bool => Ok(Json::Bool(value.is_true())),
            ValueKind::String => Ok(Json::from(value.to_string())),
            ValueKind::None => Ok(Json::Null),
            ValueKind::Number => match i64::try_from(value.clone()) {
                Ok(whole) => Ok(Json::from(whole)),
                Err(_) => Ok(Json::from(f64::try_from(value.clone())?)),
            },
            ValueKind::Seq | ValueKind::Iterable => value.try_iter()?.map(|item| self.json(&item)).collect(),
            ValueKind::Map => {
                let mut members = Map::new();
                for key in value.try_iter()? {
                    members.insert(key.to_string(), self.json(&value.get_item(&key)?)?);
                }
                Ok(Json::Object(members))
            }
            _ => Err(Error::new(ErrorKind::InvalidOperation, "found nothing that a call could take")),
        }
    }

    fn body(&self, body: &Body) -> Shown {
        match body {
            Body::Leaf(value, origin) => {
                let schema = leaf_schema(origin, self.setting.base.world());
                show(&self.setting, value, &Arc::new(schema))
            }
            Body::List(items) => Shown::from(items.iter().map(|item| self.body(item)).collect::<Vec<_>>()),
            Body::Object(members) => {
                let own = |name: &str| self.setting.casing.read(name).into_owned();
                let members = members.iter().map(|(name, member)| (own(name), self.body(member)));
                Shown::from(members.collect::<BTreeMap<_, _>>())
            }
        }
    }

    fn record(&self, resource: ResourceId, key: &Value) -> Shown {
        Shown::from_object(Row {
            setting: self.setting.clone(),
            state: self.state.clone(),
            resource,
            key: key.clone(),
            of_new: None,
        })
    }
}

impl Object for Scene {
    fn get_value(self: &Arc<Self>, name: &Shown) -> Option<Shown> {
        let name = name.as_str()?;
        if let Some(named) = self.named.get(name) {
            return Some(named.clone());
        }
        match name {
            "now" => {
                return Some(show(
                    &self.setting,
                    &Value::DateTime(self.setting.now),
                    &Arc::new(Schema::of(Type::DateTime)),
                ));
            }
            "today" => {
                let today = self.setting.base.world().zone.date_of(self.setting.now);
                return Some(show(&self.setting, &Value::Date(today), &Arc::new(Schema::of(Type::Date))));
            }
            _ => {}
        }
        if name == "currency" && self.held(name).is_none() {
            return only_currency(&self.setting.base.world().resources).map(Shown::from);
        }
        Some(match self.held(name)? {
            BoundValue::Record(resource, key) => self.record(*resource, key),
            BoundValue::Records(resource, keys) => {
                Shown::from(keys.iter().map(|key| self.record(*resource, key)).collect::<Vec<_>>())
            }
            BoundValue::New(resource, record) => Shown::from_object(Row {
                setting: self.setting.clone(),
                state: self.state.clone(),
                resource: *resource,
                key: Value::Null,
                of_new: Some(record.clone()),
            }),
            BoundValue::Value(value, schema) => show(&self.setting, value, schema),
        })
    }
}

/// Returns the currency of resources whose amounts all have one currency.
pub(crate) fn only_currency<'w>(resources: impl IntoIterator<Item = &'w Resource>) -> Option<&'w str> {
    let fields = resources.into_iter().flat_map(|resource| &resource.fields);
    let mut codes = fields.filter_map(|field| match &field.schema.kind {
        Type::Decimal { currency, .. } => currency.as_deref(),
        _ => None,
    });
    let first = codes.next()?;
    codes.all(|code| code == first).then_some(first)
}

/// A record: its members are its fields, references lead to other records, and the record itself reads as its
/// display name.
#[derive(Debug)]
struct Row {
    setting: Arc<Setting>,
    state: State,
    resource: ResourceId,
    key: Value,
    /// The record itself, if it is an alternate record.
    of_new: Option<Record>,
}

impl Row {
    fn record(&self) -> Option<&Record> {
        self.of_new.as_ref().or_else(|| self.state.get(&self.setting.base, self.resource, &self.key))
    }
}

impl Object for Row {
    fn get_value(self: &Arc<Self>, name: &Shown) -> Option<Shown> {
        let base = &self.setting.base;
        let resource = base.world().resource(self.resource);
        let field = resource.field_named(name.as_str()?)?;
        let value = self.record()?.get(field.index())?;
        let schema = match self.of_new {
            Some(_) => &self.setting.alternates.resource(self.resource).field(field).schema,
            None => &resource.field(field).schema,
        };
        match (&schema.kind, value) {
            // An alternate record refers to no record of the world.
            (Type::Reference { .. }, _) if self.of_new.is_some() => None,
            (Type::Reference { resource, .. }, value) if !value.is_missing() => {
                Some(Shown::from_object(Self {
                    setting: self.setting.clone(),
                    state: self.state.clone(),
                    resource: *resource,
                    key: value.clone(),
                    of_new: None,
                }))
            }
            _ => Some(show(&self.setting, value, &Arc::new(schema.clone()))),
        }
    }

    fn custom_cmp(self: &Arc<Self>, other: &DynObject) -> Option<Ordering> {
        Some(self.key.cmp(&other.downcast_ref::<Self>()?.key))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::NonEnumerable
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = &self.setting.base;
        let resource = base.world().resource(self.resource);
        let called = resource.display.and_then(|field| self.record()?.get(field.index()));
        f.write_str(&called.unwrap_or(&self.key).to_text(&base.world().zone))
    }
}
