//! Checks policies in articles: an assistant must search for the deciding article before it acts or refuses.

use diorama_proof::Code;

use super::*;
use crate::rows::prove::Rejection;
use crate::worlds::variant::put_policy_into_articles;

/// Returns a template of a domain of the catalog with its policy in articles.
fn template(name: &str, seed: u64) -> Arc<WorldTemplate> {
    let doc = crate::catalog::world(name).unwrap().unwrap();
    let doc = put_policy_into_articles(doc, &mut ChaCha8Rng::seed_from_u64(seed)).unwrap();
    WorldTemplate::new(&doc, 5, &Shares::new(), &Ability::ALL).unwrap()
}

#[test]
fn every_policy_of_the_catalog_fits_into_articles_with_replaced_and_general_ones() {
    let (mut with, mut replaced) = (0, 0);
    for doc in crate::catalog::worlds().unwrap() {
        let template = template(&doc.name, 3);
        let world = template.world();
        let Some(search) = world.policy_search(DomainId(0)) else { continue };
        with += 1;
        let articles = world.domains[0].articles.unwrap();
        let records = make_world(&template, 1).unwrap();
        let records = &records.base.world().resource(articles.resource).records;
        let told: BTreeSet<&str> = records.iter().flat_map(|record| articles.rules_of(record)).collect();
        let rules: BTreeSet<&str> = world.domains[0].house.iter().map(|rule| &*rule.name).collect();
        assert_eq!(told, rules, "{}", doc.name);
        assert!(records.iter().filter(|record| articles.rules_of(record).next().is_none()).count() >= 2);
        replaced += records
            .iter()
            .filter(|record| record.iter().any(|value| value.as_str() == Some("replaced")))
            .count();
        assert_eq!(&*world.api(search).name, "SearchPolicy");
    }
    assert!(with > 30 && replaced > 20, "{with} policies, {replaced} replaced articles");
}

#[test]
fn a_conversation_without_the_policy_search_is_rejected() {
    let template = template("dental_clinic", 1);
    let mut ends = [0, 0];
    for seed in 0..16 {
        let world = make_world(&template, seed).unwrap();
        let plot = scenario(&world, "cancel_in_time");
        let Ok((candidate, grounded)) = rehearse::rehearse(&world, (plot, &[]), Ability::Call, seed) else {
            continue;
        };
        let is_refused = candidate.goals[0].end().declines.is_some();
        ends[usize::from(is_refused)] += 1;
        assert_eq!(grounded.checks.policy, ["dental_clinic"]);
        let system = candidate.system.clone().unwrap();
        assert!(system.contains("SearchPolicy"), "{system}");
        let house = &world.base.world().domains[0].house;
        assert!(!house.iter().flat_map(|rule| &rule.sentences).any(|sentence| system.contains(&**sentence)));
        assert_eq!(candidate.calls().filter(|call| call.api == "SearchPolicy").count(), 1);
        // The copy lacks the search, so its assistant has not read the article.
        let mut unread = candidate.clone();
        for goal in &mut unread.goals {
            goal.turns.retain(|turn| !turn.calls.iter().any(|call| call.api == "SearchPolicy"));
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let Err(Rejection::Gate(reason)) = test(&world, unread, &mut rng) else { panic!("{candidate:#?}") };
        let message = reason.details.get("message").and_then(|message| message.as_str()).unwrap_or_default();
        let is_unread = reason.code == Code::ReferenceFails && message.contains("article");
        // Another gate may reject the copy first: its words about the rule have lost their source.
        assert!(is_unread || reason.code != Code::ReferenceFails, "{reason}");
    }
    assert!(ends.iter().all(|count| *count >= 3), "{ends:?}");
}
