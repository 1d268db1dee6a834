//! Chooses values for the arguments of a goal: bindings for the user's choices, and their words.

use diorama_seeds::contract::{first_state, is_gone, is_passing};
use diorama_seeds::doc::PlaceDoc;
use diorama_seeds::english::spaced;
use diorama_seeds::model::{Api, BehaviourKind, FieldId, FilterTest, Parameter, ParameterId, ResourceId};
use diorama_seeds::naming::is_identifier;
use diorama_seeds::schema::{Schema, Type, refers_to};
use diorama_seeds::value::Value;
use serde_json::Value as Json;

use super::sketch::{Sketch, member};
use super::spoken::SPOKEN;
use super::wording::tell_choice;
use crate::scenarios::render::with_unit;

/// The greatest number of days ahead of a requested date.
const DAYS_AHEAD: f64 = 20.0;
/// The greatest span of requested numbers above the least one.
const NUMBER_SPAN: i64 = 11;

/// An argument in `with`, and its words in the request, in several wordings.
pub(crate) type WordedArgument = (String, Vec<String>);

impl Sketch<'_> {
    /// Returns a value for a parameter that refers to no record.
    pub(crate) fn value(&mut self, api: &Api, id: ParameterId) -> Option<WordedArgument> {
        let parameter = &api.parameters[id.index()];
        if let Some(given) = self.filter_value(api, id) {
            return given;
        }
        // Users say only those values of a document whose names mean something to them.
        if api.contract.is_some() && !is_sayable(parameter) {
            return None;
        }
        if let Type::List(item) = &parameter.schema.kind
            && let Some(resource) = refers_to(&item.kind)
        {
            return self.name_several(resource);
        }
        if matches!(parameter.schema.kind, Type::String) && SPOKEN.is_speech(&parameter.label) {
            return Some(self.message(parameter));
        }
        match (&parameter.schema.kind, parameter.field) {
            (Type::Object(fields), field) => {
                self.name_of_new(api, parameter, fields).or_else(|| self.object(field, fields))
            }
            (Type::List(item), _) if matches!(item.kind, Type::Object(_)) => {
                let Type::Object(fields) = &item.kind else { return None };
                let (expression, words) = self.object(None, fields)?;
                Some((format!("[{expression}]"), words))
            }
            (Type::Enum(values), field) => {
                let values: Vec<&str> = values.iter().map(|value| &**value).collect();
                self.choice(api, parameter, field, &values)
            }
            (Type::Boolean, _) => {
                let place =
                    self.bind(parameter, PlaceDoc { pick: vec![Json::from(true)], ..PlaceDoc::default() });
                Some((place, vec!["yes".to_owned()]))
            }
            (Type::Integer, field) => {
                let (from, to) = self.range(parameter, field);
                let doc = PlaceDoc { from: Some(from as f64), to: Some(to as f64), ..PlaceDoc::default() };
                let place = self.bind(parameter, doc);
                let words = vec![with_unit(format!("{{{place}}}"), &parameter.schema)];
                Some((place, words))
            }
            (kind, Some((resource, field))) if !matches!(kind, Type::Object(_) | Type::Any) => {
                self.choose_new_value(parameter, resource, field)
            }
            (Type::Number | Type::Decimal { .. }, None) => {
                let (from, to) = self.range(parameter, None);
                let doc = PlaceDoc { from: Some(from as f64), to: Some(to as f64), ..PlaceDoc::default() };
                let place = self.bind(parameter, doc);
                let words = match &parameter.schema.kind {
                    Type::Decimal { currency: Some(code), .. } => format!("{{{place}|money('{code}')}}"),
                    _ => with_unit(format!("{{{place}}}"), &parameter.schema),
                };
                Some((place, vec![words]))
            }
            (Type::Date, None) => Some(self.day(parameter, |day| format!("today + days({day})"))),
            (Type::DateTime, None) => {
                let hours = PlaceDoc { from: Some(9.0), to: Some(18.0), ..PlaceDoc::default() };
                let hour = self.fresh("hour");
                self.doc.bind.insert(hour.clone(), hours);
                let moment =
                    |day: &str| format!("datetime(today + days({day}), time('00:00') + hours({hour}))");
                Some(self.day(parameter, moment))
            }
            (Type::Time, None) => {
                let minutes =
                    PlaceDoc { from: Some(480.0), to: Some(1170.0), step: Some(30.0), ..PlaceDoc::default() };
                let minute = self.fresh("minute");
                self.doc.bind.insert(minute.clone(), minutes);
                let value = Some(format!("time('00:00') + minutes({minute})"));
                let place = self.bind(parameter, PlaceDoc { value, ..PlaceDoc::default() });
                let words = words_of(&place, &parameter.schema);
                Some((place, words))
            }
            (Type::String, None) => self.text(api, parameter),
            _ => None,
        }
    }

    /// Picks a message that people write to each other.
    fn message(&mut self, parameter: &Parameter) -> WordedArgument {
        let pick = SPOKEN.messages.iter().map(|message| Json::from(message.as_str())).collect();
        let place = self.bind(parameter, PlaceDoc { pick, ..PlaceDoc::default() });
        let words = vec![format!("{{{place}}}")];
        (place, words)
    }

    /// Returns a string: the name of a new record, or a value that a field of the same name has elsewhere.
    fn text(&mut self, api: &Api, parameter: &Parameter) -> Option<WordedArgument> {
        if let BehaviourKind::Create { resource, .. } = api.behaviour.kind
            && SPOKEN.is_name(&parameter.label)
        {
            let display = self.world().resource(resource).display?;
            return self.choose_new_value(parameter, resource, display);
        }
        let like = Some(self.field_like(&parameter.name)?);
        let place = self.bind(parameter, PlaceDoc { like, ..PlaceDoc::default() });
        let words = vec![format!("{{{place}}}")];
        Some((place, words))
    }

    fn bind(&mut self, parameter: &Parameter, doc: PlaceDoc) -> String {
        let place = self.fresh(&self.name_of(parameter));
        self.doc.bind.insert(place.clone(), doc);
        place
    }

    /// Returns the value that a filter takes from the example record; none if the parameter is no filter.
    fn filter_value(&mut self, api: &Api, id: ParameterId) -> Option<Option<WordedArgument>> {
        let (BehaviourKind::List(query) | BehaviourKind::Aggregate { query, .. }) = &api.behaviour.kind
        else {
            return None;
        };
        let filter = query.filters.iter().find(|filter| filter.parameter == id)?;
        let (resource, place) = self.example.clone()?;
        let described = self.world().resource(resource);
        let name = |field: FieldId| described.field(field).name.to_string();
        use diorama_seeds::model::Comparison;
        let given = match &filter.test {
            FilterTest::Compare(field, comparison) => {
                let doc = described.field(*field);
                // Users filter by the fields that they ask for.
                let is_reference = refers_to(&doc.schema.kind).is_some();
                if api.contract.is_some()
                    && !is_reference
                    && self.writer.guide().asks(resource, *field).is_empty()
                {
                    return Some(None);
                }
                let (field, schema) = (name(*field), &doc.schema);
                if is_identifier(&field) {
                    self.only_where(&place, format!("item.{field} != null"));
                }
                let expression = member(&place, &field);
                match (comparison, &schema.kind) {
                    (Comparison::NotEqual | Comparison::Less | Comparison::Greater, _) => None,
                    (Comparison::On, Type::DateTime) => Some((
                        format!("{expression}|iso"),
                        vec![format!("on {{{expression}|date}}"), format!("on {{{expression}|day}}")],
                    )),
                    (Comparison::Has, _) => {
                        let first = format!("{expression}[0]");
                        Some((first.clone(), vec![format!("{{{first}}}")]))
                    }
                    (Comparison::In, Type::Enum(_)) => {
                        Some((format!("[{expression}]"), vec![tell_choice(&expression, &doc.label)]))
                    }
                    (Comparison::In, _) => Some((format!("[{expression}]"), words_of(&expression, schema))),
                    (_, Type::Enum(_)) => {
                        Some((expression.clone(), vec![tell_choice(&expression, &doc.label)]))
                    }
                    (_, Type::Object(_) | Type::List(_) | Type::Any) => None,
                    _ => Some((expression.clone(), words_of(&expression, schema))),
                }
            }
            FilterTest::Text(fields) => {
                let field =
                    described.display.filter(|field| fields.contains(field)).or(fields.first().copied());
                field.map(|field| {
                    let expression = member(&place, &name(field));
                    (expression.clone(), vec![format!("{{{expression}}}")])
                })
            }
        };
        Some(given)
    }

    /// Returns one of several values; a change picks one that the record does not have.
    fn choice(
        &mut self,
        api: &Api,
        parameter: &Parameter,
        field: Option<(ResourceId, FieldId)>,
        values: &[&str],
    ) -> Option<WordedArgument> {
        let changes =
            matches!(api.behaviour.kind, BehaviourKind::Replace { .. } | BehaviourKind::Patch { .. });
        // Users set neither the initial state of a record nor a passing one.
        let of_state = SPOKEN.is_state(&spaced(&parameter.name));
        let first = first_state(values.iter().copied(), &[]);
        let is_set = |value: &str| {
            !(is_passing(value) || is_gone(value) || of_state && values.len() > 2 && first == Some(value))
        };
        let set: Vec<&str> = values.iter().copied().filter(|value| !changes || is_set(value)).collect();
        let pick = if set.is_empty() { values.to_vec() } else { set };
        let place = self.fresh(&self.name_of(parameter));
        let condition = field.and_then(|(resource, field)| {
            let had = self.records.iter().find(|named| named.resource == resource).filter(|_| changes)?;
            let name = &self.world().resource(resource).field(field).name;
            is_identifier(name).then(|| format!("{place} != {}.{name}", had.place))
        });
        let doc =
            PlaceDoc { pick: pick.into_iter().map(Json::from).collect(), condition, ..PlaceDoc::default() };
        self.doc.bind.insert(place.clone(), doc);
        let words = vec![tell_choice(&place, &parameter.label)];
        Some((place, words))
    }

    /// Returns the least and the greatest number to request, within limits: those of the records, if the
    /// parameter has a field.
    fn range(&self, parameter: &Parameter, field: Option<(ResourceId, FieldId)>) -> (i64, i64) {
        let limit = |value: &Option<Value>| value.as_ref().and_then(Value::as_f64).map(|value| value as i64);
        let (min, max) = (limit(&parameter.schema.limits.min), limit(&parameter.schema.limits.max));
        let held = field.map(|(resource, field)| {
            let records = self.writer.alternates().resource(resource).records.iter();
            records
                .filter_map(|record| record.get(field.index())?.as_f64())
                .map(|value| value as i64)
                .collect::<Vec<_>>()
        });
        let held = held.unwrap_or_default();
        let low = min.unwrap_or(1).max(held.iter().copied().min().unwrap_or(i64::MIN));
        let high = max.unwrap_or(i64::MAX).min(held.iter().copied().max().unwrap_or(i64::MAX));
        (low, high.clamp(low, low.saturating_add(if held.is_empty() { NUMBER_SPAN } else { 1_000_000 })))
    }

    /// Chooses a field of an alternate record, so that the values of a new record fit together.
    fn choose_new_value(
        &mut self,
        parameter: &Parameter,
        resource: ResourceId,
        field: FieldId,
    ) -> Option<WordedArgument> {
        let name = self.world().resource(resource).field(field).name.to_string();
        let place = self.new_record(resource);
        if is_identifier(&name) {
            self.only_where(&place, format!("item.{name} != null"));
            let had = self.records.iter().find(|named| named.resource == resource);
            if let Some(had) = had.map(|named| named.place.clone()) {
                // A user does not request the current value.
                self.only_where(&place, format!("item.{name} != {had}.{name}"));
            }
        }
        let expression = member(&place, &name);
        let words = match &parameter.schema.kind {
            Type::List(item) if matches!(item.kind, Type::String | Type::Enum(_)) => {
                vec![format!("{{{expression}|list}}")]
            }
            Type::List(_) | Type::Object(_) | Type::Reference { .. } => return None,
            _ => words_of(&expression, &parameter.schema),
        };
        Some((expression, words))
    }

    /// Returns the binding of an alternate record.
    pub(crate) fn new_record(&mut self, resource: ResourceId) -> String {
        if let Some((_, place)) = self.new.iter().find(|(of, _)| *of == resource) {
            return place.clone();
        }
        let name = self.world().resource(resource).name.to_string();
        let place = self.fresh(&format!("new_{name}"));
        self.doc.bind.insert(place.clone(), PlaceDoc { like: Some(name), ..PlaceDoc::default() });
        self.new.push((resource, place.clone()));
        place
    }

    /// Returns a day ahead, and the value that follows from it.
    fn day(&mut self, parameter: &Parameter, value: impl Fn(&str) -> String) -> WordedArgument {
        // A second day comes after the first.
        let before = self.doc.bind.keys().rfind(|name| name.starts_with("the_days")).cloned();
        let days = self.fresh("days");
        let to = if before.is_some() { 6.0 } else { DAYS_AHEAD };
        self.doc.bind.insert(days.clone(), PlaceDoc { from: Some(1.0), to: Some(to), ..PlaceDoc::default() });
        let ahead = before.map_or(days.clone(), |before| format!("{before} + {days}"));
        let place = self.bind(parameter, PlaceDoc { value: Some(value(&ahead)), ..PlaceDoc::default() });
        let words = words_of(&place, &parameter.schema);
        (place, words)
    }

    /// Names several records, each found by a look-up of its name.
    fn name_several(&mut self, resource: ResourceId) -> Option<WordedArgument> {
        let world = self.world();
        let described = world.resource(resource);
        let display = described.field(described.display?).name.to_string();
        let finders = &self.writer.survey().finders[resource.index()];
        let finder = finders.iter().find(|finder| {
            let api = world.api(finder.api);
            let mut needed = api.parameters.iter().enumerate().filter(|(_, parameter)| parameter.required);
            finder.by.is_some() && needed.all(|(index, _)| finder.by == Some(ParameterId(index as u16)))
        })?;
        let api = world.api(finder.api);
        let by = self.name_of(&api.parameters[finder.by?.index()]);
        let place = self.fresh(&described.plural);
        let doc = PlaceDoc {
            some: Some(described.name.to_string()),
            min: Some(1),
            max: Some(3),
            ..PlaceDoc::default()
        };
        self.doc.bind.insert(place.clone(), doc);
        self.steps.push(diorama_seeds::doc::ScenarioStepDoc {
            each: Some(format!("one in {place}")),
            call: Some(api.name.to_string()),
            with: [(by, Json::from(member("one", &display)))].into_iter().collect(),
            ..Default::default()
        });
        Some((place.clone(), vec![format!("{{{place}|list}}")]))
    }
}

/// Returns true if users say values of this name: no keys, and no bare numbers.
fn is_sayable(parameter: &Parameter) -> bool {
    let is_number = matches!(parameter.schema.kind, Type::Integer | Type::Number | Type::Decimal { .. });
    let measures = parameter.schema.unit.is_some() || SPOKEN.is_figure(&parameter.label);
    !SPOKEN.is_key(&parameter.label) && (!is_number || measures)
}

/// Returns the words of a value in a request, in several wordings.
pub(crate) fn words_of(expression: &str, schema: &Schema) -> Vec<String> {
    match &schema.kind {
        Type::Date => vec![format!("{{{expression}|soon}}"), format!("on {{{expression}|day}}")],
        Type::DateTime => vec![
            format!("{{{expression}|soon}} at {{{expression}|time}}"),
            format!("on {{{expression}|date}} at {{{expression}|clock}}"),
        ],
        Type::Time => vec![format!("at {{{expression}|time}}"), format!("at {{{expression}|clock}}")],
        Type::Enum(_) => vec![format!("{{{expression}|spoken}}")],
        _ => vec![with_unit(format!("{{{expression}}}"), schema)],
    }
}
