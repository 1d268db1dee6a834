//! Owns the makers of fields without `fake`, chosen by type, format, name and resource.

pub(super) mod names;
mod prose;
mod rows;

use self::names::ends;
pub(super) use self::prose::{sentence, sentences_of};
pub(super) use self::rows::numbers;
use self::rows::{rows, value};
use super::maker::{Maker, Place, ReadFake};
use super::moment::{Clock, Span, TimeLimit};
use super::provider::Provider;
use crate::doc::FieldDoc;
use crate::english::{singular, split_identifier};
use crate::keys::Code;
use crate::pattern::Generator;
use crate::schema::{Schema, Type};
use crate::value::{Date, Decimal, Time, Value};

const DAY: i64 = 86_400;

/// The source of a field, and the parser for each `fake` inside it.
#[derive(Clone, Copy)]
pub(super) struct FieldSource<'a> {
    pub(super) doc: &'a FieldDoc,
    pub(super) read: ReadFake,
}

/// Returns the maker for a field without `fake`. `written` is none for items and members.
pub(super) fn maker(schema: &Schema, written: Option<FieldSource<'_>>, place: &Place<'_>) -> Maker {
    maker_at(schema, written, place, place.name, 0)
}

fn maker_at(
    schema: &Schema,
    written: Option<FieldSource<'_>>,
    place: &Place<'_>,
    name: &str,
    depth: u32,
) -> Maker {
    let words = split_identifier(name);
    match &schema.kind {
        Type::Enum(values) => Maker::Deal(values.iter().cloned().map(Value::String).collect()),
        Type::Boolean => Maker::Deal(booleans(&words)),
        Type::Reference { resource, .. } => Maker::Reference(*resource),
        Type::String => text(schema, place, name, &words),
        Type::Integer | Type::Number | Type::Decimal { .. } => number(schema, place, &words),
        Type::Date | Type::DateTime | Type::Time => moment(schema, place, name, &words),
        Type::List(item) if depth < 8 => {
            let of = maker_at(item, None, place, &singular(name), depth + 1);
            let many = if ends(&words, &["ingredient", "step"]) { 4 } else { 1 };
            let least = schema.limits.min_length.map_or(many, u64::from);
            // The number of items multiplies in nested lists, so inner lists get the minimum.
            let more = if depth > 1 { 0 } else { 3 };
            let most = schema.limits.max_length.map_or(u64::MAX, u64::from).min(least + more);
            Maker::List { of: Box::new(of), min: least, max: most.max(least) }
        }
        Type::Object(members) if depth < 8 => {
            let member = |member: &crate::schema::ObjectField| {
                let of = written.and_then(|FieldSource { doc, read }| {
                    Some(FieldSource { doc: doc.fields.get(&*member.name)?, read })
                });
                let made = of.and_then(|FieldSource { doc, read }| {
                    read(doc.fake.as_ref()?, &member.schema, place).ok()
                });
                let made =
                    made.unwrap_or_else(|| maker_at(&member.schema, of, place, &member.name, depth + 1));
                (member.name.clone(), member.schema.clone(), member.optional, made)
            };
            Maker::Object(members.iter().map(member).collect())
        }
        Type::List(_) | Type::Object(_) | Type::Any => Maker::Constant(match schema.kind {
            Type::List(_) => Value::List([].into()),
            Type::Object(_) => Value::object([]),
            _ => Value::Null,
        }),
    }
}

/// Returns the maker of product names. It omits brand and colour if another field has the brand.
pub(super) fn product(place: &Place<'_>) -> Maker {
    let fields = &place.world.resource(place.resource).fields;
    let told = |field: &crate::model::Field| {
        ends(&split_identifier(&field.name), &["brand", "manufacturer", "make", "brand_name"])
    };
    let rule = if fields.iter().any(told) { "product_plain_name" } else { "product_name" };
    Maker::rule(rule).unwrap_or(Maker::Constant(Value::Null))
}

