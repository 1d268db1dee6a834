//! Offline, DEPS and Reflexion.

use super::*;

const TOOL: CallerForm = CallerForm::Tool;
/// The executor's replies in a step: the caller's call, the parser's program and the caller's result.
const FINDS: [&str; 3] = [
    "Operation: FindPatient\nInput: {\"arguments\": {\"name\": \"Ana Reis\"}}",
    ".patients[0].patient_id",
    "Execution Result: the id is 7",
];
const PAYS: [&str; 3] = [
    "Operation: GetBalance\nInput: {\"arguments\": {\"patient_id\": 7}}",
    ".balance",
    "Execution Result: the balance is 12.5",
];

async fn ran(clinic: Clinic, method: Method, parts: &[&[&str]]) -> Ran {
    let ran = run(clinic, texts(&parts.concat()), method).await;
    assert_eq!(ran.acted, Ok(()));
    ran
}

#[tokio::test]
async fn offline_calls_the_apis_that_its_plan_names_and_no_model_chooses_others() {
    let plan = "1. FindPatient to get the id of Ana Reis\n2. GetBalance to get what the patient owes";
    let ran = ran(Clinic::new(), Method::Offline(TOOL), &[&[plan], &FINDS, &PAYS, &["12.5.", DONE]]).await;
    let roles = [
        "offline/planner",
        "caller",
        "parser",
        "caller",
        "caller",
        "parser",
        "caller",
        "offline/answer",
        "ending",
    ];
    assert_eq!(ran.roles(), roles);
    assert_eq!(
        ran.clinic.calls(),
        ["FindPatient({\"name\":\"Ana Reis\"}) 200", "GetBalance({\"patient_id\":7}) 200"]
    );
    // The caller of the second step sees the document of its API and the first result.
    assert!(ran.text(4).contains("the id is 7") && !ran.text(4).contains("FindPatient:"), "{}", ran.text(4));
    assert!(ran.ending().is_some());
    // For a REST service, the plan names methods and paths.
    let plan = "1. GET /patients to get the id of Ana Reis";
    let request = "Operation: GET\nInput: {\"url\": \"/patients\", \"params\": {\"name\": \"Ana Reis\"}}";
    let parts: &[&[&str]] = &[&[plan, request], &FINDS[1..], &["7.", DONE]];
    let ran = self::ran(Clinic::rest(), Method::Offline(CallerForm::Request), parts).await;
    assert_eq!(ran.clinic.calls(), ["FindPatient({\"name\":\"Ana Reis\"}) 200"]);
}

#[tokio::test]
async fn a_plan_that_names_no_api_is_asked_for_again() {
    let plan = "1. FindPatient to get the id of Ana Reis";
    let parts: &[&[&str]] = &[&["1. find the patient", plan], &FINDS, &["7.", DONE]];
    let ran = ran(Clinic::new(), Method::Offline(TOOL), parts).await;
    assert!(
        ran.text(1).contains("expected the name of one of the APIs (FindPatient, GetBalance) in each step"),
        "{}",
        ran.text(1)
    );
}

#[tokio::test]
async fn deps_plans_again_from_results() {
    let first = "1. FindPatient to get the id of Ana Reis\n2. GetBalance to get what she owes";
    let again = "Describe: the id is 7\nExplain: it did\nPlan:\n1. GetBalance to get what the patient 7 owes";
    let parts: &[&[&str]] = &[&[first], &FINDS, &[again], &PAYS, &["Final Answer: It is 12.5.", DONE]];
    let ran = ran(Clinic::new(), Method::Deps(TOOL), parts).await;
    let roles = [
        "deps/planner",
        "caller",
        "parser",
        "caller",
        "deps/replan",
        "caller",
        "parser",
        "caller",
        "deps/replan",
        "ending",
    ];
    assert_eq!(ran.roles(), roles);
    assert!(ran.text(4).contains("Result: the id is 7"));
    assert!(ran.text(5).contains("Plan: GetBalance to get what the patient 7 owes"));
}

