//! Checks scenarios that are played in small worlds and in worlds of the catalog.

mod articles;
mod assurance;
pub(crate) mod catalog;
mod pushes;

use std::collections::BTreeSet;
use std::sync::Arc;

use diorama_output::row::Split;
use diorama_output::row::parts::Provenance;
use diorama_proof::difficulty::measure;
use diorama_proof::{Candidate, GateReport};
use diorama_seeds::doc::{Speaker, WorldDoc};
use diorama_seeds::model::{ApiId, BehaviourKind, DomainId};
use diorama_seeds::scenario::Scenario;
use diorama_seeds::task::{Ability, OutageKind};
use diorama_seeds::world;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::aside::outage;
use super::speech::SPEECH;
use super::tags;
use super::*;
use crate::draws::WordingTurn;
use crate::rows::proposal::{TaskSpec, propose};
use crate::rows::prove::test;
use crate::rows::row::{RowProperties, called, row};
use crate::worlds::make::make_world;
use crate::worlds::recipe::{Ingredients, Recipe};
use crate::worlds::world::{BatchWorld, WorldTemplate};

const HARBOUR: &str = include_str!("tests/harbour.yaml");
const SCENARIOS: &str = include_str!("tests/harbour.scenarios.yaml");

fn document(scenarios: &str) -> WorldDoc {
    let mut doc = world::read("harbour.yaml", HARBOUR.as_bytes()).unwrap();
    world::add_scenarios(&mut doc, "harbour.scenarios.yaml", scenarios.as_bytes()).unwrap();
    doc
}

fn harbour(seed: u64) -> BatchWorld {
    let world_template = WorldTemplate::new(&document(SCENARIOS), 99, &Shares::new(), &Ability::ALL).unwrap();
    make_world(&world_template, seed).unwrap()
}

fn scenario<'a>(world: &'a BatchWorld, name: &str) -> &'a Scenario {
    world.world_template.scenario_set.scenarios().iter().find(|scenario| scenario.doc.name == name).unwrap()
}

/// Returns a recipe for worlds of three domains of the catalog.
fn catalog_recipe() -> Recipe {
    Recipe::new(Ingredients {
        seed: 5,
        abilities: Vec::new(),
        domains: crate::catalog::domains(),
        worlds: Vec::new(),
        difficulty: None,
        test_split: Default::default(),
        domains_per_world: 3,
        dialogues: 1,
        shares: Shares::new(),
        model: None,
    })
    .unwrap()
}

fn anywhere(place: f64) -> ScenarioDraw {
    ScenarioDraw { domain: None, place, scenario: None, opening: WordingTurn { key: 1, number: 0 } }
}

fn options(world: &BatchWorld, seed: u64) -> PlayOptions {
    let clock = world.base.world().clock;
    PlayOptions {
        ability: Ability::Call,
        seed,
        clock,
        opening: None,
        detour: None,
        further: Further::Any,
        forbids: false,
        push: None,
        patience: None,
        pool: Pool::Usual,
    }
}

fn played(world: &BatchWorld, name: &str, seed: u64) -> Candidate {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    play(world, scenario(world, name), &[], options(world, seed), &mut rng).unwrap().candidate
}

#[test]
fn every_scenario_becomes_a_row_and_replays_identically() {
    let world = harbour(1);
    for scenario in world.world_template.scenario_set.scenarios() {
        let name = &scenario.doc.name;
        let candidate = played(&world, name, 7);
        assert_eq!(candidate, played(&world, name, 7), "{name}");
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let tested = test(&world, candidate.clone(), &mut rng);
        assert!(tested.is_ok(), "{name}: {}\n{candidate:#?}", tested.err().unwrap());
    }
}

#[test]
fn an_answer_names_each_record_that_fits_the_limit() {
    let world = harbour(2);
    let model = world.base.world();
    let berth = model.resource_named("berth").unwrap();
    let (name, length) = {
        let resource = model.resource(berth);
        (resource.field_named("name").unwrap(), resource.field_named("length_m").unwrap())
    };
    for seed in 0..20 {
        let candidate = played(&world, "long_enough", seed);
        let user = &candidate.goals[0].user;
        let limit: i64 = user.split(' ').find_map(|word| word.parse().ok()).unwrap();
        let answer = candidate.goals[0].last_words();
        let fitting = model
            .resource(berth)
            .records
            .iter()
            .filter(|record| record[length.index()].as_f64().is_some_and(|metres| metres > limit as f64));
        let named: Vec<&str> = fitting.filter_map(|record| record[name.index()].as_str()).collect();
        assert!(
            named.len() >= 2 && named.iter().all(|name| answer.contains(name)),
            "{user}: {answer}: {named:?}"
        );
    }
}

