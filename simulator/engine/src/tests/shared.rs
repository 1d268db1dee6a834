//! Worlds, calls and random calls for tests. Tests of the packages above the engine include this file.

#![allow(dead_code, reason = "each package uses some of it")]

use std::sync::{Arc, LazyLock};

use diorama_engine::Base;
use diorama_seeds::task::Call;
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

/// The world of most tests: every kind of behaviour in a small shop.
pub(crate) fn shop() -> Arc<Base> {
    static SHOP: LazyLock<Arc<Base>> = LazyLock::new(|| base(include_str!("shop.yaml")));
    Arc::clone(&SHOP)
}

/// Makes a base from the text of a materialised world.
pub(crate) fn base(text: &str) -> Arc<Base> {
    let (_, world) =
        diorama_seeds::world::load("test.yaml", text.as_bytes()).unwrap_or_else(|report| panic!("{report}"));
    Base::new(world).unwrap()
}

/// Parses `Name {"argument": 1}`. The arguments are optional.
pub(crate) fn call(line: &str) -> Call {
    let (api, arguments) = line.split_once(' ').unwrap_or((line, "{}"));
    let Json::Object(arguments) = serde_json::from_str(arguments).unwrap() else {
        panic!("not an object: {line}")
    };
    Call { api: api.to_owned(), arguments }
}

/// Generates small JSON values.
pub(crate) fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        "\\PC{0,12}".prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::vec(("\\PC{0,6}", inner), 0..4)
                .prop_map(|members| Json::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Generates values that occur in the shop's records.
fn likely() -> impl Strategy<Value = Json> {
    prop_oneof![
        6 => (10_i64..20).prop_map(Json::from),
        3 => (100_i64..105).prop_map(Json::from),
        3 => (-2_i64..8).prop_map(Json::from),
        2 => prop::sample::select(vec!["food", "tool", "toy", "price", "-price", "ORD-1001", "ORD-1002", "2026-03-02"]).prop_map(Json::from),
        2 => prop::sample::select(vec!["ana@example.org", "1111", "rui@example.org", "2222", "Bread", "Hammer", "$token"]).prop_map(Json::from),
        1 => prop::collection::vec(10_i64..16, 0..3).prop_map(Json::from),
        1 => any::<bool>().prop_map(Json::from),
        1 => any_json(),
    ]
}

/// Generates a call of one of the shop's APIs. Each parameter is optional.
pub(crate) fn any_call() -> impl Strategy<Value = (usize, Vec<Option<Json>>, Option<(String, Json)>)> {
    let extra = prop::option::weighted(0.03, ("\\PC{0,8}", any_json()));
    (0_usize..1_000, prop::collection::vec(prop::option::weighted(0.85, likely()), 16), extra)
}

pub(crate) type DrawnCall = (usize, Vec<Option<Json>>, Option<(String, Json)>);

pub(crate) fn made(base: &Base, (api, values, extra): &DrawnCall, token: &str) -> Call {
    let apis = &base.world().apis;
    let api = &apis[api % apis.len()];
    let mut arguments = Map::new();
    for (parameter, value) in api.parameters.iter().zip(values) {
        // Most tokens are the issued one, so that calls succeed.
        let value = match value {
            Some(_) if &*parameter.name == "token" => Some(json!(token)),
            value => value.clone(),
        };
        arguments.extend(value.map(|value| (parameter.name.to_string(), value)));
    }
    arguments.extend(extra.clone());
    Call { api: api.name.to_string(), arguments }
}
