//! Owns the names that an expression can use, with their types: resources, arguments, records and variables.

use crate::expr::error::ExprError;
use crate::expr::node::{ExprType, Slot};
use crate::model::{DomainId, FieldId, Parameter, Resource, ResourceId};
use crate::schema::{KeyKind, Schema, Type};
use crate::value::{Str, Zone};

/// The names that an expression may use.
///
/// One scope serves all expressions of an API. It assigns a separate slot to each `let` name, effect name and
/// fold variable of the API.
///
/// ```
/// use diorama_seeds::expr::{ExprType, Scope, compile};
/// use diorama_seeds::model::DomainId;
/// use diorama_seeds::value::Zone;
///
/// let zone = Zone::utc();
/// let mut scope = Scope::new(&[], DomainId(0), &zone);
/// let nights = compile("2 * 3", &mut scope)?;
/// scope.bind("nights", nights.kind)?;
/// assert_eq!(compile("nights > 5 ? 'long' : 'short'", &mut scope)?.kind, ExprType::String);
/// # Ok::<(), diorama_seeds::expr::ExprError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scope<'a> {
    pub(super) resources: &'a [Resource],
    domain: DomainId,
    pub(super) zone: &'a Zone,
    pub(super) parameters: &'a [Parameter],
    record: Option<ResourceId>,
    item: Option<ResourceId>,
    me: Option<ResourceId>,
    names: Vec<Name>,
    /// Type of each slot from [`Slot::FIRST_FREE`] on, including fold variables that are no longer visible.
    kinds: Vec<ExprType>,
}

/// Names that are temporarily hidden.
pub(super) struct HiddenNames(Vec<Name>);

#[derive(Clone, Debug)]
struct Name {
    name: Str,
    slot: Slot,
}

/// Names with a fixed meaning.
pub(super) const RESERVED: [&str; 6] = ["args", "record", "item", "me", "now", "today"];

impl<'a> Scope<'a> {
    /// Makes a scope over the resources of one domain, by their local names. `zone` is the world's time zone,
    /// for literals of local time.
    pub fn new(resources: &'a [Resource], domain: DomainId, zone: &'a Zone) -> Self {
        Self {
            resources,
            domain,
            zone,
            parameters: &[],
            record: None,
            item: None,
            me: None,
            names: Vec::new(),
            kinds: Vec::new(),
        }
    }

    /// Adds the parameters of an API: `args.name`.
    #[must_use]
    pub fn with_parameters(mut self, parameters: &'a [Parameter]) -> Self {
        self.parameters = parameters;
        self
    }

    /// Sets the resource of `record` ([`Slot::RECORD`]). Without a resource, the name is unknown.
    pub fn set_record(&mut self, resource: Option<ResourceId>) {
        self.record = resource;
    }

    /// Sets the resource of `item` ([`Slot::ITEM`]).
    pub fn set_item(&mut self, resource: Option<ResourceId>) {
        self.item = resource;
    }

    /// Sets the resource of `me` ([`Slot::ME`]).
    pub fn set_me(&mut self, resource: Option<ResourceId>) {
        self.me = resource;
    }

    /// Assigns a name and a slot to a value or record for later expressions (a `let`, an effect's `as`).
    ///
    /// # Errors
    /// Returns an error if the name is not an identifier, or is taken.
    pub fn bind(&mut self, name: &str, kind: ExprType) -> Result<Slot, ExprError> {
        self.check_new_name(name).map_err(|message| ExprError { offset: 0, message })?;
        let slot = self.allocate(kind)?;
        self.names.push(Name { name: name.into(), slot });
        Ok(slot)
    }

    /// Returns the number of slots that the expressions compiled so far need together.
    pub fn slots(&self) -> u16 {
        Slot::FIRST_FREE + self.kinds.len() as u16
    }

    /// Returns the resource with this local name.
    pub fn resource_named(&self, name: &str) -> Option<ResourceId> {
        self.resources
            .iter()
            .position(|resource| &*resource.name == name && resource.domain == self.domain)
            .map(|index| ResourceId(index as u16))
    }

    /// Returns the field of a resource by its name.
    pub fn field_named(&self, resource: ResourceId, name: &str) -> Option<FieldId> {
        self.resource(resource)?.field_named(name)
    }

    /// Returns the type of a field's values.
    pub fn kind_of(&self, resource: ResourceId, field: FieldId) -> ExprType {
        self.field_kind(resource, field)
    }

