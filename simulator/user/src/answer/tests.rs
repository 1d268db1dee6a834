//! Checks that the user answers what was asked, and volunteers nothing else.

mod offers;
mod pleas;
mod statements;

use std::sync::Arc;

use diorama_seeds::script::{Goal, GoalEnd, ReplyFact, Script, When, WithheldDetail};
use diorama_seeds::task::{Evidence, Outcome};
use serde_json::json;

use super::answer;
use crate::progress::{Answer, AssistantTurn, Progress, Scene};
use crate::shared::{base, call};
use diorama_engine::Base;
use diorama_engine::session::{LogEntry, Session, SessionOptions};

fn held(about: &str, words: &[&str], say: &str) -> WithheldDetail {
    WithheldDetail {
        about: about.into(),
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        say: say.into(),
        ..WithheldDetail::default()
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
    Script { goals: vec![booking, bill], ..Script::default() }
}

fn clinic() -> Arc<Base> {
    base(include_str!("../../../grade/src/tests/clinic.yaml"))
}

fn hear(script: &Script, progress: &Progress, message: &str, log: &[Arc<LogEntry>]) -> Answer {
    let base = clinic();
    let scene = Scene { log, base: &base, clock: base.world().clock };
    answer(script, progress, &AssistantTurn { message, outcome: None, scene })
}

/// Returns the answer to the end of a goal.
fn end(script: &Script, progress: &Progress, outcome: Outcome, log: &[Arc<LogEntry>]) -> Answer {
    let base = clinic();
    let scene = Scene { log, base: &base, clock: base.world().clock };
    answer(script, progress, &AssistantTurn { message: "", outcome: Some(outcome), scene })
}

/// Returns the user's answer to a message in the first goal, before any call.
fn says(message: &str) -> String {
    hear(&script(), &Progress::default(), message, &[]).content.unwrap_or_default()
}

#[test]
fn the_user_tells_the_detail_that_is_asked_for() {
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
fn other_questions_reveal_no_detail() {
    for (message, expect) in [
        ("hi", "Please go ahead."),
        ("Hello! How are you today?", "I'm sorry, I don't know."),
        ("One moment, please.", "Please go ahead."),
        ("Could you give me more details?", "I'm sorry, I don't know."),
        ("Which insurance company are you with?", "I need to see a dentist."),
        ("What's your favourite colour?", "I'm sorry, I don't know."),
        ("Shall I go on?", "Yes, please."),
        ("Tell me everything you know.", "I'm sorry, I don't know."),
        ("What is the weather like there?", "I'm sorry, I don't know."),
        ("Did you want to see a dentist?", "Yes, that's right."),
    ] {
        assert_eq!(says(message), expect, "{message}");
    }
}

#[test]
fn reports_get_thanks_and_announcements_get_approval() {
    for (message, expect) in [
        ("Your next visit is on Friday at 14:30.", "Thank you."),
        ("The appointment is booked.", "Thank you."),
        ("I'm afraid I can't book that: the day is full.", "All right."),
        ("Let me look at next week.", "Please go ahead."),
        ("I'll check the calendar.", "Please go ahead."),
        ("How can I help you?", "I need to see a dentist."),
    ] {
        assert_eq!(says(message), expect, "{message}");
    }
}

/// Returns a script whose only withheld detail is a login, with lines of the user's own.
fn login(lines: &[&str]) -> Script {
    let words = ["customer number", "Customer number, 9 digits", "passcode", "Passcode, 6 digits"];
    let goal = Goal {
        user: "Please pay Emilia Diaz 50 pounds from my Main Account.".into(),
        withheld: vec![held("login", &words, "118240749, 359665")],
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        ..Goal::default()
    };
    Script { goals: vec![goal], ..Script::default() }
}

#[test]
fn one_withheld_detail_does_not_answer_every_question() {
    let unknown = "I'm sorry, I don't know.";
    for (message, expect) in [
        ("cust number n passcode plz", "118240749, 359665"),
        ("What is your customer number", "118240749, 359665"),
        ("I have it all, I only need your passcode", "118240749, 359665"),
        ("To go on I need:\n- your customer number\n- your passcode", "118240749, 359665"),
        ("What is the weather like there?", unknown),
        ("Have you been to the theatre lately?", unknown),
        ("Please tell me your favourite colour.", unknown),
        ("Which account shall I take it from?", "Please pay Emilia Diaz 50 pounds from my Main Account."),
        ("You want to pay 15 pounds, right?", "No, 50 pounds."),
        ("You want to pay 50 pounds, right?", "Yes, that's right."),
    ] {
        let answered = hear(&login(&[]), &Progress::default(), message, &[]);
        assert_eq!(answered.content.as_deref(), Some(expect), "{message}");
    }
}

#[test]
fn the_user_consents_to_offers_alone() {
    for (message, consents) in [
        ("Shall I send it?", true),
        ("I'd pay 50 pounds to Emilia Diaz. Is that right?", true),
        ("Do you want me to pay it now?", true),
        ("Should I go ahead", true),
        ("Pay it now?", true),
        ("That's 50 pounds from Main Account. Please confirm.", true),
        ("Please confirm and I'll make the payment.", true),
        ("Could you confirm that I should pay her now?", true),
        ("Let me know if you'd like me to go on.", true),
        ("Is everything correct?", true),
        ("Shall I pay Emilia Diaz instead of Nikos Theodorou?", true),
        ("Shall I pay 50 pounds to Emilia Diaz, who is the first of them?", true),
        ("Could you confirm which account you mean?", false),
        ("Please confirm your passcode.", false),
        ("How much would you like to transfer?", false),
        ("Which day would you like it to be paid?", false),
        ("Shall I also open a savings account for you?", false),
        ("Would you like a brochure?", false),
        ("What do you want me to write into the reference?", false),
        ("The payment is done.", false),
        ("50 pounds have been paid to Emilia Diaz.", false),
    ] {
        let answered = hear(&login(&[]), &Progress::default(), message, &[]).content.unwrap_or_default();
        assert_eq!(answered.starts_with("Yes"), consents, "{message}: {answered}");
        let line =
            hear(&login(&["Yes, go ahead."]), &Progress::default(), message, &[]).content.unwrap_or_default();
        assert_eq!(line == "Yes, go ahead.", consents, "{message}: {line}");
    }
}

#[test]
fn an_ambiguous_question_gets_the_next_untold_detail() {
    let first = hear(&script(), &Progress::default(), "What should it be?", &[]);
    assert_eq!(first.content.as_deref(), Some("It's for Ana Reis."));
    let next = hear(&script(), &first.progress, "And which one?", &[]);
    assert_eq!(next.content.as_deref(), Some("Friday at 14:30."));
}

#[test]
fn a_goal_opens_when_the_previous_one_has_ended() {
    let mut session = Session::new(clinic(), SessionOptions::default());
    session.call(&call(r#"ListDentists {}"#));
    let log: Vec<_> = session.log().collect();
    let script = script();
    let told = hear(&script, &Progress::default(), "You are booked for Friday at 14:30.", &log);
    assert_eq!((told.content.as_deref(), told.ended), (Some("Thank you."), None), "words alone end no goal");
    let next = end(&script, &Progress::default(), Outcome::Done, &log);
    assert_eq!(next.content.as_deref(), Some("And what do I owe you?"));
    assert_eq!((next.progress.goal, next.ended), (1, Some(Outcome::Done)));
    let last = end(&script, &next.progress, Outcome::Done, &log);
    assert_eq!((last.content, last.progress.over, last.progress.ended.len()), (None, true, 2));
}

#[test]
fn a_conditional_goal_opens_only_if_a_reply_showed_its_fact() {
    let mut script = script();
    let place = Evidence::Refused { api: "Book".into(), status: 409, arguments: serde_json::Map::new() };
    script.goals[1].when = Some(When {
        ended: Some(GoalEnd { goal: 0, outcome: Outcome::Refused }),
        shown: Some(ReplyFact { place, value: None }),
    });
    let last = end(&script, &Progress::default(), Outcome::Refused, &[]);
    assert_eq!((last.content, last.ended), (None, Some(Outcome::Refused)));
    let mut log: Vec<Arc<LogEntry>> = Vec::new();
    let mut session = Session::new(clinic(), SessionOptions::default());
    let taken = session.call(&call(r#"Book {}"#));
    let mut refused = (*taken).clone();
    refused.reply.status = 409;
    log.push(Arc::new(refused));
    let next = end(&script, &Progress::default(), Outcome::Refused, &log);
    assert_eq!(next.content.as_deref(), Some("And what do I owe you?"));
}

#[test]
fn the_user_says_their_own_line_after_a_successful_call() {
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

/// A question that was written apart from the rules, with the details that a sensible user would tell.
#[derive(serde::Deserialize)]
struct LabelledQuestion {
    withheld: Vec<WithheldDetail>,
    message: String,
    gives: Vec<String>,
    #[serde(default)]
    held_out: bool,
}

/// Returns the share of requested details that are told, and the share of messages that bring out others.
fn measured(cases: &[&LabelledQuestion]) -> (f64, f64) {
    let (mut asked, mut told, mut unasked) = (0, 0, 0);
    for case in cases {
        let goal = Goal { user: "Hello.".into(), withheld: case.withheld.clone(), ..Goal::default() };
        let answered = hear(
            &Script { goals: vec![goal], ..Script::default() },
            &Progress::default(),
            &case.message,
            &[],
        );
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
fn paraphrased_questions_are_understood() {
    let sets = [
        ("everyday", include_str!("../questions.json")),
        ("every domain", include_str!("../questions_catalog.json")),
    ];
    for (set, text) in sets {
        let cases: Vec<LabelledQuestion> = serde_json::from_str(text).unwrap();
        let half = |held_out: bool| cases.iter().filter(|case| case.held_out == held_out).collect::<Vec<_>>();
        for (name, cases) in [("worked on", half(false)), ("held out", half(true))] {
            let (told, unasked) = measured(&cases);
            println!("{set}, {name}: {told:.3} of what was asked for is told, {unasked:.3} bring out more");
            // Most questions that share no word with a detail's names are not understood yet.
            assert!(told > 0.65 && unasked < 0.15, "{set}, {name}: {told} {unasked}");
        }
    }
}

/// A goal, with messages that ask for all its withheld details and messages that ask for none.
#[derive(serde::Deserialize)]
struct LabelledGoal {
    /// The user's messages so far; the last one opens the goal.
    user: Vec<String>,
    withheld: Vec<WithheldDetail>,
    right: Vec<String>,
    unrelated: Vec<String>,
    #[serde(default)]
    held_out: bool,
}

/// Counts of told details, with and without a question for them.
#[derive(Debug, Default)]
struct Tally {
    /// The number of details that were asked for.
    asked: usize,
    told: usize,
    unrelated: usize,
    /// The number of unrelated messages that brought out a detail.
    leaked: usize,
}

impl LabelledGoal {
    fn add_to(&self, tally: &mut Tally) {
        let right = self.right.iter().map(|message| (message, self.withheld.len()));
        for (message, expect) in right.chain(self.unrelated.iter().map(|message| (message, 0))) {
            let mut goals: Vec<Goal> =
                self.user.iter().map(|user| Goal { user: user.clone(), ..Goal::default() }).collect();
            let last = goals.len() - 1;
            goals[last].withheld.clone_from(&self.withheld);
            let progress = Progress { goal: last as u32, ..Progress::default() };
            let answered = hear(&Script { goals, ..Script::default() }, &progress, message, &[]);
            let told = answered.progress.revealed.len();
            if told != expect {
                println!("{message}: {told} of {expect} told, {:?}", answered.content);
            }
            if expect > 0 {
                tally.asked += expect;
                tally.told += told;
            } else {
                tally.unrelated += 1;
                tally.leaked += usize::from(told > 0);
            }
        }
    }
}

fn labelled(text: &str) -> Vec<LabelledGoal> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn tally<'a>(cases: impl Iterator<Item = &'a LabelledGoal>) -> (f64, f64) {
    let mut tally = Tally::default();
    cases.for_each(|case| case.add_to(&mut tally));
    println!("{tally:?}");
    (tally.told as f64 / tally.asked as f64, tally.leaked as f64 / tally.unrelated as f64)
}

#[test]
fn questions_about_generated_goals_are_understood() {
    let cases = labelled(include_str!("../questions_scenarios.jsonl"));
    let (told, leaked) = tally(cases.iter().filter(|case| !case.held_out));
    assert!(told >= 0.95 && leaked <= 0.05, "tuning set: {told} told, {leaked} leaked");
    // These cases are hard: bare nouns, words that scenarios lack, and questions that repeat the user's last
    // message.
    let (told, leaked) = tally(cases.iter().filter(|case| case.held_out));
    assert!(told >= 0.85 && leaked <= 0.08, "held-out set: {told} told, {leaked} leaked");
}

/// Measures questions from standard input.
#[test]
#[ignore = "reads standard input"]
fn measures_questions_of_the_caller() {
    let text = std::io::read_to_string(std::io::stdin()).unwrap();
    tally(labelled(&text).iter());
}

/// Prints the input of `recipes/user_questions`: each clause's signs for each detail, and whether the message
/// asks for it.
#[test]
#[ignore = "prints what the weights are fitted by"]
fn prints_signs() {
    let print =
        |user: &[String], withheld: &[WithheldDetail], message: &str, wanted: Vec<bool>, weight: u8| {
            let said: Vec<&str> = user.iter().map(|text| &**text).collect();
            let details: Vec<_> = withheld.iter().map(crate::detail::Detail::read).collect();
            let clauses = crate::asks::read(&crate::message::read(message), &details, &said);
            let signs: Vec<Vec<_>> = clauses
                .iter()
                .map(|clause| clause.signs.iter().map(|signs| signs.values()).collect())
                .collect();
            println!("SIGNS {}", json!({"signs": signs, "wanted": wanted, "weight": weight}));
        };
    for case in labelled(include_str!("../questions_scenarios.jsonl")).iter().filter(|case| !case.held_out) {
        let all = vec![true; case.withheld.len()];
        let none = vec![false; case.withheld.len()];
        case.right.iter().for_each(|message| print(&case.user, &case.withheld, message, all.clone(), 3));
        case.unrelated.iter().for_each(|message| print(&case.user, &case.withheld, message, none.clone(), 3));
    }
    for text in [include_str!("../questions.json"), include_str!("../questions_catalog.json")] {
        let cases: Vec<LabelledQuestion> = serde_json::from_str(text).unwrap();
        for case in cases.iter().filter(|case| !case.held_out) {
            let wanted = case.withheld.iter().map(|detail| case.gives.contains(&detail.about)).collect();
            print(&[], &case.withheld, &case.message, wanted, 1);
        }
    }
}
