//! Reverse Chain, its variants and the paper's prompted baselines.

use super::*;

const PICKS: Execution = Execution::CallsAndPicks;

#[tokio::test]
async fn reverse_chain_goes_from_the_last_call_backwards() {
    let script = texts(&[
        r#"{"api": "GetBalance"}"#,
        r#"{"patient_id": {"api": "FindPatient"}}"#,
        r#"{"name": {"value": "Ana Reis"}}"#,
        DONE,
    ]);
    let ran = run(Clinic::new(), script, Method::ReverseChain(Completion::AllAtOnce, PICKS)).await;
    assert_eq!(ran.acted, Ok(()));
    assert_eq!(
        ran.clinic.calls(),
        ["FindPatient({\"name\":\"Ana Reis\"}) 200", "GetBalance({\"patient_id\":7}) 200"]
    );
    assert_eq!(ran.roles(), ["select", "complete", "complete", "ending"]);
    let planned = ran.steps.iter().find_map(|step| match step {
        Step::Noted(Note::Planned { plan }) => Some(plan.to_string()),
        _ => None,
    });
    assert_eq!(planned.as_deref(), Some("GetBalance(patient_id=FindPatient(name='Ana Reis'))"));
    // A patient's id is a whole number, which the reply of FindPatient holds; a name is none that GetBalance gives.
    assert!(ran.text(0).contains("- FindPatient(name) -> patient_id, name: Finds"), "{}", ran.text(0));
    assert!(
        ran.text(1).contains("- FindPatient(name) -> ") && ran.text(1).contains("- patient_id: FindPatient")
    );
    assert!(!ran.text(2).contains("- GetBalance("));
    assert!(ran.text(3).contains("balance"));
}

#[tokio::test]
async fn the_variants_of_reverse_chain_complete_in_their_own_ways() {
    // One by one: each argument is asked for by itself. In three steps: the values first, without sight of the APIs.
    let mut clinic = Clinic::new();
    clinic.view.tools[1] = json!({"type": "function", "function": {"name": "GetBalance", "description": "Gets what a patient owes.",
        "parameters": {"type": "object", "properties": {"patient_id": {"type": "integer"}, "year": {"type": "string"}},
        "required": ["patient_id", "year"]}}});
    let script = texts(&[
        r#"{"api": "GetBalance"}"#,
        r#"{"patient_id": {"api": "FindPatient"}}"#,
        r#"{"year": {"value": "2026"}}"#,
        r#"{"name": {"value": "Ana Reis"}}"#,
        DONE,
    ]);
    let ran = run(clinic, script, Method::ReverseChain(Completion::OneByOne, PICKS)).await;
    assert_eq!(ran.acted, Ok(()));
    assert_eq!(ran.roles(), ["select", "complete", "complete", "complete", "ending"]);
    assert!(ran.text(1).contains("patient_id") && !ran.text(1).contains("year"));
    assert!(ran.text(2).contains("- year: ") && !ran.text(2).contains("- patient_id: "));
    let calls = ["FindPatient({\"name\":\"Ana Reis\"}) 200", "GetBalance({\"patient_id\":7}) 200"];
    assert_eq!(ran.clinic.calls(), [calls[0], "GetBalance({\"patient_id\":7,\"year\":\"2026\"}) 200"]);

    let script = texts(&[
        r#"{"api": "GetBalance"}"#,
        r#"{"patient_id": null}"#,
        r#"{"api": "FindPatient"}"#,
        r#"{"name": "Ana Reis"}"#,
        DONE,
    ]);
    let ran = run(Clinic::new(), script, Method::ReverseChain(Completion::ThreeStep, PICKS)).await;
    assert_eq!(ran.roles(), ["select", "extract", "select", "extract", "ending"]);
    assert!(!ran.text(1).contains("FindPatient"), "values are read without sight of the APIs");
    assert!(ran.text(2).contains("the argument patient_id of GetBalance"));
    assert_eq!(ran.clinic.calls(), calls);
}

