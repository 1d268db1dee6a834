//! Owns the effects of calls: kinds of behaviour, with their queries, checks and changes.

use super::ids::{FieldId, ParameterId, ResourceId};
use crate::doc::{Comparison, PageStyle};
use crate::expr::node::{Expr, Slot};
use crate::task::RefusalClass;
use crate::value::Str;

/// The effect of a call, in this order: bindings, look-ups of the kind, checks, changes, reply.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// The kind.
    pub kind: BehaviourKind,
    /// `let` names in order. They see `record` (if the kind has one), `me`, arguments and earlier names.
    pub bindings: Vec<(Slot, Expr)>,
    /// Checks, in order.
    pub require: Vec<Require>,
    /// Rules of the domain's policy that govern the call. Only [`World::shadow`](super::World::shadow)
    /// enforces them, with the name of the rule as the message.
    pub rules: Vec<Require>,
    /// The same rules as articles tell them that were replaced; none where none was.
    pub replaced: Vec<Require>,
    /// The same rules as an inattentive reader takes them.
    pub misreadings: Vec<Misreading>,
    /// Rules of the domain's policy that require the user's consent to the call.
    pub confirms: Vec<Confirm>,
    /// Further changes.
    pub also: Vec<Effect>,
    /// Field that stores the request body.
    pub keep: Option<FieldId>,
    /// True if a change of a missing record makes it.
    pub upsert: bool,
    /// List whose items become records.
    pub each: Option<Each>,
}

/// A rule of a policy as an inattentive reader takes it.
#[derive(Clone, Debug)]
pub struct Misreading {
    /// Position of the rule among those of the behaviour.
    pub rule: usize,
    /// The error.
    pub error: ReadingError,
    /// The condition that results.
    pub that: Expr,
}

/// The error of a misreading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadingError {
    /// A number of the rule is one too high or too low.
    ByOne,
    /// A number of the rule is the next one that the domain allows, above or below.
    NextNumber,
    /// The exceptions are forgotten.
    NoException,
}

/// A policy rule that requires the user's consent to a call.
#[derive(Clone, Debug)]
pub struct Confirm {
    /// Name of the rule.
    pub rule: Str,
    /// Condition for calls that need no consent.
    pub exempt: Expr,
    /// Values that the user must be told, each with its noun.
    pub state: Vec<(Str, Expr)>,
}

/// Source of the bodies of several records.
#[derive(Clone, Debug)]
pub struct Each {
    /// Parameter that holds the list of bodies.
    pub parameter: ParameterId,
    /// Condition for records that are deleted unless the list names them.
    pub instead_of: Option<Expr>,
}

/// The kinds of behaviour, version 1.
#[derive(Clone, Debug)]
pub enum BehaviourKind {
    /// Returns one record by key, or 404.
    Get {
        /// Resource of the record.
        resource: ResourceId,
        /// Key of the record, or `None` for a singleton.
        key: Option<Expr>,
    },
    /// Returns the one record whose fields equal the arguments, otherwise 404 or 409. Strings compare without
    /// case and outer white space.
    Lookup {
        /// Resource of the record.
        resource: ResourceId,
        /// Fields with their arguments.
        by: Vec<(FieldId, ParameterId)>,
    },
    /// Returns the matching records in order and in pages.
    List(Query),
    /// Makes a record.
    Create {
        /// Resource of the record.
        resource: ResourceId,
        /// Field values: arguments by name, then `set`.
        set: Vec<(FieldId, Setter)>,
    },
    /// Replaces all settable fields. Those in `set` get their value, the others their default or absence.
    Replace {
        /// Resource of the record.
        resource: ResourceId,
        /// Key of the record.
        key: Option<Expr>,
        /// Field values.
        set: Vec<(FieldId, Setter)>,
    },
    /// Changes the given fields.
    Patch {
        /// Resource of the record.
        resource: ResourceId,
        /// Key of the record.
        key: Option<Expr>,
        /// Field values. An absent argument leaves its field unchanged.
        set: Vec<(FieldId, Setter)>,
    },
    /// Deletes a record.
    Delete {
        /// Resource of the record.
        resource: ResourceId,
        /// Key of the record.
        key: Option<Expr>,
    },
    /// Performs checks and effects.
    Action {
        /// Record of the call, if any. A missing record is 404.
        target: Option<(ResourceId, Option<Expr>)>,
    },
    /// Returns the members of an ordered list of references, in the list's order unless sorted.
    Members {
        /// Resource of the holder, which has the list.
        resource: ResourceId,
        /// The list field.
        field: FieldId,
        /// Key of the holder.
        key: Option<Expr>,
        /// Condition, order and paging of the members.
        query: Query,
    },
    /// Adds members to the list. An existing member is 409.
    AddMembers {
        /// Resource of the holder, which has the list.
        resource: ResourceId,
        /// The list field.
        field: FieldId,
        /// Key of the holder.
        key: Option<Expr>,
        /// Key of the member, or a list of keys.
        member: ParameterId,
        /// Position from 0. The default is the end.
        position: Option<ParameterId>,
    },
    /// Removes members from the list. A missing member is 404.
    RemoveMembers {
        /// Resource of the holder, which has the list.
        resource: ResourceId,
        /// The list field.
        field: FieldId,
        /// Key of the holder.
        key: Option<Expr>,
        /// Key of the member, or a list of keys.
        member: ParameterId,
    },
    /// Returns a computed reply.
    Compute(Vec<(Str, Expr)>),
    /// Returns measures by group.
    Aggregate {
        /// The records to measure.
        query: Query,
        /// Field that defines the groups. Without it, all records form one group.
        group_by: Option<FieldId>,
        /// Name in the reply, with the measure.
        measures: Vec<(Str, Measure)>,
    },
    /// Checks name and secret, and issues a token. The reply is `{token, expires_at}`.
    SignIn {
        /// Argument that holds the name.
        login: ParameterId,
        /// Argument that holds the secret.
        secret: ParameterId,
    },
    /// Revokes the token.
    SignOut,
}

