//! Owns the parsing of a `fake`: providers, their options, and whether they fit the field.

use serde_json::{Value as Json, json};

use super::super::defaults::FieldSource;
use super::super::moment::{Clock, Span, TimeLimit, seconds};
use super::super::provider::Provider;
use super::{Fault, Maker, Piece, Place, fault};
use crate::doc::{FakeDoc, FieldDoc};
use crate::expr::{Scope, compile_value};
use crate::keys::Code;
use crate::model::ResourceId;
use crate::schema::{Schema, Type};
use crate::value::{Time, Value, nfc};

/// Maximum nesting of lists and chances.
const MAX_DEPTH: u32 = 8;
/// Maximum absolute value of numbers, within the exact integers of a float.
const MAX_NUMBER: f64 = 9.0e15;

/// Returns the maker of a field: its `fake`, otherwise a default by its properties. The default must have
/// enough values for `unlike`.
pub(in super::super) fn of_field(
    doc: Option<&FieldDoc>,
    schema: &Schema,
    place: &Place<'_>,
    unlike: u32,
) -> Result<Maker, Fault> {
    let written = doc.map(|doc| FieldSource { doc, read });
    if let Some(fake) = doc.and_then(|doc| doc.fake.as_ref()) {
        return match of_members(fake, schema, place, written) {
            Some(maker) => Ok(maker),
            None => read(fake, schema, place),
        };
    }
    let maker = super::super::defaults::maker(schema, written, place);
    let few = matches!(&maker, Maker::Text(texts) if texts.capacity() < u64::from(unlike));
    Ok(Maker::rule(super::super::ANY_NAME).filter(|_| few).unwrap_or(maker))
}

/// Returns the maker of an object that some records have. Its members are made by their own `fake`.
fn of_members(
    fake: &Json,
    schema: &Schema,
    place: &Place<'_>,
    written: Option<FieldSource<'_>>,
) -> Option<Maker> {
    let Ok(FakeDoc::Chance { share, of: None }) = FakeDoc::from_json(fake) else { return None };
    let is_object = matches!(schema.kind, Type::Object(_)) && (0.0..=1.0).contains(&share);
    let of = || Box::new(super::super::defaults::maker(schema, written, place));
    is_object.then(|| Maker::Chance { share, of: of() })
}

/// Parses a `fake`.
///
/// # Errors
/// Returns an error if a provider or option is unknown, or does not fit the field's type.
fn read(fake: &Json, schema: &Schema, place: &Place<'_>) -> Result<Maker, Fault> {
    read_at(fake, schema, place, 0)
}

fn read_at(fake: &Json, schema: &Schema, place: &Place<'_>, depth: u32) -> Result<Maker, Fault> {
    let provider = match fake {
        Json::String(name) => name.as_str(),
        Json::Object(options) => match options.get("provider").and_then(Json::as_str) {
            Some(provider) => provider,
            None => {
                // Parses an item such as `of: {ref: track}` in a list.
                if let Some(name) = options.get("ref").and_then(Json::as_str) {
                    return Ok(Maker::Reference(resource(name, place)?));
                }
                return fault("found a `fake` without a provider", "write `fake: {provider: NAME, ...}`");
            }
        },
        _ => {
            return fault("found a `fake` that is neither a name nor an object", "write `fake: person_name`");
        }
    };
    if depth > MAX_DEPTH {
        return fault("found providers nested too deep", "nest `list` and `chance` less");
    }
    let text = Provider::named(provider).filter(|text| !matches!(text, Provider::Email | Provider::Username));
    let maker = if let Some(text) = text {
        let mut options = fake.as_object().into_iter().flatten();
        if let Some((key, _)) = options.find(|(key, _)| *key != "provider") {
            return fault(format!("found the option `{key}`, but `{provider}` has none"), "remove it");
        }
        text_maker(text, provider, schema, place)
    } else {
        let named = json!({ "provider": provider });
        match FakeDoc::from_json(if fake.is_string() { &named } else { fake }) {
            Ok(doc) => generator(doc, schema, place, depth)?,
            Err(error) => return Err(unreadable(provider, &error.to_string())),
        }
    };
    fits(&maker, schema, provider)?;
    Ok(maker)
}

