//! The filters of words, and the environment that templates run in.

use diorama_seeds::english::{capitalised, enumerate, plural};
use diorama_seeds::value::{Decimal, Value};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Value as Shown, ValueKind};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};

use super::leaf::Leaf;
use super::render::{MONTHS, money, plain_number, twelve_hours, weekday};

/// Instructions that one wording may take.
const FUEL: u64 = 20_000;

/// The environment: Jinja with one brace, bounded, without anything undefined.
pub(crate) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().variable_delimiters("{", "}").build();
    // The delimiters are constants, and distinct.
    if let Ok(syntax) = syntax {
        environment.set_syntax(syntax);
    }
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.add_filter("weekday", |value: &Shown| Ok::<_, Error>(weekday(leaf(value)?.date()?)));
    environment.add_filter("date", |value: &Shown| leaf(value)?.day(false));
    environment.add_filter("day", |value: &Shown| leaf(value)?.day(true));
    environment.add_filter("iso", |value: &Shown| Ok::<_, Error>(leaf(value)?.date()?.to_string()));
    environment.add_filter("month", |value: &Shown| {
        Ok::<_, Error>(MONTHS[(leaf(value)?.date()?.civil().month() as usize - 1) % 12])
    });
    environment.add_filter("soon", |value: &Shown| leaf(value)?.soon());
    environment.add_filter("time", |value: &Shown| Ok::<_, Error>(leaf(value)?.time()?.to_string()));
    environment.add_filter("clock", |value: &Shown| Ok::<_, Error>(twelve_hours(leaf(value)?.time()?)));
    environment.add_filter("amount", |value: &Shown| amount(value));
    environment.add_filter("money", format_money);
    environment.add_filter("n", number);
    environment.add_filter("word", |value: i64| {
        const WORDS: [&str; 13] = [
            "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
            "twelve",
        ];
        usize::try_from(value)
            .ok()
            .and_then(|at| WORDS.get(at))
            .map_or_else(|| value.to_string(), |word| (*word).to_owned())
    });
    environment.add_filter("counted", |value: i64, noun: &str| {
        let noun = if value == 1 { noun.to_owned() } else { plural(noun) };
        format!("{value} {noun}")
    });
    environment.add_filter("plain", plain);
    environment.add_filter("quoted", |value: &str| {
        let is_sentence = value.split(' ').count() > 4 || value.ends_with(['.', '?', '!']);
        if is_sentence { format!("\"{value}\"") } else { value.to_owned() }
    });
    environment.add_filter("capital", |value: &str| capitalised(value));
    environment.add_filter("called", |value: &Shown, noun: &str| name_with_noun(&value.to_string(), noun));
    environment.add_filter("given", |value: &str| value.split(' ').next().unwrap_or_default().to_owned());
    environment.add_filter("family", |value: &str| value.rsplit(' ').next().unwrap_or_default().to_owned());
    environment.add_filter("tail", |value: &str, count: usize| {
        let skipped = value.chars().count().saturating_sub(count);
        value.chars().skip(skipped).collect::<String>()
    });
    environment.add_filter("list", |value: &Shown| {
        if !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
            let what = "expected a list; one field of each of its items is `{found.books|map(attribute='title')|list}`";
            return Err(Error::new(ErrorKind::InvalidOperation, what));
        }
        let items: Result<Vec<String>, Error> =
            value.try_iter().map(|items| items.map(|item| item.to_string()).collect());
        items.map(|items| enumerate(&items))
    });
    environment
}

fn leaf(value: &Shown) -> Result<&Leaf, Error> {
    value.downcast_object_ref::<Leaf>().ok_or_else(|| {
        Error::new(ErrorKind::InvalidOperation, "expected a date, a time, a moment or an amount")
    })
}

/// A value of an enum as people write it: `out of stock` for `out_of_stock` and for `OUT_OF_STOCK`. One word in capitals, and what
/// has digits, may be an abbreviation.
fn plain(value: &str) -> String {
    let spaced = value.replace(['_', '-'], " ");
    let is_loud = value.contains('_') && !value.contains(|c: char| c.is_lowercase() || c.is_ascii_digit());
    if is_loud { spaced.to_lowercase() } else { spaced }
}

/// The name of a record with its noun: `the webhook Northwind`, but `the Northwind webhook` and `Project Lumen`.
fn name_with_noun(name: &str, noun: &str) -> String {
    let (lower, noun_lower) = (name.to_lowercase(), noun.to_lowercase());
    if lower.starts_with(&format!("{noun_lower} ")) {
        name.to_owned()
    } else if lower.ends_with(&format!(" {noun_lower}")) {
        format!("the {name}")
    } else {
        format!("the {noun} {name}")
    }
}

/// An amount without its currency.
fn amount(value: &Shown) -> Result<String, Error> {
    match value.downcast_object_ref::<Leaf>().map(|leaf| &leaf.value) {
        Some(Value::Decimal(decimal)) if decimal.reduced().scale == 0 => Ok(decimal.reduced().to_string()),
        Some(Value::Decimal(decimal)) => Ok(decimal.to_string()),
        Some(Value::Number(number)) => Ok(plain_number(*number)),
        _ => Ok(value.to_string()),
    }
}

/// Writes an amount of a currency: computed amounts know none of their own. A number that is no decimal is told to the cent.
fn format_money(value: &Shown, code: &str) -> Result<String, Error> {
    let decimal = match value.downcast_object_ref::<Leaf>().map(|leaf| &leaf.value) {
        Some(Value::Decimal(decimal)) => *decimal,
        _ => Decimal { minor: (number(value)? * 100.0).round() as i64, scale: 2 },
    };
    Ok(money(decimal, code))
}

/// A number to compare and reckon with.
fn number(value: &Shown) -> Result<f64, Error> {
    match value.downcast_object_ref::<Leaf>().and_then(|leaf| leaf.value.as_f64()) {
        Some(number) => Ok(number),
        None => f64::try_from(value.clone()),
    }
}
