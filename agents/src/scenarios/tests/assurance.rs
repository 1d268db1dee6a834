//! What the assistant says by rule before a call: deletions are read back, and no answer to another question is a yes.

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
fn questions_that_ask_leave_are_told_from_others() {
    let world = harbour(1);
    let model = world.base.world();
    let clock = Clock::at(model.clock, &model.zone);
    let filled = |words: &String| {
        let values = [("things", "the stay 1204"), ("price", "€12"), ("act", "end the stay"), ("values", "its boat is Otter"), ("wrong", "1204")];
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
