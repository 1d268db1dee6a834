use super::{State, apply, call, check, small};

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

/// Makes a chain of `length` records with hidden keys, each of which stands for the next. With `circle`, the
/// last one stands for the first.
fn memberships(length: usize, circle: bool) -> std::sync::Arc<crate::Base> {
    let record = |at: usize| {
        let of = if at + 1 < length { at + 1 } else { 0 };
        let of = if at + 1 < length || circle { format!(", of: k{of}") } else { String::new() };
        format!("      - {{link_key: k{at}{of}}}\n")
    };
    let records: String = (0..length).map(record).collect();
    super::small(&format!(
        "resources:
  link:
    key: link_key
    fields:
      link_key: {{type: string}}
      of: {{ref: link, on_delete: clear, optional: true}}
      title: {{type: string, optional: true}}
    records:
{records}
apis:
  - name: ListLinks
    method: GET
    path: /links
    description: Lists links.
    contract:
      reply: {{type: array, items: {{type: object, properties: {{title: {{type: string}}}}}}}}
    behaviour: {{list: link}}
"
    ))
}

#[test]
fn memberships_that_lead_back_to_themselves_or_far_are_shown() {
    for (length, circle) in [(1, true), (2, true), (5_000, true), (5_000, false)] {
        let shown = super::transcript(&memberships(length, circle), "ListLinks");
        assert!(
            shown.contains("\n200 ["),
            "{length} {circle}: {}",
            shown.chars().take(200).collect::<String>()
        );
    }
}

#[test]
fn constants_that_a_contract_gives_count_as_bytes_of_the_reply() {
    let text = "x".repeat(5 << 20);
    let records: Vec<String> = (1..=12).map(|key| format!("{{k: {key}}}")).collect();
    let base = small(&format!(
        "resources:\n  a: {{key: k, fields: {{}}, records: [{}]}}\napis:\n  - {{name: All, method: GET, path: /a, behaviour: {{list: a}}, \
         reply: {{items: ''}}, contract: {{reply: {{type: array, items: {{type: object, required: [t], properties: {{t: {{const: {text}}}}}}}}}}}}}\n",
        records.join(", ")
    ));
    let reply = apply(&base, &State::initial(&base, 1), &call("All")).reply;
    assert_eq!(reply.status, 422);
}