#[test]
fn deletions_wait_for_one_consent_and_share_one_message() {
    let candidate = played(&harbour(3), "leave_all", 5);
    let [_, asks, consents, ends, _] = candidate.goals[0].turns.as_slice() else { panic!("{candidate:#?}") };
    let question = asks.say.as_deref().unwrap();
    assert!(ends.calls.len() >= 2 && ends.calls.iter().all(|call| call.api == "EndStay"));
    // Only its number names a stay.
    assert!(SPEECH.last_chances.iter().any(|words| words == question), "{question}");
    assert!(SPEECH.consents.contains(consents.user.as_ref().unwrap()));
}

#[test]
fn calls_of_one_api_that_need_no_reply_are_made_in_one_message() {
    let scenarios = r#"
scenarios:
  - name: compare
    who: a skipper
    bind: {one: {a: berth}, two: {a: berth}}
    goals:
      - user: ["What do {one.name} and {two.name} cost?"]
        does:
          - {call: FindBerth, as: first, with: {name: one.name}}
          - {call: FindBerth, as: second, with: {name: two.name}}
          - {call: FindBerth, as: third, with: {name: second.name}}
        end: ["{first.fee} and {second.fee}."]
        facts: [first.fee, second.fee]
"#;
    let template = WorldTemplate::new(&document(scenarios), 99, &Shares::new(), &Ability::ALL).unwrap();
    let candidate = played(&make_world(&template, 1).unwrap(), "compare", 1);
    let calls: Vec<usize> = candidate.goals[0].turns.iter().map(|turn| turn.calls.len()).collect();
    assert_eq!(calls, [2, 1, 0], "{candidate:#?}");
}

#[test]
fn outages_hit_only_reads_and_tokens_that_were_already_used() {
    for doc in crate::catalog::worlds().unwrap() {
        let world = world::compile(&doc).unwrap();
        for scenario in &doc.scenarios {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            if let Some(outage) = outage(&world, scenario, OutageKind::Unavailable, &mut rng) {
                assert!(!world.api(world.api_named(&outage.api).unwrap()).writes(), "{outage:?}");
            }
            if let Some(outage) = outage(&world, scenario, OutageKind::ExpiredToken, &mut rng) {
                let apis = scenario.calls().filter_map(|step| world.api_named(step.call.as_deref()?));
                let first = apis.map(|id| world.api(id)).find(|api| api.token.is_some()).unwrap();
                assert_ne!(*first.name, *outage.api, "{}", scenario.name);
            }
        }
    }
}

#[test]
fn some_further_matters_are_linked_to_the_first() {
    let recipe = catalog_recipe();
    let mut counts = [0, 0];
    for subject in &recipe.train[..6] {
        let world = make_world(subject.templates[0].get().unwrap(), 3).unwrap();
        let set = &world.world_template.scenario_set;
        for (number, first) in set.scenarios().iter().enumerate() {
            for joins in [Joins::OneDomain, Joins::Domains] {
                let mut rng = ChaCha8Rng::seed_from_u64(number as u64);
                let later = [set.other_matters(first, (Ability::Call, joins), &mut rng)];
                for (count, further) in counts.iter_mut().zip([Further::Linked, Further::Any]) {
                    let options = PlayOptions { further, ..options(&world, 9) };
                    let played = play(&world, first, &later, options, &mut rng.clone());
                    *count += usize::from(played.is_ok_and(|played| played.scenarios.len() > 1));
                }
            }
        }
    }
    let [linked, any] = counts;
    assert!(linked > 10 && linked * 2 < any, "{linked} of {any}");
}

