//! Names that an expression can use: resources, arguments, records and variables, with their types.

use crate::expr::error::ExprError;
use crate::expr::node::{ExprType, Slot};
use crate::model::{DomainId, FieldId, Parameter, Resource, ResourceId};
use crate::schema::{KeyKind, Schema, Type};
use crate::value::{Str, Zone};

/// The names that an expression may use.
///
/// One scope serves all expressions of an API: it hands out slots, and no two `let` names, effect names or fold
/// variables of the API share one.
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
    /// The type of each slot from [`Slot::FIRST_FREE`] on, also of fold variables that are out of sight again.
    kinds: Vec<ExprType>,
}

/// Names that are out of sight for a while.
pub(super) struct HiddenNames(Vec<Name>);

#[derive(Clone, Debug)]
struct Name {
    name: Str,
    slot: Slot,
}

/// Names that mean something else everywhere.
pub(super) const RESERVED: [&str; 6] = ["args", "record", "item", "me", "now", "today"];

impl<'a> Scope<'a> {
    /// A scope over the resources of one domain, by their local names. `zone` is the world's, for literals of
    /// local time.
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

    /// Adds an API's parameters: `args.name`.
    #[must_use]
    pub fn with_parameters(mut self, parameters: &'a [Parameter]) -> Self {
        self.parameters = parameters;
        self
    }

    /// Says of which resource `record` is ([`Slot::RECORD`]); without one the name is unknown.
    pub fn set_record(&mut self, resource: Option<ResourceId>) {
        self.record = resource;
    }

    /// Says of which resource `item` is ([`Slot::ITEM`]).
    pub fn set_item(&mut self, resource: Option<ResourceId>) {
        self.item = resource;
    }

    /// Says of which resource `me` is ([`Slot::ME`]).
    pub fn set_me(&mut self, resource: Option<ResourceId>) {
        self.me = resource;
    }

    /// Names a value or record for the expressions that follow (a `let`, an effect's `as`), and gives it a slot.
    ///
    /// # Errors
    /// The name is not an identifier, or is taken.
    pub fn bind(&mut self, name: &str, kind: ExprType) -> Result<Slot, ExprError> {
        self.check_new_name(name).map_err(|message| ExprError { offset: 0, message })?;
        let slot = self.allocate(kind)?;
        self.names.push(Name { name: name.into(), slot });
        Ok(slot)
    }

    /// How many slots the expressions compiled so far need together.
    pub fn slots(&self) -> u16 {
        Slot::FIRST_FREE + self.kinds.len() as u16
    }

    /// The resource of a local name.
    pub fn resource_named(&self, name: &str) -> Option<ResourceId> {
        self.resources
            .iter()
            .position(|resource| &*resource.name == name && resource.domain == self.domain)
            .map(|index| ResourceId(index as u16))
    }

    /// The field of a resource by name.
    pub fn field_named(&self, resource: ResourceId, name: &str) -> Option<FieldId> {
        self.resource(resource)?.field_named(name)
    }

    /// The type of a field's values.
    pub fn kind_of(&self, resource: ResourceId, field: FieldId) -> ExprType {
        self.field_kind(resource, field)
    }

    pub(super) fn resource(&self, id: ResourceId) -> Option<&'a Resource> {
        self.resources.get(id.index())
    }

    pub(super) fn field_schema(&self, resource: ResourceId, field: FieldId) -> Option<&'a Schema> {
        Some(&self.resource(resource)?.fields.get(field.index())?.schema)
    }

    /// The type of a field; the key field is the key of its resource.
    pub(super) fn field_kind(&self, resource: ResourceId, field: FieldId) -> ExprType {
        match self.resource(resource) {
            Some(found) if found.key == field => ExprType::Key(resource),
            _ => self.field_schema(resource, field).map_or(ExprType::Any, kind_of_schema),
        }
    }

    /// The type of a resource's key as a value.
    pub(super) fn key_kind(&self, resource: ResourceId) -> Option<KeyKind> {
        let resource = self.resource(resource)?;
        match &resource.fields.get(resource.key.index())?.schema.kind {
            Type::Integer => Some(KeyKind::Integer),
            Type::Reference { key, .. } => Some(*key),
            Type::String | Type::Enum(_) => Some(KeyKind::String),
            _ => None,
        }
    }

    /// The slot and type of a name that is not `args`, `now` or `today`.
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

    /// The type of a slot, also of a fold variable whose fold has ended.
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

    /// Hides all names that the scope's user gave, for an expression that sees its own only.
    pub(super) fn hide_names(&mut self) -> HiddenNames {
        HiddenNames(std::mem::take(&mut self.names))
    }

    /// Shows the names that were hidden, and no others.
    pub(super) fn restore_names(&mut self, hidden: HiddenNames) {
        self.names = hidden.0;
    }

    /// How many names are visible, for [`Scope::close_to`].
    pub(super) fn mark(&self) -> usize {
        self.names.len()
    }

    /// Hides the names that became visible after the mark.
    pub(super) fn close_to(&mut self, mark: usize) {
        self.names.truncate(mark);
    }

    /// True when a name may be given to something new.
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

    /// Every name that can stand alone, for messages.
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

/// The type of values of a schema.
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
