//! Owns the value of one field in one record.

use std::collections::HashMap;

use super::cast::Cast;
use super::derive::{FinishedRecords, evaluate};
use super::maker::{Fault, Maker, Piece, fault};
use super::moment::Clock;
use super::plan::FieldPlan;
use super::provider::Provider;
use super::text::{email_from, near, username_from};
use crate::draw::Draw;
use crate::expr::eval::Records;
use crate::model::{Field, ResourceId, World};
use crate::schema::{Schema, Type};
use crate::value::{Date, Decimal, Instant, Time, Value, nfc};

/// A record while it is made.
pub(super) struct Making<'a> {
    pub(super) world: &'a World,
    pub(super) clock: Clock<'a>,
    /// Index of its resource.
    pub(super) resource: usize,
    /// Number of the record.
    pub(super) n: u64,
    /// Position among the records of one parent, otherwise its number.
    pub(super) position: u64,
    /// Keys by resource, in the order in which records are made.
    pub(super) keys: &'a [Vec<Value>],
    pub(super) done: &'a FinishedRecords<'a>,
    /// The values so far.
    pub(super) values: Vec<Value>,
    /// Number of list items drawn so far, including duplicates.
    pub(super) items_drawn: u32,
    pub(super) cast: Cast<'a>,
}

/// Returns the content of a field without a value.
pub(super) fn missing(field: &Field) -> Value {
    if field.optional { Value::Absent } else { Value::Null }
}

/// Returns true if another draw gives another value although the record's person stays the same.
pub(super) fn varies_alone(maker: &Maker) -> bool {
    matches!(maker, Maker::Text(Provider::Email | Provider::Username) | Maker::FromName { .. })
}

/// Maximum number of list items drawn for one record. Nested lists multiply.
const MAX_ITEMS_DRAWN: u32 = 200_000;

/// Maximum size of a finite set of values that is listed.
const MOST_LISTED: u64 = 100_000;

