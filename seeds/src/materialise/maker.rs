//! Makers: what makes the values of one field. Read from a field's `fake`, or chosen by type, format and name.

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

/// Makes values.
#[derive(Clone, Debug)]
pub(super) enum Maker {
    /// Text of a provider.
    Text(Provider),
    /// A review that says what the rating in another field says: of low, middle and high ratings.
    Review {
        rating: usize,
        rules: [Provider; 3],
    },
    /// An e-mail address or user name after the full name in another field.
    FromName {
        email: bool,
        field: usize,
    },
    /// Fixed text, providers and other fields.
    Template(Vec<Piece>),
    /// One of these, by weight.
    Pick {
        of: Vec<Value>,
        bounds: Vec<u64>,
    },
    /// One of these, dealt so that each occurs.
    Deal(Vec<Value>),
    /// Whole numbers on a grid.
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
    /// Prices that end as prices do.
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
    /// Degrees of the record's place.
    Coordinate {
        latitude: bool,
    },
    Date(Span),
    DateTime(Span),
    Time(Span),
    /// A date, time or instant after that of another field, by so many steps of so many seconds.
    After {
        field: usize,
        least: i64,
        most: i64,
        step: i64,
    },
    Code(Code),
    Pattern(Generator),
    /// An expression over the fields made before.
    Expr(Box<Expr>),
    /// The value in the row of a table that another field of the record chooses.
    Row {
        by: usize,
        of: Arc<HashMap<Value, Value>>,
    },
    /// The place among the records of one parent and entry.
    Position {
        start: i64,
    },
    /// A field of the record behind a reference.
    Through {
        reference: usize,
        target: ResourceId,
        field: usize,
    },
    /// A record of the resource.
    Reference(ResourceId),
    /// Distinct items.
    List {
        of: Box<Maker>,
        min: u64,
        max: u64,
    },
    /// Members by name; optional ones are there in most objects.
    Object(Vec<(Str, Schema, bool, Maker)>),
    /// Nothing, except in this share.
    Chance {
        share: f64,
        of: Box<Maker>,
    },
    /// Always this.
    Constant(Value),
}

/// A part of a template.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(Str),
    Provider(Provider),
    Field(usize),
}

/// Where a maker is used: what names in its options mean.
pub(super) struct Place<'a> {
    pub(super) world: &'a World,
    pub(super) resource: ResourceId,
    /// The field's name, for defaults.
    pub(super) name: &'a str,
}

/// Reads a `fake` as a maker.
pub(super) type ReadFake = fn(&Json, &Schema, &Place<'_>) -> Result<Maker, Fault>;

/// A fault of a `fake`, and what to do.
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) fix: String,
}

pub(super) fn fault<T>(message: impl Into<String>, fix: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { message: message.into(), fix: fix.into() })
}

impl Maker {
    /// Appends the fields that must be made before.
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

    /// True when the maker itself decides that there is no value.
    pub(super) fn decides_presence(&self) -> bool {
        match self {
            Self::Chance { .. } | Self::Expr(_) | Self::Row { .. } | Self::Through { .. } => true,
            Self::Pick { of, .. } => of.contains(&Value::Null),
            _ => false,
        }
    }

    /// True when the values are about the record's place.
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

    /// True when this is the rule of that name.
    pub(super) fn same_rule(&self, name: &str) -> bool {
        matches!((self, RuleId::named(name)), (Self::Text(Provider::Rule(rule)), Some(named)) if *rule == named)
    }

    /// The rule of a grammar, as a maker of text.
    pub(super) fn rule(name: &str) -> Option<Self> {
        RuleId::named(name).map(|rule| Self::Text(Provider::Rule(rule)))
    }

    /// Numbers of a range in the field's type.
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
