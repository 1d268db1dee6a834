//! Owns the sentence on units and currencies at the end of an API's description, because JSON numbers have
//! none.

use crate::english::{enumerate, split_identifier};
use crate::expr::units;
use crate::model::{BehaviourKind, FieldId, Measure, Member, Reply, Resource, ResourceId, Shape, Source};
use crate::schema::{Schema, Type};
use crate::value::Str;

/// Returns a sentence with the units and currencies that neither the description nor member names show. It is
/// empty if there are none.
pub(super) fn tell_units(
    description: &str,
    behaviour: &BehaviourKind,
    reply: &Reply,
    resources: &[Resource],
) -> String {
    let mut measured = MemberMeasures { resources, found: Vec::new() };
    match behaviour {
        BehaviourKind::Aggregate { query, measures, .. } => {
            for (name, measure) in measures {
                match measure {
                    Measure::Sum(field)
                    | Measure::Average(field)
                    | Measure::Min(field)
                    | Measure::Max(field) => {
                        measured.field(name, query.resource, *field);
                    }
                    Measure::Count => {}
                }
            }
        }
        _ => {
            if let Some(resource) = behaviour.shown() {
                measured.members(resource, &reply.members);
            }
        }
    }
    let untold = measured.found.into_iter().filter(|(unit, _)| !description.contains(&**unit));
    let told: Vec<String> = untold.map(|(unit, names)| format!("{} in {unit}", enumerate(&names))).collect();
    if told.is_empty() { String::new() } else { format!("Replies give {}.", told.join("; ")) }
}

struct MemberMeasures<'a> {
    resources: &'a [Resource],
    /// Names of members by unit or currency, in words.
    found: Vec<(Str, Vec<String>)>,
}

impl MemberMeasures<'_> {
    fn members(&mut self, of: ResourceId, members: &[Member]) {
        for member in members {
            self.source(&member.name, of, &member.source);
        }
    }

    fn source(&mut self, name: &str, of: ResourceId, source: &Source) {
        match source {
            Source::Field(field) => self.field(name, of, *field),
            Source::Follow(_, resource, shape) => self.shape(name, *resource, shape),
            Source::Many(many) => self.shape(name, many.resource, &many.shape),
            Source::Object(members) => self.members(of, members),
            Source::Expr(_) | Source::Value(_) => {}
        }
    }

    fn shape(&mut self, name: &str, of: ResourceId, shape: &Shape) {
        match shape {
            Shape::Object(members) => self.members(of, members),
            Shape::Bare(source) => self.source(name, of, source),
        }
    }

    fn field(&mut self, name: &str, of: ResourceId, field: FieldId) {
        let Some(field) = self.resources.get(of.index()).and_then(|of| of.fields.get(field.index())) else {
            return;
        };
        let Some(unit) = measure(&field.schema) else { return };
        let words = split_identifier(name);
        // `distance_km` shows its unit, and `minutes` shows the unit `min`.
        let names_unit = |word: &String| {
            word.eq_ignore_ascii_case(unit) || units::convert(1.0, word, unit).is_some_and(|own| own == 1.0)
        };
        if words.iter().any(names_unit) {
            return;
        }
        let words = words.join(" ");
        match self.found.iter_mut().find(|(known, _)| known == unit) {
            Some((_, names)) if names.contains(&words) => {}
            Some((_, names)) => names.push(words),
            None => self.found.push((unit.clone(), vec![words])),
        }
    }
}

/// Returns the unit of a number, or the currency of an amount.
fn measure(schema: &Schema) -> Option<&Str> {
    match &schema.kind {
        Type::Decimal { currency: Some(currency), .. } => Some(currency),
        Type::List(item) => measure(item),
        _ => schema.unit.as_ref(),
    }
}
