//! The user simulator: what is asked for comes out, and nothing else does.

use std::sync::Arc;

use diorama_seeds::ending::Answers;
use diorama_seeds::script::{Goal, GoalEnd, Script, Sight, When, WithheldDetail};
use diorama_seeds::task::{Evidence, Outcome};
use serde_json::json;

use super::{Answer, Heard, Progress, answer};
use crate::shared::{base, call};
use diorama_engine::Base;
use diorama_engine::session::{LogEntry, Session, SessionOptions};

fn held(about: &str, words: &[&str], say: &str) -> WithheldDetail {
    WithheldDetail {
        about: about.into(),
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        say: say.into(),
        any: false,
    }
}

fn script() -> Script {
    let booking = Goal {
        user: "I need to see a dentist.".into(),
        withheld: vec![
            held("patient", &["patient", "Full name of the patient", "who"], "It's for Ana Reis."),
            held("starts_at", &["starting time", "When it starts, clinic time", "when"], "Friday at 14:30."),
            held("card_number", &["Number on the library card, 8 digits"], "7302 9425"),
            held("pin", &["PIN of the card, 4 digits", "PIN"], "3015"),
        ],
        ..Goal::default()
    };
    let bill = Goal { user: "And what do I owe you?".into(), ..Goal::default() };
    Script { goals: vec![booking, bill] }
}

fn clinic() -> Arc<Base> {
    base(include_str!("../../grade/src/tests/clinic.yaml"))
}

fn hear(script: &Script, progress: &Progress, message: &str, log: &[Arc<LogEntry>]) -> Answer {
    answer(script, progress, &Heard { message, outcome: None, answers: Answers::Prose, log, base: &clinic() })
}

/// Returns the user's answer to a message in the first goal, before any call.
fn says(message: &str) -> String {
    hear(&script(), &Progress::default(), message, &[]).content.unwrap_or_default()
}

#[test]
fn what_is_asked_for_comes_out() {
    for (message, expect) in [
        ("Under which patient name should I book it?", "It's for Ana Reis."),
        ("Sure. Who is it for?", "It's for Ana Reis."),
        ("When would you like to come?", "Friday at 14:30."),
        ("What starting time suits you?", "Friday at 14:30."),
        ("Could you give me your card number and PIN?", "7302 9425. 3015"),
        ("Please tell me your card number.", "7302 9425"),
        ("I'll need your PIN to sign you in.", "3015"),
        ("Who is the patient, and when should it start?", "It's for Ana Reis. Friday at 14:30."),
    ] {
        assert_eq!(says(message), expect, "{message}");
    }
}

#[test]
fn other_questions_bring_nothing_out() {
    for (message, expect) in [
        ("hi", "Please go ahead."),
        ("Hello! How are you today?", "I'm sorry, I can't say more about that."),
        ("One moment, please.", "Please go ahead."),
        ("Could you give me more details?", "I'm sorry, I can't say more about that."),
        ("Which insurance company are you with?", "I'm sorry, I can't say more about that."),
        ("What's your favourite colour?", "I'm sorry, I can't say more about that."),
        ("Shall I go on?", "Yes, please."),
        ("Tell me everything you know.", "I'm sorry, I can't say more about that."),
    ] {
        assert_eq!(says(message), expect, "{message}");
    }
}

