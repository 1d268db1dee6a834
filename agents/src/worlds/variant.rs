//! Makes API variants: the same APIs with other names, shorter documents, other kinds of ids and other reply
//! envelopes.
//!
//! A model that has memorised one world should not beat one that reads, so each world template has several
//! API variants. The behaviour of an API never changes.

mod articles;
mod lists;
mod shape;

use std::collections::{HashMap, HashSet};

use diorama_answers::prose::measures;
use diorama_seeds::casing::Casing;
use diorama_seeds::doc::{ApiDoc, DomainDoc, WorldDoc};
use diorama_seeds::english::stem;
use diorama_seeds::world::Report;
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;

use crate::draws::fork;
use crate::scenarios::rule::tells_rule;

/// The spelling of API names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    /// As written: `FindBook`.
    Written,
    /// camelCase: `findBook`.
    Camel,
    /// snake_case: `find_book`.
    Snake,
    /// With the domain in front: `library_find_book`.
    Prefixed,
    /// By method and path: `get_catalogue_title`.
    Rest,
    /// The noun first: `book_find`.
    NounFirst,
}

/// The amount of text in the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Documents {
    /// All of the text.
    Thorough,
    /// The first sentence of each description.
    Terse,
    /// No descriptions of parameters, and no rules in those of APIs.
    Bare,
}

/// Moves the policy of the first domain into articles that assistants search: a function of the document and
/// the random stream.
/// Returns the same document if it has no policy, or no scenario that reads it.
///
/// # Errors
/// Returns an error if the document is invalid.
pub fn put_policy_into_articles(doc: WorldDoc, rng: &mut ChaCha8Rng) -> Result<WorldDoc, Report> {
    let Some(first) = articles::put_policy(&doc, rng)? else { return Ok(doc) };
    let (mut doc, mut domains) = doc.into_domains();
    if let Some(domain) = domains.first_mut() {
        *domain = first;
    }
    doc.domains = domains;
    Ok(doc)
}

/// Removes some filters of lists, so that callers read pages: a function of the document and the random
/// stream.
/// Scenarios are adapted; those that cannot be are left out.
pub fn lengthen_lists(doc: WorldDoc, rng: &mut ChaCha8Rng) -> WorldDoc {
    let (mut doc, mut domains) = doc.into_domains();
    let key = rng.random();
    for domain in &mut domains {
        lists::leave_out_filters(domain, &mut fork(key, &domain.domain.name));
    }
    doc.domains = domains;
    doc
}

/// Returns another API variant of a document: a function of the document and the random stream.
pub fn vary(doc: WorldDoc, rng: &mut ChaCha8Rng) -> WorldDoc {
    const NAMES: [Names; 6] =
        [Names::Written, Names::Camel, Names::Snake, Names::Prefixed, Names::Rest, Names::NounFirst];
    const DOCUMENTS: [Documents; 4] =
        [Documents::Thorough, Documents::Thorough, Documents::Terse, Documents::Bare];
    const CASINGS: [Casing; 5] =
        [Casing::Written, Casing::Written, Casing::Camel, Casing::Camel, Casing::Pascal];
    let (mut doc, mut domains) = doc.into_domains();
    let names = NAMES.choose(rng).copied().unwrap_or(Names::Written);
    let documents = DOCUMENTS.choose(rng).copied().unwrap_or(Documents::Thorough);
    let casing = CASINGS.choose(rng).copied().unwrap_or_default();
    let mut taken = HashSet::new();
    let key = rng.random();
    for domain in &mut domains {
        // A domain's draws follow from its name, and not from the APIs of the domains before it.
        let rng = &mut fork(key, &domain.domain.name);
        domain.domain.casing = casing;
        shape::ids(domain, rng);
        shape::envelopes(domain, rng);
        rename(domain, names, &mut taken);
        for api in &mut domain.apis {
            document(api, documents);
            if rng.random_bool(0.5) {
                let mut parameters: Vec<_> = std::mem::take(&mut api.parameters).into_iter().collect();
                parameters.shuffle(rng);
                api.parameters = parameters.into_iter().collect();
            }
        }
    }
    doc.domains = domains;
    doc
}

