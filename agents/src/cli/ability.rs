//! Abilities on the command line.

use clap::ValueEnum;
use diorama_seeds::task::Ability;

/// An ability, as it is named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum AbilityName {
    /// The needed APIs are visible.
    Call,
    /// One API must be found.
    RetrieveCall,
    /// Several must be found and ordered.
    PlanRetrieveCall,
}

impl From<AbilityName> for Ability {
    fn from(name: AbilityName) -> Self {
        match name {
            AbilityName::Call => Self::Call,
            AbilityName::RetrieveCall => Self::RetrieveCall,
            AbilityName::PlanRetrieveCall => Self::PlanRetrieveCall,
        }
    }
}
