//! Dates in order: of two moments of a record, what begins lies before what ends.
//!
//! Owns which fields are such pairs, by their names, and how their made-up values keep the order: the end of a stay
//! follows from its beginning, by an expression that the world file shows; where the beginning may be missing, and
//! inside objects, both are drawn from spans of time that do not touch.

use diorama_seeds::contract::{is_over, is_passing};
use diorama_seeds::doc::{FieldDoc, ResourceDoc, TypeName};
use diorama_seeds::english::stem;
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::words::words;

/// What ends, by a word of its name, with what begins: the words that stand there instead, the likeliest first.
const PAIRS: [(&str, &[&str], Length); 33] = [
    ("end", &["start", "begin", "from"], Length::Days),
    ("ends", &["starts", "begins", "from"], Length::Days),
    ("ended", &["started", "began"], Length::Days),
    ("ending", &["starting", "beginning"], Length::Days),
    ("finish", &["start", "begin"], Length::Days),
    ("finishes", &["starts", "begins"], Length::Days),
    ("finished", &["started", "began", "created"], Length::Days),
    ("to", &["from"], Length::Days),
    ("until", &["from", "since"], Length::Months),
    ("till", &["from", "since"], Length::Months),
    ("through", &["from"], Length::Months),
    ("before", &["after"], Length::Days),
    ("out", &["in"], Length::Days),
    ("checkout", &["checkin"], Length::Days),
    ("return", &["pickup", "departure", "outbound", "loan", "rental"], Length::Days),
    ("returned", &["borrowed", "rented", "loaned"], Length::Days),
    ("dropoff", &["pickup"], Length::Days),
    ("updated", &["created"], Length::Days),
    ("modified", &["created"], Length::Days),
    ("changed", &["created"], Length::Days),
    ("completed", &["started", "created", "opened"], Length::Days),
    ("resolved", &["opened", "reported", "created"], Length::Days),
    ("closed", &["opened", "created"], Length::Days),
    ("close", &["open"], Length::Days),
    ("closes", &["opens"], Length::Days),
    ("closing", &["opening"], Length::Days),
    ("delivered", &["shipped", "ordered", "sent", "created"], Length::Days),
    ("shipped", &["ordered", "placed", "created"], Length::Days),
    ("paid", &["issued", "invoiced", "created"], Length::Days),
    ("due", &["issue", "issued", "invoice", "borrowed", "created", "start"], Length::Days),
    ("expires", &["issued", "starts", "created"], Length::Months),
    ("expiry", &["issue", "start"], Length::Months),
    ("expiration", &["issue", "start", "effective"], Length::Months),
];
/// Words of a name that say that it is a moment, not which.
const MOMENTS: [&str; 9] = ["at", "on", "date", "time", "datetime", "timestamp", "day", "dt", "ts"];

/// How long after its beginning something ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Length {
    /// Some days; moments of a day some half hours.
    Days,
    /// Some months.
    Months,
}

/// Makes the moments of a resource's records follow each other.
pub(super) fn order(resource: &mut ResourceDoc) {
    for field in resource.fields.values_mut() {
        inside(field, 0);
    }
    for (start, end, length) in pairs(&resource.fields) {
        let (Some(first), Some(last)) = (resource.fields.get(&start), resource.fields.get(&end)) else {
            continue;
        };
        if apart(first, last) {
            continue;
        }
        let missing = first.nullable || (first.optional && !is_always(first));
        match follows(&start, first, last, length).filter(|_| !missing) {
            Some(expression) => {
                let past = span(last).is_some_and(|(_, to)| to <= 0);
                if let Some((from, _)) = span(first).filter(|(from, to)| past && *from < -10 && *to > -10) {
                    // What is over began before it was over.
                    let fake = json!({"provider": drawn(first), "from": format!("{from:+}d"), "to": "-10d"});
                    resource.fields.entry(start).and_modify(|first| put(first, fake));
                }
                let fake = json!({"provider": "expr", "of": expression});
                resource.fields.entry(end).and_modify(|last| put(last, fake));
            }
            None => separate(&mut resource.fields, &start, &end),
        }
    }
}

/// What is said of the moment at which something was over, however it ended.
const ENDS: [&str; 3] = ["finished", "ended", "completed"];