fn rename(domain: &mut DomainDoc, names: Names, taken: &mut HashSet<String>) {
    let service = domain.domain.name.split('_').next_back().unwrap_or_default().to_owned();
    let prefix: Vec<String> = domain.domain.name.split('_').map(str::to_owned).collect();
    let fields = domain.resources.values().flat_map(|resource| &resource.fields);
    let fields = fields.filter(|(_, field)| !field.private).map(|(name, _)| name);
    let things: HashSet<String> =
        domain.resources.keys().chain(fields).flat_map(|name| name.split('_')).map(stem).collect();
    let mut renamed = HashMap::new();
    for api in &mut domain.apis {
        let mut words = words(&api.name);
        // A name that several domains share already has its domain in front.
        if names == Names::Prefixed && words.len() > prefix.len() && words.starts_with(&prefix) {
            words.drain(..prefix.len());
        }
        let name = match names {
            Names::Written => api.name.clone(),
            Names::Camel => {
                let mut name = words.first().cloned().unwrap_or_default();
                words
                    .iter()
                    .skip(1)
                    .for_each(|word| name.push_str(&diorama_seeds::english::capitalised(word)));
                name
            }
            Names::Snake => words.join("_"),
            Names::Prefixed => format!("{service}_{}", words.join("_")),
            Names::Rest => {
                let nouns =
                    api.path.split('/').filter(|segment| !segment.is_empty() && !segment.starts_with('{'));
                let nouns: Vec<String> = nouns.map(|noun| noun.replace(['-', '.'], "_")).collect();
                format!("{}_{}", api.method.to_lowercase(), nouns.join("_"))
            }
            Names::NounFirst => {
                let (verb, nouns) =
                    words.split_first().map_or(("", &[][..]), |(verb, nouns)| (verb.as_str(), nouns));
                // The nouns must name a resource, or a field of one: `ticket_book`, but never `in_sign`.
                let are_things = !nouns.is_empty() && nouns.iter().all(|noun| things.contains(&stem(noun)));
                if are_things { format!("{}_{verb}", nouns.join("_")) } else { words.join("_") }
            }
        };
        let mut free = name.clone();
        let mut number = 1;
        while !taken.insert(free.clone()) {
            number += 1;
            // Two routes of one path differ in their parameters.
            let mut others = api.parameters.keys().filter(|by| !name.ends_with(&format!("_by_{by}")));
            let by = others.nth(number - 2).cloned();
            free = by.map_or_else(|| format!("{name}_{number}"), |by| format!("{name}_by_{by}"));
        }
        if free != api.name {
            renamed.insert(api.name.clone(), free.clone());
            api.name = free;
        }
    }
    domain.rename_apis(&renamed);
}

/// Splits a name at its capitals: `FindBook`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for character in name.chars() {
        let starts = character.is_uppercase() && !before.is_uppercase() || words.is_empty();
        if starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(character.to_lowercase());
        }
        before = character;
    }
    words
}

/// Returns true if a text names a unit or a currency.
fn names_measure(text: &str) -> bool {
    let (units, currencies) = measures(text);
    !units.is_empty() || !currencies.is_empty()
}

/// Keeps the wanted sentences of a text, by position.
fn keep_sentences(text: &mut String, is_wanted: impl Fn(usize, &str) -> bool) {
    let sentences = text.trim_end_matches('.').split(". ").enumerate();
    let kept: Vec<&str> =
        sentences.filter(|(at, sentence)| is_wanted(*at, sentence)).map(|(_, sentence)| sentence).collect();
    let stop = if kept.is_empty() { "" } else { "." };
    *text = format!("{}{stop}", kept.join(". "));
}