/// Makes the error of options that the provider does not have.
fn unreadable(provider: &str, error: &str) -> Fault {
    let fix = "see \"Made-up values\" in the format's documentation";
    let (message, fix) = if error.starts_with("unknown variant") {
        (format!("found the provider `{provider}`"), known_providers())
    } else if let Some(option) = error.strip_prefix("unknown field ") {
        (format!("found the option {option}, for `{provider}`"), fix.to_owned())
    } else if let Some(option) = error.strip_prefix("missing field ") {
        (format!("found `{provider}` without {option}"), fix.to_owned())
    } else {
        let found = error.strip_prefix("invalid type: ").or_else(|| error.strip_prefix("invalid value: "));
        let found = found.unwrap_or(error).replace("f64", "a number").replace("i64", "a whole number");
        (format!("found {found}, in an option of `{provider}`"), fix.to_owned())
    };
    Fault { message, fix }
}

fn text_maker(text: Provider, provider: &str, schema: &Schema, place: &Place<'_>) -> Maker {
    let numeric = matches!(schema.kind, Type::Number | Type::Decimal { .. });
    match provider {
        "latitude" | "longitude" if numeric => Maker::Coordinate { latitude: provider == "latitude" },
        "sentence" | "paragraph" => super::super::defaults::sentence(place, provider == "paragraph"),
        "product_name" => super::super::defaults::product(place),
        _ => Maker::Text(text),
    }
}

fn generator(doc: FakeDoc, schema: &Schema, place: &Place<'_>, depth: u32) -> Result<Maker, Fault> {
    match doc {
        FakeDoc::Pick { of, weights } => pick(&of, weights, schema, place),
        FakeDoc::Boolean { share } => Ok(match share {
            Some(share) => Maker::Pick {
                of: vec![Value::Bool(true), Value::Bool(false)],
                bounds: vec![(share.clamp(0.0, 1.0) * 1e6) as u64, 1_000_000],
            },
            None => Maker::Deal(vec![Value::Bool(true), Value::Bool(false)]),
        }),
        FakeDoc::Integer { min, max, step }
        | FakeDoc::Decimal { min, max, step }
        | FakeDoc::Number { min, max, step } => numbers(min, max, step, schema),
        FakeDoc::Time { from, to, step } => times(from.as_deref(), to.as_deref(), step.as_deref()),
        FakeDoc::Date { from, to, weekdays } => {
            let days = Days { from, to, weekdays, hours: None, step: None };
            Ok(Maker::Date(days.span(place, true)?))
        }
        FakeDoc::DateTime { from, to, hours, step, weekdays } => {
            let days = Days { from, to, weekdays, hours, step };
            Ok(Maker::DateTime(days.span(place, false)?))
        }
        FakeDoc::Email { from: Some(from) } => {
            Ok(Maker::FromName { email: true, field: field(&from, place)? })
        }
        FakeDoc::Username { from: Some(from) } => {
            Ok(Maker::FromName { email: false, field: field(&from, place)? })
        }
        FakeDoc::Email { from: None } => Ok(Maker::Text(Provider::Email)),
        FakeDoc::Username { from: None } => Ok(Maker::Text(Provider::Username)),
        FakeDoc::Code { format } => Ok(Maker::Code(Code::parse(&format))),
        FakeDoc::Template { text } => template(&text, place),
        FakeDoc::Expr { of } => expression(&of, schema, place),
        FakeDoc::Position { start } => Ok(Maker::Position { start: start.unwrap_or(1) }),
        FakeDoc::Through { reference, field } => through(&reference, &field, place),
        FakeDoc::List { of, min, max } => {
            let Type::List(item) = &schema.kind else {
                return fault(
                    format!("found `list` on a field that holds {}", schema.expected()),
                    "use it on lists",
                );
            };
            let of = match of {
                Some(of) => read_at(&of, item, place, depth + 1)?,
                None => super::super::defaults::maker(item, None, place),
            };
            let min = min.unwrap_or(1);
            let max = max.unwrap_or(min.saturating_add(3));
            if min < 0 || max < min {
                return fault(
                    format!("found a list of {min} to {max} items"),
                    "write `min` and `max` in order",
                );
            }
            Ok(Maker::List { of: Box::new(of), min: min as u64, max: max as u64 })
        }
        FakeDoc::Chance { share, of } => {
            if !(0.0..=1.0).contains(&share) {
                return fault(format!("found `share: {share}`"), "write `share: 0.3`, from 0 to 1");
            }
            let of = match of {
                Some(of) => read_at(&of, schema, place, depth + 1)?,
                None => super::super::defaults::maker(schema, None, place),
            };
            Ok(Maker::Chance { share, of: Box::new(of) })
        }
    }
}

