//! Each agent's protocol, turn by turn: what it sends, what it does with what comes back, and what it does when that cannot be
//! read. The model is scripted, and so is the world.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may end this way"
)]

use std::collections::VecDeque;
use std::sync::Arc;

use diorama_baselines::environment::{
    Answer, Budget, ConversationEntry, Environment, EnvironmentError, EnvironmentFuture, Finish, Reply, View,
};
use diorama_baselines::role_model::RoleModel;
use diorama_baselines::trace::{Note, Recording, Step, act_again};
use diorama_baselines::{Agent, Baseline, Completion, Method, Parsing, Planning};
use diorama_llm::{
    ChatReply, ChatRequest, FinishReason, Message, RequestOrigin, Sampling, ScriptedModel, ToolCall,
};
use diorama_seeds::task::{Call, Outcome};
use serde_json::{Value as Json, json};

/// A world of two calls: a patient by name, and the patient's balance.
struct Clinic {
    view: View,
    budget: Budget,
    answers: VecDeque<Answer>,
}

fn function(name: &str, description: &str, argument: (&str, &str)) -> Json {
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": {
        "type": "object", "properties": {argument.0: {"type": argument.1}}, "required": [argument.0]}}})
}

fn finish_tool() -> Json {
    json!({"type": "function", "function": {"name": "finish", "description": "Ends the request.", "parameters": {
        "type": "object", "properties": {"outcome": {"type": "string"}, "facts": {"type": "object", "properties": {
            "balance": {"type": "number", "description": "balance of the patient"}}}}}}})
}

impl Clinic {
    fn new() -> Self {
        let tools = vec![
            function("FindPatient", "Finds a patient by name.", ("name", "string")),
            function("GetBalance", "Gets what a patient owes.", ("patient_id", "integer")),
            finish_tool(),
        ];
        let view = View {
            system: "You work at a clinic. It is 2026-03-02.".to_owned(),
            conversation: vec![ConversationEntry::User("What does Ana Reis owe as balance?".to_owned())],
            tools,
            over: false,
        };
        Self { view, budget: Budget::USUAL, answers: VecDeque::new() }
    }

    /// The same, whose tools have to be searched for.
    fn searched() -> Self {
        let mut clinic = Self::new();
        clinic.view.tools =
            vec![function("ToolSearcher", "Finds tools.", ("keywords", "string")), finish_tool()];
        clinic
    }

    fn calls(&self) -> Vec<String> {
        let call = |said: &ConversationEntry| match said {
            ConversationEntry::Call(call, reply) => {
                Some(format!("{}({}) {}", call.api, Json::Object(call.arguments.clone()), reply.status))
            }
            _ => None,
        };
        self.view.conversation.iter().filter_map(call).collect()
    }
}

impl Environment for Clinic {
    fn view(&self) -> &View {
        &self.view
    }

    fn budget(&self) -> Budget {
        self.budget
    }

    fn call<'a>(&'a mut self, call: &'a Call) -> EnvironmentFuture<'a, Reply> {
        let taken = self.budget.take(true, 0);
        let found = Self::new().view.tools;
        let known = self.view.tools.iter().any(|tool| tool["function"]["name"] == *call.api);
        let (status, body) = match (&*call.api, known) {
            ("FindPatient", true) if call.arguments.get("name") == Some(&json!("Ana Reis")) => {
                (200, json!({"patients": [{"patient_id": 7, "name": "Ana Reis"}]}))
            }
            ("GetBalance", true) if call.arguments.get("patient_id") == Some(&json!(7)) => {
                (200, json!({"patient_id": 7, "balance": 12.5}))
            }
            ("ToolSearcher", _) => (200, json!({"tools": [found[0]["function"], found[1]["function"]]})),
            _ => (404, json!({"status": 404, "detail": "there is none"})),
        };
        let reply = Reply { status, body };
        self.view.conversation.push(ConversationEntry::Call(call.clone(), reply.clone()));
        if call.api == "ToolSearcher" {
            self.view.add_tools(&reply.body);
        }
        Box::pin(std::future::ready(taken.map(|()| reply)))
    }

