//! Calls that are planned and not made: each is answered by stand-ins for what it would give.

use diorama_baselines::environment::{Answer, EnvironmentError, Reply};
use diorama_baselines::plan::{Plan, PlanArgument};
use diorama_seeds::task::Call;
use serde_json::{Map, Value as Json, json};

use super::instance::Api;
use crate::environment::{Counterpart, told_all};

/// Stand-ins for whole numbers begin here, so that no request says one.
const FIRST: u64 = 880_001;

/// Answers calls with stand-ins.
pub struct PlanOnly {
    apis: Vec<Api>,
    made: Vec<Plan>,
    /// Each stand-in, with the call that gave it.
    stands_for: Vec<(Json, usize)>,
}

impl PlanOnly {
    pub(super) const fn new(apis: Vec<Api>) -> Self {
        Self { apis, made: Vec::new(), stands_for: Vec::new() }
    }

    /// The calls that were made, as nested plans, in order.
    pub(super) fn plans(&self) -> impl Iterator<Item = &Plan> {
        self.made.iter()
    }

    fn filled(&self, value: &Json) -> PlanArgument {
        // A list of one stand-in is that stand-in.
        let single = match value {
            Json::Array(items) if items.len() == 1 => items.first().unwrap_or(value),
            value => value,
        };
        let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let known = self.stands_for.iter().find(|(stand_in, _)| text(stand_in) == text(single));
        match known.and_then(|(_, call)| self.made.get(*call)) {
            Some(plan) => PlanArgument::Call(plan.clone()),
            None => PlanArgument::Value(value.clone()),
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
            let stand_in = match kind(described) {
                "integer" | "number" => json!(FIRST + self.stands_for.len() as u64),
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

/// An API in OpenAI's function format.
pub(super) fn tool(api: &Api) -> Json {
    let members = api.input_params.iter().map(|(name, described)| (name.clone(), schema(described)));
    let required: Vec<&String> = api.input_params.keys().collect();
    json!({"type": "function", "function": {"name": api.name, "description": api.description, "parameters": {
        "type": "object", "properties": members.collect::<Map<_, _>>(), "required": required}}})
}

fn text<'a>(described: &'a Json, key: &str) -> &'a str {
    described.get(key).and_then(Json::as_str).unwrap_or_default()
}

/// The benchmark has types of its own, such as Date: JSON's names for those that it has, the benchmark's as the title.
fn schema(described: &Json) -> Json {
    json!({"type": kind(described), "title": text(described, "type"), "description": text(described, "description")})
}

fn kind(described: &Json) -> &'static str {
    match &*text(described, "type").to_lowercase() {
        "integer" | "int" => "integer",
        "float" | "number" | "decimal" | "double" => "number",
        "boolean" | "bool" => "boolean",
        _ => "string",
    }
}
