//! The words of scenarios: templates over places and replies.
//!
//! Templates are Jinja's with one brace: `{found.available}`, `{due|weekday}`, `{% if .. %}`. They see the places and the
//! replies of one play and nothing else, and a bound keeps them from running on.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use crate::synthesis::render::{MONTHS, money, plain_number, time_told, weekday};
use diorama_engine::{Base, Body, State};
use diorama_grade::measures::leaf_schema;
use diorama_seeds::casing::Casing;
use diorama_seeds::english::{capitalised, enumerate, plural};
use diorama_seeds::model::{Record, ResourceId, World};
use diorama_seeds::scenario::{Bindings, BoundValue};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::value::{Date, Decimal, Instant, Time, Value};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{DynObject, Enumerator, Object, Value as Shown, ValueKind};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};
use serde_json::{Map, Value as Json};

use crate::synthesis::world::BatchWorld;

/// Instructions that one wording may take.
const FUEL: u64 = 20_000;

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(environment);

fn environment() -> Environment<'static> {
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
    environment.add_filter("time", |value: &Shown| Ok::<_, Error>(time_told(leaf(value)?.time()?, 0)));
    environment.add_filter("clock", |value: &Shown| Ok::<_, Error>(time_told(leaf(value)?.time()?, 1)));
    environment.add_filter("amount", |value: &Shown| amount(value));
    environment.add_filter("money", in_currency);
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
    environment.add_filter("plain", |value: &str| value.replace(['_', '-'], " "));
    environment.add_filter("quoted", |value: &str| {
        let is_sentence = value.split(' ').count() > 4 || value.ends_with(['.', '?', '!']);
        if is_sentence { format!("\"{value}\"") } else { value.to_owned() }
    });
    environment.add_filter("capital", |value: &str| capitalised(value));
    environment.add_filter("called", |value: &Shown, noun: &str| called(&value.to_string(), noun));
    environment.add_filter("given", |value: &str| value.split(' ').next().unwrap_or_default().to_owned());
    environment.add_filter("family", |value: &str| value.rsplit(' ').next().unwrap_or_default().to_owned());
    environment.add_filter("tail", |value: &str, count: usize| {
        let skipped = value.chars().count().saturating_sub(count);
        value.chars().skip(skipped).collect::<String>()
    });
    environment.add_filter("list", |value: &Shown| {
        let items: Result<Vec<String>, Error> =
            value.try_iter().map(|items| items.map(|item| item.to_string()).collect());
        items.map(|items| enumerate(&items))
    });
    environment
}

/// What the words and arguments of a play can name.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    setting: Arc<Setting>,
    bindings: Arc<Bindings>,
    state: State,
    /// Named replies, and the item of a step that is made for each.
    named: BTreeMap<String, Shown>,
}

/// Where a play takes place.
#[derive(Debug)]
struct Setting {
    base: Arc<Base>,
    alternates: Arc<World>,
    casing: Casing,
    now: Instant,
}

impl Scene {
    /// A play that begins.
    #[must_use]
    pub(super) fn new(world: &BatchWorld, casing: Casing, bindings: Bindings, state: State) -> Self {
        let (base, alternates, now) = (world.base.clone(), world.alternates.clone(), state.clock());
        Self {
            setting: Arc::new(Setting { base, alternates, casing, now }),
            bindings: Arc::new(bindings),
            state,
            named: BTreeMap::new(),
        }
    }

    /// How callers see the names of the scenario's domain.
    pub(super) fn casing(&self) -> Casing {
        self.setting.casing
    }

    /// The records are now these.
    pub(super) fn set_state(&mut self, state: State) {
        self.state = state;
    }

    /// Gives a name to a reply.
    pub(super) fn name_reply(&mut self, name: &str, body: &Body) {
        let shown = self.body(body);
        self.named.insert(name.to_owned(), shown);
    }

    /// Gives a name to several replies.
    pub(super) fn name_replies(&mut self, name: &str, bodies: &[&Body]) {
        let shown: Vec<Shown> = bodies.iter().map(|body| self.body(body)).collect();
        self.named.insert(name.to_owned(), Shown::from(shown));
    }

    /// Gives a name to an item.
    pub(super) fn name_item(&mut self, name: &str, item: Shown) {
        self.named.insert(name.to_owned(), item);
    }

