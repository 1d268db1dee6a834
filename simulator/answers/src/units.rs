//! Units and currencies: their names and conversions.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// A unit: its dimension, and the conversion to the base unit of the dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Its dimension.
    pub dimension: Dimension,
    /// `base = value * factor + offset`.
    pub factor: f64,
    /// See `factor`. Zero except for temperatures.
    pub offset: f64,
}

/// The dimension of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Dimension {
    Length,
    Mass,
    Volume,
    Duration,
    Temperature,
    Area,
    Speed,
    Data,
    Share,
    Energy,
    Power,
}

const fn unit(dimension: Dimension, factor: f64) -> Unit {
    Unit { dimension, factor, offset: 0.0 }
}

use Dimension::{Area, Data, Duration, Energy, Length, Mass, Power, Share, Speed, Temperature, Volume};

/// Units with their names, separated by blanks. Short names that are also words (`m`, `in`) are included: the
/// recogniser accepts them only after a numeral.
pub const WORDS: &[(Unit, &str)] = &[
    (unit(Length, 1.0), "m metre metres meter meters mtr"),
    (unit(Length, 1000.0), "km kms kilometre kilometres kilometer kilometers"),
    (unit(Length, 0.01), "cm centimetre centimetres centimeter centimeters"),
    (unit(Length, 0.001), "mm millimetre millimetres millimeter millimeters"),
    (unit(Length, 1609.344), "mi mile miles"),
    (unit(Length, 0.3048), "ft foot feet"),
    (unit(Length, 0.0254), "inch inches"),
    (unit(Length, 0.9144), "yd yard yards"),
    (unit(Length, 1852.0), "nmi"),
    (unit(Mass, 1.0), "kg kgs kilo kilos kilogram kilograms kilogramme kilogrammes"),
    (unit(Mass, 0.001), "g gram grams gramme grammes gr"),
    (unit(Mass, 0.000_001), "mg milligram milligrams"),
    (unit(Mass, 1000.0), "t tonne tonnes"),
    (unit(Mass, 0.453_592_37), "lb lbs"),
    (unit(Mass, 0.028_349_523_125), "oz ounce ounces"),
    (unit(Volume, 1.0), "l litre litres liter liters ltr"),
    (unit(Volume, 0.001), "ml millilitre millilitres milliliter milliliters"),
    (unit(Volume, 0.01), "cl centilitre centilitres"),
    (unit(Volume, 3.785_411_784), "gal gallon gallons"),
    (unit(Duration, 1.0), "s sec secs second seconds"),
    (unit(Duration, 0.001), "ms millisecond milliseconds"),
    (unit(Duration, 60.0), "min mins minute minutes"),
    (unit(Duration, 3600.0), "h hr hrs hour hours"),
    (unit(Duration, 86_400.0), "day days"),
    (unit(Duration, 604_800.0), "week weeks wk wks"),
    (unit(Duration, 2_629_746.0), "month months"),
    (unit(Duration, 31_556_952.0), "year years yr yrs"),
    (unit(Temperature, 1.0), "celsius centigrade c"),
    (Unit { dimension: Temperature, factor: 5.0 / 9.0, offset: -160.0 / 9.0 }, "fahrenheit f"),
    (unit(Area, 1.0), "sqm m2"),
    (unit(Area, 0.092_903_04), "sqft ft2"),
    (unit(Area, 10_000.0), "ha hectare hectares"),
    (unit(Area, 4_046.856_422_4), "acre acres"),
    (unit(Speed, 1.0), "kmh kph"),
    (unit(Speed, 1.609_344), "mph"),
    (unit(Speed, 3.6), "mps"),
    (unit(Speed, 1.852), "kn knot knots"),
    (unit(Data, 1.0), "mb megabyte megabytes"),
    (unit(Data, 0.000_001), "byte bytes"),
    (unit(Data, 0.001), "kb kilobyte kilobytes"),
    (unit(Data, 1000.0), "gb gigabyte gigabytes"),
    (unit(Data, 1_000_000.0), "tb terabyte terabytes"),
    (unit(Share, 1.0), "percent pct percentage"),
    (unit(Energy, 1.0), "kcal calorie calories kilocalories cal"),
    (unit(Energy, 0.239_005_736), "kj kilojoule kilojoules"),
    (unit(Energy, 860.420_65), "kwh"),
    (unit(Energy, 860_420.65), "mwh"),
    (unit(Power, 1.0), "w watt watts"),
    (unit(Power, 1000.0), "kw kilowatt kilowatts"),
];

