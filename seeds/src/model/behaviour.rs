//! Effects of calls: kinds of behaviour, with their queries, checks and changes.

use super::ids::{FieldId, ParameterId, ResourceId};
use crate::doc::{Comparison, PageStyle};
use crate::expr::node::{Expr, Slot};
use crate::task::RefusalClass;
use crate::value::Str;

/// The effect of a call: bindings, then the kind's look-ups, then checks, then changes, then the reply.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// The kind.
    pub kind: BehaviourKind,
    /// `let` names, in order. They see `record` (where the kind has one), `me`, arguments and earlier names.
    pub bindings: Vec<(Slot, Expr)>,
    /// Checks in order.
    pub require: Vec<Require>,
    /// The rules of the domain's policy that govern it. Only the shadow of a world refuses by them, each with its rule's name as the
    /// message.
    pub rules: Vec<Require>,
    /// The same rules as articles tell them that were replaced; none where none was.
    pub replaced: Vec<Require>,
    /// The rules of the domain's policy by which the user must have said yes to it.
    pub confirms: Vec<Confirm>,
    /// Further changes.
    pub also: Vec<Effect>,
    /// The field that keeps the body of the request.
    pub keep: Option<FieldId>,
    /// A record that is to be changed and not there is made.
    pub upsert: bool,
    /// Records are made of the items of a list.
    pub each: Option<Each>,
}

/// A rule of a policy by which the user must have said yes to a call.
#[derive(Clone, Debug)]
pub struct Confirm {
    /// The name of the rule.
    pub rule: Str,
    /// The calls that need no yes.
    pub exempt: Expr,
    /// The values that the user must hear, each with its noun.
    pub state: Vec<(Str, Expr)>,
}

/// Where the bodies of several records come from.
#[derive(Clone, Debug)]
pub struct Each {
    /// The argument that is a list of them.
    pub parameter: ParameterId,
    /// The records for which this holds, and that the list does not name, go.
    pub instead_of: Option<Expr>,
}

/// The kinds of behaviour, version 1.
#[derive(Clone, Debug)]
pub enum BehaviourKind {
    /// One record by key; 404 when there is none.
    Get {
        /// Of this resource.
        resource: ResourceId,
        /// Its key; `None` for a singleton.
        key: Option<Expr>,
    },
    /// The one record whose fields equal the arguments (strings: any case, trimmed); 404 or 409 otherwise.
    Lookup {
        /// Of this resource.
        resource: ResourceId,
        /// Field and argument.
        by: Vec<(FieldId, ParameterId)>,
    },
    /// Records that pass, in order, in pages.
    List(Query),
    /// A new record.
    Create {
        /// Of this resource.
        resource: ResourceId,
        /// Field values: arguments by name, then `set`.
        set: Vec<(FieldId, Setter)>,
    },
    /// All settable fields are replaced: those in `set` get their value, the others their default or absence.
    Replace {
        /// Of this resource.
        resource: ResourceId,
        /// Its key.
        key: Option<Expr>,
        /// Field values.
        set: Vec<(FieldId, Setter)>,
    },
    /// Given fields change.
    Patch {
        /// Of this resource.
        resource: ResourceId,
        /// Its key.
        key: Option<Expr>,
        /// Field values; an argument that is not given leaves its field alone.
        set: Vec<(FieldId, Setter)>,
    },
    /// A record goes.
    Delete {
        /// Of this resource.
        resource: ResourceId,
        /// Its key.
        key: Option<Expr>,
    },
    /// Checks and effects.
    Action {
        /// The record acted on (404 when there is none), or no record.
        target: Option<(ResourceId, Option<Expr>)>,
    },
    /// The members of an ordered list of references, in the list's order unless sorted.
    Members {
        /// The resource that has the list.
        resource: ResourceId,
        /// The list field.
        field: FieldId,
        /// The key of the record that has the list.
        key: Option<Expr>,
        /// Condition, order and paging over the members.
        query: Query,
    },
    /// Puts members into the list; a member that is there already is 409.
    AddMembers {
        /// The resource that has the list.
        resource: ResourceId,
        /// The list field.
        field: FieldId,
        /// The key of the record that has the list.
        key: Option<Expr>,
        /// The member's key, or a list of keys.
        member: ParameterId,
        /// Position from 0; the end by default.
        position: Option<ParameterId>,
    },
    /// Takes members out; one that is not there is 404.
    RemoveMembers {
        /// The resource that has the list.
        resource: ResourceId,
        /// The list field.
        field: FieldId,
        /// The key of the record that has the list.
        key: Option<Expr>,
        /// The member's key, or a list of keys.
        member: ParameterId,
    },
    /// A computed reply.
    Compute(Vec<(Str, Expr)>),
    /// Measures by group.
    Aggregate {
        /// Which records.
        query: Query,
        /// The field that makes the groups; one group of all without it.
        group_by: Option<FieldId>,
        /// Output name, kind, field.
        measures: Vec<(Str, Measure)>,
    },
    /// Checks name and secret, issues a token. Replies `{token, expires_at}`.
    SignIn {
        /// The argument with the name.
        login: ParameterId,
        /// The argument with the secret.
        secret: ParameterId,
    },
    /// Ends the token.
    SignOut,
}