    /// What a place holds.
    #[must_use]
    pub(super) fn held(&self, name: &str) -> Option<&BoundValue> {
        self.bindings.iter().find(|(own, _)| own == name).map(|(_, held)| held)
    }

    /// A wording filled in.
    ///
    /// # Errors
    /// When it names what is not there.
    pub(super) fn say(&self, wording: &str) -> Result<String, Error> {
        let text = TEMPLATES.render_str(wording, Shown::from_object(self.clone()))?;
        let mut said = String::with_capacity(text.len());
        // What a condition leaves out must not leave its blanks.
        for character in text.trim().chars() {
            let is_second = match character {
                ' ' => said.ends_with([' ', '\n']),
                // A value may end a sentence of its own.
                '.' => ["?", "!", ".\"", "?\"", "!\""].iter().any(|end| said.ends_with(end)),
                _ => false,
            };
            if !is_second {
                said.push(character);
            }
        }
        Ok(said)
    }

    /// The value of an expression.
    ///
    /// # Errors
    /// When it is none, or names what is not there.
    pub(super) fn value(&self, expression: &str) -> Result<Shown, Error> {
        TEMPLATES.compile_expression(expression)?.eval(Shown::from_object(self.clone()))
    }

    /// An argument: a string is an expression, anything else stands for itself.
    ///
    /// # Errors
    /// When the expression has no value that a call could take.
    pub(super) fn argument(&self, given: &Json) -> Result<Json, Error> {
        match given {
            Json::String(expression) => self.json(&self.value(expression)?),
            other => Ok(other.clone()),
        }
    }

    fn json(&self, value: &Shown) -> Result<Json, Error> {
        let zone = &self.setting.base.world().zone;
        if let Some(leaf) = value.downcast_object_ref::<Leaf>() {
            return Ok(leaf.value.to_json(zone));
        }
        if let Some(row) = value.downcast_object_ref::<Row>() {
            return Ok(row.key.to_json(zone));
        }
        match value.kind() {
            ValueKind::Bool => Ok(Json::Bool(value.is_true())),
            ValueKind::String => Ok(Json::from(value.to_string())),
            ValueKind::None => Ok(Json::Null),
            ValueKind::Number => match i64::try_from(value.clone()) {
                Ok(whole) => Ok(Json::from(whole)),
                Err(_) => Ok(Json::from(f64::try_from(value.clone())?)),
            },
            ValueKind::Seq | ValueKind::Iterable => value.try_iter()?.map(|item| self.json(&item)).collect(),
            ValueKind::Map => {
                let mut members = Map::new();
                for key in value.try_iter()? {
                    members.insert(key.to_string(), self.json(&value.get_item(&key)?)?);
                }
                Ok(Json::Object(members))
            }
            _ => Err(Error::new(ErrorKind::InvalidOperation, "found nothing that a call could take")),
        }
    }

    fn body(&self, body: &Body) -> Shown {
        match body {
            Body::Leaf(value, origin) => {
                let schema = leaf_schema(origin, self.setting.base.world());
                shown(&self.setting, value, &Arc::new(schema))
            }
            Body::List(items) => Shown::from(items.iter().map(|item| self.body(item)).collect::<Vec<_>>()),
            Body::Object(members) => {
                let own = |name: &str| self.setting.casing.read(name).into_owned();
                let members = members.iter().map(|(name, member)| (own(name), self.body(member)));
                Shown::from(members.collect::<BTreeMap<_, _>>())
            }
        }
    }

    fn record(&self, resource: ResourceId, key: &Value) -> Shown {
        Shown::from_object(Row {
            setting: self.setting.clone(),
            state: self.state.clone(),
            resource,
            key: key.clone(),
            of_new: None,
        })
    }
}

