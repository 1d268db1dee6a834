//! Fills object arguments: an address, a line of an order. The user says their members one by one.

use diorama_seeds::doc::PlaceDoc;
use diorama_seeds::english::spaced;
use diorama_seeds::model::{Api, BehaviourKind, FieldId, Parameter, ResourceId};
use diorama_seeds::naming::is_identifier;
use diorama_seeds::schema::{ObjectField, Schema, Type};
use diorama_seeds::value::Value;
use serde_json::Value as Json;

use super::sketch::{Sketch, member};
use super::spoken::SPOKEN;
use super::values::{WordedArgument, words_of};

/// The number of members that the user says of an object that requires none.
const MAX_OPTIONAL: usize = 2;
/// The greatest number of members that the user says of an object.
const MAX_MEMBERS: usize = 5;
/// Levels of nested objects.
const MAX_DEPTH: u32 = 2;
/// Numbers without limits are drawn from this one on, within `NUMBER_SPAN`.
const MIN_NUMBER: i64 = 2;
const NUMBER_SPAN: i64 = 10;

impl Sketch<'_> {
    /// Returns an object with its required members: of a new record, if the parameter's field is an object.
    pub(crate) fn object(
        &mut self,
        field: Option<(ResourceId, FieldId)>,
        fields: &[ObjectField],
    ) -> Option<WordedArgument> {
        let held = field.and_then(|(resource, field)| {
            let own = self.world().resource(resource).field(field);
            match &own.schema.kind {
                Type::Object(held) if is_identifier(&own.name) => {
                    Some((resource, own.name.to_string(), held.clone()))
                }
                _ => None,
            }
        });
        let (expression, said) = self.members(fields, 0, &mut |sketch, own| {
            let (resource, name, held) = held.as_ref()?;
            held.iter().find(|held| held.name == own.name).filter(|_| is_identifier(&own.name))?;
            let place = sketch.new_record(*resource);
            sketch.only_where(&place, format!("item.{name}.{} != null", own.name));
            Some(member(&format!("{place}.{name}"), &own.name))
        })?;
        Some((expression, vec![said]))
    }

    /// Returns the object that only names a new record: `folder: {name: Archive}`. Its words are the name.
    pub(crate) fn name_of_new(
        &mut self,
        api: &Api,
        parameter: &Parameter,
        fields: &[ObjectField],
    ) -> Option<WordedArgument> {
        let (BehaviourKind::Create { resource, .. } | BehaviourKind::Patch { resource, .. }) =
            api.behaviour.kind
        else {
            return None;
        };
        let mut required = fields.iter().filter(|field| !field.optional);
        let only = required.next().filter(|_| required.next().is_none())?;
        let described = self.world().resource(resource);
        let display = &described.field(described.display?).name;
        if described.label != parameter.label
            || !SPOKEN.is_name(&spaced(&only.name))
            || !is_identifier(display)
        {
            return None;
        }
        let place = member(&self.new_record(resource), display);
        let value = format!("{{{}: {place}}}", Json::from(&*only.name));
        Some((value, vec![format!("{{{place}}}")]))
    }

    /// Returns the members of an object as an expression, and in words. `held` returns the path of a known
    /// member.
    fn members(
        &mut self,
        fields: &[ObjectField],
        depth: u32,
        held: &mut dyn FnMut(&mut Self, &ObjectField) -> Option<String>,
    ) -> Option<(String, String)> {
        let required: Vec<&ObjectField> = fields.iter().filter(|field| !field.optional).collect();
        let is_free = required.is_empty();
        let all: Vec<&ObjectField> = if is_free { fields.iter().collect() } else { required };
        if !is_free && all.len() > MAX_MEMBERS {
            return None;
        }
        let (mut given, mut said) = (Vec::new(), Vec::new());
        for field in all {
            if is_free && given.len() == MAX_OPTIONAL {
                break;
            }
            let found = match &field.schema.kind {
                Type::Object(inner) if depth < MAX_DEPTH => self
                    .members(inner, depth + 1, &mut |_, _| None)
                    .map(|(value, words)| (value, format!("({words})"))),
                _ => match held(self, field) {
                    Some(place) => {
                        words_of(&place, &field.schema).into_iter().next().map(|words| (place, words))
                    }
                    None => self.leaf(&field.name, &field.schema),
                },
            };
            match found {
                Some((value, words)) => {
                    given.push(format!("{}: {value}", Json::from(&*field.name)));
                    said.push(format!("{} {words}", spaced(&field.name)));
                }
                None if is_free => {}
                None => return None,
            }
        }
        (!given.is_empty()).then(|| (format!("{{{}}}", given.join(", ")), said.join(", ")))
    }

    /// Returns a value of a member, as some record holds under that name.
    fn leaf(&mut self, name: &str, schema: &Schema) -> Option<(String, String)> {
        let label = spaced(name);
        let is_number = matches!(schema.kind, Type::Integer | Type::Number | Type::Decimal { .. });
        if SPOKEN.is_key(&label) || is_number && schema.unit.is_none() && !SPOKEN.is_figure(&label) {
            return None;
        }
        let place = self.fresh(name);
        let number = |value: &Option<Value>| value.as_ref().and_then(Value::as_f64);
        let doc = match &schema.kind {
            Type::Enum(values) => {
                let pick = values.iter().map(|value| Json::from(&**value)).collect();
                PlaceDoc { pick, ..PlaceDoc::default() }
            }
            Type::Integer | Type::Number | Type::Decimal { .. } => {
                let max = number(&schema.limits.max).unwrap_or(f64::MAX);
                let from =
                    number(&schema.limits.min).unwrap_or(MIN_NUMBER as f64).max(MIN_NUMBER as f64).min(max);
                let to = max.min(from + NUMBER_SPAN as f64);
                PlaceDoc { from: Some(from), to: Some(to), ..PlaceDoc::default() }
            }
            Type::String => PlaceDoc { like: Some(self.field_like(name)?), ..PlaceDoc::default() },
            _ => return None,
        };
        self.doc.bind.insert(place.clone(), doc);
        let words = words_of(&place, schema).into_iter().next()?;
        Some((place, words))
    }

    /// Returns a field of this name that users ask for or call a record by: `customer.city`.
    pub(crate) fn field_like(&self, name: &str) -> Option<String> {
        let world = self.world();
        let guide = self.writer.guide();
        world.resources.iter().enumerate().find_map(|(index, resource)| {
            let id = resource.field_named(name)?;
            let field = resource.field(id);
            let is_told =
                resource.display == Some(id) || !guide.asks(ResourceId(index as u16), id).is_empty();
            (matches!(field.schema.kind, Type::String) && is_told)
                .then(|| format!("{}.{}", resource.name, field.name))
        })
    }
}
