//! ReAct.

use super::*;

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
    assert!(ran.text(2).contains("expected `Action:` and `Action Input:`"));
    assert_eq!(ran.ending().unwrap().outcome, Outcome::Done);
}

#[tokio::test]
async fn react_reads_the_action_of_a_reply_that_begins_with_an_observation() {
    let input = r#"{"name": "Ana Reis"}"#;
    let turn =
        format!("Observation: 404 made up\nThought: the id\nAction: FindPatient\nAction Input: {input}");
    let done = format!("Action: finish\nAction Input: {DONE}");
    let ran = run(Clinic::new(), texts(&[&turn, &done]), Method::ReAct).await;
    assert_eq!(ran.clinic.calls(), ["FindPatient({\"name\":\"Ana Reis\"}) 200"]);
    assert!(ran.notes().is_empty() && !ran.text(1).contains("made up"), "{:?} {}", ran.notes(), ran.text(1));
    // The error quotes a reply without an action.
    let ran = run(Clinic::new(), texts(&["Observation: 404 made up", &done]), Method::ReAct).await;
    assert!(ran.notes()[0].contains("found `Observation: 404 made up`"), "{:?}", ran.notes());
}

#[tokio::test]
async fn react_ends_a_goal_under_every_name_of_its_prompt_and_never_calls_it() {
    // If answers are structured, `finish` in any case ends the goal. The agent asks for `finish` after an
    // answer in words.
    for action in ["finish", "Finish", "FINISH()", "Final Answer"] {
        let turn = format!("Thought: known\nAction: {action}\nAction Input: {DONE}");
        let ran = run(Clinic::new(), texts(&[&turn]), Method::ReAct).await;
        assert_eq!(ran.ending().unwrap().facts["balance"], 12.5, "{action}");
        assert!(ran.clinic.calls().is_empty(), "{action}");
    }
    let script = ["Thought: known\nFinal Answer: 12.50", &format!("Action: finish\nAction Input: {DONE}")];
    let ran = run(Clinic::new(), texts(&script), Method::ReAct).await;
    assert!(ran.text(1).contains("expected the action `finish` with a JSON object"), "{}", ran.text(1));
    assert!(ran.ending().is_some());
    // If answers are words, the same names end the goal. The agent never points to the search.
    for turn in [
        "Thought: known\nFinal Answer: She owes 12.50.",
        "Thought: known\nAction: Finish[She owes 12.50.]",
        "Action: Finish\nAction Input: She owes 12.50.",
        "Action: finish\nAction Input: {\"answer\": \"She owes 12.50.\"}",
        "Action: Final Answer\nAction Input: \"She owes 12.50.\"",
    ] {
        let mut clinic = Clinic::in_words();
        clinic.answers.push_back(Answer { words: None, over: true, ..Answer::default() });
        let ran = run(clinic, texts(&[turn]), Method::ReAct).await;
        let said = ran.steps.iter().find_map(|step| match step {
            Step::Said { words, .. } => Some(words.as_str()),
            _ => None,
        });
        assert_eq!(said, Some("She owes 12.50."), "{turn}");
        assert!(ran.clinic.calls().is_empty() && ran.sent.len() == 1, "{turn}");
    }
}

#[tokio::test]
async fn react_reads_actions_at_the_start_of_a_line_and_without_marks() {
    let input = r#"{"name": "Ana Reis"}"#;
    for turn in [
        format!("**Thought:** the id\n**Action:** FindPatient\n**Action Input:** {input}"),
        format!("Action: `FindPatient`\nAction Input: {input}"),
        format!("Thought: The Action: I need is a search.\nAction: FindPatient\nAction Input: {input}"),
        format!("Action: FindPatient(\"Ana Reis\")\nAction Input: {input}"),
        format!("Action: FindPatient({input})\nAction Input:"),
    ] {
        let done = format!("Action: finish\nAction Input: {DONE}");
        let ran = run(Clinic::new(), texts(&[&turn, &done]), Method::ReAct).await;
        assert_eq!(ran.clinic.calls(), ["FindPatient({\"name\":\"Ana Reis\"}) 200"], "{turn}");
        assert!(ran.ending().is_some() && ran.notes().is_empty(), "{turn}: {:?}", ran.notes());
    }
}

#[tokio::test]
async fn react_gives_up_after_refusals_of_finish_without_a_call_between() {
    let wrong = "Action: finish\nAction Input: {\"outcome\": \"done\", \"facts\": {\"fee\": 1}}";
    let call = "Action: FindPatient\nAction Input: {\"name\": \"Ana Reis\"}";
    let done = format!("Action: finish\nAction Input: {DONE}");
    let ran = run(Clinic::new(), texts(&[wrong, call, wrong, call, &done]), Method::ReAct).await;
    assert!(ran.ending().is_some() && ran.clinic.view.over, "{:?}", ran.notes());
    let ran = run(Clinic::new(), texts(&[wrong, wrong, &done]), Method::ReAct).await;
    assert!(!ran.clinic.view.over && ran.notes().iter().any(|note| note.starts_with("gave up")));
}
