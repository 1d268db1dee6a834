//! Units of measurement and conversion between them.
//!
//! Factors are exact by definition where the unit has one: the SI Brochure (9th edition, 2019; tables 7 and 8),
//! NIST Special Publication 811 (2008, appendix B.8) for units of the inch-pound system, and IEC 80000-13 for
//! data. The cup, spoons and fluid ounce are those of the United States; the mile is the international one; a
//! calorie is the thermochemical, a BTU that of the International Table.

/// A quantity that units measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
struct Unit {
    quantity: Quantity,
    factor: f64,
    offset: f64,
    /// Spellings; the first is the one shown. Symbols keep their case (`MB`, `mb`), words do not.
    names: &'static [&'static str],
}

const fn unit(quantity: Quantity, factor: f64, names: &'static [&'static str]) -> Unit {
    Unit { quantity, factor, offset: 0.0, names }
}

const KIBI: f64 = 1024.0;

#[rustfmt::skip]
const UNITS: &[Unit] = {
    use Quantity::*;
    &[
        // Base: metre. The inch is 25.4 mm exactly, the nautical mile 1852 m.
        unit(Length, 1.0, &["m", "metre", "meter"]),
        unit(Length, 1e3, &["km", "kilometre", "kilometer"]),
        unit(Length, 1e-2, &["cm", "centimetre", "centimeter"]),
        unit(Length, 1e-3, &["mm", "millimetre", "millimeter"]),
        unit(Length, 1609.344, &["mi", "mile"]),
        unit(Length, 0.9144, &["yd", "yard"]),
        unit(Length, 0.3048, &["ft", "foot", "feet"]),
        unit(Length, 0.0254, &["in", "inch", "inches"]),
        unit(Length, 1852.0, &["nmi", "nautical mile"]),
        // Base: kilogram. The pound is 0.453 592 37 kg exactly.
        unit(Mass, 1.0, &["kg", "kilogram", "kilo"]),
        unit(Mass, 1e-3, &["g", "gram", "gramme"]),
        unit(Mass, 1e-6, &["mg", "milligram"]),
        unit(Mass, 1e3, &["t", "tonne", "metric ton"]),
        unit(Mass, 0.453_592_37, &["lb", "pound", "lbs"]),
        unit(Mass, 0.028_349_523_125, &["oz", "ounce"]),
        unit(Mass, 6.350_293_18, &["st", "stone"]),
        // Base: cubic metre. The US gallon is 231 cubic inches.
        unit(Volume, 1.0, &["m3", "cubic metre", "cubic meter", "m³"]),
        unit(Volume, 1e-3, &["l", "litre", "liter", "L"]),
        unit(Volume, 1e-5, &["cl", "centilitre", "centiliter", "cL"]),
        unit(Volume, 1e-4, &["dl", "decilitre", "deciliter", "dL"]),
        unit(Volume, 1e-6, &["ml", "millilitre", "milliliter", "mL", "cm3", "cm³"]),
        unit(Volume, 3.785_411_784e-3, &["gal", "gallon"]),
        unit(Volume, 9.463_529_46e-4, &["qt", "quart"]),
        unit(Volume, 4.731_764_73e-4, &["pt", "pint"]),
        unit(Volume, 2.365_882_365e-4, &["cup"]),
        unit(Volume, 2.957_352_956_25e-5, &["floz", "fl oz", "fluid ounce"]),
        unit(Volume, 1.478_676_478_125e-5, &["tbsp", "tablespoon"]),
        unit(Volume, 4.928_921_593_75e-6, &["tsp", "teaspoon"]),
        unit(Volume, 0.028_316_846_592, &["ft3", "cubic foot", "cubic feet", "ft³"]),
        // Base: square metre.
        unit(Area, 1.0, &["m2", "square metre", "square meter", "m²"]),
        unit(Area, 1e-4, &["cm2", "square centimetre", "square centimeter", "cm²"]),
        unit(Area, 1e6, &["km2", "square kilometre", "square kilometer", "km²"]),
        unit(Area, 1e4, &["ha", "hectare"]),
        unit(Area, 4_046.856_422_4, &["acre", "ac"]),
        unit(Area, 0.092_903_04, &["ft2", "square foot", "square feet", "ft²", "sqft"]),
        unit(Area, 0.836_127_36, &["yd2", "square yard", "yd²"]),
        unit(Area, 2_589_988.110_336, &["mi2", "square mile", "mi²"]),
        // Base: metre per second.
        unit(Speed, 1.0, &["m/s", "metre per second", "meter per second"]),
        unit(Speed, 1.0 / 3.6, &["km/h", "kmh", "kph", "kilometres per hour", "kilometers per hour"]),
        unit(Speed, 0.447_04, &["mph", "mi/h", "miles per hour"]),
        unit(Speed, 1852.0 / 3600.0, &["kn", "knot", "kt"]),
        unit(Speed, 0.3048, &["ft/s", "feet per second"]),
        // Base: kelvin.
        unit(Temperature, 1.0, &["K", "kelvin"]),
        Unit { quantity: Temperature, factor: 1.0, offset: 273.15, names: &["C", "celsius", "°C", "degrees celsius"] },
        Unit { quantity: Temperature, factor: 5.0 / 9.0, offset: 459.67, names: &["F", "fahrenheit", "°F", "degrees fahrenheit"] },
        // Base: second.
        unit(Duration, 1.0, &["s", "second", "sec"]),
        unit(Duration, 1e-3, &["ms", "millisecond"]),
        unit(Duration, 60.0, &["min", "minute"]),
        unit(Duration, 3_600.0, &["h", "hour", "hr"]),
        unit(Duration, 86_400.0, &["d", "day"]),
        unit(Duration, 604_800.0, &["week", "wk"]),
        // Base: byte. Prefixes with `i` are binary (IEC 80000-13).
        unit(Data, 1.0, &["B", "byte"]),
        unit(Data, 0.125, &["bit"]),
        unit(Data, 1e3, &["kB", "kilobyte", "KB"]),
        unit(Data, 1e6, &["MB", "megabyte"]),
        unit(Data, 1e9, &["GB", "gigabyte"]),
        unit(Data, 1e12, &["TB", "terabyte"]),
        unit(Data, KIBI, &["KiB", "kibibyte"]),
        unit(Data, KIBI * KIBI, &["MiB", "mebibyte"]),
        unit(Data, KIBI * KIBI * KIBI, &["GiB", "gibibyte"]),
        unit(Data, KIBI * KIBI * KIBI * KIBI, &["TiB", "tebibyte"]),
        unit(Data, 125.0, &["kbit", "kilobit"]),
        unit(Data, 125e3, &["Mbit", "megabit"]),
        unit(Data, 125e6, &["Gbit", "gigabit"]),
        // Base: joule.
        unit(Energy, 1.0, &["J", "joule"]),
        unit(Energy, 1e3, &["kJ", "kilojoule"]),
        unit(Energy, 1e6, &["MJ", "megajoule"]),
        unit(Energy, 4.184, &["cal", "calorie"]),
        unit(Energy, 4_184.0, &["kcal", "kilocalorie"]),
        unit(Energy, 3_600.0, &["Wh", "watt hour"]),
        unit(Energy, 3.6e6, &["kWh", "kilowatt hour"]),
        unit(Energy, 3.6e9, &["MWh", "megawatt hour"]),
        unit(Energy, 1_055.055_852_62, &["BTU", "Btu", "british thermal unit"]),
        // Base: pascal.
        unit(Pressure, 1.0, &["Pa", "pascal"]),
        unit(Pressure, 100.0, &["hPa", "hectopascal", "mbar", "millibar"]),
        unit(Pressure, 1e3, &["kPa", "kilopascal"]),
        unit(Pressure, 1e5, &["bar"]),
        unit(Pressure, 101_325.0, &["atm", "atmosphere"]),
        unit(Pressure, 6_894.757_293_168_361, &["psi"]),
        unit(Pressure, 133.322_387_415, &["mmHg"]),
        unit(Pressure, 3_386.389, &["inHg"]),
    ]
};

