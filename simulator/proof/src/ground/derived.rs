//! Derives arguments from visible values: by an order, the next page, the clock, parts, sums, dictation.

use diorama_answers::prose::Prose;
use diorama_engine::Origin;
use diorama_seeds::model::{PageStyle, Parameter};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::task::{ArgumentSource, Derivation};
use diorama_seeds::value::Value;

use super::argument::{Argument, replies_have};
use super::order;

impl Argument<'_> {
    /// Derives a sort parameter from a superlative such as `the cheapest`.
    pub(super) fn in_order(&self, value: &Value) -> Option<ArgumentSource> {
        let wanted = order::SortOrder::from_parameter(
            self.api,
            self.parameter,
            value,
            self.seen.context.base.world(),
        )?;
        self.seen.turns.iter().enumerate().rev().find_map(|(turn, prose)| {
            let span = wanted.find_request(prose)?;
            Some(ArgumentSource::User {
                turn: turn as u32,
                start: span.start as u32,
                end: span.end as u32,
                by: Derivation::SortPhrase,
            })
        })
    }

    /// Derives the next page, after the same call for the previous one, or the size of a page.
    pub(super) fn in_paging(&self, value: &Value) -> Option<ArgumentSource> {
        let page = self.api.query()?.page.as_ref()?;
        let is = |id: diorama_seeds::model::ParameterId| {
            self.api.parameters.get(id.index()).is_some_and(|other| other.name == self.parameter.name)
        };
        if page.limit.is_some_and(is) || page.number.is_some_and(is) {
            return Some(ArgumentSource::Choice);
        }
        if !is(page.parameter) {
            return None;
        }
        let world = self.seen.context.base.world();
        let same = self.seen.entries.iter().enumerate().rev().filter(|(_, entry)| {
            entry.reply.is_success() && entry.api.is_some_and(|id| world.api(id).name == self.api.name)
        });
        let before = same.map(|(call, entry)| {
            let given = entry.call.arguments.get(&*self.parameter.name);
            let given = given.and_then(|json| self.parameter.schema.parse_json(json, &world.zone).ok());
            (call, given)
        });
        let (_, last) = before.into_iter().next()?;
        let step = match (value, last, page.style) {
            (Value::Integer(now), last, PageStyle::Page) => {
                let last = match last {
                    Some(Value::Integer(last)) => last,
                    _ => 1,
                };
                now - last == 1
            }
            (Value::Integer(now), last, PageStyle::Offset) => {
                let last = match last {
                    Some(Value::Integer(last)) => last,
                    _ => 0,
                };
                now - last > 0
            }
            _ => false,
        };
        step.then_some(ArgumentSource::Clock { by: Derivation::NextPage })
    }

    /// Derives today, now, or a day counted from the visible clock.
    pub(super) fn in_clock(&self, value: &Value) -> Option<ArgumentSource> {
        let zone = &self.seen.clock.zone;
        let now = self.seen.now;
        let fits = match value {
            Value::DateTime(instant) => *instant == now,
            Value::Date(date) => *date == zone.date_of(now),
            Value::Time(time) => *time == zone.time_of(now),
            _ => false,
        };
        fits.then_some(ArgumentSource::Clock { by: Derivation::Verbatim })
    }

    /// Derives a timestamp from a day and a time in two positions, members of an object, and items of a list.
    pub(super) fn in_parts(&self, value: &Value) -> Option<ArgumentSource> {
        let part = |schema: &Schema, value: &Value| {
            let parameter = Parameter { schema: schema.clone(), ..self.parameter.clone() };
            Argument { parameter: &parameter, ..*self }.source(value)
        };
        match (value, &self.parameter.schema.kind) {
            (Value::List(items), Type::List(schema)) if !items.is_empty() => {
                let of: Vec<ArgumentSource> =
                    items.iter().map(|item| part(schema, item)).collect::<Option<_>>()?;
                let all_places = of.iter().map(|source| match source {
                    ArgumentSource::Reply { call, path } => Some((*call, path.clone())),
                    _ => None,
                });
                Some(match all_places.collect::<Option<Vec<_>>>() {
                    Some(places) => ArgumentSource::Replies { places },
                    None => ArgumentSource::Arithmetic { operation: "list".to_owned(), of },
                })
            }
            (Value::Object(members), Type::Object(fields)) => {
                let of = members.iter().map(|(name, value)| {
                    let field = fields.iter().find(|field| field.name == *name)?;
                    let parameter = Parameter {
                        name: field.name.clone(),
                        label: field.name.replace('_', " ").into(),
                        schema: field.schema.clone(),
                        ..self.parameter.clone()
                    };
                    Argument { parameter: &parameter, ..*self }.source(value)
                });
                Some(ArgumentSource::Arithmetic {
                    operation: "list".to_owned(),
                    of: of.collect::<Option<_>>()?,
                })
            }
            (Value::DateTime(instant), _) => {
                let zone = &self.seen.clock.zone;
                let day = self.part_of_moment(&Value::Date(zone.date_of(*instant)))?;
                let time = self.part_of_moment(&Value::Time(zone.time_of(*instant)))?;
                Some(ArgumentSource::Arithmetic { operation: "at".to_owned(), of: vec![day, time] })
            }
            _ => None,
        }
    }

    /// Derives a day or a time of day from a user's words or from a timestamp in a reply.
    fn part_of_moment(&self, wanted: &Value) -> Option<ArgumentSource> {
        if let Some(source) = self.in_user(wanted) {
            return Some(source);
        }
        let zone = &self.seen.clock.zone;
        let is_it = |leaf: &Value| match (leaf, wanted) {
            (Value::DateTime(moment), Value::Date(date)) => zone.date_of(*moment) == *date,
            (Value::DateTime(moment), Value::Time(time)) => zone.time_of(*moment) == *time,
            _ => leaf == wanted,
        };
        let mut calls = self.seen.entries.iter().enumerate().rev();
        calls.find_map(|(call, entry)| {
            let (path, ..) = entry.reply.body.leaves().find(|(_, leaf, _)| is_it(leaf))?;
            Some(ArgumentSource::Reply { call: call as u32, path })
        })
    }

    /// Derives a sum, difference or product of a user's number and a number of the same field in a reply.
    /// It also derives a sum of numbers in several replies.
    pub(super) fn in_several(&self, value: &Value) -> Option<ArgumentSource> {
        let wanted = value.as_f64()?;
        let near = |found: f64| (found - wanted).abs() < 1e-9;
        let said = self.seen.turns.iter().enumerate().rev().flat_map(|(turn, prose)| {
            prose.numbers().map(move |(number, span)| {
                let (start, end) = (span.start as u32, span.end as u32);
                (number, ArgumentSource::User { turn: turn as u32, start, end, by: Derivation::Verbatim })
            })
        });
        let said: Vec<(f64, ArgumentSource)> = said.collect();
        let shown: Vec<(f64, ArgumentSource)> = self.numbers_of_field();
        for (number, of_user) in &said {
            for (shown, of_reply) in &shown {
                let operation =
                    [("add", shown + number), ("subtract", shown - number), ("multiply", shown * number)]
                        .into_iter()
                        .find(|(_, result)| near(*result));
                if let Some((operation, _)) = operation {
                    let of = vec![of_reply.clone(), of_user.clone()];
                    return Some(ArgumentSource::Arithmetic { operation: operation.to_owned(), of });
                }
            }
        }
        for (at, (first, of_first)) in shown.iter().enumerate() {
            for (second, of_second) in shown.iter().skip(at + 1) {
                if near(first + second) {
                    let of = vec![of_first.clone(), of_second.clone()];
                    return Some(ArgumentSource::Arithmetic { operation: "add".to_owned(), of });
                }
            }
        }
        let all: f64 = shown.iter().map(|(number, _)| number).sum();
        (shown.len() > 2 && near(all)).then(|| ArgumentSource::Arithmetic {
            operation: "add".to_owned(),
            of: shown.into_iter().map(|(_, source)| source).collect(),
        })
    }

    /// Returns the numbers in replies of this argument's field, or of the same kind of amount.
    fn numbers_of_field(&self) -> Vec<(f64, ArgumentSource)> {
        let world = self.seen.context.base.world();
        let mut found = Vec::new();
        for (call, entry) in self.seen.entries.iter().enumerate() {
            for (path, value, origin) in entry.reply.body.leaves() {
                let Some(number) = value.as_f64() else { continue };
                let alike = match (&self.parameter.schema.kind, origin) {
                    (Type::Decimal { currency: Some(code), .. }, Origin::Field { resource, field, .. }) => {
                        matches!(&world.resource(*resource).field(*field).schema.kind, Type::Decimal { currency: Some(other), .. } if other == code)
                    }
                    _ => false,
                };
                if (alike || self.is_same_field(origin, &path)) && found.len() < 64 {
                    found.push((number, ArgumentSource::Reply { call: call as u32, path }));
                }
            }
        }
        found
    }

    /// Accepts a free text if four in five of its content words come from the user or from replies.
    pub(super) fn in_dictation(&self, value: &Value) -> Option<ArgumentSource> {
        let Value::String(text) = value else { return None };
        if !self.parameter.free_text && !self.searches_text() {
            return None;
        }
        let stems = Prose::stems_of(text);
        let by_user = |stem: &&u64| self.seen.turns.iter().any(|turn| turn.find_stem(**stem).is_some());
        let told = stems.iter().filter(|stem| by_user(stem) || replies_have(self.seen, **stem)).count();
        let user = stems.iter().filter(by_user).count();
        (user > 0 && told * 5 >= stems.len() * 4).then(|| ArgumentSource::Dictated {
            turns: (0..self.seen.turns.len() as u32).collect(),
            calls: (0..self.seen.entries.len() as u32).collect(),
        })
    }

    /// Returns true if the parameter takes search words.
    fn searches_text(&self) -> bool {
        let filters = self.api.query().map(|query| &query.filters);
        filters.into_iter().flatten().any(|filter| {
            matches!(filter.test, diorama_seeds::model::FilterTest::Text(_))
                && self.api.parameters[filter.parameter.index()].name == self.parameter.name
        })
    }
}
