//! How episodes end: refused and why, asking, done.

use diorama_seeds::task::Outcome;
use serde_json::json;

use super::{Episode, verdict};
use crate::prose::Ending;
use diorama_answers::Clock;
use diorama_answers::prose::Prose;
use diorama_seeds::value::{Date, Zone};

const TAKEN: &str = r#"Book {"dentist_id": 11, "patient": "Tom Reis", "starts_at": "2026-03-05T14:30"}"#;

#[test]
fn a_refusal_needs_its_reason_and_the_reply_it_rests_on() {
    let variants = json!([{
        "outcome": "refused", "refusal": ["conflict"],
        "evidence": [{"kind": "refused", "api": "Book", "status": 409}]
    }]);
    let check = |calls: &[&str], answer: &str, outcome: Option<Outcome>, expect: &str| {
        assert_eq!(
            verdict(&variants, Episode { calls, answer, outcome, user: "Book Dr. Ana Silva for Tom Reis." }),
            expect,
            "{calls:?} {answer}"
        );
    };
    let right = "I'm sorry, but that time is already taken.";
    check(&[TAKEN], right, None, "ok");
    check(&[TAKEN], right, Some(Outcome::Refused), "ok");
    check(
        &[TAKEN],
        "Dr. Ana Silva is fully booked at that time, so I couldn't make the appointment.",
        None,
        "ok",
    );
    check(&[], right, None, "no_evidence no_api_call");
    check(&[TAKEN], right, Some(Outcome::Done), "wrong_outcome has_exception");
    check(&[TAKEN], "", None, "wrong_outcome has_exception");
    check(&[TAKEN], "", Some(Outcome::Refused), "wrong_outcome has_exception");
    check(&[TAKEN], "All done, see you on Thursday!", None, "wrong_outcome has_exception");
    check(
        &[TAKEN],
        "I'm sorry, I couldn't find a dentist of that name.",
        None,
        "wrong_outcome has_exception",
    );
    let other = r#"Book {"dentist_id": 12, "patient": "Tom Reis", "starts_at": "2026-03-05T14:30"}"#;
    check(&[TAKEN, other], right, None, "collateral_damage has_exception");
}

#[test]
fn a_reason_may_be_told_in_the_words_of_the_reply() {
    let check = |answer: &str, reason: &str, expect: bool| {
        assert_eq!(crate::prose::restates(answer, reason), expect, "{answer} | {reason}");
    };
    check("That was refused: the seat is sold. Nothing has been changed.", "the seat is sold", true);
    check("I can't, that seat has been sold to somebody else.", "the seat is sold", true);
    check(
        "Orders can only be started once they are assigned.",
        "only an assigned order can be started",
        true,
    );
    check("Unfortunately fines above 10 euros come first.", "fines above 10 euros must be paid first", true);
    check("Unfortunately that seat cannot be changed.", "the seat is sold", false);
    check("I'm sorry, I can't do that.", "the seat is sold", false);
    check("", "the seat is sold", false);
    check("I'm sorry.", "", false);
    let variants = json!([{
        "outcome": "refused", "refusal": ["conflict"],
        "evidence": [{"kind": "refused", "api": "Book", "status": 409}]
    }]);
    let other = r#"Book {"dentist_id": 99, "patient": "Tom Reis", "starts_at": "2026-03-05T14:30"}"#;
    let answer = "Sorry, that time is gone: taken.";
    assert_eq!(verdict(&variants, Episode { calls: &[TAKEN], answer, ..Episode::default() }), "ok");
    let never_refused = verdict(&variants, Episode { calls: &[other], answer, ..Episode::default() });
    assert!(never_refused.contains("no_evidence"), "{never_refused}");
}

#[test]
fn what_people_say_of_a_subject_is_a_statement() {
    let of = |fact: serde_json::Value| {
        json!([{"outcome": "done", "answer": [{"about": "it", "fact": fact,
            "evidence": [{"kind": "leaf", "resource": "dentist", "key": "11", "field": "fee"}]}]}])
    };
    let check = |fact: serde_json::Value, answer: &str, expect: &str| {
        let calls: &[&str] = &[super::FIND_ANA];
        assert_eq!(verdict(&of(fact), Episode { calls, answer, ..Episode::default() }), expect, "{answer}");
    };
    let named = |value: &str| json!({"kind": "entity", "value": value});
    check(named("drinks"), "You'll find it under drinks.", "ok");
    check(named("off"), "The lamp is off.", "ok");
    check(named("off"), "The lamp is currently switched off and will stay so.", "ok");
    check(named("off"), "The lamp hangs off the ceiling.", "missing_fact");
    check(named("off"), "The lamp is not off.", "missing_fact");
    check(named("yes"), "Yes, it is.", "ok");
}