/// Per cent.
pub const PERCENT: Unit = unit(Share, 1.0);
/// Hours.
pub const HOUR: Unit = unit(Duration, 3600.0);
/// Square metres.
pub const SQUARE_METRE: Unit = unit(Area, 1.0);
/// Degrees Celsius. A bare degree sign also means this unit.
pub const CELSIUS: Unit = unit(Temperature, 1.0);

static NAMED: LazyLock<FxHashMap<&'static str, Unit>> = LazyLock::new(|| {
    WORDS.iter().flat_map(|(unit, names)| names.split_whitespace().map(|name| (name, *unit))).collect()
});

impl Unit {
    /// Finds a unit by the name a world gives it (`km`, `minutes`, `°C`, `m²`, `km/h`, `%`).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        if let Some(unit) = NAMED.get(name) {
            return Some(*unit);
        }
        let folded: String = name.trim().to_lowercase();
        match folded.as_str() {
            "%" => return Some(PERCENT),
            "°c" | "degc" | "deg c" | "degrees celsius" | "°" => return Some(CELSIUS),
            "°f" | "degf" | "degrees fahrenheit" => return find("fahrenheit"),
            "m²" | "m^2" | "square metres" | "square meters" | "sq m" => return Some(SQUARE_METRE),
            _ => {}
        }
        match folded.split_once('/') {
            Some((length, time)) => find(length)?.in_one(time),
            None => find(&folded),
        }
    }

    /// Returns the square of a unit of length, as a unit of area.
    #[must_use]
    pub fn squared(self) -> Option<Self> {
        (self.dimension == Length).then_some(Self {
            dimension: Area,
            factor: self.factor * self.factor,
            offset: 0.0,
        })
    }

    /// Returns a unit of length per time, as a unit of speed. `time` is `h`, `hour`, `s`, `sec` or `second`.
    #[must_use]
    pub fn in_one(self, time: &str) -> Option<Self> {
        let seconds = match time {
            "h" | "hour" => 3600.0,
            "s" | "sec" | "second" => 1.0,
            _ => return None,
        };
        let kilometres = self.convert(1.0, find("km")?)?;
        Some(unit(Speed, kilometres * 3600.0 / seconds))
    }

    /// Converts a value to another unit of the same dimension.
    #[must_use]
    pub fn convert(self, value: f64, to: Self) -> Option<f64> {
        (self.dimension == to.dimension).then(|| (value * self.factor + self.offset - to.offset) / to.factor)
    }
}

fn find(name: &str) -> Option<Unit> {
    NAMED.get(name).copied()
}

/// A currency as written: one code, or the codes that share a sign or a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Currency(&'static str);

impl Currency {
    /// Makes a currency from its code, or from the codes that share a word or sign.
    pub const fn named(codes: &'static str) -> Self {
        Self(codes)
    }

    /// Any currency. Used for cents without a currency.
    pub const ANY: Self = Self("");

    /// Returns true if the written currency can mean this code.
    #[must_use]
    pub fn means(self, code: &str) -> bool {
        self.0.is_empty() || self.0.split(' ').any(|one| one.eq_ignore_ascii_case(code))
    }

    /// Returns true for a single currency, false for several that share a sign or word.
    #[must_use]
    pub fn is_one(self) -> bool {
        self.0.len() == 3
    }

    /// Returns true if two spellings can mean the same currency.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.0.is_empty() || other.0.split(' ').any(|code| self.means(code))
    }

    /// Narrows a currency by the country or letters before its sign or word. Examples: `US$`, `Australian
    /// dollars`.
    pub(crate) fn prefixed(prefix: &str, currency: Self) -> Option<Self> {
        const PREFIXES: [(&str, &str); 9] = [
            ("us", "USD"),
            ("a", "AUD"),
            ("au", "AUD"),
            ("c", "CAD"),
            ("ca", "CAD"),
            ("nz", "NZD"),
            ("s", "SGD"),
            ("hk", "HKD"),
            ("r", "BRL"),
        ];
        const COUNTRIES: [(&str, &str); 5] = [
            ("australian", "AUD"),
            ("canadian", "CAD"),
            ("singapore", "SGD"),
            ("american", "USD"),
            ("british", "GBP"),
        ];
        let (_, code) = PREFIXES.iter().chain(&COUNTRIES).find(|(known, _)| *known == prefix)?;
        currency.means(code).then_some(Self(code))
    }

    /// Returns the currencies of a sign.
    pub fn sign(sign: char) -> Option<Self> {
        Some(Self(match sign {
            '€' => "EUR",
            '$' | '＄' => DOLLARS,
            '£' => "GBP EGP LBP SYP SDG",
            '¥' | '￥' => "JPY CNY",
            '₹' => "INR",
            '₩' => "KRW",
            '₺' => "TRY",
            '₽' => "RUB",
            '₴' => "UAH",
            '₪' => "ILS",
            '₫' => "VND",
            '฿' => "THB",
            '₱' => "PHP",
            '₦' => "NGN",
            '₡' => "CRC",
            '₲' => "PYG",
            '₵' => "GHS",
            '₸' => "KZT",
            '₿' => "XBT BTC",
            _ => return None,
        }))
    }
}

