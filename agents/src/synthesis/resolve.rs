//! The resolver: reads values back from the words of a user.
//!
//! The grounding and determination gates rest on it, so it shares no code with the realiser ([`super::say`])
//! beyond the synonym lists of the world. It gives every reading of a text, not the likeliest.

use diorama_seeds::model::Parameter;
use diorama_seeds::schema::{KeyKind, Schema, Type};
use diorama_seeds::value::{Date, Decimal, Instant, Time, Value, Zone};
use indexmap::IndexMap;

use diorama_seeds::value::Str;

/// What the agent was shown of time.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The clock.
    pub now: Instant,
    /// The zone.
    pub zone: &'a Zone,
}

/// All readings of a span as a value of this parameter, without duplicates.
#[must_use]
pub fn readings(text: &str, parameter: &Parameter, shown: Shown<'_>) -> Vec<Value> {
    let mut found = schema_readings(text, &parameter.schema, &parameter.synonyms, shown);
    dedupe(&mut found);
    found
}

/// Whether a text, anywhere in it, can be read as this value of the parameter: used with a span deleted, where
/// it must not.
#[must_use]
pub fn occurs(text: &str, value: &Value, parameter: &Parameter, shown: Shown<'_>) -> bool {
    match value {
        Value::String(wanted) => {
            let words: Vec<&str> = std::iter::once(&**wanted)
                .chain(parameter.synonyms.get(wanted).into_iter().flatten().map(|word| &**word))
                .collect();
            words
                .iter()
                .any(|word| contains_words(text, word) || contains_words(text, &word.replace('_', " ")))
        }
        Value::Bool(_) => false,
        Value::Integer(number) => numbers(text).iter().any(|(found, _)| *found == *number as f64),
        Value::Number(number) => numbers(text).iter().any(|(found, _)| found == number),
        Value::Decimal(decimal) => numbers(text).iter().any(|(found, _)| *found == decimal.as_f64()),
        Value::Date(date) => dates(text, shown).contains(date),
        Value::Time(time) => times(text).contains(time),
        Value::DateTime(instant) => {
            let date = shown.zone.date_of(*instant);
            let time = shown.zone.time_of(*instant);
            dates(text, shown).contains(&date) && times(text).contains(&time)
        }
        Value::List(items) => items.iter().any(|item| occurs(text, item, parameter, shown)),
        _ => false,
    }
}

fn schema_readings(
    text: &str,
    schema: &Schema,
    synonyms: &IndexMap<Str, Vec<Str>>,
    shown: Shown<'_>,
) -> Vec<Value> {
    let trimmed = text.trim();
    match &schema.kind {
        Type::Integer | Type::Reference { key: KeyKind::Integer, .. } => numbers(trimmed)
            .into_iter()
            .filter(|(n, _)| n.fract() == 0.0)
            .map(|(n, _)| Value::Integer(n as i64))
            .collect(),
        Type::Number => numbers(trimmed).into_iter().filter_map(|(n, _)| Value::number(n)).collect(),
        Type::Decimal { scale, .. } => numbers(trimmed)
            .into_iter()
            .filter_map(|(_, digits)| Decimal::parse(&digits, *scale))
            .map(Value::Decimal)
            .collect(),
        Type::Date => dates(trimmed, shown).into_iter().map(Value::Date).collect(),
        Type::Time => times(trimmed).into_iter().map(Value::Time).collect(),
        Type::DateTime => {
            let times = times(trimmed);
            dates(trimmed, shown)
                .into_iter()
                .flat_map(|date| times.iter().map(move |time| (date, *time)))
                .map(|(date, time)| Value::DateTime(shown.zone.instant(date, time)))
                .collect()
        }
        Type::Boolean => match trimmed.to_lowercase().as_str() {
            "yes" | "true" | "on" => vec![Value::Bool(true)],
            "no" | "false" | "off" => vec![Value::Bool(false)],
            _ => vec![],
        },
        Type::Enum(values) => values
            .iter()
            .filter(|value| {
                same_words(trimmed, value)
                    || same_words(trimmed, &value.replace('_', " "))
                    || synonyms.get(*value).into_iter().flatten().any(|word| same_words(trimmed, word))
            })
            .cloned()
            .map(Value::String)
            .collect(),
        Type::String | Type::Reference { key: KeyKind::String, .. } | Type::Any => {
            vec![Value::string(trimmed)]
        }
        Type::List(item) => {
            let mut items = Vec::new();
            for part in trimmed.replace(" and ", ", ").split(", ") {
                match schema_readings(part, item, synonyms, shown).as_slice() {
                    [one] => items.push(one.clone()),
                    _ => return vec![],
                }
            }
            vec![Value::List(items.into())]
        }
        Type::Object(_) => vec![],
    }
}

