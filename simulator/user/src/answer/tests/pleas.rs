//! Checks a user who pleads after a refusal.

use diorama_engine::session::{Session, SessionOptions};
use diorama_seeds::script::{Goal, Script};
use diorama_seeds::task::Outcome;

use super::{clinic, end, hear, held};
use crate::progress::Progress;
use crate::shared::call;

fn script() -> Script {
    let goal = Goal {
        user: "Please cancel my visit on Friday.".into(),
        withheld: vec![held("pin", &["PIN of the card, 4 digits", "PIN"], "3015")],
        pleas: vec!["Oh, please.".into(), "But I'm gold.".into()],
        ..Goal::default()
    };
    let bill = Goal { user: "And what do I owe you?".into(), ..Goal::default() };
    Script { goals: vec![goal, bill], ..Script::default() }
}

/// Returns the user's answer to a message after a call that read the records.
fn says(progress: &Progress, message: &str) -> (String, Progress) {
    let mut session = Session::new(clinic(), SessionOptions::default());
    session.call(&call("ListDentists"));
    let log: Vec<_> = session.log().collect();
    let answer = hear(&script(), progress, message, &log);
    (answer.content.unwrap_or_default(), answer.progress)
}

#[test]
fn the_user_pleads_once_after_each_refusal_and_then_gives_in() {
    let (first, progress) = says(&Progress::default(), "I'm sorry, I can't cancel it any more.");
    assert_eq!(first, "Oh, please.");
    let (second, progress) = says(&progress, "The rule leaves no room for that, so I can't cancel it.");
    assert_eq!(second, "But I'm gold.");
    let (last, progress) = says(&progress, "I'm sorry, I can't do that.");
    assert_eq!(last, "All right.");
    // A refusal in words ends no goal.
    let next = end(&script(), &progress, Outcome::Refused, &[]);
    assert_eq!(next.content.as_deref(), Some("And what do I owe you?"));
    assert_eq!(next.progress.pleas, 0);
}

#[test]
fn a_refusing_end_leaves_the_goal_open_while_the_user_pleads() {
    let mut progress = Progress::default();
    for plea in ["Oh, please.", "But I'm gold."] {
        let answer = end(&script(), &progress, Outcome::Refused, &[]);
        assert_eq!((answer.content.as_deref(), answer.ended), (Some(plea), None));
        progress = answer.progress;
    }
    let closed = end(&script(), &progress, Outcome::Refused, &[]);
    assert_eq!(closed.ended, Some(Outcome::Refused));
    assert_eq!(closed.content.as_deref(), Some("And what do I owe you?"));
    // A user whose request was carried out does not plead.
    assert_eq!(end(&script(), &Progress::default(), Outcome::Done, &[]).ended, Some(Outcome::Done));
}

#[test]
fn a_refusal_is_recognized_by_the_missing_action() {
    for message in [
        "By our rules that's too late: your visit starts at 14:30.",
        "I may not cancel it.",
        "Our rules ask for more notice, and your visit is on Friday.",
        "I'm afraid I can't. Is there anything else?",
        "It has to be cancelled by the front desk.",
    ] {
        assert_eq!(says(&Progress::default(), message).0, "Oh, please.", "{message}");
    }
}

#[test]
fn questions_offers_and_announcements_are_no_refusals() {
    for message in [
        "Could you tell me your PIN?",
        "Shall I cancel it?",
        "Let me look at the calendar.",
        "I'll check our rules first.",
        "I can't cancel it. Shall I cancel something else?",
        "Which visit do you mean?",
    ] {
        let (answer, progress) = says(&Progress::default(), message);
        assert_eq!(progress.pleas, 0, "{message}: {answer}");
    }
}

#[test]
fn the_user_does_not_plead_for_a_finished_action() {
    let mut session = Session::new(clinic(), SessionOptions::default());
    let removed = session.call(&call(r#"Remove {"appointment_id": "APT-0003"}"#));
    assert!(!removed.changes.is_empty(), "{removed:?}");
    let log: Vec<_> = session.log().collect();
    let answer = hear(&script(), &Progress::default(), "Your visit is cancelled.", &log);
    assert_eq!(answer.content.as_deref(), Some("Thank you."));
}

#[test]
fn an_impatient_user_leaves_after_needless_questions() {
    let goal = Goal {
        user: "I need to see a dentist on Friday.".into(),
        withheld: vec![held(
            "patient",
            &["patient", "Full name of the patient", "who"],
            "It's for Ana Reis.",
        )],
        ..Goal::default()
    };
    let patient = Script { goals: vec![goal], ..Script::default() };
    let impatient = Script { patience: Some(2), ..patient.clone() };
    let ask = |script: &Script, messages: &[&str]| {
        let mut progress = Progress::default();
        let mut answers = Vec::new();
        for message in messages {
            let answer = hear(script, &progress, message, &[]);
            answers.extend(answer.content);
            progress = answer.progress;
        }
        (answers, progress)
    };
    let needless = ["On which day would you like to come?", "What is the weather like there?"];
    let (answers, progress) = ask(&impatient, &needless);
    assert!(progress.over && progress.needless == 2, "{answers:?}");
    assert_eq!(answers[0], "I need to see a dentist on Friday.");
    let (answers, progress) = ask(&patient, &needless);
    assert!(!progress.over && progress.needless == 0, "{answers:?}");
    // Questions that only the user can answer are free, and so are offers. A repeated question counts.
    let useful = ["Who is the patient?", "Shall I book it?", "On which day would you like to come?"];
    let (answers, progress) = ask(&impatient, &useful);
    assert!(!progress.over && progress.needless == 1, "{answers:?}");
    let (answers, progress) = ask(&impatient, &["Who is the patient?", "Who is the patient?", needless[0]]);
    assert!(progress.over, "{answers:?}");
}
