//! Finds values in words: the span of a text that gives a parameter's value, and the derivation.

use diorama_answers::prose::{Prose, Span};
use diorama_answers::units::Unit;
use diorama_answers::{Clock, DayForm, Mention, Money, Number, NumberRole, Stance, What};
use diorama_seeds::model::{Parameter, World};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::task::Derivation;
use diorama_seeds::value::{Date, Instant, Time, Value};

use super::seen::VisiblePart;

/// The span of a text that gives a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Evidence {
    pub(crate) span: Span,
    pub(crate) by: Derivation,
}

/// The greatest number of wrong letters of a misspelt name.
const MAX_MISSPELLING_EDITS: usize = 2;

/// Returns the default system message of a candidate: date, time, zone, and the way to find tools.
#[must_use]
pub(crate) fn system_message(world: &World, clock: Instant, searches: bool) -> String {
    let (date, time) = (world.zone.date_of(clock), world.zone.time_of(clock));
    let tools = if searches { " Tools are found with ToolSearcher." } else { "" };
    format!(
        "It is {}, {date}, {time}, time zone {}.{tools}",
        diorama_seeds::english::weekday(date),
        world.zone.name()
    )
}

/// Finds a parameter's value in a text.
pub(crate) fn find(
    prose: &Prose,
    value: &Value,
    parameter: &Parameter,
    seen: &VisiblePart<'_>,
) -> Option<Evidence> {
    let verbatim = |span| Evidence { span, by: Derivation::Verbatim };
    match value {
        Value::Absent | Value::Null | Value::Object(_) | Value::List(_) => None,
        Value::Integer(key) if matches!(parameter.schema.kind, Type::Reference { .. }) => {
            // A key of one or two digits needs its noun: `room 12`.
            let named = |mention: &&Mention| matches!(&mention.what, What::Number(number) if number.role == NumberRole::Identifier && number.value == *key as f64);
            let span = prose.mentions().iter().find(named).map(|mention| mention.span());
            let long = (key.abs() >= 100).then(|| number(prose, *key as f64, &parameter.schema)).flatten();
            span.map(verbatim).or(long)
        }
        Value::Integer(_) | Value::Number(_) | Value::Decimal(_) => {
            number(prose, value.as_f64()?, &parameter.schema)
        }
        Value::Date(date) => mention(prose, |what| is_date(what, *date, &seen.clock)),
        Value::Time(time) => mention(prose, |what| is_time(what, *time)),
        Value::DateTime(instant) => moment(prose, *instant, &seen.clock),
        Value::Bool(value) => truth(prose, *value, parameter),
        Value::String(text) if matches!(parameter.schema.kind, Type::Enum(_)) => {
            choice(prose, text, parameter)
        }
        Value::String(text) => name(prose, text)
            .map(verbatim)
            .or_else(|| pieces(prose, text).map(verbatim))
            .or_else(|| find_misspelt(prose, text, parameter, seen)),
    }
}

/// Finds a whole string as it stands: the same words, or the same digits.
fn name(prose: &Prose, text: &str) -> Option<Span> {
    prose.find(text).into_iter().next().or_else(|| {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        let only_digits =
            text.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '-' | '(' | ')' | '+'));
        only_digits.then(|| prose.find_digits(&digits)).flatten()
    })
}

/// Finds a string whose words all occur close together: search words, `Silva, Ana`.
fn pieces(prose: &Prose, text: &str) -> Option<Span> {
    let stems = Prose::stems_of(text);
    if stems.is_empty() || stems.len() > 6 {
        return None;
    }
    let spans: Vec<Span> = stems.iter().map(|stem| prose.find_stem(*stem)).collect::<Option<_>>()?;
    let (start, end) = (spans.iter().map(|span| span.start).min()?, spans.iter().map(|span| span.end).max()?);
    (end - start <= text.len() + 40).then_some(Span { start, end })
}

