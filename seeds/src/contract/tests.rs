use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Value as Json, json};

use super::*;

struct OnlyCaller;

impl Lookup for OnlyCaller {
    fn caller(&self) -> Option<KnownValues> {
        let members = [("id".to_owned(), json!("u1")), ("login".to_owned(), json!("ana"))].into();
        Some(KnownValues { key: json!("u1"), noun: "user".to_owned(), members, ..KnownValues::default() })
    }
}

fn schemas() -> Schemas {
    let node = json!({"type": "object", "required": ["id", "next"], "properties": {
        "id": {"type": "string"}, "next": {"anyOf": [{"$ref": "#/schemas/Node"}, {"type": "null"}]},
        "peers": {"type": "array", "items": {"$ref": "#/schemas/Node"}}}});
    let base = json!({"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}}});
    let cat = json!({"allOf": [{"$ref": "#/schemas/Base"}, {"required": ["lives"], "properties": {
        "kind": {"enum": ["cat"]}, "lives": {"type": "integer", "minimum": 1, "maximum": 9}}}]});
    let dog = json!({"allOf": [{"$ref": "#/schemas/Base"}, {"required": ["tag"], "properties": {
        "kind": {"enum": ["dog"]}, "tag": {"type": "string", "pattern": "^T[0-9]{4}$"}}}]});
    Schemas::new(
        [("Node", node), ("Base", base), ("Cat", cat), ("Dog", dog)]
            .map(|(name, schema)| (name.to_owned(), schema))
            .into_iter()
            .collect(),
    )
}

fn known(members: Json, named: Vec<NameableRecord>) -> Rc<KnownValues> {
    let members = members.as_object().into_iter().flatten().map(|(name, value)| (plain(name), value.clone()));
    Rc::new(KnownValues {
        seed: 7,
        noun: "message".to_owned(),
        members: members.collect::<HashMap<_, _>>(),
        named,
        ..KnownValues::default()
    })
}

fn reply(schema: &Json, known: Rc<KnownValues>, list: Option<List>) -> Json {
    let schemas = schemas();
    let made = schemas.reply(schema, &Facts { known, list, now: 1_770_000_000, lookup: &OnlyCaller });
    assert_eq!(schemas.check(schema, &made, Side::Reply), Ok(()), "{made}");
    made
}

#[test]
fn values_are_held_to_their_schema() {
    let check = |schema: Json, value: Json, wrong: Option<&str>| {
        let found = schemas().check(&schema, &value, Side::Request).err().map(|wrong| wrong.at);
        assert_eq!(found.as_deref(), wrong, "{schema} {value}");
    };
    let pets =
        json!({"type": "array", "items": {"oneOf": [{"$ref": "#/schemas/Cat"}, {"$ref": "#/schemas/Dog"}]}});
    check(pets.clone(), json!([{"kind": "cat", "lives": 9}, {"kind": "dog", "tag": "T0001"}]), None);
    check(pets, json!([{"kind": "cat", "lives": 9}, {"kind": "dog", "tag": "0001"}]), Some("[1].tag"));
    let of = json!({"type": "object", "required": ["id", "name"], "additionalProperties": false,
        "properties": {"id": {"type": "integer", "readOnly": true}, "name": {"type": ["string", "null"], "maxLength": 3}}});
    check(of.clone(), json!({"name": null}), None);
    check(of.clone(), json!({"id": 1.0, "name": "abc"}), None);
    check(of.clone(), json!({"id": 1.5, "name": "abc"}), Some("id"));
    check(of.clone(), json!({"name": "abcd"}), Some("name"));
    check(of.clone(), json!({"name": "a", "more": 1}), Some("more"));
    check(of, json!({}), Some("name"));
    check(json!({"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}), json!(0), Some(""));
    check(json!({"not": {"type": "string"}}), json!("a"), Some(""));
}

#[test]
fn replies_show_what_is_known_under_any_spelling_and_are_valid_for_the_rest() {
    let schema = json!({"type": "object", "required": ["sid", "body", "conversation_sid", "pet", "first"], "properties": {
        "sid": {"type": "string"}, "body": {"type": ["string", "null"]}, "conversation_sid": {"type": "string"},
        "size": {"type": "string"}, "pet": {"oneOf": [{"$ref": "#/schemas/Cat"}, {"$ref": "#/schemas/Dog"}]},
        "first": {"$ref": "#/schemas/Node"}, "secret": {"type": "string", "writeOnly": true}}});
    let named = NameableRecord {
        noun: "conversation".to_owned(),
        role: "conversation".to_owned(),
        of: None,
        name: "conversationsid".to_owned(),
        key: json!("CH1"),
        sure: true,
    };
    let shown = reply(
        &schema,
        known(json!({"Sid": "IM1", "Body": "hello", "Size": 12, "secret": 1}), vec![named]),
        None,
    );
    let of = |name: &str| shown[name].clone();
    assert_eq!(
        (of("sid"), of("body"), of("conversation_sid"), of("size")),
        (json!("IM1"), json!("hello"), json!("CH1"), json!("12"))
    );
    let again = reply(&schema, known(json!({}), Vec::new()), None);
    assert_eq!(again, reply(&schema, known(json!({}), Vec::new()), None));
}

#[test]
fn a_list_stands_where_its_schema_has_it() {
    let schema = json!({"type": "object", "required": ["meta", "data"], "properties": {
        "meta": {"type": "object", "required": ["total_count"], "properties": {"total_count": {"type": "integer"}}},
        "data": {"type": "array", "items": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}}}});
    let items = [3, 5].map(|id| known(json!({"id": id}), Vec::new())).to_vec();
    let list = List { name: "data".to_owned(), items };
    let shown = reply(&schema, known(json!({"total_count": 2}), Vec::new()), Some(list));
    assert_eq!(shown, json!({"meta": {"total_count": 2}, "data": [{"id": 3}, {"id": 5}]}));
}

#[test]
fn the_next_page_is_linked_as_its_member_has_it() {
    let check = |next: Json, address: Json, expect: Json| {
        let schema = json!({"type": "object", "properties": {
            "_links": {"type": "object", "properties": {"next": next}}, "data": {"type": "array", "items": {"type": "object"}}}});
        let around = known(json!({"next": "token", "after": "token", "nexturl": address}), Vec::new());
        let shown = reply(&schema, around, Some(List { name: "data".to_owned(), items: Vec::new() }));
        assert_eq!(shown["_links"]["next"], expect, "{schema}");
    };
    let object = json!({"type": "object", "properties": {"href": {"type": "string"}}});
    let (address, none) = (json!("https://example.com/notes?page=2"), Json::Null);
    check(object.clone(), address.clone(), json!({"href": address}));
    check(object, none.clone(), none);
    let text = json!({"type": "string"});
    let both = json!({"type": "object", "properties": {"after": text, "link": text}});
    check(both, address.clone(), json!({"after": "token", "link": address}));
    check(json!({"type": "string", "format": "uri"}), address.clone(), address.clone());
    check(json!({"type": "string", "format": "uri-reference"}), address.clone(), json!("/notes?page=2"));
    check(json!({"type": "string"}), address, json!("token"));
}

#[test]
fn a_schema_that_requires_itself_ends() {
    let endless = json!({"type": "object", "required": ["self"], "properties": {"self": {"$ref": "#/schemas/Endless"}}});
    let twice = json!({"type": "object", "required": ["a", "b"], "properties": {
        "a": {"anyOf": [{"$ref": "#/schemas/Endless"}, {"$ref": "#/schemas/Twice"}]}, "b": {"$ref": "#/schemas/Twice"}}});
    let all = [("Endless", endless), ("Twice", twice)].map(|(name, schema)| (name.to_owned(), schema));
    let schemas = Schemas::new(all.into_iter().collect());
    for name in ["Endless", "Twice"] {
        let facts = Facts { known: known(json!({}), Vec::new()), list: None, now: 0, lookup: &OnlyCaller };
        let made = schemas.reply(&json!({"$ref": format!("#/schemas/{name}")}), &facts);
        assert!(made.is_object(), "{made}");
    }
}

#[test]
fn alternatives_that_contain_themselves_come_to_an_end() {
    let twice =
        json!({"anyOf": [{"$ref": "#/schemas/Twice"}, {"$ref": "#/schemas/Twice"}, {"type": "string"}]});
    let schemas = Schemas::new([("Twice".to_owned(), twice)].into_iter().collect());
    let schema = json!({"type": "array", "items": {"$ref": "#/schemas/Twice"}});
    let items = json!(["a", "b", "c"]);
    assert_eq!(schemas.check(&schema, &items, Side::Request), Ok(()));
    assert!(schemas.check(&json!({"type": "integer"}), &items, Side::Request).is_err());
}

#[test]
fn numbers_lie_between_open_ends() {
    let schema = json!({"type": "object", "required": ["share"], "properties": {
        "share": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}}});
    reply(&schema, known(json!({}), Vec::new()), None);
}

#[test]
fn the_alternative_is_shown_that_shows_most_of_what_is_known() {
    let way = |name: &str| {
        let text = json!({"type": "string"});
        json!({"type": "object", "required": ["id"], "properties": {"id": text, name: text}, "additionalProperties": false})
    };
    let schema = json!({"oneOf": [way("avatar"), way("token")]});
    let shown = reply(&schema, known(json!({"id": "7", "token": "t"}), Vec::new()), None);
    assert_eq!(shown, json!({"id": "7", "token": "t"}));
}

#[test]
fn a_list_shows_the_key_that_opens_its_items() {
    let schema =
        json!({"type": "array", "items": {"type": "object", "properties": {"size": {"type": "integer"}}}});
    let item = KnownValues { key: json!("k-1"), key_name: "dataset".to_owned(), ..KnownValues::default() };
    let list = List { name: String::new(), items: vec![Rc::new(item)] };
    let shown = reply(&schema, known(json!({}), Vec::new()), Some(list));
    assert_eq!(shown[0]["dataset"], json!("k-1"));
}

#[test]
fn something_new_shows_what_was_sent_and_what_it_must() {
    let moment = json!({"type": "string", "format": "date-time"});
    let part = json!({"type": "object", "required": ["type", "text"], "properties": {
        "type": {"enum": ["text"]}, "text": {"type": "object", "required": ["value"], "properties": {"value": {"type": "string"}}}}});
    let schema = json!({"type": "object", "required": ["id", "state", "reply_count", "pinned", "labels", "lead", "sent_at", "limit"], "properties": {
        "id": {"type": "string"}, "state": {"enum": ["archived", "queued", "released"]}, "owner_id": {"type": "string"},
        "created_by": {"type": "object", "properties": {"id": {"type": "string"}, "login": {"type": "string"}}}, "reply_count": {"type": "integer"},
        "pinned": {"type": "boolean"}, "labels": {"type": "array", "items": {"type": "string"}}, "lead": {"type": ["string", "null"]},
        "sent_at": {"type": "integer"}, "created_at": {"type": "integer"}, "limit": {"type": "integer", "minimum": 5},
        "deleted_at": moment, "archived_at": {"anyOf": [moment, {"type": "null"}]}, "colour": {"type": "string", "default": "blue"},
        "object": {"enum": ["message"]}, "city": {"type": "string"}, "thread": {"type": "object", "properties": {"id": {"type": "string"}}},
        "content": {"type": "array", "items": part}, "about": {"type": "object", "properties": {"thread_id": {"type": "string"}}}}});
    let told = json!({"id": "m1", "content": "hello", "created_at": "2026-02-02T02:40:00Z"});
    let thread = NameableRecord {
        noun: "thread".to_owned(),
        role: "thread".to_owned(),
        of: None,
        name: String::new(),
        key: json!("t1"),
        sure: false,
    };
    let old = known(told, vec![thread]);
    let new = Rc::new(KnownValues { is_new: true, ..(*old).clone() });
    let content = json!([{"type": "text", "text": {"value": "hello"}}]);
    assert_eq!(
        reply(&schema, new, None),
        json!({"id": "m1", "state": "queued", "reply_count": 0, "pinned": false, "labels": [], "lead": null, "sent_at": 1_770_000_000,
            "owner_id": "u1", "created_by": {"id": "u1", "login": "ana"}, "created_at": 1_770_000_000, "limit": 5, "archived_at": null, "colour": "blue", "object": "message", "thread": {"id": "t1"},
            "content": content})
    );
    let shown = reply(&schema, old, None);
    // An existing record has not been deleted, so the reply has no time of deletion.
    assert_eq!(["city", "deleted_at"].map(|name| shown.get(name).is_some()), [true, false], "{shown}");
}

#[test]
fn defaults_of_a_request_are_those_of_its_alternative() {
    let ways = json!([{"required": ["url"], "properties": {"url": {"type": "string"}, "method": {"default": "GET"}}},
        {"required": ["mail"], "properties": {"mail": {"type": "string"}, "copies": {"type": "integer", "default": 1}}}]);
    let schema = json!({"type": "object", "properties": {"active": {"type": "boolean", "default": true}}, "oneOf": ways});
    let check = |sent: Json, expect: Json| {
        let sent = sent.as_object().cloned().unwrap_or_default();
        assert_eq!(Json::Object(schemas().defaults(&schema, &sent)), expect);
    };
    check(json!({"mail": "a"}), json!({"active": true, "copies": 1}));
    check(json!({"mail": "a", "copies": 2, "active": false}), json!({}));
}

#[test]
fn constants_of_a_schema_are_counted() {
    let schema = json!({"type": "array", "items": {"type": "object", "required": ["a"], "properties": {
        "a": {"const": "x".repeat(5 << 20)}}}});
    let items = (0..20).map(|_| known(json!({}), Vec::new())).collect();
    let list = Some(List { name: String::new(), items });
    let facts = Facts { known: known(json!({}), Vec::new()), list, now: 0, lookup: &OnlyCaller };
    let made = schemas().reply(&schema, &facts).to_string();
    // The reply exceeds the limit, so that a caller can detect it, but only by a little.
    assert!((32 << 20..40 << 20).contains(&made.len()), "{}", made.len());
}

#[test]
fn what_is_put_together_does_not_nest_and_alternatives_end() {
    let part = |place| json!({"properties": {"a": {"maxLength": place}}, "items": {"maxLength": place}});
    let whole = json!({"allOf": (0..2_000).map(part).collect::<Vec<_>>()});
    let flat = schemas().flat(&whole).members.into_owned();
    assert_eq!(flat["properties"]["a"]["allOf"].as_array().map(Vec::len), Some(2_000));
    assert_eq!(flat["items"]["allOf"].as_array().map(Vec::len), Some(2_000));
    // Each schema has two alternatives, of which the first is the next schema.
    let choice = |place: usize| {
        let next = json!({"$ref": format!("#/schemas/s{}", place + 1)});
        (format!("s{place}"), json!({"anyOf": [next, {"type": "integer"}]}))
    };
    let schemas = Schemas::new((0..5_000).map(choice).collect());
    let facts = Facts { known: known(json!({}), Vec::new()), list: None, now: 0, lookup: &OnlyCaller };
    let made = schemas.reply(&json!({"$ref": "#/schemas/s0"}), &facts);
    assert!(!made.is_null(), "{made}");
}

#[test]
fn members_that_depend_on_others_are_held_to_it_and_replies_keep_it() {
    let schema = json!({"type": "object", "required": ["kind"], "properties": {
            "kind": {"enum": ["person", "company"]}, "vat": {"type": "string"}, "card": {"type": "string"},
            "billing": {"type": "string"}},
        "if": {"properties": {"kind": {"const": "company"}}, "required": ["kind"]},
        "then": {"required": ["vat"]}, "else": {"not": {"required": ["vat"]}},
        "dependentRequired": {"card": ["billing"]}, "unevaluatedProperties": false});
    let check = |value: Json, holds: bool| {
        assert_eq!(schemas().check(&schema, &value, Side::Request).is_ok(), holds, "{value}");
    };
    check(json!({"kind": "company"}), false);
    check(json!({"kind": "company", "vat": "x"}), true);
    check(json!({"kind": "person", "vat": "x"}), false);
    check(json!({"kind": "person", "card": "1"}), false);
    check(json!({"kind": "person", "card": "1", "billing": "Elm Row"}), true);
    check(json!({"kind": "person", "colour": "red"}), false);
    // A member is allowed if the reference beside it evaluates it.
    let beside = json!({"$ref": "#/schemas/Base", "properties": {"age": {}}, "unevaluatedProperties": false});
    let holds = |value: Json| schemas().check(&beside, &value, Side::Request).is_ok();
    assert!(holds(json!({"kind": "cat", "age": 3})) && !holds(json!({"kind": "cat", "colour": "red"})));
    for seed in 0..8 {
        let known = Rc::new(KnownValues { seed, ..KnownValues::default() });
        let made = schemas().reply(&schema, &Facts { known, list: None, now: 0, lookup: &OnlyCaller });
        assert!(schemas().check(&schema, &made, Side::Reply).is_ok(), "{made}");
    }
    let list = json!({"type": "array", "contains": {"const": 3}, "maxContains": 1});
    let holds = |value: Json| schemas().check(&list, &value, Side::Reply).is_ok();
    assert!(holds(json!([1, 3])) && !holds(json!([1])) && !holds(json!([3, 3])));
}

#[test]
fn whole_numbers_are_exact() {
    let schema = json!({"type": "integer", "minimum": 9_007_199_254_740_993_i64});
    let holds = |value: Json| schemas().check(&schema, &value, Side::Request).is_ok();
    assert!(holds(json!(9_007_199_254_740_993_i64)) && holds(json!(i64::MAX)));
    assert!(!holds(json!(9_007_199_254_740_992_i64)) && !holds(json!(u64::MAX)) && !holds(json!(1e300)));
}

/// Returns replies for many seeds about a record with some known members.
fn made(schema: &Json, told: &Json) -> Vec<Json> {
    let of = |seed| Rc::new(KnownValues { seed, ..(*known(told.clone(), Vec::new())).clone() });
    (0..60).map(|seed| reply(schema, of(seed * 7_919), None)).collect()
}

#[test]
fn made_up_moments_follow_each_other_and_what_is_told() {
    let moment = json!({"type": "string", "format": "date-time"});
    let schema = json!({"type": "object", "properties": {
        "finishedAt": moment, "created_at": moment, "updatedAt": moment, "started_at": moment, "expires_at": moment,
        "last_used": {"type": "integer", "format": "int64"}, "start_time": {"type": "number"}, "end_time": {"type": "number"}, "start_date": {"type": "string", "format": "date"}, "end_date": {"type": "string", "format": "date"}}});
    for told in [json!({}), json!({"started_at": "2025-11-02T10:00:00Z"})] {
        for shown in made(&schema, &told) {
            let of = |name: &str| shown[name].as_str().unwrap();
            let reached = ["created_at", "started_at", "finishedAt", "updatedAt"].map(of);
            assert!(reached.is_sorted(), "{shown}");
            assert!(of("updatedAt") <= "2026-02-02T02:40:00Z" && of("expires_at") > "2026-02-02", "{shown}");
            assert!(of("start_date") <= of("end_date"), "{shown}");
            assert!(shown["start_time"].as_f64() <= shown["end_time"].as_f64(), "{shown}");
        }
    }
}

#[test]
fn made_up_states_flags_and_moments_agree() {
    let moment = json!({"type": "string", "format": "date-time"});
    let schema = json!({"type": "object", "required": ["paid"], "properties": {
        "status": {"enum": ["open", "paid", "cancelled"]}, "paid": {"type": "boolean"}, "paid_at": moment,
        "cancelledAt": moment, "active": {"type": "boolean"}, "size": {"type": "boolean"}}});
    for told in [json!({}), json!({"status": "open"}), json!({"paid_at": "2026-01-01T00:00:00Z"})] {
        for shown in made(&schema, &told) {
            let is = |state: &str| shown["status"] == state;
            assert_eq!(shown["paid"], is("paid"), "{shown}");
            assert_eq!(shown.get("paid_at").is_some(), is("paid"), "{shown}");
            assert_eq!(shown.get("cancelledAt").is_some(), is("cancelled"), "{shown}");
        }
    }
    let schema =
        json!({"type": "object", "properties": {"verified": {"type": "boolean"}, "verified_at": moment}});
    let shown = &made(&schema, &json!({"verified_at": "2026-01-01T00:00:00Z"}))[0];
    assert_eq!(shown["verified"], json!(true));
    assert!(made(&schema, &json!({"verified": false}))[0].get("verified_at").is_none());
}

#[test]
fn made_up_amounts_add_up_and_lists_are_counted() {
    let amount = json!({"type": "number"});
    let line = json!({"type": "object", "properties": {"sku": {"type": "string"}, "quantity": {"type": "integer"}, "amount": amount}});
    let schema = json!({"type": "object", "properties": {
        "total": amount, "subtotal": amount, "tax": amount, "min_price": amount, "max_price": amount, "line_count": {"type": "integer"},
        "lines": {"type": "array", "minItems": 2, "items": line}}});
    for told in [json!({}), json!({"total": 120.5, "tax": 20.5})] {
        for shown in made(&schema, &told) {
            let of = |name: &str| shown[name].as_f64().unwrap();
            assert!((of("total") - of("subtotal") - of("tax")).abs() < 0.006, "{shown}");
            let lines = shown["lines"].as_array().unwrap();
            let sum: f64 = lines.iter().map(|line| line["amount"].as_f64().unwrap()).sum();
            assert!((sum - of("subtotal")).abs() < 0.006, "{shown}");
            assert!(lines.iter().all(|line| line["quantity"] == 1), "{shown}");
            assert_eq!(shown["line_count"], lines.len(), "{shown}");
            assert!(of("min_price") <= of("max_price"), "{shown}");
        }
    }
    let page = json!({"type": "object", "required": ["next"], "properties": {
        "page": {"type": "integer"}, "pages": {"type": "integer"}, "per_page": {"type": "integer"}, "total": {"type": "integer"},
        "next": {"type": ["string", "null"]}, "prev": {"type": "string"}, "has_more": {"type": "boolean"},
        "photos": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}}}});
    for mut shown in made(&page, &json!({})) {
        assert!(shown["per_page"].as_u64() >= Some(1), "{shown}");
        let members = shown.as_object_mut().unwrap();
        members.remove("per_page");
        assert_eq!(members.remove("photos").unwrap().as_array().map(Vec::len), Some(1));
        let rest = json!({"page": 1, "pages": 1, "total": 1, "next": null, "has_more": false});
        assert_eq!(shown, rest);
    }
}

#[test]
fn made_up_texts_are_about_one_place_and_tell_nothing_else() {
    let text = json!({"type": "string"});
    let schema = json!({"type": "object", "required": ["protocol"], "properties": {
        "protocol": text, "raw": text, "notes": {"type": "array", "items": text}, "extras": {"type": "object"},
        "contact": {"type": "object", "properties": {"full_name": text, "firstName": text, "email": text, "country": text, "phone": text, "currency": text}},
        "shop": {"type": "object", "properties": {"raw": text}}, "codes": {"type": "array", "items": text, "example": ["a", "b"]}}});
    for shown in made(&schema, &json!({"city": "Lisbon"})) {
        let names: Vec<&String> = shown.as_object().unwrap().keys().collect();
        assert_eq!(names, ["protocol", "contact", "codes"], "{shown}");
        let contact = &shown["contact"];
        let of = |name: &str| contact[name].as_str().unwrap();
        assert_eq!([of("country"), of("currency")], ["Portugal", "EUR"], "{shown}");
        assert!(of("phone").starts_with("+351 ") && of("email").contains('@'), "{shown}");
        assert!(of("full_name").starts_with(of("firstName")), "{shown}");
        assert!(shown["protocol"].as_str().unwrap().starts_with("protocol "), "{shown}");
        assert_eq!(shown["codes"], json!(["a", "b"]), "{shown}");
    }
}

#[test]
fn a_sent_scalar_is_the_value_or_slug_of_the_object_that_shows_it() {
    let text = json!({"type": "string"});
    let schema = json!({"type": "object", "required": ["topic", "region", "size_slug"], "properties": {
        "topic": {"type": "object", "required": ["value"], "properties": {"value": text, "creator": text}},
        "region": {"type": "object", "properties": {"slug": text, "name": text}}, "size_slug": text}});
    let sent = json!({"topic": "Ships", "region": "nyc3", "size": "small"});
    let sent = sent.as_object().cloned().unwrap_or_default();
    let members = sent.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let record =
        Rc::new(KnownValues { key: json!("C1"), is_new: true, sent, members, ..KnownValues::default() });
    let shown = reply(&schema, record, None);
    assert_eq!(
        [&shown["topic"]["value"], &shown["region"]["slug"], &shown["size_slug"]],
        ["Ships", "nyc3", "small"]
    );
}
