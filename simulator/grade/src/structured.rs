//! Structured endings: compare given facts with the expected ones, and the subject of a refusal with its
//! evidence.
//!
//! Compares values by type and reads no prose.

use diorama_seeds::ending::{self, ItemValue, Kind};
use diorama_seeds::english::has_words;
use diorama_seeds::model::World;
use diorama_seeds::schema::Type;
use diorama_seeds::task::{AnswerCheck, Evidence, Fact, GoalCheck};
use diorama_seeds::value::{Date, Time};
use serde_json::Value as Json;

use super::text;
use diorama_answers::TextContent;
use diorama_engine::Base;

/// A number with at least this many decimal places may be a rounded one.
const ROUNDED: u32 = 2;
/// A map key with more characters cannot be an id or a name.
const MAX_KEY_CHARS: usize = 120;

/// Returns true if a given value states a fact. `about` names the subject of the fact.
pub(super) fn states(fact: &Fact, given: &Json, about: &str, world: &World) -> bool {
    let zone = &world.zone;
    match fact {
        Fact::Number { value, tolerance, magnitude, .. } => {
            is_number(*value, *tolerance, given) || (*magnitude && is_number(-*value, *tolerance, given))
        }
        Fact::Money { minor, scale, magnitude, .. } => {
            let scale = u32::from(*scale);
            given.as_f64().is_some_and(|given| {
                let (given, minor) =
                    if *magnitude { (given.abs(), &minor.saturating_abs()) } else { (given, minor) };
                (given * 10_f64.powi(scale as i32) - *minor as f64).abs() < 1e-6_f64.max(given.abs() * 1e-9)
            })
        }
        Fact::Count { value } => given.as_u64() == Some(*value),
        Fact::Boolean { value, .. } => given.as_bool() == Some(*value),
        Fact::Date { value } => {
            given.as_str().and_then(Date::parse).is_some_and(|day| Date::parse(value) == Some(day))
        }
        Fact::Time { value } => {
            given.as_str().and_then(Time::parse).is_some_and(|time| Time::parse(value) == Some(time))
        }
        Fact::DateTime { value } => {
            let moment = |text: &str| zone.parse_instant(text.trim());
            given.as_str().and_then(moment).is_some_and(|given| moment(value) == Some(given))
        }
        Fact::Entity { value, aliases, of } => {
            let given = match given {
                Json::String(given) => given.clone(),
                Json::Number(given) => given.to_string(),
                _ => return false,
            };
            let field = of.as_ref().and_then(|(resource, field)| {
                let declared = world.resource(world.resource_named(resource)?);
                Some(declared.field(declared.field_named(field)?))
            });
            let synonyms = field.and_then(|field| field.synonyms.get(value.as_str())).into_iter().flatten();
            let forms = std::iter::once(&**value)
                .chain(aliases.iter().map(String::as_str))
                .chain(synonyms.map(|synonym| &**synonym));
            let is_choice = field.is_some_and(|field| matches!(field.schema.kind, Type::Enum(_)));
            forms.into_iter().any(|form| {
                text::is_same(form, &given, about)
                    || (is_choice && TextContent::read(form).is_same(&TextContent::read(&given)))
            })
        }
        // The caller replaces generated facts before it compares.
        Fact::Made { .. } => false,
        Fact::List { items } => {
            let Json::Array(given) = given else { return false };
            states_all(&items.iter().collect::<Vec<_>>(), given, about, world)
        }
    }
}

/// Returns true if the given values equal the items in some order.
fn states_all(items: &[&Fact], given: &[Json], about: &str, world: &World) -> bool {
    let mut open: Vec<&Fact> = items.to_vec();
    given.len() == items.len()
        && given.iter().all(|given| {
            let at = open.iter().position(|item| states(item, given, about, world));
            at.map(|at| open.swap_remove(at)).is_some()
        })
}

/// Returns a text without the name of its item at the start or the end. Example: `flush kit` for `flush kit
/// (P-7453)`.
pub(super) fn strip_name(given: &Json, names: &[String]) -> Option<Json> {
    let given = text::normalise_name(given.as_str()?);
    let rest = |name: &String| given.strip_suffix(&**name).or_else(|| given.strip_prefix(&**name));
    names.iter().filter_map(rest).map(str::trim).find(|rest| !rest.is_empty()).map(Json::from)
}

/// An expected fact, with the form in which an agent gives its values.
#[derive(Debug)]
pub(crate) struct AskedFact {
    /// The name that it is given by.
    pub(super) name: String,
    /// The subject of the question.
    about: String,
    form: Form,
    /// Its values.
    pub(super) items: Vec<AskedValue>,
}

/// A value, and the folded names of the item that it belongs to.
#[derive(Debug)]
pub(crate) struct AskedValue {
    pub(super) fact: Fact,
    names: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    One,
    List,
    Map,
}