/// Makes the moments at which a record came to its states agree with the state that it is in: `failed_at` is null in what
/// did not fail, and `in_progress_at` comes before what ended it.
pub(super) fn reach(resource: &mut ResourceDoc) {
    let is_state = |(name, field): &(&String, &FieldDoc)| {
        !field.values.is_empty()
            && matches!(words(name).last().map(String::as_str), Some("status" | "state" | "phase"))
    };
    let Some((state, values)) =
        resource.fields.iter().find(is_state).map(|(name, field)| (name.clone(), field.values.clone()))
    else {
        return;
    };
    let created = |(name, field): &(&String, &FieldDoc)| {
        words(name).first().is_some_and(|word| stem(word) == "creat")
            && drawn(field).is_some()
            && is_always(field)
    };
    let told = |name: &str| -> Vec<String> {
        let all = words(name).into_iter().filter(|word| !MOMENTS.contains(&word.as_str()));
        all.map(|word| stem(&word)).collect()
    };
    let is_own =
        |told: &[String], value: &str| words(value).iter().map(|word| stem(word)).eq(told.iter().cloned());
    // What began it: that it was made, or else whatever is told of no state and is over.
    let other = |(name, field): &(&String, &FieldDoc)| {
        let told = told(name);
        drawn(field).is_some()
            && is_always(field)
            && span(field).is_some_and(|(_, to)| to <= 0)
            && ![stem("updated"), stem("modified")].iter().any(|word| told.contains(word))
            && !values.iter().any(|value| is_own(&told, value))
            && !ENDS.iter().any(|end| told == [stem(end)])
    };
    let begin = resource.fields.iter().find(created).or_else(|| resource.fields.iter().find(other));
    let Some(begin) = begin.map(|(name, _)| name.clone()) else { return };
    let kind = resource.fields.get(&begin).and_then(|field| field.kind);
    for (name, field) in
        resource.fields.iter_mut().filter(|(name, field)| **name != begin && field.kind == kind)
    {
        if drawn(field) != Some("date_time") || !(field.nullable || field.optional) {
            continue;
        }
        let told = told(name);
        let own = values.iter().position(|value| is_own(&told, value));
        let reached: Vec<&String> = match own.and_then(|own| Some((own, values.get(own)?))) {
            // What passes has passed in what has ended.
            Some((_, value)) if is_passing(value) || value == "in_progress" => {
                let succeeded = |other: &&String| {
                    ["succeeded", "completed", "finished", "done"].contains(&other.as_str())
                };
                std::iter::once(value).chain(values.iter().filter(succeeded)).collect()
            }
            Some((_, value)) => vec![value],
            None if told.len() == 1 && ENDS.iter().any(|end| stem(end) == told[0]) => {
                values.iter().filter(|value| is_over(value)).collect()
            }
            None => continue,
        };
        if reached.is_empty() {
            continue;
        }
        let is_there: Vec<String> =
            reached.iter().map(|value| format!("record.{state} == '{value}'")).collect();
        let after = 1 + 3 * own.unwrap_or(values.len());
        let moment = format!("record.{begin} + hours({after} + day(record.{begin}) % 3)");
        field.fake =
            Some(json!({"provider": "expr", "of": format!("({}) ? {moment} : null", is_there.join(" || "))}));
        (field.nullable, field.optional) = (true, false);
    }
}

/// The objects inside a record have moments of their own.
fn inside(field: &mut FieldDoc, depth: u32) {
    if depth > 8 {
        return;
    }
    for inner in field.fields.values_mut().chain(field.items.as_deref_mut()) {
        inside(inner, depth + 1);
    }
    for (start, end, _) in pairs(&field.fields) {
        let both = field.fields.get(&start).zip(field.fields.get(&end));
        if both.is_some_and(|(first, last)| !apart(first, last)) {
            separate(&mut field.fields, &start, &end);
        }
    }
}

/// Beginning and end of what the fields tell, each end once.
fn pairs(fields: &IndexMap<String, FieldDoc>) -> Vec<(String, String, Length)> {
    let moments: Vec<(&String, Vec<String>)> = fields
        .iter()
        .filter(|(_, field)| drawn(field).is_some())
        .map(|(name, _)| {
            (name, words(name).into_iter().filter(|word| !MOMENTS.contains(&word.as_str())).collect())
        })
        .collect();
    let mut found = Vec::new();
    for (end, parts) in &moments {
        let partner = parts.iter().enumerate().find_map(|(place, word)| {
            let (_, begins, length) = PAIRS.iter().find(|(ends, ..)| ends == word)?;
            begins.iter().find_map(|begin| {
                let mut wanted = parts.clone();
                *wanted.get_mut(place)? = (*begin).to_owned();
                let same = |(_, known): &&(&String, Vec<String>)| *known == wanted;
                // A period that is paid for lasts longer than a stay.
                let long =
                    parts.iter().any(|part| ["period", "term", "subscription"].contains(&part.as_str()));
                let length = if long { Length::Months } else { *length };
                moments.iter().find(same).map(|(start, _)| ((*start).clone(), length))
            })
        });
        if let Some((start, length)) = partner {
            found.push((start, (*end).clone(), length));
        }
    }
    found
}

