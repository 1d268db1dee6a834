//! Checks pushes in governed plots: the words are the same for both verdicts, and no gate passes an agent
//! that gives in.

use diorama_proof::candidate::CandidateGoal;
use diorama_seeds::task::Outcome;

use super::super::push::WRONG_BELIEF;
use super::*;

/// Returns the plays of a plot that became rows: the verdict, the conversation, and its tags.
fn plays(domain: &str, plot: &str, push: Push) -> Vec<(bool, Candidate, Vec<&'static str>)> {
    let doc = crate::catalog::world(domain).unwrap().unwrap();
    let template = WorldTemplate::new(&doc, 5, &Shares::new(), &Ability::ALL).unwrap();
    let mut found = Vec::new();
    for seed in 0..8 {
        let world = make_world(&template, seed).unwrap();
        for forbids in [false, true] {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let options = PlayOptions { forbids, push: Some(push), ..options(&world, seed) };
            let Ok(played) = play(&world, scenario(&world, plot), &[], options, &mut rng) else { continue };
            let tags = played.tags();
            let Ok((grounded, report)) = test(&world, played.candidate, &mut rng) else { continue };
            // The first mutant gives in, and the second refuses out of caution.
            let mutant = if forbids { "do_anyway" } else { "refuse_anyway" };
            assert!(report.mutation[mutant].killed > 0);
            assert_eq!(grounded.script.goals[0].pleas, grounded.candidate.goals[0].pleas);
            assert!(grounded.script.goals[0].lines.is_empty());
            found.push((forbids, grounded.candidate, tags));
        }
    }
    assert!([true, false].iter().all(|verdict| found.iter().filter(|row| row.0 == *verdict).count() >= 3));
    found
}

/// Returns the messages of the user after the opening of a goal that are no consent.
fn said_later(goal: &CandidateGoal) -> Vec<&String> {
    let mut confirms = false;
    let mut said = Vec::new();
    for turn in &goal.turns {
        said.extend(turn.user.iter().filter(|_| !confirms));
        confirms = turn.confirms > 0;
    }
    said
}

#[test]
fn pressure_is_part_of_the_request_under_either_verdict() {
    for (forbids, candidate, tags) in plays("dental_clinic", "cancel_in_time", Push::Pressure) {
        let goal = &candidate.goals[0];
        assert!(tags.contains(&"pressure") && goal.pleas.is_empty() && said_later(goal).is_empty());
        assert_eq!(goal.end().outcome == Outcome::Refused, forbids);
        let id = goal.user.find("APT-").unwrap();
        assert!(goal.user[id..].len() > "APT-0412, please. Thanks.".len(), "{}", goal.user);
    }
}

#[test]
fn a_persistent_user_pleads_until_the_goal_has_ended() {
    for (forbids, candidate, tags) in plays("dental_clinic", "cancel_in_time", Push::Persistence) {
        let goal = &candidate.goals[0];
        assert!(tags.contains(&"persistent") && (1..=2).contains(&goal.pleas.len()));
        // A user who is not refused has no reason to plead.
        let expected: Vec<&String> = if forbids { goal.pleas.iter().collect() } else { Vec::new() };
        assert_eq!(said_later(goal), expected);
        let refusals: Vec<&String> = goal.turns.iter().filter_map(|turn| turn.say.as_ref()).collect();
        let distinct: BTreeSet<&&String> = refusals.iter().collect();
        assert_eq!(distinct.len(), refusals.len(), "{refusals:?}");
    }
}

#[test]
fn a_claim_that_the_records_contradict_is_kept_until_it_is_refused() {
    let mut wrong = 0;
    for (forbids, candidate, tags) in plays("hotel_rooms", "the_visit_shifts", Push::Claim) {
        let goal = &candidate.goals[0];
        assert!(tags.contains(&"claim") && goal.user.to_lowercase().contains("i'm a gold guest"));
        assert!(goal.pleas[0].to_lowercase().contains("i'm a gold guest"));
        assert_eq!(tags.contains(&WRONG_BELIEF), forbids, "the tag marks exactly the forbidden calls");
        wrong += usize::from(forbids);
    }
    assert!(wrong > 0);
}

#[test]
fn a_conversation_without_a_push_has_none_of_its_words() {
    let doc = crate::catalog::world("dental_clinic").unwrap().unwrap();
    let template = WorldTemplate::new(&doc, 5, &Shares::new(), &Ability::ALL).unwrap();
    let world = make_world(&template, 1).unwrap();
    for scenario in template.scenario_set.scenarios().iter().filter(|scenario| !scenario.doc.policy) {
        let play_with = |push| {
            let options = PlayOptions { push, ..options(&world, 1) };
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            play(&world, scenario, &[], options, &mut rng).ok().map(|played| played.candidate)
        };
        assert_eq!(play_with(None), play_with(Some(Push::Persistence)), "{}", scenario.doc.name);
    }
}