fn pick(
    items: &[Json],
    weights: Option<Vec<f64>>,
    schema: &Schema,
    place: &Place<'_>,
) -> Result<Maker, Fault> {
    if items.is_empty() {
        return fault("found `pick` without anything to pick from", "write `of: [one, another]`");
    }
    let read = |item: &Json| match item {
        Json::Null => Ok(Value::Null),
        item => schema.parse_json(item, &place.world.zone),
    };
    let of: Vec<Value> = match items.iter().map(read).collect() {
        Ok(of) => of,
        Err(error) => return fault(format!("in `of`: {error}"), "let every item fit the field's type"),
    };
    let weights = weights.unwrap_or_else(|| vec![1.0; of.len()]);
    let total: f64 = weights.iter().sum();
    let bad = weights.iter().any(|weight| *weight < 0.0) || total <= 0.0 || !total.is_finite();
    if weights.len() != of.len() || bad {
        return fault(
            format!("found {} weights for {} values", weights.len(), of.len()),
            "write one weight of 0 or more for each value, not all 0",
        );
    }
    let mut sum = 0.0;
    let bounds = weights.iter().map(|weight| {
        sum += weight / total;
        (sum * 1e9).round() as u64
    });
    let bounds = bounds.collect();
    Ok(Maker::Pick { of, bounds })
}

fn numbers(min: Option<f64>, max: Option<f64>, step: Option<f64>, schema: &Schema) -> Result<Maker, Fault> {
    if let Some(large) = [min, max, step].into_iter().flatten().find(|number| number.abs() >= MAX_NUMBER) {
        return fault(
            format!("found {large}, expected a number below {MAX_NUMBER:e}"),
            "write a smaller one",
        );
    }
    let limit = |value: &Option<Value>| value.as_ref().and_then(Value::as_f64);
    let (least, greatest) = (limit(&schema.limits.min), limit(&schema.limits.max));
    let (min, max) = match (min, max) {
        (Some(min), Some(max)) => (min, max),
        (Some(min), None) => (min, greatest.unwrap_or(min.max(0.0) * 2.0 + 100.0)),
        (None, Some(max)) => (least.unwrap_or(max.min(0.0)), max),
        (None, None) => {
            (least.unwrap_or(0.0), greatest.unwrap_or(least.unwrap_or(0.0).max(0.0) * 2.0 + 100.0))
        }
    };
    if min > max || step.is_some_and(|step| step <= 0.0) {
        return fault(
            format!("found the range {min} to {max}"),
            "write `min` below `max`, and a step above 0",
        );
    }
    Maker::in_range(min, max, step, schema)
}

/// Returns the seconds of a step. The default is a quarter of an hour.
fn step_of(step: Option<&str>) -> Result<u32, Fault> {
    match step.map_or(Some(900), seconds).filter(|step| (60..=86_400).contains(step)) {
        Some(step) => Ok(step as u32),
        None => fault("found a step that is none", "write minutes or hours: `30m`, `1h`"),
    }
}