impl Object for Scene {
    fn get_value(self: &Arc<Self>, name: &Shown) -> Option<Shown> {
        let name = name.as_str()?;
        if let Some(named) = self.named.get(name) {
            return Some(named.clone());
        }
        match name {
            "now" => {
                return Some(shown(
                    &self.setting,
                    &Value::DateTime(self.setting.now),
                    &Arc::new(Schema::of(Type::DateTime)),
                ));
            }
            "today" => {
                let today = self.setting.base.world().zone.date_of(self.setting.now);
                return Some(shown(&self.setting, &Value::Date(today), &Arc::new(Schema::of(Type::Date))));
            }
            _ => {}
        }
        Some(match self.held(name)? {
            BoundValue::Record(resource, key) => self.record(*resource, key),
            BoundValue::Records(resource, keys) => {
                Shown::from(keys.iter().map(|key| self.record(*resource, key)).collect::<Vec<_>>())
            }
            BoundValue::New(resource, record) => Shown::from_object(Row {
                setting: self.setting.clone(),
                state: self.state.clone(),
                resource: *resource,
                key: Value::Null,
                of_new: Some(record.clone()),
            }),
            BoundValue::Value(value, schema) => shown(&self.setting, value, schema),
        })
    }
}

/// A record: its members are its fields, references lead on, and by itself it is what people call it.
#[derive(Debug)]
struct Row {
    setting: Arc<Setting>,
    state: State,
    resource: ResourceId,
    key: Value,
    /// The record itself, where it is none of the world but such as it might have.
    of_new: Option<Record>,
}

impl Row {
    fn record(&self) -> Option<&Record> {
        self.of_new.as_ref().or_else(|| self.state.get(&self.setting.base, self.resource, &self.key))
    }
}

impl Object for Row {
    fn get_value(self: &Arc<Self>, name: &Shown) -> Option<Shown> {
        let base = &self.setting.base;
        let resource = base.world().resource(self.resource);
        let field = resource.field_named(name.as_str()?)?;
        let value = self.record()?.get(field.index())?;
        let schema = match self.of_new {
            Some(_) => &self.setting.alternates.resource(self.resource).field(field).schema,
            None => &resource.field(field).schema,
        };
        match (&schema.kind, value) {
            // A record that is none of the world refers to none of it.
            (Type::Reference { .. }, _) if self.of_new.is_some() => None,
            (Type::Reference { resource, .. }, value) if !value.is_missing() => {
                Some(Shown::from_object(Self {
                    setting: self.setting.clone(),
                    state: self.state.clone(),
                    resource: *resource,
                    key: value.clone(),
                    of_new: None,
                }))
            }
            _ => Some(shown(&self.setting, value, &Arc::new(schema.clone()))),
        }
    }

    fn custom_cmp(self: &Arc<Self>, other: &DynObject) -> Option<Ordering> {
        Some(self.key.cmp(&other.downcast_ref::<Self>()?.key))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::NonEnumerable
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = &self.setting.base;
        let resource = base.world().resource(self.resource);
        let called = resource.display.and_then(|field| self.record()?.get(field.index()));
        f.write_str(&called.unwrap_or(&self.key).to_text(&base.world().zone))
    }
}

/// A value that is told otherwise than it is written.
#[derive(Debug)]
struct Leaf {
    setting: Arc<Setting>,
    value: Value,
    schema: Arc<Schema>,
}

impl Object for Leaf {
    fn custom_cmp(self: &Arc<Self>, other: &DynObject) -> Option<Ordering> {
        Some(self.value.cmp(&other.downcast_ref::<Self>()?.value))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::NonEnumerable
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = match (&self.value, &self.schema.kind) {
            (Value::Decimal(decimal), Type::Decimal { currency: Some(code), .. }) => money(*decimal, code, 0),
            (Value::Decimal(decimal), _) => decimal.reduced().to_string(),
            (Value::Number(number), _) => plain_number(*number),
            (Value::Date(_), _) => self.day(false).unwrap_or_default(),
            (Value::Time(time), _) => time_told(*time, 0),
            (Value::DateTime(_), _) => {
                let (day, time) = (self.day(false).unwrap_or_default(), self.time());
                time.map(|time| format!("{day} at {}", time_told(time, 0))).unwrap_or(day)
            }
            (other, _) => other.to_text(&self.setting.base.world().zone),
        };
        f.write_str(&told)
    }
}

impl Leaf {
    fn date(&self) -> Result<Date, Error> {
        match self.value {
            Value::Date(date) => Ok(date),
            Value::DateTime(instant) => Ok(self.setting.base.world().zone.date_of(instant)),
            _ => Err(Error::new(ErrorKind::InvalidOperation, "expected a date or a moment")),
        }
    }