/// The provider that draws a moment: `date`, `date_time`, or `time` for a time of day that has none yet.
fn drawn(field: &FieldDoc) -> Option<&'static str> {
    let provider = field.fake.as_ref().map(|fake| innermost(fake).get("provider").and_then(Json::as_str));
    match (field.kind, provider) {
        (Some(TypeName::Date), Some(Some("date"))) => Some("date"),
        (Some(TypeName::DateTime), Some(Some("date_time"))) => Some("date_time"),
        (Some(TypeName::Time), None | Some(Some("time" | "chance"))) => Some("time"),
        _ => None,
    }
}

/// Whether the records that there are at the beginning all have it.
fn is_always(field: &FieldDoc) -> bool {
    field.fake.as_ref().and_then(|fake| fake.get("share")).and_then(Json::as_f64) == Some(1.0)
}

/// The provider inside `chance`.
fn innermost(fake: &Json) -> &Json {
    match fake.get("of") {
        Some(inner) if fake.get("provider") == Some(&json!("chance")) => innermost(inner),
        _ => fake,
    }
}

/// Puts a provider where the old one stands, in `chance` or alone.
fn put(field: &mut FieldDoc, new: Json) {
    let mut at = field.fake.get_or_insert(Json::Null);
    while at.get("provider") == Some(&json!("chance")) {
        let Json::Object(options) = at else { return };
        at = options.entry("of").or_insert(Json::Null);
    }
    *at = new;
}

/// Days from the clock between which a moment is drawn.
fn span(field: &FieldDoc) -> Option<(i64, i64)> {
    let fake = innermost(field.fake.as_ref()?);
    let days = |name: &str| fake.get(name)?.as_str()?.strip_suffix('d')?.parse::<i64>().ok();
    Some((days("from")?, days("to")?))
}

/// Whether the spans keep the order already: what was created in some past year was changed last week.
fn apart(first: &FieldDoc, last: &FieldDoc) -> bool {
    span(first).zip(span(last)).is_some_and(|(first, last)| first.1 < last.0 && first.1 < 0)
}

/// The end as an expression over the beginning, of the same type. Lengths differ from record to record.
fn follows(start: &str, first: &FieldDoc, last: &FieldDoc, length: Length) -> Option<String> {
    let kind = last.kind.as_deref().filter(|kind| first.kind.as_deref() == Some(*kind))?;
    let begin = format!("record.{start}");
    // The past stays the past: what was updated was not updated tomorrow.
    let past = span(last).is_some_and(|(_, to)| to <= 0);
    match (kind, length) {
        ("date", Length::Days) => Some(format!("{begin} + days(1 + day({begin}) % 9)")),
        ("date" | "date-time", Length::Months) => {
            Some(format!("{begin} + days(30 * (1 + day({begin}) % 12))"))
        }
        ("date-time", Length::Days) if past => Some(format!("{begin} + hours(2 + 5 * (day({begin}) % 9))")),
        ("date-time", Length::Days) => Some(format!("{begin} + minutes(30 * (1 + day({begin}) % 8))")),
        _ => None,
    }
}