#[test]
fn a_goal_opens_when_the_one_before_has_ended() {
    let mut session = Session::new(clinic(), SessionOptions::default());
    session.call(&call(r#"ListDentists {}"#));
    let log: Vec<_> = session.log().collect();
    let script = script();
    let next = hear(&script, &Progress::default(), "You are booked for Friday at 14:30.", &log);
    assert_eq!(next.content.as_deref(), Some("And what do I owe you?"));
    assert_eq!((next.progress.goal, next.ended), (1, Some(Outcome::Done)));
    let end = hear(&script, &next.progress, "You owe 20 EUR.", &log);
    assert_eq!((end.content, end.progress.over, end.progress.ended.len()), (None, true, 2));
}

#[test]
fn a_branch_opens_only_when_a_reply_showed_it() {
    let mut script = script();
    let place = Evidence::Refused { api: "Book".into(), status: 409, arguments: serde_json::Map::new() };
    script.goals[1].when = Some(When {
        ended: Some(GoalEnd { goal: 0, outcome: Outcome::Refused }),
        shown: Some(Sight { place, value: None }),
    });
    let end = hear(&script, &Progress::default(), "I'm sorry, that time is already taken.", &[]);
    assert_eq!((end.content, end.ended), (None, Some(Outcome::Refused)));
    let mut log: Vec<Arc<LogEntry>> = Vec::new();
    let mut session = Session::new(clinic(), SessionOptions::default());
    let taken = session.call(&call(r#"Book {}"#));
    let mut refused = (*taken).clone();
    refused.reply.status = 409;
    log.push(Arc::new(refused));
    let next = hear(&script, &Progress::default(), "I'm sorry, that time is already taken.", &log);
    assert_eq!(next.content.as_deref(), Some("And what do I owe you?"));
}

#[test]
fn a_line_of_their_own_comes_after_something_was_found() {
    let mut script = script();
    script.goals[0].lines = vec!["No, make it Thursday.".into()];
    assert_eq!(hear(&script, &Progress::default(), "hi", &[]).content.unwrap(), "Please go ahead.");
    let asked = hear(&script, &Progress::default(), "Shall I book Friday?", &[]);
    assert_eq!(asked.content.as_deref(), Some("No, make it Thursday."));
    let after = hear(&script, &asked.progress, "Shall I book Thursday?", &[]);
    assert_eq!(after.content.as_deref(), Some("Yes, please."));
}

#[test]
fn scripts_keep_their_format() {
    let script = script();
    let text = serde_json::to_value(&script).unwrap();
    assert_eq!(
        text["goals"][0]["withheld"][2],
        json!({"about": "card_number", "words": ["Number on the library card, 8 digits"], "say": "7302 9425"})
    );
    assert_eq!(serde_json::from_value::<Script>(text).unwrap(), script);
}

/// A question that was written apart from the rules, with what a sensible user would tell.
#[derive(serde::Deserialize)]
struct Asked {
    withheld: Vec<WithheldDetail>,
    message: String,
    gives: Vec<String>,
    #[serde(default)]
    held_out: bool,
}

/// Of the details asked for, how many are told; of the messages, how many bring out what was not asked for.
fn measured(cases: &[&Asked]) -> (f64, f64) {
    let (mut asked, mut told, mut unasked) = (0, 0, 0);
    for case in cases {
        let goal = Goal { user: "Hello.".into(), withheld: case.withheld.clone(), ..Goal::default() };
        let answered = hear(&Script { goals: vec![goal] }, &Progress::default(), &case.message, &[]);
        let given: Vec<&str> =
            answered.progress.revealed.iter().map(|at| &*case.withheld[*at as usize].about).collect();
        asked += case.gives.len();
        let missed = case.gives.iter().filter(|name| !given.contains(&&***name)).count();
        told += case.gives.len() - missed;
        let extra = given.iter().filter(|name| !case.gives.iter().any(|wanted| wanted == *name)).count();
        unasked += usize::from(extra > 0);
        if missed + extra > 0 {
            println!("{} -> {given:?}, expected {:?}", case.message, case.gives);
        }
    }
    (told as f64 / asked as f64, unasked as f64 / cases.len() as f64)
}

#[test]
fn questions_in_other_words_are_understood() {
    let sets = [
        ("everyday", include_str!("questions.json")),
        ("every domain", include_str!("questions_catalog.json")),
    ];
    for (set, text) in sets {
        let cases: Vec<Asked> = serde_json::from_str(text).unwrap();
        let half = |held_out: bool| cases.iter().filter(|case| case.held_out == held_out).collect::<Vec<_>>();
        for (name, cases) in [("worked on", half(false)), ("held out", half(true))] {
            let (told, unasked) = measured(&cases);
            println!("{set}, {name}: {told:.3} of what was asked for is told, {unasked:.3} bring out more");
            // Words that share nothing with a detail's names are mostly not understood yet.
            assert!(told > 0.5 && unasked < 0.2, "{set}, {name}: {told} {unasked}");
        }
    }
}
