//! Owns the protocols and their names.

use std::fmt;
use std::str::FromStr;

/// A protocol of trainers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// A resources server of NVIDIA NeMo Gym.
    NemoGym,
    /// An environment of OpenEnv.
    OpenEnv,
    /// An environment of the Open Reward Standard.
    Ors,
}

/// A name that is no protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found the protocol `{0}`, expected nemo-gym, openenv or ors")]
pub struct UnknownProtocol(String);

impl Protocol {
    /// All protocols.
    pub const ALL: [Self; 3] = [Self::NemoGym, Self::OpenEnv, Self::Ors];

    /// Returns the name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NemoGym => "nemo-gym",
            Self::OpenEnv => "openenv",
            Self::Ors => "ors",
        }
    }
}

impl FromStr for Protocol {
    type Err = UnknownProtocol;

    fn from_str(name: &str) -> Result<Self, UnknownProtocol> {
        let found = Self::ALL.into_iter().find(|protocol| protocol.name() == name);
        found.ok_or_else(|| UnknownProtocol(name.chars().take(60).collect()))
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
