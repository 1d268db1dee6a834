//! Owns the shapes of replies.

use super::behaviour::Sort;
use super::ids::{FieldId, ResourceId};
use crate::doc::PagingMember;
use crate::expr::node::Expr;
use crate::value::{Str, Value};

/// The shape of a reply.
#[derive(Clone, Debug)]
pub struct Reply {
    /// HTTP status of a success.
    pub status: u16,
    /// HTTP status if an upsert makes the record.
    pub made: Option<u16>,
    /// The members of each record.
    pub members: Vec<Member>,
    /// Name of a list's array. It is empty if the array is the whole body.
    pub items: Str,
    /// Name of a list's total count. It is empty if the reply omits it.
    pub total: Str,
    /// Names of a list's paging members.
    pub paging: Vec<(PagingMember, Str)>,
    /// Name of the member around the body.
    pub envelope: Option<Str>,
    /// Members from expressions, beside the list or record.
    pub with: Vec<(Str, Expr)>,
}

/// A member of a reply object.
#[derive(Clone, Debug)]
pub struct Member {
    /// Name in the reply.
    pub name: Str,
    /// Source of its value.
    pub source: Source,
}

/// Source of a reply member's value.
#[derive(Clone, Debug)]
pub enum Source {
    /// A field of the record.
    Field(FieldId),
    /// The record or records to which a reference field refers.
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
    /// One value without an object.
    Bare(Box<Source>),
}

/// An embedded list of records that refer to the outer record.
#[derive(Clone, Debug)]
pub struct Many {
    /// Resource of the records.
    pub resource: ResourceId,
    /// Their reference field.
    pub by: FieldId,
    /// Condition over [`crate::expr::Slot::ITEM`]. [`crate::expr::Slot::RECORD`] is the outer record.
    pub condition: Option<Expr>,
    /// Order of the records. The default is by key.
    pub sort: Option<Sort>,
    /// Maximum number of records.
    pub limit: Option<u32>,
    /// Shape of each record.
    pub shape: Shape,
}
