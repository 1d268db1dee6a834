//! RestGPT, whole and without a part, in both forms of its caller.

use super::*;

/// RestGPT with the caller that names tools.
fn by_tools(planning: Planning, parsing: Parsing) -> Method {
    Method::RestGpt(planning, parsing, CallerForm::Tool)
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
    let ran = run(Clinic::new(), script, by_tools(Planning::Planner, Parsing::Program)).await;
    assert_eq!(ran.acted, Ok(()));
    assert_eq!(
        ran.roles(),
        [
            "planner", "selector", "caller", "parser", "caller", "planner", "selector", "caller", "parser",
            "parser", "parser", "parser", "caller", "planner", "ending"
        ]
    );
    // The selector sees names and descriptions. The caller sees only the planned API's document.
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
async fn restgpt_without_its_parser_has_a_model_read_the_reply() {
    let script = texts(&[
        "API calling 1: FindPatient to get the id",
        "Operation: FindPatient\nInput: {\"arguments\": {\"name\": \"Ana Reis\"}, \"output_instructions\": \"Which id?\"}",
        "Ana Reis has the id 7.",
        "Execution Result: the id is 7",
        "No API call needed. Final Answer: the id is 7",
        r#"{"outcome": "done"}"#,
    ]);
    let ran = run(Clinic::new(), script, by_tools(Planning::None, Parsing::Model)).await;
    assert_eq!(ran.roles(), ["selector", "caller", "parser", "caller", "selector", "ending"]);
    // The model gets the JSON and the question, and writes no program. The caller sees the model's reading.
    let expect = "API: FindPatient\nAPI description: Finds a patient by name.\n\
                  Arguments of this call: {\"name\": \"Ana Reis\"}\n\n\
                  The response, long lists cut:\n\
                  {\"patients\":[{\"patient_id\":7,\"name\":\"Ana Reis\"}]}\n\n\
                  The response is about: \n\nQuestion: Which id?\n\nAnswer:";
    assert_eq!(ran.sent[2].messages.last(), Some(&Message::user(expect)));
    assert!(!ran.text(2).contains("jq"), "{}", ran.text(2));
    assert!(ran.text(3).contains("Response: Ana Reis has the id 7.") && !ran.text(3).contains("patient_id"));
    assert_eq!(ran.ending().unwrap().message, "the id is 7");
}

#[tokio::test]
async fn the_caller_writes_a_request_by_the_text_of_the_service() {
    let script = texts(&[
        "Plan step 1: find the id of the patient Ana Reis",
        "API calling 1: GET /patients to get the id of \"Ana Reis\"",
        "Thought: by name\nOperation: GET\nInput: {\"url\": \"https://clinic.example/patients\", \"params\": {\"name\": \"Ana Reis\"}, \"description\": \"patients\", \"output_instructions\": \"Which id?\"}",
        ".patients[0].patient_id",
        "Execution Result: Called GET /patients. Ana Reis has the id 7.",
        "Continue. Get what Ana Reis (7) owes",
        "API calling 2: GET /patients/7/balance to get what the patient 7 owes",
        "Operation: GET\nInput: {\"url\": \"/patients/{patient_id}/balance\"}",
        "Operation: GET\nInput: {\"url\": \"/patients/7/balance\", \"output_instructions\": \"How much?\"}",
        ".balance",
        "Execution Result: Called GET /patients/7/balance. Ana Reis owes 12.5.",
        "Final Answer: Ana Reis owes 12.50.",
        DONE,
    ]);
    let method = Method::RestGpt(Planning::Planner, Parsing::Program, CallerForm::Request);
    let ran = run(Clinic::rest(), script, method).await;
    assert_eq!(
        ran.clinic.calls(),
        ["FindPatient({\"name\":\"Ana Reis\"}) 200", "GetBalance({\"patient_id\":7}) 200"]
    );
    // The selector sees methods, paths and descriptions. The caller sees only the text of the planned
    // operation.
    assert!(
        ran.text(1).contains("- GET /patients/{patient_id}/balance: Gets")
            && !ran.text(1).contains("FindPatient:")
    );
    assert!(
        ran.text(2).contains("https://clinic.example") && ran.text(2).contains("\\\"in\\\":\\\"query\\\"")
    );
    assert!(!ran.text(2).contains("/balance"), "{}", ran.text(2));
    assert!(ran.text(3).contains("API: GET /patients"), "{}", ran.text(3));
    assert!(
        ran.text(8).contains("expected a `url` with values in place of names in braces"),
        "{}",
        ran.text(8)
    );
    assert_eq!(ran.ending().unwrap().facts["balance"], 12.5);
    // Without an OpenAPI document, plans name tools.
    let script = texts(&["No API call needed. Final Answer: none", r#"{"outcome": "done"}"#]);
    let method = Method::RestGpt(Planning::None, Parsing::Program, CallerForm::Request);
    let ran = run(Clinic::new(), script, method).await;
    assert!(ran.text(0).contains("- GetBalance: Gets") && ran.ending().is_some());
}

#[tokio::test]
async fn a_selector_that_names_no_api_twice_has_given_up() {
    let script = texts(&["find her", "call the API", "any of them"]);
    let ran = run(Clinic::new(), script, by_tools(Planning::Planner, Parsing::Program)).await;
    let notes = ran.notes();
    assert!(notes[0].contains("expected the name of one of the APIs (FindPatient, GetBalance)"), "{notes:?}");
    assert!(notes[2].starts_with("gave up: selector"), "{notes:?}");
}

#[tokio::test]
async fn errors_show_what_is_made_up_and_the_first_step_with_words_is_taken() {
    let script = texts(&[
        "API response: made up",
        "Plan step 1:\nPlan step 1: find the id of the patient Ana Reis\nPlan step 2: look up her debt",
        "API response: nothing",
        "any of them",
    ]);
    let ran = run(Clinic::new(), script, by_tools(Planning::Planner, Parsing::Program)).await;
    let notes = ran.notes();
    assert!(notes[0].starts_with("malformed planner: found `API response: made up`"), "{notes:?}");
    assert!(notes[1].starts_with("malformed selector: found `API response: nothing`"), "{notes:?}");
    let selector = ran.text(2);
    assert!(selector.contains("User query: find the id of the patient Ana Reis"), "{selector}");
    assert!(!selector.contains("her debt"), "{selector}");
}

#[tokio::test]
async fn the_usual_chat_forms_are_read() {
    let script = texts(&[
        "**Thought:** I need the id.\n**Plan step 1:** find the id of the patient Ana Reis",
        "**API calling 1:** FindPatient to get the id",
        "**Thought:** by name\n**Operation:** FindPatient\n**Input:** {\"arguments\": {\"name\": \"Ana Reis\"}}",
        ".patients[0].patient_id",
        "**Execution Result:** Ana Reis has the id 7.",
        "Thought: now the balance\nContinue. Get what Ana Reis (7) owes",
        "API calling 2: GetBalance of 7",
        "Operation: `GetBalance`\nInput: {\"arguments\": {\"patient_id\": 7}}",
        ".balance",
        "Execution Result: she owes 12.5",
        "**Ask:** Is that all?",
        "Continue the treatment of Ana Reis (7)",
        "**No API call needed.** Nothing to do.",
        "**Final Answer:** Ana Reis owes 12.50.",
        DONE,
    ]);
    let ran = run(Clinic::new(), script, by_tools(Planning::Planner, Parsing::Program)).await;
    assert_eq!(ran.acted, Ok(()));
    assert_eq!(ran.notes(), Vec::<String>::new());
    assert_eq!(ran.clinic.calls().len(), 2);
    assert!(ran.text(1).contains("User query: find the id of the patient Ana Reis"), "{}", ran.text(1));
    assert!(ran.text(6).contains("Instruction: Continue. Get what Ana Reis (7) owes"));
    assert!(
        ran.text(12).contains("User query: Continue the treatment") && ran.text(12).contains("Is that all?")
    );
    assert!(
        ran.text(14).contains("\nAna Reis owes 12.50.") || ran.text(14).contains("\\nAna Reis owes 12.50.")
    );
}

#[tokio::test]
async fn without_a_planner_the_selector_is_shown_the_request_and_no_instruction() {
    // A program that selects nothing has found nothing, with or without a list.
    for program in ["[.patients[] | select(.name == \"Bo\")]", ".patients[] | select(.name == \"Bo\")"] {
        let script = texts(&[
            "API calling 1: FindPatient to get the id",
            "Operation: FindPatient\nInput: {\"arguments\": {\"name\": \"Ana Reis\"}}",
            program,
            "Execution Result: there is no Bo",
            "No API call needed. There is no Bo.",
            DONE,
        ]);
        let ran = run(Clinic::new(), script, by_tools(Planning::None, Parsing::Program)).await;
        assert_eq!(ran.notes(), Vec::<String>::new());
        assert!(ran.text(0).contains("It is 2026-03-02") && ran.text(0).contains("What does Ana Reis owe"));
        assert!(!ran.text(4).contains("Instruction") && !ran.text(0).contains("step of a plan"));
        assert!(ran.text(3).contains("Response: nothing found"), "{program}");
    }
}