    pub(super) fn resource(&self, id: ResourceId) -> Option<&'a Resource> {
        self.resources.get(id.index())
    }

    pub(super) fn field_schema(&self, resource: ResourceId, field: FieldId) -> Option<&'a Schema> {
        Some(&self.resource(resource)?.fields.get(field.index())?.schema)
    }

    /// Returns the type of a field. The type of a key field is the key of its resource.
    pub(super) fn field_kind(&self, resource: ResourceId, field: FieldId) -> ExprType {
        match self.resource(resource) {
            Some(found) if found.key == field => ExprType::Key(resource),
            _ => self.field_schema(resource, field).map_or(ExprType::Any, kind_of_schema),
        }
    }

    /// Returns the type of a resource's key as a value.
    pub(super) fn key_kind(&self, resource: ResourceId) -> Option<KeyKind> {
        let resource = self.resource(resource)?;
        match &resource.fields.get(resource.key.index())?.schema.kind {
            Type::Integer => Some(KeyKind::Integer),
            Type::Reference { key, .. } => Some(*key),
            Type::String | Type::Enum(_) => Some(KeyKind::String),
            _ => None,
        }
    }

    /// Returns the slot and type of a name other than `args`, `now` and `today`.
    pub(super) fn variable(&self, name: &str) -> Option<(Slot, ExprType)> {
        let fixed = |slot, resource: Option<ResourceId>| Some((slot, ExprType::Record(resource?)));
        match name {
            "record" => fixed(Slot::RECORD, self.record),
            "item" => fixed(Slot::ITEM, self.item),
            "me" => fixed(Slot::ME, self.me),
            _ => {
                let found = self.names.iter().rev().find(|known| &*known.name == name)?;
                Some((found.slot, self.slot_kind(found.slot)?))
            }
        }
    }

    /// Returns the type of a slot, including fold variables that are no longer visible.
    pub(super) fn slot_kind(&self, slot: Slot) -> Option<ExprType> {
        match slot {
            Slot::RECORD => self.record.map(ExprType::Record),
            Slot::ITEM => self.item.map(ExprType::Record),
            Slot::ME => self.me.map(ExprType::Record),
            Slot(other) => self.kinds.get(usize::from(other.checked_sub(Slot::FIRST_FREE)?)).cloned(),
        }
    }

    /// Makes a fold's variable visible until [`Scope::close`].
    pub(super) fn open(&mut self, name: &str, resource: ResourceId) -> Result<Slot, ExprError> {
        let slot = self.allocate(ExprType::Record(resource))?;
        self.names.push(Name { name: name.into(), slot });
        Ok(slot)
    }

    pub(super) fn close(&mut self) {
        self.names.pop();
    }

    /// Hides all names that the user of the scope defined, for an expression that sees only its own.
    pub(super) fn hide_names(&mut self) -> HiddenNames {
        HiddenNames(std::mem::take(&mut self.names))
    }

    /// Restores exactly the names that were hidden.
    pub(super) fn restore_names(&mut self, hidden: HiddenNames) {
        self.names = hidden.0;
    }

    /// Returns the number of visible names, for [`Scope::close_to`].
    pub(super) fn mark(&self) -> usize {
        self.names.len()
    }

    /// Hides the names that became visible after the mark.
    pub(super) fn close_to(&mut self, mark: usize) {
        self.names.truncate(mark);
    }

    /// Checks that a name is valid and not taken.
    pub(super) fn check_new_name(&self, name: &str) -> Result<(), String> {
        let starts_well = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if !starts_well || !name.chars().all(|each| each.is_ascii_alphanumeric() || each == '_') {
            return Err(format!(
                "`{name}` is not a name; expected letters, digits and `_`, the first not a digit"
            ));
        }
        if RESERVED.contains(&name) {
            return Err(format!("the name `{name}` has a fixed meaning; choose another"));
        }
        if self.names.iter().any(|known| &*known.name == name) {
            return Err(format!("the name `{name}` is taken; choose another"));
        }
        if self.resource_named(name).is_some() {
            return Err(format!("`{name}` is a resource; choose another name"));
        }
        Ok(())
    }

    /// Returns all names that can stand alone, for messages.
    pub(super) fn all_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.names.iter().map(|known| &*known.name).collect();
        names.extend(self.resources.iter().filter(|each| each.domain == self.domain).map(|each| &*each.name));
        names.extend(["now", "today"]);
        let fixed = [("record", self.record), ("item", self.item), ("me", self.me)];
        names.extend(fixed.iter().filter(|(_, resource)| resource.is_some()).map(|(name, _)| *name));
        if !self.parameters.is_empty() {
            names.push("args");
        }
        names
    }

    fn allocate(&mut self, kind: ExprType) -> Result<Slot, ExprError> {
        let slot = Slot(self.slots());
        if slot.0 >= 1024 {
            return Err(ExprError {
                offset: 0,
                message: "more than 1,000 variables in one API; use fewer `let` names and folds".to_owned(),
            });
        }
        self.kinds.push(kind);
        Ok(slot)
    }
}

/// Returns the type of a schema's values.
pub(super) fn kind_of_schema(schema: &Schema) -> ExprType {
    match &schema.kind {
        Type::Integer => ExprType::Integer,
        Type::Number => ExprType::Number,
        Type::Decimal { scale, .. } => ExprType::Decimal(*scale),
        Type::Date => ExprType::Date,
        Type::Time => ExprType::Time,
        Type::DateTime => ExprType::DateTime,
        Type::Boolean => ExprType::Boolean,
        Type::String | Type::Enum(_) => ExprType::String,
        Type::Reference { resource, .. } => ExprType::Key(*resource),
        Type::List(items) => ExprType::List(Box::new(kind_of_schema(items))),
        Type::Object(_) => ExprType::Object,
        Type::Any => ExprType::Any,
    }
}
