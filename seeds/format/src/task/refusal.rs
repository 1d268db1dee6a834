//! Refusal classes: the reasons for which a request cannot be carried out.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Why a request could not be carried out, by meaning. Where two fit, both are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RefusalClass {
    /// The request names something that does not exist.
    NotFound,
    /// The present state of the records prevents it: taken, full, already done, too late, not enough.
    Conflict,
    /// A rule, a right or a limit of the place does not allow it, whatever the present state.
    Forbidden,
    /// A value as such cannot be: not a day, below zero, outside of what the field can hold.
    Invalid,
    /// No API does this.
    NoTool,
}

impl RefusalClass {
    /// All classes, in the order of the schemas.
    pub const ALL: [Self; 5] = [Self::NotFound, Self::Conflict, Self::Forbidden, Self::Invalid, Self::NoTool];

    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::Forbidden => "forbidden",
            Self::Invalid => "invalid",
            Self::NoTool => "no_tool",
        }
    }

    /// Returns true if a refusal of this class must name its subject. A policy rule or a missing tool may
    /// concern nothing that has a name.
    pub const fn needs_subject(self) -> bool {
        matches!(self, Self::NotFound | Self::Conflict | Self::Invalid)
    }

    /// Returns the class of an HTTP status, or none if the status is no refusal.
    pub const fn of_status(status: u16) -> Option<Self> {
        match status {
            404 | 410 => Some(Self::NotFound),
            401 | 403 => Some(Self::Forbidden),
            409 => Some(Self::Conflict),
            400 | 402 | 422 => Some(Self::Invalid),
            _ => None,
        }
    }

    /// Returns the class that fits a refusal by a rule of the API, beside that of its status. A rule that
    /// refuses a value is a limit of the place.
    pub const fn of_rule(status: u16) -> &'static [Self] {
        match status {
            422 => &[Self::Forbidden],
            _ => &[],
        }
    }

    /// Returns the classes that fit a refusal for being too late or too soon, beside those of a rule.
    pub const fn of_deadline(status: u16) -> &'static [Self] {
        match status {
            409 => &[Self::Forbidden],
            422 => &[Self::Conflict],
            _ => &[],
        }
    }

    /// Returns the classes that fit a refusal of this status that no rule of the API caused. With 422, an
    /// argument may be invalid or name an unknown record.
    pub fn all_of_status(status: u16) -> Vec<Self> {
        let neighbour = (status == 422).then_some(Self::NotFound);
        Self::of_status(status).into_iter().chain(neighbour).collect()
    }
}

/// One class, or several that fit.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum OneOrSeveral {
    One(RefusalClass),
    Several(Vec<RefusalClass>),
}

/// Reads one class or several.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RefusalClass>, D::Error> {
    Ok(match Option::deserialize(deserializer)? {
        None => Vec::new(),
        Some(OneOrSeveral::One(class)) => vec![class],
        Some(OneOrSeveral::Several(classes)) => classes,
    })
}

/// Writes one class by itself.
pub(crate) fn serialize<S: Serializer>(classes: &[RefusalClass], serializer: S) -> Result<S::Ok, S::Error> {
    match classes {
        [class] => class.serialize(serializer),
        classes => classes.serialize(serializer),
    }
}
