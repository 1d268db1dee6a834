//! Collects the units and currencies that are visible: in a description, a member's name, a value, or a
//! user's message.

use diorama_seeds::model::{ApiId, World};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::value::Value;

use super::vocabulary::Vocabulary;
use diorama_answers::prose::{Prose, measures};
use diorama_answers::units::{Currency, Dimension, Unit};
use diorama_engine::session::LogEntry;
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_engine::{Base, Body, Origin};

/// The visible units and currencies.
#[derive(Clone, Debug, Default)]
pub struct Measures {
    units: Vec<Unit>,
    currencies: Vec<Currency>,
}

impl Measures {
    /// Collects those of the tools that are visible at the start.
    #[must_use]
    pub fn from_tools(base: &Base, vocabulary: &Vocabulary, visible: &[ApiId]) -> Self {
        let mut found = Self::default();
        visible.iter().for_each(|api| found.add_tool(base, vocabulary, *api));
        found
    }

    /// Collects those in the name of a member.
    pub(crate) fn from_name(name: &str) -> Self {
        let (units, currencies) = measures(&split_member_name(name));
        Self { units, currencies }
    }

    fn add_tool(&mut self, base: &Base, vocabulary: &Vocabulary, api: ApiId) {
        let schema = || {
            let mut words = String::new();
            base.tool_schema(api).into_iter().for_each(|schema| add_words(schema, &mut words));
            words
        };
        let (units, currencies) = vocabulary.measures(api, || measures(&schema()));
        self.add(units, currencies);
    }

    fn add(&mut self, units: &[Unit], currencies: &[Currency]) {
        self.units
            .extend(units.iter().filter(|unit| !self.units.contains(unit)).copied().collect::<Vec<_>>());
        let new: Vec<Currency> =
            currencies.iter().filter(|currency| !self.currencies.contains(currency)).copied().collect();
        self.currencies.extend(new);
    }

    /// Adds those of a user's message.
    pub fn add_prose(&mut self, prose: &Prose) {
        let units: Vec<Unit> = prose.units().collect();
        let currencies: Vec<Currency> = prose.currencies().collect();
        self.add(&units, &currencies);
    }

    /// Adds those of a reply: of its members' names, of short values that spell a measure, and of the tools
    /// that it shows.
    pub fn add_reply(&mut self, base: &Base, vocabulary: &Vocabulary, entry: &LogEntry) {
        if entry.api.is_none() && entry.call.api == TOOL_SEARCHER {
            let names = entry.reply.body.member("tools").into_iter().flat_map(Body::leaves);
            let apis = names.filter(|(path, ..)| path.ends_with("].name"));
            for api in apis.filter_map(|(_, value, _)| base.world().api_named(value.as_str()?)) {
                self.add_tool(base, vocabulary, api);
            }
            return;
        }
        let mut names: Vec<&str> = Vec::new();
        self.add_body(&entry.reply.body, &mut names);
        for name in names {
            let named = Self::from_name(name);
            self.add(&named.units, &named.currencies);
        }
    }

