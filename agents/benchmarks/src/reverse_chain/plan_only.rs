//! Planned calls without execution: answers each call with stand-in values.

use diorama_baselines::environment::{Answer, EnvironmentError, Reply};
use diorama_baselines::plan::{Plan, PlanArgument};
use diorama_seeds::task::Call;
use serde_json::{Map, Value as Json, json};

use super::instance::Api;
use crate::environment::{Counterpart, told_all};

/// The first stand-in for integers, which is too large to occur in a request.
const FIRST: u64 = 880_001;

/// Answers calls with stand-ins.
pub struct PlanOnly {
    apis: Vec<Api>,
    made: Vec<Plan>,
    /// Each stand-in, with the call that returned it.
    stands_for: Vec<(Json, usize)>,
}

impl PlanOnly {
    pub(super) const fn new(apis: Vec<Api>) -> Self {
        Self { apis, made: Vec::new(), stands_for: Vec::new() }
    }

    /// Returns the callable APIs.
    pub(super) fn apis(&self) -> &[Api] {
        &self.apis
    }

    /// Returns the calls as nested plans, in order.
    pub(super) fn plans(&self) -> impl Iterator<Item = &Plan> {
        self.made.iter()
    }

    fn filled(&self, value: &Json) -> PlanArgument {
        match self.call_behind(value).and_then(|call| self.made.get(call)) {
            Some(plan) => PlanArgument::Call(plan.clone()),
            None => PlanArgument::Value(value.clone()),
        }
    }

    /// Returns the call behind a value: a stand-in, or several stand-ins of one call in a list or an object.
    fn call_behind(&self, value: &Json) -> Option<usize> {
        let of_all = |mut values: std::vec::IntoIter<&Json>| {
            let first = self.call_behind(values.next()?)?;
            values.all(|value| self.call_behind(value) == Some(first)).then_some(first)
        };
        let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match value {
            Json::Array(items) => of_all(items.iter().collect::<Vec<_>>().into_iter()),
            Json::Object(members) => of_all(members.values().collect::<Vec<_>>().into_iter()),
            single => {
                let known = self.stands_for.iter().find(|(stand_in, _)| text(stand_in) == text(single));
                known.map(|(_, call)| *call)
            }
        }
    }
}

impl Counterpart for PlanOnly {
    fn call(&mut self, call: &Call) -> Result<Reply, EnvironmentError> {
        let Some(api) = self.apis.iter().find(|api| api.name == call.api) else {
            let detail = format!("there is no function {}", call.api);
            return Ok(Reply { status: 404, body: json!({"status": 404, "detail": detail}) });
        };
        let arguments = call.arguments.iter().map(|(name, value)| (Some(name.clone()), self.filled(value)));
        let plan = Plan { api: call.api.clone(), arguments: arguments.collect() };
        let number = self.made.len();
        let mut body = Map::new();
        for (name, described) in &api.output_params {
            let stand_in = match type_named(text(described, "type")) {
                Some("integer" | "number") => json!(FIRST + self.stands_for.len() as u64),
                _ => json!(format!("<{name} {}>", self.stands_for.len() + 1)),
            };
            self.stands_for.push((stand_in.clone(), number));
            body.insert(name.clone(), stand_in);
        }
        self.made.push(plan);
        Ok(Reply { status: 200, body: Json::Object(body) })
    }

    fn say(&mut self, words: &str) -> Answer {
        told_all(words)
    }

    fn reply_schema(&self, api: &str) -> Option<Json> {
        let api = self.apis.iter().find(|known| known.name == api)?;
        let members = api.output_params.iter().map(|(name, described)| (name.clone(), schema(described)));
        Some(json!({"type": "object", "properties": members.collect::<Map<_, _>>()}))
    }
}

/// Returns an API in OpenAI's function format.
pub(super) fn tool(api: &Api) -> Json {
    let members = api.input_params.iter().map(|(name, described)| (name.clone(), schema(described)));
    let required: Vec<&String> = api.input_params.keys().collect();
    json!({"type": "function", "function": {"name": api.name, "description": api.description, "parameters": {
        "type": "object", "properties": members.collect::<Map<_, _>>(), "required": required}}})
}

