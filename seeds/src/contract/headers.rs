//! Owns the headers that a contract declares for successes.

use serde_json::Value as Json;

use super::body::Contract;
use super::check::{Side, list};
use super::names::plain;
use super::sample::{self, Subject};
use crate::materialise::Sampler;

impl Contract {
    /// Returns the declared headers of a success with this body. A value is the member of the same name
    /// (`X-Total-Count` is `total_count`). Otherwise it is the first enum value, the default, the example, or
    /// a value generated from the seed. Headers whose values are not scalars are omitted.
    pub fn headers_of(&self, body: &Json, seed: u64, now: i64) -> impl Iterator<Item = (&str, String)> {
        self.headers
            .iter()
            .filter_map(move |(name, schema)| Some((&**name, self.header(name, schema, body, seed, now)?)))
    }

    fn header(&self, name: &str, schema: &Json, body: &Json, seed: u64, now: i64) -> Option<String> {
        let flat = self.schemas.flat(schema).members;
        let fits = |value: &Json| self.schemas.check(schema, value, Side::Reply).is_ok();
        let called = plain(name.trim_start_matches("X-").trim_start_matches("x-"));
        let shown = body.as_object().into_iter().flatten().find(|(member, _)| plain(member) == called);
        let told = [
            shown.map(|(_, value)| value),
            list(&flat, "enum").first(),
            flat.get("default"),
            flat.get("example"),
        ];
        let told = told.into_iter().flatten().find(|value| fits(value)).cloned();
        let kind = flat.get("type").and_then(Json::as_str).unwrap_or("string");
        let made = || match kind {
            "array" | "object" => None,
            _ => {
                let sampler = &Sampler::new(seed, seed);
                let subject = Subject { name, of: "", seed: sample::mix(seed, name), now, sampler };
                Some(sample::scalar(kind, &flat, &subject, &fits))
            }
        };
        match told.or_else(made)? {
            Json::String(text) => Some(text),
            value @ (Json::Number(_) | Json::Bool(_)) => Some(value.to_string()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::contract::Schemas;

    #[test]
    fn headers_show_members_of_their_name_and_otherwise_what_their_schema_lends() {
        let headers = json!({
            "X-Total-Count": {"type": "integer"},
            "X-Tier": {"type": "string", "enum": ["free", "paid"]},
            "X-Left": {"type": "integer", "example": 59},
            "X-Wait": {"type": "integer", "minimum": 3, "maximum": 5},
            "X-All": {"type": "array", "items": {"type": "string"}},
        });
        let headers = headers.as_object().into_iter().flatten();
        let contract = Contract {
            schemas: Arc::new(Schemas::default()),
            request: None,
            whole: None,
            kinds: Vec::new(),
            reply: None,
            headers: headers.map(|(name, schema)| (name.clone(), schema.clone())).collect(),
            form: false,
            merge: false,
            inside: Vec::new(),
            needs_body: false,
            refusal: 400,
        };
        let body = json!({"total_count": 7, "items": []});
        let made: Vec<(&str, String)> = contract.headers_of(&body, 1, 0).collect();
        let (wait, others): (Vec<_>, Vec<_>) = made.iter().cloned().partition(|(name, _)| *name == "X-Wait");
        let expected = [("X-Total-Count", "7"), ("X-Tier", "free"), ("X-Left", "59")];
        assert_eq!(others, expected.map(|(name, value)| (name, value.to_owned())));
        assert!(["3", "4", "5"].contains(&&*wait[0].1), "{wait:?}");
        assert_eq!(made, contract.headers_of(&body, 1, 0).collect::<Vec<_>>());
    }
}
