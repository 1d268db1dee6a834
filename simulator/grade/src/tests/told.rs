//! What answers say beside the facts: of their own deeds, of the records that they name, and of what is not there.

use serde_json::{Value as Json, json};

use super::{BOOK, Episode, booking, verdict};

const USER: &str = "Book Dr. Rui Costa for Eva Dias on 10 March at 9:00, please.";

fn booked(answer: &str) -> String {
    verdict(&booking(), Episode { calls: &[BOOK], answer, user: USER, ..Episode::default() })
}

#[test]
fn a_deed_is_neither_denied_nor_only_offered() {
    for answer in [
        "Booked: 10 March at 9:00.",
        "It's all arranged.",
        "Eva Dias is expected on 10 March at 9 am. Anything else?",
        "I've booked it for 10 March at 9:00. Nothing else was changed.",
    ] {
        assert_eq!(booked(answer), "ok", "{answer}");
    }
    for answer in [
        "That is not possible.",
        "I'm sorry, that didn't work. Nothing was changed.",
        "Before I book: Eva Dias, 10 March at 9:00. Is that correct?",
        "I've booked it. Sorry, a mistake: it has not been done after all.",
    ] {
        assert_eq!(booked(answer), "false_claim", "{answer}");
    }
}

#[test]
fn what_a_deed_is_said_to_be_is_what_it_was() {
    assert_eq!(booked("I've booked it for 11:00 on 10 March."), "false_claim");
    assert_eq!(booked("I've booked 9:00 on 10 March."), "ok");
}

fn fee(calls: &[&str], answer: &str) -> String {
    let variants = json!([{
        "outcome": "done",
        "answer": [{"about": "fee of Ana Silva",
            "fact": {"kind": "money", "minor": 8000, "scale": 2, "currency": "EUR"},
            "evidence": [{"kind": "leaf", "resource": "dentist", "key": "11", "field": "fee"}]}]
    }]);
    verdict(
        &variants,
        Episode { calls, answer, user: "What does Dr. Ana Silva charge?", ..Episode::default() },
    )
}

#[test]
fn a_value_beside_is_the_one_of_the_record_that_its_sentence_names() {
    let calls = &[r#"ListDentists {"specialty": "orthodontics"}"#];
    assert_eq!(fee(calls, "It's €80. The fee of Dr. Rui Costa is €95."), "ok");
    assert_ne!(fee(calls, "It's €80. The fee of Dr. Rui Costa is €80."), "ok");
}

#[test]
fn an_absence_is_shown_by_all_pages_and_by_a_part_of_the_name() {
    let variants: Json = json!([{
        "outcome": "refused", "refusal": ["not_found"],
        "evidence": [{"kind": "refused", "api": "FindDentist", "status": 404,
            "arguments": {"name": "Dr. Iris Vale"}}]
    }]);
    let check = |calls: &[&str]| {
        let answer = "There is no dentist called Iris Vale.";
        let user = "When does Dr. Iris Vale work?";
        verdict(&variants, Episode { calls, answer, user, ..Episode::default() })
    };
    let by = |specialty: &str| format!(r#"ListDentists {{"specialty": "{specialty}"}}"#);
    assert_eq!(check(&[&by("orthodontics"), &by("surgery")]), "ok");
    assert_eq!(check(&[&by("orthodontics")]), "no_evidence");
}
