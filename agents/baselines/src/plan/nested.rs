//! Nested calls: their depth, the names of their arguments, and their notation.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// A call whose arguments may be calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The API.
    pub api: String,
    /// Its arguments. One without a name is positional.
    pub arguments: Vec<(Option<String>, PlanArgument)>,
}

/// The value of an argument, or the call that supplies it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanArgument {
    /// A value.
    Value(Json),
    /// A value from another call's reply.
    Call(Plan),
}

impl Plan {
    /// Returns the depth of nested calls. 1 if every argument is a value.
    #[must_use]
    pub fn depth(&self) -> u32 {
        1 + self.inner().map(Self::depth).max().unwrap_or(0)
    }

    /// Returns the calls that supply its arguments.
    pub fn inner(&self) -> impl Iterator<Item = &Self> {
        self.arguments.iter().filter_map(|(_, filled)| match filled {
            PlanArgument::Call(plan) => Some(plan),
            PlanArgument::Value(_) => None,
        })
    }

    /// Returns true if this plan equals `whole` or is inside of it.
    #[must_use]
    pub fn is_part_of(&self, whole: &Self) -> bool {
        self == whole || whole.inner().any(|inner| self.is_part_of(inner))
    }

    /// Returns the plan and every call inside of it.
    #[must_use]
    pub fn calls(&self) -> Vec<&Self> {
        std::iter::once(self).chain(self.inner().flat_map(Self::calls)).collect()
    }

    /// Returns the name of an argument that one of the calls has twice.
    #[must_use]
    pub fn repeated_argument(&self) -> Option<&str> {
        self.calls().into_iter().find_map(|call| {
            let names: Vec<&str> = call.arguments.iter().filter_map(|(name, _)| name.as_deref()).collect();
            names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)).map(|(_, name)| *name)
        })
    }

    /// Returns its arguments with names. `parameters` are the API's, in the order of positional arguments. An
    /// argument beyond them gets its position among all arguments as its name, from 1: `#3`.
    pub fn named<'a>(&'a self, parameters: &[&'a str]) -> Vec<(Cow<'a, str>, &'a PlanArgument)> {
        let named: Vec<&str> = self.arguments.iter().filter_map(|(name, _)| name.as_deref()).collect();
        let mut places = parameters.iter().filter(|name| !named.contains(name)).copied();
        self.arguments
            .iter()
            .enumerate()
            .map(|(at, (name, filled))| {
                let name = name.as_deref().or_else(|| places.next());
                (name.map_or_else(|| Cow::Owned(format!("#{}", at + 1)), Cow::Borrowed), filled)
            })
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