fn text(schema: &Schema, place: &Place<'_>, name: &str, words: &[String]) -> Maker {
    if let Some(pattern) = &schema.limits.pattern
        && let Some(generator) = Generator::new(pattern.source())
    {
        return Maker::Pattern(generator);
    }
    let named = |provider: &str| Provider::named(provider).map(Maker::Text);
    let by_format = match schema.format.as_deref() {
        Some("email") => named("email"),
        Some("uri" | "url") => named("url"),
        Some("phone") => named("phone"),
        Some("uuid") => named("uuid"),
        Some("ipv4" | "ip") => named("ip"),
        Some("hostname") => named("domain_name"),
        Some("password") => named("password"),
        Some("color" | "colour") => named("hex_colour"),
        Some("date" | "date-time" | "time") => {
            let kind = match schema.format.as_deref() {
                Some("date") => Type::Date,
                Some("time") => Type::Time,
                _ => Type::DateTime,
            };
            return moment(&Schema::of(kind), place, name, words);
        }
        _ => None,
    };
    if let Some(maker) = by_format {
        return maker;
    }
    if let Some(code) = code(words) {
        return Maker::Code(Code::parse(code));
    }
    let resource = split_identifier(&place.world.resource(place.resource).name);
    if ends(words, &["name", "title", "headline", "subject", "display_name", "label"]) {
        // `product_name` in an order names a product. `name` names the resource itself.
        let (of, rest): (&[String], &[String]) = match words.split_last() {
            Some((_, rest)) if !rest.is_empty() && rest != ["display"] => (rest, words),
            _ => (&resource, words),
        };
        if let Some(provider) = names::of_whole_field(rest).filter(|_| rest.len() > 1) {
            return named(provider).unwrap_or_else(|| sentence(place, false));
        }
        let by_noun = names::of_resource(of).and_then(named);
        if let Some(maker) = by_noun {
            let is_product = maker.same_rule("product_name");
            return if is_product { product(place) } else { maker };
        }
        let is_person = names::is_person(of);
        return match words.last().map(String::as_str) {
            Some("subject") => named("email_subject"),
            Some("title" | "headline" | "label") if !is_person => named("article_title"),
            _ if is_person || has_personal_fields(place) => named("person_name"),
            _ => named("brand"),
        }
        .unwrap_or_else(|| sentence(place, false));
    }
    if value("prose", words).is_some() || schema.limits.max_length.is_some_and(|length| length > 200) {
        return sentence(place, false);
    }
    match names::of_field(words) {
        Some("genre") => named(genre(&resource)).unwrap_or_else(|| sentence(place, false)),
        Some(provider) => named(provider).unwrap_or_else(|| sentence(place, false)),
        None if name.is_empty() => named("word").unwrap_or_else(|| sentence(place, false)),
        None => {
            let by_noun = names::of_resource(words).and_then(named);
            by_noun.or_else(|| named("word")).unwrap_or_else(|| sentence(place, false))
        }
    }
}

/// Returns the genre rule of a resource. Films, music and books have genres of their own.
fn genre(resource: &[String]) -> &'static str {
    let is = |names: &[&str]| ends(resource, names);
    if is(&["movie", "film", "show", "series", "episode", "screening", "tv"]) {
        "film_genre"
    } else if is(&[
        "song", "track", "album", "artist", "band", "concert", "playlist", "radio", "musician", "gig",
    ]) {
        "music_genre"
    } else if is(&["book", "novel", "author", "audiobook", "ebook"]) {
        "book_genre"
    } else {
        "genre"
    }
}

/// Returns true if the resource has e-mail addresses or birthdays, so that its records are people.
fn has_personal_fields(place: &Place<'_>) -> bool {
    let fields = &place.world.resource(place.resource).fields;
    fields.iter().any(|field| {
        ends(
            &split_identifier(&field.name),
            &["email", "birth_date", "birthday", "date_of_birth", "password"],
        )
    })
}

