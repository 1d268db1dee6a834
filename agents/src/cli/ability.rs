//! Abilities on the command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use diorama_output::row::parse_ability;
use diorama_seeds::task::Ability;

/// Reads an ability by its name.
pub(super) fn ability() -> impl TypedValueParser<Value = Ability> {
    let values = [
        ("call", "The needed APIs are visible"),
        ("retrieve_call", "One API must be found"),
        ("plan_retrieve_call", "Several must be found and ordered"),
    ];
    let values = values.map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).try_map(|name| parse_ability(&name))
}
