//! Owns the units of measurement and the conversion between them.
//!
//! Factors are exact if the unit is defined so. Sources: the SI Brochure (9th edition, 2019; tables 7 and 8),
//! NIST Special Publication 811 (2008, appendix B.8) for inch-pound units, and IEC 80000-13 for data. Cup,
//! spoons and fluid ounce are those of the United States. The mile is the international one. A calorie is the
//! thermochemical one, and a BTU that of the International Table.

use std::sync::LazyLock;

use serde::Deserialize;

/// A quantity that units measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Quantity {
    Length,
    Mass,
    Volume,
    Area,
    Speed,
    Temperature,
    Duration,
    Data,
    Energy,
    Pressure,
}

/// A unit: `base = (value + offset) * factor`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unit {
    quantity: Quantity,
    factor: f64,
    #[serde(default)]
    offset: f64,
    /// Spellings, of which the first is shown. Symbols keep their case (`MB`, `mb`), words do not.
    names: Vec<String>,
}

static UNITS: LazyLock<Vec<Unit>> =
    LazyLock::new(|| diorama_format::read_words(include_str!("../../data/units.yaml")).unwrap_or_default());

/// Converts a value from one unit to another. Returns `None` if a unit is unknown, the units measure
/// different quantities, or the result is not finite. The result has twelve significant digits, so that 100
/// °C are 212 °F and not 212.00000000000006.
///
/// ```
/// use diorama_seeds::expr::units::convert;
/// assert_eq!(convert(1.0, "mi", "km"), Some(1.609344));
/// assert_eq!(convert(100.0, "celsius", "F"), Some(212.0));
/// assert_eq!(convert(1.0, "kg", "km"), None);
/// ```
pub fn convert(value: f64, from: &str, to: &str) -> Option<f64> {
    let (from, to) = (find(from)?, find(to)?);
    if from.quantity != to.quantity {
        return None;
    }
    let converted = if std::ptr::eq(from, to) {
        value
    } else {
        twelve_digits((value + from.offset) * from.factor / to.factor - to.offset)
    };
    converted.is_finite().then_some(converted)
}

/// Returns the quantity that a unit measures, or `None` for an unknown unit.
pub fn quantity(unit: &str) -> Option<Quantity> {
    find(unit).map(|unit| unit.quantity)
}

/// Returns the symbols of the units that measure this quantity, for messages and documents.
pub fn symbols(quantity: Quantity) -> impl Iterator<Item = &'static str> {
    let of = UNITS.iter().filter(move |unit| unit.quantity == quantity);
    of.filter_map(|unit| unit.names.first().map(String::as_str))
}

/// Returns the symbols of all units.
pub fn all_symbols() -> impl Iterator<Item = &'static str> {
    UNITS.iter().filter_map(|unit| unit.names.first().map(String::as_str))
}

fn find(name: &str) -> Option<&'static Unit> {
    let exact = UNITS.iter().find(|unit| unit.names.iter().any(|known| known == name));
    exact.or_else(|| {
        // Words of three or more letters match in any case and in the plural. Symbols must match exactly:
        // `Mb`, `MB`.
        let is_word = |known: &str| {
            known.len() >= 3 && known.chars().all(|each| each.is_ascii_lowercase() || each == ' ')
        };
        let singular = name.strip_suffix(['s', 'S']).unwrap_or(name);
        UNITS.iter().find(|unit| {
            unit.names.iter().any(|known| {
                is_word(known) && (known.eq_ignore_ascii_case(name) || known.eq_ignore_ascii_case(singular))
            })
        })
    })
}

fn twelve_digits(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn definitions_hold() {
        let check =
            |value, from, to, expect: f64| assert_eq!(convert(value, from, to), Some(expect), "{from} {to}");
        check(1.0, "mile", "metres", 1609.344);
        check(12.0, "in", "ft", 1.0);
        check(1.0, "lb", "oz", 16.0);
        check(1.0, "gal", "cup", 16.0);
        check(1.0, "cup", "tbsp", 16.0);
        check(1.0, "tbsp", "tsp", 3.0);
        check(1.0, "mi2", "acre", 640.0);
        check(36.0, "km/h", "m/s", 10.0);
        check(-40.0, "C", "F", -40.0);
        check(98.6, "Fahrenheit", "Celsius", 37.0);
        check(0.0, "K", "°C", -273.15);
        check(2.0, "weeks", "Days", 14.0);
        check(1.0, "GiB", "MiB", 1024.0);
        check(8.0, "Mbit", "MB", 1.0);
        check(1.0, "kWh", "kJ", 3600.0);
        check(1.0, "atm", "hPa", 1013.25);
        check(1.0, "mmHg", "Pa", 133.322_387_415);
        check(1.0, "bar", "hPa", 1000.0);
    }

    #[test]
    fn the_format_lists_every_unit() {
        let text = include_str!("../../../docs/world-format.md");
        let (_, units) = text.split_once("**Units** of `convert`").unwrap();
        let (units, _) = units.split_once("##").unwrap();
        let listed: Vec<&str> = units.split(|each: char| each.is_whitespace() || each == '`').collect();
        let missing: Vec<&str> = all_symbols().filter(|symbol| !listed.contains(symbol)).collect();
        assert_eq!(missing, [""; 0]);
    }

    #[test]
    fn strange_units_have_no_conversion() {
        for (from, to) in [("kg", "m"), ("furlong", "m"), ("", "m"), ("M", "m"), ("mb", "MB")] {
            assert_eq!(convert(1.0, from, to), None, "{from} {to}");
        }
        assert_eq!(convert(f64::MAX, "km", "mm"), None);
    }

    #[test]
    fn no_spelling_means_two_units() {
        let mut names: Vec<&String> = UNITS.iter().flat_map(|unit| &unit.names).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    proptest! {
        #[test]
        fn there_and_back_is_the_same(value in -1e9_f64..1e9, from in 0..UNITS.len(), to in 0..UNITS.len()) {
            let (from, to) = (&UNITS[from], &UNITS[to]);
            if let Some(there) = convert(value, &from.names[0], &to.names[0]) {
                let back = convert(there, &to.names[0], &from.names[0]).unwrap();
                let span = value.abs().max(from.offset).max(to.offset * to.factor / from.factor).max(1e-9);
                prop_assert!((back - value).abs() <= span * 1e-9, "{} {} {} {}", value, from.names[0], there, back);
            }
        }
    }
}