/// Finds a misspelt name, if exactly one record has a name that near.
fn find_misspelt(
    prose: &Prose,
    text: &str,
    parameter: &Parameter,
    seen: &VisiblePart<'_>,
) -> Option<Evidence> {
    let (resource, field) = parameter.field?;
    let wanted = text.to_lowercase();
    let words = wanted.split_whitespace().count();
    if words == 0 || wanted.chars().count() < 5 {
        return None;
    }
    let written: Vec<(&str, Span)> = prose.words().collect();
    let near = |name: &str, run: &str| strsim::damerau_levenshtein(name, run) <= MAX_MISSPELLING_EDITS;
    written.windows(words).find_map(|run| {
        let said = run.iter().map(|(word, _)| word.to_lowercase()).collect::<Vec<_>>().join(" ");
        if said == wanted || !near(&wanted, &said) {
            return None;
        }
        let records = &seen.context.base.world().resource(resource).records;
        let names = records.iter().filter_map(|record| record.get(field.index())?.as_str());
        let fitting = names.filter(|name| near(&name.to_lowercase(), &said)).count();
        let span = Span { start: run.first()?.1.start, end: run.last()?.1.end };
        (fitting == 1).then_some(Evidence { span, by: Derivation::Misspelling })
    })
}

/// Finds a number in digits or words, in the parameter's unit or one that converts.
fn number(prose: &Prose, wanted: f64, schema: &Schema) -> Option<Evidence> {
    let unit = schema.unit.as_deref().and_then(Unit::named);
    let near = |value: f64| (value - wanted).abs() < 1e-9;
    let fits = |found: &Number| {
        let plain = near(found.value) || found.other.is_some_and(near);
        match (found.unit, unit) {
            (Some(said), Some(unit)) => {
                said.convert(found.value, unit).is_some_and(|value| (value - wanted).abs() < 1e-6)
                    || (said.dimension == unit.dimension && plain && said == unit)
            }
            _ => plain,
        }
    };
    let amount = |money: &Money| {
        // `7 pounds` of weight are no money.
        let currency = match &schema.kind {
            Type::Decimal { currency: Some(code), .. } => money.currency.means(code),
            _ => schema.unit.is_none(),
        };
        currency && (near(money.amount.as_f64()) || money.other.is_some_and(|other| near(other.as_f64())))
    };
    let found = prose.mentions().iter().find(|mention| match &mention.what {
        What::Number(number) => fits(number),
        What::Money(money) => amount(money),
        _ => false,
    });
    if let Some(mention) = found {
        return Some(of_mention(prose, mention, Derivation::Verbatim, Derivation::NumberWord));
    }
    // An identifier with many digits may be grouped in any way.
    let whole = wanted.fract() == 0.0 && wanted.abs() < 9e15;
    let span = whole.then(|| prose.find_digits(&(wanted as i64).to_string())).flatten()?;
    Some(Evidence { span, by: Derivation::Verbatim })
}

fn mention(prose: &Prose, fits: impl Fn(&What) -> bool) -> Option<Evidence> {
    let found = prose.mentions().iter().find(|mention| fits(&mention.what))?;
    Some(of_mention(prose, found, Derivation::DatePhrase, Derivation::DatePhrase))
}

fn of_mention(prose: &Prose, mention: &Mention, digits: Derivation, words: Derivation) -> Evidence {
    let span = mention.span();
    let spelt = prose.words_at(span).contains(|c: char| c.is_ascii_digit());
    Evidence { span, by: if spelt { digits } else { words } }
}

pub(crate) fn is_date(what: &What, date: Date, clock: &Clock) -> bool {
    matches!(what, What::Date(day) if day.means(date, clock.today))
}

pub(crate) fn is_time(what: &What, time: Time) -> bool {
    matches!(what, What::Time(said) if said.time == time || said.other == Some(time))
}

/// Finds a day and a time of day in one text; a day alone means midnight.
fn moment(prose: &Prose, instant: Instant, clock: &Clock) -> Option<Evidence> {
    let (date, time) = (clock.zone.date_of(instant), clock.zone.time_of(instant));
    let day = mention(prose, |what| is_date(what, date, clock))?;
    let hour = mention(prose, |what| is_time(what, time));
    let hour = match hour {
        Some(hour) => hour,
        // A day without a time of day is its start.
        None if time == Time(0)
            && !prose.mentions().iter().any(|mention| matches!(mention.what, What::Time(_))) =>
        {
            day
        }
        None => return None,
    };
    let span = Span { start: day.span.start.min(hour.span.start), end: day.span.end.max(hour.span.end) };
    Some(Evidence { span, by: Derivation::DatePhrase })
}

