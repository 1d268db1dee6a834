//! Owns fixed-point numbers.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// A fixed-point number: `minor / 10^scale`.
#[derive(Clone, Copy, Debug)]
pub struct Decimal {
    /// The number in its smallest unit, such as cents.
    pub minor: i64,
    /// Number of decimal places, 0 to 9.
    pub scale: u8,
}

impl Decimal {
    /// Returns the nearest `f64`.
    pub fn as_f64(self) -> f64 {
        self.minor as f64 / 10_f64.powi(i32::from(self.scale))
    }

    /// Returns the same number without trailing zeros of the fraction.
    #[must_use]
    pub fn reduced(mut self) -> Self {
        while self.scale > 0 && self.minor % 10 == 0 {
            self.minor /= 10;
            self.scale -= 1;
        }
        self
    }

    /// Parses plain decimal text, such as `12`, `-3.5` or `12.50`. Returns `None` if the text is no number,
    /// has more decimals than `scale` (except trailing zeros), or does not fit.
    pub fn parse(text: &str, scale: u8) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() || (digits.contains('.') && fraction.is_empty()) {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > usize::from(scale)
            || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit())
        {
            return None;
        }
        let mut minor: i64 = 0;
        for byte in whole.bytes().chain(fraction.bytes()) {
            minor = minor.checked_mul(10)?.checked_add(i64::from(byte - b'0'))?;
        }
        for _ in fraction.len()..usize::from(scale) {
            minor = minor.checked_mul(10)?;
        }
        Some(Self { minor: if negative { -minor } else { minor }, scale })
    }

    /// Returns the nearest decimal of this scale, with halves rounded away from zero, or `None` if it does
    /// not fit.
    pub fn round(value: f64, scale: u8) -> Option<Self> {
        // A tiny nudge prevents 1.005 * 100 (100.49999999999999) from rounding down.
        let scaled = value * 10_f64.powi(i32::from(scale));
        // It stays far below a half, so that 540.0 with six places keeps its last digit.
        let nudge = (1e-9 * scaled.abs().max(1.0)).min(1e-4);
        let nudged = (scaled + scaled.signum() * nudge).round();
        (nudged.is_finite() && nudged.abs() < 9.0e15).then_some(Self { minor: nudged as i64, scale })
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let scale = self.scale.max(other.scale);
        let widen = |value: &Self| i128::from(value.minor) * 10_i128.pow(u32::from(scale - value.scale));
        widen(self).cmp(&widen(other))
    }
}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let reduced = self.reduced();
        reduced.minor.hash(state);
        reduced.scale.hash(state);
    }
}

/// Writes the shortest form: `12.5`, `12`, `-0.05`.
impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let reduced = self.reduced();
        if reduced.scale == 0 {
            return write!(f, "{}", reduced.minor);
        }
        let unit = 10_u64.pow(u32::from(reduced.scale));
        let magnitude = reduced.minor.unsigned_abs();
        let sign = if reduced.minor < 0 { "-" } else { "" };
        write!(
            f,
            "{sign}{}.{:0width$}",
            magnitude / unit,
            magnitude % unit,
            width = usize::from(reduced.scale)
        )
    }
}