fn times(from: Option<&str>, to: Option<&str>, step: Option<&str>) -> Result<Maker, Fault> {
    let step = step_of(step)?;
    let time = |key, text: Option<&str>, default| match text {
        Some(text) => match Time::parse(text) {
            Some(time) => Ok(time),
            None => fault(format!("found `{key}: {text}`, expected a time"), "write `09:00`"),
        },
        None => Ok(Time(default)),
    };
    let (first, last) = (time("from", from, 8 * 3600)?, time("to", to, 20 * 3600)?);
    if first > last {
        return out_of_order((from, "08:00"), (to, "20:00"));
    }
    // The last time is included: a shop may close at 20:00.
    Ok(Maker::Time(Span::in_day(first, Time(last.0 + 1), step)))
}

/// Options of a span of days.
struct Days {
    from: Option<String>,
    to: Option<String>,
    weekdays: Option<Vec<i8>>,
    hours: Option<[String; 2]>,
    step: Option<String>,
}

impl Days {
    fn span(self, place: &Place<'_>, whole_days: bool) -> Result<Span, Fault> {
        let Self { from, to, weekdays, hours, step } = self;
        let step = step_of(step.as_deref())?;
        let bound = |key, text: &Option<String>, default| match text {
            Some(text) => match TimeLimit::parse(text, &place.world.zone) {
                Some(bound) => Ok(bound),
                None => fault(
                    format!("found `{key}: {text}`, expected a date or a time relative to the clock"),
                    "write `-30d`, `+2w`, `+6h` or a date",
                ),
            },
            None => Ok(TimeLimit::Offset(default)),
        };
        let hours = match hours.map(|hours| hours.each_ref().map(|text| Time::parse(text))) {
            None => (Time(7 * 3600), Time(22 * 3600)),
            Some([Some(from), Some(to)]) if from <= to => (from, to),
            Some(_) => {
                return fault(
                    "found `hours` that are no two times in order",
                    "write `hours: [\"09:00\", \"17:00\"]`",
                );
            }
        };
        let weekdays = match weekdays {
            Some(days) if days.is_empty() || days.iter().any(|day| !(1..=7).contains(day)) => {
                return fault(format!("found `weekdays: {days:?}`"), "list days from 1 (Monday) to 7");
            }
            days => days.unwrap_or_default(),
        };
        let span = Span {
            from: bound("from", &from, -30 * 86_400)?,
            to: bound("to", &to, 30 * 86_400)?,
            weekdays,
            hours: Some(hours),
            step,
        };
        let clock = Clock { now: place.world.clock, zone: &place.world.zone };
        if span.is_backwards(clock, whole_days) {
            return out_of_order((from.as_deref(), "-30d"), (to.as_deref(), "+30d"));
        }
        Ok(span)
    }
}

/// Makes the error of a span that ends before it begins. It shows each bound as written, or its default.
fn out_of_order<T>(from: (Option<&str>, &str), to: (Option<&str>, &str)) -> Result<T, Fault> {
    let written = |key: &str, (text, default): (Option<&str>, &str)| match text {
        Some(text) => format!("`{key}: {text}`"),
        None => format!("`{key}: {default}`, which is the default"),
    };
    fault(
        format!("found {} after {}", written("from", from), written("to", to)),
        "write both, the earlier one as `from`",
    )
}

fn template(text: &str, place: &Place<'_>) -> Result<Maker, Fault> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((symbol, after)) = after.split_once('}') else {
            return fault("found `{` without `}` in the template", "close the brace");
        };
        if !before.is_empty() {
            pieces.push(Piece::Text(nfc(before)));
        }
        pieces.push(match symbol.strip_prefix("field:") {
            Some(name) => Piece::Field(field(name, place)?),
            None => match Provider::named(symbol) {
                Some(provider) => Piece::Provider(provider),
                None => return fault(format!("found `{{{symbol}}}` in the template"), known_providers()),
            },
        });
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(nfc(rest)));
    }
    Ok(Maker::Template(pieces))
}

