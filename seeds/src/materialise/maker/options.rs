//! Reading a `fake`: providers, their options, and whether they fit the field.

use serde_json::Value as Json;

use super::super::moment::{Bound, Clock, Span, seconds};
use super::super::text::Provider;
use super::{Fault, Maker, Piece, Place, fault};
use crate::expr::{Scope, compile_value};
use crate::keys::Code;
use crate::model::ResourceId;
use crate::schema::{Schema, Type};
use crate::value::{Decimal, Time, Value, nfc};

/// Lists and chances nest no deeper.
const MAX_DEPTH: u32 = 8;

/// The options of one `fake`.
struct Options<'a> {
    json: &'a serde_json::Map<String, Json>,
    provider: &'a str,
}

/// Reads a `fake`.
///
/// # Errors
/// A provider or an option that is not known, or does not fit the field's type.
pub(in super::super) fn read(fake: &Json, schema: &Schema, place: &Place<'_>) -> Result<Maker, Fault> {
    read_at(fake, schema, place, 0)
}

fn read_at(fake: &Json, schema: &Schema, place: &Place<'_>, depth: u32) -> Result<Maker, Fault> {
    let empty = serde_json::Map::new();
    let options = match fake {
        Json::String(name) => Options { json: &empty, provider: name },
        Json::Object(json) => match json.get("provider").and_then(Json::as_str) {
            Some(provider) => Options { json, provider },
            None => {
                // `of: {ref: track}` in a list.
                if let Some(name) = json.get("ref").and_then(Json::as_str) {
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
    let maker = match options.provider {
        "pick" => options.pick(schema, place)?,
        "integer" | "decimal" | "number" => options.numbers(schema)?,
        "date" | "date_time" | "time" => options.moments(place)?,
        "code" => {
            options.only(&["format"])?;
            match options.text("format")? {
                Some(format) => Maker::Code(Code::parse(format)),
                None => {
                    return fault(
                        "found a code without its format",
                        "write `{provider: code, format: \"APT-####\"}`",
                    );
                }
            }
        }
        "template" => options.template(place)?,
        "expr" => options.expression(schema, place)?,
        "position" => {
            options.only(&["start"])?;
            Maker::Position { start: options.whole("start")?.unwrap_or(1) }
        }
        "through" => options.through(place)?,
        "list" => {
            options.only(&["of", "min", "max"])?;
            let Type::List(item) = &schema.kind else {
                return fault(
                    format!("found `list` on a field that holds {}", schema.expected()),
                    "use it on lists",
                );
            };
            let of = match options.json.get("of") {
                Some(of) => read_at(of, item, place, depth + 1)?,
                None => super::super::defaults::maker(item, None, place),
            };
            let (min, max) = (options.whole("min")?.unwrap_or(1), options.whole("max")?);
            let max = max.unwrap_or(min.saturating_add(3));
            if min < 0 || max < min {
                return fault(
                    format!("found a list of {min} to {max} items"),
                    "write `min` and `max` in order",
                );
            }
            Maker::List { of: Box::new(of), min: min as u64, max: max as u64 }
        }
        "chance" => {
            options.only(&["share", "of"])?;
            let share =
                options.json.get("share").and_then(Json::as_f64).filter(|share| (0.0..=1.0).contains(share));
            let Some(share) = share else {
                return fault("found a chance without its share", "write `share: 0.3`, from 0 to 1");
            };
            let of = match options.json.get("of") {
                Some(of) => read_at(of, schema, place, depth + 1)?,
                None => super::super::defaults::maker(schema, None, place),
            };
            Maker::Chance { share, of: Box::new(of) }
        }
        "boolean" => {
            options.only(&["share"])?;
            match options.json.get("share").and_then(Json::as_f64) {
                Some(share) => Maker::Pick {
                    of: vec![Value::Bool(true), Value::Bool(false)],
                    bounds: vec![(share.clamp(0.0, 1.0) * 1e6) as u64, 1_000_000],
                },
                None => Maker::Deal(vec![Value::Bool(true), Value::Bool(false)]),
            }
        }
        name => options.text_provider(name, schema, place)?,
    };
    fits(&maker, schema, options.provider)?;
    Ok(maker)
}

impl Options<'_> {
    fn only(&self, known: &[&str]) -> Result<(), Fault> {
        match self.json.keys().find(|key| *key != "provider" && !known.contains(&key.as_str())) {
            Some(key) if known.is_empty() => {
                fault(format!("found the option `{key}`, but `{}` has none", self.provider), "remove it")
            }
            Some(key) => fault(
                format!("found the option `{key}` of `{}`, expected {}", self.provider, known.join(", ")),
                "see \"Made-up values\" in the format's documentation",
            ),
            None => Ok(()),
        }
    }

    fn text(&self, key: &str) -> Result<Option<&str>, Fault> {
        match self.json.get(key) {
            None => Ok(None),
            Some(Json::String(text)) => Ok(Some(text)),
            Some(other) => fault(format!("found `{key}: {other}`, expected text"), "put it in quotes"),
        }
    }

    fn whole(&self, key: &str) -> Result<Option<i64>, Fault> {
        match self.json.get(key) {
            None => Ok(None),
            Some(json) => match json.as_i64() {
                Some(number) => Ok(Some(number)),
                None => {
                    fault(format!("found `{key}: {json}`, expected a whole number"), "write a whole number")
                }
            },
        }
    }

    fn real(&self, key: &str) -> Result<Option<f64>, Fault> {
        match self.json.get(key) {
            None => Ok(None),
            Some(json) => match json.as_f64() {
                Some(number) if number.is_finite() && number.abs() < 9.0e15 => Ok(Some(number)),
                _ => fault(format!("found `{key}: {json}`, expected a number"), "write a number"),
            },
        }
    }

    fn pick(&self, schema: &Schema, place: &Place<'_>) -> Result<Maker, Fault> {
        self.only(&["of", "weights"])?;
        let items = self.json.get("of").and_then(Json::as_array).filter(|items| !items.is_empty());
        let Some(items) = items else {
            return fault("found `pick` without anything to pick from", "write `of: [one, another]`");
        };
        let mut of = Vec::with_capacity(items.len());
        for item in items {
            if item.is_null() {
                of.push(Value::Null);
                continue;
            }
            match schema.parse_json(item, &place.world.zone) {
                Ok(value) => of.push(value),
                Err(error) => {
                    return fault(format!("in `of`: {error}"), "let every item fit the field's type");
                }
            }
        }
        let weights: Vec<f64> = match self.json.get("weights").and_then(Json::as_array) {
            Some(weights) => {
                weights.iter().filter_map(Json::as_f64).filter(|weight| *weight >= 0.0).collect()
            }
            None => vec![1.0; of.len()],
        };
        let total: f64 = weights.iter().sum();
        if weights.len() != of.len() || total <= 0.0 || !total.is_finite() {
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
        let bounds: Vec<u64> = bounds.collect();
        Ok(Maker::Pick { of, bounds })
    }

    fn numbers(&self, schema: &Schema) -> Result<Maker, Fault> {
        self.only(&["min", "max", "step"])?;
        let limit = |value: &Option<Value>| value.as_ref().and_then(Value::as_f64);
        let (least, greatest) = (limit(&schema.limits.min), limit(&schema.limits.max));
        let (min, max) = match (self.real("min")?, self.real("max")?) {
            (Some(min), Some(max)) => (min, max),
            (Some(min), None) => (min, greatest.unwrap_or(min.max(0.0) * 2.0 + 100.0)),
            (None, Some(max)) => (least.unwrap_or(max.min(0.0)), max),
            (None, None) => {
                (least.unwrap_or(0.0), greatest.unwrap_or(least.unwrap_or(0.0).max(0.0) * 2.0 + 100.0))
            }
        };
        let step = self.real("step")?;
        if min > max || step.is_some_and(|step| step <= 0.0) {
            return fault(
                format!("found the range {min} to {max}"),
                "write `min` below `max`, and a step above 0",
            );
        }
        range(min, max, step, schema)
    }

    fn moments(&self, place: &Place<'_>) -> Result<Maker, Fault> {
        self.only(match self.provider {
            "date" => &["from", "to", "weekdays"],
            "time" => &["from", "to", "step"],
            _ => &["from", "to", "hours", "step", "weekdays"],
        })?;
        let step = match self.text("step")? {
            Some(text) => seconds(text).filter(|step| (60..=86_400).contains(step)),
            None => Some(900),
        };
        let Some(step) = step else {
            return fault("found a step that is none", "write minutes or hours: `30m`, `1h`");
        };
        if self.provider == "time" {
            let time = |key, default| match self.text(key)? {
                Some(text) => match Time::parse(text) {
                    Some(time) => Ok(time),
                    None => fault(format!("found `{key}: {text}`, expected a time"), "write `09:00`"),
                },
                None => Ok(Time(default)),
            };
            let (from, to) = (time("from", 8 * 3600)?, time("to", 20 * 3600)?);
            if from > to {
                return self.out_of_order("08:00", "20:00");
            }
            // The last moment itself counts: a shop may close at 20:00.
            return Ok(Maker::Time(day_span(from, Time(to.0 + 1), step as u32)));
        }
        let bound = |key, default| match self.text(key)? {
            Some(text) => match Bound::parse(text, &place.world.zone) {
                Some(bound) => Ok(bound),
                None => fault(
                    format!("found `{key}: {text}`, expected a date or a time relative to the clock"),
                    "write `-30d`, `+2w`, `+6h` or a date",
                ),
            },
            None => Ok(Bound::Offset(default)),
        };
        let hours = match self.json.get("hours") {
            None => None,
            Some(json) => {
                let hours: Option<Vec<Time>> = json
                    .as_array()
                    .and_then(|pair| pair.iter().map(|text| Time::parse(text.as_str()?)).collect());
                match hours.as_deref() {
                    Some([from, to]) if from <= to => Some((*from, *to)),
                    _ => {
                        return fault(
                            format!("found `hours: {json}`"),
                            "write `hours: [\"09:00\", \"17:00\"]`",
                        );
                    }
                }
            }
        };
        let weekdays = match self.json.get("weekdays") {
            None => Vec::new(),
            Some(json) => {
                let days: Option<Vec<i8>> = json.as_array().and_then(|days| {
                    days.iter()
                        .map(|day| day.as_i64().filter(|day| (1..=7).contains(day)).map(|day| day as i8))
                        .collect()
                });
                match days.filter(|days| !days.is_empty()) {
                    Some(days) => days,
                    None => {
                        return fault(format!("found `weekdays: {json}`"), "list days from 1 (Monday) to 7");
                    }
                }
            }
        };
        let span = Span {
            from: bound("from", -30 * 86_400)?,
            to: bound("to", 30 * 86_400)?,
            weekdays,
            hours: hours.or(Some((Time(7 * 3600), Time(22 * 3600)))),
            step: step as u32,
        };
        let clock = Clock { now: place.world.clock, zone: &place.world.zone };
        if span.is_backwards(clock, self.provider == "date") {
            return self.out_of_order("-30d", "+30d");
        }
        Ok(if self.provider == "date" { Maker::Date(span) } else { Maker::DateTime(span) })
    }

    /// The refusal of a span that ends before it begins, given the bounds that stand in where none is written.
    fn out_of_order<T>(&self, from: &str, to: &str) -> Result<T, Fault> {
        let written = |key: &str, default: &str| match self.json.get(key).and_then(Json::as_str) {
            Some(text) => format!("`{key}: {text}`"),
            None => format!("`{key}: {default}`, which is the default"),
        };
        fault(
            format!("found {} after {}", written("from", from), written("to", to)),
            "write both, the earlier one as `from`",
        )
    }

    fn template(&self, place: &Place<'_>) -> Result<Maker, Fault> {
        self.only(&["text"])?;
        let Some(text) = self.text("text")? else {
            return fault(
                "found a template without its text",
                "write `text: \"Dr. {first_name} {last_name}\"`",
            );
        };
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

    fn expression(&self, schema: &Schema, place: &Place<'_>) -> Result<Maker, Fault> {
        self.only(&["of"])?;
        let Some(source) = self.text("of")? else {
            return fault(
                "found `expr` without its expression",
                "write `of: \"record.starts_at + minutes(30)\"`",
            );
        };
        let domain = place.world.resource(place.resource).domain;
        let mut scope = Scope::new(&place.world.resources, domain, &place.world.zone);
        scope.set_record(Some(place.resource));
        match compile_value(source, &mut scope, schema) {
            Ok(expr) => Ok(Maker::Expr(Box::new(expr))),
            Err(error) => fault(format!("in `of`: {error}"), "mend the expression"),
        }
    }

    fn through(&self, place: &Place<'_>) -> Result<Maker, Fault> {
        self.only(&["ref", "field"])?;
        let (Some(by), Some(name)) = (self.text("ref")?, self.text("field")?) else {
            return fault(
                "found `through` without `ref` and `field`",
                "write `{provider: through, ref: season_id, field: show_id}`",
            );
        };
        let reference = field(by, place)?;
        let Some(Type::Reference { resource: target, .. }) =
            place.world.resource(place.resource).fields.get(reference).map(|field| &field.schema.kind)
        else {
            return fault(
                format!("found `ref: {by}`, which refers to no resource"),
                "name a field with `ref`",
            );
        };
        match place.world.resource(*target).field_named(name) {
            Some(field) => Ok(Maker::Through { reference, target: *target, field: field.index() }),
            None => fault(
                format!(
                    "found `field: {name}`, but `{}` has no such field",
                    place.world.resource(*target).name
                ),
                "name one of its fields",
            ),
        }
    }

    fn text_provider(&self, name: &str, schema: &Schema, place: &Place<'_>) -> Result<Maker, Fault> {
        if matches!(name, "email" | "username") {
            self.only(&["from"])?;
            if let Some(from) = self.text("from")? {
                return Ok(Maker::FromName { email: name == "email", field: field(from, place)? });
            }
        }
        self.only(&[])?;
        let numeric = matches!(schema.kind, Type::Number | Type::Decimal { .. });
        match (name, Provider::named(name)) {
            ("latitude" | "longitude", _) if numeric => {
                Ok(Maker::Coordinate { latitude: name == "latitude" })
            }
            ("sentence" | "paragraph", Some(_)) => {
                Ok(super::super::defaults::sentence(place, name == "paragraph"))
            }
            ("product_name", Some(_)) => Ok(super::super::defaults::product(place)),
            (_, Some(provider)) => Ok(Maker::Text(provider)),
            (_, None) => fault(format!("found the provider `{name}`"), known_providers()),
        }
    }
}

/// Numbers of a range in the field's type.
pub(in super::super) fn range(
    min: f64,
    max: f64,
    step: Option<f64>,
    schema: &Schema,
) -> Result<Maker, Fault> {
    match schema.kind {
        Type::Integer => {
            let step = step.unwrap_or(1.0).round().max(1.0) as i64;
            Ok(Maker::Integer { min: min.ceil() as i64, max: max.floor() as i64, step })
        }
        Type::Decimal { scale, .. } => {
            let minor = |value: f64| Decimal::round(value, scale).map(|decimal| decimal.minor);
            match (minor(min), minor(max), step.map_or(Some(1), minor)) {
                (Some(min), Some(max), Some(step)) => {
                    Ok(Maker::Decimal { min, max, step: step.max(1), scale })
                }
                _ => fault(format!("found the range {min} to {max}"), "keep to numbers that fit the decimal"),
            }
        }
        _ => {
            let step = step.unwrap_or(if max - min <= 2.0 { 0.01 } else { 0.1 });
            let places = (0..9).find(|places| {
                let scaled = step * 10_f64.powi(*places);
                (scaled - scaled.round()).abs() < 1e-6
            });
            let count = ((max - min) / step + 1e-9).floor().max(0.0) as u64 + 1;
            Ok(Maker::Number { min, count, step, places: places.unwrap_or(9) })
        }
    }
}

/// A span of times of day.
pub(in super::super) const fn day_span(from: Time, to: Time, step: u32) -> Span {
    Span { from: Bound::Offset(0), to: Bound::Offset(0), weekdays: Vec::new(), hours: Some((from, to)), step }
}

/// The position of a field.
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

/// Whether values of the maker can be of the type at all, so that a slip is found when the world is read.
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
