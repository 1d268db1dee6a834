//! The yes of a user that a rule of a policy asks for before a call: types only.

use diorama_seeds::model::{FieldId, ParameterId, ResourceId};
use diorama_seeds::value::{Str, Value};

/// The yes of the user to a call, which a rule of a policy asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeededConsent {
    /// The name of the rule.
    pub rule: Str,
    /// The values that the user must hear.
    pub state: Vec<StatedValue>,
}

/// A value that the user must hear before they say yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedValue {
    /// Its noun: `its start`.
    pub noun: Str,
    /// The value.
    pub value: Value,
    /// The holder of the value.
    pub holder: Holder,
}

/// The holder of a value, whose schema says how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A field of a record.
    Field(ResourceId, FieldId),
    /// A parameter of the called API.
    Parameter(ParameterId),
    /// Neither: it is computed.
    Nothing,
}
