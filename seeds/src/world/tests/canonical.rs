//! Owns the tests of the canonical form, and of the inputs of its hash.

use super::*;

#[test]
fn the_canonical_form_is_one_world_document() {
    let canonical = canonical_of(&materialised());
    let (doc, world) =
        load("canonical.json", canonical.as_bytes()).map_err(|report| report.to_string()).unwrap();
    assert_eq!(canonical_json(&doc, &world), canonical);
    let records = canonical.split("\"records\":").nth(1).unwrap();
    let book = r#"[{"book_id":10,"lent":[],"opens":"09:00","price":5.5,"rest":{"a":[null,true],"b":1},"shelf":"S-11","size":{"depth":4,"width":3},"state":"in","title":"A","weight":null},{"book_id":20,"lent":["2026-01-05"],"opens":"08:30","price":12.5,"seen":"2026-03-01T10:00:00+00:00","shelf":"S-02","state":"in","title":"B","weight":1}]"#;
    assert!(records.starts_with(book), "{records}");
    for left_out in ["noun", "ask", "say", "book_title"] {
        assert!(!canonical.contains(&format!("\"{left_out}\"")), "{left_out}");
    }
    assert!(
        canonical.contains(r#""phrases":{"search":["novels to read"]}"#),
        "sessions search by it: {canonical}"
    );
}

/// A small stream of numbers from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Reorders the keys of all mappings, changes the notation of values, and removes parts that are not hashed.
fn respell(json: &mut serde_json::Value, draw: &mut Draw) {
    match json {
        serde_json::Value::Object(map) => {
            let mut entries: Vec<_> = std::mem::take(map).into_iter().collect();
            for i in (1..entries.len()).rev() {
                entries.swap(i, draw.below(i + 1));
            }
            // The format version stays first.
            entries.sort_by_key(|(name, _)| name != "world");
            entries.retain(|(name, _)| !matches!(name.as_str(), "noun" | "ask" | "say"));
            for (name, value) in &mut entries {
                let other = draw.below(2) == 0;
                match name.as_str() {
                    "fake" if value.is_string() => *value = "word".into(),
                    "book_id" if other => *value = serde_json::from_str(&format!("{value}.0")).unwrap(),
                    "price" if value.is_number() && other => *value = format!("{value}0").into(),
                    "opens" if value == "8:30" && other => *value = "08:30:00".into(),
                    "seen" if value.is_string() && other => *value = "2026-03-01T11:00:00+01:00".into(),
                    _ => respell(value, draw),
                }
            }
            map.extend(entries);
        }
        serde_json::Value::Array(items) => {
            let records =
                items.first().is_some_and(|item| item.get("book_id").is_some() || item.get("code").is_some());
            if records && draw.below(2) == 0 {
                items.reverse();
            }
            items.iter_mut().for_each(|item| respell(item, draw));
        }
        _ => {}
    }
}

proptest::proptest! {
    #[test]
    fn the_hash_ignores_key_order_and_spelling(seed: u64) {
        let mut other = materialised();
        respell(&mut other, &mut Draw(seed));
        proptest::prop_assert_eq!(canonical_of(&other), canonical_of(&materialised()));
    }

    #[test]
    fn the_hash_changes_with_every_record_value(record in 0_usize..2, field in 0_usize..5) {
        let mut other = materialised();
        let row = &mut other["resources"]["book"]["records"][record];
        let (name, value) = [
            ("book_id", serde_json::json!(77)),
            ("title", "a".into()),
            ("price", "5.51".into()),
            ("weight", serde_json::json!(1.25)),
            ("opens", "09:00:01".into()),
        ][field].clone();
        row[name] = value;
        proptest::prop_assert_ne!(canonical_of(&other), canonical_of(&materialised()));
    }
}

#[test]
fn the_hash_changes_with_behaviour() {
    let original = canonical_of(&materialised());
    let pointers = [
        ("/apis/1/behaviour/require/0/that", "b < 11".into()),
        ("/apis/1/behaviour/require/0/else/message", "full".into()),
        ("/apis/0/reply/total", "count".into()),
        ("/resources/book/fields/state/default", "out".into()),
        ("/resources/book/fields/price/max", serde_json::json!(89)),
        ("/resources/shelf/fields/code/fake/format", "S-###".into()),
        ("/clock", "2026-03-02T09:01".into()),
        ("/zone", "Europe/Paris".into()),
    ];
    for (pointer, value) in pointers {
        let mut other = materialised();
        *other.pointer_mut(pointer).unwrap() = value;
        assert_ne!(canonical_of(&other), original, "{pointer}");
    }
    // The short and the long form of one domain give the same world.
    let mut long = materialised();
    let map = long.as_object_mut().unwrap();
    let (resources, apis) = (map.remove("resources").unwrap(), map.remove("apis").unwrap());
    map.insert(
        "domains".into(),
        serde_json::json!([{"domain": {"name": "tiny"}, "resources": resources, "apis": apis}]),
    );
    assert_eq!(canonical_of(&long), original);
}