const DOLLARS: &str = "USD CAD AUD NZD SGD HKD MXN TWD ARS CLP COP BRL BBD BSD BZD FJD JMD TTD UYU";

/// Currency words and letter signs.
pub const CURRENCY_WORDS: &[(&str, &str)] = &[
    ("EUR", "euro euros"),
    (DOLLARS, "dollar dollars buck bucks"),
    ("GBP EGP LBP", "pound pounds quid sterling"),
    ("JPY", "yen"),
    ("CNY", "yuan renminbi rmb"),
    ("INR PKR LKR NPR IDR MUR", "rupee rupees rs"),
    ("SEK NOK DKK ISK CZK", "kr krona kronor krone kroner koruna korunas"),
    ("CHF", "franc francs sfr"),
    ("PLN", "zloty zlotys zlotych zl"),
    ("BRL", "reais"),
    ("MXN ARS CLP COP PHP UYU", "peso pesos"),
    ("KRW", "won"),
    ("TRY", "lira liras"),
    ("RUB", "rouble roubles ruble rubles"),
    ("ZAR", "rand"),
    ("HUF", "forint forints"),
    ("RON MDL", "leu lei"),
    ("THB", "baht"),
    ("ILS", "shekel shekels"),
    ("AED MAD", "dirham dirhams"),
    ("SAR QAR", "riyal riyals"),
];

/// ISO 4217 codes. They count only in capitals, because some are words (`ALL`, `TRY`).
pub const CODES: &[&str] = &[
    "AED", "AFN", "ALL", "AMD", "ANG", "AOA", "ARS", "AUD", "AWG", "AZN", "BAM", "BBD", "BDT", "BGN", "BHD",
    "BIF", "BMD", "BND", "BOB", "BRL", "BSD", "BTN", "BWP", "BYN", "BZD", "CAD", "CDF", "CHF", "CLP", "CNY",
    "COP", "CRC", "CUP", "CVE", "CZK", "DJF", "DKK", "DOP", "DZD", "EGP", "ERN", "ETB", "EUR", "FJD", "FKP",
    "GBP", "GEL", "GHS", "GIP", "GMD", "GNF", "GTQ", "GYD", "HKD", "HNL", "HTG", "HUF", "IDR", "ILS", "INR",
    "IQD", "IRR", "ISK", "JMD", "JOD", "JPY", "KES", "KGS", "KHR", "KMF", "KRW", "KWD", "KYD", "KZT", "LAK",
    "LBP", "LKR", "LRD", "LSL", "LYD", "MAD", "MDL", "MGA", "MKD", "MMK", "MNT", "MOP", "MRU", "MUR", "MVR",
    "MWK", "MXN", "MYR", "MZN", "NAD", "NGN", "NIO", "NOK", "NPR", "NZD", "OMR", "PAB", "PEN", "PGK", "PHP",
    "PKR", "PLN", "PYG", "QAR", "RON", "RSD", "RUB", "RWF", "SAR", "SBD", "SCR", "SDG", "SEK", "SGD", "SHP",
    "SLE", "SOS", "SRD", "SSP", "STN", "SYP", "SZL", "THB", "TJS", "TMT", "TND", "TOP", "TRY", "TTD", "TWD",
    "TZS", "UAH", "UGX", "USD", "UYU", "UZS", "VES", "VND", "VUV", "WST", "XAF", "XCD", "XOF", "XPF", "YER",
    "ZAR", "ZMW", "ZWL",
];

/// Returns each code with its lower-case form.
pub(crate) fn codes() -> impl Iterator<Item = (&'static str, &'static str)> {
    static LOWER: LazyLock<Vec<String>> =
        LazyLock::new(|| CODES.iter().map(|code| code.to_lowercase()).collect());
    CODES.iter().copied().zip(LOWER.iter().map(String::as_str))
}
