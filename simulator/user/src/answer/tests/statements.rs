//! Checks the answers to statements of a planned call with a question for leave, kind by kind.

use diorama_seeds::script::{Goal, Script, WantedCall};
use serde_json::{Value as Json, json};

use super::answer;
use crate::progress::{AssistantTurn, Progress, Scene};
use crate::shared::base;

/// Questions that ask for leave and say nothing else.
const LEAVE: [&str; 14] = [
    "Yes?",
    "Alright with you?",
    "Shall I?",
    "May I?",
    "Agreed?",
    "Can I go ahead?",
    "Do I have your permission?",
    "Is that what you'd like?",
    "Would that suit you?",
    "Are you fine with this?",
    "Happy for me to do it?",
    "Is this how you want it?",
    "Please confirm.",
    "Let me know if that's fine.",
];

fn want(api: &str, arguments: &Json, words: &Json) -> WantedCall {
    WantedCall {
        api: api.into(),
        arguments: arguments.as_object().cloned().unwrap(),
        words: serde_json::from_value(words.clone()).unwrap(),
        ..WantedCall::default()
    }
}

/// Returns a goal that wants calls, after others that want nothing.
fn script(earlier: &[&str], user: &str, wants: Vec<WantedCall>) -> Script {
    let mut goals: Vec<Goal> =
        earlier.iter().map(|user| Goal { user: (*user).to_owned(), ..Goal::default() }).collect();
    goals.push(Goal { user: user.to_owned(), wants, ..Goal::default() });
    Script { goals, ..Script::default() }
}

fn says(script: &Script, message: &str) -> String {
    let base = base(include_str!("workshop.yaml"));
    let progress = Progress { goal: script.goals.len() as u32 - 1, ..Progress::default() };
    let scene = Scene { log: &[], base: &base, clock: base.world().clock };
    answer(script, &progress, &AssistantTurn { message, outcome: None, scene }).content.unwrap_or_default()
}

/// Checks statements before each question for leave: those with a yes, and those that are denied with some
/// words.
fn check(script: &Script, right: &[&str], altered: &[(&str, &str)]) {
    for leave in LEAVE {
        for statement in right {
            let answer = says(script, &format!("{statement} {leave}"));
            assert!(answer.starts_with("Yes"), "{statement} {leave}: {answer}");
        }
        for (statement, has) in altered {
            let answer = says(script, &format!("{statement} {leave}"));
            assert!(answer.starts_with("No") && answer.contains(has), "{statement} {leave}: {answer}");
        }
    }
}

fn drop_job(earlier: &[&str], user: &str) -> Script {
    script(earlier, user, vec![want("DropJob", &json!({"job_id": "k-1"}), &json!({}))])
}

fn add_job() -> Script {
    let arguments = json!({
        "number": "WO-2090", "part": "flange", "machine_id": "m-33", "drawing": "sheet 6", "copies": 6
    });
    let words = json!({"number": "WO-2090", "part": "flange", "drawing": "sheet 6", "copies": "6 copies"});
    let user = "Add WO-2090 for the Bench Lathe: flange, sheet 6, 6 copies.";
    script(&[], user, vec![want("AddJob", &arguments, &words)])
}

fn switch_off(machines: &[&str]) -> Vec<WantedCall> {
    let call = |machine: &&str| {
        want("SwitchMachine", &json!({"machine_id": machine, "power": "off"}), &json!({"power": "off"}))
    };
    machines.iter().map(call).collect()
}

#[test]
fn a_reference_in_a_statement_is_compared() {
    let script = drop_job(&[], "Please drop WO-2041.");
    check(
        &script,
        &[
            "I'd drop WO-2041 now.",
            "WO-2041 is the hinge, four copies. I drop it.",
            "So WO-2041 would be dropped.",
            "WO-2041 leaves the queue.",
        ],
        &[
            ("I'd drop WO-2014 now.", "WO-2041"),
            ("WO-2055 is the bracket, nine copies. I drop it.", "WO-2041"),
            ("So WO-2055 would be dropped.", "WO-2041"),
        ],
    );
}

