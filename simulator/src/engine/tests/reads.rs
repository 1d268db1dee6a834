use super::check;

#[test]
fn records_are_got_looked_up_and_shown_as_the_reply_says() {
    check(
        "reads",
        r#"
        GetProduct {"product_id": 12}
        GetProduct {"product_id": 13}
        GetProduct {"product_id": 77}
        GetProductPage {"product_id": 13, "currency": "USD"}
        GetProductPage {"product_id": 12}
        FindProduct {"name": " apple PIE "}
        FindProduct {"name": "élan kite"}
        FindProduct {"name": "E\u0301LAN KITE"}
        FindProduct {"name": "Apple"}
        FindCustomer {"name": "Ana Sousa"}
        FindCustomer {"name": "RUI COSTA"}
        GetSettings
        "#,
    );
}

#[test]
fn replies_are_computed_from_records_and_arguments() {
    check(
        "computed",
        r#"
        Quote {"product_id": 11, "quantity": 3}
        Quote {"product_id": 13, "quantity": 3}
        Quote {"product_id": 99, "quantity": 3}
        Quote {"product_id": 11, "quantity": 0}
        ProductStats
        ProductStats {"min_price": 9}
        StockTotal
        StockTotal {"kind": "toy"}
        "#,
    );
}
