//! Label match (Reverse Chain, section 4): compares a plan with its label, and classifies differences by the
//! paper's classes.
//!
//! Structure and APIs must be equal, and values must mean the same. Spaces, case, articles and the notation
//! of numbers, days and times are ignored. An argument that the label lacks must be missing in the plan, too.
//! The answer extractor parses days and times.

use diorama_answers::prose::Prose;
use diorama_answers::{Clock, Mention, What};
use diorama_baselines::plan::{Plan, PlanArgument};
use diorama_seeds::value::{Date, Zone};
use serde_json::Value as Json;

/// The verdict on a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The same.
    Right,
    /// The final API is missing (the paper's Wrong Final Tool, section 4.3).
    WrongFinalTool,
    /// The label gets an argument from another API, and the plan does not call that API for it (Wrong
    /// Argument_API).
    WrongArgumentApi,
    /// Any other difference in an argument: another value, none, or a superfluous one (Wrong Argument_Value).
    WrongArgumentValue,
}

impl Verdict {
    /// Returns its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::WrongFinalTool => "wrong_final_tool",
            Self::WrongArgumentApi => "wrong_argument_api",
            Self::WrongArgumentValue => "wrong_argument_value",
        }
    }
}

/// Compares a plan with a label. `places` returns an API's parameters in order, to name positional arguments.
/// If it returns none, the names of the other side are used.
#[must_use]
pub fn compare(label: &Plan, plan: &Plan, places: &dyn Fn(&str) -> Vec<String>) -> Verdict {
    if label.api != plan.api {
        return Verdict::WrongFinalTool;
    }
    inside(label, plan, places).unwrap_or(Verdict::Right)
}

/// Returns the worst difference in the arguments, or none if all are right.
fn inside(label: &Plan, plan: &Plan, places: &dyn Fn(&str) -> Vec<String>) -> Option<Verdict> {
    let mut names = places(&label.api);
    if names.is_empty() {
        names = [label, plan]
            .iter()
            .flat_map(|side| side.arguments.iter().filter_map(|(name, _)| name.clone()))
            .collect();
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| seen.insert(folded(name)));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (wanted, given) = (label.named(&names), plan.named(&names));
    let mut worst = None;
    let mut found =
        |verdict: Verdict| worst = Some(worst.map_or(verdict, |known: Verdict| known.min(verdict)));
    for (name, filled) in &wanted {
        let other = given.iter().find(|(own, _)| folded(own) == folded(name)).map(|(_, other)| *other);
        match (filled, other) {
            (PlanArgument::Call(inner), Some(PlanArgument::Call(other))) if inner.api == other.api => {
                if let Some(verdict) = inside(inner, other, places) {
                    found(verdict);
                }
            }
            (PlanArgument::Call(_), _) => found(Verdict::WrongArgumentApi),
            (PlanArgument::Value(value), Some(PlanArgument::Value(other))) if is_same(value, other) => {}
            (PlanArgument::Value(value), None) if is_empty(value) => {}
            (PlanArgument::Value(_), _) => found(Verdict::WrongArgumentValue),
        }
    }
    for (name, filled) in &given {
        if wanted.iter().any(|(own, _)| folded(own) == folded(name)) {
            continue;
        }
        match filled {
            PlanArgument::Value(value) if is_empty(value) => {}
            _ => found(Verdict::WrongArgumentValue),
        }
    }
    worst
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.trim().is_empty() || text.eq_ignore_ascii_case("none"),
        Json::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Returns true if two values mean the same.
#[must_use]
pub fn is_same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Array(ones), Json::Array(others)) => {
            let has = |side: &[Json], item: &Json| side.iter().any(|known| is_same(known, item));
            ones.len() == others.len()
                && ones.iter().all(|item| has(others, item))
                && others.iter().all(|item| has(ones, item))
        }
        (Json::Array(items), single) | (single, Json::Array(items)) if !single.is_object() => {
            matches!(items.as_slice(), [item] if is_same(item, single))
        }
        (Json::Object(ones), Json::Object(others)) => {
            ones.len() == others.len()
                && ones
                    .iter()
                    .all(|(name, value)| others.get(name).is_some_and(|other| is_same(value, other)))
        }
        (Json::Object(_), _) | (_, Json::Object(_)) => false,
        _ => is_same_text(&text(one), &text(other)),
    }
}

fn text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the letters and digits in lower case.
fn folded(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn is_same_text(one: &str, other: &str) -> bool {
    let plain = |text: &str| folded(&words(text).join(" "));
    if plain(one) == plain(other) && signs(one) == signs(other) {
        return true;
    }
    if is_code(one) || is_code(other) {
        return false;
    }
    let (one, other) = (Reading::of(one), Reading::of(other));
    !one.mentions.is_empty()
        && one.rest == other.rest
        && one.mentions.len() == other.mentions.len()
        && one.mentions.iter().zip(&other.mentions).all(|(a, b)| is_same_what(&a.what, &b.what))
}

/// Returns the signs that belong to a number: `-5` differs from `5`, and `1.5` from `15`.
fn signs(text: &str) -> (bool, Vec<usize>) {
    let negative =
        text.trim().strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let number = text.trim().parse::<f64>().is_ok();
    let points = if number { text.trim().match_indices('.').map(|(at, _)| at).collect() } else { Vec::new() };
    (negative, points)
}

/// Returns true for digits that are no number: `007`.
fn is_code(text: &str) -> bool {
    let text = text.trim();
    text.len() > 1 && text.starts_with('0') && text.chars().all(|c| c.is_ascii_digit())
}

/// Returns the words without articles.
fn words(text: &str) -> Vec<String> {
    let words =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase);
    words.filter(|word| !["a", "an", "the"].contains(&&**word)).collect()
}