    fn say<'a>(&'a mut self, words: &'a str) -> EnvironmentFuture<'a, Answer> {
        let taken = self.budget.take(false, 0);
        let answer = self
            .answers
            .pop_front()
            .unwrap_or(Answer { words: Some("Please go ahead.".into()), over: false });
        self.view.conversation.push(ConversationEntry::Agent(words.to_owned()));
        self.view.conversation.extend(answer.words.clone().map(ConversationEntry::User));
        self.view.over = answer.over;
        Box::pin(std::future::ready(taken.map(|()| answer)))
    }

    fn finish<'a>(&'a mut self, end: &'a Finish) -> EnvironmentFuture<'a, Answer> {
        if let Some(name) = end.facts.keys().find(|name| *name != "balance") {
            let detail = format!("facts: found `{name}`, expected one of `balance`");
            return Box::pin(std::future::ready(Err(EnvironmentError::Refused { status: 422, detail })));
        }
        self.view.over = true;
        Box::pin(std::future::ready(Ok(Answer { words: None, over: true })))
    }

    fn reply_schema(&self, api: &str) -> Option<Json> {
        let members = match api {
            "FindPatient" => json!({"patient_id": {"type": "integer"}, "name": {"type": "string"}}),
            _ => json!({"balance": {"type": "number"}}),
        };
        Some(json!({"type": "object", "properties": members}))
    }

    fn note(&mut self, note: Note) -> Result<(), EnvironmentError> {
        self.budget.note(&note, 0)
    }
}

/// The result of an episode.
struct Ran {
    clinic: Clinic,
    steps: Vec<Step>,
    sent: Vec<ChatRequest>,
    acted: Result<(), EnvironmentError>,
}

impl Ran {
    /// Notes in short.
    fn notes(&self) -> Vec<String> {
        let note = |step: &Step| match step {
            Step::Noted(Note::Malformed { role, what }) => Some(format!("malformed {role}: {what}")),
            Step::Noted(Note::FellBack { role, to, because }) => Some(format!("{role} to {to}: {because}")),
            Step::Noted(Note::GaveUp { because }) => Some(format!("gave up: {because}")),
            _ => None,
        };
        self.steps.iter().filter_map(note).collect()
    }

    fn ending(&self) -> Option<&Finish> {
        self.steps.iter().find_map(|step| match step {
            Step::Finished { end, .. } => Some(end),
            _ => None,
        })
    }

    fn roles(&self) -> Vec<&str> {
        self.sent.iter().map(|request| &*request.origin.step).collect()
    }

    /// All text of a request.
    fn text(&self, at: usize) -> String {
        serde_json::to_string(&self.sent[at].messages).unwrap()
    }
}

async fn run(clinic: Clinic, replies: Vec<ChatReply>, method: Method) -> Ran {
    let model = Arc::new(ScriptedModel::replies(replies));
    let origin = RequestOrigin { step: String::new(), row: 3, attempt: 1 };
    let sampling = Sampling { temperature: Some(0.0), ..Sampling::up_to(256) };
    let agent = Baseline::new(RoleModel::new(model.clone(), sampling, origin), method);
    let mut clinic = clinic;
    let mut recording = Recording::new(&mut clinic);
    let acted = agent.act(&mut recording).await;
    let steps = recording.into_steps();
    Ran { clinic, steps, sent: model.sent(), acted }
}

fn texts(replies: &[&str]) -> Vec<ChatReply> {
    replies.iter().map(|text| ChatReply::text(*text)).collect()
}

fn tool(name: &str, arguments: &str) -> ChatReply {
    let call = ToolCall { id: format!("id-{name}"), name: name.to_owned(), arguments: arguments.to_owned() };
    ChatReply { tool_calls: vec![call], finish_reason: FinishReason::ToolCalls, ..ChatReply::text("") }
}

const DONE: &str = r#"{"outcome": "done", "facts": {"balance": 12.5}, "message": "12.50."}"#;