#[test]
fn asking_back_needs_a_question_and_evidence() {
    let variants = json!([{
        "outcome": "need_input",
        "evidence": [{"kind": "all", "of": [
            {"kind": "leaf", "resource": "appointment", "key": "APT-0001", "field": "starts_at"},
            {"kind": "leaf", "resource": "appointment", "key": "APT-0002", "field": "starts_at"}]}]
    }]);
    let list = r#"ListAppointments {"patient": "Eva Dias"}"#;
    let check = |calls: &[&str], answer: &str, expect: &str| {
        assert_eq!(verdict(&variants, Episode { calls, answer, ..Episode::default() }), expect, "{answer}");
    };
    check(
        &[list],
        "You have two appointments. Which one do you mean, the one on 5 March or the one on 6 March?",
        "ok",
    );
    check(&[], "Which one do you mean?", "no_evidence no_api_call");
    check(&[list], "You have two appointments.", "wrong_outcome");
    check(
        &[list, r#"Change {"appointment_id": "APT-0001", "status": "cancelled"}"#],
        "Which one do you mean?",
        "collateral_damage",
    );
}

/// `r` refuses, `q` asks, `d` neither.
fn reads(text: &str, expect: &str) {
    let message = Prose::read(text, &Clock { today: Date(0), zone: Zone::utc() });
    let ending = Ending::read(&message);
    match expect {
        "r" => assert!(ending.is_unable() || ending.objects(), "no refusal in {text:?}"),
        "q" => assert!(ending.asks(), "no question in {text:?}"),
        _ => assert!(!ending.is_refusal() && !ending.asks(), "refusal or question in {text:?}"),
    }
}

#[test]
fn refusals_are_read() {
    for text in [
        "I couldn't find any appointment with that number.",
        "There is no dentist named Dr. Gray at the clinic.",
        "Sorry, the book \"Salt\" doesn't exist in our catalogue.",
        "Unfortunately, no parcel matches the code PX-1. Not found.",
        "I searched, but there's no such room.",
        "It looks like order 4512 isn't in our system — I was unable to locate it.",
        "No results for that title, I'm afraid.",
        "We don't have any record of a patient with this name.",
        "That account could not be found.",
        "Hmm, nobody by that name works here.",
        "I'm sorry, that slot is already booked.",
        "The room isn't available at that time, so I wasn't able to reserve it.",
        "Unfortunately the class is full.",
        "I can't cancel it: the order has already been shipped.",
        "There isn't enough money in your account – insufficient funds.",
        "The item is out of stock.",
        "That seat has been taken by someone else.",
        "Your booking conflicts with another appointment.",
        "This appointment was already cancelled, so there's nothing to cancel.",
        "You don't have permission to change this record.",
        "I'm not allowed to do that: the playlist belongs to another user.",
        "Access denied.",
        "Only the owner can delete it; you're not authorised.",
        "I couldn't book it because the date is in the past.",
        "The amount must be at least 10, so the transfer failed.",
        "Sorry, the rating has to be between 1 and 5.",
        "That's more than the maximum of 20 guests, so I can't do it.",
        "The date you gave is not valid; I couldn't make the booking.",
        "I don't have a tool for ordering pizza.",
        "I'm afraid none of the available tools can change a flight's price.",
        "Sending faxes isn't something I can do.",
        "I can't do that. I can only look up and book appointments.",
        "This isn't supported by the system.",
        "There is no way to delete reviews here.",
    ] {
        reads(text, "r");
    }
}

#[test]
fn questions_that_need_an_answer_are_told_from_offers() {
    for text in [
        "Which of the two Silvas do you mean?",
        "Could you please tell me the date you'd like?",
        "I found two matching appointments. Do you mean the one on Thursday or the one on Friday?",
        "What time would you like the appointment?",
        "Please provide your PIN so that I can sign you in.",
        "To book this I need your phone number.",
        "How many people will be coming?",
        "Sure! For which day should I book the table?",
        "Would you like me to cancel APT-0001?",
    ] {
        reads(text, "q");
    }
    for text in [
        "Your appointment is booked for Thursday at 9:00. Is there anything else I can help you with?",
        "Done! Your order has been cancelled.",
        "The fee is €80. Let me know if you need anything else.",
        "Here are the dentists: Ana Silva and Rui Costa. Would you like to book with one of them?",
        "I've moved it to Friday. Can I help you with anything else today?",
        "All set! What else can I do for you?",
        "Sorry for the wait! Your table is reserved.",
        "It costs 12 euros. Shall I add it to your basket?",
        "The parcel was delivered yesterday. How else can I help?",
    ] {
        reads(text, "d");
    }
}

#[test]
fn what_no_tool_does_is_declined_without_a_call() {
    let variants = json!([{"outcome": "refused", "refusal": ["no_tool"]}]);
    let check = |answer: &str| {
        verdict(&variants, Episode { answer, user: "Order a pizza for me.", ..Episode::default() })
    };
    for answer in [
        "I don't have a tool for ordering pizza.",
        "Sending out for pizza isn't something I can do.",
        "Ordering pizza isn't supported by the system.",
        "There is no way to order pizza here.",
        "None of the available tools orders pizza.",
        "Sorry, nobody here delivers pizza.",
        "That is not possible.",
        "Access denied.",
    ] {
        assert_eq!(check(answer), "ok", "{answer}");
    }
    for answer in
        ["Which pizza would you like?", "Your pizza is on its way.", "What size is not possible?", "Pizza!"]
    {
        assert_ne!(check(answer), "ok", "{answer}");
    }
}