/// Finds a boolean: the words of the parameter, negated or not, or a plain yes or no.
fn truth(prose: &Prose, value: bool, parameter: &Parameter) -> Option<Evidence> {
    let by = Derivation::BooleanPhrase;
    let of_parameter: Vec<u64> =
        [&*parameter.name, &*parameter.label].into_iter().flat_map(Prose::stems_of).collect();
    let named = of_parameter.iter().find_map(|stem| prose.find_stem(*stem));
    if let Some(span) = named {
        return ((prose.stance(span) == Stance::Denied) != value).then_some(Evidence { span, by });
    }
    let denies = |word: &str| matches!(word, "no" | "off" | "not" | "false" | "without");
    let denied = prose.words().any(|(word, _)| denies(&word.to_lowercase()));
    let plain = prose.words().find(|(word, _)| match word.to_lowercase().as_str() {
        "yes" | "on" | "true" => value,
        // `Please.` is a yes, and `please turn it off` is none.
        "please" => value && !denied,
        word => !value && denies(word),
    });
    plain.map(|(_, span)| Evidence { span, by })
}

/// Finds the one small word that distinguishes a choice: `on` of `turn_on` and `turn_off`.
fn find_distinguishing_word(prose: &Prose, value: &str, parameter: &Parameter) -> Option<Span> {
    let Type::Enum(values) = &parameter.schema.kind else { return None };
    let words =
        |value: &str| value.to_lowercase().split(['_', '-', ' ']).map(str::to_owned).collect::<Vec<_>>();
    let others: Vec<String> =
        values.iter().filter(|other| &***other != value).flat_map(|other| words(other)).collect();
    let own: Vec<String> = words(value).into_iter().filter(|word| !others.contains(word)).collect();
    let [only] = own.as_slice() else { return None };
    if !Prose::stems_of(only).is_empty() {
        return None;
    }
    // `on Friday` switches nothing on.
    let before_a_day = |span: Span| {
        prose.mentions().iter().any(|mention| mention.start >= span.start && mention.start <= span.end + 1)
    };
    prose
        .words()
        .find(|(word, span)| word.to_lowercase() == *only && !before_a_day(*span))
        .map(|(_, span)| span)
}

/// Finds a value of an enum: as it is written, in words, or by a synonym.
fn choice(prose: &Prose, value: &str, parameter: &Parameter) -> Option<Evidence> {
    let spaced = value.replace(['_', '-'], " ");
    if let Some(span) = prose.find(value).into_iter().chain(prose.find(&spaced)).next() {
        let by = if value == spaced { Derivation::Verbatim } else { Derivation::Synonym };
        return Some(Evidence { span, by });
    }
    let by = Derivation::Synonym;
    if let Some(span) = find_distinguishing_word(prose, value, parameter) {
        return Some(Evidence { span, by });
    }
    let synonyms = parameter.synonyms.get(value).into_iter().flatten();
    if let Some(span) = synonyms.flat_map(|word| prose.find(word)).next() {
        return Some(Evidence { span, by });
    }
    // Another form of the same words counts: `plumber` for plumbing, `third-year` for `year 3`.
    let stems = Prose::stems_of(&spaced);
    let other_form = |(word, _): &(&str, Span)| {
        let (word, wanted) = (folded(word), folded(value));
        let shared = word.chars().zip(wanted.chars()).take_while(|(a, b)| a == b).count();
        shared >= 5 && shared * 3 >= wanted.chars().count() * 2
    };
    let span = match stems.as_slice() {
        [] => None,
        [one] => prose.find_stem(*one),
        _ => pieces(prose, &spaced),
    };
    span.or_else(|| prose.words().find(other_form).map(|(_, span)| span)).map(|span| Evidence { span, by })
}

