//! Owns the effects of faults on replies.

use std::collections::BTreeMap;

use diorama_seeds::value::{Str, Value};

use super::rule::{Kind, Rule};
use crate::reply::{Body, Origin, Reply};

/// Returns the reply that replaces the API's.
pub fn instead(rule: &Rule) -> Reply {
    refusal(rule.kind, rule.status())
}

/// Returns the reply of a kind of fault, with a status.
pub fn refusal(kind: Kind, status: u16) -> Reply {
    let (title, detail) = match (kind, status) {
        (Kind::RateLimit, _) => ("Too Many Requests", "too many requests; try again later"),
        (Kind::ExpiredToken, _) => ("Unauthorized", "the token has expired; sign in again"),
        (Kind::Timeout, _) => ("Gateway Timeout", "the service did not answer in time; try again"),
        (Kind::Drop, _) => ("Service Unavailable", "the connection ended without a reply"),
        (_, 502) => ("Bad Gateway", "the service cannot be reached; try again later"),
        (_, 503) => ("Service Unavailable", "the service is not available; try again later"),
        (_, 504) => ("Gateway Timeout", "the service did not answer in time; try again"),
        _ => ("Internal Server Error", "the service failed; try again"),
    };
    let text = |text: &str| Body::Leaf(Value::string(text), Origin::Constant);
    let members = vec![
        (Str::from("title"), text(title)),
        (Str::from("status"), Body::Leaf(Value::Integer(i64::from(status)), Origin::Constant)),
        (Str::from("detail"), text(detail)),
    ];
    Reply::new(status, Body::Object(members))
}

/// Returns the body with its first list shortened, or none if there is nothing to shorten.
pub fn shortened(body: &Body, rule: &Rule) -> Option<Body> {
    let keep = rule.keep.unwrap_or(0.5);
    match body {
        Body::List(items) => {
            let kept = ((items.len() as f64 * keep) as usize).min(items.len());
            (kept < items.len()).then(|| Body::List(items.iter().take(kept).cloned().collect()))
        }
        Body::Object(members) => {
            let at = members.iter().position(|(_, body)| matches!(body, Body::List(_)))?;
            let mut members = members.clone();
            let member = members.get_mut(at)?;
            member.1 = shortened(&member.1, rule)?;
            Some(Body::Object(members))
        }
        Body::Leaf(..) => None,
    }
}

/// Returns the body with renamed members at any depth, or none if no member has such a name. A member keeps
/// its name if another one already has the new name, since names must be unique.
pub fn renamed(body: &Body, rule: &Rule) -> Option<Body> {
    let mut found = false;
    let body = rename(body, &rule.rename, &mut found);
    found.then_some(body)
}

fn rename(body: &Body, names: &BTreeMap<String, String>, found: &mut bool) -> Body {
    match body {
        Body::Leaf(..) => body.clone(),
        Body::List(items) => Body::List(items.iter().map(|item| rename(item, names, found)).collect()),
        Body::Object(members) => {
            let stays = |new: &String| {
                members.iter().any(|(name, _)| **name == **new && !names.contains_key(&**name))
            };
            let member = |(name, body): &(Str, Body)| {
                let other = names.get(&**name).filter(|new| !stays(new));
                *found |= other.is_some();
                (other.map_or_else(|| name.clone(), |other| Str::from(&**other)), rename(body, names, found))
            };
            Body::Object(members.iter().map(member).collect())
        }
    }
}
