//! Nested calls as data: depth, names of arguments, and the notation.

use std::fmt;

use serde_json::Value as Json;

/// A call whose arguments may be calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The API.
    pub api: String,
    /// Its arguments; one without a name stands for the parameter at its place.
    pub arguments: Vec<(Option<String>, Filled)>,
}

/// What an argument is filled with.
#[derive(Clone, Debug, PartialEq)]
pub enum Filled {
    /// A value.
    Value(Json),
    /// What another call gives.
    Call(Plan),
}

impl Plan {
    /// Calls inside calls: 1 where every argument is a value.
    #[must_use]
    pub fn depth(&self) -> u32 {
        1 + self.inner().map(Self::depth).max().unwrap_or(0)
    }

    /// The calls that stand for its arguments.
    pub fn inner(&self) -> impl Iterator<Item = &Self> {
        self.arguments.iter().filter_map(|(_, filled)| match filled {
            Filled::Call(plan) => Some(plan),
            Filled::Value(_) => None,
        })
    }

    /// Whether it is a plan, or is inside of it.
    #[must_use]
    pub fn is_part_of(&self, whole: &Self) -> bool {
        self == whole || whole.inner().any(|inner| self.is_part_of(inner))
    }

    /// Its arguments with the names of the parameters that places stand for: the required ones in the order in which the
    /// document lists them, then the others.
    pub fn named<'a>(&'a self, parameters: &[&'a str]) -> Vec<(&'a str, &'a Filled)> {
        let named: Vec<&str> = self.arguments.iter().filter_map(|(name, _)| name.as_deref()).collect();
        let mut places = parameters.iter().filter(|name| !named.contains(name)).copied();
        self.arguments
            .iter()
            .filter_map(|(name, filled)| Some((name.as_deref().or_else(|| places.next())?, filled)))
            .collect()
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}(", self.api)?;
        for (at, (name, filled)) in self.arguments.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            formatter.write_str(comma)?;
            if let Some(name) = name {
                write!(formatter, "{name}=")?;
            }
            match filled {
                Filled::Value(Json::String(text)) => write!(formatter, "'{text}'")?,
                Filled::Value(value) => write!(formatter, "{value}")?,
                Filled::Call(plan) => plan.fmt(formatter)?,
            }
        }
        formatter.write_str(")")
    }
}