/// Where a field's new value comes from.
#[derive(Clone, Debug)]
pub enum Setter {
    /// The argument.
    Argument(ParameterId),
    /// An expression.
    Expr(Expr),
}

/// Which records, in which order, which of them.
#[derive(Clone, Debug)]
pub struct Query {
    /// Of this resource.
    pub resource: ResourceId,
    /// Filters by argument.
    pub filters: Vec<Filter>,
    /// Over [`Slot::ITEM`].
    pub condition: Option<Expr>,
    /// Fixed or default order.
    pub sort: Option<Sort>,
    /// The parameter by which callers choose the order, and the fields they may choose.
    pub sort_parameter: Option<(ParameterId, Vec<FieldId>)>,
    /// Paging; everything in one reply without it (at most 1,000).
    pub page: Option<Page>,
}

/// A filter; without its argument it passes everything.
#[derive(Clone, Debug)]
pub struct Filter {
    /// The argument.
    pub parameter: ParameterId,
    /// The comparison.
    pub test: FilterTest,
}

/// The comparison of a filter.
#[derive(Clone, Debug)]
pub enum FilterTest {
    /// A field with the argument.
    Compare(FieldId, Comparison),
    /// Words of the argument with the words of these fields.
    Text(Vec<FieldId>),
}

/// An order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// By this field; ties by key.
    pub field: FieldId,
    /// Greatest first.
    pub descending: bool,
}

/// Paging.
#[derive(Clone, Debug)]
pub struct Page {
    /// How pages are named.
    pub style: PageStyle,
    /// Items on a page by default.
    pub size: u32,
    /// The number of the first page.
    pub first: u8,
    /// The parameter with page number, offset or cursor.
    pub parameter: ParameterId,
    /// The parameter with the page size.
    pub limit: Option<ParameterId>,
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

/// A check.
#[derive(Clone, Debug)]
pub struct Require {
    /// Must hold.
    pub that: Expr,
    /// Status when it does not.
    pub status: u16,
    /// The classes of refusal that it is then, by meaning and by the status.
    pub reasons: Vec<RefusalClass>,
    /// Message when it does not.
    pub message: Str,
}

/// A change to records.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Happens only when this holds.
    pub when: Option<Expr>,
    /// Of this resource.
    pub resource: ResourceId,
    /// What.
    pub change: Change,
}

/// The change of an effect.
#[derive(Clone, Debug)]
pub enum Change {
    /// Makes a record; `name` is the slot under which later expressions see it.
    Create {
        /// Field values.
        set: Vec<(FieldId, Expr)>,
        /// Slot of the new record.
        name: Option<Slot>,
    },
    /// Changes records.
    Update {
        /// Which.
        which: Which,
        /// Field values.
        set: Vec<(FieldId, Expr)>,
    },
    /// Deletes records.
    Delete {
        /// Which.
        which: Which,
    },
}

/// Which records an effect changes.
#[derive(Clone, Debug)]
pub enum Which {
    /// The one with this key; none is 404.
    Key(Expr),
    /// All for which this holds, over [`Slot::ITEM`], in key order.
    Where {
        /// The condition.
        condition: Expr,
        /// An index that narrows the candidates.
        index: Option<(FieldId, Expr)>,
    },
}

impl BehaviourKind {
    /// The resource whose records a reply shows, one or a list of them. Nothing where it shows something else.
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
