//! Value providers: the options that say how the values of a field are generated.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

/// How values are made up: a provider by its name, or with its options.
#[derive(Debug, JsonSchema)]
#[schemars(untagged, deny_unknown_fields)]
#[expect(dead_code, reason = "the shape of the schema; values stay JSON until they are read for their field")]
pub(super) enum FakeForm {
    Name(ProviderName),
    Text { provider: ProviderName },
    Generator(FakeDoc),
    Reference(ReferenceDoc),
}

/// A provider that needs no options.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "see above")]
pub(super) struct ProviderName(String);

/// In a list: keys of records of this resource.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "see above")]
pub(super) struct ReferenceDoc {
    /// The resource.
    #[schemars(rename = "ref")]
    reference: String,
}

/// A provider with options.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "provider", rename_all = "snake_case", deny_unknown_fields)]
pub enum FakeDoc {
    /// One of these values.
    Pick {
        /// Values of the field's type; null for none.
        of: Vec<Json>,
        /// A weight of 0 or more for each value; default: all alike.
        weights: Option<Vec<f64>>,
    },
    /// True or false.
    Boolean {
        /// How often it is true, from 0 to 1; default 0.5.
        share: Option<f64>,
    },
    /// A number on a grid, as `number`.
    Integer {
        /// Least value; default: the field's `min`, else 0.
        min: Option<f64>,
        /// Greatest value; default: the field's `max`, else `2 * min + 100`.
        max: Option<f64>,
        /// Distance of two values.
        step: Option<f64>,
    },
    /// A number on a grid, as `number`.
    Decimal {
        /// Least value; default: the field's `min`, else 0.
        min: Option<f64>,
        /// Greatest value; default: the field's `max`, else `2 * min + 100`.
        max: Option<f64>,
        /// Distance of two values.
        step: Option<f64>,
    },
    /// A number on a grid, in the field's type.
    Number {
        /// Least value; default: the field's `min`, else 0.
        min: Option<f64>,
        /// Greatest value; default: the field's `max`, else `2 * min + 100`.
        max: Option<f64>,
        /// Distance of two values.
        step: Option<f64>,
    },
    /// A day of a span.
    Date {
        /// First day: `-30d`, relative to the clock, or a date; default `-30d`.
        from: Option<String>,
        /// Last day; default `+30d`.
        to: Option<String>,
        /// Days from 1 (Monday) to 7; default: all.
        weekdays: Option<Vec<i8>>,
    },
    /// A time of day.
    Time {
        /// First time; default `08:00`.
        from: Option<String>,
        /// Last time; default `20:00`.
        to: Option<String>,
        /// Distance of two values, `1m` to `24h`; default `15m`.
        step: Option<String>,
    },
    /// An instant of a span.
    DateTime {
        /// First day or instant: `-6h`, relative to the clock, or a date; default `-30d`.
        from: Option<String>,
        /// Last day or instant; default `+30d`.
        to: Option<String>,
        /// First and last time of a day; default `["07:00", "22:00"]`.
        hours: Option<[String; 2]>,
        /// Distance of two values, `1m` to `24h`; default `15m`.
        step: Option<String>,
        /// Days from 1 (Monday) to 7; default: all.
        weekdays: Option<Vec<i8>>,
    },
    /// An e-mail address.
    Email {
        /// The field with the full name of whom it belongs to.
        from: Option<String>,
    },
    /// A user name.
    Username {
        /// The field with the full name of whom it belongs to.
        from: Option<String>,
    },
    /// A code of a form.
    Code {
        /// `#` is a digit; inside braces `A` is a letter, `x` a hexadecimal digit and `w` a word: `{AAA}-###`.
        format: String,
    },
    /// Fixed text, providers and earlier fields.
    Template {
        /// `Dr. {last_name} of {field:city}`.
        text: String,
    },
    /// The value of an expression.
    Expr {
        /// An expression over the fields of `record` made before.
        of: String,
    },
    /// The place among the records of one parent.
    Position {
        /// The first place; default 1.
        start: Option<i64>,
    },
    /// A field of the record behind a reference.
    Through {
        /// The field that refers.
        #[serde(rename = "ref")]
        reference: String,
        /// The field of the record.
        field: String,
    },
    /// Distinct items.
    List {
        /// How an item is made; default: by its type.
        #[schemars(with = "Option<FakeForm>")]
        of: Option<Json>,
        /// Least number of items; default 1.
        min: Option<i64>,
        /// Greatest number of items; default `min + 3`.
        max: Option<i64>,
    },
    /// A value in some of the records.
    Chance {
        /// In how many, from 0 to 1.
        share: f64,
        /// How the value is made; default: by the field's type and name.
        #[schemars(with = "Option<FakeForm>")]
        of: Option<Json>,
    },
}
