//! Moves a policy into articles: assistants search for the deciding one, and the system message states no
//! rules.

use std::collections::{BTreeMap, BTreeSet};

use diorama_seeds::doc::{ApiDoc, ArticlesDoc, DomainDoc, HouseDoc, RecordsDoc, ResourceDoc, WorldDoc};
use diorama_seeds::english::{capitalised, enumerate, plural, split_identifier};
use diorama_seeds::model::HouseRule;
use diorama_seeds::value::{Date, Zone};
use diorama_seeds::world::{self, Report};
use indexmap::IndexMap;
use rand::RngExt;
use rand::seq::{IndexedRandom, IteratorRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use crate::scenarios::speech::{SPEECH, fill};

/// The API that searches the articles.
const SEARCH: &str = "SearchPolicy";
/// The resource of the articles.
const ARTICLE: &str = "policy_article";
/// Days between the start of a world and an article's first day in force, then back to its predecessor's
/// first day.
const DAYS_IN_FORCE: std::ops::RangeInclusive<i32> = 60..=420;
const DAYS_BEFORE: std::ops::RangeInclusive<i32> = 200..=700;
/// The number of articles without a rule.
const GENERAL_ARTICLES: std::ops::RangeInclusive<usize> = 2..=4;
/// The fewest letters of a topic word.
const MIN_TOPIC_LETTERS: usize = 4;

struct Article {
    title: String,
    text: String,
    topics: Vec<String>,
    rules: Vec<String>,
    valid_from: Date,
    is_replaced: bool,
}

/// Moves the policy of the first domain into articles. Scenarios with governed calls that do not read the
/// policy are left out.
/// Returns none if no scenario would remain, or the domain has no policy.
///
/// # Errors
/// Returns an error if the document is invalid.
pub(super) fn put_policy(doc: &WorldDoc, rng: &mut ChaCha8Rng) -> Result<Option<DomainDoc>, Report> {
    let mut domains = doc.to_domains().into_owned();
    if domains.is_empty() {
        return Ok(None);
    }
    let mut domain = domains.swap_remove(0);
    let Some(house) = domain.domain.house.clone() else { return Ok(None) };
    let governed: BTreeSet<&String> = house.rules.iter().flat_map(|rule| &rule.calls).collect();
    domain.scenarios.retain(|scenario| {
        let mut called = scenario.calls().filter_map(|call| call.call.as_ref());
        scenario.policy || !called.any(|call| governed.contains(call))
    });
    let is_taken = domain.resources.contains_key(ARTICLE) || domain.apis.iter().any(|api| api.name == SEARCH);
    if is_taken || !domain.scenarios.iter().any(|scenario| scenario.policy) {
        return Ok(None);
    }
    let (now, before) = draw_numbers(&house, rng);
    let rules = compile_rules(doc, &domain, &now)?;
    let replaced = compile_rules(doc, &domain, &before)?;
    domain.domain.house = Some(HouseDoc { numbers: now, ..house.clone() });
    let zone = Zone::named(&doc.zone).unwrap_or_else(Zone::utc);
    let today = zone.parse_instant(&doc.clock).map_or(Date(0), |clock| zone.date_of(clock));
    let mut articles = Vec::new();
    for (positions, apis) in group_rules(&house) {
        articles.extend(write_articles(&house, (&rules, &replaced), (&positions, &apis), today, rng));
    }
    articles.extend(write_general(&house, today, rng));
    articles.shuffle(rng);
    let records: Vec<IndexMap<String, Json>> =
        articles.iter().zip(1..).map(|(article, number)| record(article, number)).collect();
    if let (Some(mut resource), Some(search)) =
        (of_json::<ResourceDoc>(resource()), of_json::<ApiDoc>(search()))
    {
        resource.records = RecordsDoc::Given(records);
        domain.resources.insert(ARTICLE.to_owned(), resource);
        domain.apis.push(search);
    }
    if let Some(house) = &mut domain.domain.house {
        let (text, rules) = ("text".to_owned(), "rules".to_owned());
        let is_other = |name: &String, value: Option<&i64>| {
            house.numbers.get(name).is_some_and(|values| values.first() != value)
        };
        let other = before.into_iter().filter(|(name, values)| is_other(name, values.first()));
        let replaced = other.filter_map(|(name, values)| Some((name, *values.first()?))).collect();
        house.articles = Some(ArticlesDoc { resource: ARTICLE.to_owned(), text, rules, replaced });
    }
    Ok(Some(domain))
}

type Numbers = IndexMap<String, Vec<i64>>;

/// Draws the numbers in force, before the others that the domain allows, and earlier ones that differ where
/// possible.
fn draw_numbers(house: &HouseDoc, rng: &mut ChaCha8Rng) -> (Numbers, Numbers) {
    let (mut now, mut before) = (Numbers::new(), Numbers::new());
    for (name, values) in &house.numbers {
        let Some(current) = values.choose(rng) else { continue };
        let others = || values.iter().filter(|value| *value != current);
        let other = others().choose(rng).unwrap_or(current);
        now.insert(name.clone(), std::iter::once(current).chain(others()).copied().collect());
        before.insert(name.clone(), vec![*other]);
    }
    (now, before)
}

/// Returns the rules of the domain as people read them, with these numbers.
fn compile_rules(doc: &WorldDoc, domain: &DomainDoc, numbers: &Numbers) -> Result<Vec<HouseRule>, Report> {
    let mut domain = domain.clone();
    domain.scenarios.clear();
    domain.domain.house.iter_mut().for_each(|house| house.numbers.clone_from(numbers));
    let compiled = world::compile(&WorldDoc { domains: vec![domain], ..doc.head() })?;
    Ok(compiled.domains.into_iter().next().map(|domain| domain.house).unwrap_or_default())
}

/// Returns the APIs that the same rules govern, by the positions of those rules.
fn group_rules(house: &HouseDoc) -> BTreeMap<Vec<usize>, Vec<String>> {
    let mut of_api: BTreeMap<&String, Vec<usize>> = BTreeMap::new();
    for (position, rule) in house.rules.iter().enumerate() {
        rule.calls.iter().for_each(|api| of_api.entry(api).or_default().push(position));
    }
    let mut groups: BTreeMap<Vec<usize>, Vec<String>> = BTreeMap::new();
    for (api, positions) in of_api {
        groups.entry(positions).or_default().push(api.clone());
    }
    groups
}

/// Writes the article of these rules, and the one that it replaced if a number was different.
fn write_articles(
    house: &HouseDoc,
    (rules, replaced): (&[HouseRule], &[HouseRule]),
    (positions, apis): (&[usize], &[String]),
    today: Date,
    rng: &mut ChaCha8Rng,
) -> Vec<Article> {
    let own = || positions.iter().filter_map(|at| rules.get(*at));
    let act = own().map(|rule| &*rule.act).min_by_key(|act| act.len()).unwrap_or_default();
    let title = capitalised(act);
    let topics = topics(own().map(|rule| &*rule.act), apis);
    let valid_from = Date(today.0 - rng.random_range(DAYS_IN_FORCE));
    let mut examples: Vec<&str> = own().flat_map(|rule| &rule.examples).map(|example| &**example).collect();
    examples.shuffle(rng);
    examples.truncate(2);
    let sentences: Vec<(usize, usize)> = positions.iter().map(|at| (*at, rng.random_range(0..3))).collect();
    let list = |rules: &[HouseRule]| {
        let lines = sentences.iter().zip(1..).filter_map(|((at, wording), number)| {
            let sentences = &rules.get(*at)?.sentences;
            Some(format!("{number}. {}", sentences.get(*wording).or(sentences.first())?))
        });
        lines.collect::<Vec<_>>().join(" ")
    };
    let text = examples.iter().fold(list(rules), |text, example| format!("{text} Example: {example}"));
    let names = positions.iter().filter_map(|at| Some(house.rules.get(*at)?.name.clone()));
    let mut articles = Vec::new();
    if list(rules) != list(replaced) {
        let words = SPEECH.replaced_articles.choose(rng).map_or("", String::as_str);
        let date = valid_from.to_string();
        articles.push(Article {
            title: title.clone(),
            text: format!("{} {}", fill(words, &[("date", &date), ("title", &title)]), list(replaced)),
            topics: topics.clone(),
            rules: Vec::new(),
            valid_from: Date(valid_from.0 - rng.random_range(DAYS_BEFORE)),
            is_replaced: true,
        });
    }
    articles.push(Article { title, text, topics, rules: names.collect(), valid_from, is_replaced: false });
    articles
}

/// Writes articles without a rule.
fn write_general(house: &HouseDoc, today: Date, rng: &mut ChaCha8Rng) -> Vec<Article> {
    let acts: BTreeSet<&str> = house.rules.iter().map(|rule| &*rule.act).collect();
    let acts: Vec<&str> = acts.into_iter().collect();
    let count = rng.random_range(GENERAL_ARTICLES);
    let chosen = SPEECH.general_articles.iter().sample(rng, count);
    let article = |words: &Vec<String>| {
        let [title, text] = words.as_slice() else { return None };
        let named: Vec<&str> = acts.iter().copied().take(4).collect();
        Some(Article {
            title: title.clone(),
            text: fill(text, &[("acts", &enumerate(&named))]),
            topics: topics(named.into_iter(), &[]),
            rules: Vec::new(),
            valid_from: Date(today.0 - rng.random_range(DAYS_IN_FORCE)),
            is_replaced: false,
        })
    };
    chosen.into_iter().filter_map(article).collect()
}

/// Returns the words that find an article: those of the acts and of the APIs, in the singular and the plural.
fn topics<'a>(acts: impl Iterator<Item = &'a str>, apis: &[String]) -> Vec<String> {
    let of_acts = acts.flat_map(|act| act.split(|letter: char| !letter.is_alphanumeric())).map(str::to_owned);
    let of_apis = apis.iter().flat_map(|api| split_identifier(api));
    let mut found: Vec<String> = Vec::new();
    for word in of_acts.chain(of_apis) {
        let word = word.to_lowercase();
        if word.chars().count() < MIN_TOPIC_LETTERS {
            continue;
        }
        for form in [word.clone(), plural(&word)] {
            if !found.contains(&form) {
                found.push(form);
            }
        }
    }
    found
}