#[test]
fn a_withheld_value_is_told_later_and_stored_by_its_parameter() {
    let candidate = played(&harbour(4), "book_after_look", 2);
    let goal = &candidate.goals[1];
    let told = goal.turns.iter().find_map(|turn| turn.user.clone()).unwrap();
    assert_eq!(goal.withheld.get("boat"), Some(&told));
}

#[test]
fn findings_name_the_path_of_the_error() {
    let doc = |scenarios: &str| {
        let doc = document(scenarios);
        let world = world::compile(&doc).unwrap();
        ScenarioSet::new(&doc, &world).1
    };
    let base = "scenarios:\n  - name: one\n    who: somebody\n";
    for (rest, at, what) in [
        ("    goals: []\n", "scenarios[0].goals", "no goal"),
        ("    bind: {x: {a: pier}}\n    goals: [{user: [a], end: [b]}]\n", "bind.x", "expected a resource"),
        (
            "    bind: {x: {a: berth, where: \"item.colour == 1\"}}\n    goals: [{user: [a], end: [b]}]\n",
            "bind.x",
            "colour",
        ),
        (
            "    bind: {x: {a: berth, pick: [1]}}\n    goals: [{user: [a], end: [b]}]\n",
            "bind.x",
            "exactly one",
        ),
        ("    goals: [{user: [\"{x\"], end: [b]}]\n", "goals[0].user", "no template"),
        ("    goals: [{user: [a], does: [{call: Sail}], end: [b]}]\n", "goals", "`Sail`"),
        (
            "    goals: [{user: [a], does: [{call: FindBerth, with: {colour: 1}}], end: [b]}]\n",
            "goals",
            "`colour`",
        ),
        ("    goals: [{user: [a], does: [{ask: boat, say: [c]}], end: [b]}]\n", "does[0].ask", "`boat`"),
        ("    goals: [{user: [a], does: [{say: [c]}], end: [b]}]\n", "does[0]", "exactly one"),
    ] {
        let findings = doc(&format!("{base}{rest}"));
        let found =
            findings.iter().any(|finding| finding.path.contains(at) && finding.message.contains(what));
        assert!(found, "{rest}: {findings:?}");
    }
}

#[test]
fn scenarios_are_drawn_at_the_requested_share() {
    let doc = document(SCENARIOS);
    let world = world::compile(&doc).unwrap();
    let (mut scenario_set, _) = ScenarioSet::new(&doc, &world);
    scenario_set.weigh(&[("withheld".to_owned(), 0.5)].into(), &[Ability::Call]);
    let draws = 2_000;
    let held = (0..draws).filter(|draw| {
        let drawn = scenario_set.draw(Ability::Call, anywhere(f64::from(*draw) / f64::from(draws))).unwrap();
        tags::told_by(&drawn.doc).contains(&"withheld")
    });
    let share = held.count() as f64 / f64::from(draws);
    assert!((share - 0.5).abs() < 0.01, "{share}");
}

#[test]
fn each_scenario_comes_once_in_each_round_of_turns() {
    let world = harbour(1);
    let set = &world.world_template.scenario_set;
    for ability in Ability::ALL {
        let order = |round| ChaCha8Rng::seed_from_u64(round);
        let turn = |number| set.take_turn(ability, number, anywhere(0.0), order);
        let fitting: BTreeSet<&str> = (0..1_000)
            .map(|step| &*set.draw(ability, anywhere(f64::from(step) / 1e3)).unwrap().doc.name)
            .collect();
        let count = fitting.len() as u64;
        for round in 0..20 {
            let turns: Vec<ScenarioDraw> = (round * count..(round + 1) * count).map(turn).collect();
            let played = turns.iter().map(|turn| &*set.draw(ability, *turn).unwrap().doc.name);
            assert_eq!(played.collect::<BTreeSet<_>>(), fitting, "{ability:?}, {round}");
            assert!(turns.iter().all(|turn| turn.opening.number / 2 == round));
        }
    }
}

