//! Nested calls as data: their depth, the names of their arguments, and the notation.

use std::fmt;

use serde_json::Value as Json;

/// A call whose arguments may be calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The API.
    pub api: String,
    /// Its arguments; one without a name is positional.
    pub arguments: Vec<(Option<String>, PlanArgument)>,
}

/// The value of an argument, or the call that gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanArgument {
    /// A value.
    Value(Json),
    /// A value from another call's reply.
    Call(Plan),
}

impl Plan {
    /// Calls inside calls: 1 where every argument is a value.
    #[must_use]
    pub fn depth(&self) -> u32 {
        1 + self.inner().map(Self::depth).max().unwrap_or(0)
    }

    /// The calls that give its arguments.
    pub fn inner(&self) -> impl Iterator<Item = &Self> {
        self.arguments.iter().filter_map(|(_, filled)| match filled {
            PlanArgument::Call(plan) => Some(plan),
            PlanArgument::Value(_) => None,
        })
    }

    /// Returns true where it is `whole`, or is inside of it.
    #[must_use]
    pub fn is_part_of(&self, whole: &Self) -> bool {
        self == whole || whole.inner().any(|inner| self.is_part_of(inner))
    }

    /// Its arguments with names. `parameters` are the API's, in the order of positional arguments.
    pub fn named<'a>(&'a self, parameters: &[&'a str]) -> Vec<(&'a str, &'a PlanArgument)> {
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
                PlanArgument::Value(Json::String(text)) => write!(formatter, "'{text}'")?,
                PlanArgument::Value(value) => write!(formatter, "{value}")?,
                PlanArgument::Call(plan) => plan.fmt(formatter)?,
            }
        }
        formatter.write_str(")")
    }
}
