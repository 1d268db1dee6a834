use super::check;

#[test]
fn tokens_are_issued_checked_and_ended() {
    check(
        "tokens",
        r#"
        Me
        Me {"token": "made-up"}
        SignIn {"email": "ana@example.org", "pin": "2222"}
        SignIn {"email": "nobody@example.org", "pin": "1111"}
        SignIn {"email": " ANA@example.org", "pin": "1111"}
        Me {"token": "$token"}
        clock 2026-03-02T09:09:59
        Me {"token": "$token"}
        clock 2026-03-02T09:10
        Me {"token": "$token"}
        SignIn {"email": "rui@example.org", "pin": "2222"}
        Me {"token": "$token"}
        DeleteCustomer {"customer_id": 102}
        Me {"token": "$token"}
        SignIn {"email": "ana@example.org", "pin": "1111"}
        SignOut {"token": "$token"}
        SignOut {"token": "$token"}
        Me {"token": "$token"}
        "#,
    );
}

#[test]
fn users_see_and_change_only_what_they_own() {
    check(
        "ownership",
        r#"
        SignIn {"email": "ana@example.org", "pin": "1111"}
        MyOrders {"token": "$token"}
        MyOrder {"token": "$token", "order_id": "ORD-1001"}
        MyOrder {"token": "$token", "order_id": "ORD-1002"}
        MyOrder {"token": "$token", "order_id": "ORD-9999"}
        CancelOrder {"token": "$token", "order_id": "ORD-1003"}
        CancelOrder {"token": "$token", "order_id": "ORD-1001"}
        CancelOrder {"token": "$token", "order_id": "ORD-1001"}
        "#,
    );
}

#[test]
fn a_create_of_a_signed_in_user_is_theirs_and_all_or_nothing() {
    check(
        "orders",
        r#"
        SignIn {"email": "ana@example.org", "pin": "1111"}
        clock 2026-03-02T09:05
        PlaceOrder {"token": "$token", "product_id": 11, "quantity": 4}
        PlaceOrder {"token": "$token", "product_id": 11, "quantity": 1}
        PlaceOrder {"token": "$token", "product_id": 14, "quantity": 6}
        PlaceOrder {"token": "$token", "product_id": 15, "quantity": 2}
        PlaceOrder {"token": "$token", "product_id": 99, "quantity": 1}
        PlaceOrder {"token": "$token", "product_id": 12, "quantity": 2}
        MyOrders {"token": "$token"}
        "#,
    );
}