/// Source of a field's new value.
#[derive(Clone, Debug)]
pub enum Setter {
    /// An argument of the call.
    Argument(ParameterId),
    /// An expression.
    Expr(Expr),
}

/// Selection, order and paging of records.
#[derive(Clone, Debug)]
pub struct Query {
    /// Resource of the records.
    pub resource: ResourceId,
    /// Filters by argument.
    pub filters: Vec<Filter>,
    /// Condition over [`Slot::ITEM`].
    pub condition: Option<Expr>,
    /// Fixed or default order.
    pub sort: Option<Sort>,
    /// Parameter for the order, and the fields that it allows.
    pub sort_parameter: Option<(ParameterId, Vec<FieldId>)>,
    /// Paging. Without it, one reply has all records, at most 1,000.
    pub page: Option<Page>,
}

/// A filter. Without its argument it passes all records.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Argument of the filter.
    pub parameter: ParameterId,
    /// Comparison of the filter.
    pub test: FilterTest,
}

/// The comparison of a filter.
#[derive(Clone, Debug)]
pub enum FilterTest {
    /// Compares a field with the argument.
    Compare(FieldId, Comparison),
    /// Compares the words of the argument with the words of these fields.
    Text(Vec<FieldId>),
}

/// An order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// Field to sort by. The key decides ties.
    pub field: FieldId,
    /// True if the greatest value comes first.
    pub descending: bool,
}

/// Configuration of paging.
#[derive(Clone, Debug)]
pub struct Page {
    /// Way in which pages are addressed.
    pub style: PageStyle,
    /// Default number of items on a page.
    pub size: u32,
    /// Number of the first page.
    pub first: u8,
    /// Parameter for the page number, the offset or the cursor.
    pub parameter: ParameterId,
    /// Parameter for the page size.
    pub limit: Option<ParameterId>,
    /// Parameter for the page number, from 1, in place of a cursor.
    pub number: Option<ParameterId>,
}

/// A measure of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Measure {
    Count,
    Sum(FieldId),
    Average(FieldId),
    Min(FieldId),
    Max(FieldId),
}

/// A check of a call.
#[derive(Clone, Debug)]
pub struct Require {
    /// Condition that must hold.
    pub that: Expr,
    /// HTTP status if the condition does not hold.
    pub status: u16,
    /// Classes of the refusal, by meaning and by status.
    pub reasons: Vec<RefusalClass>,
    /// Message if the condition does not hold.
    pub message: Str,
}

/// A change to records.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Condition for the effect, if any.
    pub when: Option<Expr>,
    /// Resource of the records.
    pub resource: ResourceId,
    /// The change.
    pub change: Change,
}

/// The change of an effect.
#[derive(Clone, Debug)]
pub enum Change {
    /// Makes a record.
    Create {
        /// Field values.
        set: Vec<(FieldId, Expr)>,
        /// Slot in which later expressions see the new record.
        name: Option<Slot>,
    },
    /// Changes records.
    Update {
        /// The records to change.
        which: Which,
        /// Field values.
        set: Vec<(FieldId, Expr)>,
    },
    /// Deletes records.
    Delete {
        /// The records to delete.
        which: Which,
    },
}

/// The records of an effect.
#[derive(Clone, Debug)]
pub enum Which {
    /// The record with this key. A missing record is 404.
    Key(Expr),
    /// All records for which a condition over [`Slot::ITEM`] holds, in key order.
    Where {
        /// The condition.
        condition: Expr,
        /// Index that narrows the candidates.
        index: Option<(FieldId, Expr)>,
    },
}

impl BehaviourKind {
    /// Returns the resource whose records a reply shows, as one record or a list. Other replies have none.
    pub const fn shown(&self) -> Option<ResourceId> {
        match self {
            Self::Get { resource, .. }
            | Self::Lookup { resource, .. }
            | Self::Create { resource, .. }
            | Self::Replace { resource, .. }
            | Self::Patch { resource, .. }
            | Self::Delete { resource, .. }
            | Self::AddMembers { resource, .. }
            | Self::RemoveMembers { resource, .. }
            | Self::Action { target: Some((resource, _)) } => Some(*resource),
            Self::List(query) | Self::Members { query, .. } => Some(query.resource),
            Self::Action { target: None }
            | Self::Compute(_)
            | Self::Aggregate { .. }
            | Self::SignIn { .. }
            | Self::SignOut => None,
        }
    }
}
