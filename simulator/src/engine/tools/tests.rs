use super::*;
use crate::engine::tests::shop;

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

/// The names found, best first.
fn check(keywords: &str, expect: &[&str]) {
    let base = shop();
    let found: Vec<&str> =
        tool_search(&base, keywords).iter().map(|hit| &*base.world().api(hit.api).name).collect();
    assert_eq!(found.get(..expect.len().min(found.len())), Some(expect), "{keywords}: {found:?}");
    assert!(found.len() <= MAX_HITS);
}

#[test]
fn the_search_finds_what_is_asked_for() {
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
    let call = crate::engine::tests::call("ToolSearcher {\"keywords\": \"sign in\"}");
    let reply = crate::engine::apply(&base, &crate::engine::State::initial(&base, 0), &call).reply;
    let tree = reply.json_tree(&base.world().zone);
    for tool in tree["tools"].as_array().unwrap() {
        let api = base.api_named(tool["name"].as_str().unwrap()).unwrap();
        assert_eq!(*tool, tool_schema(base.world(), api)["function"]);
    }
    assert_eq!(tree["tools"][0]["name"], "SignIn");
}
