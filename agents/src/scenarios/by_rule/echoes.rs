//! Compares a reply with the call that it answers: members of one name must have one value.

use diorama_seeds::contract::plain;
use diorama_seeds::model::{ApiId, BehaviourKind, World};
use diorama_seeds::value::Date;
use serde_json::{Map, Value as Json};

/// Names that each object may have: on an item they are its own.
const OWN_NAMES: [&str; 12] =
    ["id", "key", "uuid", "guid", "sid", "code", "number", "token", "slug", "name", "title", "type"];
/// Levels of objects that are compared.
const MAX_DEPTH: u32 = 2;
/// Characters of a day: `2026-03-02`.
const DAY_CHARS: usize = 10;

/// Returns true if a reply shows another value than its call sent, under the same name. Items of lists
/// compare other members.
/// A new record has its own key: `POST /jobs/{id}/lines` shows the id of the line.
pub(crate) fn echoes_other_value(
    arguments: &Map<String, Json>,
    reply: &Json,
    world: &World,
    api: Option<ApiId>,
) -> bool {
    let made = match api.map(|api| &world.api(api).behaviour.kind) {
        Some(BehaviourKind::Create { resource, .. }) => {
            let made = world.resource(*resource);
            Some(plain(&made.field(made.key).name))
        }
        _ => None,
    };
    echoes(arguments, reply, made.as_deref())
}

fn echoes(arguments: &Map<String, Json>, reply: &Json, made: Option<&str>) -> bool {
    let sent: Vec<(String, &Json)> = arguments
        .iter()
        .filter(|(_, value)| is_scalar(value))
        .map(|(name, value)| (plain(name), value))
        .filter(|(name, _)| Some(name.as_str()) != made)
        .collect();
    !sent.is_empty() && differs(&sent, reply, 0, false)
}

fn differs(sent: &[(String, &Json)], shown: &Json, depth: u32, is_item: bool) -> bool {
    match shown {
        Json::Object(members) => members.iter().any(|(name, value)| match value {
            Json::Object(_) | Json::Array(_) => {
                !is_item && depth < MAX_DEPTH && differs(sent, value, depth + 1, false)
            }
            _ if is_scalar(value) => {
                let name = plain(name);
                // A nested object has an id of its own.
                let is_own = (is_item || depth > 0) && OWN_NAMES.contains(&name.as_str());
                !is_own && sent.iter().any(|(own, sent)| *own == name && !is_same(sent, value))
            }
            _ => false,
        }),
        Json::Array(items) => items.iter().any(|item| item.is_object() && differs(sent, item, depth, true)),
        _ => false,
    }
}

fn is_scalar(value: &Json) -> bool {
    matches!(value, Json::String(_) | Json::Number(_) | Json::Bool(_))
}

/// Returns true if two values are equal in any type: `4` and `"4"`, `open` and `OPEN`, a day and a time on
/// it.
fn is_same(sent: &Json, shown: &Json) -> bool {
    let number = |value: &Json| value.as_f64().or_else(|| value.as_str()?.parse().ok());
    // Two strings of digits are keys, which a float would round.
    if (sent.is_number() || shown.is_number())
        && let (Some(sent), Some(shown)) = (number(sent), number(shown))
    {
        return (sent - shown).abs() < f64::EPSILON * sent.abs().max(1.0);
    }
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_lowercase);
    let (sent, shown) = (text(sent), text(shown));
    sent == shown || begins_time(&sent, &shown) || begins_time(&shown, &sent)
}

/// Returns true if a string is the beginning of a timestamp, at least its day: `2026-03-02` of
/// `2026-03-02T08:00:00Z`.
fn begins_time(part: &str, time: &str) -> bool {
    part.get(..DAY_CHARS).and_then(Date::parse).is_some() && time.starts_with(part)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reply_must_repeat_the_values_of_the_call() {
        let check = |arguments: Json, reply: Json, expect: bool| {
            assert_eq!(echoes(arguments.as_object().unwrap(), &reply, None), expect, "{reply}");
        };
        check(json!({"orgID": "a"}), json!({"orgId": "a", "id": "z"}), false);
        check(json!({"orgID": "a"}), json!({"org_id": "b"}), true);
        check(json!({"order_id": 4}), json!({"order": {"order_id": "4"}}), false);
        check(json!({"order_id": 4}), json!({"lines": [{"order_id": 4}, {"order_id": 5}]}), true);
        check(json!({"status": "open"}), json!([{"status": "OPEN"}, {"status": "closed"}]), true);
        check(json!({"day": "2026-03-02"}), json!({"day": "2026-03-02T08:00:00Z"}), false);
        check(json!({"day": "2026-03-02"}), json!({"day": "2026-03-03T08:00:00Z"}), true);
        check(json!({"price": 4.5}), json!({"price": "4.50"}), false);
        // A part of a value is another value.
        check(json!({"order_id": 4}), json!({"order_id": "14"}), true);
        check(json!({"order_id": "ord-1"}), json!({"order_id": "ord-12"}), true);
        check(json!({"city": "New York"}), json!({"city": "York"}), true);
        // A new record keeps its given name; items of a list have names of their own.
        check(json!({"name": "Oslo"}), json!({"name": "Bergen"}), true);
        check(json!({"name": "Oslo"}), json!({"items": [{"name": "Bergen"}]}), false);
        // Members of an object inside an item belong to something else.
        check(json!({"org_id": "a"}), json!({"users": [{"labels": [{"org_id": "b"}]}]}), false);
        check(json!({"id": "a"}), json!([{"id": "b"}]), false);
        check(json!({"id": "a"}), json!({"id": "b"}), true);
        let of_made =
            |reply: Json| echoes(json!({"id": "a", "size": 2}).as_object().unwrap(), &reply, Some("id"));
        assert!(!of_made(json!({"id": "b", "size": 2})) && of_made(json!({"id": "b", "size": 3})));
    }
}