/// Numbers in a text, with their digits as written without group separators: digits, and number words to twenty.
fn numbers(text: &str) -> Vec<(f64, String)> {
    const WORDS: [&str; 21] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
    ];
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len()
            && (bytes[at].is_ascii_digit()
                || (matches!(bytes[at], b'.' | b',') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)))
        {
            at += 1;
        }
        let negative = start > 0 && negative_sign(&text[..start]);
        let digits = format!("{}{}", if negative { "-" } else { "" }, text[start..at].replace(',', ""));
        if let Ok(number) = digits.parse::<f64>() {
            found.push((number, digits));
        }
    }
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        if let Some(number) = WORDS.iter().position(|known| word.eq_ignore_ascii_case(known)) {
            found.push((number as f64, number.to_string()));
        }
    }
    found
}

/// A hyphen before a number is a minus sign when it does not join it to a word or another number.
fn negative_sign(before: &str) -> bool {
    let before = before.trim_end_matches(['€', '$', '£', '¥']);
    before.strip_suffix(['-', '\u{2212}']).is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric()))
}

/// Days that a text may mean.
fn dates(text: &str, shown: Shown<'_>) -> Vec<Date> {
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let today = shown.zone.date_of(shown.now);
    let lower = text.to_lowercase();
    let tokens: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '-' || c == ':'))
        .filter(|token| !token.is_empty())
        .collect();
    let mut found = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let token = token.trim_matches('-');
        match token {
            "today" | "tonight" => found.push(today),
            "tomorrow" => found.push(Date(today.0 + 1)),
            "yesterday" => found.push(Date(today.0 - 1)),
            _ => {}
        }
        if let Some(date) = Date::parse(token.split('t').next().unwrap_or(token)) {
            found.push(date);
        }
        if let Some(wanted) = DAYS.iter().position(|day| *day == token) {
            let now = today.civil().weekday().to_monday_zero_offset() as i32;
            let ahead = (wanted as i32 - now).rem_euclid(7);
            // On the day itself, "Friday" may mean today or in a week.
            if ahead == 0 {
                found.push(today);
            }
            let next = Date(today.0 + if ahead == 0 { 7 } else { ahead });
            found.push(next);
            if i > 0 && tokens[i - 1] == "next" && ahead != 0 {
                found.push(Date(next.0 + 7));
            }
        }
        let month =
            MONTHS.iter().position(|month| token.len() >= 3 && token.starts_with(month) && is_month(token));
        if let Some(month) = month {
            let number = |index: Option<usize>| {
                index.and_then(|index| tokens.get(index)).and_then(|token| day_number(token))
            };
            let year_at = |index: usize| {
                tokens
                    .get(index)
                    .and_then(|token| token.parse::<i16>().ok())
                    .filter(|year| (1000..=9999).contains(year))
            };
            let before = number(i.checked_sub(1))
                .or_else(|| (i > 1 && tokens[i - 1] == "of").then(|| number(i.checked_sub(2))).flatten());
            let (day, year) = match before {
                Some(day) => (Some(day), year_at(i + 1)),
                None => (number(Some(i + 1)), year_at(i + 2)),
            };
            if let Some(day) = day {
                // Without a year, the year shown by the clock is meant.
                let year = year.unwrap_or_else(|| today.civil().year());
                if let Some(date) = Date::parse(&format!("{year:04}-{:02}-{day:02}", month + 1)) {
                    found.push(date);
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn is_month(token: &str) -> bool {
    const FULL: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    token.len() == 3 || token == "sept" || FULL.contains(&token)
}

fn day_number(token: &str) -> Option<u8> {
    let digits =
        token.trim_end_matches("st").trim_end_matches("nd").trim_end_matches("rd").trim_end_matches("th");
    digits.parse().ok().filter(|day| (1..=31).contains(day))
}

/// Times of day that a text may mean.
fn times(text: &str) -> Vec<Time> {
    const HOURS: [&str; 12] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    let lower = text.to_lowercase().replace("a.m.", "am").replace("p.m.", "pm");
    let tokens: Vec<&str> = lower
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '?' | '!' | '(' | ')'))
        .map(|token| token.trim_end_matches('.'))
        .filter(|token| !token.is_empty())
        .collect();
    let mut found = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        match *token {
            "noon" | "midday" => found.push(Time(43_200)),
            "midnight" => found.push(Time(0)),
            "past" if i > 0 && tokens[i - 1] == "half" => {
                if let Some(hour) =
                    tokens.get(i + 1).and_then(|word| HOURS.iter().position(|known| known == word))
                {
                    let hour = hour as u32 + 1;
                    // "Half past two" without more is ambiguous; office hours decide only from seven on.
                    found.push(Time(hour * 3600 + 1800));
                    if hour < 7 {
                        found.push(Time((hour + 12) * 3600 + 1800));
                    }
                }
            }
            _ => {}
        }
        let clock = token
            .split_once('t')
            .filter(|(date, _)| Date::parse(date).is_some())
            .map_or(*token, |(_, time)| time);
        let (bare, half) = match clock
            .strip_suffix("am")
            .map(|bare| (bare, "am"))
            .or_else(|| clock.strip_suffix("pm").map(|bare| (bare, "pm")))
        {
            Some((bare, half)) => (bare, Some(half)),
            None => (clock, tokens.get(i + 1).copied().filter(|next| matches!(*next, "am" | "pm"))),
        };
        let time = if bare.contains(':') {
            Time::parse(bare)
        } else {
            half.and(bare.parse::<u32>().ok())
                .filter(|hour| (1..=12).contains(hour))
                .map(|hour| Time(hour * 3600))
        };
        if let Some(time) = time {
            let shifted = match half {
                Some("pm") if time.0 < 43_200 => Time(time.0 + 43_200),
                Some("am") if time.0 >= 43_200 => Time(time.0 - 43_200),
                _ => time,
            };
            found.push(shifted);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Equal words, apart from case and the space around them.
fn same_words(a: &str, b: &str) -> bool {
    a.trim().to_lowercase() == b.trim().to_lowercase()
}

/// Whether `words` occur in the text at word boundaries, apart from case.
#[must_use]
pub fn contains_words(text: &str, words: &str) -> bool {
    let (text, words) = (text.to_lowercase(), words.trim().to_lowercase());
    if words.is_empty() {
        return false;
    }
    text.match_indices(&words).any(|(at, _)| {
        let before = text[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
        let after = text[at + words.len()..].chars().next().is_none_or(|c| !c.is_alphanumeric());
        before && after
    })
}

fn dedupe(values: &mut Vec<Value>) {
    let mut seen = std::collections::HashSet::new();
    values.retain(|value| seen.insert(value.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: Type, text: &str, expect: &[&str]) {
        let zone = Zone::utc();
        // Monday, 2 March 2026, 9:00.
        let shown = Shown { now: zone.parse_instant("2026-03-02T09:00").unwrap(), zone: &zone };
        let mut found = schema_readings(text, &Schema::of(kind), &IndexMap::new(), shown);
        dedupe(&mut found);
        let texts: Vec<String> = found.iter().map(|value| value.to_text(&zone)).collect();
        assert_eq!(texts, expect, "{text}");
    }

    #[test]
    fn phrases_are_resolved_against_the_clock() {
        check(Type::DateTime, "tomorrow at half past nine", &["2026-03-03T09:30:00Z"]);
        check(Type::DateTime, "on the 5th of March at 2 pm", &["2026-03-05T14:00:00Z"]);
        check(Type::DateTime, "on 2026-03-09 at 12:30 pm", &["2026-03-09T12:30:00Z"]);
        check(Type::Date, "this coming Friday", &["2026-03-06"]);
        check(Type::Date, "on Monday", &["2026-03-02", "2026-03-09"]);
        check(Type::Date, "on 5 April 2027", &["2027-04-05"]);
        check(Type::Time, "at half past two", &["02:30", "14:30"]);
        check(Type::Time, "at noon", &["12:00"]);
        check(Type::Integer, "three", &["3"]);
        check(Type::Decimal { scale: 2, currency: None }, "€1,250.50", &["1250.5"]);
        check(Type::Decimal { scale: 2, currency: None }, "-€3", &["-3"]);
        check(Type::List(std::sync::Arc::new(Schema::of(Type::String))), "A, B and C", &[r#"["A","B","C"]"#]);
    }

    #[test]
    fn a_deleted_span_leaves_nothing_to_read() {
        assert!(contains_words("ask Dr. Ana Silva, please", "Ana Silva"));
        assert!(!contains_words("ask Dr. Anabel", "Ana"));
    }
}