#[tokio::test]
async fn the_baselines_of_reverse_chain_write_a_plan_that_is_carried_out() {
    let prompted = |has_example, has_steps| Method::Prompted { has_example, has_steps, execution: PICKS };
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
    clinic.answers.push_back(Answer {
        words: Some("Ana Reis.".to_owned()),
        over: false,
        ..Answer::default()
    });
    let script = texts(&[
        r#"{"api": "FindPatient"}"#,
        r#"{"name": {"ask": "Under which name?"}}"#,
        r#"{"name": {"value": "Ana Reis"}}"#,
        r#"{"outcome": "done"}"#,
    ]);
    let ran = run(clinic, script, Method::ReverseChain(Completion::AllAtOnce, PICKS)).await;
    assert_eq!(ran.clinic.calls(), ["FindPatient({\"name\":\"Ana Reis\"}) 200"]);
    assert!(ran.text(2).contains("Under which name?") && ran.text(2).contains("Ana Reis."));
}

#[tokio::test]
async fn an_answer_completes_all_arguments_that_are_open() {
    let mut clinic = Clinic::new();
    clinic.view.tools[1] = json!({"type": "function", "function": {"name": "GetBalance", "description": "Gets what a patient owes.",
        "parameters": {"type": "object", "properties": {"code": {"type": "string"}, "email": {"type": "string"}, "patient_id": {"type": "integer"}},
        "required": ["code", "email", "patient_id"]}}});
    clinic.answers.push_back(Answer {
        words: Some("ana@example.org, and 1234.".to_owned()),
        over: false,
        ..Answer::default()
    });
    let script = texts(&[
        r#"{"api": "GetBalance"}"#,
        r#"{"code": {"ask": "Code and address?"}, "email": {"ask": "Which address?"}, "patient_id": {"value": 7}}"#,
        r#"{"code": {"value": "1234"}, "email": {"value": "ana@example.org"}, "patient_id": {"value": 7}}"#,
        DONE,
    ]);
    let ran = run(clinic, script, Method::ReverseChain(Completion::AllAtOnce, PICKS)).await;
    let call = "GetBalance({\"code\":\"1234\",\"email\":\"ana@example.org\",\"patient_id\":7}) 200";
    assert_eq!(ran.clinic.calls(), [call]);
    assert!(ran.text(2).contains("ana@example.org, and 1234."));
    assert_eq!(ran.roles(), ["select", "complete", "complete", "ending"]);
}