impl Making<'_> {
    /// Makes a value that the field may hold.
    pub(super) fn value(
        &mut self,
        maker: &Maker,
        field: &Field,
        plan: &FieldPlan,
        draw: &mut Draw,
    ) -> Result<Value, Fault> {
        let made = self.draw(maker, &field.schema, plan, draw)?;
        if made.is_missing() {
            return match field {
                Field { optional: true, .. } => Ok(Value::Absent),
                Field { schema: Schema { nullable: true, .. }, .. } => Ok(Value::Null),
                _ => fault(
                    "found no value for a field that must have one",
                    "add `nullable: true` or `optional: true`, or let the provider give a value in every record",
                ),
            };
        }
        self.fit(made, &field.schema)
    }

    fn draw(
        &mut self,
        maker: &Maker,
        schema: &Schema,
        plan: &FieldPlan,
        draw: &mut Draw,
    ) -> Result<Value, Fault> {
        Ok(match maker {
            Maker::Text(provider) => {
                let mut text = String::new();
                provider.write(&mut self.cast, plan.group, draw, &mut text);
                Value::String(nfc(&text))
            }
            Maker::Review { rating, rules } => {
                let rule = rules[self.mood(*rating)];
                let mut text = String::new();
                rule.write(&mut self.cast, plan.group, draw, &mut text);
                Value::String(nfc(&text))
            }
            Maker::FromName { email, field } => {
                let name = self.values.get(*field).and_then(Value::as_str).unwrap_or_default().to_owned();
                let mut text = String::new();
                if *email {
                    email_from(&name, draw, &mut text)
                } else {
                    username_from(&name, draw, &mut text)
                }
                Value::String(nfc(&text))
            }
            Maker::Template(pieces) => self.template(pieces, plan, draw)?,
            Maker::Pick { of, bounds } => {
                let point = draw.below(bounds.last().copied().unwrap_or(0));
                let place = bounds.partition_point(|bound| *bound <= point);
                of.get(place).or(of.last()).cloned().unwrap_or_default()
            }
            Maker::Deal(of) => draw.pick(of).cloned().unwrap_or_default(),
            Maker::Integer { min, max, step } => Value::Integer(on_grid(*min, *max, *step, draw)),
            Maker::Decimal { min, max, step, scale } => {
                Value::Decimal(Decimal { minor: on_grid(*min, *max, *step, draw), scale: *scale })
            }
            Maker::Price { min, max, scale } => {
                Value::Decimal(Decimal { minor: price(*min, *max, *scale, draw), scale: *scale })
            }
            Maker::Number { min, count, step, places } => {
                let value = min + draw.below(*count) as f64 * step;
                let unit = 10_f64.powi(*places);
                Value::number((value * unit).round() / unit).unwrap_or_default()
            }
            Maker::Coordinate { latitude } => {
                let centre = self
                    .cast
                    .city(plan.group)
                    .map(|city| if *latitude { city.latitude } else { city.longitude });
                Value::number(near(centre.unwrap_or(0.0), draw)).unwrap_or_default()
            }
            Maker::Date(span) => span
                .date(self.clock, draw)
                .map_or(Ok(Value::Null), |date| Ok(Value::Date(date)))
                .and_then(found)?,
            Maker::DateTime(span) => span
                .instant(self.clock, draw)
                .map_or(Ok(Value::Null), |instant| Ok(Value::DateTime(instant)))
                .and_then(found)?,
            Maker::Time(span) => Value::Time(span.time(draw)),
            Maker::After { field, least, most, step } => {
                self.after(*field, draw.between(*least, *most).saturating_mul(*step), schema)
            }
            Maker::Code(code) => Value::String(nfc(&code.write(draw))),
            Maker::Pattern(generator) => {
                let mut text = String::new();
                generator.write(draw, &mut text);
                Value::String(nfc(&text))
            }
            Maker::Row { by, of } => self.row(*by, of)?,
            Maker::Expr(expr) => match evaluate(expr, &self.values, self.clock, self.done) {
                Ok(value) => value,
                Err(error) => {
                    return fault(format!("the expression has no value: {error}"), "mend the expression");
                }
            },
            Maker::Position { start } => self.place(*start, schema),
            Maker::Through { reference, target, field } => {
                let key = self.values.get(*reference).cloned().unwrap_or_default();
                let record = self.done.get(*target, &key);
                record.and_then(|record| record.get(*field)).cloned().unwrap_or_default()
            }
            Maker::Reference(target) => self.reference(*target, plan, draw)?,
            Maker::List { of, min, max } => self.list(of, *min, *max, schema, plan, draw)?,
            Maker::Object(members) => {
                let mut made = Vec::with_capacity(members.len());
                for (name, schema, optional, maker) in members {
                    if *optional && !draw.chance(0.7) {
                        continue;
                    }
                    let value = self.draw(maker, schema, plan, draw)?;
                    made.push((name.clone(), self.fit(value, schema)?));
                }
                Value::object(made)
            }
            Maker::Chance { share, of } if draw.chance(*share) => self.draw(of, schema, plan, draw)?,
            Maker::Chance { .. } => Value::Null,
            Maker::Constant(value) => value.clone(),
        })
    }

    /// Returns the rating of a record in three steps: 0 for low, 1 for middle, 2 for high. A missing rating
    /// counts as high.
    fn mood(&self, rating: usize) -> usize {
        let rated = self.values.get(rating).and_then(Value::as_f64);
        let limits = self.world.resources.get(self.resource).and_then(|resource| resource.fields.get(rating));
        let most = limits.and_then(|field| field.schema.limits.max.as_ref()?.as_f64()).unwrap_or(5.0);
        match rated.map(|rated| rated / most.max(1.0)) {
            Some(share) if share <= 0.45 => 0,
            Some(share) if share <= 0.65 => 1,
            _ => 2,
        }
    }

    /// Returns the value of another field plus this many seconds.
    fn after(&self, field: usize, shift: i64, schema: &Schema) -> Value {
        match self.values.get(field) {
            Some(Value::Date(date)) => {
                let days = (shift / 86_400).clamp(-1_000_000, 1_000_000) as i32;
                Value::Date(Date(date.0.saturating_add(days)))
            }
            Some(Value::DateTime(instant)) => Value::DateTime(Instant(instant.0.saturating_add(shift))),
            Some(Value::Time(time)) => Value::Time(Time((i64::from(time.0) + shift).clamp(0, 86_340) as u32)),
            // The other field has no value, so the shift starts at the current time.
            _ => {
                let moment = Instant(self.clock.now.0.saturating_add(shift));
                match schema.kind {
                    Type::Date => Value::Date(self.clock.zone.date_of(moment)),
                    Type::Time => Value::Time(Time(18 * 3_600)),
                    _ => Value::DateTime(moment),
                }
            }
        }
    }

    /// Returns the value in the row that a field selects.
    fn row(&self, by: usize, of: &HashMap<Value, Value>) -> Result<Value, Fault> {
        match self.values.get(by) {
            Some(key) if !key.is_missing() => match of.get(key) {
                Some(value) => Ok(value.clone()),
                None => fault(
                    format!("found no row for {} in the table", key.to_text(self.clock.zone)),
                    "add a row that begins with it",
                ),
            },
            _ => Ok(Value::Null),
        }
    }

    /// Returns the number of the record among those of its parent, or of its resource.
    fn place(&self, start: i64, schema: &Schema) -> Value {
        let place = start.saturating_add_unsigned(self.position);
        match schema.kind {
            Type::Decimal { scale, .. } => {
                Decimal::round(place as f64, scale).map_or(Value::Null, Value::Decimal)
            }
            Type::Number => Value::number(place as f64).unwrap_or_default(),
            _ => Value::Integer(place),
        }
    }

    fn template(&mut self, pieces: &[Piece], plan: &FieldPlan, draw: &mut Draw) -> Result<Value, Fault> {
        let mut text = String::new();
        let mut used: Vec<Provider> = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Field(field) => {
                    if let Some(value) = self.values.get(*field).filter(|value| !value.is_missing()) {
                        if let Err(error) = self.done.takes(value) {
                            return fault(format!("the template has no value: {error}"), "mend the template");
                        }
                        text.push_str(&value.to_text(self.clock.zone));
                    }
                }
                // A provider that repeats within one text is independent of the record's person and city.
                Piece::Provider(provider) if used.contains(provider) => provider.write_alone(draw, &mut text),
                Piece::Provider(provider) => {
                    used.push(*provider);
                    provider.write(&mut self.cast, plan.group, draw, &mut text);
                }
            }
        }
        Ok(Value::String(nfc(text.trim())))
    }

    /// Draws a record of the target. If possible, it avoids records to which this record already refers.
    fn reference(&self, target: ResourceId, plan: &FieldPlan, draw: &mut Draw) -> Result<Value, Fault> {
        let own = target.index() == self.resource;
        let all = self.keys.get(target.index()).map_or(&[][..], Vec::as_slice);
        let choice = if own && plan.earlier_only { all.get(..self.n as usize).unwrap_or(all) } else { all };
        let Some(mut key) = draw.pick(choice) else {
            let target = self.world.resources.get(target.index()).map_or("", |resource| &resource.name);
            return fault(
                format!("found no record of `{target}` to refer to"),
                format!("give `{target}` records, or let the field be nullable"),
            );
        };
        let seen = |key: &Value| plan.avoid.iter().any(|other| self.values.get(*other) == Some(key));
        for _ in 0..8 {
            if !seen(key) {
                break;
            }
            key = draw.pick(choice).unwrap_or(key);
        }
        Ok(key.clone())
    }

    /// Draws distinct items, up to the drawn number.
    fn list(
        &mut self,
        of: &Maker,
        min: u64,
        max: u64,
        schema: &Schema,
        plan: &FieldPlan,
        draw: &mut Draw,
    ) -> Result<Value, Fault> {
        let Type::List(item) = &schema.kind else {
            return fault("found a list in a field of another type", "use `list` on lists");
        };
        let bound = |length: Option<u32>, other: u64| length.map_or(other, u64::from);
        let min = min.max(bound(schema.limits.min_length, 0)).min(1_000);
        let max = max.min(bound(schema.limits.max_length, 1_000)).clamp(min, 1_000);
        let wanted = draw.between(min as i64, max as i64) as usize;
        let own_key = self.world.resources.get(self.resource).map(|resource| resource.key.index());
        let own_key = own_key.and_then(|key| self.values.get(key)).cloned();
        let to_own = matches!(of, Maker::Reference(target) if target.index() == self.resource);
        let mut items: Vec<Value> = Vec::with_capacity(wanted);
        for _ in 0..wanted * 16 {
            if items.len() == wanted {
                break;
            }
            self.items_drawn += 1;
            if self.items_drawn > MAX_ITEMS_DRAWN {
                return fault(
                    format!("found lists of which one record takes more than {MAX_ITEMS_DRAWN} items"),
                    "make shorter lists, or fewer inside each other",
                );
            }
            let made = self.draw(of, item, plan, draw);
            let value = match made {
                Ok(value) => self.fit(value, item)?,
                // No target exists, so the list stays empty if that is allowed.
                Err(_) if min == 0 => break,
                Err(error) => return Err(error),
            };
            let itself = to_own && own_key.as_ref() == Some(&value);
            if !itself && !items.contains(&value) {
                items.push(value);
            }
        }
        Ok(Value::List(items.into()))
    }

    /// Returns the value in the schema's type, within its limits.
    fn fit(&self, value: Value, schema: &Schema) -> Result<Value, Fault> {
        if value.is_missing() {
            return if schema.nullable {
                Ok(Value::Null)
            } else {
                fault("found no value", "let the field be nullable")
            };
        }
        let same = matches!(
            (&schema.kind, &value),
            (Type::String, Value::String(_))
                | (Type::Integer, Value::Integer(_))
                | (Type::Number, Value::Number(_))
                | (Type::Decimal { .. }, Value::Decimal(_))
                | (Type::Date, Value::Date(_))
                | (Type::Time, Value::Time(_))
                | (Type::DateTime, Value::DateTime(_))
                | (Type::Boolean, Value::Bool(_))
                | (Type::Reference { .. }, Value::Integer(_) | Value::String(_))
                | (Type::List(_), Value::List(_))
                | (Type::Object(_), Value::Object(_))
        );
        let value = match (same, &value, &schema.kind) {
            (false, Value::Number(number), Type::Decimal { scale, .. }) => {
                Decimal::round(*number, *scale).map_or(value, Value::Decimal)
            }
            (false, ..) => match schema.parse_json(&value.to_json(self.clock.zone), self.clock.zone) {
                Ok(parsed) => parsed,
                Err(error) => return fault(error.to_string(), "choose a provider of the field's type"),
            },
            (true, Value::Decimal(decimal), Type::Decimal { scale, .. }) if decimal.scale != *scale => {
                Decimal::round(decimal.as_f64(), *scale).map_or(value, Value::Decimal)
            }
            _ => value,
        };
        if schema.allows(&value) {
            return Ok(value);
        }
        if let (Value::String(text), Some(max), None) =
            (&value, schema.limits.max_length, &schema.limits.pattern)
        {
            let short = Value::String(nfc(shortened(text, max as usize)));
            if schema.allows(&short) {
                return Ok(short);
            }
        }
        fault(
            format!("made up {}, expected {}", value.to_text(self.clock.zone), schema.expected()),
            "choose a provider that keeps the field's limits",
        )
    }

    /// Returns about the number of different values of a maker.
    pub(super) fn capacity(&self, maker: &Maker) -> u64 {
        match maker {
            Maker::Text(provider) => provider.capacity(),
            Maker::Pick { of, .. } | Maker::Deal(of) => of.len() as u64,
            Maker::Integer { min, max, step } | Maker::Decimal { min, max, step, .. } => {
                max.abs_diff(*min) / (*step).max(1) as u64 + 1
            }
            Maker::Price { min, max, .. } => max.abs_diff(*min) / 20 + 1,
            Maker::Number { count, .. } => *count,
            Maker::Date(span) => span.days(self.clock),
            Maker::DateTime(span) | Maker::Time(span) => span.capacity(self.clock),
            Maker::Code(code) => {
                code.capacity().map_or(u64::MAX, |capacity| u64::try_from(capacity).unwrap_or(u64::MAX))
            }
            Maker::Reference(target) => self.keys.get(target.index()).map_or(0, Vec::len) as u64,
            Maker::Chance { of, .. } => self.capacity(of),
            Maker::Constant(_) => 1,
            Maker::Template(pieces) => pieces.iter().fold(1, |product, piece| match piece {
                Piece::Provider(provider) => product.saturating_mul(provider.capacity()),
                _ => product,
            }),
            _ => u64::MAX,
        }
    }

    /// Returns all values of a maker, if they are few.
    pub(super) fn all(&self, maker: &Maker) -> Option<Vec<Value>> {
        match maker {
            Maker::Pick { of, .. } | Maker::Deal(of) => Some(of.clone()),
            Maker::Reference(target) => self.keys.get(target.index()).cloned(),
            Maker::Integer { min, max, step } if self.capacity(maker) <= MOST_LISTED => Some(
                (0..self.capacity(maker))
                    .map(|k| Value::Integer(min + k as i64 * step))
                    .take_while(|value| *value <= Value::Integer(*max))
                    .collect(),
            ),
            Maker::Decimal { min, step, scale, .. } if self.capacity(maker) <= MOST_LISTED => Some(
                (0..self.capacity(maker))
                    .map(|k| Value::Decimal(Decimal { minor: min + k as i64 * step, scale: *scale }))
                    .collect(),
            ),
            _ => None,
        }
    }
}