impl AskedFact {
    /// Returns the facts that the checks of a goal ask for.
    pub(super) fn of_goal(goal: &GoalCheck, base: &Base) -> Vec<Self> {
        let named = ending::named(goal).into_iter().filter(|fact| !fact.checks.is_empty());
        let asked = named.map(|fact| {
            let checks = fact.checks.iter().filter_map(|at| goal.answer.get(*at));
            let value = |(item, evidence): (ItemValue<'_>, Option<&Evidence>)| {
                let own = evidence.map(|evidence| own_names(evidence, base)).unwrap_or_default();
                let names = own.iter().chain(item.names).map(|name| text::normalise_name(name));
                AskedValue { fact: item.fact.clone(), names: names.collect() }
            };
            let items = checks.flat_map(|check| ending::item_values(check).zip(evidence_of_items(check)));
            let items = items.map(value).collect();
            let form = match fact.ask.kind {
                Kind::Map(_) => Form::Map,
                Kind::List(_) => Form::List,
                _ => Form::One,
            };
            Self { name: fact.name, about: fact.ask.about, form, items }
        });
        asked.collect()
    }

    /// Returns true if the agent gave this fact. `wanted` has its values, with generated ones filled in.
    pub(super) fn is_given(&self, wanted: &[Fact], given: &Json, world: &World) -> bool {
        let states = |at: usize, given: &Json| {
            let is_stated =
                |given: &Json| wanted.get(at).is_some_and(|fact| states(fact, given, &self.about, world));
            let names = self.items.get(at).map_or(&[][..], |item| &item.names);
            is_stated(given) || strip_name(given, names).is_some_and(|given| is_stated(&given))
        };
        match (self.form, given) {
            (Form::One, given) => states(0, given),
            (Form::List, Json::Array(given)) => {
                states_all(&wanted.iter().collect::<Vec<_>>(), given, &self.about, world)
            }
            (Form::Map, Json::Object(given)) => {
                let mut open = vec![true; wanted.len()];
                given.len() == wanted.len()
                    && given.iter().all(|(key, given)| {
                        let mut named = self.items_named(key).into_iter();
                        let at = named.find(|at| open[*at] && states(*at, given));
                        at.is_some_and(|at| std::mem::take(&mut open[at]))
                    })
            }
            _ => false,
        }
    }

    /// Returns the items that a map key names: those with an equal name, else the only one whose name shares
    /// whole words.
    fn items_named(&self, key: &str) -> Vec<usize> {
        if key.chars().count() > MAX_KEY_CHARS {
            return Vec::new();
        }
        let key = text::normalise_name(key);
        let named = |is_named: &dyn Fn(&String) -> bool| -> Vec<usize> {
            (0..self.items.len()).filter(|at| self.items[*at].names.iter().any(is_named)).collect()
        };
        let exact = named(&|name| *name == key);
        if !exact.is_empty() {
            return exact;
        }
        let near = named(&|name| has_words(&key, name) || has_words(name, &key));
        if near.len() == 1 { near } else { Vec::new() }
    }
}

/// Returns the evidence of each value of a check, or none for values without their own.
fn evidence_of_items(check: &AnswerCheck) -> impl Iterator<Item = Option<&Evidence>> {
    let parts = match check.evidence.first() {
        Some(Evidence::All { of }) => of.as_slice(),
        Some(single) => std::slice::from_ref(single),
        None => &[],
    };
    parts.iter().map(Some).chain(std::iter::repeat(None))
}

/// Returns the names that the item of a value always has: its record's id and display name.
fn own_names(evidence: &Evidence, base: &Base) -> Vec<String> {
    let Evidence::Leaf { resource, key, .. } = evidence else { return Vec::new() };
    let world = base.world();
    let Some(id) = world.resource_named(resource) else { return Vec::new() };
    let declared = world.resource(id);
    let record = declared.field(declared.key).schema.parse_text(key, &world.zone).ok();
    let record = record.and_then(|key| base.find(id, &key));
    let name = record.zip(declared.display).and_then(|(record, field)| record.get(field.index())?.as_str());
    name.into_iter().chain([&**key]).map(str::to_owned).collect()
}

/// Returns true if a number is equal, within the tolerance, or equal after rounding to its own decimals (two
/// or more).
fn is_number(value: f64, tolerance: f64, given: &Json) -> bool {
    let Some(number) = given.as_f64() else { return false };
    if (number - value).abs() <= tolerance.max(value.abs() * 1e-9) {
        return true;
    }
    let decimals = given.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len() as u32);
    (ROUNDED..15).contains(&decimals)
        && (number - value).abs() <= 0.5 * 10_f64.powi(-(decimals as i32)) + value.abs() * 1e-9
}