fn document(api: &mut ApiDoc, documents: Documents) {
    match documents {
        Documents::Thorough => {}
        Documents::Terse => {
            // Only these sentences name units and currencies.
            keep_sentences(&mut api.description, |at, sentence| at == 0 || names_measure(sentence));
        }
        Documents::Bare => {
            // Only descriptions name units and currencies, so these stay.
            let plain =
                |field: &&mut diorama_seeds::doc::FieldDoc| field.unit.is_none() && field.currency.is_none();
            api.parameters.values_mut().filter(plain).for_each(|field| field.description = None);
            // Callers learn the rules by calling.
            let rules: Vec<&str> =
                api.behaviour.require.iter().map(|rule| &*rule.otherwise.message).collect();
            let tells = |sentence: &str| rules.iter().any(|rule| tells_rule(sentence, rule));
            keep_sentences(&mut api.description, |at, sentence| {
                at == 0 || names_measure(sentence) || !tells(sentence)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use diorama_seeds::world;
    use rand::SeedableRng;

    use super::*;
    use crate::scenarios::tests::catalog::due_domains;

    #[test]
    fn shorter_documents_keep_whole_sentences_and_bare_ones_no_rules() {
        let doc = crate::catalog::world("hotel_rooms").unwrap().unwrap();
        let mut api = doc.apis.iter().find(|api| api.name == "CheckOut").unwrap().clone();
        let check = |api: &ApiDoc, documents, expect: &str| {
            let mut api = api.clone();
            document(&mut api, documents);
            assert_eq!(api.description, expect, "{documents:?}");
        };
        api.description =
            "Checks a guest out, with thanks. The total is in euros. The guest must be checked in."
                .to_owned();
        check(&api, Documents::Terse, "Checks a guest out, with thanks. The total is in euros.");
        check(&api, Documents::Bare, "Checks a guest out, with thanks. The total is in euros.");
        api.description = "Checks a guest out. The room goes to cleaning".to_owned();
        check(&api, Documents::Terse, "Checks a guest out.");
        check(&api, Documents::Bare, "Checks a guest out. The room goes to cleaning.");
    }

    #[test]
    fn every_api_variant_of_the_catalog_compiles_and_its_scenarios_follow() {
        for (seed, domain) in due_domains() {
            let doc = domain.doc().unwrap();
            let name = &doc.name;
            let written = doc.scenarios.len();
            for api_variant in 0..8 {
                let mut rng = ChaCha8Rng::seed_from_u64(seed as u64 * 100 + api_variant);
                let varied = vary(doc.clone(), &mut rng);
                let world = world::compile(&varied).unwrap();
                let (scenario_set, findings) = crate::scenarios::ScenarioSet::new(&varied, &world);
                assert!(findings.is_empty(), "{name}: {findings:?}");
                assert_eq!(scenario_set.scenarios().len(), written, "{name}");
            }
        }
    }

    #[test]
    fn scenarios_play_on_every_api_variant() {
        use diorama_proof::Candidate;
        use diorama_seeds::task::Ability;

        use crate::scenarios::{Further, PlayError, PlayOptions, PlayResult, Pool, Shares, play};
        use crate::worlds::make::make_world;
        use crate::worlds::world::WorldTemplate;

        let mut shapes = HashSet::new();
        for (seed, domain) in due_domains() {
            let doc = domain.doc().unwrap();
            let name = &doc.name;
            for api_variant in 0..3 {
                let mut rng = ChaCha8Rng::seed_from_u64(seed as u64 * 10 + api_variant);
                let world_template =
                    WorldTemplate::new(&vary(doc.clone(), &mut rng), 5, &Shares::new(), &Ability::ALL)
                        .unwrap();
                let batch = make_world(&world_template, api_variant).unwrap();
                for scenario in world_template.scenario_set.scenarios() {
                    let options = PlayOptions {
                        ability: Ability::Call,
                        seed: api_variant,
                        clock: batch.base.world().clock,
                        opening: None,
                        detour: None,
                        further: Further::Any,
                        forbids: false,
                        push: None,
                        patience: None,
                        pool: Pool::Usual,
                    };
                    let is_lost = |played: &Result<PlayResult<'_>, PlayError>| {
                        matches!(
                            played,
                            Err(PlayError::Words { .. }
                                | PlayError::NoFact(_)
                                | PlayError::Each(_)
                                | PlayError::Unknown(_)
                                | PlayError::NotSignedIn(_))
                        )
                    };
                    // A reply may have no suitable item, so a scenario fails only if no draw plays.
                    let mut played = play(&batch, scenario, &[], options, &mut rng);
                    for _ in 0..3 {
                        if is_lost(&played) {
                            played = play(&batch, scenario, &[], options, &mut rng);
                        }
                    }
                    let lost = is_lost(&played);
                    assert!(!lost, "{name}, {}: {played:?}", scenario.doc.name);
                    let arguments = |candidate: &Candidate| {
                        let turns = candidate.goals.iter().flat_map(|goal| &goal.turns);
                        let calls = turns.flat_map(|turn| &turn.calls);
                        calls.flat_map(|call| call.arguments.keys().cloned()).collect::<Vec<_>>()
                    };
                    shapes.extend(played.map(|played| arguments(&played.candidate)).unwrap_or_default());
                }
            }
        }
        // One parameter occurs in each casing.
        let occurs = |name: &String| {
            let [camel, pascal] =
                [Casing::Camel, Casing::Pascal].map(|casing| casing.write(name).into_owned());
            name.contains('_') && shapes.contains(&camel) && shapes.contains(&pascal)
        };
        assert!(shapes.iter().any(occurs), "{shapes:?}");
    }

    #[test]
    fn names_are_split_at_capitals() {
        assert_eq!(words("MyPINs"), ["my", "pins"]);
        assert_eq!(words("FindBook"), ["find", "book"]);
    }
}