#[tokio::test]
async fn where_apis_have_to_be_searched_for_a_step_of_deps_may_search() {
    let searches = "1. ToolSearcher to find what a patient owes";
    let again = "Plan:\n1. FindPatient to get the id of Ana Reis";
    let mut clinic = Clinic::searched();
    clinic.view.conversation = vec![ConversationEntry::User("Hello.".to_owned())];
    let parts: &[&[&str]] = &[&[searches, again], &FINDS, &["Final Answer: 7.", DONE]];
    let ran = ran(clinic, Method::Deps(TOOL), parts).await;
    let searched = "ToolSearcher({\"keywords\":\"to find what a patient owes\"}) 200";
    assert!(ran.clinic.calls().contains(&searched.to_owned()), "{:?}", ran.clinic.calls());
    assert!(ran.text(1).contains("- FindPatient: Finds"), "{}", ran.text(1));
}

#[tokio::test]
async fn reflexion_stops_after_a_trial_that_is_judged_a_success() {
    let plan = "1. FindPatient to get the id of Ana Reis";
    let parts: &[&[&str]] = &[&[plan], &FINDS, &["Final Answer: It is 7.", "Success", DONE]];
    let ran = ran(Clinic::new(), Method::Reflexion(TOOL), parts).await;
    let asked: Vec<&str> = ran.roles().into_iter().filter(|role| role.contains('/')).collect();
    assert_eq!(asked, ["deps/planner", "deps/replan", "reflexion/judge"]);
    assert!(!ran.text(0).contains("Reflection"));
}

#[tokio::test]
async fn every_prompt_of_reflexions_second_trial_shows_the_reflection_and_what_the_first_found() {
    let first = "1. FindPatient to get the id of Ana Reis";
    let verdict = "Failure: the id was told. Ask GetBalance for the balance.";
    let second = "1. GetBalance to get what the patient 7 owes";
    let parts: &[&[&str]] = &[
        &[first],
        &FINDS,
        &["Final Answer: It is 7.", verdict, second],
        &PAYS,
        &["Final Answer: It is 12.5.", DONE],
    ];
    let ran = ran(Clinic::new(), Method::Reflexion(TOOL), parts).await;
    let roles = ran.roles();
    let judged = roles.iter().position(|role| *role == "reflexion/judge").unwrap();
    let trial = judged + 1..roles.len() - 1;
    assert_eq!(roles[trial.clone()], ["deps/planner", "caller", "parser", "caller", "deps/replan"]);
    for at in trial {
        let text = ran.text(at);
        assert!(text.contains("the id was told. Ask GetBalance for the balance."), "{}: {text}", roles[at]);
        let reads_reply = roles[at] == "parser";
        assert!(reads_reply || text.contains("the id is 7"), "{}: {text}", roles[at]);
    }
    assert!((0..=judged).all(|at| !ran.text(at).contains("Reflection")), "the first trial has none");
    assert_eq!(ran.clinic.calls().len(), 2);
    // A failure must have a reflection.
    let parts: &[&[&str]] = &[&[first], &FINDS, &["Final Answer: 7.", "Failure:", "Failure"]];
    let ran = self::ran(Clinic::new(), Method::Reflexion(TOOL), parts).await;
    assert!(ran.notes().last().unwrap().starts_with("gave up: reflexion/judge"), "{:?}", ran.notes());
}

#[tokio::test]
async fn a_trial_without_an_answer_is_judged_by_its_steps() {
    let step = "Plan:\n1. FindPatient to get the id of Ana Reis";
    let again = [step];
    let mut parts: Vec<&[&str]> = Vec::new();
    for _ in 0..10 {
        parts.extend([&again[..], &FINDS]);
    }
    let verdict = "Failure: the same step was made again and again. Answer from its result.";
    let end = [step, verdict, step];
    parts.extend([&end[..], &FINDS, &["Final Answer: It is 7.", DONE]]);
    let ran = ran(Clinic::new(), Method::Reflexion(TOOL), &parts).await;
    let judged = ran.roles().iter().position(|role| *role == "reflexion/judge").unwrap();
    assert!(ran.text(judged).contains("Step 10:") && ran.text(judged).contains("no answer after 10 steps"));
    assert!(ran.ending().is_some());
}