fn record(article: &Article, number: u32) -> IndexMap<String, Json> {
    let members = [
        ("article_id", json!(format!("P-{number:02}"))),
        ("title", json!(article.title)),
        ("status", json!(if article.is_replaced { "replaced" } else { "in_force" })),
        ("valid_from", json!(article.valid_from.to_string())),
        ("text", json!(article.text)),
        ("topics", json!(article.topics)),
        ("rules", json!(article.rules)),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn resource() -> Json {
    let words = json!({"type": "list", "items": {"type": "string"}});
    json!({
        "key": "article_id",
        "label": "policy article",
        "display": "title",
        "fields": {
            "article_id": {"type": "string", "description": "Number of the article"},
            "title": {"type": "string", "description": "Title"},
            "status": {"enum": ["in_force", "replaced"], "description": "Whether the article holds or another one has replaced it"},
            "valid_from": {"type": "date", "description": "Day from which it holds, or held"},
            "text": {"type": "string", "description": "The article"},
            "topics": words,
            "rules": words,
        },
    })
}

fn search() -> Json {
    json!({
        "name": SEARCH,
        "method": "GET",
        "path": "/policy-articles",
        "description": "Searches the articles of the policy. An article is found where each word of the query stands in its title, its topics or its text: one or two words find the most.",
        "parameters": {"query": {"type": "string", "min_length": 1, "max_length": 80, "description": "Words to look for"}},
        "behaviour": {"list": ARTICLE, "filters": {"query": {"text": ["title", "topics", "text"]}}, "sort": {"by": "article_id"}},
        "reply": {"fields": ["article_id", "title", "status", "valid_from", "text"], "items": "articles"},
        // The words of the system messages that name the tool.
        "phrases": {"search": ["policy articles", "policy article", "search the policy"]},
    })
}

/// Parses a part of a document, as a file would contain it.
fn of_json<T: DeserializeOwned>(json: Json) -> Option<T> {
    serde_json::from_value(json).ok()
}
