use std::sync::Arc;

use super::*;
use diorama_engine::embed::{EmbedError, Embedder, embedded};
use diorama_seeds::model::Method;

fn entry(api: &str, description: &str, inputs: &[&str], outputs: &[&str]) -> ApiEntry {
    ApiEntry {
        world: "w".into(),
        api: api.into(),
        domain: "d".into(),
        description: description.into(),
        method: Some(if api.starts_with("List") { Method::Get } else { Method::Post }),
        inputs: inputs.iter().map(|name| Port::named(name)).collect(),
        outputs: outputs.iter().map(|name| Port::named(name)).collect(),
        ..ApiEntry::default()
    }
}

fn pool() -> Vec<ApiEntry> {
    vec![
        entry("PayInvoice", "Pays a bill.", &["invoice_ID", "account_id"], &["receipt"]),
        entry("InvoiceOfOrder", "Gives the bill of an order.", &["order_id"], &["invoiceId"]),
        entry("OrderByNumber", "Finds a purchase.", &["number"], &["order_id"]),
        entry("ListAccounts", "Lists bank accounts of a person.", &["person"], &["account_id"]),
        entry("ListTrains", "Lists departures from a station.", &["station"], &["trains"]),
        entry("OpenAccount", "Opens a bank account.", &["person", "account_id"], &["account_id"]),
    ]
}

fn index(entries: Vec<ApiEntry>) -> ApiIndex {
    ApiIndex::new(entries, embedded().unwrap()).unwrap()
}

fn names(index: &ApiIndex, query: ApiQuery<'_>) -> Vec<String> {
    index.search(query).unwrap().into_iter().map(|hit| hit.api).collect()
}

fn check(query: ApiQuery<'_>, expect: &[&str]) {
    let found = names(&index(pool()), ApiQuery { k: expect.len(), ..query });
    assert_eq!(found, expect, "{query:?}");
}

#[test]
fn what_a_hit_needs_is_found_however_far() {
    let text = "pay the bill";
    let index = index(pool());
    let hits = index.search(ApiQuery { text, k: 10, ..ApiQuery::default() }).unwrap();
    let by = |api: &str| hits.iter().find(|hit| hit.api == api).and_then(|hit| hit.scores.needed_by.clone());
    assert_eq!(hits[0].api, "PayInvoice");
    assert_eq!(by("InvoiceOfOrder").as_deref(), Some("PayInvoice"));
    assert_eq!(by("ListAccounts").as_deref(), Some("PayInvoice"));
    assert_eq!(by("OrderByNumber").as_deref(), Some("InvoiceOfOrder"));
    assert_eq!(by("OpenAccount"), None, "what asks for a thing does not tell it");
    let fused = index.search(ApiQuery { text, k: 10, by: SearchBy::Fused, ..ApiQuery::default() }).unwrap();
    assert!(fused.iter().all(|hit| hit.scores.needed_by.is_none()));
}

/// Returns the source that a search finds for the input `user id`, in a pool where one API asks for it.
fn source_of(sources: Vec<ApiEntry>) -> String {
    let mut pool = vec![entry("SendLetter", "Posts a letter to somebody.", &["user_id"], &[])];
    pool.extend(sources);
    let hits = index(pool).search(ApiQuery { text: "post a letter", k: 9, ..ApiQuery::default() }).unwrap();
    assert_eq!(hits[0].api, "SendLetter", "what fits the words best stays first");
    hits.into_iter().find(|hit| hit.scores.needed_by.is_some()).map(|hit| hit.api).unwrap_or_default()
}

