use super::{call, shop};
use crate::{Body, Origin, State, apply};

/// Checks each leaf with its origin. Example: `reviews[0].stars = 4 from review 501 stars`.
fn check(line: &str, expect: &str) {
    let base = shop();
    let world = base.world();
    let applied = apply(&base, &State::initial(&base, 1), &call(line));
    let mut shown = Vec::new();
    for (path, value, origin) in applied.reply.body.leaves() {
        let from = match origin {
            Origin::Field { resource, key, field } => {
                let declared = world.resource(*resource);
                format!("{} {} {}", declared.name, key.to_text(&world.zone), declared.field(*field).name)
            }
            Origin::Computed => "computed".to_owned(),
            Origin::Constant => "constant".to_owned(),
        };
        shown.push(format!("{path} = {} from {from}", value.to_json(&world.zone)));
        assert_eq!(applied.reply.body.at(&path).and_then(Body::value), Some(value), "{path}");
    }
    let expect: Vec<&str> = expect.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(shown, expect, "{line}");
}

#[test]
fn every_leaf_knows_where_it_came_from() {
    check(
        r#"GetProductPage {"product_id": 13}"#,
        r#"
        data.name = "Élan Kite" from product 13 name
        data.cost = 25 from product 13 price
        data.details.kind = "toy" from product 13 kind
        data.details.shown_in = "web" from constant
        data.reviews[0].stars = 4 from review 501 stars
        data.reviews[0].by.name = "ana sousa" from customer 103 name
        data.reviewers[0] = 103 from review 501 author
        data.reviewers[1] = 102 from review 502 author
        data.double = 50 from computed
        data.now_at = "2026-03-02T09:00:00+00:00" from computed
        data.currency = "EUR" from constant
        data.mean = 2.5 from computed
        "#,
    );
    check(
        r#"ListProducts {"kind": "toy"}"#,
        "
        products[0].product_id = 13 from product 13 product_id
        total = 1 from computed
        page = 1 from constant
        pages = 1 from computed
        limit = 3 from constant
        next_page = null from computed
        ",
    );
    check(
        r#"Quote {"product_id": 11, "quantity": 2}"#,
        r#"
        product = "Apple Pie" from product 11 name
        unit = 4.5 from product 11 price
        quantity = 2 from constant
        total = 9 from computed
        currency = "EUR" from constant
        "#,
    );
    check(
        r#"GetProduct {"product_id": 77}"#,
        r#"
        title = "Not Found" from constant
        status = 404 from constant
        detail = "no product has the product_id 77" from constant
        parameter = "product_id" from constant
        "#,
    );
}

#[test]
fn paths_that_lead_nowhere_find_nothing() {
    let base = shop();
    let body = apply(&base, &State::initial(&base, 1), &call("AllNames")).reply.body;
    assert!(body.at("[4].name").is_some());
    for path in ["[5]", "[x]", "[", "name", "[0].name.x", "[0][0]", "[99999999999999999999]", "€"] {
        assert_eq!(body.at(path), None, "{path}");
    }
}