fn found(value: Value) -> Result<Value, Fault> {
    if value.is_missing() {
        return fault(
            "found no moment between `from` and `to` on the days and at the hours that count",
            "widen the span, or the hours and weekdays",
        );
    }
    Ok(value)
}

fn on_grid(min: i64, max: i64, step: i64, draw: &mut Draw) -> i64 {
    let step = step.max(1);
    let count = max.abs_diff(min) / step.unsigned_abs();
    let places = if max < min { 0 } else { count };
    min.wrapping_add_unsigned(draw.below(places.saturating_add(1)).wrapping_mul(step.unsigned_abs()))
}

/// Returns a whole price, or one with a usual ending of shop prices.
fn price(min: i64, max: i64, scale: u8, draw: &mut Draw) -> i64 {
    let unit = 10_i64.pow(u32::from(scale.min(9)));
    // It takes the lower of two draws, because cheap things are more frequent.
    let whole =
        draw.between(min / unit, max / unit).min(draw.between(min / unit, max / unit)).saturating_mul(unit);
    let cents = [0, 0, 50, 90, 95, 99][draw.index(6)];
    whole.saturating_add(cents * unit / 100).clamp(min, max)
}

/// Returns at most `max` characters, cut between words if there are several.
fn shortened(text: &str, max: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(max) else { return text };
    let cut = &text[..end];
    let at_word = if text[end..].starts_with(' ') { Some(end) } else { cut.rfind(' ').filter(|at| *at > 0) };
    cut.get(..at_word.unwrap_or(end)).unwrap_or(cut).trim_end_matches([' ', ',', ';', ':', '-'])
}
