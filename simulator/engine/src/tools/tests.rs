use super::*;
use crate::tests::shop;

#[test]
fn parameters_become_json_schema() {
    let base = shop();
    let world = base.world();
    let names = ["ListProducts", "AddWish", "Restock", "PlaceOrder", "OrdersOn", "AllNames"];
    let schemas: Vec<Json> =
        names.iter().map(|name| tool_schema(world, world.api_named(name).unwrap())).collect();
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_json_snapshot!("tool_schemas", schemas);
        insta::assert_json_snapshot!("tool_searcher", base.tool_searcher_schema());
    });
}

/// Checks the names that the search by words finds, best first.
fn check(keywords: &str, expect: &[&str]) {
    let base = shop();
    let found: Vec<&str> = tool_search(&base, SearchVersion::V1, keywords)
        .iter()
        .map(|hit| &*base.world().api(hit.api).name)
        .collect();
    assert_eq!(found.get(..expect.len().min(found.len())), Some(expect), "{keywords}: {found:?}");
    assert!(found.len() <= MAX_HITS);
}

#[test]
fn words_find_what_is_asked_for() {
    check("cancel order", &["CancelOrder"]);
    check("PlaceOrder", &["PlaceOrder"]);
    check("wishlist", &["GetWishlist"]);
    check("list orders", &["MyOrders"]);
    check("sign in", &["SignIn"]);
    check("products by cursor", &["ScrollProducts"]);
    check("weather forecast", &[]);
    check("", &[]);
    check(&"Sign-in! ".repeat(1_000), &["SignIn"]);
}

#[test]
fn a_reply_holds_the_schemas_as_they_are() {
    let base = shop();
    let call = crate::tests::call("ToolSearcher {\"keywords\": \"sign in\"}");
    let reply = crate::apply(&base, &crate::State::initial(&base, 0), &call).reply;
    let tree = reply.json_tree(&base.world().zone);
    for tool in tree["tools"].as_array().unwrap() {
        let api = base.api_named(tool["name"].as_str().unwrap()).unwrap();
        assert_eq!(*tool, tool_schema(base.world(), api)["function"]);
    }
    assert_eq!(tree["tools"][0]["name"], "SignIn");
}

#[test]
fn the_search_fuses_words_and_meaning_and_needs() {
    let base = shop();
    let found = |version, keywords: &str| -> Vec<&str> {
        let hits = tool_search(&base, version, keywords);
        hits.iter().map(|hit| &*base.world().api(hit.api).name).collect()
    };
    let first = |keywords: &str| found(SearchVersion::V3, keywords).first().copied();
    assert_eq!(first("cancel order"), Some("CancelOrder"));
    assert_eq!(first("PlaceOrder"), Some("PlaceOrder"));
    assert_eq!(first("purchase something"), Some("GetProduct"), "by meaning");
    assert!(found(SearchVersion::V1, "purchase something").is_empty());
    assert!(found(SearchVersion::V3, "wishlist").contains(&"FindCustomer"), "a wish list is a customer's");
    assert_eq!(first(""), None);
    assert_eq!(first("?!"), None);
}

/// Search phrases also find an API.
#[test]
fn search_phrases_count() {
    let mut world = shop().world().clone();
    let api = world.api_named("StockTotal").unwrap();
    world.apis[api.index()].search = vec!["tally the warehouse".into()];
    let hits = tool_search(&Base::new(world).unwrap(), SearchVersion::V3, "warehouse");
    assert_eq!(hits.first().map(|hit| hit.api), Some(api));
}

/// Rows that name a version must replay, so its results must never change, including the scores.
#[test]
fn versions_find_what_they_found() {
    let base = shop();
    let keywords = [
        "cancel order",
        "PlaceOrder",
        "wishlist",
        "list my orders",
        "log in",
        "purchase something",
        "cheapest products",
        "a",
        "what is in stock?",
        "change the quantity of a product in an order",
        "größe ändern",
        "delete account",
    ];
    let mut lines = Vec::new();
    for version in SearchVersion::ALL {
        for keywords in keywords {
            let hits = tool_search(&base, version, keywords);
            let hits = hits.iter().map(|hit| format!("{} {}", base.world().api(hit.api).name, hit.score));
            lines.push(format!("{} {keywords:?}: {}", version.name(), hits.collect::<Vec<_>>().join(", ")));
        }
    }
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("tool_search", lines.join("\n"));
    });
}

#[test]
fn a_reply_shows_the_hits_alone_and_before_the_fourth_version_who_signs_in() {
    let base = shop();
    let sign_in = base.world().api_named("SignIn").unwrap();
    let shows = |version| tools_shown(&base, version, "list my orders").contains(&sign_in);
    assert!(shows(SearchVersion::V3) && !shows(SearchVersion::V4));
    assert_eq!(tools_shown(&base, SearchVersion::V4, "sign in").first(), Some(&sign_in));
}

#[test]
fn versions_are_chosen_by_session() {
    use crate::session::{Session, SessionOptions};
    let call = crate::tests::call("ToolSearcher {\"keywords\": \"purchase something\"}");
    let base = shop();
    let finds = |search| {
        let options = SessionOptions { search, visible: Some(Vec::new()), ..SessionOptions::default() };
        let mut session = Session::new(base.clone(), options);
        let entry = session.call(&call);
        let tree = entry.reply.json_tree(&base.world().zone);
        assert_eq!(tree["tools"].as_array().unwrap().len(), session.visible().count(), "shown is callable");
        session.visible().next().is_some()
    };
    assert!(finds(None) && finds(Some(SearchVersion::V3)) && !finds(Some(SearchVersion::V1)));
    for version in SearchVersion::ALL {
        assert_eq!(SearchVersion::named(version.name()), Some(version));
    }
}
