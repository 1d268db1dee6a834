//! Owns the user consent that a policy rule requires before a call. Types only.

use diorama_seeds::model::{FieldId, ParameterId, ResourceId};
use diorama_seeds::value::{Str, Value};

/// The consent that a policy rule requires for a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeededConsent {
    /// The name of the rule.
    pub rule: Str,
    /// The values that the user must hear.
    pub state: Vec<StatedValue>,
}

/// A value that the user must hear before giving consent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedValue {
    /// The noun for it. Example: `its start`.
    pub noun: Str,
    /// The value.
    pub value: Value,
    /// The source of the value.
    pub holder: Holder,
}

/// The source of a value, whose schema says how to parse it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A field of a record.
    Field(ResourceId, FieldId),
    /// A parameter of the called API.
    Parameter(ParameterId),
    /// The value is calculated.
    Nothing,
}