/// Returns the code format for a field's name.
pub(super) fn code(words: &[String]) -> Option<&'static str> {
    let others = |word: &String| rows("no codes").iter().any(|row| row.names.contains(&word.as_str()));
    value("codes", words).filter(|_| !words.iter().any(others))
}

/// Returns the values to deal. Flags that usually hold are true in three of four records.
fn booleans(words: &[String]) -> Vec<Value> {
    let shares: &[bool] = match value("booleans", words) {
        Some("3") => &[true, true, true, false],
        Some(_) => &[false, false, false, true],
        None => &[true, true, false, false],
    };
    shares.iter().map(|value| Value::Bool(*value)).collect()
}

fn number(schema: &Schema, place: &Place<'_>, words: &[String]) -> Maker {
    let limit = |value: &Option<Value>| value.as_ref().and_then(Value::as_f64);
    let (least, greatest) = (limit(&schema.limits.min), limit(&schema.limits.max));
    let integer = matches!(schema.kind, Type::Integer);
    let coordinate = ends(words, &["latitude", "lat", "longitude", "lon", "lng"]);
    if coordinate && !integer {
        return Maker::Coordinate { latitude: ends(words, &["latitude", "lat"]) };
    }
    let by_name = numbers(if integer { "integers" } else { "reals" }, words);
    // The current year bounds years of past events.
    let by_name = by_name.map(|[min, max, step]| {
        let year = ends(words, &["year", "release_year", "founded", "model_year"]);
        let now = f64::from(place.world.zone.date_of(place.world.clock).civil().year());
        if year { (min.min(now), now, Some(step)) } else { (min, max, Some(step)) }
    });
    let money = matches!(&schema.kind, Type::Decimal { currency: Some(_), .. });
    let (min, max, step) = by_name.unwrap_or(if integer {
        (1.0, 100.0, None)
    } else if money {
        (4.0, 180.0, None)
    } else {
        (1.0, 100.0, Some(0.1))
    });
    // Limits narrow the usual range. If nothing of it remains, they define the range.
    let (low, high) =
        (least.map_or(min, |least| least.max(min)), greatest.map_or(max, |greatest| greatest.min(max)));
    let kept = low < high;
    let (low, high) = if kept {
        (low, high)
    } else {
        let low = least.unwrap_or_else(|| greatest.unwrap_or(0.0).min(0.0));
        (low, greatest.unwrap_or(low.abs() * 2.0 + 100.0).max(low))
    };
    if let Type::Decimal { scale: scale @ 1..=4, .. } = schema.kind
        && kept
        && (value("prices", words).is_some() || (money && by_name.is_none()))
        && let (Some(min), Some(max)) = (Decimal::round(low, scale), Decimal::round(high, scale))
    {
        return Maker::Price { min: min.minor, max: max.minor, scale };
    }
    let step = step.filter(|step| *step <= high - low);
    let fallback = Maker::Constant(Value::Integer(low as i64));
    Maker::in_range(low, high, step, schema).unwrap_or(fallback)
}