/// Days, times and numbers of a text, and its other words.
struct Reading {
    mentions: Vec<Mention>,
    rest: Vec<String>,
}

impl Reading {
    fn of(text: &str) -> Self {
        // Two months are also words. They are capitalised, so that the extractor recognises them.
        let months = text.split(' ').map(|word| match word {
            "march" => "March",
            "may" => "May",
            word => word,
        });
        let text = &*months.collect::<Vec<_>>().join(" ");
        let prose = Prose::read(text, &Clock { today: Date(0), zone: Zone::utc() });
        let mentions = prose.mentions().to_vec();
        let mut rest = String::new();
        let mut at = 0;
        for mention in &mentions {
            rest.push_str(text.get(at..mention.start.max(at)).unwrap_or_default());
            rest.push(' ');
            at = at.max(mention.end);
        }
        rest.push_str(text.get(at..).unwrap_or_default());
        let mut rest = words(&rest);
        rest.retain(|word| !["on", "at", "of", "in", "by", "for", "this", "clock"].contains(&&**word));
        Self { mentions, rest }
    }
}

fn is_same_what(one: &What, other: &What) -> bool {
    match (one, other) {
        (What::Date(one), What::Date(other)) => one.readings == other.readings,
        (What::Time(one), What::Time(other)) => {
            one.time == other.time || one.other == Some(other.time) || other.other == Some(one.time)
        }
        (What::Number(one), What::Number(other)) => one.value == other.value && one.unit == other.unit,
        (What::Money(one), What::Money(other)) => {
            one.amount.as_f64() == other.amount.as_f64() && one.currency == other.currency
        }
        (What::Money(money), What::Number(number)) | (What::Number(number), What::Money(money)) => {
            money.amount.as_f64() == number.value
        }
        (What::None, What::None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use diorama_baselines::plan::parse;

    use super::*;

    #[test]
    fn each_class_is_what_the_paper_defines() {
        let label = "Book(room=Room(at=Campus(name='Tower')), person=Person(name='Jack'), day='Monday')";
        let check = |plan: &str, expect: Verdict| {
            let places = |api: &str| match api {
                "Book" => vec!["room".to_owned(), "person".to_owned(), "day".to_owned()],
                _ => Vec::new(),
            };
            let verdict = compare(&parse(label).unwrap(), &parse(plan).unwrap(), &places);
            assert_eq!(verdict, expect, "{plan}");
        };
        check(label, Verdict::Right);
        check("Book(Room(at=Campus('tower')), Person('Jack'), 'monday')", Verdict::Right);
        // The final API is missing.
        check("Room(at=Campus(name='Tower'))", Verdict::WrongFinalTool);
        // Another API supplies the argument, but the plan uses a value, nothing, or another API.
        for plan in [
            "Book(room=Room(at=Campus(name='Tower')), person='Jack', day='Monday')",
            "Book(room=Room(at=Campus(name='Tower')), day='Monday')",
            "Book(room=Room(at=Campus(name='Tower')), person=Campus(name='Jack'), day='Monday')",
            "Book(room=Room(at='Tower'), person=Person(name='Jack'), day='Tuesday')",
        ] {
            check(plan, Verdict::WrongArgumentApi);
        }
        // The value is another one, missing, supplied by an API instead, or superfluous.
        for plan in [
            "Book(room=Room(at=Campus(name='Tower')), person=Person(name='Jim'), day='Monday')",
            "Book(room=Room(at=Campus(name='Tower')), person=Person(name='Jack'))",
            "Book(room=Room(at=Campus(name='Tower')), person=Person(name='Jack'), day=Today(zone='utc'))",
            "Book(room=Room(at=Campus(name='Tower')), person=Person(name='Jack'), day='Monday', hour=9)",
        ] {
            check(plan, Verdict::WrongArgumentValue);
        }
    }

    #[test]
    fn a_call_beyond_the_parameters_has_to_be_there() {
        let label = parse("Plan('Paris', Reserve(city='Paris'))").unwrap();
        let check = |plan: &str, expect: Verdict| {
            let places = |_: &str| vec!["city".to_owned()];
            assert_eq!(compare(&label, &parse(plan).unwrap(), &places), expect, "{plan}");
        };
        check("Plan(city='Paris', Reserve(city='Paris'))", Verdict::Right);
        check("Plan(city='Paris')", Verdict::WrongArgumentApi);
    }
}
