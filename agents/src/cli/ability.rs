//! Owns the parser of abilities on the command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use diorama_output::row::{ability_name, parse_ability};
use diorama_seeds::task::Ability;

/// Returns the parser of an ability's name.
pub(super) fn ability() -> impl TypedValueParser<Value = Ability> {
    let help = ["The needed APIs are visible", "One API must be found", "Several must be found and ordered"];
    let values = Ability::ALL.iter().zip(help);
    let values = values.map(|(ability, help)| PossibleValue::new(ability_name(*ability)).help(help));
    PossibleValuesParser::new(values).try_map(|name| parse_ability(&name))
}
