//! Checks the assistant's messages before a call: deletions are read back, and an answer to another question
//! is no consent.

use diorama_answers::Clock;
use diorama_user::asks_leave;

use super::super::detour::WORDS;
use super::*;

#[test]
fn a_question_for_a_mistyped_code_is_not_answered_by_a_consent() {
    let scenarios = r#"
scenarios:
  - name: end_one
    who: a skipper
    bind: {s: {a: stay, where: "item.status == 'booked'"}}
    goals:
      - user: ["Please end the stay {s.stay_id}."]
        does: [{call: EndStay, as: ended, with: {stay_id: s}}]
        end: ["The stay {s.stay_id} has ended."]
"#;
    let coded = HARBOUR.replace(
        "    key: stay_id\n    fields:\n",
        "    key: stay_id\n    fields:\n      stay_id: {type: string, fake: {provider: code, format: \"ST-####\"}}\n",
    );
    let mut doc = world::read("harbour.yaml", coded.as_bytes()).unwrap();
    world::add_scenarios(&mut doc, "harbour.scenarios.yaml", scenarios.as_bytes()).unwrap();
    let template = WorldTemplate::new(&doc, 99, &Shares::new(), &Ability::ALL).unwrap();
    let world = make_world(&template, 1).unwrap();
    let asked = PlayOptions { detour: Some(Detour::Misspelt), ..options(&world, 1) };
    for seed in 0..10 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let candidate = play(&world, scenario(&world, "end_one"), &[], asked, &mut rng).unwrap().candidate;
        let [first, second] = candidate.goals.as_slice() else { panic!("{candidate:#?}") };
        assert_eq!(first.turns[0].calls[0].api, "EndStay");
        let [asks, consents, ends, _] = second.turns.as_slice() else { panic!("{candidate:#?}") };
        assert!(asks.say.is_some() && SPEECH.consents.contains(consents.user.as_ref().unwrap()));
        assert_eq!(ends.calls[0].api, "EndStay");
    }
}

#[test]
fn requests_for_consent_are_recognised() {
    let world = harbour(1);
    let model = world.base.world();
    let clock = Clock::at(model.clock, &model.zone);
    let filled = |words: &String| {
        let values = [
            ("things", "the stay 1204"),
            ("price", "€12"),
            ("act", "end the stay"),
            ("values", "its boat is Otter"),
            ("wrong", "1204"),
        ];
        speech::fill(words, &values)
    };
    let leave = [&SPEECH.read_backs, &SPEECH.last_chances, &SPEECH.prices, &SPEECH.confirmations];
    for words in leave.into_iter().flatten().map(filled) {
        assert!(asks_leave(&words, &clock), "{words}");
    }
    for words in WORDS.misspelt.assistant.iter().map(filled) {
        assert!(!asks_leave(&words, &clock), "{words}");
    }
}

#[test]
fn a_price_that_was_shown_is_told_before_it_is_charged() {
    let doc = crate::catalog::world("course_enrolment").unwrap().unwrap();
    let template = WorldTemplate::new(&doc, 99, &Shares::new(), &Ability::ALL).unwrap();
    let tells = |question: &str| {
        SPEECH.prices.iter().any(|words| {
            let (before, after) = words.split_once("{price}").unwrap();
            question.starts_with(before) && question.ends_with(after)
        })
    };
    let mut told = 0;
    for seed in 0..4 {
        let world = make_world(&template, seed).unwrap();
        for scenario in template.scenario_set.scenarios() {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let Ok(played) = play(&world, scenario, &[], options(&world, seed), &mut rng) else { continue };
            for turns in played.candidate.goals.iter().flat_map(|goal| goal.turns.windows(3)) {
                let question = turns[0].say.as_deref().filter(|_| turns[1].user.is_some());
                if question.is_some_and(tells) {
                    // The enrolment has no field for the fee of the course: the student's debt grows by it.
                    assert_eq!(turns[2].calls[0].api, "EnrolStudent", "{question:?}");
                    told += 1;
                }
            }
        }
    }
    assert!(told > 0);
}
