//! Defines the filters of wordings, and the environment in which templates run.

use std::collections::BTreeMap;

use diorama_seeds::english::{capitalised, plural, split_identifier};
use diorama_seeds::value::{Decimal, Value};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Value as Shown, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior};

use super::leaf::Leaf;
use super::render::{MONTHS, money, plain_number, twelve_hours, weekday};

/// The greatest number of instructions of one wording.
const FUEL: u64 = 20_000;
/// The greatest number of items that are listed, each in a wording of its own.
const MAX_LISTED: usize = 1_000;

/// Returns the environment: Jinja with one brace, bounded, and strict about undefined names.
pub(crate) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().variable_delimiters("{", "}").build();
    // The delimiters are distinct constants, so building the syntax cannot fail.
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
    environment.add_filter("spoken", spoken);
    environment.add_filter("state", |value: &str| {
        let words = spoken(value);
        let is_word = words.chars().all(|letter| letter.is_alphabetic() || letter == ' ');
        if is_word { words.to_lowercase() } else { words }
    });
    environment.add_filter("quoted", |value: &str| {
        let is_sentence = value.split(' ').count() > 4 || value.ends_with(['.', '?', '!']);
        if is_sentence { format!("\"{value}\"") } else { value.to_owned() }
    });
    environment.add_filter("titled", |value: &Shown| {
        let text = value.to_string();
        if is_title(&text) || text.ends_with(['.', '?', '!']) { format!("\"{text}\"") } else { text }
    });
    environment.add_filter("capital", |value: &str| capitalised(value));
    environment.add_filter("called", |value: &Shown, noun: &str| name_with_noun(&value.to_string(), noun));
    environment.add_filter("given", |value: &str| value.split(' ').next().unwrap_or_default().to_owned());
    environment.add_filter("family", |value: &str| value.rsplit(' ').next().unwrap_or_default().to_owned());
    environment.add_filter("tail", |value: &str, count: usize| {
        let skipped = value.chars().count().saturating_sub(count);
        value.chars().skip(skipped).collect::<String>()
    });
    environment.add_filter("list", list);
    environment
}

/// Lists items and fills the wording for each: `A at €5, B at €7 and C at €9`. The wording can use the
/// item's members and all outer names.
/// `last` stands before the last item: `or`, `; and` (with a semicolon between the others), `;`.
fn list(
    state: &State<'_, '_>,
    value: &Shown,
    wording: Option<&str>,
    last: Option<&str>,
) -> Result<String, Error> {
    if !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        let what =
            "expected a list; a wording for each of its items is `{found.books|list('{title} by {author}')}`";
        return Err(Error::new(ErrorKind::InvalidOperation, what));
    }
    let items: Vec<String> = match wording {
        None => value.try_iter()?.map(|item| item.to_string()).collect(),
        Some(wording) => {
            let fault = |what| Error::new(ErrorKind::InvalidOperation, what);
            // Each wording has its own instructions, so nested lists would multiply them.
            if wording.contains("list(") {
                return Err(fault("found a list in the wording of an item; list the items of one list"));
            }
            if value.len().is_none_or(|items| items > MAX_LISTED) {
                return Err(fault("found more than 1,000 items; list fewer"));
            }
            let template = state.env().template_from_str(wording)?;
            let names = template.undeclared_variables(false);
            let told = value.try_iter()?.map(|item| {
                let member = |name: &str| item.get_attr(name).ok().filter(|member| !member.is_undefined());
                let named = names.iter().filter_map(|name| {
                    let of_item = if name == "it" { Some(item.clone()) } else { member(name) };
                    Some((name.clone(), of_item.or_else(|| state.lookup(name))?))
                });
                template.render(Shown::from(named.collect::<BTreeMap<String, Shown>>()))
            });
            told.collect::<Result<_, _>>()?
        }
    };
    let last = last.unwrap_or("and");
    let word = last.trim_start_matches([';', ',']).trim_start();
    let mark = last.strip_suffix(word).unwrap_or_default().trim_end();
    let between = if mark.is_empty() { "," } else { mark };
    let space = if word.is_empty() { "" } else { " " };
    Ok(match items.as_slice() {
        [most @ .., end] if !most.is_empty() => {
            format!("{}{mark}{space}{word} {end}", most.join(&format!("{between} ")))
        }
        [one] => one.clone(),
        _ => String::new(),
    })
}

fn leaf(value: &Shown) -> Result<&Leaf, Error> {
    value.downcast_object_ref::<Leaf>().ok_or_else(|| {
        Error::new(ErrorKind::InvalidOperation, "expected a date, a time, a moment or an amount")
    })
}

/// Writes a value of an enum as people do: `out of stock` for `out_of_stock` and for `OUT_OF_STOCK`.
/// One word in capitals, or a word with digits, may be an abbreviation and stays.
fn plain(value: &str) -> String {
    let spaced = value.replace(['_', '-'], " ");
    let is_loud = value.contains('_') && !value.contains(|c: char| c.is_lowercase() || c.is_ascii_digit());
    if is_loud { spaced.to_lowercase() } else { spaced }
}