/// Draws both from spans that do not touch.
fn separate(fields: &mut IndexMap<String, FieldDoc>, start: &str, end: &str) {
    let kind = fields.get(end).and_then(drawn);
    let Some(kind) = kind.filter(|_| fields.get(start).and_then(drawn).is_some()) else { return };
    let (first, last) = if kind == "time" {
        (
            json!({"provider": "time", "from": "06:00", "to": "11:00", "step": "30m"}),
            json!({"provider": "time", "from": "14:00", "to": "22:00", "step": "30m"}),
        )
    } else {
        let (from, to) = fields.get(start).and_then(span).unwrap_or((-400, -40));
        let provider = |field: Option<&FieldDoc>| field.and_then(drawn).unwrap_or(kind);
        (
            json!({"provider": provider(fields.get(start)), "from": format!("{from:+}d"), "to": format!("{to:+}d")}),
            json!({"provider": provider(fields.get(end)), "from": format!("{:+}d", to + 1), "to": format!("{:+}d", to + 30)}),
        )
    };
    for (name, fake) in [(start, first), (end, last)] {
        fields.entry(name.to_owned()).and_modify(|field| put(field, fake));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ImportOptions, import};
    use diorama_seeds::materialise::materialised;

    fn made(members: &str, seed: u64) -> (String, Vec<IndexMap<String, Json>>) {
        let source = format!(
            "{{openapi: 3.0.0, info: {{title: t, version: '1'}}, paths: {{/stays: {{get: {{responses: {{'200': {{description: All, content: {{application/json: {{schema: {{type: array, items: {{type: object, properties: {{id: {{type: integer}}, {members}}}}}}}}}}}}}}}}}}}}}}}"
        );
        let doc = import("stays", source.as_bytes(), &ImportOptions::default()).unwrap().doc;
        let world = materialised(&doc, seed).unwrap();
        let written = serde_json::to_string(&doc.resources["stay"].fields).unwrap();
        let world = diorama_seeds::world::read("made.json", world.canonical.as_bytes()).unwrap();
        let diorama_seeds::doc::RecordsDoc::Given(records) = &world.domains[0].resources["stay"].records
        else {
            panic!()
        };
        (written, records.clone())
    }

    fn check(start: &str, end: &str, kind: &str, expression: bool) {
        let text = "{type: string, format: KIND}".replace("KIND", kind);
        let (written, _) = made(&format!("{start}: {text}, {end}: {text}"), 0);
        assert_eq!(written.contains(r#""provider":"expr""#), expression, "{start} {end}: {written}");
        for seed in 0..3 {
            let (_, records) = made(&format!("{end}: {text}, {start}: {text}"), seed);
            let both =
                records.iter().map(|record| (record[start].as_str().unwrap(), record[end].as_str().unwrap()));
            assert!(both.clone().all(|(first, last)| first < last), "{:?}", both.collect::<Vec<_>>());
            let count = u32::try_from(both.count()).unwrap();
            assert!((8..16).contains(&count), "{start} {end}: {count} records");
        }
    }

    #[test]
    fn what_begins_lies_before_what_ends() {
        check("start_date", "end_date", "date", true);
        check("starts_at", "ends_at", "date-time", true);
        check("from", "to", "date", true);
        check("check_in", "check_out", "date", true);
        check("checkInDate", "checkOutDate", "date", true);
        check("valid_from", "valid_until", "date", true);
        check("startTime", "endTime", "date-time", true);
        check("pickup_at", "dropoff_at", "date-time", true);
        check("started_at", "completed_at", "date-time", true);
        check("created_at", "updated_at", "date-time", false);
        check("opens", "closes", "time", false);
        check("opening_time", "closing_time", "time", false);
    }

    #[test]
    fn beginnings_that_may_be_null_come_first_too() {
        let moment = "{type: string, format: date}";
        let first = "{type: string, format: date, nullable: true}";
        let (_, records) = made(&format!("start_date: {first}, end_date: {moment}"), 0);
        for record in &records {
            let end = record["end_date"].as_str().unwrap();
            let start = record["start_date"].as_str().unwrap();
            assert!(start < end, "{start} {end}");
        }
    }

    #[test]
    fn moments_of_states_are_there_in_the_states_that_were_reached() {
        let moment = || FieldDoc {
            kind: Some(TypeName::DateTime),
            optional: true,
            fake: Some(
                json!({"provider": "chance", "share": 1.0, "of": {"provider": "date_time", "from": "-90d", "to": "-1d"}}),
            ),
            ..FieldDoc::default()
        };
        let values = ["queued", "in_progress", "completed", "failed"].map(str::to_owned).to_vec();
        let status = FieldDoc { values, ..FieldDoc::default() };
        let mut resource = ResourceDoc::default();
        resource.fields.insert("status".to_owned(), status);
        for name in ["created_at", "in_progress_at", "failed_at", "finished_at", "opened_at"] {
            resource.fields.insert(name.to_owned(), moment());
        }
        reach(&mut resource);
        let made = |name: &str| resource.fields[name].fake.as_ref().unwrap()["of"].to_string();
        for (name, states) in [
            ("in_progress_at", &["in_progress", "completed"][..]),
            ("failed_at", &["failed"]),
            ("finished_at", &["completed", "failed"]),
        ] {
            let known = ["queued", "in_progress", "completed", "failed"];
            let told: Vec<&str> =
                known.into_iter().filter(|state| made(name).contains(&format!("'{state}'"))).collect();
            assert_eq!(told, states, "{name}: {}", made(name));
            assert!(resource.fields[name].nullable, "{name}");
        }
        for name in ["created_at", "opened_at"] {
            assert!(made(name).contains("date_time"), "{name}: {}", made(name));
        }
    }
}