#[tokio::test]
async fn function_calling_sends_the_tools_and_what_came_of_its_calls() {
    let script = vec![
        tool("FindPatient", r#"{"name": "Ana Reis"}"#),
        tool("GetBalance", r#"{"patient_id": 7}"#),
        tool("finish", DONE),
    ];
    let ran = run(Clinic::new(), script, Method::FunctionCalling).await;
    assert_eq!(ran.acted, Ok(()));
    assert_eq!(
        ran.clinic.calls(),
        ["FindPatient({\"name\":\"Ana Reis\"}) 200", "GetBalance({\"patient_id\":7}) 200"]
    );
    assert_eq!(ran.ending().unwrap().facts["balance"], 12.5);
    let names: Vec<&str> = ran.sent[0].tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["FindPatient", "GetBalance", "finish"]);
    assert_eq!(ran.sent[0].sampling.temperature, Some(0.0));
    assert_eq!((ran.sent[0].origin.row, ran.sent[0].origin.attempt), (3, 1));
    assert_eq!(
        ran.sent[0].messages,
        [
            Message::system("You work at a clinic. It is 2026-03-02."),
            Message::user("What does Ana Reis owe as balance?")
        ]
    );
    assert_eq!(
        ran.sent[1].messages[3],
        Message::tool("id-FindPatient", r#"{"patients":[{"patient_id":7,"name":"Ana Reis"}]}"#)
    );
    // Messages that the request before had as well are not written again.
    let Step::Noted(Note::Asked(asked)) = &ran.steps[2] else { panic!("{:?}", ran.steps[2]) };
    assert_eq!((asked.same, asked.messages.len()), (2, 2));
}

#[tokio::test]
async fn what_a_search_finds_is_in_the_next_requests_tools() {
    let script = vec![tool("ToolSearcher", r#"{"keywords": "balance"}"#), tool("finish", DONE)];
    let ran = run(Clinic::searched(), script, Method::FunctionCalling).await;
    let names = |at: usize| ran.sent[at].tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>();
    assert_eq!(names(0), ["ToolSearcher", "finish"]);
    assert_eq!(names(1), ["ToolSearcher", "finish", "FindPatient", "GetBalance"]);
    let found = ran.steps.iter().find_map(|step| match step {
        Step::Called { found, .. } => Some(found.clone()),
        _ => None,
    });
    assert_eq!(found.unwrap(), ["FindPatient", "GetBalance"]);
}

#[tokio::test]
async fn malformed_arguments_are_told_and_may_be_mended_once() {
    let mended = vec![tool("FindPatient", "{\"name\": \"Ana"), tool("finish", DONE)];
    let ran = run(Clinic::new(), mended, Method::FunctionCalling).await;
    assert!(ran.text(1).contains("expected arguments that are a JSON object"), "{}", ran.text(1));
    assert!(ran.ending().is_some());
    let twice = vec![tool("FindPatient", "no"), tool("FindPatient", "[]")];
    let ran = run(Clinic::new(), twice, Method::FunctionCalling).await;
    assert_eq!(ran.sent.len(), 2);
    assert!(ran.notes()[2].starts_with("gave up: function-calling: found `[]`"), "{:?}", ran.notes());
}

#[tokio::test]
async fn an_ending_that_is_refused_is_told() {
    let script = vec![tool("finish", r#"{"outcome": "done", "facts": {"debt": 1}}"#), tool("finish", DONE)];
    let ran = run(Clinic::new(), script, Method::FunctionCalling).await;
    assert!(ran.text(1).contains("expected one of `balance`"));
    assert_eq!(ran.ending().unwrap().facts["balance"], 12.5);
}

#[tokio::test]
async fn a_reply_cut_short_is_asked_for_again_and_a_refusal_is_said() {
    let cut = ChatReply { finish_reason: FinishReason::Length, ..ChatReply::text("I will now") };
    let declined = ChatReply { refusal: Some("I won't.".to_owned()), ..ChatReply::text("") };
    let ran = run(Clinic::new(), vec![cut, declined, tool("finish", DONE)], Method::FunctionCalling).await;
    assert!(ran.text(1).contains("cut short"));
    assert!(ran.steps.iter().any(|step| matches!(step, Step::Said { words, .. } if words == "I won't.")));
    assert!(ran.text(2).contains("Please go ahead."));
}

#[tokio::test]
async fn the_budget_of_tokens_ends_an_episode() {
    let mut clinic = Clinic::new();
    clinic.budget.tokens = 10;
    let ran = run(clinic, vec![tool("finish", DONE)], Method::FunctionCalling).await;
    assert!(matches!(ran.acted, Err(EnvironmentError::Spent { .. })), "{:?}", ran.acted);
}

#[tokio::test]
async fn a_recorded_episode_can_be_acted_again() {
    let script = vec![tool("FindPatient", r#"{"name": "Ana Reis"}"#), tool("finish", DONE)];
    let ran = run(Clinic::new(), script, Method::FunctionCalling).await;
    let stored = serde_json::to_string(&ran.steps).unwrap();
    let steps: Vec<Step> = serde_json::from_str(&stored).unwrap();
    assert_eq!(steps, ran.steps);
    let mut again = Clinic::new();
    act_again(&steps, &mut again).await.unwrap();
    assert_eq!(again.calls(), ran.clinic.calls());
}

#[tokio::test]
async fn react_acts_on_text_and_reads_no_observation_that_the_model_makes_up() {
    let script = texts(&[
        "Thought: the id\nAction: FindPatient\nAction Input: {\"name\": \"Ana Reis\"}\nObservation: 200 made up",
        "I think it is 12",
        "Thought: known\nAction: finish\nAction Input: {\"outcome\": \"done\", \"facts\": {\"balance\": 12.5}}",
    ]);
    let ran = run(Clinic::new(), script, Method::ReAct).await;
    assert_eq!(ran.clinic.calls(), ["FindPatient({\"name\":\"Ana Reis\"}) 200"]);
    assert!(ran.text(0).contains("GetBalance") && ran.text(0).contains("finish"));
    assert!(!ran.text(1).contains("made up"));
    assert!(ran.text(1).contains("Observation: 200 {"));
    assert!(ran.text(2).contains("expected `Action:` and `Action Input:`, or `Final Answer:`"));
    assert_eq!(ran.ending().unwrap().outcome, Outcome::Done);
}

#[tokio::test]
async fn restgpt_plans_selects_calls_and_parses() {
    let script = texts(&[
        "Plan step 1: find the id of the patient Ana Reis\nAPI response: made up",
        "API calling 1: FindPatient to get the id of \"Ana Reis\"",
        "Thought: by name\nOperation: FindPatient\nInput: {\"arguments\": {\"name\": \"Ana Reis\"}, \"description\": \"patients\", \"output_instructions\": \"What is the id?\"}",
        "```jq\n.patients[] | \"\\(.name) is \\(.patient_id)\"\n```",
        "Thought: done\nExecution Result: Called FindPatient. Ana Reis has the id 7.",
        "Continue. Get what Ana Reis (7) owes",
        "API calling 2: GetBalance to get what the patient 7 owes",
        "Operation: GetBalance\nInput: {\"arguments\": {\"patient_id\": 7}, \"description\": \"balance\", \"output_instructions\": \"How much?\"}",
        ".amount",
        ".[",
        ".amount",
        "The balance is 12.5.",
        "Execution Result: Called GetBalance. Ana Reis owes 12.5.",
        "Thought: known\nFinal Answer: Ana Reis owes 12.50.",
        DONE,
    ]);
    let ran = run(Clinic::new(), script, Method::RestGpt(Planning::Planner, Parsing::Parser)).await;
    assert_eq!(ran.acted, Ok(()));
    assert_eq!(
        ran.roles(),
        [
            "planner", "selector", "caller", "parser", "caller", "planner", "selector", "caller", "parser",
            "parser", "parser", "parser", "caller", "planner", "ending"
        ]
    );
    // The selector sees names and descriptions, the caller only the planned API's document.
    assert!(ran.text(1).contains("FindPatient") && ran.text(1).contains("GetBalance"));
    assert!(!ran.text(1).contains("patient_id"));
    assert!(ran.text(2).contains("properties") && !ran.text(2).contains("GetBalance"));
    assert!(!ran.text(1).contains("made up"));
    // The parser sees the schema of the reply, an example, and the caller's words.
    for part in ["patient_id", "Ana Reis", "What is the id?", "patients"] {
        assert!(ran.text(3).contains(part), "{part}");
    }
    assert!(ran.text(4).contains("Response: Ana Reis is 7"));
    assert!(ran.text(6).contains("Continue. Get what Ana Reis (7) owes"));
    let notes = ran.notes();
    assert_eq!(notes[0], "parser to jq from a snippet: the program puts nothing out");
    assert!(notes[1].starts_with("malformed parser: found `.[`"), "{notes:?}");
    assert_eq!(notes[2], "parser to reading the reply: the program puts nothing out");
    assert_eq!(ran.ending().unwrap().facts["balance"], 12.5);
}

#[tokio::test]
async fn restgpt_without_its_parser_shows_the_caller_the_reply() {
    let script = texts(&[
        "API calling 1: FindPatient to get the id",
        "Operation: FindPatient\nInput: {\"arguments\": {\"name\": \"Ana Reis\"}}",
        "Execution Result: the id is 7",
        "No API call needed. Final Answer: the id is 7",
        r#"{"outcome": "done"}"#,
    ]);
    let ran = run(Clinic::new(), script, Method::RestGpt(Planning::None, Parsing::None)).await;
    assert_eq!(ran.roles(), ["selector", "caller", "caller", "selector", "ending"]);
    assert!(ran.text(2).contains("status 200: {"));
    assert_eq!(ran.ending().unwrap().message, "the id is 7");
}

#[tokio::test]
async fn a_selector_that_names_no_api_twice_has_given_up() {
    let script = texts(&["find her", "call the API", "any of them"]);
    let ran = run(Clinic::new(), script, Method::RestGpt(Planning::Planner, Parsing::Parser)).await;
    let notes = ran.notes();
    assert!(notes[0].contains("expected the name of one of the APIs (FindPatient, GetBalance)"), "{notes:?}");
    assert!(notes[2].starts_with("gave up: selector"), "{notes:?}");
}

#[tokio::test]
async fn reverse_chain_goes_from_the_last_call_backwards() {
    let script = texts(&[
        r#"{"api": "GetBalance"}"#,
        r#"{"patient_id": {"api": "FindPatient"}}"#,
        r#"{"name": {"value": "Ana Reis"}}"#,
        DONE,
    ]);
    let ran = run(Clinic::new(), script, Method::ReverseChain(Completion::AllAtOnce)).await;
    assert_eq!(ran.acted, Ok(()));
    assert_eq!(
        ran.clinic.calls(),
        ["FindPatient({\"name\":\"Ana Reis\"}) 200", "GetBalance({\"patient_id\":7}) 200"]
    );
    assert_eq!(ran.roles(), ["select", "complete", "complete", "ending"]);
    assert_eq!(ran.steps[1], Step::Noted(Note::FinalApi { api: "GetBalance".to_owned() }));
    // A patient's id is a whole number, which the reply of FindPatient holds; a name is none that GetBalance gives.
    assert!(ran.text(1).contains("- FindPatient: Finds"));
    assert!(!ran.text(2).contains("- GetBalance: Gets"));
    assert!(ran.text(3).contains("balance"));
}

#[tokio::test]
async fn the_variants_of_reverse_chain_complete_in_their_own_ways() {
    // One by one: each argument is asked for by itself. In three steps: the values first, without sight of the APIs.
    let mut clinic = Clinic::new();
    clinic.view.tools[1] = json!({"type": "function", "function": {"name": "GetBalance", "description": "Gets what a patient owes.",
        "parameters": {"type": "object", "properties": {"patient_id": {"type": "integer"}, "year": {"type": "string"}},
        "required": ["patient_id"]}}});
    let script = texts(&[
        r#"{"api": "GetBalance"}"#,
        r#"{"patient_id": {"api": "FindPatient"}}"#,
        r#"{"year": null}"#,
        r#"{"name": {"value": "Ana Reis"}}"#,
        DONE,
    ]);
    let ran = run(clinic, script, Method::ReverseChain(Completion::OneByOne)).await;
    assert_eq!(ran.acted, Ok(()));
    assert_eq!(ran.roles(), ["select", "complete", "complete", "complete", "ending"]);
    assert!(ran.text(1).contains("patient_id") && !ran.text(1).contains("year"));
    assert!(ran.text(2).contains("year") && !ran.text(2).contains("patient_id"));
    let calls = ["FindPatient({\"name\":\"Ana Reis\"}) 200", "GetBalance({\"patient_id\":7}) 200"];
    assert_eq!(ran.clinic.calls(), calls);

    let script = texts(&[
        r#"{"api": "GetBalance"}"#,
        r#"{"patient_id": null}"#,
        r#"{"api": "FindPatient"}"#,
        r#"{"name": "Ana Reis"}"#,
        DONE,
    ]);
    let ran = run(Clinic::new(), script, Method::ReverseChain(Completion::ThreeStep)).await;
    assert_eq!(ran.roles(), ["select", "extract", "select", "extract", "ending"]);
    assert!(!ran.text(1).contains("FindPatient"), "values are read without sight of the APIs");
    assert!(ran.text(2).contains("the argument patient_id of GetBalance"));
    assert_eq!(ran.clinic.calls(), calls);
}

#[tokio::test]
async fn the_baselines_of_reverse_chain_write_a_plan_that_is_carried_out() {
    let prompted = |has_example, has_steps| Method::Prompted { has_example, has_steps };
    let check = async |method: Method, replies: &[&str], roles: &[&str]| {
        let ran = run(Clinic::new(), texts(replies), method).await;
        assert_eq!(ran.roles(), roles);
        ran
    };
    let calls = ["FindPatient({\"name\":\"Ana Reis\"}) 200"];
    let plan = "FindPatient(name='Ana Reis')";
    let ran = check(prompted(false, false), &[plan, DONE], &["plan", "ending"]).await;
    assert_eq!(ran.clinic.calls(), calls);
    assert!(ran.text(0).contains("FindPatient(name)") && ran.text(0).contains("nothing else"));
    assert!(ran.text(1).contains("Ana Reis"), "the ending is told what was found out");
    let thought = "I need the patient first.\nFindPatient(name='Ana Reis')";
    let ran = check(prompted(false, true), &[thought, DONE], &["plan", "ending"]).await;
    assert!(ran.text(0).contains("step by step"));
    // Malformed, cut short, and a refusal: one more turn, then it has given up.
    let ran = check(prompted(true, false), &["I can't.", plan, DONE], &["plan", "plan", "ending"]).await;
    assert!(ran.notes()[0].starts_with("malformed plan"), "{:?}", ran.notes());
    assert!(ran.text(0).contains("RentBoat") && !ran.text(0).contains("It needs boat_id"));
    let cut = ChatReply { finish_reason: FinishReason::Length, ..ChatReply::text("FindPatient(name='Ana") };
    let refused = ChatReply { refusal: Some("No.".to_owned()), ..ChatReply::text("") };
    let ran = run(Clinic::new(), vec![cut, refused], prompted(true, true)).await;
    assert!(ran.text(0).contains("It needs boat_id"), "the example thinks first");
    assert!(
        ran.notes()[0].contains("cut short") && ran.notes()[2].starts_with("gave up"),
        "{:?}",
        ran.notes()
    );
    assert!(ran.clinic.calls().is_empty());
}

#[tokio::test]
async fn reverse_chain_asks_the_user_for_what_nothing_gives() {
    let mut clinic = Clinic::new();
    clinic.answers.push_back(Answer { words: Some("Ana Reis.".to_owned()), over: false });
    let script = texts(&[
        r#"{"api": "FindPatient"}"#,
        r#"{"name": {"ask": "Under which name?"}}"#,
        r#"{"name": {"value": "Ana Reis"}}"#,
        r#"{"outcome": "done"}"#,
    ]);
    let ran = run(clinic, script, Method::ReverseChain(Completion::AllAtOnce)).await;
    assert_eq!(ran.clinic.calls(), ["FindPatient({\"name\":\"Ana Reis\"}) 200"]);
    assert!(ran.text(2).contains("Under which name?") && ran.text(2).contains("Ana Reis."));
}

#[tokio::test]
async fn the_baselines_plan_in_their_own_ways() {
    let executed = [
        "API calling 1: FindPatient to get the id",
        "Operation: FindPatient\nInput: {\"arguments\": {\"name\": \"Ana Reis\"}}",
        ".patients[0].patient_id",
        "Execution Result: the id is 7",
    ];
    let check = async |method: Method, before: &[&str], after: &[&str], roles: &[&str]| {
        let script = texts(&[before, &executed, after].concat());
        let ran = run(Clinic::new(), script, method).await;
        assert_eq!(ran.acted, Ok(()));
        let asked: Vec<&str> = ran.roles().into_iter().filter(|role| role.contains('/')).collect();
        assert_eq!(asked, roles);
        assert!(ran.ending().is_some(), "{:?}", ran.notes());
    };
    check(
        Method::Offline,
        &["1. find the patient"],
        &["It is 7.", DONE],
        &["offline/planner", "offline/answer"],
    )
    .await;
    check(
        Method::Deps,
        &["1. find the patient\n2. get the balance"],
        &["Describe: the id is 7\nFinal Answer: It is 7.", DONE],
        &["deps/planner", "deps/replan"],
    )
    .await;
    check(
        Method::Reflexion,
        &["1. find the patient"],
        &["Final Answer: It is 7.", "Success", DONE],
        &["deps/planner", "deps/replan", "reflexion/judge"],
    )
    .await;
}