#[test]
fn the_best_source_is_near_and_tells_this_only_and_asks_for_no_identifier() {
    let found = source_of(vec![
        entry("AccountOwner", "Gives a user.", &["account_id"], &["user_id"]),
        entry("FindUser", "Gives a user.", &["name"], &["user_id"]),
    ]);
    assert_eq!(found, "FindUser");
    let found = source_of(vec![
        entry("AllOfOrders", "Gives a user.", &["name"], &["user_id", "order_id", "parcel_id"]),
        entry("FindUser", "Gives a user.", &["name"], &["user_id"]),
    ]);
    assert_eq!(found, "FindUser");
    let found = source_of(vec![
        entry("BakerOfBread", "Tells who bakes bread.", &["name"], &["user_id"]),
        entry("WriterOfLetter", "Tells who posts letters.", &["name"], &["user_id"]),
    ]);
    assert_eq!(found, "WriterOfLetter");
}

#[test]
fn a_need_has_some_sources_and_none_twice() {
    let sources =
        (0..6).map(|at| entry(&format!("FindUser{at}"), "Gives a user.", &["name"], &["user_id"])).collect();
    let mut pool: Vec<ApiEntry> = sources;
    pool.push(entry("SendLetter", "Posts a letter.", &["user_id"], &[]));
    pool.push(entry("StampLetter", "Posts a letter with a stamp.", &["sender_user_id"], &[]));
    let hits = index(pool).search(ApiQuery { text: "post a letter", k: 20, ..ApiQuery::default() }).unwrap();
    let needed: Vec<&ApiHit> = hits.iter().filter(|hit| hit.scores.needed_by.is_some()).collect();
    assert!((3..6).contains(&needed.len()), "{hits:?}");
    let scores: Vec<f32> = needed.iter().map(|hit| hit.score).collect();
    assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]) && scores[0] > scores[2], "{scores:?}");
}

#[test]
fn a_longer_name_is_filled_by_what_it_ends_with() {
    let mut pool = pool();
    pool.push(entry("GiveRefund", "Returns money to a buyer.", &["original_invoice_ID"], &[]));
    let hits = index(pool).search(ApiQuery { text: "refund", k: 10, ..ApiQuery::default() }).unwrap();
    let by = |api: &str| hits.iter().find(|hit| hit.api == api).and_then(|hit| hit.scores.needed_by.clone());
    assert_eq!(by("InvoiceOfOrder").as_deref(), Some("GiveRefund"));
}

#[test]
fn a_hit_gains_from_hits_that_can_fill_its_inputs() {
    let pool = vec![
        entry("PlaylistSong", "Shows a song of a playlist.", &["melody"], &[]),
        entry("KeepSong", "Shows a song of a playlist.", &["song_id"], &[]),
        entry("FindSong", "Finds a song of a playlist.", &["title"], &["song_id"]),
    ];
    let index = index(pool);
    let fed = |by| {
        let hits = index.search(ApiQuery { text: "song playlist", k: 3, by, ..ApiQuery::default() }).unwrap();
        hits.iter().find(|hit| hit.api == "KeepSong").unwrap().scores.fed
    };
    assert!(fed(SearchBy::FusedAndNeeds).is_some_and(|gain| gain > 0.0));
    assert_eq!(fed(SearchBy::Fused), None);
}

#[test]
fn each_part_says_its_score() {
    let index = index(pool());
    let of =
        |by| index.search(ApiQuery { text: "railway departures", k: 1, by, ..ApiQuery::default() }).unwrap();
    for by in SearchBy::ALL {
        let hit = of(by).remove(0);
        assert_eq!(hit.api, "ListTrains", "{by:?}");
        assert_eq!(hit.scores.lexical.is_some(), by != SearchBy::Meaning);
        assert_eq!(hit.scores.embedding.is_some(), by != SearchBy::Words);
    }
}

#[test]
fn meaning_finds_what_shares_no_word() {
    check(
        ApiQuery { text: "railway timetable", by: SearchBy::Meaning, ..ApiQuery::default() },
        &["ListTrains"],
    );
    check(ApiQuery { text: "railway timetable", by: SearchBy::Words, ..ApiQuery::default() }, &[]);
}