fn text<'a>(described: &'a Json, key: &str) -> &'a str {
    described.get(key).and_then(Json::as_str).unwrap_or_default()
}

/// Returns the JSON Schema of a benchmark type, such as Date. The benchmark's name of the type becomes the
/// title. A type without a JSON equivalent, such as Coordinates, accepts anything.
fn schema(described: &Json) -> Json {
    let name = text(described, "type");
    let mut schema = json!({"title": name, "description": text(described, "description")});
    match (type_named(name), list_items(name)) {
        (Some(known), _) => schema["type"] = json!(known),
        (None, Some(items)) => {
            schema["type"] = json!("array");
            if let Some(known) = type_named(&items).filter(|_| !items.is_empty()) {
                schema["items"] = json!({"type": known});
            }
        }
        (None, None) => {}
    }
    schema
}

/// Returns the JSON name of a benchmark type that is no list.
fn type_named(name: &str) -> Option<&'static str> {
    Some(match &*name.to_lowercase() {
        "integer" | "int" => "integer",
        "float" | "number" | "decimal" | "double" => "number",
        "boolean" | "bool" => "boolean",
        "object" | "json" | "dictionary" => "object",
        "" | "string" | "text" | "date" | "time" | "datetime" | "email" => "string",
        _ => return None,
    })
}

/// Returns the item type of a list: `float` for `List of Floats`, an empty string for `List`. Returns none if
/// the type is no list.
fn list_items(name: &str) -> Option<String> {
    let lower = name.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_list = |word: &&str| matches!(*word, "list" | "array");
    words.iter().any(is_list).then(|| {
        let items = words.iter().filter(|word| !is_list(word) && **word != "of");
        items.map(|word| word.trim_end_matches('s')).collect::<Vec<_>>().join(" ")
    })
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;

    use super::*;

    #[test]
    fn the_benchmarks_types_are_those_of_json_where_it_has_them() {
        let check = |name: &str, expect: Json| {
            let mut schema = schema(&json!({"type": name}));
            let members = schema.as_object_mut().unwrap();
            members.retain(|member, _| member == "type" || member == "items");
            assert_eq!(schema, expect, "{name}");
        };
        check("Float", json!({"type": "number"}));
        check("Date", json!({"type": "string"}));
        check("Object", json!({"type": "object"}));
        check("List of Floats", json!({"type": "array", "items": {"type": "number"}}));
        check("String Array", json!({"type": "array", "items": {"type": "string"}}));
        check("List<String>", json!({"type": "array", "items": {"type": "string"}}));
        check("List of dishes", json!({"type": "array"}));
        check("List", json!({"type": "array"}));
        check("Tuple (Float, Float)", json!({}));
        check("Coordinates", json!({}));
    }

    #[test]
    fn a_value_made_of_stand_ins_is_the_call_that_gave_them() {
        let outputs = ["latitude", "longitude"].map(|name| (name.to_owned(), json!({"type": "Float"})));
        let api = |name: &str, outputs: IndexMap<String, Json>| Api {
            name: name.to_owned(),
            description: String::new(),
            input_params: IndexMap::new(),
            output_params: outputs,
        };
        let mut counterpart =
            PlanOnly::new(vec![api("Locate", IndexMap::from(outputs)), api("Go", IndexMap::new())]);
        let mut call = |api: &str, arguments: Json| {
            let arguments = arguments.as_object().unwrap().clone();
            counterpart.call(&Call { api: api.to_owned(), arguments }).unwrap().body
        };
        let (here, there) = (call("Locate", json!({})), call("Locate", json!({})));
        let mixed = json!([here["latitude"], there["latitude"]]);
        for to in
            [json!([here["latitude"], here["longitude"]]), here.clone(), json!("880002"), mixed, json!([])]
        {
            call("Go", json!({ "to": to }));
        }
        let made: Vec<String> = counterpart.plans().skip(2).map(ToString::to_string).collect();
        let expected =
            ["Go(to=Locate())", "Go(to=Locate())", "Go(to=Locate())", "Go(to=[880001,880003])", "Go(to=[])"];
        assert_eq!(made, expected);
    }
}
