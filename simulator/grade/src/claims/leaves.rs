//! The values that an episode has shown, each under its label, and when a mention has one of them.

use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::value::{Date, Time, Value};

use super::labels::{Label, member_of};
use super::measured::{currency_of, is_measured};
use super::{AskedNumber, Known};
use diorama_answers::units::Unit;
use diorama_answers::{Clock, Mention, What};
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_engine::{Body, Origin};

/// Places of replies that are looked at.
const MOST_LEAVES: usize = 4_000;

/// A value that a reply shows, an argument sends or the task asks for.
pub(super) struct Leaf<'a> {
    pub(super) value: Seen<'a>,
    pub(super) label: usize,
    /// The schema of its field, where it is one.
    pub(super) schema: Option<&'a Schema>,
    /// It is of no record: computed, sent or asked for.
    pub(super) is_free: bool,
}

pub(super) enum Seen<'a> {
    Value(&'a Value),
    Sent(&'a serde_json::Value),
    /// A number that the task asks for.
    Asked(f64),
}

impl<'a> Known<'a> {
    /// Takes in what replies show, arguments send and the task asks for.
    pub(super) fn gather(&mut self, asked: &'a [AskedNumber<'a>]) {
        let position = |labels: &mut Vec<Label<'a>>, name: &'a str, more: &'a str, asked: bool| {
            labels.iter().position(|label| label.is(name, more, asked)).unwrap_or_else(|| {
                labels.push(Label::new(name, more, asked));
                labels.len() - 1
            })
        };
        let world = self.shown.base.world();
        for entry in self.shown.entries.iter().filter(|entry| entry.call.api != TOOL_SEARCHER) {
            let body = &entry.reply.body;
            // What counts the items beside it is no total of theirs.
            let beside = matches!(body, Body::Object(members) if members.iter().any(|(_, member)| matches!(member, Body::List(_))));
            for (member, outer, value, origin) in named(body) {
                if self.leaves.len() > MOST_LEAVES {
                    break;
                }
                // A number that names a record measures nothing.
                let counts = beside && outer && matches!(origin, Origin::Computed);
                if matches!(value, Value::Integer(_)) && (member.ends_with("id") || counts) {
                    continue;
                }
                let (schema, more) = match origin {
                    Origin::Field { resource, field, .. } => {
                        let declared = world.resource(*resource).field(*field);
                        (Some(&declared.schema), &*declared.label)
                    }
                    _ => (None, ""),
                };
                let label = position(&mut self.labels, member, more, false);
                self.leaves.push(Leaf {
                    value: Seen::Value(value),
                    label,
                    schema,
                    is_free: matches!(origin, Origin::Computed),
                });
            }
            let api = entry.api.map(|id| world.api(id));
            for (name, json) in &entry.call.arguments {
                let parameter = api.and_then(|api| api.parameters.get(api.parameter_named(name)?.index()));
                let label = position(&mut self.labels, name, parameter.map_or("", |one| &one.label), false);
                let schema = parameter.map(|parameter| &parameter.schema);
                self.leaves.push(Leaf { value: Seen::Sent(json), label, schema, is_free: true });
            }
        }
        for one in asked {
            let label = position(&mut self.labels, one.about, &one.more, true);
            self.leaves.push(Leaf { value: Seen::Asked(one.value), label, schema: None, is_free: true });
        }
    }

    /// The values shown that are the one mentioned.
    pub(super) fn bearing(&self, mention: &Mention) -> impl Iterator<Item = &Leaf<'a>> {
        self.leaves.iter().filter(|leaf| leaf.is(mention, self.shown.clock))
    }
}

/// The leaves of a body, in document order: the member that each is of, and whether that is one of the body itself.
fn named(body: &Body) -> impl Iterator<Item = (&str, bool, &Value, &Origin)> {
    let mut stack = vec![("", 0_usize, body)];
    std::iter::from_fn(move || {
        loop {
            let (name, depth, part) = stack.pop()?;
            match part {
                Body::Leaf(value, origin) => {
                    let outer = depth == 1 && !name.contains(['.', '[']);
                    return Some((member_of(name), outer, value, origin));
                }
                Body::List(items) => stack.extend(items.iter().rev().map(|item| (name, depth + 1, item))),
                Body::Object(members) => {
                    stack.extend(members.iter().rev().map(|(name, member)| (&**name, depth + 1, member)));
                }
            }
        }
    })
}

