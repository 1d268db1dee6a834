//! Plans as nested calls, in Reverse Chain's notation: `BookRoom(person_ID=PersonName2ID(person_name='Jack'), start='9am')`.
//!
//! Owns reading them, from a label or out of what a model wrote, writing them, and carrying them out in an environment.

mod nested;
mod read;

use std::collections::BTreeMap;
use std::pin::Pin;

use diorama_seeds::task::Call;
use serde_json::{Map, Value as Json};

use crate::environment::Reply;
use crate::episode::Episode;
use crate::role_model::Stop;
use crate::toolbox::{Document, only_value};
use crate::types::{ValueType, converted, value_type};

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
        let schema_of = |name: &str| {
            let mut parameters = document.into_iter().flat_map(Document::parameters);
            parameters.find(|(own, ..)| *own == name).map(|(_, schema, _)| schema.clone()).unwrap_or_default()
        };
        let mut arguments = Map::new();
        for (name, filled) in plan.named(&parameters) {
            let value = match filled {
                PlanArgument::Value(value) => Some(value.clone()),
                PlanArgument::Call(inner) => {
                    let reply = call(episode, inner, documents, made).await?;
                    let value = given_value(&reply, &name, &schema_of(&name));
                    if value.is_none() {
                        let because = format!("the reply of {} does not give {name}", inner.api);
                        episode.fall_back("plan", "leaving the argument out", because)?;
                    }
                    value
                }
            };
            arguments.extend(value.map(|value| (name.into_owned(), value)));
        }
        let reply = episode.call(&Call { api: plan.api.clone(), arguments }).await?;
        made.insert(key, reply.clone());
        Ok(reply)
    })
}

/// The value of an argument in the reply of the call that gives it. An argument whose schema does not exclude an object takes
/// the whole reply where no single value of it is meant: coordinates of a latitude and a longitude.
fn given_value(reply: &Reply, name: &str, schema: &Json) -> Option<Json> {
    if let Some(value) = only_value(&reply.body, name) {
        return Some(converted(value, schema));
    }
    let is_whole = (200..300).contains(&reply.status) && value_type(schema) == ValueType::Other;
    (is_whole && reply.body.is_object()).then(|| reply.body.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(parse(text).map(|plan| plan.to_string()).unwrap(), expect, "{text}");
    }

    #[test]
    fn the_whole_reply_is_given_where_no_single_value_is_meant() {
        let reply = Reply { status: 200, body: json!({"latitude": 1.5, "longitude": 2.5}) };
        let check = |reply: &Reply, name: &str, schema: Json, expect: Option<Json>| {
            assert_eq!(given_value(reply, name, &schema), expect, "{name}: {schema}");
        };
        check(&reply, "latitude", json!({"type": "string"}), Some(json!("1.5")));
        check(&reply, "coordinates", json!({"title": "Coordinates"}), Some(reply.body.clone()));
        check(&reply, "coordinates", json!({"type": "number"}), None);
        let failed = Reply { status: 404, body: json!({"status": 404, "detail": "there is none"}) };
        check(&failed, "coordinates", json!({}), None);
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
        assert!(parse("Ride(to='x', by=Bus(no=1), to='y')").is_err());
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
        let named = |parameters: &[&'static str]| -> Vec<String> {
            plan.named(parameters).into_iter().map(|(name, _)| name.into_owned()).collect()
        };
        assert_eq!(named(&["city", "nights", "guest"]), ["city", "nights", "guest"]);
        // An argument that no parameter is left for is not lost.
        assert_eq!(named(&["city", "nights"]), ["city", "nights", "#3"]);
        assert_eq!(plan.depth(), 1);
    }
}
