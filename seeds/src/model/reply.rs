//! Shapes of replies.

use super::behaviour::Sort;
use super::ids::{FieldId, ResourceId};
use crate::doc::PagingMember;
use crate::expr::node::Expr;
use crate::value::{Str, Value};

/// The shape of a reply.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Status of success.
    pub status: u16,
    /// Status where an upsert makes the record.
    pub made: Option<u16>,
    /// The members of each record.
    pub members: Vec<Member>,
    /// Lists: the array's name; empty when the array is the whole body.
    pub items: Str,
    /// Lists: the name of the count of all matches; empty leaves it out.
    pub total: Str,
    /// Lists: names of paging members.
    pub paging: Vec<(PagingMember, Str)>,
    /// The body goes under this name.
    pub envelope: Option<Str>,
    /// Members from expressions, beside the list or record.
    pub with: Vec<(Str, Expr)>,
}

/// A member of a reply object.
#[derive(Clone, Debug)]
pub struct Member {
    /// Output name.
    pub name: Str,
    /// Where its value comes from.
    pub source: Source,
}

/// Where a reply member's value comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A field of the record.
    Field(FieldId),
    /// The record (or records) behind a reference field of the record.
    Follow(FieldId, ResourceId, Shape),
    /// Records of another resource that refer to this one.
    Many(Box<Many>),
    /// An expression over [`crate::expr::Slot::RECORD`].
    Expr(Expr),
    /// A nested object.
    Object(Vec<Member>),
    /// A constant.
    Value(Value),
}

/// The shape of an embedded record.
#[derive(Clone, Debug)]
pub enum Shape {
    /// An object of these members.
    Object(Vec<Member>),
    /// One bare value.
    Bare(Box<Source>),
}

/// An embedded list of records that refer to this one.
#[derive(Clone, Debug)]
pub struct Many {
    /// Of this resource.
    pub resource: ResourceId,
    /// Its reference field.
    pub by: FieldId,
    /// Over [`crate::expr::Slot::ITEM`] (and [`crate::expr::Slot::RECORD`], the outer record).
    pub condition: Option<Expr>,
    /// The order; by key without it.
    pub sort: Option<Sort>,
    /// At most so many.
    pub limit: Option<u32>,
    /// The members of each record.
    pub shape: Shape,
}