/// Returns the values that words can mean: a bare weekday is the coming one, and today's own name is today or
/// in a week.
/// An hour without its half of the day means both.
pub(crate) fn readings(
    prose: &Prose,
    span: Span,
    value: &Value,
    parameter: &Parameter,
    clock: &Clock,
) -> Vec<Value> {
    let inside =
        || prose.mentions().iter().filter(|mention| mention.start >= span.start && mention.end <= span.end);
    // Other days or hours in the words are mentioned and not requested.
    let day = |found: &Vec<Date>| match value {
        Value::Date(day) => found.contains(day),
        Value::DateTime(instant) => found.contains(&clock.zone.date_of(*instant)),
        _ => true,
    };
    let hour = |found: &Vec<Time>| match value {
        Value::Time(time) => found.contains(time),
        Value::DateTime(instant) => found.contains(&clock.zone.time_of(*instant)),
        _ => true,
    };
    let days = || inside().map(|mention| days_of(&mention.what)).filter(day).flatten();
    let hours = || inside().map(|mention| hours_of(&mention.what)).filter(hour).flatten();
    let mut found: Vec<Value> = match parameter.schema.kind {
        Type::Date => days().map(Value::Date).collect(),
        Type::Time => hours().map(Value::Time).collect(),
        Type::DateTime => days()
            .flat_map(|day| hours().map(move |hour| (day, hour)))
            .map(|(day, hour)| Value::DateTime(clock.zone.instant(day, hour)))
            .collect(),
        _ => Vec::new(),
    };
    let mut seen = std::collections::HashSet::new();
    found.retain(|value| seen.insert(value.clone()));
    found
}

/// Returns the days that a mention can mean.
pub(crate) fn days_of(what: &What) -> Vec<Date> {
    match what {
        What::Date(day) if day.form == DayForm::DayOfMonth => day.readings[0].into_iter().collect(),
        What::Date(day) => day.readings.into_iter().flatten().collect(),
        _ => Vec::new(),
    }
}

/// Returns the times of day that a mention can mean.
pub(crate) fn hours_of(what: &What) -> Vec<Time> {
    match what {
        What::Time(said) => std::iter::once(said.time).chain(said.other).collect(),
        _ => Vec::new(),
    }
}

/// Counts the stated parts of a listed value: one for a typed value, and one each for a day and a time.
/// A string counts one for each of its words, and one more for all of them together.
pub(crate) fn count_stated(value: &Value, said: &[Prose], clock: &Clock) -> usize {
    if let Value::String(text) = value {
        let stems = Prose::stems_of(&text.replace('_', " "));
        let has = |stem: &&u64| said.iter().any(|prose| prose.find_stem(**stem).is_some());
        let whole =
            said.iter().any(|prose| !prose.find(text).is_empty() || prose.find_digits(text).is_some());
        // A full name counts for more than the same words apart.
        return stems.iter().filter(has).count() + usize::from(whole);
    }
    let mentioned = |fits: &dyn Fn(&What) -> bool| {
        let mut mentions = said.iter().flat_map(|prose| prose.mentions());
        usize::from(mentions.any(|mention| fits(&mention.what)))
    };
    let mentions_day = |day: Date| mentioned(&|what| is_date(what, day, clock));
    let mentions_time = |time: Time| mentioned(&|what| is_time(what, time));
    match value {
        Value::Date(date) => mentions_day(*date),
        Value::Time(time) => mentions_time(*time),
        Value::DateTime(instant) => {
            mentions_day(clock.zone.date_of(*instant)) + mentions_time(clock.zone.time_of(*instant))
        }
        Value::Integer(_) | Value::Number(_) | Value::Decimal(_) => {
            let mut numbers = said.iter().flat_map(Prose::numbers);
            let wanted = value.as_f64();
            usize::from(
                wanted.is_some_and(|wanted| numbers.any(|(number, _)| (number - wanted).abs() < 1e-9)),
            )
        }
        _ => 0,
    }
}

/// Returns a name in lower case, without underscores and other marks.
pub(crate) fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