#[test]
fn a_number_in_a_statement_is_compared_by_its_label() {
    check(
        &add_job(),
        &["Adding: WO-2090, flange, Bench Lathe, sheet 6, 6 copies.", "I'd add WO-2090 with 6 copies."],
        &[
            ("Adding: WO-2090, flange, Bench Lathe, sheet 16, 6 copies.", "sheet 6"),
            ("Adding: WO-2090, flange, Bench Lathe, sheet 6, 16 copies.", "6 copies"),
            ("I'd add WO-2090 for the Band Saw.", "Bench Lathe"),
        ],
    );
}

#[test]
fn a_value_of_an_earlier_goal_is_no_wanted_value() {
    let script = drop_job(&["Could you drop WO-2055?"], "Oh, it should read WO-2041.");
    check(
        &script,
        &["Thanks, WO-2041. I'd drop it."],
        &[("Thanks, WO-2055. I'd drop it.", "WO-2041"), ("WO-2055: I drop the job.", "WO-2041")],
    );
}

#[test]
fn another_action_is_denied() {
    let script = drop_job(&[], "Please drop WO-2041.");
    let denied =
        ["I'll pause WO-2041.", "You'd like WO-2041 paused.", "I would bring WO-2041 down to 2 copies."];
    check(&script, &["I'll drop WO-2041."], &denied.map(|statement| (statement, "drop WO-2041")));
}

#[test]
fn too_much_and_too_little_are_denied() {
    let one = drop_job(&[], "Please drop WO-2041.");
    check(
        &one,
        &[],
        &[("I'd drop WO-2041 and WO-2055.", ""), ("Everything on the queue would be dropped.", "")],
    );
    let user = "Switch off each of the machines.";
    let all = script(&[], user, switch_off(&["m-31", "m-32", "m-33"]));
    check(
        &all,
        &["The Band Saw, the Pillar Drill and the Bench Lathe would be switched off."],
        &[
            ("Only the Band Saw would be switched off.", ""),
            ("These would go off:\n1. Band Saw\n2. Pillar Drill\n\nThe Bench Lathe stays as it is.", ""),
        ],
    );
}

#[test]
fn a_place_and_a_particle_are_compared() {
    let user = "We need the machine in the North bay. Switch it off.";
    let saw = script(&["Is the South bay busy?"], user, switch_off(&["m-31"]));
    check(
        &saw,
        &["The machine in the North bay goes off.", "I'd turn the Band Saw off, as I see it's on."],
        &[
            ("The machine in the South bay goes off.", "North bay"),
            ("Band Saw, North bay, on at 10:00.", "off"),
        ],
    );
}

#[test]
fn what_a_statement_leaves_alone_is_not_offered() {
    let script = drop_job(&[], "Please drop WO-2041.");
    check(
        &script,
        &[
            "I'd drop WO-2041 and leave WO-2055 in the queue.",
            "I'd drop WO-2041; WO-2055 stays in the queue.",
        ],
        &[],
    );
}

#[test]
fn an_order_at_the_end_of_a_question_is_an_offer() {
    let script = add_job();
    for (message, agrees) in [
        ("Flange, sheet 6, 6 copies - put it on the Bench Lathe?", true),
        ("Flange, sheet 6, 5 copies - put it on the Bench Lathe?", false),
        ("WO-2090 for the Bench Lathe: I add it, ok?", true),
        ("WO-2099 for the Bench Lathe: I add it, ok?", false),
    ] {
        let answer = says(&script, message);
        assert_eq!(answer.starts_with("Yes"), agrees, "{message}: {answer}");
    }
}

#[test]
fn questions_get_what_the_user_said_in_the_open_goal() {
    let script = drop_job(&["How many copies are on WO-2055?"], "Drop WO-2041, the card got lost.");
    for (message, expect) in [
        ("Which card should go?", "Drop WO-2041, the card got lost."),
        ("Who asked for this?", "Drop WO-2041, the card got lost."),
        ("Is it WO-2041 that has to be dropped?", "Yes, that's right."),
        ("Does Ana run the lathe from now on?", "I'm sorry, I don't know."),
        ("I tried to drop WO-2041, but the queue refused it. Nothing has changed.", "Thank you."),
    ] {
        assert_eq!(says(&script, message), expect, "{message}");
    }
}