#[test]
fn hostile_wordings_neither_hang_nor_panic() {
    let world = harbour(1);
    for wording in [
        "{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}",
        "{x.y.z}",
        "{now|nothing}",
        "{1 / 0}",
        "{% include 'etc/passwd' %}",
        "{[now, today]|sort}",
        "{[now, 'a', 3]|sort}",
    ] {
        let scenarios =
            format!("scenarios: [{{name: one, who: a, goals: [{{user: [{wording:?}], end: [b]}}]}}]");
        let doc = document(&scenarios);
        let compiled = world::compile(&doc).unwrap();
        let (scenario_set, _) = ScenarioSet::new(&doc, &compiled);
        for scenario in scenario_set.scenarios() {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            // The test only checks that the play ends.
            let _ = play(&world, scenario, &[], options(&world, 1), &mut rng);
        }
    }
}

#[test]
fn a_row_has_the_domain_of_its_scenario() {
    let recipe = catalog_recipe();
    let world_template = recipe.train[0].templates[0].get().unwrap().clone();
    let world = make_world(&world_template, 1).unwrap();
    let model = world.base.world();
    let mut without_calls = BTreeSet::new();
    for (ability, step) in Ability::ALL.into_iter().flat_map(|ability| (0..300).map(move |at| (ability, at)))
    {
        let drawn = f64::from(step) / 300.0;
        let spec = TaskSpec {
            ability,
            session_seed: 1,
            clock: world.base.world().clock,
            joins: Joins::Nothing,
            detour: None,
            drawn: anywhere(drawn),
            forbids: false,
            push: None,
            patience: None,
            pool: Pool::Usual,
        };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let Ok(proposal) = propose(&world, &spec, &mut rng) else { continue };
        let scenario = world_template.scenario_set.draw(ability, anywhere(drawn)).unwrap();
        let grounded = diorama_proof::ground(world.context(), proposal.candidate).unwrap();
        let about = RowProperties {
            ability,
            tags: &[],
            domain: Some(proposal.domain),
            split: Split::Train,
            provenance: &provenance(),
            model_terms: None,
        };
        let row = row(world.of_rows(), &grounded, &GateReport::default(), &about);
        let expected = &model.domains[scenario.domain.index()];
        assert_eq!(row.domains, [&*expected.name], "{}", scenario.doc.name);
        if called(model, &grounded.gold).is_empty() {
            without_calls.insert(row.domains);
        }
    }
    assert!(without_calls.len() > 1, "{without_calls:?}");
}

fn provenance() -> Provenance {
    serde_json::from_value(serde_json::json!({
        "backend": "scenarios", "model": null, "prompt_hash": null, "seed": 1, "row": 0, "attempt": 0, "version": "generate/5",
    }))
    .unwrap()
}

#[test]
fn joined_scenarios_have_one_speaker_who_signs_in_once() {
    let recipe = catalog_recipe();
    let (mut joined, mut of_staff, mut with_policy) = (0, 0, 0);
    for subject in &recipe.train[..6] {
        let world = make_world(subject.templates[0].get().unwrap(), 3).unwrap();
        let model = world.base.world();
        let set = &world.world_template.scenario_set;
        for (number, first) in set.scenarios().iter().enumerate() {
            let mut rng = ChaCha8Rng::seed_from_u64(number as u64);
            for joins in [Joins::OneDomain, Joins::Domains] {
                let later = set.other_matters(first, (Ability::Call, joins), &mut rng);
                let fits = |next: &&Scenario| (next.domain != first.domain) == (joins == Joins::Domains);
                assert!(later.iter().all(fits), "{}", first.doc.name);
                assert!(later.iter().all(|next| next.doc.speaker == first.doc.speaker));
                let is_governed = |next: &&Scenario| {
                    let mut apis = next.doc.calls().filter_map(|call| model.api_named(call.call.as_deref()?));
                    apis.any(|api| !model.api(api).behaviour.rules.is_empty())
                };
                assert!(joins != Joins::OneDomain || !first.doc.policy || !later.iter().any(is_governed));
                if later.is_empty() {
                    continue;
                }
                let later = [later];
                let Ok(played) = play(&world, first, &later, options(&world, 9), &mut rng) else {
                    continue;
                };
                joined += 1;
                of_staff += usize::from(joins == Joins::Domains && first.doc.speaker == Speaker::Staff);
                with_policy += usize::from(joins == Joins::OneDomain && first.doc.policy);
                let sign_ins = |domain: DomainId| {
                    let calls = played.candidate.calls().filter_map(|call| model.api_named(&call.api));
                    let signs_in = |api: &ApiId| {
                        let api = model.api(*api);
                        api.domain == domain && matches!(api.behaviour.kind, BehaviourKind::SignIn { .. })
                    };
                    calls.filter(signs_in).count()
                };
                if joins == Joins::OneDomain && !first.doc.calls().any(|call| call.fails) {
                    assert!(sign_ins(first.domain) <= 1, "{}: {:?}", first.doc.name, played.candidate);
                }
                // A user who says goodbye does not go on.
                let [before, after] = <[&Scenario; 2]>::try_from(played.scenarios).unwrap();
                let closings = before.doc.goals.iter().rev().take_while(|goal| {
                    goal.does.is_empty()
                        && goal.facts.is_empty()
                        && goal.refused.is_empty()
                        && goal.when.is_none()
                });
                let kept = (before.doc.goals.len() - closings.count()).max(1);
                assert_eq!(played.candidate.goals.len(), kept + after.doc.goals.len(), "{}", first.doc.name);
            }
        }
    }
    assert!(joined > 300, "{joined}");
    assert!(of_staff > 10 && with_policy > 10, "{of_staff} of staff, {with_policy} with a policy");
}

