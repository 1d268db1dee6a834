//! Function calling, and features of all agents: budgets, and repeated episodes.

use super::*;

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
    // Messages of the previous request are not recorded again.
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
async fn finish_in_another_case_ends_the_goal() {
    let ran = run(Clinic::new(), vec![tool("Finish", DONE)], Method::FunctionCalling).await;
    assert!(ran.ending().is_some() && ran.clinic.calls().is_empty());
}