    fn add_body<'a>(&mut self, body: &'a Body, names: &mut Vec<&'a str>) {
        match body {
            Body::Leaf(Value::String(text), _) if spells_measure(text) => {
                let (units, currencies) = measures(text);
                self.add(&units, &currencies);
            }
            Body::Leaf(..) => {}
            Body::List(items) => items.iter().for_each(|item| self.add_body(item, names)),
            Body::Object(members) => {
                for (name, member) in members {
                    if !names.contains(&&**name) {
                        names.push(name);
                    }
                    self.add_body(member, names);
                }
            }
        }
    }

    /// Returns true if this very unit is visible.
    pub(crate) fn has_exactly(&self, unit: Unit) -> bool {
        self.units.contains(&unit)
    }

    /// Returns true if a unit of this dimension is visible.
    pub(crate) fn has_unit(&self, dimension: Dimension) -> bool {
        self.units.iter().any(|unit| unit.dimension == dimension)
    }

    /// Returns the visible units of a dimension.
    pub(crate) fn units_of(&self, dimension: Dimension) -> impl Iterator<Item = Unit> {
        self.units.iter().filter(move |unit| unit.dimension == dimension).copied()
    }

    /// Returns true if this currency is visible.
    pub(crate) fn has_currency(&self, currency: Currency) -> bool {
        // `dollars` are those of the only dollar that is visible.
        let named = |known: &Currency| {
            self.currencies.iter().any(|other| other.is_one() && other != known && known.overlaps(*other))
        };
        self.currencies.iter().any(|known| known.overlaps(currency) && (known.is_one() || !named(known)))
    }

    /// Returns true if the currency of this code is visible.
    #[must_use]
    pub fn has_code(&self, code: &str) -> bool {
        self.currencies.iter().any(|known| known.means(code))
    }

    /// Returns true if the unit or currency of a schema is visible, or the schema has none.
    #[must_use]
    pub fn shows(&self, schema: &Schema) -> bool {
        let unit = schema.unit.as_deref().and_then(Unit::named);
        let currency = match &schema.kind {
            Type::Decimal { currency: Some(code), .. } => self.has_code(code),
            _ => true,
        };
        currency && (schema.unit.is_none() || unit.is_some_and(|unit| self.has_unit(unit.dimension)))
    }

    /// Returns the schema of a leaf's field, without an invisible unit or currency.
    #[must_use]
    pub fn leaf_schema(&self, origin: &Origin, world: &World) -> Schema {
        self.strip_invisible(leaf_schema(origin, world))
    }

    /// Returns a schema without an invisible unit or currency.
    #[must_use]
    pub fn strip_invisible(&self, schema: Schema) -> Schema {
        if self.shows(&schema) { schema } else { strip_measures(schema) }
    }
}

/// Adds the names and strings of a schema. A pattern is skipped, because its signs are no currency's.
fn add_words(schema: &serde_json::Value, words: &mut String) {
    match schema {
        serde_json::Value::String(text) => {
            words.push_str(text);
            words.push_str(" . ");
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| add_words(item, words)),
        serde_json::Value::Object(members) => {
            for (name, member) in members.iter().filter(|(name, _)| *name != "pattern") {
                words.push_str(name);
                words.push_str(" . ");
                add_words(member, words);
            }
        }
        _ => {}
    }
}

/// Returns the schema without unit and currency.
#[must_use]
pub fn strip_measures(mut schema: Schema) -> Schema {
    schema.unit = None;
    if let Type::Decimal { currency, .. } = &mut schema.kind {
        *currency = None;
    }
    schema
}

/// Returns true for a code such as `EUR`, or a string with a sign or with digits before letters.
fn spells_measure(text: &str) -> bool {
    let code = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase());
    code || (text.len() <= 24 && text.chars().any(|c| matches!(c, '€' | '$' | '£' | '¥' | '%' | '°'))
        || (text.len() <= 24 && text.starts_with(|c: char| c.is_ascii_digit()) && text.contains(' ')))
}

/// Splits `durationMin` and `duration_min` into words; a code such as `price_eur` gets the capitals that
/// codes need.
fn split_member_name(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 8);
    let mut before_lower = false;
    for c in name.chars() {
        if c == '_' || (c.is_uppercase() && before_lower) {
            words.push(' ');
        }
        if c != '_' {
            words.push(c);
        }
        before_lower = c.is_lowercase();
    }
    let codes = words.split(' ').filter(|word| word.len() == 3).map(str::to_uppercase).collect::<Vec<_>>();
    format!("{words} {}", codes.join(" "))
}

/// Returns the schema of the field that a leaf came from.
#[must_use]
pub fn leaf_schema(origin: &Origin, world: &World) -> Schema {
    match origin {
        Origin::Field { resource, field, .. } => world.resource(*resource).field(*field).schema.clone(),
        Origin::Computed | Origin::Constant => Schema::of(Type::Any),
    }
}
