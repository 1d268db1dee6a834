//! Shows values to wordings: dates, times and amounts are written in another form than in JSON.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use diorama_engine::Base;
use diorama_seeds::casing::Casing;
use diorama_seeds::model::World;
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::value::{Date, Instant, Time, Value};
use minijinja::value::{DynObject, Enumerator, Object, Value as Shown};
use minijinja::{Error, ErrorKind};

use super::render::{MONTHS, money, plain_number, weekday};

/// The world, clock and casing of a play.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) base: Arc<Base>,
    pub(crate) alternates: Arc<World>,
    pub(crate) casing: Casing,
    pub(crate) now: Instant,
}

/// A value that wordings write in another form than JSON.
#[derive(Debug)]
pub(crate) struct Leaf {
    setting: Arc<Setting>,
    pub(crate) value: Value,
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
            (Value::Decimal(decimal), Type::Decimal { currency: Some(code), .. }) => money(*decimal, code),
            (Value::Decimal(decimal), _) => decimal.reduced().to_string(),
            (Value::Number(number), _) => plain_number(*number),
            (Value::Date(_), _) => self.day(false).unwrap_or_default(),
            (Value::Time(time), _) => time.to_string(),
            (Value::DateTime(_), _) => {
                let (day, time) = (self.day(false).unwrap_or_default(), self.time());
                time.map(|time| format!("{day} at {time}")).unwrap_or(day)
            }
            (other, _) => other.to_text(&self.setting.base.world().zone),
        };
        f.write_str(&told)
    }
}

impl Leaf {
    /// Returns the currency of an amount, if it has one.
    pub(crate) fn currency(&self) -> Option<&str> {
        match &self.schema.kind {
            Type::Decimal { currency, .. } => currency.as_deref(),
            _ => None,
        }
    }

    pub(crate) fn date(&self) -> Result<Date, Error> {
        match self.value {
            Value::Date(date) => Ok(date),
            Value::DateTime(instant) => Ok(self.setting.base.world().zone.date_of(instant)),
            _ => Err(Error::new(ErrorKind::InvalidOperation, "expected a date or a moment")),
        }
    }

    pub(crate) fn time(&self) -> Result<Time, Error> {
        match self.value {
            Value::Time(time) => Ok(time),
            Value::DateTime(instant) => Ok(self.setting.base.world().zone.time_of(instant)),
            _ => Err(Error::new(ErrorKind::InvalidOperation, "expected a time or a moment")),
        }
    }

    /// Returns `25 September`, with an optional weekday before it, and the year after it if it is not the
    /// current one.
    pub(crate) fn day(&self, with_weekday: bool) -> Result<String, Error> {
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

    /// Returns `today`, `tomorrow`, `on Friday` within a week, else `on 25 September`.
    pub(crate) fn soon(&self) -> Result<String, Error> {
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

/// Returns a value of a record or a reply as wordings see it.
pub(crate) fn show(setting: &Arc<Setting>, value: &Value, schema: &Arc<Schema>) -> Shown {
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
            Shown::from(items.iter().map(|item| show(setting, item, &schema)).collect::<Vec<_>>())
        }
        Value::Object(members) => {
            let schema = Arc::new(Schema::of(Type::Any));
            let members =
                members.iter().map(|(name, member)| (name.to_string(), show(setting, member, &schema)));
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