/// Does the same as [`plain`], with blanks between joined words: `in progress` for `InProgress`.
fn spoken(value: &str) -> String {
    let words = split_identifier(value);
    let is_joined =
        words.len() > 1 && value.chars().all(char::is_alphabetic) && words.iter().all(|word| word.len() > 1);
    if is_joined { words.join(" ") } else { plain(value) }
}

/// Returns the name of a record with its noun: `the webhook Northwind`, but `the Northwind webhook` and
/// `Project Lumen`.
/// It quotes a title of several words: `the task "Print the contract"`.
fn name_with_noun(name: &str, noun: &str) -> String {
    let (lower, noun_lower) = (name.to_lowercase(), noun.to_lowercase());
    if lower.starts_with(&format!("{noun_lower} ")) {
        name.to_owned()
    } else if lower.ends_with(&format!(" {noun_lower}")) {
        format!("the {name}")
    } else if is_title(name) {
        format!("the {noun} \"{name}\"")
    } else {
        format!("the {noun} {name}")
    }
}

/// Returns true if a text is a title of several words, of which a later one begins with a small letter.
fn is_title(text: &str) -> bool {
    text.split(' ').count() > 2 && text.split(' ').skip(1).any(|word| word.starts_with(char::is_lowercase))
}

/// Returns an amount without its currency.
fn amount(value: &Shown) -> Result<String, Error> {
    match value.downcast_object_ref::<Leaf>().map(|leaf| &leaf.value) {
        Some(Value::Decimal(decimal)) if decimal.reduced().scale == 0 => Ok(decimal.reduced().to_string()),
        Some(Value::Decimal(decimal)) => Ok(decimal.to_string()),
        Some(Value::Number(number)) => Ok(plain_number(*number)),
        _ => Ok(value.to_string()),
    }
}

/// Returns an amount with its currency: the given one, its own, or the world's. Computed amounts have none of
/// their own.
/// A number that is no decimal is rounded to the cent.
fn format_money(state: &State<'_, '_>, value: &Shown, code: Option<&str>) -> Result<String, Error> {
    let own = value.downcast_object_ref::<Leaf>().and_then(|leaf| leaf.currency());
    let of_world = || state.lookup("currency").and_then(|code| code.as_str().map(str::to_owned));
    let Some(code) = code.map(str::to_owned).or_else(|| own.map(str::to_owned)).or_else(of_world) else {
        let what =
            "found an amount without a currency in a world that has none or several; write `money('EUR')`";
        return Err(Error::new(ErrorKind::InvalidOperation, what));
    };
    let decimal = match value.downcast_object_ref::<Leaf>().map(|leaf| &leaf.value) {
        Some(Value::Decimal(decimal)) => *decimal,
        _ => Decimal { minor: (number(value)? * 100.0).round() as i64, scale: 2 },
    };
    Ok(money(decimal, &code))
}

/// Returns a number for comparison and calculation.
fn number(value: &Shown) -> Result<f64, Error> {
    match value.downcast_object_ref::<Leaf>().and_then(|leaf| leaf.value.as_f64()) {
        Some(number) => Ok(number),
        None => f64::try_from(value.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fill(wording: &str) -> Result<String, String> {
        let values = Shown::from_serialize(json!({
            "limit": 8, "currency": "EUR", "nothing": [], "words": ["red", "blue", "green"],
            "cars": [{"name": "Otto", "km": 5}, {"name": "Poppy", "km": 9}, {"name": "Ziggy", "km": 12}],
        }));
        environment().render_str(wording, values).map_err(|error| error.to_string())
    }

    #[test]
    fn the_list_filter_fills_a_wording_for_each_item() {
        let check =
            |wording: &str, expect: &str| assert_eq!(fill(wording).as_deref(), Ok(expect), "{wording}");
        check("{words|list}", "red, blue and green");
        check("{cars|list('{name} ({km} km)')}", "Otto (5 km), Poppy (9 km) and Ziggy (12 km)");
        check("{cars[:2]|list('{name}', 'or')}", "Otto or Poppy");
        check("{cars|list('{name}', '; and')}", "Otto; Poppy; and Ziggy");
        check("{cars|list('{name}', ';')}", "Otto; Poppy; Ziggy");
        check("{cars|list('{name}', ', and')}", "Otto, Poppy, and Ziggy");
        check("{words|list('a {it} one')}", "a red one, a blue one and a green one");
        check("{words|list(none, 'or')}", "red, blue or green");
        check(
            "{cars|list('{name}{% if km > limit %} (far){% endif %}')}",
            "Otto, Poppy (far) and Ziggy (far)",
        );
        check("{nothing|list('{name}')}", "");
        check("{cars[:1]|list('{name}')}", "Otto");
        for (wording, expect) in [
            ("{cars|list('{nme}')}", "undefined"),
            ("{limit|list('{name}')}", "expected a list"),
            ("{cars|list(\"{words|list('{it}')}\")}", "found a list in the wording of an item"),
            ("{range(5000)|list('{it}')}", "found more than 1,000 items"),
        ] {
            let found = fill(wording).unwrap_err();
            assert!(found.contains(expect), "{wording}: {found}");
        }
    }

    #[test]
    fn computed_amounts_have_the_currency_of_the_world() {
        assert_eq!(
            fill("{limit|money}, {(limit * 1.5)|money}, {limit|money('USD')}").as_deref(),
            Ok("€8, €12, $8")
        );
    }
}
