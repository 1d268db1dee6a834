//! Plans as nested calls, in Reverse Chain's notation: `BookRoom(person_ID=PersonName2ID(person_name='Jack'), start='9am')`.
//!
//! Owns reading them, from a label or out of what a model wrote, writing them, and carrying them out in an environment.

mod read;

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;

use diorama_seeds::task::Call;
use serde_json::{Map, Value as Json};

use crate::environment::{Environment, Reply};
use crate::mind::Stop;
use crate::reverse_chain::complete::only_value;
use crate::toolbox::Document;
use crate::trace::Note;

pub use self::read::{Known, find, parse};

/// A call whose arguments may be calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The API.
    pub api: String,
    /// Its arguments; one without a name stands for the parameter at its place.
    pub arguments: Vec<(Option<String>, Filled)>,
}

/// What an argument is filled with.
#[derive(Clone, Debug, PartialEq)]
pub enum Filled {
    /// A value.
    Value(Json),
    /// What another call gives.
    Call(Plan),
}

impl Plan {
    /// Calls inside calls: 1 where every argument is a value.
    #[must_use]
    pub fn depth(&self) -> u32 {
        1 + self.inner().map(Self::depth).max().unwrap_or(0)
    }

    /// The calls that stand for its arguments.
    pub fn inner(&self) -> impl Iterator<Item = &Self> {
        self.arguments.iter().filter_map(|(_, filled)| match filled {
            Filled::Call(plan) => Some(plan),
            Filled::Value(_) => None,
        })
    }

    /// Whether it is a plan, or is inside of it.
    #[must_use]
    pub fn is_part_of(&self, whole: &Self) -> bool {
        self == whole || whole.inner().any(|inner| self.is_part_of(inner))
    }

    /// Its arguments with the names of the parameters that places stand for: the required ones in the order in which the
    /// document lists them, then the others.
    pub fn named<'a>(&'a self, parameters: &[&'a str]) -> Vec<(&'a str, &'a Filled)> {
        let named: Vec<&str> = self.arguments.iter().filter_map(|(name, _)| name.as_deref()).collect();
        let mut places = parameters.iter().filter(|name| !named.contains(name)).copied();
        self.arguments
            .iter()
            .filter_map(|(name, filled)| Some((name.as_deref().or_else(|| places.next())?, filled)))
            .collect()
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}(", self.api)?;
        for (at, (name, filled)) in self.arguments.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            formatter.write_str(comma)?;
            if let Some(name) = name {
                write!(formatter, "{name}=")?;
            }
            match filled {
                Filled::Value(Json::String(text)) => write!(formatter, "'{text}'")?,
                Filled::Value(value) => write!(formatter, "{value}")?,
                Filled::Call(plan) => plan.fmt(formatter)?,
            }
        }
        formatter.write_str(")")
    }
}

type Step<'a> = Pin<Box<dyn Future<Output = Result<Reply, Stop>> + Send + 'a>>;

/// Carries a plan out, the innermost calls first; what stands twice in it is called once.
///
/// # Errors
/// When the environment ends it.
pub async fn carry_out(
    environment: &mut dyn Environment,
    plan: &Plan,
    documents: &[Document],
) -> Result<Reply, Stop> {
    let mut made = BTreeMap::new();
    call(environment, plan, documents, &mut made).await
}

fn call<'a>(
    environment: &'a mut dyn Environment,
    plan: &'a Plan,
    documents: &'a [Document],
    made: &'a mut BTreeMap<String, Reply>,
) -> Step<'a> {
    Box::pin(async move {
        let key = plan.to_string();
        if let Some(reply) = made.get(&key) {
            return Ok(reply.clone());
        }
        let document = documents.iter().find(|document| document.name == plan.api);
        let parameters = document.map(Document::places).unwrap_or_default();
        let mut arguments = Map::new();
        for (name, filled) in plan.named(&parameters) {
            let value = match filled {
                Filled::Value(value) => Some(value.clone()),
                Filled::Call(inner) => {
                    let reply = call(&mut *environment, inner, documents, &mut *made).await?;
                    let value = only_value(&reply.body, name);
                    if value.is_none() {
                        environment.note(Note::FellBack {
                            role: "plan".to_owned(),
                            to: "leaving the argument out".to_owned(),
                            because: format!("the reply of {} does not give {name}", inner.api),
                        })?;
                    }
                    value
                }
            };
            arguments.extend(value.map(|value| (name.to_owned(), value)));
        }
        let reply = environment.call(&Call { api: plan.api.clone(), arguments }).await?;
        made.insert(key, reply.clone());
        Ok(reply)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(parse(text).map(|plan| plan.to_string()).unwrap(), expect, "{text}");
    }

    #[test]
    fn labels_are_read_as_they_are_written_by_people() {
        check("Ring(at='7pm')", "Ring(at='7pm')");
        check("Ring( at = \"7pm\" , times=3)", "Ring(at='7pm', times=3)");
        check(
            "Buy(shop='Mo's Bikes', id=ShopName2ID('Mo's Bikes'))",
            "Buy(shop='Mo's Bikes', id=ShopName2ID('Mo's Bikes'))",
        );
        check("Add(tags=['a', 'b'], n=-1.5, on=True)", "Add(tags=[\"a\",\"b\"], n=-1.5, on=true)");
        check("Go(at=Flight(no='7').departure)", "Go(at=Flight(no='7'))");
        check("Price(of=Orders(user=Id(name='J'))['The Kite'])", "Price(of=Orders(user=Id(name='J')))");
        assert!(parse("Ride(to='x') if (Find(a='y'))").is_err());
        assert!(parse("Ride(to='x'").is_err());
    }

    #[test]
    fn calls_are_found_in_what_a_model_writes() {
        let known = [
            Known { api: "Id".to_owned(), gives: vec!["user_ID".to_owned()] },
            Known { api: "Add".to_owned(), gives: Vec::new() },
        ];
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(find(text, &known).map(|plan| plan.to_string()).as_deref(), expect, "{text}");
        };
        let nested = Some("Add(user=Id(name='Ada'), n=2)");
        check("Sure! Here it is (nested):\n```\nAdd(user=Id(name='Ada'), n=2)\n```", nested);
        check("1. Id(name='Ada') -> uid\n2. Add(user=uid, n=2) -> done", nested);
        check("uid = Id(name='Ada')\nAdd(user=uid, n=2)", nested);
        check("Id(name='Ada')\nAdd(user=user_ID, n=2)", nested);
        check("Add(user=Id(name='Ada'), n=2), where Id(name='Ada') gives the id.", nested);
        check("Nothing (to do) here.", None);
        check("Add(user=Id(name='Ada'", None);
    }

    #[test]
    fn places_stand_for_the_parameters_that_are_not_named() {
        let plan = parse("Book('Rome', nights=2, 'Ada')").unwrap();
        let named: Vec<&str> =
            plan.named(&["city", "nights", "guest"]).into_iter().map(|(name, _)| name).collect();
        assert_eq!(named, ["city", "nights", "guest"]);
        assert_eq!(plan.depth(), 1);
    }
}