#[test]
fn a_governed_plot_is_played_to_both_verdicts() {
    let doc = crate::catalog::worlds().unwrap().into_iter().find(|doc| doc.name == "dental_clinic").unwrap();
    let world_template = WorldTemplate::new(&doc, 5, &Shares::new(), &Ability::ALL).unwrap();
    let mut ends = [0, 0];
    for seed in 0..12 {
        let world = make_world(&world_template, seed).unwrap();
        let plot = scenario(&world, "cancel_in_time");
        let Ok((candidate, grounded)) = rehearse::rehearse(&world, (plot, &[]), Ability::Call, seed) else {
            continue;
        };
        let is_forbidden = seed.is_multiple_of(2);
        ends[usize::from(is_forbidden)] += 1;
        let end = candidate.goals[0].end();
        assert_eq!(end.declines.is_some(), is_forbidden);
        let cancels = candidate.calls().any(|call| call.api == "CancelAppointment");
        assert_eq!(cancels, !is_forbidden, "calls follow the verdict of the policy");
        assert_eq!(grounded.checks.policy, ["dental_clinic"]);
        // The examples have the same verdicts as the rules.
        let system = candidate.system.unwrap();
        let house = &world.base.world().domains[0].house;
        assert!(house.iter().flat_map(|rule| &rule.examples).any(|example| system.contains(&**example)));
    }
    assert!(ends.iter().all(|count| *count >= 4), "{ends:?}");
}

#[test]
fn policies_decide_narrowly_where_records_allow_it() {
    // For each verdict, the rows and those in which a limit or an exception decides narrowly.
    let (mut rows, mut limits, mut exceptions) = ([0, 0], [0, 0], [0, 0]);
    for name in ["hotel_rooms", "city_library", "dental_clinic", "personal_bank"] {
        let doc = crate::catalog::world(name).unwrap().unwrap();
        let template = WorldTemplate::new(&doc, 5, &Shares::new(), &Ability::ALL).unwrap();
        let world = make_world(&template, 1).unwrap();
        let scenarios = template.scenario_set.scenarios().iter();
        let governed = scenarios.filter(|scenario| scenario.doc.calls().any(|call| call.governed));
        for (plot, seed) in governed.flat_map(|plot| (0..4).map(move |seed| (plot, seed))) {
            let Ok((candidate, grounded)) = rehearse::rehearse(&world, (plot, &[]), Ability::Call, seed)
            else {
                continue;
            };
            let counts = measure(&world.base, &grounded, &GateReport::default(), &[]);
            let end = usize::from(candidate.goals[0].end().declines.is_some());
            rows[end] += 1;
            limits[end] += usize::from(counts.limits > 0);
            exceptions[end] += usize::from(counts.exceptions > 0);
        }
    }
    for end in [0, 1] {
        assert!(rows[end] > 10 && limits[end] * 5 >= rows[end] * 2, "{rows:?}, near limits {limits:?}");
    }
    assert!(exceptions[0] > 0 && exceptions[1] == 0, "{rows:?}, by exceptions {exceptions:?}");
}