#[tokio::test]
async fn a_remark_is_answered_without_a_call() {
    let script = texts(&[r#"{"answer": "You are welcome."}"#, DONE]);
    let ran = run(Clinic::new(), script, Method::ReverseChain(Completion::AllAtOnce, PICKS)).await;
    assert_eq!(ran.roles(), ["select", "ending"]);
    assert!(ran.clinic.calls().is_empty() && ran.text(1).contains("You are welcome."));
}

#[tokio::test]
async fn a_method_without_a_search_is_told_that_it_is_over() {
    let searched = json!([{"type": "function", "function": {"name": "ToolSearcher", "description": "Finds APIs.",
        "parameters": {"type": "object", "properties": {"keywords": {"type": "string"}}, "required": ["keywords"]}}}, finish_tool()]);
    let mut clinic = Clinic::new();
    clinic.view.tools = searched.as_array().unwrap().clone();
    let script = texts(&[r#"{"api": "FindPatient"}"#, r#"{"name": {"value": "Ana Reis"}}"#, DONE]);
    let ran = run(clinic, script, Method::ReverseChain(Completion::AllAtOnce, PICKS)).await;
    assert_eq!(ran.clinic.calls().len(), 2, "{:?}", ran.clinic.calls());
    assert!(ran.text(0).contains("are made without you") && ran.text(1).contains("are made without you"));
}

#[tokio::test]
async fn only_required_arguments_are_completed() {
    let mut clinic = Clinic::new();
    clinic.view.tools[1] = json!({"type": "function", "function": {"name": "GetBalance", "description": "Gets what a patient owes.",
        "parameters": {"type": "object", "properties": {"patient_id": {"type": "integer"}, "year": {"type": "string"}},
        "required": ["patient_id"]}}});
    let script = texts(&[
        r#"{"api": "GetBalance"}"#,
        r#"{"patient_id": {"value": 7}, "year": {"value": "2026"}}"#,
        r#"{"patient_id": {"value": 7}}"#,
        DONE,
    ]);
    let ran = run(clinic, script, Method::ReverseChain(Completion::AllAtOnce, PICKS)).await;
    assert!(!ran.text(1).contains("year"), "{}", ran.text(1));
    assert!(ran.text(2).contains("expected arguments among patient_id"), "{}", ran.text(2));
    assert_eq!(ran.clinic.calls(), ["GetBalance({\"patient_id\":7}) 200"]);
}

#[tokio::test]
async fn a_plan_may_be_noted_and_not_carried_out() {
    let replies = [
        r#"{"api": "GetBalance"}"#,
        r#"{"patient_id": {"api": "FindPatient"}}"#,
        r#"{"name": {"value": "Ana"}}"#,
        DONE,
    ];
    let ran =
        run(Clinic::new(), texts(&replies), Method::ReverseChain(Completion::AllAtOnce, Execution::Plan))
            .await;
    assert_eq!(ran.roles(), ["select", "complete", "complete", "ending"]);
    assert!(ran.clinic.calls().is_empty());
    let is_planned = |step: &Step| matches!(step, Step::Noted(Note::Planned { plan }) if plan.depth() == 2);
    assert!(ran.steps.iter().any(is_planned), "{:?}", ran.steps);
    // Notes with plans are stored as others are.
    let stored = serde_json::to_string(&ran.steps).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Step>>(&stored).unwrap(), ran.steps);
    let plan = "GetBalance(patient_id=FindPatient(name='Ana'))";
    let method = Method::Prompted { has_example: false, has_steps: false, execution: Execution::Plan };
    let ran = run(Clinic::new(), texts(&[plan, DONE]), method).await;
    assert!(ran.clinic.calls().is_empty() && ran.steps.iter().any(is_planned));
}

#[tokio::test]
async fn a_value_that_a_reply_does_not_name_is_picked_where_that_is_wanted() {
    let check = async |execution: Execution, replies: &[&str], roles: &[&str], note: Option<&str>| {
        let mut clinic = Clinic::new();
        clinic.view.tools[1] = function("GetBalance", "Gets what a patient owes.", ("id", "integer"));
        let ran = run(clinic, texts(replies), Method::ReverseChain(Completion::AllAtOnce, execution)).await;
        assert_eq!(ran.roles(), roles);
        assert_eq!(ran.notes().first().map(String::as_str), note);
        ran.clinic.calls()
    };
    let chain = [
        r#"{"api": "GetBalance"}"#,
        r#"{"id": {"api": "FindPatient"}}"#,
        r#"{"name": {"value": "Ana Reis"}}"#,
    ];
    let roles = ["select", "complete", "complete", "pick", "ending"];
    let calls = check(PICKS, &[&chain[..], &[r#"{"value": 7}"#, DONE]].concat(), &roles, None).await;
    assert_eq!(calls[1], "GetBalance({\"id\":7}) 404");
    let left_out = "plan to leaving the argument out: the reply of FindPatient does not give id";
    let roles = ["select", "complete", "complete", "ending"];
    let calls = check(Execution::Calls, &[&chain[..], &[DONE]].concat(), &roles, Some(left_out)).await;
    assert_eq!(calls[1], "GetBalance({}) 404");
}

#[test]
fn the_prompts_of_reverse_chain_are_zero_shot() {
    for (name, text) in diorama_baselines::prompts::FILES {
        let of_paper =
            ["reverse-chain/select", "reverse-chain/complete", "reverse-chain/extract"].contains(name);
        assert!(!of_paper || (!text.contains("xample") && !text.contains("Name2ID")), "{name}");
    }
}
