//! Owns the makers of field values. A maker is parsed from a field's `fake`, or chosen by type, format and
//! name.

pub(super) mod options;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value as Json;

use super::moment::Span;
use super::provider::Provider;
use super::provider::RuleId;
use crate::expr::Expr;
use crate::keys::Code;
use crate::model::{ResourceId, World};
use crate::pattern::Generator;
use crate::schema::{Schema, Type};
use crate::value::{Decimal, Str, Value};

/// Makes the values of one field.
#[derive(Clone, Debug)]
pub(super) enum Maker {
    /// Text of a provider.
    Text(Provider),
    /// A review that agrees with the rating in another field: low, middle or high.
    Review {
        rating: usize,
        rules: [Provider; 3],
    },
    /// An e-mail address or user name made from the full name in another field.
    FromName {
        email: bool,
        field: usize,
    },
    /// Fixed text, providers and other fields.
    Template(Vec<Piece>),
    /// One of these values, drawn by weight.
    Pick {
        of: Vec<Value>,
        bounds: Vec<u64>,
    },
    /// One of these values, dealt so that each occurs.
    Deal(Vec<Value>),
    /// Integers on a grid.
    Integer {
        min: i64,
        max: i64,
        step: i64,
    },
    /// Decimals on a grid, in minor units.
    Decimal {
        min: i64,
        max: i64,
        step: i64,
        scale: u8,
    },
    /// Prices with usual endings.
    Price {
        min: i64,
        max: i64,
        scale: u8,
    },
    /// Numbers on a grid: `min + k * step`, rounded to `places`.
    Number {
        min: f64,
        count: u64,
        step: f64,
        places: i32,
    },
    /// Latitude or longitude of the record's city.
    Coordinate {
        latitude: bool,
    },
    Date(Span),
    DateTime(Span),
    Time(Span),
    /// A date, time or timestamp after that of another field, by `least` to `most` steps of `step` seconds.
    After {
        field: usize,
        least: i64,
        most: i64,
        step: i64,
    },
    Code(Code),
    Pattern(Generator),
    /// An expression over fields made earlier.
    Expr(Box<Expr>),
    /// The value in a row of a table, which another field of the record selects.
    Row {
        by: usize,
        of: Arc<HashMap<Value, Value>>,
    },
    /// Position among the records of one parent and entry.
    Position {
        start: i64,
    },
    /// A field of the referenced record.
    Through {
        reference: usize,
        target: ResourceId,
        field: usize,
    },
    /// A reference to a record of the resource.
    Reference(ResourceId),
    /// A list of distinct items.
    List {
        of: Box<Maker>,
        min: u64,
        max: u64,
    },
    /// Members by name. Most objects have their optional members.
    Object(Vec<(Str, Schema, bool, Maker)>),
    /// A value in this share of the records, otherwise none.
    Chance {
        share: f64,
        of: Box<Maker>,
    },
    /// Always this value.
    Constant(Value),
}

/// A part of a template.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(Str),
    Provider(Provider),
    Field(usize),
}

/// Context of a maker, in which names in its options are resolved.
pub(super) struct Place<'a> {
    pub(super) world: &'a World,
    pub(super) resource: ResourceId,
    /// Name of the field, for defaults.
    pub(super) name: &'a str,
}

/// Parses a `fake` as a maker.
pub(super) type ReadFake = fn(&Json, &Schema, &Place<'_>) -> Result<Maker, Fault>;

/// A problem with a `fake`, and its correction.
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) fix: String,
}

pub(super) fn fault<T>(message: impl Into<String>, fix: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { message: message.into(), fix: fix.into() })
}

impl Maker {
    /// Appends the fields that must be made first.
    pub(super) fn dependencies(&self, key: usize, into: &mut Vec<usize>) {
        match self {
            Self::FromName { field, .. } | Self::After { field, .. } => into.push(*field),
            Self::Review { rating, .. } => into.push(*rating),
            Self::Row { by, .. } => into.push(*by),
            Self::Through { reference, .. } => into.push(*reference),
            Self::Template(pieces) => into.extend(pieces.iter().filter_map(|piece| match piece {
                Piece::Field(field) => Some(*field),
                _ => None,
            })),
            Self::Expr(expr) => super::derive::fields(&expr.node, key, into),
            Self::List { of, .. } | Self::Chance { of, .. } => of.dependencies(key, into),
            Self::Object(members) => members.iter().for_each(|(.., maker)| maker.dependencies(key, into)),
            _ => {}
        }
    }

    /// Returns true if the maker itself decides whether there is a value.
    pub(super) fn decides_presence(&self) -> bool {
        match self {
            Self::Chance { .. } | Self::Expr(_) | Self::Row { .. } | Self::Through { .. } => true,
            Self::Pick { of, .. } => of.contains(&Value::Null),
            _ => false,
        }
    }

    /// Returns true if the values are about the record's city.
    pub(super) fn is_local(&self) -> bool {
        match self {
            Self::Text(provider) => provider.is_local() && !provider.follows_place(),
            Self::Coordinate { .. } => true,
            Self::Object(members) => members.iter().any(|(.., maker)| maker.is_local()),
            Self::Chance { of, .. } => of.is_local(),
            Self::Template(pieces) => {
                pieces.iter().any(|piece| matches!(piece, Piece::Provider(provider) if provider.is_local()))
            }
            _ => false,
        }
    }

    /// Returns true if the maker is the rule with this name.
    pub(super) fn same_rule(&self, name: &str) -> bool {
        matches!((self, RuleId::named(name)), (Self::Text(Provider::Rule(rule)), Some(named)) if *rule == named)
    }

    /// Returns a maker of text by a grammar rule.
    pub(super) fn rule(name: &str) -> Option<Self> {
        RuleId::named(name).map(|rule| Self::Text(Provider::Rule(rule)))
    }

    /// Returns a maker of numbers in a range, in the field's type.
    pub(super) fn in_range(min: f64, max: f64, step: Option<f64>, schema: &Schema) -> Result<Self, Fault> {
        match schema.kind {
            Type::Integer => {
                let step = step.unwrap_or(1.0).round().max(1.0) as i64;
                Ok(Self::Integer { min: min.ceil() as i64, max: max.floor() as i64, step })
            }
            Type::Decimal { scale, .. } => {
                let minor = |value: f64| Decimal::round(value, scale).map(|decimal| decimal.minor);
                match (minor(min), minor(max), step.map_or(Some(1), minor)) {
                    (Some(min), Some(max), Some(step)) => {
                        Ok(Self::Decimal { min, max, step: step.max(1), scale })
                    }
                    _ => fault(
                        format!("found the range {min} to {max}"),
                        "keep to numbers that fit the decimal",
                    ),
                }
            }
            _ => {
                let step = step.unwrap_or(if max - min <= 2.0 { 0.01 } else { 0.1 });
                let places = (0..9).find(|places| {
                    let scaled = step * 10_f64.powi(*places);
                    (scaled - scaled.round()).abs() < 1e-6
                });
                let count = ((max - min) / step + 1e-9).floor().max(0.0) as u64 + 1;
                Ok(Self::Number { min, count, step, places: places.unwrap_or(9) })
            }
        }
    }
}