#[test]
fn filters_narrow_every_part() {
    let mut entries = pool();
    entries[4].domain = "rail".into();
    entries[5].world = "other".into();
    let index = index(entries);
    let all = |query: ApiQuery<'_>| {
        for by in SearchBy::ALL {
            let hits = index.search(ApiQuery { text: "account bill train", k: 10, by, ..query }).unwrap();
            assert!(!hits.is_empty(), "{by:?}");
            assert!(hits.iter().all(|hit| query.world.is_none_or(|world| hit.world == world)), "{by:?}");
            assert!(hits.iter().all(|hit| query.domain.is_none_or(|domain| hit.domain == domain)), "{by:?}");
            let method = query.method.map(Method::as_str);
            assert!(hits.iter().all(|hit| method.is_none() || hit.method == method), "{by:?}");
        }
    };
    all(ApiQuery { world: Some("other"), ..ApiQuery::default() });
    all(ApiQuery { domain: Some("rail"), ..ApiQuery::default() });
    all(ApiQuery { method: Some(Method::Get), ..ApiQuery::default() });
    let none = ApiQuery { text: "account", k: 5, world: Some("w"), domain: Some("x"), ..ApiQuery::default() };
    assert_eq!(names(&index, none), Vec::<String>::new());
}

#[test]
fn an_empty_query_or_pool_finds_nothing() {
    check(ApiQuery { text: "", ..ApiQuery::default() }, &[]);
    check(ApiQuery { text: "?!", ..ApiQuery::default() }, &[]);
    let empty = index(Vec::new());
    assert!(
        empty.is_empty() && names(&empty, ApiQuery { text: "pay", k: 5, ..ApiQuery::default() }).is_empty()
    );
}

#[test]
fn hostile_queries_are_answered() {
    let index = index(pool());
    let long = "pay bills ".repeat(50_000);
    for text in ["\u{0}", "a\u{300}\u{300}", "日本 pay", "[MASK]", "AND OR NOT \"", &long] {
        index.search(ApiQuery { text, k: 5, ..ApiQuery::default() }).unwrap();
    }
}

#[test]
fn positions_are_those_of_the_entries_as_given() {
    let index = index(pool());
    let query = ApiQuery { text: "departures from the station", k: 1, ..ApiQuery::default() };
    assert_eq!(index.positions(query).unwrap(), [4]);
}

#[test]
fn keys_and_tokens_of_a_world_are_told_apart_by_what_they_are() {
    let base = crate::shared::shop();
    let entries = entries("shop", base.world());
    let of = |api: &str| entries.iter().find(|entry| entry.api == api).unwrap();
    let things = |ports: &[Port]| ports.iter().map(|port| port.thing.clone()).collect::<Vec<_>>();
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        let shown: Vec<String> = entries.iter().map(|entry| {
            format!("{} {:?} -> {:?}", entry.api, things(&entry.inputs), things(&entry.outputs))
        }).collect();
        insta::assert_snapshot!("ports", shown.join("\n"));
    });
    let token = of("SignIn").outputs[0].thing.clone();
    assert!(of("CancelOrder").inputs.iter().any(|input| input.thing == token));
}

/// An embedder that replaces the one in the program.
struct Letters;

impl Embedder for Letters {
    fn name(&self) -> &str {
        "letters"
    }

    fn dimensions(&self) -> usize {
        26
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<f32>, EmbedError> {
        let row = |text: &&str| {
            let mut row = vec![0.0; 26];
            for letter in text.bytes().filter(u8::is_ascii_lowercase) {
                row[usize::from(letter - b'a')] += 1.0;
            }
            diorama_engine::embed::normalise(&mut row);
            row
        };
        Ok(texts.iter().flat_map(row).collect())
    }
}

#[test]
fn any_embedder_will_do() {
    let index = ApiIndex::new(pool(), Arc::new(Letters)).unwrap();
    let query = ApiQuery {
        text: "list trains. lists departures from a station",
        k: 1,
        by: SearchBy::Meaning,
        ..ApiQuery::default()
    };
    assert_eq!(names(&index, query), ["ListTrains"]);
}
