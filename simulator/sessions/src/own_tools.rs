//! Owns the tools that a session offers beside its world's APIs: the conversation tools, and the tool that
//! calls searched APIs.

use diorama_seeds::agent_tools::{self, ASK_USER, CALL_API, CONFIRM};
use diorama_seeds::ending::{self, FINISH};
use serde_json::{Map, Value as Json, json};

use super::live::Live;

/// Returns the name, description and parameters of a tool in OpenAI's function format.
pub fn function_parts(schema: &Json) -> Option<(String, String, Map<String, Json>)> {
    let function = schema.get("function")?;
    let text = |name: &str| function.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let none =
        || Map::from_iter([("type".to_owned(), json!("object")), ("properties".to_owned(), json!({}))]);
    let parameters = function.get("parameters").and_then(Json::as_object).cloned().unwrap_or_else(none);
    Some((text("name"), text("description"), parameters))
}

impl Live {
    /// Returns true if the session has the tool `finish`. An API of the world with that name takes
    /// precedence.
    #[must_use]
    pub fn finishes(&self) -> bool {
        self.task.is_some() && self.world.base.api_named(FINISH).is_none()
    }

    /// Returns true if the task's agent must search for APIs before it can call them.
    #[must_use]
    pub fn searches(&self) -> bool {
        self.task.as_ref().is_some_and(|task| task.visible.is_empty())
    }

    /// Returns true if the session has the tool `ask_user`. An API of the world with that name takes
    /// precedence.
    #[must_use]
    pub fn takes_questions(&self) -> bool {
        self.task.is_some() && self.world.base.api_named(ASK_USER).is_none()
    }

    /// Returns the tools beside the world's APIs: the one that calls searched APIs, and the conversation
    /// tools.
    #[must_use]
    pub fn own_tools(&self) -> Vec<Json> {
        let calls = self.searches() && self.world.base.api_named(CALL_API).is_none();
        let calls = calls.then(agent_tools::call_api);
        let asks = self.takes_questions().then(agent_tools::ask_user);
        let calls = [calls, asks].into_iter().flatten();
        calls.chain(self.ending_tools()).collect()
    }

    /// Returns true if the session has the tool `confirm`, because a policy rule requires consent. An API of
    /// the world with that name takes precedence.
    #[must_use]
    pub fn confirms(&self) -> bool {
        let confirms = self.task.as_ref().is_some_and(|task| task.checks.confirms);
        confirms && self.world.base.api_named(CONFIRM).is_none()
    }

    /// Returns the tools that every agent of the task has beside the world's APIs: `confirm` if a rule
    /// requires consent, and `finish`.
    #[must_use]
    pub fn ending_tools(&self) -> Vec<Json> {
        let confirms = self.confirms().then(agent_tools::confirm).filter(|_| !self.said.is_over());
        [confirms, self.finish_tool()].into_iter().flatten().collect()
    }

    /// Returns the tool that ends the open goal, if a goal is open.
    fn finish_tool(&self) -> Option<Json> {
        let task = self.task.as_ref().filter(|_| self.finishes() && !self.said.is_over())?;
        Some(ending::tool(&task.checks, self.said.progress().goal as usize))
    }
}