impl Leaf<'_> {
    /// A value of a reply without its label.
    pub(super) const fn of<'a>(value: &'a Value, schema: Option<&'a Schema>) -> Leaf<'a> {
        Leaf { value: Seen::Value(value), label: 0, schema, is_free: false }
    }

    /// A value that a call sends, without its label.
    pub(super) const fn sent(json: &serde_json::Value) -> Leaf<'_> {
        Leaf { value: Seen::Sent(json), label: 0, schema: None, is_free: true }
    }

    /// Whether it is the value of a mention.
    pub(super) fn is(&self, mention: &Mention, clock: &Clock) -> bool {
        self.is_alike(mention) && self.is_value(mention, clock)
    }

    /// Whether it may have a unit, where the value has one.
    pub(super) fn is_measured_like(&self, mention: &Mention) -> bool {
        !is_measured(mention)
            || self.schema.is_none_or(|schema| match &mention.what {
                What::Money(_) => currency_of(schema).is_some(),
                _ => schema.unit.is_some(),
            })
    }

    /// Whether it is of the kind of a mention: a number, a day or a time.
    pub(super) fn is_alike(&self, mention: &Mention) -> bool {
        match (&self.value, &mention.what) {
            (
                Seen::Value(Value::Integer(_) | Value::Number(_) | Value::Decimal(_)),
                What::Number(_) | What::Money(_) | What::None,
            ) => !self.schema.is_some_and(|schema| matches!(schema.kind, Type::Reference { .. })),
            (Seen::Value(Value::Date(_)), What::Date(_))
            | (Seen::Value(Value::Time(_)), What::Time(_))
            | (Seen::Value(Value::DateTime(_)), What::Date(_) | What::Time(_))
            | (Seen::Asked(_), What::Number(_) | What::Money(_) | What::None) => true,
            (Seen::Sent(json), What::Number(_) | What::Money(_)) => json.is_number(),
            (Seen::Sent(json), What::Date(_) | What::Time(_)) => json.is_string(),
            _ => false,
        }
    }

    /// Whether it has the value of a mention, of whatever kind it is.
    pub(super) fn is_value(&self, mention: &Mention, clock: &Clock) -> bool {
        let zone = &clock.zone;
        let day = |date: Date| matches!(&mention.what, What::Date(said) if said.means(date, clock.today));
        let hour = |time: Time| matches!(&mention.what, What::Time(said) if said.time == time || said.other == Some(time));
        let number = |known: f64| match &mention.what {
            What::Number(number) => {
                let converted = || {
                    let said = number.unit?;
                    said.convert(number.value, self.schema?.unit.as_deref().and_then(Unit::named)?)
                };
                let near = |said: f64| is_near(known, said, number.decimals);
                near(number.value) || number.other.is_some_and(near) || converted().is_some_and(near)
            }
            What::Money(money) => {
                let close = |said: f64| is_near(known.abs(), said.abs(), 2);
                close(money.amount.as_f64()) || money.other.is_some_and(|other| close(other.as_f64()))
            }
            What::None => known == 0.0,
            _ => false,
        };
        match &self.value {
            Seen::Value(Value::Date(date)) => day(*date),
            Seen::Value(Value::Time(time)) => hour(*time),
            Seen::Value(Value::DateTime(instant)) => {
                day(zone.date_of(*instant)) || hour(zone.time_of(*instant))
            }
            Seen::Sent(serde_json::Value::String(text)) => {
                text.get(..10).and_then(Date::parse).is_some_and(day)
                    || Time::parse(text).is_some_and(hour)
                    || zone.parse_instant(text).is_some_and(|instant| hour(zone.time_of(instant)))
            }
            _ => self.number().is_some_and(number),
        }
    }

    /// The number that it is.
    pub(super) fn number(&self) -> Option<f64> {
        match &self.value {
            Seen::Value(value) => value.as_f64(),
            Seen::Sent(json) => json.as_f64(),
            Seen::Asked(value) => Some(*value),
        }
    }
}

/// People round: what is said to so many decimals is what is shown to more.
fn is_near(known: f64, said: f64, decimals: i8) -> bool {
    let step = 0.5 * 10_f64.powi(-i32::from(decimals.clamp(-12, 9)));
    let rounds = known.fract() != 0.0 || decimals < 0;
    (known - said).abs() <= 1e-9 * known.abs().max(1.0)
        || (rounds && (known - said).abs() <= step * 1.000_001 && (known - said).abs() <= known.abs() * 0.05)
}