/// Converts a value from one unit to another; `None` when a unit is unknown, they measure different things, or
/// the result is not finite. The result has twelve significant digits, so that 100 °C are 212 °F and not
/// 212.00000000000006.
///
/// ```
/// use diorama_seeds::expr::units::convert;
/// assert_eq!(convert(1.0, "mi", "km"), Some(1.609344));
/// assert_eq!(convert(100.0, "celsius", "F"), Some(212.0));
/// assert_eq!(convert(1.0, "kg", "km"), None);
/// ```
#[must_use]
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
#[must_use]
pub fn quantity(unit: &str) -> Option<Quantity> {
    find(unit).map(|unit| unit.quantity)
}

/// The symbols of the units that measure this, for messages and documents.
pub fn symbols(quantity: Quantity) -> impl Iterator<Item = &'static str> {
    UNITS.iter().filter(move |unit| unit.quantity == quantity).filter_map(|unit| unit.names.first().copied())
}

/// The symbol of every unit.
pub fn all_symbols() -> impl Iterator<Item = &'static str> {
    UNITS.iter().filter_map(|unit| unit.names.first().copied())
}

fn find(name: &str) -> Option<&'static Unit> {
    let exact = UNITS.iter().find(|unit| unit.names.contains(&name));
    exact.or_else(|| {
        // Words of three letters and more are taken in any case and in the plural; symbols are not: `Mb`, `MB`.
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
        let mut names: Vec<&str> = UNITS.iter().flat_map(|unit| unit.names).copied().collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    proptest! {
        #[test]
        fn there_and_back_is_the_same(value in -1e9_f64..1e9, from in 0..UNITS.len(), to in 0..UNITS.len()) {
            let (from, to) = (&UNITS[from], &UNITS[to]);
            if let Some(there) = convert(value, from.names[0], to.names[0]) {
                let back = convert(there, to.names[0], from.names[0]).unwrap();
                let span = value.abs().max(from.offset).max(to.offset * to.factor / from.factor).max(1e-9);
                prop_assert!((back - value).abs() <= span * 1e-9, "{} {} {} {}", value, from.names[0], there, back);
            }
        }
    }
}
