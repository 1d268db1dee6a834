//! Plans as nested calls, in Reverse Chain's notation: `BookRoom(person_ID=PersonName2ID(person_name='Jack'), start='9am')`.
//!
//! Owns reading them, from a label or out of what a model wrote, writing them, and carrying them out in an environment.

mod nested;
mod read;

use std::collections::BTreeMap;
use std::pin::Pin;

use diorama_seeds::task::Call;
use serde_json::Map;

use crate::environment::Reply;
use crate::episode::Episode;
use crate::role_model::Stop;
use crate::toolbox::{Document, only_value};

pub use self::nested::{Plan, PlanArgument};
pub use self::read::parse;
pub(crate) use self::read::{ApiSignature, find};

type Step<'a> = Pin<Box<dyn Future<Output = Result<Reply, Stop>> + Send + 'a>>;

/// Carries a plan out, the innermost calls first; a call that stands twice in it is made once.
pub(crate) async fn carry_out(
    episode: &mut Episode<'_>,
    plan: &Plan,
    documents: &[Document],
) -> Result<Reply, Stop> {
    call(episode, plan, documents, &mut BTreeMap::new()).await
}

fn call<'a>(
    episode: &'a mut Episode<'_>,
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
        let parameters = document.map(Document::positions).unwrap_or_default();
        let mut arguments = Map::new();
        for (name, filled) in plan.named(&parameters) {
            let value = match filled {
                PlanArgument::Value(value) => Some(value.clone()),
                PlanArgument::Call(inner) => {
                    let reply = call(episode, inner, documents, made).await?;
                    let value = only_value(&reply.body, name);
                    if value.is_none() {
                        let because = format!("the reply of {} does not give {name}", inner.api);
                        episode.fall_back("plan", "leaving the argument out", because)?;
                    }
                    value
                }
            };
            arguments.extend(value.map(|value| (name.to_owned(), value)));
        }
        let reply = episode.call(&Call { api: plan.api.clone(), arguments }).await?;
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
        check("Add(tags=['a', {'b': 1,},], n=2,)", "Add(tags=[\"a\",{\"b\":1}], n=2)");
        check("Go(at=Flight(no='7').departure)", "Go(at=Flight(no='7'))");
        check("Price(of=Orders(user=Id(name='J'))['The Kite'])", "Price(of=Orders(user=Id(name='J')))");
        assert!(parse("Ride(to='x') if (Find(a='y'))").is_err());
        assert!(parse("Ride(to='x'").is_err());
    }

    #[test]
    fn calls_are_found_in_what_a_model_writes() {
        let known = [
            ApiSignature { api: "Id".to_owned(), outputs: vec!["user_ID".to_owned()] },
            ApiSignature { api: "Add".to_owned(), outputs: Vec::new() },
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