    fn time(&self) -> Result<Time, Error> {
        match self.value {
            Value::Time(time) => Ok(time),
            Value::DateTime(instant) => Ok(self.setting.base.world().zone.time_of(instant)),
            _ => Err(Error::new(ErrorKind::InvalidOperation, "expected a time or a moment")),
        }
    }

    /// `25 September`, with the weekday before it where that is wanted and the year behind it where it is another one.
    fn day(&self, with_weekday: bool) -> Result<String, Error> {
        let (date, today) = (self.date()?, self.today());
        let civil = date.civil();
        let month = MONTHS[(civil.month() as usize - 1) % 12];
        let mut day = format!("{} {month}", civil.day());
        if with_weekday {
            day = format!("{} {day}", weekday(date));
        }
        if civil.year() != today.civil().year() {
            day = format!("{day} {}", civil.year());
        }
        Ok(day)
    }

    /// `today`, `tomorrow`, `on Friday` within a week, else `on 25 September`.
    fn soon(&self) -> Result<String, Error> {
        let date = self.date()?;
        Ok(match date.0 - self.today().0 {
            0 => "today".to_owned(),
            1 => "tomorrow".to_owned(),
            2..=6 => format!("on {}", weekday(date)),
            _ => format!("on {}", self.day(false)?),
        })
    }

    fn today(&self) -> Date {
        self.setting.base.world().zone.date_of(self.setting.now)
    }
}

fn shown(setting: &Arc<Setting>, value: &Value, schema: &Arc<Schema>) -> Shown {
    match value {
        Value::Absent | Value::Null => Shown::from(()),
        Value::Bool(value) => Shown::from(*value),
        Value::Integer(number) => Shown::from(*number),
        Value::String(text) => Shown::from(&**text),
        Value::List(items) => {
            let schema = match &schema.kind {
                Type::List(item) => Arc::new(item.as_ref().clone()),
                _ => Arc::new(Schema::of(Type::Any)),
            };
            Shown::from(items.iter().map(|item| shown(setting, item, &schema)).collect::<Vec<_>>())
        }
        Value::Object(members) => {
            let schema = Arc::new(Schema::of(Type::Any));
            let members =
                members.iter().map(|(name, member)| (name.to_string(), shown(setting, member, &schema)));
            Shown::from(members.collect::<BTreeMap<_, _>>())
        }
        Value::Number(_) | Value::Decimal(_) | Value::Date(_) | Value::Time(_) | Value::DateTime(_) => {
            Shown::from_object(Leaf {
                setting: setting.clone(),
                value: value.clone(),
                schema: schema.clone(),
            })
        }
    }
}

fn leaf(value: &Shown) -> Result<&Leaf, Error> {
    value.downcast_object_ref::<Leaf>().ok_or_else(|| {
        Error::new(ErrorKind::InvalidOperation, "expected a date, a time, a moment or an amount")
    })
}

/// What a record is called, after what it is: `the webhook Northwind`, but `the Northwind webhook` and `Project Lumen`.
fn called(name: &str, noun: &str) -> String {
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

/// An amount of a currency: computed amounts know none of their own. A number that is no decimal is told to the cent.
fn in_currency(value: &Shown, code: &str) -> Result<String, Error> {
    let decimal = match value.downcast_object_ref::<Leaf>().map(|leaf| &leaf.value) {
        Some(Value::Decimal(decimal)) => *decimal,
        _ => Decimal { minor: (number(value)? * 100.0).round() as i64, scale: 2 },
    };
    Ok(money(decimal, code, 0))
}

/// A number to compare and reckon with.
fn number(value: &Shown) -> Result<f64, Error> {
    match value.downcast_object_ref::<Leaf>().and_then(|leaf| leaf.value.as_f64()) {
        Some(number) => Ok(number),
        None => f64::try_from(value.clone()),
    }
}

/// What is wrong with a wording as a template; nothing where it is one.
pub(super) fn template_fault(wording: &str) -> Option<String> {
    let error = TEMPLATES.template_from_str(wording).err()?;
    Some(error.detail().unwrap_or("syntax error").to_owned())
}

/// What is wrong with an argument as an expression; nothing where it is one.
pub(super) fn expression_fault(expression: &str) -> Option<String> {
    let error = TEMPLATES.compile_expression(expression).err()?;
    Some(error.detail().unwrap_or("syntax error").to_owned())
}
