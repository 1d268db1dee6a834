use super::{check, small, transcript};

#[test]
fn filters_narrow_and_those_not_given_do_nothing() {
    check(
        "filters",
        r#"
        ListProducts {"limit": 9}
        ListProducts {"limit": 9, "kind": "tool"}
        ListProducts {"limit": 9, "not_kind": "tool"}
        ListProducts {"limit": 9, "max_price": 9}
        ListProducts {"limit": 9, "above": 9}
        ListProducts {"limit": 9, "tag": "steel"}
        ListProducts {"limit": 9, "kinds": ["toy", "tool"]}
        ListProducts {"limit": 9, "kinds": []}
        ListProducts {"limit": 9, "starts": "éL"}
        ListProducts {"limit": 9, "part": "A"}
        ListProducts {"limit": 9, "q": "HIGH flies"}
        ListProducts {"limit": 9, "q": "saw old steel"}
        ListProducts {"limit": 9, "q": "sa"}
        ListProducts {"limit": 9, "q": "?!"}
        ListProducts {"limit": 9, "launched": "2025-01-10"}
        ListProducts {"limit": 9, "launched": null}
        ListProducts {"limit": 9, "launched_after": "2024-06-01"}
        ListProducts {"limit": 9, "kind": "tool", "max_price": 10, "q": "saw"}
        OrdersOn {"day": "2026-03-01"}
        OrdersOn {"day": "2026-03-02"}
        OrdersOn {"day": "2026-03-03"}
        "#,
    );
}

#[test]
fn callers_choose_the_order_and_ties_are_by_key() {
    check(
        "sorting",
        r#"
        ListProducts {"limit": 9, "sort": "price"}
        ListProducts {"limit": 9, "sort": "-price"}
        ListProducts {"limit": 2, "sort": "price.desc"}
        ListProducts {"limit": 2, "sort": "price.asc", "page": 2}
        ListProducts {"limit": 9, "sort": "launched"}
        ListProducts {"limit": 9, "sort": "-launched"}
        ListProducts {"sort": "stock"}
        ListProducts {"sort": "price.up"}
        ListProducts {"sort": ""}
        "#,
    );
}

#[test]
fn pages_are_numbers_offsets_or_cursors() {
    check(
        "paging",
        r#"
        ListProducts
        ListProducts {"page": 2}
        ListProducts {"page": 3}
        ListProducts {"page": 0}
        ListProducts {"page": 9223372036854775807}
        ListProducts {"limit": 0}
        SkipProducts
        SkipProducts {"offset": 2}
        SkipProducts {"offset": 3}
        SkipProducts {"offset": -1}
        ScrollProducts
        ScrollProducts {"cursor": "2"}
        ScrollProducts {"cursor": ""}
        AllNames
        "#,
    );
}

#[test]
fn a_cursor_leads_through_the_whole_list() {
    let base = super::shop();
    let zone = &base.world().zone;
    let mut state = crate::State::initial(&base, 1);
    let mut seen = Vec::new();
    let mut arguments = "{}".to_owned();
    loop {
        let applied = crate::apply(&base, &state, &super::call(&format!("ScrollProducts {arguments}")));
        let body = applied.reply.json_tree(zone);
        seen.extend(
            body["results"].as_array().unwrap().iter().map(|item| item["product_id"].as_i64().unwrap()),
        );
        state = applied.state;
        match body["next"].as_str() {
            Some(next) => arguments = format!("{{\"cursor\": \"{next}\"}}"),
            None => break,
        }
    }
    assert_eq!(seen, [13, 12, 15, 11, 14]);
}

#[test]
fn lists_show_what_the_session_changed() {
    check(
        "lists_after_writes",
        r#"
        AddProduct {"name": "Drill", "price": 60, "kind": "tool"}
        PatchProduct {"product_id": 12, "name": "Mallet"}
        DeleteProduct {"product_id": 13}
        ListProducts {"limit": 9}
        ListProducts {"limit": 9, "kind": "tool", "sort": "-price"}
        ListProducts {"limit": 9, "tag": "new"}
        FindProduct {"name": "mallet"}
        FindProduct {"name": "hammer"}
        FindProduct {"name": "drill"}
        ProductStats
        "#,
    );
}

#[test]
fn members_come_in_the_order_of_their_list() {
    check(
        "members",
        r#"
        GetWishlist {"customer_id": 101}
        GetWishlist {"customer_id": 101, "sort": "price"}
        GetWishlist {"customer_id": 102}
        GetWishlist {"customer_id": 999}
        AddWish {"customer_id": 101, "product_ids": [12], "at": 0}
        AddWish {"customer_id": 101, "product_ids": [14]}
        AddWish {"customer_id": 102, "product_ids": [12, 11]}
        AddWish {"customer_id": 102, "product_ids": [14, 14]}
        AddWish {"customer_id": 102, "product_ids": [99]}
        AddWish {"customer_id": 102, "product_ids": [14], "at": 3}
        AddWish {"customer_id": 102, "product_ids": [14], "at": -1}
        RemoveWish {"customer_id": 101, "product_id": 13}
        RemoveWish {"customer_id": 101, "product_id": 13}
        DeleteProduct {"product_id": 11}
        "#,
    );
}

#[test]
fn a_list_without_pages_replies_a_thousand_at_most() {
    let records: Vec<String> = (0..1_200).map(|n| format!("      - {{n_id: {n}}}")).collect();
    let base = small(&format!(
        "resources:\n  n:\n    key: n_id\n    fields: {{n_id: {{type: integer}}}}\n    records:\n{}\napis:\n  - {{name: ListAll, method: GET, path: /n, description: Lists., behaviour: {{list: n}}}}\n",
        records.join("\n")
    ));
    let shown = transcript(&base, "ListAll");
    assert!(shown.contains("{\"n_id\":999}],\"total\":1200}"), "{shown}");
}