fn expression(source: &str, schema: &Schema, place: &Place<'_>) -> Result<Maker, Fault> {
    let domain = place.world.resource(place.resource).domain;
    let mut scope = Scope::new(&place.world.resources, domain, &place.world.zone);
    scope.set_record(Some(place.resource));
    match compile_value(source, &mut scope, schema) {
        Ok(expr) => Ok(Maker::Expr(Box::new(expr))),
        Err(error) => fault(format!("in `of`: {error}"), "mend the expression"),
    }
}

fn through(by: &str, name: &str, place: &Place<'_>) -> Result<Maker, Fault> {
    let reference = field(by, place)?;
    let Some(Type::Reference { resource: target, .. }) =
        place.world.resource(place.resource).fields.get(reference).map(|field| &field.schema.kind)
    else {
        return fault(format!("found `ref: {by}`, which refers to no resource"), "name a field with `ref`");
    };
    let resource = place.world.resource(*target);
    match resource.field_named(name) {
        Some(field) => Ok(Maker::Through { reference, target: *target, field: field.index() }),
        None => fault(
            format!("found `field: {name}`, but `{}` has no such field", resource.name),
            "name one of its fields",
        ),
    }
}

/// Returns the position of a field.
fn field(name: &str, place: &Place<'_>) -> Result<usize, Fault> {
    match place.world.resource(place.resource).field_named(name) {
        Some(field) => Ok(field.index()),
        None => fault(
            format!(
                "found the field `{name}`, but `{}` has none of this name",
                place.world.resource(place.resource).name
            ),
            "name a field of the same resource",
        ),
    }
}

fn resource(name: &str, place: &Place<'_>) -> Result<ResourceId, Fault> {
    let domain = place.world.resource(place.resource).domain;
    let found = place.world.resources.iter().position(|known| known.domain == domain && *known.name == *name);
    match found {
        Some(index) => Ok(ResourceId(index as u16)),
        None => fault(
            format!("found the resource `{name}`, which the domain has not"),
            "name one of its resources",
        ),
    }
}

fn known_providers() -> String {
    let names: Vec<&str> = Provider::names().collect();
    format!(
        "use one of {}, company, job_title, street_address, word, sentence, paragraph, colour, language, \
         currency_code, product_name, book_title, movie_title, song_title, band_name, course_title, dish, pick, \
         integer, decimal, number, date, time, date_time, code, template, expr, list, chance",
        names.join(", ")
    )
}

/// Checks that values of the maker can have the type, so that a mistake is found when the world is compiled.
fn fits(maker: &Maker, schema: &Schema, provider: &str) -> Result<(), Fault> {
    let good = match maker {
        Maker::Text(_)
        | Maker::Review { .. }
        | Maker::FromName { .. }
        | Maker::Code(_)
        | Maker::Pattern(_) => {
            matches!(schema.kind, Type::String | Type::Any | Type::Enum(_))
        }
        Maker::Integer { .. } | Maker::Number { .. } | Maker::Position { .. } => {
            matches!(schema.kind, Type::Integer | Type::Number | Type::Decimal { .. } | Type::Any)
        }
        Maker::Date(_) => matches!(schema.kind, Type::Date | Type::Any),
        Maker::DateTime(_) => matches!(schema.kind, Type::DateTime | Type::Any),
        Maker::Time(_) => matches!(schema.kind, Type::Time | Type::Any),
        Maker::Reference(_) => matches!(schema.kind, Type::Reference { .. }),
        _ => true,
    };
    if good {
        return Ok(());
    }
    if matches!(schema.kind, Type::Reference { .. }) {
        return fault(
            format!("found the provider `{provider}` on a reference, which is the key of a record"),
            "leave `fake` out: one of the records is taken",
        );
    }
    fault(
        format!("found the provider `{provider}` on a field that holds {}", schema.expected()),
        "choose a provider of the field's type",
    )
}
