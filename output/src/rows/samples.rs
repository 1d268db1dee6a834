//! Sample rows for tests: plausible ones by index, and arbitrary ones.

use diorama_seeds::task::{Ability, Difficulty};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::row::{Dialogue, Message, Role, Split, ToolCall};

/// Returns a plausible row that depends on its index only.
pub(crate) fn sample(row_index: u64, split: Split) -> Dialogue {
    let world = format!("{}_clinic_{}", split.as_str(), row_index / 50);
    let call = ToolCall::new("call_1", "FindDentist", format!(r#"{{"name":"Ann {row_index}"}}"#));
    Dialogue {
        id: format!("d{row_index:08}"),
        split,
        ability: [Ability::Call, Ability::RetrieveCall, Ability::PlanRetrieveCall][(row_index % 3) as usize],
        depth: (row_index % 4) as u32,
        rc_level: (row_index % 4 >= 2).then(|| (row_index % 4) as u32 - 1),
        tags: (0..row_index % 3).map(|number| format!("tag_{number}")).collect(),
        difficulty: Some(Difficulty::ALL[(row_index % 3) as usize]),
        world_hash: blake3::hash(world_json(&world).as_bytes()).to_hex().to_string(),
        world_id: world,
        domains: vec![format!("{}_clinic_{}", split.as_str(), row_index / 50 % 7)],
        query: format!("Find dentist number {row_index}, please"),
        tools: r#"[{"type":"function","function":{"name":"FindDentist","description":"Finds.","parameters":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}]"#.into(),
        messages: vec![
            Message::new(Role::System, "You call APIs."),
            Message::new(Role::User, format!("Find dentist number {row_index}, please, for {}", ["me", "Eva", "Tom"][(row_index % 3) as usize])),
            Message::calling(vec![call.clone()]),
            Message::reply(&call, format!(r#"{{"dentist_id":{row_index}}}"#)),
            Message::new(Role::Assistant, format!("It is {row_index}.")),
        ],
        episode: r#"{"clock":"2026-03-02T09:00:00Z"}"#.into(),
        gold_calls: format!(r#"[{{"api":"FindDentist","arguments":{{"name":"Ann {row_index}"}},"sources":{{}}}}]"#),
        gold_plan: row_index.is_multiple_of(2).then(|| "FindDentist(name)".to_owned()),
        gold_answer: "{}".into(),
        // Every eighth row has no goals, and so no structured form.
        checks: [r#"{"version":3,"goals":[{"outcome":"done"}]}"#, r#"{"version":3,"goals":[]}"#]
            [usize::from(row_index % 8 == 7)]
        .into(),
        user_facts: "{}".into(),
        initial_state_hash: "0".repeat(64),
        final_state_hash: "0".repeat(64),
        gates: "{}".into(),
        license: "Apache-2.0".into(),
        source: "Diorama catalog: dental_clinic".into(),
        provenance: format!(r#"{{"row":{row_index},"attempt":0}}"#),
    }
}

/// Returns the canonical JSON of a sample's world.
pub(crate) fn world_json(world_id: &str) -> String {
    format!(r#"{{"name":"{world_id}","world":1}}"#)
}

/// Generates any valid row.
pub(crate) fn arbitrary() -> impl Strategy<Value = Dialogue> {
    let json = || any::<String>().prop_map(|text| serde_json::Value::String(text).to_string());
    let name = || "[a-z\u{e9}\u{1F600}]{1,12}";
    let heads = (
        name(),
        any::<bool>(),
        0..3_usize,
        0..=i32::MAX as u32,
        option::of(0..9_u32),
        vec(any::<String>(), 0..4),
        option::of(0..3_usize),
    );
    let places = (name(), name(), vec(name(), 1..3), any::<String>(), option::of(any::<String>()));
    (heads, places, vec(message(), 0..6), vec(json(), 8), vec(any::<String>(), 2)).prop_map(
        |(
            (id, test, ability, depth, rc_level, tags, band),
            (world_id, world_hash, domains, query, gold_plan),
            messages,
            json,
            text,
        )| {
            let [tools, episode, gold_calls, gold_answer, checks, user_facts, gates, provenance] =
                <[String; 8]>::try_from(json).unwrap();
            let [initial_state_hash, final_state_hash] = <[String; 2]>::try_from(text).unwrap();
            Dialogue {
                id,
                split: if test { Split::Test } else { Split::Train },
                ability: [Ability::Call, Ability::RetrieveCall, Ability::PlanRetrieveCall][ability],
                depth,
                rc_level,
                tags,
                difficulty: band.map(|band| Difficulty::ALL[band]),
                world_id,
                world_hash,
                domains,
                query,
                tools,
                messages,
                episode,
                gold_calls,
                gold_plan,
                gold_answer,
                checks,
                user_facts,
                initial_state_hash,
                final_state_hash,
                gates,
                license: "MIT".into(),
                source: "example.org, Example, version 1".into(),
                provenance,
            }
        },
    )
}

fn message() -> impl Strategy<Value = Message> {
    let text = || option::of(any::<String>());
    let call = (any::<String>(), any::<String>(), any::<String>()).prop_map(|(id, api, value)| {
        ToolCall::new(id, api, serde_json::json!({ "value": value }).to_string())
    });
    (0..4_usize, text(), vec(call, 0..3), text(), text(), text(), any::<bool>()).prop_map(
        |(role, content, tool_calls, tool_call_id, name, reasoning_content, train)| Message {
            role: [Role::System, Role::User, Role::Assistant, Role::Tool][role],
            content,
            tool_calls,
            tool_call_id,
            name,
            reasoning_content,
            train,
        },
    )
}