fn moment(schema: &Schema, place: &Place<'_>, name: &str, words: &[String]) -> Maker {
    if let Some(field) = start_of(schema, place, name) {
        return match schema.kind {
            Type::Date if name.contains("expire") => {
                Maker::After { field, least: 12, most: 36, step: 30 * DAY }
            }
            Type::Date => Maker::After { field, least: 1, most: 7, step: DAY },
            Type::Time if name.starts_with("clos") => Maker::After { field, least: 8, most: 13, step: 3_600 },
            Type::Time => Maker::After { field, least: 2, most: 8, step: 3_600 },
            _ if name.starts_with("updated") => Maker::After { field, least: 1, most: 12, step: 3_600 },
            _ => Maker::After { field, least: 1, most: 6, step: 1_800 },
        };
    }
    let by_name = numbers("spans", words).map(|[from, to]| (from as i64, to as i64));
    let past = by_name.is_some_and(|(_, to)| to <= 0);
    let (from, to) = by_name.unwrap_or_else(|| match words.last().map(String::as_str) {
        Some("at" | "on" | "start" | "time" | "departure" | "date" | "from" | "day") => (1, 30),
        _ => (-30, 30),
    });
    if matches!(schema.kind, Type::Time) {
        let (open, close) = match words.first().map(String::as_str) {
            Some("opens" | "opening" | "open") => (Time(7 * 3600), Time(10 * 3600 + 1)),
            Some("closes" | "closing" | "close") => (Time(17 * 3600), Time(22 * 3600 + 1)),
            Some("check" | "checkin") if words.get(1).map(String::as_str) != Some("out") => {
                (Time(13 * 3600), Time(16 * 3600 + 1))
            }
            Some("check" | "checkout") => (Time(10 * 3600), Time(12 * 3600 + 1)),
            _ => (Time(8 * 3600), Time(20 * 3600)),
        };
        let limit = |limit: &Option<Value>, other: Time| match limit {
            Some(Value::Time(time)) => *time,
            _ => other,
        };
        let (open, close) = (limit(&schema.limits.min, open), limit(&schema.limits.max, close));
        return Maker::Time(Span::in_day(open, Time(close.0.max(open.0.saturating_add(1))), 1_800));
    }
    let bound = |limit: &Option<Value>, days: i64| match limit {
        Some(Value::Date(day)) => TimeLimit::Day(*day),
        Some(Value::DateTime(instant)) => TimeLimit::At(*instant),
        _ => TimeLimit::Offset(days * DAY),
    };
    let clock = Clock { now: place.world.clock, zone: &place.world.zone };
    let (mut from, mut to) = (bound(&schema.limits.min, from), bound(&schema.limits.max, to));
    if from.day(clock) > to.day(clock) {
        // The limit lies outside the usual span, so the span starts or ends at the limit.
        match schema.limits.max {
            Some(_) => from = TimeLimit::Day(Date(to.day(clock).0.saturating_sub(60))),
            None => to = TimeLimit::Day(Date(from.day(clock).0.saturating_add(60))),
        }
    }
    let span = Span {
        from,
        to,
        weekdays: Vec::new(),
        // Past events happen at any minute of the day. Planned events begin on the half hour.
        hours: Some(if past { (Time(6 * 3600), Time(23 * 3600)) } else { (Time(8 * 3600), Time(20 * 3600)) }),
        step: if past { 60 } else { 1_800 },
    };
    if matches!(schema.kind, Type::Date) { Maker::Date(span) } else { Maker::DateTime(span) }
}

/// Returns the earlier field of the same type whose end this field is.
fn start_of(schema: &Schema, place: &Place<'_>, name: &str) -> Option<usize> {
    let fields = &place.world.resource(place.resource).fields;
    let here = fields.iter().position(|field| *field.name == *name)?;
    rows("ends").iter().find_map(|row| {
        let (end, start) = (row.names.first()?, row.value);
        let begins = name.starts_with(end) && name[end.len()..].starts_with(['_', 's']) || name == *end;
        let finishes = name.ends_with(end) && name[..name.len() - end.len()].ends_with('_');
        if !begins && !finishes {
            return None;
        }
        fields.iter().take(here).position(|field| {
            let alike = std::mem::discriminant(&field.schema.kind) == std::mem::discriminant(&schema.kind);
            alike && (field.name.starts_with(start) || field.name.ends_with(start)) && *field.name != *name
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_that_the_tables_name_exists() {
        assert_eq!(names::unknown_providers(), Vec::<&str>::new());
        assert_eq!(prose::unknown_rules(), Vec::<&str>::new());
        assert_eq!(rows::unreadable(), Vec::<&str>::new());
    }

    #[test]
    fn names_are_known_by_their_ends() {
        assert!(ends(&split_identifier("home_phone_number"), &["phone_number"]));
        assert!(!ends(&split_identifier("telephony"), &["phone"]));
    }
}
